//! The stages of ARCHITECTURE.md, checked by following one marked line and one marked command through them.
//!
//! A stage calls [`passed`] with the value that it has in its hands. These calls exist only in tests.

use crate::api::*;
use crate::host::fake::FakeHost;
use crate::session::tests::played;
use crate::session::{Feed, Subscriber};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::fmt::Debug;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

const ARCHITECTURE: &str = include_str!("../../../ARCHITECTURE.md");
const TO_SCREEN: &str = "## How a line of output reaches the screen";
const TO_STDIN: &str = "## How a click reaches stdin";
const MARK: &str = "the marked text";

thread_local! {
    /// The modules that had the marked text in their hands, in order. A session and its process run on the thread of
    /// the test.
    static PASSED: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

/// Notes that a module has this value, if it contains the marked text.
pub fn passed(module: &'static str, value: &impl Debug) {
    if format!("{value:?}").contains(MARK) {
        PASSED.with_borrow_mut(|passed| passed.push(module));
    }
}

/// The stages of a section: its names in bold code, as far as they are modules of the engine.
fn named(section: &str) -> Vec<&'static str> {
    let (_, text) = ARCHITECTURE.split_once(section).expect("the section is there");
    let text = text.split("\n## ").next().unwrap_or_default();
    let names = text.split("**`").skip(1).filter_map(|rest| rest.split_once("`**")).map(|(name, _)| name);
    names.filter(|name| !name.contains('.')).collect()
}

/// The stages that the marked text passed, in order. A module below a named one counts as that one. A prompt is also
/// shown: the stages of the `other` way are left out.
fn followed(named: &[&'static str], other: &str) -> Vec<&'static str> {
    let passed = PASSED.with_borrow(|passed| passed.clone());
    let other = self::named(other);
    let mut stages: Vec<&str> = passed
        .into_iter()
        .filter_map(|module| match (stage_of(module, named), stage_of(module, &other)) {
            (Some(stage), _) => Some(stage),
            (None, Some(_)) => None,
            // Not a stage of ARCHITECTURE.md.
            (None, None) => Some(module),
        })
        .collect();
    stages.dedup();
    stages
}

fn stage_of(module: &str, named: &[&'static str]) -> Option<&'static str> {
    let path = module.trim_start_matches("deskbell_engine::").replace("::", "/");
    let is_in = |name: &&&str| path == **name || path.starts_with(&format!("{name}/"));
    named.iter().filter(is_in).max_by_key(|name| name.len()).copied()
}

/// A session whose agent, played by the test, is ready.
async fn ready(folder: &std::path::Path) -> (crate::session::SessionHandle, crate::host::fake::FakeProcess) {
    let (host, mut processes) = FakeHost::new();
    let session = played(folder, Arc::new(host));
    session.start().await.unwrap();
    let mut process = processes.recv().await.unwrap();
    let asked = line_of(&mut process).await;
    let response = json!({"subtype": "success", "request_id": asked["request_id"], "response": {}});
    say(&mut process, &json!({"type": "control_response", "response": response})).await;
    (session, process)
}

async fn say(process: &mut crate::host::fake::FakeProcess, line: &Value) {
    process.stdout.write_all(format!("{line}\n").as_bytes()).await.unwrap();
}

async fn line_of(process: &mut crate::host::fake::FakeProcess) -> Value {
    let mut line = String::new();
    // Nothing else is written until this line is answered, so the buffer takes no other.
    BufReader::new(&mut process.stdin).read_line(&mut line).await.unwrap();
    serde_json::from_str(&line).unwrap()
}

#[tokio::test]
async fn a_marked_line_reaches_the_windows_batch_through_the_named_stages() {
    let folder = tempfile::tempdir().unwrap();
    let (session, mut process) = ready(folder.path()).await;
    let viewport = Viewport { first: None, count: 100, request_id: 1 };
    let feed = Arc::new(Feed::new(SessionId::new("s"), viewport, Vec::new()));
    session.subscribe(Subscriber::Merged(feed.clone())).await.unwrap();
    let message = json!({"id": "m", "role": "assistant", "content": [{"type": "text", "text": MARK}]});
    say(&mut process, &json!({"type": "assistant", "uuid": "u", "message": message})).await;
    loop {
        let batch = feed.next().await;
        if format!("{batch:?}").contains(MARK) {
            break;
        }
    }
    let named = named(TO_SCREEN);
    assert!(named.len() >= 9, "{named:?}");
    assert_eq!(followed(&named, TO_STDIN), named);
}

#[tokio::test]
async fn a_marked_command_reaches_the_agents_stdin_through_the_named_stages() {
    let folder = tempfile::tempdir().unwrap();
    let (session, mut process) = ready(folder.path()).await;
    let (text, attachments, delivery) = (MARK.to_owned(), Vec::new(), Delivery::AfterTurn);
    session.command(Command::Prompt { text, attachments, delivery }).await.unwrap();
    let line = line_of(&mut process).await;
    assert!(line["message"].to_string().contains(MARK), "{line}");
    let named = named(TO_STDIN);
    assert!(named.len() >= 5, "{named:?}");
    assert_eq!(followed(&named, TO_SCREEN), named);
}
