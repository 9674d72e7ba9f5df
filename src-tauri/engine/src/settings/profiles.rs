//! The check of profiles, which is never a way around asking or trust, and changes of one in the list of the file.

use super::error::SettingsError;
use super::keep_unknown;
use super::text::named;
use crate::api::{AgentKind, EnvironmentVariable, Profile, SessionOptions, UserCommand};
use crate::options::{bad_name, bad_projects, problems};
use deskbell_acp::ChosenAgent;
use serde_json::Value;
use std::path::Path;

const MOST_PROFILES: usize = 50;

/// Limits of a command: the length of each part in bytes, and the number of arguments.
const MOST_PART: usize = 4096;
const MOST_ARGUMENTS: usize = 50;

/// Claude Code's folder of configuration. A folder's settings must not lead to another one, so the check of every
/// session's environment refuses it. A profile is the user's own.
const CONFIG_FOLDER: &str = "CLAUDE_CONFIG_DIR";

/// Parts of arguments and of names of variables that turn off an agent's asking, without separators.
const WITHOUT_ASKING: &[&str] = &[
    "yolo",
    "dangerously",
    "bypass",
    "skippermission",
    "allowall",
    "autoapprov",
    "fullauto",
    "permissionmode",
    "approvalmode",
    "approvalpolicy",
    "trustall",
    "opencodepermission",
    "opencodeconfigcontent",
    "goosemode",
];

/// Checks a list of profiles. Unknown names in it are kept by everything that writes the file.
pub fn check(value: &Value) -> Result<(), String> {
    let profiles: Vec<Profile> = serde_json::from_value(value.clone()).map_err(|error| error.to_string())?;
    if profiles.len() > MOST_PROFILES {
        return Err(format!("there are {} profiles; {MOST_PROFILES} are possible", profiles.len()));
    }
    for (nr, profile) in profiles.iter().enumerate() {
        let (name, before) = (&profile.name, &profiles[..nr]);
        if let Some(problem) = bad_name("profile", nr, name, before.iter().map(|other| &other.name)) {
            return Err(problem);
        }
        check_one(profile).map_err(|problem| format!("profile “{name}”: {problem}"))?;
        let others = before.iter().map(|other| (&other.name, &other.projects));
        if let Some(problem) = bad_projects("profile", name, &profile.projects, others) {
            return Err(problem);
        }
    }
    Ok(())
}

fn check_one(profile: &Profile) -> Result<(), String> {
    let kind = check_agent(profile)?;
    let is_path = |program: &String| Path::new(program).is_absolute() && is_part(program);
    if profile.program.as_ref().is_some_and(|program| !is_path(program)) {
        return Err("“program” must be an absolute path".to_owned());
    }
    if kind == AgentKind::Acp && profile.mode.is_some() {
        return Err("“mode” is for Claude Code; other agents begin in their mode that asks".to_owned());
    }
    check_environment(profile)?;
    let Profile { model, effort, .. } = profile.clone();
    refused(&SessionOptions { model, effort, ..SessionOptions::default() })
}

fn refused(options: &SessionOptions) -> Result<(), String> {
    problems(options)
        .first()
        .map_or(Ok(()), |problem| Err(problem.to_string().trim_end_matches('.').to_owned()))
}

/// Which kind of agent it is, if Deskbell knows it.
fn check_agent(profile: &Profile) -> Result<AgentKind, String> {
    match (&profile.agent, &profile.command) {
        (Some(_), Some(_)) => Err("“agent” and “command” exclude each other".to_owned()),
        (None, None) => Ok(AgentKind::Claude),
        (Some(id), None) if ChosenAgent::row_of(id).is_some() => Ok(AgentKind::Acp),
        (Some(id), None) => {
            let id: String = id.chars().filter(|c| !c.is_control()).take(60).collect();
            Err(format!("Deskbell does not know the agent “{id}”"))
        }
        (None, Some(_)) if profile.program.is_some() => {
            Err("“program” belongs to an agent of the list; “command” has its own".to_owned())
        }
        (None, Some(command)) => check_command(command).map(|()| AgentKind::Acp),
    }
}

fn check_command(command: &UserCommand) -> Result<(), String> {
    let UserCommand { program, args } = command;
    let is_name = !program.trim().is_empty() && Path::new(program).components().count() == 1;
    if !is_part(program) || !(is_name || Path::new(program).is_absolute()) {
        return Err("the program of “command” must be a name or an absolute path".to_owned());
    }
    if args.len() > MOST_ARGUMENTS || !args.iter().all(|arg| is_part(arg)) {
        return Err(format!(
            "“command” can have {MOST_ARGUMENTS} arguments of {MOST_PART} bytes in one line"
        ));
    }
    match args.iter().find(|arg| is_without_asking(arg)) {
        Some(arg) => Err(format!("“{arg}” can let the agent act without asking")),
        None => Ok(()),
    }
}

fn is_part(text: &str) -> bool {
    text.len() <= MOST_PART && !text.contains(char::is_control)
}

fn is_without_asking(text: &str) -> bool {
    let plain: String =
        text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    WITHOUT_ASKING.iter().any(|part| plain.contains(part))
}

/// The check of every session's environment, with one exception.
fn check_environment(profile: &Profile) -> Result<(), String> {
    let is_config = |variable: &&EnvironmentVariable| variable.name == CONFIG_FOLDER;
    let folders: Vec<_> = profile.environment.iter().filter(is_config).collect();
    if folders.iter().any(|folder| !Path::new(&folder.value).is_absolute() || !is_part(&folder.value)) {
        return Err(format!("{CONFIG_FOLDER} must be an absolute path"));
    }
    if folders.len() > 1 {
        return Err(format!("{CONFIG_FOLDER} is in the list already"));
    }
    let of_row = profile.agent.as_deref().and_then(ChosenAgent::row_of).and_then(|agent| agent.facts());
    let is_set = |name: &str| {
        let environment = of_row.map(|row| row.environment).unwrap_or_default();
        let fixed = environment.set.iter().map(|(name, _)| name).chain(environment.strip);
        fixed.into_iter().any(|fixed| fixed.eq_ignore_ascii_case(name))
    };
    for EnvironmentVariable { name, .. } in &profile.environment {
        if is_without_asking(name) {
            return Err(format!("{name} can let the agent act without asking"));
        }
        if is_set(name) {
            return Err(format!("Deskbell sets {name} itself for this agent"));
        }
    }
    let environment = profile.environment.iter().filter(|one| !is_config(one)).cloned().collect();
    refused(&SessionOptions { environment, ..SessionOptions::default() })
}

/// The list with a profile added (`was` is `None`), changed or removed (`profile` is `None`). A list of another form is
/// returned as it is, for the check to report.
pub fn changed(
    mut list: Value,
    was: Option<&str>,
    profile: Option<&Profile>,
) -> Result<Value, SettingsError> {
    let Some(profiles) = list.as_array_mut() else { return Ok(list) };
    let place = was.map(|name| {
        let place = profiles.iter().position(|profile| named(profile) == Some(name));
        place.ok_or_else(|| SettingsError::NoProfile(name.to_owned()))
    });
    match (place.transpose()?, profile) {
        (Some(place), None) => drop(profiles.remove(place)),
        (Some(place), Some(profile)) => profiles[place] = written(profile, &profiles[place]),
        (None, Some(profile)) => profiles.push(written(profile, &Value::Null)),
        (None, None) => {}
    }
    Ok(list)
}

/// A profile as the file has it: with the unknown fields of before, and without fields that have no value and had none.
fn written(profile: &Profile, before: &Value) -> Value {
    let mut value = serde_json::to_value(profile).unwrap_or_default();
    keep_unknown(&mut value, before);
    let had = |name: &String| before.as_object().is_some_and(|fields| fields.contains_key(name));
    let is_empty = |value: &Value| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|name, value| had(name) || !is_empty(value));
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn problem(profile: Value) -> String {
        check(&json!([profile])).unwrap_err()
    }

    fn variable(name: &str, value: &str) -> Value {
        json!({"name": "x", "environment": [{"name": name, "value": value}]})
    }

    #[test]
    fn agents_commands_and_folders_of_configuration_are_accepted() {
        let absolute = std::env::temp_dir().display().to_string();
        let folder = |name: &str| json!([{"name": name, "value": absolute}]);
        let profiles = json!([
            {"name": "Work", "environment": folder("CLAUDE_CONFIG_DIR"), "mode": "plan", "projects": [absolute]},
            {"name": "Codex, private", "agent": "codex", "environment": folder("CODEX_HOME")},
            {"name": "Mine", "command": {"program": "my-agent", "args": ["--acp"]}, "model": "large"},
            {"name": "Later", "agent": "gemini", "effort": "high", "later": true},
        ]);
        assert_eq!(check(&profiles), Ok(()));
    }

    #[test]
    fn no_profile_turns_off_asking() {
        assert!(
            problem(json!({"name": "x", "mode": "bypassPermissions"})).contains("before the agent starts")
        );
        assert!(
            problem(json!({"name": "x", "agent": "gemini", "mode": "default"})).contains("for Claude Code")
        );
        for argument in
            ["--yolo", "--dangerously-skip-permissions", "--approval-mode=auto", "--allow-all-tools"]
        {
            let command = json!({"program": "agent", "args": ["--acp", argument]});
            assert!(
                problem(json!({"name": "x", "command": command})).contains("without asking"),
                "{argument}"
            );
        }
        for name in ["GOOSE_MODE", "OPENCODE_PERMISSION", "COPILOT_ALLOW_ALL", "goose_mode"] {
            assert!(problem(variable(name, "x")).contains("without asking"), "{name}");
        }
    }

    #[test]
    fn no_variable_makes_programs_run_other_code() {
        for name in
            ["LD_PRELOAD", "PATH", "NODE_OPTIONS", "ANTHROPIC_BASE_URL", "HOME", "DESKBELL_AGENT", "a b", ""]
        {
            assert!(check(&json!([variable(name, "/x")])).is_err(), "{name}");
        }
        for folder in ["", "claude", "../claude", "/a\nb"] {
            assert!(problem(variable("CLAUDE_CONFIG_DIR", folder)).contains("absolute path"), "{folder}");
        }
        let secret = "a-secret-value";
        assert!(!problem(variable("LD_PRELOAD", secret)).contains(secret), "a problem shows no value");
        let environment = json!([{"name": "OPENCODE_SERVER_PASSWORD", "value": "known"}]);
        let opencode = json!({"name": "x", "agent": "opencode", "environment": environment});
        assert!(problem(opencode).contains("sets OPENCODE_SERVER_PASSWORD itself"));
    }

    #[test]
    fn a_profile_names_one_agent_that_is_known() {
        let command = json!({"program": "x"});
        assert!(problem(json!({"name": "x", "agent": "none"})).contains("does not know the agent “none”"));
        assert!(problem(json!({"name": "x", "agent": "gemini", "command": command})).contains("exclude"));
        assert!(problem(json!({"name": "x", "command": command, "program": "/y"})).contains("has its own"));
        for program in [" ", "./x", "a/b", "x\ny"] {
            assert!(
                problem(json!({"name": "x", "command": {"program": program}})).contains("a name or"),
                "{program}"
            );
        }
        assert!(problem(json!({"name": "x", "program": "relative"})).contains("absolute"));
        assert!(problem(json!({"name": "x", "model": "a b"})).contains("no spaces"));
        for name in ["", " x", "a\nb", &"x".repeat(61)] {
            assert!(problem(json!({"name": name})).contains("its name"), "{name}");
        }
        assert!(check(&json!([{"name": "x"}, {"name": "x"}])).unwrap_err().contains("two profiles"));
        let many: Vec<Value> = (0..51).map(|nr| json!({"name": format!("{nr}")})).collect();
        assert!(check(&json!(many)).unwrap_err().contains("50 are possible"));
        assert!(problem(json!({"name": "x", "projects": ["relative"]})).contains("not an absolute path"));
    }
}
