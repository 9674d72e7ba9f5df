//! Results of searches and MCP servers, formatted for quick reading.

use crate::agent::{Found, ToolResult, json};
use serde_json::Value;

/// A server's answer as indented JSON; `None` if it is not JSON. Numbers and key order are unchanged.
pub fn indented(text: &str) -> Option<String> {
    let is_json = text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<Value>(text).is_ok();
    is_json.then(|| json::indented(text))
}

/// Results of a web search: title and URL of each page, and the accompanying text.
pub fn found(outcome: &ToolResult) -> Option<String> {
    let part = |found: &Found| match found {
        Found::Words(words) => words.trim().to_owned(),
        Found::Page { title, url } => format!("{}\n{url}", title.as_deref().unwrap_or("(no title)")),
    };
    let mut parts: Vec<String> = outcome.found.as_ref()?.iter().map(part).collect();
    parts.retain(|part| !part.is_empty());
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::tests::result;
    use serde_json::json;

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
        assert_eq!(
            found(&result("", Some(structured), false)).unwrap(),
            "One\nhttps://example.com/1\n\nTwo\nhttps://example.com/2\n\nBoth say so."
        );
        let other = json!("a text");
        assert_eq!(found(&result("", Some(other), false)), None);
    }
}
