//! Two windows: none reaches a session of the other, and none hears of it.

use std::collections::BTreeSet;

use anyhow::{Context, Result, anyhow, ensure};
use deskbell_engine::api::SessionQuery;
use deskbell_tests::window::{Launch, SHORT, Window, eventually};
use serde_json::{Value, json};

use crate::projects::{SECOND, start_again};
use crate::stage::{PROJECT, Stage};

/// It says what the pages of projects may call.
const CONFIGURATION: &str = include_str!("../../tauri.conf.json");

/// Each query about a session, with parameters that it understands.
fn queries() -> Vec<Value> {
    let item = "1";
    vec![
        json!({ "type": "changes", "against": "commit" }),
        json!({ "type": "copy", "copy": { "type": "conversation" } }),
        json!({ "type": "editDiff", "sincePrompt": false, "path": "a.txt" }),
        json!({ "type": "edits", "sincePrompt": false }),
        json!({ "type": "export", "format": "markdown" }),
        json!({ "type": "fileDiff", "against": "prompt", "path": "a.txt" }),
        json!({ "type": "fileText", "path": "a.txt", "line": 1 }),
        json!({ "type": "files", "query": "a" }),
        json!({ "type": "find", "query": "Mine", "index": null }),
        json!({ "type": "images", "itemId": item }),
        json!({ "type": "lastAnswer" }),
        json!({ "type": "namedFiles", "paths": ["a.txt"] }),
        json!({ "type": "output", "itemId": item, "first": 0, "count": 10 }),
        json!({ "type": "patch", "against": "session", "path": null }),
        json!({ "type": "processes" }),
        json!({ "type": "promptMoments" }),
        json!({ "type": "rawLines", "after": 0 }),
        json!({ "type": "reviewOptions", "options": {} }),
        json!({ "type": "serverLog", "server": "files" }),
        json!({ "type": "storedPrompt", "itemId": item }),
        json!({ "type": "taskOutput", "taskId": "1" }),
    ]
}

/// The commands that name a session of Deskbell, with arguments that they understand.
fn about_a_session(id: &Value) -> Vec<(&'static str, Value)> {
    let show = json!({ "first": null, "count": 10, "requestId": 1 });
    let prompt = json!({ "type": "prompt", "text": "SAY Stolen.", "images": [] });
    let change = json!({ "path": "a.txt", "oldPath": null, "version": "1", "hunk": null });
    let item = "1";
    let asked = queries().into_iter().map(|query| ("ask", json!({ "sessionId": id, "query": query })));
    let commands = vec![
        ("cards_in_sight", json!({ "sessionId": id, "requestIds": ["1"] })),
        ("command", json!({ "sessionId": id, "command": prompt })),
        ("export_session", json!({ "sessionId": id, "format": "markdown" })),
        ("fork_session", json!({ "sessionId": id, "before": null })),
        ("locate_item", json!({ "sessionId": id, "itemId": item })),
        ("place_session", json!({ "sessionId": id, "inOwnWindow": true })),
        ("next_batch", json!({ "sessionId": id, "after": 0 })),
        ("open_login", json!({ "sessionId": id })),
        ("open_sender", json!({ "sessionId": id, "itemId": item })),
        ("open_terminal", json!({ "sessionId": id })),
        ("record_session", json!({ "sessionId": id })),
        ("recording_of", json!({ "sessionId": id })),
        ("remove_rule", json!({ "sessionId": id, "place": { "path": "x", "effect": "allow", "rule": "x" } })),
        ("rule_files", json!({ "sessionId": id })),
        ("saved_rules", json!({ "sessionId": id, "requestId": "1" })),
        ("remove_recording", json!({ "sessionId": id, "path": "x" })),
        ("remove_session", json!({ "sessionId": id })),
        ("restore_session", json!({ "sessionId": id, "agentSessionId": null })),
        ("retry_link", json!({ "sessionId": id })),
        ("reveal_recording", json!({ "sessionId": id, "path": "x" })),
        ("revert_change", json!({ "sessionId": id, "against": "commit", "change": change })),
        ("review_agent_trust", json!({ "sessionId": id })),
        ("show_session", json!({ "sessionId": id })),
        ("show_rows", json!({ "sessionId": id, "show": show })),
        ("start_without_asking", json!({ "sessionId": id })),
        ("stop_recording", json!({ "sessionId": id })),
        ("subscribe", json!({ "sessionId": id, "show": show, "unfolded": [] })),
        ("subscribe_second", json!({ "sessionId": id, "show": show, "unfolded": [] })),
    ];
    commands.into_iter().chain(asked).collect()
}

/// The commands that name no session of Deskbell: they concern the app, or the project of the window that calls.
const ABOUT_NO_SESSION: &[&str] = &[
    "add_worktree",
    "answer_connection",
    "change_profile",
    "check_agent",
    "check_attachment",
    "check_readiness",
    "choose_agent",
    "choose_folder",
    "clipboard_files",
    "clipboard_image",
    // Of the project of the window.
    "commit",
    "commit_state",
    "connect",
    "create_session",
    "create_session_with",
    "create_session_with_profile",
    "decide_trust",
    "end_orphans",
    "export_usage",
    "far_folders",
    "find_files",
    "follow_stored",
    "last_log_lines",
    "leave_second",
    "leave_orphans",
    // A pin or the archive, which all windows and the command line share.
    "mark_session",
    "open_board",
    "planned_session",
    // The session of another project that waits, which the shell chooses.
    "show_waiting",
    "open_far",
    // Only what a search of this window found.
    "open_found",
    "open_in_editor",
    "open_link",
    "open_recent",
    "open_settings_file",
    "open_start_page",
    // A conversation of the agent's store, looked up in the window's project.
    "open_stored",
    "open_worktree",
    "machine_agents",
    "plan_worktree",
    "quit",
    "recent_projects",
    "remove_worktree",
    "report_page_error",
    // A removal of its own project.
    "restore_rule",
    "retry_far",
    "reveal_path",
    "review_worktree",
    "search_sessions",
    // A choice for its own project.
    "set_keep_running",
    // Its own menu.
    "set_menu",
    "set_presets",
    "set_setting",
    "ssh_hosts",
    "stop_commit",
    "stop_search",
    "take_draft",
    // The notifications bring up the window that calls.
    "test_bell",
    "undo_commit",
    "undo_revert",
    "usage",
    "waiting_event",
    "worktrees",
    // Its own panels and zoom.
    "keep_panels",
    "zoom_window",
];

/// The commands that a project's window may call.
fn permitted() -> Result<BTreeSet<String>> {
    let configuration: Value = serde_json::from_str(CONFIGURATION)?;
    let capabilities = configuration["app"]["security"]["capabilities"].as_array();
    let capabilities = capabilities.context("the configuration has no capabilities")?;
    let project = capabilities.iter().find(|capability| capability["identifier"] == "project");
    let permissions = project.and_then(|capability| capability["permissions"].as_array());
    let permissions = permissions.context("a project's window has no permissions")?;
    let names = permissions.iter().filter_map(|permission| permission.as_str()?.strip_prefix("allow-"));
    Ok(names.map(|name| name.replace('-', "_")).collect())
}

/// The id of the window's only session, and the name of its events. The page itself no longer gets any.
pub async fn connect(window: &Window) -> Result<(Value, Value)> {
    let answer = window.invoke("connect", json!({})).await?;
    let answer = answer.map_err(|error| anyhow!("the connection was refused: {error}"))?;
    let session = answer.pointer("/project/sessions/0/id").context("the window has a session")?;
    Ok((session.clone(), answer["event"].clone()))
}

/// Opens a second project.
pub async fn second_window(stage: &Stage) -> Result<Window> {
    let folder = stage.desktop.project(SECOND)?;
    start_again(&stage.desktop, &Launch::demo(&folder)).await?;
    stage.app.window(SECOND).await
}

pub async fn a_window_acts_only_on_its_own_sessions() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("own", async |stage| {
            let none = json!("");
            let named: BTreeSet<String> = about_a_session(&none)
                .iter()
                .map(|(name, _)| *name)
                .chain(ABOUT_NO_SESSION.iter().copied())
                .map(str::to_owned)
                .collect();
            let asked: BTreeSet<String> =
                queries().iter().filter_map(|query| query["type"].as_str().map(str::to_owned)).collect();
            let known: BTreeSet<String> = SessionQuery::names().map(str::to_owned).collect();
            ensure!(asked == known, "these queries and the list of all differ: {asked:?}");
            ensure!(named == permitted()?, "these lists and the configuration differ: {named:?}");

            stage.window.prompt("SAY Mine alone.").await?;
            stage.window.wait_said("Mine alone.", SHORT).await?;
            stage.window.wait_idle(SHORT).await?;
            let second = second_window(stage).await?;
            let first = stage.app.window(PROJECT).await?;
            let (session, _) = connect(&first).await?;

            let unknown = json!("00000000-0000-4000-8000-000000000000");
            for ((name, arguments), (_, missing)) in
                about_a_session(&session).into_iter().zip(about_a_session(&unknown))
            {
                let answer = second.invoke(name, arguments).await?;
                // A window gets no more answer about a session of another one than about none at all.
                let of_none = second.invoke(name, missing).await?;
                ensure!(answer == of_none, "{name} knows another window's session: {answer:?}, {of_none:?}");
                if name == "next_batch" {
                    continue;
                }
                let error = answer.err().with_context(|| format!("{name} was not refused"))?;
                ensure!(error["code"] == "noSuchSession", "{name} was refused for another reason: {error}");
            }
            let show = json!({ "first": null, "count": 10, "requestId": 1 });
            let own = json!({ "sessionId": session, "show": show, "unfolded": [] });
            let own = first.invoke("subscribe", own).await?;
            ensure!(own.is_ok(), "a window sees its own session: {own:?}");

            // The page did not make these calls; it starts over.
            first.reload().await?;
            first.wait_said("Mine alone.", SHORT).await?;
            first.prompt("SAY Undisturbed.").await?;
            first.wait_said("Undisturbed.", SHORT).await?;
            first.wait_idle(SHORT).await?;
            ensure!(!first.all_text().await?.contains("Stolen."), "another window prompted this session");
            Ok(())
        })
        .await
}

/// Keeps all messages of a channel, and the batches that they announce, as text.
const LISTEN: &str = "const [event, done] = arguments;
    const { invoke, transformCallback } = window.__TAURI_INTERNALS__;
    window.heard = [];
    const hear = ({ payload }) => {
        window.heard.push(JSON.stringify(payload));
        if (payload.type === 'event' && payload.event.type === 'batchReady') take(payload.event.sessionId, 0);
    };
    const take = async (sessionId, after) => {
        try {
            const batch = await invoke('next_batch', { sessionId, after });
            if (batch === null) return;
            window.heard.push(JSON.stringify(batch));
            await take(sessionId, batch.seq);
        } catch (error) {
            window.heard.push(`not taken: ${JSON.stringify(error)}`);
        }
    };
    const handler = transformCallback(hear);
    invoke('plugin:event|listen', { event, target: { kind: 'Any' }, handler }).then(done);";

async fn wait_heard(window: &Window, text: &str) -> Result<String> {
    eventually(&format!("the channel of the window has “{text}”"), SHORT, async || {
        let heard = window.run("return window.heard.join('\\n')", Vec::new()).await?;
        let heard = heard.as_str().unwrap_or_default();
        Ok(heard.contains(text).then(|| heard.to_owned()))
    })
    .await
}

pub async fn a_window_hears_nothing_of_the_sessions_of_another() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("hears", async |stage| {
            stage.window.prompt("SAY First light.").await?;
            stage.window.wait_idle(SHORT).await?;
            let second = second_window(stage).await?;
            second.prompt("SAY Second light.").await?;
            second.wait_said("Second light.", SHORT).await?;
            second.wait_idle(SHORT).await?;
            let first = stage.app.window(PROJECT).await?;

            let (session, event) = connect(&second).await?;
            second.call(LISTEN, vec![event]).await?;
            let show = json!({ "first": null, "count": 10, "requestId": 1 });
            let own = json!({ "sessionId": session, "show": show, "unfolded": [] });
            let snapshot = second.invoke("subscribe", own).await?;
            ensure!(snapshot.is_ok(), "the window subscribes to its own session: {snapshot:?}");

            let prompt = async |text: &str| -> Result<()> {
                let command = json!({ "type": "prompt", "text": text, "images": [] });
                let sent = json!({ "sessionId": session, "command": command });
                let answer = second.invoke("command", sent).await?;
                ensure!(answer.is_ok(), "the prompt was refused: {answer:?}");
                Ok(())
            };
            prompt("SAY Before it.").await?;
            wait_heard(&second, "Before it.").await?;
            first.prompt("TOOL Bash {\"command\":\"make harbour\"}\nSAY Mine alone.").await?;
            first.click("button", "Allow once").await?;
            first.wait_said("Mine alone.", SHORT).await?;
            first.wait_idle(SHORT).await?;
            // Events keep their order: with this one, all earlier ones have been received.
            prompt("SAY After it.").await?;
            let heard = wait_heard(&second, "After it.").await?;
            ensure!(!heard.contains("not taken"), "a batch could not be taken:\n{heard}");
            ensure!(!heard.contains("Mine alone"), "a window heard another one's answer:\n{heard}");
            let (other, _) = connect(&first).await?;
            let other = other.as_str().context("the other window's session has an id")?;
            ensure!(!heard.contains(other), "a window heard of another one's session:\n{heard}");
            Ok(())
        })
        .await
}
