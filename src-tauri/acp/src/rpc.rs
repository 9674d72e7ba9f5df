//! Lines of JSON-RPC 2.0: reading never fails, writing never breaks a line.

use crate::event::RpcError;
use deskbell_agent::json::read_leniently;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// The longest line that is read, in bytes. A longer one is data: its beginning and its length.
pub const LONGEST_LINE: usize = 64 << 20;
/// The part of an unreadable line or an unknown message that is kept, in bytes.
pub const KEPT: usize = 4096;

/// A method that this side does not have.
pub const METHOD_NOT_FOUND: i64 = -32601;
pub const INVALID_REQUEST: i64 = -32600;
pub const INVALID_PARAMS: i64 = -32602;
pub const REQUEST_CANCELLED: i64 = -32800;
/// The agent needs a login first.
pub const LOGIN_REQUIRED: i64 = -32000;

/// The id of a request: its JSON text. Agents use numbers and strings, which are different ids (`1` and `"1"`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(String);

impl Id {
    pub fn new(id: &Value) -> Self {
        Self(id.to_string())
    }

    /// The JSON text.
    pub fn text(&self) -> &str {
        &self.0
    }
}

/// One message of a line.
#[derive(Clone, Debug, PartialEq)]
pub enum RpcMessage {
    Request {
        id: Id,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    Answer {
        id: Id,
        outcome: Result<Value, RpcError>,
    },
    /// JSON that is none of these. With an id and a method the sender waits for an answer.
    Malformed {
        waits: Option<Id>,
        json: Value,
    },
}

/// A line that is no message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Its beginning, at most [`KEPT`] bytes.
    pub line: String,
    pub n_bytes: usize,
    pub error: String,
}

/// The messages of one line; several are a batch.
pub fn read(line: &[u8]) -> Result<Vec<RpcMessage>, Unreadable> {
    let unreadable = |error: String| Unreadable { line: beginning(line), n_bytes: line.len(), error };
    if line.len() > LONGEST_LINE {
        return Err(unreadable(format!("the line is longer than {LONGEST_LINE} bytes")));
    }
    let text = str::from_utf8(line).map_or_else(|_| String::from_utf8_lossy(line), Cow::Borrowed);
    // A string of JavaScript can contain half of a surrogate pair: agents cut output at a number of characters.
    match read_leniently(text.trim_ascii()) {
        Ok(Value::Array(batch)) if batch.is_empty() => Err(unreadable("the batch is empty".to_owned())),
        Ok(Value::Array(batch)) => Ok(batch.into_iter().map(message).collect()),
        Ok(value @ Value::Object(_)) => Ok(vec![message(value)]),
        Ok(_) => Err(unreadable("the line is no JSON object".to_owned())),
        Err(error) => Err(unreadable(error.to_string())),
    }
}

fn message(json: Value) -> RpcMessage {
    let Value::Object(mut fields) = json else { return RpcMessage::Malformed { waits: None, json } };
    let id = fields.get("id").map(Id::new);
    let method = fields.get("method").map(|method| method.as_str().map(str::to_owned));
    match (method, id) {
        (Some(Some(method)), id) => {
            let params = fields.remove("params").unwrap_or_default();
            match id {
                Some(id) => RpcMessage::Request { id, method, params },
                None => RpcMessage::Notification { method, params },
            }
        }
        (Some(None), id) => RpcMessage::Malformed { waits: id, json: fields.into() },
        (None, Some(id)) => match (fields.get("error"), fields.contains_key("result")) {
            (Some(error), _) if !error.is_null() => RpcMessage::Answer { id, outcome: Err(error_of(error)) },
            (_, true) => {
                let result = fields.remove("result").unwrap_or_default();
                RpcMessage::Answer { id, outcome: Ok(result) }
            }
            _ => RpcMessage::Malformed { waits: None, json: fields.into() },
        },
        (None, None) => RpcMessage::Malformed { waits: None, json: fields.into() },
    }
}

/// An error with missing fields is still an error.
fn error_of(error: &Value) -> RpcError {
    let message = error.get("message").and_then(Value::as_str);
    RpcError {
        code: error.get("code").and_then(Value::as_i64).unwrap_or_default(),
        message: message.map_or_else(|| error.to_string(), str::to_owned),
        data: error.get("data").filter(|data| !data.is_null()).cloned(),
    }
}

/// The beginning of a line as text.
fn beginning(line: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(&line[..line.len().min(KEPT)]).into_owned();
    // A byte that is no text becomes three.
    text.truncate(text.floor_char_boundary(KEPT));
    text
}

/// The beginning of a JSON text.
pub fn shortened(json: &Value) -> String {
    let mut text = json.to_string();
    text.truncate(text.floor_char_boundary(KEPT));
    text
}

/// A request of ours.
pub fn request(id: i64, method: &str, params: &impl Serialize) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": written(params)}).to_string()
}

pub fn notification(method: &str, params: &impl Serialize) -> String {
    json!({"jsonrpc": "2.0", "method": method, "params": written(params)}).to_string()
}

/// The answer to a request of the agent. Its id goes back as it came.
pub fn answer(id: &Id, result: &impl Serialize) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{}}}"#, id.text(), written(result))
}

pub fn error(id: &Id, code: i64, message: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"error":{}}}"#, id.text(), json!({"code": code, "message": message}))
}

/// The types of the protocol have only string keys and finite numbers, and paths that are text: nothing that JSON
/// cannot hold. A path that is not UTF-8 would be the exception, and becomes an empty object.
fn written(params: &impl Serialize) -> Value {
    serde_json::to_value(params).unwrap_or_else(|_| Map::new().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &str) -> RpcMessage {
        read(line.as_bytes()).unwrap().remove(0)
    }

    #[test]
    fn ids_are_numbers_or_strings_and_go_back_as_they_came() {
        for id in ["0", "-7", "\"0\"", "\"f0133f26-cbb9\"", "null", "1.5", "18446744073709551615"] {
            let line = format!(r#"{{"id":{id},"method":"a/b","params":{{}}}}"#);
            let RpcMessage::Request { id: read, .. } = one(&line) else { panic!("{line}") };
            assert_eq!(answer(&read, &json!({})), format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
        }
    }

    #[test]
    fn a_null_result_is_an_answer_and_an_error_with_gaps_is_an_error() {
        let answered = |line: &str| match one(line) {
            RpcMessage::Answer { outcome, .. } => outcome,
            other => panic!("{other:?}"),
        };
        assert_eq!(answered(r#"{"id":1,"result":null}"#), Ok(Value::Null));
        assert_eq!(answered(r#"{"id":1,"result":{},"error":null}"#), Ok(json!({})));
        let error = answered(r#"{"id":1,"error":"no"}"#).unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (0, "\"no\""));
        assert_eq!(answered(r#"{"id":1,"error":{"code":-32000}}"#).unwrap_err().code, LOGIN_REQUIRED);
    }

    #[test]
    fn what_is_no_message_is_data() {
        for line in ["", "{", "1", "[]", "\"a\"", "Loading model…", "{\"a\":\"\n\"}"] {
            let unreadable = read(line.as_bytes()).unwrap_err();
            assert_eq!((unreadable.line.as_str(), unreadable.n_bytes), (line, line.len()));
        }
        let long = read(&vec![b'x'; 1 << 20]).unwrap_err();
        assert_eq!((long.line.len(), long.n_bytes), (KEPT, 1 << 20));
        assert!(read(&[0xff; 10_000]).unwrap_err().line.len() <= KEPT);
        assert_eq!(one("{}"), RpcMessage::Malformed { waits: None, json: json!({}) });
        let waits = one(r#"{"id":3,"method":7}"#);
        assert!(matches!(waits, RpcMessage::Malformed { waits: Some(id), .. } if id.text() == "3"));
    }

    #[test]
    fn a_batch_is_its_messages() {
        let batch = read(br#"[{"method":"a"},{"id":1,"result":2},3]"#).unwrap();
        assert!(
            matches!(
                &batch[..],
                [RpcMessage::Notification { .. }, RpcMessage::Answer { .. }, RpcMessage::Malformed { .. }]
            ),
            "{batch:?}"
        );
    }

    #[test]
    fn half_a_surrogate_pair_is_replaced_and_nothing_else() {
        let text = |line: &str| match one(line) {
            RpcMessage::Notification { params, .. } => params,
            other => panic!("{other:?}"),
        };
        let halves = r#"{"method":"m","params":"a\ud83d b\\ud83d \ud83d\ude00 \ude00\u00e9"}"#;
        assert_eq!(text(halves), "a\u{fffd} b\\ud83d 😀 \u{fffd}é");
        assert!(read(r#"{"method":"\é"}"#.as_bytes()).is_err());
    }

    #[test]
    fn a_line_of_ours_is_one_line() {
        let line = request(1, "a", &json!({"text": "a\nb\u{2028}"}));
        assert!(!line.contains('\n'), "{line}");
    }
}
