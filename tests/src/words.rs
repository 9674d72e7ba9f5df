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

/// Further words that no text for users may contain: what a user has to read twice, and what another word replaced.
const WINDOW_WORDS: &[&[&str]] = &[
    &["any more"],
    &["unasked"],
    &["worked in"],
    &["in force"],
    &["took back", "take back"],
    &["is being ended", "was ended", "were ended"],
    &["what waited"],
    &["stands in", "stands for", "stands on", "stand in", "stand on"],
    &["wants to be"],
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

/// The lines of a Svelte component that are neither script nor style nor comment, without the expressions in braces: its
/// window texts are there.
fn markup(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_code = false;
    let mut depth = 0_usize;
    for line in text.lines() {
        let line = line.trim();
        is_code |= line.starts_with("<script") || line.starts_with("<style");
        if !is_code && !line.starts_with("<!--") {
            let mut shown = String::new();
            for character in line.chars() {
                match character {
                    '{' => depth += 1,
                    '}' => depth = depth.saturating_sub(1),
                    _ if depth == 0 => shown.push(character),
                    _ => {}
                }
            }
            found.push(shown.to_lowercase());
        }
        is_code &= !line.starts_with("</script") && !line.starts_with("</style");
    }
    found
}

/// The string literals of a source with more than one word, in one line each and without their placeholders. `quotes`
/// are the characters that begin and end a literal. Comments and unit tests at the end of a Rust file are left out.
fn texts(source: &str, quotes: &[char]) -> Vec<String> {
    let source = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let code: Vec<char> = source.chars().collect();
    let is_at = |at: usize, text: &str| text.chars().enumerate().all(|(i, c)| code.get(at + i) == Some(&c));
    let mut found = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let ends = if is_at(at, "//") && (at == 0 || code[at - 1] != ':') {
            "\n"
        } else if is_at(at, "/*") {
            "*/"
        } else if is_at(at, "<!--") {
            "-->"
        } else {
            ""
        };
        if !ends.is_empty() {
            while at < code.len() && !is_at(at, ends) {
                at += 1;
            }
        } else if is_at(at, "'\"'") {
            // A character in Rust.
            at += 2;
        } else if quotes.contains(&code[at]) {
            let quote = code[at];
            let n_hashes = code[..at].iter().rev().take_while(|c| **c == '#').count();
            let is_raw = quote == '"' && code[..at - n_hashes].last() == Some(&'r');
            let end = format!("{quote}{}", "#".repeat(if is_raw { n_hashes } else { 0 }));
            let mut text = String::new();
            let mut depth = 0_usize;
            at += 1;
            while at < code.len() && !is_at(at, &end) {
                match code[at] {
                    '\\' if !is_raw => at += 1,
                    // A template or a format string: the placeholder is code.
                    '{' => depth += 1,
                    '}' => depth = depth.saturating_sub(1),
                    c if depth == 0 => text.push(c),
                    _ => {}
                }
                at += 1;
            }
            let words = text.split_whitespace().collect::<Vec<_>>();
            if words.len() > 1 {
                found.push(words.join(" ").to_lowercase());
            }
        }
        at += 1;
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

/// What users read: the markup of the window, and every text in the code of the window, the shell, the engine and the
/// tasks, with its dialogs, notifications, errors, help and logs.
#[test]
fn texts_for_users_are_plain() {
    let mut found = Vec::new();
    let mut check = |name: &str, lines: &[String]| {
        for forms in WORDS.iter().chain(WINDOW_WORDS) {
            let bad = lines.iter().filter(|line| uses(std::slice::from_ref(line), forms) > 0);
            found.extend(bad.map(|line| format!("{name}: {forms:?} in “{line}”")));
        }
    };
    for (name, text) in sources("ui/src/lib", &["svelte", "ts"]) {
        if name.ends_with(".test.ts") || name.contains("/bindings/") || name.contains("/fake") {
            continue;
        }
        if name.ends_with(".svelte") {
            check(&name, &markup(&text));
        }
        check(&name, &texts(&text, &['\'', '`', '"']));
    }
    for folder in ["src-tauri", "xtask/src"] {
        for (name, text) in sources(folder, &["rs"]) {
            let is_test = [
                "/tests",
                "/simulation",
                "/fuzz",
                "/hostile",
                "/corpus",
                "/model.rs",
                "/traps.rs",
                "/every_file.rs",
                "/states.rs",
                "/demo-agent/",
                "/examples/",
            ];
            if !is_test.iter().any(|part| name.contains(part)) {
                check(&name, &texts(&text, &['"']));
            }
        }
    }
    assert_eq!(found, [""; 0]);
}

#[test]
fn texts_are_found_without_comments_and_placeholders() {
    let rust = "// \"not this\"\nf(\"one {behind} two\", '\"', r#\"raw \"text\" here\"#, \"word\");\n#[cfg(test)]\nmod tests { \"a b\" }";
    assert_eq!(texts(rust, &['"']), ["one two", "raw \"text\" here"]);
    let script = "let a = 'It has `two` words'; // don't\nlet b = `${n} were told`;";
    assert_eq!(texts(script, &['\'', '`']), ["it has `two` words", "$ were told"]);
}

#[test]
fn whole_words_are_counted_and_code_is_not() {
    let source =
        "let told = 1; // It was told.\n/// Nobody tells it.\nfn foretell() {}\n/* one\n whoever */\n";
    assert_eq!(comments(source), ["it was told.", "/// nobody tells it.", "/* one", "whoever */"]);
    assert_eq!(count("told and retold, last_event_at", "told"), 1);
    let page = "<script>\nlet nobody = 1;\n</script>\n<!-- told -->\n<p>Nobody</p>\n";
    assert_eq!(markup(page), ["<p>nobody</p>"]);
    assert_eq!(markup("<p>\n{#if told}One{/if} two {told\n? 1 : 2}</p>"), ["<p>", "one two ", "</p>"]);
}
