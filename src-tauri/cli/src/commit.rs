//! `deskbell commit`: commits chosen files and hunks of a working tree with the user's git, and undoes the last commit.
//! See docs/relay.md.

use crate::args::commit::{CommitAction, CommitOptions};
use crate::exit::Exit;
use crate::output::{plain, print};
use crate::signals;
use deskbell_engine::LocalHost;
use deskbell_engine::api::{CommitPlan, CommitProblem, CommitPrograms, Committed, UndoneCommit};
use deskbell_engine::changes::Commits;
use deskbell_engine::disk;
use deskbell_sessions::folders;
use deskbell_sessions::trust::open_store;
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;

pub fn main(options: &CommitOptions) -> ExitCode {
    match run(options) {
        Ok(()) => Exit::Success.into(),
        Err(error) => {
            let problem = error.downcast_ref::<CommitProblem>();
            if let (true, Some(problem)) = (options.json, problem)
                && let Err(error) = json(problem)
            {
                eprintln!("deskbell: {error}");
            }
            let detail = problem.map_or_else(String::new, detail);
            eprintln!("deskbell: {}{detail}", plain(&format!("{error:#}")));
            Exit::of(&error).into()
        }
    }
}

fn run(options: &CommitOptions) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let done = runtime.block_on(async {
        let commits = Commits::new(&LocalHost, &options.project, &folders::data(), std::env::vars_os());
        match &options.action {
            CommitAction::Plan(request) => said(options.json, &commits.plan(request).await?, planned),
            CommitAction::Undo => said(options.json, &commits.undo().await?, undone),
            CommitAction::Make(request, hooks) => {
                let may_run = match hooks {
                    Some(chosen) => *chosen,
                    None if is_trusted(&options.project).await? => CommitPrograms::Run,
                    None => CommitPrograms::Ask,
                };
                let heard = |text: &str| text.lines().for_each(|line| eprintln!("{}", plain(line)));
                let ending = Box::pin(signals::received());
                let made = commits.commit(request, may_run, &heard, ending).await?;
                said(options.json, &made, committed)
            }
        }
    });
    // A thread that waits for a dead mount must not hold up the end.
    runtime.shutdown_background();
    done
}

/// Whether the user has trusted the folder as it is now.
async fn is_trusted(project: &Path) -> anyhow::Result<bool> {
    let place = project.to_owned();
    let looking = disk::run(project, disk::DEADLINE, move || {
        let data = folders::data();
        disk::own_folder(&data)?;
        anyhow::Ok(open_store(&data)?.state(&place)?.is_trusted())
    });
    looking.await?
}

fn said<T: Serialize>(as_json: bool, value: &T, line: impl FnOnce(&T) -> String) -> anyhow::Result<()> {
    if as_json {
        return json(value);
    }
    Ok(print(format!("{}\n", line(value)).as_bytes())?)
}

fn json<T: Serialize>(value: &T) -> anyhow::Result<()> {
    Ok(print(format!("{}\n", serde_json::to_string(value)?).as_bytes())?)
}

/// The advice after a problem.
fn detail(problem: &CommitProblem) -> String {
    match problem {
        CommitProblem::WouldRun { .. } => {
            ": --hooks=run runs them, --hooks=skip commits without them".to_owned()
        }
        CommitProblem::NoIdentity { said } => format!(" ({})", plain(said)),
        _ => String::new(),
    }
}

fn planned(plan: &CommitPlan) -> String {
    let mut text = format!("on {} by {}", plain(&plan.branch), plain(&plan.author));
    plan.files.iter().for_each(|file| text += &format!("\n  {}", plain(file)));
    text += &staged(&plan.stays_staged, &plan.replaces_staged);
    if !plan.programs.is_empty() {
        text += &format!("\ngit commit would run {}", plain(&plan.programs.join(", ")));
    }
    text
}

fn committed(made: &Committed) -> String {
    let n = made.files.len();
    let files = if n == 1 { "1 file".to_owned() } else { format!("{n} files") };
    let mut text =
        format!("{} on {}: {} ({files})", short(&made.id), plain(&made.branch), plain(&made.subject));
    made.added_by_hooks.iter().for_each(|file| text += &format!("\na hook added {}", plain(file)));
    text += &staged(&made.stays_staged, &made.replaces_staged);
    made.problem.iter().for_each(|problem| text += &format!("\n{}", plain(problem)));
    text
}

fn staged(stays: &[String], replaced: &[String]) -> String {
    let stays = stays.iter().map(|file| format!("\nstill staged: {}", plain(file)));
    let replaced = replaced.iter().map(|file| format!("\nno longer staged as it was: {}", plain(file)));
    stays.chain(replaced).collect()
}

fn undone(undone: &UndoneCommit) -> String {
    let now = undone.head.as_deref().map_or("no commit", short);
    format!(
        "{} is undone; {} is at {now}, and the changes are staged",
        short(&undone.id),
        plain(&undone.branch)
    )
}

fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_the_commit_and_no_name_breaks_it() {
        let made = Committed {
            id: "0123456789".to_owned(),
            branch: "main\u{202e}".to_owned(),
            subject: "Fix\u{1b}[31m".to_owned(),
            files: vec!["a".to_owned()],
            added_by_hooks: vec!["b\nc".to_owned()],
            stays_staged: vec!["d".to_owned()],
            replaces_staged: Vec::new(),
            output: String::new(),
            problem: None,
        };
        assert_eq!(
            committed(&made),
            "01234567 on main\\u{202e}: Fix\\u{1b}[31m (1 file)\na hook added b\\u{a}c\nstill staged: d"
        );
    }
}
