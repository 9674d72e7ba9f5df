//! The environment of the user's login shell. A desktop session often starts Deskbell with a short PATH, and without
//! the variables that the user's shell sets in its own files.
//!
//! The shell runs the user's files, so it may hang, print noise or fail. It gets a deadline, and everything works
//! without its answer.

mod no_environment;

use crate::api::Priority;
use crate::host::{Host, Program};
use crate::launch::Launch;
use crate::probe::ask;
use no_environment::NoEnvironment;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

/// Time that the shell may take. Version managers need up to a second on a slow disk.
const LIMIT: Duration = Duration::from_secs(5);

/// Printed before and after the variables, because the user's files may print, too.
const MARK: &str = "deskbell-environment-6f1c";

/// Variables that belong to the shell itself.
const OF_THE_SHELL: &[&str] = &["_", "PWD", "OLDPWD", "SHLVL", "SHELL", "TERM"];

/// Variables, each with its value.
pub type Variables = Vec<(OsString, OsString)>;

/// The user's login shell.
#[derive(Clone, Copy, Debug)]
pub struct LoginShell<'a> {
    pub program: &'a Path,
    /// The user's home folder, in which the shell starts.
    pub home: &'a Path,
}

impl LoginShell<'_> {
    /// Asks the shell, for at most 5 s, what it adds to `ours`, the environment of this process.
    pub async fn additions(
        &self,
        host: &dyn Host,
        ours: Variables,
        run_token: &str,
    ) -> Result<Variables, NoEnvironment> {
        let theirs = self.environment(host, ours.clone(), run_token, LIMIT).await?;
        Ok(additions(&ours, theirs))
    }

    /// Asks the shell for its environment. `ours` is the environment that it starts with. Takes at most `limit`.
    ///
    /// An interactive shell gives its commands process groups of their own. `run_token` is in the environment of all of them,
    /// so that what is left of them is ended with the question.
    async fn environment(
        &self,
        host: &dyn Host,
        mut ours: Variables,
        run_token: &str,
        limit: Duration,
    ) -> Result<Variables, NoEnvironment> {
        ours.retain(|(name, _)| name != Launch::RUN_TOKEN);
        ours.push((Launch::RUN_TOKEN.into(), run_token.into()));
        let program = Program {
            path: self.program.to_owned(),
            args: arguments(self.program).into_iter().map(OsString::from).collect(),
            folder: self.home.to_owned(),
            environment: ours,
            priority: Priority::Normal,
        };
        let answer = ask(host, program, limit).await;
        host.kill_tagged(run_token);
        let answer = answer?;
        parse(&answer.stdout).ok_or(NoEnvironment::Unreadable)
    }
}

/// The arguments with which a shell prints its environment.
fn arguments(shell: &Path) -> Vec<String> {
    // Understood by bash, zsh, fish, dash, ksh, tcsh and nushell.
    let script = format!("printf %s {MARK}; env -0; printf %s {MARK}");
    let is_csh = shell.file_stem().is_some_and(|name| name == "csh" || name == "tcsh");
    // Many users' files set PATH for interactive shells only.
    if is_csh {
        // `-l` may not be combined with other options (tcsh 6.24): the file of a login is read by the script.
        let script = format!("if ( -r ~/.login ) source ~/.login; {script}");
        return ["-i", "-c", &script].map(str::to_owned).into();
    }
    ["-l", "-i", "-c", &script].map(str::to_owned).into()
}

/// The variables between the marks.
fn parse(output: &[u8]) -> Option<Variables> {
    let mark = MARK.as_bytes();
    let find = |text: &[u8]| text.windows(mark.len()).position(|window| window == mark);
    let rest = &output[find(output)? + mark.len()..];
    let entries = &rest[..find(rest)?];
    let variable = |entry: &[u8]| {
        let at = entry.iter().position(|byte| *byte == b'=').filter(|at| *at > 0)?;
        Some((os_string(&entry[..at])?, os_string(&entry[at + 1..])?))
    };
    let variables: Variables = entries.split(|byte| *byte == 0).filter_map(variable).collect();
    (!variables.is_empty()).then_some(variables)
}

#[cfg(unix)]
fn os_string(bytes: &[u8]) -> Option<OsString> {
    Some(std::os::unix::ffi::OsStringExt::from_vec(bytes.to_vec()))
}

#[cfg(not(unix))]
fn os_string(bytes: &[u8]) -> Option<OsString> {
    String::from_utf8(bytes.to_vec()).ok().map(OsString::from)
}

/// What an agent gets of the shell's environment in addition to ours: PATH with the shell's folders first, and the
/// variables that ours does not have.
fn additions(ours: &[(OsString, OsString)], shell: Variables) -> Variables {
    let value = |name: &str| ours.iter().find(|(known, _)| known == name).map(|(_, value)| value);
    let mut added = Variables::new();
    for (name, theirs) in shell {
        if name == "PATH" {
            added.push((name, joined(&theirs, value("PATH").map(OsString::as_os_str))));
        } else if !Launch::is_private(&name)
            && !OF_THE_SHELL.iter().any(|own| name == *own)
            && !ours.iter().any(|(known, _)| *known == name)
        {
            added.push((name, theirs));
        }
    }
    added
}

/// One PATH with the folders of both, each once.
fn joined(first: &OsStr, second: Option<&OsStr>) -> OsString {
    let mut folders = Vec::new();
    for folder in std::env::split_paths(first).chain(second.iter().flat_map(std::env::split_paths)) {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    std::env::join_paths(folders).unwrap_or_else(|_| first.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::Unanswered;

    fn variables(of: &[(&str, &str)]) -> Variables {
        of.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect()
    }

    #[test]
    fn variables_are_found_between_noise() {
        let output = format!("Welcome!\nA=1\0{MARK}PATH=/a:/b\0TWO=x\ny=z\0=odd\0{MARK}bye\0B=2");
        assert_eq!(parse(output.as_bytes()), Some(variables(&[("PATH", "/a:/b"), ("TWO", "x\ny=z")])));
        let without = ["".to_owned(), "PATH=/a".to_owned(), format!("{MARK}PATH=/a\0"), MARK.repeat(2)];
        for without in without {
            assert_eq!(parse(without.as_bytes()), None, "{without}");
        }
    }

    #[test]
    fn a_c_shell_reads_the_file_of_a_login_itself() {
        let of = |shell: &str| arguments(Path::new(shell));
        assert_eq!(of("/bin/zsh")[..3], ["-l", "-i", "-c"]);
        assert_eq!(of("/usr/bin/nu")[..3], ["-l", "-i", "-c"]);
        let [interactive, command, script] = &of("/bin/tcsh")[..] else { panic!("three arguments") };
        assert_eq!((interactive.as_str(), command.as_str()), ("-i", "-c"));
        assert!(script.starts_with("if ( -r ~/.login ) source ~/.login; printf"), "{script}");
        assert_eq!(of("/bin/csh"), of("/bin/tcsh"));
    }

    #[cfg(unix)]
    #[test]
    fn the_shells_folders_come_first_and_only_missing_variables_are_added() {
        let ours = variables(&[("PATH", "/usr/bin:/bin"), ("LANG", "C")]);
        let shell = variables(&[
            ("PATH", "/home/i/.nvm/bin:/usr/bin"),
            ("LANG", "de_DE"),
            ("ANTHROPIC_BASE_URL", "https://proxy.example"),
            ("SHLVL", "1"),
            ("CLAUDECODE", "1"),
        ]);
        let expected =
            [("PATH", "/home/i/.nvm/bin:/usr/bin:/bin"), ("ANTHROPIC_BASE_URL", "https://proxy.example")];
        assert_eq!(additions(&ours, shell), variables(&expected));
    }

    #[cfg(unix)]
    mod shells {
        use super::*;
        use crate::host::LocalHost;

        /// Asks `sh` with these lines in the user's own file.
        async fn ask_shell(profile: &str, limit: Duration) -> Result<Variables, NoEnvironment> {
            let home = tempfile::tempdir().unwrap();
            std::fs::write(home.path().join(".profile"), profile).unwrap();
            let home_path = home.path().display().to_string();
            let ours = variables(&[("HOME", &home_path), ("PATH", "/usr/bin:/bin")]);
            let token = format!("shell-{}", home_path.replace('/', "-"));
            let shell = LoginShell { program: Path::new("/bin/sh"), home: home.path() };
            shell.environment(&LocalHost, ours, &token, limit).await
        }

        #[tokio::test]
        async fn the_users_own_file_counts_whatever_it_prints() {
            let profile = "echo Welcome; echo oops >&2\nPATH=/from/profile:$PATH\nexport NEW=1\n";
            let shell = ask_shell(profile, LIMIT * 4).await.unwrap();
            let value = |name: &str| shell.iter().find(|(known, _)| known == name).unwrap().1.clone();
            assert!(value("PATH").to_string_lossy().starts_with("/from/profile:"));
            assert_eq!(value("NEW"), "1");
        }

        #[tokio::test]
        async fn a_shell_that_hangs_ends_or_is_missing_has_no_environment() {
            let limit = Duration::from_millis(300);
            let hangs = ask_shell("sleep 600\n", limit).await;
            assert!(matches!(hangs, Err(NoEnvironment::Unanswered(Unanswered::TimedOut(_)))), "{hangs:?}");
            let ends = ask_shell("exit 0\n", LIMIT * 4).await;
            assert!(matches!(ends, Err(NoEnvironment::Unreadable)), "{ends:?}");
            let shell = LoginShell { program: Path::new("/no/shell"), home: Path::new("/") };
            let missing = shell.additions(&LocalHost, vec![], "shell").await;
            assert!(matches!(missing, Err(NoEnvironment::Unanswered(Unanswered::Spawn(_)))), "{missing:?}");
        }
    }
}
