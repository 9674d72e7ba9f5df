//! The agent's environment when Deskbell's own is minimal or was made for another program.

use crate::life::Setup;
use deskbell_claude::SESSION_VARIABLES;
use serde_json::Value;
use std::process::Command;

/// Set in the process with the minimal environment: this test's own program, run once more.
const OUTER: &str = "ENGINE_TEST_OUTER";

/// What the runtime of an AppImage sets.
const OF_APP_IMAGE: [&str; 4] = ["APPIMAGE", "APPDIR", "ARGV0", "OWD"];

#[test]
fn a_poor_environment_is_completed_and_a_foreign_one_is_stripped() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(home.path().join(".local/bin")).unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "environment::told_by_the_agent", "--ignored", "--nocapture"])
        .env_clear()
        .envs([("PATH", "/usr/bin:/bin"), (OUTER, "1"), ("CLAUDECODE", "1"), ("CLAUDECODE_SSE_PORT", "1234")])
        .envs([("DESKBELL_RUN", "another"), ("DESKBELL_AGENT", "another"), ("LANG", "C")])
        .envs(OF_APP_IMAGE.map(|name| (name, "/tmp/.mount/deskbell")))
        .envs(SESSION_VARIABLES.map(|name| (name, "another")))
        .env("HOME", home.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let told = text.lines().find_map(|line| line.strip_prefix("told: ")).unwrap();
    let told: Vec<String> = serde_json::from_str(told).unwrap();
    let (told, foreign) = told.split_at(told.len() - OF_APP_IMAGE.len() - SESSION_VARIABLES.len());
    assert!(foreign.iter().all(|value| value == "(unset)"), "{foreign:?}");
    let [path, claudecode, port, agent, run, lang, home_told] = told else { panic!("{told:?}") };
    assert!(path.starts_with("/usr/bin:/bin:"), "what was there stays in front: {path}");
    let local = home.path().join(".local/bin").display().to_string();
    assert!(path.split(':').any(|directory| directory == local), "{path}");
    assert_eq!([claudecode, port, agent], ["(unset)"; 3]);
    assert_ne!(run, "another");
    assert!(run.ends_with(".0"), "the run token of its own start: {run}");
    assert_eq!((&lang[..], &home_told[..]), ("C", home.path().to_str().unwrap()));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "is run by the test above, with an environment of its own"]
async fn told_by_the_agent() {
    if std::env::var_os(OUTER).is_none() {
        return;
    }
    let names =
        ["PATH", "CLAUDECODE", "CLAUDECODE_SSE_PORT", "DESKBELL_AGENT", "DESKBELL_RUN", "LANG", "HOME"];
    let mut life = Setup::demo().open().await;
    let names = [&names[..], &OF_APP_IMAGE, &SESSION_VARIABLES].concat();
    life.turn(&names.iter().map(|name| format!("ENV {name}")).collect::<Vec<_>>().join("\n")).await;
    println!("told: {}", Value::from(life.answers().await));
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_agent_works_in_the_project_with_its_limits() {
    let mut life = Setup::demo().open().await;
    life.turn("CWD\nARGS").await;
    let answers = life.answers().await;
    assert_eq!(answers[0], life.setup.project().canonicalize().unwrap().to_str().unwrap());
    for argument in ["--setting-sources=user", "--strict-mcp-config", "--permission-prompt-tool=stdio"] {
        assert!(answers[1].contains(argument), "{answers:?}");
    }
    life.close().await;
}
