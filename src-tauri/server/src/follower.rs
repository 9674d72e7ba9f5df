//! The client's half: follows one session over links that break, without losing or doubling an event, and sends each
//! command until it is answered.

use deskbell_api::server::{Refusal, Request};
use deskbell_api::{Command, SessionId};
use serde::Deserialize;
use std::collections::VecDeque;

/// What a line of the server means for the session that is followed.
#[derive(Debug, PartialEq)]
pub enum Received {
    /// The next event: apply it.
    Event,
    /// The whole state: replaces everything so far.
    Snapshot,
    /// A command was answered.
    Answered { id: String, refused: Option<Refusal> },
    /// The session was removed from the server.
    Removed,
    /// The line does not continue what was received: attach again.
    Gap,
    /// Nothing of this session.
    Other,
}

/// The parts of a line that matter here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    seq: Option<u64>,
    #[serde(default)]
    session_id: Option<SessionId>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    reason: Option<Refusal>,
    #[serde(default)]
    snapshot: Option<SnapshotHead>,
}

#[derive(Deserialize)]
struct SnapshotHead {
    seq: u64,
}

/// One session of a server, as a client follows it.
#[derive(Debug)]
pub struct Follower {
    session_id: SessionId,
    /// The run of the server that the number belongs to.
    run: Option<String>,
    /// The last event; `None` before the first snapshot.
    seq: Option<u64>,
    /// The server said that it continues after `seq`, on this link.
    is_attached: bool,
    /// Commands without an answer, each with the run to which it was first sent.
    pending: VecDeque<(String, String, Command)>,
}

impl Follower {
    pub fn new(session_id: SessionId) -> Self {
        Self { session_id, run: None, seq: None, is_attached: false, pending: VecDeque::new() }
    }

    /// The number of the last event.
    pub fn seq(&self) -> Option<u64> {
        self.seq
    }

    pub fn n_pending(&self) -> usize {
        self.pending.len()
    }

    /// A link to this run of the server is up. Returns what to send: the subscription, and the unanswered commands.
    pub fn connected(&mut self, run: &str) -> Vec<Request> {
        if self.run.as_deref() != Some(run) {
            self.run = Some(run.to_owned());
            self.seq = None;
        }
        let mut requests = vec![self.attach()];
        requests.extend(self.pending.iter().map(|(id, run, command)| self.request(id, run, command)));
        requests
    }

    /// The request that subscribes again, after a gap.
    pub fn attach(&mut self) -> Request {
        self.is_attached = false;
        Request::Attach { session_id: self.session_id.clone(), after: self.seq, run: self.run.clone() }
    }

    /// A new command, kept until it is answered. `None` before the first link.
    pub fn command(&mut self, id: String, command: Command) -> Option<Request> {
        let run = self.run.clone()?;
        let request = self.request(&id, &run, &command);
        self.pending.push_back((id, run, command));
        Some(request)
    }

    /// Takes note of a line of the server.
    pub fn received(&mut self, line: &[u8]) -> Received {
        let Ok(head) = serde_json::from_slice::<Head>(line) else { return Received::Other };
        if head.kind == "accepted" || head.kind == "refused" {
            return self.answered(head);
        }
        if head.session_id.as_ref() != Some(&self.session_id) {
            return Received::Other;
        }
        match (head.kind.as_str(), head.seq, head.snapshot) {
            ("attached", ..) => {
                self.is_attached = true;
                Received::Other
            }
            ("removed", ..) => Received::Removed,
            // A line of a subscription that was given up.
            _ if !self.is_attached => Received::Other,
            ("snapshot", _, Some(snapshot)) => {
                self.seq = Some(snapshot.seq);
                Received::Snapshot
            }
            (_, Some(seq), _) if self.seq.is_some_and(|last| seq > last) => {
                self.seq = Some(seq);
                Received::Event
            }
            (_, Some(_), _) => Received::Gap,
            _ => Received::Other,
        }
    }

    fn answered(&mut self, head: Head) -> Received {
        let Some(id) = head.id else { return Received::Other };
        let before = self.pending.len();
        self.pending.retain(|(one, ..)| *one != id);
        if self.pending.len() == before {
            return Received::Other;
        }
        Received::Answered { id, refused: head.reason }
    }

    fn request(&self, id: &str, run: &str, command: &Command) -> Request {
        Request::Command {
            id: id.to_owned(),
            run: Some(run.to_owned()),
            session_id: self.session_id.clone(),
            command: command.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(value: serde_json::Value) -> Vec<u8> {
        value.to_string().into_bytes()
    }

    #[test]
    fn a_doubled_event_is_a_gap_and_a_foreign_line_is_nothing() {
        let mut follower = Follower::new(SessionId::new("s"));
        assert!(follower.command("c".into(), Command::Interrupt).is_none());
        let attach =
            |after| Request::Attach { session_id: SessionId::new("s"), after, run: Some("r".into()) };
        assert_eq!(follower.connected("r"), [attach(None)]);
        let event = |seq: u64| line(serde_json::json!({"type": "turnStarted", "sessionId": "s", "seq": seq}));
        let attached = line(serde_json::json!({"type": "attached", "sessionId": "s", "after": null}));
        let snapshot =
            line(serde_json::json!({"type": "snapshot", "sessionId": "s", "snapshot": {"seq": 4}}));
        assert_eq!(follower.received(&event(4)), Received::Other, "before the subscription");
        follower.received(&attached);
        assert_eq!(follower.received(&event(4)), Received::Gap, "before the snapshot");
        assert_eq!(follower.received(&snapshot), Received::Snapshot);
        assert_eq!(follower.received(&event(5)), Received::Event);
        assert_eq!(follower.received(&event(5)), Received::Gap);
        let other = line(serde_json::json!({"type": "turnStarted", "sessionId": "t", "seq": 9}));
        assert_eq!(follower.received(&other), Received::Other);
        assert_eq!(follower.received(b"{garbage"), Received::Other);
        assert_eq!(follower.connected("r"), [attach(Some(5))]);
    }

    #[test]
    fn a_command_is_sent_again_with_the_run_it_was_made_for() {
        let mut follower = Follower::new(SessionId::new("s"));
        follower.connected("r");
        let command = follower.command("c".into(), Command::Interrupt).unwrap();
        let again = follower.connected("other");
        assert_eq!(again[1], command);
        let refused = line(serde_json::json!({"type": "refused", "id": "c", "reason": "restarted",
            "error": {"code": "refused", "message": "", "detail": null}}));
        let answered = Received::Answered { id: "c".into(), refused: Some(Refusal::Restarted) };
        assert_eq!(follower.received(&refused), answered);
        assert_eq!(follower.received(&refused), Received::Other, "it was answered already");
        assert_eq!(follower.connected("other").len(), 1);
    }
}
