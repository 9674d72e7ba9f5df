//! Prints the changes of a Markdown text that arrives in pieces.
//!
//! Reads the text from stdin and pushes it in pieces of as many characters as the first argument says (32 if there is
//! none). Prints one JSON object for each piece that changed the document: `{"keep":1,"blocks":[…]}` or
//! `{"keepLines":1,"lines":[…]}`, with `"at"`, the number of bytes pushed so far. `ui/shots/rows.js` draws them.

use deskbell_document::{DocumentChange, Stream};
use serde_json::json;
use std::io::{self, Read, Write};

fn main() -> io::Result<()> {
    let size = match std::env::args().nth(1) {
        Some(size) => size.parse().map_err(io::Error::other)?,
        None => 32,
    };
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut stream = Stream::default();
    let chars: Vec<char> = text.chars().collect();
    let mut at = 0;
    for piece in chars.chunks(std::cmp::max(1, size)) {
        let piece: String = piece.iter().collect();
        at += piece.len();
        stream.push(&piece);
        print(&mut out, &mut stream, at)?;
    }
    stream.finish();
    print(&mut out, &mut stream, at)?;
    out.flush()
}

fn print(out: &mut impl Write, stream: &mut Stream, at: usize) -> io::Result<()> {
    match stream.take_change() {
        Some(DocumentChange::Blocks { keep, blocks }) => {
            writeln!(out, "{}", json!({ "at": at, "keep": keep, "blocks": blocks }))
        }
        Some(DocumentChange::Code { keep_lines, lines }) => {
            writeln!(out, "{}", json!({ "at": at, "keepLines": keep_lines, "lines": lines }))
        }
        None => Ok(()),
    }
}
