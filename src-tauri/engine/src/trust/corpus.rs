//! The survey and the store against every folder of the hostile corpus.

use super::*;
use hostile_projects::{Effect, HostileProject, all};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

#[path = "../../../../tests/src/hostile_projects.rs"]
#[allow(dead_code, reason = "the tests with the real agent use the rest")]
mod hostile_projects;

const TRAP: &str = "127.0.0.1:9";

/// A place with no repository and no settings above it.
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
        // Whatever the agent would do is found to be dangerous.
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
#[test]
fn zz_print() {
    let (_folder, into) = place();
    for p in all() { println!("== {}", p.name); for l in told(&survey(&p.build(&into, TRAP).unwrap())) { println!("   {}", l.chars().take(300).collect::<String>().replace(&into.display().to_string(), "/at")); } }
}
