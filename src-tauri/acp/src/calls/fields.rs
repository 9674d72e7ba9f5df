//! The fields of an update of a call, as types.

use super::Odd;
use crate::event::{AcpDiff, AcpPlace, CallKind, CallStatus, Content};
use crate::read::{content, text};
use crate::rpc::shortened;
use agent_client_protocol_schema::v1;
use serde::Deserialize;
use serde_json::Value;

/// The parts of a call's content that are no text and are kept, and the size of the images among them. The rest is named.
const MOST_ATTACHMENTS: usize = 64;
const MOST_IMAGES: usize = 16 << 20;
/// The fields of an update. A field of a wrong type is absent, and odd.
pub(super) struct Fields {
    pub title: Option<String>,
    pub tool: Option<String>,
    pub kind: Option<CallKind>,
    pub status: Option<CallStatus>,
    pub input: Option<Value>,
    pub places: Option<Vec<AcpPlace>>,
    pub diffs: Vec<AcpDiff>,
    /// The text of its content.
    pub text: Option<String>,
    pub attachments: Vec<Content>,
    pub has_terminal: bool,
}

pub(super) fn fields(update: &Value) -> (Fields, Vec<Odd>) {
    let mut odd = Vec::new();
    let status = typed::<v1::ToolCallStatus>(update, "status", &mut odd);
    let tool = typed(update, "name", &mut odd);
    let own_tool = || {
        let meta = update.get("_meta")?;
        text(meta, "toolName").or_else(|| text(meta.get("claudeCode")?, "toolName"))
    };
    let input = update.get("rawInput").filter(|input| {
        // An input that is still written.
        !input.is_null() && input.as_object().is_none_or(|fields| !fields.is_empty())
    });
    let mut fields = Fields {
        title: typed(update, "title", &mut odd),
        tool: tool.or_else(own_tool),
        kind: typed(update, "kind", &mut odd).map(call_kind),
        status: status.map(call_status),
        input: input.cloned(),
        places: None,
        diffs: Vec::new(),
        text: None,
        attachments: Vec::new(),
        has_terminal: false,
    };
    match update.get("locations") {
        Some(Value::Array(list)) => {
            let mut places = Vec::new();
            for item in list {
                match v1::ToolCallLocation::deserialize(item) {
                    Ok(place) => {
                        places.push(AcpPlace { path: place.path.display().to_string(), line: place.line });
                    }
                    Err(_) => odd.push(("locations", item.clone())),
                }
            }
            fields.places = Some(places).filter(|places| !places.is_empty());
        }
        None | Some(Value::Null) => {}
        Some(other) => odd.push(("locations", other.clone())),
    }
    match update.get("content") {
        Some(Value::Array(list)) => list.iter().for_each(|item| part(item, &mut fields)),
        None | Some(Value::Null) => {}
        Some(other) => odd.push(("content", other.clone())),
    }
    bound(&mut fields.attachments);
    (fields, odd)
}

/// Keeps the first attachments. Images beyond the limit stay without their data.
fn bound(attachments: &mut Vec<Content>) {
    let mut room = MOST_IMAGES;
    for attachment in attachments.iter_mut() {
        if let Content::Image { data: data @ Some(_), .. } = attachment {
            let size = data.as_ref().map_or(0, |data| data.len());
            match room.checked_sub(size) {
                Some(rest) => room = rest,
                None => *data = None,
            }
        }
    }
    let n_left_out = attachments.len().saturating_sub(MOST_ATTACHMENTS);
    if n_left_out > 0 {
        attachments.truncate(MOST_ATTACHMENTS);
        attachments.push(Content::Other(format!("{n_left_out} more parts were left out")));
    }
}

/// One item of a call's content.
fn part(item: &Value, fields: &mut Fields) {
    match v1::ToolCallContent::deserialize(item) {
        Ok(v1::ToolCallContent::Diff(diff)) => fields.diffs.push(AcpDiff {
            path: diff.path.display().to_string(),
            old: diff.old_text,
            new: diff.new_text,
        }),
        Ok(v1::ToolCallContent::Terminal(_)) => fields.has_terminal = true,
        Ok(v1::ToolCallContent::Content(_)) => match content(&item["content"]) {
            Content::Text(text) => match &mut fields.text {
                Some(before) => {
                    before.push('\n');
                    before.push_str(&text);
                }
                None => fields.text = Some(text),
            },
            other => fields.attachments.push(other),
        },
        _ => fields.attachments.push(Content::Other(shortened(item))),
    }
}

fn typed<T: serde::de::DeserializeOwned>(
    update: &Value,
    field: &'static str,
    odd: &mut Vec<Odd>,
) -> Option<T> {
    let value = update.get(field).filter(|value| !value.is_null())?;
    T::deserialize(value).map_err(|_| odd.push((field, value.clone()))).ok()
}

fn call_kind(kind: v1::ToolKind) -> CallKind {
    match kind {
        v1::ToolKind::Read => CallKind::Read,
        v1::ToolKind::Edit => CallKind::Edit,
        v1::ToolKind::Delete => CallKind::Delete,
        v1::ToolKind::Move => CallKind::Move,
        v1::ToolKind::Search => CallKind::Search,
        v1::ToolKind::Execute => CallKind::Execute,
        v1::ToolKind::Think => CallKind::Think,
        v1::ToolKind::Fetch => CallKind::Fetch,
        v1::ToolKind::SwitchMode => CallKind::SwitchMode,
        _ => CallKind::Other,
    }
}

fn call_status(status: v1::ToolCallStatus) -> CallStatus {
    match status {
        v1::ToolCallStatus::InProgress => CallStatus::Running,
        v1::ToolCallStatus::Completed => CallStatus::Done,
        v1::ToolCallStatus::Failed => CallStatus::Failed,
        _ => CallStatus::Waiting,
    }
}
