//! Results of tool calls, as the agent reports them.

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

impl Outcome<'_> {
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

    pub fn field(&self, key: &str) -> Option<&Value> {
        self.structured?.get(key)
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
