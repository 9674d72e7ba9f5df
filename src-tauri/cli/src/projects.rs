//! `deskbell projects`: lists the projects that were opened earlier, and changes the list.

use crate::exit::NotThere;
use crate::output::{ended, print};
use anyhow::Context;
use deskbell_engine::api::{Checkout, ProjectRef};
use deskbell_engine::changes::WorkingTree;
use deskbell_engine::disk;
use deskbell_engine::projects::{Change, ProjectStore};
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;

pub fn main(change: Option<Change>, data: &Path) -> ExitCode {
    ended(run(change, data))
}

fn run(change: Option<Change>, data: &Path) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let store = ProjectStore::new(data);
    // On a thread with a deadline: the app's folder may be on a disk that does not respond.
    let work = disk::run(data, disk::DEADLINE, move || match change {
        Some(change) => {
            check_listed(&store, &change)?;
            store.change(&[change]).map(|_| Vec::new()).context("changing the list of projects")
        }
        None => lines(&store),
    });
    let lines = runtime.block_on(work)??;
    Ok(print(&lines)?)
}

/// A project that is pinned or removed is one of the list.
fn check_listed(store: &ProjectStore, change: &Change) -> anyhow::Result<()> {
    let (Change::Pin { project, .. } | Change::Remove { project }) = change else { return Ok(()) };
    if store.load().known.iter().any(|known| known.project == *project) {
        return Ok(());
    }
    let name = match project {
        ProjectRef::Here(folder) => folder.display().to_string(),
        ProjectRef::There(there) => format!("{} on {}", there.folder, there.machine),
    };
    let why = format!("{name} is not in the list of projects; `deskbell projects` prints it");
    Err(NotThere(why).into())
}

/// One JSON object a line.
fn lines(store: &ProjectStore) -> anyhow::Result<Vec<u8>> {
    let projects = store.load();
    if let Some(aside) = &projects.set_aside {
        eprintln!("deskbell: {} could not be read: {}", aside.path.display(), aside.problem);
    }
    let mut lines = Vec::new();
    for known in projects.known {
        // Whether a folder of another machine is there is not asked.
        let is_missing = known.project.here().is_some_and(|folder| !folder.is_dir());
        let checkout = known.project.here().filter(|_| !is_missing).map(WorkingTree::checkout);
        let checkout = checkout.unwrap_or(Ok(Checkout::default())).unwrap_or_else(|error| {
            eprintln!("deskbell: {error}");
            Checkout::default()
        });
        let path = match &known.project {
            ProjectRef::Here(folder) => json!(folder),
            ProjectRef::There(there) => json!(there.folder),
        };
        let line = json!({
            "path": path,
            "machine": known.project.machine(),
            "lastUsedAt": known.last_used_at,
            "pinned": known.pinned,
            "keepRunning": known.keep_running,
            "missing": is_missing,
            "branch": checkout.branch,
            "worktreeOf": checkout.worktree_of,
        });
        serde_json::to_writer(&mut lines, &line)?;
        lines.push(b'\n');
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;
    use deskbell_engine::api::RemoteProject;

    #[test]
    fn each_project_is_a_line() {
        let data = tempfile::tempdir().unwrap();
        let there = data.path().to_str().unwrap();
        std::fs::create_dir(data.path().join(".git")).unwrap();
        std::fs::write(data.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let store = ProjectStore::new(data.path());
        let used = |path: &str, at| Change::Used { project: path.into(), at };
        let gone = format!("{there}/go\nne");
        let pin = Change::Pin { project: gone.as_str().into(), pinned: true };
        let on_box = |folder: &str| -> ProjectRef {
            RemoteProject { machine: "box".parse().unwrap(), folder: folder.parse().unwrap() }.into()
        };
        let far = Change::Used { project: on_box("/app"), at: 0 };
        let keep = Change::KeepRunning { folder: there.into(), keep: Some(true), at: 9 };
        store.change(&[used(there, 2), used(&gone, 1), pin, keep, far]).unwrap();
        let text = String::from_utf8(lines(&store).unwrap()).unwrap();
        let expected = [
            json!({"path": gone, "machine": null, "lastUsedAt": 1, "pinned": true, "keepRunning": null, "missing": true, "branch": null,
                "worktreeOf": null}),
            json!({"path": there, "machine": null, "lastUsedAt": 2, "pinned": false, "keepRunning": true, "missing": false, "branch": "main",
                "worktreeOf": null}),
            json!({"path": "/app", "machine": "box", "lastUsedAt": 0, "pinned": false, "keepRunning": null, "missing": false, "branch": null,
                "worktreeOf": null}),
        ];
        assert_eq!(text, expected.map(|line| format!("{line}\n")).concat());
        let remove = || run(Some(Change::Remove { project: gone.as_str().into() }), data.path());
        remove().unwrap();
        assert_eq!(store.load().known.len(), 2);
        let again = remove().unwrap_err();
        assert_eq!(Exit::of(&again), Exit::NotFound, "{again}");
        let pin = Change::Pin { project: on_box("/no"), pinned: true };
        let nothing = run(Some(pin), data.path()).unwrap_err();
        assert!(nothing.is::<NotThere>() && nothing.to_string().contains("/no on box"), "{nothing}");
    }
}
