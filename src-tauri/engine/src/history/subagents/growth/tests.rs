use crate::api::Item;
use crate::history::tail::Tail;
use crate::history::{Additions, Colouring, Kept, Subagents};
use crate::transcript::Transcript;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

fn line(kind: &str, uuid: &str, parent: Option<&str>, block: &Value) -> String {
    let message = json!({"id": uuid, "role": kind, "content": [block]});
    format!("{}\n", json!({"type": kind, "uuid": uuid, "parentUuid": parent, "message": message}))
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "Agent", "input": {"description": "look", "prompt": "go"}})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": [text("report")]})
}

/// A conversation that is followed.
struct Followed {
    root: tempfile::TempDir,
    transcript: Transcript,
    tail: Tail,
}

impl Followed {
    fn new(conversation: &str) -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("s/subagents")).unwrap();
        fs::write(root.path().join("s.jsonl"), conversation).unwrap();
        let (transcript, tail) = read(root.path());
        Self { root, transcript, tail }
    }

    fn path(&self) -> PathBuf {
        self.root.path().join("s.jsonl")
    }

    fn append(&self, name: &str, text: &str) {
        let path = self.root.path().join(name);
        let file = fs::OpenOptions::new().append(true).create(true).open(path);
        file.unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn subagent(&self, name: &str, text: &str) {
        self.append(&format!("s/subagents/agent-{name}.jsonl"), text);
    }

    fn name_call(&self, name: &str, call: &str) {
        let meta = json!({"agentType": "general-purpose", "toolUseId": call}).to_string();
        self.append(&format!("s/subagents/agent-{name}.meta.json"), &meta);
    }

    /// Takes what was added, and returns whether it could be added to what is shown.
    fn grow(&mut self) -> bool {
        loop {
            let Some(growth) = self.tail.position().read(&self.path()).unwrap() else { return false };
            if !self.tail.fold(&growth, &mut self.transcript) {
                return false;
            }
            if !self.tail.is_behind() {
                return true;
            }
        }
    }

    /// The number of bytes of subagents that the next look reads.
    fn n_read_next(&self) -> usize {
        let growth = self.tail.position().read(&self.path()).unwrap().unwrap();
        growth.n_bytes_of_subagents()
    }

    fn shown(&self) -> Vec<String> {
        shown(&self.transcript)
    }
}

fn read(root: &Path) -> (Transcript, Tail) {
    let path = root.join("s.jsonl");
    let kept = Kept::load(&path).unwrap().with_subagents(Subagents::load(&path));
    kept.followed(Path::new("/p"), &Additions::default(), true, Colouring::All)
}

fn shown(transcript: &Transcript) -> Vec<String> {
    let name = |item: &Item| match &item.parent {
        Some(parent) => format!("{parent}/{}", item.id),
        None => item.id.to_string(),
    };
    transcript.items().map(name).collect()
}

#[test]
fn a_subagent_is_followed_line_by_line_while_its_conversation_stands_still() {
    let conversation =
        [line("user", "u1", None, &text("go")), line("assistant", "a1", Some("u1"), &call("t1"))].concat();
    let mut followed = Followed::new(&conversation);
    assert_eq!(followed.shown(), ["u1", "t1"]);
    let first = line("assistant", "s1", None, &text("one"));
    // The file with its lines is there before the one that names its call.
    followed.subagent("aa", &first);
    assert!(followed.grow());
    assert_eq!(followed.shown(), ["u1", "t1"]);
    followed.name_call("aa", "t1");
    assert!(followed.grow());
    assert_eq!(followed.shown(), ["u1", "t1", "t1/s1.0"]);
    assert_eq!(followed.n_read_next(), 0, "nothing is read twice");

    let second = line("assistant", "s2", Some("s1"), &text("two"));
    followed.subagent("aa", &second[..30]);
    assert!(followed.grow());
    assert_eq!(followed.shown(), ["u1", "t1", "t1/s1.0"], "a line that is not whole");
    followed.subagent("aa", &second[30..]);
    assert_eq!(followed.n_read_next(), second.len());
    assert!(followed.grow());
    assert_eq!(followed.shown(), ["u1", "t1", "t1/s1.0", "t1/s2.0"]);

    // It starts another one, whose lines come before and after.
    followed.name_call("bb", "t2");
    followed.subagent("bb", &line("assistant", "n1", None, &text("inner")));
    followed.subagent("aa", &line("assistant", "s3", Some("s2"), &call("t2")));
    assert!(followed.grow());
    followed.subagent("bb", &line("assistant", "n2", Some("n1"), &text("more")));
    followed.append("s.jsonl", &line("user", "u2", Some("a1"), &result("t1")));
    assert!(followed.grow());
    assert_eq!(followed.shown()[4..], ["t1/t2", "t2/n1.0", "t2/n2.0", "t1/t1.report"]);
    assert_eq!(followed.shown(), shown(&read(followed.root.path()).0));
}

#[test]
fn a_subagent_that_was_shown_when_the_conversation_was_opened_is_followed_on() {
    let conversation =
        [line("user", "u1", None, &text("go")), line("assistant", "a1", Some("u1"), &call("t1"))].concat();
    let mut followed = Followed::new(&conversation);
    followed.name_call("aa", "t1");
    let second = line("assistant", "s2", Some("s1"), &text("two"));
    followed.subagent("aa", &(line("assistant", "s1", None, &text("one")) + &second[..20]));
    (followed.transcript, followed.tail) = read(followed.root.path());
    assert_eq!(followed.shown(), ["u1", "t1", "t1/s1.0"]);
    followed.subagent("aa", &second[20..]);
    assert_eq!(followed.n_read_next(), second.len());
    assert!(followed.grow());
    // 2.1.197 writes messages again.
    followed.subagent("aa", &second);
    assert!(followed.grow());
    assert_eq!(followed.shown(), ["u1", "t1", "t1/s1.0", "t1/s2.0"]);
}

#[test]
fn a_damaged_line_and_a_shorter_file_have_all_read_again() {
    let conversation =
        [line("user", "u1", None, &text("go")), line("assistant", "a1", Some("u1"), &call("t1"))].concat();
    let mut followed = Followed::new(&conversation);
    followed.name_call("aa", "t1");
    followed.subagent("aa", &line("assistant", "s1", None, &text("one")));
    assert!(followed.grow());
    followed.subagent("aa", "{\"type\":\"assis\n");
    assert!(!followed.grow());
    (followed.transcript, followed.tail) = read(followed.root.path());
    assert!(followed.grow(), "it was counted, and is no reason to read again");
    fs::write(followed.root.path().join("s/subagents/agent-aa.jsonl"), "").unwrap();
    assert!(!followed.grow());
}

#[test]
fn a_subagent_of_an_abandoned_branch_is_read_once() {
    let conversation = [
        line("user", "u1", None, &text("go")),
        line("assistant", "a0", Some("u1"), &call("t0")),
        line("assistant", "a1", Some("u1"), &text("instead")),
    ];
    let mut followed = Followed::new(&conversation.concat());
    followed.name_call("aa", "t0");
    followed.subagent("aa", &line("assistant", "s1", None, &text("one")));
    assert!(followed.grow());
    assert_eq!(followed.shown(), ["u1", "a1.0"]);
    assert_eq!(followed.n_read_next(), 0);
}

proptest! {
    /// Wherever the files are cut while they are written, the end shows what reading all of it shows.
    #[test]
    fn following_shows_what_reading_shows(cuts in prop::collection::vec((0..3_usize, 0..400_usize), 0..12)) {
        let texts = [
            [
                line("user", "u1", None, &text("go")),
                line("assistant", "a1", Some("u1"), &call("t1")),
                line("user", "u2", Some("a1"), &result("t1")),
                line("assistant", "a2", Some("u2"), &text("over")),
            ].concat(),
            [
                line("assistant", "s1", None, &text("one")),
                line("assistant", "s2", Some("s1"), &call("t2")),
                line("user", "s3", Some("s2"), &result("t2")),
                line("assistant", "s4", Some("s3"), &text("two")),
            ].concat(),
            [line("assistant", "n1", None, &text("in")), line("assistant", "n2", Some("n1"), &text("side"))].concat(),
        ];
        let names = ["s.jsonl", "s/subagents/agent-aa.jsonl", "s/subagents/agent-bb.jsonl"];
        let mut followed = Followed::new("");
        followed.name_call("aa", "t1");
        followed.name_call("bb", "t2");
        let mut written = [0; 3];
        let ends = texts.iter().enumerate().map(|(nr, text)| (nr, text.len()));
        for (nr, n) in cuts.into_iter().chain(ends) {
            let end = texts[nr].len().min(written[nr] + n);
            followed.append(names[nr], &texts[nr][written[nr]..end]);
            written[nr] = end;
            prop_assert!(followed.grow());
        }
        let (mut of_followed, mut of_whole) = (followed.shown(), shown(&read(followed.root.path()).0));
        of_followed.sort();
        of_whole.sort();
        prop_assert_eq!(of_followed, of_whole);
    }
}
