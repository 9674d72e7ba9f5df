//! The end of a long text while it streams: its last parts, found again without going through all that is before them.

use super::parts::{Cutter, Position, first_of_last};
use crate::api::{Block, Gone};

/// Where a part of a text begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Mark {
    part: u32,
    /// The block it begins in, and for a block of code the line.
    block: usize,
    line: Option<usize>,
    /// How far the cutter was before that.
    before: Position,
}

/// What a window has of a text that streams: from the beginning of a part to the end.
#[derive(Clone, Debug, Default)]
pub struct Tail {
    mark: Mark,
    pub n_parts: u32,
    /// What it has is block for block and line for line that of the text, so that changes of the text fit.
    is_aligned: bool,
}

/// How a window comes to have the last parts of a text.
#[derive(Debug)]
pub enum Moved {
    /// This goes from the beginning of what it has.
    On(Gone),
    /// It has something else: these blocks are to be told.
    Anew(Vec<Block>),
}

/// A change of a text, by what stays of it.
#[derive(Clone, Copy, Debug)]
pub enum Kept {
    Blocks(u32),
    /// Of the last block.
    Lines(u32),
}

impl Tail {
    /// What windows have that were told the whole of a text.
    pub fn whole() -> Self {
        Self { n_parts: 1, is_aligned: true, ..Self::default() }
    }

    /// The last parts of a text.
    pub fn of(blocks: &[Block]) -> Self {
        let mut tail = Self::default();
        tail.advance(blocks);
        tail
    }

    /// The part that it begins with.
    pub fn part(&self) -> u32 {
        self.mark.part
    }

    /// Moves on to what are the last parts now.
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

    /// Windows have all of it, and nothing else.
    pub fn is_told(&self, blocks: &[Block]) -> bool {
        self.is_aligned && self.last_parts(blocks) == (self.mark, self.n_parts)
    }

    /// What a window has, as it is now; `None` if that is more than it was told.
    pub fn blocks(&self, blocks: &[Block]) -> Option<Vec<Block>> {
        self.is_aligned.then(|| self.mark.cut(blocks).0)
    }

    /// A change was not told: the next has to have all of it.
    pub fn miss(&mut self) {
        self.is_aligned = false;
    }

    /// What of its own stays when so much of the text, that has `n_blocks` now, does; `None` if the change is none of
    /// its own alone.
    pub fn kept(&self, kept: Kept, n_blocks: usize) -> Option<u32> {
        let Mark { block, line, .. } = self.mark;
        let own = match kept {
            Kept::Blocks(n) => (n as usize).checked_sub(block).filter(|n| *n > 0)?,
            Kept::Lines(n) if n_blocks == block + 1 => (n as usize).checked_sub(line.unwrap_or(0))?,
            Kept::Lines(n) => n as usize,
        };
        self.is_aligned.then_some(own as u32)
    }

    /// The text changed where it begins, or before: it is looked for from the beginning.
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

    /// Goes through the text from where it begins. The mark of its last parts, and how many parts there are.
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
            // It has become shorter than what is before its end.
            None => Self::default().last_parts(blocks),
        }
    }
}

impl Mark {
    /// What goes from `before` to here, where `rest` is all there is. `None` if this is before that.
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

    /// What is from here on, and whether it is block for block and line for line what the text has.
    fn cut(&self, blocks: &[Block]) -> (Vec<Block>, bool) {
        let mut cutter = Cutter::new(self.part, u32::MAX);
        let cut = self.walk(blocks, &mut cutter, |_, _, _, _| {});
        let is_aligned = cut.len() + self.block == blocks.len() && !cutter.has_split_lines;
        (cut, is_aligned)
    }

    /// Goes through a text from here, block by block and, where a block is code, line by line. Tells how far the cutter
    /// was before each of them and is behind it.
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
