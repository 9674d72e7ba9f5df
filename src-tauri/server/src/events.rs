//! The last events of a session, as lines: bounded in bytes, so that a client that comes back can continue.

use super::Line;
use std::collections::VecDeque;

/// Events that are kept although every attached client has acknowledged them, in bytes. A client whose link just broke
/// may still need them.
const KEPT_AFTER_ACK: usize = 1 << 20;

/// The events of one session, oldest first.
#[derive(Debug, Default)]
pub struct EventLog {
    events: VecDeque<(u64, Line)>,
    bytes: usize,
    /// The number of the last event that is no longer here.
    floor: u64,
}

impl EventLog {
    /// An empty log after event number `seq`.
    pub fn new(seq: u64) -> Self {
        Self { floor: seq, ..Self::default() }
    }

    /// The number of the last event.
    pub fn seq(&self) -> u64 {
        self.events.back().map_or(self.floor, |(seq, _)| *seq)
    }

    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds an event and drops the oldest ones, so that at most `limit` bytes are kept.
    pub fn push(&mut self, seq: u64, line: Line, limit: usize) {
        self.bytes += line.len();
        self.events.push_back((seq, line));
        while self.bytes > limit && self.drop_oldest() {}
    }

    /// Every attached client has processed the events up to `seq`.
    pub fn acknowledged(&mut self, seq: u64) {
        while self.bytes > KEPT_AFTER_ACK
            && self.events.front().is_some_and(|(oldest, _)| *oldest <= seq)
            && self.drop_oldest()
        {}
    }

    /// Whether every event after number `seq` is still here.
    pub fn has_after(&self, seq: u64) -> bool {
        (self.floor..=self.seq()).contains(&seq)
    }

    /// The events after number `seq`; `None` if some of them are gone, or if there was no such event.
    pub fn after(&self, seq: u64) -> Option<impl Iterator<Item = &(u64, Line)>> {
        let first = self.events.partition_point(|(nr, _)| *nr <= seq);
        self.has_after(seq).then(|| self.events.range(first..))
    }

    fn drop_oldest(&mut self) -> bool {
        let Some((seq, line)) = self.events.pop_front() else { return false };
        self.floor = seq;
        self.bytes -= line.len();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(n: usize) -> Line {
        vec![b'x'; n].into()
    }

    fn after(log: &EventLog, seq: u64) -> Option<Vec<u64>> {
        log.after(seq).map(|events| events.map(|(seq, _)| *seq).collect())
    }

    #[test]
    fn events_are_continued_or_known_to_be_gone() {
        let mut log = EventLog::new(3);
        assert_eq!(after(&log, 3), Some(vec![]));
        for seq in 4..=8 {
            log.push(seq, line(10), 30);
        }
        let table = [
            (0, None),
            (3, None),
            (4, None),
            (5, Some(vec![6, 7, 8])),
            (7, Some(vec![8])),
            (8, Some(vec![])),
            // A number that this session never had.
            (9, None),
            (u64::MAX, None),
        ];
        for (seq, expected) in table {
            assert_eq!(after(&log, seq), expected, "after {seq}");
        }
        assert_eq!((log.seq(), log.bytes()), (8, 30));
    }

    #[test]
    fn an_event_above_the_limit_leaves_none() {
        let mut log = EventLog::new(0);
        log.push(1, line(10), 30);
        log.push(2, line(31), 30);
        assert_eq!((log.bytes(), log.seq()), (0, 2));
        assert_eq!((after(&log, 1), after(&log, 2)), (None, Some(vec![])));
    }

    /// A renumbering of rows has a number and no event.
    #[test]
    fn a_number_without_an_event_is_no_gap() {
        let mut log = EventLog::new(0);
        log.push(1, line(1), 30);
        log.push(3, line(1), 30);
        assert_eq!((after(&log, 1), after(&log, 2)), (Some(vec![3]), Some(vec![3])));
    }

    #[test]
    fn acknowledged_events_are_dropped_and_a_last_part_is_kept() {
        let mut log = EventLog::new(0);
        for seq in 1..=40 {
            log.push(seq, line(100_000), usize::MAX);
        }
        log.acknowledged(4);
        assert_eq!(after(&log, 4).map(|events| events.len()), Some(36));
        log.acknowledged(40);
        assert!(log.bytes() <= KEPT_AFTER_ACK && log.bytes() > KEPT_AFTER_ACK / 2);
        assert_eq!(log.seq(), 40);
    }
}
