//! Tools that the server of the API runs in a reply: web search, code execution, the advisor, tool search, remote MCP
//! servers. Their results are blocks of the same reply, and a text names its sources.

use deskbell_agent::{Found, ToolResult};
use serde_json::Value;

/// Sources that a text can have, and the bytes of a title.
const MOST_SOURCES: usize = 20;
const MOST_OF_TITLE: usize = 200;

/// The result of a call that the server ran.
pub(crate) fn server_result(tool_use_id: String, content: Value, is_error: bool) -> ToolResult {
    let error = content.get("error_code").and_then(Value::as_str);
    let text = error.map_or_else(|| texts(&content), |code| format!("Error: {code}"));
    ToolResult {
        tool_use_id,
        is_error: is_error || error.is_some(),
        found: found(&content),
        text,
        raw: content,
        ..ToolResult::default()
    }
}

/// The texts of a result: those meant for reading, or else all of it as JSON.
fn texts(content: &Value) -> String {
    let text = |value: &Value| {
        let field = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        // An advisor's answer, the outputs of a command, a tool that a search found, a page that was fetched.
        let page = || value.get("content")?.get("source")?.get("data")?.as_str().map(str::to_owned);
        let output = || {
            let both =
                [field("stdout"), field("stderr")].into_iter().flatten().filter(|text| !text.is_empty());
            Some(both.collect::<Vec<_>>().join("\n")).filter(|_| value.get("stdout").is_some())
        };
        field("text").or_else(output).or_else(|| field("tool_name")).or_else(page)
    };
    let references = content.get("tool_references").and_then(Value::as_array);
    let parts = match (content, references) {
        (_, Some(references)) => references.iter().map(text).collect::<Option<Vec<_>>>(),
        (Value::Array(blocks), _) => blocks.iter().map(text).collect(),
        (Value::String(text), _) => Some(vec![text.clone()]),
        (Value::Null, _) => Some(Vec::new()),
        (value, _) => text(value).map(|text| vec![text]),
    };
    parts.map_or_else(|| serde_json::to_string_pretty(content).unwrap_or_default(), |parts| parts.join("\n"))
}

/// The pages of a web search; `None` if the result is another one.
fn found(content: &Value) -> Option<Vec<Found>> {
    let page = |page: &Value| {
        let text = |key: &str| page.get(key).and_then(Value::as_str).map(str::to_owned);
        (text("type")? == "web_search_result").then_some(())?;
        Some(Found::Page { title: text("title"), url: text("url")? })
    };
    content.as_array()?.iter().map(page).collect()
}

/// The sources of a text as Markdown: a link for each page, the title of each other document. Each is named once.
pub(super) fn citations(citations: &Value) -> String {
    let source = |citation: &Value| {
        let text =
            |key: &str| citation.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        let title = text("title").or_else(|| text("document_title"));
        let url = text("url").filter(|url| {
            let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, '<' | '>');
            (url.starts_with("https://") || url.starts_with("http://")) && url.chars().all(is_plain)
        });
        let title = escaped(title.or(url)?);
        Some(url.map_or_else(|| title.clone(), |url| format!("[{title}](<{url}>)")))
    };
    let mut sources: Vec<String> = Vec::new();
    for source in citations.as_array().into_iter().flatten().filter_map(source) {
        if sources.len() < MOST_SOURCES && !sources.contains(&source) {
            sources.push(source);
        }
    }
    if sources.is_empty() { String::new() } else { format!(" ({})", sources.join(", ")) }
}

/// The beginning of a title on one line, without a meaning in Markdown.
fn escaped(title: &str) -> String {
    let line = title.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut out = String::new();
    for c in line[..line.floor_char_boundary(MOST_OF_TITLE)].chars() {
        if c.is_ascii_punctuation() {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_result_of_each_server_tool_is_text() {
        let text = |content: Value| server_result("t".to_owned(), content, false).text;
        assert_eq!(text(json!({"type": "advisor_result", "text": "Do it"})), "Do it");
        let references = json!([{"type": "tool_reference", "tool_name": "Found"}]);
        assert_eq!(
            text(json!({"type": "tool_search_tool_search_result", "tool_references": references})),
            "Found"
        );
        let ran =
            json!({"type": "bash_code_execution_result", "stdout": "out", "stderr": "", "return_code": 0});
        assert_eq!(text(ran), "out");
        assert_eq!(text(json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])), "a\nb");
        assert_eq!(text(json!({"new": 1})), "{\n  \"new\": 1\n}");
        let failed = json!({"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"});
        let failed = server_result("t".to_owned(), failed, false);
        assert_eq!((failed.is_error, failed.text.as_str()), (true, "Error: max_uses_exceeded"));
        let pages = json!([{"type": "web_search_result", "title": "T", "url": "https://a.example"}]);
        let page = Found::Page { title: Some("T".to_owned()), url: "https://a.example".to_owned() };
        assert_eq!(server_result("t".to_owned(), pages, false).found, Some(vec![page]));
    }

    #[test]
    fn each_source_of_a_text_is_named_once() {
        let page = |url: &str| json!({"type": "web_search_result_location", "title": "A [b](c)", "url": url});
        let all = json!([page("https://a.example/x"), page("https://a.example/x"), page("javascript:x"),
            {"type": "char_location", "document_title": "Doc", "cited_text": "words"}, {"type": "new"}, 7]);
        assert_eq!(citations(&all), r" ([A \[b\]\(c\)](<https://a.example/x>), A \[b\]\(c\), Doc)");
        assert_eq!(citations(&json!(null)), "");
    }
}
