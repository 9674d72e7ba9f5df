use super::*;
use crate::api::Severity;
use crate::trust::survey;
use std::fs;

/// A store, and a folder with one hook.
struct Place {
    _folder: tempfile::TempDir,
    store: TrustStore,
    project: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let project = root.join("project");
        fs::create_dir_all(project.join(".claude")).unwrap();
        let place = Self { store: TrustStore::open(root.join("trust")).unwrap(), project, _folder: folder };
        place.settings("settings.json", &hook("make"));
        place
    }

    fn settings(&self, name: &str, text: &str) {
        fs::write(self.project.join(".claude").join(name), text).unwrap();
    }

    fn state(&self) -> TrustState {
        self.store.state(&self.project).unwrap()
    }

    /// Decides about the current contents.
    fn decide(&self, decision: TrustDecision) {
        let shown = survey(&self.project).fingerprint;
        self.store.decide(&self.project, decision, shown.as_deref()).unwrap();
    }

    /// The one file of the store.
    fn kept(&self) -> PathBuf {
        let files = fs::read_dir(&self.store.folder).unwrap().map(|entry| entry.unwrap().path());
        let mut files = files.filter(|path| path.is_file());
        let file = files.next().unwrap();
        assert_eq!(files.next(), None);
        file
    }

    fn difference(&self) -> (Vec<String>, Vec<String>) {
        let TrustState::Changed { difference, .. } = self.state() else { panic!("it is {:?}", self.state()) };
        let texts = |findings: Vec<Finding>| findings.into_iter().map(|finding| finding.text).collect();
        (texts(difference.added), texts(difference.removed))
    }
}

fn hook(command: &str) -> String {
    format!(r#"{{"hooks":{{"Stop":[{{"hooks":[{{"type":"command","command":"{command}"}}]}}]}}}}"#)
}

#[test]
fn a_new_folder_is_unknown_and_told_about() {
    let place = Place::new();
    let TrustState::Unknown { survey } = place.state() else { panic!("it is known") };
    assert_eq!(survey.findings[0].severity, Severity::Runs);
    assert!(place.state().must_ask());
    assert!(!place.state().is_trusted());
}

#[test]
fn trust_lasts_until_a_file_changes_and_the_change_is_shown() {
    let place = Place::new();
    place.decide(TrustDecision::Trust);
    assert_eq!(place.state(), TrustState::Trusted);

    place.settings("settings.json", &hook("make -k"));
    assert_eq!(place.difference(), (vec!["make -k".into()], vec!["make".into()]));
    assert!(place.state().must_ask());

    place.decide(TrustDecision::Trust);
    assert_eq!(place.state(), TrustState::Trusted);

    // A file that appears, and one whose bytes differ without a new finding.
    fs::write(place.project.join(".mcp.json"), r#"{"mcpServers":{"x":{"command":"server"}}}"#).unwrap();
    assert_eq!(place.difference(), (vec!["server".into()], vec![]));
    fs::remove_file(place.project.join(".mcp.json")).unwrap();
    assert_eq!(place.state(), TrustState::Trusted);
    place.settings("settings.json", &(hook("make -k") + "\n"));
    assert_eq!(place.difference(), (vec![], vec![]));
}

#[test]
fn a_change_that_is_declined_leaves_what_was_trusted_in_force() {
    let place = Place::new();
    let admitted = || match place.store.check(&place.project).unwrap() {
        Admission::Trusted(snapshot) => Some(snapshot),
        _ => None,
    };
    assert_eq!(admitted(), None);
    place.decide(TrustDecision::Trust);
    let trusted = admitted().unwrap();
    place.settings("settings.json", &hook("make -k"));
    assert_eq!(admitted(), None);
    assert!(place.store.view(&place.project).unwrap().can_keep);

    place.decide(TrustDecision::Keep);
    assert_eq!(admitted().unwrap(), trusted);
    let view = place.store.view(&place.project).unwrap();
    assert_eq!((view.state, view.added.len(), view.removed.len()), (TrustStatus::Kept, 1, 1));

    // The next change is asked about; going back to the trusted files is not.
    place.settings("settings.json", &hook("make -n"));
    assert_eq!(admitted(), None);
    place.settings("settings.json", &hook("make"));
    assert_eq!(admitted().unwrap(), trusted);
    place.settings("settings.json", &hook("make -k"));
    assert_eq!(admitted().unwrap(), trusted);
    place.decide(TrustDecision::Trust);
    assert_ne!(admitted().unwrap(), trusted);
}

#[test]
fn nothing_is_kept_where_nothing_was_trusted() {
    let place = Place::new();
    let shown = survey(&place.project).fingerprint;
    let keep = || place.store.decide(&place.project, TrustDecision::Keep, shown.as_deref());
    assert!(matches!(keep(), Err(TrustError::NothingToKeep)));
    place.decide(TrustDecision::Trust);
    fs::remove_dir_all(place.store.folder.join("snapshots")).unwrap();
    assert!(matches!(keep(), Err(TrustError::NothingToKeep)));
}

#[test]
fn a_skill_an_agent_or_a_command_that_appears_is_a_change() {
    for name in ["skills/x/SKILL.md", "agents/x.md", "agents/y/x.md", "commands/x.md"] {
        let place = Place::new();
        place.decide(TrustDecision::Trust);
        let path = place.project.join(".claude").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "---\nname: x\ndescription: d\nallowed-tools: Bash\n---\n!`make`").unwrap();
        let (added, removed) = place.difference();
        assert_eq!((added, removed.len()), (vec!["make".into(), "Bash".into(), "x".into()], 0), "{name}");
        place.decide(TrustDecision::Trust);
        fs::write(&path, "other instructions").unwrap();
        assert!(matches!(place.state(), TrustState::Changed { .. }), "{name}");
    }
}

#[test]
fn a_restricted_folder_is_never_asked_about_again() {
    let place = Place::new();
    place.decide(TrustDecision::Restrict);
    place.settings("settings.json", &hook("make -k"));
    assert_eq!(place.state(), TrustState::Restricted);
    fs::remove_dir_all(place.project.join(".claude")).unwrap();
    assert_eq!(place.state(), TrustState::Restricted);
    assert!(!place.state().must_ask() && !place.state().is_trusted());
}

#[test]
fn a_decision_can_be_changed() {
    let place = Place::new();
    place.decide(TrustDecision::Restrict);
    place.decide(TrustDecision::Trust);
    assert_eq!(place.state(), TrustState::Trusted);
    place.decide(TrustDecision::Restrict);
    assert_eq!(place.state(), TrustState::Restricted);
}

#[test]
fn what_was_not_shown_is_not_trusted() {
    let place = Place::new();
    let shown = survey(&place.project).fingerprint;
    place.settings("settings.json", &hook("make -k"));
    for shown in [shown.as_deref(), None, Some("")] {
        let refused = place.store.decide(&place.project, TrustDecision::Trust, shown);
        assert!(matches!(refused, Err(TrustError::Outdated)));
    }
    assert!(matches!(place.state(), TrustState::Unknown { .. }));
}

#[test]
fn what_cannot_be_read_is_not_trusted() {
    let place = Place::new();
    place.decide(TrustDecision::Trust);
    fs::create_dir(place.project.join(".mcp.json")).unwrap();
    assert!(matches!(place.state(), TrustState::Changed { .. }));
    let view = place.store.view(&place.project).unwrap();
    assert_eq!((view.state, view.fingerprint), (TrustStatus::Changed, None));
    let refused = place.store.decide(&place.project, TrustDecision::Trust, None);
    assert!(matches!(refused, Err(TrustError::Unreadable)));
    place.store.decide(&place.project, TrustDecision::Restrict, None).unwrap();
    assert_eq!(place.state(), TrustState::Restricted);
}

#[test]
fn a_torn_decision_is_set_aside_and_was_no_yes() {
    let place = Place::new();
    place.decide(TrustDecision::Trust);
    let path = place.kept();
    let whole = fs::read(&path).unwrap();
    for length in [0, 1, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..length]).unwrap();
        assert!(matches!(place.state(), TrustState::Unknown { .. }), "{length} bytes");
        let aside = path.with_extension("json.unreadable");
        assert_eq!(fs::read(&aside).unwrap(), whole[..length]);
        fs::remove_file(&aside).unwrap();
    }
    fs::write(&path, whole).unwrap();
    assert_eq!(place.state(), TrustState::Trusted);
}

#[test]
fn a_decision_without_a_fingerprint_trusts_nothing() {
    let place = Place::new();
    place.decide(TrustDecision::Trust);
    let path = place.kept();
    let mut record: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    record["fingerprint"] = serde_json::Value::Null;
    fs::write(&path, record.to_string()).unwrap();
    assert!(matches!(place.state(), TrustState::Changed { .. }));
    fs::create_dir(place.project.join(".mcp.json")).unwrap();
    assert!(matches!(place.state(), TrustState::Changed { .. }));
}

#[cfg(unix)]
#[test]
fn every_way_to_a_folder_is_the_same_folder() {
    let place = Place::new();
    place.decide(TrustDecision::Trust);
    let link = place.project.with_extension("link");
    std::os::unix::fs::symlink(&place.project, &link).unwrap();
    assert_eq!(place.store.state(&link).unwrap(), TrustState::Trusted);
    assert_eq!(place.store.state(&place.project.join("../project/.claude/..")).unwrap(), TrustState::Trusted);
    let view = place.store.view(&link).unwrap();
    assert_eq!(view.project, place.project.display().to_string());
}

#[test]
fn another_folder_with_the_same_files_is_another_folder() {
    let place = Place::new();
    place.decide(TrustDecision::Trust);
    let moved = place.project.with_extension("moved");
    fs::rename(&place.project, &moved).unwrap();
    assert!(matches!(place.store.state(&moved), Ok(TrustState::Unknown { .. })));
    assert!(matches!(place.store.state(&place.project), Err(TrustError::NoFolder { .. })));
}

#[test]
fn a_rule_that_the_user_had_kept_there_is_no_reason_to_ask() {
    let place = Place::new();
    place.decide(TrustDecision::Trust);
    place.store.expect_rule(&place.project, "Bash(touch b.txt)").unwrap();
    assert_eq!(place.state(), TrustState::Trusted);
    let rules = |rules: &str| format!(r#"{{"permissions":{{"allow":[{rules}]}}}}"#);
    place.settings("settings.local.json", &rules(r#""Bash(touch b.txt)""#));
    assert_eq!(place.state(), TrustState::Trusted);
    assert_eq!(place.state(), TrustState::Trusted);

    // Any other addition is.
    place.settings("settings.local.json", &rules(r#""Bash(touch b.txt)","Bash(rm:*)""#));
    assert_eq!(place.difference(), (vec!["Bash(rm:*)".into()], vec![]));
    place.settings("settings.local.json", &rules(r#""Bash(touch b.txt)""#));
    assert_eq!(place.state(), TrustState::Trusted);
    place.settings("settings.json", &rules(r#""Bash(touch b.txt)""#));
    assert_eq!(place.difference(), (vec!["Bash(touch b.txt)".into()], vec!["make".into()]));
}

#[test]
fn a_rule_is_expected_in_trusted_folders_only() {
    let place = Place::new();
    place.store.expect_rule(&place.project, "Write").unwrap();
    assert!(matches!(place.state(), TrustState::Unknown { .. }));
    place.decide(TrustDecision::Restrict);
    place.store.expect_rule(&place.project, "Write").unwrap();
    assert_eq!(place.state(), TrustState::Restricted);
}

#[test]
fn a_setting_is_loaded_by_its_name_until_the_next_decision() {
    let place = Place::new();
    place.settings("settings.json", r#"{"cleanupPeriodDays": 3, "theme": "dark"}"#);
    let view = || place.store.view(&place.project).unwrap();
    let setting = |is_loaded| UnknownSetting { name: "cleanupPeriodDays".to_owned(), is_loaded };
    assert_eq!(view().unknown_settings, [setting(false)]);
    let trust = |names: &[&str]| {
        let named = names.iter().map(ToString::to_string).collect();
        let shown = view().fingerprint;
        place.store.decide_naming(&place.project, TrustDecision::Trust, shown.as_deref(), named)
    };
    for name in ["theme", "somethingElse", "disableAllHooks"] {
        assert!(matches!(trust(&[name]), Err(TrustError::NotLeftOut { .. })), "{name}");
    }
    assert_eq!(place.state(), TrustState::Unknown { survey: survey(&place.project) });

    let admitted = || place.store.check(&place.project).unwrap();
    trust(&[]).unwrap();
    let without = admitted();
    trust(&["cleanupPeriodDays"]).unwrap();
    assert_eq!(view().unknown_settings, [setting(true)]);
    let with = admitted();
    assert_ne!(without, with, "it is another copy");
    assert_eq!(admitted(), with, "the decision is kept");

    // Keeping the earlier settings keeps the named ones.
    place.settings("settings.json", r#"{"cleanupPeriodDays": 4, "theme": "dark"}"#);
    assert!(place.state().must_ask());
    place.decide(TrustDecision::Keep);
    assert_eq!((admitted(), view().unknown_settings), (with, vec![setting(true)]));
    place.decide(TrustDecision::Trust);
    assert_eq!(view().unknown_settings, [setting(false)]);
    place.decide(TrustDecision::Restrict);
    assert_eq!(view().unknown_settings, [setting(false)]);
}
