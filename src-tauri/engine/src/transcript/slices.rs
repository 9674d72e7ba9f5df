//! Slices of a long item: a window draws each slice as a row of its own, so that a row is never long.
//!
//! The slices depend only on the text. A text that grows changes its last slice and begins new ones. Colours of code
//! change no boundary.

pub mod body;
mod cutter;
mod diff;
mod plain;

use crate::api::{Block, CodeLine};
use cutter::{BYTES_PER_TOKEN, Cutter, Limits, Position};

/// What a slice holds: about a hundred lines of code, or three screens of prose.
const BYTES: usize = 8 * 1024;
const NODES: usize = 600;
const SLICE: Limits = Limits { bytes: BYTES, nodes: NODES, piece: BYTES };
/// A longer source may have a second slice: what it shows has at most four times its bytes.
const SHORT: usize = BYTES / 4;
/// Nodes that need no sign: the first block with its text.
const FIRST_NODES: usize = 4;

/// Whether the document of a source has one slice for certain, which is known without making it.
///
/// A sign or a line end begins at most two nodes; code has one more for each eight bytes. Not so in tables, whose rows
/// get all their columns, and with definitions, whose addresses are in each of their links.
pub fn has_one_slice(source: &str) -> bool {
    let is_sign = |byte: &&u8| byte.is_ascii_punctuation() || byte.is_ascii_control();
    // Below the head of each table is a line of these characters.
    let may_be_below_head =
        |line: &str| line.contains('-') && line.bytes().all(|byte| b" \t\x0b\x0c>|:-".contains(&byte));
    let n_nodes = || FIRST_NODES + 2 * source.as_bytes().iter().filter(is_sign).count();
    source.len() <= SHORT
        && n_nodes() + source.len() / BYTES_PER_TOKEN <= NODES
        && !source.contains("]:")
        && !source.split(['\n', '\r']).any(may_be_below_head)
}

/// The slices of one text: where each of them begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slices {
    /// Never empty.
    marks: Vec<Mark>,
}

/// The beginning of a slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Mark {
    nr: u32,
    /// The block it begins in, and its child: a line of code, an entry of a list, a row of a table, a block or a span.
    /// `None` if it begins with the block.
    block: usize,
    child: Option<usize>,
    /// State of the cutter before that position.
    before: Position,
}

/// A change of a text, given as how much of it stays.
#[derive(Clone, Copy, Debug)]
pub enum Kept {
    Blocks(u32),
    /// Lines of the last block that stay.
    Lines(u32),
    /// Entries of the last block that stay.
    Entries(u32),
}

/// What a slice has of the lists and tables that are cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Entries or rows of its first block in earlier slices.
    pub n_before: u32,
    /// Entries or rows of its first and of its last block in all slices; `None` while there may be more.
    pub n_in_first: Option<u32>,
    pub n_in_last: Option<u32>,
}

/// The size of a list or a table.
fn n_entries(block: &Block) -> Option<u32> {
    match block {
        Block::List { items, .. } => Some(items.len() as u32),
        Block::Table { rows, .. } => Some(rows.len() as u32),
        _ => None,
    }
}

impl Slices {
    pub fn of(blocks: &[Block]) -> Self {
        let mut slices = Self { marks: vec![Mark::default()] };
        slices.extend(blocks);
        slices
    }

    /// At least 1.
    pub fn count(&self) -> u32 {
        self.marks.len() as u32
    }

    /// The text changed after `kept`. Returns the first slice that may be another one now.
    pub fn change(&mut self, blocks: &[Block], kept: Kept) -> u32 {
        let n_same = self.marks.partition_point(|mark| mark.is_before(kept, blocks.len()));
        self.marks.truncate(n_same.max(1));
        let first = self.count() - 1;
        self.extend(blocks);
        first
    }

    /// The content of slice `nr`, and whether it has the blocks and lines of the text from its beginning on, one to one.
    pub fn content(&self, blocks: &[Block], nr: u32) -> (Vec<Block>, bool) {
        let Some(mark) = self.marks.get(nr as usize) else { return (Vec::new(), false) };
        // The last slice has the rest of the text. Every other one ends in the block in which the next one begins.
        let end = self.marks.get(nr as usize + 1).map_or(blocks.len(), |next| next.block + 1);
        let mut cutter = Cutter::new(SLICE, nr, nr).ending();
        let content = mark.walk(&blocks[..end.min(blocks.len())], &mut cutter, |_, _, _, _| {});
        let is_aligned = mark.block + content.len() == blocks.len() && !cutter.has_split_lines;
        (content, is_aligned)
    }

    /// The block in which slice `nr` begins, and whether the block began before.
    pub fn beginning(&self, blocks: &[Block], nr: u32) -> (u32, bool) {
        let Some(mark) = self.marks.get(nr as usize).filter(|mark| mark.nr > 0) else { return (0, false) };
        let mut earlier = Cutter::new(SLICE, nr - 1, nr - 1).ending();
        earlier.at = mark.before;
        let began_before = match (mark.child, blocks.get(mark.block)) {
            (_, None) => false,
            (None, Some(_)) => false,
            // A table has its head, any other block an earlier child or a part of this one.
            (Some(child), Some(block)) => {
                child > 0
                    || matches!(block, Block::Table { .. })
                    || earlier.children(block, None, child, |_, _, _| {}).is_some()
            }
        };
        (mark.block as u32, began_before)
    }

    /// What slice `nr` has of the lists and tables that are cut. `grows`: the last block of the text may still get more.
    pub fn parts(&self, blocks: &[Block], nr: u32, grows: bool) -> Parts {
        let Some(mark) = self.marks.get(nr as usize) else { return Parts::default() };
        let size = |block: usize| {
            let may_grow = grows && block + 1 == blocks.len();
            blocks.get(block).and_then(n_entries).filter(|_| !may_grow)
        };
        let continues = self.beginning(blocks, nr).1;
        let next = self.marks.get(nr as usize + 1).filter(|_| self.beginning(blocks, nr + 1).1);
        let n_before =
            mark.child.filter(|_| continues && blocks.get(mark.block).and_then(n_entries).is_some());
        Parts {
            n_before: n_before.unwrap_or(0) as u32,
            n_in_first: size(mark.block)
                .filter(|_| continues || next.is_some_and(|next| next.block == mark.block)),
            n_in_last: next.and_then(|next| size(next.block)),
        }
    }

    /// The first slice with a part of a list or table that is cut and may still get more.
    pub fn growing_from(&self, blocks: &[Block], grows: bool) -> Option<u32> {
        let last = blocks.len().checked_sub(1).filter(|_| grows)?;
        n_entries(&blocks[last])?;
        let n_earlier = self
            .marks
            .partition_point(|mark| mark.block < last || (mark.block == last && mark.child.is_none()));
        // A mark after the beginning of the block: the block is cut.
        (n_earlier < self.marks.len()).then(|| n_earlier.saturating_sub(1) as u32)
    }

    /// How many of the last slice's own blocks or lines stay when `kept` of the text stay. `None` if its first block
    /// changes, which it may have only in part.
    pub fn kept_of_last(&self, kept: Kept, n_blocks: usize) -> Option<u32> {
        let Mark { block, child, .. } = *self.marks.last()?;
        let own = match kept {
            Kept::Blocks(n) if block == 0 && self.marks.len() == 1 => n as usize,
            Kept::Blocks(n) => (n as usize).checked_sub(block).filter(|n| *n > 0)?,
            Kept::Lines(n) if n_blocks == block + 1 => (n as usize).checked_sub(child.unwrap_or(0))?,
            Kept::Lines(n) => n as usize,
            // A slice may begin within an entry.
            Kept::Entries(n) => Some(n as usize).filter(|_| self.marks.len() == 1)?,
        };
        Some(own as u32)
    }

    /// Adds the slices after the beginning of the last one.
    fn extend(&mut self, blocks: &[Block]) {
        let Some(from) = self.marks.last().copied() else { return };
        let mut cutter = Cutter::new(SLICE, u32::MAX, u32::MAX);
        let marks = &mut self.marks;
        from.walk(blocks, &mut cutter, |before, after, block, child| {
            let begun = before.slice.max(from.nr)..after.slice;
            marks.extend(begun.map(|nr| Mark { nr: nr + 1, block, child, before }));
        });
    }
}

/// Whether a window can draw this code as it is: a longer line is shown as several.
pub fn has_long_line(lines: &[CodeLine]) -> bool {
    lines.iter().any(|line| cutter::line_bytes(line) > SLICE.piece)
}

impl Mark {
    /// Whether the slice begins in content that stays, so that it still begins there.
    fn is_before(&self, kept: Kept, n_blocks: usize) -> bool {
        match kept {
            Kept::Blocks(n) => self.block < n as usize,
            Kept::Lines(n) | Kept::Entries(n) => {
                self.block + 1 < n_blocks || self.child.is_none_or(|child| child < n as usize)
            }
        }
    }

    /// Walks a text from this mark, block by block and child by child. Calls `each` with the cutter's position before and
    /// after each step, the block and the child. Ends with the wanted slices.
    fn walk(
        &self,
        blocks: &[Block],
        cutter: &mut Cutter,
        mut each: impl FnMut(Position, Position, usize, Option<usize>),
    ) -> Vec<Block> {
        cutter.at = self.before;
        let mut kept = Vec::new();
        for (nr, block) in blocks.iter().enumerate().skip(self.block) {
            if cutter.is_over() {
                break;
            }
            let from = self.child.filter(|_| nr == self.block);
            let before = cutter.at;
            let head = from.is_none().then(|| cutter.head(block));
            if head.is_some() {
                each(before, cutter.at, nr, None);
            }
            let children = |before, after, child| each(before, after, nr, Some(child));
            kept.extend(cutter.children(block, head, from.unwrap_or(0), children));
        }
        kept
    }
}

#[cfg(test)]
mod tests;
