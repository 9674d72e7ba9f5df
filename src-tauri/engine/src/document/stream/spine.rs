//! Where a stream stands: the lists it is in the middle of, and which of their blocks are settled.
//!
//! What is settled is not parsed again. What follows is parsed behind a lead: a few made-up lines that open the
//! same lists (and the same table) again, so that the parser reads the rest as it would in its place.

use crate::api::{Block, Cell, ListItem};

/// The blocks that are settled, from the outside inwards.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Spine {
    /// At the top level, with the list that is still open.
    pub n_blocks: usize,
    /// The open lists, each in the last item of the one before.
    pub levels: Vec<Level>,
    /// The open table, in the innermost item.
    pub table: Option<OpenTable>,
}

#[derive(Debug, PartialEq)]
pub(super) struct Level {
    /// The line of the last settled item up to its content: `  1. `.
    pub prefix: String,
    pub n_items: usize,
    /// In the last settled item.
    pub n_blocks: usize,
}

#[derive(Debug, PartialEq)]
pub(super) struct OpenTable {
    pub n_columns: usize,
    pub n_rows: usize,
}

impl Spine {
    /// Lines that bring a parser to where the stream stands. [`Fragment::of`] takes them out of the result again.
    pub fn lead(&self) -> String {
        let mut lead = String::new();
        for level in &self.levels {
            lead.push_str(&level.prefix);
            lead.push_str("x\n\n");
        }
        if let Some(table) = &self.table {
            for cell in ["x|", "-|"] {
                lead.push_str(&" ".repeat(self.indent()));
                lead.push('|');
                lead.push_str(&cell.repeat(table.n_columns));
                lead.push('\n');
            }
        }
        lead
    }

    /// The column at which the content of the innermost item begins.
    pub fn indent(&self) -> usize {
        self.levels.last().map_or(0, |level| level.prefix.len())
    }

    /// One more block at the innermost level is settled.
    pub fn settle_block(&mut self) {
        match self.levels.last_mut() {
            Some(level) => level.n_blocks += 1,
            None => self.n_blocks += 1,
        }
    }

    /// The innermost blocks, settled and not.
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

/// What is not settled, apart from the blocks it belongs to.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Fragment {
    /// For the open table.
    pub rows: Vec<Vec<Cell>>,
    /// Behind the settled blocks of the innermost item, or of the document.
    pub inner: Vec<Block>,
    /// For each open list, the outermost last: more items for it, and blocks behind it.
    pub outer: Vec<(Vec<ListItem>, Vec<Block>)>,
}

impl Fragment {
    /// Takes the made-up lines of the lead out of what was parsed. `None` if they are not where they must be.
    pub fn of(blocks: Vec<Block>, spine: &Spine) -> Option<Self> {
        Self::of_level(blocks, spine.levels.len(), spine.table.is_some())
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

    /// Cuts everything off that is not settled.
    pub fn detach(blocks: &mut Vec<Block>, spine: &Spine) -> Self {
        Self::detach_level(blocks, spine.n_blocks, &spine.levels, spine.table.as_ref())
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

    /// Puts everything behind what is settled.
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

    /// All code blocks are in here.
    pub fn blocks(&self) -> impl Iterator<Item = &[Block]> {
        let outer = self.outer.iter().flat_map(|(items, behind)| {
            items.iter().map(|item| item.blocks.as_slice()).chain([behind.as_slice()])
        });
        [self.inner.as_slice()].into_iter().chain(outer)
    }

    /// How many of the document's blocks stay as they are if `self` is put where `old` was; `None` if all do.
    pub fn n_kept(&self, old: &Self, n_settled: usize) -> Option<usize> {
        if self == old {
            return None;
        }
        let common =
            |new: &[Block], old: &[Block]| new.iter().zip(old).take_while(|(new, old)| new == old).count();
        // The last settled block is a list or a table that more is added to, if anything but the end differs.
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
