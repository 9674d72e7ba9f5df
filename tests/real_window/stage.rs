//! The common start of most tests: a desktop, a notification daemon, and the app with a project open.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use deskbell_tests::window::{
    AgentStub, App, Desktop, Dialogs, LONG, Launch, Manners, Notifications, Owned, Pointer, Process, SHORT,
    Window, XWindow, eventually,
};
use serde_json::{Value, json};

/// The name of the first project, which is in the window's title.
pub const PROJECT: &str = "lighthouse";

/// A desktop with the app on it.
pub struct Stage {
    pub app: App,
    pub window: Window,
    pub pointer: Pointer,
    pub notifications: Notifications,
    pub folder: PathBuf,
    launch: Launch,
    pub desktop: Desktop,
}

impl Stage {
    /// The app with the demo agent in one project.
    pub async fn demo() -> Result<Self> {
        Self::with(Manners::Polite, |launch| launch).await
    }

    /// The app with the demo agent in one project, with options set by `change`.
    pub async fn with(manners: Manners, change: impl FnOnce(Launch) -> Launch) -> Result<Self> {
        Self::with_folder(manners, |_| Ok(()), change).await
    }

    /// Like `with`, in a prepared folder.
    pub async fn with_folder(
        manners: Manners,
        furnish: impl FnOnce(&Path) -> Result<()>,
        change: impl FnOnce(Launch) -> Launch,
    ) -> Result<Self> {
        let desktop = Desktop::start().await?;
        let folder = desktop.project(PROJECT)?;
        furnish(&folder)?;
        let launch = change(Launch::demo(&folder));
        Self::on(desktop, folder, manners, launch).await
    }

    /// The app with an agent in place of Claude Code, in a prepared folder.
    pub async fn claude(furnish: impl FnOnce(&Path) -> Result<()>) -> Result<Self> {
        let desktop = Desktop::start().await?;
        let folder = desktop.project(PROJECT)?;
        furnish(&folder)?;
        Self::claude_on(desktop, folder).await
    }

    /// The app with an agent in place of Claude Code, in one project of a prepared desktop.
    pub async fn claude_on(desktop: Desktop, folder: PathBuf) -> Result<Self> {
        let launch = Launch::folder(&folder)
            .agent(&AgentStub::telling(&desktop)?)
            .env("CLAUDE_CONFIG_DIR", desktop.home().join(".claude"));
        Self::on(desktop, folder, Manners::Polite, launch).await
    }

    /// The app with a stub in place of Claude Code.
    pub async fn stand_in(stub: impl FnOnce(&Desktop) -> Result<PathBuf>) -> Result<Self> {
        let desktop = Desktop::start().await?;
        let folder = desktop.project(PROJECT)?;
        let launch = Launch::folder(&folder)
            .agent(&stub(&desktop)?)
            .env("CLAUDE_CONFIG_DIR", desktop.home().join(".claude"));
        Self::on(desktop, folder, Manners::Polite, launch).await
    }

    /// The ids of the saved sessions, unordered.
    pub fn session_ids(&self) -> Result<Vec<String>> {
        let folder = self.desktop.home().join(".local/share/deskbell/sessions");
        let mut ids = Vec::new();
        for file in std::fs::read_dir(&folder)? {
            let path = file?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                ids.extend(path.file_stem().map(|id| id.to_string_lossy().into_owned()));
            }
        }
        Ok(ids)
    }

    /// The app in one project of a prepared desktop.
    pub async fn on(desktop: Desktop, folder: PathBuf, manners: Manners, launch: Launch) -> Result<Self> {
        let notifications = Notifications::on(&desktop, manners).await?;
        let app = App::start(&desktop, &launch).await?;
        let window = app.window(PROJECT).await?;
        let pointer = Pointer::on(&desktop);
        Ok(Self { app, window, pointer, notifications, folder, launch, desktop })
    }

    /// Runs a test; if it fails, saves a screenshot of the desktop and reports the app's output.
    pub async fn play(mut self, name: &str, test: impl AsyncFnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let Err(error) = test(&mut self).await else { return Ok(()) };
        let picture = match self.desktop.screenshot(&format!("failed-{name}")).await {
            Ok(file) => file.display().to_string(),
            Err(error) => format!("none ({error})"),
        };
        Err(error.context(format!("picture: {picture}; the app wrote:\n{}", self.app.log())))
    }

    /// Closes the last window and waits until the app has ended completely. If it asks whether to stop work, it may.
    pub async fn end(&self) -> Result<()> {
        self.app.close(self.window.frame()).await?;
        let question = eventually("the app ends or asks", LONG, async || {
            let question = self.pointer.windows("Close ").await?.pop();
            Ok((question.is_some() || self.app.processes(&self.desktop).is_empty()).then_some(question))
        })
        .await?;
        if let Some(question) = question {
            self.app.answer_close(question).await?;
        }
        self.app.ended(&self.desktop, LONG).await
    }

    /// Ends the app and starts it again without naming a folder.
    pub async fn restart(&mut self) -> Result<()> {
        self.end().await?;
        self.start_again().await
    }

    /// Starts the ended app again without naming a folder.
    pub async fn start_again(&mut self) -> Result<()> {
        self.app = App::start(&self.desktop, &self.launch.again()).await?;
        self.window = self.app.window(PROJECT).await?;
        Ok(())
    }

    /// The process of the agent that the app runs.
    pub fn agent(&self) -> Result<Process> {
        let processes = self.app.processes(&self.desktop);
        let found = processes.into_iter().find(|process| process.command_line.contains(" demo-agent "));
        let agent = found.context("the agent is a process")?;
        ensure!(agent.pid != self.app.process(&self.desktop)?.pid, "the agent is a process of its own");
        Ok(agent)
    }

    /// Begins a session, where the window offers “New session”, and waits for its empty composer.
    pub async fn new_session(&self, deadline: Duration) -> Result<()> {
        if self.window.has("button", "New session").await? {
            self.window.click("button", "New session").await?;
        }
        // Text typed earlier would be a draft of the previous session.
        self.window.wait_shows("What do you want to do in", deadline).await.map(drop)
    }

    /// The process that draws the page.
    pub fn page_process(&self) -> Result<Process> {
        let mut processes = self.app.processes(&self.desktop).into_iter();
        let page = processes.find(|process| process.program.ends_with("WebKitWebProcess"));
        page.context("no process draws a page")
    }

    /// Waits until at least `n` threads of the app receive the messages of pages, and none of its threads is a real-time
    /// one. Only where WebKit may make them real-time threads, as for root or with RealtimeKit, can this fail.
    pub async fn threads_are_ordinary(&self, n: usize) -> Result<()> {
        let mut threads = Vec::new();
        let outcome = eventually("the threads are ordinary ones", SHORT, async || {
            threads = self.app.process(&self.desktop)?.threads()?;
            let n_receive = threads.iter().filter(|(name, _)| name == "ReceiveQueue").count();
            Ok((n_receive >= n && !threads.iter().any(|(_, is_real_time)| *is_real_time)).then_some(()))
        });
        outcome.await.with_context(|| format!("{threads:?}"))
    }

    /// The options with which the app was started.
    pub fn launch(&self) -> &Launch {
        &self.launch
    }

    /// The native dialogs of this desktop.
    pub async fn dialogs(&self) -> Result<Dialogs> {
        Dialogs::on(&self.desktop).await
    }

    /// Confirms a change of programs in the native dialog.
    pub async fn confirm_programs(&self) -> Result<()> {
        let dialog = self.dialogs().await?.with("Change what Deskbell starts?").await?;
        dialog.press("Change").await?;
        dialog.gone().await
    }

    /// Changes a program by a page command, and confirms it.
    pub async fn set_program(&self, key: &str, value: Value) -> Result<()> {
        let change = self.window.invoke("set_setting", json!({ "key": key, "value": value }));
        let (changed, confirmed) = tokio::join!(change, self.confirm_programs());
        confirmed?;
        let refused = changed?.err();
        ensure!(refused.is_none(), "{key} was refused: {refused:?}");
        Ok(())
    }

    /// Sends a script that is played once the window is out of sight.
    pub async fn prompt_out_of_sight(&self, script: &str) -> Result<Elsewhere> {
        let gate = Gate::closed(&self.desktop)?;
        self.window.paste_prompt(&gate.before(script)).await?;
        let elsewhere = self.look_away().await?;
        gate.open()?;
        Ok(elsewhere)
    }

    /// Brings another program's window to the front, so that the app is out of sight.
    pub async fn look_away(&self) -> Result<Elsewhere> {
        self.look_at("1300x900+40+40").await
    }

    /// Gives the keyboard to another program, whose small window covers nothing. Requests of the app then appear as
    /// dialogs.
    pub async fn step_aside(&self) -> Result<Elsewhere> {
        self.look_at("160x60+0+0").await
    }

    async fn look_at(&self, geometry: &str) -> Result<Elsewhere> {
        let mut command = self.desktop.command("xmessage");
        command.args(["-title", "Elsewhere", "-geometry", geometry, "Another program"]);
        // An earlier window of this kind may still be open, and only the new one comes to the front by itself.
        let earlier = self.pointer.windows("Elsewhere").await?;
        let program = Owned::start("xmessage", &mut command)?;
        let frame = eventually("a window of another program", SHORT, async || {
            Ok(self.pointer.windows("Elsewhere").await?.into_iter().find(|window| !earlier.contains(window)))
        })
        .await?;
        self.pointer.activate(frame).await?;
        self.window.wait_unfocused().await?;
        Ok(Elsewhere { frame, _program: program })
    }
}

/// Another program's window. It closes when this is dropped.
pub struct Elsewhere {
    pub frame: XWindow,
    _program: Owned,
}

/// Holds up a script of the demo agent until it is opened.
pub struct Gate(PathBuf);

impl Gate {
    pub fn closed(desktop: &Desktop) -> Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("gate-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        Ok(Self(desktop.home().join(name)))
    }

    /// The step of a script that waits for this gate.
    pub fn step(&self) -> String {
        format!("UNTIL {}", self.0.display())
    }

    /// A script that waits for this gate first.
    pub fn before(&self, script: &str) -> String {
        format!("{}\n{script}", self.step())
    }

    pub fn open(&self) -> Result<()> {
        std::fs::write(&self.0, "").with_context(|| format!("opening {}", self.0.display()))
    }
}

/// `word0 word1 …`, as the agent's `SLOW` step says them.
pub fn numbered(word: &str, count: usize) -> String {
    (0..count).map(|n| format!("{word}{n}")).collect::<Vec<_>>().join(" ")
}
