//! Messages between the user's sessions: the settings that keep an agent out of them.
//!
//! Each process of the CLI binds an inbox socket (since 2.1.224, also with `-p`), and every other session of the user can
//! find it and write to it without a permission request. A message starts a turn that the user did not ask for, under
//! the permissions of the session that receives it: text of a restricted folder became an edit in a trusted one
//! (2.1.329 and 2.1.332).

use serde_json::{Map, Value, json};

/// Removes the tools that list other sessions and write to them. `SendMessage` also continues a subagent, which an agent
/// without it cannot do.
pub const WITHOUT_TOOLS: &str = "--disallowedTools=ListAgents,SendMessage";

/// Adds to the settings for `--settings` that no message of another session is delivered. There the value has precedence
/// over the user's own settings (2.1.329 and 2.1.332). 2.1.197 has no messages, and ignores it.
pub fn refuse_messages(settings: &mut Map<String, Value>) {
    settings.insert("crossSessionInbound".to_owned(), json!("refuse"));
}

/// Leaves it to the user's own settings whether messages of other sessions are delivered: a folder's copy is loaded as if
/// it were the user's. Without a setting the CLI delivers what comes from a session that asks in the same way before it
/// acts, and holds what comes from others (2.1.332).
pub fn receive_messages(settings: &mut Map<String, Value>) {
    settings.remove("crossSessionInbound");
}

/// Reports each message of another session with its sender and its text (2.1.332).
pub const WITH_MESSAGES: &str = "--replay-user-messages";

/// The settings of an agent that loads none of its folder.
pub fn settings() -> Map<String, Value> {
    let mut settings = Map::new();
    refuse_messages(&mut settings);
    settings
}
