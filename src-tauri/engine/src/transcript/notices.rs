//! Notices in the transcript: failures, limits and Deskbell's own messages.

use super::Transcript;
use super::changes::ChangeKind;
use super::lazy::LazyItem;
use crate::agent::{Retry, User};
use crate::api::*;

/// Maximum bytes of unreadable lines in one notice. Further lines are dropped.
const UNREADABLE_LIMIT: usize = 64 * 1024;

/// Maximum bytes of an output or a summary in the detail of a notice. The rest is left out.
pub(super) const DETAIL_LIMIT: usize = 64 * 1024;

/// Windows of limits that are remembered as shown.
const NEAR_LIMITS: usize = 16;

/// The notice of a turn's retries.
pub(super) struct Retrying {
    id: ItemId,
    /// The failure.
    what: String,
    attempt: u32,
    /// The agent waits for its next attempt.
    waits: bool,
}

/// The compaction of the conversation.
#[derive(Default)]
pub(super) struct Compaction {
    is_running: bool,
    /// The notice of a compaction that has no summary yet.
    unsummarized: Option<ItemId>,
}

impl Compaction {
    pub(super) fn on_status(&mut self, status: Option<&str>) {
        self.is_running = status == Some("compacting");
    }

    pub(super) fn is_running(&self) -> bool {
        self.is_running
    }
}

/// A number with a comma between thousands, as the window writes them.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    groups.map(|group| group.escape_ascii().to_string()).collect::<Vec<_>>().join(",")
}

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
        if self.items.last().is_some_and(|last| last.head().body == body) {
            // The same notice is already the last item.
            return;
        }
        let id = self.notice_id();
        self.add(id, None, now, body);
    }

    pub(super) fn info(&mut self, now: u64, text: impl Into<String>) {
        self.notice(now, Level::Info, text.into(), None);
    }

    /// Shows API retries. A turn has one such notice, which is updated with each attempt and at the end.
    pub(super) fn api_retry(&mut self, now: u64, retry: &Retry) {
        let what = match (retry.error_status, &retry.error) {
            (Some(status), Some(error)) => format!("The API answered {status} ({})", error.replace('_', " ")),
            (Some(status), None) => format!("The API answered {status}"),
            (None, _) => "The API could not be reached".to_owned(),
        };
        let (attempt, of) = (retry.attempt, retry.max_retries);
        let seconds = retry.retry_delay_ms / 1000.0;
        let text = format!("{what}; trying again in {seconds:.1} s ({attempt} of {of})");
        let known = self.retry.take().map(|retry| retry.id).filter(|id| self.index.contains_key(id));
        let body = Body::Notice { level: Level::Warning, text, detail: None, until_at: None };
        let id = match known {
            Some(id) => {
                self.replace(&id, body);
                id
            }
            None => {
                let id = self.notice_id();
                self.add(id.clone(), None, now, body);
                id
            }
        };
        self.retry = Some(Retrying { id, what, attempt, waits: true });
    }

    /// The agent has tried again: it receives an answer, or the turn is over.
    pub(super) fn retries_over(&mut self) {
        let Some(retry) = self.retry.as_mut().filter(|retry| retry.waits) else { return };
        retry.waits = false;
        let times = if retry.attempt == 1 { "once".to_owned() } else { format!("{} times", retry.attempt) };
        let (id, text) = (retry.id.clone(), format!("{}; tried again {times}", retry.what));
        self.replace(&id, Body::Notice { level: Level::Warning, text, detail: None, until_at: None });
    }

    pub(super) fn replace(&mut self, id: &ItemId, body: Body) {
        if let Some(known) = self.body(id) {
            *known = body;
            self.touch(id, ChangeKind::Changed);
        }
    }

    /// The agent replaced the conversation by a summary, which follows as a message of its own.
    pub(super) fn compacted(&mut self, now: u64, trigger: &str, before: Option<u64>, after: Option<u64>) {
        let how = if trigger == "auto" { " automatically" } else { "" };
        let sizes = match (before.map(grouped), after.map(grouped)) {
            (Some(before), Some(after)) => format!(": from {before} to {after} tokens"),
            (Some(before), None) => format!(": it had {before} tokens"),
            (None, Some(after)) => format!(": it has {after} tokens"),
            (None, None) => String::new(),
        };
        let id = self.notice_id();
        let text = format!("The conversation was compacted{how}{sizes}");
        let body = Body::Notice { level: Level::Info, text, detail: None, until_at: None };
        self.add(id.clone(), None, now, body);
        self.compaction = Compaction { is_running: false, unsummarized: Some(id) };
    }

    pub(super) fn not_compacted(&mut self, now: u64, error: Option<String>) {
        self.compaction = Compaction::default();
        let detail = error.filter(|error| !error.trim().is_empty());
        self.notice(now, Level::Warning, "The conversation could not be compacted".to_owned(), detail);
    }

    /// Adds the summary to the notice of the compaction.
    pub(super) fn summarized(&mut self, user: &User) {
        let Some(summary) = user.compact_summary() else { return };
        let Some(id) = self.compaction.unsummarized.take() else { return };
        if let Some(Body::Notice { detail, .. }) = self.body(&id) {
            *detail = Some(summary[..summary.floor_char_boundary(DETAIL_LIMIT)].to_owned());
            self.touch(&id, ChangeKind::Changed);
        }
    }

    pub(super) fn informational(&mut self, now: u64, level: &str, text: String) {
        let level = match level {
            "error" => Level::Error,
            "warning" => Level::Warning,
            _ => Level::Info,
        };
        if !text.trim().is_empty() && !self.hooks.is_shown(&text) {
            self.notice(now, level, text, None);
        }
    }

    /// Shows a limit that is near once for each of its windows, and a limit that is reached each time.
    pub(super) fn rate_limit(&mut self, now: u64, limits: &PlanLimits) {
        for limit in &limits.windows {
            let (level, text) = match (limit.status, limit.percent()) {
                (LimitStatus::Allowed, _) => continue,
                (LimitStatus::Near, _) if self.near_limits.get(&limit.id) == Some(&limit.resets_at) => {
                    continue;
                }
                (LimitStatus::Near, Some(percent)) => {
                    (Level::Warning, format!("{percent} % of the {} is used", limit.name))
                }
                (LimitStatus::Near, None) => (Level::Warning, format!("The {} is near", limit.name)),
                (LimitStatus::Reached, _) => (Level::Error, format!("The {} is reached", limit.name)),
            };
            if limit.status == LimitStatus::Near {
                if self.near_limits.len() >= NEAR_LIMITS {
                    self.near_limits.clear();
                }
                self.near_limits.insert(limit.id.clone(), limit.resets_at);
            }
            self.notice_until(now, level, text, None, limit.resets_at);
        }
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
        let said = self.lazy(&id).and_then(LazyItem::source).map(str::trim);
        if turn.outcome != Outcome::Done && said == Some(turn.words.trim()) {
            self.remove(&id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn thousands_are_separated_by_commas() {
        let numbers =
            [(0, "0"), (999, "999"), (1_000, "1,000"), (165_234, "165,234"), (1_000_001, "1,000,001")];
        for (number, written) in numbers {
            assert_eq!(grouped(number), written);
        }
    }
}
