//! Plain texts of a transcript, for comparisons.

use deskbell_engine::api::{Body, Item, ToolState};

/// The text of a whole answer of the agent.
pub fn answer(item: &Item) -> Option<String> {
    let Body::Text { streaming: false, .. } = &item.body else { return None };
    let body = serde_json::to_value(&item.body).unwrap();
    Some(deskbell_tests::relay::text_of(&body))
}

/// A notice and its details, on lines of their own.
pub fn notice(item: &Item) -> Option<String> {
    let Body::Notice { text, detail, .. } = &item.body else { return None };
    Some(detail.iter().fold(text.clone(), |text, detail| text + "\n" + detail))
}

/// The states of the tool calls, in order.
pub fn tool_states(items: &[Item]) -> Vec<ToolState> {
    let calls = items.iter().filter_map(|item| match &item.body {
        Body::ToolCall(call) => Some(call.state),
        _ => None,
    });
    calls.collect()
}
