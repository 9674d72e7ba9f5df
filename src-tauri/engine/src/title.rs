//! A session's title, limited to one line for all surfaces: window titles, notifications, lists, dialogs.
//!
//! Titles come from the agent, from a first prompt, from the user and from disk. All of them are cleaned here, so no
//! surface has to do it.

use crate::api::NoticeKind;
use crate::misleading::oddity;
use unicode_segmentation::UnicodeSegmentation;

/// Longest title, in user-perceived characters.
const LONGEST: usize = 80;
/// Longest title made from a prompt, in user-perceived characters.
const LONGEST_OF_A_PROMPT: usize = 60;
/// Code points kept of one user-perceived character. A family of four has 7; a letter with stacked combining marks may
/// have any number.
const LONGEST_CHARACTER: usize = 16;

const JOINER: char = '\u{200d}';

/// One line of at most 80 characters, without control characters, direction marks or invisible characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Title(String);

impl Title {
    /// Returns `None` if the text has no visible character.
    pub fn new(text: &str) -> Option<Self> {
        let line = Self::one_line(text, LONGEST);
        (!line.is_empty()).then_some(Self(line))
    }

    /// Makes a title from a first prompt: its first visible line.
    pub fn of_prompt(text: &str) -> Option<Self> {
        let mut lines = text.lines().map(|line| Self::one_line(line, LONGEST_OF_A_PROMPT));
        lines.find(|line| !line.is_empty()).map(Self)
    }

    /// The title of a fork of a session with this title.
    pub fn of_fork(title: &str) -> Self {
        const MARK: &str = " (fork)";
        let title = title.strip_suffix(MARK).unwrap_or(title);
        let line = Self::one_line(title, LONGEST - MARK.len());
        Self(if line.is_empty() { "Fork".to_owned() } else { line + MARK })
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Formats text as one line of at most `longest` characters. White space of any kind becomes one space. Invisible
    /// characters and those that change the text direction are removed. Text that is cut ends in `…`.
    pub fn one_line(text: &str, longest: usize) -> String {
        let mut line = String::new();
        let mut n = 0;
        let mut wants_space = false;
        // Cut first: a text of a million characters costs no more than a long title.
        let most = longest * LONGEST_CHARACTER * 4;
        let end = text.char_indices().nth(most).map_or(text.len(), |(end, _)| end);
        for character in text[..end].graphemes(true) {
            let seen = visible(character);
            if seen.is_empty() {
                wants_space |= character.chars().any(char::is_whitespace);
                continue;
            }
            let space = wants_space && n > 0;
            if n + usize::from(space) >= longest {
                return line + "…";
            }
            if space {
                line.push(' ');
                n += 1;
            }
            wants_space = false;
            line.push_str(&seen);
            n += 1;
        }
        if end < text.len() { line + "…" } else { line }
    }
}

/// Returns the visible code points of one user-perceived character; empty for white space.
fn visible(character: &str) -> String {
    let mut seen = String::new();
    for c in character.chars().take(LONGEST_CHARACTER) {
        let is_part_of_emoji = matches!(c, JOINER | '\u{fe0f}') && seen.ends_with(is_pictograph);
        let is_seen = !c.is_whitespace()
            && !c.is_control()
            && (is_part_of_emoji
                || matches!(oddity(c), None | Some(NoticeKind::LookAlike | NoticeKind::Combining)));
        if is_seen {
            seen.push(c);
        }
    }
    // A joiner at the end joins nothing.
    seen.truncate(seen.trim_end_matches(JOINER).len());
    seen
}

fn is_pictograph(c: char) -> bool {
    !c.is_alphanumeric() && (c > '\u{2000}' || c == '\u{fe0f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_one_line_of_what_can_be_seen() {
        for (text, expected) in [
            ("Fix the tests", "Fix the tests"),
            ("  two\n lines\r\n\tand\u{a0}tabs\u{2028} ", "two lines and tabs"),
            ("a\u{0}b\u{7}c\u{1b}[31md\u{9b}e", "abc[31mde"),
            ("safe\u{202e}txt.exe\u{2066}x\u{200f}", "safetxt.exex"),
            ("zero\u{200b}wi\u{feff}dth\u{2060}\u{ad}", "zerowidth"),
            ("tag\u{e0041}s and private \u{e000}", "tags and private"),
            (
                "👨\u{200d}👩\u{200d}👧 family, ❤\u{fe0f}, e\u{301}",
                "👨\u{200d}👩\u{200d}👧 family, ❤\u{fe0f}, e\u{301}",
            ),
            ("日本語 العربية हिन्दी", "日本語 العربية हिन्दी"),
        ] {
            assert_eq!(Title::new(text).unwrap().as_str(), expected, "{text:?}");
        }
        for nothing in ["", " \n\t", "\u{200b}\u{202e}", "\u{7}\u{0}", "\u{3164}"] {
            assert_eq!(Title::new(nothing), None, "{nothing:?}");
        }
    }

    #[test]
    fn a_fork_says_that_it_is_one_and_once() {
        let of = |title: &str| Title::of_fork(title).0;
        assert_eq!(of("Fix it"), "Fix it (fork)");
        assert_eq!(of("Fix it (fork)"), "Fix it (fork)");
        assert_eq!(of(""), "Fork");
        let long = of(&"x".repeat(200));
        assert!(long.ends_with("… (fork)") && long.graphemes(true).count() <= LONGEST + 1, "{long}");
    }

    #[test]
    fn a_title_is_bounded_whatever_it_is_made_of() {
        let characters = |title: &Title| title.as_str().graphemes(true).count();
        let piled = "a".to_owned() + &"\u{301}".repeat(1_000_000);
        for text in
            ["x".repeat(1_000_000), "👨\u{200d}👩\u{200d}👧".repeat(100_000), "a b ".repeat(250_000), piled]
        {
            let title = Title::new(&text).unwrap();
            assert!(characters(&title) <= LONGEST + 1, "{}", characters(&title));
            assert!(title.as_str().ends_with('…'));
            assert!(title.as_str().chars().count() <= (LONGEST + 1) * LONGEST_CHARACTER);
        }
        assert_eq!(Title::new(&"x".repeat(LONGEST)).unwrap().as_str().len(), LONGEST, "what fits is whole");
    }

    #[test]
    fn the_first_line_of_a_prompt_that_says_something_is_its_title() {
        let of = |text: &str| Title::of_prompt(text).map(|title| title.0);
        assert_eq!(of("\n \u{200b}\n fix it\nnow"), Some("fix it".to_owned()));
        assert_eq!(of("\n \n"), None);
        assert_eq!(of(&"y".repeat(61)), Some("y".repeat(60) + "…"));
    }

    #[test]
    fn no_character_that_misleads_is_left_in_any_text() {
        let odd: Vec<char> = (0..=0x10_ffff).filter_map(char::from_u32).collect();
        for chunk in odd.chunks(40) {
            let text: String = chunk.iter().collect();
            let line = Title::one_line(&text, LONGEST);
            for c in line.chars().filter(|c| *c != '…') {
                let emoji = matches!(c, JOINER | '\u{fe0f}');
                let fit = matches!(oddity(c), None | Some(NoticeKind::LookAlike | NoticeKind::Combining));
                assert!(fit || emoji, "{c:?} of {text:?}");
                assert!(!c.is_control(), "{c:?}");
            }
        }
    }
}
