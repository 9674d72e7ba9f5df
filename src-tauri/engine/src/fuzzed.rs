//! What holds whatever the input: each function takes any bytes, and panics if it finds a rule broken.
//!
//! `cargo xtask fuzz` drives them with libFuzzer (`fuzz/`); the tests here with the inputs that are kept in
//! `fuzz/corpus/`, and with random ones.

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

/// Bytes of an input that say how the rest is cut.
const N_CUTS: usize = 4;

/// Splits an input into the lengths of its pieces, for ever in turn, and what is cut.
fn cuts(data: &[u8]) -> (impl Iterator<Item = usize> + Clone + use<>, &[u8]) {
    let (lengths, rest) = data.split_at(data.len().min(N_CUTS));
    let lengths: Vec<usize> = match lengths {
        [] => vec![1],
        // Mostly short pieces; some are as long as a read.
        _ => lengths.iter().map(|length| usize::from(*length).pow(2) / 128 + 1).collect(),
    };
    (lengths.into_iter().cycle(), rest)
}

/// A text and the pieces that it comes in, none of them cut within a character.
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
