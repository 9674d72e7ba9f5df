//! Random numbers for tests that print their seed: one seed gives the same test on every machine.

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

/// The seed of a run: `DESKBELL_TEST_SEED`, or one of this moment. The test prints it.
pub fn seed() -> u64 {
    let given = std::env::var("DESKBELL_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
    given.unwrap_or_else(|| uuid::Uuid::new_v4().as_u64_pair().0)
}
