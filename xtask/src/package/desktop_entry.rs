//! Reads a desktop entry the way a launcher does.

use std::fs;
use std::path::Path;

use crate::Outcome;

/// A desktop entry: the keys of its `[Desktop Entry]` group, and the whole text for its actions.
pub struct DesktopEntry {
    keys: Vec<(String, String)>,
    text: String,
}

impl DesktopEntry {
    /// Reads the file.
    pub fn read(file: &Path) -> Outcome<Self> {
        let text = fs::read_to_string(file)
            .map_err(|error| format!("could not read {}: {error}", file.display()))?;
        Ok(Self::parse(&text))
    }

    fn parse(text: &str) -> Self {
        Self { keys: group(text, "[Desktop Entry]"), text: text.to_owned() }
    }

    /// The command of an action, if the entry offers it.
    pub fn action(&self, name: &str) -> Option<String> {
        let is_offered = self.get("Actions")?.split(';').any(|offered| offered == name);
        let keys = group(&self.text, &format!("[Desktop Action {name}]"));
        keys.into_iter().find(|(key, _)| is_offered && key == "Exec").map(|(_, value)| value)
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.keys.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// The words of `Exec`, with the arguments in place of its field code for files.
    pub fn exec(&self, arguments: &[String]) -> Outcome<Vec<String>> {
        let line = self.get("Exec").ok_or("the desktop entry has no Exec")?;
        let mut command = Vec::new();
        let mut took_arguments = false;
        for word in words(line)? {
            match word.as_str() {
                "%f" | "%F" | "%u" | "%U" => {
                    command.extend_from_slice(arguments);
                    took_arguments = true;
                }
                "%i" | "%c" | "%k" => {}
                _ => command.push(word.replace("%%", "%")),
            }
        }
        if took_arguments { Ok(command) } else { Err(format!("Exec takes no folder: {line}")) }
    }
}

/// The keys of one group.
fn group(text: &str, header: &str) -> Vec<(String, String)> {
    let group = text.lines().map(str::trim).skip_while(|line| *line != header).skip(1);
    let lines = group.take_while(|line| !line.starts_with('['));
    let keys = lines.filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('='));
    keys.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned())).collect()
}

/// Splits at spaces outside double quotes; within them a backslash quotes the next character.
fn words(line: &str) -> Outcome<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut is_quoted = false;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => {
                is_quoted = !is_quoted;
                word.get_or_insert_default();
            }
            '\\' if is_quoted => word.get_or_insert_default().extend(characters.next()),
            ' ' if !is_quoted => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    if is_quoted {
        return Err(format!("Exec has an open quote: {line}"));
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY: &str = "# A comment\n[Desktop Entry]\nName=Deskbell\nExec=deskbell %F\nIcon = deskbell\n\
                         [Desktop Action new]\nName=New\nTryExec=other\n";

    #[test]
    fn keys_are_those_of_the_entry_and_not_of_its_actions() {
        let entry = DesktopEntry::parse(ENTRY);
        assert_eq!(entry.get("Name"), Some("Deskbell"));
        assert_eq!(entry.get("Icon"), Some("deskbell"));
        assert_eq!(entry.get("TryExec"), None);
    }

    #[test]
    fn an_action_is_found_if_it_is_offered() {
        let entry = |actions: &str| {
            let text = format!(
                "[Desktop Entry]\nActions={actions}\n[Desktop Action new]\nName=New\nExec=deskbell --open\n"
            );
            DesktopEntry::parse(&text)
        };
        assert_eq!(entry("other;new;").action("new").as_deref(), Some("deskbell --open"));
        assert_eq!(entry("other;").action("new"), None);
        assert_eq!(entry("other;").action("other"), None);
    }

    #[test]
    fn exec_takes_the_arguments_in_place_of_its_field_code() {
        let exec = |line: &str| {
            DesktopEntry::parse(&format!("[Desktop Entry]\nExec={line}")).exec(&["/a b".to_owned()])
        };
        assert_eq!(exec("deskbell %F"), Ok(vec!["deskbell".to_owned(), "/a b".to_owned()]));
        let quoted = exec(r#""/opt/desk \"bell\"" --rate=5%% %f --last"#).unwrap();
        assert_eq!(quoted, [r#"/opt/desk "bell""#, "--rate=5%", "/a b", "--last"]);
        assert!(exec("deskbell").is_err());
        assert!(exec("\"deskbell %f").is_err());
    }
}
