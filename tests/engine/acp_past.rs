//! The earlier messages of a session that was opened from the list of an agent: repeated by the agent when it starts.

#![cfg(target_os = "linux")]

use crate::life::{Life, Setup};
use crate::transcript::{answer, notice, tool_states};
use deskbell_engine::acp::ChosenAgent;
use deskbell_engine::api::*;
use deskbell_engine::session::Timeouts;
use deskbell_engine::store::{SavedSession, Store};

/// A session as it is opened from the list, of an agent that repeats it in this way.
fn listed(faults: &str) -> Setup {
    let mut setup = Setup::acp("qwen", faults).trusted();
    setup.memory = SavedSession {
        acp: ChosenAgent::row_of("qwen"),
        agent_session_id: Some("stored-1".to_owned()),
        resumable: true,
        title: Some("Tidal tables".to_owned()),
        ..SavedSession::default()
    };
    setup
}

/// The session as the next start of the app opens it.
async fn reopened(mut setup: Setup) -> Life {
    let store = Store::open(setup.folder.path().join("store")).unwrap();
    setup.memory = store.load().unwrap().records.remove(0).memory;
    setup.open().await
}

fn short(item: &Item) -> String {
    match &item.body {
        Body::Prompt { text, n_images, .. } => format!("prompt {text} {n_images}"),
        Body::Thinking { text, duration_ms, .. } => format!("thought {text} {duration_ms:?}"),
        Body::ToolCall(call) => format!("{} {:?}", call.tool, call.state),
        _ => answer(item).map(|text| format!("text {text}")).or_else(|| notice(item)).unwrap_or_default(),
    }
}

async fn shown(life: &Life) -> Vec<String> {
    life.snapshot().await.items.iter().map(short).collect()
}

/// The rows of the conversation that the demo agent repeats.
const REPEATED: [&str; 6] = [
    "prompt When is high tide? 0",
    "thought There is a table. None",
    "command Succeeded",
    "text At 6:12.",
    "prompt And on this coast? 1",
    "plan Succeeded",
];

async fn has_repeated(life: &mut Life) {
    let is_first = |event: &Event| match event {
        Event::ItemAdded { item } => matches!(item.body, Body::Prompt { .. }).then_some(()),
        _ => None,
    };
    life.next("the first repeated prompt", is_first).await;
}

fn files(setup: &Setup) -> Vec<String> {
    let files = std::fs::read_dir(setup.folder.path().join("store")).unwrap();
    files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listed_session_has_its_earlier_messages_when_its_agent_has_started() {
    // A call that asked meanwhile was denied. One that did not end is unreported.
    let unasked = ("repeats", "command Failed");
    for (faults, last) in [unasked, ("repeats-asks", "command Denied"), ("repeats,no-resume", unasked.1)] {
        let mut life = listed(faults).open().await;
        let awaited = shown(&life).await;
        assert_eq!(awaited.len(), 1, "{faults}: {awaited:?}");
        assert!(
            awaited[0].starts_with("Earlier messages are shown when Qwen Code has started"),
            "{awaited:?}"
        );
        life.session().start().await.unwrap();
        has_repeated(&mut life).await;
        let Snapshot { session, items, prompts, .. } = life.snapshot().await;
        let repeated: Vec<String> = items.iter().map(short).collect();
        assert_eq!(
            (&repeated[..6], &repeated[6..]),
            (&REPEATED.map(str::to_owned)[..], &[last.to_owned()][..])
        );
        assert_eq!(life.items().await, items, "the events fold to the same");
        assert!(items.iter().all(|item| item.at == 0), "no time is invented");
        assert_eq!(prompts, ["When is high tide?", "And on this coast?"]);
        // No turn ran, nothing asks, and nothing happened that the user would have to look at.
        assert!(session.turn_started_at.is_none() && session.requests.is_empty(), "{session:?}");
        assert_eq!((&session.status, session.changed_at), (&Status::Idle, session.created_at), "{faults}");
        for event in ["TurnStarted", "TurnEnded", "PermissionRequested"] {
            assert!(!life.heard().contains(event), "{faults}: {event}");
        }
        assert!(
            files(&life.setup).iter().all(|name| !name.contains("conversation")),
            "looking at it keeps nothing"
        );

        // It goes on below. The first call has the id that a repeated one had.
        life.prompt("RUN now\nSAY Now.").await;
        let request = life.request().await;
        assert_eq!(request.subject, "now");
        let shown_id = Some(request.shown.clone());
        let decision = Decision::AllowOnce { updated_input: None };
        life.command(Command::Decide { request_id: request.id, shown: shown_id, decision }).await.unwrap();
        assert_eq!(life.turn_end().await.outcome, Outcome::Done);
        let after = shown(&life).await;
        assert_eq!(after[..repeated.len()], repeated, "{faults}");
        let turn = ["prompt RUN now\nSAY Now. 0", "command Succeeded", "text Now."];
        assert_eq!(after[repeated.len()..repeated.len() + 3], turn, "{faults}");

        // After a restart they are read, and are not requested a second time.
        let mut life = reopened(life.close().await).await;
        assert_eq!(shown(&life).await, after, "{faults}");
        assert!(!life.snapshot().await.session.alive);
        life.turn("SAY again").await;
        let again = shown(&life).await;
        assert_eq!(again[..after.len()], after, "{faults}");
        assert_eq!(tool_states(&life.snapshot().await.items).len(), 4, "{faults}");
        life.close().await;
    }
}

/// The user sends a prompt at once: it is sent once the messages came, below them.
#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_waits_for_the_earlier_messages() {
    let mut life = listed("repeats").open().await;
    life.turn("SAY one").await;
    let shown = shown(&life).await;
    assert_eq!(shown[..REPEATED.len()], REPEATED);
    assert_eq!(shown[REPEATED.len()..REPEATED.len() + 3], ["command Failed", "prompt SAY one 0", "text one"]);
    let life = reopened(life.close().await).await;
    assert_eq!(self::shown(&life).await, shown);
    life.close().await;
}

/// The session is saved when its agent is stopped, so nothing is started to show it again.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_was_only_looked_at_keeps_its_messages() {
    let mut life = listed("repeats").open().await;
    life.session().start().await.unwrap();
    has_repeated(&mut life).await;
    let before = shown(&life).await;
    let mut life = reopened(life.close().await).await;
    assert_eq!(shown(&life).await, before);
    assert!(!life.snapshot().await.session.alive);
    life.turn("SAY one").await;
    assert_eq!(shown(&life).await[..before.len()], before);
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_refuses_to_repeat_continues_and_says_so() {
    let mut life = listed("repeats-refused").open().await;
    life.turn("SAY one").await;
    let shown = shown(&life).await;
    assert!(shown[0].starts_with("Earlier messages of this conversation cannot be shown"), "{shown:?}");
    assert!(shown[0].contains("refused to repeat them: its file is damaged"), "{shown:?}");
    assert_eq!(shown[1..3], ["prompt SAY one 0", "text one"]);
    let life = reopened(life.close().await).await;
    assert_eq!(self::shown(&life).await, shown, "it is said after a restart too");
    life.close().await;
}

/// An agent that repeats without an end, one that never answers, and one that exits in the middle: the prompt waits, and
/// the next start continues without the messages.
#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_repetition_ends_and_the_session_is_usable() {
    for faults in ["repeats-forever", "repeats-silent", "repeats-dies"] {
        let mut setup = listed(faults);
        setup.timeouts = Timeouts { initialize_ms: 20_000, ..Timeouts::default() };
        if faults == "repeats-silent" {
            setup.timeouts.initialize_ms = 500;
        }
        let mut life = setup.open().await;
        life.prompt("SAY one").await;
        life.exit().await;
        let missing = shown(&life).await.concat();
        assert!(
            missing.contains("Earlier messages of this conversation cannot be shown"),
            "{faults}: {missing}"
        );
        assert!(!missing.contains("high tide"), "{faults}: half a conversation is none");
        if faults != "repeats-dies" {
            let session = life.facts("held prompt", |session| session.queue.iter().any(|one| one.held)).await;
            life.command(Command::Resend { prompt_id: session.queue[0].id.clone() }).await.unwrap();
        }
        assert_eq!(life.turn_end().await.outcome, Outcome::Done, "{faults}");
        let after = shown(&life).await;
        assert!(after.iter().any(|row| row == "text one"), "{faults}: {after:?}");
        let life = reopened(life.close().await).await;
        assert_eq!(shown(&life).await, after, "{faults}");
        life.close().await;
    }
}
