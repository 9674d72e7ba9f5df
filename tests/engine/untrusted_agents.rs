//! Every agent of the table in an untrusted folder with all files that the agent would load. The tests check which
//! agents start, which files the survey names, and which sockets are opened.

#![cfg(target_os = "linux")]

use crate::app_killed::app;
use crate::program::demo_agent;
use deskbell_engine::acp::ChosenAgent;
use deskbell_engine::acp::agents::{AGENTS, AcpAgent, Restriction};
use deskbell_engine::trust::TrustStore;
use deskbell_tests::sockets::SocketWatch;
use deskbell_tests::suite::Requirement;
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A project with every file that an agent would load, and a program in the place of that agent.
struct Trap {
    folder: tempfile::TempDir,
    agent: &'static AcpAgent,
    canaries: Vec<String>,
}

/// The file of the row: one in a folder of this name, where the name has no ending.
fn as_file(path: &str) -> String {
    let name = Path::new(path).file_name().unwrap().to_str().unwrap();
    let is_file = name.trim_start_matches('.').contains('.') || name.starts_with(".env");
    let is_text = ["GEMINI.md", ".cursorrules", ".goosehints", ".augment-guidelines"].contains(&name);
    if is_file || is_text { path.to_owned() } else { format!("{path}/inner/file.json") }
}

impl Trap {
    fn of(agent: &'static AcpAgent) -> Self {
        let folder = tempfile::Builder::new().prefix("engine").tempdir().unwrap();
        let mut trap = Self { folder, agent, canaries: Vec::new() };
        fs::create_dir_all(trap.path("project/.git")).unwrap();
        for file in agent.folder.files {
            let canary = as_file(file.path);
            let path = trap.path("project").join(&canary);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, trap.bait()).unwrap();
            trap.canaries.push(canary);
        }
        fs::create_dir(trap.path("bin")).unwrap();
        let script = format!(
            "#!/bin/sh\necho \"$@\" >> '{}'\nexec '{}' \"$@\" --acp\n",
            trap.path("started").display(),
            demo_agent().display()
        );
        for name in agent.programs {
            let path = trap.path("bin").join(name);
            fs::write(&path, &script).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        trap
    }

    /// What a canary holds: a command that would leave a file.
    fn bait(&self) -> String {
        format!("touch '{}'", self.path("ran").display())
    }

    fn path(&self, name: &str) -> PathBuf {
        Path::join(self.folder.path(), name)
    }

    /// The arguments of every start of the agent.
    fn starts(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("started")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// All events of a relay of this agent, which is asked for a prompt in the untrusted folder.
    fn events(&self, program: &Path) -> (Vec<Value>, String) {
        let mut relay = Command::new(program)
            .arg("relay")
            .arg(format!("--project={}", self.path("project").display()))
            .arg(format!("--agent={}", self.agent.id))
            .env("PATH", format!("{}:/usr/bin:/bin", self.path("bin").display()))
            .env("HOME", self.folder.path())
            .env("XDG_DATA_HOME", self.path("data"))
            .env_remove("XDG_CONFIG_HOME")
            .env("A_PROVIDERS_KEY", "canary-key")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = relay.stdin.take().unwrap();
        writeln!(stdin, "{}", json!({"type": "prompt", "text": "SAY hello"})).unwrap();
        drop(stdin);
        let done = relay.wait_with_output().unwrap();
        let events = String::from_utf8(done.stdout).unwrap();
        let events = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        (events, String::from_utf8(done.stderr).unwrap())
    }
}

#[test]
fn no_agent_that_nothing_restricts_starts_and_the_others_start_restricted() {
    let Some(app) = app() else { return };
    let is_watched = match SocketWatch::requirement() {
        Requirement::Met => true,
        Requirement::Missing(what) => {
            assert!(std::env::var_os("CI").is_none(), "{what}");
            println!("skipped the sockets: {what}");
            false
        }
    };
    let mut n_kept_away = 0;
    for agent in AGENTS {
        let trap = Trap::of(agent);
        let watch = is_watched.then(|| SocketWatch::on(&app, trap.folder.path()).unwrap());
        let program = watch.as_ref().map_or(app.as_path(), SocketWatch::program);
        let (events, stderr) = trap.events(program);
        let what = format!("{}: {events:#?}\n{stderr}", agent.id);
        let failed = || events.iter().find(|event| event["type"] == "commandFailed");
        let is_done = events.iter().any(|event| event["type"] == "turnEnded");
        match agent.restriction {
            Restriction::TrustedOnly(reason) => {
                n_kept_away += 1;
                let error = &failed().unwrap_or_else(|| panic!("{what}"))["error"];
                assert_eq!(error["code"], "notTrusted", "{what}");
                assert!(error.to_string().contains(reason), "it says why: {what}");
                assert_eq!((trap.starts(), is_done), (Vec::new(), false), "{what}");
            }
            Restriction::ByItself => assert!(is_done && trap.starts().len() == 1, "{what}"),
        }
        assert!(!trap.path("ran").exists(), "a canary ran: {what}");
        for canary in &trap.canaries {
            let path = trap.path("project").join(canary);
            assert_eq!(fs::read_to_string(path).unwrap(), trap.bait(), "{canary} changed: {what}");
        }
        if let Some(watch) = watch {
            watch.check(0).unwrap_or_else(|error| panic!("{error:#}: {what}"));
            watch.opens_no_port().unwrap_or_else(|error| panic!("{error:#}: {what}"));
        }
    }
    assert!(n_kept_away > 5, "{n_kept_away} agents start only in trusted folders");
}

#[test]
fn the_survey_names_every_file_that_an_agent_would_load() {
    for agent in AGENTS {
        let trap = Trap::of(agent);
        let chosen = ChosenAgent::row_of(agent.id).unwrap();
        let store = TrustStore::open(trap.path("trust")).unwrap().of_agent(Some(&chosen));
        let project = trap.path("project").canonicalize().unwrap();
        let view = store.view(&project).unwrap();
        let named: Vec<&str> = view.findings.iter().map(|finding| finding.file.as_str()).collect();
        for canary in &trap.canaries {
            assert!(named.contains(&canary.as_str()), "{}: {canary} is not in {named:?}", agent.id);
        }
        assert!(view.findings.len() >= trap.canaries.len() && !trap.canaries.is_empty(), "{}", agent.id);
    }
}
