use super::*;
use crate::api::Body;
use crate::history::{Additions, Colouring, Kept};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

fn prompt(uuid: &str, parent: Option<&str>, text: &str) -> Value {
    json!({"type": "user", "uuid": uuid, "parentUuid": parent, "message": {"content": text}})
}

fn reply(uuid: &str, parent: &str, block: &Value) -> Value {
    json!({"type": "assistant", "uuid": uuid, "parentUuid": parent, "message": {"id": uuid, "content": [block]}})
}

fn call(id: &str, name: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": {"description": "look", "prompt": "go"}})
}

fn result(uuid: &str, call: &str, parent: &str, text: &str) -> Value {
    let block =
        json!({"type": "tool_result", "tool_use_id": call, "content": [{"type": "text", "text": text}]});
    json!({"type": "user", "uuid": uuid, "parentUuid": parent, "message": {"content": [block]}})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

struct Store {
    root: tempfile::TempDir,
}

impl Store {
    /// A conversation with one subagent that started another one.
    fn new() -> Self {
        let store = Self { root: tempfile::tempdir().unwrap() };
        let conversation = [
            prompt("u1", None, "go"),
            reply("a1", "u1", &call("t1", "Agent")),
            result("u2", "t1", "a1", "report"),
            reply("a2", "u2", &text("over")),
        ];
        fs::write(store.path(), lines(&conversation)).unwrap();
        fs::create_dir_all(store.folder()).unwrap();
        let outer = [
            prompt("s1", None, "go"),
            reply("s2", "s1", &call("t2", "Agent")),
            result("s3", "t2", "s2", "inner report"),
            reply("s4", "s3", &text("report")),
        ];
        let inner = [
            prompt("n1", None, "go"),
            reply("n2", "n1", &call("t3", "Bash")),
            result("n3", "t3", "n2", "inside"),
            reply("n4", "n3", &text("inner report")),
        ];
        store.subagent("aa", "t1", &lines(&outer));
        store.subagent("bb", "t2", &lines(&inner));
        store
    }

    fn path(&self) -> PathBuf {
        self.root.path().join("s.jsonl")
    }

    fn folder(&self) -> PathBuf {
        self.root.path().join("s/subagents")
    }

    fn subagent(&self, id: &str, call: &str, lines: &str) {
        let lines = lines.replace("\"parentUuid\"", "\"isSidechain\":true,\"parentUuid\"");
        fs::write(self.folder().join(format!("agent-{id}.jsonl")), lines).unwrap();
        let meta = json!({"agentType": "general-purpose", "toolUseId": call}).to_string();
        fs::write(self.folder().join(format!("agent-{id}.meta.json")), meta).unwrap();
    }

    /// The items: each with the call that it is below, and the texts of notices.
    fn shown(&self, is_live: bool) -> Vec<String> {
        let kept = Kept::load(&self.path()).unwrap().with_subagents(Subagents::load(&self.path()));
        let (transcript, _) = kept.followed(Path::new("/p"), &Additions::default(), is_live, Colouring::All);
        let word = |item: &crate::api::Item| match (&item.body, &item.parent) {
            (Body::Notice { text, detail, .. }, _) => {
                format!("{text}: {}", detail.as_deref().unwrap_or_default())
            }
            (_, Some(parent)) => format!("{parent}/{}", item.id),
            (_, None) => item.id.to_string(),
        };
        transcript.items().map(word).collect()
    }
}

const ALL: [&str; 7] = ["u1", "t1", "t1/t2", "t2/t3", "t2/n4.0", "t1/s4.0", "a2.0"];

#[test]
fn a_subagent_is_shown_below_its_call() {
    assert_eq!(Store::new().shown(false), ALL);
}

#[test]
fn messages_that_were_written_twice_are_shown_once() {
    let store = Store::new();
    let file = store.folder().join("agent-bb.jsonl");
    let twice = fs::read_to_string(&file).unwrap().repeat(2);
    fs::write(&file, twice).unwrap();
    assert_eq!(store.shown(false), ALL);
}

#[test]
fn damaged_lines_of_a_subagent_are_counted_and_its_other_lines_are_shown() {
    let store = Store::new();
    let file = store.folder().join("agent-bb.jsonl");
    let torn = fs::read_to_string(&file).unwrap() + "no json\n{\"type\":\"assis";
    fs::write(&file, torn).unwrap();
    let said = |n: &str| {
        format!("A part of this conversation could not be read: Damaged in the agent’s files: {n}.")
    };
    assert_eq!(store.shown(false), [&ALL[..], &[&said("2 lines")]].concat());
    assert_eq!(store.shown(true), [&ALL[..], &[&said("1 line")]].concat());
}

#[test]
fn a_subagent_that_cannot_be_read_is_said() {
    let said =
        "Some work of subagents is not shown: The files of 1 subagent are too large or cannot be read.";
    let without = ["u1", "t1", "t1/t2", "t2/t2.report", "t1/s4.0", "a2.0", said];
    let store = Store::new();
    let file = store.folder().join("agent-bb.jsonl");
    fs::remove_file(&file).unwrap();
    assert_eq!(store.shown(false), without);
    fs::create_dir(&file).unwrap();
    assert_eq!(store.shown(false), without);
    let problem =
        Kept::load(&store.path()).unwrap().with_subagents(Subagents::failed("It took too long.".into()));
    let (transcript, _) = problem.followed(Path::new("/p"), &Additions::default(), false, Colouring::All);
    let last = transcript.items().last().unwrap();
    assert!(matches!(&last.body, Body::Notice { detail: Some(detail), .. } if detail == "It took too long."));
}

#[test]
fn files_that_belong_to_no_call_are_not_missed() {
    let store = Store::new();
    fs::write(store.folder().join("agent-cc.jsonl"), "no json").unwrap();
    fs::write(store.folder().join("agent-cc.meta.json"), "{}").unwrap();
    fs::write(store.folder().join("agent-dd.meta.json"), "[").unwrap();
    store.subagent("ee", "gone", "no json");
    assert_eq!(store.shown(false), ALL);
    fs::remove_dir_all(store.folder()).unwrap();
    fs::write(store.folder(), "a file").unwrap();
    assert!(store.shown(false).last().unwrap().starts_with("Some work of subagents is not shown"));
}

#[test]
fn subagents_that_start_each_other_end() {
    let store = Store::new();
    store.subagent(
        "aa",
        "t1",
        &lines(&[reply("s1", "", &call("t1", "Agent")), reply("s2", "s1", &call("t2", "Agent"))]),
    );
    store.subagent("bb", "t2", &lines(&[reply("n1", "", &call("t1", "Agent"))]));
    assert!(store.shown(false).contains(&"a2.0".to_owned()));
    for nr in 2..200 {
        let next = call(&format!("t{}", nr + 1), "Agent");
        store.subagent(&format!("x{nr}"), &format!("t{nr}"), &lines(&[reply(&format!("y{nr}"), "", &next)]));
    }
    fs::remove_file(store.folder().join("agent-bb.meta.json")).unwrap();
    assert!(store.shown(false).last().unwrap().contains("The files of 1 subagent"));
}
