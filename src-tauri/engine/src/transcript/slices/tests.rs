use super::Slices;
use crate::api::{Block, Body};
use crate::document;
use crate::transcript::words;
use proptest::prelude::*;

/// All slices of a document.
fn slices(blocks: &[Block]) -> Vec<Vec<Block>> {
    let slices = Slices::of(blocks);
    (0..slices.count()).map(|nr| slices.content(blocks, nr).0).collect()
}

/// Letters and digits only: enclosing markup is repeated in each slice or left out.
fn letters(slices: &[Vec<Block>]) -> String {
    let mut all = String::new();
    for blocks in slices {
        words::shown(&Body::Text { blocks: blocks.clone(), streaming: false }, &mut all);
    }
    all.retain(char::is_alphanumeric);
    all
}

#[test]
fn all_slices_together_are_the_whole() {
    let sources = [
        "x".repeat(1_000_000),
        "é\u{1f600} ".repeat(200_000),
        format!("```rust\n{}```", "let a = \"b\"; // c\n".repeat(30_000)),
        format!("```\n{}\n```", "y".repeat(1_000_000)),
        "1. one *two* `three`\n".repeat(30_000),
        format!("| a | b |\n|---|---|\n{}", "| one | **two** |\n".repeat(20_000)),
        format!("> {}", "quoted ".repeat(100_000)),
        "*a* ".repeat(60_000),
        format!("| a |\n|---|\n| {} |\n", "cell ".repeat(100_000)),
    ];
    for source in sources {
        let blocks = document::markdown(&source);
        let slices = slices(&blocks);
        assert!(slices.len() > 1, "{}", &source[..40.min(source.len())]);
        // A table's head is only in one slice.
        assert_eq!(letters(&slices), letters(&[blocks]));
    }
}

#[test]
fn a_number_goes_on_in_the_next_slice() {
    let mut next = 1;
    let blocks = document::markdown(&"1. one\n".repeat(30_000));
    let marks = Slices::of(&blocks);
    for (nr, slice) in (0..).zip(slices(&blocks)) {
        let [Block::List { start: Some(start), items }] = &slice[..] else {
            panic!("{} blocks", slice.len())
        };
        assert_eq!(*start, next);
        let parts = marks.parts(&blocks, nr, false);
        assert_eq!((u64::from(parts.n_before) + 1, parts.n_in_first), (next, Some(30_000)));
        assert_eq!(parts.n_in_last, (nr + 1 < marks.count()).then_some(30_000));
        // The last block of a text that is being written.
        assert_eq!(
            marks.parts(&blocks, nr, true),
            super::Parts { n_before: parts.n_before, ..Default::default() }
        );
        next += items.len() as u64;
    }
    assert_eq!((marks.growing_from(&blocks, true), marks.growing_from(&blocks, false)), (Some(0), None));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]
    #[test]
    fn nothing_is_lost_whatever_it_is(seeds in prop::collection::vec("[-*>#| `0-9a-z\\n]{1,40}", 1..8)) {
        let blocks = document::markdown(&seeds.concat().repeat(2_000));
        prop_assert_eq!(letters(&slices(&blocks)), letters(&[blocks]));
    }
}
