//! The user's prompts in a request, and the tool results since.

use serde_json::Value;

/// The part of a request that a script uses.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Conversation {
    /// Every prompt, oldest first. One message may hold several: the CLI joins messages that follow each other.
    pub prompts: Vec<String>,
    /// The number of messages with tool results since the newest prompt: the index of the script's step.
    pub n_results: usize,
    /// The text of the newest tool result.
    pub newest_result: Option<String>,
    /// Texts that were sent in the middle of a turn, oldest first. They do not change the course of the script.
    pub joined: Vec<String>,
}

impl Conversation {
    pub(crate) fn read(body: &Value) -> Self {
        let mut conversation = Self::default();
        for message in body["messages"].as_array().into_iter().flatten() {
            if message["role"] == "user" {
                conversation.read_user(&message["content"]);
            }
        }
        conversation
    }

    fn read_user(&mut self, content: &Value) {
        if let Some(text) = content.as_str() {
            self.read_text(text);
        }
        let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
        let mut counted = false;
        for block in blocks {
            match block["type"].as_str() {
                Some("text") => self.read_text(block["text"].as_str().unwrap_or_default()),
                Some("tool_result") => {
                    self.newest_result = Some(result_text(&block["content"]));
                    self.n_results += usize::from(!counted);
                    counted = true;
                }
                _ => {}
            }
        }
    }

    fn read_text(&mut self, text: &str) {
        // 2.1.329 sends it in a text of its own, 2.1.197 in a reminder.
        const JOINED: &str = "The user sent a new message while you were working:\n";
        if let Some((_, joined)) = text.split_once(JOINED) {
            self.joined.push(joined.lines().next().unwrap_or_default().to_owned());
            return;
        }
        let text = without_reminders(text);
        let text = without_place_of_skill(without_title_request(text.trim()));
        if !text.is_empty() && !is_the_clis_own(text) {
            self.prompts.push(text.to_owned());
            self.n_results = 0;
        }
    }
}

/// The text of a tool result, which is a string or a list of blocks.
fn result_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

/// The CLI wraps its own messages to the model in `<system-reminder>`, before and after the prompt.
fn without_reminders(text: &str) -> String {
    let mut rest = text;
    let mut kept = String::new();
    while let Some((before, after)) = rest.split_once("<system-reminder>") {
        kept.push_str(before);
        rest = after.split_once("</system-reminder>").map_or("", |(_, after)| after);
    }
    kept + rest
}

/// A request for a title has the prompts in `<session>`, before what to do with them (2.1.329).
fn without_title_request(text: &str) -> &str {
    let session = text.strip_prefix("<session>").and_then(|rest| rest.split_once("</session>"));
    session.map_or(text, |(prompts, _)| prompts.trim())
}

/// The text of a skill begins with the place of its files.
fn without_place_of_skill(text: &str) -> &str {
    let skill = text.strip_prefix("Base directory for this skill: ").and_then(|rest| rest.split_once("\n\n"));
    skill.map_or(text, |(_, body)| body)
}

/// Messages about an interrupt, a crash or a slash command are texts of the user, too.
fn is_the_clis_own(text: &str) -> bool {
    let notes = [
        "[Request interrupted by user",
        "[Image: source: ",
        "Continue from where you left off.",
        // After a refusal the CLI tries once more by itself (2.1.329).
        "Your response above was stopped by a safety classifier",
        "<command-",
        "<local-command-",
    ];
    notes.iter().any(|note| text.starts_with(note))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(messages: Value) -> Conversation {
        Conversation::read(&json!({"messages": messages}))
    }

    #[test]
    fn reminders_and_notes_are_no_prompts() {
        let conversation = read(json!([
            {"role": "user", "content": [
                {"type": "text", "text": "<system-reminder>\nSAY no\n</system-reminder>"},
                {"type": "text", "text": "SAY one\n<system-reminder>x</system-reminder>"},
            ]},
            {"role": "assistant", "content": "one"},
            {"role": "user", "content": [
                {"type": "text", "text": "[Request interrupted by user]"},
                {"type": "text", "text": "SAY two"},
            ]},
        ]));
        assert_eq!(conversation.prompts, ["SAY one", "SAY two"]);
        assert_eq!(conversation.n_results, 0);
    }

    #[test]
    fn a_request_for_a_title_is_its_prompts() {
        let text =
            "<session>\nSAY one\nSAY two\n</session>\n\nWrite the title in the language of the session.";
        assert_eq!(read(json!([{"role": "user", "content": text}])).prompts, ["SAY one\nSAY two"]);
        let unclosed = read(json!([{"role": "user", "content": "<session> SAY one"}]));
        assert_eq!(unclosed.prompts, ["<session> SAY one"]);
    }

    #[test]
    fn results_count_from_the_newest_prompt_on() {
        let result = |text: &str| {
            json!({"role": "user", "content": [
                {"type": "tool_result", "content": text},
                {"type": "tool_result", "content": [{"type": "text", "text": text}]},
            ]})
        };
        let conversation = read(
            json!([{"role": "user", "content": "a"}, result("1"), {"role": "user", "content": "b"}, result("2")]),
        );
        let expected = Conversation {
            prompts: vec!["a".into(), "b".into()],
            n_results: 1,
            newest_result: Some("2".into()),
            joined: Vec::new(),
        };
        assert_eq!(conversation, expected);
    }
}
