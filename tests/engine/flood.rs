//! Unlimited error output: its end is kept, and it never blocks the rest.

use crate::life::Setup;

/// The part of the error output that is kept.
const TAIL: usize = 16 * 1024;

#[tokio::test(flavor = "multi_thread")]
async fn ten_megabytes_of_error_output_stop_nothing() {
    let mut life = Setup::demo().open().await;
    life.turn("STDERR_FLOOD 10000000\nSTDERR the last words\nSAY done").await;
    assert_eq!(life.answers().await, ["done"]);
    life.prompt("CRASH 3").await;
    let report = life.exit().await;
    assert_eq!(report.code, Some(3));
    assert!(report.stderr.len() <= TAIL && report.stderr.ends_with("the last words"), "{}", report.stderr);
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_megabytes_of_error_output_without_a_line_stop_nothing() {
    let script = r#"
        head -c 10000000 /dev/zero | tr '\0' e >&2
        ready; hear; hear
        head -c 10000000 /dev/zero | tr '\0' f >&2
        say done; result; until_end_of_input"#;
    let mut life = Setup::shell(script).open().await;
    life.turn("speak").await;
    assert_eq!(life.answers().await, ["done"]);
    life.command(deskbell_engine::api::Command::Stop).await.unwrap();
    let report = life.exit().await;
    assert_eq!(report.stderr, "f".repeat(TAIL));
    life.close().await;
}

/// Each of the three pipes is full, and the agent writes before it reads.
#[tokio::test(flavor = "multi_thread")]
async fn three_full_pipes_are_no_deadlock() {
    let n_out = 8 << 20;
    let prompt = "p".repeat(4 << 20);
    let script = r#"
        head -c 1048576 /dev/zero | tr '\0' e >&2
        ready
        printf '%s' '{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"'
        head -c 8388608 /dev/zero | tr '\0' x
        printf '%s\n' '"}]}}'
        head -c 1048576 /dev/zero | tr '\0' e >&2
        sed -n '2{p;q}' | wc -c > heard
        result; until_end_of_input"#;
    let mut life = Setup::shell(script).open().await;
    life.turn(&prompt).await;
    assert_eq!(life.answers().await.iter().map(String::len).collect::<Vec<_>>(), [n_out]);
    let heard: usize = std::fs::read_to_string(life.path("heard")).unwrap().trim().parse().unwrap();
    assert!(heard > prompt.len(), "{heard}");
    life.close().await;
}
