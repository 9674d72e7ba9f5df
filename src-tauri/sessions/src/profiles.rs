//! Profiles of the settings: the agent of one, and what its process is started with. A session keeps its profile by name.

use crate::agent::{self, Chosen};
use crate::folders;
use deskbell_engine::acp::ChosenAgent;
use deskbell_engine::api::*;
use deskbell_engine::settings::SettingsFile;
use deskbell_engine::store::{Record, SavedSession};
use deskbell_engine::stored::Store;
use std::path::{Path, PathBuf};

/// The variable of Claude Code's folder of settings and transcripts.
pub const CLAUDE_CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";

/// Reads the settings for agents. A wrong list of profiles counts as none; `deskbell settings check` reports it.
pub fn settings() -> AgentSettings {
    SettingsFile::new(&folders::config()).read(&Settings::default()).settings.agent
}

/// The profile with this name. The error lists the names that there are.
pub fn find(settings: &AgentSettings, name: &str) -> Result<Profile, CommandError> {
    let found = settings.profiles.iter().find(|profile| profile.name == name);
    found.cloned().ok_or_else(|| {
        let name: String = name.chars().filter(|c| !c.is_control()).take(60).collect();
        refused(format!("There is no profile “{name}”."), known(settings))
    })
}

/// The names of the profiles, as a sentence.
fn known(settings: &AgentSettings) -> String {
    let names: Vec<String> = settings.profiles.iter().map(|profile| format!("“{}”", profile.name)).collect();
    if names.is_empty() {
        "The settings have none that can be used: see `deskbell settings check`.".to_owned()
    } else {
        format!("The settings have {}.", names.join(", "))
    }
}

/// The profile that new sessions of a project begin with.
pub fn of_project(settings: &AgentSettings, project: &Path) -> Option<Profile> {
    let is_default = |profile: &&Profile| profile.projects.iter().any(|one| Path::new(one) == project);
    settings.profiles.iter().find(is_default).cloned()
}

/// Its agent, if that speaks ACP; `None` is Claude Code.
pub fn agent(profile: &Profile) -> Option<ChosenAgent> {
    match (&profile.agent, &profile.command) {
        // An id without a row is refused by the check of the settings.
        (Some(id), _) => Some(ChosenAgent::row_of(id).unwrap_or_else(|| ChosenAgent::Row { id: id.clone() })),
        (None, Some(UserCommand { program, args })) => {
            Some(ChosenAgent::Command { program: program.into(), arguments: args.clone() })
        }
        (None, None) => None,
    }
}

/// The folder of Claude Code's own files, if the profile has another one.
pub fn config_folder(profile: &Profile) -> Option<PathBuf> {
    let folder = profile.environment.iter().find(|variable| variable.name == CLAUDE_CONFIG_DIR);
    folder.filter(|_| agent(profile).is_none()).map(|variable| PathBuf::from(&variable.value))
}

/// The folders of Claude Code's own files: the usual one, and those of profiles, each once.
pub fn stores(settings: &AgentSettings) -> Vec<Store> {
    let usual = Store { config: agent::config_folder(AgentKind::Claude, Path::new("")), profile: None };
    let mut stores = vec![usual];
    for profile in &settings.profiles {
        if let Some(config) = config_folder(profile)
            && stores.iter().all(|store| store.config != config)
        {
            stores.push(Store { config, profile: Some(profile.name.clone()) });
        }
    }
    stores
}

/// A session of this profile, if there is one.
pub fn begin_with(profile: Option<&Profile>, memory: SavedSession) -> SavedSession {
    match profile {
        Some(profile) => begin(profile, memory),
        None => memory,
    }
}

/// A session of this profile. What `memory` has counts before the choices of the profile.
pub fn begin(profile: &Profile, memory: SavedSession) -> SavedSession {
    SavedSession {
        acp: agent(profile),
        profile: Some(profile.name.clone()),
        config_folder: config_folder(profile),
        model: memory.model.clone().or_else(|| profile.model.clone()),
        effort: memory.effort.clone().or_else(|| profile.effort.clone()),
        mode: memory.mode.or(profile.mode),
        ..memory
    }
}

/// The folder of the agent's own files, for a session.
pub fn config_folder_of(record: &Record, data: &Path) -> PathBuf {
    let own = record.memory.config_folder.clone();
    own.unwrap_or_else(|| agent::config_folder(record.agent, data))
}

/// What a session's agent is started with, as its profile says now. Without the profile it was begun with, nothing may
/// start: it could be another account.
pub fn chosen(memory: &SavedSession, settings: &AgentSettings) -> Result<Chosen, CommandError> {
    let Some(name) = &memory.profile else {
        let program = settings.program.as_ref().filter(|_| memory.acp.is_none());
        let program = program.map(PathBuf::from);
        return Ok(Chosen { program, priority: settings.priority, ..Chosen::default() });
    };
    let Some(profile) = settings.profiles.iter().find(|profile| profile.name == *name) else {
        return Err(gone(name, settings));
    };
    if agent(profile) != memory.acp {
        return Err(other(name, "agent"));
    }
    if config_folder(profile) != memory.config_folder {
        return Err(other(name, "CLAUDE_CONFIG_DIR"));
    }
    let usual = settings.program.clone().filter(|_| memory.acp.is_none());
    let program = profile.program.clone().or(usual).map(PathBuf::from);
    Ok(Chosen { program, environment: profile.environment.clone(), priority: settings.priority })
}

fn gone(name: &str, settings: &AgentSettings) -> CommandError {
    let what = format!(
        "Nothing was started, because it could have been another account. Add a profile with this name to the setting \
         agent.profiles, or begin a new session. {}",
        known(settings)
    );
    refused(format!("The profile “{name}” of this session is not in the settings."), what)
}

fn other(name: &str, what: &str) -> CommandError {
    refused(
        format!("The profile “{name}” has another {what} than when this session began."),
        "Nothing was started. Change the profile back in the setting agent.profiles, or begin a new session."
            .to_owned(),
    )
}

fn refused(message: String, detail: String) -> CommandError {
    CommandError { code: ErrorCode::Refused, message, detail: Some(detail) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile() -> Profile {
        let variable =
            |name: &str, value: &str| EnvironmentVariable { name: name.into(), value: value.into() };
        Profile {
            name: "Work".to_owned(),
            environment: vec![variable(CLAUDE_CONFIG_DIR, "/home/ada/claude"), variable("MY_KEY", "secret")],
            model: Some("opus".to_owned()),
            projects: vec!["/p".to_owned()],
            ..Profile::default()
        }
    }

    fn with(profiles: Vec<Profile>) -> AgentSettings {
        AgentSettings { profiles, program: Some("/opt/claude".to_owned()), ..AgentSettings::default() }
    }

    #[test]
    fn only_claude_code_has_its_folder_from_a_profile() {
        assert_eq!(config_folder(&profile()), Some("/home/ada/claude".into()));
        assert_eq!(config_folder(&Profile { agent: Some("gemini".to_owned()), ..profile() }), None);
        assert_eq!(config_folder(&Profile::default()), None);
        // Two profiles with one folder are one store, which has the name of the first.
        let again = Profile { name: "Again".to_owned(), ..profile() };
        let stores = stores(&with(vec![Profile::default(), profile(), again]));
        let names: Vec<Option<&str>> = stores.iter().map(|store| store.profile.as_deref()).collect();
        assert_eq!(names, [None, Some("Work")]);
        assert_eq!(stores[1].config, Path::new("/home/ada/claude"));
    }

    #[test]
    fn a_profile_that_is_not_there_is_said_with_those_that_are() {
        let problem = |profiles| {
            let error = find(&with(profiles), "Home").unwrap_err();
            format!("{} {}", error.message, error.detail.unwrap())
        };
        assert_eq!(find(&with(vec![profile()]), "Work"), Ok(profile()));
        assert_eq!(problem(vec![profile()]), "There is no profile “Home”. The settings have “Work”.");
        assert!(problem(Vec::new()).contains("deskbell settings check"));
        assert_eq!(of_project(&with(vec![profile()]), Path::new("/p")), Some(profile()));
        assert_eq!(of_project(&with(vec![profile()]), Path::new("/q")), None);
    }

    #[test]
    fn a_session_starts_with_its_own_profile_or_not_at_all() {
        let memory =
            begin(&profile(), SavedSession { effort: Some("low".to_owned()), ..SavedSession::default() });
        assert_eq!((memory.model.as_deref(), memory.effort.as_deref()), (Some("opus"), Some("low")));
        let started = chosen(&memory, &with(vec![profile()])).unwrap();
        assert_eq!(
            (started.program, started.environment),
            (Some("/opt/claude".into()), profile().environment)
        );
        let problem = |profiles| chosen(&memory, &with(profiles)).unwrap_err().message;
        assert_eq!(problem(Vec::new()), "The profile “Work” of this session is not in the settings.");
        let gemini = Profile { agent: Some("gemini".to_owned()), ..profile() };
        assert!(problem(vec![gemini]).contains("another agent"));
        let moved = Profile { environment: Vec::new(), ..profile() };
        assert!(problem(vec![moved]).contains("another CLAUDE_CONFIG_DIR"));
        // A session without a profile gets none.
        let plain = chosen(&SavedSession::default(), &with(vec![profile()])).unwrap();
        assert_eq!((plain.program, plain.environment), (Some("/opt/claude".into()), Vec::new()));
    }
}
