//! The app on a desktop, driven through WebKit's own driver.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use fantoccini::error::NewSessionError;
use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::json;

use super::child::Owned;
use super::desktop::Desktop;
use super::page::Window;
use super::pointer::{Pointer, XWindow};
use super::processes::Process;
use crate::wait::{LONG, SHORT, eventually};

/// The built app: `DESKBELL_TEST_APP`, else the debug build of this workspace.
pub fn app_program() -> PathBuf {
    std::env::var_os("DESKBELL_TEST_APP")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/debug/deskbell"), PathBuf::from)
}

/// The options for a start of the app.
#[derive(Clone, Debug)]
pub struct Launch {
    program: PathBuf,
    arguments: Vec<OsString>,
    environment: BTreeMap<OsString, OsString>,
}

impl Launch {
    /// Opens `folder` with the agent that the app finds.
    pub fn folder(folder: &Path) -> Self {
        Self { program: app_program(), arguments: vec![folder.into()], environment: BTreeMap::new() }
    }

    /// Opens `folder` with the embedded demo agent, which answers at once.
    pub fn demo(folder: &Path) -> Self {
        let mut launch = Self::folder(folder).env("DESKBELL_DEMO_SPEED", "0");
        launch.arguments.insert(0, "--demo".into());
        launch
    }

    /// Opens the windows that were open before, with the same agents.
    pub fn again(&self) -> Self {
        Self { arguments: Vec::new(), ..self.clone() }
    }

    /// Runs this program as Claude Code.
    pub fn agent(self, program: &Path) -> Self {
        self.env("CLAUDE_CODE_COMMAND", program).env("DESKBELL_DEMO_SPEED", "0")
    }

    /// Adds an argument.
    pub fn argument(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Sets a variable for the app.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.environment.insert(name.as_ref().into(), value.as_ref().into());
        self
    }

    /// Runs another program in place of the app.
    pub fn program(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = program.into();
        self
    }

    /// The same start without the driver: a second start, or one that opens no window.
    pub fn command(&self, desktop: &Desktop) -> Command {
        let mut command = desktop.app_command(&self.program);
        command.args(&self.arguments).envs(&self.environment);
        command
    }
}

/// The running app.
#[derive(Debug)]
pub struct App {
    client: Client,
    driver: Owned,
    program: PathBuf,
    log: PathBuf,
    pointer: Pointer,
}

impl App {
    /// Starts the app and waits for its first page.
    pub async fn start(desktop: &Desktop, launch: &Launch) -> Result<Self> {
        match Self::start_once(desktop, launch).await {
            // On a busy machine the driver was seen to close its first connection without an answer, with no app started
            // (WebKitWebDriver 2.50).
            Err(error) if matches!(error.downcast_ref(), Some(NewSessionError::FailedC(_))) => {
                eprintln!("the driver is started again: {error:#}");
                Self::start_once(desktop, launch).await
            }
            started => started,
        }
    }

    async fn start_once(desktop: &Desktop, launch: &Launch) -> Result<Self> {
        let port = free_port()?;
        let log = desktop.scratch().join(format!("app-{port}.log"));
        let output = File::create(&log)?;
        let mut command = desktop.app_command("WebKitWebDriver");
        command
            .arg("--host=127.0.0.1")
            .arg(format!("--port={port}"))
            .env("TAURI_WEBVIEW_AUTOMATION", "true")
            .envs(&launch.environment)
            .stdout(output.try_clone()?)
            .stderr(output);
        let driver = Owned::start("WebKitWebDriver", &mut command)?;
        let program = launch.program.canonicalize().unwrap_or_else(|_| launch.program.clone());

        let arguments: Vec<_> = launch.arguments.iter().map(|argument| argument.to_string_lossy()).collect();
        let options = json!({ "binary": program, "args": arguments });
        let capabilities = json!({ "webkitgtk:browserOptions": options, "timeouts": { "script": 120_000 } });
        let capabilities = capabilities.as_object().context("capabilities are an object")?.clone();
        let address = format!("http://127.0.0.1:{port}");
        eventually("the driver listens", SHORT, async || {
            Ok(tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok().then_some(()))
        })
        .await?;
        let mut builder = ClientBuilder::new(HttpConnector::new());
        builder.capabilities(capabilities);
        let client = match tokio::time::timeout(LONG, builder.connect(&address)).await {
            Ok(Ok(client)) => client,
            Ok(Err(error)) => {
                let said = std::fs::read_to_string(&log).unwrap_or_default();
                return Err(error).with_context(|| format!("the app did not start; it said:\n{said}"));
            }
            Err(_) => {
                let said = std::fs::read_to_string(&log).unwrap_or_default();
                bail!("the app opened no page within {LONG:?}; it said:\n{said}");
            }
        };
        Ok(Self { client, driver, program, log, pointer: Pointer::on(desktop) })
    }

    /// The process of the app itself.
    pub fn process(&self, desktop: &Desktop) -> Result<Process> {
        desktop
            .app_processes()
            .into_iter()
            .find(|process| process.parent == self.driver.pid() && process.program == self.program)
            .context("the app does not run")
    }

    /// The app's standard output and error.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Every process that the app started, itself included; not the driver.
    pub fn processes(&self, desktop: &Desktop) -> Vec<Process> {
        let mut processes = desktop.app_processes();
        processes.retain(|process| process.pid != self.driver.pid());
        processes
    }

    /// The number of windows that the driver knows.
    pub async fn count(&self) -> Result<usize> {
        Ok(self.client.windows().await?.len())
    }

    /// Waits for the window whose title contains `title`. It is brought to the front if there are several.
    pub async fn window(&self, title: &str) -> Result<Window> {
        let frame = self.pointer.window(title).await?;
        let handles = self.client.windows().await?;
        if let [handle] = &handles[..] {
            return Ok(Window::new(self.client.clone(), handle.clone(), frame, self.pointer.clone()));
        }
        // Only the focus shows which page is in which frame.
        self.pointer.activate(frame).await?;
        eventually(&format!("the page of “{title}” has the focus"), SHORT, async || {
            for handle in self.client.windows().await? {
                let window = Window::new(self.client.clone(), handle, frame, self.pointer.clone());
                if window.focused().await? {
                    return Ok(Some(window));
                }
            }
            Ok(None)
        })
        .await
    }

    /// The page of the only window, on a display that gives its windows no ids: what needs the window manager, the
    /// pointer or the keyboard does not work on it.
    pub async fn page(&self) -> Result<Window> {
        let handles = self.client.windows().await?;
        let [handle] = &handles[..] else { bail!("{} windows instead of one", handles.len()) };
        Ok(Window::new(self.client.clone(), handle.clone(), XWindow(0), self.pointer.clone()))
    }

    /// Waits until no process of the app is left.
    pub async fn ended(&self, desktop: &Desktop, deadline: Duration) -> Result<()> {
        let outcome = eventually("no process of the app is left", deadline, async || {
            let left = self.processes(desktop);
            if left.is_empty() { Ok(Some(())) } else { bail!("still there: {left:#?}") }
        })
        .await;
        outcome.with_context(|| format!("the app said:\n{}", self.log()))
    }

    /// Closes the window, as its title bar's button does.
    pub async fn close(&self, frame: XWindow) -> Result<()> {
        self.pointer.close(frame).await
    }

    /// Closes a window that has work to lose: answers its question by keyboard.
    pub async fn stop_and_close(&self, frame: XWindow) -> Result<()> {
        self.close(frame).await?;
        let question = self.pointer.window("Close ").await?;
        self.answer_close(question).await
    }

    /// Chooses “Stop and close” in the question of a window.
    pub async fn answer_close(&self, question: XWindow) -> Result<()> {
        self.pointer.activate(question).await?;
        self.pointer.key("alt+s").await
    }
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
