//! Visibility of dialogs: where a dialog allows a request, all of it is on the screen. Checked in pixels, at every size
//! of text, on screens of several sizes, in several fonts, for subjects of every shape.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use deskbell_tests::suite::{Test, test};
use deskbell_tests::window::{Desktop, Dialog, Dialogs, Extents, LONG, Launch, Manners, SHORT, eventually};
use serde_json::json;

use crate::stage::{PROJECT, Stage};

const LARGE: (i32, i32) = Desktop::SIZE;
const SMALL: (i32, i32) = (800, 600);
const TALL: (i32, i32) = (640, 1000);
/// The sizes of text and screen.
const SCREENS: [(&str, (i32, i32)); 10] = [
    ("0.75", LARGE),
    ("1", LARGE),
    ("1.25", LARGE),
    ("1.5", LARGE),
    ("2", LARGE),
    ("3", LARGE),
    ("1", SMALL),
    ("2", SMALL),
    ("1.25", TALL),
    ("3", TALL),
];
/// The desktop's fonts: a name, GTK's own font with its size in points, and the family that “monospace” stands for, which
/// a user can point at one without a fixed pitch.
const FONTS: [(&str, &str, &str); 3] = [
    ("large-serif", "DejaVu Serif 17", "DejaVu Sans Mono"),
    ("small", "DejaVu Sans 7", "DejaVu Sans Mono"),
    ("no-fixed-pitch", "DejaVu Sans 11", "DejaVu Serif"),
];
/// The size of GTK's font where no setting changes it, in points.
const USUAL_SIZE: &str = "11";
/// Two last characters that look different: only one of them changes between two screenshots.
const LAST: [char; 2] = ['M', '.'];
/// The time after which *Allow once* is armed, or never.
const ARMED_WITHIN: Duration = Duration::from_millis(2_500);

struct Shape {
    name: &'static str,
    /// All but the last character.
    text: String,
    /// Whether a dialog can show it at all.
    is_plain: bool,
}

fn shapes() -> Vec<Shape> {
    let line = |n: usize| {
        let start = format!("echo line-{n} ");
        format!("{start}{}", "x".repeat(80 - start.len()))
    };
    let tail = "curl -s https://example.net/install | s";
    let sixth = format!("{}; {tail}", "y".repeat(78 - tail.len()));
    let plain = |name, text: String| Shape { name, text, is_plain: true };
    let odd = |name, text: &str| Shape { name, text: text.to_owned(), is_plain: false };
    vec![
        plain("one line", "cargo publish --dry-run --package tide".to_owned()),
        plain("six lines of 80", (1..6).map(line).chain([sixth]).collect::<Vec<_>>().join("\n")),
        plain("one long word", format!("./release-{}", "e".repeat(580))),
        plain("short words", format!("rm -rf {}", "a b c ".repeat(95).trim_end())),
        plain("many short lines", (1..=14).map(|n| format!("cd {n}")).collect::<Vec<_>>().join("\n")),
        plain("accents", format!("echo {}", "Ångström ÿ Łódź ".repeat(20).trim_end())),
        odd("tabs", "make\tall\tinstal"),
        odd("CJK", "echo 漢字 かな 한글"),
        odd("combining", "echo e\u{301}\u{301}\u{301}"),
        odd("right to left", "echo שלום مرحبا"),
    ]
}

/// A test for each size of text and screen, and for each font: everything that can be allowed is visible.
pub fn tests() -> Vec<Test> {
    let limit = Duration::from_secs(300);
    let on_a_screen = |(scale, (width, height))| {
        let name = format!("visible::all_of_what_can_be_allowed_at_{scale}_on_{width}x{height}");
        test(name, move || at(scale, (width, height), None)).within(limit)
    };
    let in_a_font = |font: (&'static str, _, _)| {
        let name = format!("visible::all_of_what_can_be_allowed_in_{}", font.0);
        test(name, move || at("1", LARGE, Some(font))).within(limit)
    };
    let all = SCREENS.into_iter().map(on_a_screen).chain(FONTS.into_iter().map(in_a_font));
    all.map(Test::sampled).collect()
}

async fn at(
    scale: &'static str,
    size: (i32, i32),
    font: Option<(&'static str, &'static str, &'static str)>,
) -> Result<()> {
    let desktop = Desktop::sized(size).await?;
    let folder = desktop.project(PROJECT)?;
    let mut launch = Launch::demo(&folder).env("GDK_DPI_SCALE", scale);
    if let Some((_, interface, monospace)) = font {
        launch = with_fonts(&desktop, launch, interface, monospace)?;
    }
    let stage = Stage::on(desktop, folder, Manners::Polite, launch).await?;
    let fonts = font.map_or("usual fonts", |(name, _, _)| name);
    let points = font.and_then(|(_, interface, _)| interface.rsplit(' ').next()).unwrap_or(USUAL_SIZE);
    let size_of_text = scale.parse::<f64>()? * points.parse::<f64>()? / USUAL_SIZE.parse::<f64>()?;
    let name = format!("visible-{scale}-{}x{}-{}", size.0, size.1, fonts.replace(' ', "-"));
    let mut allowed = BTreeSet::new();
    let found = &mut allowed;
    stage.play(&name.clone(), async |stage| on_screen(stage, &name, size_of_text, found).await).await?;
    println!("text at {scale} on {size:?} in {fonts}, allowed in the dialog: {allowed:?}");
    // Without this the test could pass because nothing can be allowed anywhere.
    if size == LARGE && scale.parse::<f64>()? <= 1.5 {
        for shape in ["one line", "six lines of 80", "one long word", "accents"] {
            ensure!(allowed.contains(shape), "“{shape}” cannot be allowed: {allowed:?}");
        }
    }
    Ok(())
}

/// Makes these the fonts of the desktop, as a user's settings do.
fn with_fonts(desktop: &Desktop, launch: Launch, interface: &str, monospace: &str) -> Result<Launch> {
    let folder = desktop.home().join(".config/gtk-3.0");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("settings.ini"), format!("[Settings]\ngtk-font-name={interface}\n"))?;
    let fonts = desktop.scratch().join("fonts.conf");
    let chosen = format!(
        r#"<fontconfig><include>/etc/fonts/fonts.conf</include><match target="pattern">
        <test name="family"><string>monospace</string></test>
        <edit name="family" mode="assign" binding="strong"><string>{monospace}</string></edit>
        </match></fontconfig>"#
    );
    fs::write(&fonts, format!("<?xml version=\"1.0\"?>\n{chosen}\n"))?;
    Ok(launch.env("FONTCONFIG_FILE", fonts))
}

async fn on_screen(
    stage: &Stage,
    name: &str,
    scale: f64,
    allowed: &mut BTreeSet<&'static str>,
) -> Result<()> {
    let window = &stage.window;
    // The prompts are sent without the keyboard, so the window is never in front.
    let session = window.invoke("create_session", json!({})).await?.map_err(|error| anyhow!("{error}"))?;
    let session = session["id"].as_str().context("a session has an id")?.to_owned();
    let _elsewhere = stage.step_aside().await?;
    let dialogs = stage.dialogs().await?;
    for shape in shapes() {
        let mut pictures = Vec::new();
        for last in LAST {
            let command = format!("{}{last}", shape.text);
            let text = format!("TOOL Bash {}\nSAY Done.", json!({ "command": command }));
            let prompt = json!({ "type": "prompt", "text": text, "images": [] });
            let sent = window.invoke("command", json!({ "sessionId": session, "command": prompt })).await?;
            ensure!(sent.is_ok(), "the prompt was refused: {sent:?}");
            let dialog = one(&dialogs).await?;
            if can_allow(&dialog).await? {
                ensure!(shape.is_plain, "{} can be allowed in a dialog", shape.name);
                let whole = dialog.extents().await?;
                let subject = dialog.label(&command).await?.extents().await?;
                // Down to the end of the subject. Below it a button fades in when it is enabled, on a busy desktop late.
                let height = (subject.y + subject.height - whole.y).min(whole.height);
                let frame = Extents { height, ..whole };
                let pixels = still(&stage.desktop, frame).await.context(shape.name)?;
                if last == LAST[0] {
                    let picture = format!("{name}-{}", shape.name.replace(' ', "-"));
                    stage.desktop.screenshot(&picture).await?;
                    nothing_is_added(&dialog, &command, frame, &pixels).await.context(shape.name)?;
                }
                pictures.push((frame, pixels));
            }
            dialog.press("Deny").await?;
            dialog.gone().await?;
        }
        match &pictures[..] {
            [] => {}
            [(frame, first), (same, second)] => {
                ensure!(frame == same, "{}: {frame:?} is not {same:?}", shape.name);
                only_one_character_differs(*frame, first, second, scale).context(shape.name)?;
                allowed.insert(shape.name);
            }
            _ => anyhow::bail!("{}: only one of two that are as long can be allowed", shape.name),
        }
    }
    Ok(())
}

async fn one(dialogs: &Dialogs) -> Result<Dialog> {
    eventually("the dialog", LONG, async || Ok(dialogs.list().await?.pop())).await
}

/// A screenshot without movement.
async fn still(desktop: &Desktop, frame: Extents) -> Result<Vec<u8>> {
    let mut before = Vec::new();
    eventually("a picture that stays the same", SHORT, async || {
        let now = desktop.pixels(frame).await?;
        let is_still = now == before;
        before = now;
        Ok(is_still.then(|| before.clone()))
    })
    .await
}

/// Waits until it can be allowed, up to the deadline.
async fn can_allow(dialog: &Dialog) -> Result<bool> {
    if !dialog.buttons().await.iter().any(|name| name == "Allow once") {
        return Ok(false);
    }
    let armed =
        eventually("armed", ARMED_WITHIN, async || Ok(dialog.armed("Allow once").await?.then_some(())));
    Ok(armed.await.is_ok())
}

/// Compares two screenshots of subjects that differ in their last character.
fn only_one_character_differs(frame: Extents, first: &[u8], second: &[u8], scale: f64) -> Result<()> {
    let width = usize::try_from(frame.width)?;
    let pixels = first.chunks_exact(3).zip(second.chunks_exact(3)).enumerate();
    let differing: Vec<(usize, usize)> = pixels
        .filter(|(_, (first, second))| first != second)
        .map(|(at, _)| (at % width, at / width))
        .collect();
    ensure!(!differing.is_empty(), "it can be allowed, and its last character is not on the screen");
    let span = |values: Vec<usize>| values.iter().max().unwrap_or(&0) - values.iter().min().unwrap_or(&0) + 1;
    let wide = span(differing.iter().map(|(x, _)| *x).collect());
    let high = span(differing.iter().map(|(_, y)| *y).collect());
    let most = 16.0 * scale;
    ensure!(
        (wide as f64) <= most && (high as f64) <= most,
        "more than the last character differs: {wide}x{high} pixels"
    );
    Ok(())
}

/// There is nothing to the right of the last character of each line: no hyphen, no ellipsis, no mark that could be one.
async fn nothing_is_added(dialog: &Dialog, command: &str, frame: Extents, pixels: &[u8]) -> Result<()> {
    let label = dialog.label(command).await?;
    let inside = label.extents().await?;
    let n = command.chars().count();
    let mut before = label.character_extents(0).await?;
    let mut ends = Vec::new();
    for index in 1..n {
        let place = label.character_extents(index).await?;
        if place.y != before.y {
            ends.push(before);
        }
        before = place;
    }
    ends.push(before);
    for end in ends {
        let from = end.x + end.width.max(0);
        let to = inside.x + inside.width;
        let mut ground = None;
        for y in end.y + 1..end.y + end.height - 1 {
            for x in from + 1..to {
                let at = usize::try_from(((y - frame.y) * frame.width + (x - frame.x)) * 3)?;
                let pixel = pixels.get(at..at + 3).context("the text is inside the dialog")?;
                ensure!(
                    *ground.get_or_insert(pixel) == pixel,
                    "something is drawn behind the line that ends at {end:?}, at {x}, {y}"
                );
            }
        }
    }
    Ok(())
}
