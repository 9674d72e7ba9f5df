//! A session as one HTML page: no script, no request, and no markup from a conversation.
//!
//! Every text goes through [`escaped`]. The only addresses are those of links that the window would open, too. A
//! policy in the page forbids scripts, frames and all loading, and admits only this style sheet, by its hash.

use super::{ExportedItem, Heading, Images};
use crate::api::*;
use crate::document;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt::{Display, Write};
use time::OffsetDateTime;

const STYLE: &str = include_str!("page.css");

/// Maximum nesting of subagents. Deeper items are shown at this depth.
const DEEPEST: usize = 8;

/// Builds the page.
pub fn page(heading: &Heading, items: &[ExportedItem], images: &Images) -> String {
    let mut out = Page { out: String::new(), items, images, children: HashMap::new() };
    let known: HashMap<&ItemId, usize> =
        items.iter().enumerate().map(|(place, one)| (&one.item.id, place)).collect();
    let mut roots = Vec::new();
    for (place, one) in items.iter().enumerate() {
        // A parent comes before its items, so there are no circles.
        match one.item.parent.as_ref().and_then(|parent| known.get(parent)).filter(|parent| **parent < place)
        {
            Some(parent) => out.children.entry(*parent).or_default().push(place),
            None => roots.push(place),
        }
    }
    out.beginning(heading);
    roots.into_iter().for_each(|place| out.item(place, 0));
    out.raw("</main>\n</body>\n</html>\n");
    out.out
}

struct Page<'a> {
    out: String,
    items: &'a [ExportedItem],
    images: &'a Images,
    /// The items of a subagent, by the place of its call.
    children: HashMap<usize, Vec<usize>>,
}

impl Page<'_> {
    fn raw(&mut self, markup: &str) {
        self.out.push_str(markup);
    }

    fn text(&mut self, text: &str) {
        escaped(text, &mut self.out);
    }

    /// Writes a value of our own: numbers and constants.
    fn put(&mut self, value: impl Display) {
        // Writing to a string cannot fail.
        let _ = write!(self.out, "{value}");
    }

    fn beginning(&mut self, heading: &Heading) {
        let hash = BASE64_STANDARD.encode(Sha256::digest(STYLE));
        self.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        self.put(format_args!(
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{hash}'; \
             img-src data:; base-uri 'none'; form-action 'none'\">\n"
        ));
        self.raw("<meta name=\"referrer\" content=\"no-referrer\">\n");
        self.raw("<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
        self.text(&heading.title);
        self.raw("</title>\n<style>");
        self.raw(STYLE);
        self.raw("</style>\n</head>\n<body>\n<header>\n<h1>");
        self.text(&heading.title);
        self.raw("</h1>\n<p>");
        self.text(&heading.project);
        if let Some(id) = &heading.agent_session_id {
            self.raw("<br>Session ");
            self.text(id);
        }
        let times = self.items.iter().map(|one| one.item.at).filter(|at| *at > 0);
        if let (Some(first), Some(last)) = (times.clone().min(), times.max()) {
            self.raw("<br>");
            self.time(first);
            self.raw(" – ");
            self.time(last);
        }
        self.raw("</p>\n</header>\n<main>\n");
    }

    /// Writes a time in UTC; nothing for an unknown one.
    fn time(&mut self, at: u64) {
        let seconds = i64::try_from(at / 1_000).unwrap_or(i64::MAX);
        let Ok(moment) = OffsetDateTime::from_unix_timestamp(seconds) else { return };
        if at > 0 {
            let (date, hour, minute) = (moment.date(), moment.hour(), moment.minute());
            self.put(format_args!(
                "<time datetime=\"{date}T{hour:02}:{minute:02}Z\">{date} {hour:02}:{minute:02} UTC</time>"
            ));
        }
    }

    fn item(&mut self, place: usize, depth: usize) {
        let one = &self.items[place];
        let item = one.item.clone();
        match &item.body {
            Body::Prompt { text, n_images, n_documents, .. } => {
                self.raw("<section class=\"prompt\">");
                self.time(item.at);
                self.raw("<div class=\"text\">");
                self.text(text);
                self.raw("</div>");
                self.images_of(place, *n_images as usize);
                if *n_documents > 0 {
                    let s = if *n_documents == 1 { "" } else { "s" };
                    self.put(format_args!(
                        "<div class=\"detail\">With {n_documents} document{s}, not included here.</div>"
                    ));
                }
                self.raw("</section>\n");
            }
            Body::Message { sender, text } => {
                self.raw("<section class=\"prompt\">");
                self.time(item.at);
                self.raw("<p>");
                self.text(&sender.words());
                self.raw("</p><div class=\"text\">");
                self.text(text);
                self.raw("</div></section>\n");
            }
            Body::Text { blocks, .. } => {
                self.raw("<section>");
                self.blocks(blocks);
                self.raw("</section>\n");
            }
            Body::Thinking { text, duration_ms, .. } if !text.is_empty() => {
                self.raw("<details class=\"thought\"><summary>Thought");
                self.duration(" for ", *duration_ms);
                self.raw("</summary><div class=\"text\">");
                self.text(text);
                self.raw("</div></details>\n");
            }
            Body::Thinking { .. } => {}
            Body::ToolCall(call) => self.call(place, call, depth),
            Body::Notice { level, text, detail, .. } => {
                let (class, word) = match level {
                    Level::Info => ("info", ""),
                    Level::Warning => ("warning", "Warning: "),
                    Level::Error => ("error", "Error: "),
                };
                self.put(format_args!("<div class=\"notice {class}\">{word}"));
                self.text(text);
                if let Some(detail) = detail {
                    self.raw("<div class=\"detail\">");
                    self.text(detail);
                    self.raw("</div>");
                }
                self.raw("</div>\n");
            }
            Body::TurnEnd(turn) => {
                let is_fine =
                    matches!(turn.outcome, Outcome::Done | Outcome::Interrupted | Outcome::Unavailable);
                self.put(format_args!("<p class=\"end{}\">", if is_fine { "" } else { " failed" }));
                self.text(&turn.words);
                self.duration(" · ", Some(turn.duration_ms));
                if turn.output_tokens > 0 {
                    self.put(format_args!(" · {} tokens", turn.output_tokens));
                }
                if let Some(cost) = turn.cost_usd.filter(|cost| *cost > 0.0) {
                    self.put(format_args!(" · ${cost:.2}"));
                }
                self.raw("</p>\n");
            }
        }
    }

    fn duration(&mut self, before: &str, duration_ms: Option<u64>) {
        if let Some(ms) = duration_ms {
            let seconds = ms / 1_000;
            match seconds {
                0 => self.put(format_args!("{before}{ms} ms")),
                1..60 => self.put(format_args!("{before}{seconds} s")),
                _ => self.put(format_args!("{before}{} min {} s", seconds / 60, seconds % 60)),
            }
        }
    }

    fn images_of(&mut self, place: usize, n_expected: usize) {
        let found = self.images.at(&self.items[place].stored_id);
        for image in found {
            // Both were checked: the type comes from the bytes, and the data is base64.
            self.put(format_args!(
                "<img alt=\"Image\" src=\"data:{};base64,{}\">",
                image.media_type, image.data
            ));
        }
        let n_missing = n_expected.saturating_sub(found.len());
        if n_missing > 0 {
            let images = if n_missing == 1 { "image is" } else { "images are" };
            self.put(format_args!(
                "<p class=\"note\">{n_missing} {images} not in the agent’s transcript</p>"
            ));
        }
    }

    fn call(&mut self, place: usize, call: &ToolCall, depth: usize) {
        let failed = if call.state == ToolState::Failed { " failed" } else { "" };
        self.put(format_args!("<details class=\"call{failed}\"><summary>"));
        self.text(&call.verb);
        if !call.subject.is_empty() {
            self.raw(" <code>");
            self.text(&call.subject);
            self.raw("</code>");
        }
        self.raw("<span class=\"note\">");
        if call.original_input.is_some() {
            self.raw(" · edited by you");
        }
        if let Some(note) = &call.note {
            self.raw(" · ");
            self.text(note);
        }
        if let ToolDetail::Edit(diff) | ToolDetail::Notebook { diff, .. } = &call.detail
            && !matches!(call.state, ToolState::Denied | ToolState::NotRun)
        {
            self.put(format_args!(" · +{} −{}", diff.added, diff.removed));
        }
        self.duration(" · ", call.duration_ms);
        self.raw("</span></summary>\n");
        if let Some(original) = &call.original_input {
            self.raw("<p class=\"note\">Requested by the agent:</p><pre>");
            self.text(original);
            self.raw("</pre>");
        }
        self.detail(place, &call.detail);
        self.images_of(place, 0);
        let children = self.children.remove(&place).unwrap_or_default();
        if depth < DEEPEST && !children.is_empty() {
            self.raw("<div class=\"inside\">\n");
            children.iter().for_each(|child| self.item(*child, depth + 1));
            self.raw("</div>");
            self.raw("</details>\n");
        } else {
            self.raw("</details>\n");
            children.iter().for_each(|child| self.item(*child, depth));
        }
    }

    fn detail(&mut self, place: usize, detail: &ToolDetail) {
        let (input, output) = match detail {
            ToolDetail::Command { command, output } => (Some(command), output),
            ToolDetail::Json { input, output } => (Some(input), output),
            ToolDetail::Text { output, .. } => (None, output),
            ToolDetail::Edit(diff) => return self.diff(diff),
            ToolDetail::Notebook { cell, diff } => {
                self.raw("<p class=\"note\">");
                self.text(cell);
                self.raw("</p>");
                return self.diff(diff);
            }
            ToolDetail::Questions { questions } => return self.questions(questions),
            ToolDetail::Plan { blocks } => return self.blocks(blocks),
            ToolDetail::Todos { todos } => {
                self.raw("<ul>");
                for todo in todos {
                    self.raw(match todo.state {
                        TodoState::Completed => "<li class=\"task\">☑ ",
                        TodoState::InProgress => "<li class=\"task\">▸ ",
                        TodoState::Pending => "<li class=\"task\">☐ ",
                    });
                    self.text(&todo.text);
                    self.raw("</li>");
                }
                return self.raw("</ul>");
            }
        };
        if let Some(input) = input.filter(|input| !input.is_empty()) {
            let language = if matches!(detail, ToolDetail::Json { .. }) { "json" } else { "bash" };
            self.lines(&document::highlight(Some(language), input));
        }
        match self.items[place].output.as_ref() {
            Some(source) => self.lines(&source.whole()),
            None => self.lines(&output.lines),
        }
    }

    fn questions(&mut self, questions: &[AnsweredQuestion]) {
        for question in questions {
            self.raw("<p>");
            self.text(&question.text);
            self.raw("</p><ul>");
            for option in &question.options {
                self.raw(if option.is_chosen {
                    "<li class=\"task\">☑ "
                } else {
                    "<li class=\"task\">☐ "
                });
                self.text(&option.label);
                if !option.description.is_empty() {
                    self.raw(" <span class=\"note\">");
                    self.text(&option.description);
                    self.raw("</span>");
                }
                self.raw("</li>");
            }
            if let Some(words) = &question.own_words {
                self.raw("<li class=\"task\">☑ ");
                self.text(words);
                self.raw("</li>");
            }
            self.raw("</ul>");
        }
    }

    fn diff(&mut self, diff: &Diff) {
        self.raw("<pre>");
        for (nr, hunk) in diff.hunks.iter().enumerate() {
            if nr > 0 {
                self.raw("<span class=\"nr\">⋯</span>\n");
            }
            for line in &hunk.lines {
                let (class, sign, line_nr) = match line.kind {
                    DiffKind::Context => ("", ' ', line.new_line),
                    DiffKind::Added => ("add", '+', line.new_line),
                    DiffKind::Removed => ("del", '-', line.old_line),
                };
                self.put(format_args!("<span class=\"{class}\"><span class=\"nr\">"));
                match line_nr {
                    Some(line_nr) => self.put(format_args!("{line_nr:>5} {sign} ")),
                    None => self.put(format_args!("{sign} ")),
                }
                self.raw("</span>");
                for part in &line.parts {
                    if part.strong {
                        self.raw("<b>");
                    }
                    self.token(&part.text, part.style);
                    if part.strong {
                        self.raw("</b>");
                    }
                }
                self.raw("</span>\n");
            }
        }
        self.raw("</pre>");
    }

    /// Code or terminal output; nothing for no lines.
    fn lines(&mut self, lines: &[CodeLine]) {
        if lines.is_empty() {
            return;
        }
        // The parser drops a line break right after the tag.
        self.raw("<pre>\n");
        for (nr, line) in lines.iter().enumerate() {
            if nr > 0 {
                self.raw("\n");
            }
            line.tokens.iter().for_each(|token| self.token(&token.text, token.style));
        }
        self.raw("</pre>");
    }

    fn token(&mut self, text: &str, style: TokenStyle) {
        let class = match style {
            TokenStyle::Plain => return self.text(text),
            TokenStyle::Keyword => "tk",
            TokenStyle::String => "ts",
            TokenStyle::Function => "tf",
            TokenStyle::Comment => "tc",
            TokenStyle::Number => "tn",
            TokenStyle::Type => "tt",
            TokenStyle::Red => "ar",
            TokenStyle::Green => "ag",
            TokenStyle::Yellow => "ay",
            TokenStyle::Blue => "ab",
            TokenStyle::Magenta => "am",
            TokenStyle::Cyan => "ac",
            TokenStyle::Dim => "ad",
            TokenStyle::Bold => "as",
        };
        self.put(format_args!("<span class=\"{class}\">"));
        self.text(text);
        self.raw("</span>");
    }

    fn blocks(&mut self, blocks: &[Block]) {
        for block in blocks {
            match block {
                Block::Paragraph { spans } => self.wrapped("p", spans),
                // The title of the page is the only heading of level 1.
                Block::Heading { level, spans } => {
                    let names = ["h2", "h3", "h4", "h5", "h6"];
                    self.wrapped(names[usize::from(level.saturating_sub(1)).min(4)], spans);
                }
                Block::Code { lines, .. } => self.lines(lines),
                Block::Quote { blocks } => {
                    self.raw("<blockquote>");
                    self.blocks(blocks);
                    self.raw("</blockquote>");
                }
                Block::List { start, items } => self.list(*start, items),
                Block::Table { align, head, rows } => {
                    self.raw("<table><thead>");
                    self.row("th", align, head);
                    self.raw("</thead><tbody>");
                    rows.iter().for_each(|row| self.row("td", align, row));
                    self.raw("</tbody></table>");
                }
                Block::Rule => self.raw("<hr>"),
                Block::Footnote { label, blocks } => {
                    self.raw("<div><sup>");
                    self.text(label);
                    self.raw("</sup>");
                    self.blocks(blocks);
                    self.raw("</div>");
                }
            }
        }
    }

    fn wrapped(&mut self, name: &str, spans: &[Span]) {
        self.put(format_args!("<{name}>"));
        self.spans(spans);
        self.put(format_args!("</{name}>"));
    }

    fn list(&mut self, start: Option<u64>, items: &[ListItem]) {
        match start {
            Some(start) => self.put(format_args!("<ol start=\"{start}\">")),
            None => self.raw("<ul>"),
        }
        for item in items {
            self.raw(match item.checked {
                Some(true) => "<li class=\"task\">☑ ",
                Some(false) => "<li class=\"task\">☐ ",
                None => "<li>",
            });
            // A short item needs no paragraph.
            match item.blocks.as_slice() {
                [Block::Paragraph { spans }] => self.spans(spans),
                blocks => self.blocks(blocks),
            }
            self.raw("</li>");
        }
        self.raw(if start.is_some() { "</ol>" } else { "</ul>" });
    }

    fn row(&mut self, name: &str, align: &[Align], cells: &[Cell]) {
        self.raw("<tr>");
        for (nr, cell) in cells.iter().enumerate() {
            let class = match align.get(nr) {
                Some(Align::Center) => " class=\"center\"",
                Some(Align::Right) => " class=\"right\"",
                Some(Align::None | Align::Left) | None => "",
            };
            self.put(format_args!("<{name}{class}>"));
            self.spans(&cell.spans);
            self.put(format_args!("</{name}>"));
        }
        self.raw("</tr>");
    }

    fn spans(&mut self, spans: &[Span]) {
        for span in spans {
            match span {
                Span::Text { text } | Span::Raw { text } => self.text(text),
                Span::Code { text } => {
                    self.raw("<code>");
                    self.text(text);
                    self.raw("</code>");
                }
                Span::Emphasis { spans } => self.wrapped("em", spans),
                Span::Strong { spans } => self.wrapped("strong", spans),
                Span::Strike { spans } => self.wrapped("s", spans),
                Span::Link { url, host, spans } => self.link(url, host, spans),
                Span::File { destination, spans, .. } => {
                    self.spans(spans);
                    if let Some(text) = destination {
                        self.text(" ");
                        self.spans(&[Span::Code { text: text.clone() }]);
                    }
                }
                Span::Image { url, host, alt } => {
                    let alt = Span::Text { text: format!("Image: {alt}") };
                    match host {
                        Some(host) => self.link(url, host, &[alt]),
                        None => self.spans(&[alt]),
                    }
                }
                Span::FootnoteRef { label } => {
                    self.raw("<sup>");
                    self.text(label);
                    self.raw("</sup>");
                }
                Span::Break => self.raw("<br>"),
            }
        }
    }

    /// A link with its real host as tooltip. The document allows only these schemes; a text that has another one is no
    /// link here either.
    fn link(&mut self, url: &str, host: &str, spans: &[Span]) {
        if !["https:", "http:", "mailto:"].iter().any(|scheme| url.starts_with(scheme)) {
            return self.spans(spans);
        }
        self.raw("<a rel=\"noopener noreferrer\" href=\"");
        self.text(url);
        self.raw("\" title=\"");
        self.text(host);
        self.raw("\">");
        self.spans(spans);
        self.raw("</a>");
    }
}

/// Appends text for an element or for a quoted attribute. Control characters, and characters that reorder the text
/// after them, are written out.
fn escaped(text: &str, out: &mut String) {
    let mut done = 0;
    for (at, character) in text.char_indices() {
        let replacement = match character {
            '&' => "&amp;",
            '<' => "&lt;",
            '>' => "&gt;",
            '"' => "&quot;",
            '\'' => "&#39;",
            '\n' | '\t' => continue,
            // A parser would turn it into a line break.
            '\r' => "",
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => "⟨U+",
            control if control.is_control() => "⟨U+",
            _ => continue,
        };
        out.push_str(&text[done..at]);
        out.push_str(replacement);
        if replacement == "⟨U+" {
            // Writing to a string cannot fail.
            let _ = write!(out, "{:04X}⟩", character as u32);
        }
        done = at + character.len_utf8();
    }
    out.push_str(&text[done..]);
}
