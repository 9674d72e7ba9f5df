//! Background work that outlives its turn: a result is not its end.

#[cfg(target_os = "linux")]
pub mod client;

use anyhow::{Result, ensure};
#[cfg(target_os = "linux")]
use client::Client;
use deskbell_engine::api::{Command, Decision, Outcome};
use deskbell_tests::real_cli::World;
use deskbell_tests::relay::{DEADLINE, Relay, outcome};
use deskbell_tests::wait::eventually;
use serde_json::{Value, json};

/// A relay whose agent runs a shell in the background that waits for the file `go`.
async fn with_shell(world: &World) -> Result<Relay> {
    let mut relay = Relay::spawn(world, &[])?;
    let command = "until [ -e go ]; do sleep 0.05; done; echo came to its end";
    let call = json!({"command": command, "description": "waits", "run_in_background": true});
    let turn = relay.turn_allowing_all(&format!("TOOL Bash {call}\nSAY it runs")).await?;
    ensure!(outcome(&turn)? == Outcome::Done, "{turn}");
    Ok(relay)
}

pub async fn the_end_of_a_background_shell_starts_a_turn_that_nobody_asked_for() -> Result<()> {
    let world = World::new().await?;
    let mut relay = with_shell(&world).await?;
    ensure!(relay.answers() == ["it runs"], "{:?}", relay.answers());
    let state = |relay: &Relay| {
        let items = relay.items();
        let call = items.iter().find(|item| item["body"]["type"] == "toolCall");
        call.map(|call| format!("{} {}", call["body"]["state"], call["body"]["verb"])).unwrap_or_default()
    };
    ensure!(state(&relay) == r#""background" "Running in the background:""#, "{}", state(&relay));
    ensure!(relay.session()?["nBackground"] == 1, "{}", relay.session()?);
    std::fs::write(world.file("go"), "")?;
    let unasked = |event: &Value| event["type"] == "turnStarted" && event["promptIds"] == json!([]);
    relay.next_event("a turn that nobody asked for", DEADLINE, unasked).await?;
    let turn = relay.turn_end().await?;
    ensure!(outcome(&turn)? == Outcome::Done && turn["promptIds"] == json!([]), "{turn}");
    ensure!(state(&relay) == r#""succeeded" "Ran in the background:""#, "{}", state(&relay));
    ensure!(relay.session()?["nBackground"] == 0, "{}", relay.session()?);
    let told = |notice: &String| notice.starts_with("info: Background task completed: ");
    ensure!(relay.notices().iter().any(told), "{:?}", relay.notices());
    // The agent's reaction is in the conversation, and no prompt is.
    let items = relay.items();
    let prompts = items.iter().filter(|item| item["body"]["type"] == "prompt").count();
    let ends = items.iter().filter(|item| item["body"]["type"] == "turnEnd").count();
    ensure!(prompts == 1 && ends == 2, "{prompts} prompts and {ends} ends of turns");
    relay.turn("SAY asked again").await?;
    ensure!(relay.answers().last().is_some_and(|answer| answer == "asked again"), "{:?}", relay.answers());
    relay.close().await
}

/// A command that the turn waits for goes on in the background, and the turn ends before it.
pub async fn a_running_command_is_moved_to_the_background() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    let command = "touch began; until [ -e go ]; do sleep 0.05; done; echo came to its end";
    let call = json!({"command": command, "description": "waits"});
    relay.prompt(&format!("TOOL Bash {call}\nSAY it went on")).await?;
    let states = |items: Vec<Value>| {
        let calls = items.into_iter().filter(|item| item["body"]["type"] == "toolCall");
        calls.map(|call| call["body"]["state"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    let asked = relay.request().await?;
    relay.decide(&asked, Decision::AllowOnce { updated_input: None }).await?;
    eventually("the command", DEADLINE, async || Ok(world.file("began").exists().then_some(()))).await?;
    relay.send(&Command::MoveToBackground).await?;
    let turn = relay.turn_end().await?;
    ensure!(outcome(&turn)? == Outcome::Done && relay.answers() == ["it went on"], "{turn}");
    ensure!(states(relay.items()) == ["background"], "{:?}", relay.items());
    ensure!(relay.session()?["nBackground"] == 1, "{}", relay.session()?);
    std::fs::write(world.file("go"), "")?;
    let unasked = |event: &Value| event["type"] == "turnStarted" && event["promptIds"] == json!([]);
    relay.next_event("the turn about its end", DEADLINE, unasked).await?;
    relay.turn_end().await?;
    ensure!(states(relay.items()) == ["succeeded"], "{:?}", relay.items());
    relay.close().await
}

/// The agent ends the shell, and no turn follows.
pub async fn a_background_shell_is_stopped_by_its_id() -> Result<()> {
    let world = World::new().await?;
    let mut relay = with_shell(&world).await?;
    let session =
        relay.session_where("background work", |session| session["status"]["type"] == "background").await?;
    let task = &session["background"][0];
    ensure!(task["kind"] == "command" && task["description"] == "waits", "{task}");
    let call = relay.items().into_iter().find(|item| item["body"]["type"] == "toolCall");
    ensure!(call.is_some_and(|call| call["id"] == task["itemId"]), "{task}");
    relay.send_line(&json!({"type": "stopTask", "taskId": task["id"]})).await?;
    relay.session_where("a completed session", |session| session["status"]["type"] == "completed").await?;
    let items = relay.items();
    let states =
        items.iter().filter(|item| item["body"]["type"] == "toolCall").map(|item| &item["body"]["state"]);
    ensure!(states.eq(["interrupted"].iter()), "{items:?}");
    relay.turn("SAY asked again").await?;
    let ends = relay.items().iter().filter(|item| item["body"]["type"] == "turnEnd").count();
    ensure!(ends == 2, "{ends} turns, so one was not asked for");
    relay.close().await
}

/// The subagent waits for the test, and the turn waits for a reply that never comes.
pub async fn a_stop_leaves_a_subagent_in_the_background_running() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    let call = json!({
        "description": "dig", "subagent_type": "general-purpose", "run_in_background": true,
        "prompt": "GATE dig\nSAY dug",
    });
    relay.prompt(&format!("TOOL Agent {call}\nGATE answer\nSAY it digs")).await?;
    relay.session_where("the subagent", |session| session["nBackground"] == 1).await?;
    relay.send(&Command::Interrupt).await?;
    let turn = relay.turn_end().await?;
    ensure!(outcome(&turn)? == Outcome::Interrupted, "{turn}");
    ensure!(turn["words"] == "Interrupted · 1 background task goes on", "{turn}");
    ensure!(relay.session()?["nBackground"] == 1, "{}", relay.session()?);

    world.api.open("answer");
    world.api.open("dig");
    let unasked = |event: &Value| event["type"] == "turnStarted" && event["promptIds"] == json!([]);
    relay.next_event("the turn about its report", DEADLINE, unasked).await?;
    relay.turn_end().await?;
    ensure!(relay.session()?["nBackground"] == 0, "{}", relay.session()?);
    relay.close().await
}

/// The output is read through the server while the command writes it.
#[cfg(target_os = "linux")]
pub async fn the_output_of_a_background_shell_is_read_while_it_grows() -> Result<()> {
    let world = World::new().await?;
    let mut client = Client::start(&world).await?;
    let project = world.project.display().to_string();
    let agent = world.agent.display().to_string();
    let open = json!({"type": "open", "id": "o", "session": {"project": project, "agent": agent}});
    client.send(&open).await?;
    let opened = client.line(|line| line["id"] == "o").await?;
    let session = opened["sessionId"].clone();
    client.send(&json!({"type": "attach", "sessionId": session})).await?;
    // The CLI takes this command for one that only reads, and asks nothing.
    let command =
        "echo one; until [ -e two ]; do sleep 0.05; done; echo two; until [ -e go ]; do sleep 0.05; done";
    let call = json!({"command": command, "description": "waits", "run_in_background": true});
    let prompt = json!({"type": "prompt", "text": format!("TOOL Bash {call}\nSAY it runs")});
    client.send(&json!({"type": "command", "id": "p", "sessionId": session, "command": prompt})).await?;
    let has_output = |line: &Value| line["session"]["background"][0]["hasOutput"] == true;
    let changed = client.line(has_output).await?;
    let task = changed["session"]["background"][0]["id"].clone();
    let mut nr = 0;
    for (file, expected) in [(None, vec!["one"]), (Some("two"), vec!["one", "two"])] {
        if let Some(file) = file {
            std::fs::write(world.file(file), "")?;
        }
        eventually("the output", DEADLINE, async || {
            nr += 1;
            let question = json!({"type": "taskOutput", "taskId": task});
            client
                .send(&json!({"type": "ask", "nr": nr, "sessionId": session, "question": question}))
                .await?;
            let answer = client.line(|line| line["type"] == "answer" && line["nr"] == nr).await?;
            let lines = answer["answer"]["lines"].as_array().cloned().unwrap_or_default();
            let texts: Vec<&str> =
                lines.iter().filter_map(|line| line["tokens"][0]["text"].as_str()).collect();
            Ok((texts == expected).then_some(()))
        })
        .await?;
    }
    std::fs::write(world.file("go"), "")?;
    client.line(|line| line["session"]["nBackground"] == 0).await?;
    let question = json!({"type": "taskOutput", "taskId": task});
    client.send(&json!({"type": "ask", "nr": 0, "sessionId": session, "question": question})).await?;
    let answer = client.line(|line| line["type"] == "answer" && line["nr"] == 0).await?;
    ensure!(answer["answer"].is_null(), "it does not run any more: {answer}");
    client.send(&json!({"type": "remove", "id": "r", "sessionId": session})).await?;
    client.line(|line| line["id"] == "r").await?;
    client.end().await
}

pub async fn a_prompt_that_meets_an_unasked_turn_has_a_turn_of_its_own() -> Result<()> {
    let world = World::new().await?;
    let mut relay = with_shell(&world).await?;
    std::fs::write(world.file("go"), "")?;
    relay.prompt("SAY mine").await?;
    let mine = |event: &Value| {
        event["type"] == "turnEnded"
            && event["turn"]["promptIds"].as_array().is_some_and(|ids| ids.len() == 1)
    };
    let ended = relay.next_event("the end of the asked turn", DEADLINE, mine).await?;
    ensure!(outcome(&ended["turn"])? == Outcome::Done, "{ended}");
    ensure!(relay.answers().contains(&"mine".to_owned()), "{:?}", relay.answers());
    relay.close().await
}

/// Each command has a session of its own, in which niceness alone lowers nothing where Linux has autogroups.
#[cfg(target_os = "linux")]
pub async fn a_command_has_the_low_priority_of_its_agent() -> Result<()> {
    let world = World::new().await?;
    let groups = std::fs::read_to_string("/proc/sys/kernel/sched_autogroup_enabled");
    let mut relay = Relay::spawn(&world, &["--low-priority"])?;
    let mut wait = "nice";
    if groups.is_ok_and(|groups| groups.trim() == "1") {
        wait = "until grep -q 'nice 10$' /proc/self/autogroup; do sleep 0.05; done; nice";
    }
    let call = json!({"command": format!("{wait} > niceness"), "description": "waits"});
    relay.turn_allowing_all(&format!("TOOL Bash {call}\nSAY it has run")).await?;
    let niceness = std::fs::read_to_string(world.file("niceness"))?;
    ensure!(niceness.trim() == "10", "{niceness}");
    relay.close().await
}

/// Closing the session ends the shell with the agent.
#[cfg(target_os = "linux")]
pub async fn a_background_shell_ends_with_its_session() -> Result<()> {
    use deskbell_tests::real_cli::process::{ended, is_running};

    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    let call = json!({"command": world.long_command(), "description": "waits", "run_in_background": true});
    relay.turn_allowing_all(&format!("TOOL Bash {call}\nSAY it runs")).await?;
    let tool = world.long_command_pid(DEADLINE).await?;
    ensure!(is_running(tool));
    relay.close().await?;
    ended(tool, DEADLINE).await
}
