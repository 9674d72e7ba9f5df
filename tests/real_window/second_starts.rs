//! Second starts that the first process cannot serve, which fail within seconds, and a silent session bus, which delays
//! no window for long.

use std::io::Read;
use std::os::unix::net::UnixListener;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use deskbell_tests::window::{LONG, Launch, Manners, OtherDisplay, Owned, eventually};

use crate::projects::SECOND;
use crate::stage::Stage;

/// Without a limit the bus waits more than two minutes, and a process that hangs is waited for without an end. The app's
/// limits are much shorter; the rest is for a busy machine.
const SAYS_WITHIN: Duration = Duration::from_secs(90);

/// A start for another project, while the app runs.
struct LaterStart(Owned);

impl LaterStart {
    fn begin(stage: &Stage, change: impl FnOnce(Launch) -> Launch) -> Result<Self> {
        let folder = stage.desktop.project(SECOND)?;
        let mut command = change(Launch::demo(&folder)).command(&stage.desktop);
        Ok(Self(Owned::start("deskbell", command.stderr(Stdio::piped()))?))
    }

    /// Waits until it fails, and returns its message.
    async fn fails(mut self) -> Result<String> {
        let status = self.ends().await?;
        ensure!(!status.success(), "the second start ended with {status}");
        self.said()
    }

    /// Waits until it has handed its arguments over, and ended.
    async fn hands_over(mut self) -> Result<()> {
        let status = self.ends().await?;
        ensure!(status.success(), "a later start ended with {status}: {}", self.said()?);
        Ok(())
    }

    async fn ends(&mut self) -> Result<ExitStatus> {
        eventually("the later start ends", SAYS_WITHIN, async || Ok(self.0.wait(Duration::ZERO)?)).await
    }

    fn said(&mut self) -> Result<String> {
        let mut said = String::new();
        self.0.child_mut().stderr.take().context("a pipe")?.read_to_string(&mut said)?;
        Ok(said)
    }

    /// Kills it. Returns its exit status, its windows and its error output, for a failure.
    async fn said_so_far(mut self, display: &OtherDisplay) -> Result<String> {
        let ended = self.0.wait(Duration::ZERO)?;
        let mut titles = Vec::new();
        for window in display.pointer().windows("").await? {
            titles.push(display.pointer().title(window).await?);
        }
        self.0.child_mut().kill()?;
        Ok(format!("ended: {ended:?}; windows: {titles:?}; it said: {}", self.said()?))
    }
}

pub async fn on_another_display_it_says_where_the_app_is() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("other-display", async |stage| {
            let other = stage.desktop.another_display().await?;
            let second = LaterStart::begin(stage, |launch| launch.env("DISPLAY", other.name()))?;
            let shown = other.pointer().window("Deskbell could not open").await;
            let dialog = match shown {
                Ok(dialog) => dialog,
                Err(error) => return Err(error.context(second.said_so_far(&other).await?)),
            };
            other.pointer().activate(dialog).await?;
            other.pointer().key("Return").await?;
            let said = second.fails().await?;
            let theirs = stage.desktop.env().remove(std::ffi::OsStr::new("DISPLAY")).context("a display")?;
            for part in [theirs.to_string_lossy(), other.name().to_string_lossy()] {
                ensure!(said.contains(&*part), "{part} is not in: {said}");
            }
            ensure!(stage.app.count().await? == 1, "the window opened on the first display");
            ensure!(other.pointer().windows("").await?.is_empty(), "the other display has a window");
            Ok(())
        })
        .await
}

pub async fn while_the_app_hangs_it_says_so_and_ends() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("first-hangs", async |stage| {
            let app = stage.app.process(&stage.desktop)?;
            app.stop()?;
            let said = LaterStart::begin(stage, |launch| launch)?.fails().await;
            app.resume()?;
            let said = said?;
            ensure!(said.contains(&format!("process {} and does not answer", app.pid)), "{said}");
            // The page is not asked: its driver gives up an app that hung for long, as on a busy machine.
            LaterStart::begin(stage, |launch| launch)?.hands_over().await?;
            stage.pointer.window(SECOND).await.map(drop)
        })
        .await
}

pub async fn a_session_bus_that_never_answers_keeps_no_window_away() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let socket = folder.path().join("bus");
    // Connections are made by the system before the program accepts them.
    let _silent = UnixListener::bind(&socket)?;
    let address = format!("unix:path={}", socket.display());
    let before = Instant::now();
    let stage =
        Stage::with(Manners::Absent, |launch| launch.env("DBUS_SESSION_BUS_ADDRESS", address)).await?;
    let took = before.elapsed();
    stage
        .play("silent-bus", async |stage| {
            ensure!(took < SAYS_WITHIN, "the window opened after {took:?}");
            stage.window.prompt("SAY Light on the water.").await?;
            stage.window.wait_said("Light on the water.", LONG).await?;
            ensure!(stage.app.log().contains("the session bus does not answer"), "nothing was said");
            Ok(())
        })
        .await
}
