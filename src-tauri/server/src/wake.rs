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
    /// How long the computer slept since the last call; `None` if it did not. All times are in milliseconds. A wall clock
    /// that was set forward by more than 5 s counts as a sleep, too.
    pub fn slept(&mut self, monotonic: u64, wall: u64) -> Option<u64> {
        let offset = wall.saturating_sub(monotonic);
        let before = self.offset.replace(offset)?;
        offset.checked_sub(before).filter(|slept| *slept >= SLEPT_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_wall_clock_that_went_on_alone_is_a_sleep() {
        let mut watch = WakeWatch::default();
        assert_eq!(watch.slept(10, 1_000_010), None, "there is nothing to compare with");
        assert_eq!(watch.slept(90_010, 1_090_010), None, "time passed");
        assert_eq!(watch.slept(91_010, 1_093_010), None, "the wall clock was adjusted");
        assert_eq!(watch.slept(92_010, 1_099_010), Some(5_000));
        assert_eq!(watch.slept(93_010, 1_100_010), None, "the same sleep is reported once");
        assert_eq!(watch.slept(94_010, 5), None, "the wall clock was set back");
        assert_eq!(watch.slept(95_010, 5), None);
    }
}
