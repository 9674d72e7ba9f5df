//! One session as a client follows it: the last event that it has, and whether a line continues it.

use deskbell_api::SessionId;
use deskbell_api::server::Request;
use serde::Deserialize;

/// What a line of the server means for the session that is followed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// The next event: apply it.
    Event,
    /// The whole state: replaces everything so far.
    Snapshot,
    /// The line does not continue what was received: attach again.
    Gap,
    /// A line of a subscription that was given up.
    Other,
}

/// The parts of a line that decide where it belongs.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Head {
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default)]
    pub session_id: Option<SessionId>,
    #[serde(default)]
    seq: Option<u64>,
    #[serde(default)]
    snapshot: Option<SnapshotHead>,
}

#[derive(Deserialize)]
struct SnapshotHead {
    seq: u64,
}

/// One session of a server, as a client follows it.
#[derive(Debug)]
pub(crate) struct Follower {
    session_id: SessionId,
    /// The run of the server that the number belongs to.
    run: Option<String>,
    /// The last event; `None` before the first snapshot.
    seq: Option<u64>,
    /// The last event that the server knows to be applied.
    acked: Option<u64>,
    /// The server said that it continues after `seq`, on this link.
    is_attached: bool,
}

impl Follower {
    pub fn new(session_id: SessionId) -> Self {
        Self { session_id, run: None, seq: None, acked: None, is_attached: false }
    }

    /// A link to this run of the server is up. Returns the subscription.
    pub fn connected(&mut self, run: &str) -> Request {
        if self.run.as_deref() != Some(run) {
            self.run = Some(run.to_owned());
            self.seq = None;
        }
        self.acked = None;
        self.attach()
    }

    /// The request that subscribes again, after a gap.
    pub fn attach(&mut self) -> Request {
        self.is_attached = false;
        Request::Attach { session_id: self.session_id.clone(), after: self.seq, run: self.run.clone() }
    }

    /// The server says that the subscription begins.
    pub fn attached(&mut self) {
        self.is_attached = true;
    }

    /// Takes note of an event or a snapshot of this session.
    pub fn received(&mut self, head: &Head) -> Received {
        match (&head.snapshot, head.seq) {
            _ if !self.is_attached => Received::Other,
            (Some(snapshot), _) if head.kind == "snapshot" => {
                self.seq = Some(snapshot.seq);
                self.acked = None;
                Received::Snapshot
            }
            (_, Some(seq)) if self.seq.is_some_and(|last| seq > last) => {
                self.seq = Some(seq);
                Received::Event
            }
            (_, Some(_)) => Received::Gap,
            _ => Received::Other,
        }
    }

    /// The acknowledgement that is due once `after` events were applied since the last one.
    pub fn ack(&mut self, after: u64) -> Option<Request> {
        let seq = self.seq.filter(|_| self.is_attached)?;
        let is_due = self.acked.is_none_or(|acked| seq >= acked.saturating_add(after.max(1)));
        is_due.then(|| {
            self.acked = Some(seq);
            Request::Ack { session_id: self.session_id.clone(), seq }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(value: serde_json::Value) -> Head {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_doubled_event_is_a_gap_and_a_line_of_an_old_subscription_is_nothing() {
        let mut follower = Follower::new(SessionId::new("s"));
        let attach =
            |after| Request::Attach { session_id: SessionId::new("s"), after, run: Some("r".into()) };
        assert_eq!(follower.connected("r"), attach(None));
        let event = |seq: u64| head(serde_json::json!({"type": "turnStarted", "sessionId": "s", "seq": seq}));
        let snapshot =
            head(serde_json::json!({"type": "snapshot", "sessionId": "s", "snapshot": {"seq": 4}}));
        assert_eq!(follower.received(&event(4)), Received::Other, "before the subscription");
        assert_eq!(follower.ack(0), None);
        follower.attached();
        assert_eq!(follower.received(&event(4)), Received::Gap, "before the snapshot");
        assert_eq!(follower.received(&snapshot), Received::Snapshot);
        assert_eq!(follower.received(&event(5)), Received::Event);
        assert_eq!(follower.received(&event(5)), Received::Gap);
        let ack = |seq| Some(Request::Ack { session_id: SessionId::new("s"), seq });
        assert_eq!((follower.ack(9), follower.ack(1)), (ack(5), None));
        assert_eq!(follower.received(&event(7)), Received::Event, "a number without an event is no gap");
        assert_eq!((follower.ack(3), follower.ack(2)), (None, ack(7)));
        assert_eq!(follower.connected("r"), attach(Some(7)));
        assert_eq!(
            follower.connected("another"),
            Request::Attach { session_id: SessionId::new("s"), after: None, run: Some("another".into()) }
        );
    }
}
