//! Lists of the agent of this session on their way to disk: the sessions that it has stored, its models and commands.

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

    /// Shows what the agent offered in an earlier run, until it runs.
    pub(super) fn recall_offer(&mut self) {
        let offer = self.open.store.as_ref().and_then(|store| store.offer(&self.open.record));
        offer.into_iter().for_each(|offer| self.core.recall(offer));
    }

    /// Keeps what the agent offers, if it has announced it. The session does not wait for the disk.
    pub(super) fn keep_offer(&mut self) {
        let Some((offer, store)) = self.core.take_offer().zip(self.open.store.clone()) else { return };
        // One queue for all sessions: they write one file.
        let (record, place) = (self.open.record.clone(), store.offers_path());
        let save = async move {
            match disk::run(&place, disk::DEADLINE, move || store.keep_offer(&record, offer)).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::warn!(%error, "could not keep the models of the agent"),
                Err(error) => tracing::warn!(%error, "could not keep the models of the agent"),
            }
        };
        tokio::spawn(save.in_current_span());
    }
}
