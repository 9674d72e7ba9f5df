//! Random input: keys, clicks and changes of focus around requests that appear and disappear. Nothing is allowed except
//! on purpose, by a click or the space bar on a button that had been armed.
//!
//! `DESKBELL_TEST_SEED` repeats a run, as far as a real desktop is repeatable.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use deskbell_tests::chance::{self, Chance};
use deskbell_tests::window::{AgentStub, Desktop, Extents, LONG, SHORT, Window, eventually};
use serde_json::Value;

use crate::stage::Stage;

const EVENTS: usize = 2_000;
const EVENTS_OF_A_WHOLE_RUN: usize = 5_000;
/// A run has more requests than this.
const REQUESTS: usize = 60;
/// Events in a row: few enough that no button is armed between the first and the last of them.
const BATCH: usize = 40;
/// Batches in a row with or without intended answers.
const STRETCH: usize = 15;
/// The time from being shown to being armed.
const ARMED_AFTER: Duration = Duration::from_millis(700);
/// The time within which an answer has reached the agent.
const ARRIVED_WITHIN: Duration = Duration::from_secs(3);

/// Keys that decide nothing, wherever the focus is, and keys that move it.
const HARMLESS: [&str; 6] = ["Return", "KP_Enter", "Return", "Down", "Up", "End"];
const WANDERING: [&str; 4] = ["Tab", "shift+Tab", "space", "Escape"];

/// The places of all targets at this moment.
struct Scene {
    /// Every button that allows a request, in the card and in the dialog.
    allow: Vec<Extents>,
    /// All places where such a button has been.
    avoid: Vec<Extents>,
    /// Other places to click: in the card and around it, in the dialog.
    places: Vec<Extents>,
}

/// The intended answers in one batch.
struct Deliberate {
    until: Duration,
}

pub async fn random_input_allows_nothing() -> Result<()> {
    let seed = chance::seed();
    let stage = Stage::stand_in(AgentStub::asking_on_and_on).await?;
    stage.play("accident", async |stage| run(stage, seed).await.context(format!("seed {seed}"))).await
}

async fn run(stage: &mut Stage, seed: u64) -> Result<()> {
    let mut chance = Chance(seed);
    stage.window.wait_shows("Do you trust lighthouse?", SHORT).await?;
    crate::trust::trust(&stage.window).await?;
    stage.window.prompt("begin").await?;
    stage.window.find("group", "Permission request").await?;
    let elsewhere = stage.look_away().await?;
    stage.pointer.resize(elsewhere.frame, 160, 60).await?;
    stage.pointer.place(elsewhere.frame, 0, 0).await?;
    let (mut known, mut last) = (Vec::new(), [const { String::new() }; 3]);
    let mut judged = BTreeSet::new();
    let mut last_deliberate: Option<Deliberate> = None;
    let (mut n_events, mut n_batches, mut n_allowed) = (0, 0, 0);
    let n_wanted = if chance::is_whole() { EVENTS_OF_A_WHOLE_RUN } else { EVENTS };
    // How many requests appear depends on the time that the events take, and which ones are allowed on chance.
    let is_enough =
        |n_events, n_asked, n_allowed| n_events >= n_wanted && n_asked > REQUESTS && n_allowed > 0;
    loop {
        let n_asked = AgentStub::asked(&stage.desktop).len();
        if is_enough(n_events, n_asked, n_allowed) {
            break;
        }
        ensure!(
            n_events < 4 * n_wanted,
            "{n_asked} requests, {n_allowed} allowed on purpose: the test proves nothing"
        );
        // In every other stretch nothing is intended: there, any allow is an accident.
        let on_purpose = (n_batches / STRETCH) % 2 == 1;
        if n_batches % STRETCH == 0 {
            // All input of the previous stretch has arrived.
            tokio::time::sleep(if on_purpose { Duration::ZERO } else { ARRIVED_WITHIN }).await;
            n_allowed += judge(stage, &mut judged, last_deliberate.take().as_ref())?;
            stage.window.reload().await?;
            stage.window.find("textbox", "Prompt").await?;
            // An intended answer may have interrupted the turn and ended the agent, which ignores interrupts.
            begin_again(stage).await?;
        }
        let mut scene = look(stage).await?;
        // Requests come and go during the look: where a button has been, one may appear again.
        for button in &scene.allow {
            if !known.contains(button) {
                known.push(*button);
            }
        }
        scene.avoid.clone_from(&known);
        let mut events: Vec<String> = Vec::new();
        for _ in 0..BATCH {
            events.extend(event(&mut chance, &scene, on_purpose, stage.window.frame().0, elsewhere.frame.0));
        }
        last.rotate_left(1);
        last[2] = events.join(" ");
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        stage.pointer.many(&events).await?;
        if on_purpose {
            last_deliberate = Some(Deliberate { until: now() });
        }
        n_events += BATCH;
        n_batches += 1;
        n_allowed += judge(stage, &mut judged, last_deliberate.as_ref())
            .with_context(|| format!("buttons: {known:?}; the last events: {last:#?}"))?;
    }
    let n_asked = AgentStub::asked(&stage.desktop).len();
    println!("{n_events} events, {n_asked} requests, {n_allowed} allowed on purpose");
    Ok(())
}

/// Checks that the agent sends requests, and starts it again if it does not.
async fn begin_again(stage: &Stage) -> Result<()> {
    let n_asked = AgentStub::asked(&stage.desktop).len();
    let grows = || async { Ok((AgentStub::asked(&stage.desktop).len() > n_asked).then_some(())) };
    if eventually("the agent asks", Duration::from_secs(4), async || grows().await).await.is_err() {
        // Random input may have opened another session, of another agent, and may have archived or removed this one.
        let open = "const row = [...document.querySelectorAll('nav[aria-label=\"Sessions\"] button')]
                .find((row) => row.textContent.includes('begin'));
            row?.click();
            return row !== undefined;";
        let is_there = stage.window.run(open, Vec::new()).await? == true;
        if is_there {
            stage.window.wait_text("log", "Conversation", "begin", SHORT).await?;
        }
        let text = if is_there { "go on" } else { "begin" };
        if stage.window.prompt(text).await.is_err() {
            // What random input opened may cover the box.
            stage.window.reload().await?;
            stage.window.find("textbox", "Prompt").await?;
            stage.window.prompt(text).await?;
        }
        // Random input may have stopped a turn while a prompt waited. Then all prompts wait for the user.
        let go_on = "[...document.querySelectorAll('button')]
                .find((button) => button.textContent.trim() === 'Continue')?.click();";
        let asks = async || {
            stage.window.run(go_on, Vec::new()).await?;
            grows().await
        };
        eventually("the agent asks again", LONG, asks).await?;
    }
    Ok(())
}

/// One event, as arguments of xdotool.
fn event(chance: &mut Chance, scene: &Scene, on_purpose: bool, window: u64, elsewhere: u64) -> Vec<String> {
    let words = |text: String| text.split(' ').map(str::to_owned).collect();
    let click = |(x, y): (i32, i32)| words(format!("mousemove {x} {y} click 1"));
    match chance.below(10) {
        0..3 => words(format!("key --delay 0 {}", HARMLESS[chance.below(HARMLESS.len())])),
        3 if on_purpose => words(format!("key --delay 0 {}", WANDERING[chance.below(WANDERING.len())])),
        4 => words(format!("windowactivate {}", [window, elsewhere][chance.below(2)])),
        5..7 if on_purpose && !scene.allow.is_empty() => {
            click(scene.allow[chance.below(scene.allow.len())].middle())
        }
        _ if !scene.places.is_empty() => {
            let place = scene.places[chance.below(scene.places.len())];
            let mut at = (0, 0);
            for _ in 0..20 {
                let x = place.x + chance.below(place.width.max(1) as usize) as i32;
                let y = place.y + chance.below(place.height.max(1) as usize) as i32;
                let is_allow = scene.avoid.iter().any(|button| is_in(*button, x, y));
                if !is_allow {
                    at = (x, y);
                    break;
                }
            }
            click(at)
        }
        _ => words(format!("key --delay 0 {}", HARMLESS[chance.below(HARMLESS.len())])),
    }
}

/// With a margin, because a window may be drawn with a small offset.
fn is_in(button: Extents, x: i32, y: i32) -> bool {
    let margin = 12;
    (button.x - margin..button.x + button.width + margin).contains(&x)
        && (button.y - margin..button.y + button.height + margin).contains(&y)
}

/// Finds the places of all targets.
async fn look(stage: &Stage) -> Result<Scene> {
    let inside = stage.pointer.extents(stage.window.frame()).await?;
    let (mut allow, mut places) = (Vec::new(), Vec::new());
    for (what, rect) in rects(&stage.window).await? {
        let placed = Extents { x: rect.x + inside.x, y: rect.y + inside.y, ..rect };
        if what == "allow" { allow.push(placed) } else { places.push(placed) }
    }
    for dialog in stage.dialogs().await?.list().await? {
        // A target that disappears during the look has no place any more, or a wrong one.
        places.extend(dialog.extents().await.ok().filter(is_on_the_screen));
        for button in ["Allow once", "Always allow"] {
            allow.extend(dialog.extents_of(button).await.ok().filter(is_on_the_screen));
        }
    }
    Ok(Scene { allow, avoid: Vec::new(), places })
}

fn is_on_the_screen(extents: &Extents) -> bool {
    let (x, y) = (extents.x, extents.y);
    let (width, height) = Desktop::SIZE;
    (0..width).contains(&x)
        && (0..height).contains(&y)
        && (1..=width - x).contains(&extents.width)
        && (1..=height - y).contains(&extents.height)
}

async fn rects(window: &Window) -> Result<Vec<(String, Extents)>> {
    let script = "
        const rect = (what, element) => {
            const { x, y, width, height } = element.getBoundingClientRect();
            return [what, x, y, width, height];
        };
        const cards = [...document.querySelectorAll(\"[aria-label='Permission request']\")];
        const allow = cards.flatMap((card) => [...card.querySelectorAll('button')])
            .filter((button) => /^(Allow|Always allow(?!…))/.test(button.textContent.trim()));
        return [...cards.map((card) => rect('card', card)), ...allow.map((button) => rect('allow', button))];";
    let found = window.run(script, Vec::new()).await?;
    let found = found.as_array().into_iter().flatten().map(|rect| {
        let number = |at: usize| rect[at].as_f64().unwrap_or_default() as i32;
        let extents = Extents { x: number(1), y: number(2), width: number(3), height: number(4) };
        (rect[0].as_str().unwrap_or_default().to_owned(), extents)
    });
    Ok(found.collect())
}

/// Checks the answers that the agent received since the last time; returns how many were allowed on purpose.
fn judge(stage: &Stage, judged: &mut BTreeSet<String>, deliberate: Option<&Deliberate>) -> Result<usize> {
    let asked = AgentStub::asked(&stage.desktop);
    let mut n_allowed = 0;
    for line in AgentStub::heard(&stage.desktop).lines() {
        // The last line may be half written.
        let Ok(answer) = serde_json::from_str::<Value>(line) else { continue };
        let answer = &answer["response"];
        if answer["response"]["behavior"] != "allow" {
            continue;
        }
        let id = answer["request_id"].as_str().context("an answer names its request")?;
        if !judged.insert(id.to_owned()) {
            continue;
        }
        let asked_at = asked.get(id).context("what is allowed was asked")?;
        let deliberate =
            deliberate.with_context(|| format!("{id} was allowed, which nobody did on purpose"))?;
        ensure!(
            deliberate.until >= *asked_at + ARMED_AFTER,
            "{id} was allowed {:?} after it was asked",
            deliberate.until.saturating_sub(*asked_at)
        );
        n_allowed += 1;
    }
    Ok(n_allowed)
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
