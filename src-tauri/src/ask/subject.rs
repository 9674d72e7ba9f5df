//! The text of a permission dialog: everything that would happen, or nothing if that cannot be shown there.

use deskbell_engine::api::{DiffKind, PermissionRequest, RequestKind};
use serde_json::Value;

/// More than this is for the card, which scrolls and marks.
const MOST_CHARACTERS: usize = 600;
const MOST_LINES: usize = 14;

/// The whole of it, if it is short and every character of it is what it seems.
pub fn plain(request: &PermissionRequest) -> Option<String> {
    let text = whole(request)?;
    let fits = text.chars().count() <= MOST_CHARACTERS && text.lines().count() <= MOST_LINES;
    (fits && text.chars().all(is_plain)).then_some(text)
}

fn whole(request: &PermissionRequest) -> Option<String> {
    match request.kind {
        // Whatever else the input asks for, such as running unsandboxed, has to be seen too.
        RequestKind::Command if only(&request.input, &["command", "description", "timeout"]) => {
            Some(request.subject.clone())
        }
        RequestKind::Fetch if only(&request.input, &["url", "prompt"]) => {
            let prompt = request.input.get("prompt").and_then(Value::as_str).unwrap_or("");
            Some(format!("{}\n\n{prompt}", request.subject).trim_end().to_owned())
        }
        RequestKind::Edit if only(&request.input, &["file_path", "content", "old_string", "new_string"]) => {
            let diff = request.diff.as_ref()?;
            let lines = diff.hunks.iter().flat_map(|hunk| &hunk.lines).map(|line| {
                let mark = match line.kind {
                    DiffKind::Context => ' ',
                    DiffKind::Added => '+',
                    DiffKind::Removed => '-',
                };
                let text: String = line.parts.iter().map(|part| part.text.as_str()).collect();
                format!("{mark} {text}")
            });
            Some(std::iter::once(request.subject.clone()).chain(lines).collect::<Vec<_>>().join("\n"))
        }
        _ => Some(request.input_text.clone()),
    }
}

fn only(input: &Value, keys: &[&str]) -> bool {
    input.as_object().is_some_and(|input| input.keys().all(|key| keys.contains(&key.as_str())))
}

/// Latin letters, digits and signs look like themselves and nothing else; other scripts have letters that look like
/// them, and may be shown in the card, where each is marked.
fn is_plain(character: char) -> bool {
    matches!(character, ' '..='~' | '\n' | '\t' | '\u{a1}'..='\u{ac}' | '\u{ae}'..='\u{17f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use deskbell_engine::api::RequestId;
    use deskbell_engine::permission;
    use deskbell_engine::wire::CanUseTool;
    use serde_json::json;

    fn check(tool: &str, input: Value, expected: Option<&str>) {
        let request = CanUseTool { tool_name: tool.into(), input: input.into(), ..CanUseTool::default() };
        let view = permission::view(RequestId::new("r"), &request, 0);
        assert_eq!(plain(&view).as_deref(), expected);
    }

    #[test]
    fn a_plain_command_is_shown_whole() {
        check(
            "Bash",
            json!({"command": "cargo test\ngit push", "description": "x"}),
            Some("cargo test\ngit push"),
        );
        check("Bash", json!({"command": "touch grüße.txt"}), Some("touch grüße.txt"));
    }

    #[test]
    fn what_is_not_what_it_seems_is_for_the_card() {
        for command in [
            "a \u{202e}b",
            "a\u{200b}b",
            "c\u{430}t x",
            "a\u{8}b",
            "a\rb",
            "a\u{e0041}",
            "a\u{a0}b",
            "a\u{ad}b",
        ] {
            check("Bash", json!({"command": command}), None);
        }
        check("Bash", json!({"command": "x".repeat(601)}), None);
        check("Bash", json!({"command": "\n".repeat(200) + "rm -rf /"}), None);
    }

    #[test]
    fn nothing_of_the_input_is_left_out() {
        let input = json!({"command": "ls", "dangerouslyDisableSandbox": true});
        check("Bash", input.clone(), Some(&serde_json::to_string_pretty(&input).unwrap()));
        check("Write", json!({"file_path": "a.txt", "content": "one\ntwo\n"}), Some("a.txt\n+ one\n+ two"));
    }
}
