//! When the user is called for a lost connection to another machine: once, when it did not come back by itself, and only
//! if a session there worked or waited.

use deskbell_engine::api::{BoardState, Session, SessionLink, Status};
use std::time::Duration;

/// A connection that is back within this time was never missed.
pub const GRACE: Duration = Duration::from_secs(10);

/// One link, as time passes. All times are in milliseconds, by one clock.
#[derive(Debug, Default)]
pub struct LostLink {
    lost_at: Option<u64>,
    has_called: bool,
    was_up: bool,
}

/// What is to be done after a change of the link, or when [`LostLink::due`] is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// The link is up: what was said about it is withdrawn.
    Withdraw,
    /// Call the user, if something waits there.
    Ring,
    Nothing,
}

impl LostLink {
    /// The link has this state now.
    pub fn at(&mut self, now: u64, link: &SessionLink) -> Call {
        if matches!(link, SessionLink::Connected | SessionLink::Here) {
            *self = Self { was_up: true, ..Self::default() };
            return Call::Withdraw;
        }
        // A machine that was never reached has nothing that the user knows of.
        if !self.was_up || self.has_called {
            return Call::Nothing;
        }
        let lost_at = *self.lost_at.get_or_insert(now);
        if now < lost_at + GRACE.as_millis() as u64 {
            return Call::Nothing;
        }
        self.has_called = true;
        Call::Ring
    }

    /// The time at which the user is called unless the link is up before.
    pub fn due(&self) -> Option<u64> {
        self.lost_at.filter(|_| !self.has_called).map(|lost_at| lost_at + GRACE.as_millis() as u64)
    }
}

/// Whether the session had running work or open requests when the link was last up.
pub fn waits(session: &Session) -> bool {
    matches!(session.status.state(), Some(BoardState::NeedsInput | BoardState::Working))
        || session.status == Status::Starting
        || session.queue.iter().any(|prompt| !prompt.held)
        || session.n_background > 0
        || !session.scheduled.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    const UP: SessionLink = SessionLink::Connected;
    const DOWN: SessionLink = SessionLink::Waiting { attempt: 2, at: 0 };

    #[test]
    fn the_user_is_called_once_for_a_link_that_does_not_come_back() {
        let mut link = LostLink::default();
        assert_eq!(link.at(0, &UP), Call::Withdraw);
        assert_eq!((link.at(100, &SessionLink::Connecting), link.due()), (Call::Nothing, Some(10_100)));
        assert_eq!(link.at(10_099, &DOWN), Call::Nothing);
        assert_eq!(link.at(10_100, &DOWN), Call::Ring);
        assert_eq!((link.at(90_000, &DOWN), link.due()), (Call::Nothing, None));
        assert_eq!(link.at(90_100, &UP), Call::Withdraw);
        assert_eq!(link.at(90_200, &DOWN), Call::Nothing);
        assert_eq!(link.at(100_200, &DOWN), Call::Ring, "the next loss is another one");
    }

    #[test]
    fn a_link_that_comes_back_soon_or_was_never_up_calls_no_one() {
        let mut link = LostLink::default();
        for now in [0, 20_000, 90_000] {
            assert_eq!((link.at(now, &DOWN), link.due()), (Call::Nothing, None));
        }
        for lost_at in [100_000, 120_000] {
            assert_eq!(link.at(lost_at, &UP), Call::Withdraw);
            assert_eq!(link.at(lost_at + 1, &DOWN), Call::Nothing);
            assert_eq!(link.at(lost_at + 9_999, &SessionLink::Connecting), Call::Nothing);
        }
    }
}
