//! Diffs as data: hunks of numbered lines, with changed words and token styles within each line.

use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices_deadline, group_diff_ops};

use super::highlight::{highlight, language_of_path};
use deskbell_api::{CodeLine, Diff, DiffKind, DiffLine, DiffPart, Hunk, TokenStyle};

/// Context lines around a change.
const CONTEXT: usize = 3;
/// Time limit. The rest is then treated as replaced.
const LINES_WITHIN: Duration = Duration::from_millis(200);
const WORDS_WITHIN: Duration = Duration::from_millis(100);
/// Maximum bytes of a replacement that is compared word by word. Larger ones are compared by lines only.
const WORDS_BYTES: usize = 16 * 1024;
/// Maximum bytes of a diff that is highlighted. Highlighting more would delay the whole diff.
const STYLED_BYTES: usize = 16 * 1024;
/// Minimum shared fraction of two runs of lines. Below it, changed words are not marked.
const LIKENESS: f32 = 0.35;

/// The diff between two versions of a whole file.
pub fn diff(path: &str, old: &str, new: &str) -> Diff {
    coloured_diff(plain_diff(path, old, new))
}

/// The same without colours.
pub fn plain_diff(path: &str, old: &str, new: &str) -> Diff {
    // Lines include their ends: a final newline that is added or removed is a change.
    let old_lines: Vec<&str> = old.split_inclusive('\n').collect();
    let new_lines: Vec<&str> = new.split_inclusive('\n').collect();
    let ends_differ = (old.contains("\r\n") != new.contains("\r\n")) && !old.is_empty() && !new.is_empty();
    compare(path, &old_lines, &new_lines, Some(1), ends_differ)
}

/// The numbers of added and removed lines between two versions of a whole file.
pub fn count_changes(old: &str, new: &str) -> (u32, u32) {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let operations = operations(&old, &new);
    let changed = operations.iter().filter(|operation| operation.tag() != DiffTag::Equal);
    changed.fold((0, 0), |(added, removed), operation| {
        (added + to_u32(operation.new_range().len()), removed + to_u32(operation.old_range().len()))
    })
}

/// A hunk of a patch, by the lines of both versions. Lines include their ends and are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineHunk {
    pub old: Range<usize>,
    pub new: Range<usize>,
    /// In order. Removed lines are those of the old version, the others those of the new one.
    pub runs: Vec<(DiffKind, Range<usize>)>,
}

/// The hunks of [`diff`] as places, without their texts.
pub fn line_hunks(old: &str, new: &str) -> Vec<LineHunk> {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let groups = group_diff_ops(operations(&old, &new), CONTEXT);
    let changed = groups.into_iter().filter(|group| group.iter().any(|op| op.tag() != DiffTag::Equal));
    changed
        .filter_map(|group| {
            let (first, last) = (group.first()?, group.last()?);
            let runs = group.iter().flat_map(|op| match op.tag() {
                DiffTag::Equal => vec![(DiffKind::Context, op.new_range())],
                _ => vec![(DiffKind::Removed, op.old_range()), (DiffKind::Added, op.new_range())],
            });
            Some(LineHunk {
                old: first.old_range().start..last.old_range().end,
                new: first.new_range().start..last.new_range().end,
                runs: runs.filter(|(_, lines)| !lines.is_empty()).collect(),
            })
        })
        .collect()
}

fn operations(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    capture_diff_slices_deadline(Algorithm::Myers, old, new, Some(Instant::now() + LINES_WITHIN))
}

/// The diff between two versions of a part of a file whose position is unknown. Has no line numbers.
pub fn diff_unplaced(path: &str, old: &str, new: &str) -> Diff {
    coloured_diff(plain_diff_unplaced(path, old, new))
}

/// The same without colours.
pub fn plain_diff_unplaced(path: &str, old: &str, new: &str) -> Diff {
    // Lines exclude their ends: the part may end within a line.
    let old_lines: Vec<&str> = old.lines().collect();
    let new_lines: Vec<&str> = new.lines().collect();
    let mut diff = compare(path, &old_lines, &new_lines, None, false);
    if diff.hunks.is_empty() && old != new {
        let ends_differ = old.contains("\r\n") != new.contains("\r\n");
        let old_lines: Vec<&str> = old.split_inclusive('\n').collect();
        let new_lines: Vec<&str> = new.split_inclusive('\n').collect();
        diff = compare(path, &old_lines, &new_lines, None, ends_differ);
    }
    diff
}

/// A hunk of a change that is known line by line.
#[derive(Clone, Debug)]
pub struct PatchHunk<'a> {
    /// The numbers of its first line in the old and in the new version, if known.
    pub old_start: Option<u32>,
    pub new_start: Option<u32>,
    /// Lines that begin with a patch sign each.
    pub lines: Vec<&'a str>,
}

/// The diff of a change that is known line by line. `None` if it has no hunks.
pub fn diff_from_patch<'a>(path: &str, patch: impl IntoIterator<Item = PatchHunk<'a>>) -> Option<Diff> {
    plain_diff_from_patch(path, patch).map(coloured_diff)
}

/// The same without colours.
pub fn plain_diff_from_patch<'a>(path: &str, patch: impl IntoIterator<Item = PatchHunk<'a>>) -> Option<Diff> {
    let mut hunks = Vec::new();
    for hunk in patch {
        let mut writer = HunkWriter::new(hunk.old_start, hunk.new_start, false);
        for line in hunk.lines {
            match line.chars().next() {
                Some('+') => writer.push(DiffKind::Added, &line[1..]),
                Some('-') => writer.push(DiffKind::Removed, &line[1..]),
                Some(' ') => writer.push(DiffKind::Context, &line[1..]),
                // “\ No newline at end of file” belongs to neither version.
                Some('\\') => {}
                _ => writer.push(DiffKind::Context, line),
            }
        }
        hunks.push(writer.lines);
    }
    (!hunks.is_empty()).then(|| finish(path, hunks))
}

fn compare(path: &str, old: &[&str], new: &[&str], first_line: Option<u32>, show_cr: bool) -> Diff {
    let hunks = group_diff_ops(operations(old, new), CONTEXT)
        .into_iter()
        .filter(|group| group.iter().any(|operation| operation.tag() != DiffTag::Equal))
        .map(|group| {
            let (old_start, new_start) = match group.first() {
                Some(first) => (first.old_range().start, first.new_range().start),
                None => (0, 0),
            };
            let line_number = |start: usize| first_line.map(|first| first.saturating_add(to_u32(start)));
            let mut writer = HunkWriter::new(line_number(old_start), line_number(new_start), show_cr);
            for operation in group {
                match operation {
                    DiffOp::Equal { new_index, len, .. } => {
                        writer.push_all(DiffKind::Context, &new[new_index..][..len])
                    }
                    DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => {
                        writer.push_all(DiffKind::Removed, &old[operation.old_range()]);
                        writer.push_all(DiffKind::Added, &new[operation.new_range()]);
                    }
                }
            }
            writer.lines
        })
        .collect();
    finish(path, hunks)
}

struct HunkWriter {
    lines: Vec<DiffLine>,
    old_line: Option<u32>,
    new_line: Option<u32>,
    /// Show the carriage return at a line's end, because the line ends may be the only change.
    show_cr: bool,
}

impl HunkWriter {
    fn new(old_line: Option<u32>, new_line: Option<u32>, show_cr: bool) -> Self {
        Self { lines: Vec::new(), old_line, new_line, show_cr }
    }

    fn push_all(&mut self, kind: DiffKind, lines: &[&str]) {
        for line in lines {
            self.push(kind, line);
        }
    }

    fn push(&mut self, kind: DiffKind, line: &str) {
        let line = line.strip_suffix('\n').unwrap_or(line);
        let text = match line.strip_suffix('\r') {
            Some(line) if self.show_cr => format!("{line}␍"),
            Some(line) => line.to_owned(),
            None => line.to_owned(),
        };
        let next = |line: &mut Option<u32>| {
            let number = *line;
            *line = number.map(|number| number.saturating_add(1));
            number
        };
        let old_line = if kind == DiffKind::Added { None } else { next(&mut self.old_line) };
        let new_line = if kind == DiffKind::Removed { None } else { next(&mut self.new_line) };
        self.lines.push(DiffLine {
            kind,
            old_line,
            new_line,
            parts: vec![DiffPart { text, strong: false, style: TokenStyle::Plain }],
        });
    }
}

fn finish(path: &str, hunks: Vec<Vec<DiffLine>>) -> Diff {
    let mut hunks = hunks;
    let deadline = Instant::now() + WORDS_WITHIN;
    for lines in &mut hunks {
        mark_words(lines, deadline);
    }
    let count =
        |kind: DiffKind| to_u32(hunks.iter().flatten().filter(|line: &&DiffLine| line.kind == kind).count());
    Diff {
        path: path.to_owned(),
        added: count(DiffKind::Added),
        removed: count(DiffKind::Removed),
        hunks: hunks.into_iter().map(|lines| Hunk { lines }).collect(),
    }
}

/// Marks the changed words wherever added lines directly follow removed lines.
fn mark_words(lines: &mut [DiffLine], deadline: Instant) {
    let run = |lines: &[DiffLine], from: usize, kind: DiffKind| {
        from + lines[from..].iter().take_while(|line| line.kind == kind).count()
    };
    let mut at = 0;
    while at < lines.len() {
        let removed_to = run(lines, at, DiffKind::Removed);
        let added_to = run(lines, removed_to, DiffKind::Added);
        if removed_to > at && added_to > removed_to {
            let (removed, added) = lines[at..added_to].split_at_mut(removed_to - at);
            // With equal counts, lines are compared one to one, so that words never match those of a neighbouring line.
            if removed.len() == added.len() {
                for (removed, added) in removed.iter_mut().zip(added) {
                    mark_run(std::slice::from_mut(removed), std::slice::from_mut(added), deadline);
                }
            } else {
                mark_run(removed, added, deadline);
            }
        }
        at = added_to.max(at + 1);
    }
}

fn mark_run(removed: &mut [DiffLine], added: &mut [DiffLine], deadline: Instant) {
    let n_bytes: usize = removed.iter().chain(added.iter()).map(|line| text_of(line).len()).sum();
    if n_bytes > WORDS_BYTES || Instant::now() > deadline {
        return;
    }
    let (old_text, new_text) = (joined(removed), joined(added));
    let (old, new) = (words(&old_text), words(&new_text));
    let operations = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, Some(deadline));
    let mut old_strong = vec![true; old.len()];
    let mut new_strong = vec![true; new.len()];
    let mut n_alike = 0;
    for operation in operations {
        if operation.tag() == DiffTag::Equal {
            old_strong[operation.old_range()].fill(false);
            new_strong[operation.new_range()].fill(false);
            n_alike += old[operation.old_range()].iter().map(|word| weight(word)).sum::<usize>();
        }
    }
    // The shared fraction of both sides together, because one side may be much longer than the other, for example when
    // a call gains arguments.
    let all = old.iter().chain(&new).map(|word| weight(word)).sum::<usize>();
    if all == 0 || ((2 * n_alike) as f32) < LIKENESS * all as f32 {
        return;
    }
    // Whitespace is marked only if nothing else changed.
    let is_blank = |word: &&str| word.trim().is_empty();
    let mut marked =
        old.iter().zip(&old_strong).chain(new.iter().zip(&new_strong)).filter(|(_, strong)| **strong);
    if marked.any(|(word, _)| !is_blank(word)) {
        for (words, strong) in [(&old, &mut old_strong), (&new, &mut new_strong)] {
            words.iter().zip(strong).for_each(|(word, strong)| *strong &= !is_blank(word));
        }
    }
    write_parts(removed, &old, &old_strong);
    write_parts(added, &new, &new_strong);
}

/// Weight of a word when comparing runs. Whitespace has none, because it occurs everywhere.
fn weight(word: &str) -> usize {
    if word.trim().is_empty() { 0 } else { word.len() }
}

fn text_of(line: &DiffLine) -> &str {
    line.parts.first().map_or("", |part| &part.text)
}

fn joined(lines: &[DiffLine]) -> String {
    lines.iter().map(text_of).collect::<Vec<_>>().join("\n")
}

/// Splits a text into words, runs of whitespace, and single other characters. A line end is a word of its own.
fn words(text: &str) -> Vec<&str> {
    #[derive(PartialEq)]
    enum Class {
        Word,
        Blank,
        Single,
    }
    let class = |c: char| match c {
        '\n' => Class::Single,
        c if c.is_whitespace() => Class::Blank,
        c if c.is_alphanumeric() || c == '_' => Class::Word,
        _ => Class::Single,
    };
    let mut words = Vec::new();
    let mut from = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((_, c)) = chars.next() {
        let to = chars.peek().map_or(text.len(), |&(at, _)| at);
        let goes_on =
            class(c) != Class::Single && chars.peek().is_some_and(|&(_, next)| class(next) == class(c));
        if !goes_on {
            words.push(&text[from..to]);
            from = to;
        }
    }
    words
}

fn write_parts(lines: &mut [DiffLine], words: &[&str], strong: &[bool]) {
    let mut lines = lines.iter_mut();
    let mut parts = Vec::new();
    let mut end_line = |parts: &mut Vec<DiffPart>| {
        if let Some(line) = lines.next() {
            let parts = join_strong(std::mem::take(parts));
            if !parts.is_empty() {
                line.parts = parts;
            }
        }
    };
    for (word, &strong) in words.iter().zip(strong) {
        if *word == "\n" {
            end_line(&mut parts);
            continue;
        }
        match parts.last_mut() {
            Some(DiffPart { text, strong: last, .. }) if *last == strong => text.push_str(word),
            _ => parts.push(DiffPart { text: (*word).to_owned(), strong, style: TokenStyle::Plain }),
        }
    }
    end_line(&mut parts);
}

/// Joins parts of equal strength. Whitespace between two strong parts becomes strong as well: one mark instead of two.
fn join_strong(parts: Vec<DiffPart>) -> Vec<DiffPart> {
    let mut joined: Vec<DiffPart> = Vec::with_capacity(parts.len());
    let mut parts = parts.into_iter().peekable();
    while let Some(mut part) = parts.next() {
        let between = joined.last().is_some_and(|last| last.strong) && parts.peek().is_some();
        if between && part.text.trim().is_empty() {
            part.strong = true;
        }
        match joined.last_mut() {
            Some(last) if last.strong == part.strong => last.text.push_str(&part.text),
            _ => joined.push(part),
        }
    }
    joined
}

/// The diff with its colours. The old and the new side of a hunk are highlighted separately, each as a complete text,
/// because the text before the hunk is unknown. Takes time in proportion to its length, up to a limit.
pub fn coloured_diff(mut diff: Diff) -> Diff {
    let lines = diff.hunks.iter().flat_map(|hunk| &hunk.lines);
    let n_bytes: usize = lines.flat_map(|line| &line.parts).map(|part| part.text.len()).sum();
    if n_bytes > STYLED_BYTES {
        return diff;
    }
    let Some(language) = language_of_path(&diff.path) else { return diff };
    for Hunk { lines } in &mut diff.hunks {
        for side in [DiffKind::Removed, DiffKind::Added] {
            // Context lines are on both sides and use the styles of the new side.
            let takes =
                |kind: DiffKind| kind == side || (side == DiffKind::Added && kind == DiffKind::Context);
            if !lines.iter().any(|line| takes(line.kind)) {
                continue;
            }
            let mut text = String::new();
            for line in lines.iter().filter(|line| line.kind == side || line.kind == DiffKind::Context) {
                line.parts.iter().for_each(|part| text.push_str(&part.text));
                text.push('\n');
            }
            let styled = highlight(Some(&language), &text);
            let of_side = lines.iter_mut().filter(|line| line.kind == side || line.kind == DiffKind::Context);
            for (line, styled) in of_side.zip(&styled) {
                if takes(line.kind)
                    && let Some(parts) = with_styles(&line.parts, styled)
                {
                    line.parts = parts;
                }
            }
        }
    }
    diff
}

/// The parts of a line, split at token ends. `None` if the highlighter's text differs, for example because it treats a
/// carriage return as a line end.
fn with_styles(parts: &[DiffPart], styled: &CodeLine) -> Option<Vec<DiffPart>> {
    let mut made: Vec<DiffPart> = Vec::with_capacity(styled.tokens.len());
    let mut parts = parts.iter().filter(|part| !part.text.is_empty());
    let mut part = parts.next();
    let mut used = 0;
    for token in &styled.tokens {
        let mut rest = token.text.as_str();
        while !rest.is_empty() {
            let of_part = &part?.text[used..];
            let (taken, after) = if rest.len() >= of_part.len() {
                (of_part, rest.strip_prefix(of_part)?)
            } else {
                (rest, of_part.starts_with(rest).then_some("")?)
            };
            let strong = part?.strong;
            match made.last_mut() {
                Some(last) if last.strong == strong && last.style == token.style => last.text.push_str(taken),
                _ => made.push(DiffPart { text: taken.to_owned(), strong, style: token.style }),
            }
            used += taken.len();
            rest = after;
            if part.is_some_and(|part| used == part.text.len()) {
                part = parts.next();
                used = 0;
            }
        }
    }
    part.is_none().then_some(made)
}

fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::compact;

    #[track_caller]
    fn check(diff: Diff, expected: &str) {
        assert_eq!(compact::diff(&diff), expected);
    }

    #[test]
    fn a_changed_line_has_context_and_marked_words() {
        check(
            diff(
                "a.rs",
                "1\n2\n3\n4\nlet a = b(1);\n6\n7\n8\n9\n",
                "1\n2\n3\n4\nlet a = c(1);\n6\n7\n8\n9\n",
            ),
            "a.rs +1 -1\n2 2  2\n3 3  3\n4 4  4\n5 · -let a = «b»(1);\n· 5 +let a = «c»(1);\n6 6  6\n7 7  7\n8 8  8",
        );
    }

    #[test]
    fn changes_far_apart_are_hunks_of_their_own() {
        let old: String = (1..=20).map(|line| format!("{line}\n")).collect();
        let new = old.replace("2\n3\n", "3\n").replace("19\n", "19\nmore\n");
        check(
            diff("a", &old, &new),
            "a +1 -1\n1 1  1\n2 · -2\n3 2  3\n4 3  4\n5 4  5\n@@\n17 16  17\n18 17  18\n19 18  19\n· 19 +more\n20 20  20",
        );
    }

    #[test]
    fn new_empty_and_equal_files() {
        check(diff("a", "", "one\ntwo\n"), "a +2 -0\n· 1 +one\n· 2 +two");
        check(diff("a", "one\n", ""), "a +0 -1\n1 · -one");
        check(diff("a", "one\n", "one\n"), "a +0 -0");
        check(diff("a", "", ""), "a +0 -0");
    }

    #[test]
    fn places_of_hunks_are_those_of_the_diff() {
        let old: String = (0..30).map(|n| format!("{n}\n")).collect();
        let new = old.replace("\n7\n", "\nseven\n7b\n").replace("\n25\n", "\n");
        let (shown, places) = (diff("a", &old, &new), line_hunks(&old, &new));
        assert_eq!(shown.hunks.len(), places.len());
        for (hunk, place) in shown.hunks.iter().zip(places) {
            assert_eq!(hunk.lines[0].old_line, Some(to_u32(place.old.start) + 1));
            assert_eq!(hunk.lines[0].new_line, Some(to_u32(place.new.start) + 1));
            let lines = |kind: DiffKind| hunk.lines.iter().filter(|line| line.kind != kind).count();
            assert_eq!(lines(DiffKind::Added), place.old.len());
            assert_eq!(lines(DiffKind::Removed), place.new.len());
            assert_eq!(place.runs.iter().map(|(_, run)| run.len()).sum::<usize>(), hunk.lines.len());
        }
        assert_eq!(line_hunks("a\n", "a\n"), []);
    }

    #[test]
    fn line_ends_are_changes_too() {
        check(diff("a", "one", "one\n"), "a +1 -1\n1 · -one\n· 1 +one");
        check(diff("a", "one\r\n", "one\n"), "a +1 -1\n1 · -one«␍»\n· 1 +one");
        check(diff("a", "one\r\ntwo\r\n", "one\r\n2\r\n"), "a +1 -1\n1 1  one\n2 · -two\n· 2 +2");
    }

    #[test]
    fn a_part_without_a_place_has_no_numbers() {
        check(diff_unplaced("a", "foo", "foo\nbar"), "a +1 -0\n· ·  foo\n· · +bar");
        check(diff_unplaced("a", "one", "one\r\n"), "a +1 -1\n· · -one\n· · +one«␍»");
    }

    #[test]
    fn words_are_marked_where_lines_are_alike() {
        check(
            diff_unplaced("a", "a b c d\nmore words here", "a x y d\nmore words there"),
            "a +2 -2\n· · -a «b c» d\n· · -more words «here»\n· · +a «x y» d\n· · +more words «there»",
        );
        check(diff_unplaced("a", "  same", "    same"), "a +1 -1\n· · -«  »same\n· · +«    »same");
        check(
            diff_unplaced("a", "nothing alike", "another line"),
            "a +1 -1\n· · -nothing alike\n· · +another line",
        );
        check(
            diff_unplaced("a", "call(first, second)", "call(\n    first,\n    second,\n)"),
            "a +4 -1\n· · -call(first, second)\n· · +call(\n· · +    first,\n· · +    second«,»\n· · +)",
        );
    }

    /// Every part with its style; strong parts in `«»`.
    fn styled(diff: &Diff) -> Vec<String> {
        let lines = diff.hunks.iter().flat_map(|hunk| &hunk.lines);
        lines
            .map(|line| {
                let parts = line.parts.iter().map(|part| match (part.strong, part.style) {
                    (true, TokenStyle::Plain) => format!("«{}»", part.text),
                    (true, style) => format!("{style:?}«{}»", part.text),
                    (false, TokenStyle::Plain) => part.text.clone(),
                    (false, style) => format!("{style:?}‹{}›", part.text),
                });
                parts.collect()
            })
            .collect()
    }

    #[test]
    fn tokens_have_their_styles_on_both_sides_of_a_change() {
        let old = "pub fn round(self) -> Self {\n    // half away\n    Self(self.0.round_dp(places))\n}\n";
        let new = "pub fn round(self) -> Self {\n    // to even\n    Self(self.0.round_dp_with_strategy(places, MidpointNearestEven))\n}\n";
        assert_eq!(
            styled(&diff("src/money.rs", old, new)),
            [
                "Keyword‹pub fn ›Function‹round›(self) -> Keyword‹Self ›{",
                "    Comment‹// half away›",
                "    Keyword‹Self›(Keyword‹self›.Number‹0.›Function«round_dp»(places))",
                "    Comment‹// to even›",
                "    Keyword‹Self›(Keyword‹self›.Number‹0.›Function«round_dp_with_strategy»(places«, MidpointNearestEven»))",
                "}",
            ]
        );
        assert_eq!(styled(&diff("notes", "fn a() {}\n", "fn b() {}\n")), ["fn «a»() {}", "fn «b»() {}"]);
    }

    #[test]
    fn a_large_change_stays_plain() {
        let line = "let a = 1;\n";
        let most = line.repeat(STYLED_BYTES / (line.len() - 1));
        let is_plain = |diff: &Diff| {
            let parts = diff.hunks.iter().flat_map(|hunk| &hunk.lines).flat_map(|line| &line.parts);
            parts.into_iter().all(|part| part.style == TokenStyle::Plain)
        };
        assert!(!is_plain(&diff("a.rs", "", &most)));
        assert!(is_plain(&diff("a.rs", "", &most.repeat(2))));
    }

    #[test]
    fn odd_characters_keep_their_places() {
        for text in ["a\rb", "x\u{0}y", "\u{2028}", "é\u{301}let", "\u{feff}let a", "␍", ""] {
            let diff = diff("a.rs", "", &format!("let a;\n{text}\nlet b;\n"));
            let lines = diff.hunks.iter().flat_map(|hunk| &hunk.lines);
            let texts: Vec<String> =
                lines.map(|line| line.parts.iter().map(|part| part.text.as_str()).collect()).collect();
            assert_eq!(texts, ["let a;", text, "let b;"], "{text:?}");
        }
    }

    #[test]
    fn the_agents_own_patch() {
        let lines = vec![" alpha", "-beta one", "+gamma one", " ", "\\ No newline at end of file"];
        let patch = [PatchHunk { old_start: Some(4), new_start: Some(5), lines }];
        check(
            diff_from_patch("b.txt", patch).unwrap(),
            "b.txt +1 -1\n4 5  alpha\n5 · -«beta» one\n· 6 +«gamma» one\n6 7",
        );
        let without_numbers = [PatchHunk { old_start: None, new_start: None, lines: vec!["+a"] }];
        check(diff_from_patch("b", without_numbers).unwrap(), "b +1 -0\n· · +a");
        assert_eq!(diff_from_patch("a", []), None);
    }

    proptest! {
        /// Removed and context lines are the old text, added and context lines the new text, each with its number.
        #[test]
        fn a_diff_tells_both_texts(old in "([ab ]{0,3}\n){0,12}", new in "([ab ]{0,3}\n){0,12}") {
            let diff = diff("a", &old, &new);
            let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
            let mut n_changed = (0, 0);
            for line in diff.hunks.iter().flat_map(|hunk| &hunk.lines) {
                let text: String = line.parts.iter().map(|part| part.text.as_str()).collect();
                prop_assert_eq!(line.kind == DiffKind::Added, line.old_line.is_none());
                prop_assert_eq!(line.kind == DiffKind::Removed, line.new_line.is_none());
                for (number, lines) in [(line.old_line, &old), (line.new_line, &new)] {
                    if let Some(number) = number {
                        prop_assert_eq!(lines[number as usize - 1], &text);
                    }
                }
                n_changed.0 += u32::from(line.kind == DiffKind::Added);
                n_changed.1 += u32::from(line.kind == DiffKind::Removed);
            }
            prop_assert_eq!(n_changed, (diff.added, diff.removed));
            let (joined_old, joined_new) = (old.join("\n"), new.join("\n"));
            let counted = super::diff("a", &joined_old, &joined_new);
            prop_assert_eq!(count_changes(&joined_old, &joined_new), (counted.added, counted.removed));
            prop_assert_eq!(old.len() + diff.added as usize, new.len() + diff.removed as usize);
            prop_assert_eq!(diff.hunks.is_empty(), old == new);
        }
    }
}
