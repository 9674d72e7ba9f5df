//! The schema of the settings, and what is made from it: the list of keys, the check of a value and the documentation.

use super::dates::is_language_tag;
use super::{bindings, profiles};
use crate::api::{Preset, SettingControl, SettingKey, SettingOption, SettingSection, Settings, UserCommand};
use crate::launch::Launch;
use crate::options::bad_presets;
use schemars::generate::SchemaSettings;
use serde_json::Value;
#[cfg(test)]
use std::fmt::Write;
use std::sync::LazyLock;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let settings = SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<Settings>().to_value();
    schema["title"] = "Settings of Deskbell".into();
    // Editors offer it as a key, and it is not one of ours.
    schema["properties"]["$schema"] = serde_json::json!({ "type": "string" });
    schema
});

static KEYS: LazyLock<Vec<SettingKey>> = LazyLock::new(|| {
    let mut keys = Vec::new();
    collect(&SCHEMA, "", &mut keys);
    keys.sort_by_key(|known| known.section);
    keys
});

/// The JSON Schema (draft 7) of the file.
pub fn schema() -> &'static Value {
    &SCHEMA
}

/// Every setting, in the order of the sections.
pub fn keys() -> &'static [SettingKey] {
    &KEYS
}

fn text(schema: &Value, name: &str) -> String {
    schema[name].as_str().unwrap_or_default().replace('\n', " ")
}

fn collect(schema: &Value, prefix: &str, keys: &mut Vec<SettingKey>) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let key = format!("{prefix}{name}");
        if property["type"] == "object" {
            collect(property, &format!("{key}."), keys);
        } else if let Some(control) = control(property) {
            keys.push(SettingKey {
                section: section(text(property, "section")),
                label: text(property, "title"),
                help: text(property, "help"),
                description: text(property, "description"),
                control,
                default: property["default"].clone(),
                key,
            });
        }
    }
}

/// The section of a name in the schema. A test checks that each setting names one.
fn section(name: String) -> SettingSection {
    serde_json::from_value(name.into()).unwrap_or(SettingSection::Advanced)
}

/// The control for a value; `None` for `$schema`, which has no label.
fn control(schema: &Value) -> Option<SettingControl> {
    schema.get("title")?;
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if types.contains(&"boolean") {
        return Some(SettingControl::Toggle);
    }
    if types.contains(&"integer") {
        let limit = |name: &str| u32::try_from(schema[name].as_u64().unwrap_or_default()).unwrap_or(u32::MAX);
        let unit = schema["unit"].as_str().map(str::to_owned);
        return Some(SettingControl::Number { min: limit("minimum"), max: limit("maximum"), unit });
    }
    let options = options(schema);
    if !options.is_empty() {
        return Some(SettingControl::Choice { options });
    }
    if types.contains(&"array") {
        return Some(match text(schema, "control").as_str() {
            "keys" => SettingControl::Keys,
            "profiles" => SettingControl::Profiles,
            _ => SettingControl::Presets,
        });
    }
    if types.contains(&"string") {
        return Some(SettingControl::Text { placeholder: schema["placeholder"].as_str().map(str::to_owned) });
    }
    Some(SettingControl::Command)
}

/// The values of an enumeration, with their documentation as labels.
fn options(schema: &Value) -> Vec<SettingOption> {
    let mut options = Vec::new();
    if let Some(none) = schema["placeholder"].as_str() {
        options.push(SettingOption { value: None, label: none.to_owned() });
    }
    let any = schema["anyOf"].as_array().into_iter().flatten().filter_map(|one| one["oneOf"].as_array());
    let values: Vec<&Value> = schema["oneOf"].as_array().into_iter().chain(any).flatten().collect();
    if values.is_empty() {
        return Vec::new();
    }
    options.extend(values.iter().map(|value| SettingOption {
        value: value["const"].as_str().map(str::to_owned),
        label: text(value, "description"),
    }));
    options
}

/// Checks a value. The error is a sentence that says what the value must be.
pub(super) fn check(known: &SettingKey, value: &Value) -> Result<(), String> {
    let fits = match &known.control {
        SettingControl::Toggle => value.is_boolean(),
        SettingControl::Number { min, max, .. } => {
            value.as_u64().is_some_and(|value| (u64::from(*min)..=u64::from(*max)).contains(&value))
        }
        SettingControl::Choice { options } => options.iter().any(|option| match (&option.value, value) {
            (None, Value::Null) => true,
            (Some(option), Value::String(value)) => option == value,
            _ => false,
        }),
        SettingControl::Text { .. } => value.is_null() || value.as_str().is_some_and(is_text),
        SettingControl::Command => value.is_null() || is_command(value),
        SettingControl::Presets => {
            return presets(value).map_err(|problem| format!("“{}”: {problem}.", known.key));
        }
        SettingControl::Profiles => {
            return profiles::check(value).map_err(|problem| format!("“{}”: {problem}.", known.key));
        }
        SettingControl::Keys => {
            return bindings::check(value).map_err(|problem| format!("“{}”: {problem}.", known.key));
        }
    };
    if !fits {
        return Err(format!("“{}” must be {}.", known.key, expected(&known.control)));
    }
    check_meaning(known.key.as_str(), value).map_err(|problem| format!("“{}”: {problem}", known.key))
}

/// Checks what the schema cannot say about a value.
fn check_meaning(key: &str, value: &Value) -> Result<(), &'static str> {
    match key {
        "agent.model" => value.as_str().and_then(Launch::bad_model).map_or(Ok(()), Err),
        "dates" if value.as_str().is_some_and(|tag| !is_language_tag(tag)) => {
            Err("it must be \"system\" or a language tag (BCP 47) such as \"de\" or \"en-GB\".")
        }
        "terminal" if joins_command(value) => Err("“{command}” must be an argument of its own."),
        _ => Ok(()),
    }
}

/// Whether an argument is `{command}` with other text: the command is several arguments and cannot be joined to one.
fn joins_command(terminal: &Value) -> bool {
    // A value of another form is reported as such.
    let terminal = serde_json::from_value::<Option<UserCommand>>(terminal.clone()).unwrap_or_default();
    let mut args = terminal.into_iter().flat_map(|terminal| terminal.args);
    args.any(|arg| arg != "{command}" && arg.contains("{command}"))
}

/// Checks a list of presets. Unknown names in it are kept by everything that writes the file.
fn presets(value: &Value) -> Result<(), String> {
    let presets: Vec<Preset> = serde_json::from_value(value.clone()).map_err(|error| error.to_string())?;
    bad_presets(&presets).map_or(Ok(()), Err)
}

fn is_text(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains('\0')
}

fn is_command(value: &Value) -> bool {
    let program = value["program"].as_str().is_some_and(is_text);
    let is_arg = |arg: &Value| arg.as_str().is_some_and(|arg| !arg.contains('\0'));
    program
        && value.get("args").is_none_or(|args| args.as_array().is_some_and(|args| args.iter().all(is_arg)))
}

/// The values that a setting can have, for the middle of a sentence.
fn expected(control: &SettingControl) -> String {
    match control {
        SettingControl::Toggle => "true or false".to_owned(),
        SettingControl::Number { min, max, .. } => format!("a whole number from {min} to {max}"),
        SettingControl::Text { .. } => "a text in quotes, or null".to_owned(),
        SettingControl::Presets => "a list of presets".to_owned(),
        SettingControl::Profiles => "a list of profiles".to_owned(),
        SettingControl::Keys => "a list of {\"action\": \"…\", \"key\": \"…\"}".to_owned(),
        SettingControl::Command => "null or {\"program\": \"…\", \"args\": [\"…\"]}".to_owned(),
        SettingControl::Choice { options } => {
            let values: Vec<String> = options
                .iter()
                .map(|option| option.value.as_ref().map_or("null".to_owned(), |value| format!("\"{value}\"")))
                .collect();
            match &values[..] {
                [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
                _ => values.concat(),
            }
        }
    }
}

/// The text that introduces the list of settings in the documentation.
#[cfg(test)]
const INTRODUCTION: &str = "\
# Settings

<!-- Generated from src-tauri/api/src/settings.rs. Do not edit. -->

Deskbell reads its settings from one file, `settings.json`, in its folder of configuration: `~/.config/deskbell` on
Linux, `~/Library/Application Support/deskbell` on macOS, `%APPDATA%\\deskbell` on Windows. The file is JSON and may
contain comments and trailing commas. The settings page edits the same file: it changes one value and keeps your
comments, unknown keys and layout. A change takes effect when the file is saved.

What starts programs is confirmed outside of the page: if a window changes the editor, the terminal, a command of the bell,
the path of Claude Code, the program or the variables of a profile, or the MCP servers or the variables of a preset or of a
session, a dialog of your desktop shows the old and the new value first. A change in the file or by the commands below needs
no answer.

A wrong value has no effect: the last good one stays, and the window shows the line and the column. A file that is not
valid JSON changes nothing and is not written until you have corrected it.

| Command | Result |
|---|---|
| `deskbell settings get` | every setting with its value |
| `deskbell settings get KEY` | the value of one setting, as JSON |
| `deskbell settings set KEY VALUE` | changes one setting; `null` is its default |
| `deskbell settings path` | the path of the file |
| `deskbell settings schema` | the JSON Schema of the file, also in [settings.schema.json](settings.schema.json) |
| `deskbell settings check` | what is wrong with the file, with line and column; `--json` as one JSON object |

In the commands and below, the names of nested objects are joined by dots: `agent.program` is
`{\"agent\": {\"program\": …}}`.
";

/// The documentation of all settings, as Markdown.
#[cfg(test)]
pub fn markdown() -> String {
    let mut out = INTRODUCTION.to_owned();
    let mut section = None;
    for known in keys() {
        if section != Some(known.section) {
            section = Some(known.section);
            // Writing to a string cannot fail.
            let _ = write!(out, "\n## {:?}\n", known.section);
        }
        let _ = write!(
            out,
            "\n### `{key}`\n\n{label}. {description}\n\nValue: {expected}{unit}. Default: `{default}`.\n",
            key = known.key,
            label = known.label,
            description = known.description,
            expected = expected(&known.control),
            unit = match &known.control {
                SettingControl::Number { unit: Some(unit), .. } => format!(" ({unit})"),
                _ => String::new(),
            },
            default = known.default,
        );
        if let SettingControl::Choice { options } = &known.control {
            out.push('\n');
            for option in options {
                let value = option.value.as_ref().map_or("null".to_owned(), |value| format!("\"{value}\""));
                let _ = writeln!(out, "- `{value}`: {}", option.label);
            }
        }
    }
    out
}
