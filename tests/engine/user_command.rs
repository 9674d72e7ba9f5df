//! The user's own commands, with real processes.

use deskbell_engine::api::UserCommand;
use deskbell_engine::bell::BellEvent;
use deskbell_engine::user_command::{CommandFailure, Facts, UserCommands};
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn facts(text: &str) -> Facts {
    Facts {
        event: BellEvent::NeedsYou,
        project: "/home/ines/ledger".to_owned(),
        session: "s1".to_owned(),
        title: "Round $(half) to even".to_owned(),
        text: text.to_owned(),
    }
}

fn shell(script: &str) -> UserCommand {
    UserCommand { program: "/bin/sh".to_owned(), args: vec!["-c".to_owned(), script.to_owned()] }
}

#[tokio::test]
async fn a_command_gets_the_facts_in_its_environment_and_its_arguments_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut command = shell(&format!(
        "printf '%s\\n' \"$@\" > '{}'; env | grep ^DESKBELL_ | grep -v ^DESKBELL_TEST | sort >> '{0}'",
        out.display()
    ));
    command.args.extend(["name", "two words", "$HOME;`id`", ""].map(str::to_owned));
    let commands = UserCommands::new(UserCommands::DEADLINE);
    assert!(commands.run(&command, &facts("--Wants to run `rm -rf`; \"x\"")).await.is_none());
    let text = fs::read_to_string(out).unwrap();
    let expected = "two words\n$HOME;`id`\n\nDESKBELL_EVENT=needsYou\nDESKBELL_PROJECT=/home/ines/ledger\n\
                    DESKBELL_SESSION=s1\nDESKBELL_TEXT=--Wants to run `rm -rf`; \"x\"\nDESKBELL_TITLE=Round $(half) to even\n";
    assert_eq!(text, expected);
}

#[tokio::test]
async fn a_failure_is_reported_once_until_the_command_works() {
    let folder = tempfile::tempdir().unwrap();
    let works = folder.path().join("works");
    let command = shell(&format!("test -e '{}' || {{ echo 'no network' >&2; exit 3; }}", works.display()));
    let commands = UserCommands::new(UserCommands::DEADLINE);
    let failure = commands.run(&command, &facts("a")).await.unwrap().to_string();
    assert!(failure.contains('3') && failure.ends_with(": no network"), "{failure}");
    assert!(commands.run(&command, &facts("b")).await.is_none());
    fs::write(&works, "").unwrap();
    assert!(commands.run(&command, &facts("c")).await.is_none());
    fs::remove_file(&works).unwrap();
    assert!(commands.run(&command, &facts("d")).await.is_some());
    let missing = UserCommand { program: "/no/such/program".to_owned(), args: Vec::new() };
    assert!(matches!(commands.run(&missing, &facts("e")).await, Some(CommandFailure::Spawn(_))));
}

#[tokio::test]
async fn a_command_that_hangs_is_stopped_with_what_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let command = shell(&format!("sleep 300 & echo $! > '{}'; wait", pid.display()));
    let commands = UserCommands::new(Duration::from_millis(500));
    let failure = commands.run(&command, &facts("a")).await;
    assert!(matches!(failure, Some(CommandFailure::TimedOut(_))), "{failure:?}");
    let pid = fs::read_to_string(pid).unwrap();
    let gone = || {
        fs::read_to_string(format!("/proc/{}/stat", pid.trim())).map_or(true, |stat| stat.contains(") Z "))
    };
    let began = Instant::now();
    while !gone() {
        assert!(began.elapsed() < Duration::from_secs(60), "{pid} is still running");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn much_output_and_a_process_that_stays_hold_nothing_up() {
    let commands = UserCommands::new(UserCommands::DEADLINE);
    let noisy = shell("head -c 5000000 /dev/zero >&2; head -c 5000000 /dev/zero");
    assert!(commands.run(&noisy, &facts("a")).await.is_none());
    // It keeps the error output open, and is the user's own business.
    let began = Instant::now();
    assert!(commands.run(&shell("sleep 60 & exit 0"), &facts("b")).await.is_none());
    assert!(began.elapsed() < UserCommands::DEADLINE, "{:?}", began.elapsed());
}

#[tokio::test]
async fn only_a_few_run_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let commands = Arc::new(UserCommands::new(UserCommands::DEADLINE));
    // Each waits until the test opens the pipe.
    let waits = shell(&format!("cat '{}'", fifo.display()));
    let running: Vec<_> = (0..4)
        .map(|n| {
            let (commands, waits) = (commands.clone(), waits.clone());
            tokio::spawn(async move { commands.run(&waits, &facts(&n.to_string())).await })
        })
        .collect();
    while commands.n_free() > 0 {
        tokio::task::yield_now().await;
    }
    assert!(matches!(commands.run(&shell("true"), &facts("more")).await, Some(CommandFailure::Busy)));
    for task in running {
        task.abort();
    }
}
