//! Commands of the dialog of permission rules: the settings files with rules, and the removal of a rule from one of them.

use super::{Answer, project_here};
use deskbell_dialogs::Question;
use deskbell_engine::api::*;
use deskbell_engine::rule_files::described;
use deskbell_sessions::registry::SessionRegistry;
use tauri::{AppHandle, Manager, WebviewWindow};

/// The settings files of a session with their rules.
#[tauri::command]
pub async fn rule_files(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
) -> Answer<RuleFileList> {
    let project = project_here(&app, &window)?;
    app.state::<SessionRegistry>().rule_files(&project, &session_id).await
}

/// The places of the rules that the agent saved with an answer; empty if it saves none in the folder.
#[tauri::command]
pub async fn saved_rules(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    request_id: RequestId,
) -> Answer<Vec<RulePlace>> {
    let project = project_here(&app, &window)?;
    app.state::<SessionRegistry>().saved_rules(&project, &session_id, &request_id).await
}

/// Removes a rule from its file. A native dialog must confirm the removal of a rule that denies or asks, because a page may
/// run a foreign script. Returns the number for its undo.
#[tauri::command]
pub async fn remove_rule(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    place: RulePlace,
) -> Answer<u64> {
    let project = project_here(&app, &window)?;
    let registry = app.state::<SessionRegistry>();
    registry.session(&project.as_path().into(), &session_id)?;
    match place.effect {
        RuleEffect::Allow => {}
        RuleEffect::Deny => confirm(&window, "denies", &place).await?,
        RuleEffect::Ask => confirm(&window, "asks", &place).await?,
    }
    registry.remove_rule(&project, &session_id, place).await
}

/// Asks whether a rule that `does` this may be removed. A page cannot answer it.
async fn confirm(window: &WebviewWindow, does: &str, place: &RulePlace) -> Answer<()> {
    let question = Question {
        title: format!("Remove a rule that {does}?"),
        text: format!(
            "A window asks for this. Without the rule the agent can do more without asking. Confirm it only if you chose \
             it.\n\n{}",
            described(place)
        ),
        accept: "Remove",
        background: None,
        arms_late: true,
    };
    let refusal = "You did not confirm the removal in the dialog.";
    deskbell_dialogs::accepted(window, question, refusal).await
}

/// Puts a removed rule back.
#[tauri::command]
pub async fn restore_rule(app: AppHandle, window: WebviewWindow, removal: u64) -> Answer<()> {
    let project = project_here(&app, &window)?;
    app.state::<SessionRegistry>().restore_rule(&project, removal).await
}
