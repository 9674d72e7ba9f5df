//! Declares every command to Tauri's access control: a command that is not named here is open to all windows.

use tauri_build::{AppManifest, Attributes};

const COMMANDS: &[&str] = &[
    "connect",
    "create_session",
    "start_without_asking",
    "remove_session",
    "restore_session",
    "follow_stored",
    "open_stored",
    "export_session",
    "usage",
    "export_usage",
    "changes",
    "file_diff",
    "fork_session",
    "mark_session",
    "open_terminal",
    "subscribe",
    "show_rows",
    "show_earlier",
    "find_words",
    "copy_text",
    "output_lines",
    "item_part",
    "waiting_event",
    "acknowledge",
    "command",
    "set_setting",
    "review_options",
    "set_presets",
    "open_settings_file",
    "quit",
    "decide_trust",
    "check_agent",
    "last_log_lines",
    "check_readiness",
    "open_login",
    "choose_agent",
    "report_page_error",
    "open_link",
    "reveal_path",
    "find_files",
    "check_image",
    "clipboard_image",
    "end_orphans",
    "leave_orphans",
    "cards_in_sight",
    "take_draft",
    "connect_start",
    "recent_projects",
    "choose_folder",
    "open_recent",
    "answer_folder_question",
    "open_demo",
    "open_start_page",
    "pin_project",
    "forget_project",
    "forget_all_projects",
    "search_sessions",
    "stop_search",
    "open_found",
    "locate_item",
    "open_board",
    "connect_board",
    "open_board_session",
];

fn main() {
    println!("cargo:rerun-if-changed=src-tauri/capabilities");
    let attributes = Attributes::new()
        .capabilities_path_pattern("./src-tauri/capabilities/**/*.json")
        .app_manifest(AppManifest::new().commands(COMMANDS));
    if let Err(error) = tauri_build::try_build(attributes) {
        panic!("could not prepare the Tauri build: {error:#}");
    }
}
