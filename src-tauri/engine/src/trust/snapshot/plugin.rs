//! Skills and slash commands as a plugin, and subagents.
//!
//! The CLI loads a folder's own ones only together with its settings. It offers a plugin's skill by the skill's own
//! name as well as by the plugin's, and runs `/name` as before (2.1.329 and 2.1.197); so a command becomes a skill. A
//! command in a subfolder keeps its name `sub:name` only after the plugin's: `/project:sub:name`.

use super::super::files::{Found, Role};
use crate::claude::trust::snapshot::{agent, plugin};
use crate::disk;
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::io;
use std::path::Path;

/// The subagents by their names, for `--agents`. If two have the same name, the nearest one counts.
pub(super) fn agents(files: &[Found]) -> Map<String, Value> {
    let mut agents = Map::new();
    for file in files.iter().filter(|file| file.place.role == Role::Agent) {
        if let Some((name, agent)) = super::text(file).and_then(|text| agent::read(&text))
            && !agents.contains_key(&name)
        {
            agents.insert(name, agent);
        }
    }
    agents
}

/// Writes the plugin, if it has any contents.
pub(super) fn write(folder: &Path, files: &[Found], with_agents: bool) -> io::Result<()> {
    let mut names = HashSet::new();
    // A skill counts before a command of the same name.
    for file in files {
        if let (Role::Skill { name }, Some(text)) = (&file.place.role, super::text(file))
            && let Some(text) = plugin::skill(&text, name)
            && names.insert(name.clone())
        {
            let path = folder.join("skills").join(name).join("SKILL.md");
            super::write_new(&path, skill(file, text)?.as_bytes())?;
        }
    }
    for file in files {
        if let (Role::Command { name }, Some(text)) = (&file.place.role, super::text(file))
            && let Some(text) = plugin::command(&text, (!name.contains(':')).then_some(name))
            && names.insert(name.clone())
        {
            if name.contains(':') {
                let path = folder.join("commands").join(format!("{}.md", name.replace(':', "/")));
                super::write_new(&path, text.as_bytes())?;
            } else {
                let path = folder.join("skills").join(name).join("SKILL.md");
                super::write_new(&path, text.as_bytes())?;
            }
        }
    }
    for (index, file) in files.iter().enumerate() {
        if let (true, Role::Agent, Some(text)) = (with_agents, &file.place.role, super::text(file))
            && let Some(text) = agent::document(&text)
        {
            super::write_new(&folder.join("agents").join(format!("{index}.md")), text.as_bytes())?;
        }
    }
    if folder.is_dir() {
        super::write_new(&folder.join(".claude-plugin/plugin.json"), plugin::manifest().as_bytes())?;
    }
    Ok(())
}

/// A skill, which refers to its other files: these are not part of the copy.
fn skill(file: &Found, text: String) -> io::Result<String> {
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
