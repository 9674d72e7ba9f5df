//! `deskbell on`: the server on another machine, through a program in the place of ssh and through a real sshd.

use super::{Survived, came_back_in_time, is_turn_end, keeps_up, killed_again_and_again};
use crate::app_killed::SOON;
use crate::leftovers::nothing_runs;
use crate::life::{DEADLINE, MARK};
use crate::program::demo_agent;
use crate::server::world::{Client, World};
use deskbell_tests::relay;
use deskbell_tests::sshd::{self, Sshd};
use deskbell_tests::suite::missing;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use tokio::process::Command;
use tokio::time::timeout;

/// This machine as another one: a home of its own, and a way to it.
pub(super) struct Far {
    pub(super) world: World,
    /// Programs that come first on the PATH of the near machine.
    bin: tempfile::TempDir,
    sshd: Option<Sshd>,
}

/// A shell that the program in the place of ssh gives the command to.
const LOGIN_SHELL: &str = r#"exec /bin/sh -c "$command""#;

impl Far {
    /// Reached by a program named ssh that runs its last argument here. `shell` is what the login shell does with it.
    fn new(shell: &str) -> Option<Self> {
        let world = World::new()?;
        if !relay_program().is_file() {
            return missing("deskbell-relay is not built");
        }
        let bin = tempfile::tempdir().unwrap();
        let environment =
            environment(&world).iter().map(|(name, value)| format!("{name}='{value}'")).collect::<Vec<_>>();
        let script = format!(
            "#!/bin/sh\nfor command; do :; done\ncd '{}' || exit 1\nexport command\n\
             exec env -i PATH=\"{}/far:/usr/bin:/bin\" {} command=\"$command\" /bin/sh -c '{}'\n",
            world.root().display(),
            bin.path().display(),
            environment.join(" "),
            shell,
        );
        put(&bin.path().join("ssh"), &script);
        Some(Self { world, bin, sshd: None })
    }

    /// Reached by the real ssh and a real sshd on loopback.
    pub(super) async fn by_ssh(start_file: &str) -> Option<Self> {
        if !sshd::is_installed() {
            return missing("sshd is not installed");
        }
        let world = World::new()?;
        std::fs::write(world.root().join(".bashrc"), start_file).unwrap();
        let sshd = Sshd::start(&environment(&world)).await.unwrap();
        let bin = tempfile::tempdir().unwrap();
        Some(Self { world, bin, sshd: Some(sshd) })
    }

    /// `deskbell on box` with these arguments. The near machine has another home.
    fn command(&self, arguments: &[&str]) -> Command {
        self.command_on(sshd::HOST, arguments)
    }

    fn command_on(&self, machine: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(relay_program());
        let bin = self.sshd.as_ref().map_or(self.bin.path(), Sshd::bin).display();
        let path = format!("{bin}:{}", std::env::var("PATH").unwrap_or_default());
        command
            .args(["on", machine])
            .args(arguments)
            .env("PATH", path)
            .env("HOME", self.bin.path())
            .env("XDG_DATA_HOME", self.bin.path().join("data"))
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    pub(super) async fn run(&self, arguments: &[&str]) -> Output {
        timeout(DEADLINE, self.command(arguments).output()).await.expect("it ends").unwrap()
    }

    async fn run_on(&self, machine: &str, arguments: &[&str]) -> Output {
        timeout(DEADLINE, self.command_on(machine, arguments).output()).await.expect("it ends").unwrap()
    }

    /// A client of the server there, which is started if necessary.
    pub(super) async fn attach(&self) -> Client {
        Client::connected(self.command(&["relay", "--attach", "--idle=600"]), self.world.project()).await
    }

    pub(super) fn copies(&self) -> Vec<PathBuf> {
        let folder = self.world.data.join("deskbell/relay");
        let Ok(listed) = std::fs::read_dir(folder) else { return Vec::new() };
        listed.map(|entry| entry.unwrap().path()).collect()
    }
}

pub(super) fn environment(world: &World) -> [(&'static str, String); 4] {
    [
        ("HOME", world.root().display().to_string()),
        ("XDG_DATA_HOME", world.data.display().to_string()),
        ("CLAUDE_CONFIG_DIR", world.root().join(".config").display().to_string()),
        (MARK, world.mark.clone()),
    ]
}

/// Built beside the app.
pub(super) fn relay_program() -> PathBuf {
    relay::program_without_windows().unwrap_or_default()
}

pub(super) fn put(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_is_copied_once() {
    let Some(far) = Far::new(LOGIN_SHELL) else { return };
    let mut made = Vec::new();
    for _ in 0..2 {
        let output = far.run(&["relay", "--list"]).await;
        assert!(output.status.success(), "{output:?}");
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "no server is running, and no session is saved\n"
        );
        let [copy] = &far.copies()[..] else { panic!("{:?}", far.copies()) };
        let about = copy.metadata().unwrap();
        assert_eq!(about.permissions().mode() & 0o777, 0o700);
        assert_eq!(about.len(), relay_program().metadata().unwrap().len());
        made.push(about.modified().unwrap());
    }
    assert_eq!(made[0], made[1], "the second start used the copy");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_is_passed_as_it_is() {
    let Some(far) = Far::new(LOGIN_SHELL) else { return };
    for argument in ["a b", "$(touch x)", "`id`", "'", "\"", "*", "\\", "-n", " a ", "ü", "; exit 0"] {
        let output = far.run(&["settings", "get", argument]).await;
        assert_eq!(output.status.code(), Some(1), "{argument}: {output:?}");
        assert!(said(&output).contains(argument), "{argument}: {}", said(&output));
    }
    assert!(!far.world.root().join("x").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_there_is_found_and_decided_about_there() {
    let Some(far) = Far::new(LOGIN_SHELL) else { return };
    let project = far.world.root().join("far project");
    let hooks = json!({"SessionStart": [{"hooks": [{"type": "command", "command": "touch x"}]}]});
    std::fs::create_dir_all(project.join(".claude")).unwrap();
    std::fs::write(project.join(".claude/settings.json"), json!({ "hooks": hooks }).to_string()).unwrap();
    let listed = async |arguments: &[&str]| -> serde_json::Value {
        let output = far.run(arguments).await;
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    // The home folder and relative names are those of that machine.
    for folder in ["~", "", "."] {
        let arguments: Vec<&str> = ["folders", folder].into_iter().filter(|part| !part.is_empty()).collect();
        let found = listed(&arguments).await;
        assert_eq!(found["path"], far.world.root().canonicalize().unwrap().to_str().unwrap(), "{folder:?}");
        assert!(found["folders"].as_array().unwrap().contains(&"far project".into()), "{found}");
    }
    let shown = listed(&["trust", "--json", "~/far project"]).await;
    assert_eq!(
        (&shown["state"], shown["findings"][0]["text"].as_str()),
        (&"unknown".into(), Some("touch x"))
    );
    let fingerprint = format!("--fingerprint={}", shown["fingerprint"].as_str().unwrap());
    let refused = far.run(&["trust", "~/far project", "--decide=trust", "--fingerprint=0"]).await;
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    let decided = listed(&["trust", "--json", "~/far project", "--decide=trust", fingerprint.as_str()]).await;
    assert_eq!(decided["state"], "trusted");
    // The decision is kept there.
    assert!(far.world.data.join("deskbell/trust").is_dir());
    assert!(!far.bin.path().join("data/deskbell/trust").exists());
    let missing = far.run(&["folders", "~/gone"]).await;
    assert!(!missing.status.success() && said(&missing).contains("does not exist"), "{missing:?}");
}

/// What a window asks a machine about other agents and worktrees.
#[tokio::test(flavor = "multi_thread")]
async fn its_agents_are_listed_and_decided_about_there_and_its_worktrees_made() {
    let Some(far) = Far::new(LOGIN_SHELL) else { return };
    let listed = async |arguments: &[&str]| -> serde_json::Value {
        let output = far.run(arguments).await;
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    put(&far.bin.path().join("far/gemini"), "#!/bin/sh\necho 0.61.0\n");
    let profile =
        json!({"name": "Lab", "agent": "gemini", "environment": [{"name": "KEY", "value": "a-secret"}]});
    let settings = json!({ "agent": { "profiles": [profile] } });
    put(&far.world.root().join(".config/deskbell/settings.json"), &settings.to_string());
    let found = listed(&["agents", "--json"]).await;
    let agents = found["agents"].as_array().unwrap();
    let gemini = agents.iter().find(|agent| agent["id"] == "gemini").unwrap();
    assert_eq!((&gemini["state"]["type"], &gemini["state"]["version"]), (&"found".into(), &"0.61.0".into()));
    assert_eq!(
        (&found["profiles"][0]["name"], &found["profiles"][0]["environment"][0]["name"]),
        (&"Lab".into(), &"KEY".into())
    );
    assert!(!found.to_string().contains("a-secret"), "{found}");
    let text = far.run(&["agents"]).await;
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("gemini  Gemini CLI  0.61.0") && text.contains("profile “Lab”  gemini"), "{text}");

    // Each agent has a decision of its own, by its name or by a profile of it.
    let project = far.world.root().join("far project");
    std::fs::create_dir_all(project.join("src")).unwrap();
    let trust = ["trust", "--json", "~/far project"];
    let shown = listed(&[&trust[..], &["--agent=gemini"]].concat()).await;
    assert_eq!((&shown["state"], &shown["agent"]["id"]), (&"unknown".into(), &"gemini".into()));
    let restricted = listed(&[&trust[..], &["--agent=gemini", "--decide=restrict"]].concat()).await;
    assert_eq!(restricted["state"], "restricted");
    let by_profile = listed(&[&trust[..], &["--profile=Lab"]].concat()).await;
    assert_eq!((&by_profile["state"], &by_profile["agent"]["id"]), (&"restricted".into(), &"gemini".into()));
    assert_eq!(listed(&trust).await["state"], "unknown", "that of Claude Code");
    for (of, why) in [("--agent=nothing", "lists the names"), ("--profile=Home", "no profile “Home”")] {
        let refused = far.run(&[&trust[..], &[of]].concat()).await;
        assert!(!refused.status.success() && said(&refused).contains(why), "{of}: {refused:?}");
    }

    let current = listed(&["worktrees", "~/far project", "--current", "--json"]).await;
    assert_eq!(current, json!({"branch": null, "worktreeOf": null}));
    std::fs::write(project.join("src/beam.txt"), "slow\n").unwrap();
    for arguments in [
        &["init", "--quiet", "--initial-branch=main"][..],
        &["add", "--all"],
        &["-c", "user.name=A", "-c", "user.email=a@b", "commit", "--quiet", "--message=x"],
    ] {
        let git = std::process::Command::new("git").args(arguments).current_dir(&project).status().unwrap();
        assert!(git.success(), "git {arguments:?}");
    }
    let source = project.join("src");
    let worktrees =
        async |option: &str| listed(&["worktrees", source.to_str().unwrap(), "--json", option]).await;
    assert_eq!(worktrees("--current").await, json!({"branch": "main", "worktreeOf": null}));
    let root = project.canonicalize().unwrap().with_file_name("far project-fix-a");
    let root = root.to_str().unwrap();
    assert_eq!(worktrees("--plan=fix/a").await, json!({"path": root, "isNew": true}));
    assert!(!Path::new(root).exists(), "a plan creates nothing");
    assert_eq!(worktrees("--add=fix/a").await, format!("{root}/src"));
    assert_eq!(worktrees("--folder=fix/a").await, format!("{root}/src"));
    let here = listed(&["worktrees", root, "--current", "--json"]).await;
    assert_eq!(here, json!({"branch": "fix/a", "worktreeOf": "far project"}));
    std::fs::write(format!("{root}/new.txt"), "new\n").unwrap();
    let review = worktrees("--review=fix/a").await;
    assert!(review["kept"].as_str().unwrap().contains("new.txt"), "{review}");
    let refused = far.run(&["worktrees", "~/far project", "--json", "--remove=fix/a"]).await;
    assert!(!refused.status.success() && Path::new(root).exists(), "{refused:?}");
    std::fs::remove_file(format!("{root}/new.txt")).unwrap();
    assert_eq!(worktrees("--review=fix/a").await["kept"], json!(null));
    assert_eq!(worktrees("--remove=fix/a").await["branch"], "fix/a");
    assert!(!Path::new(root).exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_login_shell_prints_or_becomes_does_not_matter() {
    for shell in [
        // A greeting, and an incomplete line.
        &format!("echo Welcome; printf noise; {LOGIN_SHELL}"),
        // A start file that runs another shell, which reads its commands from stdin.
        "exec /bin/sh",
        "echo Welcome; exec bash",
        "cat >/dev/null <<X\nX\nexec bash --norc",
    ] {
        let Some(far) = Far::new(shell) else { return };
        let output = far.run(&["--version"]).await;
        let expected = format!("deskbell {}\n", env!("CARGO_PKG_VERSION"));
        assert_eq!(
            (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned()),
            (Some(0), expected),
            "{shell}: {output:?}"
        );
    }
}

/// Programs in the places of `docker`, `podman`, `kubectl`, `wsl.exe` and `flatpak-spawn`, which run their last argument here. The command
/// lines of the real ones are in `sessions/src/far/machine.rs`.
#[tokio::test(flavor = "multi_thread")]
async fn every_transport_reaches_its_machine() {
    let Some(far) = Far::new(LOGIN_SHELL) else { return };
    for (machine, program, before) in [
        ("docker:web", "docker", "exec -i web /bin/sh -c"),
        ("podman:web", "podman", "exec -i web /bin/sh -c"),
        ("devcontainer:/code/my app", "devcontainer", "exec --workspace-folder /code/my app /bin/sh -c"),
        ("kubectl:shop/web-0", "kubectl", "exec -i -n shop web-0 -- /bin/sh -c"),
        ("wsl:Debian", "wsl.exe", "-d Debian --exec /bin/sh -c"),
        ("flatpak:host", "flatpak-spawn", "--host --watch-bus /bin/sh -c"),
    ] {
        let said = far.bin.path().join("arguments");
        let ssh = std::fs::read_to_string(far.bin.path().join("ssh")).unwrap();
        let keep = format!("#!/bin/sh\nprintf '%s ' \"$@\" > '{}'\n", said.display());
        put(&far.bin.path().join(program), &ssh.replacen("#!/bin/sh\n", &keep, 1));
        let output = far.run_on(machine, &["folders"]).await;
        assert!(output.status.success(), "{machine}: {output:?}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("project"), "{machine}: {output:?}");
        let arguments = std::fs::read_to_string(&said).unwrap();
        assert!(arguments.starts_with(before), "{machine}: {arguments}");
    }
    nothing_runs(&far.world.mark, SOON).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn why_there_is_no_connection_is_said() {
    for (shell, expected) in [
        ("echo Name or service not known >&2; exit 255", "Name or service not known"),
        ("echo This account is closed.; exit 1", "It printed:\n  This account is closed."),
        ("yes", "the machine printed more than 2000 lines"),
        ("printf \"\\033[2Jx\\n\"; exit 1", "\u{fffd}[2Jx"),
        (
            "echo DESKBELL-FAR 1 Linux x86_64; read a; read b; echo DESKBELL-FAILED no \"$b\"",
            "no deskbell-run",
        ),
    ] {
        let Some(far) = Far::new(shell) else { return };
        // Whether it ends before or after it was written to is chance.
        for _ in 0..5 {
            let output = far.run(&["relay", "--list"]).await;
            assert_eq!(output.status.code(), Some(255), "{shell}: {output:?}");
            assert!(said(&output).contains(expected), "{shell}: {}", said(&output));
            assert!(said(&output).contains("deskbell: box: "), "{}", said(&output));
            assert!(output.stdout.is_empty() && !said(&output).contains('\u{1b}'), "{output:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_that_cannot_be_made_leaves_nothing() {
    // The folder cannot be made.
    let Some(far) = Far::new(LOGIN_SHELL) else { return };
    std::fs::write(far.world.data.join("deskbell/relay"), "a file").unwrap();
    let output = far.run(&["relay", "--list"]).await;
    assert!(output.status.code() == Some(255) && said(&output).contains("could not make"), "{output:?}");
    // It is damaged on its way, or the disk is full.
    for (program, script, expected) in [
        ("sha256sum", "#!/bin/sh\necho 0000 -\n", "is not whole"),
        ("head", "#!/bin/sh\necho No space left on device >&2\nexit 1\n", "could not write to"),
        ("mv", "#!/bin/sh\nexit 1\n", "could not write to"),
    ] {
        let Some(far) = Far::new(LOGIN_SHELL) else { return };
        put(&far.bin.path().join("far").join(program), script);
        let output = far.run(&["relay", "--list"]).await;
        assert!(
            output.status.code() == Some(255) && said(&output).contains(expected),
            "{program}: {output:?}"
        );
        assert_eq!(far.copies(), Vec::<PathBuf>::new(), "{program}");
    }
}

/// An answer that is streamed there, while the connection is killed again and again.
async fn killed_in_an_answer(far: Far, n_kills: usize) {
    let Survived { mut client, session, took } = killed_again_and_again(n_kills, || far.attach()).await;
    came_back_in_time(took);

    // A request waits while nothing is connected, and is answered once.
    client.prompt(&session, "q", "TOOL Bash {\"command\": \"touch a.txt\"}\nSAY done").await;
    let asked = client.until("request", |line| line["type"] == "permissionRequested").await;
    client.kill().await;
    let mut client = far.attach().await;
    client.attach(&session, None).await;
    let (request_id, shown) = (&asked["request"]["id"], &asked["request"]["shown"]);
    let decide =
        json!({"type": "decide", "requestId": request_id, "shown": shown, "decision": {"type": "allowOnce"}});
    client.command(&session, "answer", decide).await;
    client.until("end of the turn", is_turn_end).await;
    let listed = far.run(&["relay", "--list", "--json"]).await;
    assert!(String::from_utf8_lossy(&listed.stdout).contains(&session), "{listed:?}");
    let stopped = far.run(&["relay", "--stop=all"]).await;
    assert!(stopped.status.success(), "{stopped:?}");
    far.end(client).await;
}

impl Far {
    pub(super) async fn end(self, client: Client) {
        let mark = self.world.mark.clone();
        let Self { world, bin, sshd } = self;
        world.end(client).await;
        drop((bin, sshd));
        nothing_runs(&mark, SOON).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_there_survives_its_connection() {
    let Some(far) = Far::new(LOGIN_SHELL) else { return };
    killed_in_an_answer(far, 5).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_survives_its_connection_over_real_ssh() {
    let Some(far) = Far::by_ssh("echo Welcome; printf noise\n").await else { return };
    killed_in_an_answer(far, 10).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_over_real_ssh_keeps_up_with_the_plain_relay() {
    let Some(far) = Far::by_ssh("").await else { return };
    let client = keeps_up(&far.world, || far.attach()).await;
    far.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_file_that_runs_another_shell_does_not_matter_over_real_ssh() {
    let Some(far) = Far::by_ssh("exec bash --norc\n").await else { return };
    let output = far.run(&["relay", "--list"]).await;
    assert!(output.status.success(), "{output:?}");
}

/// An agent, and a variable that it needs, which only the file of a login there names.
const OF_A_LOGIN: &str = "PATH=$HOME/of-a-login:$PATH\nexport PROVIDER_KEY=dummy\n";

impl Far {
    /// Puts an agent in the folder that `OF_A_LOGIN` names. It writes the variable to the file `key`, then is the demo agent.
    fn add_agent_of_a_login(&self) {
        let root = self.world.root();
        std::fs::write(root.join(".profile"), OF_A_LOGIN).unwrap();
        let script = format!(
            "#!/bin/sh\n[ \"$*\" = --version ] && echo 1.0.0 && exit\n\
             echo \"$PROVIDER_KEY\" > '{}'\nexec '{}' --acp\n",
            root.join("key").display(),
            demo_agent().display()
        );
        put(&root.join("of-a-login/opencode"), &script);
    }

    /// Runs a turn of that agent there, and returns the value of the variable and the client.
    async fn key_of_agent(&self) -> (String, Client) {
        let mut client = self.attach().await;
        let session = client.open_with("opencode", true).await;
        client.attach(&session, None).await;
        client.prompt(&session, "p", "SAY hello").await;
        client.until("end of the turn", is_turn_end).await;
        (std::fs::read_to_string(self.world.root().join("key")).unwrap(), client)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_there_have_the_environment_of_the_login_shell() {
    let Some(far) = Far::by_ssh("").await else { return };
    far.add_agent_of_a_login();
    let (key, client) = far.key_of_agent().await;
    assert_eq!(key, "dummy\n");
    let listed = far.run(&["agents"]).await;
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(listed.contains("opencode  opencode  1.0.0"), "{listed}");
    let report = far.run(&["doctor", "--agent=/no/such/program"]).await;
    let report = String::from_utf8_lossy(&report.stdout).into_owned();
    let adds = report.lines().find(|line| line.starts_with("Login shell")).unwrap_or_default();
    assert!(adds.contains("PATH") && adds.contains("PROVIDER_KEY") && !report.contains("dummy"), "{report}");
    far.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_shell_that_hangs_holds_up_no_command_for_long() {
    let Some(far) = Far::by_ssh("").await else { return };
    far.add_agent_of_a_login();
    std::fs::write(far.world.root().join(".profile"), "sleep 600\n").unwrap();
    let listed = far.run(&["agents"]).await;
    assert!(listed.status.success(), "{listed:?}");
    nothing_runs(&far.world.mark, SOON).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sessions_there_are_listed_with_their_cost_and_stopped_from_here() {
    let Some(far) = Far::new(LOGIN_SHELL) else { return };
    let mut client = far.attach().await;
    let session = client.open().await;
    client.attach(&session, None).await;
    client.prompt(&session, "p", "CHILD 600\nWAIT").await;
    client.until("a child", |line| line["type"] == "turnStarted").await;
    let host = format!("--host={}", sshd::HOST);
    let sessions = async |arguments: &[&str]| {
        let command = far.command(&[]);
        let near = command.as_std();
        let mut own = Command::new(near.get_program());
        own.args(["sessions"]).args(arguments).arg(&host).stdin(Stdio::null()).kill_on_drop(true);
        own.envs(near.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))));
        timeout(DEADLINE, own.output()).await.expect("it ends").unwrap()
    };
    let listed = sessions(&["running", "--json"]).await;
    assert!(listed.status.success(), "{listed:?}");
    let line: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(line["session"]["id"], session.as_str(), "{line}");
    assert!(line["cost"]["nProcesses"].as_u64().is_some_and(|n| n >= 1), "{line}");
    assert!(line["cost"]["memoryBytes"].as_u64().is_some_and(|bytes| bytes > 0), "{line}");
    let text = sessions(&["running"]).await;
    assert!(String::from_utf8_lossy(&text.stdout).contains("MiB"), "{text:?}");
    assert!(sessions(&["stop", "--all"]).await.status.success());
    let listed = sessions(&["running", "--json"]).await;
    let line: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(
        (&line["session"]["alive"], &line["cost"]),
        (&json!(false), &serde_json::Value::Null),
        "{line}"
    );
    far.world.end(client).await;
}
