//! Compact one-line notation of documents, for readable test expectations.

use deskbell_api::{Align, Block, CodeLine, Diff, DiffKind, ListItem, Span, TokenStyle};

/// `p(text)`, `h2(text)`, `quote[…]`, `ul[item[…]]`, …; blocks are separated by a space.
pub(crate) fn blocks(blocks: &[Block]) -> String {
    join(blocks.iter().map(block), " ")
}

fn block(block: &Block) -> String {
    match block {
        Block::Paragraph { spans: s } => format!("p({})", spans(s)),
        Block::Heading { level, spans: s } => format!("h{level}({})", spans(s)),
        Block::Code { language, lines: l } => {
            format!("code({}:{})", language.as_deref().unwrap_or(""), join(l.iter().map(text_of), "⏎"))
        }
        Block::Quote { blocks: b } => format!("quote[{}]", blocks(b)),
        Block::List { start: None, items } => format!("ul[{}]", join(items.iter().map(item), " ")),
        Block::List { start: Some(start), items } => {
            format!("ol{start}[{}]", join(items.iter().map(item), " "))
        }
        Block::Table { align, head, rows } => {
            let row = |cells: &[deskbell_api::Cell]| join(cells.iter().map(|cell| spans(&cell.spans)), "|");
            let align = join(align.iter().map(|align| align_sign(*align).to_owned()), "");
            format!("table[{align} {} / {}]", row(head), join(rows.iter().map(|cells| row(cells)), " / "))
        }
        Block::Rule => "rule".to_owned(),
        Block::Footnote { label, blocks: b } => format!("footnote {label}[{}]", blocks(b)),
    }
}

fn align_sign(align: Align) -> &'static str {
    match align {
        Align::None => "-",
        Align::Left => "<",
        Align::Center => "=",
        Align::Right => ">",
    }
}

fn item(item: &ListItem) -> String {
    let mark = match item.checked {
        None => "",
        Some(false) => "☐ ",
        Some(true) => "☑ ",
    };
    format!("[{mark}{}]", blocks(&item.blocks))
}

/// Plain text unchanged; `*emphasis*`, `**strong**`, `~strike~`, `` `code` ``, `link(url @host “text”)`,
/// `file(path:line “text” `destination`)`, `⟨raw⟩`, `↵`.
pub(crate) fn spans(spans: &[Span]) -> String {
    join(spans.iter().map(span), "")
}

fn span(span: &Span) -> String {
    match span {
        Span::Text { text } => text.replace('\n', "⏎"),
        Span::Code { text } => format!("`{text}`"),
        Span::Emphasis { spans: s } => format!("*{}*", spans(s)),
        Span::Strong { spans: s } => format!("**{}**", spans(s)),
        Span::Strike { spans: s } => format!("~{}~", spans(s)),
        Span::Link { url, host, spans: s } => format!("link({url} @{host} “{}”)", spans(s)),
        Span::File { path, line, destination, spans: s } => {
            let line = line.map(|line| format!(":{line}")).unwrap_or_default();
            let destination = destination.as_ref().map(|d| format!(" `{d}`")).unwrap_or_default();
            format!("file({path}{line} “{}”{destination})", spans(s))
        }
        Span::Image { url, host: Some(host), alt } => format!("image({url} @{host} “{alt}”)"),
        Span::Image { url, host: None, alt } => format!("image({url} “{alt}”)"),
        Span::Raw { text } => format!("⟨{}⟩", text.replace('\n', "⏎")),
        Span::FootnoteRef { label } => format!("[^{label}]"),
        Span::Break => "↵".to_owned(),
    }
}

/// The text of a line without its styles.
pub(crate) fn text_of(line: &CodeLine) -> String {
    line.tokens.iter().map(|token| token.text.as_str()).collect()
}

/// `keyword‹fn› name`: plain text unchanged, other tokens with their style; lines are separated by `⏎`.
pub(crate) fn lines(lines: &[CodeLine]) -> String {
    let line = |line: &CodeLine| {
        join(
            line.tokens.iter().map(|token| match token.style {
                TokenStyle::Plain => token.text.clone(),
                style => format!("{}‹{}›", format!("{style:?}").to_lowercase(), token.text),
            }),
            "",
        )
    };
    join(lines.iter().map(line), "⏎")
}

/// One line per diff line: `old new sign text`, strong words in `«»`, hunks separated by `@@`.
pub(crate) fn diff(diff: &Diff) -> String {
    let number = |number: Option<u32>| number.map_or("·".to_owned(), |number| number.to_string());
    let hunk = |hunk: &deskbell_api::Hunk| {
        join(
            hunk.lines.iter().map(|line| {
                let sign = match line.kind {
                    DiffKind::Context => ' ',
                    DiffKind::Added => '+',
                    DiffKind::Removed => '-',
                };
                let runs = line.parts.chunk_by(|a, b| a.strong == b.strong);
                let text = join(
                    runs.map(|run| {
                        let text: String = run.iter().map(|part| part.text.as_str()).collect();
                        if run[0].strong { format!("«{text}»") } else { text }
                    }),
                    "",
                );
                format!("{} {} {sign}{text}", number(line.old_line), number(line.new_line))
            }),
            "\n",
        )
    };
    let hunks = join(diff.hunks.iter().map(hunk), "\n@@\n");
    format!("{} +{} -{}\n{hunks}", diff.path, diff.added, diff.removed).trim_end().to_owned()
}

fn join(parts: impl Iterator<Item = String>, separator: &str) -> String {
    parts.collect::<Vec<_>>().join(separator)
}
