//! Generated content for a window, from a seed: long answers, and the lines in which an agent streams them.

use std::fmt::Write as _;

use serde_json::{Value, json};

/// Repeatable random numbers (xorshift).
struct Seed(u64);

impl Seed {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }

    fn words(&mut self, n: usize) -> String {
        const WORDS: [&str; 16] = [
            "the", "session", "waits", "for", "*its*", "agent", "and", "`keeps`", "every", "prompt", "in",
            "order", "until", "**all**", "is", "drawn",
        ];
        let words: Vec<&str> = (0..n).map(|_| WORDS[self.below(WORDS.len())]).collect();
        words.join(" ")
    }
}

/// An answer of at least `bytes` bytes: paragraphs, lists, tables and code, as models write them.
pub fn answer(bytes: usize) -> String {
    let mut seed = Seed(0x9e37_79b9_7f4a_7c15);
    let mut text = String::new();
    while text.len() < bytes {
        // Writing to a string cannot fail.
        let _ = match seed.below(8) {
            0 => writeln!(text, "## {}\n", seed.words(4)),
            1 => {
                (0..6).for_each(|_| text.push_str(&format!("- {}\n", seed.words(9))));
                writeln!(text)
            }
            2 => {
                text.push_str("| what | how much |\n| --- | ---: |\n");
                (0..5).for_each(|_| text.push_str(&format!("| {} | {} |\n", seed.words(3), seed.below(999))));
                writeln!(text)
            }
            3 | 4 => {
                text.push_str("```rust\n");
                for nr in 0..15 + seed.below(15) {
                    let _ =
                        writeln!(text, "    let held_{nr} = session.rows({nr}).ok_or(\"none\")?; // {nr}");
                }
                writeln!(text, "```\n")
            }
            _ => writeln!(text, "{}.\n", seed.words(60)),
        };
    }
    text
}

/// The lines of a message that says `text` in about `n` pieces.
pub fn streamed(id: &str, text: &str, n: usize) -> String {
    let mut lines = String::new();
    let mut push = |line: Value| {
        lines.push_str(&line.to_string());
        lines.push('\n');
    };
    let event = |event: Value| json!({"type": "stream_event", "event": event, "parent_tool_use_id": null});
    push(event(json!({"type": "message_start", "message": {"id": id, "role": "assistant", "content": []}})));
    push(event(
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
    ));
    let step = text.len().div_ceil(n).max(1);
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(rest.ceil_char_boundary(step));
        push(event(
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}),
        ));
        rest = behind;
    }
    push(said(id, json!({"type": "text", "text": text})));
    push(event(json!({"type": "content_block_stop", "index": 0})));
    push(event(json!({"type": "message_stop"})));
    lines
}

/// A line of an agent with a whole block of a message.
pub fn said(id: &str, block: Value) -> Value {
    let message = json!({"id": id, "type": "message", "role": "assistant", "model": "m", "content": [block]});
    json!({"type": "assistant", "message": message, "parent_tool_use_id": null})
}

/// The two lines of a command and its output.
pub fn command(id: &str, command: &str, output: &str) -> String {
    let call = json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}});
    let result = json!({"type": "tool_result", "tool_use_id": id, "content": "see the data"});
    let result = json!({
        "type": "user",
        "message": {"role": "user", "content": [result]},
        "parent_tool_use_id": null,
        "tool_use_result": {"stdout": output, "stderr": ""},
    });
    format!("{}\n{result}\n", said(&format!("{id}-message"), call))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_the_same_in_every_run_and_streamed_whole() {
        let text = answer(20_000);
        assert_eq!(text, answer(20_000));
        assert!((20_000..23_000).contains(&text.len()));
        let lines = streamed("m", &text, 100);
        let pieces = lines.lines().filter_map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            Some(line["event"]["delta"]["text"].as_str()?.to_owned())
        });
        let pieces: Vec<String> = pieces.collect();
        assert_eq!((pieces.len(), pieces.concat()), (100, text));
    }
}
