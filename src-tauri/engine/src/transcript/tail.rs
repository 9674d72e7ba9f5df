//! The tail of a long text while it streams: its last parts, updated without walking the text from its beginning.

use super::parts::{Cutter, Position, first_of_last};
use crate::api::{Block, Gone};

/// Position where a part of a text begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Mark {
    part: u32,
    /// The block it begins in, and for a code block the line.
    block: usize,
    line: Option<usize>,
    /// State of the cutter before that position.
    before: Position,
}

/// The part of a streaming text that a window has: from the beginning of a part to the end.
#[derive(Clone, Debug, Default)]
pub struct Tail {
    mark: Mark,
    pub n_parts: u32,
    /// Whether the window's blocks and lines match those of the text one to one, so that changes of the text can be
    /// sent as they are.
    is_aligned: bool,
}

/// How a window gets the new last parts of a text.
#[derive(Debug)]
pub enum Moved {
    /// These blocks and lines leave the beginning of the text in the window.
    On(Gone),
    /// Replace everything with these blocks.
    Anew(Vec<Block>),
}

/// A change of a text, given as how much of it stays.
#[derive(Clone, Copy, Debug)]
pub enum Kept {
    Blocks(u32),
    /// Lines of the last block that stay.
    Lines(u32),
}

impl Tail {
    /// The state of windows that received the whole text.
    pub fn whole() -> Self {
        Self { n_parts: 1, is_aligned: true, ..Self::default() }
    }

    /// The last parts of a text.
    pub fn of(blocks: &[Block]) -> Self {
        let mut tail = Self::default();
        tail.advance(blocks);
        tail
    }

    /// The number of its first part.
    pub fn part(&self) -> u32 {
        self.mark.part
    }

    /// Advances to the current last parts.
    pub fn move_on(&mut self, blocks: &[Block]) -> Moved {
        let (before, was_aligned) = (self.mark, self.is_aligned);
        let cut = self.advance(blocks);
        match self.mark.gone_since(before, blocks, &cut) {
            Some(gone) if was_aligned && self.is_aligned => Moved::On(gone),
            _ => Moved::Anew(cut),
        }
    }

    fn advance(&mut self, blocks: &[Block]) -> Vec<Block> {
        let (mark, n_parts) = self.last_parts(blocks);
        (self.mark, self.n_parts) = (mark, n_parts);
        let (cut, is_aligned) = mark.cut(blocks);
        self.is_aligned = is_aligned;
        cut
    }

    /// Whether windows have exactly the current last parts.
    pub fn is_told(&self, blocks: &[Block]) -> bool {
        self.is_aligned && self.last_parts(blocks) == (self.mark, self.n_parts)
    }

    /// The current content of the tail; `None` if what the window has is not aligned with the text.
    pub fn blocks(&self, blocks: &[Block]) -> Option<Vec<Block>> {
        self.is_aligned.then(|| self.mark.cut(blocks).0)
    }

    /// A change was not sent: the next update must contain the whole tail.
    pub fn miss(&mut self) {
        self.is_aligned = false;
    }

    /// How many of the tail's own blocks or lines stay when `kept` of the text stay. `n_blocks` is the current number
    /// of blocks of the text. `None` if the change is not limited to the tail, or if the tail is not aligned.
    pub fn kept(&self, kept: Kept, n_blocks: usize) -> Option<u32> {
        let Mark { block, line, .. } = self.mark;
        let own = match kept {
            Kept::Blocks(n) => (n as usize).checked_sub(block).filter(|n| *n > 0)?,
            Kept::Lines(n) if n_blocks == block + 1 => (n as usize).checked_sub(line.unwrap_or(0))?,
            Kept::Lines(n) => n as usize,
        };
        self.is_aligned.then_some(own as u32)
    }

    /// Resets the mark if the text changed at or before the beginning of the tail, so that the next search starts at
    /// the beginning of the text.
    pub fn reaches_back(&mut self, kept: Kept, n_blocks: usize) {
        let Mark { block, line, .. } = self.mark;
        let is_before = match kept {
            Kept::Blocks(n) => (n as usize) < block || ((n as usize) == block && line.is_some()),
            Kept::Lines(n) => n_blocks == block + 1 && line.is_some_and(|line| (n as usize) < line),
        };
        if is_before {
            self.mark = Mark::default();
        }
    }

    /// Walks the text from the mark. Returns the mark of its last parts and the number of parts.
    fn last_parts(&self, blocks: &[Block]) -> (Mark, u32) {
        let mut cutter = Cutter::new(u32::MAX, u32::MAX);
        let mut marks = vec![self.mark];
        self.mark.walk(blocks, &mut cutter, |before, after, block, line| {
            marks.extend((before.part.max(self.mark.part)..after.part).map(|part| Mark {
                part: part + 1,
                block,
                line,
                before,
            }));
        });
        let n_parts = cutter.at.part + 1;
        let first = first_of_last(n_parts);
        match marks.into_iter().rfind(|mark| mark.part <= first) {
            Some(mark) => (mark, n_parts),
            // The text is now shorter than the part before the tail.
            None => Self::default().last_parts(blocks),
        }
    }
}

impl Mark {
    /// The content to drop between `before` and this mark, where `rest` is the content from this mark on. `None` if
    /// this mark is before that one.
    fn gone_since(&self, before: Self, blocks: &[Block], rest: &[Block]) -> Option<Gone> {
        let mut gone = Gone { blocks: self.block.checked_sub(before.block)? as u32, ..Gone::default() };
        match self.line {
            Some(line) => {
                let known = before.line.filter(|_| gone.blocks == 0).unwrap_or(0);
                gone.lines = line.checked_sub(known)? as u32;
            }
            None => gone.cut = rest.first().filter(|first| blocks.get(self.block) != Some(*first)).cloned(),
        }
        Some(gone)
    }

    /// The content from this mark on, and whether it matches the text's blocks and lines one to one.
    fn cut(&self, blocks: &[Block]) -> (Vec<Block>, bool) {
        let mut cutter = Cutter::new(self.part, u32::MAX);
        let cut = self.walk(blocks, &mut cutter, |_, _, _, _| {});
        let is_aligned = cut.len() + self.block == blocks.len() && !cutter.has_split_lines;
        (cut, is_aligned)
    }

    /// Walks a text from this mark, block by block and, in a code block, line by line. Calls `each` with the cutter's
    /// position before and after each step.
    fn walk(
        &self,
        blocks: &[Block],
        cutter: &mut Cutter,
        mut each: impl FnMut(Position, Position, usize, Option<usize>),
    ) -> Vec<Block> {
        cutter.at = self.before;
        let mut kept = Vec::new();
        for (nr, block) in blocks.iter().enumerate().skip(self.block) {
            let Block::Code { language, lines } = block else {
                let before = cutter.at;
                kept.extend(cutter.block(block));
                each(before, cutter.at, nr, None);
                continue;
            };
            let from = self.line.filter(|_| nr == self.block);
            let mut before = cutter.at;
            let mut is_here = false;
            if from.is_none() {
                is_here = cutter.takes_node();
                each(before, cutter.at, nr, None);
            }
            let mut kept_lines = Vec::new();
            for (line_nr, line) in lines.iter().enumerate().skip(from.unwrap_or(0)) {
                before = cutter.at;
                cutter.code_line(line, &mut kept_lines);
                each(before, cutter.at, nr, Some(line_nr));
            }
            if !kept_lines.is_empty() || (is_here && lines.is_empty()) {
                kept.push(Block::Code { language: language.clone(), lines: kept_lines });
            }
        }
        kept
    }
}
