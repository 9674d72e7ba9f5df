//! Machines that are set up in odd ways, over real ssh: each works, or says what to do.

use super::far::Far;
use super::faults::nothing_survives;
use super::{is_answer, is_turn_end};
use crate::app_killed::SOON;
use crate::leftovers::nothing_runs;
use deskbell_tests::relay::text_of;
use deskbell_tests::sshd;
use serde_json::json;
use std::path::Path;

/// A turn there, and its end.
async fn works(far: Far) {
    let mut client = far.attach().await;
    let session = client.open().await;
    client.attach(&session, None).await;
    client.prompt(&session, "p", "SAY far away").await;
    let answer = client.until("answer", is_answer).await;
    assert_eq!(text_of(&answer["item"]["body"]), "far away");
    client.until("the end of the turn", is_turn_end).await;
    far.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn start_files_of_every_kind_do_not_matter_over_real_ssh() {
    let mut start_files = vec![
        "echo Welcome; printf noise\n".to_owned(),
        // Only this file has the PATH.
        "export PATH=$HOME/bin:/usr/bin:/bin\n".to_owned(),
        // Nothing is there that the script needs but what a shell finds by itself.
        "trap 'echo bye' EXIT; set -o noclobber\n".to_owned(),
    ];
    // Not fish: it reads all of its input before it runs the first command.
    for shell in ["/usr/bin/zsh", "/usr/bin/dash"] {
        if Path::new(shell).exists() {
            start_files.push(format!("exec {shell}\n"));
        }
    }
    for start_file in start_files {
        let Some(far) = Far::by_ssh(&start_file).await else { return };
        println!("{start_file}");
        assert!(!far.world.root().join(".profile").exists(), "there is no such file");
        works(far).await;
    }
}

/// What Deskbell says of a machine with this start file, on which it cannot start.
async fn refusal(start_file: &str) -> Option<(Far, String)> {
    let far = Far::by_ssh(start_file).await?;
    let output = far.run(&["relay", "--list"]).await;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(255), "{said}");
    Some((far, said))
}

/// A limit for the size of files stops the copy as a full disk does.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_said_with_the_way_out_over_real_ssh() {
    let Some((far, said)) = refusal("trap '' XFSZ; ulimit -f 1000\n").await else { return };
    assert!(said.contains("could not write to"), "{said}");
    assert!(said.contains("Free space on that machine, or set XDG_DATA_HOME there"), "{said}");
    assert!(far.copies().is_empty(), "{:?}", far.copies());
}

/// Nothing can be made in this home, not even by the superuser.
#[tokio::test(flavor = "multi_thread")]
async fn a_home_that_cannot_be_written_to_is_said_with_the_way_out_over_real_ssh() {
    let Some((_far, said)) = refusal("export HOME=/proc XDG_DATA_HOME=\n").await else { return };
    assert!(said.contains("could not make /proc/.local/share/deskbell/relay"), "{said}");
    assert!(said.contains("set XDG_DATA_HOME there to a folder that can be written to"), "{said}");
}

/// A machine that ends everything of its user at the end of the connection, as logind does with `KillUserProcesses`.
#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_ends_what_is_detached_keeps_the_prompts_over_real_ssh() {
    let Some(far) = Far::by_ssh("").await else { return };
    let mut client = far.attach().await;
    let (session, run) = (client.open().await, client.run.clone());
    client.attach(&session, None).await;
    client.prompt(&session, "first", "SAY on it\nWAIT").await;
    client.until("answer", is_answer).await;
    client.prompt(&session, "second", "SAY second").await;
    assert_eq!(client.answer_to("second").await["type"], "accepted");
    client.kill().await;
    nothing_survives(&far.world.mark).await;
    nothing_runs(&far.world.mark, SOON).await;

    let mut client = far.attach().await;
    assert_ne!(client.run, run);
    client.attach(&session, None).await;
    let snapshot = client.until("snapshot", |line| line["type"] == "snapshot").await;
    let queue = &snapshot["snapshot"]["session"]["queue"];
    assert_eq!((&queue[0]["cutOff"], &queue[1]["text"]), (&json!(true), &json!("SAY second")));
    client.command(&session, "go", json!({"type": "resend", "promptId": queue[1]["id"]})).await;
    let answer = client.until("answer", is_answer).await;
    assert_eq!(text_of(&answer["item"]["body"]), "second", "on {}", sshd::HOST);
    client.until("the end of the turn", is_turn_end).await;
    far.end(client).await;
}
