//! Tests of the demo, in all its branches.

use serde_json::{Value, json};

use crate::support::{AgentProcess, Setup, files, shapes, texts, tool_results};

/// Allows everything, and answers questions with the option at this index, or free text.
fn allow(pick: &'static str) -> impl Fn(&Value) -> Value {
    move |request| {
        let mut input = request["request"]["input"].clone();
        if request["request"]["tool_name"] == "AskUserQuestion" {
            let questions = input["questions"].as_array().unwrap().clone();
            let answer = |question: &Value| match pick.parse::<usize>() {
                Ok(at) => question["options"][at]["label"].clone(),
                Err(_) => pick.into(),
            };
            let answers = questions.iter().map(|q| (q["question"].as_str().unwrap().to_owned(), answer(q)));
            input["answers"] = Value::Object(answers.collect());
        }
        json!({"behavior": "allow", "updatedInput": input})
    }
}

fn deny(_: &Value) -> Value {
    json!({"behavior": "deny", "message": "No."})
}

fn summary(lines: &[Value]) -> String {
    lines.last().unwrap()["result"].as_str().unwrap().to_owned()
}

/// An agent whose tour is over.
fn toured() -> AgentProcess {
    let mut agent = Setup::new().start();
    agent.play_answering("hello", allow("0"));
    agent
}

#[test]
fn the_tour_shows_everything_once() {
    let setup = Setup::new().partials();
    let mut agent = setup.start();
    let lines = agent.play_answering("What can you do?", allow("0"));
    let shapes = shapes(&lines);
    assert_eq!(shapes.iter().filter(|shape| *shape == "control_request/can_use_tool").count(), 2);
    assert!(shapes.contains(&"assistant/thinking".to_owned()));
    let tools: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.pointer("/message/content/0/name").and_then(Value::as_str))
        .collect();
    assert_eq!(tools, ["Read", "Edit", "Bash", "AskUserQuestion", "Bash", "Edit", "Bash"]);

    let explanation = texts(&lines).into_iter().find(|text| text.contains("## ")).unwrap();
    for part in ["\n1. ", "|---", "**", "`split`", "](https://", "```rust"] {
        assert!(explanation.contains(part), "{part}");
    }
    let patches: Vec<&Value> =
        lines.iter().filter_map(|line| line.pointer("/tool_use_result/structuredPatch")).collect();
    assert_eq!(patches.len(), 2);
    assert!(patches.iter().all(|patch| patch[0]["lines"].as_array().is_some_and(|lines| lines.len() > 2)));
    let failures = tool_results(&lines).iter().filter(|result| result["is_error"] == true).count();
    assert_eq!(failures, 1);
    assert!(summary(&lines).contains("The first shares") || summary(&lines).contains("the first shares"));
    assert!(summary(&lines).contains("negative amounts"));
    assert_eq!(lines.last().unwrap()["is_error"], false);
    assert_eq!(agent.end().code(), Some(0));
    assert!(files(setup.folder()).is_empty(), "nothing was written");
}

#[test]
fn the_tour_follows_the_answers() {
    let play = |answer: Box<dyn Fn(&Value) -> Value>| Setup::new().start().play_answering("hello", answer);
    let last = summary(&play(Box::new(allow("1"))));
    assert!(last.contains("[33, 33, 34]") && last.contains("the last shares"), "{last}");
    let account = summary(&play(Box::new(allow("2"))));
    assert!(account.contains("a rounding account"), "{account}");
    let own = summary(&play(Box::new(allow("Whoever asks first"))));
    assert!(own.contains("Whoever asks first"), "{own}");
    let lines = play(Box::new(deny));
    assert!(summary(&lines).contains("Nothing has been run"));
    assert!(!lines.iter().any(|line| line.pointer("/tool_use_result/stdout").is_some()), "so no command ran");
    assert_eq!(lines.last().unwrap()["permission_denials"].as_array().unwrap().len(), 2);
}

#[test]
fn the_tour_can_be_stopped_at_any_moment() {
    const STOPS: usize = 16;
    let setup = || Setup::new().partials().env("DESKBELL_DEMO_SPEED", "0.05");
    let whole = setup().start().play_answering("hello", allow("0")).len();
    // Not quite to the end, where the turn can end before the interrupt arrives.
    for stop in 0..STOPS {
        let mut agent = setup().start();
        agent.prompt("hello");
        for _ in 0..whole * 9 / 10 * stop / STOPS {
            let line = agent.next();
            if line["type"] == "control_request" {
                agent.reply(&line, allow("0")(&line));
            }
        }
        agent.ask(json!({"subtype": "interrupt"}));
        let lines = agent.turn();
        assert_eq!(lines.last().unwrap()["subtype"], "error_during_execution", "stop {stop} of {STOPS}");
        assert!(texts(&agent.play("and now?"))[0].contains("demo agent"), "it goes on");
    }
}

#[test]
fn a_later_prompt_gets_what_it_names() {
    let mut agent = toured();
    let greeting = texts(&agent.play("what else?")).remove(0);
    for word in ["edit", "permission", "question", "plan", "todo", "long", "error"] {
        assert!(greeting.contains(&format!("`{word}`")), "{word} is not told");
    }
    let long = texts(&agent.play("a LONG answer, please")).remove(0);
    assert!(long.split_whitespace().count() > 1_400 && long.matches("```rust").count() >= 3);
    let todo = agent.play("your todos?");
    assert_eq!(tool_results(&todo).len(), 9);
    let plan = agent.play_answering("make a plan", allow("0"));
    assert!(summary(&plan).starts_with("Approved"));
    assert!(summary(&agent.play_answering("plan", deny)).starts_with("Understood"));
    let edit = agent.play_answering("an edit", allow("0"));
    assert!(edit.iter().any(|line| line.pointer("/tool_use_result/structuredPatch/0").is_some()));
    assert!(summary(&agent.play_answering("edit", deny)).contains("leave the file"));
    assert!(summary(&agent.play_answering("permissions", allow("0"))).starts_with("Both"));
    assert!(summary(&agent.play_answering("permission", deny)).starts_with("Neither"));
    assert!(summary(&agent.play_answering("a question", allow("1"))).contains("1.234,50"));
    let error = agent.play("show an error");
    assert_eq!(error.iter().filter(|line| line["subtype"] == "api_retry").count(), 2);
    let result = error.last().unwrap();
    assert_eq!((&result["is_error"], &result["api_error_status"]), (&json!(true), &json!(529)));
    assert_eq!(agent.end().code(), Some(1));
}

#[test]
fn a_session_taken_up_again_does_not_begin_with_the_tour() {
    let setup = Setup::new();
    let mut agent = setup.start();
    let session = crate::support::session_of(&agent.play_answering("hello", allow("0")));
    agent.end();
    let lines = setup.again().arg(&format!("--resume={session}")).start().play("hello again");
    assert!(texts(&lines)[0].contains("demo agent"));
}

#[test]
fn the_demo_streams_at_a_readable_pace() {
    let mut agent = Setup::new().partials().env("DESKBELL_DEMO_SPEED", "1").start();
    agent.prompt("hello");
    let started = std::time::Instant::now();
    let mut deltas = 0;
    while deltas < 10 {
        deltas += u32::from(agent.next().pointer("/event/delta").is_some());
    }
    assert!(started.elapsed() >= std::time::Duration::from_millis(250));
}
