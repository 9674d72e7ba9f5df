//! The app's own log: nothing of a conversation and no secret is in it, at the most talkative level.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::pin::pin;

use anyhow::{Context, Result, ensure};
use deskbell_tests::window::{Desktop, LONG, Launch, Manners, Notification, Owned, SHORT, eventually};
use serde_json::{Value, json};

use crate::stage::{PROJECT, Stage};

/// Number of secrets.
const N: usize = 44;

/// The secret of this number: a key, a token, or words that no rule of the redaction knows.
fn secret(nr: usize) -> String {
    match nr % 4 {
        0 => format!("sk-ant-api03-planted{nr:02}planted"),
        1 => format!("ghp_planted{nr:02}plantedplanted"),
        _ => format!("planted{nr:02}words"),
    }
}

/// Numbers of the secrets that are in the text.
fn found(text: &str) -> Vec<usize> {
    (0..N).filter(|nr| text.contains(&format!("planted{nr:02}"))).collect()
}

/// Commands of the page with a secret in each value that a user or an agent chooses. Many are refused, and the refusal
/// repeats what was wrong.
fn calls(session: &Value) -> Vec<(&'static str, Value)> {
    let command = |command: Value| ("command", json!({ "sessionId": session, "command": command }));
    let ask = |query: Value| ("ask", json!({ "sessionId": session, "query": query }));
    let bell = json!({ "program": "/no/such/planted", "args": [secret(16)] });
    let profile = json!([{ "name": "Work", "environment": [{ "name": "TOKEN", "value": secret(17) }] }]);
    let options = json!({ "environment": [{ "name": "TOKEN", "value": secret(18) }],
        "mcpConfig": json!({ "mcpServers": { "t": { "type": "http", "url": "https://192.0.2.1/",
            "headers": { "Authorization": format!("Bearer {}", secret(19)) } } } }).to_string(),
        "arguments": [format!("--system-prompt={}", secret(20))] });
    vec![
        command(json!({ "type": "rename", "title": secret(12) })),
        command(json!({ "type": secret(13) })),
        command(json!({ "type": "editQueued", "promptId": secret(14), "text": secret(14) })),
        command(json!({ "type": "decide", "requestId": secret(15), "shown": null,
            "decision": { "type": "deny", "message": secret(15) } })),
        ("set_setting", json!({ "key": "bell.failed.command", "value": bell })),
        ("set_setting", json!({ "key": "agent.profiles", "value": profile })),
        ("set_setting", json!({ "key": secret(21), "value": secret(21) })),
        ("set_setting", json!({ "key": "theme", "value": secret(22) })),
        (
            "set_setting",
            json!({ "key": "editor", "value": { "program": "/bin/false", "args": [secret(23)] } }),
        ),
        ask(json!({ "type": "reviewOptions", "options": options })),
        ("open_link", json!({ "url": format!("ftp://joe:{}@192.0.2.1/", secret(24)) })),
        ("reveal_path", json!({ "path": format!("/tmp/{}", secret(25)) })),
        ("open_in_editor", json!({ "path": secret(26), "line": 1 })),
        ("open_in_editor", json!({ "path": "notes.txt", "line": 1 })),
        ("find_files", json!({ "query": secret(27) })),
        ask(json!({ "type": "namedFiles", "paths": [secret(42)] })),
        ask(json!({ "type": "fileText", "path": secret(43), "line": 1 })),
        ask(json!({ "type": "find", "query": secret(28), "index": null })),
        (
            "search_sessions",
            json!({ "nr": 1, "query": secret(29), "all": true, "toTheEnd": false, "utcOffsetMinutes": 0 }),
        ),
        ("check_attachment", json!({ "name": secret(30), "data": secret(30) })),
        ("open_stored", json!({ "agentSessionId": secret(31) })),
        ("show_rows", json!({ "sessionId": secret(32), "viewport": { "first": 0, "last": 9 } })),
        ("create_session_with_profile", json!({ "profile": secret(33) })),
        ("plan_worktree", json!({ "branch": secret(34) })),
        ask(json!({ "type": "fileDiff", "path": secret(35), "against": { "type": "head" } })),
    ]
}

pub async fn no_secret_of_a_window_is_in_the_log_or_the_diagnostics() -> Result<()> {
    let desktop = Desktop::start().await?;
    let folder = desktop.project(PROJECT)?;
    fs::write(folder.join("notes.txt"), secret(36))?;
    // A command of the bell that fails, and repeats what it was given.
    let ring = desktop.scratch().join("ring");
    fs::write(&ring, "#!/bin/sh\necho \"$DESKBELL_TEXT $DESKBELL_TITLE\" >&2\nexit 3\n")?;
    fs::set_permissions(&ring, fs::Permissions::from_mode(0o755))?;
    let config = desktop.home().join(".config/deskbell");
    fs::create_dir_all(&config)?;
    let command = json!({ "program": ring, "args": [secret(37)] });
    // The level is a setting.
    let settings = json!({ "log": "trace", "bell": { "finished": { "command": command } } });
    fs::write(config.join("settings.json"), settings.to_string())?;
    let launch = Launch::demo(&folder).env("ANTHROPIC_API_KEY", secret(0)).env("PLANTED", secret(2));
    let stage = Stage::on(desktop, folder, Manners::Polite, launch).await?;
    stage
        .play("secrets", async |stage| {
            let window = &stage.window;
            let script = [
                format!("SAY {}", secret(1)),
                format!("THINK {} | {}", secret(3), secret(3)),
                "ENV PLANTED".to_owned(),
                "ENV ANTHROPIC_API_KEY".to_owned(),
                format!("STDERR ANTHROPIC_API_KEY={}", secret(4)),
                format!("STDERR {}", secret(5)),
                format!("GARBAGE {}", secret(6)),
                format!("TOOL Bash {}", json!({ "command": secret(7), "description": secret(38) })),
                format!("SAY Said {}.", secret(8)),
            ];
            window.paste_prompt(&script.join("\n")).await?;
            window.point_at("button", "Allow once").await?;
            window.wait_said(&secret(8), SHORT).await?;
            window.wait_idle(SHORT).await?;
            let hello = window.invoke("connect", json!({})).await?;
            let hello = hello.map_err(|error| anyhow::anyhow!("the connection was refused: {error}"))?;
            let session = hello.pointer("/project/sessions/0/id").context("there is a session")?.clone();
            let mut seen = found(&window.all_text().await?).len();
            let mut answers = String::new();
            for (name, arguments) in calls(&session) {
                // Refused or not: what is logged of it counts.
                let mut call = pin!(window.invoke(name, arguments));
                let answer = tokio::select! {
                    answer = &mut call => answer?,
                    // A program is logged only after it was confirmed.
                    confirmed = stage.confirm_programs(), if name == "set_setting" => {
                        confirmed?;
                        call.await?
                    }
                };
                answers += &format!("{answer:?}\n");
            }
            seen += found(&answers).len();
            ensure!(seen >= 10, "only {seen} secrets reached the page: {answers}");

            // Out of sight: notifications and the bell's commands have texts too.
            let _elsewhere = stage.prompt_out_of_sight(&format!("SAY Heard {}.", secret(9))).await?;
            let rings = async |nr: usize| {
                let has_it = |seen: &Notification| seen.body.contains(&secret(nr));
                stage.notifications.wait_for(has_it, LONG).await.map(drop)
            };
            rings(9).await?;
            let prompt = async |text: String| {
                let prompt = json!({ "type": "prompt", "text": text, "images": [] });
                let sent =
                    window.invoke("command", json!({ "sessionId": session, "command": prompt })).await?;
                sent.map(drop).map_err(|error| anyhow::anyhow!("the prompt was refused: {error}"))
            };
            prompt(format!("FAIL 529 {}", secret(10))).await?;
            rings(10).await?;
            prompt(format!("STDERR {}\nSAY {}\nCRASH 3", secret(11), secret(39))).await?;
            let link = format!("deskbell://open?folder=/tmp/{}&session={}", secret(40), secret(41));
            let mut second = stage.launch().again().argument(link).command(&stage.desktop);
            let second = Owned::start("deskbell", &mut second)?;
            // The refusal is in a window of its own, which ends with the start.
            stage.pointer.window("Deskbell could not").await?;

            let log = stage.desktop.home().join(".local/share/deskbell/log");
            let logged = || -> Result<String> {
                let mut text = String::new();
                for file in fs::read_dir(&log)? {
                    text += &fs::read_to_string(file?.path())?;
                }
                Ok(text)
            };
            // Each of these ends in the log, so that its lines are there to be searched.
            for line in ["a command of the user failed", "agent ended unexpectedly", "line read"] {
                eventually(&format!("the log has “{line}”"), LONG, async || {
                    Ok(logged()?.contains(line).then_some(()))
                })
                .await?;
            }
            drop(second);
            let text = logged()?;
            ensure!(found(&text).is_empty(), "in the log: {:?}\n{text}", found(&text));
            // What *Copy diagnostics* copies.
            for name in ["check_agent", "last_log_lines"] {
                let report = format!("{:?}", window.invoke(name, json!({})).await?);
                ensure!(found(&report).is_empty(), "in {name}: {:?}\n{report}", found(&report));
            }
            let said = stage.app.log();
            ensure!(found(&said).is_empty(), "on stderr: {:?}\n{said}", found(&said));
            Ok(())
        })
        .await
}
