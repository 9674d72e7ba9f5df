//! Keeping the computer awake while an agent works on it, as the settings say: as long as a turn runs in a session of this
//! computer, in the app, in the user's server or in a container, with or without a window.

use deskbell_awake::{Buses, KeepAwake};
use deskbell_sessions::registry::SessionRegistry;
use deskbell_sessions::settings::CurrentSettings;
use std::sync::Arc;
use tauri::{AppHandle, Manager};

/// Begins to follow the sessions.
pub fn begin(app: &AppHandle) {
    let (awake, carry_out) = KeepAwake::new(Buses::Own);
    tauri::async_runtime::spawn(carry_out);
    app.manage(awake);
}

/// The sessions or the setting may have changed.
pub fn sessions_changed(app: &AppHandle) {
    let is_wanted = app.state::<Arc<CurrentSettings>>().get().keep_awake;
    app.state::<KeepAwake>().set(is_wanted && app.state::<SessionRegistry>().n_working_here() > 0);
}
