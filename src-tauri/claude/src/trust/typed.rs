//! Commands and their arguments as a user would type them.

use super::json::Json;

/// Arguments as typed after the command, each with a space before it.
pub(super) fn arguments(arguments: &Json) -> String {
    match arguments {
        Json::List(list) => list.iter().map(|argument| format!(" {}", quoted(&argument.text()))).collect(),
        _ => format!(" {}", arguments.text()),
    }
}

/// A word quoted for a shell, so that the beginning and the end of an argument are always visible.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-${}".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
