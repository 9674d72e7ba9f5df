//! Cost of agent input: four times as much input must take about four times as long, in every class of input.
//!
//! Each class is measured with n and with 4n bytes, in CPU time of the thread, so that a busy machine changes little.
//! Quadratic work takes 16 times as long; the limit is 8 times. A class over the limit is measured again, and fails if
//! it is over the limit each time.

use std::path::Path;
use std::time::Duration;

use cpu_time::ThreadTime;
use serde_json::json;

use crate::agent::{AgentEvent, AgentRequest};
use crate::api::{AgentKind, CopyOf, ExportFormat, RequestId};
use crate::document::{self, Stream};
use crate::export;
use crate::permission;
use crate::process::lines::Lines;
use crate::transcript::Transcript;
use crate::transcript::find::Search;
use crate::wire;

/// Size of the smaller input in bytes.
const N: usize = 24 * 1024;
const MOST: f64 = 8.0;
/// Shorter times are noise.
const FLOOR: Duration = Duration::from_millis(4);
const TRIES: usize = 4;

/// Name of a class, and a function that builds an input of about `n` bytes and returns the work to measure.
type Class = (&'static str, fn(usize) -> Box<dyn FnOnce()>);

const CLASSES: &[Class] = &[
    ("lines: short", |n| lines("{}\n".repeat(n / 3), 4096)),
    ("lines: one without an end, in pieces", |n| lines("x".repeat(n * 8), 64)),
    ("json: nested arrays", |n| parsed("[".repeat(n))),
    ("json: nested closed arrays", |n| parsed(format!("{}{}", "[".repeat(n / 2), "]".repeat(n / 2)))),
    ("json: many keys", |n| parsed(object(n))),
    ("json: one key again and again", |n| parsed(format!("{{{}\"a\":1}}", "\"a\":1,".repeat(n / 6)))),
    ("json: lone surrogates", |n| parsed(said(&"\\ud800".repeat(n / 6)))),
    ("json: escapes", |n| parsed(said(&"\\\\\\n\\u00e9".repeat(n / 10)))),
    ("markdown: nested quotes", |n| markdown(">".repeat(n))),
    ("markdown: quotes and lists", |n| markdown("> - ".repeat(n / 4))),
    ("markdown: deeper and deeper", |n| {
        let depth = n.isqrt();
        markdown((0..depth).map(|depth| format!("{}- a\n", " ".repeat(2 * depth))).collect())
    }),
    ("markdown: links", |n| markdown("[a](b) ".repeat(n / 7))),
    ("markdown: open links", |n| markdown("[a](".repeat(n / 4))),
    ("markdown: brackets", |n| markdown("[".repeat(n))),
    ("markdown: images", |n| markdown("![".repeat(n / 2))),
    ("markdown: emphasis", |n| markdown("*a **b ".repeat(n / 7))),
    ("markdown: underscores", |n| markdown("_a".repeat(n / 2))),
    ("markdown: strikes", |n| markdown("~~a".repeat(n / 3))),
    ("markdown: backticks of every length", |n| {
        let most = (2 * n).isqrt();
        markdown((1..most).map(|length| format!("{} ", "`".repeat(length))).collect())
    }),
    ("markdown: rows", |n| markdown(format!("|a|b|\n|-|-|\n{}", "|a|b|\n".repeat(n / 6)))),
    ("markdown: columns", |n| markdown(format!("|{}\n|{}\n|a|\n", "a|".repeat(n / 4), "-|".repeat(n / 4)))),
    ("markdown: html", |n| markdown("<a b=\"".repeat(n / 6))),
    ("markdown: comments", |n| markdown("<!-- ".repeat(n / 5))),
    ("markdown: declarations", |n| markdown("<?a <!A <![CDATA[".repeat(n / 17))),
    ("markdown: footnotes", |n| markdown("[^a]: b\n\n[^a]\n\n".repeat(n / 15))),
    ("markdown: definitions", |n| {
        markdown((0..n / 12).map(|nr| format!("[{nr}]: b\n\n[{nr}]\n\n")).collect())
    }),
    ("markdown: entities", |n| markdown("&amp;&#35;&a".repeat(n / 12))),
    ("markdown: addresses", |n| markdown("https://a.b/c ".repeat(n / 14))),
    ("markdown: one address", |n| markdown(format!("https://a.b/{}", "(c".repeat(n / 2)))),
    ("stream: words", |n| streamed("word *and* word ".repeat(n / 16))),
    ("stream: one word", |n| streamed("x".repeat(n))),
    ("stream: marks", |n| streamed("*_[`<&".repeat(n / 6))),
    ("stream: code", |n| streamed(format!("```rust\n{}", "let a = 1;\n".repeat(n / 11)))),
    ("stream: one line of code", |n| streamed(format!("```rust\n{}", "f(a); ".repeat(n / 6)))),
    ("stream: list", |n| streamed("- an item\n".repeat(n / 10))),
    ("stream: code in a list", |n| streamed("- a\n\n  ```js\n  x /* y\n  ```\n".repeat(n / 28))),
    ("stream: rows", |n| streamed(format!("|a|b|\n|-|-|\n{}", "|a|b|\n".repeat(n / 6)))),
    ("terminal: colours", |n| terminal("\u{1b}[31ma".repeat(n / 6))),
    ("terminal: open sequences", |n| terminal("\u{1b}]0;".repeat(n / 4))),
    ("terminal: parameters", |n| terminal(format!("\u{1b}[{}", "1;".repeat(n / 2)))),
    ("terminal: returns", |n| terminal("ab\r".repeat(n / 3))),
    ("terminal: backspaces", |n| terminal("a\u{8}".repeat(n / 2))),
    ("terminal: one long line, again and again", |n| {
        terminal(format!("{}\r", "x".repeat(n / 2)) + &"y\r".repeat(n / 4))
    }),
    ("diff: another text", |n| {
        let text = |from: usize| (0..n / 8).map(|nr| format!("{}\n", nr * 7919 + from)).collect();
        diff(text(0), text(1))
    }),
    ("diff: one line", |n| diff("ab ".repeat(n / 6), "ba ".repeat(n / 6))),
    ("diff: equal lines", |n| diff("a\n".repeat(n / 2), "a\n".repeat(n / 4))),
    ("colours: rust", |n| coloured("rs", "fn a(b: &B) -> C { b.c(\"d\") } // e\n".repeat(n / 36))),
    ("colours: looping javascript", |n| coloured("js", "x /* was y\n*/\n".repeat(n / 14))),
    ("colours: unclosed strings", |n| coloured("py", "f\"{'\n".repeat(n / 5))),
    ("permission: long command", |n| request("Bash", "command", "a; ".repeat(n / 3))),
    ("permission: odd characters", |n| request("Bash", "command", "a\u{202e}\u{430}".repeat(n / 6))),
    ("permission: long address", |n| {
        request("WebFetch", "url", format!("https://{}", "xn--a.".repeat(n / 6)))
    }),
    ("permission: plan", |n| request("ExitPlanMode", "plan", "- [a](b)\n".repeat(n / 9))),
    ("redaction: almost a key", |n| redacted("api_key token= sk-a eyJ".repeat(n / 23))),
    ("redaction: almost a private key", |n| redacted("-----BEGIN PRIVATE KEY-----".repeat(n / 27))),
    ("redaction: almost an address", |n| redacted("a.b@c-".repeat(n / 6))),
    ("redaction: one word", |n| redacted("a".repeat(n))),
    ("redaction: colours", |n| redacted("\u{1b}[31mtoken\\\\n%3D".repeat(n / 15))),
    ("fold: deltas of one text", |n| folded(&deltas("text", "word ", n / 64))),
    ("fold: deltas of one thought", |n| folded(&deltas("thinking", "word ", n / 64))),
    ("fold: tool calls", |n| folded(&(0..n / 256).flat_map(call).collect::<Vec<_>>())),
    ("fold: tool calls that never end", |n| {
        folded(&(0..n / 64).map(|nr| call(nr)[0].clone()).collect::<Vec<_>>())
    }),
    ("fold: unreadable lines", |n| folded(&vec!["{".to_owned(); n / 64])),
    ("fold: todo lists", |n| folded(&(0..n / 512).map(todos).collect::<Vec<_>>())),
    ("find and copy", |n| {
        let line = json!({"type": "assistant", "message": {"id": "m", "content":
                [{"type": "text", "text": "aab ".repeat(n / 4)}]}});
        let mut transcript = Transcript::new(Path::new("/p"));
        transcript.line(0, wire::parse(line.to_string().as_bytes()));
        Box::new(move || {
            let mut search = Search::new("aac").expect("there is something to look for");
            search.look(transcript.slice(0));
            assert!(transcript.text_of("a", &CopyOf::Conversation).is_some());
        })
    }),
    ("export: text", |n| exported(said(&"a *b* ".repeat(n / 6)))),
    ("export: characters that are written out", |n| exported(said(&"<&\\u202e".repeat(n / 8)))),
    ("export: tool calls", |n| {
        let mut transcript = Transcript::new(Path::new("/p"));
        for line in (0..n / 256).flat_map(call) {
            transcript.line(0, wire::parse(line.as_bytes()));
        }
        page_of(transcript)
    }),
];

fn exported(line: String) -> Box<dyn FnOnce()> {
    let mut transcript = Transcript::new(Path::new("/p"));
    transcript.line(0, wire::parse(line.as_bytes()));
    page_of(transcript)
}

fn page_of(transcript: Transcript) -> Box<dyn FnOnce()> {
    Box::new(move || {
        let heading = export::Heading {
            title: "a".to_owned(),
            project: "/p".to_owned(),
            agent: AgentKind::Claude,
            agent_session_id: None,
        };
        let conversation = transcript.exported("a", ExportFormat::Html);
        let page =
            conversation.render(ExportFormat::Html, &heading, &export::Images::default()).expect("a page");
        assert!(!page.is_empty());
    })
}

fn lines(text: String, piece: usize) -> Box<dyn FnOnce()> {
    Box::new(move || {
        let mut lines = Lines::default();
        let mut n_lines = 0;
        text.as_bytes().chunks(piece).for_each(|piece| lines.push(piece, |_| n_lines += 1));
        lines.finish(|_| n_lines += 1);
        assert!(n_lines > 0);
    })
}

fn parsed(line: String) -> Box<dyn FnOnce()> {
    Box::new(move || drop(wire::parse(line.as_bytes())))
}

fn said(text: &str) -> String {
    format!(r#"{{"type":"assistant","message":{{"id":"m","content":[{{"type":"text","text":"{text}"}}]}}}}"#)
}

fn object(n: usize) -> String {
    let fields: Vec<String> = (0..n / 12).map(|nr| format!("\"k{nr}\":{nr}")).collect();
    format!("{{\"type\":\"new\",{}}}", fields.join(","))
}

fn markdown(text: String) -> Box<dyn FnOnce()> {
    Box::new(move || drop(document::markdown(&text)))
}

fn streamed(text: String) -> Box<dyn FnOnce()> {
    Box::new(move || {
        let mut stream = Stream::default();
        for piece in text.as_bytes().chunks(40) {
            stream.push(std::str::from_utf8(piece).expect("the text is ASCII"));
            stream.take_change();
        }
        stream.finish();
        stream.take_change();
    })
}

fn terminal(text: String) -> Box<dyn FnOnce()> {
    Box::new(move || drop(document::terminal(&text)))
}

fn diff(old: String, new: String) -> Box<dyn FnOnce()> {
    Box::new(move || drop(document::diff("a.rs", &old, &new)))
}

fn coloured(language: &'static str, text: String) -> Box<dyn FnOnce()> {
    // Patterns are compiled on first use.
    document::highlight(Some(language), &text[..text.len().min(200)]);
    Box::new(move || drop(document::highlight(Some(language), &text)))
}

fn request(tool: &'static str, field: &'static str, value: String) -> Box<dyn FnOnce()> {
    let line = json!({"type": "control_request", "request_id": "r", "request":
        {"subtype": "can_use_tool", "tool_name": tool, "input": {field: value}}})
    .to_string();
    Box::new(move || {
        let inbound = wire::parse(line.as_bytes());
        let AgentEvent::Request { request: AgentRequest::Tool(request), .. } = inbound else {
            panic!("it is a request")
        };
        let view = permission::view(RequestId::new("r"), &request, 0);
        assert!(!permission::wants(&view).is_empty());
    })
}

fn redacted(text: String) -> Box<dyn FnOnce()> {
    crate::recorder::redacted_text("nothing".to_owned());
    Box::new(move || drop(crate::recorder::redacted_text(text)))
}

/// Folds each line like a session that publishes after every line.
fn folded(lines: &[String]) -> Box<dyn FnOnce()> {
    let lines: Vec<AgentEvent> = lines.iter().map(|line| wire::parse(line.as_bytes())).collect();
    Box::new(move || {
        let mut transcript = Transcript::new(Path::new("/p"));
        for line in lines {
            transcript.line(0, line);
            transcript.drain_changes();
            transcript.activity();
        }
    })
}

fn deltas(kind: &str, text: &str, n: usize) -> Vec<String> {
    let event = |event: serde_json::Value| json!({"type": "stream_event", "event": event}).to_string();
    let start = event(json!({"type": "message_start", "message": {"id": "m"}}));
    let block =
        event(json!({"type": "content_block_start", "index": 0, "content_block": {"type": kind, kind: ""}}));
    let delta = event(json!({"type": "content_block_delta", "index": 0, "delta":
        {"type": format!("{kind}_delta"), kind: text.repeat(20)}}));
    [start, block].into_iter().chain(std::iter::repeat_n(delta, n)).collect()
}

fn call(nr: usize) -> [String; 2] {
    let id = format!("t{nr}");
    [
        json!({"type": "assistant", "message": {"id": format!("m{nr}"), "content":
            [{"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": "/p/a.rs"}}]}})
        .to_string(),
        json!({"type": "user", "message": {"content":
            [{"type": "tool_result", "tool_use_id": id, "content": "let a = 1;"}]}})
        .to_string(),
    ]
}

fn todos(nr: usize) -> String {
    json!({"type": "assistant", "message": {"id": format!("m{nr}"), "content": [{"type": "tool_use", "id": format!("t{nr}"),
        "name": "TodoWrite", "input": {"todos": [{"content": "a", "status": "pending", "activeForm": "a"}]}}]}})
    .to_string()
}

fn cost(class: &Class, n: usize) -> Duration {
    // The shorter of two runs: other load only adds time.
    let once = || {
        let run = (class.1)(n);
        let started_at = ThreadTime::now();
        run();
        started_at.elapsed()
    };
    once().min(once())
}

#[test]
fn no_input_costs_more_than_linear_time() {
    let mut too_much = Vec::new();
    for class in CLASSES {
        let mut measured = Vec::new();
        let is_linear = (0..TRIES).any(|_| {
            let (one, four) = (cost(class, N), cost(class, 4 * N));
            measured.push(format!("{one:.1?} and {four:.1?}"));
            four <= one.max(FLOOR).mul_f64(MOST)
        });
        println!("{:45} n and 4n: {}", class.0, measured.join("; "));
        if !is_linear {
            too_much.push(format!("{}: n and 4n take {}", class.0, measured.join("; ")));
        }
    }
    assert!(too_much.is_empty(), "{}", too_much.join("\n"));
}
