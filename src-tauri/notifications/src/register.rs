//! The notifications that are wanted and those that are shown. Pure: it returns the calls that make them equal.

use crate::{DesktopNotification, NotificationAnswer};
use std::collections::{HashMap, VecDeque};
use tokio::sync::oneshot;

/// The notifications of all keys, at most one for each.
pub struct NotificationRegister<T> {
    entries: HashMap<String, Entry<T>>,
    /// Keys whose wanted and shown notification may differ, in the order of their changes.
    changed: VecDeque<String>,
    n_wanted: u64,
    /// The daemon has yet to answer a call.
    is_calling: bool,
    has_ended: bool,
}

struct Entry<T> {
    wanted: Option<Wanted<T>>,
    shown: Option<Shown>,
}

struct Wanted<T> {
    number: u64,
    /// `None` once it was sent.
    notification: Option<DesktopNotification>,
    subject: T,
    /// Receives whether the daemon accepted the notification.
    accepted: Option<oneshot::Sender<bool>>,
}

struct Shown {
    /// The number of the wanted notification that it shows.
    number: u64,
    place: Place,
    activation_token: Option<String>,
}

/// A shown notification, as its daemon names it. Another daemon may use the same id for another notification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The unique name of the daemon on the bus.
    pub daemon: String,
    pub id: u32,
}

/// A call to the daemon. The caller reports its result before it takes the next step.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    Close(Place),
    Show { key: String, number: u64, notification: DesktopNotification },
}

impl<T> Default for NotificationRegister<T> {
    fn default() -> Self {
        Self {
            entries: HashMap::new(),
            changed: VecDeque::new(),
            n_wanted: 0,
            is_calling: false,
            has_ended: false,
        }
    }
}

#[cfg_attr(
    not(all(unix, not(target_os = "macos"))),
    allow(dead_code, reason = "only D-DaemonConnection daemons name a notification and report answers")
)]
impl<T: Clone> NotificationRegister<T> {
    pub fn show(
        &mut self,
        key: &str,
        notification: DesktopNotification,
        subject: T,
        accepted: Option<oneshot::Sender<bool>>,
    ) {
        if self.has_ended {
            return;
        }
        self.n_wanted += 1;
        let wanted = Wanted { number: self.n_wanted, notification: Some(notification), subject, accepted };
        match self.entries.get_mut(key) {
            Some(entry) => entry.wanted = Some(wanted),
            None => {
                self.entries.insert(key.to_owned(), Entry { wanted: Some(wanted), shown: None });
            }
        }
        self.changed.push_back(key.to_owned());
    }

    pub fn withdraw(&mut self, key: &str) {
        if let Some(entry) = self.entries.get_mut(key) {
            entry.wanted = None;
            self.changed.push_back(key.to_owned());
        }
    }

    pub fn has(&self, key: &str) -> bool {
        self.entries.get(key).is_some_and(|entry| entry.wanted.is_some())
    }

    pub fn end(&mut self) {
        self.has_ended = true;
        let keys: Vec<String> = self.entries.keys().cloned().collect();
        keys.iter().for_each(|key| self.withdraw(key));
    }

    /// The user invoked an action. The notification is withdrawn, because some daemons keep it.
    pub fn invoked(&mut self, place: &Place, action: String) -> Option<NotificationAnswer<T>> {
        let (key, entry) = self.entry_at(place)?;
        let shown = entry.shown.as_mut()?;
        let activation_token = shown.activation_token.take();
        let wanted = entry.wanted.take_if(|wanted| wanted.number == shown.number)?;
        self.changed.push_back(key);
        Some(NotificationAnswer { subject: wanted.subject, action, activation_token })
    }

    /// The daemon sends the token of an action before the action.
    pub fn activates(&mut self, place: &Place, token: String) {
        if let Some(shown) = self.entry_at(place).and_then(|(_, entry)| entry.shown.as_mut()) {
            shown.activation_token = Some(token);
        }
    }

    /// The daemon has closed a notification.
    pub fn closed(&mut self, place: &Place) {
        if let Some((key, entry)) = self.entry_at(place) {
            forget(entry);
            self.changed.push_back(key);
        }
    }

    /// The daemon, or with `None` the bus, is gone, and with it all that it showed.
    pub fn left(&mut self, daemon: Option<&str>) {
        for (key, entry) in &mut self.entries {
            let is_there = |shown: &Shown| daemon.is_none_or(|daemon| shown.place.daemon == daemon);
            if entry.shown.as_ref().is_some_and(is_there) {
                forget(entry);
                self.changed.push_back(key.clone());
            }
        }
    }

    fn entry_at(&mut self, place: &Place) -> Option<(String, &mut Entry<T>)> {
        let is_there = |entry: &Entry<T>| entry.shown.as_ref().is_some_and(|shown| shown.place == *place);
        let found = self.entries.iter_mut().find(|(_, entry)| is_there(entry));
        found.map(|(key, entry)| (key.clone(), entry))
    }

    /// The daemon shows a notification.
    pub fn appeared(&mut self, key: &str, number: u64, place: Place) {
        self.is_calling = false;
        self.answered(key, number, true);
        let shown = Some(Shown { number, place, activation_token: None });
        // It may have been withdrawn or replaced meanwhile.
        self.entries.entry(key.to_owned()).or_insert(Entry { wanted: None, shown: None }).shown = shown;
        self.changed.push_back(key.to_owned());
    }
}

impl<T> NotificationRegister<T> {
    /// The next call that makes the shown notifications equal to the wanted ones.
    pub fn next_step(&mut self) -> Option<Step> {
        while let Some(key) = self.changed.front() {
            let Some(entry) = self.entries.get_mut(key) else {
                self.changed.pop_front();
                continue;
            };
            let number = entry.wanted.as_ref().map(|wanted| wanted.number);
            if let Some(shown) = entry.shown.take_if(|shown| number != Some(shown.number)) {
                self.is_calling = true;
                return Some(Step::Close(shown.place));
            }
            let key = self.changed.pop_front()?;
            match &mut entry.wanted {
                Some(Wanted { number, notification, .. }) => {
                    let Some(notification) = notification.take() else { continue };
                    self.is_calling = true;
                    return Some(Step::Show { key, number: *number, notification });
                }
                None => {
                    self.entries.remove(&key);
                }
            }
        }
        None
    }

    /// The daemon has accepted a notification or not.
    pub fn answered(&mut self, key: &str, number: u64, is_accepted: bool) {
        let wanted = self.entries.get_mut(key).and_then(|entry| entry.wanted.as_mut());
        let accepted =
            wanted.filter(|wanted| wanted.number == number).and_then(|wanted| wanted.accepted.take());
        if let Some(accepted) = accepted {
            // The caller may no longer wait for it.
            let _ = accepted.send(is_accepted);
        }
    }

    pub fn is_idle(&self) -> bool {
        self.changed.is_empty() && !self.is_calling
    }

    /// The call of [`Step::Close`] is over, in whichever way.
    pub fn withdrawn(&mut self) {
        self.is_calling = false;
    }

    /// A notification is not shown, or no longer of interest: it reports nothing that happens to it.
    pub fn not_shown(&mut self, key: &str, number: u64) {
        self.is_calling = false;
        self.answered(key, number, false);
        if let Some(entry) = self.entries.get_mut(key) {
            entry.wanted.take_if(|wanted| wanted.number == number);
            self.changed.push_back(key.to_owned());
        }
    }
}

/// A notification that is gone is not shown again.
fn forget<T>(entry: &mut Entry<T>) {
    if let Some(shown) = entry.shown.take() {
        entry.wanted.take_if(|wanted| wanted.number == shown.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deskbell_api::BellUrgency;

    fn notification(summary: &str) -> DesktopNotification {
        DesktopNotification {
            summary: summary.to_owned(),
            body: String::new(),
            urgency: BellUrgency::Normal,
            has_sound: false,
            buttons: Vec::new(),
        }
    }

    fn place(id: u32) -> Place {
        Place { daemon: ":1.7".to_owned(), id }
    }

    /// Takes the next step, which must show `summary`, and reports that it is shown.
    fn shows(register: &mut NotificationRegister<u8>, summary: &str, id: u32) {
        let Some(Step::Show { key, number, notification }) = register.next_step() else {
            panic!("“{summary}” is not shown")
        };
        assert_eq!(notification.summary, summary);
        register.appeared(&key, number, place(id));
    }

    fn closes(register: &mut NotificationRegister<u8>, id: u32) {
        assert_eq!(register.next_step(), Some(Step::Close(place(id))));
        register.withdrawn();
    }

    fn rests(register: &mut NotificationRegister<u8>) {
        assert_eq!(register.next_step(), None);
        assert!(register.is_idle());
        let n_shown = register.entries.values().filter(|entry| entry.shown.is_some()).count();
        assert_eq!(register.entries.len(), n_shown, "an entry outlives its notification");
    }

    #[test]
    fn the_caller_hears_whether_a_notification_is_accepted_replaced_or_refused() {
        let mut register = NotificationRegister::default();
        let (accepted, mut is_accepted) = oneshot::channel();
        register.show("a", notification("one"), 1, Some(accepted));
        assert!(is_accepted.try_recv().is_err(), "it was not sent yet");
        shows(&mut register, "one", 7);
        assert_eq!(is_accepted.try_recv(), Ok(true));
        let (accepted, mut is_accepted) = oneshot::channel();
        register.show("b", notification("two"), 2, Some(accepted));
        register.show("b", notification("three"), 3, None);
        assert_eq!(is_accepted.try_recv(), Err(oneshot::error::TryRecvError::Closed), "it was replaced");
        let (accepted, mut is_accepted) = oneshot::channel();
        register.show("b", notification("four"), 4, Some(accepted));
        let Some(Step::Show { key, number, .. }) = register.next_step() else { panic!("nothing is sent") };
        register.not_shown(&key, number);
        assert_eq!(is_accepted.try_recv(), Ok(false));
        rests(&mut register);
    }

    #[test]
    fn a_newer_notification_replaces_the_earlier_one() {
        let mut register = NotificationRegister::default();
        register.show("a", notification("one"), 1, None);
        shows(&mut register, "one", 7);
        rests(&mut register);
        register.show("a", notification("two"), 2, None);
        register.show("a", notification("three"), 3, None);
        closes(&mut register, 7);
        shows(&mut register, "three", 8);
        rests(&mut register);
        assert_eq!(register.invoked(&place(7), "default".to_owned()), None, "it was replaced");
        let answer = register.invoked(&place(8), "default".to_owned()).unwrap();
        assert_eq!((answer.subject, answer.activation_token), (3, None));
    }

    #[test]
    fn a_notification_that_is_withdrawn_before_it_is_shown_is_not_sent() {
        let mut register = NotificationRegister::default();
        register.show("a", notification("one"), 1, None);
        assert!(register.has("a"));
        register.withdraw("a");
        assert!(!register.has("a"));
        rests(&mut register);
    }

    #[test]
    fn a_notification_that_is_withdrawn_while_the_daemon_shows_it_is_closed_then() {
        let mut register = NotificationRegister::default();
        register.show("a", notification("one"), 1, None);
        let Some(Step::Show { key, number, .. }) = register.next_step() else { panic!("it is shown") };
        register.withdraw("a");
        assert_eq!(register.next_step(), None);
        assert!(!register.is_idle(), "the daemon has not answered");
        register.appeared(&key, number, place(7));
        closes(&mut register, 7);
        rests(&mut register);
    }

    #[test]
    fn an_answered_notification_is_withdrawn_and_answers_once() {
        let mut register = NotificationRegister::default();
        register.show("a", notification("one"), 1, None);
        shows(&mut register, "one", 7);
        register.activates(&place(7), "token".to_owned());
        let answer = register.invoked(&place(7), "deny".to_owned()).unwrap();
        assert_eq!(
            answer,
            NotificationAnswer {
                subject: 1,
                action: "deny".to_owned(),
                activation_token: Some("token".to_owned())
            }
        );
        assert_eq!(register.invoked(&place(7), "deny".to_owned()), None);
        closes(&mut register, 7);
        rests(&mut register);
    }

    #[test]
    fn a_dismissed_notification_is_forgotten_and_a_newer_one_is_not() {
        let mut register = NotificationRegister::default();
        register.show("a", notification("one"), 1, None);
        shows(&mut register, "one", 7);
        register.closed(&place(7));
        assert!(!register.has("a"));
        rests(&mut register);
        register.show("a", notification("two"), 2, None);
        shows(&mut register, "two", 8);
        register.show("a", notification("three"), 3, None);
        register.closed(&place(8));
        shows(&mut register, "three", 9);
        rests(&mut register);
    }

    #[test]
    fn another_daemon_is_another_place() {
        let mut register = NotificationRegister::default();
        register.show("a", notification("one"), 1, None);
        shows(&mut register, "one", 7);
        let other = Place { daemon: ":1.8".to_owned(), id: 7 };
        register.closed(&other);
        assert_eq!(register.invoked(&other, "default".to_owned()), None);
        assert!(register.has("a"));
        register.left(Some(":1.8"));
        assert!(register.has("a"));
        register.left(Some(":1.7"));
        assert!(!register.has("a"));
        rests(&mut register);
    }

    #[test]
    fn a_failed_call_leaves_nothing_behind() {
        let mut register = NotificationRegister::default();
        for _ in 0..100 {
            register.show("a", notification("one"), 1, None);
            let Some(Step::Show { key, number, .. }) = register.next_step() else { panic!("it is shown") };
            register.not_shown(&key, number);
            rests(&mut register);
        }
        assert!(register.entries.is_empty());
    }

    #[test]
    fn the_end_withdraws_all_and_shows_nothing_more() {
        let mut register = NotificationRegister::default();
        register.show("a", notification("one"), 1, None);
        shows(&mut register, "one", 7);
        register.show("b", notification("two"), 2, None);
        register.end();
        register.show("c", notification("three"), 3, None);
        closes(&mut register, 7);
        rests(&mut register);
        assert!(register.entries.is_empty());
    }
}
