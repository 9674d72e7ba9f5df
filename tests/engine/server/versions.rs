//! Old with new: a recorded server of each version against today's client, and a recorded client of each version against
//! today's server.
//!
//! `tests/recordings/server` has a file for each version: what its client and its server said in one session, in order.
//! `UPDATE_RECORDINGS=1` writes the file of the present version, whose side of the wire may still change before it is
//! released; the files of released versions are kept.

use super::scripted::{self, Pause};
use super::world::{Client, World};
use crate::life::DEADLINE;
use deskbell_engine::api::*;
use deskbell_engine::remote::{Dial, ServerLink};
use deskbell_engine::session::{SessionHandle, Subscriber};
use deskbell_tests::relay::text_of;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

/// Versions before the first release: only their servers may still run.
const UNRELEASED: [&str; 3] = ["0.1.0-before-questions", "0.1.0-whole-sessions", "0.1.0-repeated-inputs"];

/// A file of a version that was never released has no client that anybody uses.
fn has_clients(name: &str) -> bool {
    !UNRELEASED.contains(&name)
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings/server")
}

/// A line of a recording.
#[derive(Clone, Debug)]
enum Line {
    Client(Value),
    Server(Value),
}

impl Line {
    fn server(&self) -> Option<&Value> {
        if let Self::Server(value) = self { Some(value) } else { None }
    }
}

fn read(path: &Path) -> Vec<Line> {
    let text = std::fs::read_to_string(path).unwrap();
    let line = |text: &str| {
        let mut value: Value = serde_json::from_str(text).unwrap();
        match value["client"].take() {
            Value::Null => Line::Server(value["server"].take()),
            client => Line::Client(client),
        }
    };
    text.lines().map(line).collect()
}

/// All recordings, with the names of their versions.
fn recordings() -> Vec<(String, Vec<Line>)> {
    let mut all: Vec<(String, Vec<Line>)> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ndjson"))
        .map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), read(&path)))
        .collect();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    assert!(all.iter().any(|(name, _)| name == env!("CARGO_PKG_VERSION")), "this version has no recording");
    all
}

/// A client that keeps everything that is said.
struct Recorder {
    client: Client,
    said: Vec<Line>,
    /// Lines that came before they were waited for.
    early: Vec<Value>,
}

impl Recorder {
    async fn send(&mut self, request: Value) {
        self.client.send(request.clone()).await;
        self.said.push(Line::Client(request));
    }

    /// Reads until the server says this, unless it did so already.
    async fn until(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.early.iter().position(&is_it) {
            return self.early.remove(at);
        }
        loop {
            let line = timeout(DEADLINE, self.client.next()).await.unwrap_or_else(|_| panic!("no {what}"));
            self.said.push(Line::Server(line.clone()));
            if is_it(&line) {
                return line;
            }
            self.early.extend(is_awaited(&line).then_some(line));
        }
    }

    async fn until_type(&mut self, kind: &str) -> Value {
        self.until(kind, |line| line["type"] == kind).await
    }

    async fn command(&mut self, id: &str, session: &Value, command: Value) {
        let run = self.client.run.clone();
        self.send(json!({"type": "command", "id": id, "run": run, "sessionId": session, "command": command}))
            .await;
    }

    /// Sends a command, and reads until it is answered.
    async fn carry_out(&mut self, id: &str, session: &Value, command: Value) -> Value {
        self.command(id, session, command).await;
        self.until("answer", |line| line["id"] == id && line["type"] != "hello").await
    }
}

/// The prompt of the recorded session: every kind of item that a client draws.
const PROMPT: &str = "THINK which one|That one.\nSAY # Title\\n\\nSome *text* with `code` and [a link](https://example.org)\
                      \\n\\n```rust\\nfn main() {}\\n```\\n\\n- one\\n- two\nTASKS\nTOOL Bash {\"command\": \"echo done\"}\n\
                      TOOL Bash {\"command\": \"touch no\"}\nSTREAM 3 more\nSTDERR oops\nUNKNOWN_MESSAGE";

/// A session from the first line to the last: prompts, requests, questions, refusals, a stop.
async fn live(world: &World) -> Vec<Line> {
    let client = world.attach().await;
    let (hello, run) = (client.hello.clone(), client.run.clone());
    let mut recorder = Recorder { client, said: vec![Line::Server(hello)], early: Vec::new() };
    let session = json!({"project": world.project(), "agent": "demo"});
    recorder.send(json!({"type": "open", "id": "open-1", "run": run, "session": session})).await;
    let session = recorder.until_type("accepted").await["sessionId"].clone();
    recorder.send(json!({"type": "attach", "sessionId": session, "after": null, "run": run})).await;
    recorder.until_type("snapshot").await;
    recorder.command("prompt-1", &session, json!({"type": "prompt", "text": PROMPT})).await;
    for (nr, kind) in ["allowOnce", "deny"].into_iter().enumerate() {
        let request = recorder.until_type("permissionRequested").await["request"].clone();
        let decision =
            if kind == "deny" { json!({"type": kind, "message": "no"}) } else { json!({"type": kind}) };
        let decide = json!({"type": "decide", "requestId": request["id"], "shown": request["shown"], "decision": decision});
        recorder.carry_out(&format!("decide-{nr}"), &session, decide.clone()).await;
        if nr == 0 {
            let refused = recorder.carry_out("decide-late", &session, decide).await;
            assert_eq!(refused["type"], "refused", "{refused}");
        }
    }
    recorder.until_type("turnEnded").await;
    let questions = [
        json!({"type": "lastAnswer"}),
        json!({"type": "find", "query": "text", "index": null}),
        json!({"type": "export", "format": "markdown"}),
        json!({"type": "rawLines", "after": 0}),
        json!({"type": "processes"}),
    ];
    // The last two came with the list of questions.
    let n_known = if recorder.client.hello["questions"].is_null() { 3 } else { questions.len() };
    for (nr, question) in (1..).zip(questions).take(n_known) {
        recorder.send(json!({"type": "ask", "nr": nr, "sessionId": session, "question": question})).await;
        recorder.until("answer", |line| line["type"] == "answer" && line["nr"] == nr).await;
    }
    recorder.send(json!({"type": "ack", "sessionId": session, "seq": 1})).await;
    recorder.send(json!({"type": "ping", "nr": 1})).await;
    recorder.until_type("pong").await;
    recorder.send(json!({"type": "attach", "sessionId": "nowhere", "after": 3, "run": "none"})).await;
    recorder.until_type("problem").await;
    recorder.early.clear();
    recorder.command("prompt-2", &session, json!({"type": "prompt", "text": "WAIT"})).await;
    recorder.until_type("turnStarted").await;
    recorder.carry_out("prompt-3", &session, json!({"type": "prompt", "text": "SAY later"})).await;
    recorder.carry_out("interrupt-1", &session, json!({"type": "interrupt"})).await;
    recorder.until_type("turnEnded").await;
    // Before the stop: for a moment after it, the list may have the process or not.
    recorder.send(json!({"type": "list"})).await;
    recorder.until_type("sessions").await;
    recorder.carry_out("stop-1", &session, json!({"type": "stop"})).await;
    recorder.until_type("agentExited").await;
    recorder.send(json!({"type": "remove", "id": "remove-1", "run": run, "sessionId": session})).await;
    recorder.until("removal", |line| line["id"] == "remove-1").await;
    let Recorder { client, said, .. } = recorder;
    assert_eq!(client.run, run);
    drop(client);
    said
}

/// The file of this version, if it is to be written.
fn write(world: &World, said: &[Line]) {
    let name = std::env::var("DESKBELL_RECORDING_NAME").unwrap_or(env!("CARGO_PKG_VERSION").to_owned());
    let home = world.root().display().to_string();
    let mut text = String::new();
    for line in said {
        let value = match line {
            Line::Client(value) => json!({"client": value}),
            Line::Server(value) => json!({"server": value}),
        };
        text += &value.to_string().replace(&home, "/home/user");
        text.push('\n');
    }
    std::fs::create_dir_all(folder()).unwrap();
    std::fs::write(folder().join(format!("{name}.ndjson")), text).unwrap();
}

/// The fields of the objects in some lines, by the place of the object; each place with the number of its objects.
#[derive(Debug, Default)]
struct Shapes(BTreeMap<String, (usize, BTreeMap<String, Field>)>);

#[derive(Debug, Default)]
struct Field {
    n: usize,
    types: BTreeSet<&'static str>,
}

impl Shapes {
    fn of<'a>(lines: impl Iterator<Item = &'a Value>) -> Self {
        let mut shapes = Self::default();
        lines.for_each(|line| shapes.add("", line));
        shapes
    }

    fn add(&mut self, place: &str, value: &Value) {
        match value {
            Value::Array(values) => values.iter().for_each(|value| self.add(&format!("{place}[]"), value)),
            Value::Object(fields) => {
                let tag = value["type"].as_str().map(|tag| format!("<{tag}>")).unwrap_or_default();
                let place = format!("{place}{tag}");
                let (n, known) = self.0.entry(place.clone()).or_default();
                *n += 1;
                for (name, value) in fields {
                    let field = known.entry(name.clone()).or_default();
                    field.n += 1;
                    field.types.insert(type_of(value));
                }
                // The content of these is the agent's, and not of the protocol.
                let own =
                    |(name, _): &(&String, &Value)| !matches!(name.as_str(), "answer" | "input" | "raw");
                for (name, value) in fields.iter().filter(own) {
                    self.add(&format!("{place}.{name}"), value);
                }
            }
            _ => {}
        }
    }

    /// What an old client misses in what a new server says: a field that was always there, or one of another type.
    fn misses(&self, new: &Self) -> Vec<String> {
        let mut missing = Vec::new();
        for (place, (n, fields)) in &self.0 {
            let Some((n_new, new_fields)) = new.0.get(place) else { continue };
            for (name, field) in fields {
                let found = new_fields.get(name);
                let is_there = found.map_or(0, |field| field.n) == *n_new;
                if field.n == *n && !is_there {
                    missing.push(format!("{place}.{name} is missing"));
                }
                // Nothing is an answer, too: no process runs.
                let found = found.filter(|_| name != "answer");
                let types = found.map(|field| &field.types).into_iter().flatten();
                let others: Vec<_> = types
                    .filter(|one| !field.types.contains(*one) && !field.types.contains("null"))
                    .collect();
                if !others.is_empty() {
                    missing.push(format!("{place}.{name} is {others:?}, and was {:?}", field.types));
                }
            }
        }
        missing
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Lines that a recorded client waits for before its next one.
fn is_awaited(line: &Value) -> bool {
    matches!(
        line["type"].as_str(),
        Some(
            "attached"
                | "snapshot"
                | "accepted"
                | "refused"
                | "answer"
                | "pong"
                | "sessions"
                | "problem"
                | "permissionRequested"
                | "turnStarted"
                | "turnEnded"
                | "agentExited"
        )
    )
}

/// What the recorded client said, with the names that today's server has for the session and its requests.
struct Names(Vec<(String, String)>);

impl Names {
    fn learn(&mut self, old: &Value, new: &Value) {
        for path in ["/sessionId", "/request/id", "/request/shown"] {
            if let (Some(Value::String(old)), Some(Value::String(new))) =
                (old.pointer(path), new.pointer(path))
                && !old.is_empty()
            {
                self.0.insert(0, (old.clone(), new.clone()));
            }
        }
    }

    fn put(&self, line: &Value) -> Value {
        let name = |text: &String| {
            let known = self.0.iter().find(|(old, _)| old == text);
            json!(known.map_or(text, |(_, new)| new))
        };
        match line {
            Value::String(text) => name(text),
            Value::Array(values) => values.iter().map(|value| self.put(value)).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(name, value)| (name.clone(), self.put(value))).collect()
            }
            other => other.clone(),
        }
    }
}

/// Says to today's server what the recorded client said; returns what the server says.
async fn replay(world: &World, name: &str, recorded: &[Line]) -> Vec<Value> {
    let mut client = world.attach().await;
    let (hello, run) = (client.hello.clone(), client.run.clone());
    let old_run = recorded[0].server().expect("hello")["run"].as_str().unwrap().to_owned();
    let mut names = Names(vec![(old_run, run), ("/home/user/project".to_owned(), world.project())]);
    let salt = uuid::Uuid::new_v4();
    let mut said = vec![hello];
    // The server may say things in another order.
    let mut waiting = Vec::<Value>::new();
    for line in &recorded[1..] {
        match line {
            Line::Client(request) => {
                let mut request = names.put(request);
                // An id counts once in a run of the server.
                if let Some(id) = request["id"].as_str() {
                    request["id"] = json!(format!("{id}.{salt}"));
                }
                client.send(request).await;
            }
            Line::Server(old) if is_awaited(old) => {
                let id = old["id"].as_str().map(|id| format!("{id}.{salt}"));
                let is_it = |new: &Value| {
                    new["type"] == old["type"]
                        && new["id"].as_str() == id.as_deref()
                        && new["nr"] == old["nr"]
                };
                let new = match waiting.iter().position(is_it) {
                    Some(at) => waiting.remove(at),
                    None => loop {
                        let line = timeout(DEADLINE, client.next()).await;
                        let new = line.unwrap_or_else(|_| panic!("{name}: no {old}, but {waiting:#?}"));
                        said.push(new.clone());
                        if is_it(&new) {
                            break new;
                        }
                        waiting.extend(is_awaited(&new).then_some(new));
                    },
                };
                names.learn(old, &new);
            }
            Line::Server(_) => {}
        }
    }
    said
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_each_earlier_version_works_with_this_server() {
    let Some(world) = World::new() else { return };
    let said = live(&world).await;
    if std::env::var_os("UPDATE_RECORDINGS").is_some() {
        write(&world, &said);
    }
    for (name, recorded) in recordings().iter().filter(|(name, _)| has_clients(name)) {
        let new = replay(&world, name, recorded).await;
        let old = Shapes::of(recorded.iter().filter_map(Line::server));
        // What is not in each run of the session is compared where it is there.
        let missing = old.misses(&Shapes::of(new.iter()));
        assert!(missing.is_empty(), "a client of {name} cannot read this server:\n{}", missing.join("\n"));
        assert!(old.0.len() > 40, "{name} has {} kinds of objects", old.0.len());
    }
    let client = world.attach().await;
    world.end(client).await;
}

/// A server that says these lines. What it sent about a session before somebody follows that would be lost, so it waits
/// after its greeting. `gate` is a further pause.
fn server_of(lines: Vec<Value>, gate: Option<(usize, Pause)>) -> Dial {
    let pauses = [(1, Pause::Until("attach"))].into_iter().chain(gate).collect();
    scripted::server(lines.iter().map(|line| line.to_string().into_bytes()).collect(), pauses).0
}

/// A line for each item: its kind and its text.
fn conversation(items: &[Item]) -> String {
    let line = |item: &Item| {
        let body = serde_json::to_value(&item.body).unwrap();
        let text = body["text"].as_str().map_or_else(|| text_of(&body), str::to_owned);
        let text = if text.is_empty() { body["words"].to_string() } else { text };
        format!("{}: {}\n", body["type"].as_str().unwrap_or_default(), text.trim().replace('\n', "⏎"))
    };
    items.iter().map(line).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_each_earlier_version_works_with_this_client() {
    for (name, recorded) in recordings() {
        let lines: Vec<Value> = recorded.iter().filter_map(Line::server).cloned().collect();
        let is_event = |line: &&Value| line["seq"].is_u64() && line["type"] != "snapshot";
        let n_events = lines.iter().filter(is_event).count();
        let id = lines.iter().find(|line| line["type"] == "accepted").unwrap()["sessionId"].as_str().unwrap();
        // The removal would end the copy before it is looked at.
        let kept = lines.iter().filter(|line| line["type"] != "removed" && line["type"] != "problem");
        let kept: Vec<Value> = kept.cloned().collect();
        let n_first = 1 + kept.iter().position(|line| line["type"] == "snapshot").unwrap();
        let (has_subscribed, gate) = watch::channel(false);
        let link = ServerLink::open(server_of(kept, Some((n_first, Pause::Gate(gate)))));
        let session = SessionHandle::mirror(&link, SessionId::new(id), PathBuf::from("/there"));
        let (sender, mut events) = mpsc::channel(1_000);
        let subscribed = timeout(DEADLINE, session.subscribe(Subscriber::Every(sender))).await;
        let first = subscribed.expect("a snapshot").unwrap();
        has_subscribed.send_replace(true);
        assert_ne!(first.session.title, "Session of a newer Deskbell", "{name}");
        let mut n_received = 0;
        let mut n_stopped = 0;
        while n_stopped == 0 {
            let event =
                timeout(DEADLINE, events.recv()).await.expect("an event").expect("the session goes on");
            n_received += 1;
            match event.event {
                Event::CommandFailed { error } => panic!("{name}: {error:?}"),
                Event::AgentExited { .. } => n_stopped += 1,
                _ => {}
            }
        }
        assert!(n_received * 2 > n_events, "{name}: {n_received} of {n_events} events");
        let items = session.snapshot().await.unwrap().items;
        let unreadable = items.iter().filter(
            |item| matches!(&item.body, Body::Notice { text, .. } if text.contains("runs in a newer one")),
        );
        assert_eq!(unreadable.count(), 0, "{name}");
        let path = folder().join(format!("{name}.txt"));
        let shown = conversation(&items);
        if std::env::var_os("UPDATE_EXPECTATIONS").is_some() {
            std::fs::write(&path, &shown).unwrap();
        }
        assert_eq!(shown, std::fs::read_to_string(&path).unwrap(), "{name}");
        // What it does not know is refused in words, and nothing is sent.
        if lines[0]["questions"].is_null() {
            let error =
                session.mirrored().unwrap().query(FilesQuery { query: "main".to_owned() }).await.unwrap_err();
            assert!(error.message.contains("older Deskbell"), "{name}: {error}");
        }
        let counts =
            lines[0]["questions"].as_array().is_some_and(|known| known.contains(&json!("processes")));
        if !counts {
            let error = session.mirrored().unwrap().query(ProcessesQuery {}).await.unwrap_err();
            assert!(error.message.contains("older Deskbell"), "{name}: {error}");
        }
    }
}

fn server_of_this_version() -> Vec<Value> {
    let recorded = read(&folder().join(format!("{}.ndjson", env!("CARGO_PKG_VERSION"))));
    recorded.iter().filter_map(Line::server).cloned().collect()
}

#[test]
fn a_field_that_is_missing_or_of_another_type_is_found() {
    let old = [json!({"type": "a", "one": 1, "two": [{"x": 1}]}), json!({"type": "b", "one": null})];
    let missed = |new: &[Value]| Shapes::of(old.iter()).misses(&Shapes::of(new.iter()));
    assert_eq!(missed(&old), [""; 0]);
    assert_eq!(
        missed(&[json!({"type": "a", "one": 2, "two": [], "three": 3}), json!({"type": "c"})]),
        [""; 0]
    );
    assert_eq!(missed(&[json!({"type": "b", "one": "now and then"})]), [""; 0]);
    assert_eq!(missed(&[old[0].clone(), json!({"type": "a", "two": []})]), ["<a>.one is missing"]);
    assert_eq!(missed(&[json!({"type": "a", "one": 1, "two": [{"y": 1}]})]), ["<a>.two[].x is missing"]);
    assert_eq!(
        missed(&[json!({"type": "a", "one": "1", "two": []})]),
        [r#"<a>.one is ["string"], and was {"number"}"#]
    );
}

/// What a server of a later version says: fields, items, events and replies that this client does not know.
#[tokio::test(flavor = "multi_thread")]
async fn a_later_server_is_shown_as_far_as_it_can_be_read_and_the_window_says_what_is_missing() {
    let recorded = server_of_this_version();
    let id = recorded.iter().find(|line| line["type"] == "accepted").unwrap()["sessionId"].clone();
    let of = |kind: &str| recorded.iter().find(|line| line["type"] == kind).unwrap().clone();
    let (mut hello, mut snapshot, mut changed) = (of("hello"), of("snapshot"), of("sessionChanged"));
    hello["questions"].as_array_mut().unwrap().push(json!("weather"));
    hello["mood"] = json!({"new": [1]});
    snapshot["snapshot"]["mood"] = json!(true);
    snapshot["snapshot"]["seq"] = json!(1);
    changed["session"]["title"] = json!("Renamed");
    changed["session"]["mood"] = json!(["new"]);
    changed["seq"] = json!(5);
    let item = json!({"id": "x", "parent": null, "row": 0, "nr": 0, "at": 1, "body": {"type": "hologram"}});
    let lines = vec![
        hello,
        json!({"type": "attached", "sessionId": id, "after": null, "mood": 1}),
        snapshot,
        json!({"type": "weather", "rain": true}),
        json!({"type": "itemAdded", "sessionId": id, "seq": 2, "at": 1, "item": item}),
        json!({"type": "hologramShown", "sessionId": id, "seq": 3, "at": 1}),
        json!({"type": "hologramShown", "sessionId": id, "seq": 4, "at": 1}),
        changed,
    ];
    // What is sent before somebody subscribes is in the first snapshot, not in an event.
    let (has_subscribed, gate) = watch::channel(false);
    let link = ServerLink::open(server_of(lines, Some((3, Pause::Gate(gate)))));
    let id = SessionId::new(id.as_str().unwrap());
    let session = SessionHandle::mirror(&link, id, PathBuf::from("/there"));
    let (sender, mut events) = mpsc::channel(100);
    let subscribed = timeout(DEADLINE, session.subscribe(Subscriber::Every(sender))).await;
    subscribed.expect("a snapshot").unwrap();
    has_subscribed.send_replace(true);
    let (mut said, mut title) = (Vec::new(), String::new());
    while title != "Renamed" {
        match timeout(DEADLINE, events.recv()).await.expect("an event").expect("it goes on").event {
            Event::CommandFailed { error } => said.push(error.message),
            Event::SessionChanged { session } => title = session.title.unwrap_or(title),
            _ => {}
        }
    }
    let [said] = &said[..] else { panic!("it is said once: {said:?}") };
    assert!(said.contains("cannot read") && said.contains("Update Deskbell"), "{said}");
    let items = session.snapshot().await.unwrap().items;
    assert_eq!(
        conversation(&items[..1]).split(',').next(),
        Some("notice: This version of Deskbell cannot show what is here")
    );
    assert_eq!(link.state(), SessionLink::Connected);
}

/// A session whose whole state is unreadable is there, and says so.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_cannot_be_read_is_shown_as_one_of_a_newer_version() {
    let mut lines = server_of_this_version();
    lines
        .retain(|line| matches!(line["type"].as_str(), Some("hello" | "accepted" | "attached" | "snapshot")));
    let id = SessionId::new(lines[1]["sessionId"].as_str().unwrap());
    for line in &mut lines {
        if line["type"] == "snapshot" {
            line["snapshot"]["session"]["status"] = json!({"type": "dreaming"});
        }
    }
    let link = ServerLink::open(server_of(lines, None));
    let session = SessionHandle::mirror(&link, id, PathBuf::from("/there"));
    let snapshot = timeout(DEADLINE, session.snapshot()).await.expect("a snapshot").unwrap();
    assert_eq!(snapshot.session.title, "Session of a newer Deskbell");
    assert!(!snapshot.session.is_empty, "another prompt would go into it");
    assert!(conversation(&snapshot.items).contains("Update Deskbell on this computer"));
}
