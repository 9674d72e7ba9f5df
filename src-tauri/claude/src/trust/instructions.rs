//! Instructions for the model: the files that they import, by `@path`, and rules that count only for some files.

use super::frontmatter;
use super::json::Json;

/// The characters at which the CLI can end a path, because they are Markdown around it (2.1.197 and 2.1.332).
const ENDS: &[char] = &['#', '*', '<', ')', ']', '_', '`', '|', '~', '"'];

/// Maximum length of a path, in characters: Linux has no longer ones.
const MOST_PATH: usize = 4096;

/// The paths that a version of the CLI could import.
///
/// The CLI reads Markdown first: it takes `**@path**` and leaves out `x@path` and code. This takes both, and every end that a
/// path could have, so that it misses none.
pub fn imported(text: &str) -> impl Iterator<Item = String> + '_ {
    text.match_indices('@').flat_map(|(at, _)| {
        let whole = token(&text[at + 1..]);
        let ends: Vec<usize> = whole.match_indices(ENDS).map(|(at, _)| at).chain([whole.len()]).collect();
        ends.into_iter().filter(|end| *end > 0).map(move |end| whole[..end].to_owned())
    })
}

/// The text of a rule that counts for all files; `None` if it names files, or if that cannot be read with certainty.
pub fn rule_for_all_files(text: &str) -> Option<&str> {
    let (entries, body) = frontmatter::read(text).ok()?;
    let names_files = entries.iter().any(|(key, value)| key == "paths" && *value != Json::Null);
    (!names_files).then_some(body)
}

/// The text up to the first space without a backslash, or the first backslash without a space.
fn token(text: &str) -> String {
    let mut token = String::new();
    let mut rest = text.chars();
    for _ in 0..MOST_PATH {
        match rest.next() {
            Some('\\') if rest.as_str().starts_with(' ') => token.extend(rest.next()),
            Some(next) if next != '\\' && !next.is_whitespace() => token.push(next),
            _ => break,
        }
    }
    token
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_found_in_all_markup() {
        for text in [
            "@a/b.md",
            "x @a/b.md\n",
            "**@a/b.md**",
            "- [ ] @a/b.md",
            "<b>@a/b.md</b>",
            "@a/b.md#part",
            "@a/b.md\\",
        ] {
            assert!(imported(text).any(|path| path == "a/b.md"), "{text}");
        }
        let all = |text| imported(text).collect::<Vec<_>>();
        assert_eq!(all("@a\\ b"), ["a b"]);
        assert_eq!(all("@a_b"), ["a", "a_b"]);
        assert_eq!(all("@ a, @"), Vec::<String>::new());
    }

    #[test]
    fn a_rule_that_names_files_does_not_count_for_all() {
        assert_eq!(rule_for_all_files("text"), Some("text"));
        assert_eq!(rule_for_all_files("---\ndescription: d\n---\ntext"), Some("text"));
        for text in
            ["---\npaths: src/**\n---\ntext", "---\npaths: [a, b]\n---\ntext", "---\nx: '---'\n---\ntext"]
        {
            assert_eq!(rule_for_all_files(text), None, "{text}");
        }
    }
}
