//! Claude Code through its own wire and through its ACP adapter, with one script and one program: the same rows, except what
//! is listed here as lost.
//!
//! `DESKBELL_TEST_AGENTS` names the folder with the adapter, as in [`crate::real_agents`].

#![cfg(target_os = "linux")]

use crate::life::{Life, Setup};
use crate::real_agents::{allow, decide, deny, installed};
use deskbell_engine::acp::ChosenAgent;
use deskbell_engine::api::*;
use deskbell_tests::mock_api::MockApi;
use std::path::PathBuf;

/// The program that comes with the adapter.
const CLAUDE: &str = "../@anthropic-ai/claude-agent-sdk-linux-x64/claude";

/// The rows that differ: by the own wire, and through the adapter.
const LOST: [[&str; 2]; 3] = [
    // The reason of a denial.
    [
        "Did not run touch two.txt Denied Some(\"denied\"): no",
        "Did not run touch two.txt Denied Some(\"denied\"): User refused permission to run tool",
    ],
    // The line numbers of a change in a file.
    [
        "Edited a.txt Succeeded None: Removed 1 hello, Added 1 goodbye",
        "Edited a.txt Succeeded None: Removed ? hello, Added ? goodbye",
    ],
    // Which characters are the file's own.
    ["Read a.txt Succeeded None: goodbye", "Read a.txt Succeeded None: 1\tgoodbye"],
];

/// A session whose model is the mock of Claude's, in an empty home.
pub fn setup(program: PathBuf, acp: Option<ChosenAgent>, api: &MockApi) -> Setup {
    let path =
        format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap_or_default());
    let mut setup = Setup::program(program).trusted();
    setup.memory.acp = acp;
    let home = setup.folder.path().join("home");
    std::fs::create_dir(&home).unwrap();
    let setup = setup.env("HOME", home).env("PATH", path).env("NO_PROXY", "127.0.0.1");
    let setup = setup.env("ANTHROPIC_BASE_URL", api.base_url()).env("ANTHROPIC_API_KEY", "dummy");
    // The adapter always passes an argument with which the program starts as root only in a sandbox.
    let setup = setup.env("IS_SANDBOX", "1");
    ["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY"]
        .into_iter()
        .fold(setup, |setup, name| setup.env(name, "1"))
}

/// Plays the script, and returns the rows in words.
async fn rows(setup: Setup) -> Vec<String> {
    let project = setup.project().display().to_string();
    let mut life = setup.open().await;
    life.turn("SAY hello **from** the model").await;
    life.turn("THINK a thought | an answer").await;

    life.prompt("BASH touch one.txt && echo made\nSAY ran").await;
    decide(&mut life, "touch one.txt && echo made", allow()).await;
    life.turn_end().await;
    life.prompt("BASH touch two.txt\nSAY went on").await;
    decide(&mut life, "touch two.txt", deny()).await;
    life.turn_end().await;

    let file = life.path("a.txt").display().to_string();
    life.prompt(&format!("WRITE {file} hello\nSAY wrote")).await;
    decide(&mut life, &file, allow()).await;
    life.turn_end().await;
    life.prompt(&format!("EDIT {file} hello => goodbye\nSAY edited")).await;
    decide(&mut life, &file, allow()).await;
    life.turn_end().await;
    life.turn(&format!("READ {file}\nSAY read")).await;

    life.prompt("BASH touch three.txt\nSAY never").await;
    life.request().await;
    life.command(Command::Interrupt).await.unwrap();
    life.turn_end().await;
    let rows = in_words(&life, &project).await;
    life.close().await;
    rows
}

async fn in_words(life: &Life, project: &str) -> Vec<String> {
    let items = life.snapshot().await.items;
    items.iter().map(|item| row(&item.body).replace(project, "/project")).collect()
}

fn row(body: &Body) -> String {
    match body {
        Body::Prompt { text, .. } => format!("prompt {text:?}"),
        Body::Message { sender, text } => format!("message {:?} {text:?}", sender.name),
        Body::Thinking { text, .. } => format!("thought {text:?}"),
        Body::Text { blocks, .. } => format!("text {blocks:?}"),
        Body::ToolCall(call) => {
            let ToolCall { verb, subject, state, note, detail, .. } = &**call;
            format!("{verb} {subject} {state:?} {note:?}: {}", content(detail))
        }
        Body::Notice { level, text, .. } => format!("notice {level:?} {text:?}"),
        Body::TurnEnd(end) => format!("end {:?}", end.outcome),
    }
}

fn content(detail: &ToolDetail) -> String {
    match detail {
        ToolDetail::Edit(diff) => {
            let lines = diff.hunks.iter().flat_map(|hunk| &hunk.lines);
            lines.map(changed_line).collect::<Vec<_>>().join(", ")
        }
        ToolDetail::Command { output, .. }
        | ToolDetail::Text { output, .. }
        | ToolDetail::Json { output, .. } => {
            let tokens = |line: &CodeLine| line.tokens.iter().map(|token| token.text.as_str()).collect();
            output.lines.iter().map(tokens).collect::<Vec<String>>().join(", ")
        }
        other => format!("{other:?}"),
    }
}

fn changed_line(line: &DiffLine) -> String {
    let text: String = line.parts.iter().map(|part| part.text.as_str()).collect();
    let nr = line.old_line.or(line.new_line).map_or("?".to_owned(), |nr| nr.to_string());
    format!("{:?} {nr} {text}", line.kind)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rows_are_the_same_except_what_is_lost() {
    let Some(adapter) = installed("claude-acp") else { return };
    let api = MockApi::start().await.unwrap();
    let claude = adapter.parent().unwrap().join(CLAUDE);
    let own = rows(setup(claude, None, &api)).await;
    let through_acp = rows(setup(adapter, ChosenAgent::row_of("claude-acp"), &api)).await;
    assert_eq!(own.len(), through_acp.len(), "{own:#?}\n{through_acp:#?}");
    let pairs = own.iter().zip(&through_acp).filter(|(one, other)| one != other);
    let lost: Vec<[&str; 2]> = pairs.map(|(one, other)| [one.as_str(), other.as_str()]).collect();
    assert_eq!(lost, LOST);
}
