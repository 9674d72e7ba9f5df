//! Single situations: requests and their answers, the end of a turn, the order of a stop.

use deskbell_acp::agents::CommandPlace;
use deskbell_acp::command::{NewValue, PromptPart};
use deskbell_acp::driver::MOST_OPEN;
use deskbell_acp::event::{
    Action, Call, CallStatus, Failure, OptionKind, Permission, RequestKey, TurnEnd, Withdrawal,
};
use deskbell_acp::{Command, Driver, Event, Refusal, Step};
use serde_json::{Value, json};

/// A driver with an agent that offers everything, in a session with two modes.
pub fn in_session() -> Driver {
    let mut driver = Driver::new(CommandPlace::Input);
    driver.command(Command::Initialize { version: "0.1.0".to_owned() }).unwrap();
    let able = json!({"loadSession": true, "promptCapabilities": {"image": true},
        "sessionCapabilities": {"close": {}, "list": {}, "resume": {}}});
    let login = json!([{"id": "login", "name": "Log in"}]);
    answer(&mut driver, 0, json!({"protocolVersion": 1, "agentCapabilities": able, "authMethods": login}));
    driver.command(Command::NewSession { folder: "/project".to_owned() }).unwrap();
    let modes = json!({"currentModeId": "auto", "availableModes": [{"id": "auto", "name": "Auto"},
        {"id": "ask", "name": "Ask"}]});
    answer(&mut driver, 1, json!({"sessionId": "s", "modes": modes}));
    driver
}

pub fn in_turn() -> Driver {
    let mut driver = in_session();
    driver.command(prompt("hello")).unwrap();
    driver
}

pub fn prompt(text: &str) -> Command {
    Command::Prompt(vec![PromptPart::Text(text.to_owned())])
}

fn line(driver: &mut Driver, line: Value) -> Step {
    driver.line(line.to_string().as_bytes())
}

fn answer(driver: &mut Driver, id: i64, result: Value) -> Step {
    line(driver, json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

fn update(driver: &mut Driver, kind: &str, mut update: Value) -> Step {
    update["sessionUpdate"] = json!(kind);
    line(driver, json!({"method": "session/update", "params": {"sessionId": "s", "update": update}}))
}

fn ask(driver: &mut Driver, id: Value, call: &str) -> Step {
    let options = json!([
        {"optionId": "once", "name": "Allow", "kind": "allow_once"},
        {"optionId": "once2", "name": "Allow and switch", "kind": "allow_once"},
        {"optionId": "no", "name": "Reject", "kind": "reject_once"}]);
    ask_with(driver, id, json!({"toolCallId": call, "title": "ls", "rawInput": {"command": "ls"}}), options)
}

fn ask_with(driver: &mut Driver, id: Value, call: Value, options: Value) -> Step {
    let params = json!({"sessionId": "s", "toolCall": call, "options": options});
    line(driver, json!({"id": id, "method": "session/request_permission", "params": params}))
}

fn permission(step: &Step) -> &Permission {
    let found = step.events.iter().find_map(|event| match event {
        Event::Permission(permission) => Some(permission),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("{step:?}"))
}

fn written(step: &Step) -> Vec<Value> {
    step.lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn cancelled(id: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"outcome": {"outcome": "cancelled"}}})
}

fn statuses(events: &[Event]) -> Vec<(String, CallStatus)> {
    let status = |event: &Event| match event {
        Event::Call(call) => Some((call.id.clone(), call.status?)),
        _ => None,
    };
    events.iter().filter_map(status).collect()
}

#[test]
fn neither_files_nor_terminals_are_offered() {
    let mut driver = Driver::new(CommandPlace::Input);
    let step = driver.command(Command::Initialize { version: "0.1.0".to_owned() }).unwrap();
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
        assert!(matches!(&step.events[..], [Event::Refused { method: named, .. }] if named == method));
    }
}

#[test]
fn a_request_is_answered_by_the_id_of_the_option_and_once() {
    let mut driver = in_turn();
    let step = ask(&mut driver, json!("a-1"), "c");
    let request = permission(&step).request;
    let choose = |option: &str| Command::Choose { request, option: option.to_owned() };
    assert_eq!(driver.command(choose("allow_once")), Err(Refusal::NoSuchOption), "a kind is no id");
    let step = driver.command(choose("once2")).unwrap();
    let result = json!({"outcome": {"outcome": "selected", "optionId": "once2"}});
    assert_eq!(written(&step), [json!({"jsonrpc": "2.0", "id": "a-1", "result": result})]);
    assert_eq!(statuses(&step.events), [("c".to_owned(), CallStatus::Running)]);
    assert_eq!(driver.command(choose("once")), Err(Refusal::NotOpen));
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
    assert_eq!((asked.options[0].id.as_str(), asked.options[0].kind), ("y", OptionKind::Other));
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
        assert!(matches!(step.events.last(), Some(Event::Refused { .. })), "{step:?}");
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
    assert!(step.events.contains(&Event::Withdrawn { request: first, reason: Withdrawal::Repeated }));
    let choose = Command::Choose { request: first, option: "once".to_owned() };
    assert_eq!(driver.command(choose), Err(Refusal::NotOpen));
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
    driver.command(Command::Choose { request: denied, option: "no".to_owned() }).unwrap();
    let open = permission(&ask(&mut driver, json!(6), "asks")).request;
    let step = answer(&mut driver, 2, json!({"stopReason": "end_turn"}));
    assert_eq!(written(&step), [cancelled(json!(6))]);
    let expected = [
        Event::Withdrawn { request: open, reason: Withdrawal::TurnEnded },
        settled("runs", CallStatus::Unreported),
        settled("denied", CallStatus::Denied),
        settled("asks", CallStatus::Unreported),
        Event::TurnEnded { end: TurnEnd::Done, tokens: None },
    ];
    assert_eq!(step.events, expected);
    assert_eq!((driver.n_requests(), driver.n_calls()), (0, 0));
    driver.command(prompt("again")).unwrap();
}

fn settled(id: &str, status: CallStatus) -> Event {
    Event::Call(Box::new(Call { id: id.to_owned(), status: Some(status), ..Call::default() }))
}

#[test]
fn a_stop_answers_then_cancels_then_closes() {
    let mut driver = in_turn();
    update(&mut driver, "tool_call", json!({"toolCallId": "runs", "status": "in_progress"}));
    ask(&mut driver, json!("q"), "asks");
    let step = driver.command(Command::Stop).unwrap();
    let lines = written(&step);
    assert_eq!(lines[0], cancelled(json!("q")));
    assert_eq!((lines[1]["method"].as_str(), lines[1].get("id")), (Some("session/cancel"), None));
    assert_eq!((lines[2]["method"].as_str(), lines.len()), (Some("session/close"), 3));
    assert_eq!(driver.command(prompt("late")), Err(Refusal::Stopping));
    // Whatever the agent asks now is cancelled at once.
    let step = ask(&mut driver, json!("late"), "late");
    assert_eq!(written(&step), [cancelled(json!("late"))]);
    assert!(matches!(step.events.last(), Some(Event::Refused { .. })), "{step:?}");
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
    assert_eq!(closed.events, [Event::Done(Action::CloseSession)]);
    assert_eq!(driver.ended(), []);
}

#[test]
fn a_stop_without_a_turn_cancels_none() {
    let mut driver = in_session();
    let step = driver.command(Command::Stop).unwrap();
    assert_eq!(written(&step)[0]["method"], "session/close");
    let mut driver = Driver::new(CommandPlace::Input);
    assert_eq!(driver.command(Command::Stop).unwrap(), Step::default());
}

#[test]
fn an_interrupt_cancels_what_is_asked_until_the_turn_ends() {
    let mut driver = in_turn();
    ask(&mut driver, json!(0), "a");
    let step = driver.command(Command::Interrupt).unwrap();
    assert_eq!(written(&step)[0], cancelled(json!(0)));
    assert_eq!(written(&step)[1]["method"], "session/cancel");
    assert_eq!(written(&ask(&mut driver, json!(1), "b")), [cancelled(json!(1))]);
    answer(&mut driver, 2, json!({"stopReason": "cancelled"}));
    assert_eq!(driver.command(Command::Interrupt), Err(Refusal::NoTurn));
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
    assert_eq!(step.events, [Event::Withdrawn { request, reason: Withdrawal::ByAgent }]);
    let step = line(&mut driver, cancel(json!("q")));
    assert!(step.lines.is_empty() && matches!(&step.events[..], [Event::Unknown { .. }]));
}

#[test]
fn a_question_is_filled_declined_or_cancelled() {
    let schema =
        json!({"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]});
    let params = json!({"mode": "form", "sessionId": "s", "message": "?", "requestedSchema": schema});
    let question = |driver: &mut Driver| {
        let step = line(driver, json!({"id": 0, "method": "elicitation/create", "params": params}));
        match &step.events[..] {
            [Event::Question(question)] => question.request,
            other => panic!("{other:?}"),
        }
    };
    let mut driver = in_turn();
    let request = question(&mut driver);
    let fill = |values: Vec<(String, Value)>| Command::Fill { request, values };
    assert_eq!(driver.command(fill(vec![])), Err(Refusal::WrongField("colour".to_owned())));
    let choose = Command::Choose { request, option: "accept".to_owned() };
    assert_eq!(driver.command(choose), Err(Refusal::NotOpen), "it is no permission request");
    let step = driver.command(fill(vec![("colour".to_owned(), json!("red"))])).unwrap();
    assert_eq!(written(&step)[0]["result"], json!({"action": "accept", "content": {"colour": "red"}}));
    let request = question(&mut driver);
    let step = driver.command(Command::Decline { request }).unwrap();
    assert_eq!(written(&step)[0]["result"], json!({"action": "decline"}));
    let request = question(&mut driver);
    let step = driver.command(Command::Cancel { request }).unwrap();
    assert_eq!(written(&step)[0]["result"], json!({"action": "cancel"}));
}

#[test]
fn an_answer_without_a_question_is_data() {
    let mut driver = in_turn();
    for id in [json!(99), json!("2"), json!(null), json!(1)] {
        let step = line(&mut driver, json!({"id": id, "result": {"stopReason": "end_turn"}}));
        assert!(matches!(&step.events[..], [Event::Unknown { kind, .. }] if kind == "answer"), "{step:?}");
    }
    let step = answer(&mut driver, 2, json!({"stopReason": "new"}));
    let end = Event::TurnEnded { end: TurnEnd::Other("new".to_owned()), tokens: None };
    assert_eq!(step.events, [end]);
}

#[test]
fn a_missing_login_ends_the_turn_and_is_an_event_of_its_own() {
    let mut driver = in_turn();
    let error = json!({"code": -32000, "message": "Log in"});
    let step = line(&mut driver, json!({"id": 2, "error": error}));
    assert!(
        matches!(&step.events[..], [Event::LoginRequired { logins, .. }, Event::TurnEnded { end: TurnEnd::Failed(_), .. }]
            if logins.len() == 1),
        "{step:?}"
    );
    assert_eq!(driver.command(Command::Login { method: "other".to_owned() }), Err(Refusal::NotOffered));
    let step = driver.command(Command::Login { method: "login".to_owned() }).unwrap();
    assert_eq!(written(&step)[0]["params"], json!({"methodId": "login"}));
}

#[test]
fn a_mode_is_set_and_what_is_in_effect_is_reported() {
    let mut driver = in_session();
    let set = |id: &str| Command::SetMode { id: id.to_owned() };
    assert_eq!(driver.command(set("other")), Err(Refusal::NoSuchSetting));
    let step = driver.command(set("ask")).unwrap();
    assert_eq!(written(&step)[0]["method"], "session/set_mode");
    let step = answer(&mut driver, 2, json!({}));
    let id = "ask".to_owned();
    assert_eq!(step.events, [Event::Mode { id: id.clone() }, Event::Done(Action::SetMode { id })]);
    assert_eq!(driver.session().unwrap().mode.as_deref(), Some("ask"));
    let step = update(&mut driver, "current_mode_update", json!({"currentModeId": "auto"}));
    assert_eq!(step.events, [Event::Mode { id: "auto".to_owned() }]);
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
    assert!(matches!(&step.events[..], [Event::Options(options)] if options.len() == 2), "{step:?}");
    let step = driver.command(Command::SetMode { id: "ask".to_owned() }).unwrap();
    assert_eq!(written(&step)[0]["params"], json!({"sessionId": "s", "configId": "m", "value": "ask"}));
    let step = answer(&mut driver, 2, json!({"configOptions": option("ask")}));
    assert_eq!(step.events[0], Event::Mode { id: "ask".to_owned() });
    let switch = |value: NewValue| Command::SetOption { id: "fast".to_owned(), value };
    assert_eq!(driver.command(switch(NewValue::Choice("on".to_owned()))), Err(Refusal::NoSuchSetting));
    let step = driver.command(switch(NewValue::Switch(true))).unwrap();
    assert_eq!(written(&step)[0]["params"]["value"], true);
}

#[test]
fn a_text_is_part_of_the_prompt_where_the_agent_takes_no_files() {
    let mut driver = in_session();
    let pasted = PromptPart::File { uri: "attachment:Pasted text".to_owned(), text: "a\r\nb\n".to_owned() };
    let parts = vec![pasted, PromptPart::Text("why?".to_owned())];
    let step = driver.command(Command::Prompt(parts)).unwrap();
    let text = |text: &str| json!({"type": "text", "text": text});
    assert_eq!(written(&step)[0]["params"]["prompt"], json!([text("a\r\nb\n"), text("why?")]));
}

#[test]
fn a_command_is_refused_where_it_cannot_count() {
    let mut driver = Driver::new(CommandPlace::Input);
    assert_eq!(driver.command(Command::NewSession { folder: "/p".to_owned() }), Err(Refusal::NotNow));
    assert_eq!(driver.command(prompt("x")), Err(Refusal::NoSession));
    let mut driver = in_session();
    let load = Command::LoadSession { id: "old".to_owned(), folder: "/p".to_owned() };
    assert_eq!(driver.command(load), Err(Refusal::HasSession));
    assert_eq!(driver.command(prompt("")), Err(Refusal::Empty));
    let pdf = PromptPart::Document {
        uri: "file:///a.pdf".to_owned(),
        media_type: "application/pdf".to_owned(),
        data: "JVBERi0=".to_owned(),
    };
    assert_eq!(driver.command(Command::Prompt(vec![pdf])), Err(Refusal::NotOffered));
    driver.command(prompt("x")).unwrap();
    assert_eq!(driver.command(prompt("y")), Err(Refusal::TurnRunning));
    let delete = Command::DeleteSession { id: "old".to_owned() };
    assert_eq!(driver.command(delete), Err(Refusal::NotOffered));
}

#[test]
fn an_exit_ends_everything_once() {
    let mut driver = in_turn();
    update(&mut driver, "tool_call", json!({"toolCallId": "c", "status": "in_progress"}));
    let request = permission(&ask(&mut driver, json!(0), "c")).request;
    let expected = [
        Event::Withdrawn { request, reason: Withdrawal::ProcessEnded },
        settled("c", CallStatus::Cancelled),
        Event::TurnEnded { end: TurnEnd::Failed(Failure::Ended), tokens: None },
    ];
    assert_eq!(driver.ended(), expected);
    assert_eq!(driver.ended(), []);
}

#[test]
fn a_load_that_failed_names_no_other_session() {
    let mut driver = Driver::new(CommandPlace::Input);
    driver.command(Command::Initialize { version: "0.1.0".to_owned() }).unwrap();
    answer(&mut driver, 0, json!({"protocolVersion": 1, "agentCapabilities": {"loadSession": true}}));
    let load = Command::LoadSession { id: "old".to_owned(), folder: "/p".to_owned() };
    driver.command(load.clone()).unwrap();
    assert_eq!(driver.command(load), Err(Refusal::HasSession), "one is on its way");
    let step = line(&mut driver, json!({"id": 1, "error": {"code": -32603, "message": "gone"}}));
    assert!(matches!(&step.events[..], [Event::Failed { action: Action::LoadSession, .. }]), "{step:?}");
    driver.command(Command::NewSession { folder: "/p".to_owned() }).unwrap();
    let step = answer(&mut driver, 2, json!({}));
    assert!(matches!(&step.events[..], [Event::Failed { failure: Failure::Unusable(_), .. }]), "{step:?}");
    driver.command(Command::NewSession { folder: "/p".to_owned() }).unwrap();
    assert!(matches!(&answer(&mut driver, 3, json!({"sessionId": "s"})).events[..], [Event::Session(_)]));
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
    assert!(matches!(&step.events[..], [Event::Unknown { .. }]), "{step:?}");
}

#[test]
fn plans_titles_commands_and_notices_are_events() {
    let mut driver = in_turn();
    let entries = json!([{"content": "one", "priority": "high", "status": "in_progress"}, {"content": 2}]);
    let step = update(&mut driver, "plan", json!({"entries": entries}));
    assert!(matches!(&step.events[..], [Event::Plan(plan), Event::Unknown { .. }] if plan.len() == 1));
    let step = update(&mut driver, "session_info_update", json!({"title": "t"}));
    assert_eq!(step.events, [Event::Title(Some("t".to_owned()))]);
    let step = update(&mut driver, "notice", json!({"severity": "warning", "title": "w"}));
    assert!(matches!(&step.events[..], [Event::Notice { .. }]), "{step:?}");
    let step = update(&mut driver, "compaction_update", json!({"compactionId": "1", "status": "completed"}));
    assert!(matches!(&step.events[..], [Event::Compaction { .. }]), "{step:?}");
    let step = update(
        &mut driver,
        "usage_update",
        json!({"used": 1, "size": 2, "cost": {"amount": 0.5, "currency": "USD"}}),
    );
    assert!(matches!(&step.events[..], [Event::Usage(usage)] if usage.context == Some((1, 2))));
    let step = update(&mut driver, "brand_new", json!({"a": 1}));
    assert!(matches!(&step.events[..], [Event::Unknown { kind, .. }] if kind == "brand_new"));
}
