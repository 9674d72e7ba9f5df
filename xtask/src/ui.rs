//! The user interface: its packages installed, and its files built, only when something changed.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

use crate::command::run;
use crate::node::Node;
use crate::{Outcome, project};

/// Generated folders, which are not sources.
const MADE: [&str; 4] = ["node_modules", "dist", "coverage", "test-results"];

/// Installs exactly the packages of `package-lock.json`, unless they were the last ones installed.
pub fn install(node: &Node) -> Outcome {
    let lock = fs::read(project::ui().join("package-lock.json"))
        .map_err(|error| format!("could not read ui/package-lock.json: {error}"))?;
    // Stored among the packages, so that it is deleted with them.
    let stamp = project::ui().join("node_modules").join(".installed-lock.json");
    if fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    let npm = |command: &[&str]| run(node.npm(&project::ui()).args(command).arg("--loglevel=error"));
    npm(&["ci"]).or_else(|reason| {
        // `ci` refuses a lock file without the packages of other systems, which npm leaves out if its registry has none
        // of them. `install` installs the same versions without that check.
        eprintln!("xtask: {reason}; trying without those of other systems");
        npm(&["install", "--no-save"])
    })?;
    fs::write(&stamp, lock).map_err(|error| format!("could not write {}: {error}", stamp.display()))
}

/// Builds `ui/dist`, unless it is newer than every source.
pub fn build(node: &Node) -> Outcome {
    install(node)?;
    // Not in `dist`: everything in that folder is compiled into the app.
    let stamp = project::tools().join("ui-built");
    if is_built_since_change(&stamp) {
        return Ok(());
    }
    let error = |error| format!("could not write {}: {error}", stamp.display());
    let starting = stamp.with_extension("starting");
    fs::create_dir_all(project::tools()).map_err(error)?;
    // Written before the build and moved into place after it: a change during the build counts as newer.
    fs::write(&starting, "").map_err(error)?;
    script(node, "build")?;
    fs::rename(&starting, &stamp).map_err(error)
}

/// Runs a script of `ui/package.json`.
pub fn script(node: &Node, name: &str) -> Outcome {
    run(node.npm(&project::ui()).args(["run", "--silent", name]))
}

/// Tauri's command line, to be run from the root: it looks for its configuration below the current folder.
pub fn tauri(node: &Node) -> Command {
    let mut tauri = node.command("node");
    tauri.arg(project::ui().join("node_modules").join("@tauri-apps").join("cli").join("tauri.js"));
    tauri
}

fn is_built_since_change(stamp: &Path) -> bool {
    let built = fs::metadata(stamp).and_then(|metadata| metadata.modified());
    let built = built.ok().filter(|_| project::ui().join("dist").join("index.html").is_file());
    built.is_some_and(|built| newest(&project::ui()).is_some_and(|changed| changed <= built))
}

/// The time of the last change of a source below the folder; a deletion changes the time of its folder.
fn newest(folder: &Path) -> Option<SystemTime> {
    let entries = fs::read_dir(folder).ok()?.flatten().filter(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        !name.starts_with('.') && !MADE.contains(&name.as_ref())
    });
    let changes = entries.filter_map(|entry| {
        let metadata = entry.metadata().ok()?;
        let inside = if metadata.is_dir() { newest(&entry.path()) } else { None };
        // The modified time of the top folder is not usable, because creating or deleting `dist` changes it.
        inside.max(metadata.modified().ok())
    });
    changes.max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use std::fs::File;
    use std::time::Duration;

    #[test]
    fn the_newest_source_is_found_and_what_is_made_does_not_count() {
        let scratch = Scratch::new().unwrap();
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let touch = |path: &Path, seconds| {
            File::options().read(true).open(path).unwrap().set_modified(at(seconds)).unwrap()
        };
        for (name, seconds) in
            [("src", 10), ("src/lib", 20), ("dist", 90), ("node_modules", 90), (".cache", 90)]
        {
            let folder = scratch.folder(name).unwrap();
            let file = folder.join("file.ts");
            fs::write(&file, "").unwrap();
            touch(&file, seconds);
        }
        for name in ["src/lib", "src", "dist", "node_modules", ".cache"] {
            touch(&scratch.path().join(name), 5);
        }
        assert_eq!(newest(scratch.path()), Some(at(20)));

        touch(&scratch.path().join("src"), 30);
        assert_eq!(newest(scratch.path()), Some(at(30)));
    }
}
