//! Reports of the agent in the window: its context, limits, compaction, hooks, retries, errors and raw lines. The demo
//! agent writes the lines of Claude Code 2.1.329, most of them from the recordings.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use deskbell_engine::recorder::{Direction, Recording};
use deskbell_tests::recordings;
use deskbell_tests::window::{LONG, SHORT, Window};
use serde_json::{Value, json};

use crate::stage::{Gate, Stage};

/// A step of the demo agent that writes these lines.
pub fn lines(stage: &Stage, name: &str, lines: &[Value]) -> Result<String> {
    let file = stage.desktop.scratch().join(format!("{name}.ndjson"));
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(&file, text)?;
    Ok(format!("LINES {}", file.display()))
}

/// The lines of the agent in a recording that are chosen by `is_wanted`, in their order.
fn recorded(recording: &str, is_wanted: impl Fn(&Value) -> bool) -> Result<Vec<Value>> {
    let recording = Recording::parse(&recordings::bytes(recording)?);
    let lines = recording.lines.into_iter().filter(|line| line.dir == Direction::Out).map(|line| line.line);
    Ok(lines.filter(is_wanted).collect())
}

fn is_system(line: &Value, subtype: &str) -> bool {
    line["type"] == "system" && line["subtype"] == subtype
}

/// Chooses an action in the palette.
async fn act(stage: &Stage, name: &str) -> Result<()> {
    stage.window.key("ctrl+k").await?;
    stage.window.find("combobox", "Search commands and sessions").await?;
    stage.pointer.type_text(name).await?;
    stage.window.wait_text("listbox", "Results", name, SHORT).await?;
    stage.pointer.key("Return").await
}

/// The context meter, by its name.
async fn meter(window: &Window) -> Result<String> {
    let names = window.names("button").await?;
    names.into_iter().find(|name| name.contains("Context:")).context("no context meter")
}

pub async fn the_meter_opens_what_fills_the_context_and_the_limits() -> Result<()> {
    const DIALOG: &str = "Context";
    let stage = Stage::demo().await?;
    stage
        .play("context", async |stage| {
            let window = &stage.window;
            window.prompt("RATE_LIMIT allowed_warning\nSAY How full is it?").await?;
            window.wait_said("How full is it?", SHORT).await?;
            window.wait_idle(SHORT).await?;
            window
                .wait_text("note", "Warning", "92 % of the five-hour limit is used; it resets at", SHORT)
                .await?;

            window.point_at("button", &meter(window).await?).await?;
            for words in
                ["System prompt 2,000", "System tools 6,800", "Messages", "Autocompact buffer 33,000"]
            {
                window.wait_text("dialog", DIALOG, words, SHORT).await?;
            }
            let pictures = window.names("img").await?;
            let names_the_parts =
                |name: &String| name.contains("System tools") && name.contains("Free space");
            ensure!(pictures.iter().any(names_the_parts), "no picture of the parts: {pictures:?}");
            // One of two hours: in two hours when it was written, a moment less since.
            let limits = window.wait_text("region", "Limits of your plan", "92 % used", SHORT).await?;
            ensure!(limits.contains("Resets at") && limits.contains("in 2 h"), "{limits}");
            ensure!(limits.contains("ive-hour limit") && limits.contains("Overage Not allowed"), "{limits}");
            window.drawn().await?;
            stage.desktop.screenshot("context").await?;
            stage.pointer.key("Escape").await?;
            window.gone("dialog", DIALOG).await?;

            window.click("textbox", "Prompt").await?;
            window.tab_to("Context:").await?;
            stage.pointer.key("Return").await?;
            window.wait_text("dialog", DIALOG, "System prompt 2,000", SHORT).await?;
            stage.pointer.key("Escape").await?;
            window.gone("dialog", DIALOG).await?;
            window.wait_focus("Context:").await
        })
        .await
}

/// The line that a limit is reached, in the words of the recording; it resets in so many seconds.
fn reached(stage: &Stage, resets_in: u64) -> Result<String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let mut line = recorded("rate_limit", |line| line["rate_limit_info"]["status"] == "rejected")?
        .pop()
        .context("a limit that was reached is recorded")?;
    line["rate_limit_info"]["resetsAt"] = (now + resets_in).into();
    line["rate_limit_info"]["unifiedWindows"]["five_hour"]["resetsAt"] = (now + resets_in).into();
    lines(stage, &format!("reached-{resets_in}"), &[line])
}

pub async fn a_session_that_a_limit_stopped_continues_at_its_reset_if_it_may() -> Result<()> {
    const OFFER: &str = "Continue when it resets";
    let stage = Stage::demo().await?;
    stage
        .play("limit", async |stage| {
            let window = &stage.window;
            let script = format!("{}\nFAIL 429 rate_limit", reached(stage, 2 * 60 * 60)?);
            window.paste_prompt(&script).await?;
            let offer =
                window.wait_text("note", "Limit reached", "The five-hour limit resets at", SHORT).await?;
            ensure!(offer.contains("in 2 h"), "no countdown: {offer}");
            window.wait_text("note", "Error", "The five-hour limit is reached; it resets at", SHORT).await?;
            // Off by default.
            ensure!(!window.has("button", "Remove queued prompt").await?, "something is queued");
            stage.desktop.screenshot("limit").await?;

            // Chosen with the mouse, and cancelled.
            window.point_at("button", OFFER).await?;
            window.gone("note", "Limit reached").await?;
            window.wait_text("list", "Queued prompts", "Continue where you stopped.", SHORT).await?;
            stage.desktop.screenshot("limit-waits").await?;
            window.click("button", "Remove queued prompt").await?;
            window.find("note", "Limit reached").await?;

            // Chosen with the keyboard, for a prompt that waited when a limit was reached that resets soon. It is sent
            // 15 s after that.
            let gate = Gate::closed(&stage.desktop)?;
            let script = format!("{}\nFAIL 429 rate_limit", reached(stage, 4)?);
            window.paste_prompt(&gate.before(&script)).await?;
            window.find("button", "Stop").await?;
            window.paste_prompt("SAY Going on.").await?;
            window.wait_text("list", "Queued prompts", "SAY Going on.", SHORT).await?;
            gate.open()?;
            window.wait_text("note", "Limit reached", "in 1 min", SHORT).await?;
            window.wait_text("list", "Queued prompts", "Waiting:", SHORT).await?;
            act(stage, "Continue when the limit resets").await?;
            window.gone("note", "Limit reached").await?;
            window.wait_text("list", "Queued prompts", "At ", SHORT).await?;
            window.wait_said("Going on.", LONG).await?;
            window.wait_idle(SHORT).await?;
            ensure!(!window.has("note", "Limit reached").await?, "the limit still stops it");
            Ok(())
        })
        .await
}

/// A run of a hook that began, and its end.
fn hook(name: &str, event: &str, end: &Value) -> [Value; 2] {
    let mut lines = ["hook_started", "hook_response"].map(|subtype| {
        json!({"type": "system", "subtype": subtype, "hook_id": name, "hook_name": name, "hook_event": event})
    });
    if let (Some(line), Some(end)) = (lines[1].as_object_mut(), end.as_object()) {
        line.extend(end.clone());
    }
    lines
}

/// A call of Bash that a hook allowed, and its result.
fn allowed_by_a_hook() -> [Value; 2] {
    let call = json!({"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make beam"}});
    let result = json!({"type": "tool_result", "tool_use_id": "t1", "content": "made", "is_error": false});
    let decision = json!({"decision": "accept", "source": "hook", "reason_type": "hook"});
    [
        json!({"type": "assistant", "message": {"id": "m1", "role": "assistant", "content": [call]}}),
        json!({"type": "user", "message": {"role": "user", "content": [result]},
            "tool_result_meta": [{"id": "t1", "permission_decision": decision}]}),
    ]
}

pub async fn compaction_hooks_and_retries_are_shown_as_what_they_are() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("reports", async |stage| {
            let window = &stage.window;
            let gates = [(); 4].map(|()| Gate::closed(&stage.desktop));
            let [first, second, third, fourth] = gates;
            let [first, second, third, fourth] = [first?, second?, third?, fourth?];

            // Compaction: while it runs, and after it.
            let begins = recorded("compact", |line| line["status"] == "compacting")?;
            let mut ends = recorded("compact", |line| {
                line["compact_result"].is_string()
                    || is_system(line, "compact_boundary")
                    || line["isSynthetic"] == true
            })?;
            for line in ends.iter_mut().filter(|line| line["compact_metadata"].is_object()) {
                line["compact_metadata"]["trigger"] = "auto".into();
            }
            let (begins, ends) = (lines(stage, "begins", &begins[..1])?, lines(stage, "ends", &ends)?);

            // Hooks: one that runs, fails and prints, one with a message for the user, and one that allows a call.
            let failed = json!({"stdout": "", "stderr": "no beam\n", "output": "no beam\n", "exit_code": 3,
                "outcome": "error"});
            let [begun, failed] = hook("PostToolUse:Bash", "PostToolUse", &failed);
            let message = json!({"systemMessage": "Mind the gap"}).to_string();
            let message = json!({"stdout": message, "stderr": "", "output": message, "exit_code": 0,
                "outcome": "success"});
            let ended = [&[failed][..], &hook("Stop", "Stop", &message), &allowed_by_a_hook()].concat();
            let (begun, ended) = (lines(stage, "begun", &[begun])?, lines(stage, "ended", &ended)?);

            let retries = recorded("api_failures", |line| is_system(line, "api_retry"))?;
            ensure!(retries.len() >= 2, "two retries are recorded");
            let retries = lines(stage, "retries", &retries[..2])?;
            let [one, two, three, four] = [&first, &second, &third, &fourth].map(Gate::step);
            let script = format!(
                "SAY Begun.\n{begins}\n{one}\n{ends}\n{begun}\n{two}\n{ended}\n{three}\n{retries}\n{four}\nSAY Over."
            );
            window.paste_prompt(&script).await?;

            window.wait_shows("Compacting the conversation", SHORT).await?;
            stage.desktop.screenshot("compacting").await?;
            first.open()?;
            window.wait_shows("The conversation was compacted automatically: from ", SHORT).await?;
            window.click("button", "Details").await?;
            window.wait_shows("This session is being continued from a previous conversation", SHORT).await?;
            ensure!(!window.all_text().await?.contains("Compacting the conversation"), "it still compacts");
            stage.desktop.screenshot("compacted").await?;
            // Folded again, so that the next details are the only ones.
            window.click("button", "Details").await?;

            window.wait_shows("Running the hook PostToolUse:Bash", SHORT).await?;
            second.open()?;
            window.wait_shows("The hook PostToolUse:Bash failed (exit code 3)", SHORT).await?;
            window.wait_shows("The hook Stop reports: Mind the gap", SHORT).await?;
            window.wait_shows("allowed by a hook", SHORT).await?;
            let details = "return [...document.querySelectorAll('details')].map((one) => (one.open = true)).length;";
            window.run(details, Vec::new()).await?;
            window.wait_shows("no beam", SHORT).await?;
            stage.desktop.screenshot("hooks").await?;

            third.open()?;
            let text = window.wait_shows("trying again in", SHORT).await?;
            ensure!(text.matches("trying again in").count() == 1, "more than one line of retries:\n{text}");
            stage.desktop.screenshot("retries").await?;
            fourth.open()?;
            window.wait_said("Over.", SHORT).await?;
            let text = window.wait_shows("tried again", SHORT).await?;
            ensure!(text.matches("tried again").count() == 1, "{text}");
            ensure!(!text.contains("trying again"), "the retry goes on:\n{text}");
            window.wait_idle(SHORT).await
        })
        .await
}

pub async fn unknown_lines_are_counted_live_and_an_error_line_ends_its_turn() -> Result<()> {
    const DIALOG: &str = "Raw messages";
    let stage = Stage::demo().await?;
    stage
        .play("lines", async |stage| {
            let window = &stage.window;
            let gates = [(); 2].map(|()| Gate::closed(&stage.desktop));
            let [first, second] = gates;
            let (first, second) = (first?, second?);
            let overloaded = json!({"type": "overloaded_error", "message": "The lamp is overloaded"});
            let error = lines(stage, "error", &[json!({"type": "error", "error": overloaded})])?;
            let script =
                format!("SAY Begun.\n{}\nUNKNOWN_MESSAGE\n{}\n{error}\nWAIT", first.step(), second.step());
            window.paste_prompt(&script).await?;
            window.wait_said("Begun.", SHORT).await?;
            act(stage, DIALOG).await?;
            window.wait_text("dialog", DIALOG, "Deskbell knows the kind of every line", SHORT).await?;
            window.wait_text("group", "Lines", "From the agent", SHORT).await?;
            first.open()?;
            // It is followed while it is open.
            let said = window
                .wait_text("dialog", DIALOG, "3 lines of an unknown kind and 2 unreadable lines", SHORT)
                .await?;
            ensure!(!said.contains("Deskbell knows the kind of every line"), "{said}");
            window.wait_text("group", "Lines", "holographic_event", SHORT).await?;
            window.tab_to("Only unknown and unreadable lines").await?;
            stage.pointer.key("space").await?;
            window.wait_without("group", "Lines", "command_lifecycle").await?;
            window.wait_text("group", "Lines", "Unknown kind", SHORT).await?;
            stage.desktop.screenshot("lines").await?;
            stage.pointer.key("Escape").await?;
            window.gone("dialog", DIALOG).await?;

            second.open()?;
            window.wait_shows("The lamp is overloaded", SHORT).await?;
            window.wait_idle(SHORT).await?;
            stage.desktop.screenshot("error-line").await.map(drop)
        })
        .await
}
