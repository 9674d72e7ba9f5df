//! Diffs of editing tools: the change as reported in the result, or else as requested in the input.

use super::outcome::Outcome;
use crate::api::Diff;
use crate::document;
use serde_json::Value;

/// The diff of a call that did not fail; `None` if its input is not what the tool expects.
pub fn diff(tool: &str, path: &str, input: &Value, outcome: Option<&Outcome<'_>>) -> Option<Diff> {
    if tool == "NotebookEdit" {
        return cell(path, input, outcome);
    }
    let made = outcome
        .and_then(|outcome| outcome.field("structuredPatch"))
        .filter(|patch| patch.as_array().is_some_and(|hunks| !hunks.is_empty()))
        .and_then(|patch| document::diff_from_patch(path, patch));
    made.or_else(|| match tool {
        "Write" => Some(document::diff(path, "", input.get("content")?.as_str()?)),
        "MultiEdit" => {
            let edits = input.get("edits")?.as_array()?;
            let diffs = edits.iter().map(|edit| replaced(path, edit)).collect::<Option<Vec<_>>>()?;
            Some(one_after_the_other(path, diffs))
        }
        _ => replaced(path, input),
    })
}

fn replaced(path: &str, edit: &Value) -> Option<Diff> {
    let (old, new) = (edit.get("old_string")?.as_str()?, edit.get("new_string")?.as_str()?);
    Some(document::diff_unplaced(path, old, new))
}

/// Joins several changes of one file whose positions are unknown.
fn one_after_the_other(path: &str, diffs: Vec<Diff>) -> Diff {
    let mut all = Diff { path: path.to_owned(), added: 0, removed: 0, hunks: Vec::new() };
    for diff in diffs {
        all.added += diff.added;
        all.removed += diff.removed;
        all.hunks.extend(diff.hunks);
    }
    all
}

/// The diff of a notebook cell. Only the result contains its previous source.
fn cell(path: &str, input: &Value, outcome: Option<&Outcome<'_>>) -> Option<Diff> {
    let text = |key: &str| input.get(key).and_then(Value::as_str);
    let mode = text("edit_mode").unwrap_or("replace");
    let before = outcome
        .and_then(|outcome| outcome.field("original_file")?.as_str())
        .filter(|_| mode != "insert")
        .and_then(|notebook| source_of(notebook, text("cell_id")?));
    match mode {
        "delete" => before.map(|before| document::diff_unplaced(path, &before, "")),
        _ => Some(document::diff_unplaced(path, before.as_deref().unwrap_or_default(), text("new_source")?)),
    }
}

fn source_of(notebook: &str, cell_id: &str) -> Option<String> {
    let notebook: Value = serde_json::from_str(notebook).ok()?;
    let cells = notebook.get("cells")?.as_array()?;
    let cell = cells.iter().find(|cell| cell.get("id").and_then(Value::as_str) == Some(cell_id))?;
    match cell.get("source")? {
        Value::String(source) => Some(source.clone()),
        Value::Array(lines) => Some(lines.iter().filter_map(Value::as_str).collect()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn lines(diff: &Diff) -> Vec<String> {
        let lines = diff.hunks.iter().flat_map(|hunk| &hunk.lines);
        lines
            .map(|line| {
                let text: String = line.parts.iter().map(|part| part.text.as_str()).collect();
                format!("{:?} {text}", line.kind)
            })
            .collect()
    }

    #[test]
    fn all_of_several_edits_are_shown_before_their_result() {
        let edits = json!([
            {"old_string": "one", "new_string": "1"},
            {"old_string": "two", "new_string": "2\n2"},
        ]);
        let diff = diff("MultiEdit", "a.txt", &json!({"file_path": "a.txt", "edits": edits}), None).unwrap();
        assert_eq!(lines(&diff), ["Removed one", "Added 1", "Removed two", "Added 2", "Added 2"]);
        assert_eq!((diff.added, diff.removed, diff.hunks.len()), (3, 2, 2));
    }

    #[test]
    fn a_cell_is_shown_as_it_will_be_and_then_as_it_changed() {
        let input = json!({"notebook_path": "n.ipynb", "cell_id": "c1", "new_source": "print(2)"});
        let before = diff("NotebookEdit", "n.ipynb", &input, None).unwrap();
        assert_eq!(lines(&before), ["Added print(2)"]);
        let notebook = json!({"cells": [{"id": "c1", "source": ["print(1)"]}]}).to_string();
        let structured = json!({"original_file": notebook});
        let outcome =
            Outcome { content: &Value::Null, structured: Some(&structured), is_error: false, refusal: None };
        let after = diff("NotebookEdit", "n.ipynb", &input, Some(&outcome)).unwrap();
        assert_eq!(lines(&after), ["Removed print(1)", "Added print(2)"]);
    }

    #[test]
    fn a_cell_that_goes_is_no_diff_before_it_is_known() {
        let input = json!({"notebook_path": "n.ipynb", "cell_id": "c1", "edit_mode": "delete"});
        assert_eq!(diff("NotebookEdit", "n.ipynb", &input, None), None);
    }

    #[test]
    fn what_is_no_edit_is_no_diff() {
        assert_eq!(diff("MultiEdit", "a", &json!({"edits": [{"old_string": "a"}]}), None), None);
        assert_eq!(diff("Edit", "a", &json!({"old_string": 1, "new_string": "b"}), None), None);
    }
}
