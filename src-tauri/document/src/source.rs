//! Source text before parsing: line ends that every parser interprets alike, and lines of code.

use std::borrow::Cow;

/// Normalises a whole text.
pub(super) fn normalise(text: &str) -> Cow<'_, str> {
    let mut normaliser = Normaliser::default();
    normaliser.piece(text)
}

/// Normalises text on which parsers disagree: every line end becomes `
/// `, form feeds and vertical tabs become spaces, NUL is replaced as CommonMark requires, and a byte order mark is
/// removed.
#[derive(Default)]
pub(super) struct Normaliser {
    started: bool,
    /// The last piece ended with a carriage return: a line feed that follows belongs to it.
    after_cr: bool,
}

impl Normaliser {
    /// Normalises the next piece of the text. The pieces together give the same result as the whole text.
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

/// The lines of a code block, without the line end of the last one.
pub(super) fn code_lines(text: &str) -> impl Iterator<Item = &str> {
    text.strip_suffix('\n')
        .or_else(|| (!text.is_empty()).then_some(text))
        .into_iter()
        .flat_map(|t| t.split('\n'))
}
