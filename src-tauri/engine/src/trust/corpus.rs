//! Tests of the survey and the store with every folder of the hostile corpus.

use super::*;
use crate::api::{Finding, FindingKind};
use crate::claude::trust::{MOST_FINDINGS, MOST_RAW_TEXT, MOST_TEXT};
use hostile_projects::{Effect, HostileProject, all};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

#[path = "../../../../tests/src/hostile_projects.rs"]
#[allow(dead_code, reason = "the tests with the real agent use the rest")]
mod hostile_projects;

const TRAP: &str = "127.0.0.1:9";

/// A folder with no repository and no settings above it.
fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    (folder, path)
}

fn build(name: &str, into: &Path) -> PathBuf {
    let project = all().into_iter().find(|project| project.name == name).unwrap();
    project.build(into, TRAP).unwrap()
}

/// One line for each finding.
fn told(survey: &Survey) -> Vec<String> {
    let line = |finding: &Finding| {
        let name = finding.name.as_ref().map(|name| format!(" [{name}]")).unwrap_or_default();
        let details: String =
            finding.details.iter().map(|detail| format!("; {} {}", detail.name, detail.value)).collect();
        format!("{:?} {}: {}{name}: {}{details}", finding.severity, finding.file, finding.title, finding.text)
    };
    survey.findings.iter().map(line).collect()
}

fn kinds(survey: &Survey) -> Vec<String> {
    let mut kinds: Vec<String> = survey
        .findings
        .iter()
        .map(|finding| serde_json::to_value(finding.kind).unwrap().as_str().unwrap().to_owned())
        .collect();
    let mut seen = BTreeSet::new();
    kinds.retain(|kind| seen.insert(kind.clone()));
    kinds
}

#[test]
fn each_folder_shows_what_it_is_known_for() {
    let (_folder, into) = place();
    let projects = all();
    for project in &projects {
        let HostileProject { name, finds, is_judged, unlimited, .. } = project;
        let survey = survey(&project.build(&into, TRAP).unwrap());
        assert_eq!(kinds(&survey), *finds, "{name}: {:#?}", told(&survey));
        assert_eq!(survey.fingerprint.is_some(), *is_judged, "{name}");
        // Every folder with an effect is found to be dangerous.
        assert!(*unlimited == Effect::Nothing || !survey.nothing_to_run(), "{name}: {:#?}", told(&survey));
        assert!(survey.findings.is_sorted_by_key(|finding| (finding.severity, finding.kind)), "{name}");
    }
    let names: BTreeSet<_> = projects.iter().map(|project| project.name).collect();
    assert_eq!(names.len(), projects.len(), "two folders have one name");
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/hostile/projects");
    for entry in fs::read_dir(kept).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(names.contains(name.as_str()), "{name} is not in the table");
    }
}

/// Compares a folder's findings with the expected lines.
fn check(name: &str, expected: &[&str]) {
    let (_folder, into) = place();
    let survey = survey(&build(name, &into));
    let told: Vec<_> =
        told(&survey).iter().map(|line| line.replace(&into.display().to_string(), "/at")).collect();
    assert_eq!(told, expected);
}

#[test]
fn what_runs_is_shown_word_for_word() {
    check(
        "hook-with-arguments",
        &["Runs .claude/settings.json: Runs when a session starts: touch ran-hook-with-arguments 'ran with \
             spaces'"],
    );
    check(
        "hook-mcp-tool",
        &["Runs .claude/settings.json: Calls a server's tool with every prompt: upload; server files; \
             input {\"path\":\"${cwd}\"}"],
    );
    check(
        "server-stdio",
        &["Runs .mcp.json: Starts a server [issue-tracker]: sh -c 'touch ran-server-stdio'; LD_PRELOAD \
             ./evil.so"],
    );
    check(
        "key-helper",
        &["Runs .claude/settings.json: Runs to get your API key: touch ran-key-helper; echo key"],
    );
    check(
        "invisible-text",
        &["Runs .claude/settings.json: Runs when a session starts: touch ran-invisible-text \
             #\u{202e}\u{200b}si siht"],
    );
}

#[test]
fn where_the_key_goes_comes_before_other_variables() {
    check(
        "google-helper",
        &[
            "Runs .claude/settings.json: Runs to log in to Google Cloud: touch ran-google-helper",
            "Redirects .claude/settings.json: Sends your API key elsewhere: ANTHROPIC_VERTEX_BASE_URL = \
             http://127.0.0.1:9",
            "Redirects .claude/settings.json: Changes how the agent works or where it looks: \
             CLAUDE_CODE_USE_VERTEX = 1",
            "Redirects .claude/settings.json: Changes how the agent works or where it looks: \
             CLAUDE_CODE_MAX_RETRIES = 0",
            "Redirects .claude/settings.json: Changes how the agent works or where it looks: CLOUD_ML_REGION \
             = none",
            "Redirects .claude/settings.json: Changes how the agent works or where it looks: \
             ANTHROPIC_VERTEX_PROJECT_ID = none",
        ],
    );
}

#[test]
fn a_setting_that_is_not_known_is_shown_and_left_out() {
    let left_out =
        "Runs .claude/settings.json: May run or send something, so it is left out unless you name it";
    check(
        "unknown-settings",
        &[
            &format!("{left_out} [launchHelper]: touch ran-unknown-settings"),
            &format!("{left_out} [warmUp]: {{\"steps\":[{{\"command\":\"touch ran-warm-up\"}}]}}"),
            &format!("{left_out} [report]: {{\"to\":\"http://127.0.0.1:9\"}}"),
            "Changes .claude/settings.json: Another setting [theme]: dark",
        ],
    );
}

#[test]
fn what_reaches_in_from_outside_is_named_by_where_it_is() {
    check("server-above", &["Runs ../.mcp.json: Starts a server [above]: touch ran-server-above"]);
    check(
        "repository-local",
        &["Runs ../.claude/settings.local.json: Runs when a session starts: touch ran-repository-local"],
    );
    check(
        "worktree-of-another",
        &["Runs /at/worktree-of-another/main/.claude/settings.local.json: Runs when a session starts: \
             touch ran-main-worktree"],
    );
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_and_named() {
    let (_folder, into) = place();
    for (name, file) in [
        ("linked-folder", "linked-folder.outside/settings.json"),
        ("linked-file", "linked-file.outside/theirs.json"),
        ("linked-servers", "linked-servers.outside/servers"),
    ] {
        let survey = survey(&build(name, &into));
        assert_eq!(survey.findings[0].link, Some(into.join(file).display().to_string()), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn where_a_link_leads_is_part_of_the_fingerprint() {
    use std::os::unix::fs::symlink;
    let (_folder, into) = place();
    let project = build("linked-folder", &into);
    let before = survey(&project);
    fs::rename(into.join("linked-folder.outside"), into.join("elsewhere")).unwrap();
    fs::remove_file(project.join(".claude")).unwrap();
    symlink(into.join("elsewhere"), project.join(".claude")).unwrap();
    let after = survey(&project);
    assert_eq!(before.findings[0].text, after.findings[0].text);
    assert_ne!(before.fingerprint, after.fingerprint);
}

#[test]
fn only_what_runs_redirects_or_allows_asks_at_length() {
    let (_folder, into) = place();
    for name in ["harmless", "harmless-settings", "empty-files", "nested-settings"] {
        assert!(survey(&build(name, &into)).nothing_to_run(), "{name}");
    }
}

#[test]
fn what_is_too_long_to_show_cannot_be_trusted() {
    let (_folder, into) = place();
    let project = build("harmless", &into);
    let rules = vec!["Write"; MOST_FINDINGS + 1];
    // Each hook of the group is named by its long matcher, so that few bytes produce much text.
    let hooks = vec![serde_json::json!({"type": "command", "command": "x"}); MOST_FINDINGS - 1];
    let matcher = "x".repeat(1024 * 1024);
    for settings in [
        serde_json::json!({"permissions": {"allow": rules}}),
        serde_json::json!({"hooks": {"Stop": [{"matcher": matcher, "hooks": hooks}]}}),
    ] {
        fs::create_dir_all(project.join(".claude")).unwrap();
        fs::write(project.join(".claude/settings.json"), settings.to_string()).unwrap();
        let survey = survey(&project);
        assert_eq!(survey.findings[0].kind, FindingKind::Unreadable);
        assert_eq!(survey.fingerprint, None);
        let n_bytes: usize = survey.findings.iter().map(told_length).sum();
        assert!(n_bytes < 2 * MOST_TEXT, "{n_bytes}");
    }
}

#[test]
fn a_file_that_is_no_json_is_shown_whole_or_cannot_be_trusted() {
    let (_folder, into) = place();
    let project = build("invalid-json", &into);
    assert!(survey(&project).fingerprint.is_some());
    fs::write(project.join(".claude/settings.json"), "{".to_owned() + &"…".repeat(MOST_RAW_TEXT)).unwrap();
    let survey = survey(&project);
    assert_eq!(survey.fingerprint, None);
    assert!(survey.findings[0].text.ends_with("bytes more"), "{}", survey.findings[0].text.len());
}

fn told_length(finding: &Finding) -> usize {
    let details: usize = finding.details.iter().map(|detail| detail.name.len() + detail.value.len()).sum();
    finding.text.len() + finding.name.as_deref().map_or(0, str::len) + details
}
