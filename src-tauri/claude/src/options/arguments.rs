//! Extra arguments: the ones that an agent may be started with, and the reasons against others.

/// The form of an argument.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Alone,
    WithValue,
}

/// The arguments that change neither what is asked nor what is loaded, and that leave the protocol as it is. Checked
/// with 2.1.329; most are unknown to older versions, which end with an error that names them.
const ALLOWED: &[(&str, Form)] = &[
    ("--autocompact", Form::WithValue),
    ("--betas", Form::WithValue),
    ("--debug", Form::Alone),
    ("--disable-slash-commands", Form::Alone),
    ("--exclude-dynamic-system-prompt-sections", Form::Alone),
    ("--max-thinking-tokens", Form::WithValue),
    ("--no-chrome", Form::Alone),
    ("--system-prompt-snapshot", Form::WithValue),
];

const ASKS: &str = "It can turn off asking for permission. Choose the permission mode in the conversation.";
const TRUST: &str = "Deskbell decides by your trust in the folder what the agent loads.";
const PROTOCOL: &str = "Deskbell needs its own value to speak with the agent.";
const SESSION: &str = "Deskbell chooses the conversation.";

/// Arguments that users know, and why they are refused. All others are refused too.
const REFUSED: &[(&str, &str)] = &[
    ("--dangerously-skip-permissions", ASKS),
    ("--allow-dangerously-skip-permissions", ASKS),
    ("--permission-mode", ASKS),
    ("--inherit-permission-mode", ASKS),
    ("--permission-prompt-tool", ASKS),
    ("--permission-prompts", ASKS),
    ("--agent", "An agent of this kind can have a permission mode of its own."),
    ("--agents", "An agent of this kind can have a permission mode of its own."),
    ("--setting-sources", TRUST),
    ("--settings", TRUST),
    ("--managed-settings", TRUST),
    ("--strict-mcp-config", TRUST),
    ("--plugin-dir", TRUST),
    ("--plugin-url", TRUST),
    ("--bare", TRUST),
    ("--safe-mode", TRUST),
    ("--restricted", TRUST),
    ("--input-format", PROTOCOL),
    ("--output-format", PROTOCOL),
    ("--print", PROTOCOL),
    ("--verbose", PROTOCOL),
    ("--include-partial-messages", PROTOCOL),
    ("--include-hook-events", PROTOCOL),
    ("--replay-user-messages", PROTOCOL),
    ("--tools", "Deskbell sees from the tools that the agent can ask. Use “Denied tools”."),
    ("--resume", SESSION),
    ("--continue", SESSION),
    ("--session-id", SESSION),
    ("--fork-session", SESSION),
    ("--from-pr", SESSION),
    ("--no-session-persistence", SESSION),
    ("--worktree", "It would work in another folder than the one that you trust."),
    ("--add-dir", "Use “More folders”."),
    ("--mcp-config", "Use “MCP config”, which shows what it starts."),
    ("--allowedtools", "Use “Allowed tools”."),
    ("--allowed-tools", "Use “Allowed tools”."),
    ("--disallowedtools", "Use “Denied tools”."),
    ("--disallowed-tools", "Use “Denied tools”."),
    ("--model", "Use “Model”."),
    ("--fallback-model", "Use “Fallback models”."),
    ("--effort", "Use “Effort”."),
    ("--max-turns", "Use “Max turns”."),
    ("--max-budget-usd", "Use “Budget”."),
    ("--system-prompt", "Use “System prompt”."),
    ("--append-system-prompt", "Use “System prompt”."),
    ("--system-prompt-file", "Use “System prompt”."),
    ("--append-system-prompt-file", "Use “System prompt”."),
];

/// The longest argument in bytes.
const MOST_ARGUMENT: usize = 1000;

/// The reason why an extra argument is refused.
pub(super) fn problem(argument: &str) -> Option<String> {
    if argument.len() > MOST_ARGUMENT || argument.chars().any(char::is_control) {
        return Some("An argument has no control characters, and at most 1,000 bytes.".to_owned());
    }
    let (name, value) = match argument.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (argument, None),
    };
    if !name.starts_with("--") || name.len() < 3 {
        let short = name.starts_with('-') && name.len() > 1;
        return Some(if short {
            format!("{name} is a short form. Only long arguments are possible: --name or --name=value.")
        } else {
            "Enter --name or --name=value: a text alone would be read as a prompt.".to_owned()
        });
    }
    // The agent knows no abbreviations and no other case (2.1.197 and 2.1.329). They are refused like any unknown name.
    if let Some((_, form)) = ALLOWED.iter().find(|(known, _)| *known == name) {
        return match (form, value) {
            (Form::Alone, None) => None,
            (Form::WithValue, Some(value)) if !value.is_empty() && !value.starts_with('-') => None,
            (Form::Alone, Some(_)) => Some(format!("{name} has no value.")),
            (Form::WithValue, _) => Some(format!("{name} needs a value: {name}=…")),
        };
    }
    let lower = name.to_ascii_lowercase();
    let reason = REFUSED.iter().find(|(refused, _)| *refused == lower).map(|(_, reason)| *reason);
    let begins = || REFUSED.iter().find(|(refused, _)| refused.starts_with(&lower) && lower.len() > 3);
    Some(match reason.or_else(|| begins().map(|(_, reason)| *reason)) {
        Some(reason) => format!("{name} is not possible. {reason}"),
        None => {
            let known: Vec<&str> = ALLOWED.iter().map(|(known, _)| *known).collect();
            format!(
                "{name} is not possible: its effect on asking and trust is unknown. Possible: {}.",
                known.join(", ")
            )
        }
    })
}
