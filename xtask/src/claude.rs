//! The real command-line agent that the tests run against: pinned versions, for the tests alone.

use std::collections::BTreeSet;
use std::env;
use std::path::{Path, PathBuf};

use crate::command::{command, read};
use crate::node::Node;
use crate::scratch::Scratch;
use crate::{Outcome, npm_package, project};

/// The version of Claude Code that the tests are written for.
/// For a newer one change this line; `cargo xtask claude OLD NEW` prints what it changed.
pub const CURRENT: &str = "2.1.332";

/// The version that npm installs with a Node before 22: a smaller set of tests runs on it as well.
pub const OLD: &str = "2.1.197";

/// The native executable of this version, installed on first need.
pub fn ensure(node: &Node, version: &str) -> Outcome<PathBuf> {
    let folder = project::tools().join(format!("claude-code-{version}"));
    let executable = executable(&folder);
    if !executable.is_file() {
        // The package of the platform contains the whole native program; the main one only chooses between them, with a
        // script that needs a newer Node than the program itself.
        npm_package::install(node, &folder, &format!("{}@{version}", platform_package()))
            .map_err(|reason| format!("Claude Code {version} could not be installed: {reason}"))?;
    }
    let says = told_version(&executable)?;
    if says.starts_with(version) {
        Ok(executable)
    } else {
        Err(format!("Claude Code {version} was installed, but says that it is {says}"))
    }
}

/// The options of `claude --help` that only one of two versions has.
pub fn changed_options(node: &Node, old: &str, new: &str) -> Outcome<String> {
    let options = |version| {
        let home = Scratch::new()?;
        let mut help = command(ensure(node, version)?);
        help.arg("--help").env("HOME", home.path()).env("CLAUDE_CONFIG_DIR", home.path());
        read(&mut help).map(|text| options_in(&text))
    };
    let (old, new) = (options(old)?, options(new)?);
    let only_in = |these: &BTreeSet<String>, others: &BTreeSet<String>| {
        let only: Vec<&str> = these.difference(others).map(String::as_str).collect();
        if only.is_empty() { "none".to_owned() } else { only.join(" ") }
    };
    Ok(format!("New options: {}\nOptions that are gone: {}", only_in(&new, &old), only_in(&old, &new)))
}

/// The long options that a help text names.
fn options_in(help: &str) -> BTreeSet<String> {
    let words = help.split(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'));
    let is_option = |word: &&str| word.len() > 3 && word.starts_with("--") && !word.starts_with("---");
    words.filter(is_option).map(|word| word.trim_end_matches('-').to_owned()).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_from_a_help_text() {
        let help =
            "  -p, --print   Print (with --output-format=json)\n  --mcp-config <files...>  a -- b --- c";
        let options: Vec<String> = options_in(help).into_iter().collect();
        assert_eq!(options, ["--mcp-config", "--output-format", "--print"]);
    }
}
