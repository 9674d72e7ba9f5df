//! Side questions: those that wait for an answer, and the last ones that are over.

use crate::agent::SideExchange;
use crate::api::{SideOutcome, SidePurpose, SideQuestion};

/// Maximum number of questions that wait at the same time.
const MOST_WAITING: usize = 4;
/// Maximum number of questions that are kept.
const MOST_KEPT: usize = 20;
/// Maximum length of all that is kept, in bytes. The newest question is always kept.
const MOST_TEXT: usize = 256 * 1024;
/// Maximum length of a question, in bytes.
const LONGEST_QUESTION: usize = 64 * 1024;
/// Maximum length of an id, in bytes.
const LONGEST_ID: usize = 64;
/// Maximum number of earlier questions that the agent gets with a new one.
const MOST_HISTORY: usize = 8;

#[derive(Debug, Default)]
pub struct SideQuestions {
    all: Vec<SideQuestion>,
    /// The ids of those that wait for the agent's process.
    unsent: Vec<String>,
    /// The running process answered that it does not know the request.
    is_unknown: bool,
}

/// A side question as the agent gets it.
pub struct UnsentQuestion {
    pub id: String,
    pub question: String,
    pub history: Vec<SideExchange>,
}

impl SideQuestions {
    pub fn all(&self) -> &[SideQuestion] {
        &self.all
    }

    /// Whether the agent answers side questions, as far as known.
    pub fn is_known(&self) -> bool {
        !self.is_unknown
    }

    /// Another process may be another version of the agent.
    pub fn on_spawn(&mut self) {
        self.is_unknown = false;
    }

    pub fn on_unknown(&mut self) {
        self.is_unknown = true;
    }

    /// Why this question cannot be asked.
    pub fn obstacle(&self, id: &str, question: &str) -> Option<String> {
        if question.trim().is_empty() {
            Some("The side question is empty.".to_owned())
        } else if question.len() > LONGEST_QUESTION {
            Some(format!("The side question is longer than {} KiB.", LONGEST_QUESTION / 1024))
        } else if id.is_empty() || id.len() > LONGEST_ID {
            Some(format!("The id of a side question has 1 to {LONGEST_ID} bytes."))
        } else if self.all.iter().any(|known| known.id == id) {
            Some("There is a side question with this id already.".to_owned())
        } else if self.waiting().count() >= MOST_WAITING {
            Some(format!("{MOST_WAITING} side questions wait for their answers. Wait for one, or cancel it."))
        } else {
            None
        }
    }

    pub fn on_asked(&mut self, now: u64, id: String, question: String, purpose: SidePurpose) {
        self.unsent.push(id.clone());
        let outcome = SideOutcome::Waiting { retry: None };
        self.all.push(SideQuestion { id, question, purpose, asked_at: now, outcome });
        self.forget();
    }

    /// The questions that the agent does not have yet.
    pub fn take_unsent(&mut self) -> Vec<UnsentQuestion> {
        let unsent = std::mem::take(&mut self.unsent);
        let asked = unsent.into_iter().filter_map(|id| {
            let asked = self.all.iter().find(|known| known.id == id)?;
            let history = match asked.purpose {
                SidePurpose::Reading => self.history(),
                SidePurpose::CommitMessage => Vec::new(),
            };
            Some(UnsentQuestion { id, question: asked.question.clone(), history })
        });
        asked.collect()
    }

    /// The last answered questions that the user read.
    fn history(&self) -> Vec<SideExchange> {
        let answered = self.all.iter().filter_map(|known| match (&known.outcome, known.purpose) {
            (SideOutcome::Answered { text, .. }, SidePurpose::Reading) => {
                Some(SideExchange { question: known.question.clone(), answer: text.clone() })
            }
            _ => None,
        });
        let mut answered: Vec<_> = answered.collect();
        answered.drain(..answered.len().saturating_sub(MOST_HISTORY));
        answered
    }

    pub fn is_any_waiting(&self) -> bool {
        self.waiting().next().is_some()
    }

    pub fn is_waiting(&self, id: &str) -> bool {
        self.waiting().any(|known| known.id == id)
    }

    fn waiting(&self) -> impl Iterator<Item = &SideQuestion> {
        self.all.iter().filter(|known| matches!(known.outcome, SideOutcome::Waiting { .. }))
    }

    /// The time of the oldest question that waits.
    pub fn waits_since(&self) -> Option<u64> {
        self.waiting().map(|known| known.asked_at).min()
    }

    /// The ids of the questions that wait, of those that were asked at `time` or before.
    pub fn waiting_since(&self, time: u64) -> Vec<String> {
        self.waiting().filter(|known| known.asked_at <= time).map(|known| known.id.clone()).collect()
    }

    /// Sets what became of a question that waits, or how far it is. Returns whether it waited.
    pub fn on_outcome(&mut self, id: &str, outcome: SideOutcome) -> bool {
        let waiting = |known: &&mut SideQuestion| {
            known.id == id && matches!(known.outcome, SideOutcome::Waiting { .. })
        };
        let Some(known) = self.all.iter_mut().find(waiting) else { return false };
        known.outcome = outcome;
        self.unsent.retain(|unsent| unsent != id || matches!(known.outcome, SideOutcome::Waiting { .. }));
        self.forget();
        true
    }

    /// Forgets the oldest questions beyond the limits, never one that waits, and never the newest.
    fn forget(&mut self) {
        while self.all.len() > MOST_KEPT || self.all.iter().map(length).sum::<usize>() > MOST_TEXT {
            let older = &self.all[..self.all.len().saturating_sub(1)];
            let is_over = |known: &SideQuestion| !matches!(known.outcome, SideOutcome::Waiting { .. });
            let Some(at) = older.iter().position(is_over) else { return };
            self.all.remove(at);
        }
    }
}

fn length(one: &SideQuestion) -> usize {
    let answer = match &one.outcome {
        SideOutcome::Answered { text, .. } => text.len(),
        SideOutcome::Failed { message } => message.len(),
        SideOutcome::Waiting { .. } | SideOutcome::Cancelled => 0,
    };
    one.question.len() + answer
}
