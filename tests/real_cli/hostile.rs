//! Hostile folders that try to act when an agent starts in them: none does unless it is trusted. With trust those do
//! for which it is expected, so that the first half is meaningful.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use deskbell_claude::request::rules_kept_locally;
use deskbell_engine::api::{Decision, TrustDecision};
use deskbell_engine::trust::TrustStore;
use deskbell_tests::hostile_projects::{Effect, HostileProject, SERVERS, all, traces};
use deskbell_tests::mock_api::{MockApi, Request};
use deskbell_tests::real_cli::{Cli, CliChild, World};
use deskbell_tests::relay::{DEADLINE, Relay};
#[cfg(target_os = "linux")]
use deskbell_tests::sockets::SocketWatch;
use deskbell_tests::wait::eventually;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, LocalSet};

#[cfg(unix)]
use crate::trust::git;

/// Number of agents that run in parallel.
const AT_ONCE: usize = 3;

/// Deadline for all of them.
pub const ALL: Duration = Duration::from_secs(300);

/// Folders that are played as one.
struct Set {
    name: &'static str,
    projects: Vec<HostileProject>,
}

fn sets(projects: impl IntoIterator<Item = HostileProject>) -> Vec<Set> {
    let mut sets: Vec<Set> = Vec::new();
    for project in projects {
        let name = project.group.unwrap_or(project.name);
        match sets.iter_mut().find(|set| set.name == name) {
            Some(set) => set.projects.push(project),
            None => sets.push(Set { name, projects: vec![project] }),
        }
    }
    sets
}

pub async fn no_folder_gets_its_way_under_the_engine() -> Result<()> {
    let version = Cli::find()?.version().await?;
    let known = sockets_of_no_project(&[]).await?;
    each(
        sets(all()),
        |set| set.name,
        |set| {
            let (version, known) = (version.clone(), known.clone());
            async move {
                let mut place = Place::of(&set.projects).await?;
                let watched = Watched::of(&mut place.world)?;
                let mut relay = Relay::spawn(&place.world, &[])?;
                denied(&mut relay, &set.projects).await?;
                let session = relay.session()?;
                ensure!(session["agentVersion"] == version, "{} runs", session["agentVersion"]);
                ensure!(session["restricted"] == true, "it is not restricted");
                ensure!(session["mode"] == "default", "the mode is {}", session["mode"]);
                relay.finish().await?;

                let traces = place.traces()?;
                ensure!(traces.is_empty(), "it ran: {traces:?}");
                let calls = place.trap.requests();
                ensure!(calls.is_empty(), "it was called: {calls:?}");
                ensure!(!place.world.api.messages().is_empty(), "the model was not asked");
                let sockets = watched.sockets(&place.world)?;
                let other: Vec<&String> = sockets.difference(&known).collect();
                ensure!(other.is_empty(), "it has sockets that it has in no empty folder: {other:#?}");
                Ok(())
            }
        },
    )
    .await
}

/// With the folder's own settings loaded they act as expected, so the restriction is the reason that they did not.
pub async fn a_trusted_folder_gets_its_way() -> Result<()> {
    let version = Cli::find()?.version().await?;
    let known = sockets_of_no_project(&["--trust"]).await?;
    let with_effect = all().into_iter().filter(|project| project.unlimited != Effect::Nothing);
    each(
        sets(with_effect),
        |set| set.name,
        |set| {
            let (version, known) = (version.clone(), known.clone());
            async move {
                let mut place = Place::of(&set.projects).await?;
                let watched = Watched::of(&mut place.world)?;
                let mut relay = Relay::spawn(&place.world, &["--trust"])?;
                denied(&mut relay, &set.projects).await?;
                let session = relay.session()?;
                ensure!(session["agentVersion"] == version, "{} runs", session["agentVersion"]);
                ensure!(session["restricted"] == false, "it was restricted all the same");
                if set.projects.iter().any(|project| project.name == BACKGROUND) {
                    place.wait_for_a_trace_of(BACKGROUND).await?;
                }
                relay.finish().await?;

                for project in &set.projects {
                    place.shows_the_effect_of(project, &session).await.context(project.name)?;
                }
                // The addresses that the folder names are those of the trap.
                let sockets = watched.sockets(&place.world)?;
                let trap = format!("htons({})", place.trap.address().port());
                let (called, other): (Vec<&String>, Vec<&String>) =
                    sockets.difference(&known).partition(|used| used.contains(&trap));
                let of_cloud = set.projects.iter().any(|project| OF_CLOUDS.contains(&project.name));
                let other: Vec<_> =
                    other.into_iter().filter(|used| !(of_cloud && asks_cloud(used))).collect();
                ensure!(other.is_empty(), "it has sockets that nothing in the folder names: {other:#?}");
                if cfg!(target_os = "linux") && set.name == SERVERS {
                    ensure!(!called.is_empty(), "unseen: {trap} in {sockets:#?}");
                }
                Ok(())
            }
        },
    )
    .await
}

/// The folders that choose the service of a cloud: the CLI asks that cloud's own computer for credentials, as on a machine in it.
const OF_CLOUDS: [&str; 2] = ["aws-helpers", "google-helper"];

/// Whether a socket reaches the address for credentials that Amazon's and Google's machines have, or looks up a name.
fn asks_cloud(used: &str) -> bool {
    let is_connection = used.starts_with("connect AF_INET");
    !is_connection || used.contains("\"169.254.169.254\"") || used.contains("htons(53)")
}

/// A record of the sockets of an agent.
#[cfg(target_os = "linux")]
struct Watched(SocketWatch);

#[cfg(not(target_os = "linux"))]
struct Watched;

impl Watched {
    /// Records those of the agents that are started in this world from now on.
    #[cfg(target_os = "linux")]
    fn of(world: &mut World) -> Result<Self> {
        let watch = SocketWatch::on(&world.cli.program, world.root())?;
        world.agent = watch.program().to_owned();
        Ok(Self(watch))
    }

    #[cfg(not(target_os = "linux"))]
    fn of(_: &mut World) -> Result<Self> {
        Ok(Self)
    }

    /// What it used, once it has ended.
    #[cfg(target_os = "linux")]
    fn sockets(&self, world: &World) -> Result<BTreeSet<String>> {
        let api = format!("htons({})", world.api.address().port());
        self.0.used(&[(world.root().display().to_string(), "ROOT"), (api, "API")])
    }

    #[cfg(not(target_os = "linux"))]
    fn sockets(&self, _: &World) -> Result<BTreeSet<String>> {
        Ok(BTreeSet::new())
    }
}

/// The sockets of this version in an empty folder, with the prompts of all folders.
async fn sockets_of_no_project(arguments: &[&str]) -> Result<BTreeSet<String>> {
    let mut world = World::new().await?;
    let watched = Watched::of(&mut world)?;
    let mut relay = Relay::spawn(&world, arguments)?;
    denied(&mut relay, &all()).await?;
    relay.finish().await?;
    watched.sockets(&world)
}

/// No turn waits for this hook, and it ends with the agent.
const BACKGROUND: &str = "hook-in-background";

/// The agent's own `git status` and `git diff`, which it does not ask about, run nothing that git's configuration names.
#[cfg(unix)]
pub async fn git_runs_nothing_of_a_restricted_folder() -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new().await?;
    let (folder, program) = (&world.project, world.root().join("program"));
    fs::write(&program, format!("#!/bin/sh\ntouch '{}/ran-git'\n", folder.display()))?;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
    let program = program.to_str().context("the path is text")?;
    fs::write(folder.join("a"), "1\n")?;
    for arguments in [
        &["init", "-q"][..],
        &["add", "a"],
        &["commit", "-qm", "1"],
        &["config", "core.fsmonitor", program],
        &["config", "diff.any.command", program],
        &["config", "filter.any.clean", program],
    ] {
        git(folder, arguments)?;
    }
    fs::write(folder.join(".git/info/attributes"), "* diff=any filter=any\n")?;
    fs::write(folder.join("a"), "MARK-2\n")?;
    git(folder, &["status"])?;
    fs::remove_file(world.file("ran-git")).context("the canary is deaf")?;

    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("BASH git status\nBASH git diff\nSAY hello").await?;
    ensure!(relay.session()?["restricted"] == true, "it is not restricted");
    relay.finish().await?;
    ensure!(traces(folder)?.is_empty(), "it ran: {:?}", traces(folder)?);
    let sent: String = world.api.messages().iter().map(|request| request.body.to_string()).collect();
    ensure!(sent.contains("+MARK-2"), "git showed no difference");
    Ok(())
}

/// The relay uses the window's decisions, byte for byte, and reports when it leaves out the folder's settings.
pub async fn a_decision_counts_until_a_byte_changes() -> Result<()> {
    let project = all().into_iter().find(|project| project.name == "hook-session-start");
    let place = Place::build(&project.context("it is in the corpus")?).await?;
    let said = |stderr: &str| stderr.contains("is not trusted");

    let undecided = turn(&place).await?;
    ensure!(said(&undecided) && place.traces()?.is_empty(), "undecided: {undecided}");

    let store = place.decisions()?;
    let shown = store.view(&place.world.project)?.fingerprint;
    store.decide(&place.world.project, TrustDecision::Trust, shown.as_deref())?;
    let trusted = turn(&place).await?;
    ensure!(!said(&trusted) && !place.traces()?.is_empty(), "trusted: {trusted}");

    for trace in place.traces()? {
        fs::remove_file(place.world.project.join(trace))?;
    }
    let settings = place.world.project.join(".claude/settings.json");
    let mut bytes = fs::read(&settings)?;
    bytes.push(b' ');
    fs::write(&settings, bytes)?;
    let changed = turn(&place).await?;
    ensure!(said(&changed) && place.traces()?.is_empty(), "changed: {changed}");
    Ok(())
}

/// A rule that the user had the agent save in a trusted folder causes no question about the folder; any other rule
/// does.
pub async fn a_kept_rule_is_no_change_that_is_asked_about() -> Result<()> {
    let project = all().into_iter().find(|project| project.name == "harmless");
    let place = Place::build(&project.context("it is in the corpus")?).await?;
    let (folder, store) = (&place.world.project, place.decisions()?);
    store.decide(folder, TrustDecision::Trust, store.view(folder)?.fingerprint.as_deref())?;

    for command in ["touch a.txt", r"touch 'b (1)\.txt'"] {
        let mut relay = Relay::spawn(&place.world, &[])?;
        relay.prompt(&format!("BASH {command}\nSAY done")).await?;
        let asked = relay.request().await?;
        let raw = asked["request"]["suggestions"].as_array().into_iter().flatten();
        let local = raw.map(|known| &known["raw"]).find(|raw| raw["destination"] == "localSettings");
        let raw = local.with_context(|| format!("no rule to keep in {asked}"))?.clone();
        for rule in rules_kept_locally(&raw) {
            store.expect_rule(folder, &rule)?;
        }
        relay.decide(&asked, Decision::AllowAlways { suggestion: raw }).await?;
        relay.turn_end().await?;
        relay.finish().await?;
        let kept = fs::read_to_string(folder.join(".claude/settings.local.json"))?;
        ensure!(store.state(folder)?.is_trusted(), "asked again after {command}: {kept}");
    }

    let path = folder.join(".claude/settings.local.json");
    fs::write(&path, fs::read_to_string(&path)?.replace("touch a.txt", "touch *"))?;
    ensure!(store.state(folder)?.must_ask(), "a rule that nobody chose is not asked about");
    Ok(())
}

/// One turn through the relay; returns its error output.
async fn turn(place: &Place) -> Result<String> {
    let mut relay = Relay::spawn(&place.world, &[])?;
    relay.turn("SAY hello").await?;
    Ok(relay.finish().await?.stderr)
}

/// Gives the prompts one after the other, each once, and denies every request of their turns.
async fn denied(relay: &mut Relay, projects: &[HostileProject]) -> Result<()> {
    let mut given = Vec::new();
    for prompt in projects.iter().flat_map(|project| project.prompts) {
        if given.contains(&prompt) {
            continue;
        }
        given.push(prompt);
        relay.prompt(prompt).await?;
        while let Some(asked) = asked(relay).await? {
            let denial = Decision::Deny { message: "not here".to_owned(), interrupt: false };
            relay.decide(&asked, denial).await?;
        }
    }
    Ok(())
}

/// The next permission request, or none before the end of the turn.
pub async fn asked(relay: &mut Relay) -> Result<Option<Value>> {
    let ends = |event: &Value| event["type"] == "turnEnded" || event["type"] == "permissionRequested";
    let event = relay.next_event("end of the turn", DEADLINE, ends).await?;
    Ok((event["type"] != "turnEnded").then_some(event))
}

/// A redirected API address receives the key itself: the main reason for trust.
pub async fn the_cli_alone_gives_the_key_to_the_folders_address() -> Result<()> {
    let project = all().into_iter().find(|project| project.name == "env-base-url");
    let place = Place::build(&project.context("it is in the corpus")?).await?;
    let mut child = CliChild::spawn(&place.world, &[])?;
    child.prompt("SAY hello").await?;
    child.result().await?;
    child.close().await?;
    let calls = place.trap.messages();
    let keys: Vec<Option<&str>> = calls.iter().map(|call| call.header("x-api-key")).collect();
    ensure!(keys.contains(&Some("dummy")), "{keys:?}");
    ensure!(place.world.api.messages().is_empty(), "the right address was asked as well");
    Ok(())
}

/// Hostile folders as one, the world of the agent that starts in it, and the address that they would contact.
struct Place {
    world: World,
    trap: MockApi,
    folder: PathBuf,
    is_group: bool,
    _root: TempDir,
}

impl Place {
    async fn build(project: &HostileProject) -> Result<Self> {
        Self::of(std::slice::from_ref(project)).await
    }

    async fn of(projects: &[HostileProject]) -> Result<Self> {
        let root = tempfile::tempdir().context("making a temporary folder")?;
        let folder = root.path().canonicalize()?;
        let trap = MockApi::start().await?;
        let mut world = World::new().await?;
        let address = trap.address().to_string();
        let is_group = projects.len() > 1;
        if is_group {
            world.project = folder.join("together");
            for project in projects {
                let part = project.build(&folder, &format!("{address}/{}", project.name))?;
                add(&part, &world.project, project.name).context(project.name)?;
                fs::remove_dir_all(part)?;
            }
        } else {
            let project = projects.first().context("no folder")?;
            world.project = project.build(&folder, &address)?;
        }
        Ok(Self { world, trap, folder, is_group, _root: root })
    }

    /// The saved decisions in this world.
    fn decisions(&self) -> Result<TrustStore> {
        Ok(TrustStore::open(self.world.home.join(".local/share/deskbell/trust"))?)
    }

    fn traces(&self) -> Result<Vec<String>> {
        traces(&self.folder).context("looking for traces")
    }

    /// The traces of a folder: in a group each has its own name.
    fn traces_of(&self, name: &str) -> Result<Vec<String>> {
        let mut traces = self.traces()?;
        traces.retain(|trace| !self.is_group || trace.strip_prefix("ran-") == Some(name));
        Ok(traces)
    }

    async fn wait_for_a_trace_of(&self, name: &str) -> Result<()> {
        eventually("something of the folder ran", DEADLINE, async || {
            Ok((!self.traces_of(name)?.is_empty()).then_some(()))
        })
        .await
    }

    async fn shows_the_effect_of(&self, project: &HostileProject, session: &Value) -> Result<()> {
        match project.unlimited {
            Effect::Runs => ensure!(!self.traces_of(project.name)?.is_empty(), "nothing ran"),
            Effect::Calls => {
                let path = if self.is_group { format!("/{}/", project.name) } else { String::new() };
                let called = |requests: &[Request]| requests.iter().any(|call| call.path.starts_with(&path));
                self.trap.wait_for("a call", DEADLINE, called).await.map(drop)?;
            }
            Effect::Mode(expected) => {
                ensure!(session["mode"] == expected, "the mode is {}", session["mode"])
            }
            Effect::Nothing => bail!("there is nothing to see"),
        }
        Ok(())
    }
}

/// Adds the files of a folder to another one: settings and servers to those that are there.
fn add(from: &Path, to: &Path, name: &str) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (file, to) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            add(&file, &to, name)?;
            continue;
        }
        let is_known = [".mcp.json", "settings.json", "settings.local.json"].map(OsStr::new);
        if !is_known.contains(&&*entry.file_name()) {
            ensure!(!to.exists(), "{} is there already", to.display());
            fs::copy(file, to)?;
            continue;
        }
        let mut added: Value = serde_json::from_slice(&fs::read(file)?)?;
        if let Some(servers) = added.get_mut("mcpServers").and_then(Value::as_object_mut) {
            *servers = std::mem::take(servers)
                .into_iter()
                .map(|(server, value)| (format!("{name}-{server}"), value))
                .collect();
        }
        let mut all = match to.exists() {
            true => serde_json::from_slice(&fs::read(&to)?)?,
            false => json!({}),
        };
        merge(&mut all, added)?;
        fs::write(to, all.to_string())?;
    }
    Ok(())
}

/// Adds values: the lists become longer, and no value replaces another one.
fn merge(all: &mut Value, added: Value) -> Result<()> {
    match (all, added) {
        (Value::Object(all), Value::Object(added)) => {
            for (key, value) in added {
                match all.get_mut(&key) {
                    Some(known) => merge(known, value).context(key)?,
                    None => drop(all.insert(key, value)),
                }
            }
        }
        (Value::Array(all), Value::Array(added)) => all.extend(added),
        (all, added) => ensure!(*all == added, "{all} and {added}"),
    }
    Ok(())
}

/// Runs a test for each folder on the CLI of the calling test, a few in parallel, and reports all that failed.
pub async fn each<T, F, Fut>(projects: Vec<T>, name: fn(&T) -> &'static str, test: F) -> Result<()>
where
    F: Fn(T) -> Fut,
    Fut: Future<Output = Result<()>> + 'static,
{
    let cli = Cli::find()?;
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let tested = async {
        let mut running = JoinSet::new();
        for project in projects {
            let places = Arc::clone(&places);
            let name = name(&project);
            let tested = test(project);
            running.spawn_local(cli.clone().run(async move {
                let _place = places.acquire().await.context("the semaphore is never closed")?;
                tested.await.context(name)
            }));
        }
        let mut failures = Vec::new();
        while let Some(ended) = running.join_next().await {
            if let Err(failure) = ended.context("a test panicked")? {
                failures.push(format!("{failure:#}"));
            }
        }
        ensure!(failures.is_empty(), "{} folders failed:\n{}", failures.len(), failures.join("\n"));
        Ok(())
    };
    LocalSet::new().run_until(tested).await
}
