//! The list of the sessions that an agent has stored. Each process is asked once, after its own session has begun, page
//! by page.
//!
//! Nothing waits for the answers: an agent that never answers keeps one request open, and the session works without it.

use super::AcpDriver;
use crate::command::AcpCommand;
use crate::event::{AcpEvent, AcpStoredSession};
use deskbell_agent::driver::Output;
use deskbell_agent::{AgentEvent, ListedSession};
use std::collections::HashSet;
use std::path::Path;

/// Maximum number of pages that are read. An agent may have a next page forever.
const MOST_PAGES: usize = 20;

/// Maximum number of sessions of the project. The agents that were run list the newest ones first.
const MOST_SESSIONS: usize = 1_000;

/// Longest id in bytes. An id is sent back as it came, so a longer one cannot be cut.
const LONGEST_ID: usize = 256;

/// Longest title and time that are kept, in characters.
const LONGEST_TEXT: usize = 1_000;

/// Longest place of a next page in bytes.
const LONGEST_CURSOR: usize = 16 * 1024;

/// What the agent has listed so far.
#[derive(Debug, Default)]
pub(super) struct Listing {
    found: Vec<ListedSession>,
    ids: HashSet<String>,
    /// The places of pages that were asked for.
    cursors: HashSet<String>,
    n_pages: usize,
}

impl AcpDriver {
    /// Asks for the first page, if the agent has a list.
    pub(super) fn ask_for_list(&mut self, out: &mut Output) {
        if self.abilities.list {
            self.ask_for_page(None, out);
        }
    }

    fn ask_for_page(&mut self, next: Option<String>, out: &mut Output) {
        let folder = Some(self.setup.folder.clone());
        // It is refused while the agent is being stopped: the next process is asked again.
        let _ = self.command(AcpCommand::ListSessions { folder, next }, out);
    }

    /// Takes a page, and asks for the next one or reports the list.
    pub(super) fn listed(&mut self, page: AcpEvent, out: &mut Output) {
        let AcpEvent::Stored { sessions, next } = page else { return };
        let listing = &mut self.listing;
        listing.n_pages += 1;
        for session in sessions {
            listing.add(session, &self.setup.folder);
        }
        let may_go_on = listing.n_pages < MOST_PAGES && listing.found.len() < MOST_SESSIONS;
        let next = next.filter(|next| may_go_on && !next.is_empty() && next.len() <= LONGEST_CURSOR);
        match next.filter(|next| listing.cursors.insert(next.clone())) {
            Some(next) => self.ask_for_page(Some(next), out),
            None => self.report_list(out),
        }
    }

    /// The pages before the one that failed are reported. Without any, the list of the process before stays.
    pub(super) fn list_failed(&mut self, out: &mut Output) {
        if self.listing.n_pages > 0 {
            self.report_list(out);
        }
    }

    fn report_list(&mut self, out: &mut Output) {
        out.events.push(AgentEvent::StoredSessions(std::mem::take(&mut self.listing).found));
    }
}

impl Listing {
    /// Adds a session of this project. Agents that do not know the filter list those of all folders.
    fn add(&mut self, session: AcpStoredSession, project: &str) {
        let AcpStoredSession { id, folder, title, updated_at } = session;
        let is_id = !id.trim().is_empty() && id.len() <= LONGEST_ID && !id.contains(char::is_control);
        let is_here = Path::new(&folder) == Path::new(project);
        if !is_id || !is_here || self.found.len() >= MOST_SESSIONS || !self.ids.insert(id.clone()) {
            return;
        }
        let cut = |text: String| text.chars().take(LONGEST_TEXT).collect();
        self.found.push(ListedSession { id, title: title.map(cut), changed_at: updated_at.map(cut) });
    }
}
