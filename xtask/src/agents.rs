//! Other agents that the tests run against: pinned versions from npm, for the tests alone.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::run;
use crate::node::{Node, platform_package};
use crate::{Outcome, project};

/// An agent: the folder and the program that it is found by, its package, and the version that the tests are written for.
struct Agent {
    id: &'static str,
    program: &'static str,
    package: &'static str,
    version: &'static str,
}

const AGENTS: [Agent; 6] = [
    Agent {
        id: "claude-acp",
        program: "claude-agent-acp",
        package: "@agentclientprotocol/claude-agent-acp",
        version: "0.100.0",
    },
    Agent { id: "codex", program: "codex-acp", package: "@agentclientprotocol/codex-acp", version: "2.6.0" },
    Agent { id: "copilot", program: "copilot", package: "@github/copilot", version: "1.0.102" },
    Agent { id: "gemini", program: "gemini", package: "@google/gemini-cli", version: "0.61.0" },
    Agent { id: "opencode", program: "opencode", package: "opencode-ai", version: "1.18.33" },
    Agent { id: "qwen", program: "qwen", package: "@qwen-code/qwen-code", version: "0.24.4" },
];

/// The major version of Node that the agents run on.
const NODE: u32 = 24;

/// The folder with one folder for each agent, installed on first need.
pub fn ensure(node: &Node) -> Outcome<PathBuf> {
    let versions: Vec<&str> = AGENTS.iter().map(|agent| agent.version).collect();
    // Another version is another folder, so that an old one never counts as the pinned one.
    let agents = project::tools().join(format!("agents-{}", versions.join("-")));
    for Agent { id, program, package, version } in AGENTS {
        let folder = agents.join(id);
        if !folder.join("node_modules/.bin").join(program).is_file() {
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
    // A Node of its own, from npm too: the newest agents need a newer one than the page does.
    npm.arg(format!("{}@{NODE}", platform_package()));
    run(&mut npm)?;
    fs::rename(&unfinished, folder).map_err(error)
}
