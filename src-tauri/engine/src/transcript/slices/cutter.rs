//! Cuts a document: walks its blocks from the beginning and keeps the content of the wanted slices.

use super::super::output::cut_line;
use crate::api::*;
use std::ops::RangeInclusive;

/// Bytes of code for which a window draws one more element, on average. The colours of a line do not count: a boundary
/// would move when they arrive.
pub(super) const BYTES_PER_TOKEN: usize = 8;
/// Maximum length of a tool's name or subject, which are one line.
const NAME: usize = 1_000;

/// What a slice holds at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub bytes: usize,
    pub nodes: usize,
    /// Text is split into pieces of this length, and a longer URL is not shown as a link.
    pub piece: usize,
}

/// Whether a name or subject is drawn whole.
pub(super) fn is_short(text: &str) -> bool {
    text.len() <= NAME
}

pub(super) fn name(text: &str) -> String {
    match text.split_at_checked(text.floor_char_boundary(NAME)) {
        Some((short, rest)) if !rest.is_empty() => format!("{short}…"),
        _ => text.to_owned(),
    }
}

pub(super) fn line_bytes(line: &CodeLine) -> usize {
    line.tokens.iter().map(|token| token.text.len()).sum()
}

fn code_nodes(bytes: usize) -> usize {
    1 + bytes.div_ceil(BYTES_PER_TOKEN)
}

/// Progress of a cutter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Position {
    pub slice: u32,
    /// Content of the current slice so far.
    bytes: usize,
    nodes: usize,
}

/// The beginning of a block.
#[derive(Default)]
pub(super) struct Head {
    /// Whether it belongs to the wanted slices.
    is_here: bool,
    /// The head of a table.
    cells: Vec<Cell>,
}

fn n_children(block: &Block) -> usize {
    match block {
        Block::Paragraph { spans } | Block::Heading { spans, .. } => spans.len(),
        Block::Code { lines, .. } => lines.len(),
        Block::Quote { blocks } | Block::Footnote { blocks, .. } => blocks.len(),
        Block::List { items, .. } => items.len(),
        Block::Table { rows, .. } => rows.len(),
        Block::Rule => 0,
    }
}

fn is_empty_row(row: &[Cell]) -> bool {
    row.iter().all(|cell| cell.spans.is_empty())
}

/// Walks a document from its beginning and keeps the content of the wanted slices.
pub(super) struct Cutter {
    limits: Limits,
    wanted: RangeInclusive<u32>,
    pub at: Position,
    /// Whether a line of code was too long and was split.
    pub has_split_lines: bool,
    ends: bool,
}

impl Cutter {
    /// Keeps the slices `first..=last`.
    pub fn new(limits: Limits, first: u32, last: u32) -> Self {
        Self { limits, wanted: first..=last, at: Position::default(), has_split_lines: false, ends: false }
    }

    /// Walks no further than the wanted slices: it does not count the others.
    pub fn ending(self) -> Self {
        Self { ends: true, ..self }
    }

    /// Whether it has nothing more to do.
    pub fn is_over(&self) -> bool {
        self.ends && self.at.slice > *self.wanted.end()
    }

    /// Counts the next piece of content and returns whether it belongs to the wanted slices.
    fn takes(&mut self, bytes: usize, nodes: usize) -> bool {
        let is_full = self.at.bytes + bytes > self.limits.bytes || self.at.nodes + nodes > self.limits.nodes;
        if is_full && self.at.nodes > 0 {
            self.at = Position { slice: self.at.slice + 1, ..Position::default() };
        }
        self.at.bytes += bytes;
        self.at.nodes += nodes;
        self.wanted.contains(&self.at.slice)
    }

    /// The same for a container or an empty node.
    fn takes_node(&mut self) -> bool {
        self.takes(0, 1)
    }

    /// Adds a line of code, split if it is very long.
    fn code_line(&mut self, line: &CodeLine, kept: &mut Vec<CodeLine>) {
        let bytes = line_bytes(line);
        if bytes <= self.limits.piece {
            if self.takes(bytes, code_nodes(bytes)) {
                kept.push(line.clone());
            }
            return;
        }
        self.has_split_lines = true;
        for piece in cut_line(line.clone(), self.limits.piece) {
            let bytes = line_bytes(&piece);
            if self.takes(bytes, code_nodes(bytes)) {
                kept.push(piece);
            }
        }
    }

    fn text(&mut self, text: &str) -> String {
        let mut kept = String::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at(rest.floor_char_boundary(self.limits.piece));
            // Each piece counts as a node, because a slice without nodes would never be full.
            if self.takes(piece.len(), 1) {
                kept.push_str(piece);
            }
            rest = behind;
        }
        kept
    }

    fn blocks(&mut self, list: &[Block]) -> Vec<Block> {
        list.iter().filter_map(|block| self.block(block)).collect()
    }

    /// The content of a block in the wanted slices. An empty block is kept in its slice.
    pub fn block(&mut self, block: &Block) -> Option<Block> {
        let head = self.head(block);
        self.children(block, Some(head), 0, |_, _, _| {})
    }

    /// Begins a block.
    pub fn head(&mut self, block: &Block) -> Head {
        let is_here = self.takes_node();
        let cells = match block {
            Block::Table { head, .. } => head.iter().map(|cell| self.cell(cell)).collect(),
            _ => Vec::new(),
        };
        Head { is_here, cells }
    }

    /// The content of a block from child `from` on, in the wanted slices: lines, entries, rows, blocks or spans. `head` is
    /// its beginning, unless that precedes. Calls `each` with the position before and after each child, and its number.
    pub fn children(
        &mut self,
        block: &Block,
        head: Option<Head>,
        from: usize,
        mut each: impl FnMut(Position, Position, usize),
    ) -> Option<Block> {
        let Head { is_here, cells } = head.unwrap_or_default();
        let is_whole = is_here && n_children(block) == 0;
        macro_rules! kept {
            ($children:expr, $keep:expr) => {{
                let mut kept = Vec::new();
                for (nr, child) in $children.iter().enumerate().skip(from) {
                    if self.is_over() {
                        break;
                    }
                    let before = self.at;
                    $keep(&mut *self, nr, child, &mut kept);
                    each(before, self.at, nr);
                }
                kept
            }};
        }
        let is_some = |n: usize| n > 0 || is_whole;
        match block {
            Block::Paragraph { spans } => {
                let spans: Vec<Span> = kept!(spans, |cutter: &mut Self, _, span, kept: &mut Vec<Span>| kept
                    .extend(cutter.span(span)));
                is_some(spans.len()).then_some(Block::Paragraph { spans })
            }
            Block::Heading { level, spans } => {
                let spans: Vec<Span> = kept!(spans, |cutter: &mut Self, _, span, kept: &mut Vec<Span>| kept
                    .extend(cutter.span(span)));
                is_some(spans.len()).then_some(Block::Heading { level: *level, spans })
            }
            Block::Code { language, lines } => {
                let lines: Vec<CodeLine> =
                    kept!(lines, |cutter: &mut Self, _, line, kept| cutter.code_line(line, kept));
                is_some(lines.len()).then(|| Block::Code { language: language.clone(), lines })
            }
            Block::Quote { blocks } => {
                let blocks: Vec<Block> =
                    kept!(blocks, |cutter: &mut Self, _, block, kept: &mut Vec<Block>| kept
                        .extend(cutter.block(block)));
                is_some(blocks.len()).then_some(Block::Quote { blocks })
            }
            Block::Footnote { label, blocks } => {
                let blocks: Vec<Block> =
                    kept!(blocks, |cutter: &mut Self, _, block, kept: &mut Vec<Block>| kept
                        .extend(cutter.block(block)));
                is_some(blocks.len()).then(|| Block::Footnote { label: name(label), blocks })
            }
            Block::List { start, items } => {
                let mut first = None;
                let items: Vec<ListItem> =
                    kept!(items, |cutter: &mut Self, nr, item, kept: &mut Vec<ListItem>| {
                        if let Some(item) = cutter.entry(item) {
                            first.get_or_insert(nr as u64);
                            kept.push(item);
                        }
                    });
                let start = start.map(|start| start.saturating_add(first.unwrap_or(0)));
                is_some(items.len()).then_some(Block::List { start, items })
            }
            Block::Table { align, head, rows } => {
                let rows: Vec<Vec<Cell>> =
                    kept!(rows, |cutter: &mut Self, _, row, kept: &mut Vec<Vec<Cell>>| kept
                        .extend(cutter.row(row)));
                let has_head = is_here || !is_empty_row(&cells);
                let head =
                    if cells.is_empty() { vec![Cell { spans: Vec::new() }; head.len()] } else { cells };
                (has_head || !rows.is_empty()).then(|| Block::Table { align: align.clone(), head, rows })
            }
            Block::Rule => is_here.then_some(Block::Rule),
        }
    }

    fn entry(&mut self, item: &ListItem) -> Option<ListItem> {
        let is_here = self.takes_node();
        let blocks = self.blocks(&item.blocks);
        let is_kept = !blocks.is_empty() || (is_here && item.blocks.is_empty());
        is_kept.then_some(ListItem { checked: item.checked, blocks })
    }

    fn row(&mut self, row: &[Cell]) -> Option<Vec<Cell>> {
        let is_here = self.takes_node();
        let cells: Vec<Cell> = row.iter().map(|cell| self.cell(cell)).collect();
        (!is_empty_row(&cells) || (is_here && is_empty_row(row))).then_some(cells)
    }

    fn cell(&mut self, cell: &Cell) -> Cell {
        self.takes_node();
        Cell { spans: self.spans(&cell.spans) }
    }

    fn spans(&mut self, list: &[Span]) -> Vec<Span> {
        list.iter().filter_map(|span| self.span(span)).collect()
    }

    fn span(&mut self, span: &Span) -> Option<Span> {
        let text = |cutter: &mut Self, text| Some(cutter.text(text)).filter(|text| !text.is_empty());
        let inner = |cutter: &mut Self, spans| {
            cutter.takes_node();
            Some(cutter.spans(spans)).filter(|spans| !spans.is_empty())
        };
        match span {
            Span::Text { text: whole } => text(self, whole).map(|text| Span::Text { text }),
            Span::Code { text: whole } => text(self, whole).map(|text| Span::Code { text }),
            Span::Raw { text: whole } => text(self, whole).map(|text| Span::Raw { text }),
            Span::Emphasis { spans } => inner(self, spans).map(|spans| Span::Emphasis { spans }),
            Span::Strong { spans } => inner(self, spans).map(|spans| Span::Strong { spans }),
            Span::Strike { spans } => inner(self, spans).map(|spans| Span::Strike { spans }),
            // A truncated URL would lead elsewhere, so a link whose URL is too long is not shown as a link.
            Span::Link { url, spans, .. } if url.len() > self.limits.piece => {
                inner(self, spans).map(|spans| Span::Emphasis { spans })
            }
            Span::Image { url, alt, .. } if url.len() > self.limits.piece => {
                text(self, alt).map(|text| Span::Raw { text })
            }
            Span::Link { url, host, spans } => {
                self.takes(url.len(), 1);
                let spans = inner(self, spans)?;
                Some(Span::Link { url: url.clone(), host: host.clone(), spans })
            }
            Span::File { path, line, destination, spans } => {
                self.takes(path.len() + destination.as_ref().map_or(0, String::len), 1);
                let spans = inner(self, spans)?;
                let (path, destination) = (path.clone(), destination.clone());
                Some(Span::File { path, line: *line, destination, spans })
            }
            Span::Image { url, host, alt } => {
                let image = Span::Image { url: url.clone(), host: host.clone(), alt: name(alt) };
                self.takes(url.len() + alt.len().min(NAME), 1).then_some(image)
            }
            Span::FootnoteRef { label } => {
                let reference = Span::FootnoteRef { label: name(label) };
                self.takes(label.len().min(NAME), 1).then_some(reference)
            }
            Span::Break => self.takes_node().then_some(Span::Break),
        }
    }
}
