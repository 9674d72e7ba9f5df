//! Diffs of editing tools: the change as reported in the result, or else as requested in the input. Without colours.

use crate::agent::tool::{CellEdit, Replacement, ToolInput};
use crate::agent::{self, ToolResult};
use crate::api::{Diff, ToolDetail, ToolState};
use crate::document::{self, PatchHunk};
use crate::misleading::written_out;

/// Returns the diff of a call from its input; `None` if the input has another form.
pub fn requested(path: &str, input: &ToolInput<'_>) -> Option<Diff> {
    match input {
        ToolInput::Write { content, .. } => Some(document::plain_diff(path, "", (*content)?)),
        ToolInput::MultiEdit { changes, .. } => {
            let diffs = changes.as_ref()?.iter().map(|change| replaced(path, change));
            Some(one_after_the_other(path, diffs.collect()))
        }
        ToolInput::Edit { change, .. } => Some(replaced(path, change.as_ref()?)),
        _ => None,
    }
}

/// The change as the agent reports it.
pub fn made(path: &str, outcome: &ToolResult) -> Option<Diff> {
    document::plain_diff_from_patch(path, outcome.patch.as_ref()?.iter().map(hunk))
}

fn hunk(hunk: &agent::PatchHunk) -> PatchHunk<'_> {
    let lines = hunk.lines.iter().map(String::as_str).collect();
    PatchHunk { old_start: hunk.old_start, new_start: hunk.new_start, lines }
}

fn replaced(path: &str, change: &Replacement<'_>) -> Diff {
    document::plain_diff_unplaced(path, change.old, change.new)
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

/// A change of a notebook's cell: what is done to which cell, and its source. `None` if there is nothing to show.
pub fn notebook(
    path: &str,
    input: &ToolInput<'_>,
    state: ToolState,
    outcome: Option<&ToolResult>,
) -> Option<ToolDetail> {
    let ToolInput::EditNotebook { cell: id, edit, cell_type, source, .. } = input else { return None };
    let verb = match (edit, state) {
        (CellEdit::Replace, ToolState::Succeeded) => "Replaced",
        (CellEdit::Insert, ToolState::Succeeded) => "Inserted",
        (CellEdit::Delete, ToolState::Succeeded) => "Deleted",
        (CellEdit::Replace, _) => "Replace",
        (CellEdit::Insert, _) => "Insert",
        (CellEdit::Delete, _) => "Delete",
    };
    let kind = match cell_type {
        Some("code") => "code cell",
        Some("markdown") => "Markdown cell",
        _ => "cell",
    };
    let named = id.map(short_name).filter(|id| !id.is_empty());
    let cell_words = match (edit, named) {
        (CellEdit::Insert, Some(id)) => format!("{verb} a {kind} after {id}"),
        (CellEdit::Insert, None) => format!("{verb} a {kind} at the beginning"),
        (_, Some(id)) => format!("{verb} {kind} {id}"),
        (_, None) => format!("{verb} a {kind}"),
    };
    let diff = cell(path, (*id, *edit, *source), outcome);
    let is_empty = diff.is_none() && *edit != CellEdit::Delete;
    let nothing = || Diff { path: path.to_owned(), added: 0, removed: 0, hunks: Vec::new() };
    (!is_empty).then(|| ToolDetail::Notebook { cell: cell_words, diff: diff.unwrap_or_else(nothing) })
}

/// Ids of cells have at most 64 characters in the notebook format.
fn short_name(id: &str) -> String {
    written_out(&id.chars().take(64).collect::<String>())
}

/// The diff of a notebook cell: its id, what is done to it, and its new source. Only the result contains its previous
/// source.
fn cell(
    path: &str,
    (id, edit, source): (Option<&str>, CellEdit, Option<&str>),
    outcome: Option<&ToolResult>,
) -> Option<Diff> {
    let known = outcome.filter(|_| edit != CellEdit::Insert);
    let before = known.and_then(|outcome| outcome.cell_before(id?));
    match edit {
        CellEdit::Delete => before.map(|before| document::plain_diff_unplaced(path, &before, "")),
        CellEdit::Replace | CellEdit::Insert => {
            Some(document::plain_diff_unplaced(path, before.as_deref().unwrap_or_default(), source?))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::tests::result;
    use serde_json::{Value, json};

    fn diff(tool: &str, path: &str, input: &Value, outcome: Option<&ToolResult>) -> Option<Diff> {
        let made = outcome.and_then(|outcome| made(path, outcome));
        made.or_else(|| requested(path, &crate::claude::tool::read_value(tool, input)))
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

    fn cell_of(
        input: &Value,
        state: ToolState,
        outcome: Option<&ToolResult>,
    ) -> Option<(String, Vec<String>)> {
        let input = crate::claude::tool::read_value("NotebookEdit", input);
        match super::notebook("n.ipynb", &input, state, outcome)? {
            ToolDetail::Notebook { cell, diff } => Some((cell, lines(&diff))),
            _ => None,
        }
    }

    #[test]
    fn a_cell_is_shown_as_it_will_be_and_then_as_it_changed() {
        let input = json!({"cell_id": "c1", "cell_type": "code", "new_source": "print(2)"});
        let before = cell_of(&input, ToolState::Waiting, None).unwrap();
        assert_eq!(before, ("Replace code cell c1".to_owned(), vec!["Added print(2)".to_owned()]));
        let notebook = json!({"cells": [{"id": "c1", "source": ["print(1)"]}]}).to_string();
        let structured = json!({"original_file": notebook});
        let outcome = result("", Some(structured), false);
        let (words, lines) = cell_of(&input, ToolState::Succeeded, Some(&outcome)).unwrap();
        assert_eq!(words, "Replaced code cell c1");
        assert_eq!(lines, ["Removed print(1)", "Added print(2)"]);
        let delete = json!({"cell_id": "c1", "edit_mode": "delete", "new_source": ""});
        let (words, lines) = cell_of(&delete, ToolState::Succeeded, Some(&outcome)).unwrap();
        assert_eq!((words.as_str(), lines), ("Deleted cell c1", vec!["Removed print(1)".to_owned()]));
    }

    #[test]
    fn a_cell_that_is_inserted_or_goes_is_named() {
        let cell = |input: Value| cell_of(&input, ToolState::Running, None);
        let input = |id: Value| json!({"cell_id": id, "edit_mode": "insert", "cell_type": "markdown", "new_source": "# A"});
        let lines = || vec!["Added # A".to_owned()];
        assert_eq!(
            cell(input(json!("c\u{202e}1"))),
            Some(("Insert a Markdown cell after c\\u{202E}1".to_owned(), lines()))
        );
        assert_eq!(
            cell(input(Value::Null)),
            Some(("Insert a Markdown cell at the beginning".to_owned(), lines()))
        );
        let delete = json!({"cell_id": "x".repeat(1000), "edit_mode": "delete"});
        assert_eq!(cell(delete), Some((format!("Delete cell {}", "x".repeat(64)), Vec::new())));
        assert_eq!(cell(json!({"cell_id": "c1"})), None, "no source");
    }

    #[test]
    fn what_is_no_edit_is_no_diff() {
        assert_eq!(diff("MultiEdit", "a", &json!({"edits": [{"old_string": "a"}]}), None), None);
        assert_eq!(diff("Edit", "a", &json!({"old_string": 1, "new_string": "b"}), None), None);
    }
}
