//! Notices about the parts of a conversation that the agent's file does not have, or that cannot be read.

use super::branch::Branch;
use super::subagents::Threads;
use crate::api::Level;
use crate::transcript::{Transcript, TranscriptEvent};

fn warn(transcript: &mut Transcript, text: &str, detail: String) {
    let (text, detail) = (text.to_owned(), Some(detail));
    transcript.apply(0, TranscriptEvent::Notice { level: Level::Warning, text, detail });
}

/// The file is too large: `n_bytes` at its beginning were not read.
pub(super) fn beginning_left_out(transcript: &mut Transcript, n_bytes: u64) {
    let text = "The beginning of this conversation is not shown: its file is too large";
    warn(transcript, text, format!("{n_bytes} bytes at its beginning were not read."));
}

/// The next line continues a message that is not in the file.
pub(super) fn gap(transcript: &mut Transcript, is_beginning: bool) {
    if is_beginning {
        let detail = "Its first message continues another one, which is not in the agent’s file.";
        warn(transcript, "The beginning of this conversation is missing", detail.to_owned());
    } else {
        let detail = "The next message continues another one, which is not in the agent’s file. The messages above are \
                      those that the file has before it.";
        warn(transcript, "Messages are missing here", detail.to_owned());
    }
}

/// Says how much could not be read. It is the last item, where it is seen first. A last line that a running process is
/// still writing is not damaged.
pub(super) fn at_the_end(
    transcript: &mut Transcript,
    branch: &Branch<'_>,
    threads: &Threads<'_>,
    is_live: bool,
) {
    if branch.has_no_leaf {
        let detail = "It ends with a message that is not in the agent’s file.";
        warn(transcript, "This conversation cannot be shown", detail.to_owned());
    }
    if threads.n_cut > 0 || threads.problem.is_some() {
        let cut = (threads.n_cut > 0).then(|| {
            let n = counted(threads.n_cut, "subagent");
            format!("The files of {n} are too large or cannot be read.")
        });
        let details: Vec<String> = cut.into_iter().chain(threads.problem.map(str::to_owned)).collect();
        warn(transcript, "Some work of subagents is not shown", details.join(" "));
    }
    let n_damaged = branch.n_damaged + threads.n_damaged - usize::from(branch.is_end_torn && is_live);
    let damaged = (n_damaged > 0).then(|| {
        let n = counted(n_damaged, "line");
        format!("Damaged in the agent’s files: {n}.")
    });
    let unknown = (branch.n_unknown > 0).then(|| {
        let n = counted(branch.n_unknown, "line");
        format!("Of a kind that this version of Deskbell does not know: {n}.")
    });
    let details: Vec<String> = damaged.into_iter().chain(unknown).collect();
    if !details.is_empty() {
        warn(transcript, "A part of this conversation could not be read", details.join(" "));
    }
}

fn counted(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
