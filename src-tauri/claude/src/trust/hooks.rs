//! Hooks: commands and other actions that run by themselves on events of a session.

use super::Findings;
use super::json::{Json, has_repeated, values};
use super::typed::arguments;
use crate::api::{FindingKind, Severity};

/// The events, in words that follow “Runs”. These are all events of 2.1.329; an unknown one is shown by its name.
const EVENTS: &[(&str, &str)] = &[
    ("SessionStart", "when a session starts"),
    ("SessionEnd", "when a session ends"),
    ("Setup", "when the agent is set up"),
    ("UserPromptSubmit", "with every prompt"),
    ("UserPromptExpansion", "when a slash command is used"),
    ("PreToolUse", "before a tool is used"),
    ("PostToolUse", "after a tool was used"),
    ("PostToolUseFailure", "after a tool failed"),
    ("PostToolBatch", "after tools were used"),
    ("PermissionRequest", "when permission is asked, and may answer for you"),
    ("PermissionDenied", "when permission was denied"),
    ("Notification", "when the agent wants attention"),
    ("Stop", "when a turn ends"),
    ("StopFailure", "when a turn fails"),
    ("SubagentStart", "when a subagent starts"),
    ("SubagentStop", "when a subagent ends"),
    ("PreCompact", "before the conversation is compacted"),
    ("PostCompact", "after the conversation was compacted"),
    ("PreModelSwitch", "before the model is changed"),
    ("PostModelSwitch", "after the model was changed"),
    ("TeammateIdle", "when a teammate is idle"),
    ("TaskCreated", "when a task is created"),
    ("TaskCompleted", "when a task is done"),
    ("Elicitation", "when a server asks something"),
    ("ElicitationResult", "when a server was answered"),
    ("ConfigChange", "when settings change"),
    ("WorktreeCreate", "when a worktree is created"),
    ("WorktreeRemove", "when a worktree is removed"),
    ("InstructionsLoaded", "when instructions are loaded"),
    ("CwdChanged", "when the working folder changes"),
    ("FileChanged", "when a file changes"),
    ("DirectoryAdded", "when a folder is added"),
    ("MessageDisplay", "when a message is shown"),
];

/// The events of 2.1.197, which every version knows.
const OF_EVERY_VERSION: &[&str] = &[
    "Notification",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "PreCompact",
    "PreToolUse",
    "SessionEnd",
    "SessionStart",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "UserPromptSubmit",
];

/// Returns whether every version knows this event.
pub(super) fn is_event(name: &str) -> bool {
    OF_EVERY_VERSION.contains(&name)
}

/// Adds findings for the hooks in the value of `hooks`.
pub(super) fn find(found: &mut Findings, hooks: &Json) {
    let Json::Object(events) = hooks else { return unclear(found, None, hooks) };
    for (event, matchers) in events {
        let Json::List(matchers) = matchers else {
            unclear(found, Some(event), matchers);
            continue;
        };
        for matcher in matchers {
            find_matched(found, event, matcher);
        }
    }
}

/// Adds findings for a group of an event's hooks. The `matcher` of the group limits when they run.
fn find_matched(found: &mut Findings, event: &str, group: &Json) {
    let Json::Object(entries) = group else { return unclear(found, Some(event), group) };
    let n_before = found.list.len();
    for hooks in values(entries, "hooks") {
        let Json::List(hooks) = hooks else {
            unclear(found, Some(event), hooks);
            continue;
        };
        for hook in hooks {
            match hook {
                Json::Object(hook) => add(found, event, hook),
                _ => unclear(found, Some(event), hook),
            }
            // An empty one matches everything.
            for matcher in values(entries, "matcher").map(Json::text).filter(|matcher| !matcher.is_empty()) {
                found.name(matcher);
            }
        }
    }
    let says_more = entries.iter().any(|(key, _)| key != "matcher" && key != "hooks");
    if says_more && found.list.len() > n_before {
        found.rest(entries, &["matcher", "hooks"]);
    } else if says_more {
        // A hook outside of a group is not the current format.
        unclear(found, Some(event), group);
    }
}

fn add(found: &mut Findings, event: &str, hook: &[(String, Json)]) {
    // The effect of the kind of hook, the key with its exact value, and the severity.
    let kind = values(hook, "type").last().and_then(Json::as_str);
    let (verb, subject, severity) = match kind {
        Some("http") => ("Sends what happens to a server", "url", Severity::Redirects),
        Some("prompt") => ("Asks a model", "prompt", Severity::Runs),
        Some("agent") => ("Starts another agent", "prompt", Severity::Runs),
        Some("mcp_tool") => ("Calls a server's tool", "tool", Severity::Runs),
        _ => ("Runs", "command", Severity::Runs),
    };
    let is_known = matches!(kind, Some("command" | "http" | "prompt" | "agent" | "mcp_tool"));
    match values(hook, subject).last() {
        Some(value) if !has_repeated(hook) => {
            let takes_arguments = subject == "command";
            let given = values(hook, "args").last().filter(|_| takes_arguments);
            let text = value.text() + &given.map(arguments).unwrap_or_default();
            found.add(FindingKind::Hook, severity, titled(verb, event), text);
            let type_is_said = if is_known { "type" } else { subject };
            let arguments_are_said = if takes_arguments { "args" } else { subject };
            found.rest(hook, &[subject, type_is_said, arguments_are_said]);
        }
        _ => {
            let text = Json::Object(hook.to_vec()).text();
            found.add(FindingKind::Hook, Severity::Runs, titled(verb, event), text);
        }
    }
    if words(event).is_none() {
        found.detail("event", event);
    }
}

fn titled(verb: &str, event: &str) -> String {
    match words(event) {
        Some(when) => format!("{verb} {when}"),
        None => format!("{verb} on an event that Deskbell does not know"),
    }
}

fn words(event: &str) -> Option<&'static str> {
    EVENTS.iter().find(|(name, _)| *name == event).map(|(_, when)| *when)
}

fn unclear(found: &mut Findings, event: Option<&str>, json: &Json) {
    let title = match event {
        Some(event) => titled("Runs", event),
        None => "Runs by itself, in an unknown form".to_owned(),
    };
    found.add(FindingKind::Hook, Severity::Runs, title, json.text());
    if let Some(event) = event {
        found.detail("event", event);
    }
}
