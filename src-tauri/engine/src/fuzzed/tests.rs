//! Tests that run the fuzz targets with their corpus and with random inputs. Every input that libFuzzer found stays
//! covered.

use std::path::Path;

use proptest::prelude::*;

/// Runs a target with every input of its corpus. Inputs that once violated a property are named after it.
#[track_caller]
fn corpus(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let mut n_inputs = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        println!("{}", path.display());
        check(&std::fs::read(&path).unwrap());
        n_inputs += 1;
    }
    assert!(n_inputs >= 5, "{} has {n_inputs} inputs", folder.display());
}

/// Random sequences of words that are significant for a target, with random bytes between them.
fn words(words: &'static [&'static str], n: usize) -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        8 => prop::sample::select(words).prop_map(|word| word.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..4),
    ];
    let cuts = prop::collection::vec(any::<u8>(), super::N_CUTS + 1);
    (cuts, prop::collection::vec(word, 0..n)).prop_map(|(cuts, words)| [cuts, words.concat()].concat())
}

const MARKDOWN: &[&str] = &[
    "\n",
    "\n\n",
    " ",
    "    ",
    "\t",
    "- ",
    "1. ",
    "> ",
    "# ",
    "```",
    "~~~",
    "`",
    "*",
    "**",
    "_",
    "~~",
    "[",
    "](",
    ")",
    "]: ",
    "![",
    "[^1]",
    "[^1]: ",
    "|",
    "|-|-|",
    "---",
    "===",
    "<a>",
    "<!--",
    "-->",
    "&amp;",
    "\\",
    "word",
    "é漢🙂",
    "https://e.org/",
    "[ ] ",
    "rust\n",
    "let x = 1;",
    "\r",
    "\0",
    "\u{feff}",
];
const TERMINAL: &[&str] = &[
    "\x1b[",
    "31",
    "1",
    ";",
    "38;5;",
    "38:2::",
    "48;2;",
    "0",
    "m",
    "K",
    "A",
    "\x1b]0;",
    "\x07",
    "\x1b\\",
    "\x1bP",
    "\r",
    "\n",
    "\x08",
    "\t",
    "word",
    "é漢🙂",
    "\u{9b}",
    "\x7f",
    "\x18",
    " ",
];
const LINES: &[&str] = &["\n", "\r\n", "a", "bcd", "{\"a\":1}", "\0", "\u{2028}"];
const TEXTS: &[&str] = &["\n", "\r\n", "a", "b", "let a = b(1);", "  ", "é", "{", "}", "\n\n", "a b c\n"];
const MESSAGES: &[&str] = &[
    "\n",
    "{\"type\":\"stream_event\",\"event\":{\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}}\n",
    "{\"type\":\"stream_event\",\"event\":{\"type\":\"message_start\",\"message\":{\"id\":\"n\"}}}\n",
    "{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\"}}}\n",
    "{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"thinking\"}}}\n",
    "{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Bash\"}}}\n",
    "{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"- a *b*\\n\"}}}\n",
    "{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"```rust\\nlet\"}}}\n",
    "{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"hm\"}}}\n",
    "{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_stop\",\"index\":0}}\n",
    "{\"type\":\"stream_event\",\"event\":{\"type\":\"message_stop\"}}\n",
    "{\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"- a *b*\\n\"}]}}\n",
    "{\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Edit\",\"input\":{\"file_path\":\"a\",\"old_string\":\"b\",\"new_string\":\"c\"}}]}}\n",
    "{\"type\":\"assistant\",\"message\":{\"id\":\"n\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"hm\"},{\"type\":\"new\"}]}}\n",
    "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"out\"}]}}\n",
    "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"done\"}\n",
    "{\"type\":\"control_request\",\"request_id\":\"r\",\"request\":{\"subtype\":\"can_use_tool\",\"tool_name\":\"Bash\",\"input\":{\"command\":\"ls\"},\"tool_use_id\":\"t\"}}\n",
    "{\"type\":\"control_cancel_request\",\"request_id\":\"r\"}\n",
    "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n",
    "{\"type\":\"system\",\"subtype\":\"api_retry\",\"attempt\":1,\"max_retries\":10,\"retry_delay_ms\":500}\n",
    "{\"type\":\"system\",\"subtype\":\"compact_boundary\"}\n",
    "{\"type\":\"rate_limit_event\",\"rate_limit_info\":{\"status\":\"rejected\",\"resetsAt\":99}}\n",
    "not a message\n",
];

/// A message with a few changed bytes.
fn changed_message() -> impl Strategy<Value = Vec<u8>> {
    let message = prop::sample::select(MESSAGES);
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3);
    (message, changes).prop_map(|(message, changes)| {
        let mut bytes = message.as_bytes().to_vec();
        changes.into_iter().for_each(|(at, byte)| *at.get_mut(&mut bytes) = byte);
        bytes
    })
}

macro_rules! targets {
    ($($target:ident of $inputs:expr;)+) => {$(
        mod $target {
            use super::*;

            #[test]
            fn holds_for_what_is_kept() {
                corpus(stringify!($target), crate::fuzzed::$target);
            }

            proptest! {
                #[test]
                fn holds_for_anything(input in $inputs) {
                    crate::fuzzed::$target(&input);
                }
            }
        }
    )+};
}

targets! {
    wire of changed_message();
    lines of words(LINES, 60);
    markdown of words(MARKDOWN, 60);
    terminal of words(TERMINAL, 60);
    diff of (words(TEXTS, 30), words(TEXTS, 30)).prop_map(|(old, new)| [&old[..], b"\xff", &new].concat());
    fold of words(MESSAGES, 30);
}
