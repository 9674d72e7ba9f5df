//! Tests of the summaries, with files in the shapes that the agent writes.

use super::Summary;
use super::summary::summarize;
use crate::api::StoredState;
use crate::disk::Ends;
use proptest::prelude::*;

macro_rules! fixture {
    ($name:literal) => {
        (
            $name,
            include_bytes!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../tests/fixtures/stored/",
                $name,
                ".jsonl"
            ))
            .as_slice(),
        )
    };
}

pub(super) const FIXTURES: &[(&str, &[u8])] = &[
    fixture!("completed"),
    fixture!("killed_in_text"),
    fixture!("killed_in_tool"),
    fixture!("killed_and_resumed"),
    fixture!("interrupted"),
    fixture!("denied_and_interrupted"),
    fixture!("failed"),
    fixture!("named"),
    fixture!("generated_title"),
    fixture!("older"),
    fixture!("sidechain"),
    fixture!("torn"),
    fixture!("other_folder"),
    fixture!("compacted"),
];

pub(super) fn bytes(name: &str) -> &'static [u8] {
    FIXTURES.iter().find(|(known, _)| *known == name).unwrap().1
}

fn whole(bytes: &[u8]) -> Summary {
    summarize(Ends { start: bytes, end: b"" }).0
}

#[test]
fn a_first_prompt_that_is_cut_is_known_by_its_beginning() {
    let text = r#"{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"#;
    let contents = [
        format!(r#""Why is the sum off? {}"#, "\\u00e9\\n".repeat(9)),
        format!(r#"[{{"type":"text","text":"Why is the sum off? {}"#, "é".repeat(9)),
        r#"[{"type":"text","text":"Why is the sum off?"},{"type":"image","source":{"type":"base64","data":"aaaaaaaaaaaa"#.to_owned(),
    ];
    for content in contents {
        let line = format!("{{}}\n{text}{content}");
        for n in 0..7 {
            let ends = Ends { start: &line.as_bytes()[..line.len() - n], end: b"\n" };
            let (summary, _) = summarize(ends);
            let begins =
                summary.first_prompt.as_deref().is_some_and(|text| text.starts_with("Why is the sum off?"));
            assert!(begins && summary.has_messages, "{line} without {n} bytes: {summary:?}");
        }
    }
    let sidechain = text.replace("false", "true") + r#""Why"#;
    let (summary, _) = summarize(Ends { start: sidechain.as_bytes(), end: b"\n" });
    assert!(!summary.has_messages);
}

/// Title, state, first prompt and last prompt of each fixture.
#[test]
fn every_shape_has_its_title_and_its_state() {
    use StoredState::{Completed, Interrupted};
    let overloaded = StoredState::Failed { message: "API Error: 529 overloaded_error".to_owned() };
    let expected: &[(&str, &str, StoredState, &str, &str)] = &[
        (
            "completed",
            "Round half to even in totals",
            Completed,
            "Round half to even in totals",
            "And the report?",
        ),
        ("killed_in_text", "SAY turn one", Interrupted, "SAY turn one", "SLOW 200 50"),
        ("killed_in_tool", "Sleep a little", Interrupted, "Sleep a little", "Sleep a little"),
        ("killed_and_resumed", "Sleep a little", Interrupted, "Sleep a little", "Sleep a little"),
        ("interrupted", "Write a story", Interrupted, "Write a story", "Write a story"),
        ("denied_and_interrupted", "Delete it", Interrupted, "Delete it", "Delete it"),
        ("failed", "Hello", overloaded, "Hello", "Hello"),
        ("named", "Renamed later", Completed, "SAY x", "SAY x"),
        ("generated_title", "Mock session title", Completed, "SAY x", "SAY x"),
        ("older", "What is this?", Completed, "What is this?", "What is this?"),
        ("torn", "Fix it", Completed, "Fix it", "Fix it"),
        ("compacted", "Compact this", Completed, "Compact this", "Compact this"),
    ];
    for (name, title, state, first, last) in expected {
        let summary = whole(bytes(name));
        assert_eq!(summary.title(), *title, "{name}");
        assert_eq!(summary.state.as_ref(), Some(state), "{name}");
        assert_eq!(summary.first_prompt.as_deref(), Some(*first), "{name}");
        assert_eq!(summary.last_prompt.as_deref(), Some(*last), "{name}");
        assert_eq!(summary.cwd.as_deref(), Some("/project"), "{name}");
        assert!(summary.at.is_some_and(|at| at > 1_795_000_000_000), "{name}: {:?}", summary.at);
        assert!(summary.has_messages, "{name}");
        let model = if *name == "failed" || *name == "killed_in_tool" {
            summary.model.clone()
        } else {
            Some("claude-opus-5-5".to_owned())
        };
        assert_eq!(summary.model, model, "{name}");
    }
    assert_eq!(whole(bytes("completed")).branch.as_deref(), Some("fix/rounding"));
    assert_eq!(whole(bytes("killed_in_text")).branch, None, "HEAD is no branch");
    assert!(!whole(bytes("sidechain")).has_messages);
    assert_eq!(whole(bytes("other_folder")).cwd.as_deref(), Some("/pro-ject"));
}

#[test]
fn the_last_branch_counts_and_no_branch_has_nothing_else_parsed() {
    let line = |kind: &str, branch: &str| {
        format!(
            r#"{{"type":"{kind}","cwd":"/p","gitBranch":"{branch}","timestamp":"2026-01-01T00:00:00Z","message":{{"model":"m","content":"x"}}}}"#
        )
    };
    let lines = |last: &str| {
        let earlier = vec![line("user", "main"); 50].join("\n");
        [earlier, line("user", last), line("assistant", last)].join("\n")
    };
    for (last, branch) in [("HEAD", None), ("", None), ("topic", Some("topic"))] {
        let text = lines(last);
        let (summary, n_parsed) = summarize(Ends { start: text.as_bytes(), end: b"" });
        assert_eq!((summary.branch.as_deref(), n_parsed), (branch, 3), "{last}");
        let end = format!("\n{}", lines(last));
        let (summary, _) = summarize(Ends { start: format!("{text}\n").as_bytes(), end: end.as_bytes() });
        assert_eq!(summary.branch.as_deref(), branch, "{last}");
    }
}

#[test]
fn a_wrong_type_in_a_field_costs_that_field_only() {
    let line = |rest: &str| {
        format!(r#"{{"type":"user","cwd":"/project","message":{{"role":"user","content":"hello"}},{rest}}}"#)
    };
    for rest in [r#""timestamp":7"#, r#""gitBranch":{}"#, r#""isSidechain":"no""#, r#""isMeta":null"#] {
        let summary = whole(line(rest).as_bytes());
        assert_eq!(summary.first_prompt.as_deref(), Some("hello"), "{rest}");
        assert_eq!(summary.state, Some(StoredState::Interrupted), "{rest}");
    }
    for message in
        ["7", "null", "[]", r#"{"content":7}"#, r#"{"content":[7,{"type":7},{"type":"text","text":[]}]}"#]
    {
        let summary = whole(format!(r#"{{"type":"user","message":{message}}}"#).as_bytes());
        assert_eq!(summary.first_prompt, None, "{message}");
    }
}

#[test]
fn a_title_has_one_line_and_hides_nothing() {
    let summary =
        whole("{\"type\":\"custom-title\",\"customTitle\":\"safe\\u202etxt\\n\\u0007\"}".as_bytes());
    assert_eq!(summary.title(), "safetxt");
    let empty = [bytes("named"), b"{\"type\":\"custom-title\",\"customTitle\":\"\"}\n"].concat();
    assert_eq!(whole(&empty).title(), "Mock session title", "the user's title was removed");
    let long = format!(r#"{{"type":"custom-title","customTitle":"{}"}}"#, "x".repeat(50_000));
    assert!(whole(long.as_bytes()).title().chars().count() <= 201);
}

/// The facts that the last lines decide.
fn last_facts(summary: &Summary) -> [(&'static str, Option<String>); 6] {
    [
        ("custom title", summary.custom_title.clone()),
        ("generated title", summary.generated_title.clone()),
        ("last prompt", summary.last_prompt.clone()),
        ("model", summary.model.clone()),
        ("time", summary.at.map(|at| at.to_string())),
        ("state", summary.state.as_ref().map(|state| format!("{state:?}"))),
    ]
}

#[test]
fn a_file_cut_at_any_byte_has_the_same_facts_or_fewer() {
    for (name, bytes) in FIXTURES.iter().filter(|(_, bytes)| bytes.len() < 2_600) {
        let full = whole(bytes);
        for at in 0..=bytes.len() {
            // Its end is missing: the first facts are the same or unknown.
            let start = whole(&bytes[..at]);
            assert!(start.cwd.is_none() || start.cwd == full.cwd, "{name} to {at}");
            assert!(
                start.first_prompt.is_none() || start.first_prompt == full.first_prompt,
                "{name} to {at}"
            );
            // Its beginning is missing: the last facts are the same or unknown.
            let (end, _) = summarize(Ends { start: b"", end: &bytes[at..] });
            for ((fact, of_end), (_, of_full)) in last_facts(&end).into_iter().zip(last_facts(&full)) {
                assert!(
                    of_end.is_none() || of_end == of_full,
                    "{name} from {at}: {fact} {of_end:?}, {of_full:?}"
                );
            }
            assert_eq!(end.first_prompt, None, "{name} from {at}: it is not the first");
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_harmless(start in prop::collection::vec(any::<u8>(), 0..2_000), end in prop::collection::vec(any::<u8>(), 0..2_000)) {
        let (summary, _) = summarize(Ends { start: &start, end: &end });
        prop_assert!(!summary.title().is_empty());
    }

    #[test]
    fn damaged_lines_are_harmless(nr in 0..FIXTURES.len(), damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20)) {
        let mut bytes = FIXTURES[nr].1.to_vec();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let cut = bytes.len() / 2;
        summarize(Ends { start: &bytes[..cut], end: &bytes[cut..] });
        whole(&bytes);
    }
}
