//! Snippets: a short piece of text around a match, on one line, with the matches marked.

use crate::api::SnippetPart;
use crate::title::Title;
use regex::Regex;

/// Bytes before the first match, at most, and bytes in all.
const BEFORE: usize = 60;
const LONGEST: usize = 240;

/// Longest snippet, in user-perceived characters.
const LONGEST_SHOWN: usize = 220;

/// Makes the snippet around the first match of the first word, or of the beginning if there are no words.
pub(super) fn snippet(text: &str, words: &[Regex]) -> Vec<SnippetPart> {
    let at = words.first().and_then(|word| word.find(text)).map_or(0, |found| found.start());
    let mut start = text.floor_char_boundary(at.saturating_sub(BEFORE));
    if start > 0 {
        // Begins with a whole word, if there is one.
        let space = text[start..at].find(char::is_whitespace);
        start += space.unwrap_or(0);
    }
    let end = text.floor_char_boundary(start.saturating_add(LONGEST).min(text.len()));
    let mut line = Title::one_line(&text[start..end], LONGEST_SHOWN);
    if start > 0 {
        line.insert_str(0, "… ");
    }
    if end < text.len() && !line.ends_with('…') {
        line.push_str(" …");
    }
    marked(&line, words)
}

fn marked(line: &str, words: &[Regex]) -> Vec<SnippetPart> {
    let mut ranges: Vec<_> =
        words.iter().flat_map(|word| word.find_iter(line)).map(|found| found.range()).collect();
    ranges.sort_by_key(|range| (range.start, range.end));
    let (mut parts, mut done) = (Vec::new(), 0);
    let mut push = |text: &str, is_match| {
        if !text.is_empty() {
            parts.push(SnippetPart { text: text.to_owned(), is_match });
        }
    };
    for range in ranges {
        let start = range.start.max(done);
        if start < range.end {
            push(&line[done..start], false);
            push(&line[start..range.end], true);
            done = range.end;
        }
    }
    push(&line[done..], false);
    parts
}

#[cfg(test)]
mod tests {
    use super::super::pattern::in_text;
    use super::*;
    use proptest::prelude::*;

    fn of(text: &str, words: &[&str]) -> String {
        let words: Vec<Regex> = words.iter().map(|word| in_text(word).unwrap()).collect();
        let mark = |part: SnippetPart| if part.is_match { format!("[{}]", part.text) } else { part.text };
        snippet(text, &words).into_iter().map(mark).collect()
    }

    #[test]
    fn a_snippet_is_one_line_around_the_match() {
        assert_eq!(of("fix the\n\tLogin page", &["login", "fix"]), "[fix] the [Login] page");
        assert_eq!(of("aaaa", &["aa", "aaa"]), "[aa][a][a]");
        assert_eq!(of("a\u{202e}b", &[]), "ab");
        let long = format!("{} needle {}", "hay ".repeat(100), "straw ".repeat(100));
        let snippet = of(&long, &["needle"]);
        assert!(
            snippet.starts_with("… hay") && snippet.contains("[needle]") && snippet.ends_with('…'),
            "{snippet}"
        );
        assert!(snippet.chars().count() < 260);
        assert_eq!(of("", &["x"]), "");
    }

    proptest! {
        #[test]
        fn any_text_has_a_snippet(text in r#"(\PC|[ab\n]|😀){0,300}"#, word in "[abc😀]{1,3}") {
            let snippet = snippet(&text, &[in_text(&word).unwrap()]);
            prop_assert!(snippet.iter().all(|part| !part.text.is_empty() && !part.text.contains('\n')));
        }
    }
}
