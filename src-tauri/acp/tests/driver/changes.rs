//! Changes of a running session: its models, efforts, modes and other settings, as the core asks for them.

use crate::double::Agent;
use deskbell_agent::driver::{Driver, Output};
use deskbell_agent::{AgentCommand, Answer, Choices, HostRequest};
use deskbell_api::AgentOptionKind;
use serde_json::{Value, json};

fn select(id: &str, category: &str, value: &str, values: &[&str]) -> Value {
    let options: Vec<Value> = values.iter().map(|id| json!({"value": id, "name": id})).collect();
    json!({"id": id, "name": id, "category": category, "type": "select", "currentValue": value,
        "options": options})
}

fn options(model: &str, effort: &str) -> Value {
    json!([
        select("m", "model", model, &["small", "large"]),
        select("e", "thought_level", effort, &["default", "high"]),
        select("allow_all", "permissions", "off", &["off", "on"]),
        {"id": "fast", "name": "Fast", "category": "model_config", "type": "boolean", "currentValue": false},
    ])
}

fn modes(current: &str) -> Value {
    let modes = ["plan", "default", "auto-edit", "yolo"].map(|id| json!({"id": id, "name": id}));
    json!({"currentModeId": current, "availableModes": modes})
}

/// Qwen Code, in its mode that asks.
fn agent() -> Agent {
    Agent::with("qwen", json!({"modes": modes("default"), "configOptions": options("small", "default")}))
}

fn option(id: &str, value: &str) -> HostRequest {
    HostRequest::SetOption { id: id.to_owned(), value: value.to_owned() }
}

fn refusal(agent: &Agent) -> &str {
    match agent.outcome() {
        Err(refused) => &refused.message,
        done => panic!("{done:?}"),
    }
}

#[test]
fn an_agent_that_reports_nothing_offers_nothing() {
    let mut agent = Agent::with("opencode", json!({}));
    assert_eq!(agent.choices(), &Choices::default());
    for request in [
        HostRequest::SetModel("large".to_owned()),
        HostRequest::SetEffort(Some("high".to_owned())),
        option("mode", "plan"),
        option("fast", "true"),
    ] {
        let n_lines = agent.written.len();
        agent.asks(request.clone());
        assert!(refusal(&agent).contains("does not"), "{request:?}");
        assert_eq!(agent.written.len(), n_lines, "nothing was sent");
    }
}

#[test]
fn a_model_is_in_force_when_the_answer_says_so() {
    let mut agent = agent();
    assert_eq!(agent.choices().model.as_deref(), Some("small"));
    agent.asks(HostRequest::SetModel("large".to_owned()));
    let expected = json!({"sessionId": "s", "configId": "m", "value": "large"});
    assert_eq!(agent.sent(), ("session/set_config_option", &expected));
    assert_eq!(agent.choices().model.as_deref(), Some("small"), "not before the answer");
    agent.answers(2, json!({"configOptions": options("large", "default")}));
    assert_eq!((agent.choices().model.as_deref(), agent.outcome()), (Some("large"), &Ok(Answer::Done)));
    // A turn of the core begins with what is in force.
    agent.driver.write(
        &AgentCommand::Prompt { uuid: "u".to_owned(), text: "hi".to_owned(), attachments: Vec::new() },
        &mut Output::default(),
    );
}

#[test]
fn an_agent_that_keeps_another_value_is_shown_with_it() {
    let mut agent = agent();
    agent.asks(HostRequest::SetModel("large".to_owned()));
    agent.answers(2, json!({"configOptions": options("small", "default")}));
    assert_eq!(refusal(&agent), "Qwen Code uses “small” instead of “large”.");
    assert_eq!(agent.choices().model.as_deref(), Some("small"));
    // An answer that says nothing confirms nothing, and takes nothing away.
    agent.asks(HostRequest::SetModel("large".to_owned()));
    agent.answers(3, json!({}));
    assert!(refusal(&agent).contains("does not say what the settings are now"));
    assert_eq!(agent.choices().models.len(), 2);
    agent.asks(HostRequest::SetModel("large".to_owned()));
    agent.says(json!({"jsonrpc": "2.0", "id": 4, "error": {"code": -32603, "message": "No quota"}}));
    assert_eq!(refusal(&agent), "No quota");
}

#[test]
fn models_of_the_older_form_are_set_by_its_own_request() {
    let models = json!({"currentModelId": "a", "availableModels": [{"modelId": "a", "name": "A"},
        {"modelId": "b", "name": "B"}]});
    let mut agent = Agent::with("gemini", json!({"modes": modes("default"), "models": models}));
    let labels: Vec<_> = agent.choices().models.iter().map(|model| model.label.as_str()).collect();
    assert_eq!(labels, ["A", "B"]);
    agent.asks(HostRequest::SetModel("b".to_owned()));
    assert_eq!(agent.sent(), ("session/set_model", &json!({"sessionId": "s", "modelId": "b"})));
    agent.answers(2, json!({}));
    assert_eq!((agent.choices().model.as_deref(), agent.outcome()), (Some("b"), &Ok(Answer::Done)));
    agent.asks(HostRequest::SetModel("c".to_owned()));
    assert_eq!(refusal(&agent), "Gemini CLI does not have the model “c”.");
}

#[test]
fn an_effort_is_an_option_and_no_effort_is_the_agents_default() {
    let mut agent = agent();
    agent.asks(HostRequest::SetEffort(Some("high".to_owned())));
    assert_eq!(agent.sent().1["value"], "high");
    agent.answers(2, json!({"configOptions": options("small", "high")}));
    assert_eq!((agent.choices().effort.as_deref(), agent.outcome()), (Some("high"), &Ok(Answer::Done)));
    agent.asks(HostRequest::ReadSettings);
    assert!(
        matches!(agent.outcome(), Ok(Answer::Settings(settings)) if settings.effort.as_deref() == Some("high"))
    );
    agent.asks(HostRequest::SetEffort(None));
    assert_eq!(agent.sent().1["value"], "default");
}

#[test]
fn only_modes_that_are_known_to_ask_can_be_chosen() {
    let mut agent = agent();
    let offered = |agent: &Agent| {
        let option = &agent.choices().options[0];
        assert_eq!(option.kind, AgentOptionKind::Mode);
        let ids: Vec<String> = option.choices.iter().map(|choice| choice.id.clone()).collect();
        (option.value.clone(), ids)
    };
    let known = ["plan", "default", "auto-edit"].map(str::to_owned).to_vec();
    assert_eq!(offered(&agent), ("default".to_owned(), known.clone()));
    let n_lines = agent.written.len();
    agent.asks(option("mode", "yolo"));
    assert_eq!(refusal(&agent), "Deskbell does not know that Qwen Code asks in this mode.");
    assert_eq!(agent.written.len(), n_lines);
    agent.asks(option("mode", "auto-edit"));
    assert_eq!(agent.sent(), ("session/set_mode", &json!({"sessionId": "s", "modeId": "auto-edit"})));
    // Some agents report the new mode before their answer.
    agent.says(json!({"method": "session/update", "params": {"sessionId": "s",
        "update": {"sessionUpdate": "current_mode_update", "currentModeId": "auto-edit"}}}));
    agent.answers(2, json!({}));
    assert_eq!((offered(&agent), agent.outcome()), (("auto-edit".to_owned(), known), &Ok(Answer::Done)));
    assert_eq!(agent.n_warnings(), 0, "the user chose it");
    // A mode that the agent takes by itself is warned of, and shown.
    agent.says(json!({"method": "session/update", "params": {"sessionId": "s",
        "update": {"sessionUpdate": "current_mode_update", "currentModeId": "yolo"}}}));
    assert_eq!((offered(&agent).0.as_str(), agent.n_warnings()), ("yolo", 1));
}

#[test]
fn a_setting_that_turns_off_asking_is_not_offered_and_a_change_of_it_is_warned_of() {
    let copilot = json!({"configOptions": options("small", "default")});
    let mut agent = Agent::with("copilot", copilot);
    let ids: Vec<_> = agent.choices().options.iter().map(|option| option.id.as_str()).collect();
    assert_eq!(ids, ["fast"]);
    agent.asks(option("allow_all", "on"));
    assert_eq!(refusal(&agent), "Copilot CLI does not offer this setting.");
    let mut changed = options("small", "default");
    changed[2]["currentValue"] = json!("on");
    for _ in 0..2 {
        agent.says(json!({"method": "session/update", "params": {"sessionId": "s",
            "update": {"sessionUpdate": "config_option_update", "configOptions": changed}}}));
    }
    assert_eq!(agent.n_warnings(), 1, "once");
}

#[test]
fn a_switch_is_sent_as_a_switch() {
    let mut agent = agent();
    agent.asks(option("fast", "true"));
    assert_eq!(agent.sent().1["value"], true);
    let mut changed = options("small", "default");
    changed[3]["currentValue"] = json!(true);
    agent.answers(2, json!({"configOptions": changed}));
    assert_eq!(agent.outcome(), &Ok(Answer::Done));
    assert_eq!(agent.choices().options[1].value, "true");
    agent.asks(option("fast", "perhaps"));
    assert_eq!(refusal(&agent), "The agent has no such setting.");
}
