//! The server's decisions, one by one.

use super::*;
use crate::requests::MAX_IDS;
use deskbell_api::{AgentKind, Status};
use serde_json::{Value, json};

const LEAVE_AFTER: u64 = 1_000;
const ONE: ClientId = ClientId(1);
const TWO: ClientId = ClientId(2);

fn hub() -> Hub {
    let identity =
        Identity { version: "0.2.0".into(), host: "host".into(), boot_id: None, run: "run".into(), pid: 7 };
    let mut hub = Hub::new(identity, LEAVE_AFTER, 0);
    hub.step(0, Input::SessionOpened(summary_of("s", Status::Idle)));
    hub
}

fn summary_of(id: &str, status: Status) -> SessionSummary {
    SessionSummary {
        id: SessionId::new(id),
        title: "title".into(),
        project: "/p".into(),
        agent: AgentKind::Demo,
        status,
        alive: false,
        pid: None,
        n_requests: 0,
        n_queued: 0,
        n_held: 0,
        n_background: 0,
        n_scheduled: 0,
        cost_usd: 0.0,
        changed_at: 0,
        seq: 0,
    }
}

fn working() -> Status {
    Status::Working { activity: "Thinking".into() }
}

fn event(hub: &mut Hub, seq: u64, bytes: usize, summary: Option<SessionSummary>) -> Vec<Effect> {
    let text = json!({"seq": seq, "sessionId": "s", "type": "e", "pad": "x".repeat(bytes)});
    hub.step(0, Input::Event { session_id: SessionId::new("s"), seq, line: line(&text), summary })
}

fn request(hub: &mut Hub, client: ClientId, request: Value) -> Vec<Effect> {
    hub.step(0, Input::Request(client, serde_json::from_value(request).unwrap()))
}

/// Everything that a client receives now.
fn received(hub: &mut Hub, client: ClientId) -> (Vec<Value>, Vec<Effect>) {
    let (mut values, mut effects) = (Vec::new(), Vec::new());
    loop {
        let (lines, more) = hub.take(client, 64 << 10);
        effects.extend(more);
        if lines.is_empty() {
            return (values, effects);
        }
        values.extend(lines.iter().map(|line| serde_json::from_slice::<Value>(line).unwrap()));
    }
}

fn seqs(values: &[Value]) -> Vec<u64> {
    values.iter().filter(|value| value["type"] == "e").filter_map(|value| value["seq"].as_u64()).collect()
}

fn connect(hub: &mut Hub, client: ClientId) {
    hub.step(0, Input::Connected(client));
    let (values, _) = received(hub, client);
    assert_eq!((values.len(), &values[0]["type"], &values[0]["protocol"]), (1, &json!("hello"), &json!(1)));
    assert_eq!((&values[0]["run"], &values[0]["sessions"][0]["id"]), (&json!("run"), &json!("s")));
}

fn stop(id: &str) -> Value {
    json!({"type": "command", "id": id, "sessionId": "s", "command": {"type": "stop"}})
}

#[test]
fn a_client_continues_after_its_last_event() {
    let mut hub = hub();
    connect(&mut hub, ONE);
    for seq in 1..=5 {
        event(&mut hub, seq, 10, None);
    }
    request(&mut hub, ONE, json!({"type": "attach", "sessionId": "s", "after": 2, "run": "run"}));
    let (values, effects) = received(&mut hub, ONE);
    assert_eq!(values[0], json!({"type": "attached", "sessionId": "s", "after": 2}));
    assert_eq!((seqs(&values), effects), (vec![3, 4, 5], vec![]));
    assert_eq!(event(&mut hub, 6, 10, None), [Effect::Wake(ONE)]);
    assert_eq!(seqs(&received(&mut hub, ONE).0), [6]);
}

#[test]
fn what_is_gone_or_of_another_run_becomes_a_snapshot() {
    for request_line in [
        json!({"type": "attach", "sessionId": "s"}),
        json!({"type": "attach", "sessionId": "s", "after": 1}),
        json!({"type": "attach", "sessionId": "s", "after": 1, "run": "earlier"}),
        json!({"type": "attach", "sessionId": "s", "after": 99, "run": "run"}),
    ] {
        let mut hub = hub();
        connect(&mut hub, ONE);
        (1..=5).for_each(|seq| drop(event(&mut hub, seq, 10, None)));
        request(&mut hub, ONE, request_line);
        let (values, effects) = received(&mut hub, ONE);
        assert_eq!(values, [json!({"type": "attached", "sessionId": "s", "after": null})]);
        let session_id = SessionId::new("s");
        assert_eq!(effects, [Effect::MakeSnapshot { client: ONE, session_id: session_id.clone() }]);
        // Another event comes before the snapshot is there; it must follow it.
        event(&mut hub, 6, 10, None);
        assert!(received(&mut hub, ONE).0.is_empty());
        let made = Some((5, line(&json!({"type": "snapshot", "sessionId": "s", "snapshot": {"seq": 5}}))));
        hub.step(0, Input::Snapshot { client: ONE, session_id, made });
        let (values, _) = received(&mut hub, ONE);
        assert_eq!((&values[0]["type"], seqs(&values)), (&json!("snapshot"), vec![6]));
    }
}

#[test]
fn a_client_that_reads_nothing_costs_bounded_memory_and_holds_up_no_other() {
    let mut hub = hub();
    connect(&mut hub, ONE);
    connect(&mut hub, TWO);
    for client in [ONE, TWO] {
        request(&mut hub, client, json!({"type": "attach", "sessionId": "s", "after": 0, "run": "run"}));
        received(&mut hub, client);
    }
    for seq in 1..=100 {
        event(&mut hub, seq, 1 << 20, None);
        assert_eq!(seqs(&received(&mut hub, TWO).0), [seq]);
    }
    assert!(hub.sessions[&SessionId::new("s")].events.bytes() <= LOG_BYTES);
    let (values, effects) = received(&mut hub, ONE);
    assert_eq!((seqs(&values), effects.len()), (vec![], 1), "only a snapshot helps it");
    // Requests without reading the answers end the connection.
    let mut n_sent = 0;
    while !request(&mut hub, TWO, json!({"type": "ping", "nr": 1})).contains(&Effect::Disconnect(TWO)) {
        n_sent += 1;
        assert!(n_sent < 100_000);
    }
    assert!(!hub.clients.contains_key(&TWO));
}

#[test]
fn a_command_counts_once_and_every_sender_gets_the_answer() {
    let mut hub = hub();
    connect(&mut hub, ONE);
    connect(&mut hub, TWO);
    let execute =
        |id: &str| Effect::Execute { id: id.into(), session_id: SessionId::new("s"), command: Command::Stop };
    assert_eq!(request(&mut hub, ONE, stop("a")), [execute("a")]);
    assert_eq!(request(&mut hub, ONE, stop("a")), []);
    assert_eq!(request(&mut hub, TWO, stop("a")), []);
    hub.step(0, Input::Executed { id: "a".into(), result: Ok(SessionId::new("s")) });
    let accepted = [json!({"type": "accepted", "id": "a", "sessionId": "s"})];
    assert_eq!(received(&mut hub, ONE).0, accepted);
    assert_eq!(received(&mut hub, TWO).0, accepted);
    request(&mut hub, TWO, stop("a"));
    assert_eq!(received(&mut hub, TWO).0, accepted);

    let refused = CommandError { code: ErrorCode::NoSuchRequest, message: "no".into(), detail: None };
    request(&mut hub, ONE, stop("b"));
    hub.step(0, Input::Executed { id: "b".into(), result: Err(refused) });
    let (values, _) = received(&mut hub, ONE);
    assert_eq!(
        (&values[0]["reason"], &values[0]["error"]["code"]),
        (&json!("command"), &json!("noSuchRequest"))
    );
}

#[test]
fn what_cannot_count_is_refused_with_its_reason() {
    let mut hub = hub();
    connect(&mut hub, ONE);
    let mut of_other_run = stop("a");
    of_other_run["run"] = json!("earlier");
    let mut of_other_session = stop("b");
    of_other_session["sessionId"] = json!("none");
    for (line, reason) in [(of_other_run, "restarted"), (of_other_session.clone(), "noSession")] {
        assert_eq!(request(&mut hub, ONE, line).len(), 1, "only a wake");
        assert_eq!(received(&mut hub, ONE).0[0]["reason"], reason);
    }
    // Nothing happened, so the same id may be sent again.
    assert_eq!(request(&mut hub, ONE, stop("b")).len(), 1);
    for nr in 0..MAX_PENDING {
        request(&mut hub, ONE, stop(&format!("pending {nr}")));
    }
    assert_eq!(received(&mut hub, ONE).0.last().unwrap()["reason"], "limit");
    assert!(hub.requests.n_pending() <= MAX_PENDING && MAX_PENDING < MAX_IDS);
    for id in ["", &"x".repeat(129)] {
        request(&mut hub, ONE, stop(id));
        assert_eq!(received(&mut hub, ONE).0[0]["type"], "problem");
    }
    request(&mut hub, ONE, json!({"type": "attach", "sessionId": "none"}));
    assert_eq!(received(&mut hub, ONE).0[0]["error"]["code"], "noSuchSession");
}

#[test]
fn a_request_of_a_newer_version_is_refused_and_the_link_stays() {
    let mut hub = hub();
    connect(&mut hub, ONE);
    for (sent, kind, named) in [
        (&br#"{"type":"summarize","id":"a","sessionId":"s"}"#[..], "refused", json!({"id": "a"})),
        (
            br#"{"type":"command","id":"b","sessionId":"s","command":{"type":"sing"}}"#,
            "refused",
            json!({"id": "b"}),
        ),
        (br#"{"type":"ask","nr":4,"question":{}}"#, "answer", json!({"nr": 4})),
        (br#"{"type":"command","id":7}"#, "problem", json!({})),
        (br#"{"type":"sing"}"#, "problem", json!({})),
        (b"garbage", "problem", json!({})),
    ] {
        let error = serde_json::from_slice::<Request>(sent).unwrap_err();
        let effects = hub.step(0, Input::unreadable(ONE, sent, &error.to_string()));
        assert_eq!(effects, [Effect::Wake(ONE)]);
        let reply = received(&mut hub, ONE).0.remove(0);
        assert_eq!(reply["type"], kind, "{reply}");
        assert!(named.as_object().unwrap().iter().all(|(name, value)| reply[name] == *value), "{reply}");
        // The names of all commands are long; the detail is cut.
        let detail = reply["error"]["detail"].as_str().unwrap();
        assert!(!detail.is_empty() && error.to_string().starts_with(detail), "{detail}");
    }
    let unread = Input::Unreadable { client: ONE, id: Some("x".repeat(129)), nr: None, detail: "d".into() };
    hub.step(0, unread);
    assert_eq!(received(&mut hub, ONE).0[0]["type"], "problem");
}

#[test]
fn clients_and_sessions_are_limited() {
    let mut hub = hub();
    for nr in 0..MAX_CLIENTS as u64 {
        assert_eq!(hub.step(0, Input::Connected(ClientId(nr))), [Effect::Wake(ClientId(nr))]);
    }
    let ping = |nr| Input::Request(ClientId(nr), Request::Ping { nr: 1 });
    (0..MAX_CLIENTS as u64).for_each(|nr| drop(hub.step(0, ping(nr))));
    assert_eq!(hub.step(0, Input::Connected(ClientId(99))), [Effect::Disconnect(ClientId(99))]);
    let open = |id: usize| json!({"type": "open", "id": format!("{id}"), "session": {"project": "/p"}});
    let mut n_opened = 0;
    for id in 0..MAX_SESSIONS {
        n_opened += usize::from(matches!(request(&mut hub, ONE, open(id))[..], [Effect::Open { .. }]));
        received(&mut hub, ONE);
    }
    assert_eq!(n_opened, MAX_SESSIONS - 1);
}

/// Connections of a program that says nothing, and of one that has stopped.
#[test]
fn idle_connections_keep_no_client_out() {
    let mut hub = hub();
    let all = MAX_CLIENTS as u64;
    (0..all).for_each(|nr| drop(hub.step(nr, Input::Connected(ClientId(nr)))));
    let ping = |nr| Input::Request(ClientId(nr), Request::Ping { nr: 1 });
    (0..all).filter(|nr| *nr != 7).for_each(|nr| drop(hub.step(100, ping(nr))));
    let (first, second) = (ClientId(100), ClientId(101));
    let room = |of, to| vec![Effect::Disconnect(ClientId(of)), Effect::Wake(to)];
    assert_eq!(hub.step(200, Input::Connected(first)), room(7, first), "it has sent nothing");
    hub.step(200, ping(100));
    assert_eq!(hub.step(300, Input::Connected(second)), [Effect::Disconnect(second)]);
    (1..all).chain([100]).for_each(|nr| drop(hub.step(10_000, ping(nr))));
    let later = 100 + MISSES_PINGS_MS;
    assert_eq!(hub.step(later, Input::Connected(second)), room(0, second), "it sends no pings");
}

/// Each status, and whether the server may leave.
#[test]
fn it_leaves_when_idle_and_never_while_something_runs_or_waits() {
    let idle = summary_of("s", Status::Idle);
    let with = |change: fn(&mut SessionSummary)| {
        let mut summary = idle.clone();
        change(&mut summary);
        summary
    };
    let table = [
        (idle.clone(), true),
        (with(|one| one.alive = true), true),
        (with(|one| one.n_held = 3), true),
        (with(|one| one.status = Status::Completed), true),
        (with(|one| one.status = Status::Stopped), true),
        (with(|one| one.status = Status::Failed { message: "x".into() }), true),
        (with(|one| one.n_queued = 1), false),
        (with(|one| one.n_requests = 1), false),
        (with(|one| one.n_background = 1), false),
        (with(|one| one.n_scheduled = 1), false),
        (with(|one| one.status = Status::Starting), false),
        (with(|one| one.status = Status::Working { activity: String::new() }), false),
        (with(|one| one.status = Status::Interrupting), false),
        (with(|one| one.status = Status::NeedsInput { what: String::new() }), false),
        (with(|one| one.status = Status::Restarting { attempt: 1, at: 0 }), false),
        (with(|one| one.status = Status::Stopping), false),
    ];
    for (summary, leaves) in table {
        let mut hub = hub();
        event(&mut hub, 1, 1, Some(summary.clone()));
        assert_eq!(hub.deadline(), leaves.then_some(LEAVE_AFTER), "{summary:?}");
        assert_eq!(hub.step(LEAVE_AFTER - 1, Input::Tick), []);
        let left = hub.step(LEAVE_AFTER, Input::Tick);
        assert_eq!(left, if leaves { vec![Effect::Leave] } else { vec![] }, "{summary:?}");
        // From now on it takes nothing new.
        if leaves {
            assert_eq!(hub.step(0, Input::Connected(ONE)), [Effect::Disconnect(ONE)]);
        }
    }
}

#[test]
fn a_client_and_a_request_keep_it_and_the_time_begins_again() {
    let mut hub = hub();
    connect(&mut hub, ONE);
    assert_eq!(hub.deadline(), Some(MAX_SILENCE_MS));
    request(&mut hub, ONE, stop("a"));
    hub.step(500, Input::Disconnected(ONE));
    assert_eq!(hub.deadline(), None, "the command is still being carried out");
    hub.step(700, Input::Executed { id: "a".into(), result: Ok(SessionId::new("s")) });
    assert_eq!(hub.deadline(), Some(700 + LEAVE_AFTER));
    assert_eq!(hub.step(699 + LEAVE_AFTER, Input::Tick), []);
    assert_eq!(hub.step(700 + LEAVE_AFTER, Input::Tick), [Effect::Leave]);
    assert_eq!(hub.step(701 + LEAVE_AFTER, Input::Tick), []);
}

#[test]
fn a_silent_client_is_disconnected() {
    let mut hub = hub();
    connect(&mut hub, ONE);
    hub.step(0, Input::Connected(TWO));
    hub.step(MAX_SILENCE_MS - 1, Input::Request(TWO, Request::Ping { nr: 1 }));
    assert_eq!(hub.step(MAX_SILENCE_MS, Input::Tick), [Effect::Disconnect(ONE)]);
    assert_eq!(hub.deadline(), Some(2 * MAX_SILENCE_MS - 1));
}

/// The version that asks, what the session does, whether another client is there, and whether the server leaves.
#[test]
fn a_newer_version_takes_over_only_what_is_idle() {
    for (version, status, has_other, leaves) in [
        ("0.3.0", Status::Idle, false, true),
        ("0.3.0", Status::Stopped, false, true),
        ("0.3.0", working(), false, false),
        ("0.3.0", Status::Idle, true, false),
        ("0.2.0", Status::Idle, false, false),
        ("0.1.9", Status::Idle, false, false),
        ("newer", Status::Idle, false, false),
    ] {
        let mut hub = hub();
        connect(&mut hub, ONE);
        if has_other {
            connect(&mut hub, TWO);
        }
        event(&mut hub, 1, 1, Some(summary_of("s", status.clone())));
        let effects = request(&mut hub, ONE, json!({"type": "retire", "version": version}));
        assert_eq!(effects.contains(&Effect::Leave), leaves, "{version} {status:?} {has_other}");
        let reply = if leaves { "retiring" } else { "busy" };
        assert_eq!(received(&mut hub, ONE).0[0]["type"], reply);
    }
}

#[test]
fn a_busy_server_leaves_when_it_is_idle_and_every_client_has_asked_for_it() {
    let retire = json!({"type": "retire", "version": "0.3.0"});
    let mut hub = hub();
    connect(&mut hub, ONE);
    connect(&mut hub, TWO);
    event(&mut hub, 1, 1, Some(summary_of("s", working())));
    request(&mut hub, ONE, retire.clone());
    request(&mut hub, TWO, retire);
    received(&mut hub, ONE);
    assert!(!event(&mut hub, 2, 1, None).contains(&Effect::Leave));
    let done = event(&mut hub, 3, 1, Some(summary_of("s", Status::Completed)));
    assert!(done.contains(&Effect::Leave));
    assert_eq!(received(&mut hub, ONE).0[0]["type"], "retiring");

    let mut hub = self::hub();
    connect(&mut hub, ONE);
    connect(&mut hub, TWO);
    request(&mut hub, ONE, json!({"type": "retire", "version": "0.3.0"}));
    assert!(hub.step(0, Input::Disconnected(TWO)).contains(&Effect::Leave), "its last other client has gone");
}

#[test]
fn a_session_that_takes_the_place_of_another_begins_with_a_snapshot() {
    let mut hub = hub();
    connect(&mut hub, ONE);
    let attach = |after: u64| json!({"type": "attach", "sessionId": "s", "after": after, "run": "run"});
    event(&mut hub, 1, 1, None);
    event(&mut hub, 2, 1, None);
    request(&mut hub, ONE, attach(1));
    assert_eq!(received(&mut hub, ONE).0.len(), 2, "the reply, and the event after the first");
    let opened = SessionSummary { seq: 0, ..summary_of("s", Status::Idle) };
    assert_eq!(hub.step(0, Input::SessionOpened(opened)), [Effect::Wake(ONE)]);
    event(&mut hub, 1, 1, None);
    event(&mut hub, 2, 1, None);
    event(&mut hub, 3, 1, None);
    let making = Effect::MakeSnapshot { client: ONE, session_id: SessionId::new("s") };
    assert_eq!(received(&mut hub, ONE), (Vec::new(), vec![making]));
    request(&mut hub, ONE, attach(2));
    let (replies, _) = received(&mut hub, ONE);
    assert_eq!(replies[0]["after"], Value::Null, "the number is one of the session before");
}

#[test]
fn a_removed_session_ends_its_subscriptions() {
    let mut hub = hub();
    connect(&mut hub, ONE);
    request(&mut hub, ONE, json!({"type": "attach", "sessionId": "s"}));
    received(&mut hub, ONE);
    let session_id = SessionId::new("s");
    hub.step(0, Input::SessionRemoved(session_id.clone()));
    let made = Some((1, line(&json!({"type": "snapshot"}))));
    hub.step(0, Input::Snapshot { client: ONE, session_id, made });
    assert_eq!(received(&mut hub, ONE).0, [json!({"type": "removed", "sessionId": "s"})]);
    assert_eq!(event(&mut hub, 9, 1, None), []);
}

#[test]
fn acknowledged_events_are_given_up_only_when_every_client_has_them() {
    let mut hub = hub();
    for client in [ONE, TWO] {
        connect(&mut hub, client);
        request(&mut hub, client, json!({"type": "attach", "sessionId": "s", "after": 0, "run": "run"}));
    }
    (1..=40).for_each(|seq| drop(event(&mut hub, seq, 100_000, None)));
    let bytes = |hub: &Hub| hub.sessions[&SessionId::new("s")].events.bytes();
    let full = bytes(&hub);
    received(&mut hub, ONE);
    request(&mut hub, ONE, json!({"type": "ack", "sessionId": "s", "seq": 40}));
    assert_eq!(bytes(&hub), full, "the other has nothing yet");
    request(&mut hub, TWO, json!({"type": "ack", "sessionId": "s", "seq": 40}));
    assert_eq!(bytes(&hub), full, "it cannot have what was not sent");
    assert_eq!(seqs(&received(&mut hub, TWO).0).len(), 40);
    request(&mut hub, TWO, json!({"type": "ack", "sessionId": "s", "seq": 40}));
    assert!(bytes(&hub) <= 1 << 20);
}

#[test]
fn a_question_is_answered_to_its_client_and_their_number_and_size_are_bounded() {
    let mut hub = hub();
    connect(&mut hub, ONE);
    let ask = |nr: u32, session: &str| json!({"type": "ask", "nr": nr, "sessionId": session, "question": {"type": "lastAnswer"}});
    let told = |hub: &mut Hub, nr, result| hub.step(0, Input::Told { client: ONE, nr, result });
    let session_id = SessionId::new("s");
    let question = SessionQuery::LastAnswer {};
    let effects = request(&mut hub, ONE, ask(1, "s"));
    assert_eq!(effects, [Effect::Ask { client: ONE, nr: 1, session_id, question }]);
    told(&mut hub, 1, Ok(json!("text")));
    let answer = json!({"type": "answer", "nr": 1, "answer": "text", "error": null});
    assert_eq!(received(&mut hub, ONE).0, [answer]);
    // There is no such session.
    request(&mut hub, ONE, ask(2, "t"));
    assert_eq!(received(&mut hub, ONE).0[0]["error"]["message"], "There is no such session.");
    // A long answer would fill the memory of a client that reads slowly.
    request(&mut hub, ONE, ask(3, "s"));
    told(&mut hub, 3, Ok(json!("x".repeat(MAX_ANSWER_BYTES))));
    let long = &received(&mut hub, ONE).0[0];
    assert_eq!(
        (&long["answer"], &long["error"]["message"]),
        (&Value::Null, &json!("The answer is too long to send."))
    );
    // Each answer makes room for another question.
    (0..MAX_QUESTIONS).for_each(|nr| drop(request(&mut hub, ONE, ask(nr, "s"))));
    request(&mut hub, ONE, ask(98, "s"));
    let refused = &received(&mut hub, ONE).0[0];
    assert_eq!((&refused["nr"], refused["error"].is_null()), (&json!(98), false));
    told(&mut hub, 0, Ok(Value::Null));
    assert_eq!(request(&mut hub, ONE, ask(99, "s")).len(), 1);
    // The client is gone: nothing is sent to it.
    hub.step(0, Input::Disconnected(ONE));
    assert_eq!(told(&mut hub, 99, Ok(Value::Null)), []);
}

#[test]
fn the_work_of_a_session_that_another_server_runs_keeps_no_server() {
    let mut hub = hub();
    connect(&mut hub, ONE);
    hub.step(0, Input::SessionMirrored(summary_of("elsewhere", working())));
    let retire = json!({"type": "retire", "version": "0.3.0"});
    assert!(request(&mut hub, ONE, retire).contains(&Effect::Leave));
}
