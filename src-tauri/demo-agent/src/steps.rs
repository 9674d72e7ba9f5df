//! The player of a script's steps.

mod commands;
pub mod faults;

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::{Value, json};

use crate::agent::{Cut, ReceivedPrompt};
use crate::call::PlayedCall;
use crate::environment::cwd;
use crate::permission::Permit;
use crate::reply::words;
use crate::script::{self, ScriptStep};
use crate::tools::{TaskStep, run_tool, settle_plan, settle_questions, task};
use crate::turn::PlayedTurn;
use crate::{control, usage, wire};

const NOW: Duration = Duration::ZERO;

/// How often `UNTIL` looks for its file.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Plays a script as one turn. A script that begins with one of the agent's own commands reports it before `init`.
pub fn run(
    turn: &mut PlayedTurn<'_>,
    mut steps: VecDeque<ScriptStep>,
    prompts: &[ReceivedPrompt],
) -> Result<(), Cut> {
    let command = steps.pop_front_if(|step| {
        matches!(step, ScriptStep::Clear | ScriptStep::Compact | ScriptStep::Cost | ScriptStep::Rename(_))
    });
    match command {
        Some(ScriptStep::Clear) => {
            turn.local("clear");
            commands::clear(turn);
            turn.init();
            // The prompt belongs to the session that was cleared: the new one starts empty.
        }
        Some(ScriptStep::Compact) => {
            turn.local("compact");
            commands::announce_compaction(turn);
            turn.init();
            turn.remember(prompts);
            commands::compact(turn);
        }
        Some(ScriptStep::Cost) => {
            turn.local("cost");
            turn.init();
            turn.remember(prompts);
            let cost = usage::cost(&turn.agent.lock().usage);
            commands::synthetic(turn, &format!("Estimated cost:        ${cost:.4}"));
        }
        Some(ScriptStep::Rename(title)) => {
            turn.local("rename");
            control::rename(turn.agent, &title);
            turn.init();
            turn.remember(prompts);
            commands::synthetic(turn, &format!("Session renamed to: {title}"));
        }
        _ => {
            turn.init();
            turn.remember(prompts);
        }
    }
    loop {
        for text in std::mem::take(&mut turn.folded) {
            steps.extend(script::parse(&text).into_iter().flatten());
        }
        match steps.pop_front() {
            Some(step) => play(turn, step)?,
            None => return Ok(()),
        }
    }
}

fn play(turn: &mut PlayedTurn<'_>, step: ScriptStep) -> Result<(), Cut> {
    let agent = turn.agent;
    match step {
        ScriptStep::Say(text) => turn.say(&text, 4, NOW)?,
        ScriptStep::Stream { count, text } => message(turn, &vec![text.as_str(); count], NOW)?,
        ScriptStep::Slow { pause, count, word } => {
            let deltas: Vec<String> = (0..count).map(|at| format!("{word}{at} ")).collect();
            message(turn, &deltas.iter().map(String::as_str).collect::<Vec<_>>(), pause)?;
        }
        ScriptStep::Think { thought, answer } => {
            turn.open_message()?;
            turn.thinking(&words(&thought, 4), NOW)?;
            turn.text(&words(&answer, 4), NOW)?;
            turn.close_message("end_turn");
        }
        ScriptStep::Tool { name, input, takes } => {
            let call = call(turn, &name, input)?;
            if let Permit::Run { input, decision } = turn.permit(&call)? {
                agent.pause(takes)?;
                run_tool(turn, &call, &input, &decision);
            }
        }
        ScriptStep::AskTwice => ask_twice(turn)?,
        ScriptStep::Question => question(turn)?,
        ScriptStep::Plan => plan(turn)?,
        ScriptStep::Tasks => tasks(turn)?,
        ScriptStep::Retry(count) => retry(turn, count)?,
        ScriptStep::Fail { status, kind } => {
            let text = match status {
                Some(status) => format!("API Error: {status} {kind}"),
                None => format!("API Error: {kind}"),
            };
            return Err(Cut::Failed { status, kind, text });
        }
        ScriptStep::Crash(code) => agent.exit(code),
        ScriptStep::Kill(signal) => faults::kill(turn, &signal)?,
        ScriptStep::Garbage(text) => agent.output.bytes(format!("{text}\n").into_bytes()),
        ScriptStep::Lines(file) => faults::lines(turn, &file)?,
        ScriptStep::Pace { per_second, file } => faults::paced(turn, per_second, &file)?,
        ScriptStep::Stderr(text) => eprintln!("{text}"),
        ScriptStep::StderrFlood(bytes) => faults::flood_stderr(bytes),
        ScriptStep::Line(bytes) => {
            turn.open_message()?;
            turn.whole_text(&"0123456789abcde ".repeat(bytes.div_ceil(16)));
            turn.close_message("end_turn");
        }
        ScriptStep::UnknownMessage => faults::unknown_messages(turn)?,
        ScriptStep::UnknownControl => {
            let id = agent.request(json!({"subtype": "tell_the_weather", "place": "here"}));
            let reply = agent.answer(&[id])?.map_or(Value::Null, |(_, reply)| reply);
            turn.say(&format!("reply: {reply}"), 8, NOW)?;
        }
        ScriptStep::Wait => agent.pause(Duration::from_secs(24 * 60 * 60))?,
        ScriptStep::Pause(pause) => agent.pause(pause)?,
        ScriptStep::Until(file) => {
            while !file.exists() {
                agent.pause(BETWEEN_LOOKS)?;
            }
        }
        ScriptStep::IgnoreInterrupt(hearing) => agent.lock().hearing = hearing,
        ScriptStep::Withdraw(pause) => {
            let call = call(turn, "Bash", json!({"command": "touch withdrawn.txt"}))?;
            let id = turn.ask(&call);
            agent.pause(pause)?;
            agent.withdraw(&id);
            turn.judge(&call, Some(json!({"subtype": "error", "error": "the agent withdrew its request"})))?;
        }
        ScriptStep::Unasked(turn) => agent.lock().unasked.push_back(turn),
        ScriptStep::Child(seconds) => faults::child(turn, seconds)?,
        ScriptStep::Busy(number) => faults::busy(turn, number)?,
        ScriptStep::Pid => turn.say(&std::process::id().to_string(), 4, NOW)?,
        ScriptStep::Recall => {
            let mut prompts = agent.lock().store.prompts.clone();
            prompts.pop();
            let said = if prompts.is_empty() { "(nothing)".to_owned() } else { prompts.join("\n") };
            turn.say(&said, 4, NOW)?;
        }
        ScriptStep::Env(name) => {
            turn.say(&std::env::var(name).unwrap_or_else(|_| "(unset)".into()), 4, NOW)?
        }
        ScriptStep::Cwd => turn.say(&cwd(), 4, NOW)?,
        ScriptStep::Args => turn.say(&json!(agent.options.args).to_string(), 4, NOW)?,
        ScriptStep::Clear => {
            commands::clear(turn);
            turn.init();
        }
        ScriptStep::Compact => {
            commands::announce_compaction(turn);
            commands::compact(turn);
        }
        ScriptStep::Cost => {
            let cost = usage::cost(&agent.lock().usage);
            turn.say(&format!("${cost:.4}"), 4, NOW)?;
        }
        ScriptStep::Rename(title) => control::rename(agent, &title),
        ScriptStep::Mode(mode) => turn.set_mode(&mode),
        ScriptStep::RateLimit(status) => commands::rate_limit(turn, &status),
        ScriptStep::Unknown(line) => turn.say(&format!("not a step: {line}"), 8, NOW)?,
    }
    Ok(())
}

fn message(turn: &mut PlayedTurn<'_>, deltas: &[&str], pause: Duration) -> Result<(), Cut> {
    turn.open_message()?;
    turn.text(deltas, pause)?;
    turn.close_message("end_turn");
    Ok(())
}

/// A message that consists of one call.
fn call(turn: &mut PlayedTurn<'_>, name: &str, input: Value) -> Result<PlayedCall, Cut> {
    turn.open_message()?;
    let call = turn.tool_use(name, input, NOW)?;
    turn.close_message("tool_use");
    Ok(call)
}

fn ask_twice(turn: &mut PlayedTurn<'_>) -> Result<(), Cut> {
    turn.open_message()?;
    let calls = [
        turn.tool_use("Bash", json!({"command": "touch first.txt", "description": "the first"}), NOW)?,
        turn.tool_use("Bash", json!({"command": "touch second.txt", "description": "the second"}), NOW)?,
    ];
    turn.close_message("tool_use");
    let mut open: Vec<(String, &PlayedCall)> = calls.iter().map(|call| (turn.ask(call), call)).collect();
    while !open.is_empty() {
        let ids: Vec<String> = open.iter().map(|(id, _)| id.clone()).collect();
        let answered = turn.agent.answer(&ids)?;
        let place = answered.as_ref().and_then(|(id, _)| open.iter().position(|(asked, _)| asked == id));
        let (_, call) = open.remove(place.unwrap_or(0));
        if let Permit::Run { input, decision } = turn.judge(call, answered.map(|(_, answer)| answer))? {
            run_tool(turn, call, &input, &decision);
        }
    }
    Ok(())
}

fn question(turn: &mut PlayedTurn<'_>) -> Result<(), Cut> {
    let option = |label: &str, description: &str| json!({"label": label, "description": description});
    let questions = json!({"questions": [
        {
            "question": "Which colour?",
            "header": "Colour",
            "options": [option("Red", "the warm one"), option("Blue", "the cold one")],
            "multiSelect": false,
        },
        {
            "question": "Which sizes?",
            "header": "Sizes",
            "options": [option("Small", "fits a pocket"), option("Large", "fits a wall")],
            "multiSelect": true,
        },
    ]});
    let call = call(turn, "AskUserQuestion", questions)?;
    if let Some(answers) = settle_questions(turn, &call)? {
        turn.say(&format!("answers: {answers}"), 4, NOW)?;
    }
    Ok(())
}

fn plan(turn: &mut PlayedTurn<'_>) -> Result<(), Cut> {
    let call = call(turn, "ExitPlanMode", json!({"plan": "1. Read the file\n2. Change one line\n"}))?;
    settle_plan(turn, &call)?;
    Ok(())
}

fn tasks(turn: &mut PlayedTurn<'_>) -> Result<(), Cut> {
    for (id, subject) in [("1", "first thing"), ("2", "second thing")] {
        task(turn, TaskStep::Create { id, subject, doing: "doing it" }, NOW)?;
    }
    task(turn, TaskStep::Update { id: "1", from: "pending", to: "in_progress" }, NOW)
}

fn retry(turn: &mut PlayedTurn<'_>, count: u32) -> Result<(), Cut> {
    let text = "a reply that is dropped half way and comes again from its start";
    if turn.agent.options.partials {
        turn.open_message()?;
        turn.abandon_text(&words(text, 2)[..3], NOW)?;
    }
    api_retries(turn, count, None, "unknown", NOW)?;
    turn.say(text, 2, NOW)
}

/// Reports failed attempts. The reported wait is the real CLI's; the actual wait is `pause`.
pub fn api_retries(
    turn: &PlayedTurn<'_>,
    count: u32,
    status: Option<u16>,
    kind: &str,
    pause: Duration,
) -> Result<(), Cut> {
    for attempt in 1..=count {
        let delay = 500 << (attempt - 1).min(6);
        turn.agent.send(wire::api_retry(attempt, 10.max(count), delay, status, kind));
        turn.agent.pause(pause)?;
    }
    Ok(())
}
