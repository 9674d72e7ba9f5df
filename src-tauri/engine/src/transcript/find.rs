//! Text search in a whole transcript, whether or not a window has loaded it. The search runs in parallel to the
//! session, on slices that the session returns between its events.

use super::lazy::LazyItem;
use super::output::Source;
use super::slices::body::BodySlices;
use super::{Transcript, words};
use crate::api::{Body, Found, Hit, Item};
use regex::{Regex, RegexBuilder};
use std::sync::Arc;

/// Items per slice. Copying them is the only work that delays the session.
const SLICE: usize = 512;

/// A run of consecutive items in their current state.
pub type Slice = Vec<Readable>;

/// The searchable content of one item.
pub struct Readable {
    item: Arc<LazyItem>,
    output: Option<Source>,
}

impl Transcript {
    /// The next slice of items, starting at index `first`.
    pub fn slice(&self, first: usize) -> Slice {
        let items = self.items.iter().skip(first).take(SLICE);
        let output = |item: &LazyItem| self.output(&item.head().id).cloned();
        items.map(|item| Readable { output: output(item), item: item.clone() }).collect()
    }
}

/// A search in progress.
pub struct Search {
    wanted: Regex,
    n_seen: usize,
    /// Items that match, and whether they must be expanded to show the match.
    hits: Vec<(Arc<LazyItem>, bool)>,
    buffer: String,
}

impl Search {
    /// Creates a case-insensitive search for this text; `None` if the query is blank.
    pub fn new(query: &str) -> Option<Self> {
        Some(Self { wanted: pattern(query)?, n_seen: 0, hits: Vec::new(), buffer: String::new() })
    }

    /// Index of the first item of the next slice.
    pub fn next(&self) -> usize {
        self.n_seen
    }

    /// Searches a slice. Returns whether it was the last one, which is a slice that is not full.
    pub fn look(&mut self, slice: Slice) -> bool {
        self.n_seen += slice.len();
        let is_last = slice.len() < SLICE;
        for readable in slice {
            if let Some(inside) = self.holds(&readable) {
                self.hits.push((readable.item, inside));
            }
        }
        is_last
    }

    /// `Some` if the item matches: whether it must be expanded to show the match.
    fn holds(&mut self, Readable { item, output }: &Readable) -> Option<bool> {
        // The search makes documents. It does not look at the excerpts of outputs.
        let body = if item.source().is_some() { &item.body } else { &item.head().body };
        self.buffer.clear();
        words::shown(body, &mut self.buffer);
        if self.wanted.is_match(&self.buffer) {
            return Some(false);
        }
        self.buffer.clear();
        words::inside(body, &mut self.buffer);
        let is_in_output = || output.as_ref().is_some_and(|output| self.wanted.is_match(output.raw()));
        (self.wanted.is_match(&self.buffer) || is_in_output()).then_some(true)
    }

    /// The result. `index` selects the wanted match and wraps around at both ends; without it the last match is
    /// returned.
    pub fn found(self, index: Option<i64>) -> Found {
        let count = self.hits.len();
        let index = index.unwrap_or(-1).rem_euclid(count.max(1) as i64) as usize;
        let hit = self.hits.get(index).map(|(item, inside)| {
            let part = slice_with(item, &self.wanted);
            Hit { index: index as u32, item_id: item.id.clone(), row: item.row, inside: *inside, part }
        });
        Found { count: count as u32, hit }
    }
}

/// The first slice of an item that matches. Returns 0 if the match spans two slices or is in an output.
fn slice_with(item: &Item, wanted: &Regex) -> u32 {
    let holds = |part: &Body| {
        let mut buffer = String::new();
        words::shown(part, &mut buffer);
        words::inside(part, &mut buffer);
        wanted.is_match(&buffer)
    };
    let Some(slices) = BodySlices::of(&item.body) else { return 0 };
    (0..slices.count()).find(|nr| holds(&slices.piece(&item.body, *nr).0)).unwrap_or(0)
}

/// `None` for a blank query.
fn pattern(query: &str) -> Option<Regex> {
    if query.trim().is_empty() {
        return None;
    }
    // A query too long for a regular expression matches nothing.
    RegexBuilder::new(&regex::escape(query)).case_insensitive(true).build().ok()
}

#[cfg(test)]
mod tests {
    use super::{SLICE, Search};
    use crate::api::{Found, Level};
    use crate::transcript::Transcript;
    use crate::transcript::TranscriptEvent;
    use std::path::Path;

    fn transcript(notices: &[(&str, Option<&str>)]) -> Transcript {
        let mut transcript = Transcript::new(Path::new("/p"));
        for (text, detail) in notices {
            let (text, detail) = ((*text).to_owned(), detail.map(str::to_owned));
            transcript.apply(0, TranscriptEvent::Notice { level: Level::Info, text, detail });
        }
        transcript
    }

    fn find(transcript: &Transcript, query: &str, index: Option<i64>) -> Found {
        let Some(mut search) = Search::new(query) else { return Found { count: 0, hit: None } };
        while !search.look(transcript.slice(search.next())) {}
        search.found(index)
    }

    #[test]
    fn a_long_conversation_is_looked_through_in_slices_and_goes_on_meanwhile() {
        let n_items = 3 * SLICE;
        let mut transcript = transcript(&[]);
        let add = |transcript: &mut Transcript, nr: usize| {
            let text = format!("needle {nr}");
            transcript.apply(0, TranscriptEvent::Notice { level: Level::Info, text, detail: None });
        };
        (0..n_items).for_each(|nr| add(&mut transcript, nr));
        let mut search = Search::new("needle").unwrap();
        let mut n_slices = 0;
        loop {
            let slice = transcript.slice(search.next());
            assert!(slice.len() <= SLICE);
            n_slices += 1;
            // Items added during the search are found as well.
            add(&mut transcript, n_items + n_slices);
            if search.look(slice) {
                break;
            }
        }
        assert_eq!(n_slices, 4);
        let found = search.found(None);
        assert_eq!((found.count, found.hit.unwrap().row), (n_items as u32 + 3, n_items as u32 + 2));
    }

    #[test]
    fn words_are_found_wherever_they_stand_and_whatever_their_case() {
        let transcript =
            transcript(&[("Straße", None), ("b", Some("on the STRASSE")), ("c", Some("STRAßE"))]);
        let found = find(&transcript, "straße", None);
        assert_eq!(found.count, 2);
        let hit = found.hit.unwrap();
        assert_eq!((hit.index, hit.row, hit.inside), (1, 2, true));
        assert!(!find(&transcript, "straße", Some(0)).hit.unwrap().inside);
    }

    #[test]
    fn hits_go_around_at_both_ends() {
        let transcript = transcript(&[("one", None), ("two", None), ("one more", None)]);
        let at = |index| find(&transcript, "one", Some(index)).hit.unwrap().index;
        assert_eq!([at(0), at(1), at(2), at(-1)], [0, 1, 0, 1]);
    }

    #[test]
    fn words_in_a_long_item_are_found_in_their_slice() {
        let long = format!("{}needle", "hay ".repeat(100_000));
        let found = find(&transcript(&[("n", Some(&long))]), "needle", None);
        assert_eq!(found.hit.unwrap().part, 400_000 / 8192);
    }

    #[test]
    fn words_are_no_pattern() {
        let transcript = transcript(&[("a.b (c", None)]);
        assert_eq!(find(&transcript, ".B (", None).count, 1);
        assert_eq!(find(&transcript, "a b", None).count, 0);
        assert_eq!(find(&transcript, "  ", None).count, 0);
    }
}
