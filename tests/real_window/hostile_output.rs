//! Hostile output in the real window: nothing in it runs, loads an address or hangs.
//!
//! Every input of `tests/hostile/output` is sent as an answer, a thought, a tool's output and a tool's input, and as a
//! prompt where it is short enough for one. This runs without the content security policy, to show that the way documents
//! are drawn is sufficient without this last line of defence; and with it for the first inputs of each class, because
//! the policy only forbids more.
//!
//! A run plays all inputs that try to run something or to load an address, and every third batch of each other class,
//! from one that the seed chooses (`deskbell_tests::chance`).

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use deskbell_tests::chance;
use deskbell_tests::hostile_output::{CLASSES, Input, class, line};
use deskbell_tests::window::{Manners, Trap};
use serde_json::{Value, json};

use crate::stage::Stage;

/// The classes whose inputs try to run something or to load an address.
const ACTIVE: [&str; 5] = ["html", "handlers", "vector", "beacons", "schemes"];
/// The classes with large inputs.
const LARGE: [&str; 2] = ["markdown", "nesting"];

/// Number of inputs of an active class in one turn: all of them. Each turn costs a second of processor time besides.
const BATCH_OF_ACTIVE: usize = 160;
/// The same for the other classes.
const BATCH: usize = 60;
/// The same for the classes with large inputs. Fifty of them, all unfolded in one conversation, killed the page's
/// process (WebKitGTK 2.50.6): this fault of the page is still open, and smaller turns do not show it.
const BATCH_OF_LARGE: usize = 10;
/// A run plays one of this number of batches, a whole run all.
const EVERY: usize = 3;
/// The number of inputs of each class that are played with the policy.
const WITH_POLICY: usize = 5;
/// Longer texts are not sent as prompts, because no user would.
const LONGEST_PROMPT: usize = 4_000;
/// The same for prompts of more lines: the demo agent answers each line.
const MOST_LINES: usize = 100;
/// For one turn and one check of it: generous, because only a hang is a failure.
const DEADLINE: Duration = Duration::from_secs(90);
/// Within this time all items of a turn are looked at, in milliseconds.
const LOOKED_AT: u64 = 90_000;

/// Limit for a frame in milliseconds, with everything unfolded and a busy machine.
const LONGEST_FRAME: f64 = 15_000.0;

const LOOK: &str = include_str!("hostile_output.js");

/// One after the other: beside a third busy page, a frame of either took longer than is allowed.
pub async fn nothing_runs_with_the_policy_or_without() -> Result<()> {
    play("hostile-with-policy", true).await?;
    play("hostile-without-policy", false).await
}

async fn play(name: &str, policy: bool) -> Result<()> {
    let stage = Stage::with(Manners::Polite, |launch| {
        // Only debug builds read it.
        if policy { launch } else { launch.env("DESKBELL_TEST_NO_CSP", "1") }
    })
    .await?;
    stage.play(name, async |stage| show_all(stage, policy).await).await
}

async fn show_all(stage: &mut Stage, policy: bool) -> Result<()> {
    let trap = Trap::set().await?;
    let page = stage.page_process()?;
    for (nr, batch) in batches(&trap.host(), policy)?.iter().enumerate() {
        let names = || format!("{} … {}", batch[0].name, batch[batch.len() - 1].name);
        show(stage, batch, &format!("turn-{nr}"), &trap).await.with_context(names)?;
    }
    ensure!(stage.page_process()? == page, "the page's process is not the one it was");
    trapped_if_unguarded(stage, &trap, policy).await
}

/// The inputs of each turn.
fn batches(host: &str, policy: bool) -> Result<Vec<Vec<Input>>> {
    let mut batches = Vec::new();
    let (mut first, mut first_large) = (Vec::new(), Vec::new());
    for name in CLASSES.iter().filter(|name| **name != "long") {
        let mut inputs = class(name, host)?;
        let is_large = LARGE.contains(name);
        if policy {
            inputs.truncate(WITH_POLICY);
            if is_large {
                first_large.append(&mut inputs)
            } else {
                first.append(&mut inputs)
            }
            continue;
        }
        let is_active = ACTIVE.contains(name);
        let size = if is_large { BATCH_OF_LARGE } else { BATCH };
        let of_class = inputs.chunks(if is_active { BATCH_OF_ACTIVE } else { size }).map(<[Input]>::to_vec);
        batches.extend(if is_active { of_class.collect() } else { chance::every(EVERY, of_class.collect()) });
    }
    batches.extend([first, first_large].into_iter().filter(|batch| !batch.is_empty()));
    Ok(batches)
}

/// Shows these inputs in a session of their own, and looks at all of it.
async fn show(stage: &Stage, batch: &[Input], token: &str, trap: &Trap) -> Result<()> {
    let window = &stage.window;
    stage.new_session(DEADLINE).await?;
    window.run("window.token = arguments[0];", vec![json!(token)]).await?;
    let file = stage.desktop.scratch().join(format!("{token}.ndjson"));
    std::fs::write(&file, lines(batch))?;
    window.paste_prompt(&format!("LINES {}\nSAY all shown {token}", file.display())).await?;
    window.wait_said(&format!("all shown {token}"), DEADLINE).await?;
    let is_prompt = |text: &&str| text.len() <= LONGEST_PROMPT && text.lines().count() <= MOST_LINES;
    let prompts: Vec<&str> = batch.iter().map(|input| &*input.text).filter(is_prompt).collect();
    window.paste_prompt(&format!("SAY asked\n{}\n\nSAY all asked {token}", prompts.join("\n"))).await?;
    window.wait_said(&format!("all asked {token}"), DEADLINE).await?;
    window.wait_idle(DEADLINE).await?;
    // Each input is drawn as a text, a thought and two calls. There are two prompts, and two ends.
    let n_items = 4 * batch.len() + 4;
    let found = window.call(LOOK, vec![json!(token), json!(n_items), json!(LOOKED_AT)]).await?;
    ensure!(found["problems"] == json!([]), "{found:#}");
    ensure!(found["ran"].is_null(), "a script ran: {found:#}");
    ensure!(found["same"] == true, "the page is another one: {found:#}");
    ensure!(found["seen"].as_u64() >= Some(n_items as u64), "not all of {n_items} was looked at: {found:#}");
    ensure!(found["longest"].as_f64() < Some(LONGEST_FRAME), "the page hung: {found:#}");
    ensure!(trap.caught().is_empty(), "the trap heard {:?}", trap.caught());
    Ok(())
}

/// Shows that the trap and the mark work: content put into the page by force is stopped by the policy, and only by it.
async fn trapped_if_unguarded(stage: &Stage, trap: &Trap, policy: bool) -> Result<()> {
    let script = "const [trap, done] = arguments;
        const script = document.createElement('script');
        script.textContent = 'top.ran=1';
        document.body.append(script);
        const image = new Image();
        image.onload = image.onerror = () => done(window.ran ?? null);
        image.src = trap + '/control';
        setTimeout(() => done(window.ran ?? null), 3000);";
    let address = format!("http://{}", trap.host());
    let ran = stage.window.call(script, vec![json!(address)]).await?;
    let caught = trap.caught();
    ensure!(ran.is_null() == policy, "an inline script ran: {ran}, with the policy: {policy}");
    ensure!(caught.is_empty() == policy, "the trap heard {caught:?}, with the policy: {policy}");
    Ok(())
}

/// The lines of an agent that prints all of these.
fn lines(batch: &[Input]) -> String {
    batch.iter().enumerate().flat_map(|(at, input)| forms(at, input)).map(|form| line_up(&form)).collect()
}

fn line_up(messages: &[Value]) -> String {
    messages.iter().map(line).collect()
}

/// An input as each kind of message that an agent sends.
fn forms(at: usize, input: &Input) -> [Vec<Value>; 4] {
    let (text, name) = (&input.text, &input.name);
    let (tool, asked, told, structured) = match at % 4 {
        0 => ("Bash", json!({"command": name}), json!(text), json!({"stdout": text, "stderr": text})),
        1 => ("Read", json!({"file_path": name}), json!(text), json!({"file": {"content": text}})),
        2 => ("mcp__a__b", json!({"name": name}), json!([{"type": "text", "text": text}]), Value::Null),
        _ => (
            "Edit",
            json!({"file_path": name, "old_string": "a", "new_string": text}),
            json!("ok"),
            json!({"filePath": name, "structuredPatch": [{"oldStart": 1, "newStart": 1, "lines": text.lines().map(|line| format!("+{line}")).collect::<Vec<_>>()}]}),
        ),
    };
    let output = format!("{name}-output");
    let inputs = format!("{name}-input");
    let called = ["Bash", "WebFetch", text][at % 3];
    [
        vec![assistant(name, "text", json!({"type": "text", "text": text}))],
        vec![
            assistant(
                name,
                "output",
                json!({"type": "tool_use", "id": output, "name": tool, "input": asked}),
            ),
            result(&output, told, structured),
        ],
        vec![
            assistant(
                name,
                "input",
                json!({"type": "tool_use", "id": inputs, "name": called, "input": {
                    "command": text, "url": text, "file_path": text, "key": text, text.as_str(): text,
                }}),
            ),
            result(&inputs, json!("ok"), Value::Null),
        ],
        vec![assistant(name, "thought", json!({"type": "thinking", "thinking": text, "signature": "x"}))],
    ]
}

fn assistant(name: &str, part: &str, block: Value) -> Value {
    json!({
        "type": "assistant",
        "message": {"id": format!("{name}-{part}"), "type": "message", "role": "assistant", "model": "m", "content": [block]},
        "parent_tool_use_id": null,
    })
}

fn result(id: &str, content: Value, structured: Value) -> Value {
    json!({
        "type": "user",
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": content}]},
        "parent_tool_use_id": null,
        "tool_use_result": structured,
    })
}
