//! A hostile server: 100 made-up greetings and streams of events, and those of `tests/hostile/servers`, which are kept. At
//! most text is shown: the client says nothing to the server that was not asked of it, stays with the session that it asked
//! for, and ends in time.

use super::scripted::{self, Pause};
use deskbell_engine::api::*;
use deskbell_engine::permission::DialogRequest;
use deskbell_engine::remote::ServerLink;
use deskbell_engine::session::{SessionHandle, Subscriber};
use deskbell_tests::chance::Chance;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

const N_STREAMS: u64 = 100;
const SESSION: &str = "0c0f2a5e-5d2b-4e8e-9a6b-0123456789ab";

/// Texts that a terminal, a file manager, a browser or a reader could take for something else.
const TEXTS: &[&str] = &[
    "\u{1b}[2J\u{1b}]8;;file:///etc/passwd\u{7}click\u{1b}]8;;\u{7}",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "\u{202e}txt.exe\u{2066}",
    "/etc/passwd",
    "../../../../home",
    "<script>alert(1)</script><img src=file:///etc/passwd>",
    "Allow Deskbell to control this computer?",
    "\0\0\0",
    "",
    "null",
    "-oProxyCommand=touch /tmp/x",
];

fn text(chance: &mut Chance) -> String {
    let text = (*chance.pick(TEXTS)).to_owned();
    match chance.below(8) {
        0 => text.repeat(2_000),
        1 => format!("{text}{}", "\u{200b}".repeat(500)),
        _ => text,
    }
}

/// Any value: also of a kind that the place does not have.
fn value(chance: &mut Chance, depth: u32) -> Value {
    match chance.below(if depth == 0 { 6 } else { 8 }) {
        0 => json!(text(chance)),
        1 => json!(chance.below(usize::MAX)),
        2 => json!(-1),
        3 => Value::Null,
        4 => json!(chance.below(2) == 0),
        5 => json!(1e300),
        6 => (0..chance.below(4)).map(|_| value(chance, depth - 1)).collect(),
        _ => (0..chance.below(4)).map(|_| (text(chance), value(chance, depth - 1))).collect(),
    }
}

/// Changes a value somewhere inside.
fn spoil(chance: &mut Chance, value_to: &mut Value) {
    match value_to {
        Value::Object(fields) if !fields.is_empty() && chance.below(8) > 0 => {
            let at = chance.below(fields.len());
            let name = fields.keys().nth(at).cloned().unwrap_or_default();
            match chance.below(12) {
                0 => drop(fields.remove(&name)),
                1 => drop(fields.insert(text(chance), value(chance, 2))),
                _ => spoil(chance, &mut fields[&name]),
            }
        }
        Value::Array(values) if !values.is_empty() && chance.below(4) > 0 => {
            let at = chance.below(values.len());
            spoil(chance, &mut values[at]);
        }
        Value::String(_) if chance.below(4) > 0 => *value_to = json!(text(chance)),
        other => *other = value(chance, 2),
    }
}

fn request(chance: &mut Chance, id: &str) -> Value {
    json!({
        "id": id, "tool": text(chance), "serverTool": text(chance), "question": text(chance),
        "subject": text(chance), "input": value(chance, 2), "inputText": text(chance), "shown": text(chance),
        "hasMore": false, "host": text(chance), "notices": [], "plain": text(chance),
        "kind": {"type": "command"}, "diff": null, "suggestions": [], "itemId": null, "reason": text(chance),
        "unreported": text(chance), "askedAt": 0,
        "subagent": {"agentId": "a", "description": text(chance), "itemId": null, "words": text(chance)}
    })
}

/// The lines of one server: a greeting, and then what may come in any order.
fn stream(chance: &mut Chance, snapshot: &Value, session: &str) -> Vec<Vec<u8>> {
    let mut hello = json!({
        "type": "hello", "protocol": 1, "version": "9.9.9", "host": text(chance), "bootId": null, "run": "r",
        "pid": 1, "sessions": [], "questions": [text(chance)]
    });
    if chance.below(4) == 0 {
        spoil(chance, &mut hello);
    }
    let mut first = json!({"type": "snapshot", "sessionId": session, "snapshot": snapshot});
    first["snapshot"]["session"]["title"] = json!(text(chance));
    first["snapshot"]["session"]["id"] = json!(text(chance));
    first["snapshot"]["session"]["link"] = json!({"type": "here"});
    if chance.below(3) == 0 {
        spoil(chance, &mut first["snapshot"]);
    }
    let attached = json!({"type": "attached", "sessionId": session, "after": null});
    let mut lines = vec![hello, attached, first];
    let seq = snapshot["seq"].as_u64().unwrap_or_default();
    for nr in 1..=40 {
        let mut event = match chance.below(8) {
            0 => json!({"type": "permissionRequested", "request": request(chance, &format!("q{nr}"))}),
            1 => {
                json!({"type": "itemAdded", "item": {"id": text(chance), "parent": null, "row": 0, "nr": 0, "depth": 0,
                "at": 0, "slice": null, "body": {"type": "text", "streaming": false, "blocks": [{"type": "paragraph",
                "spans": [{"type": "link", "url": text(chance), "host": text(chance),
                "spans": [{"type": "text", "text": text(chance)}]}]}]}}})
            }
            2 => {
                json!({"type": "commandFailed", "error": {"code": "internal", "message": text(chance), "detail": null}})
            }
            3 => json!({"type": "sessionChanged", "session": snapshot["session"]}),
            4 => json!({"type": "fileChanged", "file": {"path": text(chance), "name": text(chance)}}),
            5 => json!({"type": "answer", "nr": chance.below(3), "answer": value(chance, 3)}),
            6 => json!({"type": "accepted", "id": text(chance), "sessionId": text(chance)}),
            _ => value(chance, 3),
        };
        if chance.below(2) == 0 {
            spoil(chance, &mut event);
        }
        if let Some(fields) = event.as_object_mut() {
            fields.entry("sessionId").or_insert(json!(if chance.below(6) == 0 {
                "another"
            } else {
                session
            }));
            fields.entry("seq").or_insert(json!(seq + nr));
        }
        lines.push(event);
    }
    let mut lines: Vec<Vec<u8>> = lines.iter().map(|line| line.to_string().into_bytes()).collect();
    if chance.below(4) == 0 {
        let at = chance.below(lines.len());
        lines.insert(at, vec![0xff, 0, b'{', 0xc3]);
    }
    lines
}

/// What a server says first of an empty session.
fn snapshot() -> Snapshot {
    let (project, agent_name) = ("/there".to_owned(), "Demo agent".to_owned());
    let session = Session::new(SessionId::new(SESSION), project, AgentKind::Demo, agent_name);
    Snapshot {
        seq: 7,
        last_event_at: 0,
        session,
        rows: RowRange::default(),
        is_partial: false,
        items: Vec::new(),
        files: Vec::new(),
        tasks: Vec::new(),
        prompts: Vec::new(),
    }
}

/// How much of a stream was shown.
struct Shown {
    n_events: usize,
    n_dialogs: usize,
    /// The session is there, with what could be read of it.
    is_there: bool,
}

/// A stream that said nothing for so long is over. All streams run at the same time.
const SILENCE: Duration = Duration::from_secs(2);

/// Follows a stream to its end, and checks everything that it shows and everything that the client says.
async fn follow(name: String, lines: Vec<Vec<u8>>) -> Shown {
    // What comes before the subscription is in the snapshot that it returns, and is not counted: the server waits for it.
    let is_snapshot =
        |line: &Vec<u8>| serde_json::from_slice::<Value>(line).is_ok_and(|value| value["type"] == "snapshot");
    let (open, gate) = watch::channel(false);
    let pauses = lines.iter().position(is_snapshot).map(|at| (at + 1, Pause::Gate(gate)));
    let (dial, heard) = scripted::server(lines, pauses.into_iter().collect());
    let link = ServerLink::open(dial);
    let session = SessionHandle::mirror(&link, SessionId::new(SESSION), PathBuf::from("/there"));
    let (sender, mut events) = mpsc::channel(1_000);
    let mut shown = Shown { n_events: 0, n_dialogs: 0, is_there: false };
    // A stream whose first snapshot is spoiled shows nothing.
    let subscribed = timeout(SILENCE, session.subscribe(Subscriber::Every(sender))).await;
    open.send_replace(true);
    if let Ok(Ok(snapshot)) = subscribed {
        shown.is_there = true;
        assert_eq!(snapshot.session.id.as_str(), SESSION, "{name}");
        assert_ne!(
            snapshot.session.link,
            SessionLink::Here,
            "{name}: it would be a session of this computer"
        );
        // Some arrive; a spoiled one may be left out.
        while let Ok(Some(envelope)) = timeout(SILENCE, events.recv()).await {
            assert_eq!(envelope.session_id.as_str(), SESSION, "{name}");
            shown.n_events += 1;
            match envelope.event {
                Event::SessionChanged { session } => {
                    assert_ne!(session.link, Some(SessionLink::Here), "{name}");
                }
                Event::PermissionRequested { request, .. } => {
                    let Some(dialog) = DialogRequest::of("app", &snapshot.session, *request) else {
                        continue;
                    };
                    shown.n_dialogs += 1;
                    let texts = [
                        Some(dialog.tool),
                        Some(dialog.question),
                        dialog.asked_by,
                        dialog.unreported,
                        dialog.subject,
                        Some(dialog.session_title),
                    ];
                    for text in texts.into_iter().flatten() {
                        let is_plain = |c: char| {
                            !c.is_control()
                                && !matches!(c, '\u{200b}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
                        };
                        assert!(text.chars().all(|c| is_plain(c) || c == '\n'), "{name}: {text:?}");
                    }
                }
                _ => {}
            }
        }
    }
    for line in heard.lock().unwrap().iter() {
        let kind = line["type"].as_str().unwrap_or_default();
        assert!(matches!(kind, "attach" | "ack" | "ping" | "detach"), "{name}: the client said {line}");
        assert!(line["sessionId"].is_null() || line["sessionId"] == SESSION, "{name}: {line}");
    }
    shown
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_server_shows_text_and_nothing_else() {
    let seed = std::env::var("DESKBELL_HOSTILE_SEED").ok().and_then(|seed| seed.parse().ok());
    let first = seed.unwrap_or(1);
    eprintln!("seeds {first} to {}", first + N_STREAMS - 1);
    let snapshot = serde_json::to_value(snapshot()).unwrap();
    let streams: JoinSet<Shown> = (first..first + N_STREAMS)
        .map(|seed| follow(format!("seed {seed}"), stream(&mut Chance(seed), &snapshot, SESSION)))
        .collect();
    let all = streams.join_all().await;
    let n_shown: usize = all.iter().map(|shown| shown.n_events).sum();
    let n_dialogs: usize = all.iter().map(|shown| shown.n_dialogs).sum();
    println!("{n_shown} events, {n_dialogs} dialogs");
    assert!(n_shown > 500 && n_dialogs > 20, "the streams do nothing: {n_shown} events, {n_dialogs} dialogs");
}

/// Puts the fields of `with` into a value, at every depth.
fn merge(value: &mut Value, with: Value) {
    match (value, with) {
        (Value::Object(fields), Value::Object(with)) => {
            with.into_iter().for_each(|(name, with)| merge(&mut fields[&name], with));
        }
        (value, with) => *value = with,
    }
}

/// The lines of a kept stream. A snapshot has only what differs from a good one, and `$session` stands for a session.
fn kept(path: &Path, snapshot: &Value) -> Vec<Vec<u8>> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let about: Value = serde_json::from_str(lines.next().unwrap()).unwrap();
    assert!(about["about"].is_string(), "{path:?} does not say what it tries");
    let line = |line: &str| {
        // Some are no JSON.
        let Ok(mut value) = serde_json::from_str::<Value>(line) else { return line.as_bytes().to_owned() };
        let has_good = value["snapshot"].as_object().is_some_and(|fields| fields.contains_key("seq"));
        if has_good {
            let mut whole = snapshot.clone();
            merge(&mut whole, value["snapshot"].take());
            value["snapshot"] = whole;
        } else if value["session"] == "$session" {
            value["session"] = snapshot["session"].clone();
        } else {
            // As it is: a parser does not keep a field that is there twice.
            return line.as_bytes().to_owned();
        }
        value.to_string().into_bytes()
    };
    lines.map(line).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn kept_hostile_servers_show_text_and_nothing_else() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("hostile/servers");
    let snapshot = serde_json::to_value(snapshot()).unwrap();
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let streams =
        paths.iter().map(|path| (path.file_stem().unwrap().to_string_lossy(), kept(path, &snapshot)));
    let all: JoinSet<(String, Shown)> = streams
        .map(|(name, lines)| {
            let name = name.into_owned();
            async move { (name.clone(), follow(name, lines).await) }
        })
        .collect();
    let mut all = all.join_all().await;
    all.sort_by(|one, other| one.0.cmp(&other.0));
    for (name, shown) in &all {
        println!("{name}: {} events, {} dialogs", shown.n_events, shown.n_dialogs);
        assert!(shown.is_there, "{name} is not played to its end");
    }
    assert!(all.len() >= 7 && all.iter().any(|(_, shown)| shown.n_dialogs > 2), "the streams do nothing");
}
