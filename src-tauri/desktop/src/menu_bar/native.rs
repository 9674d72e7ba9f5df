//! The menu bar itself, by Tauri.

use super::entries::{Entry, Role, Standard, bar};
use deskbell_engine::api::MenuEntry;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tauri::menu::{
    AboutMetadata, CheckMenuItem, HELP_SUBMENU_ID, Menu, MenuEvent, MenuItem, PredefinedMenuItem, Submenu,
    WINDOW_SUBMENU_ID,
};
use tauri::{AppHandle, Manager, WebviewWindow, WindowEvent as TauriEvent, Wry};

/// Begins the ids of the entries of windows. The tray's are numbers.
const PREFIX: &str = "window:";

/// The menus of the windows, and the one that is shown.
#[derive(Default)]
pub struct MenuBar(Mutex<State>);

#[derive(Default)]
struct State {
    menus: HashMap<String, Vec<MenuEntry>>,
    /// The window in front, and what the bar has for it.
    shown: Option<(Option<String>, Vec<Entry>)>,
}

fn lock(bar: &MenuBar) -> MutexGuard<'_, State> {
    bar.0.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows the menu of a window while the window is in front.
pub fn set(window: &WebviewWindow, menu: Vec<MenuEntry>) -> tauri::Result<()> {
    let app = window.app_handle();
    lock(app.state::<MenuBar>().inner()).menus.insert(window.label().to_owned(), menu);
    if window.is_focused()? { show(app, Some(window.label())) } else { Ok(()) }
}

/// Follows a window: the bar is its own while it is in front.
pub fn watch(window: &WebviewWindow) {
    let (app, label) = (window.app_handle().clone(), window.label().to_owned());
    window.on_window_event(move |event| {
        let shown = match event {
            TauriEvent::Focused(true) => show(&app, Some(&label)),
            TauriEvent::Destroyed => {
                let was_shown = {
                    let bar = app.state::<MenuBar>();
                    let mut state = lock(bar.inner());
                    state.menus.remove(&label);
                    state.shown.as_ref().is_some_and(|(of, _)| of.as_ref() == Some(&label))
                };
                if was_shown { show(&app, None) } else { Ok(()) }
            }
            _ => Ok(()),
        };
        if let Err(error) = shown {
            tracing::warn!(%error, "the menu bar could not be changed");
        }
    });
}

/// The window of the chosen entry, by its label, and the id of the entry.
pub fn chosen(event: &MenuEvent) -> Option<(&str, &str)> {
    event.id().as_ref().strip_prefix(PREFIX)?.split_once(':')
}

/// Shows the menu of a window, or the system's own entries alone. A bar that is equal is left alone: it may be open.
fn show(app: &AppHandle, label: Option<&str>) -> tauri::Result<()> {
    let entries = {
        let of_all = app.state::<MenuBar>();
        let mut state = lock(of_all.inner());
        let menu = label.and_then(|label| state.menus.get(label)).map(Vec::as_slice).unwrap_or_default();
        let entries = bar(&app.package_info().name, menu);
        let shown = (label.map(str::to_owned), entries.clone());
        if state.shown.as_ref() == Some(&shown) {
            return Ok(());
        }
        state.shown = Some(shown);
        entries
    };
    let menu = Menu::new(app)?;
    for entry in &entries {
        if let Entry::Submenu { label: text, role, is_enabled, entries } = entry {
            let submenu = submenu(app, text, *role, *is_enabled)?;
            fill(app, &submenu, label, entries)?;
            menu.append(&submenu)?;
        }
    }
    app.set_menu(menu).map(drop)
}

fn submenu(app: &AppHandle, label: &str, role: Role, is_enabled: bool) -> tauri::Result<Submenu<Wry>> {
    match role {
        Role::None => Submenu::new(app, label, is_enabled),
        Role::Window => Submenu::with_id(app, WINDOW_SUBMENU_ID, label, is_enabled),
        Role::Help => Submenu::with_id(app, HELP_SUBMENU_ID, label, is_enabled),
    }
}

fn fill(app: &AppHandle, into: &Submenu<Wry>, window: Option<&str>, entries: &[Entry]) -> tauri::Result<()> {
    for entry in entries {
        match entry {
            Entry::Separator => into.append(&PredefinedMenuItem::separator(app)?)?,
            Entry::Standard(one) => into.append(&standard(app, *one)?)?,
            Entry::Submenu { label, role, is_enabled, entries } => {
                let inside = submenu(app, label, *role, *is_enabled)?;
                fill(app, &inside, window, entries)?;
                into.append(&inside)?;
            }
            Entry::Action { id, label, is_enabled, is_checked, accelerator } => {
                let id = format!("{PREFIX}{}:{id}", window.unwrap_or_default());
                let keys = accelerator.as_deref();
                match is_checked {
                    None => into.append(&MenuItem::with_id(app, id, label, *is_enabled, keys)?)?,
                    Some(checked) => {
                        into.append(&CheckMenuItem::with_id(app, id, label, *is_enabled, *checked, keys)?)?
                    }
                }
            }
        }
    }
    Ok(())
}

fn standard(app: &AppHandle, one: Standard) -> tauri::Result<PredefinedMenuItem<Wry>> {
    match one {
        Standard::About => PredefinedMenuItem::about(app, None, Some(about(app))),
        Standard::Services => PredefinedMenuItem::services(app, None),
        Standard::Hide => PredefinedMenuItem::hide(app, None),
        Standard::HideOthers => PredefinedMenuItem::hide_others(app, None),
        Standard::ShowAll => PredefinedMenuItem::show_all(app, None),
        Standard::Quit => PredefinedMenuItem::quit(app, None),
        Standard::CloseWindow => PredefinedMenuItem::close_window(app, None),
        Standard::Undo => PredefinedMenuItem::undo(app, None),
        Standard::Redo => PredefinedMenuItem::redo(app, None),
        Standard::Cut => PredefinedMenuItem::cut(app, None),
        Standard::Copy => PredefinedMenuItem::copy(app, None),
        Standard::Paste => PredefinedMenuItem::paste(app, None),
        Standard::SelectAll => PredefinedMenuItem::select_all(app, None),
        Standard::Fullscreen => PredefinedMenuItem::fullscreen(app, None),
        Standard::Minimize => PredefinedMenuItem::minimize(app, None),
        Standard::Zoom => PredefinedMenuItem::maximize(app, None),
        Standard::AllToFront => PredefinedMenuItem::bring_all_to_front(app, None),
    }
}

fn about(app: &AppHandle) -> AboutMetadata<'static> {
    let (package, bundle) = (app.package_info(), &app.config().bundle);
    AboutMetadata {
        name: Some(package.name.clone()),
        version: Some(package.version.to_string()),
        copyright: bundle.copyright.clone(),
        ..AboutMetadata::default()
    }
}
