use super::*;
use crate::history;
use crate::host::fake::{Asked, FakeHost};
use crate::host::{Exited, LocalHost};
use crate::session::machine::SavedSession;
use serde_json::{Value, json};
use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use tokio::io::AsyncReadExt;

/// A session whose conversation consists of these prompts, on disk, and whose agent is not running.
fn session(folder: &Path, prompts: impl Iterator<Item = String>) -> SessionHandle {
    let line = |(nr, text): (usize, String)| {
        let parent = nr.checked_sub(1).map(|parent| format!("u{parent}"));
        let message = json!({"role": "user", "content": text});
        json!({"type": "user", "uuid": format!("u{nr}"), "parentUuid": parent, "message": message})
    };
    stored(folder, prompts.enumerate().map(line))
}

/// A session whose conversation on disk has these lines, and whose agent is not running.
fn stored(folder: &Path, lines: impl Iterator<Item = Value>) -> SessionHandle {
    let (project, agent_config) = (folder.join("project"), folder.join("config"));
    let agent_session_id = "s".to_owned();
    let path = history::transcript_path(&agent_config, &project, &agent_session_id);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let lines: Vec<String> = lines.map(|line| line.to_string()).collect();
    std::fs::write(&path, lines.join("\n")).unwrap();
    let memory = SavedSession { agent_session_id: Some(agent_session_id), ..SavedSession::default() };
    let (id, agent) = (SessionId::new("s"), AgentKind::Demo);
    SessionHandle::open(Open {
        record: Record { id, project, agent, created_at: 0, changed_at: 0, memory },
        launcher: Arc::new(|| Err(gone())),
        host: Arc::new(LocalHost),
        store: None,
        agent_config,
        locks: None,
        agent_sessions: None,
        timeouts: Timeouts::default(),
        recorder: Recorder::default(),
    })
}

fn needles() -> impl Iterator<Item = String> {
    (0..2_000).map(|nr| format!("needle {nr}"))
}

/// Polls the future once.
fn nudge<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// During a search that is polled no more, the session still replies and sends events.
#[tokio::test]
async fn a_session_goes_on_while_it_is_looked_through() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path(), needles());
    let (sender, mut events) = mpsc::channel(16);
    session.subscribe(Subscriber::Every(sender)).await.unwrap();
    let mut find = pin!(session.query(FindQuery { query: "needle".to_owned(), index: Some(3) }));
    let mut n_told = 0;
    let found = loop {
        if let Poll::Ready(found) = nudge(find.as_mut()) {
            break found.unwrap().unwrap();
        }
        let title = format!("title {n_told}");
        session.command(Command::Rename { title: title.clone() }).await.unwrap();
        while let Some(envelope) = events.recv().await {
            if matches!(envelope.event, Event::SessionChanged { session } if session.title.as_ref() == Some(&title))
            {
                break;
            }
        }
        n_told += 1;
    };
    assert!(n_told >= 4, "told {n_told} times while it was looked through");
    assert_eq!((found.count, found.hit.unwrap().item_id), (2_000, ItemId::new("u3")));
}

#[tokio::test]
async fn a_find_ends_when_another_begins() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path(), needles());
    let mut first = pin!(session.query(FindQuery { query: "needle".to_owned(), index: None }));
    assert!(nudge(first.as_mut()).is_pending());
    let second =
        session.query(FindQuery { query: "needle 19".to_owned(), index: None }).await.unwrap().unwrap();
    assert_eq!(second.count, 111);
    assert_eq!(first.await.unwrap(), None);
}

/// A window has the end of a conversation before all of it has been read. Other messages wait for the rest.
#[tokio::test]
async fn a_window_has_the_end_of_a_long_conversation_before_the_rest_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path(), (0..5_000).map(|nr| format!("{nr} {}", "word ".repeat(150))));
    let show = Viewport { first: None, count: 100, request_id: 1 };
    let feed = Arc::new(Feed::new(SessionId::new("s"), show, Vec::new()));
    // Polled at once, on the thread that the session runs on: nothing has been read yet.
    let first = session.subscribe(Subscriber::Merged(feed.clone())).await.unwrap();
    assert!(first.is_partial);
    assert_eq!((first.items.len(), &first.items[99].id), (100, &ItemId::new("u4999")));
    let shown = feed.clone();
    session.show(shown, Viewport { first: Some(0), count: 100, request_id: 2 }).await.unwrap();
    // A copy needs the whole conversation, so its reply arrives later.
    let copied = session.query(CopyQuery { copy: CopyOf::Conversation }).await.unwrap().unwrap();
    assert!(copied.contains("0 word") && copied.contains("4999 word") && copied.len() > 5_000 * 750);
    let batch = feed.next().await;
    assert!(batch.after > first.seq, "a gap: {} after {}", batch.after, first.seq);
    let feed = Arc::new(Feed::new(SessionId::new("s"), show, Vec::new()));
    let whole = session.subscribe(Subscriber::Merged(feed)).await.unwrap();
    assert!(!whole.is_partial);
    assert_eq!((whole.rows.total, whole.items.len()), (5_000, 100));
    assert_eq!(whole.items[99].body, first.items[99].body);
}

/// At start, the app asks every session for its summary and reads no conversation.
#[tokio::test]
async fn a_conversation_is_read_when_somebody_wants_it() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path(), needles());
    let (sender, _facts) = mpsc::unbounded_channel();
    session.subscribe(Subscriber::Summary(sender)).await.unwrap();
    std::fs::rename(folder.path().join("config"), folder.path().join("elsewhere")).unwrap();
    assert_eq!(session.snapshot().await.unwrap().items, []);
}

/// A session whose agent is played by the test.
pub(crate) fn played(folder: &Path, host: Arc<FakeHost>) -> SessionHandle {
    let launch = Launch {
        kind: AgentKind::Demo,
        acp: None,
        program: "/agent".into(),
        first_args: Vec::new(),
        project: folder.to_owned(),
        restricted: true,
        snapshot: None,
        env: Vec::new(),
        run_token: "run.1".to_owned(),
        priority: Priority::Normal,
    };
    SessionHandle::open(Open {
        record: Record {
            id: SessionId::new("s"),
            project: folder.to_owned(),
            agent: AgentKind::Demo,
            created_at: 0,
            changed_at: 0,
            memory: SavedSession::default(),
        },
        launcher: Arc::new(move || Ok(launch.clone())),
        host,
        store: None,
        agent_config: folder.join("config"),
        locks: None,
        agent_sessions: None,
        timeouts: Timeouts { terminate_ms: 50, ..Timeouts::default() },
        recorder: Recorder::default(),
    })
}

/// An agent that reacts to nothing: each stage of the stop reaches its host, and the session waits for the exit.
#[tokio::test]
async fn an_agent_that_reacts_to_nothing_is_stopped_stage_by_stage() {
    let folder = tempfile::tempdir().unwrap();
    let (host, mut processes) = FakeHost::new();
    let host = Arc::new(host);
    let session = played(folder.path(), host.clone());
    session.start().await.unwrap();
    let mut process = processes.recv().await.unwrap();
    let closing = session.clone();
    let closing = tokio::spawn(async move { closing.close().await });
    let mut written = String::new();
    process.stdin.read_to_string(&mut written).await.unwrap();
    assert!(written.contains("initialize"), "{written}");
    host.until(&Asked::Kill).await;
    assert!(!closing.is_finished(), "the process has not exited");
    process.exit.send(Exited { code: None, signal: Some(9) }).unwrap();
    drop((process.stdout, process.stderr));
    closing.await.unwrap().unwrap();
    let sweep = Asked::KillTagged("run.1".to_owned());
    // The last two are for what the agent may have left running.
    let stages = [Asked::Terminate, Asked::Kill, sweep.clone(), Asked::Kill, sweep];
    assert_eq!(host.asked()[1..], stages);
}

/// Answers with code, and the calls that read it.
fn answers_with_code(n: usize) -> impl Iterator<Item = Value> {
    (0..n).map(|nr| {
        let parent = nr.checked_sub(1).map(|parent| format!("u{parent}"));
        let text = format!("Answer {nr}:\n\n```rust\nlet answer = {nr};\n```");
        let content = json!([{"type": "text", "text": text}]);
        let message = json!({"id": format!("m{nr}"), "role": "assistant", "content": content});
        json!({"type": "assistant", "uuid": format!("u{nr}"), "parentUuid": parent, "message": message})
    })
}

fn has_colours(blocks: &[Block]) -> bool {
    let is_coloured = |token: &Token| token.style != TokenStyle::Plain;
    blocks.iter().any(|block| {
        matches!(block, Block::Code { lines, .. }
            if lines.iter().any(|line| line.tokens.iter().any(is_coloured)))
    })
}

/// The numbers of the items that have colours.
fn coloured(items: &[Item]) -> Vec<u32> {
    let is_it = |item: &&Item| matches!(&item.body, Body::Text { blocks, .. } if has_colours(blocks));
    items.iter().filter(is_it).map(|item| item.row).collect()
}

/// Colours cost far more than the rest of a long conversation.
#[tokio::test]
async fn code_of_a_stored_conversation_gets_colours_when_a_window_comes_near() {
    let folder = tempfile::tempdir().unwrap();
    let session = stored(folder.path(), answers_with_code(200));
    let show = |first, count| Viewport { first, count, request_id: 0 };
    let feed = Arc::new(Feed::new(SessionId::new("s"), show(None, 40), Vec::new()));
    let snapshot = session.subscribe(Subscriber::Merged(feed.clone())).await.unwrap();
    assert_eq!(
        (snapshot.items.len(), coloured(&snapshot.items)),
        (40, (188..200).collect()),
        "the last code"
    );
    let arrive = async |n: usize| {
        let mut ids = std::collections::HashSet::new();
        while ids.len() < n {
            for event in feed.next().await.events {
                match event {
                    Event::BlocksChanged { item_id, blocks, .. } if has_colours(&blocks) => {
                        ids.insert(item_id);
                    }
                    Event::ItemAdded { item } | Event::ItemChanged { item }
                        if !coloured(std::slice::from_ref(&item)).is_empty() =>
                    {
                        ids.insert(item.id);
                    }
                    _ => {}
                }
            }
        }
    };
    arrive(28).await;
    assert_eq!(coloured(&session.snapshot().await.unwrap().items), (160..200).collect::<Vec<_>>());
    session.show(feed.clone(), show(Some(10), 20)).await.unwrap();
    arrive(20).await;
    let expected: Vec<u32> = (10..30).chain(160..200).collect();
    assert_eq!(coloured(&session.snapshot().await.unwrap().items), expected);
}

#[tokio::test]
async fn one_that_gets_every_item_gets_all_colours() {
    let folder = tempfile::tempdir().unwrap();
    let all: Vec<u32> = (0..100).collect();
    let every = async |session: &SessionHandle| {
        let (sender, events) = mpsc::channel(256);
        let items = session.subscribe(Subscriber::Every(sender)).await.unwrap().items;
        (coloured(&items), events)
    };
    let session = stored(folder.path(), answers_with_code(100));
    assert_eq!(every(&session).await.0, all, "with the snapshot, if it is read for that");
    let session = stored(folder.path(), answers_with_code(100));
    let feed = Arc::new(Feed::new(
        SessionId::new("s"),
        Viewport { first: None, count: 1, request_id: 0 },
        Vec::new(),
    ));
    session.subscribe(Subscriber::Merged(feed)).await.unwrap();
    let (already, mut events) = every(&session).await;
    let mut n_left = all.len() - already.len();
    assert!(n_left > 0, "most are plain at first");
    while n_left > 0 {
        if let Event::BlocksChanged { blocks, .. } = events.recv().await.unwrap().event {
            n_left -= usize::from(has_colours(&blocks));
        }
    }
    assert_eq!(coloured(&session.snapshot().await.unwrap().items), all);
}

/// The lines of another process appear one by one, and its end is seen.
#[tokio::test]
async fn a_conversation_that_another_process_continues_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path(), ["first\n".to_owned()].into_iter());
    let path = history::transcript_path(&folder.path().join("config"), &folder.path().join("project"), "s");
    let append = |line: &str| {
        use std::io::Write;
        std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(line.as_bytes()).unwrap();
    };
    let (sender, mut events) = mpsc::channel(16);
    session.subscribe(Subscriber::Every(sender)).await.unwrap();
    session.snapshot().await.unwrap();
    let content = json!([{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "x"}}]);
    let message = json!({"id": "m", "role": "assistant", "content": content});
    let line = json!({"type": "assistant", "uuid": "a", "parentUuid": "u0", "message": message}).to_string();
    append(&format!("\n{}", &line[..20]));
    assert!(!session.refresh(true).await.unwrap());
    assert_eq!(session.snapshot().await.unwrap().items.len(), 1, "a line that is not whole");
    append(&format!("{}\n", &line[20..]));
    session.refresh(true).await.unwrap();
    let added = loop {
        if let Event::ItemAdded { item } = events.recv().await.unwrap().event {
            break item;
        }
    };
    let state = |item: &Item| match &item.body {
        Body::ToolCall(call) => call.state,
        other => panic!("{other:?}"),
    };
    assert_eq!(state(&added), ToolState::Running);
    session.refresh(false).await.unwrap();
    assert_eq!(state(&session.snapshot().await.unwrap().items[1]), ToolState::Interrupted);
    // Another branch: the file is read again.
    let other =
        json!({"type": "user", "uuid": "x", "parentUuid": null, "message": {"role": "user", "content": "x"}});
    append(&format!("{other}\n"));
    assert!(session.refresh(true).await.unwrap());
    let items = session.snapshot().await.unwrap().items;
    assert_eq!(items.iter().map(|item| item.id.as_str()).collect::<Vec<_>>(), ["x"]);
}

/// A line of the agent that answers a request.
pub(crate) fn response(request_id: &str, outcome: Result<Value, String>) -> String {
    let response = match outcome {
        Ok(response) => json!({"subtype": "success", "request_id": request_id, "response": response}),
        Err(error) => json!({"subtype": "error", "request_id": request_id, "error": error}),
    };
    json!({"type": "control_response", "response": response}).to_string()
}
