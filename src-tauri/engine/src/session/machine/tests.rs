//! The rules of a session's life as tables: one line per event, with its effects.

mod background;
mod configuration;
mod context;
mod fork;
mod interrupt;
pub(super) mod life;
mod messages;
mod naming;
mod process;
mod queue;
mod requests;
mod rewind;
mod side;
mod suspended_rules;
mod switches;
mod turn;

use super::*;
