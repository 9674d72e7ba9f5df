//! The groups of three letters or digits that a file contains: a file that lacks one of a word's groups is not read for it.
//!
//! They are read from the bytes of a file in the background and kept in memory only. A word is written in JSON with its ASCII
//! letters and digits as they are, in either case, so every group of a word in a file is among the groups of the file.

use crate::disk::{self, ReadError};
use memchr::memmem;
use std::collections::HashMap;
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Letters and digits.
const N_SIGNS: u16 = 36;
/// The place of everything else.
const OTHER: u8 = N_SIGNS as u8;

/// Bits for a file, and for one below [`SMALL`] bytes, where two groups share a bit. All groups have 37³ = 50,653 numbers.
const BITS: usize = 1 << 16;
const BITS_OF_SMALL: usize = 1 << 14;
const SMALL: u64 = 128 * 1024;

/// Memory for all files.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// Bytes read between two checks whether reading was cancelled.
const STEP: usize = 1024 * 1024;

/// Characters that equal an ASCII letter without case: the long s and the Kelvin sign.
const LIKE_ASCII: [&str; 2] = ["\u{17f}", "\u{212a}"];

/// A letter without case or a digit as a number.
const SIGNS: [u8; 256] = {
    let mut signs = [OTHER; 256];
    let mut n = 0;
    while n < N_SIGNS as u8 {
        if n < 10 {
            signs[(b'0' + n) as usize] = n;
        } else {
            signs[(b'a' + n - 10) as usize] = n;
            signs[(b'A' + n - 10) as usize] = n;
        }
        n += 1;
    }
    signs
};

const BASE: u32 = N_SIGNS as u32 + 1;

fn sign(byte: u8) -> u32 {
    u32::from(SIGNS[usize::from(byte)])
}

/// The groups of a word, as far as it is made of ASCII letters and digits. A file with the word has one of each range: of
/// two letters, all groups that begin with them.
pub fn of_word(word: &str) -> Vec<Range<u32>> {
    let mut ranges = Vec::new();
    for part in word.as_bytes().split(|byte| sign(*byte) == u32::from(OTHER)) {
        let numbers = |part: &[u8]| part.iter().fold(0, |number, byte| number * BASE + sign(*byte));
        match part {
            [_, _] => ranges.push(numbers(part) * BASE..(numbers(part) + 1) * BASE),
            _ => ranges.extend(part.windows(3).map(|three| numbers(three)..numbers(three) + 1)),
        }
    }
    ranges
}

/// The groups of one file, as bits.
#[derive(Debug)]
struct Bits(Box<[u64]>);

impl Bits {
    fn new(size: u64) -> Self {
        let n_bits = if size < SMALL { BITS_OF_SMALL } else { BITS };
        Self(vec![0; n_bits / 64].into())
    }

    fn has_one(&self, groups: &Range<u32>) -> bool {
        let mask = self.0.len() * 64 - 1;
        groups.clone().any(|group| {
            let bit = group as usize & mask;
            self.0[bit / 64] & (1 << (bit % 64)) != 0
        })
    }

    /// Adds the groups that end in these bytes, which follow the two signs `last`. Returns the last two.
    fn add(&mut self, bytes: &[u8], last: [u32; 2]) -> [u32; 2] {
        let mask = self.0.len() * 64 - 1;
        let [mut first, mut second] = last;
        for byte in bytes {
            let third = sign(*byte);
            let bit = ((first * BASE + second) * BASE + third) as usize & mask;
            self.0[bit / 64] |= 1 << (bit % 64);
            (first, second) = (second, third);
        }
        [first, second]
    }
}

/// The groups of files, by their paths' hashes, each for one state of its file.
#[derive(Debug, Default)]
pub struct Grams(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    files: HashMap<u64, (u64, Option<Bits>)>,
    n_bytes: usize,
}

impl Grams {
    /// Whether a file in this state certainly lacks one of these groups.
    pub fn lacks(&self, path: u64, state: u64, groups: &[Range<u32>]) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((of, Some(bits))) = known.files.get(&path) else { return false };
        *of == state && groups.iter().any(|range| !bits.has_one(range))
    }

    /// Whether the groups of a file in this state should be read: they are not known, and there is room.
    pub fn wants(&self, path: u64, state: u64) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match known.files.get(&path) {
            Some((of, _)) => *of != state,
            None => known.n_bytes < MOST_BYTES,
        }
    }

    fn note(&self, path: u64, state: u64, bits: Option<Bits>) {
        let n_bytes = |bits: &Option<Bits>| bits.as_ref().map_or(0, |bits| bits.0.len() * 8) + 64;
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.n_bytes += n_bytes(&bits);
        if let Some((_, before)) = known.files.insert(path, (state, bits)) {
            known.n_bytes -= n_bytes(&before);
        }
    }

    /// Reads the groups of a file. `too_long`: a file with a line of so many bytes is read by each search, which counts
    /// the line.
    pub fn read(
        &self,
        file: &Path,
        (path, state): (u64, u64),
        too_long: usize,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<(), ReadError> {
        let opened = disk::open_regular(file)?;
        let (mut file, mut bits) = (opened.file, Bits::new(opened.size));
        let finders = LIKE_ASCII.map(|like| memmem::Finder::new(like.as_bytes()));
        // Begins with the last bytes of the part before, where such a character can begin.
        let mut bytes = Vec::with_capacity(STEP + 2);
        let (mut signs, mut n_kept, mut of_line) = ([u32::from(OTHER); 2], 0, 0);
        loop {
            if is_cancelled() {
                return Ok(());
            }
            let at_end = (&mut file).take(STEP as u64).read_to_end(&mut bytes)? < STEP;
            let new = &bytes[n_kept..];
            let first = of_line + memchr::memchr(b'\n', new).unwrap_or(new.len());
            of_line = memchr::memrchr(b'\n', new).map_or(first, |newline| new.len() - newline - 1);
            if first >= too_long || finders.iter().any(|finder| finder.find(&bytes).is_some()) {
                self.note(path, state, None);
                return Ok(());
            }
            signs = bits.add(new, signs);
            if at_end {
                // A group also begins with the last letters.
                bits.add(b"--", signs);
                self.note(path, state, Some(bits));
                return Ok(());
            }
            bytes.drain(..bytes.len() - 2);
            n_kept = 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::pattern;
    use super::*;
    use proptest::prelude::*;
    use std::fs;

    fn grams_of(content: &[u8], too_long: usize) -> Grams {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a");
        fs::write(&path, content).unwrap();
        let grams = Grams::default();
        grams.read(&path, (1, 1), too_long, &|| false).unwrap();
        grams
    }

    fn lacks(content: &[u8], word: &str) -> bool {
        grams_of(content, 1000).lacks(1, 1, &of_word(word))
    }

    #[test]
    fn a_file_lacks_a_word_without_one_of_its_groups() {
        let text = br#"{"content":"Say \"RareGem\"\nto 42nd"}"#;
        for there in ["raregem", "RARE", "gem\"", "say \"raregem\"", "42nd", "ge", "to", "", "\u{fc}", "to 4"]
        {
            assert!(!lacks(text, there), "{there}");
        }
        for missing in ["raregems", "wombat", "areg wombat", "43nd", "zz", "\"eg\" zz"] {
            assert!(lacks(text, missing), "{missing}");
        }
        assert!(!lacks(b"ab", "ab") && !lacks(b"xab", "ab") && lacks(b"xab", "bx"));
        // Groups, not words.
        assert!(!lacks(b"abc bcd", "abcd"));
    }

    #[test]
    fn a_group_across_two_parts_of_a_file_is_found() {
        for before in STEP - 4..STEP + 2 {
            let mut content = vec![b'-'; before];
            content.extend(b"wombat\n");
            assert!(!grams_of(&content, 2 * STEP).lacks(1, 1, &of_word("wombat")), "{before}");
        }
    }

    #[test]
    fn a_file_that_each_search_has_to_read_lacks_nothing() {
        for like in LIKE_ASCII {
            for before in [0, STEP - 2, STEP - 1] {
                let mut content = vec![b'-'; before];
                content.extend(like.as_bytes());
                assert!(!grams_of(&content, 2 * STEP).lacks(1, 1, &of_word("wombat")), "{like} {before}");
            }
        }
        let mut lines = vec![b'-'; STEP + 10];
        lines.extend(b"\nx");
        assert!(!grams_of(&lines, STEP + 10).lacks(1, 1, &of_word("wombat")));
        assert!(grams_of(&lines, STEP + 11).lacks(1, 1, &of_word("wombat")));
    }

    #[test]
    fn a_file_is_known_in_one_state_and_memory_is_bounded() {
        let grams = grams_of(b"x", 10);
        let wombat = of_word("wombat");
        assert!(grams.lacks(1, 1, &wombat) && !grams.wants(1, 1));
        assert!(!grams.lacks(1, 2, &wombat) && grams.wants(1, 2), "it has changed");
        assert!(!grams.lacks(2, 1, &wombat) && grams.wants(2, 1), "another file");
        let mut n_known = 1;
        while grams.wants(n_known + 1, 1) {
            n_known += 1;
            grams.note(n_known, 1, Some(Bits::new(u64::MAX)));
        }
        let most = (MOST_BYTES / (BITS / 8)) as u64;
        assert!((most - 40..=most + 1).contains(&n_known), "{n_known}");
        // A known file is read again where it has changed.
        assert!(grams.wants(1, 2));
    }

    proptest! {
        /// Whatever the pattern of a word finds is not left out.
        #[test]
        fn a_file_never_lacks_a_word_that_the_search_finds(
            before in r#"[ab ü"\\\nſK]{0,6}"#,
            word in r#"[a-eA-E0-2sSkK"ü\\/<-]{1,8}( |\n\t)?[a-z"]{0,4}"#,
            after in r#"[ab ü"\\\n]{0,6}"#,
            upper in any::<bool>(),
        ) {
            let text = format!("{before}{}{after}", if upper { word.to_uppercase() } else { word.clone() });
            let json = serde_json::to_string(&text).unwrap();
            let is_found = pattern::in_json(&word).unwrap().is_match(json.as_bytes());
            prop_assert!(!(is_found && lacks(json.as_bytes(), &word)), "{} in {}", word, json);
        }
    }
}
