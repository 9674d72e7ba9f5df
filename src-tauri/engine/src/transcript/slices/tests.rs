use super::{Slices, has_one_slice};
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

fn n_slices_of(source: &str) -> u32 {
    Slices::of(&document::markdown(source)).count()
}

#[test]
fn a_source_that_has_one_slice_for_certain_has_one() {
    let prose =
        "The sum of **3** lines is in `total`, see [it](https://e.org/a_b).\n\n- Next: the test.\n".repeat(9);
    let code = format!("```rust\n{}```\n", "let total = lines.iter().map(|line| line.amount);\n".repeat(8));
    for short in ["", "a", "word ".repeat(400).as_str(), &prose, &code] {
        assert!(has_one_slice(short), "{short}");
        assert_eq!(n_slices_of(short), 1, "{short}");
    }
    let columns = "|a".repeat(30);
    let table = format!("{columns}\n{}\n{}", "|-".repeat(30), "x\n".repeat(70));
    let links = format!("{}\n\n[a]: https://e.org/{}", "[a] ".repeat(30), "x".repeat(400));
    for long in ["- a\n".repeat(300), "*a* ".repeat(400), "x\n\n".repeat(400), table, links] {
        assert!(!has_one_slice(&long) && n_slices_of(&long) > 1, "{long}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn no_source_that_has_one_slice_for_certain_has_more(
        parts in prop::collection::vec(
            r"[-*_~>#|:+.)1a<\[\]!&;` \\\n\r\tx]{1,12}|https://a |<br>|    a\n|```x\n|- \[ \] ",
            1..6,
        ),
    ) {
        let part = parts.concat();
        // The longest one of these is most likely to have a second slice.
        let sources = (1..2_048).map(|n| part.repeat(n));
        if let Some(longest) = sources.take_while(|source| has_one_slice(source)).last() {
            prop_assert_eq!(n_slices_of(&longest), 1, "{:?}", longest);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]
    #[test]
    fn nothing_is_lost_whatever_it_is(seeds in prop::collection::vec("[-*>#| `0-9a-z\\n]{1,40}", 1..8)) {
        let blocks = document::markdown(&seeds.concat().repeat(2_000));
        prop_assert_eq!(letters(&slices(&blocks)), letters(&[blocks]));
    }
}
