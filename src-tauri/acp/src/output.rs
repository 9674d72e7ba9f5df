//! The output and the exit status of a call. Agents send them in different places; these are all that were seen.

use crate::event::Exit;
use crate::read::text;
use serde_json::Value;

/// The output that is kept of a call, in bytes. The rest is counted.
pub const MOST_OUTPUT: usize = 4 << 20;

/// Text of a terminal that the agent owns, in `_meta`. Sent although no terminal is offered.
#[derive(Debug, PartialEq, Eq)]
pub enum TerminalText {
    Whole(String),
    Added(String),
}

pub fn terminal_text(update: &Value) -> Option<TerminalText> {
    let meta = update.get("_meta")?;
    let data = |field: &str| text(meta.get(field)?, "data");
    data("terminal_output_delta")
        .map(TerminalText::Added)
        .or_else(|| data("terminal_output").map(TerminalText::Whole))
}

/// The output alone, without the frame that the content has for a reader: the text itself (claude-agent-acp),
/// `output` (opencode, qwen-code), `aggregated_output` (zed's codex-acp).
pub fn raw_text(update: &Value) -> Option<String> {
    let output = update.get("rawOutput")?;
    let found = ["output", "aggregated_output"].into_iter().find_map(|field| text(output, field));
    output.as_str().map(str::to_owned).or(found).filter(|text| !text.is_empty())
}

/// Output in any other form, as text: a message, or indented JSON. Nothing of one that only says how the command ended.
pub fn raw_output(update: &Value) -> Option<String> {
    let output = update.get("rawOutput")?;
    match output {
        Value::Array(list) if !list.is_empty() => {}
        Value::Object(fields) if !fields.is_empty() => {
            let is_known = ["output", "aggregated_output"].iter().any(|field| output[*field].is_string());
            let is_of_exit = |field: &String| ["exitCode", "exit_code", "signal"].contains(&field.as_str());
            if is_known || fields.keys().all(is_of_exit) {
                return None;
            }
            if let Some(message) = text(output, "message").or_else(|| text(output, "error")) {
                return Some(message);
            }
        }
        _ => return None,
    }
    let text = serde_json::to_string_pretty(output).ok()?;
    Some(text[..text.floor_char_boundary(MOST_OUTPUT)].to_owned())
}

/// The exit code in the last line of a text: “Command failed with exit code: 1.” (kimi-code).
pub fn exit_in_text(text: &str) -> Option<Exit> {
    let last = text.trim_end().lines().next_back()?.to_ascii_lowercase();
    let (_, after) = last.rsplit_once("exit code")?;
    let digits: String =
        after.trim_start_matches([':', ' ']).chars().take_while(char::is_ascii_digit).collect();
    Some(Exit { code: Some(digits.parse().ok()?), signal: None })
}

/// The exit status: `_meta.terminal_exit` (codex-acp), `rawOutput.exitCode` (qwen-code), `.exit_code` (zed's codex-acp),
/// `.metadata.exit` (opencode), `.contents[].exitCode` (Copilot CLI).
pub fn exit(update: &Value) -> Option<Exit> {
    let of = |place: &Value, code: &str| {
        let code = place.get(code).and_then(Value::as_i64);
        let signal = text(place, "signal");
        (code.is_some() || signal.is_some()).then_some(Exit { code, signal })
    };
    let output = update.get("rawOutput");
    let terminal = update.pointer("/_meta/terminal_exit").and_then(|place| of(place, "exit_code"));
    let raw = || output.and_then(|output| of(output, "exitCode").or_else(|| of(output, "exit_code")));
    let metadata = || of(output?.get("metadata")?, "exit");
    let listed = || {
        let contents = output?.get("contents")?.as_array()?;
        contents.iter().find_map(|content| of(content, "exitCode"))
    };
    terminal.or_else(raw).or_else(metadata).or_else(listed)
}

/// A text that is one fenced block, without the fence.
pub fn unfenced(text: &str) -> &str {
    let inner = || {
        let (first, rest) = text.strip_prefix("```")?.split_once('\n')?;
        let inner = rest.strip_suffix("```")?;
        (!first.contains('`') && !inner.contains("\n```") && !inner.starts_with("```")).then_some(inner)
    };
    inner().unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_exit_status_is_found_in_each_of_its_places() {
        for update in [
            json!({"_meta": {"terminal_exit": {"exit_code": 3, "signal": null}}}),
            json!({"rawOutput": {"exitCode": 3}}),
            json!({"rawOutput": {"exit_code": 3}}),
            json!({"rawOutput": {"metadata": {"exit": 3}}}),
            json!({"rawOutput": {"contents": [{"type": "text"}, {"type": "shell_exit", "exitCode": 3}]}}),
        ] {
            assert_eq!(exit(&update), Some(Exit { code: Some(3), signal: None }), "{update}");
        }
        let killed = json!({"_meta": {"terminal_exit": {"exit_code": null, "signal": "SIGKILL"}}});
        assert_eq!(exit(&killed), Some(Exit { code: None, signal: Some("SIGKILL".to_owned()) }));
        for update in
            [json!({}), json!({"rawOutput": "x"}), json!({"_meta": {"terminal_exit": {"exit_code": null}}})]
        {
            assert_eq!(exit(&update), None, "{update}");
        }
    }

    #[test]
    fn output_of_another_form_is_shown_whole_unless_it_says_nothing_more() {
        let raw = |output: Value| raw_output(&json!({ "rawOutput": output }));
        let json = |text: &str| raw(serde_json::from_str(text).unwrap());
        assert_eq!(json(r#"{"stdout":"x"}"#).as_deref(), Some("{\n  \"stdout\": \"x\"\n}"));
        assert_eq!(raw(json!([1])).as_deref(), Some("[\n  1\n]"));
        assert_eq!(raw(json!({"message": "no", "code": "rejected"})).as_deref(), Some("no"));
        for output in [json!({}), json!([]), json!(null), json!({"output": "x"}), json!({"exitCode": 0})] {
            assert_eq!(raw(output.clone()), None, "{output}");
        }
    }

    #[test]
    fn an_exit_code_is_read_from_the_last_line_only() {
        let code = |text: &str| exit_in_text(text).and_then(|exit| exit.code);
        assert_eq!(code("out\nCommand failed with exit code: 101.\n"), Some(101));
        assert_eq!(code("<shellId: 0 completed with exit code 2>"), Some(2));
        for text in ["", "exit code 3\nout", "the exit code is missing", "exit code: x"] {
            assert_eq!(code(text), None, "{text}");
        }
    }

    #[test]
    fn only_a_text_that_is_one_fence_loses_it() {
        assert_eq!(unfenced("```console\nmade\n```"), "made\n");
        assert_eq!(unfenced("```\n```"), "");
        for text in ["made", "```a\nb\n```\nc\n```d\n```", "a\n```\nb\n```", "```", "```x```"] {
            assert_eq!(unfenced(text), text);
        }
    }
}
