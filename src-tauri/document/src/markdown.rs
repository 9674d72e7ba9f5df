//! Markdown to blocks: CommonMark with tables, task lists, strikethrough, footnotes and bare URLs.
//!
//! Built without recursion from the parser's events, up to a bounded depth. Content that is nested deeper keeps its
//! text and loses its container. In addition to the blocks, a parse reports where the last of them begin, so that a
//! stream can parse only its end (see [`super::stream`]).

use std::ops::Range;

use pulldown_cmark::{Alignment, CodeBlockKind, Event, LinkType, Options, Parser, Tag, TagEnd};

use super::file::{Named, Room};
use super::highlight::Highlights;
use super::link::{self, Target};
use super::source::normalise;
use deskbell_api::{Align, Block, Cell, ListItem, Span};

/// Maximum nesting of containers and spans; a list and its item count as one each. Each level costs two levels of JSON:
/// a document stays below the 128 levels at which serde_json and similar parsers stop.
const BLOCK_DEPTH: usize = 40;
const SPAN_DEPTH: usize = 10;

/// Parses a whole Markdown text.
pub fn markdown(text: &str) -> Vec<Block> {
    parse(&normalise(text), &mut Highlights::default()).blocks
}

/// The result of a parse.
#[derive(Debug)]
pub(super) struct Parsed {
    pub blocks: Vec<Block>,
    /// The last block, the last block within it, and so on.
    pub path: Vec<Node>,
    /// Whether the text defines link references or footnotes, which other parts of the document may use.
    pub definitions: bool,
}

/// A block on the path to the end of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub kind: NodeKind,
    /// Byte offset in the source where it begins.
    pub start: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeKind {
    Paragraph,
    Heading,
    Rule,
    Fence,
    Table,
    Row,
    Quote,
    List,
    Item,
    /// Any other single block.
    Other,
    /// A container that is nested too deeply and gets no block of its own.
    Flattened,
}

/// Parses a text that [`normalise`] has processed.
pub(super) fn parse(source: &str, highlights: &mut Highlights<'_>) -> Parsed {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_FOOTNOTES;
    let events = Parser::new_ext(source, options).into_offset_iter();
    let mut builder = Builder {
        highlights,
        frames: vec![Frame::Blocks { kind: Container::Document, blocks: Vec::new() }],
        n_flattened: 0,
        leaf: None,
        spans: Vec::new(),
        n_flattened_spans: 0,
        files: Room::default(),
        path: Vec::new(),
        definitions: events.reference_definitions().iter().next().is_some(),
    };
    for (event, range) in events {
        builder.event(event, range);
    }
    builder.close_leaf();
    let blocks = match builder.frames.pop() {
        Some(Frame::Blocks { blocks, .. }) => blocks,
        _ => Vec::new(),
    };
    Parsed { blocks, path: builder.path, definitions: builder.definitions }
}

struct Builder<'h, 'k> {
    highlights: &'h mut Highlights<'k>,
    /// The open containers, outermost (the document) first.
    frames: Vec<Frame>,
    /// Number of open containers beyond `BLOCK_DEPTH`; their content goes into the innermost frame.
    n_flattened: usize,
    /// The open block that contains no blocks, and its open spans.
    leaf: Option<Leaf>,
    spans: Vec<OpenSpan>,
    n_flattened_spans: usize,
    /// The files that the open leaf may still name.
    files: Room,
    path: Vec<Node>,
    definitions: bool,
}

enum Frame {
    Blocks { kind: Container, blocks: Vec<Block> },
    List { start: Option<u64>, items: Vec<ListItem> },
    Table { align: Vec<Align>, head: Vec<Cell>, rows: Vec<Vec<Cell>> },
    Row { cells: Vec<Cell> },
}

enum Container {
    Document,
    Quote,
    Item { checked: Option<bool> },
    Footnote { label: String },
}

enum Leaf {
    Paragraph,
    Heading(u8),
    Cell,
    Code { language: Option<String>, text: String },
    Html { text: String },
}

struct OpenSpan {
    kind: SpanKind,
    spans: Vec<Span>,
}

enum SpanKind {
    /// The outermost level: the leaf itself.
    Leaf,
    Emphasis,
    Strong,
    Strike,
    Link {
        destination: String,
    },
    Image {
        url: String,
    },
}

impl Builder<'_, '_> {
    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.leaf {
                Some(Leaf::Code { text: code, .. }) => code.push_str(&text),
                Some(Leaf::Html { text: html }) => html.push_str(&text),
                _ => self.text(&text, range),
            },
            Event::Html(text) => match &mut self.leaf {
                Some(Leaf::Html { text: html }) => html.push_str(&text),
                _ => self.span(Span::Raw { text: text.into_string() }, range),
            },
            Event::InlineHtml(text) if is_line_break(&text) => self.span(Span::Break, range),
            Event::InlineHtml(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.span(Span::Raw { text: text.into_string() }, range)
            }
            Event::Code(text) => self.span(Span::Code { text: text.into_string() }, range),
            Event::FootnoteReference(label) => {
                self.span(Span::FootnoteRef { label: label.into_string() }, range)
            }
            Event::SoftBreak => self.text("\n", range),
            Event::HardBreak => self.span(Span::Break, range),
            Event::Rule => {
                self.begin_block(NodeKind::Rule, range.start);
                self.push_block(Block::Rule);
            }
            Event::TaskListMarker(checked) => {
                if let Some(Frame::Blocks { kind: Container::Item { checked: task }, blocks }) =
                    self.frames.last_mut()
                    && self.n_flattened == 0
                    && blocks.is_empty()
                {
                    *task = Some(checked);
                } else {
                    self.text(if checked { "[x] " } else { "[ ] " }, range);
                }
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::Paragraph => self.open_leaf(Leaf::Paragraph, NodeKind::Paragraph, range.start),
            Tag::Heading { level, .. } => {
                self.open_leaf(Leaf::Heading(level as u8), NodeKind::Heading, range.start)
            }
            Tag::CodeBlock(kind) => {
                let (kind, language) = match &kind {
                    CodeBlockKind::Indented => (NodeKind::Other, None),
                    CodeBlockKind::Fenced(info) => (NodeKind::Fence, language_of_info(info)),
                };
                self.open_leaf(Leaf::Code { language, text: String::new() }, kind, range.start);
            }
            Tag::HtmlBlock => {
                self.open_leaf(Leaf::Html { text: String::new() }, NodeKind::Other, range.start)
            }
            Tag::BlockQuote(_) => {
                let frame = Frame::Blocks { kind: Container::Quote, blocks: Vec::new() };
                self.open_container(frame, NodeKind::Quote, range.start);
            }
            Tag::List(start) => {
                let frame = Frame::List { start, items: Vec::new() };
                self.open_container(frame, NodeKind::List, range.start);
            }
            Tag::Item => {
                let kind = Container::Item { checked: None };
                self.open_container(Frame::Blocks { kind, blocks: Vec::new() }, NodeKind::Item, range.start);
            }
            Tag::FootnoteDefinition(label) => {
                self.definitions = true;
                let kind = Container::Footnote { label: label.into_string() };
                self.open_container(Frame::Blocks { kind, blocks: Vec::new() }, NodeKind::Other, range.start);
            }
            Tag::Table(align) => {
                let align = align.into_iter().map(align_of).collect();
                self.begin_block(NodeKind::Table, range.start);
                self.frames.push(Frame::Table { align, head: Vec::new(), rows: Vec::new() });
            }
            Tag::TableHead => self.frames.push(Frame::Row { cells: Vec::new() }),
            Tag::TableRow => {
                self.begin_block(NodeKind::Row, range.start);
                self.frames.push(Frame::Row { cells: Vec::new() });
            }
            Tag::TableCell => {
                self.leaf = Some(Leaf::Cell);
                self.files = Room::default();
                self.spans.push(OpenSpan { kind: SpanKind::Leaf, spans: Vec::new() });
            }
            Tag::Emphasis => self.open_span(SpanKind::Emphasis, range),
            Tag::Strong => self.open_span(SpanKind::Strong, range),
            Tag::Strikethrough => self.open_span(SpanKind::Strike, range),
            Tag::Link { link_type, dest_url, .. } => {
                let destination = match link_type {
                    LinkType::Email => format!("mailto:{dest_url}"),
                    _ => dest_url.into_string(),
                };
                self.open_span(SpanKind::Link { destination }, range);
            }
            Tag::Image { dest_url, .. } => {
                self.open_span(SpanKind::Image { url: dest_url.into_string() }, range)
            }
            // Disabled in the parser's options.
            Tag::MetadataBlock(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph
            | TagEnd::Heading(_)
            | TagEnd::CodeBlock
            | TagEnd::HtmlBlock
            | TagEnd::TableCell => self.close_leaf(),
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item | TagEnd::FootnoteDefinition => {
                self.close_leaf();
                match self.n_flattened {
                    0 => self.close_frame(),
                    _ => self.n_flattened -= 1,
                }
            }
            TagEnd::Table | TagEnd::TableRow => self.close_frame(),
            TagEnd::TableHead => {
                if let Some(Frame::Row { cells }) = self.frames.pop()
                    && let Some(Frame::Table { head, .. }) = self.frames.last_mut()
                {
                    *head = cells;
                }
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image => {
                match self.n_flattened_spans {
                    0 => self.close_span(),
                    _ => self.n_flattened_spans -= 1,
                }
            }
            TagEnd::MetadataBlock(_)
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::Superscript
            | TagEnd::Subscript => {}
        }
    }

    /// Begins a block in the innermost frame and ends the text of a tight list item, if any.
    fn begin_block(&mut self, kind: NodeKind, start: usize) {
        self.close_leaf();
        self.path.truncate(self.frames.len() - 1);
        let kind = if self.n_flattened > 0 { NodeKind::Flattened } else { kind };
        self.path.push(Node { kind, start });
    }

    fn open_container(&mut self, frame: Frame, kind: NodeKind, start: usize) {
        // A list and its items are kept or flattened together.
        let too_deep = self.frames.len() > BLOCK_DEPTH && kind != NodeKind::Item;
        if too_deep || self.n_flattened > 0 {
            self.n_flattened += 1;
            self.begin_block(NodeKind::Flattened, start);
        } else {
            self.begin_block(kind, start);
            self.frames.push(frame);
        }
    }

    fn close_frame(&mut self) {
        match self.frames.pop() {
            Some(Frame::Blocks { kind, blocks }) => match kind {
                Container::Document => self.frames.push(Frame::Blocks { kind, blocks }),
                Container::Quote => self.push_block(Block::Quote { blocks }),
                Container::Footnote { label } => self.push_block(Block::Footnote { label, blocks }),
                Container::Item { checked } => {
                    if let Some(Frame::List { items, .. }) = self.frames.last_mut() {
                        items.push(ListItem { checked, blocks });
                    }
                }
            },
            Some(Frame::List { start, items }) => self.push_block(Block::List { start, items }),
            Some(Frame::Table { align, head, rows }) => self.push_block(Block::Table { align, head, rows }),
            Some(Frame::Row { cells }) => {
                if let Some(Frame::Table { rows, .. }) = self.frames.last_mut() {
                    rows.push(cells);
                }
            }
            None => {}
        }
    }

    fn push_block(&mut self, block: Block) {
        if let Some(Frame::Blocks { blocks, .. }) = self.frames.last_mut() {
            blocks.push(block);
        }
    }

    fn open_leaf(&mut self, leaf: Leaf, kind: NodeKind, start: usize) {
        self.begin_block(kind, start);
        self.leaf = Some(leaf);
        self.files = Room::default();
        self.spans.push(OpenSpan { kind: SpanKind::Leaf, spans: Vec::new() });
    }

    fn close_leaf(&mut self) {
        let Some(leaf) = self.leaf.take() else { return };
        while self.spans.len() > 1 {
            self.close_span();
        }
        self.n_flattened_spans = 0;
        let spans =
            self.spans.pop().map(|open| finish_spans(open.spans, &mut self.files)).unwrap_or_default();
        match leaf {
            Leaf::Paragraph => self.push_block(Block::Paragraph { spans }),
            Leaf::Heading(level) => self.push_block(Block::Heading { level, spans }),
            Leaf::Cell => {
                if let Some(Frame::Row { cells }) = self.frames.last_mut() {
                    cells.push(Cell { spans });
                }
            }
            Leaf::Code { language, text } => {
                let lines = self.highlights.lines(language.as_deref(), &text);
                self.push_block(Block::Code { language, lines });
            }
            Leaf::Html { mut text } => {
                text.truncate(text.trim_end().len());
                self.push_block(Block::Paragraph { spans: vec![Span::Raw { text }] });
            }
        }
    }

    /// The spans being built. Opens a paragraph in a tight list item, where the parser emits none.
    fn open_spans(&mut self, start: usize) -> &mut Vec<Span> {
        if self.leaf.is_none() {
            self.open_leaf(Leaf::Paragraph, NodeKind::Paragraph, start);
        }
        &mut self.spans.last_mut().expect("a leaf has its own spans").spans
    }

    fn text(&mut self, text: &str, range: Range<usize>) {
        push_text(self.open_spans(range.start), text);
    }

    fn span(&mut self, span: Span, range: Range<usize>) {
        self.open_spans(range.start).push(span);
    }

    fn open_span(&mut self, kind: SpanKind, range: Range<usize>) {
        self.open_spans(range.start);
        if self.spans.len() > SPAN_DEPTH || self.n_flattened_spans > 0 {
            self.n_flattened_spans += 1;
        } else {
            self.spans.push(OpenSpan { kind, spans: Vec::new() });
        }
    }

    fn close_span(&mut self) {
        if self.spans.len() < 2 {
            return;
        }
        let Some(OpenSpan { kind, spans }) = self.spans.pop() else { return };
        let in_link = self.spans.iter().any(|open| matches!(open.kind, SpanKind::Link { .. }));
        let outer = &mut self.spans.last_mut().expect("the leaf's own spans are below").spans;
        let finish = |spans, files: &mut Room| if in_link { spans } else { finish_spans(spans, files) };
        match kind {
            SpanKind::Leaf => {}
            SpanKind::Emphasis => outer.push(Span::Emphasis { spans: finish(spans, &mut self.files) }),
            SpanKind::Strong => outer.push(Span::Strong { spans: finish(spans, &mut self.files) }),
            SpanKind::Strike => outer.push(Span::Strike { spans: finish(spans, &mut self.files) }),
            SpanKind::Image { url } => {
                let alt = plain_text(&spans);
                outer.push(match link::target(&url) {
                    Some(Target { url, host }) => Span::Image { url, host: Some(host), alt },
                    None => Span::Image { url, host: None, alt },
                });
            }
            SpanKind::Link { destination } => match link::target(&destination) {
                Some(Target { url, host }) => outer.push(Span::Link { url, host, spans }),
                // A link that must not be opened: show its destination, so that its text does not hide it.
                None => {
                    let same = plain_text(&spans) == destination;
                    if let Some(Named { path, line }) = self.files.destination(&destination) {
                        let destination = Some(destination).filter(|_| !same);
                        outer.push(Span::File { path, line, destination, spans });
                        return;
                    }
                    for span in spans {
                        match span {
                            Span::Text { text } => push_text(outer, &text),
                            span => outer.push(span),
                        }
                    }
                    if !same {
                        push_text(outer, " ");
                        outer.push(Span::Code { text: destination });
                    }
                }
            },
        }
    }
}

fn push_text(spans: &mut Vec<Span>, more: &str) {
    match spans.last_mut() {
        Some(Span::Text { text }) => text.push_str(more),
        _ => spans.push(Span::Text { text: more.to_owned() }),
    }
}

/// Finds bare URLs, and files.
fn finish_spans(spans: Vec<Span>, files: &mut Room) -> Vec<Span> {
    let mut finished = Vec::with_capacity(spans.len());
    for span in spans {
        match span {
            Span::Text { text } if text.contains("://") => {
                let mut parts = Vec::new();
                link::linkify(text, &mut parts);
                for part in parts {
                    match part {
                        Span::Text { text } => files.text(text, &mut finished),
                        link => finished.push(link),
                    }
                }
            }
            Span::Text { text } => files.text(text, &mut finished),
            Span::Code { text } => finished.push(files.code(text)),
            span => finished.push(span),
        }
    }
    finished
}

/// The text of spans without markup. Recursion is bounded by the maximum nesting of spans.
fn plain_text(spans: &[Span]) -> String {
    let mut plain = String::new();
    for span in spans {
        match span {
            Span::Text { text } | Span::Code { text } | Span::Raw { text } => plain.push_str(text),
            Span::Emphasis { spans }
            | Span::Strong { spans }
            | Span::Strike { spans }
            | Span::Link { spans, .. }
            | Span::File { spans, .. } => plain.push_str(&plain_text(spans)),
            Span::Image { alt, .. } => plain.push_str(alt),
            Span::FootnoteRef { label } => plain.push_str(label),
            Span::Break => plain.push('\n'),
        }
    }
    plain
}

/// `<br>` is the only tag that has an equivalent here.
fn is_line_break(html: &str) -> bool {
    html.strip_prefix('<')
        .and_then(|html| html.strip_suffix('>'))
        .is_some_and(|name| name.trim_end_matches('/').trim_end().eq_ignore_ascii_case("br"))
}

/// The first word of a fence's info string: `rust` for `rust,ignore` and for `{.rust #id}`.
fn language_of_info(info: &str) -> Option<String> {
    info.split(|c: char| c.is_whitespace() || matches!(c, ',' | '{' | '}' | ':' | ';' | '='))
        .find(|word| !word.is_empty())
        .map(|word| word.trim_start_matches('.').to_owned())
        .filter(|word| !word.is_empty())
}

fn align_of(alignment: Alignment) -> Align {
    match alignment {
        Alignment::None => Align::None,
        Alignment::Left => Align::Left,
        Alignment::Center => Align::Center,
        Alignment::Right => Align::Right,
    }
}

#[cfg(test)]
mod tests {
    use super::markdown;
    use crate::compact;
    use deskbell_api::Block;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(compact::blocks(&markdown(text)), expected);
    }

    #[test]
    fn blocks() {
        check("# One\n\ntext\n\nTwo\n---\n\n***\n", "h1(One) p(text) h2(Two) rule");
        check("> a\n> > b\n\nc", "quote[p(a) quote[p(b)]] p(c)");
        check("one\ntwo  \nthree\\\nfour", "p(one⏎two↵three↵four)");
        check("", "");
        check("\u{feff}# One\r\n\rtext\rmore\r\n", "h1(One) p(text⏎more)");
        check("a\0b\x0cc", "p(a\u{fffd}b c)");
    }

    #[test]
    fn lists() {
        check("- a\n- b\n  - c\n\n  d\n", "ul[[p(a)] [p(b) ul[[p(c)]] p(d)]]");
        check("3. a\n4. b\n\n5) c", "ol3[[p(a)] [p(b)]] ol5[[p(c)]]");
        check("- [ ] a\n- [x] b\n- [x]\n- c [ ] d", "ul[[☐ p(a)] [☑ p(b)] [☑ ] [p(c [ ] d)]]");
        // A loose list is drawn like a tight one.
        assert_eq!(markdown("- a\n\n- b\n"), markdown("- a\n- b\n"));
        check("-\n-\n", "ul[[] []]");
    }

    #[test]
    fn code() {
        check("```rust,ignore\nfn a() {}\n\n```\n", "code(rust:fn a() {}⏎)");
        check("~~~ {.py #id}\na\n~~~", "code(py:a)");
        check("```\n```", "code(:)");
        check("```\n\n```", "code(:)");
        assert_ne!(markdown("```\n```"), markdown("```\n\n```"));
        check("    a\n\n      b\n", "code(:a⏎⏎  b)");
        check("- a\n  ```sh\n  ls\n\n  ```\n", "ul[[p(a) code(sh:ls⏎)]]");
        check("```x\nnot closed\n", "code(x:not closed)");
    }

    #[test]
    fn tables() {
        check(
            "| a | b | c | d |\n|---|:--|:-:|--:|\n| 1 | `x \\| y` |\n| *2* | a<br>b | 4 | 5 | 6 |\n",
            "table[-<=> a|b|c|d / 1|`x | y`|| / *2*|a↵b|4|5]",
        );
        check("text\n| a | b\n|-|-\n1 | 2\n\nmore", "p(text) table[-- a|b / 1|2] p(more)");
    }

    #[test]
    fn spans() {
        check("*a **b `c` ~~d~~***", "p(*a **b `c` ~d~***)");
        check("a_b_c &amp; &copy; \\* 2*3*4", "p(a_b_c & © * 2*3*4)");
        check("![a *b* c](https://e.org/x.png \"t\")", "p(image(https://e.org/x.png @e.org “a b c”))");
        check("![a](HTTP://E.org\\\\x)", "p(image(http://e.org/x @e.org “a”))");
        check("![a](javascript:x)", "p(image(javascript:x “a”))");
        check("[![logo](l.png)](https://e.org)", "p(link(https://e.org/ @e.org “image(l.png “logo”)”))");
    }

    #[test]
    fn footnotes() {
        check("a[^1] b[^2]\n\n[^1]: note\n\n    more\n", "p(a[^1] b[^2]) footnote 1[p(note) p(more)]");
    }

    #[test]
    fn html_is_shown_as_text() {
        check("<div onclick=x>\n*a*\n</div>\n\nb", "p(⟨<div onclick=x>⏎*a*⏎</div>⟩) p(b)");
        check("a <b>c</b> <script>d()</script>", "p(a ⟨<b>⟩c⟨</b>⟩ ⟨<script>⟩d()⟨</script>⟩)");
        check("a<br>b<BR />c<br/>d<br x>", "p(a↵b↵c↵d⟨<br x>⟩)");
        check("<!-- hidden? -->", "p(⟨<!-- hidden? -->⟩)");
    }

    #[test]
    fn links_lead_where_they_say() {
        check("[a](https://e.org/x)", "p(link(https://e.org/x @e.org “a”))");
        check(
            "[a][1] [1]\n\n[1]: http://e.org 'title'",
            "p(link(http://e.org/ @e.org “a”) link(http://e.org/ @e.org “1”))",
        );
        check(
            "<https://e.org> <a@e.org>",
            "p(link(https://e.org/ @e.org “https://e.org”) link(mailto:a@e.org @e.org “a@e.org”))",
        );
        check("see https://e.org/a_b_c.", "p(see link(https://e.org/a_b_c @e.org “https://e.org/a_b_c”).)");
        check("[see https://a.org](https://b.org)", "p(link(https://b.org/ @b.org “see https://a.org”))");
        check("**https://e.org**", "p(**link(https://e.org/ @e.org “https://e.org”)**)");
        check("`https://e.org`", "p(`https://e.org`)");
    }

    #[test]
    fn other_links_hide_nothing() {
        check("[safe](javascript:alert(1))!", "p(safe `javascript:alert(1)`!)");
        check(
            "see [main.rs](src/main.rs) and [README.md](README.md)",
            "p(see file(src/main.rs “main.rs” `src/main.rs`) and file(README.md “README.md”))",
        );
        check("[*a* b](vscode://file/x)", "p(*a* b `vscode://file/x`)");
        check("[](x:y)", "p( `x:y`)");
    }

    #[test]
    fn deep_nesting_keeps_its_text() {
        let mut blocks = &markdown(&format!("{}a\n\nb", "> ".repeat(200)))[..];
        let mut depth = 0;
        while let [Block::Quote { blocks: inner }, ..] = blocks {
            blocks = inner;
            depth += 1;
        }
        assert_eq!((depth, compact::blocks(blocks).as_str()), (super::BLOCK_DEPTH, "p(a)"));

        let stars = compact::blocks(&markdown(&format!("{}z{}", "*a ".repeat(30), "*".repeat(30))));
        assert_eq!(stars.replace('*', ""), format!("p({}z)", "a ".repeat(30)));
        assert_eq!(stars.matches('*').count(), 2 * super::SPAN_DEPTH);
    }
}
