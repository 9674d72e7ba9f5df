//! Random numbers for tests that print their seed: one seed gives the same test on every machine. By it a run also chooses
//! which part of the longest tests it plays.

use std::env;
use std::sync::LazyLock;

/// A splitmix64 generator.
#[derive(Clone, Debug)]
pub struct Chance(pub u64);

impl Chance {
    /// A number from 0 to `n` - 1.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % n as u64) as usize
    }

    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// The seed of this process: `DESKBELL_TEST_SEED`, or one of this moment. Printed when it is first used.
pub fn seed() -> u64 {
    static SEED: LazyLock<u64> = LazyLock::new(|| {
        let given = env::var("DESKBELL_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
        let seed = given.unwrap_or_else(|| uuid::Uuid::new_v4().as_u64_pair().0);
        println!("DESKBELL_TEST_SEED={seed}");
        seed
    });
    *SEED
}

/// Whether this run plays what others play in part: `DESKBELL_TEST_WHOLE=1`, as the scheduled workflow has it.
pub fn is_whole() -> bool {
    env::var_os("DESKBELL_TEST_WHOLE").is_some_and(|value| value == "1")
}

/// Every `n`th of these, from one that the seed chooses: at least one, if there are any. In a whole run all.
pub fn every<T>(n: usize, all: Vec<T>) -> Vec<T> {
    if is_whole() || all.is_empty() {
        return all;
    }
    let first = Chance(seed()).below(n.min(all.len()));
    every_from(first, n, all)
}

fn every_from<T>(first: usize, n: usize, all: Vec<T>) -> Vec<T> {
    all.into_iter().skip(first).step_by(n).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_all_runs_are_the_whole() {
        let all: Vec<usize> = (0..10).collect();
        let mut played: Vec<usize> = (0..3).flat_map(|first| every_from(first, 3, all.clone())).collect();
        played.sort_unstable();
        assert_eq!(played, all);
        assert_eq!(every_from(1, 3, all), [1, 4, 7]);
    }

    #[test]
    fn of_few_one_is_played() {
        for n_all in 0..4 {
            let n_played = every(6, vec![(); n_all]).len();
            assert_eq!(n_played, if is_whole() { n_all } else { n_all.min(1) });
        }
    }
}
