//! `deskbell trust`: shows whether a folder is trusted and what its settings would do, and decides it. A window on
//! another machine shows and decides the same through it.

use crate::args::trust::{Of, TrustOptions};
use crate::output::{ended, plain, print, words};
use deskbell_engine::acp::ChosenAgent;
use deskbell_engine::api::{Finding, TrustStatus, TrustView};
use deskbell_engine::disk;
use deskbell_sessions::trust::open_store;
use deskbell_sessions::{folders, profiles};
use std::process::ExitCode;

pub fn main(options: TrustOptions) -> ExitCode {
    ended(run(options))
}

fn run(options: TrustOptions) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let TrustOptions { folder, of, decision, fingerprint, load, json } = options;
    let place = folder.clone();
    let work = disk::run(&folder, disk::DEADLINE, move || {
        let data = folders::data();
        disk::own_folder(&data)?;
        let store = open_store(&data)?.of_agent(agent(of)?.as_ref());
        if let Some(decision) = decision {
            store.decide_naming(&place, decision, fingerprint.as_deref(), load)?;
        }
        anyhow::Ok(store.view(&place)?)
    });
    let view = runtime.block_on(work);
    // A thread that waits for a dead mount must not hold up the end.
    runtime.shutdown_background();
    let view = view??;
    let text = if json { format!("{}\n", serde_json::to_string(&view)?) } else { shown(&view) };
    Ok(print(text.as_bytes())?)
}

/// The agent that the decision is about; `None` is Claude Code.
fn agent(of: Of) -> anyhow::Result<Option<ChosenAgent>> {
    Ok(match of {
        Of::ClaudeCode => None,
        Of::Agent(agent) => Some(agent),
        Of::Profile(name) => profiles::agent(&profiles::find(&profiles::settings(), &name).map_err(words)?),
    })
}

/// The view for a terminal.
fn shown(view: &TrustView) -> String {
    let state = match view.state {
        TrustStatus::Unknown => "not decided yet",
        TrustStatus::Trusted => "trusted",
        TrustStatus::Restricted => "restricted",
        TrustStatus::Changed => "changed since it was trusted",
        TrustStatus::Kept => "trusted as it was before its last change",
    };
    let agent = view.agent.as_ref().map_or_else(String::new, |agent| format!(" with {}", plain(&agent.name)));
    let mut text = format!("{}  {state}{agent}\n", plain(&view.project));
    view.findings.iter().for_each(|finding| text += &line(finding));
    for setting in view.unknown_settings.iter().filter(|setting| setting.is_loaded) {
        text += &format!("  you named {}, so it is loaded\n", plain(&setting.name));
    }
    match &view.fingerprint {
        Some(fingerprint) => text += &format!("fingerprint {fingerprint}\n"),
        None => text += "it cannot be trusted now: a file could not be read or shown completely\n",
    }
    text
}

fn line(finding: &Finding) -> String {
    let name = finding.name.as_deref().map_or_else(String::new, |name| format!(" ({})", plain(name)));
    format!("  {}  {}{name}: {}\n", plain(&finding.file), plain(&finding.title), plain(&finding.text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use deskbell_engine::api::TrustDecision;
    use deskbell_engine::trust::TrustStore;

    #[test]
    fn what_a_folder_would_run_is_shown_with_its_fingerprint() {
        let root = tempfile::tempdir().unwrap();
        let project = root.path().join("project");
        std::fs::create_dir_all(project.join(".claude")).unwrap();
        let settings =
            r#"{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch \u001bx"}]}]}}"#;
        std::fs::write(project.join(".claude/settings.json"), settings).unwrap();
        let store = TrustStore::open(root.path().join("trust")).unwrap();
        let view = store.view(&project).unwrap();
        let text = shown(&view);
        assert!(text.contains("not decided yet") && text.contains("touch"), "{text}");
        assert!(text.contains(view.fingerprint.as_deref().unwrap()) && !text.contains('\u{1b}'), "{text:?}");
        store.decide(&project, TrustDecision::Trust, view.fingerprint.as_deref()).unwrap();
        assert!(shown(&store.view(&project).unwrap()).contains("  trusted\n"));
    }

    #[test]
    fn a_setting_that_is_loaded_by_its_name_is_shown_as_loaded() {
        let root = tempfile::tempdir().unwrap();
        let project = root.path().join("project");
        std::fs::create_dir_all(project.join(".claude")).unwrap();
        std::fs::write(project.join(".claude/settings.json"), r#"{"cleanupPeriodDays": 3}"#).unwrap();
        let store = TrustStore::open(root.path().join("trust")).unwrap();
        let view = store.view(&project).unwrap();
        let text = shown(&view);
        assert!(text.contains("left out unless you name it (cleanupPeriodDays): 3"), "{text}");
        assert!(!text.contains("you named"), "{text}");
        let named = ["cleanupPeriodDays".to_owned()].into();
        store.decide_naming(&project, TrustDecision::Trust, view.fingerprint.as_deref(), named).unwrap();
        let text = shown(&store.view(&project).unwrap());
        assert!(text.contains("you named cleanupPeriodDays, so it is loaded"), "{text}");
    }
}
