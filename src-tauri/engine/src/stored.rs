//! The sessions of a project in the agent's own store: listed, followed while they change, and never written to.
//!
//! `<config>/projects/<encoded folder>/<session id>.jsonl` (2.1.329). Only the beginning and the end of each file are
//! read (`summary`). Files are read in the background, a few at a time, and again only when their size or time
//! changed (`catalogue`).

mod agents;
mod cache;
mod catalogue;
mod elsewhere;
pub(crate) mod files;
mod follow;
mod fork;
mod hidden;
mod locate;
mod marks;
mod several;
mod summary;
mod watch;

#[cfg(test)]
mod long_line_tests;
#[cfg(test)]
mod summary_tests;
#[cfg(test)]
mod tests;

pub(crate) use agents::AgentSessions;
pub use catalogue::Catalogue;
pub use files::Place;
pub use follow::Follower;
pub use hidden::Hidden;
pub use locate::Located;
pub use marks::MarkStore;
pub use several::Store;
pub(crate) use summary::Summary;

use crate::api::StoredSession;

impl Catalogue {
    /// Whether a session contains every word of the query, in its title, prompts or branch, or in the name of its profile
    /// or of another agent. An empty query fits all.
    pub fn fits(session: &StoredSession, query: &str) -> bool {
        let fields = [Some(&session.title), session.first_prompt.as_ref(), session.last_prompt.as_ref()];
        let texts: Vec<String> = fields
            .into_iter()
            .chain([&session.branch, &session.profile, &session.agent].map(Option::as_ref))
            .flatten()
            .map(|text| text.to_lowercase())
            .collect();
        query.to_lowercase().split_whitespace().all(|word| texts.iter().any(|text| text.contains(word)))
    }
}
