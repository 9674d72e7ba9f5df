//! Lines of every length with every kind of wrong byte: each affects at most itself.

use crate::life::{Life, Setup};
use crate::process_output;
use deskbell_agent::{AgentEvent, ContentBlock};
use deskbell_claude::wire;
use deskbell_engine::api::{Body, ExitReport};
use deskbell_engine::launch::Launch;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

const RESULT: &[u8] = br#"{"type":"result","subtype":"success","is_error":false,"result":"done"}"#;

fn message(id: &str, text: &[u8]) -> Vec<u8> {
    let head = format!(r#"{{"type":"assistant","message":{{"id":"{id}","content":[{{"type":"text","text":""#);
    [head.as_bytes(), text, br#""}]}}"#].concat()
}

/// A message of exactly this many bytes, and how many of them are text.
fn message_of(n_bytes: usize) -> (Vec<u8>, usize) {
    let id = n_bytes.to_string();
    let n_text = n_bytes - message(&id, b"").len();
    (message(&id, &vec![b'x'; n_text]), n_text)
}

/// A session whose agent wrote these bytes in its first turn.
async fn said(bytes: &[u8]) -> Life {
    let script = "ready; hear; hear; cat said; until_end_of_input";
    let mut life = Setup::shell(script).file("said", bytes).open().await;
    life.turn("speak").await;
    life
}

/// Like `said`, with each as a line.
async fn said_lines(lines: &[Vec<u8>]) -> Life {
    let lines = lines.iter().map(Vec::as_slice).chain([RESULT]);
    said(&lines.flat_map(|line| [line, b"\n"]).collect::<Vec<_>>().concat()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_of_any_length_is_read() {
    let lengths = [64 * KIB - 1, 64 * KIB, 64 * KIB + 1, MIB - 1, MIB, MIB + 1, 8 * MIB, 63 * MIB, 64 * MIB];
    let (lines, n_texts): (Vec<_>, Vec<_>) = lengths.into_iter().map(message_of).unzip();
    let setup = Setup::shell("exec cat said").file("said", &lines.join(&b'\n'));
    let (lines, _) = process_output::all(&mut process_output::start(&setup.launch()()).await).await;
    let texts = lines.iter().map(|line| match line {
        AgentEvent::Assistant(assistant) => match &assistant.message.content[..] {
            [ContentBlock::Text { text }] if text.bytes().all(|byte| byte == b'x') => text.len(),
            _ => panic!("the text is all of it"),
        },
        _ => panic!("each line is a message"),
    });
    assert_eq!(texts.collect::<Vec<_>>(), n_texts);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_is_too_long_costs_itself_only() {
    let mut life =
        said_lines(&[message("before", b"before"), message_of(65 * MIB).0, message("after", b"after")]).await;
    assert_eq!(life.answers().await, ["before", "after"]);
    let notices = life.notices().await;
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(notices[0].contains(r#"{"type":"assistant","message":{"id":"68157440""#), "{notices:?}");
    assert!(notices[0].len() < 2 * KIB, "it is shown by its start");
    life.close().await;
}

/// The contents of a line, and the result: the text of an answer, or only a notice.
#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_line_costs_at_most_itself() {
    let nested = |open: &str, close: &str| {
        (r#"{"type":"system","a":"#.to_owned() + &open.repeat(100_000) + &close.repeat(100_000) + "}")
            .into_bytes()
    };
    let unreadable: Vec<Vec<u8>> = vec![
        message("raw-nul", b"a\0b"),
        nested("[", "]"),
        nested(r#"{"a":"#, "}"),
        "[".repeat(100_000).into(),
        b"\xff\xfe\x00\x01".into(),
        b"\0".into(),
        b"null".into(),
        b"\"just a string\"".into(),
        b"[\"system\",\"init\"]".into(),
        b"[{\"type\":\"result\"}]".into(),
        b"{\"type\":\"assistant\",\"message\":7}".into(),
        b"{\"type\":\"assistant\",\"type\":\"result\"}".into(),
        b"{\"type\":\"assistant\"".into(),
        b"\xef\xbb\xbf{}".into(),
    ];
    let readable: [(&[u8], &str); 6] = [
        ("a\u{2028}b\u{2029}c\u{85}d".as_bytes(), "a\u{2028}b\u{2029}c\u{85}d"),
        (b"a\xffb\xc3(c", "a\u{fffd}b\u{fffd}(c"),
        (br"a\ud83db", "a\u{fffd}b"),
        (br"a\ude00\ud83d", "a\u{fffd}\u{fffd}"),
        (br"\ud83d\ude00", "\u{1f600}"),
        (br"a\u0000b", "a\u{fffd}b"),
    ];
    let mut lines = Vec::new();
    for (n, line) in unreadable.iter().enumerate() {
        // Readable lines are in between, so that each of the others needs a notice of its own.
        let (text, _) = readable[n % readable.len()];
        lines.extend([line.clone(), message(&format!("m{n}"), text)]);
    }
    let mut life = said_lines(&lines).await;
    let expected: Vec<&str> = (0..unreadable.len()).map(|n| readable[n % readable.len()].1).collect();
    assert_eq!(life.answers().await, expected);
    let notices = life.notices().await;
    assert_eq!(notices.len(), unreadable.len(), "{notices:#?}");
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn line_ends_may_be_of_any_kind() {
    let bytes =
        [&message("a", b"a")[..], b"\r\n\r\n\n \t\n", &message("b", b"b"), b"\r\n", RESULT, b"\r\n"].concat();
    let mut life = said(&bytes).await;
    assert_eq!(life.answers().await, ["a", "b"]);
    assert_eq!(life.notices().await, [""; 0]);
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_last_line_without_its_end_is_shown_as_it_is() {
    let whole = message("m", "vielen Dank für alles".as_bytes());
    let (script, cut) = ("ready; hear; hear; cat said", &whole[..whole.len() - 5]);
    let mut life = Setup::shell(script).file("said", cut).open().await;
    life.prompt("speak").await;
    assert_eq!(life.exit().await.code, Some(0));
    life.turn_end().await;
    let notices = life.notices().await;
    assert!(notices.iter().any(|notice| notice.ends_with("vielen Dank für alles")), "{notices:?}");
    life.close().await;
}

/// The state after a crash in the middle of a write.
#[tokio::test(flavor = "multi_thread")]
async fn output_may_end_at_any_byte() {
    let words = "Grüße, 你好, \u{1f600}, \\\"quoted\\\"\\n".repeat(60);
    let line = message("m", &words.as_bytes()[..words.len().min(2000)]);
    let AgentEvent::Assistant(whole) = wire::parse(&line) else { panic!("the line is a message") };
    let setup = Setup::shell(r#"exec head -c "$CUT" said"#).file("said", &line);
    let launch = setup.launch();
    let cuts = (0..=line.len()).map(|cut| {
        let mut launch: Launch = launch();
        launch.env.push(("CUT".into(), Some(cut.to_string().into())));
        (cut, launch)
    });
    let n_cuts = line.len() + 1;
    let judge = move |cut, lines: Vec<AgentEvent>, report: ExitReport| {
        assert_eq!(report.code, Some(0));
        match &lines[..] {
            [] => assert_eq!(cut, 0),
            [AgentEvent::Unreadable { line: start, .. }] if cut < line.len() => {
                assert_eq!(start, String::from_utf8_lossy(&line[..cut]).trim_end());
            }
            [AgentEvent::Assistant(message)] => assert_eq!((cut, message), (line.len(), &whole)),
            other => panic!("cut at {cut}: {other:?}"),
        }
    };
    assert_eq!(process_output::by_each(cuts, judge).await, n_cuts);
}

/// The exit of an agent and the end of its output arrive in either order.
#[tokio::test(flavor = "multi_thread")]
async fn no_line_is_lost_when_the_agent_exits_behind_it() {
    const N_EXITS: usize = 1_000;
    // Some outputs fit into a pipe, some do not.
    let n_lines = |n: usize| if n.is_multiple_of(2) { 20 } else { 900 };
    let lines = |n_lines: usize| {
        let lines = (0..n_lines).map(|n| message(&n.to_string(), &[b'y'; 40]));
        lines.collect::<Vec<_>>().join(&b'\n')
    };
    let setup = Setup::shell("exec cat said.$N")
        .file("said.20", &lines(20))
        .file("said.900", &[lines(900), b"\n".into()].concat());
    let launch = setup.launch();
    let exits = (0..N_EXITS).map(|n| {
        let mut launch: Launch = launch();
        launch.env.push(("N".into(), Some(n_lines(n).to_string().into())));
        (n, launch)
    });
    let judge = move |n, lines: Vec<AgentEvent>, report: ExitReport| {
        assert_eq!((lines.len(), report.code), (n_lines(n), Some(0)));
        let ids = lines.iter().map(|line| match line {
            AgentEvent::Assistant(assistant) => assistant.message.id.parse::<usize>().unwrap(),
            other => panic!("{other:?}"),
        });
        assert!(ids.eq(0..n_lines(n)), "in order");
    };
    assert_eq!(process_output::by_each(exits, judge).await, N_EXITS);
}

#[tokio::test(flavor = "multi_thread")]
async fn garbage_before_and_between_lines_is_kept_and_harms_nothing() {
    let mut life = Setup::faulty("garbage").open().await;
    life.turn("SAY one\nGARBAGE Warning: something\nGARBAGE {\"type\":\"result\"\nSAY two").await;
    assert_eq!(life.answers().await, ["one", "two"]);
    let notices = life.notices().await;
    assert_eq!(notices.len(), 2, "those in a row share a notice: {notices:#?}");
    assert!(notices[0].contains("this line is not JSON") && notices[0].contains("nor is this"));
    assert!(notices[1].contains("Warning: something") && notices[1].contains(r#"{"type":"result""#));
    let prompts = life.items().await.iter().filter(|item| matches!(item.body, Body::Prompt { .. })).count();
    assert_eq!(prompts, 1);
    life.close().await;
}
