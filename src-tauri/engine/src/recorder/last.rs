//! The last lines between Deskbell and the agent, in bounded memory.
//!
//! A line costs a copy of its bytes when it passes. It is parsed and redacted only when it is looked at. Lines of
//! unknown kinds are rare, so some of them are kept after the others of their time were dropped.

use super::line_of;
use super::lost::{LostStart, without_end};
use super::redact::redacted;
use super::streamed::Streamed;
use crate::api::{RawDirection, RawKind, RawLine, RawLines};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Lines that are kept, and their bytes.
const MOST_LINES: usize = 500;
const MOST_BYTES: usize = 1 << 20;
/// Lines of unknown kinds and unreadable lines that are kept longer, and their bytes.
const MOST_ODD_LINES: usize = 50;
const MOST_ODD_BYTES: usize = 128 * 1024;
/// Bytes that are kept of one line.
const LONGEST: usize = 16 * 1024;
/// Bytes of JSON that the texts of one answer have, at most by one line more: an answer of a server has a limit.
const ANSWER: usize = 512 * 1024;

/// Milliseconds since the epoch.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

#[derive(Default)]
pub(super) struct LastLines(Mutex<Kept>);

#[derive(Clone)]
struct Kept {
    all: Ring,
    /// Lines of unknown kinds and unreadable ones, which were dropped from `all`.
    odd: Ring,
    n_lines: u64,
    n_unknown: u64,
    n_unreadable: u64,
}

impl Default for Kept {
    fn default() -> Self {
        Self {
            all: Ring::new(MOST_LINES, MOST_BYTES),
            odd: Ring::new(MOST_ODD_LINES, MOST_ODD_BYTES),
            n_lines: 0,
            n_unknown: 0,
            n_unreadable: 0,
        }
    }
}

/// The last lines up to a number and a size.
#[derive(Clone)]
struct Ring {
    lines: VecDeque<Line>,
    /// The bytes of all lines.
    bytes: VecDeque<u8>,
    most_lines: usize,
    most_bytes: usize,
}

#[derive(Clone, Copy)]
struct Line {
    nr: u64,
    at: u64,
    direction: RawDirection,
    kind: RawKind,
    n_bytes: usize,
    n_cut: usize,
}

impl Ring {
    fn new(most_lines: usize, most_bytes: usize) -> Self {
        Self { lines: VecDeque::new(), bytes: VecDeque::new(), most_lines, most_bytes }
    }

    /// Makes room for another line. `dropped` gets each line that is dropped for it.
    fn make_room(&mut self, n_bytes: usize, mut dropped: impl FnMut(Line, &mut dyn Iterator<Item = u8>)) {
        while self.lines.len() >= self.most_lines || self.bytes.len() + n_bytes > self.most_bytes {
            let Some(line) = self.lines.pop_front() else { return };
            dropped(line, &mut self.bytes.drain(..line.n_bytes));
        }
    }

    fn push(&mut self, line: Line, bytes: &[u8]) {
        self.bytes.extend(bytes);
        self.lines.push_back(line);
    }

    /// Each line with its bytes.
    fn each(&mut self) -> impl Iterator<Item = (Line, &[u8])> {
        let mut rest: &[u8] = self.bytes.make_contiguous();
        self.lines.iter().map(move |line| {
            let (bytes, others) = rest.split_at(line.n_bytes);
            rest = others;
            (*line, bytes)
        })
    }
}

impl Kept {
    fn push(&mut self, mut line: Line, bytes: &[u8]) {
        self.n_lines += 1;
        line.nr = self.n_lines;
        match line.kind {
            RawKind::Known => {}
            RawKind::Unknown => self.n_unknown += 1,
            RawKind::Unreadable => self.n_unreadable += 1,
        }
        let odd = &mut self.odd;
        self.all.make_room(bytes.len(), |line, bytes| {
            if line.kind != RawKind::Known {
                let bytes: Vec<u8> = bytes.collect();
                odd.make_room(bytes.len(), |_, _| {});
                odd.push(line, &bytes);
            }
        });
        self.all.push(line, bytes);
    }
}

impl LastLines {
    /// Keeps a line, or the start of one that has `n_bytes`.
    pub(super) fn push(&self, at: u64, direction: RawDirection, kind: RawKind, line: &[u8], n_bytes: usize) {
        let kept = &line[..line.len().min(LONGEST)];
        let n_cut = n_bytes.saturating_sub(kept.len());
        let line = Line { nr: 0, at, direction, kind, n_bytes: kept.len(), n_cut };
        self.lock().push(line, kept);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lines after line `after`. The session waits only while they are copied.
    pub(super) fn after(&self, after: u64) -> RawLines {
        let mut kept = {
            let kept = self.lock();
            // Numbers of an earlier run mean nothing here.
            let after = if after > kept.n_lines { 0 } else { after };
            if after == kept.n_lines {
                return answer_of(&kept, after);
            }
            kept.clone()
        };
        let after = if after > kept.n_lines { 0 } else { after };
        let mut answer = answer_of(&kept, after);
        let mut look = Look::new(after);
        for (line, bytes) in kept.odd.each() {
            look.add(line, vec![value_of(bytes, line.n_cut)]);
        }
        look.streams_of(&mut kept.all);
        answer.n_dropped = look.last - after - look.n_lines;
        (answer.lines, answer.last, answer.has_more) = (look.lines, look.last, look.is_full);
        answer
    }
}

/// An answer without lines.
fn answer_of(kept: &Kept, after: u64) -> RawLines {
    let (n_unknown, n_unreadable) = (kept.n_unknown, kept.n_unreadable);
    RawLines { last: after, n_unknown, n_unreadable, ..RawLines::default() }
}

/// The redaction of lines for one answer.
struct Look {
    after: u64,
    last: u64,
    n_lines: u64,
    lines: Vec<RawLine>,
    /// JSON of the texts so far.
    size: usize,
    is_full: bool,
}

impl Look {
    fn new(after: u64) -> Self {
        Self { after, last: after, n_lines: 0, lines: Vec::new(), size: 0, is_full: false }
    }

    /// Adds the lines of a ring. All of them are read, because a secret may start in an earlier one.
    fn streams_of(&mut self, ring: &mut Ring) {
        let mut streamed = Streamed::default();
        let is_dropped = ring.lines.front().is_some_and(|first| first.nr > 1);
        let mut lost = if is_dropped { LostStart::new() } else { LostStart::default() };
        for (line, bytes) in ring.each() {
            let mut value = value_of(bytes, line.n_cut);
            if line.direction != RawDirection::FromAgent {
                self.add(line, vec![value]);
                continue;
            }
            lost.hide(&mut value);
            if line.n_cut > 0 {
                lost = LostStart::new();
            }
            self.add(line, streamed.pass(value));
        }
    }

    fn add(&mut self, line: Line, values: Vec<Value>) {
        if line.nr <= self.after || self.is_full {
            return;
        }
        self.is_full = self.size > ANSWER;
        if self.is_full {
            return;
        }
        (self.last, self.n_lines) = (line.nr, self.n_lines + 1);
        let Line { nr, at, direction, kind, n_cut, .. } = line;
        for value in values {
            let text = text_of(redacted(value));
            self.size += json_size(&text);
            self.lines.push(RawLine { nr, at, direction, kind, text, n_cut: n_cut as u64 });
        }
    }
}

/// The line as a value. Of a line that was cut, the part in which no secret can have lost its end.
fn value_of(bytes: &[u8], n_cut: usize) -> Value {
    if n_cut == 0 { line_of(bytes) } else { without_end(&String::from_utf8_lossy(bytes)) }
}

fn text_of(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// The size of a text as JSON, or somewhat more.
fn json_size(text: &str) -> usize {
    let of_byte = |byte| match byte {
        b'"' | b'\\' => 2,
        0..=0x1f => 6,
        _ => 1,
    };
    text.bytes().map(of_byte).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn push(kept: &LastLines, kind: RawKind, line: &str) {
        kept.push(7, RawDirection::FromAgent, kind, line.as_bytes(), line.len());
    }

    fn texts(answer: &RawLines) -> Vec<&str> {
        answer.lines.iter().map(|line| line.text.as_str()).collect()
    }

    fn delta(text: &str) -> String {
        json!({"type": "stream_event", "event": {"type": "content_block_delta", "index": 0,
               "delta": {"type": "text_delta", "text": text}}})
        .to_string()
    }

    /// The texts of the deltas in an answer, together.
    fn streamed(answer: &RawLines) -> String {
        let lines = answer.lines.iter().filter_map(|line| serde_json::from_str::<Value>(&line.text).ok());
        lines.filter_map(|line| line["event"]["delta"]["text"].as_str().map(str::to_owned)).collect()
    }

    #[test]
    fn lines_are_read_in_order_and_once() {
        let kept = LastLines::default();
        assert_eq!(kept.after(0), RawLines::default());
        push(&kept, RawKind::Known, r#"{"a":1}"#);
        kept.push(8, RawDirection::ToAgent, RawKind::Known, b"{\"b\":2}", 7);
        push(&kept, RawKind::Unreadable, "no JSON");
        let all = kept.after(0);
        assert_eq!(texts(&all), [r#"{"a":1}"#, r#"{"b":2}"#, "no JSON"]);
        assert_eq!((all.last, all.n_unknown, all.n_unreadable, all.n_dropped), (3, 0, 1, 0));
        assert_eq!(all.lines[1].direction, RawDirection::ToAgent);
        assert_eq!(texts(&kept.after(2)), ["no JSON"]);
        let none = kept.after(3);
        assert_eq!((none.lines.len(), none.last, none.n_unreadable), (0, 3, 1));
        assert_eq!(kept.after(99).lines.len(), 3, "a number of an earlier run");
    }

    #[test]
    fn an_unknown_kind_is_kept_longer_than_its_neighbours() {
        let kept = LastLines::default();
        push(&kept, RawKind::Unknown, r#"{"type":"smell"}"#);
        for nr in 0..10_000 {
            push(&kept, RawKind::Known, &format!("{{\"nr\":{nr}}}"));
        }
        let all = kept.after(0);
        assert_eq!((all.lines.len(), all.n_unknown, all.n_dropped), (MOST_LINES + 1, 1, 9_500));
        assert_eq!((all.lines[0].nr, all.lines[0].text.as_str()), (1, r#"{"type":"smell"}"#));
        assert_eq!(all.lines[1].nr, 9_502);
        let later = kept.after(9_000);
        assert_eq!((later.lines.len(), later.n_dropped), (MOST_LINES, 501));
    }

    #[test]
    fn memory_and_answers_are_bounded() {
        let kept = LastLines::default();
        // Each of these bytes is six in an answer.
        let long = "\u{1}".repeat(1 << 20);
        for _ in 0..1_000 {
            push(&kept, RawKind::Unknown, &long);
        }
        let held = kept.lock().clone();
        assert!(held.all.bytes.len() <= MOST_BYTES && held.odd.bytes.len() <= MOST_ODD_BYTES);
        let mut after = 0;
        let mut n_lines = 0;
        loop {
            let answer = kept.after(after);
            assert!(serde_json::to_vec(&answer).unwrap().len() < 1 << 20);
            n_lines += answer.lines.len();
            after = answer.last;
            if !answer.has_more {
                break;
            }
        }
        assert_eq!((after, n_lines), (1_000, held.all.lines.len() + held.odd.lines.len()));
    }

    #[test]
    fn no_secret_is_shown() {
        let kept = LastLines::default();
        let secret = "sk-ant-api03-0123456789abcdef";
        push(&kept, RawKind::Unknown, &json!({"type": "smell", "text": format!("\n{secret} x")}).to_string());
        push(
            &kept,
            RawKind::Known,
            &json!({"signature": "c2lnc2ln", "a": [{"apiKey": "anything"}]}).to_string(),
        );
        push(&kept, RawKind::Unreadable, &format!("export API_KEY={secret} /home/someone/x"));
        kept.push(1, RawDirection::Stderr, RawKind::Known, secret.as_bytes(), secret.len());
        let all = serde_json::to_string(&kept.after(0)).unwrap();
        for secret in ["0123456789", "c2ln", "anything", "someone"] {
            assert!(!all.contains(secret), "{secret} in {all}");
        }
    }

    /// Each delta is looked at as it comes, and neither half of the secret looks like one.
    #[test]
    fn a_secret_in_two_deltas_is_not_shown() {
        for n in 1..20 {
            let kept = LastLines::default();
            let text = "use sk-ant-api03-0123456789abcdef now, and then ";
            let mut shown = String::new();
            let mut after = 0;
            for at in (0..text.len()).step_by(n) {
                push(&kept, RawKind::Known, &delta(&text[at..text.len().min(at + n)]));
                let answer = kept.after(after);
                (after, shown) = (answer.last, shown + &streamed(&answer));
            }
            assert_eq!(shown, "use <key> now, and then ", "in pieces of {n}");
        }
    }

    #[test]
    fn a_secret_without_its_start_is_not_shown() {
        let kept = LastLines::default();
        let texts =
            ["-----BEGIN PRIVATE KEY-----\n", "MIIsecret1\n", "MIIsecret2\n-----END PRIVATE KEY-----\n"];
        for text in texts.into_iter().chain(["It is ", "done, ", "I think."]) {
            push(&kept, RawKind::Known, &delta(text));
        }
        for nr in 0..MOST_LINES - 5 {
            push(&kept, RawKind::Known, &delta(&format!("word{nr} ")));
        }
        let shown = streamed(&kept.after(0));
        assert!(!shown.contains("MII") && shown.contains("done, I think.word0 word1"), "{shown}");
    }

    #[test]
    fn a_long_line_is_cut_before_a_secret_without_its_end() {
        for n in LONGEST - 60..LONGEST {
            let kept = LastLines::default();
            let text = format!("{} sk-ant-api03-0123456789abcdef {}", "x".repeat(n), "y".repeat(LONGEST));
            let line = json!({"type": "smell", "password": "anything", "text": text, "more": 1}).to_string();
            push(&kept, RawKind::Unknown, &line);
            let all = kept.after(0);
            assert!(all.lines[0].text.starts_with(r#"{"type":"smell","password":"<redacted>""#), "{all:?}");
            assert!(!all.lines[0].text.contains("sk-ant"), "{n}");
            assert_eq!(all.lines[0].n_cut as usize, line.len() - LONGEST);
        }
    }
}
