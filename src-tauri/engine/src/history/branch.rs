//! The active branch of a conversation: its lines form a tree, and the path from its leaf back to the root is shown.
//!
//! Not all of a conversation is on that path. Of calls that a reply made at the same time, each result hangs on its own
//! call, and the agent continues after the last of them (2.1.197 and 2.1.329). And 2.1.197 continues a compacted
//! conversation next to the compaction. Where the path breaks off, it goes on with the previous message of the file.

use super::Place;
use super::lines_of;
use crate::parallel;
use std::collections::{HashMap, HashSet};

/// Number of last lines of a file that the agent may continue although they are not on the branch.
const MOST_ENDS: usize = 64;

/// Number of lines after a compaction among which its summary is searched.
const MOST_OF_COMPACTION: usize = 8;

/// A line to show.
pub struct Line<'a> {
    pub bytes: &'a [u8],
    pub place: Place<'a>,
    /// The message before it is not in the file.
    pub is_after_gap: bool,
}

/// The lines to show, and what prevents others from being shown.
#[derive(Default)]
pub struct Branch<'a> {
    /// In the order of the file.
    pub lines: Vec<Line<'a>>,
    /// The uuids of the last lines of the file.
    pub ends: Vec<String>,
    /// The file does not have the message that the branch is to end with.
    pub has_no_leaf: bool,
    /// Lines that are no JSON.
    pub n_damaged: usize,
    /// The last line is one of these, and has no line break: it may not be complete yet.
    pub is_end_torn: bool,
    /// Lines on the branch of a kind that is not known.
    pub n_unknown: usize,
}

impl<'a> Branch<'a> {
    /// The branch that ends with the message `leaf`, or else with the last message.
    pub fn of(bytes: &'a [u8], leaf: Option<&str>) -> Self {
        Self::read(bytes, leaf, true)
    }

    /// The branch as far as it is in the end of a file. It begins after the first gap, because its beginning has not
    /// been read.
    pub fn of_end(bytes: &'a [u8]) -> Self {
        Self::read(bytes, None, false)
    }

    fn read(bytes: &'a [u8], leaf: Option<&str>, bridges_gaps: bool) -> Self {
        let mut lines = lines_of(bytes);
        lines.retain(|line| !line.trim_ascii().is_empty());
        let places = parallel::map(&lines, |line| Place::read(line));
        let mut branch = Self {
            n_damaged: places.iter().filter(|place| place.is_none()).count(),
            is_end_torn: matches!(places.last(), Some(None)) && !bytes.ends_with(b"\n"),
            ends: ends(&places),
            ..Self::default()
        };
        let tree = Tree::of(&places);
        let Some(last) = tree.leaf(leaf) else {
            branch.has_no_leaf = leaf.is_some();
            return branch;
        };
        let mut walk = tree.walk(last, bridges_gaps);
        tree.add_parallel_calls(&mut walk, if leaf.is_some() { last } else { places.len() });
        tree.add_compactions(&mut walk);
        branch.collect(lines, places, &walk);
        branch
    }

    fn collect(&mut self, lines: Vec<&'a [u8]>, places: Vec<Option<Place<'a>>>, walk: &Walk) {
        let mut is_after_gap = false;
        for (at, (bytes, place)) in lines.into_iter().zip(places).enumerate() {
            let Some(place) = place.filter(|_| walk.is_on[at]) else { continue };
            is_after_gap |= walk.is_gap[at];
            if place.is_shown() {
                self.lines.push(Line { bytes, place, is_after_gap: std::mem::take(&mut is_after_gap) });
            } else if !place.is_known() {
                self.n_unknown += 1;
            }
        }
    }
}

fn ends(places: &[Option<Place<'_>>]) -> Vec<String> {
    let last = places.iter().skip(places.len().saturating_sub(MOST_ENDS)).flatten();
    last.filter(|place| !place.is_sidechain).filter_map(|place| place.uuid().map(str::to_owned)).collect()
}

/// The lines on the branch, and those before which there is a gap.
struct Walk {
    is_on: Vec<bool>,
    is_gap: Vec<bool>,
}

struct Tree<'p> {
    places: &'p [Option<Place<'p>>],
    /// The agent may write a message again, with another parent (2.1.197): the first one counts.
    by_uuid: HashMap<&'p str, usize>,
    /// The lines that are copies of earlier ones.
    is_copy: Vec<bool>,
}

impl<'p> Tree<'p> {
    fn of(places: &'p [Option<Place<'p>>]) -> Self {
        let mut by_uuid = HashMap::with_capacity(places.len());
        let is_copy = places.iter().enumerate().map(|(at, place)| {
            let uuid = place.as_ref().and_then(Place::uuid);
            uuid.is_some_and(|uuid| *by_uuid.entry(uuid).or_insert(at) != at)
        });
        let is_copy = is_copy.collect();
        Self { places, by_uuid, is_copy }
    }

    /// The line with this uuid, which is that of the parent of line `child`. Almost every line continues the one before it.
    fn parent(&self, child: usize, uuid: &str) -> Option<usize> {
        let before = child.checked_sub(1).filter(|before| !self.is_copy[*before]);
        let is_before = |before: &usize| self.places[*before].as_ref().and_then(Place::uuid) == Some(uuid);
        before.filter(is_before).or_else(|| self.by_uuid.get(uuid).copied())
    }

    fn leaf(&self, leaf: Option<&str>) -> Option<usize> {
        match leaf {
            Some(leaf) => self.by_uuid.get(leaf).copied(),
            None => self.message_before(self.places.len(), &[]),
        }
    }

    /// The place if it is not a copy of an earlier line.
    fn original(&self, at: usize) -> Option<&'p Place<'p>> {
        self.places[at].as_ref().filter(|_| !self.is_copy[at])
    }

    /// The last message before `end` that is not on the branch.
    fn message_before(&self, end: usize, is_on: &[bool]) -> Option<usize> {
        let is_candidate = |at: &usize| {
            let place = self.original(*at);
            !is_on.get(*at).is_some_and(|is_on| *is_on)
                && place.is_some_and(|place| place.is_message() && !place.is_sidechain)
        };
        (0..end).rev().find(is_candidate)
    }

    /// Follows the parents. A gap is a parent that is not in the file, or one that was passed already.
    fn walk(&self, leaf: usize, bridges_gaps: bool) -> Walk {
        let n = self.places.len();
        let mut walk = Walk { is_on: vec![false; n], is_gap: vec![false; n] };
        // Falls with each gap, so that no line is searched twice.
        let mut bound = n;
        let mut at = Some(leaf);
        while let Some(here) = at {
            walk.is_on[here] = true;
            let Some(place) = &self.places[here] else { break };
            let parent = place.parent();
            at = parent.and_then(|parent| self.parent(here, parent));
            at = at.filter(|parent| !walk.is_on[*parent]);
            // A compaction replaces what was before it. In a fork (2.1.197 and 2.1.329) it is the first line, and what it
            // says it follows was moved below it.
            walk.is_gap[here] = parent.is_some() && at.is_none() && bridges_gaps && !place.is_compaction();
            if walk.is_gap[here] || (at.is_none() && place.is_compaction()) {
                at = self.message_before(bound.min(here), &walk.is_on);
                bound = at.unwrap_or(0);
            }
        }
        walk
    }

    /// Adds the other blocks of the replies on the branch, and the results that hang on them, as far as they are before
    /// `end`.
    fn add_parallel_calls(&self, walk: &mut Walk, end: usize) {
        let is_candidate = |at: &usize| {
            let place = self.original(*at).filter(|place| !place.is_sidechain && !walk.is_on[*at]);
            place.is_some_and(|place| place.reply().or(place.call()).is_some())
        };
        let candidates: Vec<usize> = (0..end).filter(is_candidate).collect();
        if candidates.is_empty() {
            return;
        }
        let on_branch = || self.places.iter().zip(&walk.is_on).filter(|(_, is_on)| **is_on);
        let places = || on_branch().filter_map(|(place, _)| place.as_ref());
        let replies: HashSet<&str> = places().filter_map(Place::reply).collect();
        let has_result: HashSet<&str> = places().filter_map(Place::call).collect();
        for at in candidates {
            let Some(place) = self.original(at) else { continue };
            let is_block = place.reply().is_some_and(|reply| replies.contains(reply));
            let is_result = place.call().is_some_and(|call| {
                !has_result.contains(call) && self.by_uuid.get(call).is_some_and(|call| walk.is_on[*call])
            });
            walk.is_on[at] |= is_block || is_result;
        }
    }

    /// Adds the compactions next to which the branch continues, with their summaries.
    fn add_compactions(&self, walk: &mut Walk) {
        for at in 0..self.places.len() {
            let Some(place) = self.original(at).filter(|place| place.is_compaction()) else { continue };
            if !walk.is_on[at] {
                let parts = self.parts_of_compaction(at, place, walk);
                parts.into_iter().for_each(|part| walk.is_on[part] = true);
            }
        }
    }

    /// The lines of a compaction, if the next line on the branch continues the same line as the compaction.
    fn parts_of_compaction(&self, at: usize, compaction: &Place<'_>, walk: &Walk) -> Vec<usize> {
        let mut parts = vec![at];
        let mut uuids: Vec<&str> = compaction.uuid().into_iter().collect();
        for next in (at + 1..self.places.len()).take(MOST_OF_COMPACTION) {
            let Some(place) = self.original(next) else { continue };
            let Some(uuid) = place.uuid() else { continue };
            if place.parent().is_some_and(|parent| uuids.contains(&parent)) {
                parts.push(next);
                uuids.push(uuid);
            } else if walk.is_on[next] && place.parent() == compaction.parent() {
                return parts;
            } else {
                break;
            }
        }
        Vec::new()
    }
}

#[cfg(test)]
mod tests;
