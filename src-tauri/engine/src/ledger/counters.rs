//! The agent's own counters of a conversation: the sum in dollars, and cost and tokens of each model.

use super::{Ledger, Money, Tally};
use crate::agent::ModelUsage;
use crate::api::Tokens;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The agent's counters at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counters {
    total: Money,
    models: BTreeMap<String, Tally>,
}

/// The last known counters of a conversation. They are saved with the ledger, so that what another process adds to the
/// conversation is recognized.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastCounters {
    /// The agent's id of the conversation.
    pub conversation: String,
    pub counters: Counters,
}

impl Counters {
    /// The counters as an agent reports them. `None` if the total is no amount. A model whose cost is no amount is
    /// left out.
    pub fn read(total: Option<f64>, models: &BTreeMap<String, ModelUsage>) -> Option<Self> {
        let total = total.and_then(Money::from_dollars)?;
        let tally = |(model, usage): (&String, &ModelUsage)| {
            let cost = Money::from_dollars(usage.dollars?)?;
            Some((model.clone(), Tally { cost, tokens: usage.tokens }))
        };
        Some(Self { total, models: models.iter().filter_map(tally).collect() })
    }

    /// The counters of a conversation that has exactly these costs.
    pub fn of(ledger: &Ledger) -> Self {
        Self { total: ledger.total(), models: ledger.by_model() }
    }

    pub fn total(&self) -> Money {
        self.total
    }

    /// What was added since `before`. A sum that goes back has restarted.
    pub fn since(&self, before: &Self) -> Self {
        if self.total < before.total {
            return self.clone();
        }
        let added = |(model, now): (&String, &Tally)| {
            (model.clone(), now.since(before.models.get(model).copied().unwrap_or_default()))
        };
        Self { total: self.total.minus(before.total), models: self.models.iter().map(added).collect() }
    }

    /// The sums by model. They add up to the total: the rest belongs to a model without a name, and so does all of it if
    /// the models cost more than the total.
    pub fn by_model(self) -> BTreeMap<String, Tally> {
        let mut models = self.models;
        let sum = models.values().fold(Money::default(), |sum, tally| sum.plus(tally.cost));
        if sum > self.total {
            let tokens = models.values().fold(Tally::default(), |sum, tally| sum.plus(*tally)).tokens;
            return BTreeMap::from([(String::new(), Tally { cost: self.total, tokens })]);
        }
        if sum < self.total {
            let rest = Tally { cost: self.total.minus(sum), tokens: Tokens::default() };
            let unnamed = models.entry(String::new()).or_default();
            *unnamed = unnamed.plus(rest);
        }
        models
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claude::answer::model_usage;
    use serde_json::{Value, json};

    fn read(total: f64, models: Value) -> BTreeMap<String, Tally> {
        Counters::read(Some(total), &model_usage(models.as_object().unwrap())).unwrap().by_model()
    }

    #[test]
    fn the_models_add_up_to_the_total() {
        let usage = |cost: Value| json!({"costUSD": cost, "inputTokens": 7, "cacheReadInputTokens": "many"});
        let tokens = Tokens { input: 7, ..Tokens::default() };
        let tally = |dollars, tokens| Tally { cost: Money::from_dollars(dollars).unwrap(), tokens };
        // Less than the total, more than it, and no amount.
        assert_eq!(
            read(0.3, json!({"opus": usage(json!(0.1))})),
            BTreeMap::from([
                (String::new(), tally(0.2, Tokens::default())),
                ("opus".to_owned(), tally(0.1, tokens))
            ])
        );
        assert_eq!(
            read(0.3, json!({"opus": usage(json!(0.4))})),
            BTreeMap::from([(String::new(), tally(0.3, tokens))])
        );
        assert_eq!(
            read(0.3, json!({"opus": usage(json!(-1))})),
            BTreeMap::from([(String::new(), tally(0.3, Tokens::default()))])
        );
        assert_eq!(Counters::read(None, &BTreeMap::new()), None);
    }
}
