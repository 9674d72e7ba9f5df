//! Hostile agent output: texts that attack their reader. `tests/hostile/output` has a file for each class.
//!
//! A line is a name, a colon and a text. In the text a backslash escapes as in Rust (`\n`, `\u{202e}`; also `\s{d800}`,
//! half of a surrogate pair), and guillemets stand for text that would be long or is known only at run time:
//!
//! | | |
//! |---|---|
//! | `«run»` | a statement that leaves a mark in the page if it is run |
//! | `«trap»`, `«host»` | an address that listens, with its scheme and without |
//! | `«20×text»` | the text, repeated 20 times |
//! | `«c0»`, `«c1»` | each control character of that set, between letters |
//! | `«tags»` | a command in tag characters, which are invisible |
//! | `«stairs»`, `«stairs-tasks»` | a list, each item nested deeper than the previous one |

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

/// The classes, each a file.
pub const CLASSES: [&str; 10] = [
    "html", "handlers", "vector", "beacons", "schemes", "terminal", "unicode", "markdown", "nesting", "long",
];

/// The replacement for `«run»`: no quotes, no brackets and no spaces, so that it fits anywhere.
pub const MARK: &str = "top.ran=1";

// Half a surrogate pair is not a `char`; until it is written as JSON, its code stands between two of these.
const HALF_BEGINS: char = '\u{fdd0}';
const HALF_ENDS: char = '\u{fdd1}';

/// One input.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its class and its own name.
    pub name: String,
    pub text: String,
}

/// The inputs of a class, with `host` (`127.0.0.1:4711`) as the listening address.
pub fn class(class: &str, host: &str) -> Result<Vec<Input>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("hostile/output/{class}.txt"));
    let lines = std::fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
    let inputs = lines.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let (name, text) = line.split_once(": ").with_context(|| format!("no name: {line}"))?;
        let mut rest = text;
        let text = expand(&mut rest, host).with_context(|| format!("{class}/{name}"))?;
        ensure!(rest.is_empty(), "{class}/{name}: a » without its «");
        Ok(Input { name: format!("{class}/{name}"), text })
    });
    inputs.collect()
}

/// A message of the agent as a line of JSON, with all surrogates of its text.
pub fn line(message: &Value) -> String {
    let mut line = message.to_string().replace(HALF_BEGINS, "\\u").replace(HALF_ENDS, "");
    line.push('\n');
    line
}

/// Reads up to a `»` that was not opened here, or to the end.
fn expand(rest: &mut &str, host: &str) -> Result<String> {
    let mut text = String::new();
    while let Some(at) = rest.find(['\\', '«', '»']) {
        text.push_str(&rest[..at]);
        let after = &rest[at..];
        if after.starts_with('»') {
            *rest = after;
            return Ok(text);
        }
        if let Some(escape) = after.strip_prefix('\\') {
            *rest = escape;
            unescape(rest, &mut text)?;
        } else {
            *rest = &after['«'.len_utf8()..];
            text.push_str(&placeholder(rest, host)?);
            *rest = rest.strip_prefix('»').context("a « without its »")?;
        }
    }
    text.push_str(rest);
    *rest = "";
    Ok(text)
}

fn placeholder(rest: &mut &str, host: &str) -> Result<String> {
    if let Some((count, inner)) = rest.split_once('×')
        && let Ok(count) = count.parse()
    {
        *rest = inner;
        return Ok(expand(rest, host)?.repeat(count));
    }
    let (name, after) = rest.split_at(rest.find('»').context("a « without its »")?);
    *rest = after;
    Ok(match name {
        "run" => MARK.to_owned(),
        "trap" => format!("http://{host}"),
        "host" => host.to_owned(),
        "c0" => between_letters('\0'..' '),
        "c1" => between_letters('\u{80}'..'\u{a0}'),
        "tags" => "rm -rf ~".chars().filter_map(|c| char::from_u32(0xe0000 + u32::from(c))).collect(),
        "stairs" => stairs("- a"),
        "stairs-tasks" => stairs("- [ ] a"),
        _ => bail!("«{name}» is not known"),
    })
}

fn between_letters(controls: std::ops::Range<char>) -> String {
    controls.map(|control| format!("a{control}")).collect()
}

fn stairs(item: &str) -> String {
    (0..300).fold(String::new(), |mut stairs, depth| {
        // Writing to a string cannot fail.
        let _ = writeln!(stairs, "{:width$}{item}", "", width = 2 * depth);
        stairs
    })
}

fn unescape(rest: &mut &str, text: &mut String) -> Result<()> {
    let kind = rest.chars().next().context("a backslash at the end")?;
    *rest = &rest[kind.len_utf8()..];
    match kind {
        'n' => text.push('\n'),
        'r' => text.push('\r'),
        't' => text.push('\t'),
        '\\' => text.push('\\'),
        'u' => {
            let digits = braced(rest)?;
            let code = u32::from_str_radix(digits, 16)?;
            text.push(char::from_u32(code).with_context(|| format!("{digits} is no character"))?);
        }
        's' => {
            let digits = braced(rest)?;
            text.extend([HALF_BEGINS].into_iter().chain(digits.chars()).chain([HALF_ENDS]));
        }
        // Any other character stands for itself: `\(` in Markdown is written `\\(`, but `'\'x'` reads better so.
        other => text.push(other),
    }
    Ok(())
}

fn braced<'a>(rest: &mut &'a str) -> Result<&'a str> {
    let inner = rest.strip_prefix('{').context("{ is missing")?;
    let (digits, after) = inner.split_once('}').context("} is missing")?;
    *rest = after;
    Ok(digits)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const HOST: &str = "127.0.0.1:1";

    fn expanded(text: &str) -> String {
        let mut rest = text;
        let text = expand(&mut rest, HOST).unwrap();
        assert_eq!(rest, "");
        text
    }

    #[test]
    fn there_are_enough_and_each_has_a_name_and_a_text_of_its_own() {
        let mut names = HashSet::new();
        let mut texts = HashSet::new();
        for name in CLASSES.iter().filter(|name| **name != "long") {
            for input in class(name, HOST).unwrap() {
                assert!(!input.text.is_empty(), "{} is empty", input.name);
                assert!(texts.insert(input.text), "{} is there twice", input.name);
                assert!(names.insert(input.name.clone()), "{} is a name twice", input.name);
            }
        }
        assert!(names.len() >= 900, "{}", names.len());
        assert!(class("long", HOST).unwrap().iter().all(|input| input.text.len() >= 10_000_000));
    }

    #[test]
    fn every_file_is_a_class() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("hostile/output");
        for entry in std::fs::read_dir(folder).unwrap() {
            let file = entry.unwrap().file_name().into_string().unwrap();
            assert!(CLASSES.contains(&file.trim_end_matches(".txt")), "{file}");
        }
    }

    #[test]
    fn texts_are_expanded() {
        assert_eq!(expanded("a«3×b«2×c»»\\n\\u{41}"), "abccbccbcc\nA");
        assert_eq!(expanded("«trap»/x «host» «run»"), "http://127.0.0.1:1/x 127.0.0.1:1 top.ran=1");
        assert_eq!(expanded("«c0»").chars().count(), 64);
        for broken in ["«", "«2×a", "a»", "«what»", "\\", "\\u{110000}"] {
            let mut rest = broken;
            assert!(expand(&mut rest, HOST).is_err() || !rest.is_empty(), "{broken}");
        }
    }

    #[test]
    fn half_a_pair_is_written_as_the_agent_would() {
        let text = expanded("a\\s{d800}b");
        assert_eq!(line(&serde_json::json!({ "t": text })), "{\"t\":\"a\\ud800b\"}\n");
    }
}
