//! Single situations: requests and their answers, the end of a turn, the order of a stop.

use deskbell_acp::agents::CommandPlace;
use deskbell_acp::command::{NewValue, PromptPart};
use deskbell_acp::driver::MOST_OPEN;
use deskbell_acp::event::{
    AcpAction, AcpCall, AcpOptionKind, AcpTurnEnd, CallStatus, Failure, Permission, RequestKey, Withdrawal,
};
use deskbell_acp::{AcpClient, AcpCommand, AcpEvent, AcpRefusal, ClientStep};
use serde_json::{Value, json};

/// A driver with an agent that offers everything, in a session with two modes.
pub fn in_session() -> AcpClient {
    let mut driver = AcpClient::new(CommandPlace::Input);
    driver.command(AcpCommand::Initialize { version: "0.1.0".to_owned() }).unwrap();
    let able = json!({"loadSession": true, "promptCapabilities": {"image": true},
        "sessionCapabilities": {"close": {}, "list": {}, "resume": {}}});
    let login = json!([{"id": "login", "name": "Log in"}]);
    answer(&mut driver, 0, json!({"protocolVersion": 1, "agentCapabilities": able, "authMethods": login}));
    driver.command(AcpCommand::NewSession { folder: "/project".to_owned() }).unwrap();
    let modes = json!({"currentModeId": "auto", "availableModes": [{"id": "auto", "name": "Auto"},
        {"id": "ask", "name": "Ask"}]});
    answer(&mut driver, 1, json!({"sessionId": "s", "modes": modes}));
    driver
}

pub fn in_turn() -> AcpClient {
    let mut driver = in_session();
    driver.command(prompt("hello")).unwrap();
    driver
}

pub fn prompt(text: &str) -> AcpCommand {
    AcpCommand::Prompt(vec![PromptPart::Text(text.to_owned())])
}

fn line(driver: &mut AcpClient, line: Value) -> ClientStep {
    driver.line(line.to_string().as_bytes())
}

fn answer(driver: &mut AcpClient, id: i64, result: Value) -> ClientStep {
    line(driver, json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

fn update(driver: &mut AcpClient, kind: &str, mut update: Value) -> ClientStep {
    update["sessionUpdate"] = json!(kind);
    line(driver, json!({"method": "session/update", "params": {"sessionId": "s", "update": update}}))
}

fn ask(driver: &mut AcpClient, id: Value, call: &str) -> ClientStep {
    let options = json!([
        {"optionId": "once", "name": "Allow", "kind": "allow_once"},
        {"optionId": "once2", "name": "Allow and switch", "kind": "allow_once"},
        {"optionId": "no", "name": "Reject", "kind": "reject_once"}]);
    ask_with(driver, id, json!({"toolCallId": call, "title": "ls", "rawInput": {"command": "ls"}}), options)
}

fn ask_with(driver: &mut AcpClient, id: Value, call: Value, options: Value) -> ClientStep {
    let params = json!({"sessionId": "s", "toolCall": call, "options": options});
    line(driver, json!({"id": id, "method": "session/request_permission", "params": params}))
}

fn permission(step: &ClientStep) -> &Permission {
    let found = step.events.iter().find_map(|event| match event {
        AcpEvent::Permission(permission) => Some(permission),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("{step:?}"))
}

fn written(step: &ClientStep) -> Vec<Value> {
    step.lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn cancelled(id: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"outcome": {"outcome": "cancelled"}}})
}

fn statuses(events: &[AcpEvent]) -> Vec<(String, CallStatus)> {
    let status = |event: &AcpEvent| match event {
        AcpEvent::Call(call) => Some((call.id.clone(), call.status?)),
        _ => None,
    };
    events.iter().filter_map(status).collect()
}

#[test]
fn neither_files_nor_terminals_are_offered() {
    let mut driver = AcpClient::new(CommandPlace::Input);
    let step = driver.command(AcpCommand::Initialize { version: "0.1.0".to_owned() }).unwrap();
    let able = written(&step)[0]["params"]["clientCapabilities"].clone();
    assert_eq!(
        able,
        json!({
            "fs": {"readTextFile": false, "writeTextFile": false},
            "terminal": false,
            "session": {"compaction": {}, "configOptions": {"boolean": {}}, "notices": {}},
            "auth": {"terminal": true},
            "elicitation": {"form": {}},
        })
    );
    for method in ["fs/write_text_file", "terminal/create", "craft/drainMidTurnQueue", "a/b"] {
        let step = line(&mut driver, json!({"id": "x", "method": method, "params": {"path": "a"}}));
        assert_eq!(written(&step)[0]["error"]["code"], -32601, "{method}");
        assert!(matches!(&step.events[..], [AcpEvent::Refused { method: named, .. }] if named == method));
    }
}

#[test]
fn a_request_is_answered_by_the_id_of_the_option_and_once() {
    let mut driver = in_turn();
    let step = ask(&mut driver, json!("a-1"), "c");
    let request = permission(&step).request;
    let choose = |option: &str| AcpCommand::Choose { request, option: option.to_owned() };
    assert_eq!(driver.command(choose("allow_once")), Err(AcpRefusal::NoSuchOption), "a kind is no id");
    let step = driver.command(choose("once2")).unwrap();
    let result = json!({"outcome": {"outcome": "selected", "optionId": "once2"}});
    assert_eq!(written(&step), [json!({"jsonrpc": "2.0", "id": "a-1", "result": result})]);
    assert_eq!(statuses(&step.events), [("c".to_owned(), CallStatus::Running)]);
    assert_eq!(driver.command(choose("once")), Err(AcpRefusal::NotOpen));
}

#[test]
fn an_option_that_cannot_be_told_apart_cannot_be_chosen() {
    let mut driver = in_turn();
    let options = json!([
        {"optionId": "x", "name": "Allow", "kind": "allow_once"},
        {"optionId": "x", "name": "Reject", "kind": "reject_once"},
        {"name": "No id", "kind": "reject_once"},
        {"optionId": "y", "name": "Later", "kind": "allow_later"}]);
    let step = ask_with(&mut driver, json!(0), json!({"toolCallId": "c"}), options);
    let asked = permission(&step);
    assert_eq!(asked.options.len(), 1);
    assert_eq!((asked.options[0].id.as_str(), asked.options[0].kind), ("y", AcpOptionKind::Other));
    assert_eq!(asked.unusable.len(), 3);
}

#[test]
fn a_request_that_cannot_be_answered_is_refused() {
    for (call, options) in [
        (json!({"toolCallId": "c"}), json!([])),
        (json!({"toolCallId": "c"}), json!("x")),
        (json!({"title": "no id"}), json!([{"optionId": "a", "name": "A", "kind": "allow_once"}])),
        (json!(null), json!([{"optionId": "a", "name": "A", "kind": "allow_once"}])),
    ] {
        let mut driver = in_turn();
        let step = ask_with(&mut driver, json!(7), call, options);
        assert_eq!(
            (&written(&step)[0]["id"], &written(&step)[0]["error"]["code"]),
            (&json!(7), &json!(-32602))
        );
        assert!(matches!(step.events.last(), Some(AcpEvent::Refused { .. })), "{step:?}");
        assert_eq!(driver.n_requests(), 0);
    }
}

#[test]
fn a_second_request_with_the_same_id_allows_neither() {
    let mut driver = in_turn();
    let first = permission(&ask(&mut driver, json!(0), "harmless")).request;
    let step = ask(&mut driver, json!(0), "harmful");
    assert_eq!(written(&step)[0], cancelled(json!(0)));
    assert_eq!(written(&step)[1]["error"]["code"], -32600);
    assert!(step.events.contains(&AcpEvent::Withdrawn { request: first, reason: Withdrawal::Repeated }));
    let choose = AcpCommand::Choose { request: first, option: "once".to_owned() };
    assert_eq!(driver.command(choose), Err(AcpRefusal::NotOpen));
    // The ids of the two sides are independent, and an id that was answered may come again.
    assert_eq!(permission(&ask(&mut driver, json!(2), "third")).request, RequestKey(2));
    assert_eq!(permission(&ask(&mut driver, json!(0), "fourth")).request, RequestKey(3));
}

#[test]
fn the_end_of_a_turn_settles_everything() {
    let mut driver = in_turn();
    update(&mut driver, "tool_call", json!({"toolCallId": "runs", "status": "in_progress"}));
    update(&mut driver, "tool_call", json!({"toolCallId": "done", "status": "completed"}));
    let denied = permission(&ask(&mut driver, json!(5), "denied")).request;
    driver.command(AcpCommand::Choose { request: denied, option: "no".to_owned() }).unwrap();
    let open = permission(&ask(&mut driver, json!(6), "asks")).request;
    let step = answer(&mut driver, 2, json!({"stopReason": "end_turn"}));
    assert_eq!(written(&step), [cancelled(json!(6))]);
    let expected = [
        AcpEvent::Withdrawn { request: open, reason: Withdrawal::TurnEnded },
        settled("runs", CallStatus::Unreported),
        settled("denied", CallStatus::Denied),
        settled("asks", CallStatus::Unreported),
        AcpEvent::TurnEnded { end: AcpTurnEnd::Done, tokens: None },
    ];
    assert_eq!(step.events, expected);
    assert_eq!((driver.n_requests(), driver.n_calls()), (0, 0));
    driver.command(prompt("again")).unwrap();
}

fn settled(id: &str, status: CallStatus) -> AcpEvent {
    AcpEvent::Call(Box::new(AcpCall { id: id.to_owned(), status: Some(status), ..AcpCall::default() }))
}

#[test]
fn a_stop_answers_then_cancels_then_closes() {
    let mut driver = in_turn();
    update(&mut driver, "tool_call", json!({"toolCallId": "runs", "status": "in_progress"}));
    ask(&mut driver, json!("q"), "asks");
    let step = driver.command(AcpCommand::Stop).unwrap();
    let lines = written(&step);
    assert_eq!(lines[0], cancelled(json!("q")));
    assert_eq!((lines[1]["method"].as_str(), lines[1].get("id")), (Some("session/cancel"), None));
    assert_eq!((lines[2]["method"].as_str(), lines.len()), (Some("session/close"), 3));
    assert_eq!(driver.command(prompt("late")), Err(AcpRefusal::Stopping));
    // Whatever the agent asks now is cancelled at once.
    let step = ask(&mut driver, json!("late"), "late");
    assert_eq!(written(&step), [cancelled(json!("late"))]);
    assert!(matches!(step.events.last(), Some(AcpEvent::Refused { .. })), "{step:?}");
    let step = answer(&mut driver, 2, json!({"stopReason": "cancelled"}));
    let ended = |id: &str, status| (id.to_owned(), status);
    assert_eq!(
        statuses(&step.events),
        [
            ended("runs", CallStatus::Cancelled),
            ended("asks", CallStatus::NotRun),
            ended("late", CallStatus::Denied)
        ]
    );
    let closed = answer(&mut driver, 3, json!({}));
    assert_eq!(closed.events, [AcpEvent::Done(AcpAction::CloseSession)]);
    assert_eq!(driver.ended(), []);
}

#[test]
fn a_stop_without_a_turn_cancels_none() {
    let mut driver = in_session();
    let step = driver.command(AcpCommand::Stop).unwrap();
    assert_eq!(written(&step)[0]["method"], "session/close");
    let mut driver = AcpClient::new(CommandPlace::Input);
    assert_eq!(driver.command(AcpCommand::Stop).unwrap(), ClientStep::default());
}

#[test]
fn an_interrupt_cancels_what_is_asked_until_the_turn_ends() {
    let mut driver = in_turn();
    ask(&mut driver, json!(0), "a");
    let step = driver.command(AcpCommand::Interrupt).unwrap();
    assert_eq!(written(&step)[0], cancelled(json!(0)));
    assert_eq!(written(&step)[1]["method"], "session/cancel");
    assert_eq!(written(&ask(&mut driver, json!(1), "b")), [cancelled(json!(1))]);
    answer(&mut driver, 2, json!({"stopReason": "cancelled"}));
    assert_eq!(driver.command(AcpCommand::Interrupt), Err(AcpRefusal::NoTurn));
    driver.command(prompt("next")).unwrap();
    assert_eq!(permission(&ask(&mut driver, json!(1), "c")).call.id, "c");
}

#[test]
fn an_agent_can_withdraw_a_request() {
    let mut driver = in_turn();
    let request = permission(&ask(&mut driver, json!("q"), "c")).request;
    let cancel = |id: Value| json!({"method": "$/cancel_request", "params": {"requestId": id}});
    let step = line(&mut driver, cancel(json!("q")));
    assert_eq!(written(&step)[0]["error"]["code"], -32800);
    assert_eq!(step.events, [AcpEvent::Withdrawn { request, reason: Withdrawal::ByAgent }]);
    let step = line(&mut driver, cancel(json!("q")));
    assert!(step.lines.is_empty() && matches!(&step.events[..], [AcpEvent::Unknown { .. }]));
}

#[test]
fn a_question_is_filled_declined_or_cancelled() {
    let schema =
        json!({"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]});
    let params = json!({"mode": "form", "sessionId": "s", "message": "?", "requestedSchema": schema});
    let question = |driver: &mut AcpClient| {
        let step = line(driver, json!({"id": 0, "method": "elicitation/create", "params": params}));
        match &step.events[..] {
            [AcpEvent::Question(question)] => question.request,
            other => panic!("{other:?}"),
        }
    };
    let mut driver = in_turn();
    let request = question(&mut driver);
    let fill = |values: Vec<(String, Value)>| AcpCommand::Fill { request, values };
    assert_eq!(driver.command(fill(vec![])), Err(AcpRefusal::WrongField("colour".to_owned())));
    let choose = AcpCommand::Choose { request, option: "accept".to_owned() };
    assert_eq!(driver.command(choose), Err(AcpRefusal::NotOpen), "it is no permission request");
    let step = driver.command(fill(vec![("colour".to_owned(), json!("red"))])).unwrap();
    assert_eq!(written(&step)[0]["result"], json!({"action": "accept", "content": {"colour": "red"}}));
    let request = question(&mut driver);
    let step = driver.command(AcpCommand::Decline { request }).unwrap();
    assert_eq!(written(&step)[0]["result"], json!({"action": "decline"}));
    let request = question(&mut driver);
    let step = driver.command(AcpCommand::Cancel { request }).unwrap();
    assert_eq!(written(&step)[0]["result"], json!({"action": "cancel"}));
}

#[test]
fn an_answer_without_a_question_is_data() {
    let mut driver = in_turn();
    for id in [json!(99), json!("2"), json!(null), json!(1)] {
        let step = line(&mut driver, json!({"id": id, "result": {"stopReason": "end_turn"}}));
        assert!(matches!(&step.events[..], [AcpEvent::Unknown { kind, .. }] if kind == "answer"), "{step:?}");
    }
    let step = answer(&mut driver, 2, json!({"stopReason": "new"}));
    let end = AcpEvent::TurnEnded { end: AcpTurnEnd::Other("new".to_owned()), tokens: None };
    assert_eq!(step.events, [end]);
}

#[test]
fn a_missing_login_ends_the_turn_and_is_an_event_of_its_own() {
    let mut driver = in_turn();
    let error = json!({"code": -32000, "message": "Log in"});
    let step = line(&mut driver, json!({"id": 2, "error": error}));
    assert!(
        matches!(&step.events[..], [AcpEvent::LoginRequired { logins, .. }, AcpEvent::TurnEnded { end: AcpTurnEnd::Failed(_), .. }]
            if logins.len() == 1),
        "{step:?}"
    );
    assert_eq!(driver.command(AcpCommand::Login { method: "other".to_owned() }), Err(AcpRefusal::NotOffered));
    let step = driver.command(AcpCommand::Login { method: "login".to_owned() }).unwrap();
    assert_eq!(written(&step)[0]["params"], json!({"methodId": "login"}));
}

#[test]
fn a_mode_is_set_and_what_is_in_effect_is_reported() {
    let mut driver = in_session();
    let set = |id: &str| AcpCommand::SetMode { id: id.to_owned() };
    assert_eq!(driver.command(set("other")), Err(AcpRefusal::NoSuchSetting));
    let step = driver.command(set("ask")).unwrap();
    assert_eq!(written(&step)[0]["method"], "session/set_mode");
    let step = answer(&mut driver, 2, json!({}));
    let id = "ask".to_owned();
    assert_eq!(step.events, [AcpEvent::Mode { id: id.clone() }, AcpEvent::Done(AcpAction::SetMode { id })]);
    assert_eq!(driver.session().unwrap().mode.as_deref(), Some("ask"));
    let step = update(&mut driver, "current_mode_update", json!({"currentModeId": "auto"}));
    assert_eq!(step.events, [AcpEvent::Mode { id: "auto".to_owned() }]);
}

#[test]
fn an_option_that_is_the_mode_sets_it() {
    let mut driver = in_session();
    let option = |value: &str| {
        json!([{"id": "m", "name": "Mode", "category": "mode", "type": "select", "currentValue": value,
            "options": [{"value": "auto", "name": "Auto"}, {"value": "ask", "name": "Ask"}]},
            {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": false}])
    };
    let step = update(&mut driver, "config_option_update", json!({"configOptions": option("auto")}));
    assert!(matches!(&step.events[..], [AcpEvent::Options(options)] if options.len() == 2), "{step:?}");
    let step = driver.command(AcpCommand::SetMode { id: "ask".to_owned() }).unwrap();
    assert_eq!(written(&step)[0]["params"], json!({"sessionId": "s", "configId": "m", "value": "ask"}));
    let step = answer(&mut driver, 2, json!({"configOptions": option("ask")}));
    assert_eq!(step.events[0], AcpEvent::Mode { id: "ask".to_owned() });
    let switch = |value: NewValue| AcpCommand::SetOption { id: "fast".to_owned(), value };
    assert_eq!(driver.command(switch(NewValue::Choice("on".to_owned()))), Err(AcpRefusal::NoSuchSetting));
    let step = driver.command(switch(NewValue::Switch(true))).unwrap();
    assert_eq!(written(&step)[0]["params"]["value"], true);
}

#[test]
fn a_text_is_part_of_the_prompt_where_the_agent_takes_no_files() {
    let mut driver = in_session();
    let pasted = PromptPart::File { uri: "attachment:Pasted text".to_owned(), text: "a\r\nb\n".to_owned() };
    let parts = vec![pasted, PromptPart::Text("why?".to_owned())];
    let step = driver.command(AcpCommand::Prompt(parts)).unwrap();
    let text = |text: &str| json!({"type": "text", "text": text});
    assert_eq!(written(&step)[0]["params"]["prompt"], json!([text("a\r\nb\n"), text("why?")]));
}

#[test]
fn a_command_is_refused_where_it_cannot_count() {
    let mut driver = AcpClient::new(CommandPlace::Input);
    assert_eq!(driver.command(AcpCommand::NewSession { folder: "/p".to_owned() }), Err(AcpRefusal::NotNow));
    assert_eq!(driver.command(prompt("x")), Err(AcpRefusal::NoSession));
    let mut driver = in_session();
    let load = AcpCommand::LoadSession { id: "old".to_owned(), folder: "/p".to_owned() };
    assert_eq!(driver.command(load), Err(AcpRefusal::HasSession));
    assert_eq!(driver.command(prompt("")), Err(AcpRefusal::Empty));
    let pdf = PromptPart::Document {
        uri: "file:///a.pdf".to_owned(),
        media_type: "application/pdf".to_owned(),
        data: "JVBERi0=".to_owned(),
    };
    assert_eq!(driver.command(AcpCommand::Prompt(vec![pdf])), Err(AcpRefusal::NotOffered));
    driver.command(prompt("x")).unwrap();
    assert_eq!(driver.command(prompt("y")), Err(AcpRefusal::TurnRunning));
    let delete = AcpCommand::DeleteSession { id: "old".to_owned() };
    assert_eq!(driver.command(delete), Err(AcpRefusal::NotOffered));
}

#[test]
fn an_exit_ends_everything_once() {
    let mut driver = in_turn();
    update(&mut driver, "tool_call", json!({"toolCallId": "c", "status": "in_progress"}));
    let request = permission(&ask(&mut driver, json!(0), "c")).request;
    let expected = [
        AcpEvent::Withdrawn { request, reason: Withdrawal::ProcessEnded },
        settled("c", CallStatus::Cancelled),
        AcpEvent::TurnEnded { end: AcpTurnEnd::Failed(Failure::Ended), tokens: None },
    ];
    assert_eq!(driver.ended(), expected);
    assert_eq!(driver.ended(), []);
}

#[test]
fn a_load_that_failed_names_no_other_session() {
    let mut driver = AcpClient::new(CommandPlace::Input);
    driver.command(AcpCommand::Initialize { version: "0.1.0".to_owned() }).unwrap();
    answer(&mut driver, 0, json!({"protocolVersion": 1, "agentCapabilities": {"loadSession": true}}));
    let load = AcpCommand::LoadSession { id: "old".to_owned(), folder: "/p".to_owned() };
    driver.command(load.clone()).unwrap();
    assert_eq!(driver.command(load), Err(AcpRefusal::HasSession), "one is on its way");
    let step = line(&mut driver, json!({"id": 1, "error": {"code": -32603, "message": "gone"}}));
    assert!(
        matches!(&step.events[..], [AcpEvent::Failed { action: AcpAction::LoadSession, .. }]),
        "{step:?}"
    );
    driver.command(AcpCommand::NewSession { folder: "/p".to_owned() }).unwrap();
    let step = answer(&mut driver, 2, json!({}));
    assert!(matches!(&step.events[..], [AcpEvent::Failed { failure: Failure::Unusable(_), .. }]), "{step:?}");
    driver.command(AcpCommand::NewSession { folder: "/p".to_owned() }).unwrap();
    assert!(matches!(&answer(&mut driver, 3, json!({"sessionId": "s"})).events[..], [AcpEvent::Session(_)]));
}

#[test]
fn too_many_requests_are_cancelled() {
    let mut driver = in_turn();
    for nr in 0..MOST_OPEN {
        permission(&ask(&mut driver, json!(nr), "c"));
    }
    let step = ask(&mut driver, json!("more"), "c");
    assert_eq!(written(&step), [cancelled(json!("more"))]);
    assert_eq!(driver.n_requests(), MOST_OPEN);
}

#[test]
fn updates_of_another_session_are_data() {
    let mut driver = in_turn();
    let chunk = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}});
    let step = line(
        &mut driver,
        json!({"method": "session/update", "params": {"sessionId": "other", "update": chunk}}),
    );
    assert!(matches!(&step.events[..], [AcpEvent::Unknown { .. }]), "{step:?}");
}

#[test]
fn plans_titles_commands_and_notices_are_events() {
    let mut driver = in_turn();
    let entries = json!([{"content": "one", "priority": "high", "status": "in_progress"}, {"content": 2}]);
    let step = update(&mut driver, "plan", json!({"entries": entries}));
    assert!(matches!(&step.events[..], [AcpEvent::Plan(plan), AcpEvent::Unknown { .. }] if plan.len() == 1));
    let step = update(&mut driver, "session_info_update", json!({"title": "t"}));
    assert_eq!(step.events, [AcpEvent::Title(Some("t".to_owned()))]);
    let step = update(&mut driver, "notice", json!({"severity": "warning", "title": "w"}));
    assert!(matches!(&step.events[..], [AcpEvent::Notice { .. }]), "{step:?}");
    let step = update(&mut driver, "compaction_update", json!({"compactionId": "1", "status": "completed"}));
    assert!(matches!(&step.events[..], [AcpEvent::Compaction { .. }]), "{step:?}");
    let step = update(
        &mut driver,
        "usage_update",
        json!({"used": 1, "size": 2, "cost": {"amount": 0.5, "currency": "USD"}}),
    );
    assert!(matches!(&step.events[..], [AcpEvent::Usage(usage)] if usage.context == Some((1, 2))));
    let step = update(&mut driver, "brand_new", json!({"a": 1}));
    assert!(matches!(&step.events[..], [AcpEvent::Unknown { kind, .. }] if kind == "brand_new"));
}
