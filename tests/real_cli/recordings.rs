//! Sessions recorded with the project's own recorder, and folded again to the same transcript. With
//! `UPDATE_RECORDINGS=1` they become the recordings in `tests/recordings`; `cargo xtask claude` compares those of two versions.

use std::future::Future;
use std::pin::Pin;

use anyhow::{Context, Result, bail, ensure};
use deskbell_engine::api::{Attachment, Command, Decision, Delivery};
use deskbell_engine::recorder::Recording;
use deskbell_engine::replay::Replayed;
use deskbell_tests::real_cli::World;
use deskbell_tests::recordings::{self, RECORD_INTO, UPDATE_RECORDINGS, placed, trimmed};
use deskbell_tests::relay::{DEADLINE, Finished, Relay, text_of};
use serde_json::{Value, json};

use crate::stored;

type Lived<'a> = Pin<Box<dyn Future<Output = Result<()>> + 'a>>;

/// Records a session, and compares its fold with the session's events.
async fn record(
    name: &str,
    world: World,
    arguments: &[&str],
    live: impl for<'a> FnOnce(&'a World, &'a mut Relay) -> Lived<'a>,
) -> Result<()> {
    let file = world.root().join("recording.ndjson");
    let option = format!("--record={}", file.display());
    let mut relay = Relay::spawn(&world, &[&[option.as_str()], arguments].concat())?;
    live(&world, &mut relay).await?;
    let finished = relay.finish().await?;
    finished.check()?;

    let recording = Recording::parse(&std::fs::read(&file)?);
    ensure!(recording.unreadable.is_empty(), "unreadable lines: {:?}", recording.unreadable);
    let places = places(&world);
    let short = trimmed(&recording.lines, &places);
    if let Some(folder) = std::env::var_os(RECORD_INTO) {
        recordings::write_into(folder.as_ref(), name, &short)?;
    }
    let replayed = Replayed::of(&recording.lines);
    let folded = serde_json::to_value(&replayed.items)?;
    let folded = folded.as_array().context("items are a list")?.iter().map(timeless).collect::<Vec<_>>();
    let told = finished.items().iter().map(timeless).collect::<Vec<_>>();
    for idx in 0..folded.len().max(told.len()) {
        let (folded, told) = (folded.get(idx), told.get(idx));
        ensure!(folded == told, "item {idx} was told as\n{told:?}\nand folds to\n{folded:?}");
    }

    compare_with_file(name, &world, &finished)?;
    let shown = Replayed::of(&short).text();
    let expected = placed(&replayed.text(), &places);
    ensure!(shown == expected, "what was cut is missed:\n{shown}\nwas\n{expected}");
    if std::env::var_os(UPDATE_RECORDINGS).is_some() {
        recordings::write(name, &short)?;
    }
    Ok(())
}

/// Sessions whose file shows something else than their events did, and why.
const DIFFERS: &[(&str, &str)] = &[
    ("api_failures", "attempts are in Deskbell's own record; the agent writes a failure as an answer"),
    ("clear", "a cleared conversation goes on in another file"),
    ("interrupt", "that an answer is incomplete is in Deskbell's own record"),
    ("killed_and_resumed", "the death of a process is in Deskbell's own record"),
    ("mcp_tool", "the display name of a server's tool is not in the file"),
    ("rate_limit", "limits are in Deskbell's own record; the agent writes a reached one as an answer"),
    ("resumed_by_id", "the events begin where the conversation was resumed"),
    ("tool_denied", "a denial that also interrupts is in Deskbell's own record"),
];

/// Folding the agent's own file gives the rows that folding the events gave, except for [`DIFFERS`].
fn compare_with_file(name: &str, world: &World, finished: &Finished) -> Result<()> {
    let mut ids = finished.events.iter().filter_map(|event| event["session"]["agentSessionId"].as_str());
    let id = ids.next_back().context("the session has no id")?;
    let items = finished.items();
    let file = stored::reopened(world, &stored::transcript_file(world, id)?)?;
    let (live, file) = (stored::threads(items.iter()), stored::threads(file.iter()));
    let exception = DIFFERS.iter().find(|(known, _)| *known == name);
    match exception {
        None => ensure!(live == file, "{name}: the events show\n{live:#?}\nand the file\n{file:#?}"),
        Some((_, why)) => ensure!(live != file, "{name} is no exception any more: {why}"),
    }
    Ok(())
}

/// An item without its times and colours, because a line is recorded a moment before its event is published; and without its row,
/// which includes the rows of a resumed conversation on disk.
fn timeless(item: &Value) -> Value {
    let mut item = item.clone();
    item["at"] = Value::Null;
    item["row"] = Value::Null;
    without_colours(&mut item);
    if let Some(body) = item["body"].as_object_mut() {
        body.remove("durationMs");
        body.remove("timing");
        if let Some(cost) = body.get_mut("costUsd") {
            // A number that is read and written can change in its last digit.
            *cost = cost.as_f64().map(|cost| (cost * 1e9).round()).into();
        }
    }
    item
}

/// Makes each line of code one plain token: colours arrive some time after the text, and a replay has none.
fn without_colours(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::Array(tokens)) = fields.get_mut("tokens") {
                let text: String = tokens.iter().filter_map(|token| token["text"].as_str()).collect();
                *tokens = vec![serde_json::json!({ "text": text, "style": "plain" })];
            } else {
                fields.values_mut().for_each(without_colours);
            }
        }
        Value::Array(values) => values.iter_mut().for_each(without_colours),
        _ => {}
    }
}

/// The paths of a world, the longest first, and their placeholders in a recording.
fn places(world: &World) -> Vec<(String, &'static str)> {
    let root = world.root().display().to_string();
    // The CLI names folders after paths, with every character but letters and digits replaced by a dash.
    let dashed: String = root.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    vec![
        (world.home.display().to_string(), "/home/user"),
        (world.cli.program.display().to_string(), "/usr/bin/claude"),
        (world.api.address().to_string(), "api.example"),
        (format!("{root}/"), "/"),
        (root, "/"),
        (dashed, "-"),
    ]
}

pub async fn plain_text() -> Result<()> {
    record("plain_text", World::new().await?, &[], |_, relay| {
        Box::pin(async {
            relay.turn("SAY # A title\\n\\nSome **bold** words and `code`:\\n\\n- one\\n- two\\n\\n```rust\\nfn main() {}\\n```").await?;
            relay.turn("plain words").await?;
            relay.turn("STREAM 40 1 word").await.map(drop)
        })
    })
    .await
}

pub async fn thinking() -> Result<()> {
    record("thinking", World::new().await?, &[], |_, relay| {
        Box::pin(async { relay.turn("THINK First this, then that. | The answer.").await.map(drop) })
    })
    .await
}

pub async fn tools_allowed() -> Result<()> {
    record("tools_allowed", World::new().await?, &[], |world, relay| {
        Box::pin(async {
            let file = world.file("a.txt").display().to_string();
            let script = format!(
                "TALK I write it first. | WRITE {file} one\\ntwo\\nthree\\n\nREAD {file}\nEDIT {file} two => 2\n\
                 BASH cat a.txt; touch b.txt\nBASH ls missing\nSAY All done."
            );
            relay.turn_allowing_all(&script).await.map(drop)
        })
    })
    .await
}

pub async fn tool_denied() -> Result<()> {
    record("tool_denied", World::new().await?, &[], |_, relay| {
        Box::pin(async {
            relay.prompt("BASH touch b.txt\nHEARD").await?;
            let asked = relay.request().await?;
            let message = "Not in this folder.".to_owned();
            relay.decide(&asked, Decision::Deny { message, interrupt: false }).await?;
            relay.turn_end().await?;
            relay.prompt("BASH touch c.txt\nSAY not reached").await?;
            let asked = relay.request().await?;
            let message = "Stop.".to_owned();
            relay.decide(&asked, Decision::Deny { message, interrupt: true }).await?;
            relay.turn_end().await.map(drop)
        })
    })
    .await
}

pub async fn question() -> Result<()> {
    record("question", World::new().await?, &[], |_, relay| {
        Box::pin(async {
            relay.prompt("QUESTION Which colour? | Red | Green\nHEARD").await?;
            let asked = relay.request().await?;
            let answers = [("Which colour?".to_owned(), "Green".to_owned())].into();
            relay.decide(&asked, Decision::Answer { answers }).await?;
            relay.turn_end().await.map(drop)
        })
    })
    .await
}

pub async fn plan() -> Result<()> {
    record("plan", World::new().await?, &["--mode=plan"], |_, relay| {
        Box::pin(async {
            relay.prompt("PLAN\nSAY Then I begin.").await?;
            let asked = relay.request().await?;
            relay.decide(&asked, Decision::AllowOnce { updated_input: None }).await?;
            relay.turn_end().await.map(drop)
        })
    })
    .await
}

pub async fn subagent() -> Result<()> {
    record("subagent", World::new().await?, &[], |_, relay| {
        Box::pin(async {
            let call = json!({
                "description": "looks around",
                "prompt": "BASH echo inside\nSAY Nothing found.",
                "subagent_type": "general-purpose",
                "run_in_background": false,
            });
            relay.turn_allowing_all(&format!("TOOL Agent {call}\nSAY It is over.")).await.map(drop)
        })
    })
    .await
}

pub async fn interrupt() -> Result<()> {
    record("interrupt", World::new().await?, &[], |_, relay| {
        Box::pin(async {
            relay.prompt("HANG the first half of it").await?;
            let shows_text = |event: &Value| {
                event["type"] == "blocksChanged" && text_of(&event["blocks"]).contains("half of it")
            };
            relay.next_event("the text", DEADLINE, shows_text).await?;
            relay.send(&Command::Interrupt).await?;
            relay.turn_end().await?;
            relay.prompt("BASH touch b.txt\nSAY not reached").await?;
            relay.request().await?;
            relay.send(&Command::Interrupt).await?;
            relay.turn_end().await?;
            relay.turn("SAY still here").await.map(drop)
        })
    })
    .await
}

pub async fn background_shell() -> Result<()> {
    record("background_shell", World::new().await?, &[], |world, relay| {
        Box::pin(async {
            let command = "until [ -e go ]; do sleep 0.05; done; echo came to its end";
            let call = json!({"command": command, "description": "waits", "run_in_background": true});
            relay.turn_allowing_all(&format!("TOOL Bash {call}\nSAY It runs.")).await?;
            std::fs::write(world.file("go"), "")?;
            relay.turn_end().await.map(drop)
        })
    })
    .await
}

pub async fn compact() -> Result<()> {
    record("compact", World::new().await?, &[], |_, relay| {
        Box::pin(async {
            for prompt in ["SAY the word is banana", "SAY more", "/compact", "SAY after it"] {
                relay.turn(prompt).await?;
            }
            Ok(())
        })
    })
    .await
}

pub async fn clear() -> Result<()> {
    record("clear", World::new().await?, &[], |_, relay| {
        Box::pin(async {
            for prompt in ["SAY the word is banana", "/clear", "RECALL"] {
                relay.turn(prompt).await?;
            }
            Ok(())
        })
    })
    .await
}

pub async fn api_failures() -> Result<()> {
    let world = World::new().await?.with_env("CLAUDE_CODE_MAX_RETRIES", "2");
    record("api_failures", world, &[], |_, relay| {
        Box::pin(async {
            relay.turn("TIMES 1 FAIL 529\nSAY got through").await?;
            relay.turn("TIMES 1 DROP half of it\nSAY all of it").await?;
            relay.turn("STREAMERR overloaded_error the whole text").await?;
            for prompt in ["FAIL 500", "FAIL 401 no-retry", "FAIL 400 | prompt is too long: 2 tokens > 1"] {
                relay.prompt(prompt).await?;
                relay.turn_end().await?;
            }
            relay.turn("SAY well again").await.map(drop)
        })
    })
    .await
}

pub async fn rate_limit() -> Result<()> {
    record("rate_limit", World::new().await?.with_subscription(), &[], |_, relay| {
        Box::pin(async {
            relay.turn("LIMIT allowed_warning\nSAY near it").await?;
            relay.prompt("LIMIT rejected\nFAIL 429 no-retry").await?;
            relay.turn_end().await.map(drop)
        })
    })
    .await
}

#[cfg(unix)]
pub async fn killed_and_resumed() -> Result<()> {
    use deskbell_engine::api::PromptId;
    use deskbell_tests::real_cli::process::kill;

    record("killed_and_resumed", World::new().await?, &[], |world, relay| {
        Box::pin(async {
            relay.turn("SAY the word is banana").await?;
            let prompt = "GATE go\nSAY whole";
            relay.prompt(prompt).await?;
            let started = relay.event("turnStarted").await?;
            world.api.wait_for_prompt(prompt, DEADLINE).await?;
            let pid = relay.session()?["pid"].as_u64().context("no process")?;
            kill(u32::try_from(pid)?)?;
            relay.turn_end().await?;
            world.api.open("go");
            let id = started["promptIds"][0].as_str().context("it answers a prompt")?;
            relay.send(&Command::Resend { prompt_id: PromptId::new(id) }).await?;
            relay.turn_end().await?;
            relay.turn("RECALL").await.map(drop)
        })
    })
    .await
}

pub async fn resumed_by_id() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("SAY the word is banana").await?;
    let id = relay.session()?["agentSessionId"].as_str().context("no id")?.to_owned();
    relay.close().await?;
    record("resumed_by_id", world, &[&format!("--resume={id}")], |_, relay| {
        Box::pin(async { relay.turn("RECALL").await.map(drop) })
    })
    .await
}

pub async fn queue() -> Result<()> {
    record("queue", World::new().await?, &[], |world, relay| {
        Box::pin(async {
            for prompt in ["GATE first\nSAY one", "SAY two", "SAY three"] {
                relay.prompt(prompt).await?;
            }
            let two_wait =
                |session: &Value| session["queue"].as_array().is_some_and(|queue| queue.len() == 2);
            relay.session_where("two prompts in the queue", two_wait).await?;
            world.api.open("first");
            for _ in 0..3 {
                relay.turn_end().await?;
            }
            Ok(())
        })
    })
    .await
}

/// An image of one pixel.
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

pub async fn image() -> Result<()> {
    record("image", World::new().await?, &[], |world, relay| {
        Box::pin(async {
            let image = Attachment {
                media_type: "image/png".to_owned(),
                data: PIXEL.to_owned(),
                ..Attachment::default()
            };
            let text = "SAY one pixel".to_owned();
            let delivery = Delivery::default();
            relay.send(&Command::Prompt { text, attachments: vec![image], delivery }).await?;
            relay.turn_end().await?;
            let request = world.api.wait_for_prompt("SAY one pixel", DEADLINE).await?;
            ensure!(request.body.to_string().contains("\"image\""), "the model saw no image");
            Ok(())
        })
    })
    .await
}

#[cfg(unix)]
pub async fn mcp_tool() -> Result<()> {
    let world = World::new().await?;
    let tool = r#"{"name":"time","description":"Tells the time","inputSchema":{"type":"object","properties":{"zone":{"type":"string"}}}}"#;
    let world = super::tools::with_clock(world, tool)?;
    record("mcp_tool", world, &[], |_, relay| {
        Box::pin(async {
            relay.prompt("TOOL mcp__clock__time {\"zone\":\"UTC\"}\nHEARD").await?;
            let asked = relay.request().await?;
            ensure!(asked["request"]["tool"] == "mcp__clock__time", "{asked}");
            relay.decide(&asked, Decision::AllowOnce { updated_input: None }).await?;
            relay.turn_end().await?;
            ensure!(relay.answers() == ["It is noon."], "{:?}", relay.answers());
            Ok(())
        })
    })
    .await
}

pub async fn web_search() -> Result<()> {
    record("web_search", World::new().await?, &[], |_, relay| {
        Box::pin(async {
            let turn = relay.turn_allowing_all("TOOL WebSearch weather tomorrow\nSAY That is all.").await?;
            if turn["outcome"]["type"] != "done" {
                bail!("{turn}");
            }
            Ok(())
        })
    })
    .await
}
