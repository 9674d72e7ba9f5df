//! The start page: started without a folder, a project is opened by keyboard, by mouse, by a second start and by drop.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use deskbell_tests::window::{
    AgentStub, App, Desktop, LONG, Launch, Owned, Pointer, SHORT, Window, app_program, drop_on, eventually,
};
use serde_json::json;

use crate::projects::start_again;

const TITLE: &str = "Open a project";

/// The app on its start page.
struct Start {
    app: App,
    page: Window,
    pointer: Pointer,
    desktop: Desktop,
    /// `lighthouse` and `windmill`, which are in the list; `windmill` was used last.
    folders: [PathBuf; 2],
}

/// A start from a launcher: without a folder.
fn launcher(desktop: &Desktop) -> Result<Launch> {
    let launch = Launch::folder(Path::new("--open")).agent(&AgentStub::telling(desktop)?);
    Ok(launch.env("CLAUDE_CONFIG_DIR", desktop.home().join(".claude")))
}

impl Start {
    async fn new() -> Result<Self> {
        let desktop = Desktop::start().await?;
        let folders = [desktop.project("lighthouse")?, desktop.project("windmill")?];
        let entry =
            |at: usize| json!({ "path": folders[at], "lastUsedAt": 1_700_000_000_000_u64 + at as u64 });
        let gone = json!({ "path": desktop.scratch().join("sunken"), "lastUsedAt": 1, "pinned": true });
        let list = json!({ "projects": [entry(0), gone, entry(1)] });
        let data = desktop.home().join(".local/share/deskbell");
        std::fs::create_dir_all(&data)?;
        std::fs::write(data.join("projects.json"), list.to_string())?;
        let app = App::start(&desktop, &launcher(&desktop)?).await?;
        let page = app.window(TITLE).await?;
        page.find("textbox", "Filter projects").await?;
        let pointer = Pointer::on(&desktop);
        Ok(Self { app, page, pointer, desktop, folders })
    }

    async fn play(mut self, name: &str, test: impl AsyncFnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let Err(error) = test(&mut self).await else { return Ok(()) };
        let picture = self.desktop.screenshot(&format!("failed-{name}")).await?;
        Err(error.context(format!("picture: {}; the app wrote:\n{}", picture.display(), self.app.log())))
    }

    /// Waits for the window of a project, which takes the place of the start page.
    async fn opened(&self, name: &str) -> Result<Window> {
        eventually("the start page is closed", SHORT, async || {
            Ok(self.pointer.windows(TITLE).await?.is_empty().then_some(()))
        })
        .await?;
        let window = self.app.window(name).await?;
        window.wait_shows(name, SHORT).await?;
        Ok(window)
    }

    /// Clicks the row of a project, with the real pointer: the driver would wait for a page that closes.
    async fn click_row(&self, project: &str) -> Result<()> {
        let names = self.page.names("button").await?;
        let row = names.into_iter().find(|name| name.starts_with(project));
        self.page.point_at("button", &row.with_context(|| format!("{project} is not listed"))?).await
    }

    /// The list of projects, as the command prints it.
    fn listed(&self) -> Result<String> {
        let mut command = self.desktop.app_command(app_program());
        let output = command.arg("projects").stdout(Stdio::piped()).output()?;
        ensure!(output.status.success(), "{output:?}");
        Ok(String::from_utf8(output.stdout)?)
    }
}

pub async fn a_recent_project_is_opened_by_keyboard() -> Result<()> {
    let start = Start::new().await?;
    start
        .play("start-keyboard", async |start| {
            start.page.wait_shows("Missing", SHORT).await?;
            start.page.screenshot("start-page").await?;
            start.pointer.activate(start.page.frame()).await?;
            start.page.wait_focus("Filter projects").await?;
            start.pointer.type_text("light").await?;
            start.pointer.key("Return").await?;
            let window = start.opened("lighthouse").await?;
            // The folder is subject to the trust page, like any other.
            eventually("the user is asked about the folder", SHORT, async || {
                let names = window.names("button").await?;
                Ok(names.iter().any(|name| name.contains("estrict")).then_some(()))
            })
            .await?;
            let listed = start.listed()?;
            let first = listed.lines().nth(1).context("the pinned project is first")?;
            ensure!(first.contains("lighthouse"), "it is the most recent one now:\n{listed}");
            ensure!(listed.lines().next().is_some_and(|line| line.contains(r#""missing":true"#)), "{listed}");

            // Another window is opened from this one, by key; the chooser is the system's own.
            start.pointer.activate(window.frame()).await?;
            start.pointer.key("ctrl+o").await?;
            let chooser = start.pointer.window("Open folder").await?;
            start.pointer.activate(chooser).await?;
            start.pointer.type_text(&start.folders[1].to_string_lossy()).await?;
            start.pointer.key("Return").await?;
            start.app.window("windmill").await?;
            eventually("the chooser is closed", SHORT, async || {
                Ok(start.pointer.windows("Open folder").await?.is_empty().then_some(()))
            })
            .await
        })
        .await
}

pub async fn a_moved_folder_is_found_again_with_its_sessions_and_asked_about() -> Result<()> {
    const ID: &str = "00000000-0000-4000-8000-000000000001";
    let start = Start::new().await?;
    start
        .play("start-moved", async |start| {
            let old = start.desktop.scratch().join("sunken");
            let new = start.desktop.project("raised")?;
            let name = old.to_string_lossy().replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
            let store = start.desktop.home().join(".claude/projects").join(name);
            std::fs::create_dir_all(&store)?;
            let text = include_str!("../fixtures/stored/completed.jsonl");
            let cwd = |folder: &str| format!("\"cwd\":{}", json!(folder));
            let text = text.replace(&cwd("/project"), &cwd(&old.to_string_lossy()));
            std::fs::write(store.join(format!("{ID}.jsonl")), text)?;

            start.page.find("button", "Where is sunken now?").await?;
            start.page.point_at("button", "Where is sunken now?").await?;
            let chooser = start.pointer.window("Where is the folder now?").await?;
            start.pointer.activate(chooser).await?;
            start.pointer.type_text(&new.to_string_lossy()).await?;
            start.pointer.key("Return").await?;
            let window = start.opened("raised").await?;
            // It is a new folder for trust.
            window.wait_shows("Trust this folder", SHORT).await?;
            let listed = start.listed()?;
            ensure!(!listed.contains("sunken") && listed.contains("raised"), "{listed}");
            ensure!(listed.contains(r#""pinned":true"#), "what was chosen for it goes along: {listed}");
            let mut command = start.desktop.app_command(app_program());
            let command = command.args(["sessions", "list"]).arg(&new).stdout(Stdio::piped());
            let sessions = String::from_utf8(command.output()?.stdout)?;
            ensure!(sessions.contains(ID), "{sessions}");
            window.click("button", "Trust this folder").await?;
            window.wait_shows("Round half to even in totals", SHORT).await.map(drop)
        })
        .await
}

pub async fn a_project_is_opened_and_removed_by_mouse() -> Result<()> {
    let start = Start::new().await?;
    start
        .play("start-mouse", async |start| {
            let page = &start.page;
            // A folder that is gone is named, and nothing opens.
            start.click_row("sunken").await?;
            page.wait_shows("sunken does not exist", SHORT).await?;
            page.point_at("button", "Remove sunken from the list").await?;
            page.gone("button", "Remove sunken from the list").await?;
            page.click("button", "Pin lighthouse").await?;
            page.find("button", "Unpin lighthouse").await?;
            let listed = start.listed()?;
            ensure!(!listed.contains("sunken") && listed.contains(r#""pinned":true"#), "{listed}");

            // The chooser opens and is cancelled: nothing happens.
            page.click("button", "Open folder…").await?;
            let chooser = start.pointer.window("Open folder").await?;
            start.pointer.activate(chooser).await?;
            start.pointer.key("Escape").await?;
            eventually("the chooser is closed", SHORT, async || {
                Ok(start.pointer.windows("Open folder").await?.is_empty().then_some(()))
            })
            .await?;
            ensure!(page.all_text().await?.contains("windmill"), "the page is still there");

            start.click_row("windmill").await?;
            start.opened("windmill").await?;
            Ok(())
        })
        .await
}

/// Clicks that a new user may need between the start and a streamed answer.
const MOST_CLICKS: usize = 3;

pub async fn the_first_start_needs_three_clicks_and_a_prompt() -> Result<()> {
    let desktop = Desktop::start().await?;
    let folder = desktop.project("lighthouse")?;
    let app = App::start(&desktop, &launcher(&desktop)?).await?;
    let page = app.window(TITLE).await?;
    let pointer = Pointer::on(&desktop);
    let mut clicks = Vec::new();
    let mut click = async |window: &Window, name: &'static str| {
        window.find("button", name).await?;
        clicks.push(name);
        window.point_at("button", name).await
    };
    click(&page, "Open folder…").await?;
    let chooser = pointer.window("Open folder").await?;
    pointer.activate(chooser).await?;
    pointer.type_text(&folder.to_string_lossy()).await?;
    pointer.key("Return").await?;
    let window = app.window("lighthouse").await?;
    click(&window, "Open restricted").await?;
    // The prompt has the focus without a click.
    window.wait_focus("textbox “Prompt”").await?;
    pointer.activate(window.frame()).await?;
    pointer.type_text("SLOW 20 400 wave").await?;
    pointer.key("Return").await?;
    window.wait_said("wave3 ", LONG).await?;
    window.find("button", "Stop").await?;
    ensure!(clicks.len() <= MOST_CLICKS, "{} clicks: {clicks:?}", clicks.len());
    Ok(())
}

pub async fn a_folder_is_opened_by_a_drop() -> Result<()> {
    let start = Start::new().await?;
    start
        .play("start-drop", async |start| {
            // A file is no project.
            let file = start.folders[0].join("notes.txt");
            std::fs::write(&file, "")?;
            drop_on(&start.desktop, start.page.frame(), &[&file]).await?;
            start.page.wait_shows("not a folder", SHORT).await?;
            ensure!(start.app.count().await? == 1, "a file opened a window");

            let folder = start.desktop.project("ünder the sea")?;
            drop_on(&start.desktop, start.page.frame(), &[&folder]).await?;
            start.opened("ünder the sea").await?;
            ensure!(start.listed()?.contains("ünder the sea"), "{}", start.listed()?);
            Ok(())
        })
        .await
}

pub async fn the_home_folder_is_never_opened_by_accident() -> Result<()> {
    let start = Start::new().await?;
    start
        .play("start-home", async |start| {
            // Without a folder, in the home folder, and by its name.
            let home = start.desktop.home();
            start_again(&start.desktop, &Launch::folder(&home).again()).await?;
            start_again(&start.desktop, &Launch::folder(&home)).await?;
            start.page.find("alertdialog", "Open your home folder as a project?").await?;
            ensure!(start.app.count().await? == 1, "no window opened");
            start.desktop.screenshot("start-home").await?;
            start.page.click("button", "Cancel").await?;
            start.page.gone("alertdialog", "Open your home folder as a project?").await?;

            start_again(&start.desktop, &Launch::folder(&home)).await?;
            start.page.find("button", "Open anyway").await?;
            start.page.point_at("button", "Open anyway").await?;
            start.opened("home").await?;
            Ok(())
        })
        .await
}

/// Arguments that name no folder and no command: places that are none, options of other programs, other commands'
/// options without their command, and text that a shell, a terminal or a page would read as more than text.
const HOSTILE: &[&str] = &[
    "/dev/full",
    "/dev/random",
    "/dev/stdin",
    "/proc/self/environ",
    "/proc/kcore",
    "/sys/kernel/notes",
    "./file",
    "file/..",
    "file/.",
    "loop/a",
    "../../../../no/such",
    "~",
    "~root",
    "$HOME",
    "%HOME%",
    "C:\\Windows",
    "\\\\server\\share",
    "//server/share",
    "http://127.0.0.1/",
    "https://127.0.0.1/etc",
    "smb://127.0.0.1/etc",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "a\nb",
    "a\u{1b}]0;title\u{7}",
    "\u{feff}",
    "\u{2066}/etc",
    " ",
    "\t",
    "*",
    "?",
    "-",
    "---",
    "-x",
    "--",
    "--open=",
    "--open=/etc",
    "--folder=/etc",
    "--allow",
    "--allow-all",
    "--dangerously-skip-permissions",
    "--permission-mode=bypassPermissions",
    "--without-asking",
    "--settings=/etc/passwd",
    "--config-dir=/etc",
    "--inspect=1",
    "--gapplication-service",
    "--display=:0",
    "--no-sandbox",
    "--load=evil.so",
    "--versions",
    "--hel",
];

pub async fn hostile_arguments_open_at_most_a_folder() -> Result<()> {
    let start = Start::new().await?;
    start
        .play("start-hostile", async |start| {
            let scratch = start.desktop.scratch().to_owned();
            std::fs::write(scratch.join("file"), "")?;
            std::os::unix::fs::symlink("loop", scratch.join("loop"))?;
            let folder = start.folders[0].to_string_lossy().into_owned();
            let long = "a/".repeat(40_000);
            let mut hostile: Vec<Vec<&str>> = vec![
                vec!["--open", "/no/such"],
                vec!["/no/such"],
                vec!["/dev/null"],
                vec!["/dev/zero"],
                vec!["/proc/self/mem"],
                vec!["file"],
                vec!["loop"],
                vec![""],
                vec!["\u{202e}txt.exe"],
                vec!["file:///etc"],
                vec!["deskbell://open/etc"],
                vec!["--open", "deskbell://open?folder=/etc/passwd"],
                vec!["--open", "deskbell://open?folder=/usr/../etc"],
                vec!["--open", "deskbell://open?folder=/etc&prompt=SAY%20Hello."],
                vec!["--open", "deskbell://run?folder=/etc"],
                vec!["--open", "deskbell://open?folder=/etc", "--prompt=SAY Hello."],
                vec!["$(touch owned)"],
                vec!["`touch owned`"],
                vec!["; touch owned"],
                vec!["--", "--trust"],
                vec!["--eval=alert(1)"],
                vec!["--remote-debugging-port=1"],
                vec!["--trust"],
                vec!["--mode=bypassPermissions"],
                vec!["relay"],
                vec!["/etc", "/usr"],
                vec!["projects", "--nonsense"],
            ];
            // `--` alone ends the options and names nothing.
            let named = HOSTILE.iter().filter(|argument| **argument != "--");
            hostile.extend(named.map(|argument| vec![*argument]));
            hostile.push(vec![&long]);
            ensure!(hostile.len() >= 80, "{} starts", hostile.len());
            for arguments in &hostile {
                let mut command = start.desktop.app_command(app_program());
                // In the scratch folder: as a first start none of them may name a project either.
                command.current_dir(&scratch).args(arguments).stdin(Stdio::null());
                let mut second = tokio::process::Command::from(command);
                let ended = tokio::time::timeout(LONG, second.kill_on_drop(true).output());
                // A message to the user waits until it is read: that is the launcher's own.
                let is_shown = arguments[0] == "--open" || arguments[0].starts_with("deskbell:");
                if is_shown {
                    let message = eventually("a message", SHORT, async || {
                        Ok(start.pointer.windows("Deskbell could not").await?.into_iter().next())
                    });
                    let (ended, closed) = tokio::join!(ended, async {
                        let message = message.await?;
                        start.desktop.screenshot("start-failure").await?;
                        start.pointer.activate(message).await?;
                        start.pointer.key("Escape").await
                    });
                    closed?;
                    ensure!(!ended??.status.success());
                } else {
                    let output = ended.await.with_context(|| format!("{arguments:?} hangs"))??;
                    ensure!(!output.status.success(), "{arguments:?}: {output:?}");
                }
            }
            ensure!(!scratch.join("owned").exists(), "an argument was run");
            ensure!(start.app.count().await? == 1, "an argument opened a window");

            // A prompt belongs to a folder. That it names none is said where the user looks.
            let mut command = start.desktop.app_command(app_program());
            command.current_dir(start.desktop.home()).arg("--prompt=SAY Lost.").stdin(Stdio::null());
            ensure!(tokio::process::Command::from(command).output().await?.status.success());
            start.page.wait_shows("a second start named no folder for it", SHORT).await?;
            start.desktop.screenshot("start-prompt-without-folder").await?;

            // A prompt of a second start is a draft, and not sent.
            let with_prompt = Launch::demo(Path::new(&folder)).argument("--prompt=SAY Named.");
            start_again(&start.desktop, &with_prompt).await?;
            let window = start.opened("lighthouse").await?;
            eventually("the prompt is a draft", SHORT, async || {
                Ok((window.value("Prompt").await? == "SAY Named.").then_some(()))
            })
            .await?;
            ensure!(!window.all_text().await?.contains("SAY Named."), "a second start sent a prompt");
            start.pointer.activate(window.frame()).await?;
            window.wait_focus("textbox “Prompt”").await?;
            start.pointer.key("Return").await?;
            window.wait_said("Named.", LONG).await.map(drop)
        })
        .await
}

/// Changes the setting with the command, as the user's editor would change the file.
fn set_autostart(desktop: &Desktop, value: &str) -> Result<()> {
    let mut command = desktop.app_command(app_program());
    let output = command.args(["settings", "set", "autostart", value]).output()?;
    ensure!(output.status.success(), "{output:?}");
    Ok(())
}

pub async fn a_start_at_login_opens_no_window_and_follows_the_setting() -> Result<()> {
    let desktop = Desktop::start().await?;
    let entry = desktop.home().join(".config/autostart/deskbell.desktop");
    let written = async || Ok(std::fs::read_to_string(&entry).ok());
    let removed = async || Ok((!entry.exists()).then_some(()));
    set_autostart(&desktop, "true")?;
    let _app = Owned::start("deskbell", desktop.app_command(app_program()).arg("--background"))?;
    // The app writes it after it has become the one that second starts find.
    let content = eventually("the entry of a setting that was on", SHORT, written).await?;
    ensure!(content.contains("/deskbell\" --background\n"), "{content}");
    let pointer = Pointer::on(&desktop);
    ensure!(pointer.windows("Deskbell").await?.is_empty(), "the start at login opened a window");
    set_autostart(&desktop, "false")?;
    eventually("no entry, because the setting is off", SHORT, removed).await?;
    set_autostart(&desktop, "true")?;
    eventually("the entry again", SHORT, written).await?;

    let status = start_again(&desktop, &Launch::folder(Path::new("--open"))).await?;
    ensure!(status.success(), "the second start ended with {status}");
    pointer.window(TITLE).await?;
    ensure!(pointer.windows("Deskbell").await?.len() == 1, "another window opened too");
    Ok(())
}

pub async fn a_start_that_fails_says_so_in_a_window() -> Result<()> {
    let desktop = Desktop::start().await?;
    // A file in place of the folder of all data.
    let data = desktop.scratch().join("data");
    std::fs::write(&data, "a file")?;
    let mut command = desktop.app_command(app_program());
    command.arg("--open").env("XDG_DATA_HOME", &data);
    let mut app = Owned::start("deskbell", &mut command)?;
    let pointer = Pointer::on(&desktop);
    let message = pointer.window("Deskbell could not start").await?;
    desktop.screenshot("start-no-data").await?;
    pointer.activate(message).await?;
    pointer.key("Escape").await?;
    let status =
        eventually("the start ends", SHORT, async || Ok(app.wait(std::time::Duration::ZERO)?)).await?;
    ensure!(!status.success(), "it ended with {status}");
    ensure!(std::fs::read_to_string(&data)? == "a file", "the file was changed");
    Ok(())
}
