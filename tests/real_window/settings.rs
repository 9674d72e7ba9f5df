//! Each setting has its effect in a window, and a new one needs a test of its effect.

use std::collections::BTreeSet;
use std::process::Stdio;

use anyhow::{Context, Result, anyhow, ensure};
use deskbell_engine::settings::SettingsFile;
use deskbell_tests::window::{
    AgentStub, LONG, Notification, Process, SHORT, Window, app_program, eventually,
};
use serde_json::json;

use crate::stage::Stage;

/// The settings whose effect is seen in this file.
const HERE: &[&str] = &[
    "theme",
    "accent",
    "zoom",
    "density",
    "fonts.interface",
    "fonts.code",
    "fonts.size",
    "fonts.codeSize",
    "agent.model",
    "agent.mode",
    "agent.effort",
    "agent.priority",
];

/// The tests that show the effect of the others: a test, its source, and the settings.
const ELSEWHERE: &[(&str, &str, &[&str])] = &[
    (
        "the_bell_does_what_the_settings_file_says",
        include_str!("notifications.rs"),
        &["bell.finished.on", "bell.finished.sound", "bell.finished.urgency", "bell.finished.command"],
    ),
    (
        "many_that_wait_share_one_notification",
        include_str!("bell.rs"),
        &["bell.foldAbove", "bell.needsYou.urgency"],
    ),
    ("an_answer_to_remember_is_the_setting_and_is_not_asked_again", include_str!("ending.rs"), &["closing"]),
    ("the_tray_brings_up_the_session_that_waits", include_str!("tray.rs"), &["tray"]),
    (
        "a_start_at_login_opens_no_window_and_follows_the_setting",
        include_str!("start_page.rs"),
        &["autostart"],
    ),
    (
        "the_computer_stays_awake_while_an_agent_works_and_not_while_it_waits",
        include_str!("awake.rs"),
        &["keepAwake"],
    ),
    (
        "a_killed_app_finds_the_turn_that_kept_running",
        include_str!("survival.rs"),
        &["keepRunning", "asking"],
    ),
    ("a_link_opens_outside_and_only_what_may", include_str!("links.rs"), &["editor"]),
    ("a_key_is_changed_by_keyboard_and_stays_after_a_restart", include_str!("typing.rs"), &["keys"]),
    ("no_secret_of_a_window_is_in_the_log_or_the_diagnostics", include_str!("secrets.rs"), &["log"]),
    (
        "two_accounts_are_added_chosen_and_have_their_own_environment_and_conversations",
        include_str!("profiles.rs"),
        &["agent.profiles"],
    ),
    (
        "the_terminal_of_the_settings_opens_with_the_login_of_another_agent",
        include_str!("other_agents.rs"),
        &["terminal"],
    ),
    (
        "titles_are_generated_if_wanted_once_and_never_in_place_of_the_users",
        include_str!("sessions.rs"),
        &["agent.generateTitles"],
    ),
];

/// Settings without a test in a window, each with the reason and the tests that it has.
const NOT_HERE: &[(&str, &str)] = &[
    ("dates", "the texts are the page's: ui/src/lib/text/language.test.ts"),
    ("agent.program", "tests of the window choose the program by the environment: the engine's locate tests"),
    (
        "agent.presets",
        "tests/real_window/options.rs uses options, ui PresetList.test.ts and the registry presets",
    ),
    ("agent.hibernateMinutes", "its unit is a minute: tests/real_cli/hibernation.rs with a shorter time"),
    // The three kinds share one type and one way through the code; each is seen once above.
    ("bell.failed.on", "as bell.finished.on"),
    ("bell.failed.sound", "as bell.finished.sound"),
    ("bell.failed.urgency", "as bell.needsYou.urgency"),
    ("bell.failed.command", "as bell.finished.command"),
    ("bell.needsYou.on", "as bell.finished.on"),
    ("bell.needsYou.sound", "as bell.finished.sound"),
    ("bell.needsYou.command", "as bell.finished.command"),
];

/// Every setting of the schema is named once, with a test that exists.
fn all_are_named() -> Result<()> {
    let mut named = BTreeSet::new();
    let elsewhere = ELSEWHERE.iter().flat_map(|(_, _, keys)| keys.iter());
    for key in HERE.iter().chain(elsewhere).chain(NOT_HERE.iter().map(|(key, _)| key)) {
        ensure!(named.insert((*key).to_owned()), "“{key}” is named twice");
    }
    let known: BTreeSet<String> = SettingsFile::keys().iter().map(|known| known.key.clone()).collect();
    let missing: Vec<_> = known.difference(&named).collect();
    ensure!(missing.is_empty(), "no test shows the effect of {missing:?}");
    let gone: Vec<_> = named.difference(&known).collect();
    ensure!(gone.is_empty(), "no setting: {gone:?}");
    for (test, source, _) in ELSEWHERE {
        ensure!(source.contains(&format!("pub async fn {test}()")), "the test {test} is gone");
    }
    Ok(())
}

/// Changes a setting in the file, as an editor does: by another process.
fn set(stage: &Stage, key: &str, value: &str) -> Result<()> {
    let output = stage.desktop.app_command(app_program()).args(["settings", "set", key, value]).output()?;
    ensure!(output.status.success(), "{key}: {output:?}");
    Ok(())
}

async fn number(window: &Window, script: &str) -> Result<f64> {
    window.run(script, Vec::new()).await?.as_f64().with_context(|| format!("no number: {script}"))
}

/// Changes a setting and waits until the page shows it.
async fn shows(stage: &Stage, (key, value): (&str, &str), script: &str, wanted: &str) -> Result<()> {
    let seen = async || {
        let seen = stage.window.run(script, Vec::new()).await?;
        anyhow::Ok(seen.as_str().map_or_else(|| seen.to_string(), str::to_owned))
    };
    let before: String = seen().await?;
    ensure!(before != wanted, "{key}: the page shows {wanted} before the change");
    set(stage, key, value)?;
    let mut last = before;
    let reached = eventually("the page follows the setting", SHORT, async || {
        last = seen().await?;
        Ok((last == wanted).then_some(()))
    });
    reached.await.with_context(|| format!("{key}: the page shows {last}, not {wanted}"))
}

pub async fn each_setting_of_the_looks_is_seen_at_once() -> Result<()> {
    all_are_named()?;
    let stage = Stage::demo().await?;
    stage
        .play("settings-looks", async |stage| {
            stage.window.prompt("SAY Some `code` in a text.").await?;
            stage.window.wait_said("in a text.", SHORT).await?;
            stage.window.wait_idle(SHORT).await?;
            set(stage, "theme", "\"light\"")?;
            let ground = "return getComputedStyle(document.body).backgroundColor;";
            shows(stage, ("theme", "\"dark\""), ground, "rgb(23, 22, 20)").await?;
            let ring = "const box = document.createElement('i');
                box.style.color = 'var(--accent)'; document.body.append(box);
                const colour = getComputedStyle(box).color; box.remove(); return colour;";
            shows(stage, ("accent", "\"blue\""), ring, "rgb(143, 191, 238)").await?;
            stage.window.drawn().await?;
            stage.window.screenshot("settings-dark-blue").await?;
            shows(stage, ("theme", "\"light\""), ground, "rgb(251, 250, 248)").await?;
            shows(stage, ("accent", "\"green\""), ring, "rgb(38, 102, 59)").await?;

            let said = "[...document.querySelectorAll('[role=log] p')].find((one) => one.textContent.startsWith('Some'))";
            let style = |of: &str, name: &str| format!("return getComputedStyle({of}).{name};");
            shows(stage, ("fonts.size", "20"), &style(said, "fontSize"), "20px").await?;
            let code = format!("{said}.querySelector('code')");
            shows(stage, ("fonts.codeSize", "100"), &style(&code, "fontSize"), "20px").await?;
            let first = |of: &str| format!("return getComputedStyle({of}).fontFamily.split(',')[0];");
            shows(stage, ("fonts.interface", "\"serif\""), &first("document.body"), "serif").await?;
            shows(stage, ("fonts.code", "\"fantasy\""), &first(&code), "fantasy").await?;

            let height = "return document.querySelector('main header, header').getBoundingClientRect().height;";
            let roomy = number(&stage.window, height).await?;
            set(stage, "density", "\"compact\"")?;
            eventually("the window is denser", SHORT, async || {
                Ok((number(&stage.window, height).await? < roomy).then_some(()))
            })
            .await?;
            let width = "return innerWidth;";
            let usual = number(&stage.window, width).await?;
            set(stage, "zoom", "150")?;
            eventually("the window is larger", SHORT, async || {
                Ok(((number(&stage.window, width).await? * 1.5 - usual).abs() < 3.0).then_some(()))
            })
            .await
        })
        .await
}

pub async fn the_settings_page_changes_at_once_and_returns_to_the_draft() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("settings-page", async |stage| {
            let window = &stage.window;
            window.type_into("Prompt", "half a thought").await?;
            window.key("ctrl+comma").await?;
            window.find("dialog", "Settings").await?;
            let holds = async |key: &str, wanted: &str| {
                eventually("the file follows the page", SHORT, async || {
                    Ok((setting(stage, key)? == wanted).then_some(()))
                })
                .await
                .with_context(|| format!("{key} is not {wanted}"))
            };
            window.click("radio", "Dark").await?;
            holds("theme", "\"dark\"").await?;
            window.click("switch", "Notify: Fails").await?;
            holds("bell.failed.on", "false").await?;
            window.click("button", "Send a test").await?;
            window.wait_shows("The desktop accepted “Needs you”, “Finishes”.", SHORT).await?;
            let is_test = |seen: &Notification| seen.summary == "Test of Deskbell";
            let sent = stage.notifications.all().iter().filter(|seen| is_test(seen)).count();
            ensure!(sent == 2, "{sent} tests were sent");
            window.drawn().await?;
            window.screenshot("settings-page").await?;
            // The last change is undone by its key, the one before by its button.
            window.key("ctrl+z").await?;
            holds("bell.failed.on", "true").await?;
            window.click("button", "Reset to follow the system: Theme").await?;
            holds("theme", "\"system\"").await?;
            window.key("Escape").await?;
            window.gone("dialog", "Settings").await?;
            window.wait_focus("Prompt").await?;
            ensure!(window.value("Prompt").await? == "half a thought", "the draft was lost");
            Ok(())
        })
        .await
}

pub async fn new_sessions_begin_as_the_settings_say() -> Result<()> {
    let stage = Stage::claude(|_| Ok(())).await?;
    stage
        .play("settings-agent", async |stage| {
            for (key, value) in
                [("agent.model", "\"haiku\""), ("agent.effort", "\"low\""), ("agent.mode", "\"plan\"")]
            {
                set(stage, key, value)?;
            }
            stage.window.click("button", "Open restricted").await?;
            stage.new_session(LONG).await?;
            stage.window.prompt("SAY Begun.").await?;
            stage.window.wait_said("Begun.", LONG).await?;
            let arguments = AgentStub::arguments(&stage.desktop);
            for wanted in ["--model=haiku", "--permission-mode=plan"] {
                let is_given = arguments.lines().any(|line| line == wanted);
                ensure!(is_given, "the agent was not started with “{wanted}”:\n{arguments}");
            }
            ensure!(less_than_the_app(stage)? == [10], "an agent has a lower priority than the window");
            set(stage, "agent.priority", "\"normal\"")?;
            // The page shows a later setting, so the app has read this one.
            let size = "return getComputedStyle(document.querySelector('[role=log] p')).fontSize;";
            shows(stage, ("fonts.size", "20"), size, "20px").await?;
            stage.new_session(LONG).await?;
            stage.window.prompt("SAY Begun again.").await?;
            stage.window.wait_said("Begun again.", LONG).await?;
            ensure!(less_than_the_app(stage)? == [0, 10], "the next one has that of the window");
            // The effort is a request to the agent that runs, and the session shows what the agent reports of it. After this
            // connection the page hears nothing.
            eventually("the session has the effort", SHORT, async || {
                let view = stage.window.invoke("connect", json!({})).await?;
                let view = view.map_err(|error| anyhow!("the connection was refused: {error}"))?;
                Ok((view["project"]["sessions"][0]["effort"] == "low").then_some(()))
            })
            .await
        })
        .await
}

/// By how much the niceness of each agent is above that of the app, in order.
fn less_than_the_app(stage: &Stage) -> Result<Vec<i32>> {
    let processes = stage.desktop.app_processes();
    let is_agent = |process: &&Process| process.command_line.contains("--permission-prompt-tool");
    let is_first = |process: &&Process| !processes.iter().any(|other| other.pid == process.parent);
    let app = processes.iter().find(is_first).context("the app runs")?.niceness()?;
    let mut above = Vec::new();
    for agent in processes.iter().filter(is_agent) {
        above.push(agent.niceness()? - app);
    }
    above.sort_unstable();
    Ok(above)
}

/// The value of a setting in the file.
fn setting(stage: &Stage, key: &str) -> Result<String> {
    let mut command = stage.desktop.app_command(app_program());
    let output = command.args(["settings", "get", key]).stdout(Stdio::piped()).output()?;
    ensure!(output.status.success(), "{key}: {output:?}");
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// The page calls its own command, as a foreign script would, and the dialog decides.
pub async fn a_program_is_changed_only_by_the_dialog() -> Result<()> {
    const TITLE: &str = "Change what Deskbell starts?";
    let stage = Stage::demo().await?;
    stage
        .play("settings-programs", async |stage| {
            let window = &stage.window;
            let dialogs = stage.dialogs().await?;
            // Changes from outside the page need no confirmation.
            set(stage, "editor", "{\"program\": \"harbour-editor\"}")?;
            let editor = setting(stage, "editor")?;
            // A long value does not make the dialog wider than a small screen.
            let long = "wreck".repeat(60);
            let now = "Now: harbour-editor".to_owned();
            let new = format!("New: /tmp/wreck \"{{file}}\" {long}");
            let wanted =
                json!({"key": "editor", "value": {"program": "/tmp/wreck", "args": ["{file}", &long]}});
            for (button, is_changed) in [("Cancel", false), ("Change", true)] {
                let (asked, answered) = tokio::join!(window.invoke("set_setting", wanted.clone()), async {
                    let dialog = dialogs.with(TITLE).await?;
                    let text = dialog.text().await;
                    for value in ["Editor", &now, &new] {
                        ensure!(text.contains(value), "no “{value}” in the dialog:\n{text}");
                    }
                    ensure!(!dialog.armed("Change").await?, "the dialog is armed as it appears");
                    let width = dialog.extents().await?.width;
                    ensure!(width < 800, "the dialog is {width} px wide");
                    ensure!(setting(stage, "editor")? == editor, "the setting changed before the answer");
                    stage.desktop.screenshot("settings-program-dialog").await?;
                    dialog.press(button).await?;
                    dialog.gone().await
                });
                answered?;
                ensure!(asked?.is_ok() == is_changed, "“{button}” gave the wrong answer");
                let now = setting(stage, "editor")?;
                ensure!((now != editor) == is_changed, "after “{button}” the editor is {now}");
            }
            // A session's options also name programs.
            let session = window.invoke("create_session", json!({"agent": "demo", "withoutAsking": false}));
            let session = session.await?.map_err(|error| anyhow!("no session: {error}"))?;
            let options = json!({"environment": [{"name": "HARBOUR", "value": "wreck"}]});
            let command = json!({"type": "setOptions", "options": options});
            let command = json!({"sessionId": session["id"], "command": command});
            let (asked, answered) = tokio::join!(window.invoke("command", command), async {
                let dialog = dialogs.with(TITLE).await?;
                let text = dialog.text().await;
                ensure!(text.contains("New: HARBOUR=wreck"), "the variable is not named:\n{text}");
                dialog.press("Cancel").await
            });
            answered?;
            ensure!(asked?.is_err(), "the options changed without a yes");
            // Other settings need no dialog.
            let theme = window.invoke("set_setting", json!({"key": "theme", "value": "dark"})).await?;
            theme.map_err(|error| anyhow!("the theme was not changed: {error}"))?;
            dialogs.none().await
        })
        .await
}
