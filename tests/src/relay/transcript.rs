//! Folding events into the transcript, as a window does: each patch is applied to the previous state.

use serde_json::Value;

/// The items that `events` leave, oldest first.
pub fn fold(events: &[Value]) -> Vec<Value> {
    let mut items: Vec<Value> = Vec::new();
    for event in events {
        match event["type"].as_str() {
            Some("itemAdded") => items.push(event["item"].clone()),
            Some("itemChanged") => {
                if let Some(item) = find(&mut items, &event["item"]["id"]) {
                    *item = event["item"].clone();
                }
            }
            Some("blocksChanged") => {
                if let Some(item) = find(&mut items, &event["itemId"]) {
                    patch(&mut item["body"]["blocks"], &event["keep"], &event["blocks"]);
                }
            }
            Some("codeGrew") => {
                let item = find(&mut items, &event["itemId"]);
                let blocks = item.and_then(|item| item["body"]["blocks"].as_array_mut());
                if let Some(block) = blocks.and_then(|blocks| blocks.last_mut()) {
                    patch(&mut block["lines"], &event["keep"], &event["lines"]);
                }
            }
            Some("entriesGrew") => {
                let item = find(&mut items, &event["itemId"]);
                let blocks = item.and_then(|item| item["body"]["blocks"].as_array_mut());
                if let Some(block) = blocks.and_then(|blocks| blocks.last_mut()) {
                    patch(&mut block["items"], &event["keep"], &event["entries"]);
                }
            }
            Some("thoughtGrew") => {
                if let Some(item) = find(&mut items, &event["itemId"])
                    && let (Some(text), Some(keep)) = (item["body"]["text"].as_str(), event["keep"].as_u64())
                {
                    let kept = &text[..text.floor_char_boundary(keep as usize)];
                    item["body"]["text"] =
                        format!("{kept}{}", event["text"].as_str().unwrap_or_default()).into();
                }
            }
            Some("callChanged") => {
                if let Some(item) = find(&mut items, &event["itemId"]) {
                    change_call(&mut item["body"], &event["call"]);
                }
            }
            Some("transcriptReplaced") => items = event["items"].as_array().cloned().unwrap_or_default(),
            Some("itemRemoved") => items.retain(|item| item["id"] != event["itemId"]),
            _ => {}
        }
    }
    items
}

fn find<'a>(items: &'a mut [Value], id: &Value) -> Option<&'a mut Value> {
    items.iter_mut().find(|item| item["id"] == *id)
}

/// Keeps the first `keep` elements of a list, and appends `new`.
fn patch(list: &mut Value, keep: &Value, new: &Value) {
    let (Some(list), Some(keep), Some(new)) = (list.as_array_mut(), keep.as_u64(), new.as_array()) else {
        return;
    };
    list.truncate(usize::try_from(keep).unwrap_or(usize::MAX));
    list.extend(new.iter().cloned());
}

/// Replaces everything in a call except its input.
fn change_call(call: &mut Value, progress: &Value) {
    for (name, value) in progress.as_object().into_iter().flatten() {
        match name.as_str() {
            "output" if value.is_null() => {}
            "output" => call["detail"]["output"] = value.clone(),
            name => call[name] = value.clone(),
        }
    }
}

/// All text below a value, without its markup, as a user would read it.
pub fn text_of(value: &Value) -> String {
    let mut text = String::new();
    gather(value, &mut text);
    text
}

fn gather(value: &Value, text: &mut String) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| gather(value, text)),
        Value::Object(fields) => {
            if let Some(own) = fields.get("text").and_then(Value::as_str) {
                text.push_str(own);
            }
            fields.iter().filter(|(name, _)| *name != "text").for_each(|(_, value)| gather(value, text));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn patches_go_on_top() {
        let paragraph = |text: &str| json!({"type": "paragraph", "spans": [{"type": "text", "text": text}]});
        let events = [
            json!({"type": "itemAdded", "item": {"id": "a", "body": {"type": "text", "blocks": [paragraph("x")]}}}),
            json!({"type": "blocksChanged", "itemId": "a", "keep": 0, "blocks": [paragraph("one "), {
                "type": "code", "lines": [{"tokens": [{"text": "two"}]}],
            }]}),
            json!({"type": "codeGrew", "itemId": "a", "keep": 1, "lines": [{"tokens": [{"text": " three"}]}]}),
        ];
        assert_eq!(text_of(&fold(&events).into()), "one two three");
        let entry = |text: &str| json!({"blocks": [paragraph(text)]});
        let list = json!({"type": "list", "items": [entry("one "), entry("x")]});
        let events = [
            json!({"type": "itemAdded", "item": {"id": "a", "body": {"type": "text", "blocks": [list]}}}),
            json!({"type": "entriesGrew", "itemId": "a", "keep": 1, "entries": [entry("two "), entry("three")]}),
        ];
        assert_eq!(text_of(&fold(&events).into()), "one two three");
        let events = [
            json!({"type": "itemAdded", "item": {"id": "t", "body": {"type": "thinking", "text": "one"}}}),
            json!({"type": "thoughtGrew", "itemId": "t", "keep": 3, "text": " two"}),
        ];
        assert_eq!(text_of(&fold(&events).into()), "one two");
    }
}
