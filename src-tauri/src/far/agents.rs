//! Other agents on another machine: which a new session there can have, the trust decision about one of them, and a new
//! session with one. Deskbell there looks for them, and its answers are checked before they are shown.

use super::bad_folder;
use crate::registry::SessionRegistry;
use crate::registry::far::{FarState, place_of};
use crate::wanted::{AgentQuestion, Wanted, is_name, refused};
use crate::windows::Windows;
use crate::{project, questions};
use deskbell_engine::acp::ChosenAgent;
use deskbell_engine::acp::agents::agent as row_of;
use deskbell_engine::api::*;
use deskbell_engine::title::Title;
use std::path::Path;
use tauri::{AppHandle, Manager};

/// Profiles that are listed.
const MOST_PROFILES: usize = 100;

/// Longest text about an agent or a profile, in user-perceived characters.
const LONGEST: usize = 300;

/// Lists what a new session of this project can have. The window answers what ssh asks.
pub async fn choices(app: &AppHandle, label: &str, project: &Path) -> Result<MachineAgents, CommandError> {
    let (far, _) = place_of(project).ok_or_else(bad_folder)?;
    let connections = app.state::<SessionRegistry>().connections();
    let window = questions::in_window(app, label.to_owned());
    let command = ["agents", "--json"].map(str::to_owned);
    let asked = far.ask::<MachineAgents>(&connections, Some(window), &command).await;
    Ok(checked(asked.map_err(|error| error.for_window(&far.machine))?))
}

/// The choices, as far as they can be some: agents of the table, described as here, and profiles with a name.
fn checked(listed: MachineAgents) -> MachineAgents {
    let mut agents: Vec<OtherAgent> = Vec::new();
    for agent in listed.agents {
        let Some(row) = row_of(&agent.id) else { continue };
        if agents.iter().all(|known| known.id != agent.id) {
            agents.push(deskbell_cli::other_agents::described(row, short(agent.state)));
        }
    }
    let named = listed.profiles.into_iter().filter(|profile| is_name(&profile.name)).take(MOST_PROFILES);
    MachineAgents { agents, profiles: named.map(plain).collect() }
}

fn line(text: &str) -> String {
    Title::one_line(text, LONGEST)
}

fn short(state: OtherAgentState) -> OtherAgentState {
    match state {
        OtherAgentState::Found { program, version } => {
            OtherAgentState::Found { program: line(&program), version: version.as_deref().map(line) }
        }
        OtherAgentState::Broken { program, problem } => {
            OtherAgentState::Broken { program: line(&program), problem: line(&problem) }
        }
        OtherAgentState::Missing { install } => OtherAgentState::Missing {
            install: install.map(|one| SetupCommand { label: line(&one.label), command: line(&one.command) }),
        },
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
        projects: profile.projects.iter().take(MOST_PROFILES).map(|path| line(path)).collect(),
        ..profile
    }
}

/// Returns a session there with this agent or profile that has no prompt yet: the project's empty one, or a new one.
/// Without a decision that lets the agent start, there is none, and the window shows the trust page.
pub async fn create(
    app: &AppHandle,
    label: &str,
    project: &Path,
    wanted: Wanted,
) -> Result<Session, CommandError> {
    let registry = app.state::<SessionRegistry>();
    if matches!(&wanted, Wanted::Agent(agent) if deskbell_cli::agent::is_demo(agent)) {
        return registry.begin_far_with(project, AgentKind::Acp, wanted).await;
    }
    let view = ask(app, label, project, &wanted, &[]).await?;
    let Some(agent) = view.agent.clone() else {
        // A profile of Claude Code: its decision is the one of the folder.
        registry.set_far_state(project, FarState::Reached(Box::new(view)));
        project::send_to_window(app, label).await;
        registry.check_far(project)?;
        return registry.begin_far_with(project, AgentKind::Claude, wanted).await;
    };
    if may_start(&view) {
        return registry.begin_far_with(project, AgentKind::Acp, wanted).await;
    }
    let name = agent.name;
    show(app, label, AgentQuestion { wanted, view }).await?;
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

/// Runs `deskbell trust` there for this agent, with these options.
async fn ask(
    app: &AppHandle,
    label: &str,
    project: &Path,
    wanted: &Wanted,
    options: &[String],
) -> Result<TrustView, CommandError> {
    let (far, folder) = place_of(project).ok_or_else(bad_folder)?;
    let of = wanted.option().ok_or_else(|| refused("This agent is not one of the table."))?;
    let command = [&["trust".to_owned(), "--json".to_owned(), folder.clone(), of], options].concat();
    let connections = app.state::<SessionRegistry>().connections();
    let window = questions::in_window(app, label.to_owned());
    let asked = far.ask::<TrustView>(&connections, Some(window), &command).await;
    let mut view = asked.map_err(|error| error.for_window(&far.machine))?;
    if let Some(agent) = &mut view.agent {
        agent.name = line(&agent.name);
    }
    if view.project == folder && is_about(&view, wanted) { Ok(view) } else { Err(bad_folder()) }
}

/// Whether the answer is about what was asked.
fn is_about(view: &TrustView, wanted: &Wanted) -> bool {
    match wanted {
        Wanted::Profile(_) => true,
        Wanted::Agent(agent) => view.agent.as_ref().map(|about| &about.id) == agent.row_id().as_ref(),
    }
}

async fn show(app: &AppHandle, label: &str, question: AgentQuestion) -> Result<(), CommandError> {
    app.state::<Windows>().with(label, |window| {
        window.far_agent = Some(question);
        window.agent_refusals += 1;
    })?;
    project::send_to_window(app, label).await;
    Ok(())
}

/// Makes the window show the trust page of the agent of this session.
pub async fn review(
    app: &AppHandle,
    label: &str,
    project: &Path,
    id: &SessionId,
) -> Result<(), CommandError> {
    let session = app.state::<SessionRegistry>().known(id).filter(|(of, _)| of == project);
    let wanted = match session.map(|(_, session)| (session.profile, session.agent_id)) {
        Some((Some(profile), _)) => Wanted::profile(profile)?,
        Some((None, Some(agent))) => Wanted::agent(&agent)?,
        _ => return Err(refused("This session has no agent with a trust decision of its own.")),
    };
    let view = ask(app, label, project, &wanted, &[]).await?;
    show(app, label, AgentQuestion { wanted, view }).await
}

/// Stores the decision about the agent that the window asked about, and whose id the page has. `options` are the decision
/// and the fingerprint that was shown.
pub async fn decide(
    app: &AppHandle,
    label: &str,
    project: &Path,
    agent: &str,
    decision: TrustDecision,
    options: &[String],
) -> Result<(), CommandError> {
    let asked = app.state::<Windows>().with(label, |window| window.far_agent.clone())?;
    let is_it = |asked: &AgentQuestion| asked.view.agent.as_ref().is_some_and(|about| about.id == agent);
    let asked = asked
        .filter(is_it)
        .ok_or_else(|| refused("The question is about another agent now; review it again."))?;
    match ask(app, label, project, &asked.wanted, options).await {
        Ok(_) => {
            app.state::<Windows>().with(label, |window| window.far_agent = None)?;
            if let Some(agent) = ChosenAgent::row_of(agent).filter(|_| decision != TrustDecision::Keep) {
                app.state::<SessionRegistry>().reload(project, Some(&agent)).await;
            }
            Ok(())
        }
        Err(error) => {
            // The files may differ from those that were shown: the window shows the present ones.
            let view = ask(app, label, project, &asked.wanted, &[]).await?;
            let now = AgentQuestion { view, ..asked };
            app.state::<Windows>().with(label, |window| window.far_agent = Some(now))?;
            Err(error)
        }
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
        let odd = [profile(""), profile("a\nb"), profile(&"x".repeat(61))];
        let profiles = odd.into_iter().chain((0..900).map(|nr| profile(&format!("p{nr}")))).collect();
        let agents = vec![found("opencode"), found("opencode"), found("--all"), found("claude")];
        let choices = checked(MachineAgents { agents, profiles });
        let [agent] = &choices.agents[..] else { panic!("{:?}", choices.agents) };
        assert_eq!(agent.name, "opencode");
        assert!(agent.trusted_only.is_some(), "whether it can be restricted is known here");
        let OtherAgentState::Found { program, .. } = &agent.state else { panic!("{:?}", agent.state) };
        assert!(program.chars().count() <= LONGEST && !program.contains(char::is_control), "{program:?}");
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
        };
        use TrustStatus::{Changed, Kept, Restricted, Trusted, Unknown};
        assert!(is_about(&view(Some("opencode"), Trusted, None), &wanted));
        // The decision about Claude Code, or about another agent, never counts for this one.
        assert!(!is_about(&view(None, Trusted, None), &wanted));
        assert!(!is_about(&view(Some("gemini"), Trusted, None), &wanted));
        let starts = |state, only| may_start(&view(Some("opencode"), state, only));
        assert!(starts(Trusted, Some("it")) && starts(Kept, Some("it")) && starts(Restricted, None));
        assert!(!starts(Restricted, Some("it")) && !starts(Unknown, None) && !starts(Changed, None));
    }
}
