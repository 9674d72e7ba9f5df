//! What is configured for the agent: real MCP servers as scripts, hooks, a skill, a subagent and a memory file.

#[cfg(target_os = "linux")]
use crate::background::client::Client;
use crate::tools::SERVER;
use anyhow::{Context, Result, ensure};
use deskbell_engine::api::Command;
use deskbell_tests::real_cli::World;
use deskbell_tests::relay::{DEADLINE, Relay};
#[cfg(target_os = "linux")]
use deskbell_tests::wait::eventually;
use serde_json::{Value, json};
use std::fs;

const TOOL: &str = r#"{"name":"get_now","description":"Tells the time","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}"#;

/// A project with one server that works, one that fails, hooks, a skill, a subagent and a memory file.
fn configured(world: &World) -> Result<()> {
    let put = |name: &str, text: &str| -> Result<()> {
        let path = world.file(name);
        fs::create_dir_all(path.parent().context("a folder")?)?;
        Ok(fs::write(path, text)?)
    };
    let server = world.root().join("server.sh");
    fs::write(&server, SERVER.replace("TOOL", TOOL))?;
    let fails = "echo 'the database <b>is missing</b>' >&2; exit 3";
    let servers = json!({"clock": {"command": "sh", "args": [server]},
                         "broken": {"command": "sh", "args": ["-c", fails]}});
    put(".mcp.json", &json!({ "mcpServers": servers }).to_string())?;
    let hook = |command: &str| json!({"type": "command", "command": command, "timeout": 5});
    let hooks = json!({"PreToolUse": [{"matcher": "Bash", "hooks": [hook("echo checked")]}],
                       "Stop": [{"hooks": [hook("true")]}]});
    put(".claude/settings.json", &json!({ "hooks": hooks }).to_string())?;
    put(".claude/skills/ship/SKILL.md", "---\nname: ship\ndescription: Ships a release\n---\nShip it")?;
    put(".claude/agents/looker.md", "---\nname: looker\ndescription: Looks at things\n---\nLook")?;
    put("CLAUDE.md", "Answer briefly.")
}

fn configuration(session: &Value) -> &Value {
    &session["configuration"]
}

fn server<'a>(session: &'a Value, name: &str) -> Option<&'a Value> {
    configuration(session)["servers"].as_array()?.iter().find(|server| server["name"] == name)
}

fn has_status(session: &Value, name: &str, status: &str) -> bool {
    server(session, name).is_some_and(|server| server["status"] == status)
}

fn is_read(session: &Value) -> bool {
    let read = configuration(session);
    read["requestedAt"].is_u64() && read["pending"] == json!([])
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(|one| one["name"].as_str()).collect()
}

pub async fn all_parts_of_the_configuration_are_reported() -> Result<()> {
    let world = World::new().await?;
    configured(&world)?;
    let mut relay = Relay::spawn(&world, &["--trust"])?;
    relay.turn("SAY hello").await?;
    relay.send(&Command::ReadConfiguration).await?;
    let session = relay.session_where("the configuration", is_read).await?;
    let read = configuration(&session);
    let is_old = session["agentVersion"] == "2.1.197";
    let clock = server(&session, "clock").with_context(|| format!("no server: {read}"))?;
    ensure!(clock["status"] == "connected" && clock["transport"] == "stdio", "{clock}");
    ensure!(clock["serverInfo"] == "clock 1" && clock["tools"][0]["name"] == "get_now", "{clock}");
    ensure!(clock["tools"][0]["isReadOnly"] == true, "{clock}");
    let broken = server(&session, "broken").context("no failed server")?;
    let error = broken["error"].as_str().unwrap_or_default();
    ensure!(broken["status"] == "failed" && error.ends_with("Connection closed"), "{broken}");
    if is_old {
        // 2.1.197 does not list its hooks.
        let problems = &read["problems"];
        ensure!(problems[0]["part"] == "hooks", "{problems}");
        ensure!(problems[0]["text"] == "This version of the agent does not report its hooks.", "{problems}");
    } else {
        let hooks = read["hooks"]["hooks"].as_array().context("no hooks")?;
        let of = |event: &str| hooks.iter().find(|hook| hook["event"] == event);
        let checks = of("PreToolUse").with_context(|| format!("{hooks:?}"))?;
        ensure!(checks["matcher"] == "Bash" && checks["timeoutS"] == 5, "{checks}");
        ensure!(checks["text"].as_str().is_some_and(|text| text.contains("echo checked")), "{checks}");
        ensure!(of("Stop").is_some_and(|hook| hook["matcher"].is_null()), "{hooks:?}");
    }
    ensure!(names(&read["skills"]).contains(&"ship"), "{}", read["skills"]);
    ensure!(names(&read["subagents"]).contains(&"looker"), "{}", read["subagents"]);
    let memory = read["memory"].as_array().context("no memory files")?;
    ensure!(memory.iter().any(|file| file["path"].as_str().is_some_and(|path| path.ends_with("CLAUDE.md"))));
    ensure!(read["plugins"].is_array(), "{read}");
    relay.close().await
}

pub async fn a_server_is_turned_off_and_on_and_connected_to_again() -> Result<()> {
    let world = World::new().await?;
    configured(&world)?;
    let mut relay = Relay::spawn(&world, &["--trust"])?;
    relay.turn("SAY hello").await?;
    let change = |server: &str, enabled| Command::SetServerEnabled { server: server.to_owned(), enabled };
    relay.send(&change("clock", false)).await?;
    let refused = relay.event("commandFailed").await?;
    ensure!(refused["error"]["code"] == "badCommand", "nothing is reported yet: {refused}");
    relay.send(&Command::ReadConfiguration).await?;
    relay.session_where("the configuration", is_read).await?;
    relay.send(&change("nosuch", false)).await?;
    let refused = relay.event("commandFailed").await?;
    ensure!(refused["error"]["code"] == "badCommand", "{refused}");

    relay.send(&change("clock", false)).await?;
    relay.session_where("the server is off", |session| has_status(session, "clock", "disabled")).await?;
    relay.send(&change("clock", true)).await?;
    relay.session_where("the server is on", |session| has_status(session, "clock", "connected")).await?;
    relay.send(&Command::ReconnectServer { server: "broken".to_owned() }).await?;
    let session = relay
        .session_where("it fails again", |session| configuration(session)["failures"][0].is_object())
        .await?;
    let failure = &configuration(&session)["failures"][0];
    ensure!(failure["server"] == "broken", "{failure}");
    ensure!(failure["text"].as_str().is_some_and(|text| text.ends_with("Connection closed")), "{failure}");
    relay.send(&Command::ReconnectServer { server: "clock".to_owned() }).await?;
    let is_done = |session: &Value| {
        configuration(session)["changing"] == json!([])
            && is_read(session)
            && has_status(session, "clock", "connected")
    };
    relay.session_where("it is connected again", is_done).await?;
    relay.send(&Command::ReloadPlugins).await?;
    let is_loaded = |session: &Value| {
        configuration(session)["isReloading"] == false
            && is_read(session)
            && configuration(session)["plugins"].is_array()
    };
    let session = relay.session_where("the plugins", is_loaded).await?;
    ensure!(configuration(&session)["reloadProblem"].is_null(), "{}", configuration(&session));
    relay.close().await
}

/// The agent keeps what a failed server wrote. It is read on request, for this conversation only.
#[cfg(target_os = "linux")]
pub async fn the_error_output_of_a_failed_server_is_shown() -> Result<()> {
    let world = World::new().await?;
    configured(&world)?;
    let mut client = Client::start(&world).await?;
    let (project, agent) = (world.project.display().to_string(), world.agent.display().to_string());
    let session = json!({"project": project, "agent": agent, "trust": true});
    client.send(&json!({"type": "open", "id": "o", "session": session})).await?;
    let session = client.line(|line| line["id"] == "o").await?["sessionId"].clone();
    client.send(&json!({"type": "attach", "sessionId": session})).await?;
    let command = |id: &str, command: Value| json!({"type": "command", "id": id, "sessionId": session, "command": command});
    client.send(&command("p", json!({"type": "prompt", "text": "SAY hello"}))).await?;
    client.line(|line| line["type"] == "turnEnded").await?;
    client.send(&command("c", json!({"type": "readConfiguration"}))).await?;
    client.line(|line| is_read(&line["session"])).await?;
    let mut nr = 0;
    let mut ask = async |client: &mut Client, server: &str| -> Result<Value> {
        nr += 1;
        let question = json!({"type": "serverLog", "server": server});
        client.send(&json!({"type": "ask", "nr": nr, "sessionId": session, "question": question})).await?;
        Ok(client.line(|line| line["type"] == "answer" && line["nr"] == nr).await?["answer"].clone())
    };
    // The agent writes its log once a second.
    let log = eventually("the log of the server", DEADLINE, async || {
        let log = ask(&mut client, "broken").await?;
        Ok(log["lines"].get(0).is_some().then_some(log))
    })
    .await?;
    let said = &log["lines"][0]["tokens"][0]["text"];
    ensure!(said == "the database <b>is missing</b>" && log["isCut"] == false, "{log}");
    ensure!(ask(&mut client, "nosuch").await?.is_null(), "the agent has no such server");
    ensure!(ask(&mut client, "../broken").await?.is_null(), "the agent has no such server");
    client.end().await
}
