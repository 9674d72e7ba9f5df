//! An input method framework on a desktop, with the Chinese method Chewing: keys become the symbols of a syllable, and
//! its tone turns them into a character.

use std::fs;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::child::Owned;
use super::desktop::Desktop;
use crate::suite::Requirement;
use crate::wait::{LONG, SHORT, eventually};

/// The configuration of fcitx5 with this method only.
const FCITX_PROFILE: &str = "[Groups/0]
Name=Default
Default Layout=us
DefaultIM=chewing

[Groups/0/Items/0]
Name=chewing
Layout=

[GroupOrder]
0=Default
";

/// Addons of fcitx5 that serve GTK; the others belong to a desktop.
const FCITX_ADDONS: &str = "--enable=dbus,dbusfrontend,keyboard,chewing,xcb";

/// An input method framework.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputFramework {
    Ibus,
    Fcitx5,
}

impl InputFramework {
    /// The programs that it needs.
    pub fn requirement(self) -> Requirement {
        Requirement::programs(match self {
            Self::Ibus => &["ibus-daemon", "ibus"],
            Self::Fcitx5 => &["fcitx5", "fcitx5-remote"],
        })
    }

    /// Its module in GTK, for `GTK_IM_MODULE`.
    pub fn module(self) -> &'static str {
        match self {
            Self::Ibus => "ibus",
            Self::Fcitx5 => "fcitx",
        }
    }

    /// Starts it on `desktop`, and returns when programs can use it.
    pub async fn start(self, desktop: &Desktop) -> Result<Owned> {
        match self {
            Self::Ibus => {
                let mut daemon = desktop.command("ibus-daemon");
                let daemon = Owned::start("ibus-daemon", daemon.args(["--panel=disable", "--replace"]))?;
                eventually("ibus answers", LONG, async || Ok(ibus(desktop, &["list-engine"]).ok())).await?;
                Ok(daemon)
            }
            Self::Fcitx5 => {
                let folder = desktop.home().join(".config/fcitx5");
                fs::create_dir_all(&folder)?;
                fs::write(folder.join("profile"), FCITX_PROFILE)?;
                let mut daemon = desktop.command("fcitx5");
                let daemon = Owned::start("fcitx5", daemon.args(["--disable=all", FCITX_ADDONS]))?;
                desktop.bus().has_name("org.fcitx.Fcitx5").await?;
                Ok(daemon)
            }
        }
    }

    /// Chooses the method for the field that has the focus.
    pub async fn choose(self, desktop: &Desktop) -> Result<()> {
        eventually("the method is chosen", SHORT, async || {
            let chosen = match self {
                Self::Ibus => {
                    ibus(desktop, &["engine", "chewing"])?;
                    ibus(desktop, &["engine"])?
                }
                Self::Fcitx5 => output(desktop.command("fcitx5-remote").arg("-n"))?,
            };
            Ok((chosen.trim() == "chewing").then_some(()))
        })
        .await
    }
}

fn ibus(desktop: &Desktop, arguments: &[&str]) -> Result<String> {
    output(desktop.command("ibus").args(arguments))
}

fn output(command: &mut Command) -> Result<String> {
    let output = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output().context("starting it")?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.success(), "{command:?}: {said}");
    Ok(String::from_utf8(output.stdout)?)
}
