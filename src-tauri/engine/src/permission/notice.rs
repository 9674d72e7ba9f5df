//! Notices about misleading parts of a request, the same for the card and the dialog.
//!
//! Every code point of every string in the whole input is checked, including keys. A false notice only costs a look at
//! the card. A notice describes what the request contains, and never claims bad intent.

use super::address;
use crate::agent::{ToolRequest, json};
use crate::api::{Notice, NoticeKind, RequestKind};
use crate::misleading::{code, oddity, written_out};
use regex::Regex;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use unicode_security::confusable_detection::skeleton;

/// This many blanks or new lines in a row move the text after them out of view.
const MOST_BLANKS: usize = 40;
const MOST_NEW_LINES: usize = 6;
/// A text that is longer than this has to be scrolled.
const LONG: usize = 4_000;
/// Maximum number of characters that a notice lists; the card marks all of them.
const MOST_NAMED: usize = 8;

/// All notices of a request, each kind once.
pub fn notices(request: &ToolRequest, kind: &RequestKind, subject: &str) -> Vec<Notice> {
    let text = request.input.text();
    let strings = json::strings(text);
    let mut found: BTreeMap<NoticeKind, (usize, Vec<char>)> = BTreeMap::new();
    let all = strings.iter().map(|held| held.text.as_str()).chain([request.tool_name.as_str()]);
    for character in all.flat_map(str::chars) {
        if let Some(oddity) = oddity(character) {
            let (n, characters) = found.entry(oddity).or_default();
            *n += 1;
            if !characters.contains(&character) {
                characters.push(character);
            }
        }
    }
    let mut notices: Vec<Notice> = found
        .into_iter()
        .map(|(kind, (n, characters))| Notice { words: odd_words(kind, n, &characters), kind })
        .collect();
    let mut add = |kind, words: String| notices.push(Notice { kind, words });
    let n_broken: usize = strings.iter().map(|held| held.n_broken).sum();
    if n_broken > 0 {
        add(
            NoticeKind::Broken,
            format!("{} not a valid character, and shown as a code", is_or_are(n_broken, "code unit")),
        );
    }
    for key in json::duplicate_keys(text) {
        let key = written_out(&key);
        add(
            NoticeKind::DuplicateKey,
            format!("“{key}” occurs more than once in the input; the last one counts"),
        );
    }
    if let Some(words) = strings.iter().find_map(|held| padding(&held.text)) {
        add(NoticeKind::Padding, words);
    }
    match kind {
        RequestKind::Command => shell(subject).into_iter().for_each(|words| add(NoticeKind::Shell, words)),
        RequestKind::Fetch | RequestKind::Form { .. } if super::asks_for_address(request) => {
            address::oddities(subject).into_iter().for_each(|words| add(NoticeKind::Address, words));
        }
        _ => {}
    }
    for path in &request.asked.paths {
        path_oddities(path).into_iter().for_each(|words| add(NoticeKind::Path, words));
    }
    let n = subject.chars().count();
    if n > LONG {
        add(NoticeKind::Long, format!("{n} characters long: scroll to read all of it"));
    }
    notices
}

fn is_or_are(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what} is") } else { format!("{n} {what}s are") }
}

fn odd_words(kind: NoticeKind, n: usize, characters: &[char]) -> String {
    let several = n != 1;
    let what = match kind {
        NoticeKind::Direction if several => "hidden characters change the direction of the text",
        NoticeKind::Direction => "hidden character changes the direction of the text",
        NoticeKind::Invisible if several => "invisible characters",
        NoticeKind::Invisible => "invisible character",
        NoticeKind::Control if several => "control characters",
        NoticeKind::Control => "control character",
        NoticeKind::Blank if several => "unusual spaces",
        NoticeKind::Blank => "unusual space",
        NoticeKind::Combining if several => "combining marks on other characters",
        NoticeKind::Combining => "combining mark on another character",
        _ if several => "characters look like others",
        _ => "character looks like another",
    };
    let mut named: Vec<String> = characters
        .iter()
        .take(MOST_NAMED)
        .map(|character| match kind {
            NoticeKind::LookAlike => {
                let mut text = [0; 4];
                let like: String = skeleton(character.encode_utf8(&mut text)).collect();
                format!("{character} {} like “{like}”", code(*character))
            }
            _ => code(*character),
        })
        .collect();
    if characters.len() > MOST_NAMED {
        named.push(format!("and {} more", characters.len() - MOST_NAMED));
    }
    format!("{n} {what}: {}", named.join(", "))
}

/// A run of blanks or new lines that would move the text after it out of view.
fn padding(text: &str) -> Option<String> {
    let (mut n_blanks, mut n_lines) = (0, 0);
    let (mut most_blanks, mut most_lines) = (0, 0);
    for character in text.chars() {
        match character {
            '\n' => {
                n_lines += 1;
                n_blanks = 0;
            }
            character if character.is_whitespace() => n_blanks += 1,
            _ => (n_blanks, n_lines) = (0, 0),
        }
        most_blanks = most_blanks.max(n_blanks);
        most_lines = most_lines.max(n_lines);
    }
    if most_lines > MOST_NEW_LINES {
        Some(format!("{most_lines} line breaks in a row: the text after them may be out of sight"))
    } else if most_blanks > MOST_BLANKS {
        Some(format!("{most_blanks} spaces in a row: the text after them may be out of sight"))
    } else {
        None
    }
}

/// Shell constructs that are easily overlooked.
fn shell(command: &str) -> Vec<String> {
    static HERE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"<<-?[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|\\?([A-Za-z0-9_.]+))"#)
            .expect("a valid expression")
    });
    let mut found = Vec::new();
    if command.contains("$IFS") || command.contains("${IFS") {
        found.push("“$IFS” is a space".to_owned());
    }
    let lines: Vec<&str> = command.lines().collect();
    for (nr, line) in lines.iter().enumerate() {
        let Some(here) = HERE.captures(line) else { continue };
        let mark = here.iter().skip(1).flatten().next().map_or("", |mark| mark.as_str());
        let end = lines.iter().skip(nr + 1).position(|line| line.trim() == mark);
        let after = end.map(|end| &lines[nr + 1 + end + 1..]);
        if after.is_some_and(|after| after.iter().any(|line| !line.trim().is_empty())) {
            found.push(format!("More commands run after the text that ends with “{}”", written_out(mark)));
            break;
        }
    }
    found
}

fn path_oddities(path: &str) -> Vec<String> {
    let mut found = Vec::new();
    let parts: Vec<&str> = path.split(['/', '\\']).collect();
    if parts.contains(&"..") {
        found.push("The path leaves its folder with “..”".to_owned());
    }
    let is_edged =
        |part: &str| !part.trim_matches('.').is_empty() && (part.trim() != part || part.ends_with('.'));
    if parts.iter().any(|part| is_edged(part)) {
        found.push(
            "A name in the path begins or ends with a space or a dot that is easily overlooked".to_owned(),
        );
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_after_a_here_document_is_told() {
        assert_eq!(shell("cat <<'END'\ntext\nEND\n"), Vec::<String>::new());
        assert_eq!(shell("cat <<END\ntext\nEND\nrm -rf x").len(), 1);
        assert_eq!(shell("cat <<-\"E F\"\n\ttext\n\tE F\nrm x").len(), 1);
        assert_eq!(shell("cat${IFS}x").len(), 1);
    }

    #[test]
    fn paths_that_mislead_are_told() {
        for path in ["../x", "/a/../../etc/passwd", "a.txt ", "a.txt.", "a/ b/c", "a\\..\\b"] {
            assert!(!path_oddities(path).is_empty(), "{path}");
        }
        for path in ["/home/me/.config/x.toml", "./a", "a b/c.txt", "...", "src/lib.rs"] {
            assert!(path_oddities(path).is_empty(), "{path}");
        }
    }
}
