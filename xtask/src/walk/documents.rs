//! The documents that the walk follows: their sentences and their commands.

use std::fs;
use std::path::Path;

use crate::Outcome;

/// A document of the clone.
pub struct Document {
    pub name: &'static str,
    text: String,
}

impl Document {
    /// Reads the document of this name below the folder.
    pub fn read(folder: &Path, name: &'static str) -> Outcome<Self> {
        let text = fs::read_to_string(folder.join(name))
            .map_err(|error| format!("could not read {name}: {error}"))?;
        Ok(Self { name, text })
    }

    /// Fails if the document does not contain the sentence, written without the targets of its links.
    pub fn says(&self, sentence: &str) -> Outcome {
        if plain(&self.text).contains(sentence) {
            return Ok(());
        }
        Err(format!("{} no longer says “{sentence}”: change the walk as well", self.name))
    }

    /// The commands in the document's blocks that begin with these words, without their comments.
    pub fn commands(&self, beginning: &str) -> Outcome<Vec<String>> {
        let lines = self.text.lines().filter_map(|line| line.strip_prefix("    "));
        let commands = lines.map(|line| line.split("  #").next().unwrap_or_default().trim());
        let found: Vec<String> = commands
            .filter(|line| {
                line.strip_prefix(beginning).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            })
            .map(str::to_owned)
            .collect();
        if found.is_empty() {
            return Err(format!("{} has no command that begins with `{beginning}`", self.name));
        }
        Ok(found)
    }

    /// The first of them, with a folder in the place of `FOLDER`.
    pub fn command(&self, beginning: &str, folder: &str) -> Outcome<String> {
        let commands = self.commands(beginning)?;
        let command = commands.first().map(String::as_str).unwrap_or_default();
        Ok(command.replace("[FOLDER]", folder).replace("FOLDER", folder))
    }
}

/// The text in one line, with links as they are read.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        // A picture's description is no sentence, but does no harm either.
        let (start, words) = before.rsplit_once('[').unwrap_or(("", before));
        plain.push_str(start);
        plain.push_str(words);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    plain.push_str(rest);
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(text: &str) -> Document {
        Document { name: "README.md", text: text.to_owned() }
    }

    #[test]
    fn a_sentence_is_found_across_lines_and_links() {
        let document = document("You need\n[Rust](https://example.org/rust) 1.95, and [an\nagent](b.md).\n");
        assert_eq!(document.says("You need Rust 1.95, and an agent."), Ok(()));
        assert!(document.says("You need nothing.").is_err());
    }

    #[test]
    fn commands_are_read_without_comments() {
        let document =
            document("Text: deskbell FOLDER\n\n    deskbell [FOLDER]    # opens it\n    deskbell-relay\n");
        assert_eq!(document.commands("deskbell"), Ok(vec!["deskbell [FOLDER]".to_owned()]));
        assert_eq!(document.command("deskbell", "/home/me"), Ok("deskbell /home/me".to_owned()));
        assert!(document.commands("cargo").is_err());
    }
}
