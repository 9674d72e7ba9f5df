//! The rules of a session's life as tables: what happens, and what the machine does about it, a line each.

mod interrupt;
pub(super) mod life;
mod process;
mod queue;
mod requests;
mod switches;
mod turn;

use super::*;
