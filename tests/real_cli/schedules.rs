//! Turns that the agent planned, and the events of monitors: they begin turns without a prompt, and keep the process
//! alive.

use super::hibernation;
use anyhow::{Context, Result, ensure};
use deskbell_engine::api::{Body, Event, Outcome};
use deskbell_engine::session::Subscriber;
use deskbell_tests::real_cli::{CliChild, World};
use deskbell_tests::relay::{DEADLINE, Relay, outcome};
use serde_json::{Value, json};
use tokio::sync::mpsc;

/// The words of the last call of this tool, with its state.
fn words(relay: &Relay, tool: &str) -> Option<String> {
    let items = relay.items();
    let call = items.iter().rev().map(|item| &item["body"]).find(|body| body["tool"] == tool)?;
    let text = |key: &str| call[key].as_str().unwrap_or_default().to_owned();
    Some(format!("{} {} ({})", text("verb"), text("subject"), text("state")))
}

/// Waits for the end of a turn without a prompt.
async fn unasked(relay: &mut Relay) -> Result<()> {
    let is_unasked = |event: &Value| event["type"] == "turnEnded" && event["turn"]["promptIds"] == json!([]);
    let ended = relay.next_event("the end of a turn without a prompt", DEADLINE, is_unasked).await?;
    ensure!(outcome(&ended["turn"])? == Outcome::Done, "{ended}");
    Ok(())
}

pub async fn planned_turns_are_listed_until_they_are_cancelled() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &["--trust"])?;
    let job = json!({"cron": "7 3 * * *", "prompt": "SAY good morning", "recurring": true});
    let wake_up = json!({"delaySeconds": 3600, "reason": "the build is slow", "prompt": "SAY up"});
    let plan =
        format!("TOOL CronCreate {job}\nTOOL ScheduleWakeup {wake_up}\nTOOL CronList {{}}\nSAY planned");
    relay.turn(&plan).await?;
    let planned = relay.session_where("both", |session| session["scheduled"][1].is_object()).await?;
    let [first, second] = [0, 1].map(|at| planned["scheduled"][at].clone());
    ensure!(first["kind"] == "job" && first["repeats"] == true, "{first}");
    ensure!(first["prompt"] == "SAY good morning" && first["nextAt"].is_u64(), "{first}");
    ensure!(first["times"].as_str().is_some_and(|times| times.contains("3:07 AM")), "{first}");
    ensure!(second["kind"] == "wakeUp" && second["prompt"] == "SAY up", "{second}");
    let shown =
        ["CronCreate", "ScheduleWakeup", "CronList"].map(|tool| words(&relay, tool).unwrap_or_default());
    let expected = [
        "Scheduled a job: SAY good morning (succeeded)",
        "Planned a wake-up: the build is slow (succeeded)",
        "Listed the scheduled jobs (succeeded)",
    ];
    ensure!(shown == expected, "{shown:?}");

    let id = first["id"].as_str().context("an id")?;
    let stop = json!({"stop": true});
    let cancel = format!("TOOL CronDelete {}\nTOOL ScheduleWakeup {stop}\nSAY cancelled", json!({"id": id}));
    relay.turn(&cancel).await?;
    relay.session_where("none", |session| session["scheduled"] == json!([])).await?;
    let shown = ["CronDelete", "ScheduleWakeup"].map(|tool| words(&relay, tool).unwrap_or_default());
    let cancelled = format!("Cancelled the scheduled job {id} (succeeded)");
    ensure!(
        shown == [cancelled.as_str(), "Planned a wake-up: none, the agent is done (succeeded)"],
        "{shown:?}"
    );
    relay.close().await
}

/// The CLI alone, as the canary, starts a turn for a job whose time has passed. Both folders have the same schedule.
pub async fn the_schedule_of_a_restricted_folder_starts_no_turn() -> Result<()> {
    let job = json!({
        "id": "abc12345", "cron": "* * * * *", "prompt": "SAY the folder says so", "recurring": false,
        "createdAt": 1_700_000_000_000_u64,
    });
    let schedule = json!({"tasks": [job]}).to_string();
    let (world, elsewhere) = (World::new().await?, World::new().await?);
    for world in [&world, &elsewhere] {
        std::fs::create_dir(world.project.join(".claude"))?;
        std::fs::write(world.project.join(".claude/scheduled_tasks.json"), &schedule)?;
    }
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("SAY one").await?;
    let mut canary = CliChild::spawn(&elsewhere, &[])?;
    canary.prompt("SAY one").await?;
    let is_job =
        |line: &Value| line["type"] == "assistant" && line.to_string().contains("the folder says so");
    canary.next("the turn of the schedule", is_job).await?;
    canary.close().await?;

    relay.turn("SAY two").await?;
    ensure!(relay.answers() == ["one", "two"], "{:?}", relay.answers());
    relay.close().await
}

pub async fn a_monitor_is_shown_as_one_and_each_of_its_turns_says_so() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    let wait = |file: &str| format!("until [ -e {file} ]; do sleep 0.05; done");
    let command = format!("{}; echo an event; {}", wait("event"), wait("end"));
    let call =
        json!({"command": command, "description": "the log", "timeout_ms": 60_000, "persistent": false});
    relay.turn_allowing_all(&format!("TOOL Monitor {call}\nSAY watching")).await?;
    let is_monitor = |session: &Value| session["background"][0]["kind"] == "monitor";
    let session = relay.session_where("a monitor", is_monitor).await?;
    ensure!(session["background"][0]["description"] == "the log", "{session}");
    let shown = words(&relay, "Monitor");
    ensure!(shown.as_deref() == Some("Watching in the background: the log (background)"), "{shown:?}");
    relay
        .session_where("work in the background", |session| session["status"]["type"] == "background")
        .await?;

    std::fs::write(world.file("event"), "")?;
    unasked(&mut relay).await?;
    let head = "info: The monitor “the log” started this turn";
    ensure!(relay.notices() == [head], "{:?}", relay.notices());
    std::fs::write(world.file("end"), "")?;
    unasked(&mut relay).await?;
    let notices = relay.notices();
    ensure!(notices.len() == 2 && notices[0] == head, "{notices:?}");
    ensure!(notices[1].starts_with("info: Background task completed: "), "{notices:?}");
    let shown = words(&relay, "Monitor");
    ensure!(shown.as_deref() == Some("Watched in the background: the log (succeeded)"), "{shown:?}");
    relay.close().await
}

/// The CLI plans for whole minutes, so this takes up to two of them. The process would hibernate after three seconds.
pub async fn planned_turns_begin_in_an_idle_process_which_hibernates_after_the_last() -> Result<()> {
    let world = World::new().await?;
    let session = hibernation::open(&world, &format!("schedules.{}", std::process::id()));
    let (sender, mut events) = mpsc::channel(64);
    session.subscribe(Subscriber::Every(sender)).await.context("listening")?;
    let job = json!({"cron": "* * * * *", "prompt": "SAY the job ran", "recurring": false});
    let wake_up = json!({"delaySeconds": 60, "reason": "a look at the build", "prompt": "SAY I woke up"});
    let text = format!("TOOL CronCreate {job}\nTOOL ScheduleWakeup {wake_up}\nSAY planned");
    hibernation::turn(&session, &mut events, &text).await?;
    ensure!(session.snapshot().await?.session.scheduled.len() == 2);

    let mut n_turns = 0;
    loop {
        match events.recv().await.context("the session ended")?.event {
            Event::TurnEnded { turn } => {
                ensure!(turn.prompt_ids.is_empty() && turn.outcome == Outcome::Done, "{turn:?}");
                n_turns += 1;
            }
            Event::AgentExited { .. } => break,
            _ => {}
        }
    }
    ensure!(n_turns == 2, "it hibernated after {n_turns} of two planned turns");
    let snapshot = session.snapshot().await.context("asking for the items")?;
    ensure!(snapshot.session.scheduled.is_empty(), "{:?}", snapshot.session.scheduled);
    let notices = snapshot.items.iter().filter_map(|item| match &item.body {
        Body::Notice { text, .. } => Some(text.as_str()),
        _ => None,
    });
    let heads: Vec<&str> = notices.collect();
    let mut expected =
        ["A scheduled job started this turn", "A wake-up that the agent planned started this turn"];
    expected.sort_by_key(|head| heads.iter().position(|text| text == head));
    ensure!(heads == expected, "{heads:?}");
    drop(events);
    session.close().await.context("closing")
}
