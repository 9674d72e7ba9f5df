//! Trust for each agent of the table, in folders that have what it loads.

use crate::api::{Severity, TrustDecision, TrustStatus, TrustView};
use crate::traps;
use crate::trust::{Admission, TrustError, TrustStore};
use deskbell_acp::ChosenAgent;
use deskbell_acp::agents::{AGENTS, AcpAgent};
use deskbell_acp::folder::FolderEffect;
use std::fs;
use std::path::{Path, PathBuf};

struct Place {
    _folder: tempfile::TempDir,
    project: PathBuf,
    store: TrustStore,
}

impl Place {
    /// A repository with nothing in it.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let project = root.join("project");
        fs::create_dir_all(project.join(".git")).unwrap();
        Self { store: TrustStore::open(root.join("trust")).unwrap(), project, _folder: folder }
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.project.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn of(&self, agent: &AcpAgent) -> TrustStore {
        self.store.of_agent(Some(&chosen(agent)))
    }

    fn view(&self, agent: &AcpAgent) -> TrustView {
        self.of(agent).view(&self.project).unwrap()
    }

    fn trust(&self, store: &TrustStore) -> Result<(), TrustError> {
        let shown = store.view(&self.project)?.fingerprint;
        store.decide(&self.project, TrustDecision::Trust, shown.as_deref())
    }

    fn asks(&self, store: &TrustStore) -> bool {
        matches!(store.check(&self.project).unwrap(), Admission::Ask(_))
    }
}

fn chosen(agent: &AcpAgent) -> ChosenAgent {
    ChosenAgent::row_of(agent.id).unwrap()
}

fn row(id: &str) -> &'static AcpAgent {
    deskbell_acp::agents::agent(id).unwrap()
}

/// A file of the row: in a folder of this name, where the name has no ending.
fn as_file(path: &str) -> String {
    let name = Path::new(path).file_name().unwrap().to_str().unwrap();
    let is_file = name.trim_start_matches('.').contains('.') || name.starts_with(".env");
    let is_text = ["GEMINI.md", ".cursorrules", ".goosehints", ".augment-guidelines"].contains(&name);
    if is_file || is_text { path.to_owned() } else { format!("{path}/inner/file.json") }
}

#[test]
fn each_file_of_each_agent_is_shown_and_a_change_of_it_is_asked_about() {
    for agent in AGENTS {
        for file in agent.folder.files {
            let place = Place::new();
            let (store, path) = (place.of(agent), as_file(file.path));
            let what = format!("{}: {path}", agent.id);
            place.write(&path, "touch ran");
            let view = place.view(agent);
            let found = view.findings.iter().find(|finding| finding.file == path);
            let found = found.unwrap_or_else(|| panic!("{what} is not shown"));
            let (severity, text) = match file.effect {
                FolderEffect::Runs => (Severity::Runs, "touch ran"),
                FolderEffect::Variables => (Severity::Redirects, "touch ran"),
                FolderEffect::Instructions => (Severity::Changes, ""),
            };
            assert_eq!((found.severity, &found.text[..]), (severity, text), "{what}");
            assert_eq!(view.agent.as_ref().map(|of| &of.name[..]), Some(agent.name), "{what}");
            assert!(place.asks(&store), "{what}: it is not decided");
            place.trust(&store).unwrap();
            assert_eq!(store.check(&place.project).unwrap(), Admission::TrustedAsItIs, "{what}");
            place.write(&path, "touch ran-again");
            let is_text = file.effect == FolderEffect::Instructions;
            assert_eq!(place.asks(&store), !is_text, "{what} changed");
            fs::remove_file(place.project.join(&path)).unwrap();
            assert!(place.asks(&store), "{what} is gone");
        }
    }
}

#[test]
fn trust_for_one_agent_counts_for_no_other_one() {
    let place = Place::new();
    place.trust(&place.store).unwrap();
    assert!(matches!(place.store.check(&place.project).unwrap(), Admission::Trusted(_)));
    for agent in AGENTS {
        assert!(place.asks(&place.of(agent)), "{}: Claude Code is trusted", agent.id);
    }
    place.trust(&place.of(row("opencode"))).unwrap();
    let others = AGENTS.iter().filter(|agent| agent.id != "opencode");
    others.for_each(|agent| assert!(place.asks(&place.of(agent)), "{}: opencode is trusted", agent.id));
    // Restricting one is a decision of its own, too.
    place.of(row("gemini")).decide(&place.project, TrustDecision::Restrict, None).unwrap();
    assert_eq!(place.of(row("gemini")).check(&place.project).unwrap(), Admission::Restricted);
    assert_eq!(place.of(row("opencode")).check(&place.project).unwrap(), Admission::TrustedAsItIs);
    assert!(matches!(place.store.check(&place.project).unwrap(), Admission::Trusted(_)));
    // A fingerprint that was shown for one agent trusts no other one.
    let shown = place.view(row("kimi")).fingerprint;
    let refused = place.of(row("vibe")).decide(&place.project, TrustDecision::Trust, shown.as_deref());
    assert!(matches!(refused, Err(TrustError::Outdated)), "{refused:?}");
}

#[test]
fn a_command_of_the_user_has_a_decision_for_its_program_and_arguments() {
    let place = Place::new();
    let command = |arguments: &[&str]| {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        ChosenAgent::Command { program: "/opt/agent".into(), arguments }
    };
    let [one, other] = [command(&["acp"]), command(&["acp", "--fast"])];
    let (one, other) = (place.store.of_agent(Some(&one)), place.store.of_agent(Some(&other)));
    place.trust(&one).unwrap();
    assert!(!place.asks(&one) && place.asks(&other));
    let view = one.view(&place.project).unwrap();
    assert!(view.agent.unwrap().unchecked && !view.nothing_to_run, "it may load more than is shown");
}

#[test]
fn anything_else_than_a_file_stops_nothing_and_cannot_be_trusted() {
    for agent in AGENTS {
        for file in agent.folder.files {
            for trap in traps::all().into_iter().filter(|trap| *trap != traps::Trap::Folder) {
                let place = Place::new();
                trap.put_at(&place.project.join(file.path));
                let (store, project) = (place.of(agent), place.project.clone());
                let what = format!("{}: {trap:?} at {}", agent.id, file.path);
                let view = traps::in_time(&what.clone(), move || store.view(&project).unwrap());
                assert!(view.findings.iter().any(|finding| finding.file == file.path), "{what}");
                let is_link = trap == traps::Trap::DanglingLink;
                assert_eq!(view.fingerprint.is_some(), is_link, "{what}");
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn links_are_named_and_cycles_end() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    fs::create_dir(place.project.join(".opencode")).unwrap();
    symlink(&place.project, place.project.join(".opencode/cycle")).unwrap();
    let (store, project) = (place.of(row("opencode")), place.project.clone());
    let view = traps::in_time("a cycle", move || store.view(&project).unwrap());
    assert_eq!(view.fingerprint, None, "it has no end, so it cannot be trusted");
    fs::remove_file(place.project.join(".opencode/cycle")).unwrap();

    let target = place.project.join("elsewhere.json");
    fs::write(&target, "{}").unwrap();
    symlink(&target, place.project.join("opencode.json")).unwrap();
    let view = place.view(row("opencode"));
    assert_eq!(view.findings[0].link.as_deref(), target.to_str());
    place.trust(&place.of(row("opencode"))).unwrap();
    fs::write(&target, "{ }").unwrap();
    assert!(place.asks(&place.of(row("opencode"))), "its target changed");
}

#[test]
fn the_folders_above_count_up_to_the_repository() {
    let place = Place::new();
    place.write("opencode.json", "{}");
    place.write("a/b/file", "x");
    let store = place.of(row("opencode"));
    let labels = |folder: &str| -> Vec<String> {
        let view = store.view(&place.project.join(folder)).unwrap();
        view.findings.into_iter().map(|finding| finding.file).collect()
    };
    assert_eq!(labels("a/b"), ["../../opencode.json"]);
    fs::create_dir(place.project.join("a/.git")).unwrap();
    assert!(labels("a/b").is_empty(), "another repository");
}

#[test]
fn what_cannot_be_shown_in_full_cannot_be_trusted() {
    let place = Place::new();
    place.write("opencode.json", &format!("{}{{}}", " ".repeat(super::MOST_RAW_TEXT)));
    let view = place.view(row("opencode"));
    assert_eq!((view.fingerprint, &view.findings[0].details[0].value[..]), (None, "2 bytes more"));
    let refused = place.of(row("opencode")).decide(&place.project, TrustDecision::Trust, None);
    assert!(matches!(refused, Err(TrustError::Unreadable)), "{refused:?}");
    place.write("opencode.json", "{}");
    for n in 0..=super::MOST_EXTENSIONS {
        place.write(&format!(".opencode/plugin/{n}.js"), "");
    }
    assert_eq!(place.view(row("opencode")).fingerprint, None, "too many files");
}

#[test]
fn packages_and_virtual_environments_are_left_out() {
    let place = Place::new();
    place.write(".opencode/node_modules/x/index.js", "1");
    place.write(".env/bin/python", "1");
    let view = place.view(row("opencode"));
    assert!(view.findings.is_empty() && view.nothing_to_run && view.fingerprint.is_some(), "{view:?}");
}

#[test]
fn claude_codes_adapter_has_claude_codes_files_and_no_copy_of_them() {
    let place = Place::new();
    place.write(".mcp.json", r#"{"mcpServers":{"x":{"command":"touch","args":["ran"]}}}"#);
    let store = place.of(row("claude-acp"));
    assert!(place.view(row("claude-acp")).findings.iter().any(|finding| finding.text == "touch ran"));
    place.trust(&store).unwrap();
    assert_eq!(store.check(&place.project).unwrap(), Admission::TrustedAsItIs);
    place.write(".mcp.json", "{}");
    let view = place.view(row("claude-acp"));
    assert_eq!((view.state, view.can_keep), (TrustStatus::Changed, false));
    let kept = store.decide(&place.project, TrustDecision::Keep, view.fingerprint.as_deref());
    assert!(matches!(kept, Err(TrustError::NothingToKeep)), "{kept:?}");
}
