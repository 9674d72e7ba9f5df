//! Options of a session: what is accepted, and what the agent would be started with.
//!
//! `claude::options` judges the values; this module adds what the disk says about folders and files.

use crate::api::*;
use crate::claude::options;
use crate::disk::{ReadError, read_regular};
use crate::launch::{Launch, Start};
use serde_json::Value;
use std::path::Path;

/// The longest name of a preset, in characters.
const MOST_NAME: usize = 60;

/// The reasons why options are refused, without a look at the disk.
pub(crate) fn problems(options: &SessionOptions) -> Vec<OptionProblem> {
    options::problems(options)
}

/// The first of the reasons, as the error of a command.
pub(crate) fn refused(problems: &[OptionProblem]) -> Result<(), CommandError> {
    let Some(first) = problems.first() else { return Ok(()) };
    let detail: Vec<String> = problems.iter().map(ToString::to_string).collect();
    Err(CommandError {
        code: ErrorCode::BadCommand,
        message: format!("The session's options are not possible. {}", first),
        detail: (problems.len() > 1).then(|| detail.join("\n")),
    })
}

/// The options of a session, from a file or from a preset to what an agent is started with.
pub trait CheckedOptions: Sized {
    /// Parses options from the text of a file. Unknown names are errors: a typing mistake must not leave an option out.
    fn parse(text: &str) -> Result<Self, String>;

    /// The options that new sessions in a project begin with.
    fn of_project(presets: &[Preset], project: &Path) -> Self;

    /// All reasons why a session in `project` cannot have these options. Reads the disk: call it through `disk::run`.
    fn problems_in(&self, project: &Path) -> Vec<OptionProblem>;

    /// The same as the error of a command.
    fn check_in(&self, project: &Path) -> Result<(), CommandError> {
        refused(&self.problems_in(project))
    }
}

impl CheckedOptions for SessionOptions {
    fn parse(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if !value.is_object() {
            return Err("the options must be one JSON object".to_owned());
        }
        let unknown = unknown(&value);
        if !unknown.is_empty() {
            return Err(format!("unknown options: {}", unknown.join(", ")));
        }
        let options: SessionOptions = serde_json::from_value(value).map_err(|error| error.to_string())?;
        match problems(&options).first() {
            Some(problem) => Err(problem.to_string()),
            None => Ok(options),
        }
    }

    fn of_project(presets: &[Preset], project: &Path) -> Self {
        let is_default = |preset: &&Preset| preset.projects.iter().any(|one| Path::new(one) == project);
        presets.iter().find(is_default).map(|preset| preset.options.clone()).unwrap_or_default()
    }

    fn problems_in(&self, project: &Path) -> Vec<OptionProblem> {
        let mut problems = problems(self);
        let has = |problems: &[OptionProblem], field, index| {
            problems.iter().any(|problem| problem.field == field && problem.index == index)
        };
        for (nr, folder) in self.folders.iter().enumerate() {
            let index = u32::try_from(nr).ok();
            if !has(&problems, OptionField::Folders, index)
                && let Some(message) = bad_folder(Path::new(folder), project)
            {
                problems.push(OptionProblem { field: OptionField::Folders, index, message });
            }
        }
        if let Some(path) = &self.mcp_config
            && !has(&problems, OptionField::McpConfig, None)
            && let Err(message) = servers(Path::new(path), project)
        {
            problems.push(OptionProblem { field: OptionField::McpConfig, index: None, message });
        }
        problems
    }
}

/// What to know about accepted options.
fn warnings(options: &SessionOptions) -> Vec<OptionProblem> {
    let mut warnings = options::warnings(options);
    let home = dirs::home_dir();
    for (nr, folder) in options.folders.iter().enumerate() {
        if home.as_ref().is_some_and(|home| home.starts_with(folder)) {
            warnings.push(OptionProblem {
                field: OptionField::Folders,
                index: u32::try_from(nr).ok(),
                message:
                    "The agent reads everything in your home folder without asking, keys and mail included."
                        .to_owned(),
            });
        }
    }
    warnings
}

fn bad_folder(folder: &Path, project: &Path) -> Option<String> {
    if !folder.is_dir() {
        let what = if folder.exists() { "This is not a folder." } else { "The folder does not exist." };
        return Some(what.to_owned());
    }
    is_inside(folder, project).then(|| "The folder is in the project already.".to_owned())
}

/// Whether a path is in the project, also by a link. A path that cannot be resolved counts as it is written.
fn is_inside(path: &Path, project: &Path) -> bool {
    let real = |path: &Path| dunce::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    path.starts_with(project) || real(path).starts_with(real(project))
}

/// The servers of an MCP config. A file in the project is refused: it would come in without trust in the folder.
fn servers(path: &Path, project: &Path) -> Result<Vec<OptionServer>, String> {
    if is_inside(path, project) {
        return Err(
            "The file is in the project. Its .mcp.json is loaded if you trust the folder; another file \
                    must be outside of it."
                .to_owned(),
        );
    }
    let bytes = read_regular(path, options::MOST_CONFIG).map_err(|error| match error {
        ReadError::Missing => "The file does not exist.".to_owned(),
        error => format!("The file cannot be read: {error}."),
    })?;
    options::servers(&bytes)
}

/// Applies options to the launch of an agent, after checking them again: folders and files may have changed. Reads the
/// disk.
pub(crate) fn apply(launch: &mut Launch, options: &SessionOptions) -> Result<(), CommandError> {
    options.check_in(&launch.project)?;
    let variables = options.environment.iter();
    launch.env.extend(variables.map(|one| (one.name.clone().into(), Some(one.value.clone().into()))));
    Ok(())
}

/// What an agent would be started with: `launch` finds it. Reads the disk.
pub(crate) fn review(
    start: &Start,
    project: &Path,
    launch: impl FnOnce() -> Result<Launch, CommandError>,
) -> OptionsReview {
    let options = &start.options;
    let problems = options.problems_in(project);
    let found = options.mcp_config.as_ref().and_then(|path| servers(Path::new(path), project).ok());
    let mut review = OptionsReview {
        warnings: warnings(options),
        servers: found.unwrap_or_default(),
        program: None,
        obstacle: None,
        arguments: options::args(options),
        environment: options.environment.clone(),
        problems,
    };
    match launch() {
        Ok(launch) => {
            review.program = Some(launch.program.display().to_string());
            let arguments = launch.args(start).into_iter();
            review.arguments = arguments.map(|one| one.to_string_lossy().into_owned()).collect();
        }
        Err(error) => review.obstacle = Some(error.message),
    }
    review
}

/// The names in an object of options that Deskbell does not know.
fn unknown(value: &Value) -> Vec<String> {
    let full = SessionOptions { system_prompt: Some(SystemPrompt::default()), ..SessionOptions::default() };
    let mut unknown = Vec::new();
    find_unknown(value, &serde_json::to_value(full).unwrap_or_default(), "", &mut unknown);
    unknown
}

fn find_unknown(value: &Value, known: &Value, prefix: &str, unknown: &mut Vec<String>) {
    let (Some(entries), Some(known)) = (value.as_object(), known.as_object()) else { return };
    for (name, value) in entries {
        match known.iter().find(|(other, _)| *other == name) {
            Some((_, known)) => find_unknown(value, known, &format!("{prefix}{name}."), unknown),
            None => unknown.push(format!("{prefix}{name}")),
        }
    }
}

/// Returns the reason why a list of presets is refused, if it is.
pub(crate) fn bad_presets(presets: &[Preset]) -> Option<String> {
    for (nr, preset) in presets.iter().enumerate() {
        let (name, before) = (preset.name.as_str(), &presets[..nr]);
        if let Some(problem) = bad_name("preset", nr, name, before.iter().map(|other| &other.name)) {
            return Some(problem);
        }
        if let Some(problem) = problems(&preset.options).first() {
            return Some(format!("preset “{name}”: {problem}"));
        }
        let others = before.iter().map(|other| (&other.name, &other.projects));
        if let Some(problem) = bad_projects("preset", name, &preset.projects, others) {
            return Some(problem);
        }
    }
    None
}

/// Why an entry of a list in the settings cannot have its name, if it cannot. `what`: “preset”, for example.
pub(crate) fn bad_name<'a>(
    what: &str,
    nr: usize,
    name: &str,
    mut before: impl Iterator<Item = &'a String>,
) -> Option<String> {
    let nr = nr + 1;
    if name.trim() != name || name.is_empty() || name.chars().count() > MOST_NAME {
        return Some(format!(
            "{what} {nr}: its name needs 1 to {MOST_NAME} characters, without spaces around them"
        ));
    }
    if name.chars().any(char::is_control) {
        return Some(format!("{what} {nr}: its name has a control character"));
    }
    before.any(|other| other == name).then(|| format!("two {what}s have the name “{name}”"))
}

/// Why an entry of a list in the settings cannot be the default of these projects, if it cannot.
pub(crate) fn bad_projects<'a>(
    what: &str,
    name: &str,
    projects: &[String],
    before: impl Iterator<Item = (&'a String, &'a Vec<String>)> + Clone,
) -> Option<String> {
    projects.iter().find_map(|project| {
        if !Path::new(project).is_absolute() {
            return Some(format!("{what} “{name}”: “{project}” is not an absolute path"));
        }
        let (other, _) = before.clone().find(|(_, others)| others.contains(project))?;
        Some(format!("the {what}s “{other}” and “{name}” are both the default of {project}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn message(options: &SessionOptions, project: &Path) -> Option<String> {
        options.problems_in(project).first().map(ToString::to_string)
    }

    #[test]
    fn a_folder_must_be_there_and_outside_of_the_project() {
        let root = tempfile::tempdir().unwrap();
        let project = root.path().join("project");
        fs::create_dir_all(project.join("inner")).unwrap();
        let file = root.path().join("file");
        fs::write(&file, "").unwrap();
        let of = |folder: &Path| {
            let folders = vec![folder.display().to_string()];
            message(&SessionOptions { folders, ..SessionOptions::default() }, &project)
        };
        assert_eq!(of(root.path()), None);
        assert_eq!(of(&file).as_deref(), Some("folders[0]: This is not a folder."));
        assert_eq!(of(&root.path().join("none")).as_deref(), Some("folders[0]: The folder does not exist."));
        assert_eq!(
            of(&project.join("inner")).as_deref(),
            Some("folders[0]: The folder is in the project already.")
        );
        #[cfg(unix)]
        {
            let link = root.path().join("link");
            std::os::unix::fs::symlink(project.join("inner"), &link).unwrap();
            assert!(of(&link).is_some(), "a link into the project is accepted");
        }
    }

    #[test]
    fn an_mcp_config_is_a_readable_file_outside_of_the_project() {
        let root = tempfile::tempdir().unwrap();
        let project = root.path().join("project");
        fs::create_dir(&project).unwrap();
        let of = |path: &Path| {
            let mcp_config = Some(path.display().to_string());
            message(&SessionOptions { mcp_config, ..SessionOptions::default() }, &project)
        };
        let text = r#"{"mcpServers": {"mine": {"command": "true"}}}"#;
        let file = root.path().join("servers.json");
        fs::write(&file, text).unwrap();
        assert_eq!(of(&file), None);
        fs::write(project.join("servers.json"), text).unwrap();
        assert!(of(&project.join("servers.json")).unwrap().contains("in the project"));
        assert!(of(&root.path().join("none")).unwrap().contains("does not exist"));
        assert!(of(root.path()).is_some(), "a folder");
        fs::write(&file, "{").unwrap();
        assert!(of(&file).unwrap().contains("not valid JSON"));
        fs::write(&file, " ".repeat(300 * 1024)).unwrap();
        assert!(of(&file).is_some(), "a long file");
        #[cfg(unix)]
        {
            let link = root.path().join("link.json");
            std::os::unix::fs::symlink(project.join("servers.json"), &link).unwrap();
            assert!(of(&link).unwrap().contains("in the project"));
        }
    }

    #[test]
    fn a_file_of_options_has_no_unknown_name() {
        assert_eq!(SessionOptions::parse(r#"{"maxTurns": 3}"#).unwrap().max_turns, Some(3));
        for (text, problem) in [
            (r#"{"maxTurn": 3}"#, "unknown options: maxTurn"),
            (
                r#"{"systemPrompt": {"text": "x", "replaces": true}}"#,
                "unknown options: systemPrompt.replaces",
            ),
            (r#"{"maxTurns": 0}"#, "maxTurns: Enter"),
            (r#"{"maxTurns": "3"}"#, "invalid type"),
            (r#"{"arguments": ["--settings=x"]}"#, "arguments[0]: --settings is not possible"),
            ("[]", "one JSON object"),
            ("", "EOF"),
        ] {
            let error = SessionOptions::parse(text).unwrap_err();
            assert!(error.contains(problem), "{text}: {error}");
        }
    }

    #[test]
    fn presets_have_names_of_their_own_and_one_is_a_projects_default() {
        let preset = |name: &str, projects: &[&str]| Preset {
            name: name.to_owned(),
            options: SessionOptions { max_turns: Some(name.len() as u32), ..SessionOptions::default() },
            projects: projects.iter().map(|one| (*one).to_owned()).collect(),
        };
        let here = if cfg!(windows) { r"C:\a" } else { "/a" };
        let two = [preset("one", &[]), preset("three", &[here])];
        assert_eq!(bad_presets(&two), None);
        assert_eq!(SessionOptions::of_project(&two, Path::new(here)).max_turns, Some(5));
        assert_eq!(SessionOptions::of_project(&two, Path::new("/other")), SessionOptions::default());
        for wrong in [
            vec![preset("", &[])],
            vec![preset(" x", &[])],
            vec![preset("a\nb", &[])],
            vec![preset("a", &[]), preset("a", &[])],
            vec![preset("a", &["relative"])],
            vec![preset("a", &[here]), preset("b", &[here])],
        ] {
            assert!(bad_presets(&wrong).is_some(), "{wrong:?}");
        }
    }
}
