//! An agent with minimal cost, so that the measurement is of its host.

use std::io::{BufRead, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use serde_json::{Value, json};

/// Marks the time at which a piece of text was written, in the text itself.
pub const MARK: &str = "written-at-";

pub fn now_ns() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos())
}

/// Answers each prompt with `n_pieces` of text, `pace` apart if the prompt names one in microseconds.
pub fn run(n_pieces: usize, host: &[&str]) -> Result<()> {
    if host.iter().any(|arg| matches!(*arg, "-v" | "--version")) {
        println!("2.1.329 (Claude Code)");
        return Ok(());
    }
    let mut stdout = std::io::stdout().lock();
    let mut tell = |value: &Value| -> Result<()> {
        let mut line = value.to_string();
        line.push('\n');
        stdout.write_all(line.as_bytes())?;
        Ok(stdout.flush()?)
    };
    let mut n_turns = 0;
    for line in std::io::stdin().lock().lines() {
        let Ok(said) = serde_json::from_str::<Value>(&line?) else { continue };
        match said["type"].as_str() {
            Some("control_request") => {
                let response =
                    json!({"subtype": "success", "request_id": said["request_id"], "response": {}});
                tell(&json!({"type": "control_response", "response": response}))?;
            }
            Some("user") => {
                n_turns += 1;
                let words = said["message"]["content"].as_str().map(str::to_owned).unwrap_or_default();
                let pace = words.strip_prefix("pace ").and_then(|pace| pace.trim().parse::<u64>().ok());
                turn(n_turns, n_pieces, pace, &said, &mut tell)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn turn(
    nr: usize,
    n_pieces: usize,
    pace: Option<u64>,
    prompt: &Value,
    tell: &mut impl FnMut(&Value) -> Result<()>,
) -> Result<()> {
    let session = "00000000-0000-4000-a000-000000000000";
    let model = "stub";
    tell(&json!({
        "type": "system", "subtype": "init", "session_id": session, "model": model, "permissionMode": "default",
        "tools": [], "mcp_servers": [], "cwd": "/", "apiKeySource": "none", "slash_commands": [], "uuid": session,
    }))?;
    let id = format!("msg_{nr}");
    let mut stream = |event: Value| {
        tell(
            &json!({"type": "stream_event", "event": event, "session_id": session, "parent_tool_use_id": null, "uuid": session}),
        )
    };
    stream(
        json!({"type": "message_start", "message": {"id": id, "role": "assistant", "model": model, "content": []}}),
    )?;
    stream(
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
    )?;
    let mut whole = String::new();
    for _ in 0..n_pieces {
        let text = format!("{MARK}{}\n\n", now_ns());
        stream(
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
        )?;
        whole += &text;
        if let Some(pace) = pace {
            std::thread::sleep(std::time::Duration::from_micros(pace));
        }
    }
    tell(&json!({
        "type": "assistant", "session_id": session, "parent_tool_use_id": null, "uuid": session,
        "message": {"id": id, "type": "message", "role": "assistant", "model": model, "content": [{"type": "text", "text": whole}],
                    "usage": {"input_tokens": 1, "output_tokens": 1}},
    }))?;
    tell(&json!({
        "type": "result", "subtype": "success", "is_error": false, "result": "done", "session_id": session,
        "duration_ms": 1, "duration_api_ms": 1, "num_turns": 1, "total_cost_usd": 0.0,
        "usage": {"input_tokens": 1, "output_tokens": 1}, "uuid": session, "user_message_uuids": [prompt["uuid"]],
    }))
}
