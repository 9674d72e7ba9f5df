//! Removes the agents of Deskbell's sessions from lists of live processes.

use super::SessionRegistry;
use deskbell_engine::api::StoredSession;

impl SessionRegistry {
    /// Removes the live process from these conversations where it is the agent of a session here. The lists name a killed
    /// agent until they are read again, up to 15 s later, and it is not another program.
    pub fn hide_own_processes<'a>(&self, conversations: impl IntoIterator<Item = &'a mut StoredSession>) {
        let live: Vec<_> = conversations.into_iter().filter(|one| one.live.is_some()).collect();
        if live.is_empty() {
            return;
        }
        let sessions = self.lock();
        for one in live {
            let pid = one.live.as_ref().map(|live| live.pid);
            let is_own = |agent_session_id: &String| *agent_session_id == one.agent_session_id;
            let mut of_it =
                sessions.values().filter(|entry| entry.session.agent_session_id.as_ref().is_some_and(is_own));
            if of_it.any(|entry| entry.last_pid == pid) {
                one.live = None;
            }
        }
    }
}
