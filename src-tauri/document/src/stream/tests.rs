mod cost;

use proptest::prelude::*;

use super::*;
use crate::highlight::plain_line;
use crate::{Uncoloured, colour_all, compact, markdown};
use deskbell_api::TokenStyle;

/// Applies changes as a window does.
#[derive(Default)]
struct Window {
    blocks: Vec<Block>,
}

impl Window {
    fn apply(&mut self, change: DocumentChange) {
        assert!(change.fits(&self.blocks), "{change:?} of {} blocks", self.blocks.len());
        change.apply(&mut self.blocks);
    }
}

/// Pushes the pieces, takes every `take_every`th change, and compares the result with the whole text.
#[track_caller]
fn check_pieces<'a>(pieces: impl IntoIterator<Item = &'a str>, take_every: usize) -> Stream {
    let mut stream = Stream::default();
    let mut window = Window::default();
    for (idx, piece) in pieces.into_iter().enumerate() {
        stream.push(piece);
        if idx % take_every == 0 {
            stream.take_change().into_iter().for_each(|change| window.apply(change));
            assert_eq!(window.blocks, stream.blocks());
        }
    }
    stream.finish();
    stream.take_change().into_iter().for_each(|change| window.apply(change));
    assert_eq!(
        compact::blocks(stream.blocks()),
        compact::blocks(&markdown(stream.text())),
        "{:?}",
        stream.text()
    );
    assert_eq!(stream.blocks(), markdown(stream.text()));
    assert_eq!(window.blocks, stream.blocks());
    assert_eq!(stream.take_change(), None);
    stream
}

fn pieces(text: &str, len: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut at = len.min(rest.len());
        while !rest.is_char_boundary(at) {
            at += 1;
        }
        let (piece, behind) = rest.split_at(at);
        pieces.push(piece);
        rest = behind;
    }
    pieces
}

/// Checks the change of each piece: `keep+blocks`, `keep…lines` for code, or `keep&list` for a list.
#[track_caller]
fn check_changes(pieces: &[&str], expected: &[&str]) {
    let mut stream = Stream::default();
    let changes: Vec<String> = pieces
        .iter()
        .map(|piece| {
            stream.push(piece);
            match stream.take_change() {
                None => "nothing".to_owned(),
                Some(DocumentChange::Blocks { keep, blocks }) => {
                    format!("{keep}+{}", compact::blocks(&blocks))
                }
                Some(DocumentChange::Code { keep_lines, lines }) => {
                    format!(
                        "{keep_lines}…{}",
                        lines.iter().map(compact::text_of).collect::<Vec<_>>().join("⏎")
                    )
                }
                Some(DocumentChange::Entries { keep, entries }) => {
                    let list = Block::List { start: None, items: entries };
                    format!("{keep}&{}", compact::blocks(&[list]))
                }
            }
        })
        .collect();
    assert_eq!(changes, expected);
}

#[test]
fn only_the_last_block_changes() {
    check_changes(
        &["One", " two", " *three", "*\n\n", "Four\n\n", "# Fi", "ve\n"],
        &[
            "0+p(One)",
            "0+p(One two)",
            "0+p(One two *three)",
            "0+p(One two *three*)",
            "1+p(Four)",
            "2+h1(Fi)",
            "2+h1(Five)",
        ],
    );
}

#[test]
fn code_grows_by_its_lines() {
    check_changes(
        &["a\n\n```rust\nlet", " a;\nlet b", ";\n\n", "``", "`\n", "\n", "b"],
        &["0+p(a) code(rust:let)", "0…let a;⏎let b", "1…let b;⏎", "nothing", "nothing", "nothing", "2+p(b)"],
    );
}

#[test]
fn a_list_grows_by_its_items_and_a_table_by_its_rows() {
    check_changes(
        &["- a\n- b\n", "- c", "\n  - d\n", "\npar", "a"],
        &[
            "0+ul[[p(a)] [p(b)]]",
            "0&ul[[p(a)] [p(b)] [p(c)]]",
            "1&ul[[p(b)] [p(c) ul[[p(d)]]]]",
            "1+p(par)",
            "1+p(para)",
        ],
    );
    check_changes(
        &["|a|\n|-|\n", "|1|\n", "|2", "2|\n", "\n", "x"],
        &[
            "0+table[- a / ]",
            "0+table[- a / 1]",
            "0+table[- a / 1 / 2]",
            "0+table[- a / 1 / 22]",
            "nothing",
            "1+p(x)",
        ],
    );
}

#[test]
fn what_is_settled_is_not_parsed_again() {
    let mut stream = Stream::default();
    stream.push(&"word ".repeat(1_000));
    stream.push("\n\n1. one\n2. two\n\n   ```sh\n   ls\n");
    let n_bytes = stream.bytes_parsed();
    stream.push("   cd\n");
    assert_eq!(stream.bytes_parsed() - n_bytes, "cd\n".len());
}

#[test]
fn definitions_reach_back_at_the_end() {
    let stream = check_pieces(["[a][x] and[^1]\n\n", "more\n\n", "[x]: https://e.org\n[^1]: no", "te"], 1);
    assert_eq!(
        compact::blocks(stream.blocks()),
        "p(link(https://e.org/ @e.org “a”) and[^1]) p(more) footnote 1[p(note)]"
    );
}

#[test]
fn without_credit_text_is_shown_as_it_is() {
    let mut stream = Stream::default();
    stream.push("One *t");
    stream.credit = -100;
    stream.push("wo*");
    assert_eq!(compact::blocks(stream.blocks()), "p(One *two*)");
    assert!(
        matches!(stream.blocks(), [Block::Paragraph { spans }] if matches!(spans[..], [Span::Text { .. }]))
    );
    stream.finish();
    assert_eq!(stream.blocks(), markdown("One *two*"));
}

#[test]
fn a_table_that_comes_to_nothing_cuts_no_paragraph() {
    check_pieces(pieces("|\u{b}\n(-|:|\n|a\\\n|-:-|:|\n|b", 1), 1);
}

#[test]
fn the_whole_text_replaces_what_was_streamed() {
    let mut stream = Stream::default();
    stream.push("One\n\ntwo");
    stream.take_change();
    stream.set_text("One\n\ntwo");
    assert_eq!(stream.take_change(), None);
    stream.set_text("One\n\ntwo three");
    assert!(matches!(stream.take_change(), Some(DocumentChange::Blocks { keep: 1, .. })));
    stream.set_text("One\n\n[x]\n\n[x]: https://e.org");
    stream.finish();
    assert!(matches!(stream.take_change(), Some(DocumentChange::Blocks { keep: 1, .. })));
    assert_eq!(stream.blocks(), markdown(stream.text()));
    stream.set_text("");
    assert_eq!(stream.take_change(), Some(DocumentChange::Blocks { keep: 0, blocks: Vec::new() }));
}

#[test]
fn text_after_the_end_goes_on() {
    let mut stream = Stream::default();
    for piece in ["- a\n  ```\n  b", "\n  ```\n- c[^1]\n\n", "[^1]: d\n", "\ne\n"] {
        stream.push(piece);
        stream.finish();
        assert_eq!(stream.blocks(), markdown(stream.text()));
    }
}

#[test]
fn streams_go_from_thread_to_thread() {
    fn check<T: Send + 'static>() {}
    check::<Stream>();
}

/// Lines and parts of lines with a special meaning for a Markdown parser, mostly in the wrong place.
const LINES: &[&str] = &[
    "",
    "",
    "",
    "\n",
    "text",
    "more *text* here",
    "# Heading",
    "##",
    "===",
    "---",
    "- - -",
    "***",
    "* * *",
    "- a",
    "- b",
    "  - c",
    "    - d",
    "- ",
    "-",
    "* x",
    "+ y",
    "1. one",
    "2. two",
    "10) ten",
    "   1. in",
    "   - in",
    "  in item",
    "   in item",
    "    deep",
    "      deeper",
    "- - a",
    "- 1. b",
    "- [ ] task",
    "- [x] done",
    "-     code",
    "- # h",
    "- > q",
    " - a",
    "  * * *",
    "    * x",
    "-\tx",
    "123456789. x",
    "1234567890. x",
    "```",
    "```",
    "```rust",
    "````",
    "~~~",
    "~~~~ js",
    "  ```",
    "   ~~~",
    "    ```",
    "- ```",
    "  ```py",
    "fn main() {}",
    "let x = \"a\";",
    "/* open",
    "*/",
    "`` ",
    "`code`",
    "``` x",
    "   ```",
    "   code",
    "> quote",
    "> - a",
    ">",
    "> ```",
    "> > b",
    "lazy",
    "    indented",
    "\tindented",
    "\t- tab",
    " \t ",
    "> | a |",
    "| a | b |",
    "|---|:-:|",
    "| 1 | 2 |",
    "a | b",
    "-|-",
    "--|",
    "|",
    "| x",
    "  | 3 | 4 |",
    "  |--|--|",
    "  | a | b |",
    "   | a |",
    "   |---|",
    "| \\| | `|` |",
    ":-",
    "|-",
    "[a]",
    "[A][a]",
    "[^1]",
    "https://example.com",
    "see https://example.com/x_y.",
    "<https://example.com>",
    "[t](https://e.org)",
    "[t](src/x.rs)",
    "![alt](https://e.org/i.png)",
    "<div>",
    "</div>",
    "<!-- c",
    "-->",
    "<pre>",
    "</pre>",
    "<b>x</b>",
    "<b>",
    "a<br>b",
    "<x y",
    "<?php",
    "?>",
    "&amp;",
    "&am",
    "\\*",
    "a  ",
    "a\\",
    "**bold",
    "bold**",
    "_em_ph",
    "~~s~~",
    "äöü 漢字。",
    "🙂",
    "\u{200b}",
    "x\ry",
    "\0",
    "\u{a0}",
    "\u{85}",
    "\u{c}",
];

/// Definitions, which affect earlier text: they make a stream parse the whole text at its end.
const DEFINITIONS: &[&str] =
    &["[a]: https://example.com/a", "[a]: /x \"t", "itle\"", "[^1]: note", "    more note", "[b]:", "[^2]:"];

fn nasty(definitions: bool) -> impl Strategy<Value = String> {
    let end =
        prop_oneof![8 => Just("\n"), 1 => Just("\r\n"), 1 => Just("\r"), 1 => Just(""), 2 => Just("\n\n")];
    let lines = if definitions { [LINES, DEFINITIONS].concat() } else { LINES.to_vec() };
    let line = (prop::sample::select(lines), end).prop_map(|(line, end)| format!("{line}{end}"));
    prop::collection::vec(line, 0..24).prop_map(|lines| lines.concat())
}

/// Cuts a text at the given permille of its length.
fn cut<'a>(text: &'a str, cuts: &[usize]) -> Vec<&'a str> {
    let mut at: Vec<usize> = cuts.iter().map(|cut| text.len() * cut / 1000).collect();
    at.sort_unstable();
    at.push(text.len());
    let mut from = 0;
    let mut pieces = Vec::new();
    for mut to in at {
        while !text.is_char_boundary(to) {
            to += 1;
        }
        if to > from {
            pieces.push(&text[from..to]);
            from = to;
        }
    }
    pieces
}

/// Removes the colours of the very last line, if it is code.
fn bleach_last_line(blocks: &mut [Block]) {
    match blocks.last_mut() {
        Some(Block::Code { lines, .. }) => {
            if let Some(line) = lines.last_mut() {
                let text: String = line.tokens.iter().map(|token| token.text.as_str()).collect();
                *line = plain_line(&text);
            }
        }
        Some(Block::Quote { blocks } | Block::Footnote { blocks, .. }) => bleach_last_line(blocks),
        Some(Block::List { items, .. }) => {
            if let Some(item) = items.last_mut() {
                bleach_last_line(&mut item.blocks);
            }
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn any_cut_gives_the_whole_document(
        text in any::<bool>().prop_flat_map(nasty),
        cuts in prop::collection::vec(0usize..1000, 0..40),
        take_every in 1usize..4,
    ) {
        check_pieces(cut(&text, &cuts), take_every);
    }

    #[test]
    fn character_by_character_gives_the_whole_document(text in any::<bool>().prop_flat_map(nasty)) {
        check_pieces(pieces(&text, 1), 1);
    }

    /// As long as there is credit, a stream always shows the document of the text so far, except for the colours of an
    /// incomplete line of code.
    #[test]
    fn every_moment_shows_the_document_so_far(
        text in nasty(false),
        cuts in prop::collection::vec(0usize..1000, 0..40),
    ) {
        let mut stream = Stream::default();
        for piece in cut(&text, &cuts) {
            stream.credit = isize::MAX / 2;
            stream.push(piece);
            let last_line = stream.text.rsplit(['\n', '\r']).next().unwrap_or_default();
            let about_to_close = last_line.chars().all(|c| matches!(c, ' ' | '\x0b' | '\x0c' | '`' | '~')) && !last_line.is_empty();
            if !about_to_close {
                let [mut shown, mut meant] = [stream.blocks().to_vec(), markdown(stream.text())];
                [&mut shown, &mut meant].into_iter().for_each(|blocks| bleach_last_line(blocks));
                prop_assert_eq!(shown, meant, "{:?}", stream.text());
            }
        }
    }
}

/// Runs all pending colour jobs. Returns how many bytes were coloured.
fn colour(stream: &mut Stream) -> usize {
    let mut n_bytes = 0;
    while let Some(job) = stream.uncoloured() {
        n_bytes += job.n_bytes();
        stream.colour(job.colour());
    }
    n_bytes
}

fn coloured(text: &str) -> Vec<Block> {
    let mut blocks = markdown(text);
    colour_all(&mut blocks);
    blocks
}

/// With small pieces, a line is coloured before it is complete, and at most three times as many bytes are coloured as
/// it has.
#[test]
fn a_line_of_code_is_coloured_again_when_it_is_twice_as_long() {
    let line = "let held = session.rows(1).ok_or(\"none\")?; // one";
    let mut stream = Stream::default();
    stream.push("```rust\n");
    let mut n_bytes = 0;
    for _ in 0..20 {
        for piece in pieces(line, 1) {
            stream.push(piece);
            n_bytes += colour(&mut stream);
        }
        let Some([Block::Code { lines, .. }]) = Some(stream.blocks()) else { panic!("no code") };
        let is_coloured = |token: &deskbell_api::Token| token.style != TokenStyle::Plain;
        assert!(lines.last().unwrap().tokens.iter().any(is_coloured));
        stream.push("\n");
        n_bytes += colour(&mut stream);
    }
    assert!(n_bytes <= 3 * 20 * (line.len() + 1), "{n_bytes} bytes were coloured");
    assert_eq!(stream.blocks(), coloured(stream.text()));
}

/// A window that applies every change has the same colours as the stream, and a line keeps its colours while it grows.
#[test]
fn colours_arrive_as_changes() {
    let mut stream = Stream::default();
    let mut window = Window::default();
    for piece in [
        "a\n\n```rust\nlet a",
        " = 1;\nlet b;\n",
        "```\n\n- b\n\n  ```js\n  x /* was",
        " y */ = 1;\n  ```\n\nc",
    ] {
        stream.push(piece);
        stream.take_change().into_iter().for_each(|change| window.apply(change));
        assert!(colour(&mut stream) > 0);
        stream.take_change().into_iter().for_each(|change| window.apply(change));
        assert_eq!(window.blocks, stream.blocks());
        assert_eq!(window.blocks, coloured(stream.text()), "{:?}", stream.text());
    }
    stream.push("d");
    assert_eq!(colour(&mut stream), 0, "code was coloured again");
}

/// The result for code that was replaced in the meantime changes nothing.
#[test]
fn colours_of_code_that_is_gone_are_dropped() {
    let mut stream = Stream::default();
    stream.push("```rust\nlet a;\n");
    let job = stream.uncoloured().unwrap();
    assert!(stream.uncoloured().is_none(), "two jobs at once");
    stream.set_text("```rust\nlet c;\n```\n");
    stream.finish();
    assert!(!stream.colour(job.colour()));
    assert_eq!(stream.blocks(), markdown(stream.text()));
    colour(&mut stream);
    assert_eq!(stream.blocks(), coloured(stream.text()));
}

/// A job that failed leaves its code plain and is not repeated.
#[test]
fn code_that_cannot_be_coloured_stays_plain() {
    let mut stream = Stream::default();
    stream.push("```rust\nlet a;\n");
    let job = stream.uncoloured().unwrap();
    stream.colour(job.failed());
    stream.push("let b;\n```\n\n```rust\nlet c;\n```\n");
    stream.finish();
    colour(&mut stream);
    assert_eq!(compact::blocks(stream.blocks()), compact::blocks(&markdown(stream.text())));
    let [Block::Code { lines: first, .. }, Block::Code { lines: second, .. }] = stream.blocks() else {
        panic!("{:?}", stream.blocks())
    };
    assert_eq!(compact::lines(first), "let a;⏎let b;");
    assert_eq!(compact::lines(second), "keyword‹let› c;");
}

proptest! {
    /// Whenever colours arrive, in the end they equal those of the whole document.
    #[test]
    fn colours_that_arrive_at_any_time_are_those_of_the_whole(
        text in nasty(true),
        cuts in prop::collection::vec(0usize..1000, 0..40),
        delays in prop::collection::vec(0usize..4, 1..8),
    ) {
        let (mut stream, mut window, mut job) = (Stream::default(), Window::default(), None);
        for (nr, piece) in cut(&text, &cuts).into_iter().enumerate() {
            stream.push(piece);
            match delays[nr % delays.len()] {
                0 => job = job.or_else(|| stream.uncoloured()),
                1 => {
                    if let Some(job) = job.take() {
                        stream.colour(Uncoloured::colour(job));
                    }
                }
                2 => stream.take_change().into_iter().for_each(|change| window.apply(change)),
                _ => {}
            }
        }
        stream.finish();
        if let Some(job) = job {
            stream.colour(job.colour());
        }
        colour(&mut stream);
        stream.take_change().into_iter().for_each(|change| window.apply(change));
        prop_assert_eq!(stream.blocks(), coloured(&text), "{:?}", text);
        prop_assert_eq!(window.blocks.as_slice(), stream.blocks());
    }
}
