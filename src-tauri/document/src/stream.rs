//! Streaming Markdown: a document that arrives in pieces.
//!
//! Only the end of the text is parsed again, and so rarely that the work stays in proportion to the text. Text that
//! arrives faster is shown as plain text until the next parse. However a text is split into pieces, the finished
//! document equals that of [`markdown`](super::markdown()).
//!
//! A block is settled, and never parsed again, once no further line can change it. Markdown blocks are read line by
//! line, and only the innermost open ones can still change. So everything before the last block is settled, and so is
//! everything before the last item of a list and before the last row of a table. Definitions of links and footnotes are
//! the exception, because they affect earlier text: a text that has any is parsed once more, whole, when it is
//! finished.

mod fence;
mod open_context;
mod split_point;
#[cfg(test)]
mod tests;

use std::mem::take;

use self::fence::{Fence, Grown};
use self::open_context::{OpenContext, UnsettledBlocks};
use self::split_point::{SplitPoint, SplitPoints, line_start};
use super::colour::{Coloured, Painting, Repainted, Uncoloured};
use super::highlight::Highlights;
use super::markdown::{Node, NodeKind, Parsed, parse};
use super::source::Normaliser;
use deskbell_api::{Block, CodeLine, ListItem, Span};

/// Bytes that may be parsed per byte received before the text is finished, and the initial allowance.
const CREDIT_PER_BYTE: isize = 3;
const INITIAL_CREDIT: isize = 2048;

/// A change contains the whole last block, or the whole last entry of a list. If that is longer than `SENT_AT_ONCE`
/// bytes, it is sent again only after it has grown by 1/`RESEND_SHARE` of its size, so that the data sent stays in
/// proportion to the text.
const SENT_AT_ONCE: usize = 16 * 1024;
const RESEND_SHARE: usize = 64;

/// What changed since the last change was taken.
#[derive(Clone, Debug, PartialEq)]
pub enum DocumentChange {
    /// Keep the first `keep` blocks, then append `blocks`.
    Blocks { keep: usize, blocks: Vec<Block> },
    /// The last block, a code block, grew: keep its first `keep_lines` lines, then append `lines`.
    Code { keep_lines: usize, lines: Vec<CodeLine> },
    /// The last block, a list, grew: keep its first `keep` entries, then append `entries`.
    Entries { keep: usize, entries: Vec<ListItem> },
}

impl DocumentChange {
    /// Whether these blocks have the part that the change keeps: else it was made for other blocks.
    pub fn fits(&self, blocks: &[Block]) -> bool {
        match (self, blocks.last()) {
            (Self::Blocks { keep, .. }, _) => *keep <= blocks.len(),
            (Self::Code { keep_lines, .. }, Some(Block::Code { lines, .. })) => *keep_lines <= lines.len(),
            (Self::Entries { keep, .. }, Some(Block::List { items, .. })) => *keep <= items.len(),
            (Self::Code { .. } | Self::Entries { .. }, _) => false,
        }
    }

    /// Applies the change to the blocks that it was made for. Lines or entries for another kind of block are dropped.
    pub fn apply(self, blocks: &mut Vec<Block>) {
        match (self, blocks.last_mut()) {
            (Self::Blocks { keep, blocks: new }, _) => {
                blocks.truncate(keep);
                blocks.extend(new);
            }
            (Self::Code { keep_lines, lines: new }, Some(Block::Code { lines, .. })) => {
                lines.truncate(keep_lines);
                lines.extend(new);
            }
            (Self::Entries { keep, entries }, Some(Block::List { items, .. })) => {
                items.truncate(keep);
                items.extend(entries);
            }
            (Self::Code { .. } | Self::Entries { .. }, _) => {}
        }
    }
}

/// A growing document.
#[derive(Default)]
pub struct Stream {
    /// The text as received.
    text: String,
    blocks: Vec<Block>,
    /// The normalised source that is not settled yet.
    tail: String,
    normaliser: Normaliser,
    context: OpenContext,
    /// The open fence if the tail is a code block, and how many bytes of the tail it has read.
    fence: Option<(Fence, usize)>,
    /// The tail begins with a fence that only the parser can read.
    fence_is_unclear: bool,
    /// The tail has grown since the last parse.
    unparsed: bool,
    /// The last block of the tail can take more text.
    leaf_is_open: bool,
    /// The text defines links or footnotes.
    definitions: bool,
    /// Tracks which code has colours.
    painting: Painting,
    credit: isize,
    bytes_parsed: usize,
    unsent: Unsent,
    /// Length of the text when the last change was taken, and when a change first contained the current last block, and
    /// the current last entry of a list.
    sent_len: usize,
    last_block_at: usize,
    last_entry_at: usize,
    finished: bool,
}

impl Stream {
    /// Appends text.
    pub fn push(&mut self, delta: &str) {
        if delta.is_empty() {
            return;
        }
        self.finished = false;
        if self.text.is_empty() {
            self.credit += INITIAL_CREDIT;
        }
        self.credit += CREDIT_PER_BYTE * delta.len() as isize;
        self.text.push_str(delta);
        let len = self.tail.len();
        self.tail.push_str(&self.normaliser.piece(delta));
        if self.tail.len() > len {
            self.unparsed = true;
            self.read(len);
        }
    }

    /// The blocks of the text received so far.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The text as received.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The smallest change since the last one was taken; `None` if there is none, or if it is too small to send.
    pub fn take_change(&mut self) -> Option<DocumentChange> {
        let is_same_block = self.blocks.len() == self.unsent.n_taken;
        let is_same_entry = is_same_block && !self.unsent.has_another_entry(&self.blocks);
        if is_same_entry && self.is_too_little() {
            return None;
        }
        if !is_same_block {
            self.last_block_at = self.sent_len;
        }
        if !is_same_entry {
            self.last_entry_at = self.sent_len;
        }
        self.sent_len = self.text.len();
        self.unsent.take(&self.blocks)
    }

    /// Whether the addition is too small to send the last block again. Lines of code are sent separately, and a very
    /// long line counts like a block.
    fn is_too_little(&self) -> bool {
        let added = self.text.len().saturating_sub(self.sent_len);
        let known = match (self.unsent.parts, self.blocks.last()) {
            (Some(_), Some(Block::Code { lines, .. })) => lines.last().map_or(0, length),
            (Some(_), Some(Block::List { .. })) => self.sent_len.saturating_sub(self.last_entry_at),
            (Some(_), _) => 0,
            (None, _) => self.sent_len.saturating_sub(self.last_block_at),
        };
        !self.finished && known > SENT_AT_ONCE && added < known / RESEND_SHARE
    }

    /// Marks the text as complete: the document becomes that of the whole text.
    pub fn finish(&mut self) {
        self.finished = true;
        if self.fence.is_some() {
            // The fence ends with the text; the parser decides how. The colours are reused.
            self.read_fence();
            self.fence = None;
            self.unparsed = true;
        }
        if self.unparsed && !self.definitions {
            self.parse_tail();
        }
        if take(&mut self.definitions) {
            self.parse_whole();
        }
    }

    /// Replaces the text with the complete one, which arrives at the end. Nothing changes if it equals the streamed
    /// text.
    pub fn set_text(&mut self, whole: &str) {
        if let Some(rest) = whole.strip_prefix(self.text.as_str()) {
            self.push(rest);
        } else {
            self.text.clear();
            self.text.push_str(whole);
            self.definitions = false;
            self.credit += INITIAL_CREDIT + CREDIT_PER_BYTE * whole.len() as isize;
            self.parse_whole();
        }
    }

    /// The next code that has no colours yet; `None` if there is no work or a job is in progress.
    pub fn uncoloured(&mut self) -> Option<Uncoloured> {
        let n_whole = self.fence.as_ref().map(|(fence, _)| fence.n_lines);
        let n_settled = self.n_settled();
        self.painting.uncoloured(&self.blocks, n_settled, n_whole)
    }

    /// Applies colours. Returns whether anything changed.
    pub fn colour(&mut self, coloured: Coloured) -> bool {
        let repainted = self.painting.apply(&mut self.blocks, coloured);
        match repainted {
            Some(Repainted { block, line: Some(line) }) => self.unsent.touch_parts(block, line),
            Some(Repainted { block, line: None }) => self.unsent.touch(block),
            None => {}
        }
        repainted.is_some()
    }

    /// The remaining colouring work of the finished document.
    pub fn into_painting(self) -> Painting {
        self.painting
    }

    /// Number of leading blocks that are never parsed again.
    fn n_settled(&self) -> usize {
        if self.finished { self.blocks.len() } else { self.context.n_blocks.saturating_sub(1) }
    }

    /// Bytes parsed so far. Divided by the text's length, this is how often each byte was parsed.
    pub fn bytes_parsed(&self) -> usize {
        self.bytes_parsed
    }

    /// Updates the blocks from the tail. Everything from `from` on is new.
    fn read(&mut self, mut from: usize) {
        loop {
            if self.fence.is_some() {
                match self.read_fence() {
                    Some(unread) => from = unread,
                    None => return,
                }
            }
            if self.append_inert(from) {
                return;
            }
            let cost = self.tail.len() + self.context.context_prefix().len();
            if self.credit < cost as isize {
                return self.append_plain(from);
            }
            if let Some(parsed) = self.parse_tail() {
                self.settle(&parsed);
            }
            if self.fence.is_none() {
                return;
            }
        }
    }

    /// Reads more of the open fence. Returns the offset from which the tail must be parsed, if a parse is needed.
    fn read_fence(&mut self) -> Option<usize> {
        let (fence, at) = self.fence.as_mut()?;
        let code_idx = match self.context.levels.last() {
            Some(level) => level.n_blocks,
            None => self.context.n_blocks,
        };
        let Some(Block::Code { lines, .. }) =
            self.context.innermost(&mut self.blocks).and_then(|blocks| blocks.get_mut(code_idx))
        else {
            self.fence = None;
            return Some(0);
        };
        let n_lines = fence.n_lines;
        let grown = fence.grow(&self.tail, at, lines);
        self.painting.grew();
        let bytes = take(&mut fence.bytes);
        self.bytes_parsed += bytes;
        self.credit -= bytes as isize;
        if self.context.levels.is_empty() {
            self.unsent.touch_parts(code_idx, n_lines);
        } else {
            self.unsent.touch_unsettled(&self.context, self.context.n_blocks.saturating_sub(1));
        }
        self.unparsed = grown != Grown::Open;
        match grown {
            Grown::Open => None,
            Grown::Closed => {
                self.tail.drain(..*at);
                self.fence = None;
                self.context.settle_block();
                self.leaf_is_open = false;
                self.unparsed = !self.tail.is_empty();
                self.unparsed.then_some(0)
            }
            Grown::Unclear => {
                let at = *at;
                self.fence = None;
                self.fence_is_unclear = true;
                Some(at)
            }
        }
    }

    /// Appends text without markup to the text of a paragraph, without a parse. Returns whether that was possible.
    fn append_inert(&mut self, from: usize) -> bool {
        // The checks search the whole tail.
        if from > SENT_AT_ONCE {
            return false;
        }
        let (before, new) = self.tail.split_at(from);
        if !self.leaf_is_open || !new.chars().all(is_inert) || before.contains("]:") {
            return false;
        }
        // A link may lack only its end: `[text](url "title`.
        if new.contains(')') && before.contains("](") {
            return false;
        }
        // The last word must be harmless too: no part of a URL, an entity or markup.
        let line = &before[line_start(before, before.len())..];
        let shown = line.trim_end_matches(' ');
        let word = &shown[shown.rfind(' ').map_or(0, |at| at + 1)..];
        if word.is_empty() || !word.chars().all(is_inert) || !line.contains(char::is_alphabetic) {
            return false;
        }
        let Some(text) = last_text(&mut self.blocks) else { return false };
        if !text.ends_with(word) {
            return false;
        }
        text.push_str(self.tail[from - (line.len() - shown.len())..].trim_end_matches(' '));
        self.unsent.touch_unsettled(&self.context, self.blocks.len() - 1);
        true
    }

    /// Shows text that was not parsed yet as plain text.
    fn append_plain(&mut self, from: usize) {
        if !self.leaf_is_open && self.blocks.len() <= self.context.n_blocks {
            self.blocks.push(Block::Paragraph { spans: Vec::new() });
        }
        append_text(&mut self.blocks, &self.tail[from..]);
        self.unsent.touch_unsettled(&self.context, self.blocks.len() - 1);
    }

    /// Parses the text from its beginning.
    fn parse_whole(&mut self) {
        self.normaliser = Normaliser::default();
        self.tail = self.normaliser.piece(&self.text).into_owned();
        self.context = OpenContext::default();
        self.fence = None;
        self.fence_is_unclear = false;
        self.parse_tail();
    }

    /// Parses the unsettled text without settling anything. `None` if it parsed the whole text.
    fn parse_tail(&mut self) -> Option<ParsedTail> {
        let old = UnsettledBlocks::detach(&mut self.blocks, &self.context);
        self.skip_blank_lines();
        let prefix = self.context.context_prefix();
        let source = prefix.clone() + &self.tail;
        let mut highlights = Highlights::default();
        old.blocks().for_each(|blocks| highlights.know(blocks));
        let Parsed { blocks, path, definitions } = parse(&source, &mut highlights);
        let (n_known, carried) = (highlights.n_known(), highlights.carried);
        let cost = source.len();
        self.bytes_parsed += cost;
        self.credit -= cost as isize;
        self.definitions |= definitions;
        self.unparsed = false;

        let Some(new) = UnsettledBlocks::of(blocks, &self.context) else {
            debug_assert!(false, "the prefix was not read as lists: {source:?}");
            old.attach(&mut self.blocks);
            self.parse_whole();
            return None;
        };
        self.painting.replace(n_known, &carried, self.context.n_blocks.saturating_sub(1));
        if let Some(keep) = new.n_kept(&old, self.context.n_blocks) {
            self.unsent.touch_unsettled(&self.context, keep);
        }
        new.attach(&mut self.blocks);
        self.leaf_is_open = false;
        Some(ParsedTail { source, prefix_len: prefix.len(), path })
    }

    /// Drops blank lines before the tail. They have no meaning, except that they end a table.
    fn skip_blank_lines(&mut self) {
        let mut len = 0;
        while let Some(line) = self.tail[len..].find('\n')
            && self.tail[len..len + line].trim_matches([' ', '\t']).is_empty()
        {
            len += line + 1;
        }
        if len > 0 {
            self.tail.drain(..len);
            self.context.table = None;
        }
    }

    /// Settles what no further line can change.
    fn settle(&mut self, parsed: &ParsedTail) {
        let ParsedTail { source, prefix_len, path } = parsed;
        let (source, prefix_len) = (source.as_str(), *prefix_len);
        let leaf = path.last().filter(|leaf| leaf.start >= prefix_len);
        self.leaf_is_open =
            leaf.is_some_and(|leaf| matches!(leaf.kind, NodeKind::Paragraph | NodeKind::Heading));
        let split = SplitPoints { source, prefix_len, path, blocks: &self.blocks }.last();
        let Some(SplitPoint { at, context, leaf_is_settled }) = split else { return };
        if at > prefix_len {
            self.tail.drain(..at - prefix_len);
            self.fence_is_unclear = false;
        }
        self.context = context;
        self.leaf_is_open &= !leaf_is_settled;

        if let Some(Node { kind: NodeKind::Fence, start }) = leaf
            && line_start(source, *start) == at
            && !self.fence_is_unclear
        {
            self.open_fence();
        }
    }

    fn open_fence(&mut self) {
        let indent = self.context.indent();
        let Some(Block::Code { lines, .. }) =
            self.context.innermost(&mut self.blocks).and_then(|blocks| blocks.last_mut())
        else {
            return;
        };
        self.fence = Fence::open(&self.tail, indent);
        if self.fence.is_some() {
            lines.clear();
            self.painting.begin_last();
            self.unparsed = true;
        }
    }
}

/// The tail as it was parsed.
struct ParsedTail {
    /// The source, which begins with the prefix of `prefix_len` bytes.
    source: String,
    prefix_len: usize,
    path: Vec<Node>,
}

fn length(line: &CodeLine) -> usize {
    line.tokens.iter().map(|token| token.text.len()).sum()
}

/// Whether the character has no meaning in Markdown except at the beginning of a line. A colon has one only before
/// slashes, an exclamation mark only before `[`.
fn is_inert(c: char) -> bool {
    match c {
        ' ' | ',' | '.' | ';' | ':' | '?' | '!' | '\'' | '"' | '-' | '+' | '%' | '=' | '(' | ')' => true,
        c if c.is_ascii() => c.is_ascii_alphanumeric(),
        c => !c.is_whitespace() && !c.is_control(),
    }
}

/// The text at the end of the last block, if that block ends with text.
fn last_text(blocks: &mut [Block]) -> Option<&mut String> {
    match blocks.last_mut()? {
        Block::Paragraph { spans } | Block::Heading { spans, .. } => match spans.last_mut()? {
            Span::Text { text } => Some(text),
            _ => None,
        },
        Block::Quote { blocks } | Block::Footnote { blocks, .. } => last_text(blocks),
        Block::List { items, .. } => last_text(&mut items.last_mut()?.blocks),
        Block::Code { .. } | Block::Table { .. } | Block::Rule => None,
    }
}

fn append_text(blocks: &mut Vec<Block>, more: &str) {
    match blocks.last_mut() {
        Some(Block::Paragraph { spans } | Block::Heading { spans, .. }) => match spans.last_mut() {
            Some(Span::Text { text }) => text.push_str(more),
            _ => spans.push(Span::Text { text: more.to_owned() }),
        },
        Some(Block::Quote { blocks } | Block::Footnote { blocks, .. }) => append_text(blocks, more),
        Some(Block::List { items, .. }) if !items.is_empty() => {
            if let Some(item) = items.last_mut() {
                append_text(&mut item.blocks, more);
            }
        }
        _ => blocks.push(Block::Paragraph { spans: vec![Span::Text { text: more.to_owned() }] }),
    }
}

/// Tracks which blocks have not changed since the last change was taken.
#[derive(Default)]
struct Unsent {
    /// Number of blocks at that time.
    n_taken: usize,
    /// Number of leading blocks that are unchanged.
    n_kept: usize,
    /// Set if the last block was a code block or a list, and only its lines or its entries changed: their number at that
    /// time, and how many leading ones are unchanged.
    parts: Option<(usize, usize)>,
}

/// The number of lines of a code block, or of entries of a list.
fn n_parts_of(block: &Block) -> Option<usize> {
    match block {
        Block::Code { lines, .. } => Some(lines.len()),
        Block::List { items, .. } => Some(items.len()),
        _ => None,
    }
}

impl Unsent {
    /// Whether the last block is a list with another number of entries than at that time.
    fn has_another_entry(&self, blocks: &[Block]) -> bool {
        match (self.parts, blocks.last()) {
            (Some((n_taken, _)), Some(Block::List { items, .. })) => items.len() != n_taken,
            _ => false,
        }
    }

    /// The block at `idx` and all later ones may have changed.
    fn touch(&mut self, idx: usize) {
        if idx < self.n_taken {
            self.parts = None;
        }
        self.n_kept = self.n_kept.min(idx);
    }

    /// All lines of the code block at `idx`, or entries of the list there, except the first `n_kept` may have changed.
    fn touch_parts(&mut self, idx: usize, n_kept: usize) {
        match &mut self.parts {
            Some((_, kept)) if idx + 1 == self.n_taken => {
                *kept = n_kept.min(*kept);
                self.n_kept = self.n_kept.min(idx);
            }
            _ => self.touch(idx),
        }
    }

    /// The block at `idx` and all later ones may have changed. In an open list these can be only the last settled entry and
    /// those after it.
    fn touch_unsettled(&mut self, context: &OpenContext, idx: usize) {
        match context.levels.first() {
            Some(list) if idx + 1 == context.n_blocks => {
                self.touch_parts(idx, list.n_items.saturating_sub(1));
            }
            _ => self.touch(idx),
        }
    }

    fn take(&mut self, blocks: &[Block]) -> Option<DocumentChange> {
        let mut keep = self.n_kept;
        let mut change = None;
        if let (Some((n_parts, n_kept)), Some(block)) = (self.parts, blocks.get(keep))
            && keep + 1 == self.n_taken
        {
            if n_kept == n_parts && n_parts_of(block) == Some(n_parts) {
                keep += 1;
            } else if blocks.len() == self.n_taken {
                change = match block {
                    Block::Code { lines, .. } => {
                        Some(DocumentChange::Code { keep_lines: n_kept, lines: lines[n_kept..].to_vec() })
                    }
                    Block::List { items, .. } => {
                        let entries = items.get(n_kept..).unwrap_or_default().to_vec();
                        Some(DocumentChange::Entries { keep: n_kept, entries })
                    }
                    _ => None,
                };
            }
        }
        if change.is_none() && (keep < blocks.len() || keep < self.n_taken) {
            change = Some(DocumentChange::Blocks { keep, blocks: blocks[keep..].to_vec() });
        }
        self.n_taken = blocks.len();
        self.n_kept = blocks.len();
        self.parts = blocks.last().and_then(n_parts_of).map(|n| (n, n));
        change
    }
}
