//! Documents as data: turns the output of agents and tools into blocks, spans and tokens.
//!
//! The engine parses Markdown, code, diffs and terminal output, so the window does not. The UI draws the result; it
//! never sees HTML, never parses, and only follows links that were checked here. Nothing is hidden: content that cannot
//! be drawn (HTML, a link that must not be opened) becomes plain text.
//!
//! Every function accepts any input: nesting and work are bounded, and no input causes a panic.
//!
//! The crate is pure: it has no I/O, no threads and no knowledge of any agent.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests read files of their own"))]

mod ansi;
mod colour;
mod diff;
mod file;
mod highlight;
mod link;
mod markdown;
mod source;
mod stream;
mod syntax;

#[cfg(test)]
mod compact;
#[cfg(test)]
mod hostile;

pub use ansi::{terminal, terminal_in_pieces};
pub use colour::{Coloured, Painting, Repainted, Uncoloured, colour_all};
pub use diff::{
    LineHunk, PatchHunk, coloured_diff, count_changes, diff, diff_from_patch, diff_unplaced, line_hunks,
    plain_diff, plain_diff_from_patch, plain_diff_unplaced,
};
pub use highlight::{highlight, language_of_path, plain};
pub use link::may_be_opened;
pub use markdown::markdown;
pub use stream::{DocumentChange, Stream};
