//! The slices of an item: of a document of the agent, the plain text of a prompt or thought, the details of a notice, or
//! the input of a call.

use super::cutter::{is_short, name};
use super::diff::DiffSlices;
use super::plain::PlainSlices;
use super::{Parts, Slices};
use crate::api::{Body, Diff, Output, ToolCall, ToolDetail};

/// Details and inputs up to this size are drawn whole, in a pane that scrolls. Longer ones have a row for each slice.
const WHOLE: usize = 64 * 1024;
const WHOLE_PARTS: usize = 8_000;

#[derive(Debug)]
pub enum BodySlices {
    Document(Slices),
    Plain(PlainSlices),
    Diff(DiffSlices),
}

impl BodySlices {
    /// `None` if the item is drawn whole.
    pub fn of(body: &Body) -> Option<Self> {
        match body {
            Body::Text { blocks, .. } => Some(Self::Document(Slices::of(blocks))),
            Body::Prompt { text, .. } | Body::Message { text, .. } | Body::Thinking { text, .. } => {
                Some(Self::Plain(PlainSlices::of(text)))
            }
            Body::Notice { text, detail, .. } => {
                let detail = detail.as_deref().unwrap_or_default();
                let is_whole = is_short(text) && detail.len() <= WHOLE;
                (!is_whole).then(|| Self::Plain(PlainSlices::of(detail)))
            }
            Body::ToolCall(call) => Self::of_call(call),
            Body::TurnEnd(_) => None,
        }
    }

    fn of_call(call: &ToolCall) -> Option<Self> {
        let is_named = is_short(&call.tool) && is_short(&call.subject);
        if let Some(diff) = diff_of(&call.detail) {
            let parts = || diff.hunks.iter().flat_map(|hunk| &hunk.lines).flat_map(|line| &line.parts);
            let bytes: usize = parts().map(|part| part.text.len()).sum();
            let is_whole =
                is_named && is_short(&diff.path) && bytes <= WHOLE && parts().count() <= WHOLE_PARTS;
            return (!is_whole).then(|| Self::Diff(DiffSlices::of(&diff.hunks)));
        }
        let input = input_of(&call.detail).unwrap_or_default();
        let is_whole = is_named && input.len() <= WHOLE;
        (!is_whole).then(|| Self::Plain(PlainSlices::of(input)))
    }

    /// At least 1.
    pub fn count(&self) -> u32 {
        match self {
            Self::Document(slices) => slices.count(),
            Self::Plain(slices) => slices.count(),
            Self::Diff(slices) => slices.count(),
        }
    }

    /// Slice `nr` as a body, and whether it has the blocks and lines of the text from its beginning on, one to one.
    pub fn piece(&self, body: &Body, nr: u32) -> (Body, bool) {
        let is_last = nr + 1 == self.count();
        match (self, body) {
            (Self::Document(slices), Body::Text { blocks, streaming }) => {
                let (blocks, is_aligned) = slices.content(blocks, nr);
                (Body::Text { blocks, streaming: is_last && *streaming }, is_aligned)
            }
            (Self::Plain(slices), Body::Prompt { text, n_images, n_documents, state }) => {
                let text = slices.content(text, nr).to_owned();
                let (n_images, n_documents, state) = (*n_images, *n_documents, *state);
                (Body::Prompt { text, n_images, n_documents, state }, true)
            }
            (Self::Plain(slices), Body::Message { sender, text }) => {
                let text = slices.content(text, nr).to_owned();
                (Body::Message { sender: sender.clone(), text }, true)
            }
            (Self::Plain(slices), Body::Thinking { text, streaming, duration_ms }) => {
                let text = slices.content(text, nr).to_owned();
                // The first slice has the head of the thought. The others do not change with it.
                let (streaming, duration_ms) =
                    if nr == 0 { (*streaming, *duration_ms) } else { (false, None) };
                (Body::Thinking { text, streaming, duration_ms }, true)
            }
            (Self::Plain(slices), Body::Notice { level, text, detail, until_at }) => {
                let detail = detail.as_ref().map(|detail| slices.content(detail, nr).to_owned());
                (Body::Notice { level: *level, text: name(text), detail, until_at: *until_at }, true)
            }
            (_, Body::ToolCall(call)) => {
                let mut call = self.call(call, nr);
                // The output is below the input.
                if !is_last && let Some(output) = call.detail.output_mut() {
                    *output = Output::default();
                }
                (Body::ToolCall(Box::new(call)), true)
            }
            // The slices are those of another body.
            _ => (body.clone(), false),
        }
    }

    /// The item in one row, where no other row can continue it: its first slice, and the output of a call.
    pub fn only_piece(&self, body: &Body) -> Body {
        match body {
            Body::ToolCall(call) => Body::ToolCall(Box::new(self.call(call, 0))),
            _ => self.piece(body, 0).0,
        }
    }

    /// A call with one slice of its input.
    fn call(&self, call: &ToolCall, nr: u32) -> ToolCall {
        let detail = match (self, &call.detail) {
            (Self::Plain(slices), ToolDetail::Command { command, output }) => {
                let command = slices.content(command, nr).to_owned();
                ToolDetail::Command { command, output: output.clone() }
            }
            (Self::Plain(slices), ToolDetail::Json { input, output }) => {
                let input = slices.content(input, nr).to_owned();
                ToolDetail::Json { input, output: output.clone() }
            }
            (Self::Diff(slices), ToolDetail::Edit(diff)) => ToolDetail::Edit(slice_of(diff, slices, nr)),
            (Self::Diff(slices), ToolDetail::Notebook { cell, diff }) => {
                ToolDetail::Notebook { cell: cell.clone(), diff: slice_of(diff, slices, nr) }
            }
            (_, detail) => detail.clone(),
        };
        let (tool, subject) = (name(&call.tool), name(&call.subject));
        let (verb, note, original_input) =
            (call.verb.clone(), call.note.clone(), call.original_input.clone());
        let ToolCall { icon, state, in_background, duration_ms, n_images, .. } = *call;
        ToolCall {
            tool,
            icon,
            verb,
            subject,
            state,
            note,
            in_background,
            original_input,
            duration_ms,
            n_images,
            detail,
        }
    }

    /// The block in which slice `nr` begins, and whether the block began before. A plain text is one block.
    pub fn beginning(&self, body: &Body, nr: u32) -> (u32, bool) {
        match (self, body) {
            (Self::Document(slices), Body::Text { blocks, .. }) => slices.beginning(blocks, nr),
            _ => (0, nr > 0),
        }
    }
}

impl BodySlices {
    /// What slice `nr` has of the lists and tables that are cut.
    pub fn parts(&self, body: &Body, nr: u32) -> Parts {
        match (self, body) {
            (Self::Document(slices), Body::Text { blocks, streaming }) => {
                slices.parts(blocks, nr, *streaming)
            }
            _ => Parts::default(),
        }
    }

    /// The first slice with a part of a list or table that is cut and may still get more.
    pub fn growing_from(&self, body: &Body) -> Option<u32> {
        match (self, body) {
            (Self::Document(slices), Body::Text { blocks, streaming }) => {
                slices.growing_from(blocks, *streaming)
            }
            _ => None,
        }
    }
}

fn slice_of(diff: &Diff, slices: &DiffSlices, nr: u32) -> Diff {
    let hunks = slices.content(nr).to_vec();
    Diff { path: name(&diff.path), added: diff.added, removed: diff.removed, hunks }
}

fn diff_of(detail: &ToolDetail) -> Option<&Diff> {
    match detail {
        ToolDetail::Edit(diff) | ToolDetail::Notebook { diff, .. } => Some(diff),
        _ => None,
    }
}

fn input_of(detail: &ToolDetail) -> Option<&str> {
    match detail {
        ToolDetail::Command { command: text, .. } | ToolDetail::Json { input: text, .. } => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{Level, ToolIcon, ToolState};
    use crate::document;
    use crate::transcript::words;

    fn letters(body: &Body) -> String {
        let mut all = String::new();
        words::inside(body, &mut all);
        all.retain(char::is_alphanumeric);
        all
    }

    fn call(detail: ToolDetail, subject: &str) -> Body {
        Body::ToolCall(Box::new(ToolCall {
            tool: "tool".to_owned(),
            icon: ToolIcon::Edit,
            verb: String::new(),
            subject: subject.to_owned(),
            state: ToolState::Succeeded,
            note: None,
            in_background: false,
            original_input: None,
            duration_ms: None,
            n_images: 0,
            detail,
        }))
    }

    #[test]
    fn long_details_and_inputs_are_in_slices_that_together_are_the_whole() {
        let long = "a line of it\n".repeat(20_000);
        let output = Output { total: 1, first: 0, lines: document::plain("the output") };
        let bodies = [
            Body::Notice {
                level: Level::Info,
                text: "n".to_owned(),
                detail: Some(long.clone()),
                until_at: None,
            },
            call(ToolDetail::Command { command: long.clone(), output: output.clone() }, "it"),
            call(ToolDetail::Json { input: long.clone(), output }, "it"),
            call(ToolDetail::Edit(document::diff("a.txt", "", &long)), "it"),
        ];
        for body in bodies {
            let slices = BodySlices::of(&body).unwrap();
            assert!(slices.count() > 20);
            let pieces: Vec<Body> = (0..slices.count()).map(|nr| slices.piece(&body, nr).0).collect();
            assert_eq!(pieces.iter().map(letters).collect::<String>(), letters(&body));
            assert!(pieces.iter().all(|piece| letters(piece).len() <= super::super::BYTES));
            let mut outputs = pieces.into_iter().filter(|piece| match piece {
                Body::ToolCall(call) => call.detail.output().is_some_and(|one| one.total > 0),
                _ => false,
            });
            assert!(outputs.by_ref().count() <= 1, "the output is below the input only");
        }
    }

    #[test]
    fn what_is_of_an_ordinary_length_is_drawn_whole() {
        let text = "a line of it\n".repeat(4_000);
        assert!(BodySlices::of(&call(ToolDetail::Edit(document::diff("a.txt", "", &text)), "it")).is_none());
        let output = Output::default();
        assert!(BodySlices::of(&call(ToolDetail::Command { command: text, output }, "it")).is_none());
    }

    #[test]
    fn a_name_of_any_length_is_one_short_line() {
        let body = call(ToolDetail::Todos { todos: Vec::new() }, &"z".repeat(300_000));
        let slices = BodySlices::of(&body).unwrap();
        let Body::ToolCall(call) = slices.only_piece(&body) else { panic!("no call") };
        assert!(slices.count() == 1 && call.subject.len() < 2_000, "{} bytes", call.subject.len());
    }
}
