//! Excerpts: the beginning of a text, cut between words.

/// A cut may drop up to 1/3 of an excerpt to end between words. A longer word is cut.
const LONGEST_CUT: usize = 3;

/// Returns the text if it has at most `most` characters, otherwise its first words and “ …”.
pub fn excerpt(text: &str, most: usize) -> String {
    let Some((end, next)) = text.char_indices().nth(most) else { return text.to_owned() };
    let begun = &text[..end];
    let word_end = if next.is_whitespace() { Some(end) } else { begun.rfind(char::is_whitespace) };
    let is_near = |at: &usize| begun[*at..].chars().count() <= most / LONGEST_CUT;
    let kept = &begun[..word_end.filter(is_near).unwrap_or(end)];
    format!("{} …", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_words() {
        for (text, short) in [
            ("", ""),
            ("twelve chars", "twelve chars"),
            ("twelve chars and more", "twelve chars …"),
            ("twelve charsand more", "twelve charsa …"),
            ("one two three four", "one two three …"),
            ("one two three-four", "one two three …"),
            ("ein, zwei drängende", "ein, zwei …"),
            ("pneumonoultramicroscopic", "pneumonoultra …"),
        ] {
            let most = 13;
            assert_eq!(excerpt(text, most), short, "{text}");
        }
    }
}
