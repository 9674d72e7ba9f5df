//! Searching one file, a window of whole lines at a time: first the bytes, then the lines that match as JSON.

use super::query::Query;
use super::snippet::snippet;
use super::{grams, pattern};
use crate::api::{ItemId, SearchHit, SearchPlace};
use crate::claude::searchable::{self, Call, Entry, ItemRef, ToolAndFiles};
use crate::claude::stored::StoredLine;
use crate::document;
use crate::transcript::changed_inputs::ChangedInput;
use crate::transcript::words;
use regex::{Regex, bytes};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::io::{self, Read};
use std::ops::Range;

/// Bytes of a file that are in memory at a time. A longer line is not searched.
pub(super) const WINDOW: usize = 32 * 1024 * 1024;

/// Bytes read between two checks whether the search was cancelled.
const STEP: usize = 1024 * 1024;

/// Bytes of whole lines that are searched at once, from the end: of a word in many lines the others are not looked for.
const BLOCK: usize = 128 * 1024;

/// Lines parsed between two checks whether the search was cancelled.
const LINES_AT_A_TIME: usize = 64;

/// Matches of a file that are kept: the newest ones.
pub(super) const MOST_HITS: usize = 20;

/// A query, prepared.
pub(super) struct Matcher {
    query: Query,
    words: Vec<Regex>,
    /// Finds the lines that may match.
    lines: bytes::Regex,
    /// The text that those lines contain, for [`super::Absent`].
    pub needle: String,
    /// The groups of letters of all texts that a matching file contains.
    pub groups: Vec<Range<u32>>,
}

impl Matcher {
    /// `None` if a word is too long to be searched.
    pub fn new(query: Query) -> Option<Self> {
        let words = query.words.iter().map(|word| pattern::in_text(word)).collect::<Option<Vec<_>>>()?;
        // The longest word is in the fewest lines. Of several files or tools any may fit, so only a single one is
        // required.
        let only = |list: &[String]| if let [one] = list { Some(one.clone()) } else { None };
        let longest = query.words.iter().max_by_key(|word| word.chars().count()).cloned();
        let needle = longest.or_else(|| only(&query.files)).or_else(|| only(&query.tools));
        let needle = needle.unwrap_or_else(|| searchable::IN_EVERY_CALL.to_owned());
        let lines = pattern::in_json(&needle)?;
        let texts = query.words.iter().chain([&needle]);
        let groups = texts.flat_map(|text| grams::of_word(text)).collect();
        Some(Self { query, words, lines, needle: needle.to_lowercase(), groups })
    }

    /// Whether an entry of a line matches. `calls`: those of the lines around it.
    fn fits(&self, entry: &Entry, calls: &Calls<'_>) -> bool {
        let Query { after, before, .. } = self.query;
        if after.is_some_and(|after| entry.at.is_none_or(|at| at < after))
            || before.is_some_and(|before| entry.at.is_none_or(|at| at >= before))
            || !self.words.iter().all(|word| word.is_match(&entry.text))
        {
            return false;
        }
        !self.query.wants_calls() || self.call_fits(entry, calls)
    }

    fn call_fits(&self, entry: &Entry, calls: &Calls<'_>) -> bool {
        match &entry.call {
            Some(Call::Known(call)) => self.query.allows(&call.tool, &call.files),
            // Without words the call itself is found.
            Some(Call::Earlier { id }) if !self.words.is_empty() => {
                calls.get(id).is_some_and(|call| self.query.allows(&call.tool, &call.files))
            }
            Some(Call::Earlier { .. }) | None => false,
        }
    }

    fn hit(&self, entry: Entry, earlier: &[u8]) -> SearchHit {
        let item_id = match entry.item {
            ItemRef::None => None,
            ItemRef::Id(id) => Some(ItemId::new(id)),
            ItemRef::Call(id) => Some(ItemId(searchable::key_of_call(earlier, &id, entry.place))),
            ItemRef::Block { message_id, nr_in_line } => {
                let nr = searchable::blocks_before(earlier, &message_id) + nr_in_line;
                Some(ItemId::new(format!("{message_id}.{nr}")))
            }
        };
        let tool = match entry.call {
            Some(Call::Known(call)) => Some(call.tool),
            Some(Call::Earlier { id }) => searchable::call_of(earlier, &id).map(|call| call.tool),
            None => None,
        };
        SearchHit {
            item_id,
            place: entry.place,
            tool,
            at: entry.at,
            snippet: snippet(&entry.text, &self.words),
        }
    }
}

/// The calls in a window of a file. They are read once, when an output has to be matched with its call.
struct Calls<'a> {
    bytes: &'a [u8],
    by_id: OnceCell<HashMap<String, ToolAndFiles>>,
}

impl Calls<'_> {
    fn get(&self, id: &str) -> Option<&ToolAndFiles> {
        self.by_id.get_or_init(|| searchable::all_calls(self.bytes)).get(id)
    }
}

/// The result of one file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Scan {
    /// Newest first.
    pub hits: Vec<SearchHit>,
    pub has_more: bool,
    /// Lines that are too long, or no JSON. The last line of a file may be incomplete and is not counted.
    pub n_left_out: u32,
    /// No line can match, whatever else is in the query.
    pub is_absent: bool,
    pub is_cancelled: bool,
}

/// Searches a file.
pub(super) fn scan(
    mut file: impl Read,
    window: usize,
    matcher: &Matcher,
    changed: &[ChangedInput],
    is_cancelled: &dyn Fn() -> bool,
) -> io::Result<Scan> {
    let mut scan = Scan { is_absent: true, ..Scan::default() };
    let (mut bytes, mut is_long) = (Vec::new(), false);
    loop {
        let mut at_end = false;
        while bytes.len() < window && !at_end {
            if is_cancelled() {
                return Ok(Scan { is_cancelled: true, ..scan });
            }
            let step = STEP.min(window - bytes.len());
            at_end = (&mut file).take(step as u64).read_to_end(&mut bytes)? < step;
        }
        if is_long {
            // The rest of a line that is too long.
            let rest = memchr::memchr(b'\n', &bytes).map_or(bytes.len(), |newline| newline + 1);
            is_long = rest == bytes.len() && bytes.last() != Some(&b'\n');
            bytes.drain(..rest);
            if at_end && bytes.is_empty() {
                return Ok(scan);
            }
            if !at_end {
                continue;
            }
        }
        let whole = if at_end {
            bytes.len()
        } else {
            memchr::memrchr(b'\n', &bytes).map_or(0, |newline| newline + 1)
        };
        if whole == 0 && !at_end {
            scan.n_left_out += 1;
            is_long = true;
            bytes.clear();
            continue;
        }
        scan.search(&bytes[..whole], at_end, matcher, changed, is_cancelled);
        if at_end || scan.is_cancelled {
            return Ok(scan);
        }
        bytes.drain(..whole);
    }
}

impl Scan {
    /// Searches whole lines, the last one first.
    fn search(
        &mut self,
        bytes: &[u8],
        at_end: bool,
        matcher: &Matcher,
        changed: &[ChangedInput],
        is_cancelled: &dyn Fn() -> bool,
    ) {
        let calls = Calls { bytes, by_id: OnceCell::new() };
        let mut hits = Vec::new();
        // The lines do not have the inputs that the user changed.
        let of_changed =
            searchable::lines_of_calls(bytes, changed.iter().map(|one| one.tool_use_id.as_str()));
        for (nr, range) in latest_first(Candidates::in_lines(bytes, matcher), of_changed).enumerate() {
            self.is_absent = false;
            if hits.len() >= MOST_HITS {
                self.has_more = true;
                break;
            }
            if nr % LINES_AT_A_TIME == 0 && is_cancelled() {
                self.is_cancelled = true;
                return;
            }
            let (earlier, text) = (&bytes[..range.start], &bytes[range.clone()]);
            let Some(line) = StoredLine::read_leniently(text) else {
                let is_torn = at_end && range.end == bytes.len();
                self.n_left_out += u32::from(!is_torn);
                continue;
            };
            let entries = line.entries().into_iter().rev().map(|entry| as_shown(entry, earlier, changed));
            let fitting = entries.filter(|entry| matcher.fits(entry, &calls));
            for entry in fitting {
                // The agent writes the title again and again.
                let is_known = entry.place == SearchPlace::Title
                    && hits.iter().chain(&self.hits).any(|hit: &SearchHit| hit.place == SearchPlace::Title);
                if !is_known {
                    hits.push(matcher.hit(entry, earlier));
                }
            }
        }
        hits.append(&mut self.hits);
        self.has_more |= hits.len() > MOST_HITS;
        hits.truncate(MOST_HITS);
        self.hits = hits;
    }
}

/// Two lists of lines as one, the last line first. `other`: the last line last.
fn latest_first<'a>(
    candidates: Candidates<'a>,
    mut other: Vec<Range<usize>>,
) -> impl Iterator<Item = Range<usize>> + 'a {
    let mut candidates = candidates.peekable();
    std::iter::from_fn(move || match (candidates.peek(), other.last()) {
        (Some(candidate), Some(last)) if last.start > candidate.start => other.pop(),
        (None, _) => other.pop(),
        (Some(candidate), last) => {
            if last == Some(candidate) {
                other.pop();
            }
            candidates.next()
        }
    })
}

/// The entry as the window shows it: an output without a terminal's control sequences, and the input that ran.
fn as_shown(mut entry: Entry, earlier: &[u8], changed: &[ChangedInput]) -> Entry {
    if let (ItemRef::Call(id), false) = (&entry.item, changed.is_empty()) {
        let key = searchable::key_of_call(earlier, id, entry.place);
        if let Some(one) = changed.iter().find(|one| one.tool_use_id == key) {
            entry.run_with(one.input.value());
        }
    }
    if entry.place == SearchPlace::Output && entry.text.contains('\u{1b}') {
        let lines = document::terminal(&std::mem::take(&mut entry.text));
        words::code(&lines, &mut entry.text);
    }
    entry
}

/// The lines that may match, the last one first. Every line has the agent's keys, so a word that is only in a key chooses
/// no line.
struct Candidates<'a> {
    bytes: &'a [u8],
    matcher: &'a Matcher,
    /// The beginning of the lines that were looked through.
    start: usize,
    /// Those of the last block that are left.
    found: Vec<Range<usize>>,
}

impl<'a> Candidates<'a> {
    fn in_lines(bytes: &'a [u8], matcher: &'a Matcher) -> Self {
        Self { bytes, matcher, start: bytes.len(), found: Vec::new() }
    }

    /// Looks through the lines before those that were looked through.
    fn look_further(&mut self) {
        let bytes = &self.bytes[..self.start];
        let before = &bytes[..bytes.len().saturating_sub(BLOCK)];
        self.start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        let mut from = self.start;
        while let Some(found) =
            (from <= bytes.len()).then(|| self.matcher.lines.find_at(bytes, from)).flatten()
        {
            if is_in_key(bytes, found.range()) {
                from = found.end();
                continue;
            }
            let line = searchable::line_at(bytes, found.start());
            from = line.end + 1;
            self.found.push(line);
        }
    }
}

impl Iterator for Candidates<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        while self.found.is_empty() && self.start > 0 {
            self.look_further();
        }
        self.found.pop()
    }
}

/// Longest key that is recognized, in bytes on each side of the word.
const LONGEST_KEY: usize = 32;

/// Whether these bytes are a key or a part of one: `"cwd":`. In a text the quotation marks would be escaped.
fn is_in_key(bytes: &[u8], range: Range<usize>) -> bool {
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    if !bytes[range.clone()].iter().all(|byte| is_name(&byte)) {
        return false;
    }
    let n_after = bytes[range.end..].iter().take(LONGEST_KEY).take_while(is_name).count();
    let n_before = bytes[..range.start].iter().rev().take(LONGEST_KEY).take_while(is_name).count();
    let before = &bytes[..range.start - n_before];
    bytes[range.end + n_after..].starts_with(b"\":") && (before.ends_with(b"{\"") || before.ends_with(b",\""))
}
