//! Input methods: the text that is being composed is drawn in the box, the composed text arrives, and the Enter that ends a
//! composition sends nothing.

use anyhow::{Result, ensure};
use deskbell_tests::suite::{Test, test};
use deskbell_tests::window::{Desktop, InputFramework, Launch, Manners, SHORT, eventually};

use crate::stage::{PROJECT, Stage};

/// The keys of 你, each with the box's text after it.
const KEYS: [(&str, &str); 3] = [("s", "ㄋ"), ("u", "ㄋㄧ"), ("3", "你")];

pub fn tests() -> impl Iterator<Item = Test> {
    let frameworks = [(InputFramework::Ibus, "ibus"), (InputFramework::Fcitx5, "fcitx5")];
    frameworks.into_iter().map(|(framework, name)| {
        let name = format!("input_methods::{name}_composes_in_the_box_and_enter_sends_only_afterwards");
        test(name, move || composes(framework)).needing(framework.requirement())
    })
}

async fn composes(framework: InputFramework) -> Result<()> {
    let desktop = Desktop::start().await?;
    let _daemon = framework.start(&desktop).await?;
    let folder = desktop.project(PROJECT)?;
    let launch = Launch::demo(&folder).env("GTK_IM_MODULE", framework.module());
    let stage = Stage::on(desktop, folder, Manners::Polite, launch).await?;
    let name = format!("composing-{}", framework.module());
    stage
        .play(&name, async |stage| {
            let window = &stage.window;
            stage.pointer.activate(window.frame()).await?;
            window.click("textbox", "Prompt").await?;
            framework.choose(&stage.desktop).await?;
            let holds = async |text: &str| {
                eventually(&format!("the box has {text}"), SHORT, async || {
                    Ok((window.value("Prompt").await? == text).then_some(()))
                })
                .await
            };
            for before in ["", "你"] {
                for (key, composed) in KEYS {
                    stage.pointer.key(key).await?;
                    holds(&format!("{before}{composed}")).await?;
                }
                window.drawn().await?;
                stage.desktop.screenshot(&name).await?;
                // It ends the composition. Keys keep their order, so the next ones show its effect.
                stage.pointer.key("Return").await?;
            }
            holds("你你").await?;
            ensure!(!window.has("log", "Conversation").await?, "the Enter of a composition sent something");
            stage.pointer.key("Return").await?;
            window.wait_text("log", "Conversation", "你你", SHORT).await?;
            holds("").await
        })
        .await
}
