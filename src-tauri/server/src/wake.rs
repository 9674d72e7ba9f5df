//! Wake-ups of the computer, seen by two clocks: the wall clock goes on while the computer sleeps, and the monotonic
//! clock does not.

/// A difference of the clocks that grew by less, in milliseconds, is an adjustment of the wall clock.
const SLEPT_MS: u64 = 5_000;

/// Compares the clocks at each call.
#[derive(Debug, Default)]
pub struct WakeWatch {
    /// The wall clock minus the monotonic clock, at the last call.
    offset: Option<u64>,
}

impl WakeWatch {
    /// Whether the computer slept since the last call. Both times are in milliseconds. A wall clock that was set forward
    /// by more than 5 s counts as a sleep, too: the caller then only tries earlier.
    pub fn woke(&mut self, monotonic: u64, wall: u64) -> bool {
        let offset = wall.saturating_sub(monotonic);
        let before = self.offset.replace(offset);
        before.is_some_and(|before| offset >= before + SLEPT_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_wall_clock_that_went_on_alone_is_a_sleep() {
        let mut watch = WakeWatch::default();
        assert!(!watch.woke(10, 1_000_010), "there is nothing to compare with");
        assert!(!watch.woke(90_010, 1_090_010), "time passed");
        assert!(!watch.woke(91_010, 1_093_010), "the wall clock was adjusted");
        assert!(watch.woke(92_010, 1_099_010), "5 s were slept");
        assert!(!watch.woke(93_010, 1_100_010), "the same sleep is reported once");
        assert!(!watch.woke(94_010, 5), "the wall clock was set back");
        assert!(!watch.woke(95_010, 5));
    }
}
