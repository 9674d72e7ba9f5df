//! Fuzz target for terminal output: only its text, colours and weight remain.

use super::text_in_pieces;
use crate::api::TokenStyle;
use crate::document;

/// Parses the text as terminal output, whole and in pieces.
pub fn terminal(data: &[u8]) {
    let (text, pieces) = text_in_pieces(data);
    let lines = document::terminal(&text);
    assert_eq!(document::terminal_in_pieces(&pieces), lines, "{text:?} in {pieces:?}");
    assert!(lines.len() <= text.matches('\n').count() + 1);
    let mut n_bytes = 0;
    for token in lines.iter().flat_map(|line| &line.tokens) {
        n_bytes += token.text.len();
        assert!(!token.text.is_empty());
        let harmless = |c: char| c == '\t' || !c.is_control();
        assert!(token.text.chars().all(harmless), "{:?} of {text:?}", token.text);
        use TokenStyle::*;
        assert!(matches!(token.style, Plain | Dim | Bold | Red | Green | Yellow | Blue | Magenta | Cyan));
    }
    assert!(n_bytes <= text.len());
    if !text.contains(|c: char| c.is_control() && c != '\n' && c != '\t') {
        let shown: Vec<String> =
            lines.iter().map(|line| line.tokens.iter().map(|token| token.text.as_str()).collect()).collect();
        assert_eq!(shown, text.lines().collect::<Vec<_>>(), "plain text stays as it is");
    }
}
