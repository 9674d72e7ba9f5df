//! Parts of a request that repeat its call's item. Lines to other processes leave them out.

use crate::api::{Body, Event, Item, PermissionRequest, ToolDetail};
use crate::transcript::progress::{LONG, diff_bytes};

/// Whether the call's item has the request's diff, and the diff is long. Without a diff this compares the subject,
/// which the whole input may repeat, too.
pub(crate) fn is_in_item(request: &PermissionRequest, item: &Item) -> bool {
    let Body::ToolCall(call) = &item.body else { return false };
    match (&request.diff, &call.detail) {
        // The paths differ: an item's path is relative to the project.
        (Some(diff), ToolDetail::Edit(known)) => {
            diff.path == request.subject && diff.hunks == known.hunks && diff_bytes(diff) > LONG
        }
        (None, ToolDetail::Command { command: known, .. }) => request.subject == *known && known.len() > LONG,
        (None, ToolDetail::Json { .. }) => {
            request.subject == request.input_text && request.subject.len() > LONG
        }
        _ => false,
    }
}

/// Removes the part of a request that its item or its input repeats, from an event for another process.
pub fn leave_out_repeats(event: &mut Event) {
    let Event::PermissionRequested { request, in_item: true } = event else { return };
    match &request.diff {
        Some(_) => request.diff = None,
        None => request.subject.clear(),
    }
}

/// Restores the part that `leave_out_repeats` left out.
pub(crate) fn complete(request: &mut PermissionRequest, item: Option<&Item>) {
    let Some(Body::ToolCall(call)) = item.map(|item| &item.body) else { return };
    match &call.detail {
        ToolDetail::Edit(known) if request.diff.is_none() => {
            let mut diff = known.clone();
            diff.path.clone_from(&request.subject);
            request.diff = Some(diff);
        }
        ToolDetail::Command { command: known, .. } if request.subject.is_empty() => {
            request.subject.clone_from(known);
        }
        ToolDetail::Json { .. } if request.subject.is_empty() => {
            request.subject.clone_from(&request.input_text);
        }
        _ => {}
    }
}
