//! Hooks of a trusted folder: what is shown of their runs, and what the calls say that they decided on.

use anyhow::{Context, Result, ensure};
use deskbell_agent::AgentEvent;
use deskbell_claude::wire;
use deskbell_engine::recorder::{Direction, Recording};
use deskbell_tests::real_cli::World;
use deskbell_tests::relay::{DEADLINE, Relay};
use deskbell_tests::wait::eventually;
use serde_json::{Value, json};
use std::fs;

/// Prints its progress for two seconds, which the CLI reports only after the first.
const SLOW: &str = "for n in 1 2 3; do echo step $n; sleep 1; done";

fn put_hooks(world: &World, hooks: &Value) -> Result<()> {
    fs::create_dir_all(world.file(".claude"))?;
    Ok(fs::write(world.file(".claude/settings.json"), json!({ "hooks": hooks }).to_string())?)
}

fn hook(command: &str) -> Value {
    json!([{"hooks": [{"type": "command", "command": command, "timeout": 20}]}])
}

/// A command that prints this JSON.
fn prints(value: &Value) -> String {
    format!("echo '{value}'")
}

fn note_of_call(relay: &Relay) -> Result<Value> {
    let items = relay.items();
    let call = items.iter().rev().find(|item| item["body"]["type"] == "toolCall").context("a call")?;
    Ok(call["body"].clone())
}

pub async fn hooks_are_shown_by_what_they_did() -> Result<()> {
    let world = World::new().await?;
    let message = json!({"systemMessage": "Mind the gap"});
    put_hooks(
        &world,
        &json!({
            "SessionStart": hook("echo started"),
            "UserPromptSubmit": hook("true"),
            "PreToolUse": hook("echo checked"),
            "PostToolUse": hook("echo bad >&2; exit 1"),
            "Stop": hook(&prints(&message)),
        }),
    )?;
    let mut relay = Relay::spawn(&world, &["--trust"])?;
    relay.turn("BASH true\nSAY hello").await?;
    let expected = [
        "warning: The hook PostToolUse:Bash failed (exit code 1)",
        "info: The hook Stop reports: Mind the gap",
        "info: Hooks ran: SessionStart:startup, PreToolUse:Bash",
    ];
    ensure!(relay.notices() == expected, "{:?}", relay.notices());
    let details =
        relay.items().into_iter().filter_map(|item| item["body"]["detail"].as_str().map(str::to_owned));
    let details: Vec<String> = details.collect();
    // The message is in the notice itself.
    ensure!(details.len() == 2 && details[0] == "bad", "{details:?}");
    ensure!(details[1] == "SessionStart:startup:\nstarted\n\nPreToolUse:Bash:\nchecked", "{details:?}");
    relay.close().await
}

pub async fn a_call_says_that_a_hook_allowed_or_denied_it() -> Result<()> {
    let decides = |decision: &str, reason: &str| {
        prints(&json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
            "permissionDecision": decision, "permissionDecisionReason": reason}}))
    };
    for (decision, reason) in [("allow", "fine"), ("deny", "not here")] {
        let world = World::new().await?;
        put_hooks(&world, &json!({"PreToolUse": hook(&decides(decision, reason))}))?;
        let mut relay = Relay::spawn(&world, &["--trust"])?;
        // Without the hook, this command needs a permission request.
        relay.turn("WRITE made.txt hello\nSAY done").await?;
        let call = note_of_call(&relay)?;
        let is_allowed = decision == "allow";
        ensure!(world.file("made.txt").exists() == is_allowed, "{call}");
        // 2.1.197 does not report who decided, and a denial is a failure with the reason.
        let expected = match (is_allowed, relay.is_old_cli()?) {
            (true, true) => None,
            (false, true) => Some(reason),
            (true, false) => Some("allowed by a hook"),
            (false, false) => Some("denied by a hook"),
        };
        ensure!(call["note"].as_str() == expected, "{call}");
        let notice = "warning: The hook PreToolUse:Write denied the call: not here";
        let ran = "info: The hook PreToolUse:Write ran";
        ensure!(relay.notices() == [if is_allowed { ran } else { notice }], "{:?}", relay.notices());
        relay.close().await?;
    }
    Ok(())
}

pub async fn a_slow_hook_is_shown_while_it_runs() -> Result<()> {
    let world = World::new().await?;
    put_hooks(&world, &json!({"Stop": hook(SLOW)}))?;
    let mut relay = Relay::spawn(&world, &["--trust"])?;
    relay.turn("SAY hello").await?;
    let shown: Vec<String> = relay.events().iter().map(Value::to_string).collect();
    ensure!(shown.iter().any(|event| event.contains("The hook Stop is running")), "{shown:?}");
    ensure!(shown.iter().any(|event| event.contains("Running the hook Stop")), "{shown:?}");
    let notices = relay.notices();
    ensure!(notices.len() == 1 && notices[0].starts_with("info: The hook Stop took "), "{notices:?}");
    relay.close().await
}

pub async fn a_prompt_that_a_hook_blocks_is_reported_once() -> Result<()> {
    let world = World::new().await?;
    put_hooks(&world, &json!({"UserPromptSubmit": hook("echo no secrets >&2; exit 2")}))?;
    let mut relay = Relay::spawn(&world, &["--trust"])?;
    relay.turn("SAY hello").await?;
    let notices = relay.notices();
    let [notice] = &notices[..] else { anyhow::bail!("{notices:?}") };
    ensure!(notice.contains("blocked by hook") && notice.contains("no secrets"), "{notice}");
    ensure!(world.api.messages().is_empty(), "the prompt was sent");
    relay.close().await
}

pub async fn hooks_of_a_folder_that_is_not_trusted_neither_run_nor_show() -> Result<()> {
    let world = World::new().await?;
    let trace = world.root().join("trace");
    let touches = hook(&format!("touch '{}'; echo ran", trace.display()));
    let events = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"];
    let hooks: Value = events
        .iter()
        .map(|event| ((*event).to_owned(), touches.clone()))
        .collect::<serde_json::Map<_, _>>()
        .into();
    put_hooks(&world, &hooks)?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("BASH true\nSAY hello").await?;
    ensure!(relay.notices().is_empty(), "{:?}", relay.notices());
    relay.close().await?;
    ensure!(!trace.exists(), "a hook ran");
    Ok(())
}

/// The lines `tool_progress`: the CLI writes them for tools that run for more than half a minute, and for hooks as often
/// as a variable says. Not with 2.1.197: its hooks have no heartbeats and it does not know the variable, and a test of its
/// tools would take more than half a minute.
pub async fn each_heartbeat_of_a_slow_hook_is_a_sign_of_life() -> Result<()> {
    let world = World::new().await?.with_env("CLAUDE_CODE_HOOK_HEARTBEAT_INTERVAL_MS", "100");
    put_hooks(&world, &json!({"PreToolUse": hook("until [ -e beaten ]; do sleep 0.02; done")}))?;
    let file = world.root().join("heartbeats.ndjson");
    let mut relay = Relay::spawn(&world, &["--trust", &format!("--record={}", file.display())])?;
    relay.prompt("BASH true\nSAY done").await?;
    let beats = || -> Result<Vec<Value>> {
        let recording = fs::read(&file).map(|bytes| Recording::parse(&bytes));
        let lines = recording.map(|recording| recording.lines).unwrap_or_default();
        let lines = lines.into_iter().filter(|line| line.dir == Direction::Out).map(|line| line.line);
        Ok(lines.filter(|line| line["type"] == "tool_progress").collect())
    };
    // Each is an event of the session: what is shown as the time of silence starts again.
    let n_changes =
        |relay: &Relay| relay.events().iter().filter(|event| event["type"] == "sessionChanged").count();
    eventually("a heartbeat", DEADLINE, async || Ok((!beats()?.is_empty()).then_some(()))).await?;
    let (n_beats, n_before) = (beats()?.len(), n_changes(&relay));
    eventually("three heartbeats and their events", DEADLINE, async || {
        Ok((beats()?.len() >= n_beats + 3 && n_changes(&relay) >= n_before + 3).then_some(()))
    })
    .await?;
    fs::write(world.file("beaten"), "")?;
    relay.turn_end().await?;
    let beats = beats()?;
    ensure!(beats[0]["tool_name"] == "PreToolUse" && beats[0]["heartbeat"] == true, "{}", beats[0]);
    let lines = Recording::parse(&fs::read(&file)?).lines;
    let unknown = lines
        .iter()
        .filter(|line| line.dir == Direction::Out)
        .filter(|line| matches!(wire::parse(line.line.to_string().as_bytes()), AgentEvent::Unknown { .. }));
    ensure!(unknown.count() == 0, "a heartbeat counts as unknown");
    relay.close().await
}
