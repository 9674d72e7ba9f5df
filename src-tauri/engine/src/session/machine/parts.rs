//! The parts of the machine. Each owns its data and knows neither the machine nor a step: it is given what has happened
//! and returns what follows from it.

pub mod audit;
pub mod background;
pub mod budget;
pub mod capabilities;
pub mod configuration;
pub mod context;
pub mod control;
pub mod conversation;
mod cost;
pub mod last_result;
pub mod limits;
pub mod messages;
pub mod mode;
pub mod naming;
pub mod options;
pub mod process;
pub mod queue;
pub mod requests;
pub mod rewind;
pub mod schedules;
pub mod side;
pub mod spending;
pub mod turn;
