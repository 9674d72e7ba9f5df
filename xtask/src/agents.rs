//! Other agents that the tests run against: pinned versions from npm, for the tests alone.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::run;
use crate::node::Node;
use crate::{Outcome, project};

/// Each agent: its program, its package, the version that the tests are written for, and the oldest Node that it runs
/// on (0: any).
const AGENTS: [(&str, &str, &str, u32); 2] =
    [("opencode", "opencode-ai", "1.18.33", 0), ("qwen", "@qwen-code/qwen-code", "0.24.4", 22)];

/// The folder with one folder for each agent, installed on first need.
pub fn ensure(node: &Node) -> Outcome<PathBuf> {
    let versions: Vec<&str> = AGENTS.iter().map(|(_, _, version, _)| *version).collect();
    // Another version is another folder, so that an old one never counts as the pinned one.
    let agents = project::tools().join(format!("agents-{}", versions.join("-")));
    for (name, package, version, oldest) in AGENTS {
        let folder = agents.join(name);
        if node.major().is_none_or(|major| major < oldest) {
            println!("{package} {version} is left out: it needs Node {oldest}");
            if folder.exists() {
                fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
            }
            continue;
        }
        if !folder.join("node_modules/.bin").join(name).is_file() {
            install(node, &folder, &format!("{package}@{version}"))
                .map_err(|reason| format!("{package} {version} could not be installed: {reason}"))?;
        }
    }
    Ok(agents)
}

/// Installs in a temporary folder, and moves it into place when complete.
fn install(node: &Node, folder: &Path, package: &str) -> Outcome {
    let unfinished = folder.with_extension("unfinished");
    let error = |error| format!("could not make {}: {error}", folder.display());
    for stale in [unfinished.as_path(), folder] {
        if stale.exists() {
            fs::remove_dir_all(stale).map_err(error)?;
        }
    }
    fs::create_dir_all(&unfinished).map_err(error)?;
    fs::write(unfinished.join("package.json"), "{ \"private\": true }\n").map_err(error)?;
    let mut npm = node.npm(&unfinished);
    npm.args(["install", "--no-save", "--no-package-lock", "--loglevel=error", package]);
    run(&mut npm)?;
    fs::rename(&unfinished, folder).map_err(error)
}
