//! The ids of requests that were received, so that each counts once however often it is sent.

use super::{ClientId, Line};
use std::collections::{HashMap, VecDeque};

/// Ids that are remembered. A request is never sent again after this many later ones.
pub const MAX_IDS: usize = 4_096;

/// Length limit of an id in bytes.
pub const MAX_ID_BYTES: usize = 128;

#[derive(Debug)]
enum State {
    /// It is being carried out; these clients wait for the answer.
    Pending(Vec<ClientId>),
    Answered(Line),
}

/// What an id means for the request that carries it.
#[derive(Debug, PartialEq)]
pub enum Seen {
    /// It counts now.
    First,
    /// It counted already; the answer follows when there is one.
    Pending,
    /// It counted already, with this answer.
    Answered(Line),
}

/// The ids of the last requests.
#[derive(Debug, Default)]
pub struct RequestIds {
    states: HashMap<String, State>,
    /// Answered ids, oldest first.
    answered: VecDeque<String>,
}

impl RequestIds {
    pub fn n_pending(&self) -> usize {
        self.states.len() - self.answered.len()
    }

    /// Looks an id up, for a request of `client`. A first one is pending from now on.
    pub fn receive(&mut self, id: &str, client: ClientId) -> Seen {
        match self.states.get_mut(id) {
            None => {
                self.states.insert(id.to_owned(), State::Pending(vec![client]));
                Seen::First
            }
            Some(State::Pending(clients)) => {
                if !clients.contains(&client) {
                    clients.push(client);
                }
                Seen::Pending
            }
            Some(State::Answered(line)) => Seen::Answered(line.clone()),
        }
    }

    /// Forgets a request that was refused before anything was done: it may be sent again.
    pub fn forget(&mut self, id: &str) {
        if matches!(self.states.get(id), Some(State::Pending(_))) {
            self.states.remove(id);
        }
    }

    /// The answer to a pending request. Returns the clients that wait for it, and forgets the oldest answered ids.
    pub fn answer(&mut self, id: &str, line: Line) -> Vec<ClientId> {
        let Some(State::Pending(clients)) = self.states.get_mut(id) else { return Vec::new() };
        let clients = std::mem::take(clients);
        self.states.insert(id.to_owned(), State::Answered(line));
        self.answered.push_back(id.to_owned());
        while self.answered.len() > MAX_IDS {
            if let Some(oldest) = self.answered.pop_front() {
                self.states.remove(&oldest);
            }
        }
        clients
    }

    /// A client has gone.
    pub fn leave(&mut self, client: ClientId) {
        for state in self.states.values_mut() {
            if let State::Pending(clients) = state {
                clients.retain(|one| *one != client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line {
        text.as_bytes().into()
    }

    #[test]
    fn a_request_counts_once() {
        let mut ids = RequestIds::default();
        let (one, other) = (ClientId(1), ClientId(2));
        assert_eq!(ids.receive("a", one), Seen::First);
        assert_eq!(ids.receive("a", one), Seen::Pending);
        assert_eq!(ids.receive("a", other), Seen::Pending);
        assert_eq!(ids.receive("b", other), Seen::First);
        assert_eq!(ids.n_pending(), 2);
        ids.leave(one);
        assert_eq!(ids.answer("a", line("yes")), [other]);
        assert_eq!(ids.answer("a", line("no")), []);
        assert_eq!(ids.receive("a", one), Seen::Answered(line("yes")));
        assert_eq!(ids.n_pending(), 1);
    }

    #[test]
    fn a_refused_request_may_be_sent_again() {
        let mut ids = RequestIds::default();
        assert_eq!(ids.receive("a", ClientId(1)), Seen::First);
        ids.forget("a");
        assert_eq!(ids.receive("a", ClientId(1)), Seen::First);
    }

    #[test]
    fn the_memory_is_bounded_and_a_pending_id_is_never_forgotten() {
        let mut ids = RequestIds::default();
        assert_eq!(ids.receive("pending", ClientId(1)), Seen::First);
        for nr in 0..3 * MAX_IDS {
            assert_eq!(ids.receive(&nr.to_string(), ClientId(1)), Seen::First);
            ids.answer(&nr.to_string(), line("yes"));
        }
        assert_eq!(ids.states.len(), MAX_IDS + 1);
        assert_eq!(ids.receive("pending", ClientId(1)), Seen::Pending);
        assert_eq!(ids.receive(&(2 * MAX_IDS).to_string(), ClientId(1)), Seen::Answered(line("yes")));
    }
}
