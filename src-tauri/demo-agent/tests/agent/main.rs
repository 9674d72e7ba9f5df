//! The demo agent as a process, driven over pipes, held against the shape of recordings of the real CLI 2.1.329.
//!
//! What a test expects in `shape` notation was taken from such recordings; see [`support::shapes`].

#![allow(clippy::unwrap_used)]

mod demo;
mod faults;
mod lifecycle;
mod permission;
mod reply;
mod script;
mod store;
mod support;
