//! Readiness: whether the agent that was found can work, and otherwise the first obstacle. Known before a session.
//!
//! The program is asked twice, for its version and whether it is logged in, in an empty folder of Deskbell's own: no
//! settings of a project are read. A login that cannot be determined counts as one, because an older or newer version
//! may answer in another way, and the first prompt then shows the agent's own error.

use crate::api::{AgentView, OtherAgentState, Priority, Readiness, ReadinessState};
use crate::claude::setup::{
    self, LOGIN_ARGS, LOGIN_STATUS_ARGS, OLDEST, VERSION_ARGS, Version, install_commands, login_command,
    update_command,
};
use crate::host::{Host, Program};
use crate::launch::Launch;
use crate::node;
use crate::probe::{Answer, Unanswered, ask};
use std::time::Duration;

/// Time for the version. A cold start of a Node installation takes a second or two.
pub(crate) const VERSION_LIMIT: Duration = Duration::from_secs(10);

/// Time for the login, which the first prompt does not wait for.
pub(crate) const LOGIN_LIMIT: Duration = Duration::from_secs(5);

/// Characters that are shown of a program's own words.
const MOST_WORDS: usize = 600;

impl Launch {
    /// The arguments with which the agent logs the user in.
    pub const LOGIN_ARGS: &[&str] = LOGIN_ARGS;

    /// Asks the program whether it can work. Its folder is replaced. Takes at most 15 s.
    pub async fn readiness(&self, host: &dyn Host, agent: AgentView) -> Readiness {
        let folder = match tempfile::Builder::new().prefix("deskbell-ready-").tempdir() {
            Ok(folder) => folder,
            Err(error) => {
                let problem = format!("Deskbell could not make a temporary folder: {error}");
                return of(agent, None, ReadinessState::Broken { problem });
            }
        };
        let question = |args: &[&str]| Program {
            path: self.program.clone(),
            args: self.first_args.iter().cloned().chain(args.iter().map(Into::into)).collect(),
            folder: folder.path().to_owned(),
            environment: self.environment(std::env::vars_os()),
            priority: Priority::Normal,
        };
        let version = ask(host, question(VERSION_ARGS), VERSION_LIMIT).await;
        let (version, obstacle) = judge_version(version);
        if let Some(state) = obstacle {
            return of(agent, version, state);
        }
        let login = ask(host, question(LOGIN_STATUS_ARGS), LOGIN_LIMIT).await;
        of(agent, version, judge_login(login))
    }

    /// Asks the program of another agent for its version, in an empty folder of Deskbell's own: it reads no settings of a
    /// project. A Node that is missing or too old is named instead. Takes at most 20 s.
    pub async fn state_of_other(mut self, host: &dyn Host) -> OtherAgentState {
        let program = self.program.display().to_string();
        let folder = match tempfile::Builder::new().prefix("deskbell-ready-").tempdir() {
            Ok(folder) => folder,
            Err(error) => {
                let problem = format!("Deskbell could not make a temporary folder: {error}");
                return OtherAgentState::Broken { program, problem };
            }
        };
        self.project = folder.path().to_owned();
        if let Err(error) = node::check(host, &self).await {
            return OtherAgentState::Broken { program, problem: error.message };
        }
        let question = Program {
            path: self.program.clone(),
            args: self.first_args.iter().cloned().chain(VERSION_ARGS.iter().map(Into::into)).collect(),
            folder: self.project.clone(),
            environment: self.environment(std::env::vars_os()),
            priority: Priority::Normal,
        };
        match ask(host, question, VERSION_LIMIT).await {
            Err(Unanswered::Spawn(error)) => OtherAgentState::Broken { program, problem: error.to_string() },
            // An agent need not know the argument.
            Err(Unanswered::TimedOut(_)) => OtherAgentState::Found { program, version: None },
            Ok(answer) => {
                let said = String::from_utf8_lossy(&answer.stdout);
                let version =
                    said.lines().take(5).find_map(version_in).filter(|_| answer.exited.code == Some(0));
                OtherAgentState::Found { program, version }
            }
        }
    }
}

/// The readiness of an agent in this state.
pub(crate) fn of(agent: AgentView, version: Option<String>, state: ReadinessState) -> Readiness {
    Readiness { agent, version, login: login_command(), state }
}

/// The readiness of an agent that is not asked: it was not found, it has a problem, or it can always work.
pub fn unasked(agent: AgentView, problem: Option<String>) -> Readiness {
    let state = match (&agent, problem) {
        (AgentView::Missing { .. }, _) => {
            ReadinessState::Missing { install: install_commands(std::env::consts::OS) }
        }
        (_, Some(problem)) => ReadinessState::Broken { problem },
        (_, None) => ReadinessState::Ready,
    };
    of(agent, None, state)
}

/// The first word of a line that looks like a version: “1.0.102”, “v0.61.0”.
fn version_in(line: &str) -> Option<String> {
    let fits = |word: &&str| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
        word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.') && word.chars().all(is_part)
    };
    let words = line.split_whitespace().map(|word| {
        let word = word.trim_matches(|c: char| matches!(c, '(' | ')' | ',' | ';' | '.'));
        word.strip_prefix('v').unwrap_or(word)
    });
    words.filter(|word| word.len() <= 40).find(fits).map(str::to_owned)
}

/// Readiness in one line, for the terminal.
pub(crate) fn words(readiness: &Readiness) -> String {
    match &readiness.state {
        ReadinessState::Ready => "yes".to_owned(),
        ReadinessState::Missing { install } => match install.first() {
            Some(first) => format!("no: install Claude Code with: {}", first.command),
            None => "no: install Claude Code".to_owned(),
        },
        ReadinessState::Broken { problem } => format!("no: the program does not run: {problem}"),
        ReadinessState::NotClaude { answer } if answer.is_empty() => {
            "no: the program is not Claude Code: it printed nothing for --version".to_owned()
        }
        ReadinessState::NotClaude { answer } => {
            format!("no: the program is not Claude Code: it printed “{answer}” for --version")
        }
        ReadinessState::TooOld { oldest, update } => {
            format!("no: this version is too old, {oldest} is needed: {}", update.command)
        }
        ReadinessState::NotLoggedIn => format!("no: not logged in: {}", readiness.login.command),
    }
}

/// The version, and the obstacle that the answer shows.
fn judge_version(answer: Result<Answer, Unanswered>) -> (Option<String>, Option<ReadinessState>) {
    let answer = match answer {
        Ok(answer) => answer,
        Err(unanswered) => {
            let problem = match &unanswered {
                Unanswered::Spawn(error) => error.to_string(),
                Unanswered::TimedOut(_) => unanswered.to_string(),
            };
            return (None, Some(ReadinessState::Broken { problem }));
        }
    };
    let stdout = String::from_utf8_lossy(&answer.stdout);
    if let Some(printed) = setup::version_of(&stdout) {
        let too_old = Version::parse(printed).is_some_and(|version| version < OLDEST);
        let obstacle =
            too_old.then(|| ReadinessState::TooOld { oldest: OLDEST.to_string(), update: update_command() });
        return (Some(printed.to_owned()), obstacle);
    }
    let obstacle = if answer.exited.code == Some(0) {
        ReadinessState::NotClaude { answer: bounded(first_line(&stdout)) }
    } else {
        ReadinessState::Broken { problem: broken(&answer) }
    };
    (None, Some(obstacle))
}

/// A login that is not known to be missing is no obstacle.
fn judge_login(answer: Result<Answer, Unanswered>) -> ReadinessState {
    let logged_in = match answer {
        Ok(answer) => setup::is_logged_in(&String::from_utf8_lossy(&answer.stdout)),
        Err(unanswered) => {
            tracing::info!(%unanswered, "the agent does not say whether it is logged in");
            None
        }
    };
    match logged_in {
        Some(false) => ReadinessState::NotLoggedIn,
        Some(true) | None => ReadinessState::Ready,
    }
}

/// The program's own error and how it ended.
fn broken(answer: &Answer) -> String {
    let how = match (answer.exited.code, answer.exited.signal) {
        (_, Some(signal)) => format!("It crashed (signal {signal})."),
        (Some(code), None) => format!("It ended with exit code {code}."),
        (None, None) => "It ended.".to_owned(),
    };
    let stderr = String::from_utf8_lossy(&answer.stderr);
    let stdout = String::from_utf8_lossy(&answer.stdout);
    let said = if stderr.trim().is_empty() { stdout.trim() } else { stderr.trim() };
    if said.is_empty() { how } else { format!("{how}\n{}", bounded(said)) }
}

fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}

/// The beginning of a text, without control characters except line ends.
fn bounded(text: &str) -> String {
    let visible = text.chars().filter(|letter| *letter == '\n' || !letter.is_control());
    visible.take(MOST_WORDS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Exited;

    fn answer(code: i32, stdout: &str, stderr: &str) -> Result<Answer, Unanswered> {
        let exited = Exited { code: Some(code), signal: None };
        Ok(Answer { exited, stdout: stdout.into(), stderr: stderr.into() })
    }

    fn broken_with(problem: &str) -> (Option<String>, Option<ReadinessState>) {
        (None, Some(ReadinessState::Broken { problem: problem.to_owned() }))
    }

    #[test]
    fn a_version_that_is_new_enough_is_no_obstacle() {
        assert_eq!(
            judge_version(answer(0, "2.1.329 (Claude Code)\n", "")),
            (Some("2.1.329".to_owned()), None)
        );
    }

    #[test]
    fn an_old_version_is_known_before_a_session() {
        let (version, obstacle) = judge_version(answer(0, "1.0.88 (Claude Code)\n", ""));
        assert_eq!(version.as_deref(), Some("1.0.88"));
        let Some(ReadinessState::TooOld { oldest, update }) = obstacle else { panic!("{obstacle:?}") };
        assert_eq!((&*oldest, &*update.command), ("2.1.197", "claude update"));
    }

    #[test]
    fn a_program_that_succeeds_at_something_else_is_not_claude_code() {
        let not_claude = |said: &str| ReadinessState::NotClaude { answer: said.to_owned() };
        assert_eq!(judge_version(answer(0, "", "")), (None, Some(not_claude(""))));
        let true_version = "true (GNU coreutils) 9.7\nCopyright";
        let expected = not_claude("true (GNU coreutils) 9.7");
        assert_eq!(judge_version(answer(0, true_version, "")), (None, Some(expected)));
        let (_, obstacle) = judge_version(answer(0, &"x\u{1b}".repeat(10_000), ""));
        assert_eq!(obstacle, Some(not_claude(&"x".repeat(MOST_WORDS))));
    }

    #[test]
    fn a_program_that_does_not_run_shows_its_own_error() {
        let shim = "env: ‘node’: No such file or directory";
        assert_eq!(
            judge_version(answer(127, "", shim)),
            broken_with(&format!("It ended with exit code 127.\n{shim}"))
        );
        assert_eq!(judge_version(answer(1, "", "")), broken_with("It ended with exit code 1."));
        let killed = Answer {
            exited: Exited { code: None, signal: Some(11) },
            stdout: b"half\n".to_vec(),
            stderr: vec![],
        };
        assert_eq!(judge_version(Ok(killed)), broken_with("It crashed (signal 11).\nhalf"));
        let refused = std::io::Error::other("Permission denied");
        assert_eq!(judge_version(Err(Unanswered::Spawn(refused))), broken_with("Permission denied"));
        let hangs = judge_version(Err(Unanswered::TimedOut(VERSION_LIMIT)));
        assert_eq!(hangs, broken_with("it did not answer within 10 s"));
    }

    #[test]
    fn only_a_missing_login_that_is_certain_is_an_obstacle() {
        assert_eq!(judge_login(answer(1, "{\"loggedIn\": false}", "")), ReadinessState::NotLoggedIn);
        for ready in [
            answer(0, "{\"loggedIn\": true}", ""),
            answer(1, "", "error: unknown command 'auth'"),
            Err(Unanswered::TimedOut(LOGIN_LIMIT)),
        ] {
            assert_eq!(judge_login(ready), ReadinessState::Ready);
        }
    }

    #[test]
    fn every_obstacle_says_what_to_do() {
        let agent = AgentView::Missing { tried: vec![] };
        let said = words(&unasked(agent.clone(), None));
        assert!(said.starts_with("no: install Claude Code with: "), "{said}");
        let readiness = of(agent, None, ReadinessState::NotLoggedIn);
        assert_eq!(words(&readiness), "no: not logged in: claude auth login");
    }

    #[cfg(unix)]
    mod programs {
        use super::*;
        use crate::api::AgentKind;
        use crate::host::LocalHost;
        use std::os::unix::fs::PermissionsExt;
        use std::path::Path;

        async fn checked(program: &Path) -> Readiness {
            let agent = AgentView::Found {
                kind: AgentKind::Claude,
                program: program.display().to_string(),
                source: "PATH".to_owned(),
            };
            let launch = Launch {
                kind: AgentKind::Claude,
                acp: None,
                program: program.to_owned(),
                first_args: Vec::new(),
                project: "/nowhere".into(),
                restricted: true,
                snapshot: None,
                env: Vec::new(),
                run_token: "token".to_owned(),
                priority: Priority::Normal,
            };
            launch.readiness(&LocalHost, agent).await
        }

        #[tokio::test]
        async fn the_program_true_is_not_claude_code() {
            let state = checked(Path::new("/bin/true")).await.state;
            assert!(matches!(state, ReadinessState::NotClaude { .. }), "{state:?}");
        }

        #[tokio::test]
        async fn a_program_is_asked_for_its_version_and_its_login_in_an_empty_folder() {
            let folder = tempfile::tempdir().unwrap();
            let program = folder.path().join("claude");
            let script = "#!/bin/sh\n[ -z \"$(ls)\" ] || exit 9\n\
                case \"$*\" in --version) echo '2.1.329 (Claude Code)';; \
                'auth status') echo '{\"loggedIn\": false}'; exit 1;; *) exit 8;; esac\n";
            std::fs::write(&program, script).unwrap();
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
            let readiness = checked(&program).await;
            assert_eq!(readiness.version.as_deref(), Some("2.1.329"));
            assert_eq!(readiness.state, ReadinessState::NotLoggedIn);
        }

        #[tokio::test]
        async fn another_agent_says_its_version_or_none_and_one_that_cannot_run_says_why() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("gemini");
            let program = path.display().to_string();
            let launch = Launch {
                kind: AgentKind::Acp,
                acp: crate::acp::ChosenAgent::row_of("gemini"),
                program: path.clone(),
                first_args: Vec::new(),
                project: "/nowhere".into(),
                restricted: true,
                snapshot: None,
                env: Vec::new(),
                run_token: "token".to_owned(),
                priority: Priority::Normal,
            };
            let missing = launch.clone().state_of_other(&LocalHost).await;
            assert!(matches!(missing, OtherAgentState::Broken { .. }), "{missing:?}");
            for (says, version) in [
                ("echo 'GitHub Copilot CLI 1.0.102.'", Some("1.0.102")),
                ("[ -z \"$(ls)\" ] && echo v0.61.0", Some("0.61.0")),
                ("echo 2.0; exit 1", None),
                ("echo usage: agent", None),
            ] {
                // A script in use cannot be written.
                let _ = std::fs::remove_file(&path);
                std::fs::write(&path, format!("#!/bin/sh\n{says}\n")).unwrap();
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
                let found =
                    OtherAgentState::Found { program: program.clone(), version: version.map(Into::into) };
                assert_eq!(launch.clone().state_of_other(&LocalHost).await, found, "{says}");
            }
        }
    }
}
