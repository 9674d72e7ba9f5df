//! The other agents in the doctor's report: what was found of them, and what their rows of the table say. None of them is
//! started beyond `--version`, and the report says so.

use crate::acp::agents::{self, Agent, Asking, Proof, Restriction, Variable};
use crate::api::{Health, OtherAgent, OtherAgentState, ReportLine};

/// A line for each agent that is found or broken, and one with the names of those that are not installed.
pub fn lines(agents: &[OtherAgent]) -> Vec<ReportLine> {
    let mut lines: Vec<ReportLine> = agents.iter().filter_map(line).collect();
    let is_missing = |agent: &&OtherAgent| matches!(agent.state, OtherAgentState::Missing { .. });
    let missing: Vec<&str> = agents.iter().filter(is_missing).map(|agent| agent.name.as_str()).collect();
    if !missing.is_empty() {
        let name = "Not installed".to_owned();
        lines.push(ReportLine { name, value: missing.join(", "), health: Health::Plain });
    }
    lines
}

fn line(agent: &OtherAgent) -> Option<ReportLine> {
    let (health, value) = match &agent.state {
        OtherAgentState::Found { program, version } => {
            let version = version.as_deref().unwrap_or("version not reported");
            (Health::Plain, format!("{version}, {program}{}", rest(agent)))
        }
        OtherAgentState::Broken { program, problem } => {
            (Health::Bad, format!("cannot run here: {problem}\n{program}"))
        }
        OtherAgentState::Missing { .. } | OtherAgentState::BuiltIn => return None,
    };
    Some(ReportLine { name: agent.name.clone(), value, health })
}

/// What its row says, a fact a line.
fn rest(agent: &OtherAgent) -> String {
    let Some(row) = agents::agent(&agent.id) else { return String::new() };
    let facts = [runtime(row), Some(asks(row)), Some(folders(row)), ports(row), Some(proof(row))];
    facts.into_iter().flatten().map(|fact| format!("\n{fact}")).collect()
}

fn runtime(row: &Agent) -> Option<String> {
    row.node.map(|node| format!("runtime: Node {node} or newer"))
}

fn asks(row: &Agent) -> String {
    match row.asking {
        Asking::Mode(mode) => {
            format!("asks: its mode {mode} is set and checked before the first prompt; not tried here")
        }
        Asking::Setting(name, value) => {
            format!(
                "asks: its setting {name} is set to {value} and checked before the first prompt; not tried here"
            )
        }
        Asking::Configured => {
            "asks: if its own configuration says so; Deskbell cannot check it, and it was not tried here"
                .to_owned()
        }
        Asking::Unknown => "asks: not known, because it does not report it; not tried here".to_owned(),
    }
}

fn folders(row: &Agent) -> String {
    match row.restriction {
        Restriction::TrustedOnly(reason) => format!("starts only in folders that you trust: {reason}"),
        Restriction::ByItself => "runs nothing of a folder by itself".to_owned(),
    }
}

fn ports(row: &Agent) -> Option<String> {
    let is_random = |(_, value): &&(&str, Variable)| *value == Variable::Random;
    let (name, _) = row.environment.set.iter().find(is_random)?;
    Some(format!("ports: it opens one; Deskbell gives it a random password for each start, in {name}"))
}

fn proof(row: &Agent) -> String {
    match row.proof {
        Proof::Recorded { version, .. } => {
            format!("login and turns: not tried here; Deskbell was tested with {version}")
        }
        Proof::NotRun => "login and turns: not tried here; Deskbell was never tested with it".to_owned(),
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
        let [line] = &lines(&[agent])[..] else { panic!("not one line") };
        line.value.clone()
    }

    #[test]
    fn an_agent_that_is_found_has_the_facts_of_its_row() {
        assert_eq!(
            value(found("gemini", Some("0.61.0"))),
            "0.61.0, /usr/bin/gemini
runtime: Node 20 or newer
asks: its mode default is set and checked before the first prompt; not tried here
runs nothing of a folder by itself
login and turns: not tried here; Deskbell was tested with 0.61.0"
        );
        assert_eq!(
            value(found("opencode", None)),
            "version not reported, /usr/bin/opencode
runtime: Node 20 or newer
asks: if its own configuration says so; Deskbell cannot check it, and it was not tried here
starts only in folders that you trust: opencode runs the plugins and MCP servers of a folder, and a folder can send \
its key elsewhere.
ports: it opens one; Deskbell gives it a random password for each start, in OPENCODE_SERVER_PASSWORD
login and turns: not tried here; Deskbell was tested with 1.18.33"
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
            assert_eq!(value.matches("not tried here").count(), 2, "{value}");
        }
    }

    #[test]
    fn a_broken_agent_says_why_and_missing_ones_share_a_line() {
        let problem = "Qwen Code needs Node 22 or newer, and this machine has v20.20.2.".to_owned();
        let missing = || OtherAgentState::Missing { install: None };
        let lines = lines(&[
            agent("copilot", missing()),
            agent("qwen", OtherAgentState::Broken { program: "/usr/bin/qwen".to_owned(), problem }),
            agent("goose", missing()),
            agent("demo-acp", OtherAgentState::BuiltIn),
        ]);
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
