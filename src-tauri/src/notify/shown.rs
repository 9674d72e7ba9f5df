//! Bookkeeping of notifications: which are shown, and which were withdrawn while a daemon was about to show them.

use deskbell_engine::api::SessionId;
use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The notifications of all sessions, at most one for each.
#[derive(Default)]
pub struct Shown {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    by_session: HashMap<SessionId, One>,
    n_begun: u64,
    /// Calls that a daemon has yet to answer. The app waits for them when it ends.
    n_calls: usize,
    has_ended: bool,
}

struct One {
    number: u64,
    /// The daemon's number for it, once it is shown.
    id: Option<u32>,
    /// The notification that it replaces.
    replaces: Option<u32>,
}

/// Whether a notification that the daemon has just shown is still wanted.
#[cfg_attr(
    not(all(unix, not(target_os = "macos"))),
    allow(dead_code, reason = "only D-Bus daemons number them")
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Wanted,
    Withdrawn,
}

/// A call to the daemon in progress, until this is dropped.
pub struct Call(Arc<Shown>);

impl Drop for Call {
    fn drop(&mut self) {
        self.0.lock().n_calls -= 1;
        self.0.changed.notify_all();
    }
}

impl Shown {
    /// Begins a call to the daemon.
    pub fn call(self: &Arc<Self>) -> Call {
        self.lock().n_calls += 1;
        Call(self.clone())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a notification of this session and returns its number. It replaces an earlier one.
    pub fn begin(&self, session_id: &SessionId) -> u64 {
        let mut state = self.lock();
        state.n_begun += 1;
        let number = state.n_begun;
        if state.has_ended {
            return number;
        }
        let before = state.by_session.remove(session_id);
        let replaces = before.and_then(|one| one.id.or(one.replaces));
        state.by_session.insert(session_id.clone(), One { number, id: None, replaces });
        number
    }

    /// Called before the daemon is asked to show it. `None`: it was withdrawn. Otherwise the daemon's number of the
    /// notification that it replaces, to be withdrawn first.
    pub fn about_to_show(
        self: &Arc<Self>,
        session_id: &SessionId,
        number: u64,
    ) -> Option<(Option<u32>, Call)> {
        let mut state = self.lock();
        let one = state.by_session.get_mut(session_id).filter(|one| one.number == number)?;
        let replaces = one.replaces.take();
        state.n_calls += 1;
        drop(state);
        Some((replaces, Call(self.clone())))
    }

    /// The daemon shows it, under this number.
    #[cfg_attr(
        not(all(unix, not(target_os = "macos"))),
        allow(dead_code, reason = "only D-Bus daemons number them")
    )]
    pub fn appeared(&self, session_id: &SessionId, number: u64, id: u32) -> Outcome {
        let mut state = self.lock();
        match state.by_session.get_mut(session_id).filter(|one| one.number == number) {
            Some(one) => {
                one.id = Some(id);
                Outcome::Wanted
            }
            None => Outcome::Withdrawn,
        }
    }

    /// The thread of a notification has finished, for any reason.
    pub fn end_of(&self, session_id: &SessionId, number: u64) {
        let mut state = self.lock();
        if state.by_session.get(session_id).is_some_and(|one| one.number == number) {
            state.by_session.remove(session_id);
        }
    }

    /// Whether a notification of this session is shown, or about to be.
    pub fn has(&self, session_id: &SessionId) -> bool {
        self.lock().by_session.contains_key(session_id)
    }

    /// Withdraws a session's notification. Returns the daemon's number of it, if it is shown.
    pub fn withdraw(&self, session_id: &SessionId) -> Option<u32> {
        let one = self.lock().by_session.remove(session_id)?;
        one.id.or(one.replaces)
    }

    /// Prevents further notifications. Returns the daemon's numbers of those to close.
    pub fn end(&self) -> Vec<u32> {
        let mut state = self.lock();
        state.has_ended = true;
        state.by_session.drain().filter_map(|(_, one)| one.id.or(one.replaces)).collect()
    }

    /// Waits until the daemon has answered every call. `false`: it has not answered within this time.
    pub fn wait_for_end(&self, most: Duration) -> bool {
        let state = self.lock();
        let waited = self.changed.wait_timeout_while(state, most, |state| state.n_calls > 0);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.n_calls == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    fn session() -> SessionId {
        SessionId::new("a")
    }

    fn shown() -> Arc<Shown> {
        Arc::default()
    }

    #[test]
    fn a_newer_notification_replaces_the_one_before() {
        let shown = shown();
        let first = shown.begin(&session());
        let (none, call) = shown.about_to_show(&session(), first).unwrap();
        assert_eq!((none, shown.appeared(&session(), first, 7)), (None, Outcome::Wanted));
        drop(call);
        let second = shown.begin(&session());
        assert!(shown.about_to_show(&session(), first).is_none());
        assert_eq!(shown.about_to_show(&session(), second).unwrap().0, Some(7));
        shown.end_of(&session(), first);
        assert_eq!(shown.appeared(&session(), second, 8), Outcome::Wanted, "the thread of the first ended");
        assert_eq!(shown.withdraw(&session()), Some(8));
        assert_eq!(shown.withdraw(&session()), None);
    }

    #[test]
    fn what_is_withdrawn_before_the_daemon_shows_it_is_closed_when_it_does() {
        let shown = shown();
        let number = shown.begin(&session());
        let _call = shown.about_to_show(&session(), number).unwrap();
        assert_eq!(shown.withdraw(&session()), None, "the daemon has given no number yet");
        assert_eq!(shown.appeared(&session(), number, 7), Outcome::Withdrawn);
    }

    #[test]
    fn what_is_replaced_and_then_withdrawn_is_closed_too() {
        let shown = shown();
        let first = shown.begin(&session());
        shown.appeared(&session(), first, 7);
        let second = shown.begin(&session());
        assert_eq!(shown.withdraw(&session()), Some(7));
        assert!(shown.about_to_show(&session(), second).is_none());
    }

    #[test]
    fn the_end_closes_all_shows_nothing_more_and_waits_no_longer_than_it_may() {
        let shown = shown();
        let number = shown.begin(&session());
        shown.appeared(&session(), number, 7);
        let other = SessionId::new("b");
        let late = shown.begin(&other);
        let (_, hanging) = shown.about_to_show(&other, late).unwrap();
        assert_eq!(shown.end(), [7]);
        let after = shown.begin(&session());
        assert!(shown.about_to_show(&session(), after).is_none(), "the app has ended");
        assert_eq!(shown.appeared(&other, late, 9), Outcome::Withdrawn);
        let began = Instant::now();
        assert!(!shown.wait_for_end(Duration::from_millis(50)));
        assert!(began.elapsed() >= Duration::from_millis(50));
        drop(hanging);
        assert!(shown.wait_for_end(Duration::from_secs(60)));
    }
}
