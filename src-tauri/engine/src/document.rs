//! Documents as data: what agents and tools write becomes blocks, spans and tokens.
//!
//! Markdown, code, changes and terminal output are read here, away from the window. The UI draws the result; it
//! never sees HTML, never parses, and never follows a link that was not looked at here. Nothing is hidden: what
//! cannot be drawn (HTML, a link that may not be opened) comes as the text it is.
//!
//! Every function takes any input whatever: nesting is bounded, so is the work, and none of them panics.

mod ansi;
mod diff;
mod highlight;
mod link;
mod markdown;
mod source;
mod stream;

#[cfg(test)]
mod compact;
#[cfg(test)]
mod hostile;

pub use ansi::terminal;
#[cfg(any(test, fuzzing))]
pub(crate) use ansi::terminal_in_pieces;
pub use diff::{diff, diff_from_patch, diff_unplaced};
pub use highlight::{highlight, language_of_path};
pub use markdown::markdown;
pub use stream::{Change, Stream};
