//! A budget for the requests that Deskbell sends to the agent by itself.
//!
//! Some requests follow from the agent's messages: switching back to a mode that asks, interrupting again, reading the
//! rules that explain a change. An agent could answer so that the same request follows without end. Each kind of
//! request therefore has a budget per process: `AT_ONCE` at once, one more each second, and one more for each action of
//! the user. Nothing that the agent sends adds to it.

use std::collections::BTreeMap;

/// Requests of one kind that may be sent at once.
pub const AT_ONCE: u32 = 8;
/// Time after which one more request may be sent, in milliseconds.
pub const MORE_EACH_MS: u64 = 1_000;

#[derive(Clone, Debug, Default)]
pub struct Budget {
    kinds: BTreeMap<&'static str, Bucket>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    left: u32,
    /// Time of the last refill.
    at: u64,
    /// The user has been notified that it ran out.
    told: bool,
}

/// The result of spending from a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spent {
    Sent,
    /// Not sent. The user is notified of the first refusal.
    Refused {
        is_first: bool,
    },
}

impl Budget {
    /// Adds one request for each kind, because the user acted.
    pub fn user_acted(&mut self) {
        for bucket in self.kinds.values_mut() {
            bucket.left = AT_ONCE.min(bucket.left + 1);
        }
    }

    pub fn spend(&mut self, kind: &'static str, now: u64) -> Spent {
        let bucket = self.kinds.entry(kind).or_insert(Bucket { left: AT_ONCE, at: now, told: false });
        let n_more = now.saturating_sub(bucket.at) / MORE_EACH_MS;
        bucket.at = bucket.at.max(bucket.at + n_more * MORE_EACH_MS);
        bucket.left = AT_ONCE.min(bucket.left.saturating_add(u32::try_from(n_more).unwrap_or(u32::MAX)));
        if bucket.left == 0 {
            return Spent::Refused { is_first: !std::mem::replace(&mut bucket.told, true) };
        }
        bucket.left -= 1;
        Spent::Sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_has_its_budget_and_the_user_and_time_add_to_it() {
        let mut budget = Budget::default();
        let n_sent = |budget: &mut Budget, kind, now| {
            (0..100).filter(|_| budget.spend(kind, now) == Spent::Sent).count()
        };
        assert_eq!(n_sent(&mut budget, "interrupt", 0), AT_ONCE as usize);
        assert_eq!(budget.spend("interrupt", 0), Spent::Refused { is_first: false }, "said with the first");
        assert_eq!(n_sent(&mut budget, "set_model", 0), AT_ONCE as usize, "each kind has its own");
        assert_eq!(n_sent(&mut budget, "interrupt", 2_500), 2);
        budget.user_acted();
        assert_eq!(n_sent(&mut budget, "interrupt", 2_500), 1);
        assert_eq!(n_sent(&mut budget, "interrupt", u64::MAX), AT_ONCE as usize, "no more than at first");
        assert_eq!(n_sent(&mut budget, "interrupt", 0), 0, "a clock that goes back gives nothing");
    }
}
