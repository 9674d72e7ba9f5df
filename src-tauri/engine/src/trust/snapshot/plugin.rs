//! Skills and slash commands as a plugin, and subagents.
//!
//! The CLI loads a folder's own ones only together with its settings. It offers a plugin's skill by the skill's own
//! name as well as by the plugin's, and runs `/name` as before (2.1.329 and 2.1.197); so a command becomes a skill. A
//! command in a subfolder keeps its name `sub:name` only after the plugin's: `/project:sub:name`.

use super::super::files::{Found, Role};
use super::super::{frontmatter, json::Json};
use crate::disk;
use serde_json::{Map, Value};
use std::collections::HashSet;

use std::io;
use std::path::Path;

/// The prefix that distinguishes the folder's skills and commands from others with the same name.
const NAME: &str = "project";

/// Keys of a subagent that `--agents` accepts. An unknown key would make the CLI leave out all subagents.
const KEYS: &[&str] = &[
    "description",
    "tools",
    "disallowedTools",
    "model",
    "permissionMode",
    "mcpServers",
    "hooks",
    "maxTurns",
    "skills",
    "memory",
    "effort",
    "background",
];

/// Keys whose values are lists, which a document may write with commas.
const LISTS: &[&str] = &["tools", "disallowedTools", "skills"];

/// The subagents by their names, for `--agents`. If two have the same name, the nearest one counts.
pub(super) fn agents(files: &[Found]) -> Map<String, Value> {
    let mut agents = Map::new();
    for file in files.iter().filter(|file| file.place.role == Role::Agent) {
        if let Some((name, agent)) = super::text(file).and_then(|text| agent(&text))
            && !agents.contains_key(&name)
        {
            agents.insert(name, agent);
        }
    }
    agents
}

/// `None` without a name or a description: the CLI leaves such a document out.
fn agent(text: &str) -> Option<(String, Value)> {
    let document = frontmatter::split(text);
    let mut name = None;
    let mut agent = Map::new();
    for (key, value) in frontmatter::entries(document.yaml?).ok()? {
        let value = plain(&value)?;
        match key.as_str() {
            "name" => name = value.as_str().map(str::to_owned),
            // This mode asks for no permission; only the user may choose it.
            "permissionMode" if value == "bypassPermissions" => {}
            "tools" if value == "*" => {}
            key if LISTS.contains(&key) => {
                agent.insert(key.to_owned(), list(value));
            }
            key if KEYS.contains(&key) => {
                agent.insert(key.to_owned(), value);
            }
            _ => {}
        }
    }
    agent.get("description")?.as_str()?;
    agent.insert("prompt".to_owned(), document.body.trim().into());
    Some((name?, Value::Object(agent)))
}

fn plain(value: &Json) -> Option<Value> {
    serde_json::from_str(&value.written()).ok()
}

fn list(value: Value) -> Value {
    match value {
        Value::String(text) => split_list(&text).into_iter().map(Value::from).collect(),
        value => value,
    }
}

/// `Read, Bash(a, b)` has two entries.
fn split_list(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let parts = text.split(|c| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    parts.map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// Writes the plugin, if it has any contents.
pub(super) fn write(folder: &Path, files: &[Found], with_agents: bool) -> io::Result<()> {
    let mut names = HashSet::new();
    // A skill counts before a command of the same name.
    for file in files {
        if let (Role::Skill { name }, Some(text)) = (&file.place.role, super::text(file))
            && names.insert(name.clone())
        {
            let path = folder.join("skills").join(name).join("SKILL.md");
            super::write_new(&path, skill(file, &text, name)?.as_bytes())?;
        }
    }
    for file in files {
        if let (Role::Command { name }, Some(text)) = (&file.place.role, super::text(file))
            && names.insert(name.clone())
        {
            if name.contains(':') {
                let path = folder.join("commands").join(format!("{}.md", name.replace(':', "/")));
                super::write_new(&path, text.as_bytes())?;
            } else {
                let path = folder.join("skills").join(name).join("SKILL.md");
                super::write_new(&path, frontmatter::named(&text, name).as_bytes())?;
            }
        }
    }
    for (index, file) in files.iter().enumerate() {
        if let (true, Role::Agent, Some(text)) = (with_agents, &file.place.role, super::text(file)) {
            super::write_new(&folder.join("agents").join(format!("{index}.md")), text.as_bytes())?;
        }
    }
    if folder.is_dir() {
        let manifest = serde_json::json!({ "name": NAME, "version": "1.0.0" });
        super::write_new(&folder.join(".claude-plugin/plugin.json"), manifest.to_string().as_bytes())?;
    }
    Ok(())
}

/// A skill with a name, which refers to its other files: these are not part of the copy.
fn skill(file: &Found, text: &str, name: &str) -> io::Result<String> {
    let document = frontmatter::split(text);
    let entries = document.yaml.map(frontmatter::entries).and_then(Result::ok).unwrap_or_default();
    let has_name = entries.iter().any(|(key, value)| key == "name" && value.as_str().is_some());
    let text = if has_name { text.to_owned() } else { frontmatter::named(text, name) };
    let Some(folder) = file.place.path.parent() else { return Ok(text) };
    let text = text.replace("${CLAUDE_SKILL_DIR}", &folder.display().to_string());
    let has_more = disk::list(folder, 2)?.paths.len() > 1;
    Ok(if has_more {
        let folder = folder.display();
        format!("{text}\n\nThe other files of this skill are in {folder}, not in the base directory.\n")
    } else {
        text
    })
}
