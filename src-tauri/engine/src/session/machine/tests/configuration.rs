//! What is configured: reports on request, and changes of servers.

use super::life::Life;
use super::*;
use serde_json::{Value, json};

fn ready() -> Life {
    let mut life = Life::new(SavedSession::default());
    life.happens("start");
    life.happens("answer 1");
    life
}

fn does(life: &mut Life, command: Command) -> Vec<String> {
    life.step(Input::Command(command))
}

fn answers(life: &mut Life, n: u32, response: &Value) -> Vec<String> {
    let answer = json!({"subtype": "success", "request_id": format!("deskbell-{n}"), "response": response});
    life.hears(&json!({"type": "control_response", "response": answer}))
}

fn refuses(life: &mut Life, n: u32, error: &str) -> Vec<String> {
    let answer = json!({"subtype": "error", "request_id": format!("deskbell-{n}"), "error": error});
    life.hears(&json!({"type": "control_response", "response": answer}))
}

fn view(life: &Life) -> &crate::api::Configuration {
    life.machine.configuration.view()
}

fn servers() -> Value {
    json!({"mcpServers": [{"name": "good", "status": "connected"},
                          {"name": "bad", "status": "failed", "error": "Connection closed"}]})
}

/// A session whose agent has reported its servers. The last request has the number 4.
fn reported() -> Life {
    let mut life = ready();
    does(&mut life, Command::ReadConfiguration);
    answers(&mut life, 2, &servers());
    answers(&mut life, 3, &json!({"hooks": []}));
    answers(&mut life, 4, &json!({"memoryFiles": []}));
    life
}

fn reconnect(server: &str) -> Command {
    Command::ReconnectServer { server: server.to_owned() }
}

const ARMS: &str = "arm Configuration +20000";

#[test]
fn each_part_is_reported_by_itself() {
    let mut life = Life::new(SavedSession::default());
    assert_eq!(does(&mut life, Command::ReadConfiguration), ["refuse BadCommand"], "no process runs");
    let mut life = ready();
    life.happens("wait 700");
    let asked = does(&mut life, Command::ReadConfiguration);
    let expected = ["ask mcp_status", ARMS, "ask get_hooks_listing", ARMS, "ask get_context_usage", ARMS];
    assert_eq!(asked, expected);
    assert_eq!((view(&life).requested_at, view(&life).pending.len()), (Some(700), 3));
    assert!(does(&mut life, Command::ReadConfiguration).is_empty(), "one request for each part at a time");
    answers(&mut life, 2, &servers());
    assert_eq!(view(&life).servers.as_ref().map(Vec::len), Some(2));
    // 2.1.197.
    refuses(&mut life, 3, "Unsupported control request subtype: get_hooks_listing");
    let problem = &view(&life).problems[0];
    assert_eq!(problem.part, ConfigurationPart::Hooks);
    assert_eq!(problem.text, "This version of the agent does not report its hooks.");
    answers(&mut life, 4, &json!({"categories": 7}));
    assert_eq!(view(&life).problems.len(), 2);
    assert!(view(&life).problems[1].text.contains("without its skills"));
    assert!(view(&life).pending.is_empty());
    // A process of another version may report them.
    life.happens("exit 0");
    life.happens("start");
    assert_eq!(*view(&life), crate::api::Configuration::default());
}

#[test]
fn parts_that_do_not_come_are_named_and_late_ones_count() {
    let mut life = ready();
    does(&mut life, Command::ReadConfiguration);
    answers(&mut life, 2, &servers());
    life.machine.take_changed();
    life.happens("timer Configuration");
    assert!(life.machine.take_changed());
    let texts: Vec<_> = view(&life).problems.iter().map(|problem| problem.text.as_str()).collect();
    assert_eq!(texts, ["The agent did not answer within 20 s."; 2]);
    assert!(view(&life).pending.is_empty() && view(&life).servers.is_some());
    answers(&mut life, 3, &json!({"hooks": [{"event": "Stop", "displayText": "true"}]}));
    assert_eq!(view(&life).problems.len(), 1);
    assert_eq!(view(&life).hooks.as_ref().map(|hooks| hooks.hooks.len()), Some(1));
    does(&mut life, Command::ReadConfiguration);
    life.happens("exit 1");
    assert!(
        view(&life).problems.iter().all(|problem| problem.text == "The agent stopped before it answered.")
    );
    assert!(view(&life).pending.is_empty());
}

#[test]
fn only_a_server_that_the_agent_reported_is_changed() {
    let mut life = ready();
    assert_eq!(does(&mut life, reconnect("good")), ["refuse BadCommand"], "nothing is reported yet");
    let mut life = reported();
    assert_eq!(does(&mut life, reconnect("goo")), ["refuse BadCommand"]);
    let off = Command::SetServerEnabled { server: "good".to_owned(), enabled: false };
    assert_eq!(does(&mut life, off.clone()), ["ask mcp_toggle", "arm ConfigurationChange +45000"]);
    assert_eq!(view(&life).changing, ["good"]);
    assert_eq!(does(&mut life, off.clone()), ["refuse BadCommand"], "one change at a time");
    // The state of the servers is read again after the change.
    assert_eq!(answers(&mut life, 5, &json!({})), ["ask mcp_status", ARMS]);
    assert!(view(&life).changing.is_empty() && view(&life).failures.is_empty());
    // A process that has not reported it.
    life.happens("exit 0");
    life.happens("start");
    assert_eq!(does(&mut life, off), ["refuse BadCommand"]);
}

#[test]
fn a_change_that_fails_or_is_not_answered_is_shown_with_its_server() {
    let mut life = reported();
    assert_eq!(does(&mut life, reconnect("bad"))[0], "ask mcp_reconnect");
    refuses(&mut life, 5, "Connection closed");
    let failure = |life: &Life| {
        view(life).failures.iter().map(|one| (one.server.clone(), one.text.clone())).collect::<Vec<_>>()
    };
    let text = "The agent could not do it: Connection closed".to_owned();
    assert_eq!(failure(&life), [("bad".to_owned(), text)]);
    does(&mut life, reconnect("bad"));
    assert!(failure(&life).is_empty(), "it is tried again");
    life.happens("wait 10000");
    does(&mut life, reconnect("good"));
    // The wait for the first change ends first.
    life.happens("wait 35000");
    assert_eq!(life.happens("timer ConfigurationChange"), ["arm ConfigurationChange +10000"]);
    let text = "The agent did not answer within 45 s.".to_owned();
    assert_eq!(failure(&life), [("bad".to_owned(), text)]);
    assert_eq!(view(&life).changing, ["good"]);
    life.happens("exit 1");
    assert!(view(&life).changing.is_empty());
    assert_eq!(failure(&life).len(), 2);
}

#[test]
fn a_reload_lists_plugins_and_subagents_again() {
    let mut life = reported();
    assert_eq!(does(&mut life, Command::ReloadPlugins)[0], "ask reload_plugins");
    assert!(view(&life).is_reloading);
    let loaded = json!({"plugins": [{"name": "a"}], "agents": [{"name": "rev", "description": "Reviews"}],
                        "commands": [{"name": "ship"}], "error_count": 2});
    let asked = answers(&mut life, 5, &loaded);
    assert_eq!(asked.iter().filter(|words| words.starts_with("ask ")).count(), 3, "{asked:?}");
    assert!(!view(&life).is_reloading);
    assert_eq!(view(&life).reload_problem.as_deref(), Some("2 plugins could not be loaded."));
    assert_eq!(view(&life).plugins.as_ref().map(Vec::len), Some(1));
    assert_eq!(life.machine.capabilities.commands()[0].name, "ship");
    // Its origin is in another report than its description.
    answers(
        &mut life,
        8,
        &json!({"agents": [{"agentType": "rev", "source": "projectSettings"},
                                             {"agentType": "new", "source": "userSettings"}],
                                  "skills": {"skillFrontmatter": [{"name": "ship"}]}}),
    );
    let subagents = view(&life).subagents.clone().unwrap();
    assert_eq!(subagents.len(), 2);
    assert_eq!(subagents[0].description.as_deref(), Some("Reviews"));
    assert_eq!(subagents[0].origin.as_deref(), Some("projectSettings"));
    assert_eq!(view(&life).skills.as_ref().unwrap()[0].name, "ship");
}

#[test]
fn the_commands_that_an_agent_lists_replace_those_before() {
    let mut life = reported();
    let command = |name: &str| crate::api::SlashCommand {
        name: name.to_owned(),
        description: String::new(),
        argument_hint: String::new(),
    };
    let listed = |names: &[&str]| {
        let commands = names.iter().map(|name| command(name)).collect();
        Input::Line(crate::agent::AgentEvent::Commands(commands))
    };
    life.step(listed(&["one", "one", "two"]));
    let names = |life: &Life| -> Vec<String> {
        life.machine.capabilities.commands().iter().map(|one| one.name.clone()).collect()
    };
    assert_eq!(names(&life), ["one", "one", "two"]);
    life.step(listed(&[]));
    assert_eq!(names(&life), [""; 0]);
}
