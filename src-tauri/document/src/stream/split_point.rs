//! Split points: positions where a text can be cut so that the part before the cut need not be parsed again.

use super::open_context::{Level, OpenContext, OpenTable};
use crate::markdown::{Node, NodeKind};
use deskbell_api::Block;

/// A position where the source can be cut, and the settled blocks before it.
pub(super) struct SplitPoint {
    pub at: usize,
    pub context: OpenContext,
    /// Whether the last block is before the cut as well.
    pub leaf_is_settled: bool,
}

/// Finds the last split point of a parse.
pub(super) struct SplitPoints<'s> {
    pub source: &'s str,
    /// Length of the synthetic prefix.
    pub prefix_len: usize,
    pub path: &'s [Node],
    /// The whole document, up to date with the source.
    pub blocks: &'s [Block],
}

impl SplitPoints<'_> {
    pub fn last(&self) -> Option<SplitPoint> {
        self.behind_leaf()
            .or_else(|| self.in_table())
            .or_else(|| (0..self.path.len()).rev().find_map(|idx| self.before(idx)))
    }

    /// Start of the line that has no line end yet.
    fn open_line(&self) -> usize {
        line_start(self.source, self.source.len())
    }

    fn is_complete(&self) -> bool {
        self.open_line() == self.source.len()
    }

    /// A cut at the very end, if the last line closed the last block.
    fn behind_leaf(&self) -> Option<SplitPoint> {
        if !self.is_complete() {
            return None;
        }
        let idx = self.path.iter().position(|node| !matches!(node.kind, NodeKind::List | NodeKind::Item))?;
        let closed = match self.path[idx].kind {
            NodeKind::Heading | NodeKind::Rule => true,
            NodeKind::Paragraph | NodeKind::Table | NodeKind::Quote => self.ends_blank(),
            NodeKind::Fence
            | NodeKind::Row
            | NodeKind::List
            | NodeKind::Item
            | NodeKind::Other
            | NodeKind::Flattened => false,
        };
        // A table in the prefix continues after it; any other block there is synthetic.
        let is_made_up = self.path[idx].start < self.prefix_len && self.path[idx].kind != NodeKind::Table;
        if !closed || is_made_up {
            return None;
        }
        let context = self.context_of(&self.path[..idx])?;
        Some(SplitPoint { at: self.source.len(), context, leaf_is_settled: true })
    }

    fn ends_blank(&self) -> bool {
        let Some(line) = self.source[self.prefix_len..].strip_suffix('\n') else { return false };
        line[line_start(line, line.len())..].trim_matches([' ', '\t']).is_empty()
    }

    /// A cut before the incomplete row, or after the last row.
    fn in_table(&self) -> Option<SplitPoint> {
        let idx = self.path.iter().rposition(|node| node.kind == NodeKind::Table)?;
        let table = self.path[idx];
        let row = match self.path[idx + 1..] {
            [] => None,
            [Node { kind: NodeKind::Row, start }] => Some(start),
            _ => return None,
        };
        let body =
            self.source[table.start..].match_indices('\n').nth(1).map(|(at, _)| table.start + at + 1)?;
        // The last row must be on the last line: anything in between may have ended the table.
        let row_is_open = row.is_some() && !self.is_complete();
        let at = match row {
            Some(row) if row_is_open => line_start(self.source, row),
            Some(row) => row + self.source[row..].find('\n')? + 1,
            None => body,
        };
        if at < body.max(self.prefix_len) || at != self.open_line() {
            return None;
        }
        let mut context = self.context_of(&self.path[..idx])?;
        let Some(Block::Table { align, rows, .. }) = self.innermost(&self.path[..idx])?.last() else {
            return None;
        };
        context.table =
            Some(OpenTable { n_columns: align.len(), n_rows: rows.len() - usize::from(row_is_open) });
        Some(SplitPoint { at, context, leaf_is_settled: !row_is_open })
    }

    /// A cut before a block or an item on the path, if it is certain to begin there.
    fn before(&self, idx: usize) -> Option<SplitPoint> {
        let node = self.path[idx];
        let at = line_start(self.source, node.start);
        let indent = &self.source[at..node.start];
        if at < self.prefix_len || indent.bytes().any(|byte| byte != b' ') || !self.is_sure(idx, at) {
            return None;
        }
        let context = match node.kind {
            NodeKind::Flattened | NodeKind::Row => return None,
            NodeKind::Item => self.spine_before_item(idx)?,
            _ => {
                let mut context = self.context_of(&self.path[..idx])?;
                let n_blocks = match context.levels.last_mut() {
                    Some(level) => &mut level.n_blocks,
                    None => &mut context.n_blocks,
                };
                *n_blocks = n_blocks.checked_sub(1)?;
                context
            }
        };
        Some(SplitPoint { at, context, leaf_is_settled: false })
    }

    /// Whether the block at `at` begins there regardless of the text that follows.
    fn is_sure(&self, idx: usize, at: usize) -> bool {
        let node = self.path[idx];
        let n_line_ends = self.source[at..].bytes().filter(|&byte| byte == b'\n').take(2).count();
        let behind_blank = at == 0
            || self.source[..at].strip_suffix('\n').is_some_and(|line| {
                line[line_start(line, line.len())..].trim_matches([' ', '\t']).is_empty()
            });
        if n_line_ends > 0 {
            // An incomplete delimiter row may turn out not to be one. Until then its table ends a paragraph, even where
            // it cannot become a table and is read as another paragraph.
            return match node.kind {
                NodeKind::Table => n_line_ends > 1,
                NodeKind::Paragraph => n_line_ends > 1 || behind_blank,
                _ => true,
            };
        }
        let line = self.source[at..].trim_start_matches(' ');
        match node.kind {
            // `- x` can no longer be a rule, an underline or a delimiter row.
            NodeKind::List | NodeKind::Item => item_prefix(self.source, node.start).is_some_and(|prefix| {
                let content = self.source[at + prefix.len()..].chars().next();
                content.is_some_and(|c| {
                    c.is_alphanumeric()
                        || matches!(c, '*' | '_' | '`' | '[' | '(' | '"' | '\'') && !line.starts_with(c)
                })
            }),
            // After a blank line only a list can continue, and this block does not become a list item.
            _ => {
                let is_no_marker =
                    !line.starts_with(['-', '+', '*']) && !line.starts_with(|c: char| c.is_ascii_digit());
                let is_text = node.kind == NodeKind::Paragraph && line.contains(char::is_alphabetic);
                behind_blank && (is_no_marker || is_text)
            }
        }
    }

    /// The blocks inside the lists and items of `path`.
    fn innermost(&self, path: &[Node]) -> Option<&[Block]> {
        let mut blocks = self.blocks;
        for _ in path.chunks(2) {
            let Some(Block::List { items, .. }) = blocks.last() else { return None };
            blocks = &items.last()?.blocks;
        }
        Some(blocks)
    }

    /// The context in which everything is settled and the lists of `path` are open.
    fn context_of(&self, path: &[Node]) -> Option<OpenContext> {
        let mut context = OpenContext { n_blocks: self.blocks.len(), ..OpenContext::default() };
        let mut blocks = self.blocks;
        for pair in path.chunks(2) {
            let [Node { kind: NodeKind::List, .. }, Node { kind: NodeKind::Item, start }] = pair else {
                return None;
            };
            let prefix = item_prefix(self.source, *start)?.to_owned();
            let Some(Block::List { items, .. }) = blocks.last() else { return None };
            blocks = &items.last()?.blocks;
            context.levels.push(Level { prefix, n_items: items.len(), n_blocks: blocks.len() });
        }
        Some(context)
    }

    /// The context in which everything before the item at `idx` is settled. The prefix opens the list with an item like
    /// this one.
    fn spine_before_item(&self, idx: usize) -> Option<OpenContext> {
        let path = &self.path[..idx.checked_sub(1)?];
        let mut context = self.context_of(path)?;
        let prefix = item_prefix(self.source, self.path[idx].start)?.to_owned();
        let Some(Block::List { items, .. }) = self.innermost(path)?.last() else { return None };
        let n_items = items.len() - 1;
        let n_blocks = items[n_items.checked_sub(1)?].blocks.len();
        context.levels.push(Level { prefix, n_items, n_blocks });
        Some(context)
    }
}

pub(super) fn line_start(source: &str, at: usize) -> usize {
    source[..at].rfind('\n').map_or(0, |line_end| line_end + 1)
}

/// The line of a list item up to its content: `  1. `. `None` if the item is not first on its line, if its content is
/// not on the same line, or if the content's column is ambiguous.
fn item_prefix(source: &str, item_start: usize) -> Option<&str> {
    let at = line_start(source, item_start);
    if source[at..item_start].bytes().any(|byte| byte != b' ') {
        return None;
    }
    let line = &source[at..];
    let indented = line.trim_start_matches(' ');
    let n_digits = indented.bytes().take_while(u8::is_ascii_digit).count();
    let marker = indented.as_bytes().get(n_digits)?;
    match marker {
        b'-' | b'+' | b'*' if n_digits == 0 => {}
        b'.' | b')' if (1..=9).contains(&n_digits) => {}
        _ => return None,
    }
    let content = &indented[n_digits + 1..];
    let n_spaces = content.bytes().take_while(|&byte| byte == b' ').count();
    let goes_on = content[n_spaces..].chars().next().is_some_and(|c| !c.is_whitespace());
    ((1..=4).contains(&n_spaces) && goes_on)
        .then(|| &line[..line.len() - indented.len() + n_digits + 1 + n_spaces])
}
