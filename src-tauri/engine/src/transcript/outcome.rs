//! What came of a tool call, as the agent told it.

use serde_json::Value;

/// What came of a tool call: the text that the model reads, and the same as data.
pub struct Outcome<'a> {
    pub content: &'a Value,
    pub structured: Option<&'a Value>,
    pub is_error: bool,
}

impl Outcome<'_> {
    pub fn text(&self) -> String {
        match self.content {
            Value::String(text) => text.clone(),
            Value::Array(blocks) => {
                let texts = blocks.iter().filter_map(|block| block.get("text")?.as_str());
                texts.collect::<Vec<_>>().join("\n")
            }
            _ => String::new(),
        }
    }

    /// The call was not let run, or not to its end. A denial in words of its own is an error like any other.
    pub fn is_rejected(&self) -> bool {
        self.structured.and_then(Value::as_str) == Some("User rejected tool use")
    }

    pub fn field(&self, key: &str) -> Option<&Value> {
        self.structured?.get(key)
    }
}
