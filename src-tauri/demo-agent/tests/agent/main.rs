//! Tests of the demo agent as a process, driven over pipes and compared with recordings of the real CLI 2.1.329.
//!
//! The expectations in `shape` notation were taken from such recordings; see [`support::shapes`].

#![allow(clippy::unwrap_used)]

mod demo;
mod faults;
mod lifecycle;
mod permission;
mod reply;
mod script;
mod store;
mod support;
