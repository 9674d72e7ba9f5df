//! The tray icon of Windows and the menu bar icon of macOS, by Tauri.

use super::Choice;
use super::menu::{Contents, Entry};
use anyhow::Context;
use std::sync::{Arc, Mutex, PoisonError};
use tauri::menu::{Menu, MenuItem, PredefinedMenuItem};
use tauri::tray::{TrayIcon, TrayIconBuilder};
use tauri::{AppHandle, Wry};
use tokio::sync::mpsc;

const ID: &str = "deskbell";

/// An icon that is shown.
pub struct Icon {
    icon: TrayIcon,
    /// What each entry of the menu does. An entry's id is its place here.
    choices: Arc<Mutex<Vec<Choice>>>,
}

impl Icon {
    pub async fn new(
        app: &AppHandle,
        contents: Contents,
        choose: mpsc::UnboundedSender<Choice>,
    ) -> anyhow::Result<Self> {
        let choices = Arc::new(Mutex::new(choices(&contents)));
        let chosen = choices.clone();
        let icon = TrayIconBuilder::with_id(ID)
            .icon(app.default_window_icon().context("the app has no icon")?.clone())
            .tooltip(&contents.tooltip)
            .menu(&menu(app, &contents)?)
            .on_menu_event(move |_, event| {
                let chosen = chosen.lock().unwrap_or_else(PoisonError::into_inner);
                let choice = event.id().as_ref().parse().ok().and_then(|at: usize| chosen.get(at).cloned());
                if choice.is_some_and(|choice| choose.send(choice).is_err()) {
                    tracing::debug!("something was chosen in the tray while the app was ending");
                }
            })
            .build(app)?;
        Ok(Self { icon, choices })
    }

    pub async fn set(&self, app: &AppHandle, contents: Contents) -> anyhow::Result<()> {
        *self.choices.lock().unwrap_or_else(PoisonError::into_inner) = choices(&contents);
        self.icon.set_menu(Some(menu(app, &contents)?))?;
        Ok(self.icon.set_tooltip(Some(&contents.tooltip))?)
    }

    pub async fn remove(self, app: &AppHandle) -> anyhow::Result<()> {
        drop(app.remove_tray_by_id(ID));
        Ok(())
    }
}

fn choices(contents: &Contents) -> Vec<Choice> {
    let choice = |entry: &Entry| match entry {
        Entry::Choice(_, choice) => Some(choice.clone()),
        Entry::Text(_) | Entry::Separator => None,
    };
    contents.entries.iter().filter_map(choice).collect()
}

fn menu(app: &AppHandle, contents: &Contents) -> tauri::Result<Menu<Wry>> {
    let menu = Menu::new(app)?;
    // One ampersand marks the key of an entry.
    let label = |label: &str| label.replace('&', "&&");
    let mut n_choices = 0;
    for entry in &contents.entries {
        match entry {
            Entry::Separator => menu.append(&PredefinedMenuItem::separator(app)?)?,
            Entry::Text(text) => {
                menu.append(&MenuItem::new(app, label(text), false, None::<&str>)?)?;
            }
            Entry::Choice(text, _) => {
                let id = n_choices.to_string();
                menu.append(&MenuItem::with_id(app, id, label(text), true, None::<&str>)?)?;
                n_choices += 1;
            }
        }
    }
    Ok(menu)
}
