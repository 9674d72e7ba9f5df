//! The project's recordings of the real CLI: the result of folding them, secrets that must be absent, and damaged
//! recordings.

use deskbell_engine::recorder::{Recorded, Recording};
use deskbell_engine::replay::Replayed;
use deskbell_tests::recordings::{bytes, check, names};

/// A size limit: there are many of them in the repository.
const TOGETHER: usize = 1_500_000;

/// The recordings that must exist.
const LIVES: [&str; 19] = [
    "api_failures",
    "background_shell",
    "clear",
    "compact",
    "image",
    "interrupt",
    "killed_and_resumed",
    "mcp_tool",
    "plain_text",
    "plan",
    "question",
    "queue",
    "rate_limit",
    "resumed_by_id",
    "subagent",
    "thinking",
    "tool_denied",
    "tools_allowed",
    "web_search",
];

fn each(test: impl Fn(&str, &[u8], &[Recorded])) {
    let names = names().unwrap();
    assert_eq!(names, LIVES);
    for name in names {
        let bytes = bytes(&name).unwrap();
        let recording = Recording::parse(&bytes);
        assert!(recording.unreadable.is_empty(), "{name}: {:?}", recording.unreadable);
        test(&name, &bytes, &recording.lines);
    }
}

#[test]
fn each_folds_to_the_conversation_beside_it() {
    let problems: Vec<String> =
        names().unwrap().iter().filter_map(|name| Some(check(name).err()?.to_string())).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
}

#[test]
fn none_tells_of_the_machine_it_was_made_on() {
    let checkout = std::fs::canonicalize(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).unwrap();
    let mut private = vec![checkout.display().to_string()];
    private.extend(["/root", "/tmp/db", "sk-ant", "BEGIN PRIVATE"].map(str::to_owned));
    // Where they are made, this is the home that they must not contain.
    let home = std::env::var("HOME").ok();
    private.extend(home.filter(|home| home.len() > 1 && !"/home/user/".starts_with(home.as_str())));
    let others_home = |text: &str| {
        text.match_indices("/home/").any(|(at, home)| !text[at + home.len()..].starts_with("user"))
    };
    let mut total = 0;
    each(|name, bytes, _| {
        let text = std::str::from_utf8(bytes).unwrap();
        for word in &private {
            assert!(!text.contains(word.as_str()), "{name} contains {word}");
        }
        assert!(!others_home(text), "{name} contains somebody's home");
        assert!(bytes.len() < TOGETHER / 10, "{name} has {} bytes", bytes.len());
    });
    for name in names().unwrap() {
        total += bytes(&name).unwrap().len();
    }
    assert!(total < TOGETHER, "together they have {total} bytes");
}

/// Folded up to a certain line, a recording is the session at that time: no later line takes an item's place.
#[test]
fn a_recording_that_was_cut_short_folds_to_its_beginning() {
    each(|name, bytes, lines| {
        let whole = Replayed::of(lines);
        for n_bytes in (0..bytes.len()).step_by(bytes.len() / 50) {
            let cut = Recording::parse(&bytes[..n_bytes]);
            assert!(cut.unreadable.len() <= 1, "{name}: {:?}", cut.unreadable);
            assert_eq!(cut.lines, lines[..cut.lines.len()], "{name}");
            let replayed = Replayed::of(&cut.lines);
            assert_eq!(replayed.events, whole.events[..replayed.events.len()], "{name} at byte {n_bytes}");
        }
    });
}

/// Every tenth line is lost, every seventh is duplicated, and some bytes are changed.
#[test]
fn a_garbled_recording_is_shown_as_far_as_it_goes() {
    each(|name, bytes, lines| {
        let mut garbled = Vec::new();
        let mut n_garbled = 0;
        for (idx, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            let mut line = line.to_vec();
            match idx {
                idx if idx % 10 == 9 => continue,
                idx if idx % 7 == 6 => garbled.extend([&line[..], b"\n"].concat()),
                idx if idx % 5 == 4 && !line.is_empty() => {
                    line[0] = 0xff;
                    n_garbled += 1;
                }
                _ => {}
            }
            garbled.extend(line);
            garbled.push(b'\n');
        }
        let recording = Recording::parse(&garbled);
        assert_eq!(recording.unreadable.len(), n_garbled, "{name}");
        let replayed = Replayed::of(&recording.lines);
        let shown = replayed.text_with_times();
        let told = recording.text();
        assert!(told.lines().count() <= recording.lines.len(), "{name}");
        assert!(!lines.is_empty() && (replayed.items.is_empty() || !shown.is_empty()), "{name}");
    });
}

/// A replay has no clock, no randomness and no order of its own.
#[test]
fn every_replay_of_a_recording_is_the_same() {
    each(|name, _, lines| {
        let first = Replayed::of(lines);
        for nr in 1..20 {
            let again = Replayed::of(lines);
            assert_eq!(again.items, first.items, "{name}, replay {nr}");
            assert_eq!(again.events, first.events, "{name}, replay {nr}");
        }
    });
}

/// Redaction does not change how a recording folds: its placeholders are in no field that determines the kind of a
/// line.
#[test]
fn nothing_that_says_what_a_line_is_was_taken_out() {
    fn check(name: &str, value: &serde_json::Value) {
        match value {
            serde_json::Value::Object(fields) => {
                for (key, value) in fields {
                    let says_what =
                        ["type", "subtype", "kind", "uuid", "id", "state", "status", "session_id"];
                    let is_marked =
                        value.as_str().is_some_and(|text| text.contains('<') && text.contains('>'));
                    assert!(!says_what.contains(&key.as_str()) || !is_marked, "{name}: {key} is {value}");
                    check(name, value);
                }
            }
            serde_json::Value::Array(values) => values.iter().for_each(|value| check(name, value)),
            _ => {}
        }
    }
    each(|name, _, lines| lines.iter().for_each(|recorded| check(name, &recorded.line)));
}
