//! What is said in a transcript by nobody: failures, limits, and what Deskbell itself has to tell.

use super::Transcript;
use super::news::Dirty;
use crate::api::*;
use crate::wire::Retry;

/// Text that a flood of unreadable lines may fill; the lines behind it are not kept.
const UNREADABLE_LIMIT: usize = 64 * 1024;

impl Transcript {
    pub(super) fn notice_id(&mut self) -> ItemId {
        self.n_notices += 1;
        ItemId(format!("notice.{}", self.n_notices))
    }

    pub(super) fn notice(&mut self, now: u64, level: Level, text: String, detail: Option<String>) {
        self.notice_until(now, level, text, detail, None);
    }

    fn notice_until(
        &mut self,
        now: u64,
        level: Level,
        text: String,
        detail: Option<String>,
        until_at: Option<u64>,
    ) {
        let body = Body::Notice { level, text, detail, until_at };
        if self.items.last().is_some_and(|last| last.body == body) {
            // Said a moment ago, and nothing has happened since.
            return;
        }
        let id = self.notice_id();
        self.add(id, None, now, body);
    }

    pub(super) fn info(&mut self, now: u64, text: impl Into<String>) {
        self.notice(now, Level::Info, text.into(), None);
    }

    /// One notice a turn, that counts on.
    pub(super) fn api_retry(&mut self, now: u64, retry: &Retry) {
        let what = match (retry.error_status, &retry.error) {
            (Some(status), Some(error)) => format!("The API answered {status} ({})", error.replace('_', " ")),
            (Some(status), None) => format!("The API answered {status}"),
            (None, _) => "The API could not be reached".to_owned(),
        };
        let (attempt, of) = (retry.attempt, retry.max_retries);
        let seconds = retry.retry_delay_ms / 1000.0;
        let text = format!("{what}; trying again in {seconds:.1} s ({attempt} of {of})");
        let body = Body::Notice { level: Level::Warning, text, detail: None, until_at: None };
        match self.retry.clone() {
            Some(id) if self.index.contains_key(&id) => {
                if let Some(known) = self.body(&id) {
                    *known = body;
                }
                self.touch(&id, Dirty::Changed);
            }
            _ => {
                let id = self.notice_id();
                self.retry = Some(id.clone());
                self.add(id, None, now, body);
            }
        }
    }

    pub(super) fn rate_limit(&mut self, now: u64, status: &str, resets_at: Option<u64>) {
        let (level, text) = match status {
            "allowed_warning" => (Level::Warning, "The rate limit is near"),
            "rejected" => (Level::Error, "The rate limit is reached"),
            _ => return,
        };
        self.notice_until(now, level, text.to_owned(), None, resets_at);
    }

    /// Lines in a row that are no messages share one notice.
    pub(super) fn unreadable(&mut self, now: u64, line: &str, error: &str) {
        if let Some(id) = self.unreadable.clone()
            && let Some(Body::Notice { detail: Some(detail), .. }) = self.body(&id)
        {
            if detail.len() + line.len() < UNREADABLE_LIMIT {
                detail.push('\n');
                detail.push_str(line);
                self.touch(&id, Dirty::Changed);
            }
            return;
        }
        let id = self.notice_id();
        self.unreadable = Some(id.clone());
        let text = "The agent wrote something that is not a message".to_owned();
        let detail = if line.is_empty() { error.to_owned() } else { line.to_owned() };
        self.add(
            id,
            None,
            now,
            Body::Notice { level: Level::Warning, text, detail: Some(detail), until_at: None },
        );
    }

    /// The program says a failure of the API in the model's place, and again as the turn's end.
    pub(super) fn say_failure_once(&mut self, turn: &TurnEnd) {
        let Some(id) = self.own_words.take() else { return };
        let said = self.sources.get(&id).map(|words| words.trim());
        if turn.outcome != Outcome::Done && said == Some(turn.words.trim()) {
            self.remove(&id);
        }
    }
}
