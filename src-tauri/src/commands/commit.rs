//! Commands of the commit box: commits of the user in the folder of the window's project.

use super::{Answer, project_here};
use crate::emit;
use deskbell_dialogs::Question;
use deskbell_engine::LocalHost;
use deskbell_engine::api::*;
use deskbell_engine::changes::Commits;
use deskbell_engine::disk;
use deskbell_engine::title::Title;
use deskbell_sessions::registry::SessionRegistry;
use deskbell_sessions::running_commits::RunningCommits;
use deskbell_sessions::{agent, folders};
use std::path::Path;
use std::time::Duration;
use tauri::{AppHandle, Manager, WebviewWindow};
use tokio::sync::{mpsc, oneshot};

/// Time in which the output of hooks is collected before it is sent to the page.
const TOGETHER: Duration = Duration::from_millis(50);

/// Longest name of a program in the question, in characters.
const NAME: usize = 60;

/// Longest path of a folder in the question, in characters.
const PATH: usize = 300;

fn commits(folder: &Path) -> Commits<'_> {
    Commits::new(&LocalHost, folder, &folders::data(), agent::user_environment())
}

/// Whether the user has trusted the folder as it is now.
async fn is_trusted(app: &AppHandle, folder: &Path) -> Answer<bool> {
    let (gate, place) = (app.state::<SessionRegistry>().gate().clone(), folder.to_owned());
    disk::run(folder, disk::DEADLINE, move || gate.is_trusted(&place)).await?
}

/// Returns what a commit would begin with, or why none can be made.
#[tauri::command]
pub async fn commit_state(app: AppHandle, window: WebviewWindow) -> Answer<CommitBoxState> {
    let folder = project_here(&app, &window)?;
    if app.state::<RunningCommits>().has(window.label()) {
        return Ok(CommitBoxState::Running);
    }
    let is_trusted = is_trusted(&app, &folder).await?;
    Ok(match commits(&folder).state().await {
        Ok(repository) => CommitBoxState::Ready { repository, is_trusted },
        Err(problem) => CommitBoxState::Refused { problem: problem.into() },
    })
}

/// Makes a commit. In a restricted folder a native dialog asks before hooks and other programs run; `without_programs`
/// leaves them out.
#[tauri::command]
pub async fn commit(
    app: AppHandle,
    window: WebviewWindow,
    request: CommitRequest,
    without_programs: bool,
) -> Answer<Committed> {
    let folder = project_here(&app, &window)?;
    let Some(stopped) = app.state::<RunningCommits>().begin(window.label()) else {
        return Err(CommitProblem::Busy.into());
    };
    let made = make(&app, &window, &folder, &request, without_programs, stopped).await;
    app.state::<RunningCommits>().ended(window.label());
    // For a page that was loaded meanwhile, which gets no answer.
    emit::to_window(&app, window.label(), WindowEvent::CommitEnded);
    made
}

async fn make(
    app: &AppHandle,
    window: &WebviewWindow,
    folder: &Path,
    request: &CommitRequest,
    without_programs: bool,
    stopped: oneshot::Receiver<()>,
) -> Answer<Committed> {
    let may_run = match without_programs {
        true => CommitPrograms::Skip,
        false if is_trusted(app, folder).await? => CommitPrograms::Run,
        false => CommitPrograms::Ask,
    };
    let commits = commits(folder);
    let (said, mut heard) = mpsc::unbounded_channel::<String>();
    let making = async move {
        // Sending cannot fail: the receiver is dropped after the sender.
        let say = move |text: &str| drop(said.send(text.to_owned()));
        let ending = Box::pin(async { drop(stopped.await) });
        if may_run != CommitPrograms::Ask {
            return Ok(commits.commit(request, may_run, &say, ending).await?);
        }
        let never = Box::pin(std::future::pending());
        match commits.commit(request, CommitPrograms::Ask, &say, never).await {
            Err(CommitProblem::WouldRun { programs }) => {
                confirm(window, folder, &programs).await?;
                Ok(commits.commit(request, CommitPrograms::Run, &say, ending).await?)
            }
            made => Ok(made?),
        }
    };
    let forwarding = async {
        while let Some(mut text) = heard.recv().await {
            tokio::time::sleep(TOGETHER).await;
            while let Ok(more) = heard.try_recv() {
                text += &more;
            }
            emit::to_window(app, window.label(), WindowEvent::CommitOutput { text });
        }
    };
    tokio::join!(making, forwarding).0
}

/// Asks whether a commit may run programs in a restricted folder. A page cannot answer it.
async fn confirm(window: &WebviewWindow, folder: &Path, programs: &[String]) -> Answer<()> {
    let names: Vec<String> = programs.iter().map(|name| Title::one_line(name, NAME)).collect();
    let question = Question {
        title: "Run programs of this repository?".to_owned(),
        text: format!(
            "A window asks for a commit in a restricted folder. The commit would run {}, which may be programs of this \
             repository. Run them only if you asked for the commit and trust them.\n\n{}",
            named(&names, 0),
            Title::one_line(&folder.display().to_string(), PATH)
        ),
        accept: "Run and commit",
        background: None,
        arms_late: true,
    };
    let refusal = "You did not confirm the programs in the dialog, so no commit was made.";
    deskbell_dialogs::accepted(window, question, refusal).await
}

/// Stops the commit of this window.
#[tauri::command]
pub async fn stop_commit(app: AppHandle, window: WebviewWindow) -> Answer<()> {
    app.state::<RunningCommits>().stop(window.label());
    Ok(())
}

/// Undoes the last commit, if Deskbell made it and it is on no remote branch.
#[tauri::command]
pub async fn undo_commit(app: AppHandle, window: WebviewWindow) -> Answer<UndoneCommit> {
    let folder = project_here(&app, &window)?;
    Ok(commits(&folder).undo().await?)
}
