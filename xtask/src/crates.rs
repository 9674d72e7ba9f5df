//! The libraries that others can build on: packed as crates.io would take them.

use crate::Outcome;
use crate::command::{cargo, run};

/// Packs every crate that may be published, without uploading or compiling it: descriptions, versions of each other, and
/// no file from outside of a crate. `cargo publish --dry-run --workspace` compiles them as well, in the scheduled workflow.
pub fn check() -> Outcome {
    run(cargo().args(["publish", "--dry-run", "--no-verify", "--allow-dirty", "--quiet", "--workspace"]))
}
