//! An agent's slash commands as those of the core: bounded, and without what cannot be shown or typed.

use crate::event::AcpSlashCommand;

/// A list is part of every change of its session that the window receives.
const MOST_COMMANDS: usize = 256;
const LONGEST_NAME: usize = 128;
const LONGEST_DESCRIPTION: usize = 300;
const LONGEST_HINT: usize = 100;

/// The commands that a user can choose, in the agent's order. The rest of a long list is left out.
pub fn of_core(commands: Vec<AcpSlashCommand>) -> Vec<deskbell_api::SlashCommand> {
    commands.into_iter().filter_map(one).take(MOST_COMMANDS).collect()
}

/// A name is sent back to the agent. One that would have to be changed for that is left out: it would be another command.
fn one(command: AcpSlashCommand) -> Option<deskbell_api::SlashCommand> {
    let name = command.name.trim_start_matches('/');
    let is_usable = !name.is_empty()
        && name.chars().nth(LONGEST_NAME).is_none()
        && !name.chars().any(|c| c.is_whitespace() || is_unseen(c));
    is_usable.then(|| deskbell_api::SlashCommand {
        name: name.to_owned(),
        description: line(&command.description, LONGEST_DESCRIPTION),
        argument_hint: line(command.hint.as_deref().unwrap_or_default(), LONGEST_HINT),
    })
}

/// One line of at most `longest` characters.
pub(crate) fn line(text: &str, longest: usize) -> String {
    // White space at both ends is not counted, and no more is read of a long text.
    let seen = text.trim_start().chars().take(4 * longest).map(|c| if c.is_whitespace() { ' ' } else { c });
    let mut line = String::new();
    for c in seen.filter(|c| !is_unseen(*c)) {
        if c != ' ' || !line.ends_with(' ') {
            line.push(c);
        }
    }
    let line = line.trim();
    match line.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line.to_owned(),
    }
}

/// Control characters, direction marks and characters without a width.
pub(crate) fn is_unseen(c: char) -> bool {
    let is_mark = matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    c.is_control() || is_mark
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(name: &str, description: &str, hint: Option<&str>) -> AcpSlashCommand {
        AcpSlashCommand {
            name: name.to_owned(),
            description: description.to_owned(),
            hint: hint.map(str::to_owned),
        }
    }

    fn names(commands: Vec<AcpSlashCommand>) -> Vec<String> {
        of_core(commands).into_iter().map(|command| command.name).collect()
    }

    #[test]
    fn a_name_has_no_slash_and_is_otherwise_the_agents_own() {
        let given = ["/review", "plan", "a:b/c", "Überblick", "review"];
        let listed = names(given.iter().map(|name| command(name, "", None)).collect());
        assert_eq!(listed, ["review", "plan", "a:b/c", "Überblick", "review"]);
    }

    #[test]
    fn a_name_that_cannot_be_typed_is_left_out() {
        let long = "n".repeat(LONGEST_NAME + 1);
        for name in ["", "/", "a b", "a\nb", "a\u{0}b", "a\u{1b}[31m", "a\u{202e}b", "\u{200b}", &long] {
            assert_eq!(names(vec![command(name, "", None)]), [""; 0], "{name:?}");
        }
        assert_eq!(names(vec![command(&long[1..], "", None)]), [&long[1..]]);
    }

    #[test]
    fn a_description_is_one_short_line_without_control_characters() {
        let shown =
            of_core(vec![command("a", " one\r\n\ttwo\u{1b}[31m\u{202e} three ", Some("\u{0}[path]\n"))]);
        assert_eq!((&shown[0].description[..], &shown[0].argument_hint[..]), ("one two[31m three", "[path]"));
        let shown = of_core(vec![command("a", &"é".repeat(1 << 20), None)]);
        assert_eq!(shown[0].description.chars().count(), LONGEST_DESCRIPTION + 1);
        assert!(shown[0].description.ends_with("é…") && shown[0].argument_hint.is_empty());
    }

    #[test]
    fn of_ten_thousand_commands_the_first_are_listed() {
        let many = (0..10_000).map(|nr| command(&format!("c{nr}"), "d", None)).collect();
        let listed = names(many);
        assert_eq!(listed.len(), MOST_COMMANDS);
        assert_eq!(listed.last().map(String::as_str), Some("c255"));
    }
}
