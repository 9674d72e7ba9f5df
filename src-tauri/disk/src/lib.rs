//! File access that cannot block forever: regular files only, with size limits, on own threads, with a deadline.
//!
//! A path in a project, in the agent's folder or in Deskbell's data may be anything: a named pipe, which blocks an open
//! until a writer opens it, a device without end, a link to either, or a file on a network mount that does not respond.
//! [`read_regular`] and its relatives refuse everything except a regular file, without waiting. A dead mount blocks
//! even `stat`, and no flag changes that: so file access runs through [`run`], which returns at its deadline and leaves
//! the blocked thread running.
//!
//! `clippy.toml` disallows the functions of the standard library that open or list files; this crate has the
//! exceptions.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make and read files of their own"))]

mod aside;
mod atomic;
mod lock;
mod pool;
mod read;

#[cfg(test)]
mod traps;

pub use aside::{Loaded, SetAside, load_json, own_folder, set_aside};
pub use atomic::{
    remove_file, remove_leftovers, remove_old_leftovers, remove_old_leftovers_below, replace,
    replace_unchanged, write_atomically, write_new, write_with_mode,
};
pub use lock::{lock_writers, try_lock_writers};
pub use pool::{DEADLINE, Unfinished, run};
pub use read::{
    End, Ends, EndsReader, FileKind, KindListing, Listing, ReadError, Regular, append_regular,
    create_regular, kind, list, list_kinds, open_regular, read_end, read_from, read_own_end, read_regular,
    read_start, read_text, size,
};
