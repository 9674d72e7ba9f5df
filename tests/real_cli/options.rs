//! The options of a session are in force in the real CLI, and stay when it is resumed.

use anyhow::{Context, Result, ensure};
use deskbell_engine::api::{Command, Outcome, SessionOptions, SystemPrompt};
use deskbell_tests::mock_api::Request;
use deskbell_tests::real_cli::World;
use deskbell_tests::relay::{DEADLINE, Relay, outcome};
use serde_json::{Value, json};

/// Starts a relay with these options.
fn with_options(world: &World, options: &Value, arguments: &[&str]) -> Result<Relay> {
    let file = world.root().join("options.json");
    std::fs::write(&file, options.to_string()).context("writing the options")?;
    let option = format!("--options={}", file.display());
    Relay::spawn(world, &[&[option.as_str()], arguments].concat())
}

fn system_prompt(request: &Request) -> String {
    request.body["system"].to_string()
}

fn tools(request: &Request) -> Vec<&str> {
    let tools = request.body["tools"].as_array();
    tools.into_iter().flatten().filter_map(|tool| tool["name"].as_str()).collect()
}

pub async fn a_system_prompt_is_appended_or_replaces_the_agents_own() -> Result<()> {
    let world = World::new().await?;
    for replace in [false, true] {
        let prompt = json!({"systemPrompt": {"text": "Answer as Zenobia.\nBe brief.", "replace": replace}});
        let mut relay = with_options(&world, &prompt, &[])?;
        let text = format!("SAY {replace}");
        relay.turn(&text).await?;
        let system = system_prompt(&world.api.wait_for_prompt(&text, DEADLINE).await?);
        ensure!(system.contains(r"Answer as Zenobia.\nBe brief."), "{system}");
        let has_own = system.len() > 1000;
        ensure!(has_own != replace, "replace: {replace}, {} bytes", system.len());
        relay.close().await?;
    }
    Ok(())
}

pub async fn denied_tools_are_not_offered_and_allowed_ones_run_unasked() -> Result<()> {
    let world = World::new().await?;
    let options = json!({"disallowedTools": ["Edit"], "allowedTools": ["Write", "Bash(touch a,b *)"]});
    let mut relay = with_options(&world, &options, &[])?;
    let file = world.file("a.txt");
    let prompt = format!("WRITE {} unasked\nSAY written", file.display());
    relay.turn(&prompt).await?;
    ensure!(std::fs::read_to_string(&file)? == "unasked");
    let request = world.api.wait_for_prompt(&prompt, DEADLINE).await?;
    ensure!(!tools(&request).contains(&"Edit"), "{:?}", tools(&request));
    ensure!(tools(&request).contains(&"Bash"), "{:?}", tools(&request));
    // The rules of the user's own options are no missed permission request.
    ensure!(relay.session()?["missedPrompt"].is_null(), "{}", relay.session()?["missedPrompt"]);
    relay.close().await
}

pub async fn a_limit_of_turns_and_a_budget_end_the_turn_in_words() -> Result<()> {
    let world = World::new().await?;
    std::fs::write(world.file("a.txt"), "hello")?;
    let prompt = format!("READ {}\nSAY not reached", world.file("a.txt").display());
    for (options, expected, words) in [
        (
            json!({"maxTurns": 1}),
            Outcome::MaxTurns,
            "Stopped after 1 turn of the model, the limit in this session's options",
        ),
        (
            json!({"maxBudgetUsd": 0.01}),
            Outcome::BudgetExhausted,
            "The budget of $0.01 is used up: raise it in this session's options and restart the agent",
        ),
    ] {
        let mut relay = with_options(&world, &options, &[])?;
        for nr in 0.. {
            relay.prompt(&prompt).await?;
            let turn = relay.turn_end().await?;
            // The budget lasts for some turns.
            if outcome(&turn)? == Outcome::Done && nr < 40 {
                continue;
            }
            ensure!(outcome(&turn)? == expected && turn["words"] == words, "{turn}");
            break;
        }
        relay.close().await?;
    }
    Ok(())
}

pub async fn a_fallback_model_takes_over() -> Result<()> {
    let world = World::new().await?;
    let options =
        json!({"model": "claude-opus-4-5", "fallbackModels": ["claude-sonnet-4-5", "claude-haiku-4-5"]});
    let mut relay = with_options(&world, &options, &[])?;
    relay.turn("TIMES 3 FAIL 529\nSAY from the other").await?;
    let requests = world.api.messages();
    let models: Vec<&str> = requests.iter().filter_map(Request::model).collect();
    ensure!(models.first() == Some(&"claude-opus-4-5"), "{models:?}");
    ensure!(models.last() == Some(&"claude-sonnet-4-5"), "{models:?}");
    let notices = relay.notices();
    ensure!(
        notices
            .iter()
            .any(|notice| notice.ends_with("Switched to Sonnet 4.5 due to high demand for Opus 4.5")),
        "{notices:?}"
    );
    ensure!(relay.answers().iter().any(|answer| answer.contains("from the other")), "{:?}", relay.answers());
    relay.close().await
}

pub async fn a_folder_an_mcp_config_and_a_variable_reach_the_agent() -> Result<()> {
    let world = World::new().await?;
    let other = world.root().join("other");
    std::fs::create_dir(&other)?;
    std::fs::write(other.join("a.txt"), "from the other folder")?;
    let started = world.root().join("started");
    let servers = world.root().join("servers.json");
    let command = format!("touch '{}'; cat", started.display());
    let server = json!({"mcpServers": {"mine": {"command": "/bin/sh", "args": ["-c", command]}}});
    std::fs::write(&servers, server.to_string())?;
    let options = json!({
        "folders": [other],
        "mcpConfig": servers,
        "environment": [{"name": "ZENOBIA", "value": "of Palmyra"}],
        "allowedTools": ["Bash(printenv *)"],
    });
    let mut relay = with_options(&world, &options, &[])?;
    // A file outside of the project is read without a request only in an added folder.
    relay.turn(&format!("READ {}\nSAY read", other.join("a.txt").display())).await?;
    relay.turn("BASH printenv ZENOBIA\nSAY done").await?;
    let requests = world.api.messages();
    let has = |text: &str| requests.iter().any(|request| request.body["messages"].to_string().contains(text));
    ensure!(has("from the other folder"), "the file was not read");
    ensure!(has("of Palmyra"), "the variable is not set");
    ensure!(started.exists(), "the server was not started");
    relay.close().await
}

/// What a folder has is not loaded because a session names it.
pub async fn an_added_folder_brings_nothing_of_its_own() -> Result<()> {
    let world = World::new().await?;
    let other = world.root().join("other");
    let canary = world.root().join("canary");
    let hook = json!([{"hooks": [{"type": "command", "command": format!("touch '{}'", canary.display())}]}]);
    std::fs::create_dir_all(other.join(".claude/skills/zenobia"))?;
    let settings = json!({
        "hooks": {"SessionStart": hook, "UserPromptSubmit": hook, "Stop": hook},
        "permissions": {"allow": ["Write"], "defaultMode": "acceptEdits"},
    });
    std::fs::write(other.join(".claude/settings.json"), settings.to_string())?;
    std::fs::write(other.join("CLAUDE.md"), "Zenobia's instructions")?;
    std::fs::write(
        other.join(".claude/skills/zenobia/SKILL.md"),
        "---\nname: zenobia\ndescription: Zenobia's skill\n---\nx",
    )?;
    let servers = json!({"mcpServers": {"c": {"command": "touch", "args": [canary]}}});
    std::fs::write(other.join(".mcp.json"), servers.to_string())?;
    let mut relay = with_options(&world, &json!({"folders": [other]}), &[])?;
    relay.turn("SAY one").await?;
    relay.turn("SAY two").await?;
    ensure!(!canary.exists(), "something of the folder ran");
    let sent = world.api.messages().iter().map(|request| request.body.to_string()).collect::<String>();
    ensure!(!sent.contains("Zenobia's"), "instructions of the folder were sent");
    ensure!(relay.session()?["mode"] == "default", "{}", relay.session()?["mode"]);
    relay.close().await
}

/// 2.1.329 sends the recorded system prompt again, whatever a later process is started with.
pub async fn a_resumed_session_has_its_options_and_a_changed_system_prompt() -> Result<()> {
    let world = World::new().await?;
    let prompt = |text: &str| Some(SystemPrompt { text: text.to_owned(), replace: false });
    let first = json!({"systemPrompt": {"text": "Answer as Zenobia."}, "disallowedTools": ["Edit"]});
    let mut relay = with_options(&world, &first, &[])?;
    relay.turn("SAY one").await?;
    let session = relay.session()?;
    ensure!(session["options"]["systemPrompt"]["text"] == "Answer as Zenobia.", "{}", session["options"]);

    // The next process of the session starts the same.
    relay.send(&Command::Stop).await?;
    relay.session_where("a stopped agent", |session| session["alive"] == false).await?;
    relay.turn("SAY two").await?;
    let again = world.api.wait_for_prompt("SAY two", DEADLINE).await?;
    ensure!(system_prompt(&again).contains("Zenobia") && !tools(&again).contains(&"Edit"));

    // A change waits for the next start.
    let options = Box::new(SessionOptions {
        system_prompt: prompt("Answer as Odaenathus."),
        ..SessionOptions::default()
    });
    relay.send(&Command::SetOptions { options }).await?;
    relay.session_where("waiting options", |session| session["optionsWait"] == true).await?;
    relay.turn("SAY three").await?;
    let before = system_prompt(&world.api.wait_for_prompt("SAY three", DEADLINE).await?);
    ensure!(before.contains("Zenobia") && !before.contains("Odaenathus"));
    relay.send(&Command::Reload).await?;
    relay
        .session_where("the new options", |session| {
            session["optionsWait"] == false && session["alive"] == true
        })
        .await?;
    relay.turn("SAY four").await?;
    let after = world.api.wait_for_prompt("SAY four", DEADLINE).await?;
    let system = system_prompt(&after);
    ensure!(system.contains("Odaenathus") && !system.contains("Zenobia"), "{system}");
    ensure!(tools(&after).contains(&"Edit"), "{:?}", tools(&after));
    relay.close().await
}

pub async fn an_argument_that_this_version_does_not_know_is_named() -> Result<()> {
    let world = World::new().await?;
    let mut relay = with_options(&world, &json!({"arguments": ["--autocompact=200000"]}), &[])?;
    relay.prompt("SAY hello").await?;
    let ends = |event: &Value| event["type"] == "commandFailed" || event["type"] == "turnEnded";
    let event = relay.next_event("a refusal or the end of the turn", DEADLINE, ends).await?;
    if event["type"] == "commandFailed" {
        let message = event["error"]["message"].as_str().unwrap_or_default();
        ensure!(message.contains("does not know the argument --autocompact"), "{event}");
        relay.session_where("a failed session", |session| session["status"]["type"] == "failed").await?;
    } else {
        ensure!(outcome(&event["turn"])? == Outcome::Done, "{event}");
    }
    relay.close().await
}
