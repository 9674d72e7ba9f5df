//! Programs in the settings: the changes that the user must confirm outside the page.
//!
//! The settings' types mark fields with `startsPrograms`; a marked type is marked wherever it is used. This is the only
//! list.

use super::error::SettingsError;
use super::keys::schema;
use super::text;
use crate::api::{NoticeKind, SessionOptions, Settings};
use crate::misleading::{code, oddity, written_out};
use serde_json::{Map, Value};

const MARK: &str = "startsPrograms";

/// Characters in a row of the dialog.
const ROW: usize = 60;

/// Maximum rows of all changes in one dialog. More rows do not fit on a small screen.
const MOST_ROWS: usize = 24;

/// Returns the text of one change: its labels, outermost first, then the old and the new value, each in one line with
/// misleading characters escaped. Different changes have different texts.
fn change(names: &[String], before: &Value, after: &Value) -> Option<String> {
    let [now, new] = [shown(before), shown(after)];
    // An empty list equals no list.
    (now != new).then(|| {
        let none = || "(none)".to_owned();
        let (now, new) = (now.unwrap_or_else(none), new.unwrap_or_else(none));
        format!("{}\nNow: {now}\nNew: {new}", names.join(" · "))
    })
}

/// Rejects an edit whose program changes differ from the confirmed ones.
pub(super) fn check(before: &str, after: &str, confirmed: &[String]) -> Result<(), SettingsError> {
    let settings = |text: &str| text::read(text, &Settings::default()).settings;
    let changes = program_changes(&settings(before), &settings(after));
    if changes.is_empty() || changes == confirmed {
        return Ok(());
    }
    Err(SettingsError::Unconfirmed(fitting(changes)?))
}

/// Rejects changes that do not fit in a dialog.
fn fitting(changes: Vec<String>) -> Result<Vec<String>, SettingsError> {
    let rows_of = |line: &str| line.chars().count().div_ceil(ROW);
    // A blank row separates two changes.
    let n_rows: usize = changes.iter().map(|change| change.lines().map(rows_of).sum::<usize>() + 1).sum();
    if n_rows > MOST_ROWS { Err(SettingsError::TooLong) } else { Ok(changes) }
}

/// Returns how other options change the programs that a session's agent starts. Values of a preset count as confirmed,
/// because the preset was.
pub(super) fn of_options(
    before: &SessionOptions,
    after: &SessionOptions,
    settings: &Settings,
) -> Result<Vec<String>, SettingsError> {
    let tree = |options: &SessionOptions| serde_json::to_value(options).unwrap_or_default();
    let mut allowed = settings.agent.presets.iter().map(|preset| tree(&preset.options)).collect::<Vec<_>>();
    allowed.push(tree(before));
    let (schema, before, mut after) = (options_schema(), tree(before), tree(after));
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let is_known = property[MARK] == true && allowed.iter().any(|known| known[name] == after[name]);
        if is_known {
            after[name] = before[name].clone();
        }
    }
    let mut changes = Vec::new();
    walk(&schema, &before, &after, &["Session options".to_owned()], &mut changes);
    fitting(changes)
}

/// The schema of session options, taken from that of presets.
fn options_schema() -> Value {
    schema()
        .pointer("/properties/agent/properties/presets/items/properties/options")
        .cloned()
        .unwrap_or_default()
}

/// Returns the program changes between two versions of the settings, in the order of the settings. List entries are
/// compared by name; a removed entry with the same programs counts as renamed. Removed entries are not changes.
fn program_changes(before: &Settings, after: &Settings) -> Vec<String> {
    let tree = |settings: &Settings| serde_json::to_value(settings).unwrap_or_default();
    let mut changes = Vec::new();
    walk(schema(), &tree(before), &tree(after), &[], &mut changes);
    changes
}

fn walk(schema: &Value, before: &Value, after: &Value, names: &[String], changes: &mut Vec<String>) {
    if before == after {
        return;
    }
    if schema[MARK] == true {
        changes.extend(change(names, before, after));
        return;
    }
    // An `Option`, or the variants of an enum.
    for form in ["anyOf", "oneOf"].iter().filter_map(|forms| schema[*forms].as_array()).flatten() {
        walk(form, before, after, names, changes);
    }
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        let label = property["title"].as_str().unwrap_or(key);
        let names = [names, &[label.to_owned()]].concat();
        walk(property, &before[key], &after[key], &names, changes);
    }
    let elements = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let (earlier, later) = (elements(before), elements(after));
    for element in &later {
        let named = |other: &&Value| other["name"] == element["name"];
        let was_renamed = |other: &&Value| {
            later.iter().all(|one| one["name"] != other["name"])
                && changes_of(&schema["items"], other, element).is_empty()
        };
        let counterpart = earlier.iter().find(named).or_else(|| earlier.iter().find(was_renamed));
        let name = format!("“{}”", written_out(element["name"].as_str().unwrap_or_default()));
        let names = [names, &[name]].concat();
        walk(&schema["items"], counterpart.unwrap_or(&Value::Null), element, &names, changes);
    }
}

fn changes_of(schema: &Value, before: &Value, after: &Value) -> Vec<String> {
    let mut changes = Vec::new();
    walk(schema, before, after, &[], &mut changes);
    changes
}

/// Formats a value in one line: a command as words, quoted where needed, variables as `NAME=value`. `None` if it is
/// empty.
fn shown(value: &Value) -> Option<String> {
    let words: Vec<String> = match value {
        Value::Null => return None,
        Value::String(program) => vec![quoted(program)],
        Value::Array(variables) => variables.iter().map(variable).collect(),
        Value::Object(command) => words(command),
        other => vec![other.to_string()],
    };
    Some(words.join(" ")).filter(|words| !words.is_empty())
}

fn words(command: &Map<String, Value>) -> Vec<String> {
    let args = command.get("args").and_then(Value::as_array).into_iter().flatten();
    command.get("program").into_iter().chain(args).filter_map(Value::as_str).map(quoted).collect()
}

fn variable(variable: &Value) -> String {
    let text = |key: &str| variable[key].as_str().unwrap_or_default();
    quoted(&format!("{}={}", text("name"), text("value")))
}

/// Quotes a word if it is empty or could be read as several words. Escapes look-alike letters among ASCII letters.
fn quoted(word: &str) -> String {
    let passes = |c: char| oddity(c) == Some(NoticeKind::LookAlike);
    let is_mixed = |run: &str| run.contains(passes) && run.contains(|c: char| c.is_ascii_alphanumeric());
    if word.split(|c: char| !c.is_alphanumeric()).any(is_mixed) {
        let shown = |c: char| if passes(c) { code(c) } else { escaped(c) };
        return format!("\"{}\"", written_out(&word.chars().map(shown).collect::<String>()));
    }
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%~".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return written_out(word);
    }
    format!("\"{}\"", written_out(&word.chars().map(escaped).collect::<String>()))
}

fn escaped(character: char) -> String {
    match character {
        '\\' | '"' => format!("\\{character}"),
        _ => character.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SettingsFile;
    use serde_json::json;

    fn settings(value: Value) -> Settings {
        serde_json::from_value(value).unwrap()
    }

    fn changes(before: Value, after: Value) -> Vec<String> {
        program_changes(&settings(before), &settings(after))
    }

    /// Collects every unmarked name in the schema.
    fn unmarked(schema: &Value, names: &mut Vec<String>) {
        if schema[MARK] == true {
            return;
        }
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            if property[MARK] != true && property["anyOf"][0][MARK] != true {
                names.push(name.clone());
            }
            unmarked(property, names);
        }
        for inner in schema["anyOf"].as_array().into_iter().flatten().chain(schema.get("items")) {
            unmarked(inner, names);
        }
    }

    #[test]
    fn no_setting_that_starts_a_program_is_unmarked() {
        let mut names = Vec::new();
        unmarked(schema(), &mut names);
        for harmless in ["theme", "agent", "bell", "presets", "profiles", "model", "projects"] {
            assert!(names.iter().any(|name| name == harmless), "{harmless} in {names:?}");
        }
        let starts = ["program", "command", "args", "environment", "mcpConfig", "editor", "terminal"];
        let missed: Vec<_> = names.iter().filter(|name| starts.contains(&name.as_str())).collect();
        assert_eq!(missed, Vec::<&String>::new());
    }

    #[test]
    fn each_change_of_what_is_started_is_named_with_the_old_and_the_new_value() {
        let vim = json!({"program": "kitty", "args": ["vim", "+{line}", "{file}"]});
        let cases = [
            (json!({}), json!({"editor": vim}), "Editor\nNow: (none)\nNew: kitty vim \"+{line}\" \"{file}\""),
            (json!({"editor": vim}), json!({}), "Editor\nNow: kitty vim \"+{line}\" \"{file}\"\nNew: (none)"),
            (json!({}), json!({"terminal": {"program": "x y"}}), "Terminal\nNow: (none)\nNew: \"x y\""),
            (
                json!({"bell": {"failed": {"command": {"program": "ring"}}}}),
                json!({"bell": {"failed": {"command": {"program": "ring\u{202e}"}}}}),
                "Bell · When a session fails · Run a command\nNow: ring\nNew: \"ring\\u{202E}\"",
            ),
            (
                json!({}),
                // A Cyrillic path stays; Cyrillic letters among ASCII letters are escaped.
                json!({"editor": {"program": "/дом/v\u{456}m", "args": ["/дом/vim", "a\nNew: b", "\\u{456}"]}}),
                "Editor\nNow: (none)\nNew: \"/д\\u{043E}м/v\\u{0456}m\" /дом/vim \"a\\u{000A}New: b\" \"\\\\u{456}\"",
            ),
            (
                json!({"agent": {"program": "/opt/claude"}}),
                json!({"agent": {"program": "/tmp/claude"}}),
                "Agent · Claude Code path\nNow: /opt/claude\nNew: /tmp/claude",
            ),
            (
                json!({"agent": {"profiles": [{"name": "a", "program": "/x"}]}}),
                json!({"agent": {"profiles": [{"name": "a", "program": "/y"}]}}),
                "Agent · Profiles · “a” · program\nNow: /x\nNew: /y",
            ),
            (
                json!({}),
                json!({"agent": {"profiles": [{"name": "a", "command": {"program": "b", "args": ["--acp"]}}]}}),
                "Agent · Profiles · “a” · command\nNow: (none)\nNew: b --acp",
            ),
            (
                json!({}),
                json!({"agent": {"profiles": [{"name": "a", "environment": [{"name": "HOME", "value": "/m y"}]}]}}),
                "Agent · Profiles · “a” · environment\nNow: (none)\nNew: \"HOME=/m y\"",
            ),
            (
                json!({}),
                json!({"agent": {"presets": [{"name": "a", "options": {"mcpConfig": "/s.json"}}]}}),
                "Agent · Presets · “a” · options · mcpConfig\nNow: (none)\nNew: /s.json",
            ),
        ];
        for (before, after, words) in cases {
            assert_eq!(changes(before, after), [words]);
        }
    }

    #[test]
    fn what_starts_nothing_else_needs_no_answer() {
        let profile = |name: &str, model: &str| json!({"name": name, "program": "/x", "model": model});
        let of = |profiles: &[Value]| json!({"agent": {"profiles": profiles}});
        for (before, after) in [
            (json!({}), json!({"theme": "dark", "agent": {"model": "opus"}, "keys": []})),
            (of(&[profile("a", "opus")]), of(&[profile("a", "haiku")])),
            // Renamed, in another order, or removed.
            (of(&[profile("a", "opus")]), of(&[profile("b", "opus")])),
            (of(&[profile("a", "x"), json!({"name": "b"})]), of(&[json!({"name": "b"}), profile("a", "x")])),
            (of(&[profile("a", "opus")]), of(&[])),
        ] {
            assert_eq!(changes(before.clone(), after.clone()), Vec::<String>::new(), "{before} {after}");
        }
        // A copy under another name is a new program.
        let both = of(&[profile("a", "opus"), profile("b", "opus")]);
        assert_eq!(changes(of(&[profile("a", "opus")]), both).len(), 1);
    }

    #[test]
    fn the_options_of_a_session_are_judged_like_those_of_a_preset() {
        let options = |value: Value| serde_json::from_value::<SessionOptions>(value).unwrap();
        let (none, servers) = (options(json!({})), options(json!({"mcpConfig": "/s.json", "maxTurns": 3})));
        let asked = ["Session options · mcpConfig\nNow: (none)\nNew: /s.json"];
        let of_options = |before: &SessionOptions, after: &SessionOptions, settings: &Settings| {
            super::of_options(before, after, settings).unwrap()
        };
        assert_eq!(of_options(&none, &servers, &Settings::default()), asked);
        assert_eq!(of_options(&servers, &servers, &Settings::default()), [""; 0]);
        assert_eq!(of_options(&none, &options(json!({"model": "opus"})), &Settings::default()), [""; 0]);
        let with = |config: &str| {
            let preset = json!({"name": "a", "options": {"mcpConfig": config}});
            settings(json!({"agent": {"presets": [preset]}}))
        };
        assert_eq!(of_options(&none, &servers, &with("/s.json")), [""; 0]);
        assert_eq!(of_options(&none, &servers, &with("/t.json")), asked);
        // Changes that do not fit in a dialog are rejected.
        let long = options(json!({"environment": [{"name": "A", "value": "x".repeat(ROW * MOST_ROWS)}]}));
        let error = super::of_options(&none, &long, &Settings::default()).unwrap_err();
        assert!(matches!(error, SettingsError::TooLong), "{error}");
    }

    #[test]
    fn a_page_changes_a_program_only_as_it_was_confirmed() {
        let folder = tempfile::tempdir().unwrap();
        let file = SettingsFile::new(folder.path());
        let change = |program: &str, confirmed: &[String]| {
            file.set_for_page("editor", &json!({"program": program, "args": []}), confirmed)
        };
        let program = || file.read(&Settings::default()).settings.editor.map(|editor| editor.program);
        let asked = change("vi", &[]).unwrap();
        assert_eq!((asked[0].as_str(), program()), ("Editor\nNow: (none)\nNew: vi", None));
        // A program that was not confirmed, and one that replaces another than was confirmed.
        assert_eq!(change("ed", &asked).unwrap(), ["Editor\nNow: (none)\nNew: ed"]);
        file.set("editor", &json!({"program": "nano"})).unwrap();
        let again = change("vi", &asked).unwrap();
        assert_eq!(again, ["Editor\nNow: nano\nNew: vi"]);
        assert!(change("vi", &again).unwrap().is_empty());
        assert_eq!(program().as_deref(), Some("vi"));
        // Other settings need no answer; changes that do not fit in a dialog are rejected.
        assert!(file.set_for_page("theme", &json!("dark"), &[]).unwrap().is_empty());
        let error = change(&"x".repeat(ROW * MOST_ROWS), &[]).unwrap_err();
        assert!(matches!(error, SettingsError::TooLong), "{error}");
    }
}
