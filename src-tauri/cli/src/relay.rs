//! The engine without a window: commands as NDJSON on stdin, events as NDJSON on stdout. See docs/relay.md.

use crate::args::RelayOptions;
use crate::exit::Exit;
use crate::{logs, signals};
use anyhow::Context;
use deskbell_engine::acp::ChosenAgent;
use deskbell_engine::api::*;
use deskbell_engine::disk;
use deskbell_engine::launch::Fork;
use deskbell_engine::options::CheckedOptions;
use deskbell_engine::permission::leave_out_repeats;
use deskbell_engine::recorder::Recorder;
use deskbell_engine::session::{SessionHandle, Subscriber, Timeouts};
use deskbell_engine::settings::SettingsFile;
use deskbell_engine::store::SavedSession;
use deskbell_engine::trust::TrustStore;
use deskbell_sessions::agent::{self, Run};
use deskbell_sessions::opener::{self, SessionChoices, SessionOpener, StartPolicy};
use deskbell_sessions::trust::Allowed;
use deskbell_sessions::{environment, folders, profiles, trust};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::sync::mpsc;

/// Number of events that may wait for the reader of stdout. When the queue is full, the session waits, and so does the
/// agent. The number is small because an event can be large: one that extends a paragraph contains the whole paragraph.
const BACKLOG: usize = 8;

/// Timeout for the reader of the last events, after everything else has ended.
const LAST_WORDS: Duration = Duration::from_secs(5);

pub fn main(options: RelayOptions) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("deskbell: could not start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let outcome = runtime.block_on(relay(options));
    // Reading stdin blocks a thread that cannot be woken; everything else has ended by now.
    runtime.shutdown_background();
    match outcome {
        Ok(exit) => exit.into(),
        Err(error) => {
            eprintln!("deskbell: {error:#}");
            Exit::Failed.into()
        }
    }
}

async fn relay(options: RelayOptions) -> anyhow::Result<Exit> {
    let data = folders::data();
    let opening = data.clone();
    let opened = disk::run(&data, disk::DEADLINE, move || {
        logs::read_level(&SettingsFile::new(&folders::config()));
        let (options, profile) = with_profile(options)?;
        let decisions = trust::open_store(&opening).context("opening the folder of trust decisions")?;
        anyhow::Ok((options, profile, decisions, Run::begin(&opening)))
    });
    let (options, profile, decisions, run) = opened.await??;
    if kind(&options) != AgentKind::Demo {
        agent::ask_login_shell(&run).await;
    }
    let ended = drive(options, profile, decisions, run.clone()).await;
    disk::run(&data, disk::DEADLINE, move || run.end()).await?;
    ended
}

/// The options with the agent of their profile. Reads the settings.
fn with_profile(options: RelayOptions) -> anyhow::Result<(RelayOptions, Option<Profile>)> {
    let Some(name) = &options.profile else { return Ok((options, None)) };
    let profile = profiles::find(&profiles::settings(), name)
        .map_err(|error| anyhow::anyhow!("{} {}", error.message, error.detail.unwrap_or_default()))?;
    let acp = profiles::agent(&profile);
    let has_options = options.mode.is_some() || options.fork.is_some() || options.options.is_some();
    if acp.is_some() && has_options {
        anyhow::bail!(
            "--fork, --mode and --options are for Claude Code, and the profile “{name}” has another agent"
        );
    }
    Ok((RelayOptions { acp, ..options }, Some(profile)))
}

/// Runs a session from its opening to its end.
async fn drive(
    options: RelayOptions,
    profile: Option<Profile>,
    decisions: TrustStore,
    run: Run,
) -> anyhow::Result<Exit> {
    let opener = SessionOpener { data: folders::data(), run };
    let fork = fork(&opener, &options, profile.as_ref()).await?;
    let chosen = chosen_options(&options).await?;
    // Other agents have modes of their own.
    let of_environment = if options.acp.is_none() { mode_from_environment()? } else { None };
    let of_profile = profile.as_ref().and_then(|profile| profile.mode);
    let mode = options.mode.or(of_profile).or(of_environment);
    let options = RelayOptions { mode, ..options };
    let session = open(&opener, options, profile, chosen, fork, decisions)?;
    let (sender, events) = mpsc::channel(BACKLOG);
    session.subscribe(Subscriber::Every(sender)).await?;
    let mut writer = tokio::task::spawn_blocking(move || write_events(events));
    session.start().await?;
    let finished = async {
        read_commands(&session).await?;
        session.finish().await?;
        anyhow::Ok(())
    };
    tokio::select! {
        finished = finished => finished?,
        () = signals::received() => session.close().await?,
        // Stdout is closed: the results have no reader.
        written = &mut writer => {
            session.close().await?;
            return written?.context("writing events to stdout");
        }
    }
    drop(session);
    // A reader that has stopped reading must not prevent the relay from ending.
    match tokio::time::timeout(LAST_WORDS, writer).await {
        Ok(written) => written?.context("writing events to stdout"),
        Err(_) => anyhow::bail!("stdout was not read to the end"),
    }
}

/// The agent of these options.
fn kind(options: &RelayOptions) -> AgentKind {
    if options.acp.is_some() {
        return AgentKind::Acp;
    }
    let demo = options.agent.as_ref().is_some_and(|chosen| chosen.as_os_str() == "demo");
    if demo { AgentKind::Demo } else { AgentKind::Claude }
}

/// The conversation to begin as a copy of, if there is one.
async fn fork(
    opener: &SessionOpener,
    options: &RelayOptions,
    profile: Option<&Profile>,
) -> anyhow::Result<Option<Fork>> {
    let Some(of) = options.fork.clone() else { return Ok(None) };
    let Some(before) = options.before.clone() else { return Ok(Some(Fork { of, until: None })) };
    let fork = opener.fork(kind(options), profile, &options.project, of, Some(before)).await;
    let fork = fork.map_err(|error| anyhow::anyhow!("--before: {error}"))?;
    anyhow::ensure!(fork.is_some(), "--before: this is the first prompt, so there is nothing to fork");
    Ok(fork)
}

/// Maximum size of the file of options, in bytes.
const MOST_OPTIONS: u64 = 1024 * 1024;

/// The options that the agent is started with: those of the file, if one was given.
async fn chosen_options(options: &RelayOptions) -> anyhow::Result<SessionOptions> {
    let Some(path) = options.options.clone() else { return Ok(SessionOptions::default()) };
    let (place, project) = (path.clone(), options.project.clone());
    let read = move || {
        let text = disk::read_text(&path, MOST_OPTIONS).map_err(|error| error.to_string())?;
        let chosen = SessionOptions::parse(&text)?;
        let problem = chosen.problems_in(&project).first().map(ToString::to_string);
        problem.map_or(Ok(chosen), Err)
    };
    let read = disk::run(&place, disk::DEADLINE, read).await?;
    read.map_err(|problem| anyhow::anyhow!("--options: {}: {problem}", place.display()))
}

/// The permission mode that the environment asks for.
fn mode_from_environment() -> anyhow::Result<Option<PermissionMode>> {
    let read = environment::mode(|name| std::env::var(name).ok());
    if let environment::ModeOfEnvironment { problem: Some(problem), .. } = &read {
        // A mode that would run without asking is not used; a name that is none is an error.
        anyhow::ensure!(read.is_refused, "{problem}");
        eprintln!("deskbell: {problem}");
    }
    Ok(read.mode)
}

fn open(
    opener: &SessionOpener,
    relay_options: RelayOptions,
    profile: Option<Profile>,
    options: SessionOptions,
    fork: Option<Fork>,
    decisions: TrustStore,
) -> anyhow::Result<SessionHandle> {
    let kind = kind(&relay_options);
    let RelayOptions { project, agent, acp, resume, model, mode, record, trust, priority, .. } =
        relay_options;
    let recorder = Recorder::default();
    if let Some(path) = record {
        recorder.begin(&path).with_context(|| format!("recording to {}", path.display()))?;
    }
    let choices = SessionChoices { acp, resume, fork, model, mode, options, ..SessionChoices::default() };
    let record = opener::new_record(project, kind, choices.begin(profile.as_ref()));
    let settings = AgentSettings {
        program: agent.map(|program| program.to_string_lossy().into_owned()),
        profiles: profile.into_iter().collect(),
        priority,
        ..AgentSettings::default()
    };
    let policy = RelayPolicy { settings, decisions, is_trusted: trust };
    Ok(opener.open(record, None, policy, Timeouts::default(), recorder))
}

/// The start policy of the relay: the program of the command line, or the profile as it was when the relay started.
struct RelayPolicy {
    settings: AgentSettings,
    decisions: TrustStore,
    is_trusted: bool,
}

impl StartPolicy for RelayPolicy {
    fn settings(&self, _: &SavedSession) -> AgentSettings {
        self.settings.clone()
    }

    /// Without a window the user cannot be asked: a folder that is not trusted in its current state is opened in
    /// restricted mode, with a message on stderr.
    fn admit(&self, project: &Path, agent: Option<&ChosenAgent>) -> Result<Allowed, CommandError> {
        let allowed = trust::admit_unasked(&self.decisions, project, agent, self.is_trusted)?;
        if matches!(allowed, Allowed::Restricted) {
            let with = agent.map_or_else(String::new, |agent| format!(" with {}", agent.name()));
            eprintln!(
                "deskbell: {} is not trusted{with}: its settings, hooks and servers are not loaded; --trust loads them",
                project.display()
            );
        }
        Ok(allowed)
    }
}

/// Reads one command per line. A line that is not a command produces an event, and has no other effect.
async fn read_commands(session: &SessionHandle) -> anyhow::Result<()> {
    let mut lines = BufReader::new(tokio::io::stdin()).split(b'\n');
    while let Some(line) = lines.next_segment().await? {
        if line.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice::<Command>(&line) {
            Ok(command) => session.post(command).await?,
            Err(problem) => session.complain(problem.to_string()).await?,
        }
    }
    Ok(())
}

/// Writes straight to stdout, on its own thread, without building the text of a very long event first.
/// Returns how the session went.
pub fn write_events(mut events: mpsc::Receiver<Envelope>) -> anyhow::Result<Exit> {
    let mut exit = Exit::Success;
    let mut stdout = std::io::BufWriter::with_capacity(64 * 1024, crate::output::stdout());
    while let Some(mut envelope) = events.blocking_recv() {
        exit = after(&envelope.event).unwrap_or(exit);
        leave_out_repeats(&mut envelope.event);
        serde_json::to_writer(&mut stdout, &envelope)?;
        stdout.write_all(b"\n")?;
        if events.is_empty() {
            stdout.flush()?;
        }
    }
    stdout.flush()?;
    Ok(exit)
}

/// How the session goes after this event; `None` if that has not changed. A later turn makes up for what failed before.
fn after(event: &Event) -> Option<Exit> {
    use ErrorCode::{AgentNotFound, NotTrusted, OpenElsewhere, SpawnFailed};
    match event {
        Event::TurnEnded { turn } => match turn.status()? {
            Status::Failed { .. } => Some(Exit::TurnFailed),
            _ => Some(Exit::Success),
        },
        Event::CommandFailed { error } => {
            let has_no_agent = matches!(error.code, AgentNotFound | SpawnFailed | NotTrusted | OpenElsewhere);
            has_no_agent.then_some(Exit::NoAgent)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_is_about_the_last_turn_or_the_agent_that_is_missing() {
        let turn = |outcome| {
            let turn = TurnEnd {
                outcome,
                words: String::new(),
                prompt_ids: Vec::new(),
                duration_ms: 0,
                output_tokens: 0,
                cost_usd: None,
                tokens: None,
                timing: TurnTiming::default(),
            };
            after(&Event::TurnEnded { turn })
        };
        assert_eq!(turn(Outcome::Done), Some(Exit::Success));
        assert_eq!(turn(Outcome::Interrupted), Some(Exit::Success));
        assert_eq!(turn(Outcome::Unavailable), None);
        assert_eq!(turn(Outcome::Crashed), Some(Exit::TurnFailed));
        assert_eq!(turn(Outcome::NotLoggedIn), Some(Exit::TurnFailed));
        let refused = |code| {
            let error = CommandError { code, message: String::new(), detail: None };
            after(&Event::CommandFailed { error })
        };
        assert_eq!(refused(ErrorCode::AgentNotFound), Some(Exit::NoAgent));
        assert_eq!(refused(ErrorCode::BadCommand), None, "the session goes on");
    }
}
