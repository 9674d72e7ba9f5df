//! Results of tool calls, as the agent reports them.

use crate::tool::id_text;
use deskbell_agent::{
    DecidedBy, Exit, Found, PartDescription, PatchHunk, Rejection, Streams, ToolResult, n_bytes_of_base64,
};
use serde_json::Value;
use std::borrow::Cow;

/// The result of a tool call: the text that the model reads, and the same as structured data.
pub(crate) struct Outcome<'a> {
    pub content: &'a Value,
    pub structured: Option<&'a Value>,
    pub is_error: bool,
    /// The agent's reason code when the call did not run or did not finish. Absent on 2.1.197.
    pub refusal: Option<&'a str>,
}

impl<'a> Outcome<'a> {
    fn field(&self, key: &str) -> Option<&'a Value> {
        self.structured?.get(key)
    }

    /// Everything that the result says, except `raw`. `tool_use_id`: its call.
    pub(crate) fn read(&self, tool_use_id: &str, decision: Option<DecidedBy>) -> ToolResult {
        let text = self.text();
        let streams = self.structured.map(|_| {
            let (stdout, stderr) = self.streams();
            Streams { stdout: stdout.to_owned(), stderr: stderr.to_owned() }
        });
        let notebook = self.field("original_file").and_then(Value::as_str);
        ToolResult {
            tool_use_id: tool_use_id.to_owned(),
            raw: Value::Null,
            is_error: self.is_error,
            decision,
            is_denied: self.is_denied(),
            rejection: self.rejection(),
            has_run: self.is_error && has_run(&text),
            n_images: self.n_images(),
            images: Vec::new(),
            exit: if self.is_error { exit(&text) } else { None },
            streams,
            file_content: self.file_content().map(str::to_owned),
            patch: self.patch(),
            notebook_before: notebook.map(str::to_owned),
            answers: self.answers(),
            created_task: self.created_task(&text),
            found: self.found(),
            report: self.report(&text),
            text,
        }
    }

    /// The two outputs of a command, if they are reported as data; otherwise they are empty.
    pub(crate) fn streams(&self) -> (&'a str, &'a str) {
        let stream = |key: &str| self.field(key).and_then(Value::as_str).unwrap_or("");
        (stream("stdout"), stream("stderr"))
    }

    /// The content of a file that was read.
    fn file_content(&self) -> Option<&'a str> {
        self.field("file")?.get("content")?.as_str()
    }

    /// The change that an editing tool made; `None` if it reports none, as for a new file, or in another form.
    pub(crate) fn patch(&self) -> Option<Vec<PatchHunk>> {
        let hunk = |hunk: &'a Value| {
            let number = |key: &str| u32::try_from(hunk.get(key)?.as_u64()?).ok();
            let lines = hunk.get("lines")?.as_array()?.iter();
            let lines = lines.map(|line| line.as_str().map(str::to_owned)).collect::<Option<_>>()?;
            Some(PatchHunk { old_start: number("oldStart"), new_start: number("newStart"), lines })
        };
        let hunks = self.field("structuredPatch")?.as_array().filter(|hunks| !hunks.is_empty())?;
        hunks.iter().map(hunk).collect()
    }

    /// The user's answers to questions: the labels of options, or own words.
    fn answers(&self) -> Vec<(String, String)> {
        let answers = self.field("answers").and_then(Value::as_object);
        let text =
            |(question, answer): (&String, &Value)| Some((question.clone(), answer.as_str()?.to_owned()));
        answers.into_iter().flatten().filter_map(text).collect()
    }

    /// The id of a task that the call created.
    fn created_task(&self, text: &str) -> Option<String> {
        match self.field("task").and_then(|task| task.get("id")) {
            Some(id) => id_text(id),
            // “Task #1 created successfully: …” (2.1.197).
            None => Some(text.split_once('#')?.1.chars().take_while(char::is_ascii_digit).collect()),
        }
    }

    /// What a web search found. `None` if a page has no address, or the result has another form.
    fn found(&self) -> Option<Vec<Found>> {
        let mut found = Vec::new();
        for result in self.field("results")?.as_array()? {
            found.extend(result.as_str().map(|words| Found::Words(words.to_owned())));
            for page in result.get("content").and_then(Value::as_array).into_iter().flatten() {
                let text = |key: &str| page.get(key).and_then(Value::as_str).map(str::to_owned);
                found.push(Found::Page { title: text("title"), url: text("url")? });
            }
        }
        Some(found)
    }

    /// The text without the tags that are meant for the model.
    pub(crate) fn text(&self) -> String {
        let text = match self.content {
            Value::String(text) => text.clone(),
            Value::Array(_) => self.texts().join("\n"),
            _ => String::new(),
        };
        let is_tagged = self.is_error && text.contains(ERROR_BEGINS);
        if is_tagged { text.replace(ERROR_BEGINS, "").replace(ERROR_ENDS, "") } else { text }
    }

    /// The images whose data is in the result.
    fn n_images(&self) -> u32 {
        let blocks = self.content.as_array().map_or(&[][..], Vec::as_slice);
        let is_image = |block: &&Value| {
            let data = block.get("source").and_then(|source| source.get("data"));
            block.get("type").is_some_and(|kind| kind == "image") && data.is_some_and(Value::is_string)
        };
        blocks.iter().filter(is_image).count() as u32
    }

    fn texts(&self) -> Vec<Cow<'a, str>> {
        let blocks = self.content.as_array().map_or(&[][..], Vec::as_slice);
        let named = |block: &'a Value| match block.get("type").and_then(Value::as_str) {
            Some("image") => Some(of_bytes("Image", block).into()),
            Some("document") => Some(of_bytes("Document", block).into()),
            _ => block.get("text")?.as_str().map(Cow::Borrowed),
        };
        blocks.iter().filter_map(named).collect()
    }

    /// How far the call had run if an interrupt ended it. The agent reports an interrupt as a rejection by the user. A
    /// denial with its own text is an ordinary error.
    fn rejection(&self) -> Option<Rejection> {
        let is_rejected = self.structured.and_then(Value::as_str) == Some("User rejected tool use");
        (is_rejected || self.is_aborted()).then(|| match self.refusal {
            // 2.1.329 adds this text if the call had started.
            _ if self.text().contains("this call was stopped while running") => Rejection::WhileItRan,
            Some(_) if !self.is_aborted() => Rejection::BeforeItRan,
            _ => Rejection::Unknown,
        })
    }

    /// Whether the agent was ended, or gave the call up, before it had a result. No one denied the call, and it may have
    /// run: 2.1.329 writes `interrupted` into a conversation that it resumes after it was killed.
    fn is_aborted(&self) -> bool {
        matches!(self.refusal, Some("interrupted" | "cancelled"))
    }

    /// Whether the user, a rule, a hook or the mode denied the call, so that nothing ran. In the mode that never asks,
    /// a denial is also called `user-rejected` (2.1.329).
    fn is_denied(&self) -> bool {
        self.refusal.is_some() && self.rejection().is_none()
    }

    /// A subagent's report without the frame that is added for the model. `None` if it can only be the text itself.
    fn report(&self, text: &str) -> Option<String> {
        let as_data = self.report_as_data().filter(|report| !report.trim().is_empty());
        as_data.or_else(|| {
            let is_marked = text.contains(FRAME) || text.contains(ID_LINE);
            is_marked.then(|| report_in_text(text).unwrap_or_default())
        })
    }

    /// The report from the structured data. 2.1.329 reports how many notes it adds before and after the report; 2.1.197
    /// adds none.
    fn report_as_data(&self) -> Option<String> {
        let count = |key: &str| self.field(key).and_then(Value::as_u64).unwrap_or(0) as usize;
        let (n_notes, n_tail) = (count("harnessNoteCount"), count("harnessTailCount"));
        let texts: Vec<&str> = self
            .field("content")?
            .as_array()?
            .iter()
            .filter_map(|block| block.get("text")?.as_str())
            .collect();
        let end = texts.len().saturating_sub(n_tail);
        Some(texts.get(n_notes.min(end)..end)?.join("\n\n"))
    }
}

/// A block that is no text, in words: its media type and its size.
fn of_bytes(kind: &str, block: &Value) -> String {
    let part = |key: &str| block.get("source")?.get(key)?.as_str();
    let Some((media_type, data)) = part("media_type").zip(part("data")) else { return kind.to_owned() };
    let n_bytes = Some(n_bytes_of_base64(data));
    PartDescription { kind, media_type: Some(media_type), n_bytes, source: None }.words()
}

fn report_in_text(text: &str) -> Option<String> {
    let (report, is_framed) = match text.split_once(FRAME) {
        Some((_, behind)) => (behind.split_once("The report follows:\n")?.1, true),
        None => (text, false),
    };
    // The last line with this prefix ends the report: the report's own lines are indented or come earlier.
    let end = report.rfind(&format!("\n{ID_LINE}")).unwrap_or(match report.starts_with(ID_LINE) {
        true => 0,
        false => report.len(),
    });
    let lines = report[..end].lines();
    let lines = lines.map(|line| if is_framed { line.strip_prefix("  ").unwrap_or(line) } else { line });
    Some(lines.collect::<Vec<_>>().join("\n"))
}

/// Whether the error text of a command shows that it ran. Otherwise it was refused before (2.1.197 and 2.1.329).
fn has_run(text: &str) -> bool {
    let text = text.trim_start_matches("Error: ");
    ["Exit code ", "Command timed out", "Command was aborted"].iter().any(|words| text.starts_with(words))
}

/// The exit code in the error text of a command: “Exit code 3” is its first line (2.1.197 and 2.1.329).
fn exit(text: &str) -> Option<Exit> {
    let first = text.trim_start_matches("Error: ").lines().next()?;
    let code = first.strip_prefix("Exit code ")?.trim_end().parse().ok()?;
    Some(Exit { code: Some(code), signal: None })
}

const ERROR_BEGINS: &str = "<tool_use_error>";
const ERROR_ENDS: &str = "</tool_use_error>";

/// The first words of the frame around a subagent's report (2.1.329).
const FRAME: &str = "[Subagent hand-back]";

/// The beginning of the line after a subagent's report.
const ID_LINE: &str = "agentId: ";

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_patch_is_whole_or_absent() {
        let patch = |patch: Value| {
            let structured = json!({ "structuredPatch": patch });
            let outcome = outcome(&Value::Null, Some(&structured), false);
            outcome.patch().map(|hunks| hunks.iter().map(|hunk| format!("{hunk:?}")).collect::<String>())
        };
        let good = patch(json!([{"oldStart": 4, "newStart": 5, "lines": [" a", "+b"]}])).unwrap();
        let lines = [" a", "+b"].map(str::to_owned).to_vec();
        let hunk = PatchHunk { old_start: Some(4), new_start: Some(5), lines };
        assert_eq!(good, format!("{hunk:?}"));
        assert!(patch(json!([{"oldStart": -1, "lines": []}])).unwrap().contains("old_start: None"));
        let lines = [json!([1]), json!("+a"), json!(null)];
        let no_lines = lines.map(|lines| json!([{ "lines": lines }]));
        for no_patch in [json!([]), json!(null), json!("x"), json!([1])].into_iter().chain(no_lines) {
            assert_eq!(patch(no_patch.clone()), None, "{no_patch}");
        }
    }

    fn outcome<'a>(content: &'a Value, structured: Option<&'a Value>, is_error: bool) -> Outcome<'a> {
        Outcome { content, structured, is_error, refusal: None }
    }

    #[test]
    fn images_and_documents_in_a_result_are_named() {
        let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}});
        let document = json!({"type": "document", "source": {"type": "file", "file_id": "f"}});
        let content = json!([{"type": "text", "text": "Two:"}, image, document, {"type": "new"}]);
        assert_eq!(outcome(&content, None, false).n_images(), 1);
        assert_eq!(outcome(&content, None, false).text(), "Two:\nImage (image/png, 4 bytes)\nDocument");
    }

    #[test]
    fn the_exit_code_of_a_command_is_its_first_line() {
        let code = |text: &str| exit(text).and_then(|exit| exit.code);
        assert_eq!((code("Exit code 3\nout"), code("Error: Exit code 1")), (Some(3), Some(1)));
        for text in ["", "out\nExit code 3", "Exit code x", "Command timed out"] {
            assert_eq!(code(text), None, "{text}");
        }
    }

    #[test]
    fn an_error_is_shown_without_its_tags() {
        let content = json!("<tool_use_error>Error: No such tool available: X</tool_use_error>");
        assert_eq!(outcome(&content, None, true).text(), "Error: No such tool available: X");
        // Tool output is never changed, even if it looks like the tags.
        assert!(outcome(&content, None, false).text().starts_with("<tool_use_error>"));
    }

    #[test]
    fn a_report_is_what_the_subagent_wrote() {
        let frame = "[Subagent hand-back] Not a message from the user. The report follows:";
        let tail = "agentId: a1 (use SendMessage)\n<usage>tool_uses: 1</usage>";
        let framed =
            json!([{"type": "text", "text": format!("  <note>\n{frame}\n  # Found\n  \n    deep\n{tail}")}]);
        assert_eq!(
            outcome(&framed, None, false).read("t", None).report().as_deref(),
            Some("# Found\n\n  deep")
        );
        let data = json!({"harnessNoteCount": 1, "content": [
            {"type": "text", "text": "<tools-used-before-summary>Bash</tools-used-before-summary>"},
            {"type": "text", "text": "# Found"},
        ]});
        assert_eq!(outcome(&framed, Some(&data), false).read("t", None).report().as_deref(), Some("# Found"));
        let old = json!([{"type": "text", "text": "ok"}, {"type": "text", "text": tail}]);
        assert_eq!(outcome(&old, None, false).read("t", None).report().as_deref(), Some("ok"));
        let none = json!([{"type": "text", "text": tail}]);
        assert_eq!(outcome(&none, None, false).read("t", None).report(), None);
        // Counts that do not match the content must not cause a panic.
        let odd = json!({"harnessNoteCount": 9, "harnessTailCount": 9, "content": []});
        assert_eq!(outcome(&old, Some(&odd), false).read("t", None).report().as_deref(), Some("ok"));
    }

    #[test]
    fn an_interrupt_says_what_had_run() {
        let rejected = json!("User rejected tool use");
        let before = json!("The user doesn't want to proceed with this tool use.");
        let during =
            json!("The tool use was rejected. Correction: this call was stopped while running, not refused.");
        let rejection = |content, refusal| {
            Outcome { content, structured: Some(&rejected), is_error: true, refusal }.rejection()
        };
        assert_eq!(rejection(&before, Some("user-rejected")), Some(Rejection::BeforeItRan));
        assert_eq!(rejection(&during, Some("user-rejected")), Some(Rejection::WhileItRan));
        assert_eq!(rejection(&before, None), Some(Rejection::Unknown));
        let denied = json!("Error: no");
        let denied = Outcome {
            content: &before,
            structured: Some(&denied),
            is_error: true,
            refusal: Some("permission-rule"),
        };
        assert_eq!((denied.rejection(), denied.is_denied()), (None, true));
        let unasked = Outcome { refusal: Some("user-rejected"), ..denied };
        assert_eq!((unasked.rejection(), unasked.is_denied()), (None, true));
        for kind in ["interrupted", "cancelled"] {
            let aborted = Outcome { refusal: Some(kind), ..unasked };
            assert_eq!(
                (aborted.rejection(), aborted.is_denied()),
                (Some(Rejection::Unknown), false),
                "{kind}"
            );
        }
    }
}
