//! The CLI on bare pipes: the mock API speaks its language, and the messages have the shapes on which Deskbell relies.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use deskbell_claude::SESSION_VARIABLES;
use deskbell_tests::real_cli::{CliChild, World};
use deskbell_tests::wait::eventually;
use serde_json::{Value, json};

const DEADLINE: Duration = Duration::from_secs(120);

pub async fn initialize_is_answered_before_any_prompt() -> Result<()> {
    let world = World::new().await?;
    let mut child = CliChild::spawn(&world, &[])?;
    let reply = child.ask("req_1", json!({"subtype": "initialize"})).await?;
    ensure!(reply["subtype"] == "success", "{reply}");
    ensure!(reply["response"]["commands"].is_array(), "no commands in {reply}");
    ensure!(reply["response"]["models"].is_array(), "no models in {reply}");
    let early = child.heard.iter().any(|line| line["subtype"] == "init");
    ensure!(!early, "init came before a prompt");
    ensure!(child.close().await?.success());
    ensure!(world.api.messages().is_empty(), "a message was asked for without a prompt");
    Ok(())
}

pub async fn a_prompt_streams_its_answer() -> Result<()> {
    let world = World::new().await?;
    let mut child = CliChild::spawn(&world, &[])?;
    child.prompt("SAY hello from the model").await?;
    let result = child.result().await?;
    ensure!(result["is_error"] == false && result["result"] == "hello from the model", "{result}");
    ensure!(streamed(&child.heard) == "hello from the model", "streamed {:?}", streamed(&child.heard));
    let requests = world.api.messages();
    let request = requests.first().context("no request")?;
    ensure!(requests.len() == 1, "{} requests for one prompt", requests.len());
    ensure!(request.header("x-api-key") == Some("dummy"), "{:?}", request.headers);
    ensure!(request.prompts() == ["SAY hello from the model"], "{:?}", request.prompts());
    ensure!(child.close().await?.success());
    Ok(())
}

pub async fn thinking_comes_before_the_answer() -> Result<()> {
    let world = World::new().await?;
    let mut child = CliChild::spawn(&world, &[])?;
    child.prompt("THINK let me see | the answer").await?;
    child.result().await?;
    let blocks: Vec<&Value> = child.heard.iter().filter(|line| line["type"] == "assistant").collect();
    let kinds: Vec<&Value> = blocks.iter().map(|line| &line["message"]["content"][0]["type"]).collect();
    ensure!(kinds == ["thinking", "text"], "{kinds:?}");
    child.close().await.map(drop)
}

pub async fn an_allowed_tool_runs() -> Result<()> {
    let world = World::new().await?;
    let mut child = CliChild::spawn(&world, &[])?;
    let file = world.file("a.txt");
    child.prompt(&format!("WRITE {} hello file\nSAY written", file.display())).await?;
    let asked = asked(&mut child).await?;
    ensure!(asked["request"]["tool_name"] == "Write", "{asked}");
    ensure!(!file.exists(), "it was written before it was allowed");
    let input = &asked["request"]["input"];
    child.answer(&asked["request_id"], json!({"behavior": "allow", "updatedInput": input})).await?;
    let result = child.result().await?;
    ensure!(result["result"] == "written", "{result}");
    ensure!(fs::read_to_string(&file)? == "hello file");
    child.close().await.map(drop)
}

pub async fn a_denied_tool_does_not_run_and_the_model_hears_why() -> Result<()> {
    let world = World::new().await?;
    let mut child = CliChild::spawn(&world, &[])?;
    child.prompt("BASH touch b.txt\nHEARD").await?;
    let asked = asked(&mut child).await?;
    child.answer(&asked["request_id"], json!({"behavior": "deny", "message": "not today"})).await?;
    let result = child.result().await?;
    ensure!(result["result"].as_str().is_some_and(|text| text.contains("not today")), "{result}");
    ensure!(result["permission_denials"][0]["tool_name"] == "Bash", "{result}");
    ensure!(!world.file("b.txt").exists(), "the denied command ran");
    child.close().await.map(drop)
}

/// Saved in the project and given to the session: only both together apply at once and later, on both versions and in
/// both kinds of child.
pub async fn a_rule_for_project_and_session_is_not_asked_again() -> Result<()> {
    for arguments in [&[][..], &RESTRICTED] {
        let world = World::new().await?;
        let asked = asked_for(&world, arguments, &["localSettings", "session"]).await?;
        ensure!(asked == ["touch one.txt", "touch two.txt"], "{arguments:?}: {asked:?}");
        ensure!(world.file(".claude/settings.local.json").exists(), "the rule was not kept");
    }
    Ok(())
}

/// A restricted child writes such a rule and does not read it. (The same holds for any child of 2.1.197, at least at
/// once.)
pub async fn a_rule_for_the_project_alone_is_lost_on_a_restricted_child() -> Result<()> {
    let world = World::new().await?;
    let asked = asked_for(&world, &RESTRICTED, &["localSettings"]).await?;
    ensure!(asked == ["touch one.txt", "touch one.txt", "touch two.txt"], "{asked:?}");
    Ok(())
}

/// The arguments with which Deskbell starts a child in an untrusted folder.
const RESTRICTED: [&str; 2] = ["--setting-sources=user", "--strict-mcp-config"];

/// Runs two commands, the first of them twice, and allows each with its rule. Returns the commands that needed
/// permission, once for each destination.
async fn asked_for(world: &World, arguments: &[&str], destinations: &[&str]) -> Result<Vec<String>> {
    let mut child = CliChild::spawn(world, arguments)?;
    child.prompt("BASH touch one.txt\nBASH touch one.txt\nBASH touch two.txt\nSAY done").await?;
    let mut commands = Vec::new();
    let asks_or_ends =
        |line: &Value| line["request"]["subtype"] == "can_use_tool" || line["type"] == "result";
    loop {
        let line = child.next("a request or the end", asks_or_ends).await?;
        if line["type"] == "result" {
            child.close().await?;
            return Ok(commands);
        }
        let request = &line["request"];
        commands.push(request["input"]["command"].as_str().context("no command")?.to_owned());
        let rule = &request["permission_suggestions"][0];
        ensure!(rule["type"] == "addRules", "{rule}");
        let rules = destinations.iter().map(|destination| {
            let mut rule = rule.clone();
            rule["destination"] = (*destination).into();
            rule
        });
        let rules: Vec<Value> = rules.collect();
        let input = &request["input"];
        let answer = json!({"behavior": "allow", "updatedInput": input, "updatedPermissions": rules});
        child.answer(&line["request_id"], answer).await?;
    }
}

pub async fn a_question_is_answered() -> Result<()> {
    let world = World::new().await?;
    let mut child = CliChild::spawn(&world, &[])?;
    child.prompt("QUESTION Which colour? | Red | Green\nHEARD").await?;
    let asked = asked(&mut child).await?;
    ensure!(asked["request"]["tool_name"] == "AskUserQuestion", "{asked}");
    let mut input = asked["request"]["input"].clone();
    input["answers"] = json!({"Which colour?": "Green"});
    child.answer(&asked["request_id"], json!({"behavior": "allow", "updatedInput": input})).await?;
    let result = child.result().await?;
    ensure!(result["result"].as_str().is_some_and(|text| text.contains("Green")), "{result}");
    child.close().await.map(drop)
}

pub async fn an_interrupt_ends_the_turn_and_not_the_process() -> Result<()> {
    let world = World::new().await?;
    let mut child = CliChild::spawn(&world, &[])?;
    child.prompt("HANG the first half").await?;
    child.next("a delta", is_delta).await?;
    let reply = child.ask("req_1", json!({"subtype": "interrupt"})).await?;
    ensure!(reply["subtype"] == "success", "{reply}");
    let result = child.result().await?;
    ensure!(result["terminal_reason"] == "aborted_streaming", "{result}");
    child.prompt("SAY still here").await?;
    let result = child.result().await?;
    ensure!(result["result"] == "still here", "{result}");
    child.close().await.map(drop)
}

#[cfg(target_os = "linux")]
pub async fn an_interrupt_in_a_tool_ends_the_tool() -> Result<()> {
    use deskbell_tests::real_cli::process::ended;

    let world = World::new().await?;
    let mut child = CliChild::spawn(&world, &[])?;
    child.prompt(&format!("BASH {}\nSAY not reached", world.long_command())).await?;
    let asked = asked(&mut child).await?;
    // 2.1.197 takes an answer without the input for a denial.
    let input = &asked["request"]["input"];
    child.answer(&asked["request_id"], json!({"behavior": "allow", "updatedInput": input})).await?;
    let tool = world.long_command_pid(DEADLINE).await?;
    child.ask("req_1", json!({"subtype": "interrupt"})).await?;
    let result = child.result().await?;
    ensure!(result["terminal_reason"] == "aborted_tools", "{result}");
    ended(tool, DEADLINE).await?;
    child.close().await.map(drop)
}

pub async fn earlier_prompts_are_sent_along() -> Result<()> {
    let world = World::new().await?;
    let mut child = CliChild::spawn(&world, &[])?;
    for prompt in ["SAY one", "plain words"] {
        child.prompt(prompt).await?;
        child.result().await?;
    }
    child.prompt("RECALL").await?;
    let result = child.result().await?;
    ensure!(result["result"] == "SAY one / plain words", "{result}");
    child.close().await.map(drop)
}

/// An interrupt directly after a prompt can arrive before its turn. 2.1.329 reports that, in `still_queued`, and the
/// turn may run; another interrupt then ends it.
pub async fn an_interrupt_before_the_turn_is_told() -> Result<()> {
    let world = World::new().await?;
    let mut child = CliChild::spawn(&world, &[])?;
    child.prompt("SAY hello").await?;
    child.result().await?;
    child.prompt("HANG the first").await?;
    let reply = child.ask("req_1", json!({"subtype": "interrupt"})).await?;
    let queued = reply["response"]["still_queued"].as_array().is_some_and(|queued| queued.len() == 1);
    let answers_or_ends = |line: &Value| is_delta(line) || line["type"] == "result";
    let line = child.next("an answer or the end of the turn", answers_or_ends).await?;
    if is_delta(&line) {
        ensure!(queued, "the turn runs on, and the reply was {reply}");
        child.ask("req_2", json!({"subtype": "interrupt"})).await?;
        child.result().await?;
    }
    child.close().await.map(drop)
}

/// Under its own id 2.1.197 would not answer it: it treats the prompt as one that it already has.
#[cfg(unix)]
pub async fn a_cut_off_prompt_is_answered_under_another_id() -> Result<()> {
    let world = World::new().await?;
    let mut child = CliChild::spawn(&world, &[])?;
    child.prompt("SAY hello").await?;
    let session = child.result().await?["session_id"].as_str().context("no session")?.to_owned();
    let prompt = "GATE go\nSAY whole";
    child.prompt(prompt).await?;
    world.api.wait_for_prompt(prompt, DEADLINE).await?;
    // It is written in parallel to the turn, and without a file the session cannot be resumed.
    eventually("the first turn is on disk", DEADLINE, async || {
        let lines = world.session_file(&session).unwrap_or_default();
        Ok(lines.iter().any(|line| line["type"] == "assistant").then_some(()))
    })
    .await?;
    deskbell_tests::real_cli::process::kill(child.pid().context("it runs")?)?;
    drop(child);
    world.api.open("go");

    let mut child = CliChild::spawn(&world, &[&format!("--resume={session}")])?;
    child.prompt(prompt).await?;
    let result = child.result().await?;
    ensure!(result["result"] == "whole" && result["session_id"] == session.as_str(), "{result}");
    let request = world.api.messages().pop().context("nothing was sent")?;
    ensure!(request.prompts()[0] == "SAY hello", "{:?}", request.prompts());
    child.close().await.map(drop)
}

pub async fn a_failure_is_an_error_result_with_its_status() -> Result<()> {
    // 2.1.197 retries after a 529 whatever the header says, so the tries are limited as well.
    let world = World::new().await?.with_env("CLAUDE_CODE_MAX_RETRIES", "1");
    let mut child = CliChild::spawn(&world, &[])?;
    for (status, error) in
        [(429, "rate_limit"), (500, "server_error"), (529, "server_error"), (400, "unknown")]
    {
        child.heard.clear();
        child.prompt(&format!("FAIL {status} no-retry")).await?;
        let result = child.result().await?;
        // The result is `is_error`: the subtype says success.
        ensure!(result["is_error"] == true && result["subtype"] == "success", "{status}: {result}");
        ensure!(result["api_error_status"] == status, "{status}: {result}");
        let failure = child.heard.iter().find(|line| line["type"] == "assistant").context("no message")?;
        ensure!(failure["error"] == error, "{status}: {failure}");
        let n_retries = child.heard.iter().filter(|line| line["subtype"] == "api_retry").count();
        ensure!(n_retries == 0 || status == 529, "{status} was tried again against the header");
    }
    ensure!(child.close().await?.code() == Some(1), "the last result was an error");
    Ok(())
}

pub async fn a_passing_failure_is_tried_again() -> Result<()> {
    let world = World::new().await?;
    let mut child = CliChild::spawn(&world, &[])?;
    for status in [429, 500, 529] {
        child.heard.clear();
        child.prompt(&format!("TIMES 1 FAIL {status}\nSAY got through {status}")).await?;
        let result = child.result().await?;
        ensure!(result["result"] == format!("got through {status}"), "{result}");
        let retry = child.heard.iter().find(|line| line["subtype"] == "api_retry").context("no api_retry")?;
        ensure!(retry["error_status"] == status, "{retry}");
    }
    child.close().await.map(drop)
}

pub async fn a_broken_stream_is_sent_again() -> Result<()> {
    let world = World::new().await?;
    let mut child = CliChild::spawn(&world, &[])?;
    child.prompt("TIMES 1 DROP half of it\nSAY all of it").await?;
    let result = child.result().await?;
    ensure!(result["result"] == "all of it", "{result}");
    child.prompt("STREAMERR overloaded_error the whole text").await?;
    let result = child.result().await?;
    ensure!(result["result"] == "the whole text", "{result}");
    let requests = world.api.messages();
    let unstreamed = requests.iter().filter(|request| request.body["stream"] != true).count();
    // 2.1.197 gives up streaming after a broken connection, too.
    ensure!((1..=2).contains(&unstreamed), "{unstreamed} requests without streaming");
    child.close().await.map(drop)
}

pub async fn a_burst_of_deltas_arrives_whole() -> Result<()> {
    const N: usize = 5_000;
    let world = World::new().await?;
    let mut child = CliChild::spawn(&world, &[])?;
    child.prompt(&format!("STREAM {N} 0 w")).await?;
    let result = child.result().await?;
    let deltas = child.heard.iter().filter(|line| is_delta(line)).count();
    ensure!(deltas == N, "{deltas} deltas");
    let expected: String = (1..=N).map(|number| format!("w{number} ")).collect();
    ensure!(result["result"].as_str().map(str::trim) == Some(expected.trim()), "the text is not whole");
    child.close().await.map(drop)
}

pub async fn a_reply_waits_for_its_gate() -> Result<()> {
    let world = World::new().await?;
    let mut child = CliChild::spawn(&world, &[])?;
    let prompt = "GATE now\nSAY through";
    child.prompt(prompt).await?;
    world.api.wait_for_prompt(prompt, DEADLINE).await?;
    ensure!(!child.heard.iter().any(|line| line["type"] == "result"));
    world.api.open("now");
    let result = child.result().await?;
    ensure!(result["result"] == "through", "{result}");
    child.close().await.map(drop)
}

pub async fn an_unknown_model_is_refused_or_fails_the_turn() -> Result<()> {
    let world = World::new().await?;
    let mut child = CliChild::spawn(&world, &[])?;
    let reply = child.ask("req_1", json!({"subtype": "set_model", "model": "claude-no-such"})).await?;
    if reply["subtype"] == "success" {
        // 2.1.197 does not check: the next turn shows the effect.
        child.prompt("SAY hello?").await?;
        let result = child.result().await?;
        ensure!(result["is_error"] == true && result["api_error_status"] == 404, "{result}");
    }
    let reply = child.ask("req_2", json!({"subtype": "set_model", "model": "claude-sonnet-4-6"})).await?;
    ensure!(reply["subtype"] == "success", "{reply}");
    child.prompt("SAY hello").await?;
    child.result().await?;
    let request = world.api.wait_for_prompt("SAY hello", DEADLINE).await?;
    ensure!(request.model() == Some("claude-sonnet-4-6"), "{:?}", request.model());
    child.close().await.map(drop)
}

/// With any home, the CLI keeps a socket and its tools' output in the system's temporary folder, unless a variable
/// names another.
#[cfg(unix)]
pub async fn a_run_leaves_nothing_outside_its_world() -> Result<()> {
    let before = left_by_runs();
    let world = World::new().await?;
    let mut child = CliChild::spawn(&world, &["--permission-mode=acceptEdits"])?;
    child.prompt(&format!("WRITE {} x\nSAY written", world.file("x").display())).await?;
    child.result().await?;
    let during = left_by_runs();
    ensure!(child.close().await?.success());
    let new: Vec<_> = during.difference(&before).collect();
    ensure!(new.is_empty(), "while it ran there was {new:?}");
    let home: Vec<_> = fs::read_dir(&world.home)?.collect();
    ensure!(home.is_empty(), "in the home folder there is {home:?}");
    Ok(())
}

#[cfg(unix)]
fn left_by_runs() -> BTreeSet<PathBuf> {
    let folders = fs::read_dir("/tmp").into_iter().flatten().flatten().map(|entry| entry.path());
    let of_the_cli = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("claude-") || name.starts_with("cc-")
    };
    let inside = |path: PathBuf| {
        let files: Vec<PathBuf> =
            fs::read_dir(&path).into_iter().flatten().flatten().map(|e| e.path()).collect();
        std::iter::once(path).chain(files)
    };
    folders.filter(of_the_cli).flat_map(inside).collect()
}

/// The next permission request.
async fn asked(child: &mut CliChild) -> Result<Value> {
    child.next("a permission request", |line| line["request"]["subtype"] == "can_use_tool").await
}

fn is_delta(line: &Value) -> bool {
    line["event"]["type"] == "content_block_delta"
}

/// The text that came in deltas.
fn streamed(lines: &[Value]) -> String {
    lines.iter().filter_map(|line| line["event"]["delta"]["text"].as_str()).collect()
}

/// Deskbell keeps them from other agents by their names.
pub async fn the_variables_that_the_cli_sets_for_programs_are_known() -> Result<()> {
    let world = World::new().await?;
    let given: Vec<String> =
        world.env().into_iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
    let mut child = CliChild::spawn(&world, &[])?;
    child.prompt("BASH env > variables.txt\nSAY done").await?;
    let asked = child.next("a permission request", |line| line["type"] == "control_request").await?;
    let allowed = json!({"behavior": "allow", "updatedInput": asked["request"]["input"]});
    child.answer(&asked["request_id"], allowed).await?;
    child.result().await?;
    child.close().await?;
    let text = std::fs::read_to_string(world.file("variables.txt"))?;
    let names = text.lines().filter_map(|line| Some(line.split_once('=')?.0));
    let is_new = |name: &&str| {
        ["CLAUDE", "ANTHROPIC", "AI_AGENT"].iter().any(|start| name.starts_with(start))
            && !given.iter().any(|known| known == name)
            && !SESSION_VARIABLES.contains(name)
    };
    let unknown: Vec<&str> = names.filter(is_new).collect();
    ensure!(unknown.is_empty(), "these are not in the list: {unknown:?}");
    Ok(())
}
