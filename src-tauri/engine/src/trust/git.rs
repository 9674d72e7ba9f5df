//! The configuration of git in a folder: it can make git run programs, also at a `git status` that no agent asks about.
//!
//! In a restricted folder the agent gets variables that take precedence over it. On the page of a folder it is part of
//! the findings.

mod file;
mod keys;
mod repositories;

#[cfg(test)]
#[cfg(unix)]
mod tests;

use crate::api::{Finding, FindingDetail, FindingKind, Severity};
use crate::disk::{FileKind, list_kinds, read_regular};
use keys::{Effect, effect};
use repositories::{Repositories, Repository};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A folder that has no hooks.
const NO_FOLDER: &str = if cfg!(windows) { "NUL" } else { "/dev/null" };

/// Settings that hold in every repository, also in one that appears while the agent runs.
const ALWAYS: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    ("core.hooksPath", NO_FOLDER),
    // A remote helper that runs any command.
    ("protocol.ext.allow", "never"),
    // A repository without a working tree that is a part of the folder (since 2.38).
    ("safe.bareRepository", "explicit"),
];

/// Git takes every repository for that of another user, and refuses those that `safe.directory` does not name (since
/// 2.35.2). There is no other switch that refuses a repository whose settings are unknown.
const REFUSE_OTHERS: &str = "GIT_TEST_ASSUME_DIFFERENT_OWNER";

/// Hooks are small; of a larger one only the size is shown.
const MOST_HOOK: u64 = 256 * 1024;
const MOST_HOOKS: usize = 200;
const MOST_FINDINGS: usize = 500;

/// Variables for an agent in a restricted folder: no program that git's configuration in the folder names is run.
///
/// `inherited` is the agent's environment without them.
pub fn restricted_environment(
    project: &Path,
    inherited: impl Fn(&str) -> Option<OsString>,
) -> Vec<(OsString, OsString)> {
    let project = dunce::canonicalize(project).unwrap_or_else(|_| project.to_owned());
    let of_user = users_settings(&inherited);
    shield(&repositories::find(&project), &of_user, inherited("GIT_CONFIG_COUNT"))
}

fn shield(
    found: &Repositories,
    of_user: &[file::Setting],
    count: Option<OsString>,
) -> Vec<(OsString, OsString)> {
    let mut all: Vec<(String, String)> = Vec::new();
    let mut neutral = BTreeMap::new();
    let mut known: Vec<&Repository> = Vec::new();
    for repository in &found.list {
        let Ok(settings) = &repository.settings else { continue };
        let mut all_known = true;
        for setting in settings {
            match effect(setting) {
                Effect::Program { neutral: value } => {
                    neutral.insert(setting.key.clone(), value);
                }
                Effect::NoProgram | Effect::Harmless => {}
                Effect::Unknown => all_known = false,
            }
        }
        if all_known {
            known.push(repository);
        }
    }
    let mut variables: Vec<(OsString, OsString)> = Vec::new();
    if found.is_cut || known.len() < found.list.len() {
        variables.push((REFUSE_OTHERS.into(), "1".into()));
        // An empty value clears the list.
        all.push(("safe.directory".to_owned(), String::new()));
        for repository in known {
            for folder in [&repository.folder, &repository.git] {
                all.push(("safe.directory".to_owned(), folder.to_string_lossy().into_owned()));
            }
        }
    }
    let fixed = ALWAYS.iter().map(|(key, value)| ((*key).to_owned(), *value));
    for (key, value) in fixed.chain(neutral) {
        let mut own =
            of_user.iter().filter(|setting| setting.key.eq_ignore_ascii_case(&key) && stays(setting));
        if key.starts_with("credential.") {
            all.push((key.clone(), value.to_owned()));
            let helpers = of_user.iter().filter(|setting| setting.key == "credential.helper");
            all.extend(helpers.map(|helper| (helper.key.clone(), helper.value.clone())));
        } else {
            all.push((key.clone(), own.next_back().map_or(value, |own| &own.value).to_owned()));
        }
        if key == "core.gitproxy" {
            // Of this setting the first value counts.
            variables.push(("GIT_PROXY_COMMAND".into(), "".into()));
        }
    }
    // A clone without all objects would fetch them at a `git diff`, from an address that the folder names (since 2.45).
    variables.push(("GIT_NO_LAZY_FETCH".into(), "1".into()));
    let first = count.and_then(|count| count.to_str()?.parse::<usize>().ok()).unwrap_or(0);
    for (index, (key, value)) in all.iter().enumerate() {
        let index = first + index;
        variables.push((format!("GIT_CONFIG_KEY_{index}").into(), key.into()));
        variables.push((format!("GIT_CONFIG_VALUE_{index}").into(), value.into()));
    }
    variables.push(("GIT_CONFIG_COUNT".into(), (first + all.len()).to_string().into()));
    variables
}

/// Whether what the user set for all repositories can stay: it names nothing of the folder.
fn stays(setting: &file::Setting) -> bool {
    let is_absolute = || setting.value.starts_with("~/") || Path::new(&setting.value).is_absolute();
    match setting.key.as_str() {
        "core.fsmonitor" | "protocol.ext.allow" => false,
        "core.hookspath" => is_absolute(),
        _ => true,
    }
}

/// The user's own settings for all repositories; unreadable ones are left out.
fn users_settings(inherited: &impl Fn(&str) -> Option<OsString>) -> Vec<file::Setting> {
    let home = dirs::home_dir().unwrap_or_default();
    let data = inherited("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
    let system = inherited("GIT_CONFIG_SYSTEM").map_or_else(|| "/etc/gitconfig".into(), PathBuf::from);
    let mut files = vec![system];
    match inherited("GIT_CONFIG_GLOBAL") {
        Some(path) => files.push(path.into()),
        None => files.extend([data.join("git/config"), home.join(".gitconfig")]),
    }
    let mut settings = Vec::new();
    for path in files {
        let before = settings.len();
        if repositories::read(&mut settings, &path, &mut 20).is_err() {
            settings.truncate(before);
        }
    }
    settings
}

/// The findings about the repositories in and above a folder. The path must contain no links.
pub(super) fn findings(project: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    for repository in repositories::find(project).list {
        let label = label(project, &repository.git);
        let mut add = |kind, title: &str, text: String, details| {
            if findings.len() <= MOST_FINDINGS {
                findings.push(finding(kind, title, format!("{label}/config"), text, details));
            }
        };
        match &repository.settings {
            Ok(settings) => {
                for setting in settings {
                    let title = match effect(setting) {
                        Effect::Program { .. } => "Runs when git is used",
                        Effect::Unknown => "May run when git is used",
                        Effect::NoProgram | Effect::Harmless => continue,
                    };
                    let text = format!("{} = {}", setting.key, setting.value);
                    add(FindingKind::Helper, title, text, Vec::new());
                }
            }
            Err(reason) => {
                add(
                    FindingKind::Unreadable,
                    "Cannot be read, so it counts as dangerous",
                    reason.clone(),
                    Vec::new(),
                );
            }
        }
        let folder = repository.git.join("hooks");
        for (path, name) in hooks(&folder) {
            if findings.len() <= MOST_FINDINGS {
                let title = "Runs when git is used";
                let file = format!("{label}/hooks/{name}");
                findings.push(finding(FindingKind::Hook, title, file, name, digest(&path)));
            }
        }
    }
    if findings.len() > MOST_FINDINGS {
        let text = format!("There are more than {MOST_FINDINGS} settings of git that may run something.");
        let title = "Says more than can be shown, so it counts as dangerous";
        findings.push(finding(FindingKind::Unreadable, title, ".git".to_owned(), text, Vec::new()));
    }
    findings
}

fn finding(
    kind: FindingKind,
    title: &str,
    file: String,
    text: String,
    details: Vec<FindingDetail>,
) -> Finding {
    let title = title.to_owned();
    Finding { kind, severity: Severity::Runs, file, link: None, title, name: None, text, details }
}

/// The path for display, relative to the project.
fn label(project: &Path, git: &Path) -> String {
    for (n_up, folder) in project.ancestors().enumerate() {
        if n_up > 0 && folder.parent().is_none() {
            break;
        }
        if let Ok(below) = git.strip_prefix(folder) {
            return format!("{}{}", "../".repeat(n_up), below.display());
        }
    }
    git.display().to_string()
}

/// The hooks in a folder that git would run.
fn hooks(folder: &Path) -> Vec<(PathBuf, String)> {
    // Without a folder there are none.
    let Ok(listing) = list_kinds(folder, MOST_HOOKS) else { return Vec::new() };
    let hook = |(path, kind): (PathBuf, FileKind)| {
        let name = path.file_name()?.to_string_lossy().into_owned();
        (kind != FileKind::Folder && !name.ends_with(".sample")).then_some((path, name))
    };
    listing.entries.into_iter().filter_map(hook).filter(|(path, _)| is_executable(path)).collect()
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_path: &Path) -> bool {
    true
}

/// A change of a hook is shown, and its text is not: it changes as other scripts do.
fn digest(path: &Path) -> Vec<FindingDetail> {
    let value = match read_regular(path, MOST_HOOK) {
        Ok(bytes) => {
            let digest: String =
                Sha256::digest(&bytes).iter().take(6).map(|byte| format!("{byte:02x}")).collect();
            format!("{} bytes, SHA-256 {digest}", bytes.len())
        }
        Err(error) => error.to_string(),
    };
    vec![FindingDetail { name: "script".to_owned(), value }]
}
