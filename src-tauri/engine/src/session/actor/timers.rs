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
    steady: Steady,
    began: Instant,
}

/// A change of the wall clock against the monotonic one that counts as a jump, in milliseconds. A time server also makes it
/// run a little faster or slower.
const LEAST_JUMP_MS: i64 = 1_000;

/// The wall clock without its jumps. Without one it is the same time, so a recording is replayed with the same durations.
#[derive(Default)]
struct Steady {
    /// The wall clock's lead over the monotonic clock.
    lead: Option<i64>,
    jumped: i64,
}

impl Steady {
    fn at(&mut self, Clocks { monotonic, wall }: Clocks) -> u64 {
        let (wall, monotonic) = (wall.cast_signed(), monotonic.cast_signed());
        let lead = wall.saturating_sub(monotonic);
        let jump = lead.saturating_sub(self.lead.unwrap_or(lead));
        self.lead = Some(lead);
        if jump.saturating_abs() >= LEAST_JUMP_MS {
            self.jumped = self.jumped.saturating_add(jump);
        }
        wall.saturating_sub(self.jumped).max(0).cast_unsigned()
    }
}

impl Timers {
    pub fn new() -> Self {
        Self {
            due: BTreeMap::new(),
            wake: WakeWatch::default(),
            steady: Steady::default(),
            began: Instant::now(),
        }
    }

    fn monotonic(&self) -> u64 {
        self.began.elapsed().as_millis() as u64
    }

    fn clocks(&self) -> Clocks {
        Clocks { monotonic: self.monotonic(), wall: super::now() }
    }

    /// The time for durations at this time of the wall clock.
    pub fn steady(&mut self, wall: u64) -> u64 {
        let monotonic = self.monotonic();
        self.steady.at(Clocks { monotonic, wall })
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
    fn durations_follow_the_wall_clock_except_where_it_jumps() {
        let mut steady = Steady::default();
        let mut at = |monotonic, wall| steady.at(Clocks { monotonic, wall });
        assert_eq!((at(0, 1_000_000), at(2_000, 1_002_003)), (1_000_000, 1_002_003));
        // Set forward by a night, then back to 1970.
        assert_eq!(at(3_000, 1_003_003 + NIGHT), 1_003_003);
        assert_eq!(at(4_000, 0), 1_004_003);
        assert_eq!(at(5_000, 1_000), 1_005_003);
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
