//! Characters that may mislead: hidden ones, those that change the direction of a text, and those that look like others.

use crate::api::NoticeKind;
use icu_properties::props::{DefaultIgnorableCodePoint, GeneralCategory, Script};
use icu_properties::{CodePointMapData, CodePointSetData};
use unicode_security::confusable_detection::skeleton;

/// Returns why a character may mislead, or `None` if it does not.
pub fn oddity(character: char) -> Option<NoticeKind> {
    if matches!(character, ' '..='~' | '\n' | '\t') {
        return None;
    }
    let category = CodePointMapData::<GeneralCategory>::new().get(character);
    Some(match character {
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            NoticeKind::Direction
        }
        // Letters that are drawn as a blank.
        '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}' => NoticeKind::Blank,
        '\u{e0000}'..='\u{e0fff}' => NoticeKind::Invisible,
        _ => match category {
            GeneralCategory::SpaceSeparator
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator => NoticeKind::Blank,
            GeneralCategory::Control => NoticeKind::Control,
            GeneralCategory::Format | GeneralCategory::PrivateUse | GeneralCategory::Unassigned => {
                NoticeKind::Invisible
            }
            _ if CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(character) => {
                NoticeKind::Invisible
            }
            // Marks that combine with any letter. The marks of a script that needs them stay with their letters.
            GeneralCategory::NonspacingMark
            | GeneralCategory::EnclosingMark
            | GeneralCategory::SpacingMark
                if CodePointMapData::<Script>::new().get(character) == Script::Inherited =>
            {
                NoticeKind::Combining
            }
            _ if looks_like_ascii(character) => NoticeKind::LookAlike,
            _ => return None,
        },
    })
}

/// Uses Unicode's table of confusable characters (UTS #39).
fn looks_like_ascii(character: char) -> bool {
    let mut text = [0; 4];
    let mut prototype = skeleton(character.encode_utf8(&mut text)).peekable();
    prototype.peek().is_some() && prototype.all(|like| like.is_ascii())
}

/// One line of text with every misleading character escaped: for titles, labels and names.
pub fn written_out(text: &str) -> String {
    let is_shown = |character: char| {
        !character.is_control() && matches!(oddity(character), None | Some(NoticeKind::LookAlike))
    };
    if text.chars().all(is_shown) {
        return text.to_owned();
    }
    text.chars()
        .map(|character| if is_shown(character) { character.to_string() } else { code(character) })
        .collect()
}

/// `\u{202E}`.
pub fn code(character: char) -> String {
    format!("\\u{{{:04X}}}", u32::from(character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_point_that_misleads_has_a_kind() {
        for (character, kind) in [
            ('\u{202e}', NoticeKind::Direction),
            ('\u{61c}', NoticeKind::Direction),
            ('\u{200b}', NoticeKind::Invisible),
            ('\u{ad}', NoticeKind::Invisible),
            ('\u{34f}', NoticeKind::Invisible),
            ('\u{fe0f}', NoticeKind::Invisible),
            ('\u{e0041}', NoticeKind::Invisible),
            ('\u{e000}', NoticeKind::Invisible),
            ('\u{378}', NoticeKind::Invisible),
            ('\u{0}', NoticeKind::Control),
            ('\r', NoticeKind::Control),
            ('\u{9b}', NoticeKind::Control),
            ('\u{a0}', NoticeKind::Blank),
            ('\u{2028}', NoticeKind::Blank),
            ('\u{2800}', NoticeKind::Blank),
            ('\u{3164}', NoticeKind::Blank),
            ('\u{301}', NoticeKind::Combining),
            ('\u{20dd}', NoticeKind::Combining),
            ('\u{430}', NoticeKind::LookAlike),
            ('\u{3bf}', NoticeKind::LookAlike),
            ('\u{ff0f}', NoticeKind::LookAlike),
            ('\u{1d41a}', NoticeKind::LookAlike),
            ('\u{2215}', NoticeKind::LookAlike),
            ('\u{2019}', NoticeKind::LookAlike),
        ] {
            assert_eq!(oddity(character), Some(kind), "{}", code(character));
        }
        for character in "azAZ09~!\n\täöüßéñø→日あ한שжह🙂".chars() {
            assert_eq!(oddity(character), None, "{}", code(character));
        }
    }

    #[test]
    fn a_label_has_nothing_hidden() {
        assert_eq!(written_out("mcp__x__y"), "mcp__x__y");
        assert_eq!(written_out("a\u{202e}b\nc\t"), "a\\u{202E}b\\u{000A}c\\u{0009}");
    }
}
