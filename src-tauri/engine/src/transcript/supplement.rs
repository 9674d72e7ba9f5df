//! Supplements: items that the agent's transcript on disk does not contain, which are turn ends, the streamed part of an
//! interrupted answer, and the notice that an answer is incomplete. Each is placed after the items that preceded it; those have the same ids on disk.

use super::{PROCESS_ENDED, Transcript};
use crate::api::*;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Maximum number of preceding items stored as anchors. The last ones may be missing on disk, because the agent writes
/// with a delay.
const ANCHORS: usize = 6;
/// Maximum bytes of a text. A longer text is truncated.
const TEXT_LIMIT: usize = 256 * 1024;

/// An item that only Deskbell stores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Supplement {
    pub at: u64,
    /// The last items of its turn before it, oldest first.
    pub after: Vec<ItemId>,
    /// The prompts of a turn that ended, where they are not among the last items. They say only where the turn begins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<ItemId>,
    pub body: Missing,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Missing {
    TurnEnd(TurnEnd),
    /// Ignored if the agent's transcript contains the complete text.
    Text {
        id: ItemId,
        text: String,
    },
    Thinking {
        id: ItemId,
        text: String,
    },
    /// This text or thought is incomplete. Ignored if the agent's transcript contains more of it.
    Incomplete {
        of: ItemId,
        bytes: usize,
        reason: String,
    },
}

impl Missing {
    fn id(&self) -> Option<&ItemId> {
        match self {
            Self::TurnEnd(_) | Self::Incomplete { .. } => None,
            Self::Text { id, .. } | Self::Thinking { id, .. } => Some(id),
        }
    }
}

/// Supplements that still have to be placed while a transcript is read.
#[derive(Default)]
pub(super) struct Pending {
    supplements: Vec<Option<Supplement>>,
    by_anchor: HashMap<ItemId, Vec<usize>>,
    by_prompt: HashMap<ItemId, Vec<usize>>,
    /// Supplements with an anchor that was already read. They are inserted before the next item that is not one of
    /// their anchors.
    due: BTreeSet<usize>,
    /// Ends of turns whose prompt was read, but none of their anchors. They are inserted before the next prompt.
    begun: BTreeSet<usize>,
    /// The texts that were inserted since the last prompt. The agent's transcript may have more of them.
    placed: HashSet<ItemId>,
}

impl Pending {
    fn new(supplements: Vec<Supplement>) -> Self {
        let mut pending = Self::default();
        for (place, supplement) in supplements.iter().enumerate() {
            for id in &supplement.after {
                pending.by_anchor.entry(id.clone()).or_default().push(place);
            }
            for id in &supplement.prompts {
                pending.by_prompt.entry(id.clone()).or_default().push(place);
            }
        }
        pending.supplements = supplements.into_iter().map(Some).collect();
        pending
    }

    /// Whether the item is a text that was inserted since the last prompt.
    pub(super) fn has_placed(&self, id: &ItemId) -> bool {
        self.placed.contains(id)
    }

    /// An item was read: the supplements with this anchor are due.
    fn passed(&mut self, id: &ItemId) {
        let is_placed = |place: &usize| self.supplements[*place].is_none();
        for place in self.by_anchor.get(id).into_iter().flatten().filter(|place| !is_placed(place)) {
            self.begun.remove(place);
            self.due.insert(*place);
        }
        for place in self.by_prompt.get(id).into_iter().flatten().filter(|place| !is_placed(place)) {
            if !self.due.contains(place) {
                self.begun.insert(*place);
            }
        }
    }

    /// The next supplement to insert before this item; `None` stands for the end of the transcript.
    fn next_before(&mut self, item: Option<(&ItemId, &Body)>) -> Option<Supplement> {
        let of = |place: &usize| self.supplements[*place].as_ref();
        let is_due =
            |place: &&usize| of(place).is_some_and(|own| item.is_none_or(|(id, _)| !own.after.contains(id)));
        let is_over = |place: &&usize| {
            of(place).is_some_and(|own| match item {
                Some((id, body)) => matches!(body, Body::Prompt { .. }) && !own.prompts.contains(id),
                None => true,
            })
        };
        let due = self.due.iter().find(is_due);
        let over = self.begun.iter().find(is_over);
        let place = *due.into_iter().chain(over).min()?;
        self.due.remove(&place);
        self.begun.remove(&place);
        self.supplements[place].take()
    }
}

impl Transcript {
    /// Places these supplements while the transcript is read. They must be in their original order.
    pub fn supplemented_with(mut self, supplements: Vec<Supplement>) -> Self {
        self.pending = Pending::new(supplements);
        self
    }

    /// Drains the supplements recorded since the last call.
    pub fn take_supplements(&mut self) -> Vec<Supplement> {
        std::mem::take(&mut self.supplements)
    }

    /// Supplements for the blocks that are streaming, with the text received so far.
    pub fn streaming(&self, now: u64) -> Vec<Supplement> {
        let mut open: Vec<&ItemId> = self.reply.iter().flat_map(|reply| reply.open.values()).collect();
        open.sort_by_key(|id| self.index.get(*id));
        let partial = open.into_iter().filter_map(|id| {
            let text = self.partial(now, id)?;
            Some([text].into_iter().chain(self.mark(now, id, PROCESS_ENDED)))
        });
        partial.flatten().collect()
    }

    /// Inserts the due supplements before an item is appended.
    pub(super) fn supplement_before(&mut self, item: Option<(&ItemId, &Body)>) {
        let id = item.map(|(id, _)| id);
        while let Some(supplement) = self.pending.next_before(item) {
            let Supplement { at, body, .. } = supplement;
            // The agent's transcript has the complete block.
            if body.id().is_some_and(|own| Some(own) == id || self.index.contains_key(own)) {
                continue;
            }
            self.pending.placed.extend(body.id().cloned());
            match body {
                Missing::TurnEnd(turn) => self.add_turn_end(at, turn),
                Missing::Text { id, text } => {
                    self.add(id.clone(), None, at, Body::Text { blocks: Vec::new(), streaming: false });
                    self.put_text(&id, text);
                }
                Missing::Thinking { id, text } => {
                    self.add(id, None, at, Body::Thinking { text, streaming: false, duration_ms: None });
                }
                Missing::Incomplete { of, bytes, reason } => {
                    if self.bytes_of(&of).is_some_and(|known| known <= bytes) {
                        // What is due after the notice must not be inserted before it.
                        let due = std::mem::take(&mut self.pending.due);
                        self.info(at, incomplete(&reason));
                        self.pending.due = due;
                    }
                }
            }
        }
    }

    /// Inserts the remaining due supplements when the whole transcript has been read.
    pub fn supplement_end(&mut self) {
        self.supplement_before(None);
        self.pending = Pending::default();
        self.supplements.clear();
    }

    pub(super) fn supplement_after(&mut self, id: &ItemId) {
        if matches!(self.head(id).map(|item| &item.body), Some(Body::Prompt { .. })) {
            self.pending.placed.clear();
        }
        self.pending.passed(id);
    }

    /// Records the end of a turn.
    pub(super) fn keep_turn_end(&mut self, now: u64, turn: &TurnEnd) {
        let after = self.anchors();
        // A prompt that was sent again is at its first position here, but at its last position on disk.
        let prompts = turn.prompt_ids.iter().map(|prompt| {
            let id = ItemId::new(prompt.as_str());
            self.names.get(&id).cloned().unwrap_or(id)
        });
        let prompts = prompts.filter(|name| !after.contains(name)).collect();
        self.supplements.push(Supplement { at: now, after, prompts, body: Missing::TurnEnd(turn.clone()) });
    }

    /// Records the streamed part of an answer that was cut off, and says that it is incomplete.
    pub(super) fn keep_broken_off(&mut self, now: u64, reason: &str) {
        let mut broken_off: Vec<ItemId> = self.broken_off.clone();
        broken_off.sort_by_key(|id| self.index.get(id).copied());
        let partial: Vec<Supplement> = broken_off.iter().filter_map(|id| self.partial(now, id)).collect();
        let last = partial.last().and_then(|last| last.body.id()).cloned();
        self.supplements.extend(partial);
        if let Some(last) = last {
            self.incomplete(now, &last, reason);
        }
    }

    /// Says that a text or a thought is incomplete, and records it.
    pub(super) fn incomplete(&mut self, now: u64, id: &ItemId, reason: &str) {
        let Some(mark) = self.mark(now, id, reason) else { return };
        self.supplements.push(mark);
        self.info(now, incomplete(reason));
    }

    fn mark(&self, now: u64, id: &ItemId, reason: &str) -> Option<Supplement> {
        let bytes = self.bytes_of(id)?.min(TEXT_LIMIT);
        let body = Missing::Incomplete { of: id.clone(), bytes, reason: reason.to_owned() };
        let after = self.anchors_before(*self.index.get(id)? + 1);
        Some(Supplement { at: now, after, prompts: Vec::new(), body })
    }

    /// The length of a text or a thought as far as it was received.
    fn bytes_of(&self, id: &ItemId) -> Option<usize> {
        match &self.head(id)?.body {
            Body::Text { .. } => Some(self.source_of(id)?.len()),
            Body::Thinking { text, .. } => Some(text.len()),
            _ => None,
        }
    }

    /// A text as the agent wrote it, as far as it was received.
    fn source_of(&self, id: &ItemId) -> Option<&str> {
        let streamed = self.documents.get(id).map(|document| document.text());
        streamed.or_else(|| self.lazy(id)?.source())
    }

    fn partial(&self, now: u64, id: &ItemId) -> Option<Supplement> {
        let place = *self.index.get(id)?;
        let cut = |text: &str| text[..text.floor_char_boundary(TEXT_LIMIT)].to_owned();
        let body = match &self.items[place].head().body {
            Body::Text { .. } => Missing::Text { id: id.clone(), text: cut(self.source_of(id)?) },
            Body::Thinking { text, .. } => Missing::Thinking { id: id.clone(), text: cut(text) },
            _ => return None,
        };
        let is_empty =
            matches!(&body, Missing::Text { text, .. } | Missing::Thinking { text, .. } if text.is_empty());
        (!is_empty).then(|| Supplement {
            at: now,
            after: self.anchors_before(place),
            prompts: Vec::new(),
            body,
        })
    }

    fn anchors(&self) -> Vec<ItemId> {
        self.anchors_before(self.items.len())
    }

    /// The last items of the turn before `place`, by their ids on disk.
    fn anchors_before(&self, place: usize) -> Vec<ItemId> {
        let mut anchors = Vec::new();
        let before = self.items[..place].iter().rev().map(|item| item.head());
        for item in before.filter(|item| item.parent.is_none()) {
            match &item.body {
                Body::Prompt { .. } => {
                    anchors.push(self.names.get(&item.id).unwrap_or(&item.id).clone());
                    break;
                }
                Body::TurnEnd(_) => break,
                Body::Message { .. } | Body::Text { .. } | Body::Thinking { .. } | Body::ToolCall(_) => {
                    anchors.push(item.id.clone())
                }
                Body::Notice { .. } => {}
            }
            if anchors.len() == ANCHORS {
                break;
            }
        }
        anchors.reverse();
        anchors
    }
}

/// The notice below an answer that was cut off.
fn incomplete(reason: &str) -> String {
    format!("The answer above is incomplete: {reason}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::TranscriptEvent;
    use crate::wire;
    use serde_json::{Value, json};
    use std::path::Path;

    fn text(id: &str, after: &[&str]) -> Supplement {
        let body = Missing::Text { id: ItemId::new(id), text: "partly".to_owned() };
        let after = after.iter().map(|id| ItemId::new(*id)).collect();
        Supplement { at: 1, after, prompts: Vec::new(), body }
    }

    fn end(words: &str, after: &[&str]) -> Supplement {
        let turn = TurnEnd {
            outcome: Outcome::Done,
            words: words.to_owned(),
            prompt_ids: Vec::new(),
            duration_ms: 1,
            output_tokens: 2,
            cost_usd: Some(0.5),
            tokens: None,
            timing: TurnTiming::default(),
        };
        Supplement { body: Missing::TurnEnd(turn), ..text("", after) }
    }

    /// The ids of the items made from these prompts and supplements; turn ends by their words.
    fn read(supplements: Vec<Supplement>, prompts: &[&str]) -> Vec<String> {
        let mut transcript = Transcript::new(Path::new("/p")).supplemented_with(supplements);
        for id in prompts {
            transcript.past_prompt(1, id, "prompt".to_owned());
        }
        transcript.supplement_end();
        let name = |item: &Item| match &item.body {
            Body::TurnEnd(turn) => turn.words.clone(),
            _ => item.id.0.clone(),
        };
        transcript.items().map(name).collect()
    }

    #[test]
    fn each_goes_after_the_last_of_its_anchors_that_is_there() {
        let supplements =
            vec![text("m", &["a", "b"]), end("first", &["a", "b", "m"]), end("second", &["c", "gone"])];
        assert_eq!(read(supplements, &["a", "b", "c"]), ["a", "b", "m", "first", "c", "second"]);
    }

    /// The words of the items of a conversation.
    fn words(transcript: &Transcript) -> Vec<String> {
        let said = transcript.items().map(|item| match &item.body {
            Body::Notice { text, .. } => text.clone(),
            Body::TurnEnd(_) => "end".to_owned(),
            _ => transcript.text_of("T", &CopyOf::Message { item_id: item.id.clone() }).unwrap(),
        });
        said.collect()
    }

    fn streamed(lines: &[Value]) -> Transcript {
        let mut transcript = Transcript::new(Path::new("/p"));
        transcript.past_prompt(1, "u", "go".to_owned());
        let start =
            json!({"type": "stream_event", "event": {"type": "message_start", "message": {"id": "m"}}});
        let block = json!({"type": "stream_event", "event": {"type": "content_block_start", "index": 0,
            "content_block": {"type": "text", "text": ""}}});
        let half = json!({"type": "stream_event", "event": {"type": "content_block_delta", "index": 0,
            "delta": {"type": "text_delta", "text": "half of"}}});
        for line in [start, block, half].iter().chain(lines) {
            transcript.line(1, wire::parse(line.to_string().as_bytes()));
        }
        transcript
    }

    fn reopened(supplements: Vec<Supplement>, on_disk: Option<&str>) -> Vec<String> {
        let mut transcript = Transcript::new(Path::new("/p")).supplemented_with(supplements);
        transcript.past_prompt(1, "u", "go".to_owned());
        if let Some(text) = on_disk {
            let line = json!({"type": "assistant", "message": {"id": "m", "content": [{"type": "text", "text": text}]}});
            transcript.line(1, wire::parse(line.to_string().as_bytes()));
        }
        transcript.apply(0, TranscriptEvent::ProcessEnded);
        transcript.supplement_end();
        words(&transcript)
    }

    fn turn_end(outcome: Outcome) -> TranscriptEvent {
        let Missing::TurnEnd(turn) = end("", &[]).body else { panic!() };
        TranscriptEvent::TurnEnded(TurnEnd { outcome, ..turn })
    }

    #[test]
    fn an_answer_that_was_cut_off_says_so_live_in_exports_and_when_it_is_read_again() {
        let aborted = json!({"type": "assistant", "aborted": true,
            "message": {"id": "m", "content": [{"type": "text", "text": "half of"}]}});
        let ends = [
            (None, TranscriptEvent::ProcessEnded, "the agent's process ended", None),
            (None, turn_end(Outcome::Interrupted), "it was interrupted", None),
            // The agent reports what it wrote, and saves it.
            (Some(aborted), turn_end(Outcome::Interrupted), "it was interrupted", Some("half of")),
        ];
        for (line, event, reason, on_disk) in ends {
            let mut transcript = streamed(line.as_slice());
            transcript.apply(2, event);
            let mark = format!("The answer above is incomplete: {reason}");
            assert_eq!(words(&transcript)[..3], ["go", "half of", &mark], "{reason}");
            let copied = transcript.text_of("T", &CopyOf::Conversation).unwrap();
            assert!(copied.contains(&format!("half of\n\n*{mark}*")), "{copied}");
            let supplements = transcript.take_supplements();
            let again = reopened(supplements, on_disk);
            assert_eq!(again, words(&transcript), "{reason}");
        }
    }

    #[test]
    fn an_answer_of_which_the_agent_has_more_is_not_incomplete() {
        let saved = streamed(&[]).streaming(2);
        assert_eq!(reopened(saved.clone(), Some("half of the whole")), ["go", "half of the whole"]);
        let mark = "The answer above is incomplete: the agent's process ended";
        assert_eq!(reopened(saved, None), ["go", "half of", mark]);
    }

    #[test]
    fn an_answer_that_began_again_is_not_incomplete() {
        let again = json!({"type": "assistant", "message": {"id": "n", "content": [{"type": "text", "text": "whole"}]}});
        let mut transcript = streamed(&[again]);
        transcript.apply(2, turn_end(Outcome::Done));
        assert_eq!(words(&transcript), ["go", "whole", "end"]);
    }

    #[test]
    fn the_end_of_a_turn_whose_last_items_are_missing_goes_before_the_next_prompt() {
        let mut transcript = Transcript::new(Path::new("/p"));
        let of = |prompts: &[&str], supplement: Supplement| {
            let prompts = prompts.iter().map(|id| ItemId::new(*id)).collect();
            Supplement { prompts, ..supplement }
        };
        transcript = transcript.supplemented_with(vec![
            of(&["a", "b"], end("first", &["gone"])),
            of(&["c"], end("second", &["y"])),
        ]);
        let thought = || Body::Thinking { text: "hm".to_owned(), streaming: false, duration_ms: None };
        transcript.past_prompt(1, "a", "prompt".to_owned());
        transcript.add(ItemId::new("x"), None, 1, thought());
        transcript.past_prompt(1, "b", "prompt".to_owned());
        transcript.past_prompt(1, "c", "prompt".to_owned());
        for id in ["x2", "y", "z"] {
            transcript.add(ItemId::new(id), None, 1, thought());
        }
        transcript.supplement_end();
        let name = |item: &Item| match &item.body {
            Body::TurnEnd(turn) => turn.words.clone(),
            _ => item.id.0.clone(),
        };
        let names: Vec<String> = transcript.items().map(name).collect();
        assert_eq!(names, ["a", "x", "b", "first", "c", "x2", "y", "second", "z"]);
    }

    #[test]
    fn what_the_agent_wrote_itself_is_not_there_twice() {
        assert_eq!(read(vec![text("b", &["a"])], &["a", "b"]), ["a", "b"]);
        assert_eq!(read(vec![text("a", &["b"])], &["a", "b"]), ["a", "b"]);
    }

    #[test]
    fn what_has_no_place_any_more_is_left_out() {
        assert_eq!(read(vec![end("gone", &["x"]), end("first", &["a"])], &["a", "b"]), ["a", "first", "b"]);
    }
}
