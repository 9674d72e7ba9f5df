//! `deskbell settings`: shows and changes the settings, and checks their file.

use crate::output::print;
use deskbell_engine::api::{Settings, SettingsProblem};
use deskbell_engine::disk;
use deskbell_engine::settings::{Read, SettingsFile};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::process::ExitCode;

/// What to do with the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingsAction {
    /// Prints one value, or every setting with its value.
    Get(Option<String>),
    /// Prints every setting in one JSON object.
    Json,
    Set {
        key: String,
        value: String,
    },
    Path,
    Schema,
    Check {
        /// Prints one JSON object.
        json: bool,
    },
}

pub fn main(action: SettingsAction, file: SettingsFile) -> ExitCode {
    match run(action, file) {
        Ok((text, code)) => match print(text.as_bytes()) {
            Ok(()) => code,
            // The reader has closed its end.
            Err(_) => ExitCode::FAILURE,
        },
        Err(error) => {
            eprintln!("deskbell: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(action: SettingsAction, file: SettingsFile) -> anyhow::Result<(String, ExitCode)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let folder = file.folder().to_owned();
    // On a thread with a deadline: the folder may be on a disk that does not respond.
    runtime.block_on(disk::run(&folder, disk::DEADLINE, move || act(action, &file)))?
}

fn act(action: SettingsAction, file: &SettingsFile) -> anyhow::Result<(String, ExitCode)> {
    let read = || file.read(&Settings::default());
    let mut text = String::new();
    let mut code = ExitCode::SUCCESS;
    match action {
        SettingsAction::Path => writeln!(text, "{}", file.path().display())?,
        SettingsAction::Schema => writeln!(text, "{:#}", SettingsFile::schema())?,
        SettingsAction::Set { key, value } => {
            // A text needs no quotes.
            let value = serde_json::from_str(&value).unwrap_or(Value::String(value));
            file.set(&key, &value)?;
        }
        SettingsAction::Json => {
            let read = read();
            complain(file, &read.problems);
            writeln!(text, "{}", serde_json::to_string(&read.settings)?)?;
        }
        SettingsAction::Get(wanted) => {
            let read = read();
            complain(file, &read.problems);
            let settings = serde_json::to_value(&read.settings)?;
            let value = |key: &str| settings.pointer(&format!("/{}", key.replace('.', "/")));
            match wanted {
                None => {
                    for key in SettingsFile::keys().iter().map(|known| &known.key) {
                        writeln!(text, "{key} = {}", value(key).unwrap_or(&Value::Null))?;
                    }
                }
                Some(key) => {
                    let value = value(&key).ok_or_else(|| {
                        anyhow::anyhow!("there is no setting “{key}”; `deskbell settings get` lists them")
                    })?;
                    writeln!(text, "{value}")?;
                }
            }
        }
        SettingsAction::Check { json } => {
            let read = read();
            text = if json { checked_json(file, &read) } else { checked_text(file, &read) };
            if !read.problems.is_empty() {
                code = ExitCode::FAILURE;
            }
        }
    }
    Ok((text, code))
}

fn checked_text(file: &SettingsFile, read: &Read) -> String {
    let path = file.path().display();
    let problems = read.problems.iter().map(|problem| line(file, problem) + "\n");
    let unknown = read
        .unknown
        .iter()
        .map(|(key, line)| format!("{path}:{line}: “{key}” is not a setting and has no effect\n"));
    let text: String = problems.chain(unknown).collect();
    if text.is_empty() { format!("{path}: no problem found\n") } else { text }
}

fn checked_json(file: &SettingsFile, read: &Read) -> String {
    let unknown: Vec<Value> =
        read.unknown.iter().map(|(key, line)| json!({"key": key, "line": line})).collect();
    let checked = json!({"path": file.path(), "problems": read.problems, "unknown": unknown});
    format!("{checked}\n")
}

fn complain(file: &SettingsFile, problems: &[SettingsProblem]) {
    problems.iter().for_each(|problem| eprintln!("deskbell: {}", line(file, problem)));
}

fn line(file: &SettingsFile, problem: &SettingsProblem) -> String {
    format!("{}{}: {}", file.path().display(), problem.place(), problem.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_shown_changed_and_checked() {
        let folder = tempfile::tempdir().unwrap();
        let file = SettingsFile::new(folder.path());
        let act = |action| act(action, &file);
        let set = |key: &str, value: &str| {
            act(SettingsAction::Set { key: key.to_owned(), value: value.to_owned() }).map(|_| ())
        };
        let get = |key: &str| act(SettingsAction::Get(Some(key.to_owned()))).map(|(text, _)| text);
        set("zoom", "125").unwrap();
        set("agent.program", "/opt/claude").unwrap();
        assert_eq!(get("zoom").unwrap(), "125\n");
        assert_eq!(get("agent.program").unwrap(), "\"/opt/claude\"\n");
        set("agent.program", "null").unwrap();
        assert_eq!(get("agent.program").unwrap(), "null\n");
        assert!(set("zoom", "9").unwrap_err().to_string().contains("from 50 to 200"));
        assert!(set("zom", "90").unwrap_err().to_string().contains("there is no setting “zom”"));
        assert!(get("zom").is_err());
        let (json, _) = act(SettingsAction::Json).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&json).unwrap()["zoom"], 125);
        let (all, _) = act(SettingsAction::Get(None)).unwrap();
        assert_eq!(all.lines().count(), SettingsFile::keys().len());
        let check = |json| act(SettingsAction::Check { json }).unwrap();
        assert!(check(false).0.ends_with("no problem found\n"));
        let checked_json = || serde_json::from_str::<Value>(&check(true).0).unwrap();
        assert_eq!(checked_json(), json!({"path": file.path(), "problems": [], "unknown": []}));
        std::fs::write(file.path(), "{\n \"zoom\": 9, \"x\": 1}").unwrap();
        let (checked, code) = check(false);
        assert_eq!(code, ExitCode::FAILURE);
        assert!(
            checked.contains("line 2, column 10: “zoom” must be") && checked.contains(":2: “x” is not"),
            "{checked}"
        );
        assert_eq!(check(true).1, ExitCode::FAILURE);
        let checked = checked_json();
        assert_eq!(checked["problems"][0]["line"], 2, "{checked}");
        assert_eq!(checked["unknown"], json!([{"key": "x", "line": 2}]));
    }
}
