//! Counts of the situations that the simulation reached. A situation that a whole run never reaches fails the test.

use super::Wire;
use std::collections::BTreeMap;

const SIGHTS: [&str; 43] = [
    "a broken pipe",
    "a change that is not confirmed",
    "a report of the context that does not come",
    "a conversation rewound",
    "files rewound",
    "a rewind of files undone",
    "a conversation that is gone",
    "a crash of the app",
    "a failed save",
    "a failed start",
    "a failed write",
    "a fresh start",
    "a kill",
    "a prompt that goes now",
    "a prompt under another name",
    "a question answered",
    "a reply at once",
    "a reply in pieces",
    "a request allowed",
    "a request denied",
    "a request withdrawn",
    "a restart",
    "a resumed start",
    "a rule kept",
    "a stage of the ladder",
    "a process that asks nothing",
    "a prompt given back",
    "a session that came to rest",
    "a side question without an answer",
    "a session that finishes",
    "a turn cut off",
    "a turn done",
    "a turn failed",
    "a turn interrupted",
    "a turn of several prompts",
    "a window that scrolls",
    "a turn that nobody asked for",
    "an agent that does not answer",
    "an exit",
    "an interrupt ignored",
    "prompts that made the next turn",
    "the end of patience with an idle agent",
    "a look for the reset of a limit",
];

/// What an agent that speaks ACP never gets to: it has no such command, or the protocol has no such report.
const NOT_WITH_ACP: [&str; 10] = [
    "a conversation rewound",
    "a look for the reset of a limit",
    "a process that asks nothing",
    "a prompt given back",
    "a rewind of files undone",
    "a side question without an answer",
    "a turn of several prompts",
    "a turn that nobody asked for",
    "files rewound",
    "prompts that made the next turn",
];

#[derive(Debug)]
pub struct SeenKinds(BTreeMap<&'static str, u64>);

impl SeenKinds {
    pub fn nothing() -> Self {
        Self(SIGHTS.map(|sight| (sight, 0)).into())
    }

    pub fn saw(&mut self, sight: &str) {
        *self.0.get_mut(sight).expect("it is in the list") += 1;
    }

    pub fn times(&self, sight: &str) -> u64 {
        self.0[sight]
    }

    pub fn add(&mut self, other: &Self) {
        for (sight, n) in &other.0 {
            *self.0.entry(sight).or_default() += n;
        }
    }

    pub fn unseen(&self, wire: Wire) -> Vec<&str> {
        let is_due = |sight: &str| wire == Wire::Claude || !NOT_WITH_ACP.contains(&sight);
        self.0.iter().filter(|(sight, n)| **n == 0 && is_due(sight)).map(|(sight, _)| *sight).collect()
    }
}
