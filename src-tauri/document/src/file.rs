//! Files that a text names: `src/money.rs:15`, `[money](src/money.rs#L15)`, `file:///p/a%20b.md`. Whether they exist is
//! not known here.

use deskbell_api::Span;

use super::link::{ends_url, trimmed_len};

/// Maximum length of a path with its line, in bytes.
const LONGEST: usize = 512;
/// Maximum number of files in one paragraph, heading or cell. The rest stays text.
const MOST: usize = 100;

/// A file as a text names it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub path: String,
    /// Counted from 1.
    pub line: Option<u32>,
}

/// The number of files that a paragraph may still name.
pub(super) struct Room(usize);

impl Default for Room {
    fn default() -> Self {
        Self(MOST)
    }
}

impl Room {
    fn take(&mut self, named: Option<Named>) -> Option<Named> {
        let named = named.filter(|_| self.0 > 0)?;
        self.0 -= 1;
        Some(named)
    }

    /// A code span, as a file if it names one.
    pub fn code(&mut self, text: String) -> Span {
        match self.take(of_code(&text)) {
            Some(Named { path, line }) => {
                Span::File { path, line, destination: None, spans: vec![Span::Code { text }] }
            }
            None => Span::Code { text },
        }
    }

    /// The file that a link leads to.
    pub fn destination(&mut self, destination: &str) -> Option<Named> {
        self.take(of_destination(destination))
    }

    /// Splits text at the files in it: a path with an extension, and with a folder or a line.
    pub fn text(&mut self, text: String, spans: &mut Vec<Span>) {
        let mut plain_from = 0;
        let mut word_from = 0;
        while let Some(begin) = text[word_from..].find(|c| !ends_word(c)).map(|at| word_from + at) {
            let end = text[begin..].find(ends_word).map_or(text.len(), |len| begin + len);
            word_from = end;
            let start = begin + text[begin..end].find(|c| !opens(c)).unwrap_or(end - begin);
            let word = &text[start..start + trimmed_len(&text[start..end])];
            let Some(Named { path, line }) = self.take(of_word(word)) else { continue };
            if start > plain_from {
                spans.push(Span::Text { text: text[plain_from..start].to_owned() });
            }
            plain_from = start + word.len();
            let spoken = vec![Span::Text { text: word.to_owned() }];
            spans.push(Span::File { path, line, destination: None, spans: spoken });
        }
        if plain_from == 0 {
            spans.push(Span::Text { text });
        } else if plain_from < text.len() {
            spans.push(Span::Text { text: text[plain_from..].to_owned() });
        }
    }
}

fn ends_word(c: char) -> bool {
    ends_url(c) || matches!(c, '|' | '*')
}

fn opens(c: char) -> bool {
    matches!(c, '(' | '[' | '{' | '\'')
}

fn of_word(word: &str) -> Option<Named> {
    // Most words are neither.
    if !word.contains(['/', '\\', ':', '#']) {
        return None;
    }
    let (path, line) = split_line(word);
    (has_extension(path) && (line.is_some() || path.contains(['/', '\\']))).then_some(())?;
    named(path, line)
}

fn of_code(text: &str) -> Option<Named> {
    let (path, line) = split_line(text);
    (line.is_some() || path.contains(['/', '\\']) || has_extension(path)).then_some(())?;
    named(path, line)
}

fn of_destination(destination: &str) -> Option<Named> {
    if destination.len() > LONGEST {
        return None;
    }
    let (destination, is_url) = match destination.get(..7) {
        Some(scheme) if scheme.eq_ignore_ascii_case("file://") => {
            let rest = &destination[7..];
            // A file of another host is none of this one.
            let path = rest.strip_prefix("localhost").unwrap_or(rest);
            (path.starts_with('/').then_some(path)?, true)
        }
        _ => (destination, false),
    };
    let (path, mut line) = match destination.split_once('#') {
        Some((path, fragment)) => (path, line_of_fragment(fragment)),
        None => (destination, None),
    };
    let path = percent_decoded(path)?;
    let mut path = path.as_str();
    if line.is_none() {
        (path, line) = split_line(path);
    }
    // `/C:/p/a.rs`
    let drive = path.strip_prefix('/').filter(|path| is_url && drive_len(path) > 0);
    named(drive.unwrap_or(path), line)
}

/// Splits a path from its line: `:15`, `:15:3`, `:15-20`, `#L15`, `#L15-L20`.
fn split_line(text: &str) -> (&str, Option<u32>) {
    if let Some((path, fragment)) = text.rsplit_once('#')
        && let Some(line) = line_of_fragment(fragment)
    {
        return (path, Some(line));
    }
    // `15:3` or `15-20` or `15`, read from its end.
    let digits = |text: &str| text.len() - text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let last = digits(text);
    let before = &text[..text.len() - last];
    if last == 0 || !before.ends_with([':', '-']) {
        return (text, None);
    }
    let shorter = &before[..before.len() - 1];
    let first = digits(shorter);
    let (path, line) = match shorter[..shorter.len() - first].strip_suffix(':') {
        Some(path) if first > 0 => (path, &shorter[shorter.len() - first..]),
        _ if before.ends_with(':') => (shorter, &text[text.len() - last..]),
        _ => return (text, None),
    };
    match line.parse() {
        Ok(line) if line > 0 => (path, Some(line)),
        _ => (path, None),
    }
}

/// `L15`, `L15-L20`, `L15C3`.
fn line_of_fragment(fragment: &str) -> Option<u32> {
    let rest = fragment.strip_prefix(['L', 'l'])?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let is_range =
        rest[end..].chars().all(|c| c.is_ascii_digit() || matches!(c, 'L' | 'l' | 'C' | 'c' | '-'));
    rest[..end].parse().ok().filter(|line| is_range && *line > 0)
}

/// Whether the last part of a path has an extension, or is one: `a.rs`, `.env`.
fn has_extension(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(_, extension)| {
        (1..=12).contains(&extension.len())
            && extension.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
            && extension.chars().any(|c| c.is_ascii_alphabetic())
    })
}

/// The length of `C:` in front of a separator.
fn drive_len(path: &str) -> usize {
    let bytes = path.as_bytes();
    let is_drive = bytes.len() > 2
        && bytes[0].is_ascii_alphabetic()
        && bytes[1] == b':'
        && matches!(bytes[2], b'/' | b'\\');
    if is_drive { 2 } else { 0 }
}

/// Refuses what cannot be the path of a file, and what may be read as another one.
fn named(path: &str, line: Option<u32>) -> Option<Named> {
    let is_separator = |c: Option<char>| matches!(c, Some('/' | '\\'));
    let mut chars = path.chars();
    // `//host/share` is on another machine: looking it up would send the user's name there.
    let is_share = is_separator(chars.next()) && is_separator(chars.next());
    let is_path = !path.is_empty()
        && path.len() <= LONGEST
        && path.trim() == path
        && !is_share
        && !is_separator(path.chars().next_back())
        && !path[drive_len(path)..].contains([':', '<', '>', '"', '|', '*', '?', '`'])
        && !path.chars().any(misleads);
    is_path.then(|| Named { path: path.to_owned(), line })
}

/// Controls, and characters that are not seen or change the direction of what is around them.
fn misleads(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{feff}' | '\u{fff9}'..='\u{fffd}')
}

/// Replaces `%20` and the like. A `%` that begins no such code stays. `None` if the bytes are no text.
fn percent_decoded(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let code = (byte == b'%').then(|| Some(digit(at + 1)? * 16 + digit(at + 2)?)).flatten();
        decoded.push(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(byte));
        at += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8(decoded).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{compact, markdown};

    #[track_caller]
    fn check(source: &str, expected: &str) {
        assert_eq!(compact::blocks(&markdown(source)), expected, "{source}");
    }

    #[track_caller]
    fn check_destination(destination: &str, expected: Option<(&str, Option<u32>)>) {
        let named = of_destination(destination);
        assert_eq!(named.as_ref().map(|named| (named.path.as_str(), named.line)), expected, "{destination}");
    }

    #[test]
    fn code_that_reads_as_a_path_is_a_file() {
        check("`src/money.rs:15`", "p(file(src/money.rs:15 “`src/money.rs:15`”))");
        check("`src/money.rs:15:3`", "p(file(src/money.rs:15 “`src/money.rs:15:3`”))");
        check("`src/money.rs:15-20`", "p(file(src/money.rs:15 “`src/money.rs:15-20`”))");
        check("`src/money.rs#L15-L20`", "p(file(src/money.rs:15 “`src/money.rs#L15-L20`”))");
        check("`Cargo.toml`", "p(file(Cargo.toml “`Cargo.toml`”))");
        check("`.env`", "p(file(.env “`.env`”))");
        check("`Makefile:3`", "p(file(Makefile:3 “`Makefile:3`”))");
        check("`src/a b.md`", "p(file(src/a b.md “`src/a b.md`”))");
        check("`app/[id]/(x)/page.tsx`", "p(file(app/[id]/(x)/page.tsx “`app/[id]/(x)/page.tsx`”))");
        check("`C:\\p\\a.rs:7`", "p(file(C:\\p\\a.rs:7 “`C:\\p\\a.rs:7`”))");
        check("**`a/b`**", "p(**file(a/b “`a/b`”)**)");
        for code in ["cargo", "v1.2", "a::b()", "https://e.org/a.rs", "src/*.rs", "src/", "a\u{202e}b/c.rs"] {
            check(&format!("`{code}`"), &format!("p(`{code}`)"));
        }
    }

    #[test]
    fn words_with_a_folder_or_a_line_are_files() {
        check("see src/a.rs:8.", "p(see file(src/a.rs:8 “src/a.rs:8”).)");
        check("(src/a.rs, b.rs:7)", "p((file(src/a.rs “src/a.rs”), file(b.rs:7 “b.rs:7”)))");
        check(
            "“./a/b_c.rs” and https://e.org/a.rs",
            "p(“file(./a/b_c.rs “./a/b_c.rs”)” and link(https://e.org/a.rs @e.org “https://e.org/a.rs”))",
        );
        check("在src/a.rs。", "p(file(在src/a.rs “在src/a.rs”)。)");
        for words in ["and/or a.rs, e.g. 3/4.5 at 12:30", "//host/share/a.rs", "ftp://e.org/a.rs", "a/b:c.rs"]
        {
            check(words, &format!("p({words})"));
        }
    }

    #[test]
    fn a_link_to_a_file_keeps_its_destination() {
        check("[main](src/main.rs#L7)", "p(file(src/main.rs:7 “main” `src/main.rs#L7`))");
        check("[README.md](README.md)", "p(file(README.md “README.md”))");
        check("[*a* b](<src/a b.rs>)", "p(file(src/a b.rs “*a* b” `src/a b.rs`))");
        check("[see `a/b.rs`](c.rs)", "p(file(c.rs “see `a/b.rs`” `c.rs`))");
    }

    #[test]
    fn destinations_are_decoded_and_split_from_their_line() {
        for (destination, path, line) in [
            ("src/plain.rs:12", "src/plain.rs", Some(12)),
            ("src/plain.rs:12:5", "src/plain.rs", Some(12)),
            ("src/plain.rs#L12", "src/plain.rs", Some(12)),
            ("src/plain.rs#L12-L20", "src/plain.rs", Some(12)),
            ("src/plain.rs#L12C5-L20C3", "src/plain.rs", Some(12)),
            ("README.md#usage", "README.md", None),
            ("src/a%20b.md", "src/a b.md", None),
            ("src/100%25.md", "src/100%.md", None),
            ("src/100%.md", "src/100%.md", None),
            ("src/h%231.md", "src/h#1.md", None),
            ("/p/src/a.rs", "/p/src/a.rs", None),
            ("../../etc/passwd", "../../etc/passwd", None),
            ("file:///p/a%20b.md#L3", "/p/a b.md", Some(3)),
            ("FILE://localhost/p/a.md", "/p/a.md", None),
            ("file:///C:/p/a.md:4", "C:/p/a.md", Some(4)),
            ("Makefile", "Makefile", None),
            ("a.rs:0", "a.rs", None),
        ] {
            check_destination(destination, Some((path, line)));
        }
    }

    #[test]
    fn hostile_destinations_are_no_files() {
        let long = format!("{}.rs", "x".repeat(LONGEST));
        for destination in [
            "javascript:alert(1)",
            "vscode://file/x",
            "data:text/html,x",
            "file://server/share/a.rs",
            "file:relative.rs",
            "//server/share/a.rs",
            "\\\\server\\share\\a.rs",
            "/\\server/a.rs",
            "file:////server/a.rs",
            "%2F%2Fserver/a.rs",
            "\\\\?\\C:\\a.rs",
            "a.rs:stream",
            "a%00.rs",
            "a%0A.rs",
            "a%1B[2J.rs",
            "a%E2%80%AErs.exe",
            "a%FF.rs",
            "a%3Ab.rs",
            "#part",
            "src/",
            " ",
            "",
            &long,
        ] {
            check_destination(destination, None);
        }
        // A file of this name can be in the folder.
        check_destination("javascript:1", Some(("javascript", Some(1))));
    }

    #[test]
    fn a_paragraph_names_a_bounded_number_of_files() {
        let count = |source: &str| compact::blocks(&markdown(source)).matches("file(").count();
        assert_eq!(count(&"`a/b.rs` c/d.rs ".repeat(10_000)), MOST);
        assert_eq!(count(&"[a](b.rs) ".repeat(10_000)), MOST);
        assert_eq!(count(&format!("{0}\n\n{0}", "`a/b.rs` ".repeat(200))), 2 * MOST);
    }
}
