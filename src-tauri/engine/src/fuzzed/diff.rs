//! Fuzz target for diffs: applied to the old text, a diff gives the new one, and it is not larger than both texts.

use crate::api::{Diff, DiffKind, DiffLine};
use crate::document;

/// Compares the texts before and after the first `0xff`, and takes the lines of the first one as a patch.
pub fn diff(data: &[u8]) {
    let mut parts = data.splitn(2, |byte| *byte == 0xff);
    let mut text = || String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    let (old, new) = (text(), text());

    let change = document::diff("file.rs", &old, &new);
    counted(&change, &old, &new);
    applied(&change, &old, &new);
    let unplaced = document::diff_unplaced("file.py", &old, &new);
    counted(&unplaced, &old, &new);
    for diff in [&change, &unplaced] {
        assert_eq!(diff.hunks.is_empty(), old == new, "{old:?} to {new:?}");
    }
    let lines = old.lines().collect();
    let patch = [document::PatchHunk { old_start: Some(u32::MAX), new_start: None, lines }];
    assert!(document::diff_from_patch("file", patch).is_some());
}

/// The counts match the lines, and every hunk contains a change.
fn counted(diff: &Diff, old: &str, new: &str) {
    let count =
        |kind| diff.hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.kind == kind).count();
    assert_eq!(
        (diff.added as usize, diff.removed as usize),
        (count(DiffKind::Added), count(DiffKind::Removed))
    );
    assert!(count(DiffKind::Added) + count(DiffKind::Context) <= new.split_inclusive('\n').count());
    assert!(count(DiffKind::Removed) + count(DiffKind::Context) <= old.split_inclusive('\n').count());
    for hunk in &diff.hunks {
        assert!(hunk.lines.iter().any(|line| line.kind != DiffKind::Context));
    }
}

/// Applies the diff to both texts line by line. Line ends are only shown where they changed.
fn applied(diff: &Diff, old: &str, new: &str) {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let (mut old_at, mut new_at) = (0, 0);
    for line in diff.hunks.iter().flat_map(|hunk| &hunk.lines) {
        let first = |number: Option<u32>| number.map(|number| number as usize - 1);
        // The lines up to here are unchanged.
        let skipped = match (first(line.old_line), first(line.new_line)) {
            (Some(old_idx), _) => old_idx - old_at,
            (None, Some(new_idx)) => new_idx - new_at,
            (None, None) => panic!("a line of neither text"),
        };
        assert_eq!(old[old_at..][..skipped], new[new_at..][..skipped]);
        (old_at, new_at) = (old_at + skipped, new_at + skipped);
        if line.kind != DiffKind::Added {
            assert_eq!(line.old_line, Some(old_at as u32 + 1));
            assert!(shows(line, old[old_at]), "{line:?} for {:?}", old[old_at]);
            old_at += 1;
        }
        if line.kind != DiffKind::Removed {
            assert_eq!(line.new_line, Some(new_at as u32 + 1));
            assert!(shows(line, new[new_at]), "{line:?} for {:?}", new[new_at]);
            new_at += 1;
        }
    }
    assert_eq!(old[old_at..], new[new_at..]);
}

fn shows(line: &DiffLine, source: &str) -> bool {
    let shown: String = line.parts.iter().map(|part| part.text.as_str()).collect();
    let source = source.strip_suffix('\n').unwrap_or(source);
    let without_cr = source.strip_suffix('\r').unwrap_or(source);
    shown == without_cr || (source != without_cr && shown == format!("{without_cr}␍"))
}
