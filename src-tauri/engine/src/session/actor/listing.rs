//! The list of the sessions that the agent of this session has stored, on its way to disk.

use super::{Actor, now};
use crate::agent::ListedSession;
use crate::disk;
use crate::stored::AgentSessions;
use tracing::Instrument;

impl Actor {
    /// Keeps the list for all lists of the project. The session does not wait for the disk.
    pub(super) fn keep_list(&self, listed: Vec<ListedSession>) {
        let record = &self.open.record;
        let (Some(folder), Some(agent)) = (self.open.agent_sessions.clone(), record.memory.acp.clone())
        else {
            return;
        };
        let lists = AgentSessions::new(folder);
        let (project, profile) = (record.project.clone(), record.memory.profile.clone());
        let place = lists.place().to_owned();
        let save = async move {
            let keep = move || lists.keep(&project, agent, profile, listed, now());
            let kept = disk::run(&place, disk::DEADLINE, keep).await;
            if let Err(error) = kept.map_err(std::io::Error::from).and_then(|kept| kept) {
                tracing::warn!(%error, "could not keep the list of the agent's stored sessions");
            }
        };
        tokio::spawn(save.in_current_span());
    }
}
