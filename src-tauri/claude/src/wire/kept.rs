//! Lines that are kept as values, such as those of a recording.

use serde_json::Value;

/// Whether the line is a piece of a reply.
pub fn is_stream_event(line: &Value) -> bool {
    line["type"] == "stream_event"
}

/// The kind of a line, and the kinds that it contains.
pub fn kinds(line: &Value) -> Vec<&str> {
    let kinds = [&line["type"], &line["subtype"], &line["request"]["subtype"], &line["response"]["subtype"]];
    kinds.into_iter().filter_map(Value::as_str).collect()
}

const FIELDS: [&str; 3] = ["text", "thinking", "partial_json"];

/// The block and the field that a delta belongs to.
pub fn place(line: &Value) -> Option<(&Value, &Value, &'static str)> {
    let event = &line["event"];
    if !is_stream_event(line) || event["type"] != "content_block_delta" {
        return None;
    }
    let field = FIELDS.into_iter().find(|field| event["delta"][field].is_string())?;
    Some((&line["parent_tool_use_id"], &event["index"], field))
}

/// The text of a delta.
pub fn text_in(line: &mut Value) -> Option<&mut String> {
    let (_, _, field) = place(line)?;
    match line.get_mut("event")?.get_mut("delta")?.get_mut(field)? {
        Value::String(text) => Some(text),
        _ => None,
    }
}
