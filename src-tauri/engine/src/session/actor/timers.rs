//! The timers of a session. They do not count the time that the computer sleeps: the agent slept as well.

use crate::session::machine::Timer;
use deskbell_server::wake::WakeWatch;
use std::collections::BTreeMap;
use std::time::Instant;

/// Times of both clocks, in milliseconds.
#[derive(Clone, Copy)]
struct Clocks {
    monotonic: u64,
    wall: u64,
}

pub(super) struct Timers {
    /// By the wall clock.
    due: BTreeMap<Timer, u64>,
    wake: WakeWatch,
    began: Instant,
}

impl Timers {
    pub fn new() -> Self {
        Self { due: BTreeMap::new(), wake: WakeWatch::default(), began: Instant::now() }
    }

    fn clocks(&self) -> Clocks {
        Clocks { monotonic: self.began.elapsed().as_millis() as u64, wall: super::now() }
    }

    pub fn arm(&mut self, timer: Timer, at: u64) {
        let clocks = self.clocks();
        self.arm_at(clocks, timer, at);
    }

    fn arm_at(&mut self, clocks: Clocks, timer: Timer, at: u64) {
        // Before it is added: its time is of after the sleep.
        self.put_off(clocks);
        self.due.insert(timer, at);
    }

    pub fn disarm(&mut self, timer: Timer) {
        self.due.remove(&timer);
    }

    /// The time at which to look for timers that are due.
    pub fn next(&self) -> Option<u64> {
        self.due.values().min().copied()
    }

    /// The time now, and the timers that are due.
    pub fn due(&mut self) -> (u64, Vec<Timer>) {
        let clocks = self.clocks();
        (clocks.wall, self.due_at(clocks))
    }

    fn due_at(&mut self, clocks: Clocks) -> Vec<Timer> {
        self.put_off(clocks);
        self.due.iter().filter(|(_, at)| **at <= clocks.wall).map(|(timer, _)| *timer).collect()
    }

    /// Removes a timer that is due. `false`: an earlier one has disarmed it.
    pub fn take(&mut self, timer: Timer) -> bool {
        self.due.remove(&timer).is_some()
    }

    /// After a sleep each timer has as long as before it, so that an agent that was idle for a minute is not hibernated
    /// for a night, and one that was just started is not given up. A limit resets at a time of the wall clock.
    fn put_off(&mut self, clocks: Clocks) {
        let Some(slept) = self.wake.slept(clocks.monotonic, clocks.wall) else { return };
        tracing::debug!(slept, "the computer slept");
        for (timer, at) in &mut self.due {
            if *timer != Timer::Reset {
                *at += slept;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NIGHT: u64 = 8 * 3_600_000;

    /// Timers that were armed at time 0 of the monotonic clock, for 60 s.
    fn armed() -> Timers {
        let mut timers = Timers::new();
        for timer in [Timer::Hibernate, Timer::Initialize, Timer::Reset] {
            timers.arm_at(Clocks { monotonic: 0, wall: 1_000_000 }, timer, 1_060_000);
        }
        timers
    }

    #[test]
    fn a_night_of_sleep_is_no_idle_time() {
        let mut timers = armed();
        let at = |monotonic| Clocks { monotonic, wall: 1_000_000 + NIGHT + monotonic };
        assert_eq!(timers.due_at(at(20_000)), [Timer::Reset], "a limit has reset meanwhile");
        assert!(timers.take(Timer::Reset));
        assert_eq!(timers.next(), Some(1_060_000 + NIGHT));
        assert_eq!(timers.due_at(at(59_999)), []);
        assert_eq!(timers.due_at(at(60_000)), [Timer::Initialize, Timer::Hibernate]);
    }

    #[test]
    fn a_timer_that_is_armed_after_the_sleep_is_not_put_off() {
        let mut timers = armed();
        let wall = 1_000_000 + NIGHT + 10_000;
        timers.arm_at(Clocks { monotonic: 10_000, wall }, Timer::Stop, wall + 5_000);
        assert_eq!(
            timers.due_at(Clocks { monotonic: 15_000, wall: wall + 5_000 }),
            [Timer::Stop, Timer::Reset]
        );
    }

    #[test]
    fn without_a_sleep_a_timer_is_due_at_its_time() {
        let mut timers = armed();
        assert_eq!(timers.due_at(Clocks { monotonic: 59_999, wall: 1_059_999 }), []);
        assert_eq!(timers.due_at(Clocks { monotonic: 60_000, wall: 1_060_000 }).len(), 3);
        timers.disarm(Timer::Hibernate);
        assert!(!timers.take(Timer::Hibernate));
    }
}
