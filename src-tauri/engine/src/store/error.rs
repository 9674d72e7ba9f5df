//! The error of a store: what could not be done with a file.

use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
#[error("could not {what} {path}: {source}", path = path.display())]
pub struct StoreError {
    what: &'static str,
    path: PathBuf,
    source: io::Error,
}

pub fn failed<'a>(what: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> StoreError + use<'a> {
    move |source| StoreError { what, path: path.to_owned(), source }
}
