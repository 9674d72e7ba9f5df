//! Native dialogs: read and answered as a screen reader does, or by the real pointer.

use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::accessible::{Accessibility, Accessible, Extents, Role};
use super::desktop::Desktop;
use super::pointer::Pointer;
use crate::wait::{SHORT, eventually};

/// The latest time after which a button is armed; buttons are armed some time after a dialog appears, against stray
/// clicks.
const ARMED_WITHIN: Duration = Duration::from_secs(30);

/// The native dialogs on one desktop.
#[derive(Clone, Debug)]
pub struct Dialogs {
    accessibility: Accessibility,
    pointer: Pointer,
}

impl Dialogs {
    /// The dialogs on `desktop`.
    pub async fn on(desktop: &Desktop) -> Result<Self> {
        Ok(Self { accessibility: Accessibility::on(desktop).await?, pointer: Pointer::on(desktop) })
    }

    /// Every visible dialog.
    pub async fn list(&self) -> Result<Vec<Dialog>> {
        let mut found = Vec::new();
        for program in self.accessibility.programs().await? {
            for object in program.children().await.unwrap_or_default() {
                let dialog =
                    object.role().await.is_ok_and(|role| [Role::DIALOG, Role::ALERT].contains(&role));
                if dialog && object.showing().await.unwrap_or(false) {
                    found.push(Dialog { object, pointer: self.pointer.clone() });
                }
            }
        }
        Ok(found)
    }

    /// Waits for the visible dialog; fails if there are two.
    pub async fn one(&self) -> Result<Dialog> {
        let mut dialogs = eventually("a dialog shows", SHORT, async || {
            let dialogs = self.list().await?;
            Ok((!dialogs.is_empty()).then_some(dialogs))
        })
        .await?;
        ensure!(dialogs.len() == 1, "{} dialogs show at once", dialogs.len());
        dialogs.pop().context("one dialog")
    }

    /// Waits for the dialog whose text contains `words`.
    pub async fn with(&self, words: &str) -> Result<Dialog> {
        eventually(&format!("a dialog with “{words}”"), SHORT, async || {
            for dialog in self.list().await? {
                if dialog.text().await.contains(words) {
                    return Ok(Some(dialog));
                }
            }
            Ok(None)
        })
        .await
    }

    /// Waits until no dialog is visible.
    pub async fn none(&self) -> Result<()> {
        eventually("no dialog shows", SHORT, async || Ok(self.list().await?.is_empty().then_some(()))).await
    }
}

/// A visible native dialog.
#[derive(Clone, Debug)]
pub struct Dialog {
    object: Accessible,
    pointer: Pointer,
}

impl Dialog {
    /// Its title.
    pub async fn title(&self) -> Result<String> {
        self.object.name().await
    }

    /// All readable text in it, a line per label or field.
    pub async fn text(&self) -> String {
        let mut lines = vec![self.title().await.unwrap_or_default()];
        for object in self.object.tree().await {
            let Ok(role) = object.role().await else { continue };
            if [Role::LABEL, Role::TEXT, Role::ENTRY].contains(&role)
                && object.showing().await.unwrap_or(false)
                && let Ok(text) = object.text().await
            {
                lines.push(text);
            }
        }
        lines.retain(|line| !line.is_empty());
        lines.join("\n")
    }

    /// The label in it with exactly this text.
    pub async fn label(&self, words: &str) -> Result<Accessible> {
        for object in self.object.tree().await {
            if object.role().await.is_ok_and(|role| role == Role::LABEL)
                && object.text().await.is_ok_and(|text| text == words)
            {
                return Ok(object);
            }
        }
        anyhow::bail!("no label says exactly “{words}”:\n{}", self.text().await)
    }

    /// The names of its buttons, in reading order.
    pub async fn buttons(&self) -> Vec<String> {
        let mut names = Vec::new();
        for object in self.object.tree().await {
            if object.role().await.is_ok_and(|role| role == Role::BUTTON)
                && object.showing().await.unwrap_or(false)
                && let Ok(name) = object.name().await
            {
                names.push(name);
            }
        }
        names
    }

    /// Whether the button with this name is enabled.
    pub async fn armed(&self, button: &str) -> Result<bool> {
        self.button(button).await?.sensitive().await
    }

    /// Presses the button with this name as a screen reader does, once it is enabled.
    pub async fn press(&self, button: &str) -> Result<()> {
        let object = self.armed_button(button).await?;
        ensure!(object.press().await?, "“{button}” did not take the press");
        Ok(())
    }

    /// Clicks the button with this name with the real pointer, once it is enabled.
    pub async fn click(&self, button: &str) -> Result<()> {
        let object = self.armed_button(button).await?;
        let (x, y) = object.extents().await?.middle();
        self.pointer.click(x, y).await
    }

    /// Clicks the place of a button with the real pointer, enabled or not.
    pub async fn click_early(&self, button: &str) -> Result<()> {
        let (x, y) = self.button(button).await?.extents().await?.middle();
        self.pointer.click(x, y).await
    }

    /// Where it is on the screen.
    pub async fn extents(&self) -> Result<Extents> {
        self.object.extents().await
    }

    /// The place of the button with this name on the screen, enabled or not.
    pub async fn extents_of(&self, button: &str) -> Result<Extents> {
        self.button(button).await?.extents().await
    }

    /// Writes into its one text field.
    pub async fn fill(&self, text: &str) -> Result<()> {
        for object in self.object.tree().await {
            if object.role().await.is_ok_and(|role| [Role::TEXT, Role::ENTRY].contains(&role))
                && object.set_text(text).await.unwrap_or(false)
            {
                return Ok(());
            }
        }
        anyhow::bail!("the dialog has no field to write into")
    }

    /// Waits until it is gone.
    pub async fn gone(&self) -> Result<()> {
        eventually("the dialog is gone", SHORT, async || {
            // An object that no longer answers is gone too.
            Ok((!self.object.showing().await.unwrap_or(false)).then_some(()))
        })
        .await
    }

    async fn button(&self, name: &str) -> Result<Accessible> {
        let found = self.object.find(Role::BUTTON, name).await;
        match found {
            Some(button) => Ok(button),
            None => anyhow::bail!("the dialog has no button “{name}”, only {:?}", self.buttons().await),
        }
    }

    async fn armed_button(&self, name: &str) -> Result<Accessible> {
        let button = self.button(name).await?;
        eventually(&format!("“{name}” can be used"), ARMED_WITHIN, async || {
            Ok(button.sensitive().await?.then_some(()))
        })
        .await?;
        Ok(button)
    }
}
