//! What fills the context window, in the answer to `get_context_usage`.

use crate::api::{ContextCategory, ContextKind, ContextReport};
use serde_json::Value;

/// Categories that are read from one answer; 2.1.329 has at most a dozen.
const MOST: usize = 64;

/// Reads the answer, whose time is not known here. `None` if it has no list of categories or no window.
pub(crate) fn report(response: &Value) -> Option<ContextReport> {
    let number = |key: &str| response.get(key).and_then(Value::as_u64);
    let categories = response.get("categories")?.as_array()?.iter().take(MOST).filter_map(category);
    let compacts = response.get("isAutoCompactEnabled").and_then(Value::as_bool).unwrap_or(true);
    Some(ContextReport {
        requested_at: 0,
        model: response.get("model").and_then(Value::as_str).map(str::to_owned),
        total_tokens: number("totalTokens")?,
        window_tokens: number("rawMaxTokens").or_else(|| number("maxTokens")).filter(|window| *window > 0)?,
        compacts_at_tokens: number("autoCompactThreshold").filter(|_| compacts),
        categories: categories.collect(),
    })
}

fn category(value: &Value) -> Option<ContextCategory> {
    let name = value.get("name")?.as_str()?;
    Some(ContextCategory {
        name: name.to_owned(),
        tokens: value.get("tokens")?.as_u64()?,
        kind: kind(value, name),
    })
}

/// 2.1.197 sends no `kind`, only names.
fn kind(value: &Value, name: &str) -> ContextKind {
    match value.get("kind").and_then(Value::as_str) {
        Some("free") => ContextKind::Free,
        Some("buffer") => ContextKind::Reserved,
        Some("deferred") => ContextKind::Deferred,
        Some(_) => ContextKind::Used,
        None if value.get("isDeferred") == Some(&Value::Bool(true)) => ContextKind::Deferred,
        None if name == "Free space" => ContextKind::Free,
        None if name.ends_with(" buffer") => ContextKind::Reserved,
        None => ContextKind::Used,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_answer_of_each_version_is_read() {
        // 2.1.329, shortened.
        let new = json!({
            "categories": [
                {"id": "system_prompt", "name": "System prompt", "tokens": 1979, "kind": "used"},
                {"id": "system_tools_deferred", "name": "System tools (deferred)", "tokens": 4640, "isDeferred": true,
                 "kind": "deferred"},
                {"id": "autocompact_buffer", "name": "Autocompact buffer", "tokens": 33000, "kind": "buffer"},
                {"id": "free_space", "name": "Free space", "tokens": 956_158, "kind": "free"},
            ],
            "totalTokens": 10842, "maxTokens": 1_000_000, "rawMaxTokens": 1_000_000, "model": "claude-opus-5-5",
            "autoCompactThreshold": 967_000, "isAutoCompactEnabled": true,
        });
        let report = report(&new).unwrap();
        assert_eq!((report.total_tokens, report.window_tokens), (10_842, 1_000_000));
        assert_eq!(report.compacts_at_tokens, Some(967_000));
        assert_eq!(report.model.as_deref(), Some("claude-opus-5-5"));
        let kinds = [ContextKind::Used, ContextKind::Deferred, ContextKind::Reserved, ContextKind::Free];
        assert_eq!(report.categories.iter().map(|one| one.kind).collect::<Vec<_>>(), kinds);
        // 2.1.197 names neither ids nor kinds.
        let mut old = new;
        for category in old["categories"].as_array_mut().unwrap() {
            category.as_object_mut().unwrap().retain(|key, _| !matches!(key.as_str(), "id" | "kind"));
        }
        assert_eq!(super::report(&old).unwrap().categories, report.categories);
        old["isAutoCompactEnabled"] = json!(false);
        assert_eq!(super::report(&old).unwrap().compacts_at_tokens, None);
    }

    #[test]
    fn an_answer_of_another_form_is_no_report() {
        let odd = [
            json!(null),
            json!({"categories": 7, "totalTokens": 1, "maxTokens": 2}),
            json!({"categories": [], "totalTokens": -1, "maxTokens": 2}),
            json!({"categories": [], "totalTokens": 1, "maxTokens": 0}),
        ];
        for odd in odd {
            assert_eq!(report(&odd), None, "{odd}");
        }
        // A category that cannot be read is left out.
        let partly = json!({"categories": [7, {"name": "Messages"}, {"name": "Skills", "tokens": 3, "kind": "new"}],
                            "totalTokens": 3, "maxTokens": 9});
        let skills = ContextCategory { name: "Skills".to_owned(), tokens: 3, kind: ContextKind::Used };
        assert_eq!(report(&partly).unwrap().categories, [skills]);
        let many = json!({"categories": vec![json!({"name": "a", "tokens": 1}); 1000], "totalTokens": 3, "maxTokens": 9});
        assert_eq!(report(&many).unwrap().categories.len(), MOST);
    }
}
