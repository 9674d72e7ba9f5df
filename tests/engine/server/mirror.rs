//! The engine's own client of a server: what a window has of a session that it does not run itself.

use super::world::World;
use crate::life::DEADLINE;
use deskbell_engine::acp::ChosenAgent;
use deskbell_engine::api::server::NewSession;
use deskbell_engine::api::*;
use deskbell_engine::patch;
use deskbell_engine::remote::ServerLink;
use deskbell_engine::session::{SessionHandle, Subscriber};
use deskbell_engine::trust::TrustStore;
use deskbell_tests::relay::text_of;
use deskbell_tests::window::eventually;
use rustix::process::{Pid, Signal, kill_process};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// A client process of the app, as far as sessions are concerned.
pub(super) struct Window {
    link: ServerLink,
    pub(super) session: SessionHandle,
    pids: Arc<Mutex<Vec<u32>>>,
}

impl Window {
    /// Opens a session of the demo agent in the server, which is started.
    pub(super) async fn begin(world: &World) -> Self {
        Self::begin_with(world, "demo").await
    }

    async fn begin_with(world: &World, agent: &str) -> Self {
        let (dial, pids) = world.dial();
        let link = ServerLink::open(dial);
        let agent = Some(agent.to_owned());
        let new = NewSession { project: world.project(), agent, ..NewSession::default() };
        let id = timeout(DEADLINE, link.new_session(new)).await.expect("an answer").unwrap();
        let session = SessionHandle::mirror(&link, id, PathBuf::from(world.project()));
        Self { link, session, pids }
    }

    /// Finds the only session of the server again.
    pub(super) async fn again(world: &World) -> Self {
        let (dial, pids) = world.dial();
        let link = ServerLink::open(dial);
        let mut listed = link.listed();
        let known =
            timeout(DEADLINE, listed.wait_for(Option::is_some)).await.expect("a list").unwrap().clone();
        let [summary] = &known.unwrap()[..] else { panic!("one session is in the server") };
        let session = SessionHandle::mirror(&link, summary.id.clone(), PathBuf::from(world.project()));
        Self { link, session, pids }
    }

    pub(super) async fn follow(&self) -> (Snapshot, mpsc::Receiver<Envelope>) {
        let (sender, events) = mpsc::channel(64);
        let subscribed = timeout(DEADLINE, self.session.subscribe(Subscriber::Every(sender))).await;
        (subscribed.expect("a snapshot").unwrap(), events)
    }

    async fn prompt(&self, text: &str) {
        let (text, attachments) = (text.to_owned(), Vec::new());
        let command = Command::Prompt { text, attachments, delivery: Delivery::default() };
        timeout(DEADLINE, self.session.command(command)).await.expect("an answer").unwrap();
    }

    /// Kills the process that carries the link now.
    fn break_link(&self) {
        let pid = *self.pids.lock().unwrap().last().expect("a connection");
        // It may have ended by itself.
        let _ = kill_process(Pid::from_raw(pid as i32).unwrap(), Signal::KILL);
    }
}

async fn next(events: &mut mpsc::Receiver<Envelope>) -> Event {
    timeout(DEADLINE, events.recv()).await.expect("an event").expect("the session goes on").event
}

pub(super) async fn until<T>(
    events: &mut mpsc::Receiver<Envelope>,
    mut wanted: impl FnMut(Event) -> Option<T>,
) -> T {
    loop {
        if let Some(found) = wanted(next(events).await) {
            return found;
        }
    }
}

fn is_turn_end(event: &Event) -> bool {
    matches!(event, Event::TurnEnded { .. })
}

/// The words of the last answer.
fn last_answer(items: &[Item]) -> Vec<String> {
    let text = items.iter().rev().find(|item| matches!(item.body, Body::Text { .. })).expect("an answer");
    let body = serde_json::to_value(&text.body).unwrap();
    text_of(&body).split_whitespace().map(str::to_owned).collect()
}

fn expected(n_words: usize) -> Vec<String> {
    (0..n_words).map(|nr| format!("word{nr}")).collect()
}

/// What the server itself has, through a client that was never interrupted.
pub(super) async fn of_server(world: &World) -> Snapshot {
    timeout(DEADLINE, Window::again(world).await.session.snapshot()).await.expect("a snapshot").unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_goes_on_without_its_window_and_the_next_window_has_all_of_it() {
    let Some(world) = World::new() else { return };
    let window = Window::begin(&world).await;
    let (_, mut events) = window.follow().await;
    window.prompt("SLOW 20 120 word").await;
    for _ in 0..12 {
        next(&mut events).await;
    }
    window.break_link();
    drop((events, window));
    let window = Window::again(&world).await;
    let (snapshot, mut events) = window.follow().await;
    assert_eq!(
        (snapshot.session.link, window.link.state()),
        (SessionLink::Connected, SessionLink::Connected)
    );
    let mut items = snapshot.items;
    if !items.iter().any(|item| matches!(item.body, Body::TurnEnd(_))) {
        loop {
            let event = next(&mut events).await;
            patch::apply(&mut items, &event);
            if is_turn_end(&event) {
                break;
            }
        }
    }
    assert_eq!(last_answer(&items), expected(120));
    assert_eq!(items, of_server(&world).await.items);
    // What events do not contain comes from the server.
    let answer = timeout(DEADLINE, window.session.query(LastAnswerQuery {}))
        .await
        .unwrap()
        .unwrap()
        .expect("an answer");
    assert_eq!(answer.split_whitespace().count(), 120);
    let found =
        timeout(DEADLINE, window.session.query(FindQuery { query: "word119".to_owned(), index: None }))
            .await
            .unwrap()
            .unwrap();
    assert_eq!(found.map(|found| found.count), Some(1));
    drop((events, window));
    let client = world.attach().await;
    world.end(client).await;
}

/// The processes are counted by the server, on its machine.
#[tokio::test(flavor = "multi_thread")]
async fn a_window_asks_what_the_processes_of_a_session_cost() {
    let Some(world) = World::new() else { return };
    let window = Window::begin(&world).await;
    let cost = async || {
        timeout(DEADLINE, window.session.mirrored().unwrap().query(ProcessesQuery {}))
            .await
            .expect("an answer")
            .unwrap()
    };
    assert_eq!(cost().await, None, "nothing runs before the first prompt");
    window.prompt("CHILD 600\nWAIT").await;
    // What was read is used for two seconds.
    let has_child = async || Ok(cost().await.filter(|cost| cost.n_processes >= 2));
    let known = eventually("the agent and its child", DEADLINE, has_child).await.unwrap();
    assert!(known.memory_bytes > 1 << 20, "{known:?}");
    timeout(DEADLINE, window.session.command(Command::Stop)).await.expect("an answer").unwrap();
    let is_gone = async || Ok(cost().await.is_none().then_some(()));
    eventually("the end of the agent", DEADLINE, is_gone).await.unwrap();
    drop(window);
    let client = world.attach().await;
    world.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_that_breaks_again_and_again_loses_and_doubles_no_event() {
    const N_FAULTS: usize = 25;
    let Some(world) = World::new() else { return };
    let window = Window::begin(&world).await;
    let (snapshot, mut events) = window.follow().await;
    let mut items = snapshot.items;
    window.prompt(&format!("SLOW 15 {} word", 20 * N_FAULTS)).await;
    let (mut n_links_lost, mut n_turns, mut seen) = (0, 0, Vec::new());
    let mut since = 0;
    while n_turns == 0 {
        let event = next(&mut events).await;
        match &event {
            Event::SessionChanged { session } => seen.extend(session.link.clone()),
            Event::TurnEnded { .. } => n_turns += 1,
            Event::BlocksChanged { .. } => since += 1,
            _ => {}
        }
        patch::apply(&mut items, &event);
        if since == 8 && n_links_lost < N_FAULTS {
            since = 0;
            n_links_lost += 1;
            window.break_link();
        }
    }
    println!("{n_links_lost} links were killed in one answer");
    assert!(n_links_lost >= 20, "{n_links_lost}");
    assert!(seen.contains(&SessionLink::Connecting) && seen.contains(&SessionLink::Connected), "{seen:?}");
    assert_eq!(last_answer(&items), expected(20 * N_FAULTS));
    assert_eq!(items, of_server(&world).await.items);
    drop(events);
    drop(window);
    let client = world.attach().await;
    world.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_permission_request_waits_for_the_next_window_and_is_answered_once() {
    let Some(world) = World::new() else { return };
    let window = Window::begin(&world).await;
    let (_, mut events) = window.follow().await;
    window.prompt("TOOL Bash {\"command\": \"touch a.txt\"}\nSAY done").await;
    let request = |event| match event {
        Event::PermissionRequested { request, .. } => Some(request),
        _ => None,
    };
    let first = until(&mut events, request).await;
    window.break_link();
    drop((events, window));
    // As the app does it: the summary of a session brings its open requests.
    let window = Window::again(&world).await;
    let (sender, mut summaries) = mpsc::unbounded_channel();
    timeout(DEADLINE, window.session.subscribe(Subscriber::Summary(sender))).await.unwrap().unwrap();
    let (_, mut events) = window.follow().await;
    let request = timeout(DEADLINE, async {
        loop {
            // The whole session comes first.
            if let Event::PermissionRequested { request, .. } = summaries.recv().await.unwrap().event {
                break request;
            }
        }
    });
    let request = request.await.expect("the request");
    assert_eq!((&request.id, &request.shown), (&first.id, &first.shown));
    let decide = || Command::Decide {
        request_id: request.id.clone(),
        shown: Some(request.shown.clone()),
        decision: Decision::AllowOnce { updated_input: None },
    };
    // The answer is given while the link is down, and goes out when it is back.
    window.break_link();
    timeout(DEADLINE, window.session.command(decide())).await.expect("an answer").unwrap();
    let second = timeout(DEADLINE, window.session.command(decide())).await.expect("an answer");
    assert_eq!(second.unwrap_err().code, ErrorCode::NoSuchRequest);
    until(&mut events, |event| is_turn_end(&event).then_some(())).await;
    assert!(window.session.snapshot().await.unwrap().session.requests.is_empty());
    timeout(DEADLINE, window.session.mirrored().unwrap().discard()).await.expect("an answer").unwrap();
    drop((events, window));
    let client = world.attach().await;
    assert_eq!(client.hello["sessions"], serde_json::json!([]));
    world.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_withdraws_its_requests_and_the_session_goes_on_in_the_next_one() {
    let Some(world) = World::new() else { return };
    let window = Window::begin(&world).await;
    let (_, mut events) = window.follow().await;
    window.prompt("TOOL Bash {\"command\": \"touch a.txt\"}\nSAY done").await;
    let asked = until(&mut events, |event| match event {
        Event::PermissionRequested { request, .. } => Some(request.id),
        _ => None,
    });
    let asked = asked.await;
    let client = world.attach().await;
    kill_process(Pid::from_raw(client.server_pid as i32).unwrap(), Signal::KILL).unwrap();
    drop(client);
    let withdrawn = until(&mut events, |event| match event {
        Event::PermissionResolved { request_id, resolution } => Some((request_id, resolution)),
        _ => None,
    });
    let (request_id, resolution) = withdrawn.await;
    assert_eq!(request_id, asked);
    assert!(matches!(resolution, Resolution::Withdrawn { .. }), "{resolution:?}");
    until(&mut events, |event| match event {
        Event::SessionChanged { session } if session.link == Some(SessionLink::Connected) => Some(()),
        _ => None,
    })
    .await;
    let session = window.session.snapshot().await.unwrap().session;
    assert!(session.requests.is_empty() && !session.alive, "{:?}", session.status);
    // Its prompt is held, as after a crash of the app, and a new one is answered by the next server.
    window.prompt("SAY again").await;
    until(&mut events, |event| is_turn_end(&event).then_some(())).await;
    let snapshot = window.session.snapshot().await.unwrap();
    assert_eq!(last_answer(&snapshot.items), ["again"]);
    drop((events, window));
    let client = world.attach().await;
    world.end(client).await;
}

fn requested(event: Event) -> Option<Box<PermissionRequest>> {
    match event {
        Event::PermissionRequested { request, .. } => Some(request),
        _ => None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_of_another_agent_outlives_its_window_and_its_option_is_the_answer() {
    let Some(world) = World::new() else { return };
    let window = Window::begin_with(&world, "demo-acp").await;
    let (_, mut events) = window.follow().await;
    window.prompt("SAY before\nRUN ls\nSAY after").await;
    let first = until(&mut events, requested).await;
    window.break_link();
    drop((events, window));
    let window = Window::again(&world).await;
    let (snapshot, mut events) = window.follow().await;
    let session = snapshot.session;
    assert_eq!((session.agent, &session.agent_name[..]), (AgentKind::Acp, "Demo agent (ACP)"));
    assert_eq!(session.agent_id.as_deref(), Some("demo-acp"), "trust and its page are found by it");
    assert_eq!(session.mode, "default", "the mode that asks was set before the prompt");
    let [request] = &session.requests[..] else { panic!("{:?}", session.requests) };
    assert_eq!((&request.id, &request.subject[..]), (&first.id, "ls"));
    let [always] = &request.suggestions[..] else { panic!("{:?}", request.suggestions) };
    let decision = Decision::AllowAlways { suggestion: serde_json::json!(always.id) };
    let (request_id, shown) = (request.id.clone(), Some(request.shown.clone()));
    let decide = Command::Decide { request_id, shown, decision };
    timeout(DEADLINE, window.session.command(decide)).await.expect("an answer").unwrap();
    until(&mut events, |event| is_turn_end(&event).then_some(())).await;
    let items = window.session.snapshot().await.unwrap().items;
    assert_eq!(last_answer(&items), ["after"]);
    let said = |item: &Item| text_of(&serde_json::to_value(&item.body).unwrap()).contains("From now on.");
    assert!(items.iter().any(said), "the agent was sent its own option");
    drop((events, window));
    let client = world.attach().await;
    world.end(client).await;
}

/// In the server nothing is asked: a folder that is trusted for Claude Code is not trusted for this agent.
#[tokio::test(flavor = "multi_thread")]
async fn another_agent_starts_in_the_server_as_was_decided_for_it() {
    let Some(world) = World::new() else { return };
    world.add_agent("opencode");
    let decisions = TrustStore::open(world.data.join("deskbell/trust")).unwrap();
    let trust = |agent: Option<&ChosenAgent>| {
        let (store, project) = (decisions.of_agent(agent), PathBuf::from(world.project()));
        let shown = store.view(&project).unwrap().fingerprint;
        store.decide(&project, TrustDecision::Trust, shown.as_deref()).unwrap();
    };
    trust(None);
    let window = Window::begin_with(&world, "opencode").await;
    let (snapshot, mut events) = window.follow().await;
    assert_eq!(snapshot.session.agent_id.as_deref(), Some("opencode"));
    window.prompt("SAY one").await;
    let failed = until(&mut events, |event| match event {
        Event::CommandFailed { error } => Some(error),
        _ => None,
    });
    assert_eq!(failed.await.message, "opencode starts only in a folder that you trust.");
    trust(ChosenAgent::row_of("opencode").as_ref());
    window.prompt("SAY two").await;
    until(&mut events, |event| is_turn_end(&event).then_some(())).await;
    let snapshot = window.session.snapshot().await.unwrap();
    assert!(!snapshot.session.restricted);
    assert_eq!(last_answer(&snapshot.items), ["two"]);
    drop((events, window));
    let client = world.attach().await;
    world.end(client).await;
}
