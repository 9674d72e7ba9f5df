//! Tests with hostile input: processing takes bounded time, and nothing panics or overflows the stack.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use deskbell_api::Block;

/// Much longer than any of these tests takes, and much shorter than quadratic work would take.
const LONG: Duration = Duration::from_secs(60);

/// Parses Markdown whole and in pieces on a small stack, and checks that its JSON can be parsed again.
#[track_caller]
fn check_markdown(name: &str, text: &str) {
    let started_at = Instant::now();
    let blocks = std::thread::scope(|scope| {
        let read = || {
            let blocks = markdown(text);
            let mut stream = Stream::default();
            let mut rest = text;
            while !rest.is_empty() {
                let len = rest.char_indices().nth(text.len() / 200 + 1).map_or(rest.len(), |(at, _)| at);
                stream.push(&rest[..len]);
                stream.take_change();
                rest = &rest[len..];
            }
            stream.finish();
            assert_eq!(compact::blocks(stream.blocks()), compact::blocks(&blocks), "{name}");
            assert!(stream.bytes_parsed() <= 5 * text.len() + 8192, "{name}: {}", stream.bytes_parsed());
            blocks
        };
        std::thread::Builder::new().stack_size(1 << 20).spawn_scoped(scope, read).unwrap().join().unwrap()
    });
    check_json(&blocks);
    let elapsed = started_at.elapsed();
    assert!(elapsed < LONG, "{name} took {elapsed:?}");
}

#[track_caller]
fn check_json(blocks: &[Block]) {
    // Nested as deeply as in a real event: plan, request, session, project view.
    let event = serde_json::json!({ "a": [{ "b": [{ "c": [{ "d": { "e": blocks } }] }] }] }).to_string();
    serde_json::from_str::<serde_json::Value>(&event).unwrap();
}

#[test]
fn nesting_bombs() {
    for (name, part) in [
        ("quotes", ">"),
        ("quotes apart", "> "),
        ("stars", "*"),
        ("underscores", "_a"),
        ("brackets", "["),
        ("images", "!["),
        ("links", "[a]("),
        ("closing brackets", "]"),
        ("bullets", "- "),
        ("numbers", "1. "),
        ("bullets and quotes", "- > "),
        ("backticks", "`"),
        ("tildes", "~"),
        ("tags", "<a"),
        ("comments", "<!--"),
        ("declarations", "<!A "),
        ("processing", "<?"),
        ("character data", "<![CDATA["),
        ("entities", "&amp"),
        ("backslashes", "\\"),
        ("pipes", "|"),
        ("autolinks", "http://"),
        ("bad hosts", "http://["),
        ("footnotes", "[^a]:"),
        ("notes", "[^a]"),
        ("strong", "**a "),
        ("nested emphasis", "*a **b "),
        ("strikes", "~~a"),
        ("spaces", "  \t"),
    ] {
        check_markdown(name, &part.repeat(100_000 / part.len()));
        check_markdown(name, &format!("{}a\n{0}b", part.repeat(10_000 / part.len())));
    }
}

#[test]
fn many_small_lines() {
    for (name, line) in [
        ("definitions", "[a]: b\n"),
        ("definitions used", "[a]: b\n\n[a]\n\n"),
        ("deeper and deeper", "- a\n"),
        ("bullets", "-\n"),
        ("headings", "#\n"),
        ("rules", "---\n\n"),
        ("fences", "```\n\n"),
        ("rows", "|a|\n"),
        ("table", "|a|b|\n|-|-|\n"),
        ("html", "<div>\n"),
        ("footnotes", "[^a]: b\n"),
        ("tight code", "- ```\n"),
        ("carriage returns", "a\r"),
        ("blank", "\n"),
    ] {
        check_markdown(name, &line.repeat(60_000 / line.len()));
    }
    let staircase: String = (0..300).map(|depth| format!("{}- a\n", " ".repeat(2 * depth))).collect();
    check_markdown("staircase", &staircase);
    let stairs_back: String = (0..300).map(|depth| format!("{}a\n", ">".repeat(300 - depth))).collect();
    check_markdown("stairs back", &stairs_back);
    let wide = format!("|{}\n|{}\n{}", "a|".repeat(2_000), "-|".repeat(2_000), "|a|\n".repeat(100));
    check_markdown("wide table", &wide);
}

#[test]
fn huge_lines_and_blocks() {
    check_markdown("one paragraph", &"word *and* word ".repeat(20_000));
    check_markdown("one line of code", &format!("```rust\n{}\n```\n", "let x = 1; ".repeat(100_000)));
    check_markdown("much code", &format!("```js\n{}```\n", "f(a, 'b');\n".repeat(24_000)));
    check_markdown("code without an end", &format!("- a\n  ~~~\n{}", "  x\n".repeat(20_000)));
    check_markdown("one quote", &"> words and words\n".repeat(10_000));
    check_markdown("one list", &"- words\n  and words\n\n".repeat(8_000));
    check_markdown("unicode", &"🙂é漢\u{202e}\u{200d}".repeat(20_000));
}

#[test]
fn code_that_tries_the_patterns() {
    let started_at = Instant::now();
    for language in
        ["rust", "ts", "tsx", "py", "c", "cpp", "java", "sh", "json", "yaml", "html", "css", "sql", "md"]
    {
        for part in
            ["(", "[{", "<a ", "\"\\", "/*", "'", "$(", "${", "a.b.", "=>", "::<", "0x", "#{", "  ", "-"]
        {
            let line = part.repeat(1_000 / part.len());
            assert_eq!(highlight(Some(language), &line).len(), 1);
        }
        assert_eq!(highlight(Some(language), &" ".repeat(4_000)).len(), 1);
    }
    let elapsed = started_at.elapsed();
    assert!(elapsed < LONG, "took {elapsed:?}");
}

#[test]
fn changes_of_everything() {
    let started_at = Instant::now();
    let numbered =
        |offset: usize| (0..100_000).map(move |line| format!("{}\n", (line * 7919 + offset) % 100_003));
    let (old, new): (String, String) = (numbered(0).collect(), numbered(1).collect());
    assert!(diff("a", &old, &new).added > 0);
    let (old, new) = ("ab ".repeat(400_000), "ba ".repeat(400_000));
    assert_eq!((diff("a", &old, &new).added, diff_unplaced("a", &old, &new).removed), (1, 1));
    let elapsed = started_at.elapsed();
    assert!(elapsed < LONG, "took {elapsed:?}");
}

#[test]
fn terminal_garbage() {
    let started_at = Instant::now();
    for part in [
        "\x1b[1;31m",
        "\x1b]0;",
        "\x1b[",
        "\x1bP",
        "\x1b[38;5",
        "\x1b[38;2;1;2;3ma",
        "\r",
        "\x08",
        "a\x08",
        "\u{9b}",
        "a\r",
    ] {
        terminal(&part.repeat(1_000_000 / part.len()));
    }
    let elapsed = started_at.elapsed();
    assert!(elapsed < LONG, "took {elapsed:?}");
}

proptest! {
    #[test]
    fn any_text_is_read(text in "(?s).{0,400}", other in "(?s).{0,400}") {
        check_json(&markdown(&text));
        highlight(Some("rs"), &text);
        terminal(&text);
        diff("a", &text, &other);
        diff_unplaced("a", &text, &other);
    }

    #[test]
    fn marks_in_any_order_are_read(text in "[-*+_`~#>|<>\\[\\]()!&:;=.1-9a \n\r\t\\\\^\"'/\x1b]{0,300}") {
        let blocks = markdown(&text);
        check_json(&blocks);
        let mut stream = Stream::default();
        text.chars().for_each(|c| stream.push(c.encode_utf8(&mut [0; 4])));
        stream.finish();
        prop_assert_eq!(stream.blocks(), blocks);
    }
}
