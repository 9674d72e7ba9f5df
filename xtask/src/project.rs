//! The paths of the project.

use std::env;
use std::path::PathBuf;

/// The name of the app's package, and of its binary.
pub const APP: &str = "deskbell";

/// The folder with the workspace's `Cargo.toml`.
pub fn root() -> PathBuf {
    // At run time first: a checkout that was moved keeps working without a rebuild.
    let manifest =
        env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    manifest.parent().expect("xtask is a folder of the workspace").to_path_buf()
}

/// The folder with the user interface.
pub fn ui() -> PathBuf {
    root().join("ui")
}

/// Cargo's target folder.
pub fn target() -> PathBuf {
    match env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root().join(folder),
        None => root().join("target"),
    }
}

/// Tools that the build fetched for itself; deleted with the target folder.
pub fn tools() -> PathBuf {
    target().join("tools")
}

/// The debug build of the app.
pub fn debug_app() -> PathBuf {
    target().join("debug").join(format!("{APP}{}", env::consts::EXE_SUFFIX))
}

/// Whether this runs unattended, where a check that could not run counts as a failure.
pub fn is_ci() -> bool {
    env::var("CI").is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"))
}
