//! Lines of a newer server: an item that this version cannot read becomes a notice in its place, and a list loses the
//! entries that cannot be read.

use crate::agent::json::read_value;
use crate::api::*;
use serde::de::DeserializeOwned;
use serde_json::{Error, Value, json};

/// The words of such a notice.
const NOTICE: &str = "This version of Deskbell cannot show what is here, because the session runs in a newer one. Update \
                      Deskbell on this computer.";

/// The event in this line.
pub(super) fn event(line: &[u8]) -> Result<Event, Error> {
    let whole = serde_json::from_slice::<Envelope>(line);
    let read = whole.or_else(|error| {
        let mut fields: Value = serde_json::from_slice(line)?;
        if let Some(item) = fields.get_mut("item") {
            make_readable(item);
        }
        keep_readable(&mut fields);
        // The first error names what is unknown.
        read_value::<Envelope>(&fields).map_err(|_| error)
    });
    read.map(|envelope| envelope.event)
}

/// The snapshot in this line.
pub(super) fn snapshot(line: &[u8]) -> Result<Box<Snapshot>, Error> {
    #[derive(serde::Deserialize)]
    struct Line {
        snapshot: Box<Snapshot>,
    }
    let whole = serde_json::from_slice::<Line>(line);
    let read = whole.or_else(|error| {
        let mut fields: Value = serde_json::from_slice(line)?;
        keep_readable(&mut fields["snapshot"]);
        read_value::<Line>(&fields).map_err(|_| error)
    });
    read.map(|line| line.snapshot)
}

/// What is shown in place of a session that could not be read.
pub(crate) fn unreadable_session(id: &SessionId, project: String) -> Snapshot {
    let mut session = Session::new(id.clone(), project, AgentKind::Claude, String::new());
    session.title = "Session of a newer Deskbell".to_owned();
    // An empty session may be used for another prompt, or be removed.
    session.is_empty = false;
    let body = Body::Notice { level: Level::Warning, text: NOTICE.to_owned(), detail: None, until_at: None };
    let rows = RowRange { end: 1, total: 1, ..RowRange::default() };
    Snapshot {
        seq: 0,
        last_event_at: 0,
        session,
        rows,
        is_partial: false,
        items: vec![Item::new("newer", body)],
        files: Vec::new(),
        tasks: Vec::new(),
        prompts: Vec::new(),
    }
}

fn is_readable<T: DeserializeOwned>(value: &Value) -> bool {
    read_value::<T>(value).is_ok()
}

/// Makes the lists of a snapshot, or of an event that replaces all items, readable.
fn keep_readable(fields: &mut Value) {
    if let Some(items) = fields.get_mut("items").and_then(Value::as_array_mut) {
        items.iter_mut().for_each(make_readable);
        items.retain(is_readable::<Item>);
    }
    if let Some(files) = fields.get_mut("files").and_then(Value::as_array_mut) {
        files.retain(is_readable::<ChangedFile>);
    }
    if let Some(tasks) = fields.get_mut("tasks").and_then(Value::as_array_mut) {
        tasks.retain(is_readable::<Todo>);
    }
}

/// An item that cannot be read becomes a notice with its id, in its row.
fn make_readable(item: &mut Value) {
    if is_readable::<Item>(item) {
        return;
    }
    let Some(fields) = item.as_object_mut() else { return };
    fields.retain(|name, _| matches!(name.as_str(), "id" | "parent" | "row" | "nr" | "at"));
    let notice =
        json!({"type": "notice", "level": "warning", "text": NOTICE, "detail": null, "untilAt": null});
    fields.insert("body".to_owned(), notice);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(id: &str, body: Value) -> Value {
        json!({"id": id, "parent": null, "row": 3, "nr": 0, "at": 5, "body": body, "colour": "new"})
    }

    fn line(value: Value) -> Vec<u8> {
        value.to_string().into_bytes()
    }

    fn is_notice(item: &Item) -> bool {
        matches!(&item.body, Body::Notice { text, .. } if text == NOTICE)
    }

    #[test]
    fn an_unknown_item_is_a_notice_in_its_row_and_a_known_one_with_unknown_fields_is_itself() {
        for kind in ["itemAdded", "itemChanged"] {
            let added = |body| {
                let value =
                    json!({"type": kind, "sessionId": "s", "seq": 1, "at": 0, "item": item("i", body)});
                event(&line(value))
            };
            let known =
                json!({"type": "thinking", "text": "t", "streaming": false, "durationMs": null, "mood": 1});
            for (body, is_unknown) in [(known, false), (json!({"type": "hologram", "rays": 7}), true)] {
                let (Event::ItemAdded { item } | Event::ItemChanged { item }) = added(body).unwrap() else {
                    panic!("an item");
                };
                assert_eq!((item.id.as_str(), item.row, item.at, is_notice(&item)), ("i", 3, 5, is_unknown));
            }
        }
    }

    #[test]
    fn an_unknown_event_is_an_error_that_names_it() {
        let error =
            event(&line(json!({"type": "hologramShown", "sessionId": "s", "seq": 1, "at": 0}))).unwrap_err();
        assert!(error.to_string().contains("hologramShown"), "{error}");
        assert!(event(b"{\"type\":").is_err());
    }

    #[test]
    fn a_snapshot_keeps_what_can_be_read() {
        let mut sent = serde_json::to_value(unreadable_session(&SessionId::new("s"), "/p".into())).unwrap();
        let text = json!({"type": "thinking", "text": "t", "streaming": false, "durationMs": null});
        sent["items"] = json!([item("a", text), item("b", json!({"type": "hologram"})), 7, {"row": "x"}]);
        sent["files"] = json!([{"path": 7}]);
        sent["tasks"] = json!(["new"]);
        sent["session"]["mood"] = json!("new");
        let read =
            snapshot(&line(json!({"type": "snapshot", "sessionId": "s", "snapshot": sent.clone()}))).unwrap();
        let items: Vec<(&str, bool)> =
            read.items.iter().map(|item| (item.id.as_str(), is_notice(item))).collect();
        assert_eq!(items, [("a", false), ("b", true)]);
        assert!(read.files.is_empty() && read.tasks.is_empty());
        sent["session"]["status"] = json!({"type": "dreaming"});
        let error = snapshot(&line(json!({"type": "snapshot", "snapshot": sent}))).unwrap_err();
        assert!(error.to_string().contains("dreaming"), "{error}");
    }
}
