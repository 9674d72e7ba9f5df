//! The open context of a stream: the lists that are still open, and which of their blocks are settled.
//!
//! Settled text is not parsed again. The text after it is parsed with a prefix: a few synthetic lines that open the
//! same lists (and the same table) again, so that the parser reads the rest as it would in its original place.

use deskbell_api::{Block, Cell, ListItem};

/// Counts of settled blocks, from the outermost level inwards.
#[derive(Debug, Default, PartialEq)]
pub(super) struct OpenContext {
    /// Number at the top level, including the list that is still open.
    pub n_blocks: usize,
    /// The open lists, each in the last item of the previous one.
    pub levels: Vec<Level>,
    /// The open table in the innermost item.
    pub table: Option<OpenTable>,
}

#[derive(Debug, PartialEq)]
pub(super) struct Level {
    /// The line of the last settled item up to its content: `  1. `.
    pub prefix: String,
    pub n_items: usize,
    /// Number of settled blocks in the last settled item.
    pub n_blocks: usize,
}

#[derive(Debug, PartialEq)]
pub(super) struct OpenTable {
    pub n_columns: usize,
    pub n_rows: usize,
}

impl OpenContext {
    /// Synthetic lines that put a parser into this context. [`UnsettledBlocks::of`] removes them from the result.
    pub fn context_prefix(&self) -> String {
        let mut prefix = String::new();
        for level in &self.levels {
            prefix.push_str(&level.prefix);
            prefix.push_str("x\n\n");
        }
        if let Some(table) = &self.table {
            for cell in ["x|", "-|"] {
                prefix.push_str(&" ".repeat(self.indent()));
                prefix.push('|');
                prefix.push_str(&cell.repeat(table.n_columns));
                prefix.push('\n');
            }
        }
        prefix
    }

    /// The column at which the content of the innermost item begins.
    pub fn indent(&self) -> usize {
        self.levels.last().map_or(0, |level| level.prefix.len())
    }

    /// Settles one more block at the innermost level.
    pub fn settle_block(&mut self) {
        match self.levels.last_mut() {
            Some(level) => level.n_blocks += 1,
            None => self.n_blocks += 1,
        }
    }

    /// The blocks of the innermost level, settled or not.
    pub fn innermost<'b>(&self, blocks: &'b mut Vec<Block>) -> Option<&'b mut Vec<Block>> {
        let mut blocks = blocks;
        for (idx, level) in self.levels.iter().enumerate() {
            let n_blocks = if idx == 0 { self.n_blocks } else { self.levels[idx - 1].n_blocks };
            let Some(Block::List { items, .. }) = blocks.get_mut(n_blocks.checked_sub(1)?) else {
                return None;
            };
            blocks = &mut items.get_mut(level.n_items.checked_sub(1)?)?.blocks;
        }
        Some(blocks)
    }
}

/// Unsettled content, detached from the blocks that it belongs to.
#[derive(Debug, Default, PartialEq)]
pub(super) struct UnsettledBlocks {
    /// Rows of the open table.
    pub rows: Vec<Vec<Cell>>,
    /// Blocks after the settled blocks of the innermost item, or of the document.
    pub inner: Vec<Block>,
    /// For each open list, the outermost last: further items, and the blocks after the list.
    pub outer: Vec<(Vec<ListItem>, Vec<Block>)>,
}

impl UnsettledBlocks {
    /// Removes the synthetic lines of the prefix from the result of a parse. `None` if they are not where they must be.
    pub fn of(blocks: Vec<Block>, context: &OpenContext) -> Option<Self> {
        Self::of_level(blocks, context.levels.len(), context.table.is_some())
    }

    fn of_level(mut blocks: Vec<Block>, n_levels: usize, in_table: bool) -> Option<Self> {
        if n_levels == 0 {
            if !in_table {
                return Some(Self { inner: blocks, ..Self::default() });
            }
            if blocks.is_empty() {
                return None;
            }
            let Block::Table { rows, .. } = blocks.remove(0) else { return None };
            return Some(Self { rows, inner: blocks, ..Self::default() });
        }
        if blocks.is_empty() {
            return None;
        }
        let Block::List { mut items, .. } = blocks.remove(0) else { return None };
        if items.is_empty() {
            return None;
        }
        let mut item = items.remove(0);
        if !matches!(item.blocks.first(), Some(Block::Paragraph { .. })) {
            return None;
        }
        item.blocks.remove(0);
        let mut fragment = Self::of_level(item.blocks, n_levels - 1, in_table)?;
        fragment.outer.push((items, blocks));
        Some(fragment)
    }

    /// Detaches everything that is not settled.
    pub fn detach(blocks: &mut Vec<Block>, context: &OpenContext) -> Self {
        Self::detach_level(blocks, context.n_blocks, &context.levels, context.table.as_ref())
    }

    fn detach_level(
        blocks: &mut Vec<Block>,
        n_blocks: usize,
        levels: &[Level],
        table: Option<&OpenTable>,
    ) -> Self {
        let behind = blocks.split_off(n_blocks.min(blocks.len()));
        match (levels, table, blocks.last_mut()) {
            ([level, deeper @ ..], _, Some(Block::List { items, .. })) => {
                let more_items = items.split_off(level.n_items.min(items.len()));
                let mut fragment = match items.last_mut() {
                    Some(item) => Self::detach_level(&mut item.blocks, level.n_blocks, deeper, table),
                    None => Self::default(),
                };
                fragment.outer.push((more_items, behind));
                fragment
            }
            ([], Some(table), Some(Block::Table { rows, .. })) => {
                let rows = rows.split_off(table.n_rows.min(rows.len()));
                Self { rows, inner: behind, ..Self::default() }
            }
            _ => Self { inner: behind, ..Self::default() },
        }
    }

    /// Appends everything after the settled blocks.
    pub fn attach(mut self, blocks: &mut Vec<Block>) {
        match (self.outer.pop(), blocks.last_mut()) {
            (Some((more_items, behind)), Some(Block::List { items, .. })) => {
                if let Some(item) = items.last_mut() {
                    self.attach(&mut item.blocks);
                }
                items.extend(more_items);
                blocks.extend(behind);
            }
            (None, last) => {
                if let Some(Block::Table { rows, .. }) = last {
                    rows.extend(self.rows);
                }
                blocks.extend(self.inner);
            }
            (Some((_, behind)), _) => blocks.extend(behind),
        }
    }

    /// The block lists that contain all code blocks.
    pub fn blocks(&self) -> impl Iterator<Item = &[Block]> {
        let outer = self.outer.iter().flat_map(|(items, behind)| {
            items.iter().map(|item| item.blocks.as_slice()).chain([behind.as_slice()])
        });
        [self.inner.as_slice()].into_iter().chain(outer)
    }

    /// How many of the document's blocks stay unchanged if `self` replaces `old`; `None` if both are equal.
    pub fn n_kept(&self, old: &Self, n_settled: usize) -> Option<usize> {
        if self == old {
            return None;
        }
        let common =
            |new: &[Block], old: &[Block]| new.iter().zip(old).take_while(|(new, old)| new == old).count();
        // The last settled block is a list or a table that gets more content, unless only the blocks after it differ.
        let (same_inside, new, old) = match (self.outer.split_last(), old.outer.split_last()) {
            (Some(((new_items, new), deeper)), Some(((old_items, old_blocks), old_deeper))) => {
                let same = new_items == old_items
                    && deeper == old_deeper
                    && self.inner == old.inner
                    && self.rows == old.rows;
                (same, new, old_blocks)
            }
            _ => (self.rows == old.rows, &self.inner, &old.inner),
        };
        if same_inside { Some(n_settled + common(new, old)) } else { Some(n_settled.saturating_sub(1)) }
    }
}
