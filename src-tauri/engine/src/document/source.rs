//! Text before it is parsed: line ends that every parser takes for the same, and lines of code.

use std::borrow::Cow;

/// What the parser gets for a text, in one piece.
pub(super) fn normalise(text: &str) -> Cow<'_, str> {
    let mut normaliser = Normaliser::default();
    normaliser.piece(text)
}

/// Evens out what parsers do not agree on: every line end becomes `\n`, form feeds and their like become spaces,
/// NUL becomes what CommonMark makes of it, and a byte order mark goes.
#[derive(Default)]
pub(super) struct Normaliser {
    started: bool,
    /// The last piece ended in a carriage return: a line feed that follows belongs to it.
    after_cr: bool,
}

impl Normaliser {
    /// The next piece of the text. Pieces give together what the whole gives.
    pub fn piece<'t>(&mut self, piece: &'t str) -> Cow<'t, str> {
        if piece.is_empty() {
            return Cow::Borrowed(piece);
        }
        let mut text = piece;
        if !std::mem::replace(&mut self.started, true) {
            text = text.strip_prefix('\u{feff}').unwrap_or(text);
        }
        if std::mem::replace(&mut self.after_cr, piece.ends_with('\r')) {
            text = text.strip_prefix('\n').unwrap_or(text);
        }
        if !text.contains(['\r', '\0', '\x0b', '\x0c']) {
            return Cow::Borrowed(text);
        }
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        Cow::Owned(text.replace(['\x0b', '\x0c'], " ").replace('\0', "\u{fffd}"))
    }
}

/// The lines of a code block: without the line end of the last one.
pub(super) fn code_lines(text: &str) -> impl Iterator<Item = &str> {
    text.strip_suffix('\n')
        .or_else(|| (!text.is_empty()).then_some(text))
        .into_iter()
        .flat_map(|t| t.split('\n'))
}
