//! Permission rules in the options: their form, and how much they allow.

use crate::tool;
use crate::wire::init::ASKING;
use deskbell_agent::tool::ToolKind;

/// The reason why a text is not one rule. The agent splits a list of rules at commas and spaces outside of parentheses,
/// so a rule that has other parentheses in it could become several.
pub(super) fn problem(rule: &str) -> Option<String> {
    if rule.len() > super::MOST_RULE || rule.chars().any(char::is_control) {
        return Some("A rule has no control characters, and at most 500 bytes.".to_owned());
    }
    let (tool, content) = split(rule);
    let is_server = tool.starts_with("mcp__");
    let name = if is_server { tool.strip_suffix('*').unwrap_or(tool) } else { tool };
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if name.is_empty() || !name.bytes().all(fits) || !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Some("Enter one rule, such as Read, Bash(git status) or mcp__server__tool.".to_owned());
    }
    if name.eq_ignore_ascii_case("mcp__") {
        return Some("Name the server: mcp__server or mcp__server__tool.".to_owned());
    }
    match content {
        None => None,
        Some(Some(content)) if !content.contains(['(', ')']) && !content.trim().is_empty() => None,
        Some(Some(content)) if content.trim().is_empty() => {
            Some("Enter what the rule is about between the parentheses, or leave them out.".to_owned())
        }
        Some(Some(_)) => Some("Parentheses inside of a rule are not possible.".to_owned()),
        Some(None) => Some("The rule must end with its closing parenthesis.".to_owned()),
    }
}

/// The tool of a rule and what is between its parentheses; `Some(None)` if they are not closed at the end.
fn split(rule: &str) -> (&str, Option<Option<&str>>) {
    match rule.split_once('(') {
        Some((tool, rest)) => (tool, Some(rest.strip_suffix(')'))),
        None => (rule, None),
    }
}

/// What a rule allows, if that is much: everything of a tool that would ask.
pub(super) fn breadth(rule: &str) -> Option<String> {
    let (tool, content) = split(rule);
    let is_all = |content: &str| content.chars().all(|c| matches!(c, '*' | ':' | '/' | '.' | ' '));
    if !content.flatten().is_none_or(is_all) {
        return None;
    }
    if tool.starts_with("mcp__") {
        return Some(format!("{rule} is broad. All its calls run without asking."));
    }
    let what = match tool::kind(tool) {
        ToolKind::Command => "Every command runs without asking",
        ToolKind::Edit | ToolKind::MultiEdit | ToolKind::Write | ToolKind::EditNotebook => {
            "Every file can be changed without asking"
        }
        ToolKind::Fetch => "Every address can be reached without asking",
        _ => return None,
    };
    Some(format!("{rule} is broad. {what}."))
}

/// The reason why a rule cannot allow in advance: the tool exists to ask the user.
pub(super) fn allows_asking(rule: &str) -> Option<String> {
    let asks = |tool: &&&str| tool.eq_ignore_ascii_case(split(rule).0);
    let tool = ASKING.iter().find(asks)?;
    Some(format!("{tool} asks you. It cannot be allowed in advance."))
}

/// Whether these rules take every tool from the model with which it asks the user.
pub(super) fn deny_asking(rules: &[String]) -> bool {
    let is_denied = |tool: &&str| rules.iter().any(|rule| rule.trim().eq_ignore_ascii_case(tool));
    ASKING.iter().all(is_denied)
}
