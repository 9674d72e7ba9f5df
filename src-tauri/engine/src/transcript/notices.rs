//! Notices in the transcript: failures, limits and Deskbell's own messages.

use super::Transcript;
use super::changes::ChangeKind;
use crate::api::*;
use crate::wire::Retry;

/// Maximum bytes of unreadable lines in one notice. Further lines are dropped.
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
            // The same notice is already the last item.
            return;
        }
        let id = self.notice_id();
        self.add(id, None, now, body);
    }

    pub(super) fn info(&mut self, now: u64, text: impl Into<String>) {
        self.notice(now, Level::Info, text.into(), None);
    }

    /// Shows API retries. A turn has one such notice, which is updated with each attempt.
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
                self.touch(&id, ChangeKind::Changed);
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

    /// Reports that the agent could not write to disk.
    pub(super) fn writes_lost(&mut self, now: u64, error_code: &str, transcript: bool) {
        let why = match error_code {
            "ENOSPC" => "the disk is full".to_owned(),
            "EDQUOT" => "your disk quota is used up".to_owned(),
            "" => "the disk accepted no more data".to_owned(),
            code => format!("the disk reported {code}"),
        };
        let text = if transcript {
            format!(
                "The agent could not save this conversation: {why}. When it is resumed, part of it may be \
                 missing. Free up space before you continue."
            )
        } else {
            format!(
                "The agent could not save its own settings: {why}. Changes it made to them are lost. Free up \
                 space before you continue."
            )
        };
        self.notice(now, Level::Error, text, None);
    }

    /// Reports a line that is not a message. Consecutive lines share one notice.
    pub(super) fn unreadable(&mut self, now: u64, line: &str, error: &str) {
        if let Some(id) = self.unreadable.clone()
            && let Some(Body::Notice { detail: Some(detail), .. }) = self.body(&id)
        {
            if detail.len() + line.len() < UNREADABLE_LIMIT {
                detail.push('\n');
                detail.push_str(line);
                self.touch(&id, ChangeKind::Changed);
            }
            return;
        }
        let id = self.notice_id();
        self.unreadable = Some(id.clone());
        let text = "The agent wrote output that Deskbell cannot read".to_owned();
        let detail = if line.is_empty() { error.to_owned() } else { line.to_owned() };
        self.add(
            id,
            None,
            now,
            Body::Notice { level: Level::Warning, text, detail: Some(detail), until_at: None },
        );
    }

    /// Removes the CLI's own text about an API failure when the turn's end repeats it.
    pub(super) fn say_failure_once(&mut self, turn: &TurnEnd) {
        let Some(id) = self.own_words.take() else { return };
        let said = self.sources.get(&id).map(|words| words.trim());
        if turn.outcome != Outcome::Done && said == Some(turn.words.trim()) {
            self.remove(&id);
        }
    }
}
