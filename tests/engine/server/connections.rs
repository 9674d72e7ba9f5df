//! Connections as a window makes them: what ssh asks reaches the window, and only the window.

use super::far::{environment, put, relay_program};
use crate::app_killed::SOON;
use crate::leftovers::nothing_runs;
use crate::life::DEADLINE;
use crate::server::world::World;
use deskbell_engine::api::{ConnectionQuestionKind, FolderListing, Status};
use deskbell_sessions::far::{AskWindow, Asked, Connections, Far, FarError, Secret, Unanswered};
use deskbell_tests::sshd::{self, Sshd};
use deskbell_tests::suite::missing;
use deskbell_tests::wait::eventually;
use std::collections::BTreeSet;
use std::path::Path;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Nothing else is named like this.
const PASSPHRASE: &str = "correct-horse-9f31c";

/// A machine behind an ssh that asks, and the window's end of its questions.
struct Asking {
    world: World,
    bin: tempfile::TempDir,
    sshd: Option<Sshd>,
    connections: Connections,
    far: Far,
}

impl Asking {
    /// A real ssh, which does not know the host; the key has a passphrase.
    async fn by_ssh() -> Option<Self> {
        if !sshd::is_installed() {
            return missing("sshd is not installed");
        }
        let world = World::new()?;
        let sshd = Sshd::start_asking(&environment(&world), PASSPHRASE).await.unwrap();
        let bin = sshd.bin().to_owned();
        Some(Self::of(world, tempfile::tempdir().unwrap(), Some(sshd), &bin))
    }

    /// A program in the place of ssh, which asks as ssh does for a password, and then runs its last argument here.
    fn by_script(asks: &str) -> Option<Self> {
        let world = World::new()?;
        let bin = tempfile::tempdir().unwrap();
        let variables = environment(&world);
        let variables: Vec<String> =
            variables.iter().map(|(name, value)| format!("{name}='{value}'")).collect();
        let script = format!(
            "#!/bin/sh\nfor command; do :; done\nexport command\n\
             tr '\\0' '\\n' < /proc/$$/environ >> {bin}/saw; printf '%s\\n' \"$@\" >> {bin}/saw\n{asks}\n\
             exec env -i PATH=/usr/bin:/bin {variables} command=\"$command\" /bin/sh -c 'exec /bin/sh -c \"$command\"'\n",
            bin = bin.path().display(),
            variables = variables.join(" "),
        );
        put(&bin.path().join("ssh"), &script);
        let folder = bin.path().to_owned();
        Some(Self::of(world, bin, None, &folder))
    }

    fn of(world: World, bin: tempfile::TempDir, sshd: Option<Sshd>, first: &Path) -> Self {
        let path = format!("{}:{}", first.display(), std::env::var("PATH").unwrap_or_default());
        let connections = Connections::through(relay_program(), path.into());
        let far = Far { machine: sshd::HOST.parse().unwrap(), program: Some(relay_program()) };
        Self { world, bin, sshd, connections, far }
    }

    /// Lists the folders there. `answer` is what the window says to each question.
    async fn list(
        &self,
        answer: impl FnMut(&Asked) -> Option<&'static str>,
    ) -> (Result<FolderListing, FarError>, Vec<ConnectionQuestionKind>) {
        let command = ["folders".to_owned(), self.world.root().display().to_string()];
        let list = async |window| self.far.ask(&self.connections, Some(window), &command).await;
        self.answering(list, answer).await
    }

    /// Does something over a connection whose questions are answered so.
    async fn answering<T>(
        &self,
        connect: impl AsyncFnOnce(AskWindow) -> T,
        mut answer: impl FnMut(&Asked) -> Option<&'static str>,
    ) -> (T, Vec<ConnectionQuestionKind>) {
        let (window, mut questions) = mpsc::unbounded_channel::<Asked>();
        let asking = async {
            let mut kinds = Vec::new();
            while let Some(asked) = questions.recv().await {
                assert_eq!(asked.question.machine, sshd::HOST);
                kinds.push(asked.question.kind);
                let answer = answer(&asked).and_then(|answer| Secret::of(answer.to_owned()));
                // ssh may have ended meanwhile.
                drop(asked.reply.send(answer));
            }
            kinds
        };
        timeout(DEADLINE, async { tokio::join!(connect(window), asking) }).await.expect("it ends")
    }

    async fn end(self) {
        let mark = self.world.mark.clone();
        drop(self);
        nothing_runs(&mark, SOON).await;
    }
}

fn said(error: &FarError) -> String {
    let error = error.for_window(&sshd::HOST.parse().unwrap());
    format!("{}\n{}", error.message, error.detail.unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_key_and_a_passphrase_are_asked_for_over_real_ssh() {
    let Some(asking) = Asking::by_ssh().await else { return };
    let mut passphrases = ["wrong-horse", PASSPHRASE].into_iter();
    let mut texts = Vec::new();
    let (listing, kinds) = asking
        .list(|asked| {
            texts.push(asked.question.clone());
            match asked.question.kind {
                ConnectionQuestionKind::HostKey => Some("yes"),
                _ => passphrases.next(),
            }
        })
        .await;
    let root = asking.world.root().canonicalize().unwrap();
    assert_eq!(listing.unwrap().path, root.to_str().unwrap());
    use ConnectionQuestionKind::{HostKey, Secret};
    assert_eq!(kinds, [HostKey, Secret, Secret]);
    let fingerprint = texts[0].fingerprint.as_deref().unwrap();
    assert!(fingerprint.starts_with("SHA256:") && fingerprint.len() == 50, "{fingerprint}");
    assert!(texts[0].text.contains("127.0.0.1") && texts[0].text.contains(fingerprint), "{}", texts[0].text);
    assert!(texts[1].text.starts_with("Enter passphrase for key"), "{}", texts[1].text);
    assert_eq!([texts[1].is_again, texts[2].is_again], [false, true]);
    asking.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_key_that_is_refused_ends_the_connection_over_real_ssh() {
    let Some(asking) = Asking::by_ssh().await else { return };
    let (refused, kinds) = asking.list(|_| Some("no")).await;
    assert_eq!(kinds, [ConnectionQuestionKind::HostKey]);
    let refused = said(&refused.unwrap_err());
    assert!(refused.contains("Host key verification failed."), "{refused}");
    asking.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_question_is_not_asked_again_over_real_ssh() {
    let Some(asking) = Asking::by_ssh().await else { return };
    let (cancelled, kinds) =
        asking.list(|asked| (asked.question.kind == ConnectionQuestionKind::HostKey).then_some("yes")).await;
    use ConnectionQuestionKind::{HostKey, Secret};
    assert_eq!(kinds, [HostKey, Secret]);
    let cancelled = cancelled.unwrap_err();
    assert!(matches!(cancelled, FarError::Unanswered(Unanswered::Cancelled)), "{cancelled}");
    assert!(said(&cancelled).contains("The connection to box was not made.\nYou cancelled"), "{cancelled}");
    asking.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_window_ssh_asks_nothing_over_real_ssh() {
    let Some(asking) = Asking::by_ssh().await else { return };
    let command = ["folders".to_owned()];
    let refused = asking.far.ask::<FolderListing>(&asking.connections, None, &command);
    let refused = timeout(DEADLINE, refused).await.expect("it ends").unwrap_err();
    assert!(said(&refused).contains("Host key verification failed."), "{refused}");
    asking.end().await;
}

/// How ssh asks for a password, and tries it.
const PASSWORD: &str = "password=$(\"$SSH_ASKPASS\" \"me@box's password: \") || exit 255\n\
                        test \"$password\" = correct-horse-9f31c || { echo Permission denied >&2; exit 255; }\n\
                        unset password";

#[tokio::test(flavor = "multi_thread")]
async fn a_password_is_in_no_argument_and_in_no_variable() {
    let Some(asking) = Asking::by_script(PASSWORD) else { return };
    let (listing, kinds) = asking.list(|_| Some(PASSPHRASE)).await;
    listing.unwrap();
    assert_eq!(kinds, [ConnectionQuestionKind::Secret]);
    let saw = std::fs::read_to_string(asking.bin.path().join("saw")).unwrap();
    assert!(saw.contains("SSH_ASKPASS_REQUIRE=force") && !saw.contains(PASSPHRASE), "{saw}");
    asking.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_password_is_reported_and_not_repeated() {
    let Some(asking) = Asking::by_script(PASSWORD) else { return };
    let (refused, _) = asking.list(|_| Some("wrong-horse")).await;
    let refused = format!("{:?}{}", refused.as_ref().unwrap_err(), said(refused.as_ref().unwrap_err()));
    assert!(refused.contains("Permission denied") && !refused.contains("wrong-horse"), "{refused}");
    asking.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_to_touch_is_a_notice_that_goes_away() {
    // ssh ends it when the key was touched.
    let touch = "SSH_ASKPASS_PROMPT=none timeout 1 \"$SSH_ASKPASS\" 'Confirm user presence for key'";
    let Some(asking) = Asking::by_script(touch) else { return };
    let (window, mut questions) = mpsc::unbounded_channel::<Asked>();
    let asked = async {
        let asked = questions.recv().await.unwrap();
        assert_eq!(asked.question.kind, ConnectionQuestionKind::Notice);
        assert!(asked.gone.await.is_err());
        drop(asked.reply);
    };
    let command = ["folders".to_owned()];
    let listing = asking.far.ask::<FolderListing>(&asking.connections, Some(window), &command);
    let (listing, ()) = timeout(DEADLINE, async { tokio::join!(listing, asked) }).await.expect("it ends");
    listing.unwrap();
    asking.end().await;
}

impl Asking {
    /// The process that carries the shared connection of this ssh, by a connection that joined it.
    fn carrier(&self) -> String {
        let (all, joining) = (command_lines(), self.joining());
        let folders = all.iter().filter(|(pid, _)| joining.contains(pid)).map(|(_, line)| {
            let socket = line.split("-oControlPath=").nth(1).unwrap().split('\0').next().unwrap();
            socket.rsplit_once('/').unwrap().0
        });
        let carries = |folder: &str| {
            let is_it =
                |line: &str| line.starts_with("ssh: ") && line.contains(folder) && line.contains("[mux]");
            all.iter().find(|(_, line)| is_it(line)).map(|(pid, _)| pid.clone())
        };
        folders.into_iter().find_map(carries).unwrap()
    }

    /// The configuration that every ssh of this test has among its arguments.
    fn known(&self) -> String {
        self.sshd.as_ref().unwrap().bin().parent().unwrap().join("ssh_config").display().to_string()
    }

    /// The connections that join the shared one, by their processes.
    fn joining(&self) -> BTreeSet<String> {
        let known = self.known();
        let joins = |line: &str| line.contains(&known) && line.contains("-oControlMaster=no");
        command_lines().into_iter().filter(|(_, line)| joins(line)).map(|(pid, _)| pid).collect()
    }

    async fn list_with_passphrase(&self) -> (std::time::Duration, Vec<ConnectionQuestionKind>) {
        let begun = std::time::Instant::now();
        let (listing, kinds) = self.list(with_passphrase).await;
        listing.unwrap();
        (begun.elapsed(), kinds)
    }
}

/// The processes with their arguments, which end with zero bytes.
fn command_lines() -> Vec<(String, String)> {
    let all = std::fs::read_dir("/proc").unwrap();
    all.filter_map(|entry| {
        let pid = entry.ok()?.file_name().into_string().ok()?;
        let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).ok()?;
        Some((pid, line))
    })
    .collect()
}

fn send(signal: &str, pid: &str) {
    assert!(std::process::Command::new("kill").args([signal, pid]).status().unwrap().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_passphrase_is_asked_for_once_while_the_connection_is_shared_over_real_ssh() {
    let Some(asking) = Asking::by_ssh().await else { return };
    use ConnectionQuestionKind::{HostKey, Secret};
    let (first, kinds) = asking.list_with_passphrase().await;
    assert_eq!(kinds, [HostKey, Secret]);
    let mut took = Vec::new();
    for _ in 0..10 {
        let (time, kinds) = asking.list_with_passphrase().await;
        assert_eq!(kinds, [], "a shared connection asks nothing");
        took.push(time);
    }
    took.sort();
    eprintln!("first listing {first:?}, a later one {:?}", took[5]);
    // The link to the server joins too, although nothing can be asked for it.
    let attached = timeout(DEADLINE, asking.far.attach(&asking.connections, None)).await.expect("it ends");
    attached.unwrap();
    // Nothing is left of it when the app ends.
    timeout(DEADLINE, asking.connections.close()).await.expect("it ends");
    let (unshared, kinds) = asking.list_with_passphrase().await;
    assert_eq!(kinds, [Secret]);
    eprintln!("a listing with a connection of its own {unshared:?}");
    asking.connections.close().await;
    asking.stop_server();
    asking.end().await;
}

fn with_passphrase(asked: &Asked) -> Option<&'static str> {
    match asked.question.kind {
        ConnectionQuestionKind::HostKey => Some("yes"),
        _ => Some(PASSPHRASE),
    }
}

/// As the board asks a machine that is not connected: nothing is started there, and nothing is left of it.
#[tokio::test(flavor = "multi_thread")]
async fn a_machine_is_asked_once_what_runs_there_over_real_ssh() {
    let Some(asking) = Asking::by_ssh().await else { return };
    let sessions = async |window| asking.far.sessions(&asking.connections, Some(window), 7).await;
    let (refused, _) = asking.answering(&sessions, |_| None).await;
    assert!(matches!(refused, Err(FarError::Unanswered(Unanswered::Cancelled))), "{refused:?}");
    let (nothing, kinds) = asking.answering(&sessions, with_passphrase).await;
    assert_eq!(kinds, [ConnectionQuestionKind::HostKey, ConnectionQuestionKind::Secret]);
    let nothing = nothing.unwrap();
    assert_eq!((nothing.at, nothing.sessions, nothing.n_idle, nothing.problem), (7, Vec::new(), 0, None));
    assert_eq!(asking.servers(), Vec::<String>::new(), "a question starts no server");

    let mut client = asking.world.attach().await;
    let session = client.open().await;
    client.attach(&session, None).await;
    client.prompt(&session, "p", "TOOL Bash {\"command\": \"touch a\"}").await;
    client.until("request", |line| line["type"] == "permissionRequested").await;
    let (there, kinds) = asking.answering(&sessions, with_passphrase).await;
    let there = there.unwrap();
    assert_eq!(kinds, [], "the connection is still shared");
    let [found] = &there.sessions[..] else { panic!("{there:?}") };
    assert_eq!((found.session_id.as_str(), &found.project), (session.as_str(), &asking.world.project()));
    assert!(matches!(found.status, Some(Status::NeedsInput { .. })), "{found:?}");
    assert!(found.processes.is_some_and(|cost| cost.memory_bytes > 1 << 20), "{found:?}");

    let stop = async |window| asking.far.stop_all(&asking.connections, Some(window)).await;
    asking.answering(&stop, with_passphrase).await.0.unwrap();
    let (stopped, _) = asking.answering(&sessions, with_passphrase).await;
    let stopped = stopped.unwrap();
    assert_eq!((stopped.sessions, stopped.n_idle), (Vec::new(), 1));
    asking.connections.close().await;
    drop(client);
    asking.stop_server();
    asking.end().await;
}

/// The shared connection is dead, does not answer, or dies while another connection joins it. By itself ssh would go on with an
/// unshared one in the last case, and the next link, for which nothing can be asked, would be refused.
#[tokio::test(flavor = "multi_thread")]
async fn a_shared_connection_that_is_dead_or_frozen_is_left_over_real_ssh() {
    let Some(asking) = Asking::by_ssh().await else { return };
    asking.list_with_passphrase().await;
    for (signal, dies_later) in [("-KILL", false), ("-STOP", false), ("-STOP", true)] {
        let attached =
            timeout(DEADLINE, asking.far.attach(&asking.connections, None)).await.expect("it ends");
        let attached = attached.unwrap();
        let carrier = asking.carrier();
        let before = asking.joining();
        send(signal, &carrier);
        let dies = async {
            if dies_later {
                let joins = async || Ok(asking.joining().difference(&before).next().map(drop));
                eventually("a connection that joins", DEADLINE, joins).await.unwrap();
                send("-KILL", &carrier);
            }
        };
        let ((took, kinds), ()) = tokio::join!(asking.list_with_passphrase(), dies);
        assert_eq!(kinds, [ConnectionQuestionKind::Secret], "{signal}: it is a new connection");
        assert!(took < std::time::Duration::from_secs(20), "{signal}: {took:?}");
        drop(attached);
        if signal == "-STOP" && !dies_later {
            send("-KILL", &carrier);
        }
    }
    let attached = timeout(DEADLINE, asking.far.attach(&asking.connections, None)).await.expect("it ends");
    attached.unwrap();
    asking.connections.close().await;
    asking.stop_server();
    asking.end().await;
}

impl Asking {
    /// Ends the server that a link has started there.
    fn stop_server(&self) {
        for pid in self.servers() {
            let ended = std::process::Command::new("kill").arg(&pid).status().unwrap();
            assert!(ended.success());
        }
    }

    /// The process ids of the servers there.
    fn servers(&self) -> Vec<String> {
        let all = std::fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let is_server = |pid: &String| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let mark = self.world.mark.as_bytes();
            line.contains("--serve") && environment.windows(mark.len()).any(|part| part == mark)
        };
        all.filter(is_server).collect()
    }
}
