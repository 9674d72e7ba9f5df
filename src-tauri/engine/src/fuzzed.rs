//! Fuzz targets: each function takes any bytes and panics if it finds a violated property.
//!
//! `cargo xtask fuzz` runs them with libFuzzer (`fuzz/`). The tests here run them with the inputs in `fuzz/corpus/` and
//! with random inputs.

#[cfg(test)]
mod cost;
mod diff;
mod fold;
mod lines;
mod markdown;
mod terminal;
#[cfg(test)]
mod tests;
mod wire;

pub use self::diff::diff;
pub use self::fold::fold;
pub use self::lines::lines;
pub use self::markdown::markdown;
pub use self::terminal::terminal;
pub use self::wire::wire;

/// Number of leading bytes that define how the rest is split.
const N_CUTS: usize = 4;

/// Splits an input into an endless cycle of piece lengths and the data to split.
fn cuts(data: &[u8]) -> (impl Iterator<Item = usize> + Clone + use<>, &[u8]) {
    let (lengths, rest) = data.split_at(data.len().min(N_CUTS));
    let lengths: Vec<usize> = match lengths {
        [] => vec![1],
        // Mostly short pieces; some are as long as one read.
        _ => lengths.iter().map(|length| usize::from(*length).pow(2) / 128 + 1).collect(),
    };
    (lengths.into_iter().cycle(), rest)
}

/// A text and its pieces, split only between characters.
fn text_in_pieces(data: &[u8]) -> (String, Vec<String>) {
    let (mut lengths, rest) = cuts(data);
    let text = String::from_utf8_lossy(rest).into_owned();
    let mut pieces = Vec::new();
    let mut left = text.as_str();
    while !left.is_empty() {
        let mut at = lengths.next().unwrap_or(1).min(left.len());
        while !left.is_char_boundary(at) {
            at += 1;
        }
        let (piece, behind) = left.split_at(at);
        pieces.push(piece.to_owned());
        left = behind;
    }
    (text, pieces)
}
