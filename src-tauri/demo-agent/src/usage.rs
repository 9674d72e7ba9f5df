//! Token counts and costs: invented, but plausible and consistent from one result to the next.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// Tokens used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TokenCounts {
    pub input: u64,
    pub cached: u64,
    pub output: u64,
    pub thinking: u64,
}

/// Tokens used, by model.
pub type ByModel = BTreeMap<String, TokenCounts>;

/// The approximate length of a text in tokens.
pub fn tokens(text: &str) -> u64 {
    (text.len() as u64).div_ceil(4).max(1)
}

impl TokenCounts {
    /// Adds another's tokens.
    pub fn add(&mut self, other: Self) {
        self.input += other.input;
        self.cached += other.cached;
        self.output += other.output;
        self.thinking += other.thinking;
    }

    /// The cost in dollars.
    pub fn cost(&self) -> f64 {
        (self.input as f64 * 4.0 + self.cached as f64 * 0.4 + self.output as f64 * 20.0) / 1e6
    }

    /// The `usage` of a message.
    pub fn of_message(&self) -> Value {
        json!({
            "input_tokens": self.input,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": self.cached,
            "output_tokens": self.output.max(1),
        })
    }

    /// The `usage` of a result.
    pub fn of_result(&self) -> Value {
        json!({
            "input_tokens": self.input,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": self.cached,
            "output_tokens": self.output,
            "output_tokens_details": {"thinking_tokens": self.thinking},
            "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
            "service_tier": "standard",
            "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
            "inference_geo": "",
            "iterations": [],
            "speed": "standard",
            "fallback_credit": null,
        })
    }
}

/// The total cost in dollars.
pub fn cost(by_model: &ByModel) -> f64 {
    // Not `sum`, which returns negative zero for an empty iterator.
    by_model.values().fold(0.0, |total, usage| total + usage.cost())
}

/// The `modelUsage` of a result.
pub fn model_usage(by_model: &ByModel) -> Value {
    let entry = |(model, usage): (&String, &TokenCounts)| {
        let value = json!({
            "inputTokens": usage.input,
            "outputTokens": usage.output,
            "cacheReadInputTokens": usage.cached,
            "cacheCreationInputTokens": 0,
            "webSearchRequests": 0,
            "costUSD": usage.cost(),
            "contextWindow": 1_000_000,
            "maxOutputTokens": 128_000,
            "thinkingTokens": usage.thinking,
            "cacheCreationEphemeral5mInputTokens": 0,
            "cacheCreationEphemeral1hInputTokens": 0,
            "canonicalModel": model,
            "provider": "firstParty",
            "costBasis": "list",
        });
        (model.clone(), value)
    };
    Value::Object(by_model.iter().map(entry).collect::<Map<_, _>>())
}

/// Parses the output of [`model_usage`].
pub fn read_model_usage(value: &Value) -> ByModel {
    let number = |entry: &Value, key: &str| entry.get(key).and_then(Value::as_u64).unwrap_or(0);
    let Some(models) = value.as_object() else { return ByModel::new() };
    models
        .iter()
        .map(|(model, entry)| {
            let usage = TokenCounts {
                input: number(entry, "inputTokens"),
                cached: number(entry, "cacheReadInputTokens"),
                output: number(entry, "outputTokens"),
                thinking: number(entry, "thinkingTokens"),
            };
            (model.clone(), usage)
        })
        .collect()
}
