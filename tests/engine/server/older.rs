//! Two versions of the program: the newer server has the sessions of the older one, and takes them over when nothing runs
//! there any more.

use super::world::World;
use super::{is_answer, is_turn_end};
use crate::life::DEADLINE;
use deskbell_tests::real_cli::process;
use deskbell_tests::relay::text_of;
use serde_json::{Value, json};

const OLDER: &str = "0.0.9";

fn is_request(line: &Value) -> bool {
    line["type"] == "permissionRequested"
}

fn is_snapshot(line: &Value) -> bool {
    line["type"] == "snapshot"
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newer_server_takes_over_an_idle_one_at_its_start() {
    let Some(mut world) = World::new() else { return };
    world.version = Some(OLDER);
    let mut older = world.attach().await;
    let idle = older.open().await;
    older.attach(&idle, None).await;
    older.prompt(&idle, "p", "SAY before").await;
    older.until("end of the turn", is_turn_end).await;
    let older_pid = older.server_pid;
    older.kill().await;

    world.version = None;
    let mut newest = world.attach().await;
    process::ended(older_pid, DEADLINE).await.unwrap();
    assert_eq!(newest.hello["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(newest.hello["sessions"][0]["id"], idle);
    newest.attach(&idle, None).await;
    newest.prompt(&idle, "p", "RECALL").await;
    let answer = newest.until("answer", is_answer).await;
    assert!(text_of(&answer["item"]["body"]).contains("SAY before"), "the conversation continues: {answer}");
    newest.until("end of the turn", is_turn_end).await;
    world.end(newest).await;
}

/// A session that was busy at the update: its card can be answered, its queue and its title are there, and the session
/// moves to the newer server at its end. A server that is killed leaves its sessions to the newer one as well.
#[tokio::test(flavor = "multi_thread")]
async fn a_busy_session_of_an_older_server_is_used_in_the_newer_one_and_moves_there() {
    let Some(mut world) = World::new() else { return };
    world.version = Some("0.0.8");
    let mut oldest = world.attach().await;
    let killed = oldest.open().await;
    oldest.attach(&killed, None).await;
    oldest.prompt(&killed, "p", "SAY on it\nWAIT").await;
    oldest.until("answer", is_answer).await;
    let oldest_pid = oldest.server_pid;
    drop(oldest);
    world.version = Some(OLDER);
    let mut older = world.attach().await;
    assert_eq!(older.hello["sessions"][0]["id"], killed, "the sessions of the oldest are listed");
    let busy = older.open().await;
    older.attach(&busy, None).await;
    older.command(&busy, "t", json!({"type": "rename", "title": "Tide table"})).await;
    older.answer_to("t").await;
    older.prompt(&busy, "p", "TOOL Bash {\"command\": \"touch a.txt\"}\nSAY done").await;
    older.until("request", is_request).await;
    older.prompt(&busy, "q", "SAY queued").await;
    older.answer_to("q").await;
    let older_pid = older.server_pid;
    older.kill().await;

    world.version = None;
    let mut newest = world.attach().await;
    assert!(process::is_running(older_pid), "something runs in it");
    let listed = newest.hello["sessions"].as_array().unwrap();
    let row = listed.iter().find(|one| one["id"] == busy).expect("it is listed");
    assert_eq!(
        (&row["title"], &row["nRequests"], &row["nQueued"]),
        (&json!("Tide table"), &json!(1), &json!(1))
    );
    assert!(listed.iter().any(|one| one["id"] == killed), "{listed:?}");
    let list = world.run(&["--list"]).await;
    assert_eq!(list.matches(&busy).count(), 1, "{list}");

    newest.attach(&busy, None).await;
    let shown = newest.until("snapshot", is_snapshot).await;
    let session = &shown["snapshot"]["session"];
    assert_eq!(session["olderServer"], OLDER);
    let request = &session["requests"][0];
    let decide = json!({"type": "decide", "requestId": request["id"], "shown": request["shown"],
                        "decision": {"type": "allowOnce"}});
    newest.command(&busy, "a", decide).await;
    newest.until("end of the turn", is_turn_end).await;
    let answer = newest.until("answer to what was queued", is_answer).await;
    assert_eq!(text_of(&answer["item"]["body"]), "queued");
    // The second turn is over, and nothing runs there.
    process::ended(older_pid, DEADLINE).await.unwrap();
    let moved = newest
        .until("snapshot", |line| is_snapshot(line) && line["snapshot"]["session"]["olderServer"].is_null())
        .await;
    assert_eq!(moved["snapshot"]["session"]["title"], "Tide table");
    newest.prompt(&busy, "r", "RECALL").await;
    let answer = newest.until("answer", is_answer).await;
    assert!(text_of(&answer["item"]["body"]).contains("SAY queued"), "the conversation continues: {answer}");
    newest.until("end of the turn", is_turn_end).await;

    newest.attach(&killed, None).await;
    process::kill(oldest_pid).unwrap();
    let moved = newest.until("the session of a killed server", |line| {
        is_snapshot(line)
            && line["sessionId"] == killed
            && line["snapshot"]["session"]["olderServer"].is_null()
    });
    assert_eq!(moved.await["snapshot"]["session"]["queue"][0]["cutOff"], true);
    world.end(newest).await;
}
