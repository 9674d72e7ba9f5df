//! The other agents in the doctor's report: what was found of them, what their rows of the table say, and their trials.

use crate::acp::agents::{self, AcpAgent, AskingHabit, Proof, Restriction, Variable};
use crate::api::{
    AgentTrial, Health, LoginState, OtherAgent, OtherAgentState, PermissionChannel, ReportLine,
};
use std::collections::BTreeMap;

/// A line for each agent that is found or broken, and one with the names of those that are not installed. `trials`: by the
/// ids of the agents.
pub fn lines(agents: &[OtherAgent], trials: &BTreeMap<String, AgentTrial>) -> Vec<ReportLine> {
    let mut lines: Vec<ReportLine> =
        agents.iter().filter_map(|agent| line(agent, trials.get(&agent.id))).collect();
    let is_missing = |agent: &&OtherAgent| matches!(agent.state, OtherAgentState::Missing { .. });
    let missing: Vec<&str> = agents.iter().filter(is_missing).map(|agent| agent.name.as_str()).collect();
    if !missing.is_empty() {
        let name = "Not installed".to_owned();
        lines.push(ReportLine { name, value: missing.join(", "), health: Health::Plain });
    }
    lines
}

fn line(agent: &OtherAgent, trial: Option<&AgentTrial>) -> Option<ReportLine> {
    let (health, value) = match &agent.state {
        OtherAgentState::Found { program, version } => {
            let version = version.as_deref().unwrap_or("version not reported");
            (health(agent, trial), format!("{version}, {program}{}", rest(agent, trial)))
        }
        OtherAgentState::Broken { program, problem } => {
            (Health::Bad, format!("cannot run here: {problem}\n{program}"))
        }
        OtherAgentState::Missing { .. } | OtherAgentState::BuiltIn => return None,
    };
    Some(ReportLine { name: agent.name.clone(), value, health })
}

/// Only an agent that Deskbell makes ask, and that acted without it, is bad. Of one with a configuration of its own, the
/// trial had none of the user's.
fn health(agent: &OtherAgent, trial: Option<&AgentTrial>) -> Health {
    let asks = trial.and_then(|trial| trial.asks.as_ref());
    let is_made_to_ask = agents::agent(&agent.id)
        .is_some_and(|row| matches!(row.asking, AskingHabit::Mode(_) | AskingHabit::Setting(..)));
    match asks {
        Some(PermissionChannel::Asks) => Health::Good,
        Some(PermissionChannel::NeverAsks) if is_made_to_ask => Health::Bad,
        _ => Health::Plain,
    }
}

/// What its row says and what was tried, a fact a line.
fn rest(agent: &OtherAgent, trial: Option<&AgentTrial>) -> String {
    let Some(row) = agents::agent(&agent.id) else { return String::new() };
    let facts = [
        runtime(row),
        Some(login(trial)),
        Some(format!("{}; {}", asks(row), tried(trial))),
        Some(folders(row)),
        Some(ports(row, trial)),
        writes(trial),
        Some(proof(row)),
    ];
    facts.into_iter().flatten().map(|fact| format!("\n{fact}")).collect()
}

fn login(trial: Option<&AgentTrial>) -> String {
    match trial.map(|trial| &trial.login) {
        Some(LoginState::NotAskedFor) => "login: it began a session without asking for one".to_owned(),
        Some(LoginState::Needed { command }) => format!("login: needed: {command}"),
        Some(LoginState::Unknown { reason }) => format!("login: not known: {reason}"),
        None => "login: not tried here".to_owned(),
    }
}

/// How it went when it was made to call a tool.
fn tried(trial: Option<&AgentTrial>) -> String {
    match trial.and_then(|trial| trial.asks.as_ref()) {
        Some(PermissionChannel::Asks) => "tried: it asked".to_owned(),
        Some(PermissionChannel::NeverAsks) => "tried in an empty home: IT ACTED WITHOUT ASKING".to_owned(),
        Some(PermissionChannel::Unknown { reason }) => format!("the trial has no result: {reason}"),
        None => "not tried here".to_owned(),
    }
}

fn writes(trial: Option<&AgentTrial>) -> Option<String> {
    let list = &trial?.writes;
    (!list.is_empty()).then(|| format!("writes into an empty home: {}", list.join(", ")))
}

fn runtime(row: &AcpAgent) -> Option<String> {
    row.node.map(|node| format!("runtime: Node {node} or newer"))
}

fn asks(row: &AcpAgent) -> String {
    match row.asking {
        AskingHabit::Mode(mode) => {
            format!("asks: its mode {mode} is set and checked before the first prompt")
        }
        AskingHabit::Setting(name, value) => {
            format!("asks: its setting {name} is set to {value} and checked before the first prompt")
        }
        AskingHabit::Configured => {
            "asks: if its own configuration says so; Deskbell cannot check that".to_owned()
        }
        AskingHabit::Unknown => "asks: not known, because it does not report it".to_owned(),
    }
}

fn folders(row: &AcpAgent) -> String {
    match row.restriction {
        Restriction::TrustedOnly(reason) => format!("starts only in folders that you trust: {reason}"),
        Restriction::ByItself => "runs nothing of a folder by itself".to_owned(),
    }
}

/// The ports that it had open in its trial, and what Deskbell does about them.
fn ports(row: &AcpAgent, trial: Option<&AgentTrial>) -> String {
    let opens = match trial.map(|trial| trial.ports.as_deref()) {
        None => "not tried here".to_owned(),
        Some(None) => "not measured on this system".to_owned(),
        Some(Some([])) => "none was open in its trial".to_owned(),
        Some(Some(ports)) => {
            let list: Vec<String> = ports.iter().map(ToString::to_string).collect();
            let is_open = ports.iter().any(|port| !port.ip().is_loopback());
            let reached = if is_open { ", WHICH OTHER COMPUTERS CAN REACH" } else { "" };
            format!("it listens on {}{reached}", list.join(", "))
        }
    };
    let is_random = |(_, value): &&(&str, Variable)| *value == Variable::Random;
    let password = row.environment.set.iter().find(is_random).map(|(name, _)| name);
    let has_ports = trial.and_then(|trial| trial.ports.as_ref()).is_some_and(|ports| !ports.is_empty());
    match password {
        Some(name) => {
            format!("ports: {opens}; password-protected: Deskbell sets a random {name} for each start")
        }
        None if has_ports => format!("ports: {opens}; Deskbell knows no password for it"),
        None => format!("ports: {opens}"),
    }
}

fn proof(row: &AcpAgent) -> String {
    match row.proof {
        Proof::Recorded { version, .. } => {
            format!("Deskbell was tested with {version}")
        }
        Proof::NotRun => "Deskbell was never tested with it".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::AgentLacks;

    fn agent(id: &str, state: OtherAgentState) -> OtherAgent {
        let name = agents::agent(id).unwrap().name.to_owned();
        let lacks = AgentLacks::default();
        OtherAgent { id: id.to_owned(), name, state, trusted_only: None, untested: false, lacks }
    }

    fn found(id: &str, version: Option<&str>) -> OtherAgent {
        let program = format!("/usr/bin/{id}");
        agent(id, OtherAgentState::Found { program, version: version.map(str::to_owned) })
    }

    fn value(agent: OtherAgent) -> String {
        tried_line(agent, None).value
    }

    fn tried_line(agent: OtherAgent, trial: Option<AgentTrial>) -> ReportLine {
        let trials = trial.into_iter().map(|trial| (agent.id.clone(), trial)).collect();
        let [line] = &lines(&[agent], &trials)[..] else { panic!("not one line") };
        line.clone()
    }

    #[test]
    fn an_agent_that_is_found_has_the_facts_of_its_row() {
        assert_eq!(
            value(found("gemini", Some("0.61.0"))),
            "0.61.0, /usr/bin/gemini
runtime: Node 20 or newer
login: not tried here
asks: its mode default is set and checked before the first prompt; not tried here
runs nothing of a folder by itself
ports: not tried here
Deskbell was tested with 0.61.0"
        );
        assert_eq!(
            value(found("opencode", None)),
            "version not reported, /usr/bin/opencode
runtime: Node 20 or newer
login: not tried here
asks: if its own configuration says so; Deskbell cannot check that; not tried here
starts only in folders that you trust: opencode runs the plugins and MCP servers of a folder, and a folder can send \
its key elsewhere.
ports: not tried here; password-protected: Deskbell sets a random OPENCODE_SERVER_PASSWORD for each start
Deskbell was tested with 1.18.33"
        );
        assert!(
            value(found("qwen", None))
                .contains("starts only in folders that you trust: Qwen Code reads the .env")
        );
        assert!(value(found("copilot", None)).contains("its setting allow_all is set to off"));
        assert!(value(found("goose", None)).contains("Deskbell was never tested with it"));
    }

    /// Every row of the table, so that a new one cannot claim more.
    #[test]
    fn no_row_claims_that_anything_was_tried() {
        for row in agents::AGENTS {
            let value = value(found(row.id, None));
            assert_eq!(value.matches("not tried here").count(), 3, "{value}");
        }
    }

    #[test]
    fn what_was_tried_is_said_and_only_an_agent_that_is_made_to_ask_and_did_not_is_bad() {
        let trial = |asks: Option<PermissionChannel>| AgentTrial {
            login: LoginState::Needed { command: "copilot login".to_owned() },
            asks,
            ports: Some(Vec::new()),
            writes: vec![".copilot (4 files)".to_owned()],
        };
        let line = |id: &str, asks| tried_line(found(id, None), Some(trial(asks)));
        let asked = line("copilot", Some(PermissionChannel::Asks));
        assert_eq!(
            (asked.health, &asked.value[..]),
            (
                Health::Good,
                "version not reported, /usr/bin/copilot
runtime: Node 20 or newer
login: needed: copilot login
asks: its setting allow_all is set to off and checked before the first prompt; tried: it asked
starts only in folders that you trust: Copilot CLI runs the hooks of a folder, and nothing turns them off.
ports: none was open in its trial
writes into an empty home: .copilot (4 files)
Deskbell was tested with 1.0.102"
            )
        );
        let never = line("copilot", Some(PermissionChannel::NeverAsks));
        assert!(never.health == Health::Bad && never.value.contains("IT ACTED WITHOUT ASKING"), "{never:?}");
        assert_eq!(line("opencode", Some(PermissionChannel::NeverAsks)).health, Health::Plain);
        assert_eq!(line("goose", None).health, Health::Plain);
        let reason = "The agent exited: no".to_owned();
        let unknown = line("gemini", Some(PermissionChannel::Unknown { reason }));
        assert!(unknown.value.contains("; the trial has no result: The agent exited: no\n"), "{unknown:?}");
    }

    #[test]
    fn the_ports_of_a_trial_are_said_and_whether_they_have_a_password() {
        let line = |id: &str, ports: Option<&[&str]>| {
            let ports = ports.map(|ports| ports.iter().map(|port| port.parse().unwrap()).collect());
            let trial = AgentTrial { login: LoginState::NotAskedFor, asks: None, ports, writes: Vec::new() };
            let value = tried_line(found(id, None), Some(trial)).value;
            value.lines().find_map(|line| line.strip_prefix("ports: ")).unwrap().to_owned()
        };
        let password = "; password-protected: Deskbell sets a random OPENCODE_SERVER_PASSWORD for each start";
        assert_eq!(
            line("opencode", Some(&["127.0.0.1:4096"])),
            format!("it listens on 127.0.0.1:4096{password}")
        );
        assert_eq!(line("opencode", None), format!("not measured on this system{password}"));
        assert_eq!(line("gemini", Some(&[])), "none was open in its trial");
        assert_eq!(
            line("gemini", Some(&["0.0.0.0:80", "[::1]:81"])),
            "it listens on 0.0.0.0:80, [::1]:81, WHICH OTHER COMPUTERS CAN REACH; Deskbell knows no password for it"
        );
    }

    #[test]
    fn a_broken_agent_says_why_and_missing_ones_share_a_line() {
        let problem = "Qwen Code needs Node 22 or newer, and this machine has v20.20.2.".to_owned();
        let missing = || OtherAgentState::Missing { install: None };
        let lines = lines(
            &[
                agent("copilot", missing()),
                agent("qwen", OtherAgentState::Broken { program: "/usr/bin/qwen".to_owned(), problem }),
                agent("goose", missing()),
                agent("demo-acp", OtherAgentState::BuiltIn),
            ],
            &BTreeMap::new(),
        );
        let [broken, rest] = &lines[..] else { panic!("{lines:?}") };
        assert_eq!((&broken.name[..], broken.health), ("Qwen Code", Health::Bad));
        assert_eq!(
            broken.value,
            "cannot run here: Qwen Code needs Node 22 or newer, and this machine has v20.20.2.\n/usr/bin/qwen"
        );
        assert_eq!((&rest.name[..], &rest.value[..]), ("Not installed", "Copilot CLI, goose"));
        assert_eq!(rest.health, Health::Plain);
    }
}
