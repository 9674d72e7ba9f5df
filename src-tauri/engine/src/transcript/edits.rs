//! Diffs of editing tools: the change as reported in the result, or else as requested in the input.

use crate::api::Diff;
use crate::claude::outcome::{self, Outcome};
use crate::claude::tool::{CellEdit, Replacement, ToolInput};
use crate::document::{self, PatchHunk};

/// The diff of a call that did not fail; `None` if its input is not what the tool expects.
pub fn diff(path: &str, input: &ToolInput<'_>, outcome: Option<&Outcome<'_>>) -> Option<Diff> {
    if let ToolInput::EditNotebook { cell: id, edit, source, .. } = input {
        return cell(path, (*id, *edit, *source), outcome);
    }
    outcome.and_then(|outcome| made(path, outcome)).or_else(|| match input {
        ToolInput::Write { content, .. } => Some(document::diff(path, "", (*content)?)),
        ToolInput::MultiEdit { changes, .. } => {
            let diffs = changes.as_ref()?.iter().map(|change| replaced(path, change));
            Some(one_after_the_other(path, diffs.collect()))
        }
        ToolInput::Edit { change, .. } => Some(replaced(path, change.as_ref()?)),
        _ => None,
    })
}

/// The change as the agent reports it.
fn made(path: &str, outcome: &Outcome<'_>) -> Option<Diff> {
    document::diff_from_patch(path, outcome.patch()?.into_iter().map(hunk))
}

fn hunk(hunk: outcome::PatchHunk<'_>) -> PatchHunk<'_> {
    PatchHunk { old_start: hunk.old_start, new_start: hunk.new_start, lines: hunk.lines }
}

fn replaced(path: &str, change: &Replacement<'_>) -> Diff {
    document::diff_unplaced(path, change.old, change.new)
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

/// The diff of a notebook cell: its id, what is done to it, and its new source. Only the result contains its previous
/// source.
fn cell(
    path: &str,
    (id, edit, source): (Option<&str>, CellEdit, Option<&str>),
    outcome: Option<&Outcome<'_>>,
) -> Option<Diff> {
    let known = outcome.filter(|_| edit != CellEdit::Insert);
    let before = known.and_then(|outcome| outcome.cell_before(id?));
    match edit {
        CellEdit::Delete => before.map(|before| document::diff_unplaced(path, &before, "")),
        CellEdit::Replace | CellEdit::Insert => {
            Some(document::diff_unplaced(path, before.as_deref().unwrap_or_default(), source?))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn diff(tool: &str, path: &str, input: &Value, outcome: Option<&Outcome<'_>>) -> Option<Diff> {
        super::diff(path, &ToolInput::read(tool, input), outcome)
    }

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
