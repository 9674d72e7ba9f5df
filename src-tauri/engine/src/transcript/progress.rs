//! Progress of a call: changes that do not repeat its long input.

use crate::api::{Diff, ToolCall, ToolDetail};

/// Longer inputs and diffs are sent once, in bytes.
pub const LONG: usize = 4 * 1024;

/// Whether two views of a call have the same long input.
pub fn repeats_input(earlier: &ToolCall, later: &ToolCall) -> bool {
    (&earlier.tool, earlier.icon) == (&later.tool, later.icon)
        && input_bytes(&later.detail) > LONG
        && is_same_input(&earlier.detail, &later.detail)
}

fn is_same_input(earlier: &ToolDetail, later: &ToolDetail) -> bool {
    match (earlier, later) {
        (ToolDetail::Command { command: earlier, .. }, ToolDetail::Command { command: later, .. })
        | (ToolDetail::Json { input: earlier, .. }, ToolDetail::Json { input: later, .. }) => {
            earlier == later
        }
        (ToolDetail::Edit(earlier), ToolDetail::Edit(later)) => earlier == later,
        (ToolDetail::Notebook { .. }, ToolDetail::Notebook { .. }) => earlier == later,
        _ => false,
    }
}

fn input_bytes(detail: &ToolDetail) -> usize {
    match detail {
        ToolDetail::Command { command: text, .. } | ToolDetail::Json { input: text, .. } => text.len(),
        ToolDetail::Edit(diff) | ToolDetail::Notebook { diff, .. } => diff_bytes(diff),
        ToolDetail::Text { .. }
        | ToolDetail::Todos { .. }
        | ToolDetail::Questions { .. }
        | ToolDetail::Plan { .. } => 0,
    }
}

/// The bytes of the text in a diff.
pub fn diff_bytes(diff: &Diff) -> usize {
    let lines = diff.hunks.iter().flat_map(|hunk| &hunk.lines);
    lines.flat_map(|line| &line.parts).map(|part| part.text.len()).sum()
}
