//! The file that the demo pretends to work on: its text, and the wire output of reading and changing it.

use std::path::MAIN_SEPARATOR;

use serde_json::{Value, json};

use super::by_config;
use crate::agent::Cut;
use crate::call::PlayedCall;
use crate::environment::cwd;
use crate::permission::Permit;
use crate::turn::PlayedTurn;

const MONEY: &str = include_str!("text/money.rs.txt");

/// Number of lines around a change that a diff shows.
const CONTEXT: usize = 3;

/// A file that exists only in memory.
pub struct PretendFile {
    path: String,
    text: String,
}

impl PretendFile {
    /// The initial `src/money.rs`.
    pub fn money() -> Self {
        let path = format!("{}{MAIN_SEPARATOR}src{MAIN_SEPARATOR}money.rs", cwd());
        Self { path, text: MONEY.replace("\r\n", "\n") }
    }

    /// The input of a call that reads it.
    pub fn read_input(&self) -> Value {
        json!({"file_path": self.path})
    }

    /// The input of a call that changes it.
    pub fn edit_input(&self, old: &str, new: &str) -> Value {
        json!({"file_path": self.path, "old_string": old, "new_string": new, "replace_all": false})
    }

    /// The result of reading it.
    pub fn read(&self, turn: &mut PlayedTurn<'_>, call: &PlayedCall) {
        let numbered: Vec<String> =
            self.text.split('\n').enumerate().map(|(at, line)| format!("{}\t{line}", at + 1)).collect();
        let structured = json!({
            "type": "text",
            "file": {
                "filePath": self.path,
                "content": self.text,
                "numLines": numbered.len(),
                "startLine": 1,
                "totalLines": numbered.len(),
            },
        });
        turn.tool_result(call, &numbered.join("\n"), structured, &by_config());
    }

    /// Changes it, without asking.
    pub fn edit(&mut self, turn: &mut PlayedTurn<'_>, call: &PlayedCall) {
        self.change(turn, call, &call.input.clone(), &by_config());
    }

    /// Changes it if that is allowed, and returns whether it was.
    pub fn edit_if_allowed(&mut self, turn: &mut PlayedTurn<'_>, call: &PlayedCall) -> Result<bool, Cut> {
        match turn.permit(call)? {
            Permit::Run { input, decision } => {
                self.change(turn, call, &input, &decision);
                Ok(true)
            }
            Permit::Denied => Ok(false),
        }
    }

    fn change(&mut self, turn: &mut PlayedTurn<'_>, call: &PlayedCall, input: &Value, decision: &Value) {
        let part = |key: &str| input.get(key).and_then(Value::as_str).unwrap_or_default();
        let (old, new) = (part("old_string"), part("new_string"));
        let Some(hunk) = hunk(&self.text, old, new) else {
            return turn.tool_error(call, "String to replace not found in file.", decision);
        };
        let before = std::mem::take(&mut self.text);
        self.text = before.replacen(old, new, 1);
        let structured = json!({
            "filePath": self.path,
            "oldString": old,
            "newString": new,
            "originalFile": before,
            "structuredPatch": [hunk],
            "userModified": false,
            "replaceAll": false,
        });
        let text = format!(
            "The file {} has been updated successfully. (file state is current in your context — no need to Read it \
             back)",
            self.path
        );
        turn.tool_result(call, &text, structured, decision);
    }
}

/// The change in the format of `structuredPatch`, or `None` if there is no change.
fn hunk(text: &str, old: &str, new: &str) -> Option<Value> {
    let at = text.find(old).filter(|_| !old.is_empty())?;
    let after = text.replacen(old, new, 1);
    let (before_lines, after_lines): (Vec<&str>, Vec<&str>) =
        (text.lines().collect(), after.lines().collect());
    let first = text[..at].matches('\n').count();
    let removed = old.trim_end_matches('\n').matches('\n').count() + 1;
    let added = (after_lines.len() + removed).checked_sub(before_lines.len())?;
    let start = first.saturating_sub(CONTEXT);
    let end = (first + removed + CONTEXT).min(before_lines.len());
    let mut lines: Vec<String> = before_lines[start..first].iter().map(|line| format!(" {line}")).collect();
    lines.extend(before_lines[first..first + removed].iter().map(|line| format!("-{line}")));
    lines.extend(after_lines[first..first + added].iter().map(|line| format!("+{line}")));
    lines.extend(before_lines[first + removed..end].iter().map(|line| format!(" {line}")));
    Some(json!({
        "oldStart": start + 1,
        "oldLines": end - start,
        "newStart": start + 1,
        "newLines": end - start + added - removed,
        "lines": lines,
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::hunk;

    #[test]
    fn a_hunk_counts_its_lines() {
        let text = "a\nb\nc\nd\ne\nf\ng\n";
        let hunk = hunk(text, "d\n", "D\nDD\n").unwrap();
        assert_eq!(hunk["lines"], json!([" a", " b", " c", "-d", "+D", "+DD", " e", " f", " g"]));
        assert_eq!(hunk["oldStart"], 1);
        assert_eq!(hunk["oldLines"], 7);
        assert_eq!(hunk["newLines"], 8);
    }

    #[test]
    fn a_change_within_a_line_shows_the_whole_line() {
        let hunk = hunk("x\nlet a = 1;\ny\n", "a = 1", "a = 2").unwrap();
        assert_eq!(hunk["lines"], json!([" x", "-let a = 1;", "+let a = 2;", " y"]));
    }

    #[test]
    fn what_is_not_there_can_not_be_changed() {
        assert!(hunk("abc", "d", "e").is_none());
        assert!(hunk("abc", "", "e").is_none());
    }
}
