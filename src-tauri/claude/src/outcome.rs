//! Results of tool calls, as the agent reports them.

use crate::tool::id_text;
use deskbell_agent::{ContentBlock, User};
use serde_json::Value;

/// The result of a tool call: the text that the model reads, and the same as structured data.
pub struct Outcome<'a> {
    pub content: &'a Value,
    pub structured: Option<&'a Value>,
    pub is_error: bool,
    /// The agent's reason code when the call did not run or did not finish. Absent on 2.1.197.
    pub refusal: Option<&'a str>,
}

/// How far an interrupted call had run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// It had not started.
    BeforeItRan,
    /// It had run in part or completely.
    WhileItRan,
    /// The agent does not report it (2.1.197).
    Unknown,
}

/// A hunk of the change that an editing tool reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchHunk<'a> {
    /// The number of the first line, before and after the change.
    pub old_start: Option<u32>,
    pub new_start: Option<u32>,
    /// Lines with a patch sign each.
    pub lines: Vec<&'a str>,
}

/// A part of the result of a web search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found<'a> {
    Words(&'a str),
    Page { title: Option<&'a str>, url: &'a str },
}

/// The results of tool calls in this message, each with the id of its call.
pub fn outcomes(user: &User) -> impl Iterator<Item = (&str, Outcome<'_>)> {
    user.message.content.iter().filter_map(move |block| {
        let ContentBlock::ToolResult { tool_use_id, content, is_error } = block else { return None };
        let structured = user.tool_use_result.as_ref();
        let refusal = user.refusal(tool_use_id);
        Some((tool_use_id.as_str(), Outcome { content, structured, is_error: *is_error, refusal }))
    })
}

impl<'a> Outcome<'a> {
    fn field(&self, key: &str) -> Option<&'a Value> {
        self.structured?.get(key)
    }

    /// Whether the agent reports the result as data too.
    pub fn is_structured(&self) -> bool {
        self.structured.is_some()
    }

    /// The two outputs of a command, if they are reported as data; otherwise they are empty.
    pub fn streams(&self) -> (&'a str, &'a str) {
        let stream = |key: &str| self.field(key).and_then(Value::as_str).unwrap_or("");
        (stream("stdout"), stream("stderr"))
    }

    /// The content of a file that was read.
    pub fn file_content(&self) -> Option<&'a str> {
        self.field("file")?.get("content")?.as_str()
    }

    /// The change that an editing tool made; `None` if it reports none, as for a new file, or in another form.
    pub fn patch(&self) -> Option<Vec<PatchHunk<'a>>> {
        let hunk = |hunk: &'a Value| {
            let number = |key: &str| u32::try_from(hunk.get(key)?.as_u64()?).ok();
            let lines = hunk.get("lines")?.as_array()?.iter().map(Value::as_str).collect::<Option<_>>()?;
            Some(PatchHunk { old_start: number("oldStart"), new_start: number("newStart"), lines })
        };
        let hunks = self.field("structuredPatch")?.as_array().filter(|hunks| !hunks.is_empty())?;
        hunks.iter().map(hunk).collect()
    }

    /// The source of a notebook's cell before the call.
    pub fn cell_before(&self, cell_id: &str) -> Option<String> {
        let notebook: Value = serde_json::from_str(self.field("original_file")?.as_str()?).ok()?;
        let cells = notebook.get("cells")?.as_array()?;
        let cell = cells.iter().find(|cell| cell.get("id").and_then(Value::as_str) == Some(cell_id))?;
        match cell.get("source")? {
            Value::String(source) => Some(source.clone()),
            Value::Array(lines) => Some(lines.iter().filter_map(Value::as_str).collect()),
            _ => None,
        }
    }

    /// The user's answer to a question: the labels of options, or own words.
    pub fn answer(&self, question: &str) -> Option<&'a str> {
        self.field("answers")?.get(question)?.as_str()
    }

    /// The id of a task that the call created.
    pub fn created_task(&self) -> Option<String> {
        match self.field("task").and_then(|task| task.get("id")) {
            Some(id) => id_text(id),
            // “Task #1 created successfully: …” (2.1.197).
            None => Some(self.text().split_once('#')?.1.chars().take_while(char::is_ascii_digit).collect()),
        }
    }

    /// What a web search found. `None` if a page has no address, or the result has another form.
    pub fn found(&self) -> Option<Vec<Found<'a>>> {
        let mut found = Vec::new();
        for result in self.field("results")?.as_array()? {
            found.extend(result.as_str().map(Found::Words));
            for page in result.get("content").and_then(Value::as_array).into_iter().flatten() {
                let text = |key: &str| page.get(key).and_then(Value::as_str);
                found.push(Found::Page { title: text("title"), url: text("url")? });
            }
        }
        Some(found)
    }

    /// The text without the tags that are meant for the model.
    pub fn text(&self) -> String {
        let text = match self.content {
            Value::String(text) => text.clone(),
            Value::Array(_) => self.texts().join("\n"),
            _ => String::new(),
        };
        let is_tagged = self.is_error && text.contains(ERROR_BEGINS);
        if is_tagged { text.replace(ERROR_BEGINS, "").replace(ERROR_ENDS, "") } else { text }
    }

    fn texts(&self) -> Vec<&str> {
        let blocks = self.content.as_array().map_or(&[][..], Vec::as_slice);
        blocks.iter().filter_map(|block| block.get("text")?.as_str()).collect()
    }

    /// How far the call had run if an interrupt ended it. The agent reports an interrupt as a rejection by the user. A
    /// denial with its own text is an ordinary error.
    pub fn rejection(&self) -> Option<Rejection> {
        let is_rejected = self.structured.and_then(Value::as_str) == Some("User rejected tool use");
        is_rejected.then(|| match self.refusal {
            // 2.1.329 adds this text if the call had started.
            _ if self.text().contains("this call was stopped while running") => Rejection::WhileItRan,
            Some(_) => Rejection::BeforeItRan,
            None => Rejection::Unknown,
        })
    }

    /// Whether the user, a rule, a hook or the mode denied the call, so that nothing ran. In the mode that never asks,
    /// a denial is also called `user-rejected` (2.1.329).
    pub fn is_denied(&self) -> bool {
        self.refusal.is_some() && self.rejection().is_none()
    }

    /// A subagent's report as it wrote it, without the frame that is added for the model.
    pub fn report(&self) -> Option<String> {
        let is_one = |report: &String| !report.trim().is_empty();
        self.report_as_data().filter(is_one).or_else(|| self.report_in_text().filter(is_one))
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

    fn report_in_text(&self) -> Option<String> {
        let text = self.text();
        let (report, is_framed) = match text.split_once(FRAME) {
            Some((_, behind)) => (behind.split_once("The report follows:\n")?.1, true),
            None => (text.as_str(), false),
        };
        // The last line with this prefix ends the report: the report's own lines are indented or come earlier.
        let end = report.rfind("\nagentId: ").unwrap_or(match report.starts_with("agentId: ") {
            true => 0,
            false => report.len(),
        });
        let lines = report[..end].lines();
        let lines = lines.map(|line| if is_framed { line.strip_prefix("  ").unwrap_or(line) } else { line });
        Some(lines.collect::<Vec<_>>().join("\n"))
    }
}

const ERROR_BEGINS: &str = "<tool_use_error>";
const ERROR_ENDS: &str = "</tool_use_error>";

/// The first words of the frame around a subagent's report (2.1.329).
const FRAME: &str = "[Subagent hand-back]";

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
        let hunk = PatchHunk { old_start: Some(4), new_start: Some(5), lines: vec![" a", "+b"] };
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
        assert_eq!(outcome(&framed, None, false).report().as_deref(), Some("# Found\n\n  deep"));
        let data = json!({"harnessNoteCount": 1, "content": [
            {"type": "text", "text": "<tools-used-before-summary>Bash</tools-used-before-summary>"},
            {"type": "text", "text": "# Found"},
        ]});
        assert_eq!(outcome(&framed, Some(&data), false).report().as_deref(), Some("# Found"));
        let old = json!([{"type": "text", "text": "ok"}, {"type": "text", "text": tail}]);
        assert_eq!(outcome(&old, None, false).report().as_deref(), Some("ok"));
        let none = json!([{"type": "text", "text": tail}]);
        assert_eq!(outcome(&none, None, false).report(), None);
        // Counts that do not match the content must not cause a panic.
        let odd = json!({"harnessNoteCount": 9, "harnessTailCount": 9, "content": []});
        assert_eq!(outcome(&old, Some(&odd), false).report().as_deref(), Some("ok"));
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
    }
}
