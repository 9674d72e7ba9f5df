//! The settings that the agent offers over ACP: a model, an effort that only one model has, a switch, and one that turns
//! off asking, which a client must not offer.

use serde_json::{Value, json};

pub struct OfferedOptions {
    pub model: String,
    pub effort: String,
    fast: bool,
    allow_all: String,
}

impl Default for OfferedOptions {
    fn default() -> Self {
        Self { model: "large".to_owned(), effort: "low".to_owned(), fast: false, allow_all: "off".to_owned() }
    }
}

impl OfferedOptions {
    pub fn has(&self, id: &Value) -> bool {
        matches!(id.as_str(), Some("model" | "effort" | "fast" | "allow_all"))
    }

    /// Sets an option. Another value than a text, or `true` or `false`, is no value.
    pub fn set(&mut self, id: &Value, value: &Value) {
        let text = || value.as_str().unwrap_or_default().to_owned();
        match id.as_str() {
            Some("model") => self.model = text(),
            Some("effort") => self.effort = text(),
            Some("allow_all") => self.allow_all = text(),
            Some("fast") => self.fast = *value == json!(true) || *value == json!("true"),
            _ => {}
        }
    }

    pub fn list(&self) -> Value {
        let mut list = vec![select("model", "Model", "model", &self.model, &["small", "large"])];
        if self.model == "large" {
            list.push(select("effort", "Effort", "thought_level", &self.effort, &["low", "high"]));
        }
        list.push(json!({"id": "fast", "name": "Fast mode", "category": "model_config", "type": "boolean",
            "currentValue": self.fast}));
        list.push(select("allow_all", "Allow all", "permissions", &self.allow_all, &["off", "on"]));
        json!(list)
    }

    /// The models in the form that the protocol had before it had options.
    pub fn models(&self) -> Value {
        let models = ["small", "large"].map(|id| json!({"modelId": id, "name": name(id)}));
        json!({"currentModelId": self.model, "availableModels": models})
    }
}

fn select(id: &str, title: &str, category: &str, value: &str, values: &[&str]) -> Value {
    let options: Vec<Value> = values.iter().map(|id| json!({"value": id, "name": name(id)})).collect();
    json!({"id": id, "name": title, "category": category, "type": "select", "currentValue": value,
        "options": options})
}

/// “Large” for `large`.
fn name(id: &str) -> String {
    let mut letters = id.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
