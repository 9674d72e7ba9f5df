//! The list of stored sessions, as `DESKBELL_DEMO_ACP` says.

use super::{FAILED, LOGIN_REQUIRED, answer, error};
use serde_json::{Value, json};

/// Answers a request for a page of the list.
pub fn list(id: &Value, params: &Value, faults: &[String]) {
    let cursor = params["cursor"].as_str();
    let folder = params["cwd"].as_str().unwrap_or_default();
    let one = |id: &str, title: &str, at: &str| json!({"sessionId": id, "cwd": folder, "title": title, "updatedAt": at});
    let kind = faults.iter().find_map(|fault| fault.strip_prefix("list"));
    match (kind.unwrap_or_default(), cursor) {
        ("-silent", _) => {}
        ("-login", _) => error(id, LOGIN_REQUIRED, "Authentication required"),
        ("-error", _) | ("-half", Some(_)) => error(id, FAILED, "the list is broken"),
        ("-endless", _) => {
            let nr = cursor.and_then(|cursor| cursor.parse::<u64>().ok()).unwrap_or_default() + 1;
            let session = one(&format!("endless-{nr}"), "Endless", "2026-01-02T03:04:05Z");
            answer(id, json!({"sessions": [session], "nextCursor": nr.to_string()}));
        }
        ("-bad", _) => answer(
            id,
            json!({"nextCursor": "", "sessions": [
                one("", "No id", "2026-01-02T03:04:05Z"),
                one("control\u{7}", "A bell in its id", "2026-01-02T03:04:05Z"),
                one(&"x".repeat(10_000), "A long id", "2026-01-02T03:04:05Z"),
                one("../../escape", "Tidal\u{1b}[31m \u{202e}tables\nand more", "2026-01-02T03:04:05+01:00"),
                one("../../escape", "The same id", "2026-01-02T03:04:05Z"),
                one("no-date", &"long ".repeat(100_000), "yesterday"),
                one("future", "\u{200b}", "9999-01-01T00:00:00Z"),
                one("past", "Before 1970", "1900-01-01T00:00:00Z"),
                {"sessionId": "bare", "cwd": folder, "title": 7, "updatedAt": 7},
                {"sessionId": "nowhere"},
                {"sessionId": "elsewhere", "cwd": "/elsewhere"},
                7, null, "text", [],
            ]}),
        ),
        (_, None) => answer(
            id,
            json!({"nextCursor": "two", "sessions": [
                one("stored-1", "Tidal tables", "2026-01-03T00:00:00.500Z"),
                {"sessionId": "elsewhere", "cwd": "/elsewhere", "title": "Elsewhere"},
            ]}),
        ),
        (_, Some(_)) => {
            answer(id, json!({"sessions": [one("stored-2", "Moon phases", "2026-01-02T00:00:00Z")]}))
        }
    }
}
