//! Output of git's listings, parsed.

use std::collections::{BTreeMap, HashMap};

/// A path as git has it: bytes, relative to the project, with slashes.
pub(super) type GitPath = Vec<u8>;

/// A file of a commit or of the index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Blob {
    pub mode: u32,
    pub id: String,
}

pub(super) const LINK: u32 = 0o120_000;
pub(super) const SUBMODULE: u32 = 0o160_000;
pub(super) const EXECUTABLE: u32 = 0o100_755;

/// What git saw of a file when it last compared it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    pub changed: (u64, u32),
    pub modified: (u64, u32),
    pub inode: u32,
    pub size: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct IndexEntry {
    /// `None` while a merge has left several versions.
    pub blob: Option<Blob>,
    pub seen: Option<Seen>,
    /// Not checked out: the folder is a part of a sparse checkout.
    pub is_skipped: bool,
    /// Added with `--intent-to-add`: the index has no content of it.
    pub is_intended: bool,
}

/// `git ls-tree -r -z`.
pub(super) fn tree(output: &[u8]) -> BTreeMap<GitPath, Blob> {
    records(output)
        .filter_map(|record| {
            let (head, path) = split(record, b'\t')?;
            let mut words = std::str::from_utf8(head).ok()?.split(' ');
            let mode = u32::from_str_radix(words.next()?, 8).ok()?;
            let id = words.nth(1)?.to_owned();
            Some((path.to_vec(), Blob { mode, id }))
        })
        .collect()
}

/// `git ls-files -s -z --debug`. The lines about what git saw have no promised form: an entry whose lines are different
/// has none, and its file is compared by its content.
pub(super) fn index(output: &[u8]) -> BTreeMap<GitPath, IndexEntry> {
    let mut entries: BTreeMap<GitPath, IndexEntry> = BTreeMap::new();
    let mut rest = output;
    while let Some((record, after)) = split(rest, 0) {
        let lines_end = debug_end(after);
        let debug = std::str::from_utf8(&after[..lines_end]).unwrap_or_default();
        rest = &after[lines_end..];
        let Some((head, path)) = split(record, b'\t') else { continue };
        let mut words = std::str::from_utf8(head).unwrap_or_default().split(' ');
        let (Some(mode), Some(id), Some(stage)) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        let Ok(mode) = u32::from_str_radix(mode, 8) else { continue };
        let entry = entries.entry(path.to_vec()).or_default();
        if stage != "0" {
            continue;
        }
        let flags = number(debug, "flags: ", 16).unwrap_or(0);
        entry.is_skipped = flags & 0x4000_0000 != 0;
        entry.is_intended = flags & 0x2000_0000 != 0;
        entry.blob = Some(Blob { mode, id: id.to_owned() });
        entry.seen = seen(debug);
    }
    entries
}

/// The length of the indented lines at the beginning.
fn debug_end(text: &[u8]) -> usize {
    let mut end = 0;
    while text[end..].starts_with(b"  ") {
        match text[end..].iter().position(|byte| *byte == b'\n') {
            Some(length) => end += length + 1,
            None => return text.len(),
        }
    }
    end
}

fn seen(debug: &str) -> Option<Seen> {
    let time = |name: &str| {
        let (seconds, nanoseconds) = value(debug, name)?.split_once(':')?;
        Some((seconds.parse().ok()?, nanoseconds.parse().ok()?))
    };
    Some(Seen {
        changed: time("ctime: ")?,
        modified: time("mtime: ")?,
        inode: u32::try_from(number(debug, "ino: ", 10)?).ok()?,
        size: u32::try_from(number(debug, "size: ", 10)?).ok()?,
    })
}

fn value<'a>(debug: &'a str, name: &str) -> Option<&'a str> {
    let start = debug.find(name)? + name.len();
    debug[start..].split(['\t', '\n']).next()
}

fn number(debug: &str, name: &str, radix: u32) -> Option<u64> {
    u64::from_str_radix(value(debug, name)?, radix).ok()
}

/// `git cat-file --batch-check`: the sizes of the objects that exist, by id.
pub(super) fn sizes(output: &[u8]) -> HashMap<String, u64> {
    let lines = output.split(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
    lines
        .filter_map(|line| {
            let mut words = line.split(' ');
            let id = words.next()?;
            (words.next()? == "blob").then_some(())?;
            Some((id.to_owned(), words.next()?.parse().ok()?))
        })
        .collect()
}

/// `git cat-file --batch`: the contents of the objects that exist, by id.
pub(super) fn contents(output: &[u8]) -> HashMap<String, Vec<u8>> {
    let mut found = HashMap::new();
    let mut rest = output;
    while let Some((line, after)) = split(rest, b'\n') {
        let mut words = std::str::from_utf8(line).unwrap_or_default().split(' ');
        let (id, kind, size) = (words.next(), words.next(), words.next());
        let size = size.and_then(|size| size.parse::<usize>().ok()).filter(|_| kind != Some("missing"));
        let (Some(id), Some(size)) = (id, size) else {
            rest = after;
            continue;
        };
        let Some(content) = after.get(..size) else { break };
        found.insert(id.to_owned(), content.to_vec());
        rest = after.get(size + 1..).unwrap_or_default();
    }
    found
}

/// `git check-attr -z`: path, attribute and value of each.
pub(super) fn attributes(output: &[u8]) -> HashMap<GitPath, HashMap<String, String>> {
    let mut found: HashMap<GitPath, HashMap<String, String>> = HashMap::new();
    let mut fields = records(output);
    while let (Some(path), Some(name), Some(value)) = (fields.next(), fields.next(), fields.next()) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        found.entry(path.to_vec()).or_default().insert(text(name), text(value));
    }
    found
}

/// The parts of an output whose parts end with a NUL.
pub(super) fn records(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.split(|byte| *byte == 0).filter(|record| !record.is_empty())
}

fn split(bytes: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let place = bytes.iter().position(|byte| *byte == at)?;
    Some((&bytes[..place], &bytes[place + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const INDEX: &[u8] = b"100644 aa 0\ta\n\0  ctime: 5:6\n  mtime: 7:8\n  dev: 1\tino: 9\n  uid: 0\tgid: 0\n  size: 2\tflags: 40004000\n120000 bb 0\tb\x00100644 cc 1\tc\0  ctime: 0:0\n100644 dd 2\tc\0";

    #[test]
    fn the_index_is_read_with_and_without_what_git_saw() {
        let found = index(INDEX);
        let a = &found[&b"a\n"[..]];
        let seen = Seen { changed: (5, 6), modified: (7, 8), inode: 9, size: 2 };
        assert_eq!((a.seen.as_ref(), a.is_skipped), (Some(&seen), true));
        let b = &found[&b"b"[..]];
        assert_eq!((b.blob.as_ref().unwrap().mode, b.seen.as_ref()), (LINK, None));
        assert_eq!(found[&b"c"[..]], IndexEntry::default(), "a conflict");
    }

    #[test]
    fn objects_are_read_by_their_sizes() {
        let found = contents(b"aa blob 4\n\n\0x\n\nbb missing\ncc blob 0\n\ndd blob 9\nshort");
        assert_eq!(found.len(), 2);
        assert_eq!(found["aa"], b"\n\0x\n");
        assert_eq!(found["cc"], b"");
        assert_eq!(sizes(b"aa blob 4\nbb missing\ncc tree 3\n"), HashMap::from([("aa".to_owned(), 4)]));
    }

    #[test]
    fn a_tree_has_any_path() {
        let found = tree(b"100644 blob aa\tx y\t\xff\x00160000 commit bb\tsub\0nonsense\0");
        assert_eq!(found[&b"x y\t\xff"[..]], Blob { mode: 0o100_644, id: "aa".to_owned() });
        assert_eq!((found.len(), found[&b"sub"[..]].mode), (2, SUBMODULE));
    }

    proptest! {
        #[test]
        fn no_output_breaks_a_parser(noise in proptest::collection::vec(any::<u8>(), 0..200), at in 0_usize..200) {
            let mut output = INDEX.to_vec();
            output.splice(at.min(INDEX.len()).., noise.iter().copied());
            for output in [&output, &noise] {
                let _ = (tree(output), index(output), sizes(output), contents(output), attributes(output));
            }
        }
    }
}
