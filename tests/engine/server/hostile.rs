//! A hostile server: 100 made-up greetings and streams of events. At most text is shown: the client says nothing to the
//! server that was not asked of it, stays with the session that it asked for, and ends in time.

use deskbell_engine::api::*;
use deskbell_engine::permission::DialogRequest;
use deskbell_engine::remote::{Dial, ServerLink};
use deskbell_engine::session::{SessionHandle, Subscriber};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::time::timeout;

const N_STREAMS: u64 = 100;
const SESSION: &str = "0c0f2a5e-5d2b-4e8e-9a6b-0123456789ab";

/// A small generator of numbers; the seed of a failure is in its message.
struct Random(u64);

impl Random {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % below
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.next(all.len() as u64) as usize]
    }
}

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

fn text(random: &mut Random) -> String {
    let text = (*random.of(TEXTS)).to_owned();
    match random.next(8) {
        0 => text.repeat(2_000),
        1 => format!("{text}{}", "\u{200b}".repeat(500)),
        _ => text,
    }
}

/// Any value: also of a kind that the place does not have.
fn value(random: &mut Random, depth: u32) -> Value {
    match random.next(if depth == 0 { 6 } else { 8 }) {
        0 => json!(text(random)),
        1 => json!(random.next(u64::MAX)),
        2 => json!(-1),
        3 => Value::Null,
        4 => json!(random.next(2) == 0),
        5 => json!(1e300),
        6 => (0..random.next(4)).map(|_| value(random, depth - 1)).collect(),
        _ => (0..random.next(4)).map(|_| (text(random), value(random, depth - 1))).collect(),
    }
}

/// Changes a value somewhere inside.
fn spoil(random: &mut Random, value_to: &mut Value) {
    match value_to {
        Value::Object(fields) if !fields.is_empty() && random.next(8) > 0 => {
            let at = random.next(fields.len() as u64) as usize;
            let name = fields.keys().nth(at).cloned().unwrap_or_default();
            match random.next(12) {
                0 => drop(fields.remove(&name)),
                1 => drop(fields.insert(text(random), value(random, 2))),
                _ => spoil(random, &mut fields[&name]),
            }
        }
        Value::Array(values) if !values.is_empty() && random.next(4) > 0 => {
            let at = random.next(values.len() as u64) as usize;
            spoil(random, &mut values[at]);
        }
        Value::String(_) if random.next(4) > 0 => *value_to = json!(text(random)),
        other => *other = value(random, 2),
    }
}

fn request(random: &mut Random, id: &str) -> Value {
    json!({
        "id": id, "tool": text(random), "serverTool": text(random), "question": text(random),
        "subject": text(random), "input": value(random, 2), "inputText": text(random), "shown": text(random),
        "hasMore": false, "host": text(random), "notices": [], "plain": text(random),
        "kind": {"type": "command"}, "diff": null, "suggestions": [], "itemId": null, "reason": text(random),
        "unreported": text(random), "askedAt": 0,
        "subagent": {"agentId": "a", "description": text(random), "itemId": null, "words": text(random)}
    })
}

/// The lines of one server: a greeting, and then what may come in any order.
fn stream(random: &mut Random, snapshot: &Value, session: &str) -> Vec<Vec<u8>> {
    let mut hello = json!({
        "type": "hello", "protocol": 1, "version": "9.9.9", "host": text(random), "bootId": null, "run": "r",
        "pid": 1, "sessions": [], "questions": [text(random)]
    });
    if random.next(4) == 0 {
        spoil(random, &mut hello);
    }
    let mut first = json!({"type": "snapshot", "sessionId": session, "snapshot": snapshot});
    first["snapshot"]["session"]["title"] = json!(text(random));
    first["snapshot"]["session"]["id"] = json!(text(random));
    first["snapshot"]["session"]["link"] = json!({"type": "here"});
    if random.next(3) == 0 {
        spoil(random, &mut first["snapshot"]);
    }
    let attached = json!({"type": "attached", "sessionId": session, "after": null});
    let mut lines = vec![hello, attached, first];
    let seq = snapshot["seq"].as_u64().unwrap_or_default();
    for nr in 1..=40 {
        let mut event = match random.next(8) {
            0 => json!({"type": "permissionRequested", "request": request(random, &format!("q{nr}"))}),
            1 => {
                json!({"type": "itemAdded", "item": {"id": text(random), "parent": null, "row": 0, "nr": 0, "depth": 0,
                "at": 0, "slice": null, "body": {"type": "text", "streaming": false, "blocks": [{"type": "paragraph",
                "spans": [{"type": "link", "url": text(random), "host": text(random),
                "spans": [{"type": "text", "text": text(random)}]}]}]}}})
            }
            2 => {
                json!({"type": "commandFailed", "error": {"code": "internal", "message": text(random), "detail": null}})
            }
            3 => json!({"type": "sessionChanged", "session": snapshot["session"]}),
            4 => json!({"type": "fileChanged", "file": {"path": text(random), "name": text(random)}}),
            5 => json!({"type": "answer", "nr": random.next(3), "answer": value(random, 3)}),
            6 => json!({"type": "accepted", "id": text(random), "sessionId": text(random)}),
            _ => value(random, 3),
        };
        if random.next(2) == 0 {
            spoil(random, &mut event);
        }
        if let Some(fields) = event.as_object_mut() {
            fields.entry("sessionId").or_insert(json!(if random.next(6) == 0 { "another" } else { session }));
            fields.entry("seq").or_insert(json!(seq + nr));
        }
        lines.push(event);
    }
    let mut lines: Vec<Vec<u8>> = lines.iter().map(|line| line.to_string().into_bytes()).collect();
    if random.next(4) == 0 {
        let at = random.next(lines.len() as u64) as usize;
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

/// A server that says these lines at every connection, and what it hears.
fn server(lines: Vec<Vec<u8>>) -> (Dial, Arc<Mutex<Vec<Value>>>) {
    let heard = Arc::<Mutex<Vec<Value>>>::default();
    let hears = heard.clone();
    let dial: Dial = Arc::new(move || {
        let (near, far) = tokio::io::duplex(64 << 10);
        let (lines, hears) = (lines.clone(), hears.clone());
        let (reader, mut writer) = tokio::io::split(far);
        tokio::spawn(async move {
            for line in lines {
                // The client may have given the connection up.
                if writer.write_all(&[line.as_slice(), b"\n"].concat()).await.is_err() {
                    return;
                }
            }
            std::future::pending::<()>().await
        });
        tokio::spawn(async move {
            let mut reader = BufReader::new(reader).lines();
            while let Ok(Some(line)) = reader.next_line().await {
                hears.lock().unwrap().push(serde_json::from_str(&line).expect("the client writes JSON"));
            }
        });
        let (reader, writer) = tokio::io::split(near);
        Box::pin(async move { Ok((Box::new(reader) as _, Box::new(writer) as _)) })
    });
    (dial, heard)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_server_shows_text_and_nothing_else() {
    let seed = std::env::var("DESKBELL_HOSTILE_SEED").ok().and_then(|seed| seed.parse().ok());
    let first = seed.unwrap_or(1);
    eprintln!("seeds {first} to {}", first + N_STREAMS - 1);
    let snapshot = serde_json::to_value(snapshot()).unwrap();
    let (mut n_shown, mut n_dialogs) = (0, 0);
    for seed in first..first + N_STREAMS {
        let mut random = Random(seed);
        let (dial, heard) = server(stream(&mut random, &snapshot, SESSION));
        let link = ServerLink::open(dial);
        let session = SessionHandle::mirror(&link, SessionId::new(SESSION), PathBuf::from("/there"));
        let (sender, mut events) = mpsc::channel(1_000);
        let followed = async {
            let snapshot = session.subscribe(Subscriber::Every(sender)).await.ok()?;
            assert_eq!(snapshot.session.id.as_str(), SESSION, "seed {seed}");
            assert_ne!(
                snapshot.session.link,
                SessionLink::Here,
                "seed {seed}: it would be a session of this computer"
            );
            // Some arrive; a spoiled one may be left out.
            while let Ok(Some(envelope)) = timeout(Duration::from_millis(20), events.recv()).await {
                assert_eq!(envelope.session_id.as_str(), SESSION, "seed {seed}");
                n_shown += 1;
                match envelope.event {
                    Event::SessionChanged { session } => {
                        assert_eq!(
                            (session.id.as_str(), session.link != SessionLink::Here),
                            (SESSION, true),
                            "seed {seed}"
                        );
                    }
                    Event::PermissionRequested { request } => {
                        let Some(dialog) = DialogRequest::of("app", &snapshot.session, *request) else {
                            continue;
                        };
                        n_dialogs += 1;
                        let shown = [
                            Some(dialog.tool),
                            Some(dialog.question),
                            dialog.asked_by,
                            dialog.unreported,
                            dialog.subject,
                            Some(dialog.session_title),
                        ];
                        for text in shown.into_iter().flatten() {
                            let is_plain = |c: char| {
                                !c.is_control()
                                    && !matches!(c, '\u{200b}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
                            };
                            assert!(text.chars().all(|c| is_plain(c) || c == '\n'), "seed {seed}: {text:?}");
                        }
                    }
                    _ => {}
                }
            }
            Some(())
        };
        // A stream whose first snapshot is spoiled shows nothing.
        drop(timeout(Duration::from_millis(300), followed).await);
        for line in heard.lock().unwrap().iter() {
            let kind = line["type"].as_str().unwrap_or_default();
            assert!(
                matches!(kind, "attach" | "ack" | "ping" | "detach"),
                "seed {seed}: the client said {line}"
            );
            assert!(line["sessionId"].is_null() || line["sessionId"] == SESSION, "seed {seed}: {line}");
        }
    }
    // On a busy machine fewer arrive in time.
    assert!(n_shown > 100 && n_dialogs > 20, "the streams do nothing: {n_shown} events, {n_dialogs} dialogs");
}
