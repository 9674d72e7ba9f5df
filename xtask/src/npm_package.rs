//! Programs of npm for the tests, each version in a folder of its own.

use std::fs;
use std::path::Path;

use crate::Outcome;
use crate::command::run;
use crate::node::Node;

/// Installs a package, named with its version. It is installed in a temporary folder and moved into place when complete,
/// so that an interrupted install never counts as complete.
pub fn install(node: &Node, folder: &Path, package: &str) -> Outcome {
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
    npm.args(["install", "--no-save", "--no-package-lock", "--ignore-scripts", "--loglevel=error"]);
    run(npm.arg(package))?;
    fs::rename(&unfinished, folder).map_err(error)
}
