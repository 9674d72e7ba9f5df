//! Tests for parsing lines of every kind.

use super::*;
use deskbell_agent::{ContentBlock, TokenUsage, TurnResult};

#[test]
fn a_lone_surrogate_escape_costs_one_character() {
    let line = br#"{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"a\ud83db \ud83d\ude00"}]}}"#;
    let AgentEvent::Assistant(assistant) = parse(line) else { panic!("{:?}", parse(line)) };
    assert_eq!(assistant.message.content, [ContentBlock::Text { text: "a\u{fffd}b \u{1f600}".into() }]);
}

#[test]
fn what_is_not_a_message_is_kept() {
    assert!(
        matches!(parse(b"Warning: error"), AgentEvent::Unreadable { line, .. } if line == "Warning: error")
    );
    assert!(matches!(parse(b"{\"type\":\"assistant\",\"message\":7}"), AgentEvent::Unreadable { .. }));
    assert!(matches!(parse(b"\xff\xfe"), AgentEvent::Unreadable { .. }));
    assert!(matches!(parse(b"[\"system\",\"init\"]"), AgentEvent::Unreadable { .. }));
    assert_eq!(parse(b"{\"type\":\"brand_new\"}"), AgentEvent::Unknown { kind: "brand_new".into() });
}

/// A message that begins with its type is parsed at once, any other one after a look at its type: both give the same.
#[test]
fn the_place_of_the_type_does_not_matter() {
    let fields = [
        ("assistant", r#""message":{"id":"m","content":[{"type":"text","text":"a\nb"}]},"uuid":"u""#),
        ("user", r#""message":{"content":"hello"},"isReplay":true"#),
        (
            "stream_event",
            r#""event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}"#,
        ),
    ];
    for (kind, fields) in fields {
        let first = parse(format!(r#"{{"type":"{kind}",{fields}}}"#).as_bytes());
        assert!(!matches!(first, AgentEvent::Unreadable { .. } | AgentEvent::Unknown { .. }), "{first:?}");
        assert_eq!(first, parse(format!(r#"{{{fields},"type":"{kind}"}}"#).as_bytes()));
        assert_eq!(first, parse(format!("{{ \"type\" : \"{kind}\", {fields} }}\r").as_bytes()));
    }
    for kind in ["assistant", "user"] {
        let twice = format!(r#"{{"type":"{kind}","type":"result"}}"#);
        assert!(matches!(parse(twice.as_bytes()), AgentEvent::Unreadable { .. }), "{twice}");
    }
}

/// The lines of 2.1.329 for a job of CronCreate, a wake-up of ScheduleWakeup and a prompt.
#[test]
fn a_turn_that_was_planned_is_no_prompt() {
    let line = |more: &str| {
        parse(
            format!(r#"{{"type":"command_lifecycle","command_uuid":"u","state":"started"{more}}}"#)
                .as_bytes(),
        )
    };
    let woken = |by| AgentEvent::Woken { by, uuid: "u".into() };
    assert_eq!(line(r#","wakeup_source":"schedule_wakeup""#), woken(WokenBy::ScheduledJob));
    let wake_up = line(r#","wakeup_source":"loop_wakeup","scheduled_for":1795447020000"#);
    assert_eq!(wake_up, woken(WokenBy::WakeUp));
    assert_eq!(line(""), AgentEvent::PromptState { uuid: "u".into(), state: "started".into() });
}

#[test]
fn a_result_is_read_as_far_as_it_is_known() {
    let line = br#"{"type":"result","is_error":true,"result":"no","duration_ms":1.5,"errors":null}"#;
    let AgentEvent::TurnEnded(result) = parse(line) else { panic!("{:?}", parse(line)) };
    let known = TurnResult { is_error: true, words: Some("no".into()), ..TurnResult::default() };
    assert_eq!(*result, known);
}

/// All fields of 2.1.332, also those that Deskbell does not read.
#[test]
fn a_result_ends_its_turn_whatever_one_of_its_fields_is() {
    const VALUES: [&str; 13] = [
        "1",
        "-1",
        "1.5",
        "1e999",
        "-1e999",
        "18446744073709551616",
        r#""a\ud83d""#,
        "null",
        "true",
        "{}",
        "[]",
        r#"{"a":[1e999,null]}"#,
        r#"[1e999,"a",{}]"#,
    ];
    let known = [
        ("subtype", r#""success""#),
        ("is_error", "false"),
        ("api_error_status", "null"),
        ("duration_ms", "1200"),
        ("duration_api_ms", "1100"),
        ("num_turns", "1"),
        ("result", r#""done""#),
        ("errors", r#"["no"]"#),
        ("stop_reason", r#""end_turn""#),
        ("terminal_reason", r#""completed""#),
        ("session_id", r#""s""#),
        ("total_cost_usd", "0.25"),
        ("usage", r#"{"input_tokens":3,"output_tokens":4}"#),
        ("modelUsage", r#"{"m":{"inputTokens":3,"costUSD":0.25,"contextWindow":200000}}"#),
        ("permission_denials", "[]"),
        ("user_message_uuids", r#"["u"]"#),
        ("origin", r#"{"kind":"human"}"#),
        ("uuid", r#""r""#),
        ("a_field_of_tomorrow", "1"),
    ];
    let line = |odd: usize, value: &str| {
        let field = |(nr, (name, usual)): (usize, &(&str, &str))| {
            format!(r#""{name}":{}"#, if nr == odd { value } else { *usual })
        };
        known.iter().enumerate().map(field).collect::<Vec<_>>().join(",")
    };
    for (nr, (name, _)) in known.iter().enumerate() {
        for value in VALUES {
            let fields = line(nr, value);
            for line in
                [format!(r#"{{"type":"result",{fields}}}"#), format!(r#"{{{fields},"type":"result"}}"#)]
            {
                let AgentEvent::TurnEnded(result) = parse(line.as_bytes()) else {
                    panic!("{line}: {:?}", parse(line.as_bytes()))
                };
                // The other fields keep their values.
                assert!(*name == "num_turns" || result.num_turns == 1, "{name} of {value}: {result:?}");
                assert!(
                    *name == "session_id" || result.session_id.as_deref() == Some("s"),
                    "{name} of {value}"
                );
                assert!(*name == "modelUsage" || result.models.len() == 1, "{name} of {value}: {result:?}");
            }
        }
    }
    for part in [
        r#""usage":{"input_tokens":VALUE}"#,
        r#""modelUsage":{"m":VALUE}"#,
        r#""modelUsage":{"m":{"inputTokens":VALUE,"costUSD":VALUE,"contextWindow":VALUE}}"#,
        r#""origin":{"kind":VALUE}"#,
        r#""user_message_uuids":[VALUE]"#,
        r#""errors":[VALUE]"#,
    ] {
        for value in VALUES {
            let line = format!(r#"{{"type":"result","num_turns":2,{}}}"#, part.replace("VALUE", value));
            let AgentEvent::TurnEnded(result) = parse(line.as_bytes()) else { panic!("{line}") };
            assert_eq!(result.num_turns, 2, "{line}");
        }
    }
}

#[test]
fn numbers_beyond_all_measure_are_bounded() {
    let line = br#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":18446744073709551615}}"#;
    let AgentEvent::RateLimit(report) = parse(line) else { panic!("{:?}", parse(line)) };
    assert_eq!(report.limits(0).windows[0].resets_at, None, "no calendar has that day");
    let usage = TokenUsage { input_tokens: u64::MAX, output_tokens: 1, ..TokenUsage::default() };
    assert_eq!(usage.context_tokens(), u64::MAX);
}

#[test]
fn a_number_is_kept_to_its_last_digit() {
    let line = br#"{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"T","input":{},"permission_suggestions":[1.085416e-19]}}"#;
    let AgentEvent::Request { request: AgentRequest::Tool(request), .. } = parse(line) else { panic!() };
    assert_eq!(request.options[0].raw.as_f64(), Some("1.085416e-19".parse().unwrap()));
}

#[test]
fn a_request_that_cannot_be_read_is_malformed_not_unknown() {
    let line = br#"{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Bash","input":"ls"}}"#;
    let AgentEvent::Request { request, .. } = parse(line) else { panic!() };
    assert!(matches!(request, AgentRequest::Malformed { .. }));
}

fn asked(fields: &str) -> AgentRequest {
    let line = format!(
        r#"{{"type":"control_request","request_id":"r","request":{{"subtype":"can_use_tool",{fields}}}}}"#
    );
    match parse(line.as_bytes()) {
        AgentEvent::Request { request_id, request } if request_id == "r" => request,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_input_is_kept_byte_for_byte() {
    for input in [
        r#"{"a":1e400,"b":1.0,"c":12345678901234567890123,"d":-0}"#,
        r#"{"command":"a\ud83d","x":"\u0041\/"}"#,
        r#"{ "k" : 1 , "k" : 2 }"#,
        "{\"tab\":\t\"\u{2028}\u{7f}\"}",
    ] {
        let AgentRequest::Tool(request) = asked(&format!(r#""tool_name":"T","input":{input}"#)) else {
            panic!("{input}")
        };
        assert_eq!(request.input.text(), input);
    }
}

#[test]
fn whatever_asks_and_cannot_be_read_is_turned_down() {
    let deep = format!(r#""tool_name":"T","input":{{"a":{}{}}}"#, "[".repeat(500), "]".repeat(500));
    for fields in [
        r#""tool_name":"T""#,
        r#""input":{}"#,
        r#""tool_name":7,"input":{}"#,
        r#""tool_name":"T","input":null"#,
        r#""tool_name":"T","input":"ls""#,
        r#""tool_name":"T","input":[]"#,
        r#""tool_name":"T","input":{"command":"ls"},"input":{"command":"rm"}"#,
        r#""tool_name":"T","tool_name":"Bash","input":{}"#,
        r#""tool_name":"T","input":{},"permission_suggestions":{}"#,
        r#""tool_name":"T","input":{},"suppress_always_allow_rule":"no""#,
        r#""tool_name":"T","input":{},"agent_id":7"#,
        r#""tool_name":"T","input":{},"agent_id":"a","agent_id":"b""#,
        &deep,
    ] {
        assert!(matches!(asked(fields), AgentRequest::Malformed { .. }), "{fields}");
    }
    let not_utf8 = b"{\"type\":\"control_request\",\"request_id\":\"r\",\"request\":{\"subtype\":\"can_use_tool\",\"tool_name\":\"T\",\"input\":{\"a\":\"\xff\"}}}";
    let AgentEvent::Request { request, .. } = parse(not_utf8) else { panic!() };
    assert!(matches!(request, AgentRequest::Malformed { .. }));
    for (line, is_permission) in [
        (r#"{"type":"control_request","request_id":"r"}"#, false),
        (r#"{"type":"control_request","request_id":"r","request":7}"#, false),
        (r#"{"type":"control_request","request_id":"r","request":{"subtype":7}}"#, false),
        (r#"{"type":"control_request","request_id":"r","request":{"subtype":"hook_callback"}}"#, false),
        (
            r#"{"type":"control_request","request_id":"q","request_id":"r","request":{"subtype":"can_use_tool"}}"#,
            true,
        ),
    ] {
        let AgentEvent::Request { request_id, request } = parse(line.as_bytes()) else { panic!("{line}") };
        assert_eq!(request_id, "r");
        assert_eq!(matches!(request, AgentRequest::Malformed { .. }), is_permission, "{line}");
        assert!(!matches!(request, AgentRequest::Tool(_)));
    }
}

#[test]
fn nesting_costs_one_line() {
    let line = "[".repeat(100_000);
    assert!(matches!(parse(line.as_bytes()), AgentEvent::Unreadable { .. }));
}

#[test]
fn the_window_is_that_of_the_model_that_works() {
    let line = br#"{"type":"result","subtype":"success","modelUsage":{"large":{"contextWindow":1000000},"small":{"contextWindow":200000},"odd":{}}}"#;
    let AgentEvent::TurnEnded(result) = parse(line) else { panic!("a result") };
    assert_eq!(result.context_window(Some("small")), Some(200_000));
    assert_eq!(result.context_window(Some("large")), Some(1_000_000));
    assert_eq!(result.context_window(Some("odd")), Some(1_000_000));
    assert_eq!(result.context_window(None), Some(1_000_000));
}

#[test]
fn an_error_line_says_what_it_can() {
    for (line, words) in [
        (r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, "Overloaded"),
        (r#"{"type":"error","error":"the credit is used up"}"#, "the credit is used up"),
        (r#"{"type":"error","message":"no such session","error":{"code":7}}"#, "no such session"),
        (r#"{"type":"error","error":{"type":"api_error","message":" "}}"#, "api_error"),
        (r#"{"type":"error","code":7}"#, r#"{"type":"error","code":7}"#),
    ] {
        let AgentEvent::Error { words: read } = parse(line.as_bytes()) else { panic!("{line}") };
        assert_eq!(read, words, "{line}");
    }
}

#[test]
fn lost_writes_of_another_shape_may_be_the_conversation() {
    let read = |fields: &str| {
        parse(format!(r#"{{"type":"system","subtype":"session_writes_lost"{fields}}}"#).as_bytes())
    };
    let lost =
        |error_code: &str, transcript| AgentEvent::WritesLost { error_code: error_code.into(), transcript };
    assert_eq!(read(r#","error_code":"ENOSPC","lost":["transcript","global_config"]"#), lost("ENOSPC", true));
    assert_eq!(read(r#","error_code":"EDQUOT","lost":["global_config"]"#), lost("EDQUOT", false));
    assert_eq!(read(r#","lost":"all""#), lost("", true));
}
