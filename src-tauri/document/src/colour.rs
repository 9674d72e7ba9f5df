//! Syntax colours that arrive after the text.
//!
//! A new document is plain. [`Painting`] tracks which of its code has no colours yet and creates [`Uncoloured`] jobs of
//! bounded size. A job can run anywhere; [`Painting::apply`] writes the result into the document. A job depends only on
//! the text, so the colours do not depend on when they arrive. Code that changed in the meantime goes into a new job.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use cpu_time::ThreadTime;

use super::highlight::{Carried, Highlighter, UNFINISHED_BYTES, is_text_of, with_rest};
use deskbell_api::{Block, CodeLine};

/// Maximum bytes of code in one job, so that many sessions take turns.
const JOB_BYTES: usize = 32 * 1024;
/// Processor time of one job. The rest goes into the next job.
const JOB_TIME: Duration = Duration::from_millis(250);

/// A job: code of a document that has no colours yet.
#[derive(Debug)]
pub struct Uncoloured {
    pieces: Vec<Piece>,
}

/// The result of a job: the same code with colours.
#[derive(Debug)]
pub struct Coloured {
    pieces: Vec<Piece>,
}

/// Some lines of a code block.
#[derive(Debug)]
struct Piece {
    id: u64,
    language: String,
    /// The state after the lines before these.
    highlighter: Option<Highlighter>,
    lines: Vec<String>,
    /// The last line, if it is not complete yet.
    unfinished: Option<String>,
    coloured: Vec<CodeLine>,
    coloured_unfinished: Option<CodeLine>,
}

impl Uncoloured {
    /// Runs the job, for at most 250 ms.
    pub fn colour(mut self) -> Coloured {
        let started_at = ThreadTime::now();
        for piece in &mut self.pieces {
            let highlighter =
                piece.highlighter.get_or_insert_with(|| Highlighter::new(Some(&piece.language)));
            for line in &piece.lines {
                if started_at.elapsed() > JOB_TIME {
                    return Coloured { pieces: self.pieces };
                }
                piece.coloured.push(highlighter.line(line));
            }
            piece.coloured_unfinished =
                piece.unfinished.as_deref().map(|line| highlighter.unfinished_line(line));
        }
        Coloured { pieces: self.pieces }
    }

    /// The size of the code in bytes.
    pub fn n_bytes(&self) -> usize {
        let lines = self.pieces.iter().flat_map(|piece| piece.lines.iter().chain(&piece.unfinished));
        lines.map(String::len).sum()
    }

    /// The result for a job that failed: all its code stays plain.
    pub fn failed(&self) -> Coloured {
        let plain = |piece: &Piece| Piece {
            id: piece.id,
            language: piece.language.clone(),
            highlighter: Some(Highlighter::plain()),
            lines: Vec::new(),
            unfinished: None,
            coloured: Vec::new(),
            coloured_unfinished: None,
        };
        Coloured { pieces: self.pieces.iter().map(plain).collect() }
    }
}

/// Tracks which code of a document has colours.
#[derive(Debug, Default)]
pub struct Painting {
    /// One entry per code block, in document order.
    blocks: Vec<Paint>,
    /// Index of the first block that is not settled and fully coloured, and the number of code blocks before it.
    done: (usize, usize),
    /// Whether there may be code without colours.
    is_open: bool,
}

#[derive(Debug, Default)]
struct Paint {
    /// Number of lines that have colours.
    n_lines: usize,
    /// The state after these lines.
    highlighter: Option<Highlighter>,
    /// Length in bytes of the unfinished line when it was coloured.
    unfinished: usize,
    /// Id of the piece that is being coloured.
    waits_for: Option<u64>,
}

/// What a result changed: the first changed block of the document and, if that block is code, its first changed line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repainted {
    pub block: usize,
    pub line: Option<usize>,
}

impl Painting {
    /// Starts with a plain document.
    pub fn of(blocks: &[Block]) -> Self {
        let mut n_blocks = 0;
        count(blocks, &mut n_blocks);
        let paints = std::iter::repeat_with(Paint::default).take(n_blocks).collect();
        Self { blocks: paints, done: (0, 0), is_open: n_blocks > 0 }
    }

    /// Whether no code is left to colour and no job is in progress.
    pub fn is_complete(&self) -> bool {
        !self.is_open && self.blocks.iter().skip(self.done.1).all(|paint| paint.waits_for.is_none())
    }

    /// Replaces the entries of the last `n_old` code blocks. The first `n_settled` blocks of the document are final.
    pub(super) fn replace(&mut self, n_old: usize, new: &[Carried], n_settled: usize) {
        let first = self.blocks.len().saturating_sub(n_old);
        let mut old: Vec<Option<Paint>> = self.blocks.split_off(first).into_iter().map(Some).collect();
        self.blocks.extend(new.iter().map(|carried| {
            let paint = carried.and_then(|(at, n_lines)| Some((old.get_mut(at)?.take()?, n_lines)));
            match paint {
                Some((paint, n_lines)) if paint.n_lines <= n_lines => paint,
                _ => Paint::default(),
            }
        }));
        if self.done.0 > n_settled || self.done.1 > first {
            self.done = (0, 0);
        }
        self.is_open |= !new.is_empty();
    }

    /// Restarts the last code block.
    pub(super) fn begin_last(&mut self) {
        if let Some(last) = self.blocks.last_mut() {
            *last = Paint::default();
        }
        self.is_open = true;
    }

    pub(super) fn grew(&mut self) {
        self.is_open = true;
    }

    /// The next job; `None` if there is no work or a job is in progress. The first `n_settled` blocks of the document
    /// are final. `n_whole` is the number of complete lines of the last code block while it is still being written.
    pub fn uncoloured(
        &mut self,
        blocks: &[Block],
        n_settled: usize,
        n_whole: Option<usize>,
    ) -> Option<Uncoloured> {
        if !self.is_open || self.blocks.iter().skip(self.done.1).any(|paint| paint.waits_for.is_some()) {
            return None;
        }
        let mut job = Uncoloured { pieces: Vec::new() };
        let mut room = JOB_BYTES;
        let n_blocks = self.blocks.len();
        let (first, mut nr) = self.done;
        let mut all_done = true;
        for (at, block) in blocks.iter().enumerate().skip(first) {
            let paints = &mut self.blocks;
            let is_whole = each_code(block, &mut |language, lines| {
                let Some(paint) = paints.get_mut(nr) else { return false };
                nr += 1;
                let n_whole = n_whole.filter(|_| nr == n_blocks).unwrap_or(lines.len());
                let is_done = paint.ask(language, lines, n_whole.min(lines.len()), &mut room, &mut job);
                is_done || room > 0
            });
            let is_done = job.pieces.is_empty() && is_whole;
            all_done &= is_done;
            if all_done && at + 1 < blocks.len().min(n_settled) {
                self.done = (at + 1, nr);
            }
            if !is_whole {
                break;
            }
        }
        if job.pieces.is_empty() {
            self.is_open = false;
            return None;
        }
        Some(job)
    }

    /// Writes colours into the document. Returns what changed.
    pub fn apply(&mut self, blocks: &mut [Block], coloured: Coloured) -> Option<Repainted> {
        let mut repainted: Option<Repainted> = None;
        for mut piece in coloured.pieces {
            let (first, mut nr) = self.done;
            let Some(wanted) = self.blocks.iter().position(|paint| paint.waits_for == Some(piece.id)) else {
                continue;
            };
            let paint = &mut self.blocks[wanted];
            paint.waits_for = None;
            paint.unfinished = piece.unfinished.as_ref().map_or(0, String::len);
            for (at, block) in blocks.iter_mut().enumerate().skip(first) {
                let is_code = matches!(block, Block::Code { .. });
                let mut line = None;
                each_code_mut(block, &mut |lines| {
                    let is_wanted = nr == wanted;
                    nr += 1;
                    if is_wanted {
                        line = paint.put(lines, &mut piece);
                    }
                    !is_wanted
                });
                if let Some(line) = line {
                    let line = Some(line).filter(|_| is_code);
                    repainted = Some(match repainted {
                        Some(known) if known.block < at => Repainted { block: known.block, line: None },
                        _ => Repainted { block: at, line },
                    });
                }
                if nr > wanted {
                    break;
                }
            }
        }
        self.is_open = true;
        repainted
    }
}

impl Paint {
    /// Adds the lines without colours to the job. Returns `true` if there are none.
    fn ask(
        &mut self,
        language: Option<&str>,
        lines: &[CodeLine],
        n_whole: usize,
        room: &mut usize,
        job: &mut Uncoloured,
    ) -> bool {
        let is_plain = self.highlighter.as_ref().is_some_and(Highlighter::is_plain);
        let Some(language) = language.filter(|_| !is_plain) else {
            self.n_lines = n_whole;
            return true;
        };
        let mut asked = Vec::new();
        for line in lines.get(self.n_lines..n_whole).unwrap_or_default() {
            if *room == 0 {
                break;
            }
            let text = text_of(line);
            *room = room.saturating_sub(text.len() + 1);
            asked.push(text);
        }
        let reaches_end = self.n_lines + asked.len() >= n_whole;
        let unfinished = lines.get(n_whole).filter(|_| reaches_end).map(text_of).filter(|text| {
            !text.is_empty()
                && text.len() <= UNFINISHED_BYTES
                && (!asked.is_empty() || text.len() >= 2 * self.unfinished)
        });
        if asked.is_empty() && unfinished.is_none() {
            return true;
        }
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        self.waits_for = Some(id);
        job.pieces.push(Piece {
            id,
            language: language.to_owned(),
            highlighter: self.highlighter.clone(),
            lines: asked,
            unfinished,
            coloured: Vec::new(),
            coloured_unfinished: None,
        });
        false
    }

    /// Writes the colours into the lines and stops at a line whose text changed. Returns the first line that changed.
    fn put(&mut self, lines: &mut [CodeLine], piece: &mut Piece) -> Option<usize> {
        let first = self.n_lines;
        let mut changed = None;
        let n_coloured = piece.coloured.len();
        for (nr, coloured) in piece.coloured.drain(..).enumerate() {
            let line = lines.get_mut(first + nr)?;
            if !is_text_of(&coloured, &text_of(line)) {
                return changed;
            }
            if *line != coloured {
                changed = changed.or(Some(first + nr));
                *line = coloured;
            }
        }
        self.n_lines += n_coloured;
        self.highlighter = piece.highlighter.take();
        if let Some(coloured) = piece.coloured_unfinished.take()
            && let Some(line) = lines.get_mut(first + n_coloured)
            && let Some(grown) = with_rest(&coloured, &text_of(line))
            && grown != *line
        {
            changed = changed.or(Some(first + n_coloured));
            *line = grown;
        }
        changed
    }
}

fn text_of(line: &CodeLine) -> String {
    line.tokens.iter().map(|token| token.text.as_str()).collect()
}

fn count(blocks: &[Block], n: &mut usize) {
    for block in blocks {
        each_code(block, &mut |_, _| {
            *n += 1;
            true
        });
    }
}

/// Visits the code in a block, in document order, until `look` returns false. Recursion is bounded by the depth of
/// documents.
fn each_code(block: &Block, look: &mut dyn FnMut(Option<&str>, &[CodeLine]) -> bool) -> bool {
    match block {
        Block::Code { language, lines } => look(language.as_deref(), lines),
        Block::Quote { blocks } | Block::Footnote { blocks, .. } => {
            blocks.iter().all(|block| each_code(block, look))
        }
        Block::List { items, .. } => {
            items.iter().all(|item| item.blocks.iter().all(|block| each_code(block, look)))
        }
        Block::Paragraph { .. } | Block::Heading { .. } | Block::Table { .. } | Block::Rule => true,
    }
}

fn each_code_mut(block: &mut Block, look: &mut dyn FnMut(&mut [CodeLine]) -> bool) -> bool {
    match block {
        Block::Code { lines, .. } => look(lines),
        Block::Quote { blocks } | Block::Footnote { blocks, .. } => {
            blocks.iter_mut().all(|block| each_code_mut(block, look))
        }
        Block::List { items, .. } => {
            items.iter_mut().all(|item| item.blocks.iter_mut().all(|block| each_code_mut(block, look)))
        }
        Block::Paragraph { .. } | Block::Heading { .. } | Block::Table { .. } | Block::Rule => true,
    }
}

/// Colours a whole document immediately, for callers that have time.
pub fn colour_all(blocks: &mut [Block]) {
    let mut painting = Painting::of(blocks);
    while let Some(job) = painting.uncoloured(blocks, blocks.len(), None) {
        painting.apply(blocks, job.colour());
    }
}
