//! Screens and keyboards of users: large scales on a small screen, and layouts without Latin letters.

use anyhow::{Result, ensure};
use deskbell_tests::suite::{Test, test};
use deskbell_tests::window::{Desktop, Extents, Launch, Manners, SHORT, Window};

use crate::stage::{PROJECT, Stage};

/// A laptop's screen.
const SMALL: (i32, i32) = (1280, 720);

/// Scales, with the variables of GTK that a desktop with this scale sets. GTK scales windows by whole numbers only, so that
/// desktops scale the text for those between.
const SCALES: [(&str, &[(&str, &str)]); 3] = [
    ("125", &[("GDK_DPI_SCALE", "1.25")]),
    ("150", &[("GDK_DPI_SCALE", "1.5")]),
    ("200", &[("GDK_SCALE", "2")]),
];

/// A keyboard whose first layout has no Latin letters.
#[derive(Clone, Copy, Debug)]
struct KeyboardLayout {
    name: &'static str,
    /// The text typed by the keys of [`WORD`].
    word: &'static str,
}

const LAYOUTS: [KeyboardLayout; 2] =
    [KeyboardLayout { name: "ru", word: "привет" }, KeyboardLayout { name: "il", word: "עינגאמ" }];

/// The codes of the keys G, H, B, D, T and N of an English keyboard.
const WORD: [&str; 6] = ["42", "43", "56", "40", "28", "57"];

/// The window on a small screen, at each scale.
pub fn at_scales() -> Vec<Test> {
    let at_a_scale = |(percent, variables): (&str, &'static [(&str, &str)])| {
        let name = format!("screens::the_window_fits_a_small_screen_at_{percent}_percent");
        let percent = percent.to_owned();
        test(name, move || fits(percent, variables))
    };
    SCALES.map(at_a_scale).into_iter().collect()
}

/// The keys in each layout.
pub fn in_layouts() -> Vec<Test> {
    let in_a_layout = |layout: KeyboardLayout| {
        test(format!("screens::keys_work_in_the_layout_{}", layout.name), move || keys_work(layout))
    };
    LAYOUTS.map(in_a_layout).into_iter().collect()
}

async fn fits(percent: String, variables: &'static [(&'static str, &'static str)]) -> Result<()> {
    let desktop = Desktop::sized(SMALL).await?;
    let folder = desktop.project(PROJECT)?;
    let launch =
        variables.iter().fold(Launch::demo(&folder), |launch, (name, value)| launch.env(name, value));
    let stage = Stage::on(desktop, folder, Manners::Polite, launch).await?;
    stage
        .play(&format!("scale-{percent}"), async |stage| {
            let window = &stage.window;
            window.click("textbox", "Prompt").await?;
            stage.pointer.type_text("TOOL Bash {\"command\":\"git push origin main\"}").await?;
            stage.pointer.key("Return").await?;
            window.find("group", "Permission request").await?;
            window.drawn().await?;
            stage.desktop.screenshot(&format!("scale-{percent}")).await?;
            let place = stage.pointer.extents(window.frame()).await?;
            ensure!(is_within(place, (0, 0, SMALL.0, SMALL.1)), "the window is at {place:?}");
            for (role, name) in [("textbox", "Prompt"), ("button", "Allow once"), ("button", "Deny")] {
                ensure!(is_in_sight(window, role, name).await?, "{role} “{name}” is not in sight");
            }
            Ok(())
        })
        .await
}

fn is_within(place: Extents, (left, top, right, bottom): (i32, i32, i32, i32)) -> bool {
    place.x >= left && place.y >= top && place.x + place.width <= right && place.y + place.height <= bottom
}

/// Whether all of an element is in the window, without scrolling.
async fn is_in_sight(window: &Window, role: &str, name: &str) -> Result<bool> {
    let element = window.find(role, name).await?;
    let (x, y, width, height) = element.rectangle().await?;
    let room = window.run("return [innerWidth, innerHeight, scrollX, scrollY];", Vec::new()).await?;
    let [across, down, scrolled_x, scrolled_y] = serde_json::from_value::<[f64; 4]>(room)?;
    let (x, y) = (x - scrolled_x, y - scrolled_y);
    Ok(x >= 0.0 && y >= 0.0 && x + width <= across && y + height <= down)
}

async fn keys_work(layout: KeyboardLayout) -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play(&format!("layout-{}", layout.name), async |stage| {
            let window = &stage.window;
            window.prompt("SAY Ready.").await?;
            window.wait_said("Ready.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            stage.desktop.layout(&format!("{},us", layout.name)).await?;
            window.click("textbox", "Prompt").await?;
            for code in WORD {
                stage.pointer.key(code).await?;
            }
            window.wait_typed("Prompt", layout.word).await?;
            // K, F and N of an English keyboard.
            stage.pointer.key("ctrl+45").await?;
            window.wait_focus("combobox “Search commands and sessions”").await?;
            stage.pointer.key("Escape").await?;
            stage.pointer.key("ctrl+41").await?;
            window.wait_focus("Find").await?;
            stage.pointer.key("Escape").await?;
            window.wait_focus("textbox “Prompt”").await?;
            stage.pointer.key("Return").await?;
            window.wait_text("log", "Conversation", layout.word, SHORT).await?;
            window.drawn().await?;
            stage.desktop.screenshot(&format!("layout-{}", layout.name)).await?;
            stage.pointer.key("ctrl+57").await?;
            window.wait_shows("What do you want to do in", SHORT).await.map(drop)
        })
        .await
}
