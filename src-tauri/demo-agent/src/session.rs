//! The session: the start of the agent, its turns one after another, and its end.

use std::collections::VecDeque;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use serde_json::json;

use crate::agent::{Cut, DemoAgent, DemoState, Hearing, NextTask, Reason, ReceivedPrompt, Unasked};
use crate::call::AllowRule;
use crate::environment::DemoEnvironment;
use crate::options::RunOptions;
use crate::output::LineWriter;
use crate::past::{self, EarlierRun};
use crate::store::TranscriptFile;
use crate::turn::{self, PlayedTurn};
use crate::{clock, demo, input, script, steps, wire};

/// Runs until the host ends it. The exit code is 1 if the last result was an error, like the real CLI's.
pub fn run(mut options: RunOptions, environment: DemoEnvironment) -> ExitCode {
    options.can_ask &= !environment.has("cannot-ask");
    let output = LineWriter::start();
    start_faults(&environment, &output);
    let (state, remembers) = match take_up(&options, &environment) {
        Ok(start) => start,
        Err((session_id, error)) => {
            eprintln!("{error}");
            output.line(&wire::start_failure(&session_id, &error));
            output.flush();
            return ExitCode::FAILURE;
        }
    };
    let agent = Arc::new(DemoAgent::new(options, environment, output, state));
    let reader = Arc::clone(&agent);
    thread::spawn(move || input::read_all(&reader));

    let mut toured = remembers;
    let mut failed = false;
    loop {
        failed = match agent.next_work() {
            NextTask::Prompts(prompts) => answer(&agent, &prompts, &mut toured),
            NextTask::Unasked(turn) => unasked(&agent, &turn),
            NextTask::End => return agent.leave(failed),
        };
    }
}

fn start_faults(environment: &DemoEnvironment, output: &LineWriter) {
    if let Some(code) = environment.exit_at_start() {
        eprintln!("the demo agent was told to exit at its start");
        std::process::exit(code.into());
    }
    if environment.has("ignore-sigterm") {
        ignore_sigterm();
    }
    if environment.has("garbage") {
        output.bytes(b"this line is not JSON\n{\"type\":\"assist\n\xff\xfe\x00 nor is this\n".to_vec());
    }
    if environment.has("stderr-flood") {
        steps::faults::flood_stderr(1 << 20);
    }
}

#[cfg(unix)]
pub fn ignore_sigterm() {
    use nix::sys::signal::{SigHandler, Signal, signal};
    // SAFETY: ignoring a signal installs no handler, so nothing can run in a signal's context.
    if let Err(error) = unsafe { signal(Signal::SIGTERM, SigHandler::SigIgn) } {
        eprintln!("SIGTERM can not be ignored: {error}");
    }
}

#[cfg(not(unix))]
pub fn ignore_sigterm() {}

/// The initial state, and whether it resumes an earlier run; or the session id and the reason why it cannot be resumed.
fn take_up(
    options: &RunOptions,
    environment: &DemoEnvironment,
) -> Result<(DemoState, bool), (String, String)> {
    let root = environment.config_dir.clone().filter(|_| options.persist);
    let cwd = std::env::current_dir().unwrap_or_default();
    let past = match &options.resume {
        Some(id) if uuid::Uuid::parse_str(id).is_err() => {
            let error = format!(
                "Error: --resume requires a valid session ID or session title when used with --print. Usage: claude -p \
                 --resume <session-id|title>. Provided value \"{id}\" is not a UUID and does not match any session title."
            );
            return Err((wire::uuid(), error));
        }
        Some(id) => {
            let past = root.as_ref().and_then(|root| past::find(root, id));
            let missing = || (id.clone(), format!("No conversation found with session ID: {id}"));
            Some(past.ok_or_else(missing)?)
        }
        None if options.resume_latest => root.as_ref().and_then(|root| past::latest(root, &cwd)),
        None => None,
    };
    let remembers = past.is_some();
    let past = past.unwrap_or_else(EarlierRun::default);
    let given = options.session_id.clone();
    let session_id = match (remembers, options.fork) {
        (true, false) => past.session_id.clone(),
        _ => given.unwrap_or_else(wire::uuid),
    };
    let late = environment.has("late-store");
    let mut store = TranscriptFile::new(root, &session_id, &cwd, environment.version(), late);
    let (usage, title) = (past.usage.clone(), options.title.clone().or_else(|| past.title.clone()));
    if remembers {
        store.take_up(past);
    }
    store.mark();
    let context = usage.values().map(|usage| usage.input + usage.output).sum();
    let state = DemoState {
        servers_off: Vec::new(),
        session_id,
        mode: options.mode.clone(),
        model: options.model.clone(),
        title,
        usage,
        context,
        suspended: Vec::new(),
        rules: options.allowed_tools.iter().map(|tool| AllowRule::from_flag(tool)).collect(),
        effort: None,
        results: 0,
        store,
        queue: VecDeque::new(),
        unasked: VecDeque::new(),
        open: Vec::new(),
        answers: 0,
        running: false,
        interrupted: false,
        hearing: Hearing::Normal,
        closed: false,
        ended: false,
    };
    Ok((state, remembers))
}

/// Runs one turn for the prompts; returns whether its result was an error.
fn answer(agent: &DemoAgent, prompts: &[ReceivedPrompt], toured: &mut bool) -> bool {
    let (text, _) = turn::merged(prompts);
    let mut turn = PlayedTurn::begin(agent, prompts);
    if prompts.iter().all(|prompt| !prompt.query) {
        turn.init();
        turn.remember(prompts);
        return turn.finish(Ok(()));
    }
    let outcome = match script::parse(&text) {
        Some(steps) => steps::run(&mut turn, steps, prompts),
        None => {
            turn.init();
            turn.remember(prompts);
            let first = !std::mem::replace(toured, true);
            demo::play(&mut turn, &text, first)
        }
    };
    turn.finish(outcome)
}

/// Runs a turn without a prompt, as after a finished background command.
fn unasked(agent: &DemoAgent, unasked: &Unasked) -> bool {
    match &unasked.reason {
        Reason::TaskEnded => agent.send(json!({
            "type": "system",
            "subtype": "task_notification",
            "task_id": wire::short_id("task"),
            "status": "completed",
            "summary": "A background command finished",
        })),
        // The real CLI reports nothing before such a turn.
        Reason::Monitor => {}
        Reason::Scheduled(source) => agent.send(json!({
            "type": "command_lifecycle",
            "command_uuid": wire::uuid(),
            "state": "started",
            "wakeup_source": source,
            "scheduled_for": clock::millis(),
        })),
    }
    let mut turn = PlayedTurn::begin(agent, &[]);
    turn.init();
    let outcome: Result<(), Cut> = turn.say(&unasked.text, 4, std::time::Duration::ZERO);
    turn.finish(outcome)
}
