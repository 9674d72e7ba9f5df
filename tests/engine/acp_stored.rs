//! Sessions that another agent has stored: listed while it runs, opened, and refused when the agent lost one.

#![cfg(target_os = "linux")]

use crate::life::{DEADLINE, Life, Setup};
use crate::transcript::{answer, notice};
use deskbell_engine::acp::ChosenAgent;
use deskbell_engine::api::*;
use deskbell_engine::store::SavedSession;
use deskbell_engine::stored::{Catalogue, Follower, Store};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

fn agent(faults: &str) -> Setup {
    Setup::acp("qwen", faults).trusted()
}

/// A project's list, as a window follows it.
struct List {
    _follower: Follower,
    _stores: watch::Sender<Vec<Store>>,
    changes: mpsc::Receiver<StoredChange>,
}

impl List {
    fn of(setup: &Setup) -> Self {
        let (stores, of) = watch::channel(Vec::new());
        let agents = Some(setup.agent_sessions());
        let (follower, changes) = Follower::of_stores(of, setup.project(), None, agents);
        Self { _follower: follower, _stores: stores, changes }
    }

    /// The rows of the next change, by their id.
    async fn next(&mut self) -> Vec<StoredSession> {
        let change = timeout(DEADLINE, self.changes.recv()).await.expect("a change of the list").unwrap();
        let mut rows = change.changed;
        rows.sort_by(|a, b| a.agent_session_id.cmp(&b.agent_session_id));
        rows
    }
}

fn facts(rows: &[StoredSession]) -> Vec<(&str, &str, u64)> {
    rows.iter().map(|row| (&*row.agent_session_id, &*row.title, row.changed_at)).collect()
}

async fn started(faults: &str) -> (Life, List) {
    let life = agent(faults).open().await;
    let list = List::of(&life.setup);
    life.session().start().await.unwrap();
    (life, list)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sessions_of_the_project_are_listed_with_their_agent() {
    let (mut life, mut list) = started("list").await;
    let rows = list.next().await;
    assert_eq!(
        facts(&rows),
        [("stored-1", "Tidal tables", 1_767_398_400_500), ("stored-2", "Moon phases", 1_767_312_000_000)]
    );
    assert!(rows.iter().all(|row| row.agent.as_deref() == Some("Qwen Code") && row.live.is_none()));
    life.turn("SAY one").await;
    let setup = life.close().await;
    // They are listed without a process too.
    assert_eq!(List::of(&setup).next().await, rows);
    let elsewhere = setup.folder.path().join("elsewhere");
    assert_eq!(Catalogue::of_agents(setup.agent_sessions(), &elsewhere), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_values_are_cleaned_or_left_out() {
    let (mut life, mut list) = started("list-bad").await;
    let rows = list.next().await;
    let shown: Vec<(&str, String, u64)> = rows
        .iter()
        .map(|row| (&*row.agent_session_id, row.title.chars().take(30).collect(), row.changed_at))
        .collect();
    let untitled = || "Untitled session".to_owned();
    assert_eq!(
        shown,
        [
            ("../../escape", "Tidal[31m tables and more".to_owned(), 1_767_319_445_000),
            ("bare", untitled(), 0),
            ("future", untitled(), 0),
            ("no-date", "long ".repeat(6), 0),
            ("past", "Before 1970".to_owned(), 0),
        ]
    );
    assert!(rows.iter().all(|row| row.title.chars().count() <= 81));
    life.turn("SAY one").await;
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_fails_or_never_ends_holds_up_nothing() {
    for (faults, n_rows) in [
        ("list-endless", 20),
        ("list-half", 1),
        ("list-error", 0),
        ("list-login", 0),
        ("list-silent", 0),
        ("", 0),
    ] {
        let (mut life, mut list) = started(faults).await;
        life.turn("SAY one").await;
        if n_rows > 0 {
            assert_eq!(list.next().await.len(), n_rows, "{faults}");
        }
        let notices = life.notices().await;
        assert!(notices.is_empty(), "{faults}: {notices:?}");
        let setup = life.close().await;
        assert_eq!(Catalogue::of_agents(setup.agent_sessions(), &setup.project()).len(), n_rows, "{faults}");
    }
}

/// A session as it is opened from the list.
fn opened(faults: &str, id: &str) -> Setup {
    let mut setup = agent(faults);
    setup.memory = SavedSession {
        acp: ChosenAgent::row_of("qwen"),
        agent_session_id: Some(id.to_owned()),
        resumable: true,
        title: Some("Tidal tables".to_owned()),
        ..SavedSession::default()
    };
    setup
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listed_session_is_continued_in_a_process_of_its_own() {
    for faults in ["list", "list,no-resume,repeats-nothing"] {
        let mut life = opened(faults, "stored-1").open().await;
        let notices = life.snapshot().await.items.iter().filter_map(notice).collect::<Vec<_>>();
        let [awaited] = &notices[..] else { panic!("{faults}: {notices:?}") };
        assert!(awaited.starts_with("Earlier messages are shown when Qwen Code has started"), "{awaited}");
        life.turn("SAY one").await;
        let notices = life.snapshot().await.items.iter().filter_map(notice).collect::<Vec<_>>();
        let [missing] = &notices[..] else { panic!("{faults}: {notices:?}") };
        assert!(missing.starts_with("Earlier messages of this conversation cannot be shown"), "{missing}");
        life.turn("SAY two").await;
        let Snapshot { session, items, .. } = life.snapshot().await;
        assert_eq!(items.iter().filter_map(answer).collect::<Vec<_>>(), ["one", "two"], "{faults}");
        assert_eq!(session.agent_session_id.as_deref(), Some("stored-1"), "{faults}");
        assert_eq!((&session.title[..], session.agent), ("Tidal tables", AgentKind::Acp));
        life.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listed_session_that_the_agent_lost_is_refused_in_words_and_the_prompt_waits() {
    let mut life = opened("list,lost", "stored-1").open().await;
    life.prompt("SAY one").await;
    let session = life.facts("held prompt", |session| session.queue.iter().any(|one| one.held)).await;
    assert_eq!(session.queue.len(), 1);
    life.exit().await;
    let items = life.snapshot().await.items;
    let notices = items.iter().filter_map(notice).collect::<Vec<_>>().join("\n");
    assert!(notices.contains("no longer has this conversation"), "{notices}");
    life.close().await;
}
