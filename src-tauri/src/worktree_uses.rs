//! Which of the worktrees that a page lists are in use: the page reads its list again after a window or an agent there
//! has come or gone.

use crate::emit;
use crate::windows::Windows;
use deskbell_engine::api::{ProjectRef, WindowEvent};
use deskbell_sessions::registry::SessionRegistry;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tauri::{AppHandle, Manager};

/// The worktrees that each window's page listed last, until what is open in them changes; by the window's label.
#[derive(Default)]
pub struct ListedWorktrees(Mutex<HashMap<String, Listed>>);

struct Listed {
    roots: Vec<ProjectRef>,
    uses: Vec<WorktreeUse>,
}

/// What Deskbell has open in a worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorktreeUse {
    pub has_window: bool,
    /// Number of sessions whose agents run.
    pub n_running: usize,
}

impl ListedWorktrees {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Listed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is open in each of these folders, for the page of this window. The page gets one event when that changes, and
/// asks again.
pub fn list(app: &AppHandle, label: &str, roots: Vec<ProjectRef>) -> Vec<WorktreeUse> {
    let uses = OpenFolders::of(app).in_each(&roots);
    app.state::<ListedWorktrees>().lock().insert(label.to_owned(), Listed { roots, uses: uses.clone() });
    // It may have changed before it was stored.
    changed(app);
    uses
}

/// A window was opened or closed, or an agent started or ended.
pub fn changed(app: &AppHandle) {
    let listed = app.state::<ListedWorktrees>();
    // Sessions change often while they work.
    if listed.lock().is_empty() {
        return;
    }
    let open = OpenFolders::of(app);
    let outdated: Vec<String> = listed
        .lock()
        .extract_if(|_, listed| open.in_each(&listed.roots) != listed.uses)
        .map(|(label, _)| label)
        .collect();
    for label in outdated {
        emit::to_window(app, &label, WindowEvent::WorktreesChanged);
    }
}

/// The folders of all windows and of all agents that run.
struct OpenFolders {
    windows: Vec<ProjectRef>,
    running: Vec<ProjectRef>,
}

impl OpenFolders {
    fn of(app: &AppHandle) -> Self {
        Self {
            windows: app.state::<Windows>().projects(),
            running: app.state::<SessionRegistry>().projects_at_work(),
        }
    }

    fn in_each(&self, roots: &[ProjectRef]) -> Vec<WorktreeUse> {
        let n_in = |folders: &[ProjectRef], root: &ProjectRef| {
            folders.iter().filter(|folder| innermost(folder, roots) == Some(root)).count()
        };
        let use_of = |root: &ProjectRef| WorktreeUse {
            has_window: n_in(&self.windows, root) > 0,
            n_running: n_in(&self.running, root),
        };
        roots.iter().map(use_of).collect()
    }
}

/// The innermost of these folders that a folder is in. A worktree can be inside of another one.
fn innermost<'a>(folder: &ProjectRef, roots: &'a [ProjectRef]) -> Option<&'a ProjectRef> {
    let around = roots.iter().filter(|root| folder.is_in(root));
    around.reduce(|outer, root| if root.is_in(outer) { root } else { outer })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_counts_in_the_innermost_worktree_around_it() {
        let [main, inner, other] = ["/a", "/a/trees/fix", "/a-fix"].map(ProjectRef::from);
        let inside = ProjectRef::from("/a/trees/fix/crates");
        let open = OpenFolders {
            windows: vec![inside.clone(), "/elsewhere".into()],
            running: vec![main.clone(), inner.clone(), inside, "/a-fixed".into()],
        };
        let uses = open.in_each(&[main, inner, other]);
        let uses: Vec<_> = uses.iter().map(|one| (one.has_window, one.n_running)).collect();
        assert_eq!(uses, [(false, 1), (true, 2), (false, 0)]);
    }
}
