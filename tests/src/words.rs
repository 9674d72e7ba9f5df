//! The language of comments and window texts: words that slow readers down stay rare.

use crate::architecture::sources;

/// Uses of a word per 1,000 comment lines that are accepted, as in well-read code bases.
const LIMIT_PER_MILLE: usize = 2;

/// The words, each with the forms that count.
const WORDS: &[&[&str]] = &[
    &["tell", "tells", "told", "telling"],
    &["whoever"],
    &["nobody", "somebody", "everybody"],
    &["anew"],
    &["of which", "of what"],
    &["behind"],
    &["for ever"],
    &["beside"],
    &["let go", "lets go", "letting go"],
    &["so many as", "so much as"],
];

/// The comment lines of a source.
fn comments(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_open = false;
    for line in text.lines() {
        let line = line.trim();
        if is_open || ["//", "/*", "*", "<!--"].iter().any(|mark| line.starts_with(mark)) {
            found.push(line.to_lowercase());
        } else if let Some((_, comment)) = line.split_once(" // ") {
            found.push(comment.to_lowercase());
        }
        let opens =
            (line.contains("/*") && !line.contains("*/")) || (line.contains("<!--") && !line.contains("-->"));
        is_open = (is_open || opens) && !line.contains("*/") && !line.contains("-->");
    }
    found
}

/// The lines of a Svelte component that are neither script nor style nor comment: its window texts are there.
fn markup(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        let line = line.trim();
        is_code |= line.starts_with("<script") || line.starts_with("<style");
        if !is_code && !line.starts_with("<!--") {
            found.push(line.to_lowercase());
        }
        is_code &= !line.starts_with("</script") && !line.starts_with("</style");
    }
    found
}

/// The number of times a word or a phrase occurs in a line, as whole words.
fn count(line: &str, phrase: &str) -> usize {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(phrase)
        .filter(|(at, _)| {
            !is_word(line[..*at].chars().next_back()) && !is_word(line[at + phrase.len()..].chars().next())
        })
        .count()
}

fn uses(lines: &[String], forms: &[&str]) -> usize {
    lines.iter().map(|line| forms.iter().map(|form| count(line, form)).sum::<usize>()).sum()
}

#[test]
fn comments_are_plain() {
    let folders = ["src-tauri", "tests", "xtask/src", "ui/src", "ui/shots"];
    let files = folders.iter().flat_map(|folder| sources(folder, &["rs", "ts", "js", "svelte"]));
    // This file names the words; bindings are generated from comments that are counted already.
    let files = files.filter(|(name, _)| !name.ends_with("words.rs") && !name.contains("/bindings/"));
    let comments: Vec<(String, Vec<String>)> = files.map(|(name, text)| (name, comments(&text))).collect();
    let n_lines: usize = comments.iter().map(|(_, lines)| lines.len()).sum();
    let mut too_many = Vec::new();
    for forms in WORDS {
        let mut files: Vec<(usize, &str)> =
            comments.iter().map(|(name, lines)| (uses(lines, forms), name.as_str())).collect();
        let n_uses: usize = files.iter().map(|(n, _)| n).sum();
        if n_uses * 1000 > LIMIT_PER_MILLE * n_lines {
            files.sort_unstable_by(|a, b| b.cmp(a));
            files.truncate(12);
            too_many
                .push(format!("{forms:?}: {n_uses} in {n_lines} comment lines, most of them in {files:#?}"));
        }
    }
    assert!(too_many.is_empty(), "{}", too_many.join("\n"));
}

#[test]
fn window_texts_are_plain() {
    let mut found = Vec::new();
    for (name, text) in sources("ui/src/lib", &["svelte"]) {
        let lines = markup(&text);
        found.extend(
            WORDS.iter().filter(|forms| uses(&lines, forms) > 0).map(|forms| format!("{name}: {forms:?}")),
        );
    }
    assert_eq!(found, [""; 0]);
}

#[test]
fn whole_words_are_counted_and_code_is_not() {
    let source =
        "let told = 1; // It was told.\n/// Nobody tells it.\nfn foretell() {}\n/* one\n whoever */\n";
    assert_eq!(comments(source), ["it was told.", "/// nobody tells it.", "/* one", "whoever */"]);
    assert_eq!(count("told and retold, told_at", "told"), 1);
    let page = "<script>\nlet nobody = 1;\n</script>\n<!-- told -->\n<p>Nobody</p>\n";
    assert_eq!(markup(page), ["<p>nobody</p>"]);
}
