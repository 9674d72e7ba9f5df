//! Items in parts: an item too long to draw at once is sent to a window part by part, and is stored complete here.
//!
//! The part boundaries depend only on the item, so any part can be requested at any time.

use super::output::cut_line;
use crate::api::*;
use std::ops::RangeInclusive;

/// Maximum of one item that a window draws whole.
const BYTES: usize = 128 * 1024;
const NODES: usize = 8_000;
/// Maximum bytes of plain text that a window draws at once.
const PLAIN_BYTES: usize = BYTES / 2;
/// Maximum of one part: an item that is drawn whole can be longer, because a part bar takes more from its reader.
const PART_BYTES: usize = BYTES / 2;
const PART_NODES: usize = NODES / 2;
const PART_PLAIN_BYTES: usize = PLAIN_BYTES / 2;
/// Text is split into pieces of this length, and a longer line of code is shown as several lines.
const LINE: usize = 16 * 1024;
/// Bytes of code for which a window draws one more element, on average. The colours of a line do not count: a boundary
/// would move when they arrive.
const BYTES_PER_TOKEN: usize = 8;
/// Maximum length of a tool's name or subject, which are one line.
const NAME: usize = 1_000;

/// What a part of an item holds at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub bytes: usize,
    pub nodes: usize,
    /// Text is split into pieces of this length.
    pub piece: usize,
}

const PART: Limits = Limits { bytes: PART_BYTES, nodes: PART_NODES, piece: LINE };

/// One part of an item's body and the number of parts; `None` if the item is drawn whole.
pub fn part(body: &Body, wanted: u32) -> Option<(Body, u32)> {
    if fits(body) {
        return None;
    }
    let mut cutter = Cutter::new(PART, wanted, wanted);
    let cut = cutter.body(body)?;
    Some((cut, cutter.at.part + 1))
}

/// Whether the body is drawn whole.
pub fn fits(body: &Body) -> bool {
    match body {
        Body::Text { blocks, .. } => {
            let mut size = Size::default();
            size.blocks(blocks);
            size.bytes <= BYTES && size.nodes <= NODES && size.line <= LINE
        }
        Body::Prompt { text, .. } | Body::Thinking { text, .. } => text.len() <= PLAIN_BYTES,
        Body::Notice { text, detail, .. } => {
            text.len() <= NAME && detail.as_ref().is_none_or(|detail| detail.len() <= PLAIN_BYTES)
        }
        Body::ToolCall(call) => {
            let is_short = call.tool.len() <= NAME && call.subject.len() <= NAME;
            is_short
                && match &call.detail {
                    ToolDetail::Command { command: text, .. } | ToolDetail::Json { input: text, .. } => {
                        text.len() <= PLAIN_BYTES
                    }
                    ToolDetail::Edit(diff) | ToolDetail::Notebook { diff, .. } => {
                        let parts =
                            || diff.hunks.iter().flat_map(|hunk| &hunk.lines).flat_map(|line| &line.parts);
                        let bytes: usize = parts().map(|part| part.text.len()).sum();
                        diff.path.len() <= NAME && bytes <= PLAIN_BYTES && parts().count() <= NODES
                    }
                    ToolDetail::Text { .. } | ToolDetail::Todos { .. } | ToolDetail::Questions { .. } => true,
                }
        }
        Body::TurnEnd(_) => true,
    }
}

fn name(text: &str) -> String {
    match text.split_at_checked(text.floor_char_boundary(NAME)) {
        Some((short, rest)) if !rest.is_empty() => format!("{short}…"),
        _ => text.to_owned(),
    }
}

/// Drawing cost of a body.
#[derive(Default)]
struct Size {
    bytes: usize,
    nodes: usize,
    /// Bytes in the longest line of code.
    line: usize,
}

impl Size {
    fn blocks(&mut self, list: &[Block]) {
        for block in list {
            self.nodes += 1;
            match block {
                Block::Paragraph { spans } | Block::Heading { spans, .. } => self.spans(spans),
                Block::Code { lines, .. } => lines.iter().for_each(|line| {
                    let bytes = line_bytes(line);
                    self.bytes += bytes;
                    self.nodes += code_nodes(bytes);
                    self.line = self.line.max(bytes);
                }),
                Block::Quote { blocks } | Block::Footnote { blocks, .. } => self.blocks(blocks),
                Block::List { items, .. } => items.iter().for_each(|item| {
                    self.nodes += 1;
                    self.blocks(&item.blocks);
                }),
                Block::Table { head, rows, .. } => {
                    for cell in head.iter().chain(rows.iter().flatten()) {
                        self.nodes += 1;
                        self.spans(&cell.spans);
                    }
                }
                Block::Rule => {}
            }
        }
    }

    fn spans(&mut self, list: &[Span]) {
        for span in list {
            self.nodes += 1;
            match span {
                Span::Text { text } | Span::Code { text } | Span::Raw { text } => self.bytes += text.len(),
                Span::Emphasis { spans } | Span::Strong { spans } | Span::Strike { spans } => {
                    self.spans(spans)
                }
                Span::Link { url, spans, .. } => {
                    self.bytes += url.len();
                    self.spans(spans);
                }
                Span::Image { url, alt, .. } => self.bytes += url.len() + alt.len(),
                Span::FootnoteRef { label } => self.bytes += label.len(),
                Span::Break => {}
            }
        }
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
    pub part: u32,
    /// Content of the current part so far.
    bytes: usize,
    nodes: usize,
}

/// The beginning of a block.
#[derive(Default)]
pub(super) struct Head {
    /// Whether it belongs to the wanted parts.
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

/// Walks an item from its beginning and keeps the content of the wanted parts.
pub(super) struct Cutter {
    limits: Limits,
    wanted: RangeInclusive<u32>,
    pub at: Position,
    /// Whether a line of code was too long and was split.
    pub has_split_lines: bool,
    ends: bool,
}

impl Cutter {
    /// Keeps the parts `first..=last`.
    pub fn new(limits: Limits, first: u32, last: u32) -> Self {
        Self { limits, wanted: first..=last, at: Position::default(), has_split_lines: false, ends: false }
    }

    /// Walks no further than the wanted parts: it does not count the others.
    pub fn ending(self) -> Self {
        Self { ends: true, ..self }
    }

    /// Whether it has nothing more to do.
    pub fn is_over(&self) -> bool {
        self.ends && self.at.part > *self.wanted.end()
    }

    fn body(&mut self, body: &Body) -> Option<Body> {
        Some(match body {
            Body::Text { blocks, streaming } => {
                Body::Text { blocks: self.blocks(blocks), streaming: *streaming }
            }
            Body::Prompt { text, n_images, n_documents, state } => {
                let (n_images, n_documents) = (*n_images, *n_documents);
                Body::Prompt { text: self.plain(text), n_images, n_documents, state: *state }
            }
            Body::Thinking { text, streaming, duration_ms } => {
                let text = self.plain(text);
                Body::Thinking { text, streaming: *streaming, duration_ms: *duration_ms }
            }
            Body::Notice { level, text, detail, until_at } => {
                let detail = detail.as_ref().map(|detail| self.plain(detail));
                Body::Notice { level: *level, text: name(text), detail, until_at: *until_at }
            }
            Body::ToolCall(call) => {
                let mut call = call.clone();
                (call.tool, call.subject) = (name(&call.tool), name(&call.subject));
                match &mut call.detail {
                    ToolDetail::Command { command: text, .. } | ToolDetail::Json { input: text, .. } => {
                        *text = self.plain(text);
                    }
                    ToolDetail::Edit(diff) | ToolDetail::Notebook { diff, .. } => {
                        diff.path = name(&diff.path);
                        self.hunks(&mut diff.hunks);
                    }
                    ToolDetail::Text { .. } | ToolDetail::Todos { .. } | ToolDetail::Questions { .. } => {}
                }
                Body::ToolCall(call)
            }
            Body::TurnEnd(_) => return None,
        })
    }

    /// Counts the next piece of content and returns whether it belongs to the wanted parts.
    fn takes(&mut self, bytes: usize, nodes: usize, most: usize) -> bool {
        let is_full = self.at.bytes + bytes > most || self.at.nodes + nodes > self.limits.nodes;
        if is_full && self.at.nodes > 0 {
            self.at = Position { part: self.at.part + 1, ..Position::default() };
        }
        self.at.bytes += bytes;
        self.at.nodes += nodes;
        self.wanted.contains(&self.at.part)
    }

    /// The same for a container or an empty node.
    fn takes_node(&mut self) -> bool {
        self.takes(0, 1, self.limits.bytes)
    }

    /// Adds a line of code, split if it is very long.
    fn code_line(&mut self, line: &CodeLine, kept: &mut Vec<CodeLine>) {
        let bytes = line_bytes(line);
        if bytes <= self.limits.piece {
            if self.takes(bytes, code_nodes(bytes), self.limits.bytes) {
                kept.push(line.clone());
            }
            return;
        }
        self.has_split_lines = true;
        for piece in cut_line(line.clone(), self.limits.piece) {
            let bytes = line_bytes(&piece);
            if self.takes(bytes, code_nodes(bytes), self.limits.bytes) {
                kept.push(piece);
            }
        }
    }

    fn text(&mut self, text: &str, most: usize) -> String {
        let mut kept = String::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at(rest.floor_char_boundary(self.limits.piece));
            // Each piece counts as a node, because a part without nodes would never be full.
            if self.takes(piece.len(), 1, most) {
                kept.push_str(piece);
            }
            rest = behind;
        }
        kept
    }

    fn plain(&mut self, text: &str) -> String {
        self.text(text, PART_PLAIN_BYTES)
    }

    fn blocks(&mut self, list: &[Block]) -> Vec<Block> {
        list.iter().filter_map(|block| self.block(block)).collect()
    }

    /// The content of a block in the wanted parts. An empty block is kept in its part.
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

    /// The content of a block from child `from` on, in the wanted parts: lines, entries, rows, blocks or spans. `head` is
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
        let text = |cutter: &mut Self, text| {
            Some(cutter.text(text, cutter.limits.bytes)).filter(|text| !text.is_empty())
        };
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
            Span::Link { url, spans, .. } if url.len() > LINE => {
                inner(self, spans).map(|spans| Span::Emphasis { spans })
            }
            Span::Image { url, alt, .. } if url.len() > LINE => {
                text(self, alt).map(|text| Span::Raw { text })
            }
            Span::Link { url, host, spans } => {
                self.takes(url.len(), 1, self.limits.bytes);
                let spans = inner(self, spans)?;
                Some(Span::Link { url: url.clone(), host: host.clone(), spans })
            }
            Span::Image { url, host, alt } => {
                let image = Span::Image { url: url.clone(), host: host.clone(), alt: name(alt) };
                self.takes(url.len() + alt.len().min(NAME), 1, self.limits.bytes).then_some(image)
            }
            Span::FootnoteRef { label } => {
                let reference = Span::FootnoteRef { label: name(label) };
                self.takes(label.len().min(NAME), 1, self.limits.bytes).then_some(reference)
            }
            Span::Break => self.takes_node().then_some(Span::Break),
        }
    }

    fn hunks(&mut self, hunks: &mut Vec<Hunk>) {
        for hunk in hunks.iter_mut() {
            hunk.lines.retain_mut(|line| {
                let (is_here, is_empty) = (self.takes(0, 1, PART_PLAIN_BYTES), line.parts.is_empty());
                for part in &mut line.parts {
                    part.text = self.plain(&part.text);
                }
                line.parts.retain(|part| !part.text.is_empty());
                !line.parts.is_empty() || (is_here && is_empty)
            });
        }
        hunks.retain(|hunk| !hunk.lines.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document;
    use crate::transcript::words;
    use proptest::prelude::*;

    fn text(source: &str) -> Body {
        Body::Text { blocks: document::markdown(source), streaming: false }
    }

    /// All parts of a body. Checks the size of each one.
    fn parts(body: &Body) -> Vec<Body> {
        let Some((first, n)) = part(body, 0) else { return vec![body.clone()] };
        let others = (1..n).map(|nr| part(body, nr).unwrap().0);
        let parts: Vec<Body> = std::iter::once(first).chain(others).collect();
        for part in &parts {
            let Body::Text { blocks, .. } = part else { continue };
            let mut size = Size::default();
            size.blocks(blocks);
            // Enclosing nodes are repeated in each part.
            assert!(
                size.bytes <= PART_BYTES && size.nodes <= PART_NODES + 1_000,
                "a part is itself too long"
            );
        }
        parts
    }

    /// Letters and digits only: enclosing markup is repeated in each part or left out.
    fn letters(bodies: &[Body]) -> String {
        let mut all = String::new();
        for body in bodies {
            words::shown(body, &mut all);
            words::inside(body, &mut all);
        }
        all.retain(|c| c.is_alphanumeric());
        all
    }

    #[test]
    fn what_is_of_an_ordinary_length_is_drawn_whole() {
        let answer = "A paragraph with *words*.\n\n- an item\n- another\n\n".repeat(600);
        assert!(part(&text(&answer), 0).is_none());
        assert!(part(&text(&"word ".repeat(60_000)), 0).is_some());
    }

    #[test]
    fn all_parts_together_are_the_whole() {
        let sources = [
            "x".repeat(1_000_000),
            "é\u{1f600} ".repeat(200_000),
            format!("```rust\n{}```", "let a = \"b\"; // c\n".repeat(30_000)),
            format!("```\n{}\n```", "y".repeat(1_000_000)),
            "1. one *two* `three`\n".repeat(30_000),
            format!("| a | b |\n|---|---|\n{}", "| one | **two** |\n".repeat(20_000)),
            format!("> {}", "quoted ".repeat(100_000)),
            "*a* ".repeat(60_000),
            format!("| a |\n|---|\n| {} |\n", "cell ".repeat(100_000)),
        ];
        for source in sources {
            let body = text(&source);
            let parts = parts(&body);
            assert!(parts.len() > 1, "{}", &source[..40.min(source.len())]);
            // A table's head is only in one part.
            assert_eq!(letters(&parts), letters(&[body]));
        }
    }

    #[test]
    fn a_number_goes_on_in_the_next_part() {
        let parts = parts(&text(&"1. one\n".repeat(30_000)));
        let numbers = parts.iter().map(|part| match part {
            Body::Text { blocks, .. } => match &blocks[..] {
                [Block::List { start: Some(start), items }] => (*start, items.len() as u64),
                other => panic!("{} blocks", other.len()),
            },
            _ => panic!("no text"),
        });
        let mut next = 1;
        for (start, n) in numbers {
            assert_eq!(start, next);
            next += n;
        }
    }

    #[test]
    fn other_items_are_cut_as_well() {
        let long = "z".repeat(300_000);
        let bodies = [
            Body::Prompt { text: long.clone(), n_images: 0, n_documents: 0, state: PromptState::Done },
            Body::Thinking { text: long.clone(), streaming: false, duration_ms: None },
            Body::Notice {
                level: Level::Info,
                text: "n".to_owned(),
                detail: Some(long.clone()),
                until_at: None,
            },
        ];
        for body in bodies {
            assert_eq!(parts(&body).len(), 10);
            let n_letters = letters(&parts(&body)).matches('z').count();
            assert_eq!(n_letters, long.len());
        }
        let diff = document::diff("a.txt", "", &format!("{long}\nend"));
        let call = ToolCall {
            tool: long.clone(),
            icon: ToolIcon::Edit,
            verb: String::new(),
            subject: long,
            state: ToolState::Succeeded,
            note: None,
            in_background: false,
            original_input: None,
            duration_ms: None,
            detail: ToolDetail::Edit(diff),
        };
        assert!(parts(&Body::ToolCall(Box::new(call))).len() >= 10);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4))]
        #[test]
        fn nothing_is_lost_whatever_it_is(seeds in prop::collection::vec("[-*>#| `0-9a-z\\n]{1,40}", 1..8)) {
            let body = text(&seeds.concat().repeat(2_000));
            prop_assert_eq!(letters(&parts(&body)), letters(&[body]));
        }
    }
}
