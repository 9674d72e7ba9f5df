//! The real command-line agent that the tests run against: pinned versions, for the tests alone.

use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::command::{command, read, run};
use crate::node::Node;
use crate::scratch::Scratch;
use crate::{Outcome, project};

/// The version of Claude Code that the tests are written for.
pub const CURRENT: &str = "2.1.329";

/// The version that npm installs with a Node before 22: a smaller set of tests runs on it as well.
pub const OLD: &str = "2.1.197";

/// The native executable of this version, installed on first need.
pub fn ensure(node: &Node, version: &str) -> Outcome<PathBuf> {
    let folder = project::tools().join(format!("claude-code-{version}"));
    let executable = executable(&folder);
    if !executable.is_file() {
        install(node, &folder, version)
            .map_err(|reason| format!("Claude Code {version} could not be installed: {reason}"))?;
    }
    let says = told_version(&executable)?;
    if says.starts_with(version) {
        Ok(executable)
    } else {
        Err(format!("Claude Code {version} was installed, but says that it is {says}"))
    }
}

/// Installs in a temporary folder, and moves it into place when complete, so that an interrupted install never counts
/// as complete.
fn install(node: &Node, folder: &Path, version: &str) -> Outcome {
    let unfinished = folder.with_extension("unfinished");
    let error = |error| format!("could not make {}: {error}", folder.display());
    for stale in [&unfinished, folder] {
        if stale.exists() {
            fs::remove_dir_all(stale).map_err(error)?;
        }
    }
    fs::create_dir_all(&unfinished).map_err(error)?;
    fs::write(unfinished.join("package.json"), "{ \"private\": true }\n").map_err(error)?;
    let mut npm = node.npm(&unfinished);
    // The package of the platform contains the whole native program; the main one only chooses between them, with a
    // script that needs a newer Node than the program itself.
    npm.args(["install", "--no-save", "--no-package-lock", "--ignore-scripts", "--loglevel=error"]);
    npm.arg(format!("{}@{version}", platform_package()));
    run(&mut npm)?;
    fs::rename(&unfinished, folder).map_err(error)
}

fn told_version(executable: &Path) -> Outcome<String> {
    // A separate home: querying the version must not touch the user's settings.
    let home = Scratch::new()?;
    read(command(executable).arg("--version").env("HOME", home.path()).env("CLAUDE_CONFIG_DIR", home.path()))
}

fn executable(folder: &Path) -> PathBuf {
    let package = folder.join("node_modules").join(platform_package());
    package.join(format!("claude{}", env::consts::EXE_SUFFIX))
}

fn platform_package() -> String {
    let os = match env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        os => os,
    };
    let arch = if env::consts::ARCH == "aarch64" { "arm64" } else { "x64" };
    let libc = if cfg!(target_env = "musl") { "-musl" } else { "" };
    format!("@anthropic-ai/claude-code-{os}-{arch}{libc}")
}
