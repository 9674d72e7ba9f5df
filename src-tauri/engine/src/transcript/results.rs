//! Inputs and results of searches, web tools and MCP servers, formatted for quick reading.

use super::outcome::Outcome;
use crate::wire::json;
use serde_json::Value;

/// The input as one `name: value` line per field if every value is a single line; otherwise as JSON.
pub fn input(input: &Value) -> String {
    let line = |(name, value): (&String, &Value)| match value {
        Value::String(text) if !text.contains('\n') => Some(format!("{name}: {text}")),
        Value::Number(_) | Value::Bool(_) => Some(format!("{name}: {value}")),
        _ => None,
    };
    let lines: Option<Vec<String>> = input.as_object().and_then(|fields| fields.iter().map(line).collect());
    match lines {
        Some(lines) => lines.join("\n"),
        None => serde_json::to_string_pretty(input).unwrap_or_default(),
    }
}

/// A server's answer as indented JSON; `None` if it is not JSON. Numbers and key order are unchanged.
pub fn indented(text: &str) -> Option<String> {
    let is_json = text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<Value>(text).is_ok();
    is_json.then(|| json::indented(text))
}

/// Results of a web search: title and URL of each page, and the accompanying text.
pub fn found(outcome: &Outcome<'_>) -> Option<String> {
    let results = outcome.field("results")?.as_array()?;
    let mut parts = Vec::new();
    for result in results {
        if let Some(words) = result.as_str() {
            parts.push(words.trim().to_owned());
        }
        for page in result.get("content").and_then(Value::as_array).into_iter().flatten() {
            let text = |key: &str| page.get(key).and_then(Value::as_str);
            parts.push(format!("{}\n{}", text("title").unwrap_or("(no title)"), text("url")?));
        }
    }
    parts.retain(|part| !part.is_empty());
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn simple_inputs_are_a_line_for_each_field() {
        assert_eq!(
            input(&json!({"pattern": "a: b", "-n": true, "head_limit": 5})),
            "pattern: a: b\n-n: true\nhead_limit: 5"
        );
        assert_eq!(input(&json!({"pattern": "a\nb"})), "{\n  \"pattern\": \"a\\nb\"\n}");
        assert_eq!(input(&json!({"domains": ["a"]})), "{\n  \"domains\": [\n    \"a\"\n  ]\n}");
    }

    #[test]
    fn json_is_indented_and_nothing_else_is() {
        assert_eq!(
            indented("{\"b\":1.0,\"a\":[]}").as_deref().map(|text| text.lines().count() > 1),
            Some(true)
        );
        assert!(indented("{\"b\":1.0}").is_some_and(|text| text.contains("1.0")));
        for text in ["plain", "7", "[link](x)", "{not json}", ""] {
            assert_eq!(indented(text), None, "{text}");
        }
    }

    #[test]
    fn pages_that_were_found_are_listed() {
        let structured = json!({"query": "q", "results": [
            {"tool_use_id": "t", "content": [
                {"title": "One", "url": "https://example.com/1"},
                {"title": "Two", "url": "https://example.com/2"},
            ]},
            "Both say so.\n",
        ]});
        let outcome =
            Outcome { content: &Value::Null, structured: Some(&structured), is_error: false, refusal: None };
        assert_eq!(
            found(&outcome).unwrap(),
            "One\nhttps://example.com/1\n\nTwo\nhttps://example.com/2\n\nBoth say so."
        );
        let other = json!("a text");
        let outcome =
            Outcome { content: &Value::Null, structured: Some(&other), is_error: false, refusal: None };
        assert_eq!(found(&outcome), None);
    }
}
