//! Questions to the git program that run nothing of the repository's configuration.
//!
//! Commands that read git's own files open no file of the project, so no filter, textconv or external diff runs. The few
//! that read or write files (see `worktrees` and `commit`) get every filter turned off with [`Git::with`]. The environment is closed, and [`SWITCHES`] and [`environment`] turn off everything else that a
//! configuration can run.

use super::content::is_program;
use crate::api::Priority;
use crate::disk;
use crate::files::user_file;
use crate::host::{Host, Program};
use crate::probe::{Answer, Unanswered, ask_with};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time limit of one question.
const DEADLINE: Duration = Duration::from_secs(15);

/// Maximum output of a listing, in bytes: some 400,000 files.
pub(crate) const MOST_LISTED: usize = 64 * 1024 * 1024;

/// Settings that win over those of the repository.
const SWITCHES: &[&str] = &[
    // `ls-files` and `check-attr` run it when they read the index (2.47).
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.sshCommand=false",
    "core.gitProxy=",
    "core.alternateRefsCommand=",
    "credential.helper=",
    "core.untrackedCache=false",
    "submodule.recurse=false",
    // A repository without a working tree that is a part of the project.
    "safe.bareRepository=explicit",
];

fn environment(program: &Path) -> Vec<(OsString, OsString)> {
    let folder = program.parent().map(Path::as_os_str).unwrap_or_default();
    let fixed = [
        ("LC_ALL", "C"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_ATTR_NOSYSTEM", "1"),
        ("GIT_OPTIONAL_LOCKS", "0"),
        // A clone without all objects would fetch them, over any program that its configuration names. Before 2.45 git
        // does not know the first of these.
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_ALLOW_PROTOCOL", "none"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_ASKPASS", ""),
        ("GIT_LITERAL_PATHSPECS", "1"),
    ];
    let mut all: Vec<(OsString, OsString)> =
        fixed.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect();
    all.push(("PATH".into(), folder.into()));
    for name in ["HOME", "XDG_CONFIG_HOME", "SystemRoot", "USERPROFILE"] {
        all.extend(std::env::var_os(name).map(|value| (name.into(), value)));
    }
    all
}

/// Why git gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("git was not found")]
    NoProgram,
    #[error("git: {0}")]
    Unanswered(#[from] Unanswered),
    /// The last line of its error output.
    #[error("git: {0}")]
    Failed(String),
    #[error(transparent)]
    Disk(#[from] disk::Unfinished),
    #[error("the repository has more files than can be listed")]
    TooMuch,
    #[error("the filter “{0}” of the repository cannot be turned off")]
    Filter(String),
}

/// The git program, asked about one folder.
pub(crate) struct Git<'a> {
    host: &'a dyn Host,
    program: PathBuf,
    folder: &'a Path,
    ignore_file: Option<PathBuf>,
    /// `name=value`, after those of [`SWITCHES`].
    settings: Vec<String>,
    /// The environment of the user, with which git runs what the user and the repository configure. `None` is the closed
    /// environment.
    of_user: Option<Vec<(OsString, OsString)>>,
    /// Variables in addition to the environment.
    variables: Vec<(OsString, OsString)>,
    deadline: Duration,
}

impl<'a> Git<'a> {
    pub async fn new(host: &'a dyn Host, folder: &'a Path) -> Result<Self, GitError> {
        let project = folder.to_owned();
        let finding = move || {
            let program = program(std::env::var_os("PATH").as_deref(), &project);
            (program, user_file().filter(|file| file.is_file()))
        };
        let (program, ignore_file) = disk::run(folder, disk::DEADLINE, finding).await?;
        let program = program.ok_or(GitError::NoProgram)?;
        let (settings, variables) = (Vec::new(), Vec::new());
        Ok(Self {
            host,
            program,
            folder,
            ignore_file,
            settings,
            of_user: None,
            variables,
            deadline: DEADLINE,
        })
    }

    pub fn folder(&self) -> &'a Path {
        self.folder
    }

    /// The same program, asked about another folder.
    pub fn of<'b>(&self, folder: &'b Path) -> Git<'b>
    where
        'a: 'b,
    {
        Git {
            host: self.host,
            program: self.program.clone(),
            folder,
            ignore_file: self.ignore_file.clone(),
            settings: self.settings.clone(),
            of_user: self.of_user.clone(),
            variables: self.variables.clone(),
            deadline: self.deadline,
        }
    }

    /// The same program as the user runs it: with this environment, all settings, hooks and filters.
    pub fn as_user(&self, environment: Vec<(OsString, OsString)>) -> Self {
        Self { of_user: Some(environment), ..self.of(self.folder) }
    }

    /// The same program with more variables.
    pub fn with_variables(&self, variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let mut git = self.of(self.folder);
        git.variables.extend(variables);
        git
    }

    /// The same program with more settings (`name=value`) and another time limit.
    pub fn with(self, settings: Vec<String>, deadline: Duration) -> Self {
        Self { settings, deadline, ..self }
    }

    /// Settings that empty every filter that the repository has.
    pub async fn filters_off(&self) -> Result<Vec<String>, GitError> {
        let listed = self.ask(&["config", "--list", "--null", "--name-only"]).await?;
        let listed = String::from_utf8_lossy(&listed);
        let names: BTreeSet<&str> = listed
            .split('\0')
            .filter_map(|key| key.strip_prefix("filter.")?.rsplit_once('.'))
            .map(|(name, _)| name)
            .collect();
        let mut settings = Vec::new();
        for name in names {
            // Git takes what is before the first `=` for the name.
            if name.contains(['=', '\n', '\u{fffd}']) {
                return Err(GitError::Filter(name.to_owned()));
            }
            settings.extend(["clean", "smudge", "process"].map(|part| format!("filter.{name}.{part}=")));
            settings.push(format!("filter.{name}.required=false"));
        }
        Ok(settings)
    }

    /// Runs a command without input and returns its output.
    pub async fn ask(&self, args: &[&str]) -> Result<Vec<u8>, GitError> {
        self.ask_with(args, &[], MOST_LISTED).await
    }

    pub async fn ask_with(&self, args: &[&str], input: &[u8], most: usize) -> Result<Vec<u8>, GitError> {
        let Answer { exited, stdout, stderr } = self.run(args, input, most).await?;
        if stdout.len() >= most {
            return Err(GitError::TooMuch);
        }
        if exited.code == Some(0) {
            return Ok(stdout);
        }
        let said = String::from_utf8_lossy(&stderr);
        let line = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it failed");
        let full = said.lines().find(|line| line.starts_with("fatal:")).unwrap_or(line);
        Err(GitError::Failed(full.chars().filter(|c| !c.is_control()).take(300).collect()))
    }

    async fn run(&self, args: &[&str], input: &[u8], most: usize) -> Result<Answer, GitError> {
        Ok(ask_with(self.host, self.started_with(args), input, most, self.deadline).await?)
    }

    pub fn host(&self) -> &'a dyn Host {
        self.host
    }

    /// The program with these arguments.
    pub fn started_with(&self, args: &[&str]) -> Program {
        let mut all: Vec<OsString> = vec!["--no-pager".into()];
        let switches = if self.of_user.is_some() { &[] } else { SWITCHES };
        for switch in switches.iter().copied().chain(self.settings.iter().map(String::as_str)) {
            all.extend(["-c".into(), switch.into()]);
        }
        if let (Some(file), None) = (&self.ignore_file, &self.of_user) {
            let mut setting = OsString::from("core.excludesFile=");
            setting.push(file);
            all.extend(["-c".into(), setting]);
        }
        all.extend(args.iter().map(OsString::from));
        let mut environment = self.of_user.clone().unwrap_or_else(|| environment(&self.program));
        environment.extend(self.variables.iter().cloned());
        Program {
            path: self.program.clone(),
            args: all,
            folder: self.folder.to_owned(),
            environment,
            priority: Priority::Normal,
        }
    }
}

/// The git program in `PATH` or in a usual folder, never one in the project.
fn program(path: Option<&OsStr>, project: &Path) -> Option<PathBuf> {
    let usual = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"].map(PathBuf::from);
    let name = if cfg!(windows) { "git.exe" } else { "git" };
    let folders = path.map(std::env::split_paths).into_iter().flatten().chain(usual);
    folders
        .filter(|folder| folder.is_absolute() && !folder.starts_with(project))
        .map(|folder| folder.join(name))
        .find(|program| {
            is_program(program) && !dunce::canonicalize(program).is_ok_and(|p| p.starts_with(project))
        })
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_git_of_the_project_is_never_run() {
        let root = tempfile::tempdir().unwrap();
        let (project, outside) = (root.path().join("project"), root.path().join("bin"));
        for folder in [&project, &outside] {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join("git"), "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(folder.join("git"), std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let linked = root.path().join("linked");
        std::fs::create_dir(&linked).unwrap();
        std::os::unix::fs::symlink(project.join("git"), linked.join("git")).unwrap();
        let path = std::env::join_paths([&PathBuf::from("."), &project, &linked, &outside]).unwrap();
        assert_eq!(program(Some(&path), &project), Some(outside.join("git")));
    }
}
