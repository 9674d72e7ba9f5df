//! Commands about the worktrees of the repository that the window's project is in, on its machine. Each worktree is a
//! project of its own, with its own window, sessions and trust decision.

use super::{Answer, project_of};
use crate::far;
use crate::opening::{self, Confirmed};
use crate::project;
use crate::start::{self, StartPage};
use crate::windows::Windows;
use crate::worktree_uses::{self, WorktreeUse};
use deskbell_engine::LocalHost;
use deskbell_engine::api::*;
use deskbell_engine::projects::Change;
use deskbell_engine::worktrees::Worktrees;
use deskbell_sessions::registry::SessionRegistry;
use deskbell_sessions::remote_projects::worktrees::FarWorktrees;
use std::path::PathBuf;
use tauri::{AppHandle, Manager, WebviewWindow};

/// Where the worktrees of a window's project are.
enum Trees {
    Here(PathBuf),
    There(FarWorktrees),
}

impl Trees {
    fn of(app: &AppHandle, window: &WebviewWindow) -> Answer<Self> {
        Ok(match project_of(app, window)? {
            ProjectRef::Here(folder) => Trees::Here(folder),
            ProjectRef::There(there) => Trees::There(FarWorktrees::new(
                far::client(app, window.label(), &there.machine),
                there.folder,
            )),
        })
    }

    /// The project of a folder on that machine.
    fn project(&self, folder: &str) -> Answer<ProjectRef> {
        match self {
            Self::Here(_) => Ok(folder.into()),
            Self::There(far) => far.project(folder),
        }
    }

    async fn list(&self) -> Answer<Vec<Worktree>> {
        match self {
            Self::Here(project) => Ok(Worktrees::new(&LocalHost, project).list().await?),
            Self::There(far) => far.list().await,
        }
    }

    async fn review(&self, path: &str) -> Answer<WorktreeRemoval> {
        match self {
            Self::Here(project) => Ok(Worktrees::new(&LocalHost, project).review(path).await?),
            Self::There(far) => far.review(path).await,
        }
    }

    /// Opens a project. Returns the label of its window; `None` if the user did not open it
    /// after all.
    async fn open(app: &AppHandle, window: &WebviewWindow, project: &ProjectRef) -> Answer<Option<String>> {
        match project {
            ProjectRef::Here(folder) => {
                let demo = app.state::<Windows>().with(window.label(), |window| window.demo)?;
                Ok(opening::open(app, folder, demo, Confirmed::No).await?.map(|(_, label)| label))
            }
            ProjectRef::There(there) => opening::open_far(app, there).await.map(Some),
        }
    }
}

/// Returns the worktrees, the main one first. Once what is open in them changes, the page gets an event.
#[tauri::command]
pub async fn worktrees(app: AppHandle, window: WebviewWindow) -> Answer<Vec<WorktreeView>> {
    let trees = Trees::of(&app, &window)?;
    let all = trees.list().await?;
    let roots: Answer<Vec<ProjectRef>> = all.iter().map(|worktree| trees.project(&worktree.path)).collect();
    let uses = worktree_uses::list(&app, window.label(), roots?);
    let view =
        |(worktree, WorktreeUse { has_window, n_running })| WorktreeView { worktree, has_window, n_running };
    Ok(all.into_iter().zip(uses).map(view).collect())
}

/// Returns the worktree that `add_worktree` would create for this branch, or why there can be none.
#[tauri::command]
pub async fn plan_worktree(app: AppHandle, window: WebviewWindow, branch: String) -> Answer<WorktreePlan> {
    match Trees::of(&app, &window)? {
        Trees::Here(project) => Ok(Worktrees::new(&LocalHost, &project).plan(&branch).await?),
        Trees::There(far) => far.plan(&branch).await,
    }
}

/// Creates a worktree for a branch, and opens it as a project. A draft appears in its window, in a new session of the
/// agent that it is for; nothing is sent.
#[tauri::command]
pub async fn add_worktree(
    app: AppHandle,
    window: WebviewWindow,
    branch: String,
    draft: Option<NamedDraft>,
) -> Answer<()> {
    let trees = Trees::of(&app, &window)?;
    let project = match &trees {
        Trees::Here(project) => Worktrees::new(&LocalHost, project).add(&branch).await?.into(),
        Trees::There(far) => far.project(&far.add(&branch).await?)?,
    };
    let Some((draft, label)) = draft.zip(Trees::open(&app, &window, &project).await?) else { return Ok(()) };
    app.state::<Windows>().with(&label, |window| window.draft = Some(draft))?;
    project::send_to_window(&app, &label).await;
    Ok(())
}

/// Opens a worktree as a project, or brings up its window. A page can open no other folder by its path.
#[tauri::command]
pub async fn open_worktree(app: AppHandle, window: WebviewWindow, path: String) -> Answer<()> {
    let trees = Trees::of(&app, &window)?;
    let project = match &trees {
        Trees::Here(project) => Worktrees::new(&LocalHost, project).folder_in(&path).await?.into(),
        Trees::There(far) => far.project(&far.folder_in(&path).await?)?,
    };
    Trees::open(&app, &window, &project).await.map(drop)
}

/// Returns why a worktree would be kept, or else what would be lost with it.
#[tauri::command]
pub async fn review_worktree(app: AppHandle, window: WebviewWindow, path: String) -> Answer<WorktreeRemoval> {
    let trees = Trees::of(&app, &window)?;
    let mut review = trees.review(&path).await?;
    if let Some(why) = in_use(&app, &trees.project(&review.worktree.path)?) {
        review.kept = Some(why);
    }
    Ok(review)
}

/// Removes a worktree, unless something in it is nowhere else or it is in use. The branch is kept. `with_ignored`: the
/// user was shown the files that git ignores, and accepts their loss.
#[tauri::command]
pub async fn remove_worktree(
    app: AppHandle,
    window: WebviewWindow,
    path: String,
    with_ignored: bool,
) -> Answer<()> {
    let trees = Trees::of(&app, &window)?;
    let root = trees.project(&trees.review(&path).await?.worktree.path)?;
    if let Some(why) = in_use(&app, &root) {
        return Err(CommandError {
            code: ErrorCode::Refused,
            message: format!("{root} was not removed: {why}."),
            detail: None,
        });
    }
    match &trees {
        Trees::Here(project) => {
            Worktrees::new(&LocalHost, project).remove(&path, with_ignored).await?;
        }
        Trees::There(far) => far.remove(&path, with_ignored).await?,
    }
    forget(&app, &root).await;
    Ok(())
}

/// Why a folder is in use, as a part of a sentence. With its window closed and no agent in it, nothing of ours starts there.
fn in_use(app: &AppHandle, root: &ProjectRef) -> Option<String> {
    let is_in = |project: &ProjectRef| project.is_in(root);
    let n_running =
        app.state::<SessionRegistry>().projects_at_work().iter().filter(|project| is_in(project)).count();
    if n_running > 0 {
        let sessions =
            if n_running == 1 { "a session runs".to_owned() } else { format!("{n_running} sessions run") };
        return Some(format!("{sessions} in it; stop the agent there first"));
    }
    let is_open = app.state::<Windows>().projects().iter().any(is_in);
    is_open.then(|| "its window is open; close the window first".to_owned())
}

/// Removes a folder that is gone from the list of projects.
async fn forget(app: &AppHandle, root: &ProjectRef) {
    // The folder is gone in any case: a list that cannot be changed shows it as missing.
    let listed = start::recent(app).await.unwrap_or_default();
    for RecentProject { project, .. } in listed.into_iter().filter(|one| one.project.is_in(root)) {
        if let Err(error) = app.state::<StartPage>().change(Change::Remove { project }).await {
            tracing::warn!(%error, "a removed worktree stays in the list of projects");
        }
    }
    start::send(app).await;
}
