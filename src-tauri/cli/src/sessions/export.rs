//! `deskbell sessions export`: one stored session as Markdown, JSON or a page, on stdout or in a new file.

use crate::args::sessions::ExportOptions;
use crate::output::print;
use crate::serve::place::session_folders;
use anyhow::{Context, anyhow, bail};
use deskbell_engine::api::AgentKind;
use deskbell_engine::disk;
use deskbell_engine::export::{Conversation, Heading, Images};
use deskbell_engine::history::{Additions, Kept};
use deskbell_engine::stored::Located;
use deskbell_sessions::agent;
use deskbell_sessions::folders;
use deskbell_sessions::profiles;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Time limit for reading or writing a long conversation.
const LONG: Duration = Duration::from_secs(60);

pub fn run(options: &ExportOptions) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(export(options));
    // A thread that waits for a dead mount must not hold up the end.
    runtime.shutdown_background();
    done
}

async fn export(options: &ExportOptions) -> anyhow::Result<()> {
    let stores = profiles::stores(&profiles::settings());
    let config = agent::config_folder(AgentKind::Claude, Path::new(""));
    let (id, data) = (options.session.clone(), folders::data());
    let read = move || {
        let Some((_, located)) = Located::find_in(&stores, &id)? else { return Ok(None) };
        let kept = Kept::load(&located.path)?.with_subagents_of(&located.path);
        let additions = Additions::of_conversation(&session_folders(&data), &id);
        Ok::<_, disk::ReadError>(Some((located, kept, additions)))
    };
    let read = disk::run(&config, LONG, read).await?.context("reading the agent's store")?;
    let (located, kept, additions) =
        read.ok_or_else(|| anyhow!("Claude Code has stored no session with the id {}", options.session))?;
    let project = located.project.unwrap_or_default();
    let heading = Heading {
        title: located.session.title,
        project: project.display().to_string(),
        agent: AgentKind::Claude,
        agent_session_id: Some(located.session.agent_session_id),
    };
    // An export makes the other colours itself.
    let transcript =
        kept.transcript_with_last_colours(&project, &additions.context("reading Deskbell's sessions")?);
    let conversation = transcript.exported(&heading.title, options.format);
    let bytes = conversation.render(options.format, &heading, &Images::of(&kept))?;
    let Some(path) = options.output.clone() else {
        return Ok(print(&bytes)?);
    };
    let (to, force) = (path.clone(), options.force);
    match disk::run(&path, LONG, move || Conversation::save(&to, &bytes, force)).await? {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            bail!("{} exists already; --force replaces it", path.display())
        }
        saved => saved.with_context(|| format!("writing {}", path.display())),
    }
}
