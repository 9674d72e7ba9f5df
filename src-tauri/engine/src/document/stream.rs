//! A document that arrives in pieces.
//!
//! Only its end is parsed again, and only so often that the work stays in proportion to the text: what comes
//! faster than that is shown as plain text until the next parse. However a text is cut into pieces, the finished
//! document is that of [`markdown`](super::markdown()).
//!
//! A block is settled, and never parsed again, once no further line can change it. Markdown's blocks are read
//! line by line and only the innermost open ones can still change, so everything before the last block is
//! settled, and everything before the last item of a list, and before the last row of a table. Definitions of
//! links and footnotes are the exception, since they reach back: a text that has any is parsed once more, whole,
//! when it is finished.

mod fence;
mod seam;
mod spine;
#[cfg(test)]
mod tests;

use std::mem::take;

use self::fence::{Fence, Grown, Unfinished};
use self::seam::{Seam, Seams, line_start};
use self::spine::{Fragment, Spine};
use super::highlight::Highlights;
use super::markdown::{Node, NodeKind, Parsed, parse};
use super::source::Normaliser;
use crate::api::{Block, CodeLine, Span};

/// Bytes that may be parsed for each byte received before the text is finished, and to begin with.
const CREDIT_PER_BYTE: isize = 3;
const INITIAL_CREDIT: isize = 2048;

/// Text that only makes a paragraph longer is looked for in a tail of this size: the whole tail is looked through.
const INERT_WITHIN: usize = 16 * 1024;

/// A change has the whole of the last block. One that is longer than this is told anew only when it has grown by a share
/// of what was told, so that what is told of it stays in proportion to the text.
const TOLD_AT_ONCE: usize = 16 * 1024;
const TOLD_SHARE: usize = 64;

/// What changed since the last change was taken.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Keep the first `keep` blocks, then come `blocks`.
    Blocks { keep: usize, blocks: Vec<Block> },
    /// The last block, a code block, grew: keep its first `keep_lines` lines, then come `lines`.
    Code { keep_lines: usize, lines: Vec<CodeLine> },
}

/// A growing document.
#[derive(Default)]
pub struct Stream {
    /// As it came.
    text: String,
    blocks: Vec<Block>,
    /// The source that is not settled, and what is settled before it.
    tail: String,
    normaliser: Normaliser,
    spine: Spine,
    /// The tail is a code block: its state, and how far the tail was read.
    fence: Option<(Fence, usize)>,
    /// The tail begins with a fence that has to be left to the parser.
    fence_is_unclear: bool,
    /// The tail grew since it was parsed.
    unparsed: bool,
    /// The last block of the tail is one that text can be added to.
    leaf_is_open: bool,
    /// Some part of the text defines links or footnotes.
    definitions: bool,
    credit: isize,
    bytes_parsed: usize,
    unsent: Unsent,
    /// How much of the text there was when a change was last taken, and when one first had the last block.
    told: usize,
    last_block_at: usize,
    finished: bool,
}

impl Stream {
    /// Adds to the text.
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

    /// The document as far as it is known.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The text as it came.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The smallest change since the last one was taken; `None` if there is none, or too little of it.
    pub fn take_change(&mut self) -> Option<Change> {
        let is_same_block = self.blocks.len() == self.unsent.n_taken;
        if is_same_block && self.is_too_little() {
            return None;
        }
        if !is_same_block {
            self.last_block_at = self.told;
        }
        self.told = self.text.len();
        self.unsent.take(&self.blocks)
    }

    /// Is what was added to the last block not worth telling all of it again? Lines of code are told by themselves.
    fn is_too_little(&self) -> bool {
        let known = self.told.saturating_sub(self.last_block_at);
        let added = self.text.len().saturating_sub(self.told);
        let has_lines = self.unsent.lines.is_some();
        !self.finished && !has_lines && known > TOLD_AT_ONCE && added < known / TOLD_SHARE
    }

    /// The text is complete: the document becomes that of the whole text.
    pub fn finish(&mut self) {
        self.finished = true;
        if self.fence.is_some() {
            // It ends with the text: how exactly is left to the parser, which takes over the colours.
            self.read_fence(Unfinished::Last);
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

    /// Replaces the text by the whole of it, as it comes at the end. Nothing changes if it is what was streamed.
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

    /// How much was parsed and highlighted so far; over the bytes of the text it tells how often each was.
    pub fn bytes_parsed(&self) -> usize {
        self.bytes_parsed
    }

    /// Brings the blocks up to date with the tail, of which everything from `from` is new.
    fn read(&mut self, mut from: usize) {
        loop {
            if self.fence.is_some() {
                let unfinished = if self.credit > 0 { Unfinished::Coloured } else { Unfinished::Plain };
                match self.read_fence(unfinished) {
                    Some(unread) => from = unread,
                    None => return,
                }
            }
            if self.append_inert(from) {
                return;
            }
            let cost = self.tail.len() + self.spine.lead().len();
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

    /// Reads on in the open fence. Returns from where the tail has to be parsed, if it has to be.
    fn read_fence(&mut self, unfinished: Unfinished) -> Option<usize> {
        let (fence, at) = self.fence.as_mut()?;
        let code_idx = match self.spine.levels.last() {
            Some(level) => level.n_blocks,
            None => self.spine.n_blocks,
        };
        let Some(Block::Code { lines, .. }) =
            self.spine.innermost(&mut self.blocks).and_then(|blocks| blocks.get_mut(code_idx))
        else {
            self.fence = None;
            return Some(0);
        };
        let n_lines = fence.n_lines;
        let grown = fence.grow(&self.tail, at, lines, unfinished);
        let bytes = take(&mut fence.bytes);
        self.bytes_parsed += bytes;
        self.credit -= bytes as isize;
        if self.spine.levels.is_empty() {
            self.unsent.touch_lines(code_idx, n_lines);
        } else {
            self.unsent.touch(self.spine.n_blocks.saturating_sub(1));
        }
        self.unparsed = grown != Grown::Open;
        match grown {
            Grown::Open => None,
            Grown::Closed => {
                self.tail.drain(..*at);
                self.fence = None;
                self.spine.settle_block();
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

    /// Text without any marks, at the end of a paragraph's text, only makes that text longer.
    fn append_inert(&mut self, from: usize) -> bool {
        if from > INERT_WITHIN {
            return false;
        }
        let (before, new) = self.tail.split_at(from);
        if !self.leaf_is_open || !new.chars().all(is_inert) || before.contains("]:") {
            return false;
        }
        // A link may only lack its end: `[text](url "title`.
        if new.contains(')') && before.contains("](") {
            return false;
        }
        // The last word must be harmless as well: no part of a URL, an entity or a mark.
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
        self.unsent.touch(self.blocks.len() - 1);
        true
    }

    /// Shows text that was not parsed yet, as it is.
    fn append_plain(&mut self, from: usize) {
        if !self.leaf_is_open && self.blocks.len() <= self.spine.n_blocks {
            self.blocks.push(Block::Paragraph { spans: Vec::new() });
        }
        append_text(&mut self.blocks, &self.tail[from..]);
        self.unsent.touch(self.blocks.len() - 1);
    }

    /// Parses the text from its beginning.
    fn parse_whole(&mut self) {
        self.normaliser = Normaliser::default();
        self.tail = self.normaliser.piece(&self.text).into_owned();
        self.spine = Spine::default();
        self.fence = None;
        self.fence_is_unclear = false;
        self.parse_tail();
    }

    /// Parses what is not settled, and settles nothing. `None` if it took the whole text.
    fn parse_tail(&mut self) -> Option<ParsedTail> {
        let old = Fragment::detach(&mut self.blocks, &self.spine);
        self.skip_blank_lines();
        let lead = self.spine.lead();
        let source = lead.clone() + &self.tail;
        let mut highlights = Highlights::default();
        old.blocks().for_each(|blocks| highlights.know(blocks));
        let Parsed { blocks, path, definitions } = parse(&source, &mut highlights);
        let cost = source.len() + highlights.bytes;
        self.bytes_parsed += cost;
        self.credit -= cost as isize;
        self.definitions |= definitions;
        self.unparsed = false;

        let Some(new) = Fragment::of(blocks, &self.spine) else {
            debug_assert!(false, "the lead was not read as lists: {source:?}");
            old.attach(&mut self.blocks);
            self.parse_whole();
            return None;
        };
        if let Some(keep) = new.n_kept(&old, self.spine.n_blocks) {
            self.unsent.touch(keep);
        }
        new.attach(&mut self.blocks);
        self.leaf_is_open = false;
        Some(ParsedTail { source, lead_len: lead.len(), path })
    }

    /// Blank lines before the tail mean nothing, except that they end a table.
    fn skip_blank_lines(&mut self) {
        let mut len = 0;
        while let Some(line) = self.tail[len..].find('\n')
            && self.tail[len..len + line].trim_matches([' ', '\t']).is_empty()
        {
            len += line + 1;
        }
        if len > 0 {
            self.tail.drain(..len);
            self.spine.table = None;
        }
    }

    /// Settles what no further line can change.
    fn settle(&mut self, parsed: &ParsedTail) {
        let ParsedTail { source, lead_len, path } = parsed;
        let (source, lead_len) = (source.as_str(), *lead_len);
        let leaf = path.last().filter(|leaf| leaf.start >= lead_len);
        self.leaf_is_open =
            leaf.is_some_and(|leaf| matches!(leaf.kind, NodeKind::Paragraph | NodeKind::Heading));
        let seam = Seams { source, lead_len, path, blocks: &self.blocks }.last();
        let Some(Seam { at, spine, leaf_is_settled }) = seam else { return };
        if at > lead_len {
            self.tail.drain(..at - lead_len);
            self.fence_is_unclear = false;
        }
        self.spine = spine;
        self.leaf_is_open &= !leaf_is_settled;

        if let Some(Node { kind: NodeKind::Fence, start }) = leaf
            && line_start(source, *start) == at
            && !self.fence_is_unclear
        {
            self.open_fence();
        }
    }

    fn open_fence(&mut self) {
        let indent = self.spine.indent();
        let Some(Block::Code { language, lines }) =
            self.spine.innermost(&mut self.blocks).and_then(|blocks| blocks.last_mut())
        else {
            return;
        };
        self.fence = Fence::open(&self.tail, indent, language.as_deref());
        if self.fence.is_some() {
            lines.clear();
            self.unparsed = true;
        }
    }
}

/// The tail as it was parsed.
struct ParsedTail {
    /// Behind its lead of `lead_len` bytes.
    source: String,
    lead_len: usize,
    path: Vec<Node>,
}

/// Means nothing to Markdown where it does not begin a line. A colon does only before slashes, a bang before `[`.
fn is_inert(c: char) -> bool {
    match c {
        ' ' | ',' | '.' | ';' | ':' | '?' | '!' | '\'' | '"' | '-' | '+' | '%' | '=' | '(' | ')' => true,
        c if c.is_ascii() => c.is_ascii_alphanumeric(),
        c => !c.is_whitespace() && !c.is_control(),
    }
}

/// The text at the end of the last block, if that ends in text.
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

/// What of the blocks is as it was when a change was last taken.
#[derive(Default)]
struct Unsent {
    /// Blocks there were.
    n_taken: usize,
    /// Of them, how many are as they were.
    n_kept: usize,
    /// The last of them was a code block, and nothing changed in it but its lines: how many there were, and how
    /// many of them are as they were.
    lines: Option<(usize, usize)>,
}

impl Unsent {
    /// The block at `idx`, and those behind it, may have changed.
    fn touch(&mut self, idx: usize) {
        if idx < self.n_taken {
            self.lines = None;
        }
        self.n_kept = self.n_kept.min(idx);
    }

    /// Of the code block at `idx` all lines but the first `n_kept` may have changed.
    fn touch_lines(&mut self, idx: usize, n_kept: usize) {
        match &mut self.lines {
            Some((_, kept)) if idx + 1 == self.n_taken => {
                *kept = n_kept.min(*kept);
                self.n_kept = self.n_kept.min(idx);
            }
            _ => self.touch(idx),
        }
    }

    fn take(&mut self, blocks: &[Block]) -> Option<Change> {
        let mut keep = self.n_kept;
        let mut change = None;
        if let (Some((n_lines, n_kept)), Some(Block::Code { lines, .. })) = (self.lines, blocks.get(keep))
            && keep + 1 == self.n_taken
        {
            if n_kept == n_lines && lines.len() == n_lines {
                keep += 1;
            } else if blocks.len() == self.n_taken {
                change = Some(Change::Code { keep_lines: n_kept, lines: lines[n_kept..].to_vec() });
            }
        }
        if change.is_none() && (keep < blocks.len() || keep < self.n_taken) {
            change = Some(Change::Blocks { keep, blocks: blocks[keep..].to_vec() });
        }
        self.n_taken = blocks.len();
        self.n_kept = blocks.len();
        self.lines = match blocks.last() {
            Some(Block::Code { lines, .. }) => Some((lines.len(), lines.len())),
            _ => None,
        };
        change
    }
}
