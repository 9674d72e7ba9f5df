//! The doctor's report: what a bug report needs to know about an installation, without keys and names.

use super::other_agents;
use crate::api::{
    AgentCapabilities, AgentTrial, AgentView, Checkup, Health, OtherAgent, PermissionChannel, Readiness,
    ReadinessState, ReportLine,
};
use crate::disk::{self, FileKind, ReadError};
use crate::readiness;
use crate::recorder::redacted_text;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Everything that the report is made from.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Version of Deskbell.
    pub app_version: &'static str,
    /// Operating system and processor, as Rust names them.
    pub system: String,
    pub readiness: Readiness,
    /// Names of the variables that the user's login shell adds to the environment of agents. Values may be secrets.
    pub login_shell: Vec<String>,
    pub channel: PermissionChannel,
    /// `None` if the agent did not start.
    pub capabilities: Option<AgentCapabilities>,
    pub notifications: Service,
    pub tray: Service,
    /// The display that windows are opened on; `None` if there is none.
    pub display: Option<String>,
    /// Whether windows are drawn with a GPU; `None` if that is the system's decision.
    pub gpu: Option<bool>,
    pub folders: Vec<Folder>,
    /// Every agent of the table, found or not. Nothing of them changes what the doctor says about Claude Code.
    pub other_agents: Vec<OtherAgent>,
    /// Trials of those that are found, by their ids.
    pub trials: BTreeMap<String, AgentTrial>,
}

/// A service of the desktop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Service {
    /// It answers, with this name or version.
    Present(String),
    Absent,
    /// Part of the system, or not known.
    Unknown(String),
}

/// A folder that Deskbell or the agent uses.
#[derive(Clone, Debug)]
pub struct Folder {
    pub name: &'static str,
    pub path: PathBuf,
    pub state: FolderState,
}

/// What is at the path of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FolderState {
    Found,
    Missing,
    /// Something else, or it cannot be read; the text completes a sentence about it.
    Wrong(String),
}

impl FolderState {
    /// Looks at a folder. Its disk may not respond: run this with a deadline.
    pub fn of(path: &Path) -> Self {
        match disk::kind(path) {
            Ok(FileKind::Folder) => Self::Found,
            Ok(kind) => Self::Wrong(format!("it is {kind}, not a folder")),
            Err(ReadError::Missing) => Self::Missing,
            Err(error) => Self::Wrong(error.to_string()),
        }
    }
}

impl Facts {
    /// Makes the report.
    pub fn checkup(self) -> Checkup {
        let mut lines = lines(&self);
        for line in &mut lines {
            line.value = redacted_text(std::mem::take(&mut line.value));
        }
        let Self { readiness: Readiness { agent, version, state, .. }, channel, .. } = self;
        Checkup {
            agent,
            version,
            channel,
            ready: state == ReadinessState::Ready,
            report: text(&lines),
            lines,
        }
    }
}

fn lines(facts: &Facts) -> Vec<ReportLine> {
    let mut lines = Vec::new();
    let mut line = |name: &str, health: Health, value: String| {
        lines.push(ReportLine { name: name.to_owned(), value, health });
    };
    line("Deskbell", Health::Plain, format!("{} on {}", facts.app_version, facts.system));
    match &facts.readiness.agent {
        AgentView::Found { program, source, .. } => {
            line("Agent", Health::Plain, format!("{program} ({source})"));
        }
        AgentView::Missing { tried } => {
            let tried = tried.iter().map(|tried| format!("\n{}: {}", tried.place, tried.problem));
            line("Agent", Health::Bad, format!("not found{}", tried.collect::<String>()));
        }
    }
    if let Some(version) = &facts.readiness.version {
        line("Version", Health::Plain, version.clone());
    }
    if !facts.login_shell.is_empty() {
        line("Login shell", Health::Plain, format!("adds {}", facts.login_shell.join(", ")));
    }
    let health = if facts.readiness.state == ReadinessState::Ready { Health::Good } else { Health::Bad };
    line("Ready", health, readiness::words(&facts.readiness));
    let (health, value) = match &facts.channel {
        PermissionChannel::Asks => (Health::Good, "asks before acting".to_owned()),
        PermissionChannel::NeverAsks => {
            (Health::Bad, "ACTS WITHOUT ASKING: do not use this version".to_owned())
        }
        PermissionChannel::Unknown { reason } => (Health::Bad, format!("the test has no result: {reason}")),
    };
    line("Permission", health, value);
    if let Some(capabilities) = &facts.capabilities {
        line("Can", Health::Plain, abilities(capabilities));
    }
    for agent in other_agents::lines(&facts.other_agents, &facts.trials) {
        line(&agent.name, agent.health, agent.value);
    }
    for (name, service, without) in [
        ("Notifications", &facts.notifications, "no notification daemon: Deskbell cannot call you"),
        ("Tray", &facts.tray, "none; Deskbell works without one"),
    ] {
        match service {
            Service::Present(what) => line(name, Health::Good, what.clone()),
            Service::Absent => line(name, Health::Plain, without.to_owned()),
            Service::Unknown(why) => line(name, Health::Plain, why.clone()),
        }
    }
    let display = facts.display.clone().unwrap_or_else(|| "none: no window can be opened".to_owned());
    line("Display", Health::Plain, display);
    let gpu = match facts.gpu {
        Some(true) => "windows are drawn with a GPU",
        Some(false) => "no GPU that this user may use: windows are drawn by the processor",
        None => "decided by the system",
    };
    line("GPU", Health::Plain, gpu.to_owned());
    for Folder { name, path, state } in &facts.folders {
        let (health, state) = match state {
            FolderState::Found => (Health::Plain, String::new()),
            FolderState::Missing => (Health::Plain, " (does not exist yet)".to_owned()),
            FolderState::Wrong(problem) => (Health::Bad, format!(": {problem}")),
        };
        line(name, health, format!("{}{state}", path.display()));
    }
    lines
}

/// The capabilities of the agent that depend on its version or kind.
fn abilities(can: &AgentCapabilities) -> String {
    let all = [
        ("models", can.models),
        ("effort", can.effort),
        ("thinking off", can.thinking),
        ("images", can.images),
        ("prompts into a turn", can.prompts_into_turn),
        ("background work", can.background_tasks),
        ("changed inputs", can.edited_input),
        ("reasons of denials", can.denial_reasons),
        ("cost", can.cost),
    ];
    let names: Vec<&str> = all.into_iter().filter(|(_, can)| *can).map(|(name, _)| name).collect();
    if names.is_empty() { "nothing optional".to_owned() } else { names.join(", ") }
}

/// The report as text. Further lines of a value are indented like the first one.
fn text(lines: &[ReportLine]) -> String {
    let width = lines.iter().map(|line| line.name.chars().count()).max().unwrap_or_default() + 2;
    let indented = |value: &str| value.replace('\n', &format!("\n{:width$}", ""));
    lines.iter().map(|line| format!("{:<width$}{}\n", line.name, indented(&line.value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{AgentKind, AgentLacks, OtherAgentState, Tried};

    fn folder(path: impl Into<PathBuf>, state: FolderState) -> Folder {
        Folder { name: "Data", path: path.into(), state }
    }

    fn facts() -> Facts {
        let agent = AgentView::Found {
            kind: AgentKind::Claude,
            program: "/home/ines/.local/bin/claude".to_owned(),
            source: "PATH".to_owned(),
        };
        Facts {
            app_version: "0.1.0",
            system: "linux x86_64".to_owned(),
            readiness: readiness::of(agent, Some("2.1.329".to_owned()), ReadinessState::Ready),
            login_shell: vec!["PATH".to_owned(), "ANTHROPIC_BASE_URL".to_owned()],
            channel: PermissionChannel::Asks,
            capabilities: Some(AgentCapabilities { models: true, cost: true, ..Default::default() }),
            notifications: Service::Present("dunst 1.12".to_owned()),
            tray: Service::Absent,
            display: Some("X11 (:0)".to_owned()),
            gpu: Some(false),
            folders: vec![folder("/home/ines/.local/share/deskbell", FolderState::Missing)],
            other_agents: Vec::new(),
            trials: BTreeMap::new(),
        }
    }

    #[test]
    fn a_report_names_everything_and_nobody() {
        let expected = "\
Deskbell       0.1.0 on linux x86_64
Agent          /home/user/.local/bin/claude (PATH)
Version        2.1.329
Login shell    adds PATH, ANTHROPIC_BASE_URL
Ready          yes
Permission     asks before acting
Can            models, cost
Notifications  dunst 1.12
Tray           none; Deskbell works without one
Display        X11 (:0)
GPU            no GPU that this user may use: windows are drawn by the processor
Data           /home/user/.local/share/deskbell (does not exist yet)
";
        assert_eq!(facts().checkup().report, expected);
    }

    #[test]
    fn every_obstacle_is_bad_and_no_secret_is_in_its_words() {
        let tried = vec![Tried { place: "/home/ines/bin/claude".to_owned(), problem: "is empty".to_owned() }];
        let missing = Facts {
            readiness: readiness::unasked(AgentView::Missing { tried }, None),
            channel: PermissionChannel::Unknown { reason: "there is no agent".to_owned() },
            ..facts()
        };
        let report = missing.checkup();
        let health = |name: &str| report.lines.iter().find(|line| line.name == name).unwrap().health;
        assert_eq!([health("Agent"), health("Ready"), health("Permission")], [Health::Bad; 3]);
        assert!(
            !report.ready && report.report.contains("\n               /home/user/bin/claude: is empty\n")
        );

        let problem =
            "ANTHROPIC_API_KEY=sk-ant-REDACTED0123456789 was refused for ines@example.org".to_owned();
        let agent = facts().readiness.agent;
        let state = ReadinessState::Broken { problem };
        let report = Facts { readiness: readiness::of(agent, None, state), ..facts() }.checkup();
        for secret in ["0123456789", "ines"] {
            assert!(!report.report.contains(secret), "{}", report.report);
            assert!(report.lines.iter().all(|line| !line.value.contains(secret)), "{:?}", report.lines);
        }
    }

    #[test]
    fn another_agent_is_redacted_and_changes_no_result() {
        let broken = OtherAgentState::Broken {
            program: "/home/ines/.npm/bin/gemini".to_owned(),
            problem: "/home/ines/.npm/bin/gemini has the key sk-ant-REDACTED0123456789".to_owned(),
        };
        let found =
            OtherAgentState::Found { program: "/home/ines/.npm/bin/opencode".to_owned(), version: None };
        let agent = |id: &str, state| OtherAgent {
            id: id.to_owned(),
            name: id.to_owned(),
            state,
            trusted_only: None,
            untested: false,
            lacks: AgentLacks::default(),
        };
        let missing = OtherAgentState::Missing { install: None };
        let other_agents = vec![agent("gemini", broken), agent("opencode", found), agent("goose", missing)];
        let report = Facts { other_agents, ..facts() }.checkup();
        assert!(report.ready && report.channel == PermissionChannel::Asks);
        for secret in ["0123456789", "ines"] {
            assert!(!report.report.contains(secret), "{}", report.report);
        }
        assert!(report.report.contains("/home/user/.npm/bin/opencode"), "{}", report.report);
        assert!(report.report.contains("\nNot installed  goose\n"), "{}", report.report);
    }

    #[test]
    fn a_file_in_place_of_a_folder_is_bad() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(FolderState::of(file.path().parent().unwrap()), FolderState::Found);
        assert_eq!(FolderState::of(&file.path().with_extension("none")), FolderState::Missing);
        let folders = vec![folder(file.path(), FolderState::of(file.path()))];
        let report = Facts { folders, ..facts() }.checkup();
        let last = report.lines.last().unwrap();
        assert_eq!(last.health, Health::Bad);
        assert!(last.value.contains("not a folder"), "{last:?}");
    }
}
