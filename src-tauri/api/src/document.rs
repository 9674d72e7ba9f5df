//! Documents as data, made from Markdown, code and terminal output. No HTML string is sent to the UI.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A block of a document, parsed from Markdown.
#[derive(Clone, Debug, PartialEq, Hash, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Block {
    Paragraph {
        spans: Vec<Span>,
    },
    Heading {
        level: u8,
        spans: Vec<Span>,
    },
    Code {
        language: Option<String>,
        lines: Vec<CodeLine>,
    },
    Quote {
        blocks: Vec<Block>,
    },
    List {
        /// The first number of an ordered list; `null` for bullets.
        start: Option<u64>,
        items: Vec<ListItem>,
    },
    Table {
        align: Vec<Align>,
        head: Vec<Cell>,
        rows: Vec<Vec<Cell>>,
    },
    Rule,
    Footnote {
        label: String,
        blocks: Vec<Block>,
    },
}

#[derive(Clone, Debug, PartialEq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ListItem {
    /// Checkbox state of a task; `null` for an ordinary item.
    pub checked: Option<bool>,
    pub blocks: Vec<Block>,
}

#[derive(Clone, Debug, PartialEq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Cell {
    pub spans: Vec<Span>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Align {
    None,
    Left,
    Center,
    Right,
}

/// A run of text inside a block.
#[derive(Clone, Debug, PartialEq, Hash, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Span {
    Text {
        text: String,
    },
    Code {
        text: String,
    },
    Emphasis {
        spans: Vec<Span>,
    },
    Strong {
        spans: Vec<Span>,
    },
    Strike {
        spans: Vec<Span>,
    },
    /// `host` is the host that the URL really leads to. A link that must not be opened is sent as text.
    Link {
        url: String,
        host: String,
        spans: Vec<Span>,
    },
    /// A file that the text names, which may not exist and may be anywhere: it is a link only once the session has found it.
    File {
        /// As the text names it, decoded and without the line.
        path: String,
        /// Counted from 1.
        line: Option<u32>,
        /// Where a Markdown link leads, if its text does not say it: shown after the text unless the file is a link.
        destination: Option<String>,
        spans: Vec<Span>,
    },
    /// An image, drawn as a chip with its description; never loaded. `host` is the host of its URL; `null` if the URL
    /// must not be opened either.
    Image {
        url: String,
        host: Option<String>,
        alt: String,
    },
    /// HTML and other content that is not rendered, shown as plain text.
    Raw {
        text: String,
    },
    FootnoteRef {
        label: String,
    },
    Break,
}

/// One line of code or of terminal output.
#[derive(Clone, Debug, Default, PartialEq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CodeLine {
    pub tokens: Vec<Token>,
}

#[derive(Clone, Debug, PartialEq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Token {
    pub text: String,
    pub style: TokenStyle,
}

/// The meaning of a token; the UI's tokens file assigns its colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum TokenStyle {
    #[default]
    Plain,
    Keyword,
    String,
    Function,
    Comment,
    Number,
    Type,
    /// ANSI colours and weight, from terminal output.
    Red,
    Green,
    Yellow,
    Blue,
    Magenta,
    Cyan,
    Dim,
    Bold,
}
