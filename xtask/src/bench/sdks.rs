//! A comparison with other hosts of the same agent, installed from their registries at a pinned version: the same
//! agent, the same events. Never part of `cargo xtask test`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{command, find, read, run};
use crate::node::Node;
use crate::packages::Need;
use crate::{Outcome, project, system};

use super::{path, program};

const PYTHON_SDK: &str = "claude-agent-sdk==0.2.187";
const TYPESCRIPT_SDK: &str = "@anthropic-ai/claude-agent-sdk@0.3.330";
/// Number of events in the measured turn.
const EVENTS: usize = 20_000;

const PYTHON: &str = include_str!("sdk.py");
const TYPESCRIPT: &str = include_str!("sdk.mjs");

/// Installs the two SDKs, and prints the cost of an event in each of them and in Deskbell.
pub fn compare() -> Outcome {
    program()?;
    let folder = project::tools().join("sdks");
    fs::create_dir_all(&folder).map_err(|error| format!("could not make {}: {error}", folder.display()))?;
    let agent = folder.join("agent");
    let script = format!("#!/bin/sh\nexec '{}' stub \"$STUB_EVENTS\" \"$@\"\n", path().display());
    write(&agent, &script)?;
    read(command("chmod").arg("755").arg(&agent))?;

    run(command(path()).args(["host", &EVENTS.to_string()]))?;
    let python = python(&folder)?;
    write(&folder.join("sdk.py"), PYTHON)?;
    let mut python = command(python);
    run(python.arg(folder.join("sdk.py")).arg(&agent).arg(EVENTS.to_string()))?;
    let node = typescript(&folder)?;
    write(&folder.join("sdk.mjs"), TYPESCRIPT)?;
    run(node.command("node").arg(folder.join("sdk.mjs")).arg(&agent).arg(EVENTS.to_string()))
}

fn write(path: &Path, text: &str) -> Outcome {
    fs::write(path, text).map_err(|error| format!("could not write {}: {error}", path.display()))
}

/// A Python environment of its own with the SDK in it.
fn python(folder: &Path) -> Outcome<PathBuf> {
    let python = folder.join("python/bin/python3");
    if !python.is_file() {
        system::ensure(&[Need::Python])?;
        let of_the_system = find("python3").ok_or("python3 was not found")?;
        run(command(of_the_system).args(["-m", "venv"]).arg(folder.join("python")))?;
    }
    run(command(&python).args(["-m", "pip", "install", "--quiet", PYTHON_SDK]))?;
    Ok(python)
}

fn typescript(folder: &Path) -> Outcome<Node> {
    let node = Node::ensure()?;
    write(&folder.join("package.json"), "{ \"private\": true }\n")?;
    let mut npm = node.npm(folder);
    // Without the platform's CLI, which it would install: the agent is Deskbell's own.
    npm.args([
        "install",
        "--no-save",
        "--no-package-lock",
        "--ignore-scripts",
        "--omit=optional",
        "--loglevel=error",
    ]);
    run(npm.arg(TYPESCRIPT_SDK))?;
    Ok(node)
}
