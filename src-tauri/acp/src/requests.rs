//! Open requests in both directions. The two sides number theirs independently, and both begin at 0.

use crate::event::{AcpAction, RequestKey};
use crate::rpc::Id;
use deskbell_api::FormField;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// Requests of ours that wait for the agent's answer.
#[derive(Debug, Default)]
pub struct Ours {
    next: i64,
    open: BTreeMap<i64, AcpAction>,
}

impl Ours {
    /// The id for a new request.
    pub fn open(&mut self, action: AcpAction) -> i64 {
        let id = self.next;
        self.next += 1;
        self.open.insert(id, action);
        id
    }

    /// What was asked with this id; `None` if nothing waits for it.
    pub fn close(&mut self, id: &Id) -> Option<AcpAction> {
        let id: i64 = id.text().parse().ok()?;
        self.open.remove(&id)
    }

    /// The newest of those that wait.
    pub fn last(&self) -> Option<&AcpAction> {
        self.open.last_key_value().map(|(_, action)| action)
    }

    pub fn has(&self, action: &AcpAction) -> bool {
        self.open.values().any(|open| open == action)
    }

    /// Everything that waits, in order.
    pub fn close_all(&mut self) -> Vec<AcpAction> {
        std::mem::take(&mut self.open).into_values().collect()
    }
}

/// A request of the agent that waits for the user.
#[derive(Debug)]
pub enum AskedRequest {
    Permission { call: String, options: Vec<(String, bool)> },
    Question(Vec<FormField>),
}

/// Requests of the agent.
#[derive(Debug, Default)]
pub struct Theirs {
    n_keys: u64,
    open: BTreeMap<RequestKey, (Id, AskedRequest)>,
    keys: HashMap<Id, RequestKey>,
}

impl Theirs {
    pub fn next_key(&mut self) -> RequestKey {
        self.n_keys += 1;
        RequestKey(self.n_keys)
    }

    pub fn open(&mut self, key: RequestKey, id: Id, asked: AskedRequest) {
        self.keys.insert(id.clone(), key);
        self.open.insert(key, (id, asked));
    }

    pub fn get(&self, key: RequestKey) -> Option<&AskedRequest> {
        self.open.get(&key).map(|(_, asked)| asked)
    }

    pub fn close(&mut self, key: RequestKey) -> Option<(Id, AskedRequest)> {
        let (id, asked) = self.open.remove(&key)?;
        self.keys.remove(&id);
        Some((id, asked))
    }

    /// Closes the request with this id of the agent.
    pub fn close_id(&mut self, id: &Id) -> Option<(RequestKey, AskedRequest)> {
        let key = *self.keys.get(id)?;
        self.close(key).map(|(_, asked)| (key, asked))
    }

    /// Everything that waits, in order.
    pub fn close_all(&mut self) -> Vec<(RequestKey, Id, AskedRequest)> {
        self.keys.clear();
        std::mem::take(&mut self.open).into_iter().map(|(key, (id, asked))| (key, id, asked)).collect()
    }

    pub fn len(&self) -> usize {
        self.open.len()
    }
}

/// The answer that cancels a request.
pub fn cancelled(asked: &AskedRequest) -> Value {
    match asked {
        AskedRequest::Permission { .. } => serde_json::json!({"outcome": {"outcome": "cancelled"}}),
        AskedRequest::Question(_) => serde_json::json!({"action": "cancel"}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn both_sides_may_use_the_same_id() {
        let (mut ours, mut theirs) = (Ours::default(), Theirs::default());
        let id = Id::new(&json!(ours.open(AcpAction::Initialize)));
        let key = theirs.next_key();
        theirs.open(key, id.clone(), AskedRequest::Permission { call: "c".to_owned(), options: Vec::new() });
        assert_eq!(ours.close(&id), Some(AcpAction::Initialize));
        assert!(theirs.get(key).is_some(), "an answer of the agent closes no request of the agent");
        assert!(theirs.close_id(&id).is_some());
    }

    #[test]
    fn an_answer_counts_once_and_only_for_its_own_id() {
        let mut ours = Ours::default();
        let id = ours.open(AcpAction::Prompt);
        for other in [json!(id + 1), json!(id.to_string()), json!(null), json!("x")] {
            assert_eq!(ours.close(&Id::new(&other)), None, "{other}");
        }
        assert_eq!(ours.close(&Id::new(&json!(id))), Some(AcpAction::Prompt));
        assert_eq!(ours.close(&Id::new(&json!(id))), None);
    }

    #[test]
    fn a_key_is_never_used_twice() {
        let mut theirs = Theirs::default();
        let asked = || AskedRequest::Permission { call: "c".to_owned(), options: Vec::new() };
        let first = theirs.next_key();
        theirs.open(first, Id::new(&json!(0)), asked());
        assert!(theirs.close(first).is_some());
        let second = theirs.next_key();
        theirs.open(second, Id::new(&json!(0)), asked());
        assert!(theirs.get(first).is_none() && theirs.get(second).is_some());
    }
}
