//! A cold start next to a bare window of Tauri in the same run, and what the app costs while it rests.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use deskbell_tests::window::{App, Desktop, LONG, Launch, Window, eventually};
use serde_json::Value;
use tokio::time::{interval, timeout};

use super::memory_mib;

/// Starts of each program; the two take turns.
const ROUNDS: usize = 7;
/// The first paint of the app may take so many times as long as that of the bare window. 1.25 is the goal and was measured.
const MOST_TIMES: f64 = 1.6;
/// How long the app is watched at rest.
const REST: Duration = Duration::from_secs(20);
/// Wake-ups a second of the threads that run the sessions, with an idle one. The toolkit's threads have more: the prompt box
/// has a blinking caret, and WebKit waits for some twenty frames of the display after each change of it.
const MOST_WAKE_UPS: f64 = 1.0;

/// The threads of tokio, which run the sessions.
const OURS: &str = "tokio-rt";

/// The first text that is drawn, in milliseconds since 1970.
const PAINTED: &str = "const [paint] = performance.getEntriesByName('first-contentful-paint');
    return paint ? performance.timeOrigin + paint.startTime : null";
/// The time at which the prompt box was found.
const READY: &str = "const box = document.querySelector('textarea[aria-label=Prompt]');
    return box && !box.disabled ? Date.now() : null";

/// A start, in milliseconds from that of its process.
struct Started {
    painted: f64,
    /// To the prompt box, which is looked for every few milliseconds.
    ready: f64,
}

pub async fn bench_a_start() -> Result<()> {
    let bare = std::env::var_os("DESKBELL_TEST_BARE").context("DESKBELL_TEST_BARE names no program")?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        // A desktop of its own for each, so that no start finds what an earlier one left.
        let desktop = Desktop::start().await?;
        let folder = desktop.project("started")?;
        let app = App::start(&desktop, &Launch::folder(&folder).program(&bare)).await?;
        theirs.push(since_start(&app, &desktop, PAINTED).await?);
        drop((app, desktop));

        let desktop = Desktop::start().await?;
        let folder = desktop.project("started")?;
        let app = App::start(&desktop, &Launch::demo(&folder)).await?;
        let painted = since_start(&app, &desktop, PAINTED).await?;
        ours.push(Started { painted, ready: since_start(&app, &desktop, READY).await? });
        if round == ROUNDS {
            let window = app.window("started").await?;
            at_rest(&app, &desktop, &window).await?;
        }
    }
    let bare = median(theirs);
    let painted = median(ours.iter().map(|start| start.painted).collect());
    let ready = median(ours.iter().map(|start| start.ready).collect());
    let times = painted / bare;
    println!(
        "first paint: {painted:.0} ms, a bare window {bare:.0} ms: {times:.2} times; prompt box: {ready:.0} ms"
    );
    ensure!(times <= MOST_TIMES, "the first paint takes {times:.2} times as long as a bare window's");
    Ok(())
}

/// The milliseconds from the start of the app's process until the page gives a time.
async fn since_start(app: &App, desktop: &Desktop, script: &str) -> Result<f64> {
    let began = began(app.process(desktop)?.pid)?;
    let window = app.page().await?;
    let at = eventually("the page is drawn", LONG, async || {
        Ok(window.run(script, Vec::new()).await.ok().as_ref().and_then(Value::as_f64))
    })
    .await?;
    Ok(at - began)
}

/// The start of a process, in milliseconds since 1970, to ten of them.
fn began(pid: u32) -> Result<f64> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs_f64();
    let uptime = fs::read_to_string("/proc/uptime")?;
    let uptime: f64 = uptime.split(' ').next().unwrap_or_default().parse()?;
    Ok((now - uptime + ticks(pid, 22)? / 100.0) * 1_000.0)
}

/// A field of a process's `stat`, counted from one, as proc(5) does.
fn ticks(pid: u32, field: usize) -> Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name in parentheses can contain spaces: the third field is the first one after it.
    let (_, fields) = stat.rsplit_once(')').context("a process without a name")?;
    Ok(fields.split_whitespace().nth(field - 3).context("stat has too few fields")?.parse()?)
}

/// Watches the app with an idle session.
async fn at_rest(app: &App, desktop: &Desktop, window: &Window) -> Result<()> {
    window.paste_prompt("SAY ready").await?;
    window.wait_said("ready", LONG).await?;
    window.wait_idle(LONG).await?;
    let pid = app.process(desktop)?.pid;
    timeout(LONG, a_second_of_rest(pid)).await.context("the threads of sessions do not rest")??;
    let mut time = interval(REST);
    time.tick().await;
    let before = (wake_ups(pid, "")?, wake_ups(pid, OURS)?, cpu(pid)?);
    time.tick().await;
    let seconds = REST.as_secs_f64();
    let all = (wake_ups(pid, "")? - before.0) / seconds;
    let ours = (wake_ups(pid, OURS)? - before.1) / seconds;
    let cpu = (cpu(pid)? - before.2) / seconds;
    let memory: f64 = app.processes(desktop).iter().filter_map(|process| memory_mib(process.pid).ok()).sum();
    println!(
        "at rest, a second: {ours:.2} wake-ups of the threads of sessions, {all:.0} with those of the toolkit, and {:.1} ms \
         of CPU in the app's own process; {memory:.0} MiB in all, {:.0} of them its own",
        cpu * 1_000.0,
        memory_mib(pid)?
    );
    ensure!(ours <= MOST_WAKE_UPS, "{ours:.2} wake-ups a second with an idle session");
    Ok(())
}

/// Waits for a second without a wake-up of the threads of sessions: a turn leaves something to be saved and drawn.
async fn a_second_of_rest(pid: u32) -> Result<()> {
    let mut time = interval(Duration::from_secs(1));
    time.tick().await;
    loop {
        let before = wake_ups(pid, OURS)?;
        time.tick().await;
        if wake_ups(pid, OURS)? == before {
            return Ok(());
        }
    }
}

/// How often the threads of a process went to sleep whose name begins with this.
fn wake_ups(pid: u32, name: &str) -> Result<f64> {
    let mut all = 0.0;
    for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
        let thread = thread?.path();
        if fs::read_to_string(thread.join("comm"))?.starts_with(name) {
            all += voluntary_switches(&thread)?;
        }
    }
    Ok(all)
}

fn voluntary_switches(thread: &Path) -> Result<f64> {
    let status = fs::read_to_string(thread.join("status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    Ok(line.context("no count of switches")?.trim().parse()?)
}

/// The seconds of processor time of a process.
fn cpu(pid: u32) -> Result<f64> {
    Ok((ticks(pid, 14)? + ticks(pid, 15)?) / 100.0)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
