//! Commands and their arguments as a person would type them.

use super::json::Json;

/// Arguments as they would be typed behind the command, each with a space before it.
pub(super) fn arguments(arguments: &Json) -> String {
    match arguments {
        Json::List(list) => list.iter().map(|argument| format!(" {}", quoted(&argument.text()))).collect(),
        _ => format!(" {}", arguments.text()),
    }
}

/// As a shell would have to be told: where an argument begins and ends can always be seen.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-${}".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
