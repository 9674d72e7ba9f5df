//! The app opens no network connection: the app, its page and the programs that it starts use only local sockets.

use anyhow::Result;
use deskbell_tests::sockets::SocketWatch;
use deskbell_tests::window::{Desktop, LONG, Launch, Manners, app_program};

use crate::stage::{PROJECT, Stage};

pub async fn a_conversation_in_the_window_stays_on_this_computer() -> Result<()> {
    let desktop = Desktop::start().await?;
    let folder = desktop.project(PROJECT)?;
    let watch = SocketWatch::on(&app_program().canonicalize()?, desktop.scratch())?;
    let launch = Launch::demo(&folder).program(watch.program());
    let stage = Stage::on(desktop, folder, Manners::Polite, launch).await?;
    stage
        .play("no-connection", async |stage| {
            let window = &stage.window;
            window.prompt("TOOL Bash {\"command\": \"ls\"}\nSAY The tool is done.").await?;
            window.point_at("button", "Allow once").await?;
            window.wait_said("The tool is done.", LONG).await?;
            // A link and a picture in an answer fetch nothing.
            window
                .prompt("SAY ![a picture](https://192.0.2.1/a.png) and [a link](https://192.0.2.1/).")
                .await?;
            window.wait_said("a link", LONG).await?;
            window.wait_idle(LONG).await?;
            stage.end().await?;
            // The desktop: display, bus, accessibility.
            watch.check(3)
        })
        .await
}
