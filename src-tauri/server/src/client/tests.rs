//! The client alone: its link, and what becomes of requests.

use super::*;
use serde_json::{Value, json};

fn session() -> SessionId {
    SessionId::new("s")
}

fn hello(run: &str) -> Vec<u8> {
    let hello = Reply::Hello {
        protocol: PROTOCOL,
        version: "1.0.0".into(),
        host: "h".into(),
        boot_id: None,
        run: run.into(),
        pid: 1,
        sessions: Vec::new(),
        questions: vec!["files".into(), "weather".into()],
    };
    serde_json::to_vec(&hello).unwrap()
}

fn bytes(value: Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

/// A client that is connected to run `r` at time 0.
fn connected() -> Client {
    let mut client = Client::new(0);
    assert_eq!(client.tick(0), [Effect::LinkChanged, Effect::Connect]);
    client.line(0, &hello("r"));
    assert_eq!(client.link(), &Link::Connected);
    client
}

fn refused(id: &str, reason: &str) -> Vec<u8> {
    let error = json!({"code": "refused", "message": "no", "detail": null});
    bytes(json!({"type": "refused", "id": id, "reason": reason, "error": error}))
}

#[test]
fn attempts_are_repeated_with_growing_delays_until_one_succeeds() {
    let mut client = Client::new(7);
    let mut delays = Vec::new();
    let mut now = client.deadline().unwrap();
    for _ in 0..9 {
        assert_eq!(client.tick(now).last(), Some(&Effect::Connect));
        client.broken(now);
        delays.push(client.deadline().unwrap() - now);
        assert_eq!(client.tick(now), [], "too early");
        now = client.deadline().unwrap();
    }
    assert_eq!(delays, [1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 30_000, 30_000, 30_000]);
    client.tick(now);
    client.line(now, &hello("r"));
    assert_eq!(client.link(), &Link::Connected);
    // A link that was up is tried again at once.
    assert_eq!(client.broken(now).last(), Some(&Effect::Connect));
}

#[test]
fn the_user_can_have_an_attempt_now() {
    let mut client = Client::new(0);
    client.tick(0);
    client.broken(0);
    assert_eq!(client.link(), &Link::Waiting { attempt: 2, at: 1_000 });
    assert_eq!(client.retry(10), [Effect::LinkChanged, Effect::Connect]);
    assert_eq!(client.retry(11), [], "it is running");
}

#[test]
fn a_wake_up_tries_a_lost_link_at_once() {
    let mut client = Client::new(0);
    client.tick(0);
    client.broken(0);
    assert_eq!(client.woke(10), [Effect::LinkChanged, Effect::Connect]);
    assert_eq!(client.woke(11), [], "an attempt is running");
}

#[test]
fn an_attempt_from_before_a_sleep_is_made_again_with_a_timeout_of_its_own() {
    let mut client = Client::new(0);
    client.tick(0);
    client.broken(0);
    client.tick(1_000);
    let again = [Effect::Disconnect, Effect::LinkChanged, Effect::Connect];
    assert_eq!(client.begin_again(20_000), again);
    assert_eq!(client.tick(49_999), []);
    assert_eq!(client.link(), &Link::Connecting { attempt: 2 });
    assert_eq!(client.tick(50_000).first(), Some(&Effect::Disconnect));
    assert_eq!(client.begin_again(50_001), [], "no attempt is running");
    assert_eq!(connected().begin_again(1), [], "the link is up");
}

#[test]
fn a_wake_up_asks_a_link_that_was_up_and_gives_it_up_soon() {
    for answers in [true, false] {
        let mut client = connected();
        client.line(60_000, &bytes(json!({"type": "pong", "nr": 0})));
        assert_eq!(client.woke(61_000), [Effect::Write(Request::Ping { nr: 1 })]);
        if answers {
            client.line(61_100, &bytes(json!({"type": "pong", "nr": 1})));
        }
        let is_given_up = client.tick(66_000).first() == Some(&Effect::Disconnect);
        assert_eq!(is_given_up, !answers);
    }
}

/// The clock of a link begins at 0.
#[test]
fn a_wake_up_just_after_the_first_connection_gives_the_link_up_as_soon() {
    let mut client = connected();
    assert_eq!(client.woke(2_000), [Effect::Write(Request::Ping { nr: 1 })]);
    assert_eq!((client.deadline(), client.tick(6_999)), (Some(7_000), vec![]));
    assert_eq!(client.tick(7_000).first(), Some(&Effect::Disconnect));
}

#[test]
fn a_silent_link_is_given_up_and_a_slow_one_is_not() {
    let mut client = connected();
    let ping = |nr| Effect::Write(Request::Ping { nr });
    assert_eq!(client.tick(4_999), []);
    assert_eq!(client.tick(5_000), [ping(1)]);
    client.line(14_000, &bytes(json!({"type": "pong", "nr": 1})));
    assert_eq!(client.tick(20_000), [ping(2)]);
    assert_eq!(client.tick(28_999), [ping(3)]);
    let given_up = [Effect::Disconnect, Effect::LinkChanged, Effect::LinkChanged, Effect::Connect];
    assert_eq!(client.tick(29_000), given_up);
    // An attempt that hangs is given up, too.
    assert_eq!(client.tick(58_999), []);
    assert_eq!(client.tick(59_000), [Effect::Disconnect, Effect::LinkChanged]);
}

#[test]
fn another_protocol_ends_the_attempts_and_refuses_in_words() {
    let mut client = Client::new(0);
    client.tick(0);
    let other = json!({"type": "hello", "protocol": PROTOCOL + 1, "version": "9.0.0", "what": "new"});
    assert_eq!(client.line(0, &bytes(other)), [Effect::Disconnect, Effect::LinkChanged]);
    assert_eq!((client.deadline(), client.tick(1_000_000)), (None, vec![]));
    let refused = client.command("c".into(), session(), Command::Interrupt).unwrap_err();
    assert_eq!(refused.message, "The sessions run in Deskbell 9.0.0, which this version cannot talk to.");
}

#[test]
fn a_command_without_a_link_waits_for_it_and_belongs_to_the_run_that_gets_it_first() {
    let mut client = connected();
    client.broken(0);
    assert_eq!(client.command("c".into(), session(), Command::Interrupt), Ok(vec![]));
    let sent = |run: &str| {
        Effect::Write(Request::Command {
            id: "c".into(),
            run: Some(run.into()),
            session_id: session(),
            command: Command::Interrupt,
        })
    };
    let connects = |client: &mut Client, run: &str| client.line(0, &hello(run)).pop();
    // It was never sent to run `r`, so the server's new run has to carry it out.
    assert_eq!(connects(&mut client, "second"), Some(sent("second")));
    client.broken(0);
    assert_eq!(connects(&mut client, "third"), Some(sent("second")), "the second run may have counted it");
    let answered = client.line(0, &refused("c", "restarted")).pop();
    let is_restarted = |effect: &Effect| {
        matches!(effect, Effect::Answered { result: Err(Refused { reason: Refusal::Restarted, .. }), .. })
    };
    assert!(answered.as_ref().is_some_and(is_restarted), "{answered:?}");
    assert_eq!(client.line(0, &refused("c", "restarted")), [], "it was answered already");
    assert_eq!(client.n_waiting(), 0);
}

#[test]
fn what_a_leaving_server_refused_goes_to_the_next_one() {
    let mut client = connected();
    client.command("c".into(), session(), Command::Stop).unwrap();
    assert_eq!(client.line(0, &refused("c", "leaving")), []);
    client.broken(0);
    let again = client.line(0, &hello("next")).pop();
    let is_new = |effect: &Effect| matches!(effect, Effect::Write(Request::Command { run: Some(run), .. }) if run == "next");
    assert!(again.as_ref().is_some_and(is_new), "{again:?}");
}

#[test]
fn requests_that_wait_are_bounded_and_the_next_one_is_refused() {
    let mut client = Client::new(0);
    for nr in 0..MAX_WAITING {
        client.command(nr.to_string(), session(), Command::Interrupt).unwrap();
    }
    assert!(client.command("more".into(), session(), Command::Interrupt).is_err());
    assert_eq!(client.n_waiting(), MAX_WAITING);
}

#[test]
fn a_session_that_is_gone_is_followed_no_longer() {
    let attach = Effect::Write(Request::Attach { session_id: session(), after: None, run: Some("r".into()) });
    let removed = bytes(json!({"type": "removed", "sessionId": "s"}));
    let error = json!({"code": "noSuchSession", "message": "no", "detail": "s"});
    let unknown = bytes(json!({"type": "problem", "error": error}));
    for line in [removed, unknown] {
        let mut client = connected();
        assert_eq!(client.follow(session()), std::slice::from_ref(&attach));
        assert_eq!(client.line(0, &line), [Effect::Gone(session())]);
        assert_eq!(client.line(0, &line), []);
        assert!(!client.line(0, &hello("r")).contains(&attach));
    }
}

#[test]
fn many_events_are_acknowledged_without_a_ping() {
    let mut client = connected();
    client.follow(session());
    client.line(0, &bytes(json!({"type": "attached", "sessionId": "s", "after": null})));
    client.line(0, &bytes(json!({"type": "snapshot", "sessionId": "s", "snapshot": {"seq": 0}})));
    let mut acked = Vec::new();
    for seq in 1..=600 {
        for effect in client.line(0, &bytes(json!({"type": "e", "sessionId": "s", "seq": seq}))) {
            match effect {
                Effect::Write(Request::Ack { seq, .. }) => acked.push(seq),
                effect => assert_eq!(effect, Effect::Event(session())),
            }
        }
    }
    assert_eq!(acked, [256, 512]);
    assert_eq!(client.unfollow(session()), [Effect::Write(Request::Detach { session_id: session() })]);
    assert_eq!(client.line(0, &bytes(json!({"type": "e", "sessionId": "s", "seq": 601}))), []);
}

#[test]
fn garbage_and_unknown_lines_are_nothing() {
    let mut client = connected();
    for line in [&b"{garbage"[..], b"", b"[]", br#"{"type":"accepted"}"#, br#"{"type":"new","x":1}"#] {
        assert_eq!(client.line(0, line), []);
    }
}

#[test]
fn a_question_needs_a_link_and_is_not_repeated() {
    let mut client = Client::new(0);
    assert_eq!(client.ask(1, session(), SessionQuery::LastAnswer {}), Err(lost()));
    client = connected();
    let request = Request::Ask { nr: 1, session_id: session(), question: SessionQuery::LastAnswer {} };
    assert_eq!(client.ask(1, session(), SessionQuery::LastAnswer {}), Ok(Effect::Write(request)));
    let told = client.line(0, &bytes(json!({"type": "answer", "nr": 1, "answer": "text"})));
    assert_eq!(told, [Effect::Told { nr: 1, result: Ok(json!("text")) }]);
    client.broken(0);
    assert_eq!(client.ask(2, session(), SessionQuery::LastAnswer {}), Err(lost()));
    let again = client.line(0, &hello("r"));
    assert!(!again.iter().any(|effect| matches!(effect, Effect::Write(Request::Ask { .. }))), "{again:?}");
}

#[test]
fn a_later_question_is_sent_only_to_a_server_that_knows_it() {
    let mut client = Client::new(0);
    client.tick(0);
    let mut old: Value = serde_json::from_slice(&hello("r")).unwrap();
    old.as_object_mut().unwrap().remove("questions");
    client.line(0, &bytes(old));
    let question = || SessionQuery::Files { query: "src".into() };
    let refused = client.ask(1, session(), question()).unwrap_err();
    assert!(refused.message.contains("older Deskbell"), "{refused}");
    assert!(client.ask(1, session(), SessionQuery::LastAnswer {}).is_ok());
    // The server was replaced by a newer one.
    client.broken(0);
    client.line(0, &hello("r2"));
    assert!(client.ask(2, session(), question()).is_ok());
}

#[test]
fn an_answer_that_is_too_long_is_not_read() {
    let mut client = connected();
    let mut line = br#"{"type":"answer","answer":""#.to_vec();
    line.resize(MAX_ANSWER_BYTES, b'x');
    line.extend_from_slice(br#"","nr":7}"#);
    let effects = client.line(0, &line);
    assert!(matches!(&effects[..], [Effect::Told { nr: 7, result: Err(_) }]), "{effects:?}");
}

/// The first line of a server that carries out these later requests.
fn hello_of(run: &str, questions: &[&str]) -> Vec<u8> {
    let mut hello: Value = serde_json::from_slice(&hello(run)).unwrap();
    hello["questions"] = json!(questions);
    bytes(hello)
}

fn undo() -> RevertRequest {
    RevertRequest::Undo { of: "x".into() }
}

fn fork() -> NewSession {
    let fork = Some(deskbell_api::server::NewFork { of: "c".into(), before: None });
    NewSession { project: "/p".into(), fork, ..NewSession::default() }
}

#[test]
fn an_older_server_gets_no_request_that_it_does_not_know() {
    let mut client = connected();
    let error = client.revert("a".into(), session(), undo()).unwrap_err();
    assert!(error.message.contains("older Deskbell"), "{error}");
    let error = client.open("b".into(), fork()).unwrap_err();
    assert!(error.message.contains("older Deskbell"), "it would begin an empty conversation: {error}");
    // Without a link it is not known who will answer.
    let mut lost_link = Client::new(0);
    assert!(lost_link.revert("a".into(), session(), undo()).is_err());
    assert_eq!(client.n_waiting() + lost_link.n_waiting(), 0);
}

#[test]
fn a_revert_is_sent_again_until_it_is_answered_and_not_to_an_older_server() {
    let mut client = Client::new(0);
    client.tick(0);
    client.line(0, &hello_of("r", &["revert", "fork"]));
    let sent = |run: &str| {
        let (id, session_id) = ("a".to_owned(), session());
        Effect::Write(Request::Revert { id, run: Some(run.into()), session_id, change: undo() })
    };
    assert_eq!(client.revert("a".into(), session(), undo()), Ok(vec![sent("r")]));
    client.broken(1);
    client.tick(1);
    let effects = client.line(2, &hello_of("r", &["revert"]));
    assert!(effects.contains(&sent("r")), "with the run that it was first sent to: {effects:?}");
    client.broken(3);
    client.tick(3);
    let effects = client.line(4, &hello("older"));
    let is_answered =
        |effect: &Effect| matches!(effect, Effect::Answered { id, result: Err(_) } if id == "a");
    assert!(effects.iter().any(is_answered), "{effects:?}");
    assert_eq!(client.n_waiting(), 0);
}

#[test]
fn sessions_are_listed_only_while_the_link_is_up() {
    let mut client = connected();
    assert_eq!(client.list(), [Effect::Write(Request::List)]);
    client.broken(0);
    assert_eq!(client.list(), [], "nothing is sent later for it either");
}
