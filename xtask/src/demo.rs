//! Shows the app on a virtual display: its demonstration, which is played and checked, or a window that is acted on.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{process, thread};

use crate::display::VirtualDisplay;
use crate::process::{Guarded, Lines, NoLine, marked};
use crate::{Outcome, project};

/// The prompt of the demonstration.
pub const PROMPT: &str = "Show me what you can do";
/// The prefix of the app's reports about the demonstration.
const REPORT: &str = "deskbell: demo: ";
/// The reports that show that the conversation has started.
const ARRIVED: [&str; 2] = ["turn ended", "permission waits"];
/// Timeout for the conversation to get there, on a slow machine.
const LIMIT: Duration = Duration::from_secs(120);
/// Timeout for the last process of the app to exit.
const GONE: Duration = Duration::from_secs(10);
/// An environment variable of the app, by which its remaining processes are found.
const MARK: &str = "DESKBELL_XTASK_DEMO";

/// A demonstration that succeeded.
pub struct Played {
    /// The app's reports, in order.
    pub reports: Vec<String>,
    /// The picture of the screen.
    pub screenshot: PathBuf,
    /// The time from the start of the program to the last report.
    pub took: Duration,
}

/// The arguments that make the app play the demonstration in the folder.
pub fn arguments(folder: &Path) -> Vec<String> {
    ["--demo", "--prompt", PROMPT, &folder.to_string_lossy()].map(str::to_owned).into()
}

/// Starts the app with its arguments; waits for the conversation, takes a picture, ends the app, and makes sure that
/// none of its processes is left.
pub fn play(app: &mut Command, screenshot: PathBuf) -> Outcome<Played> {
    let started_at = Instant::now();
    let (reports, took) = show(app, &screenshot, |_, lines| {
        let reports = wait_for_conversation(lines)?;
        Ok((reports, started_at.elapsed()))
    })?;
    Ok(Played { reports, screenshot, took })
}

/// Starts an app on a virtual display and acts on its window; takes a picture, ends the app, and makes sure that none of
/// its processes is left.
///
/// What it writes to its standard error is in a file next to the picture.
pub fn show<T>(
    app: &mut Command,
    screenshot: &Path,
    act: impl FnOnce(&VirtualDisplay, &mut Lines) -> Outcome<T>,
) -> Outcome<T> {
    let display = VirtualDisplay::start()?;
    display.put_on(app)?;
    let mark = process::id().to_string();
    let log = screenshot.with_extension("log");
    let stderr = File::create(&log).map_err(|error| format!("could not write {}: {error}", log.display()))?;
    app.env(MARK, &mark).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(stderr);

    let mut running = Guarded::spawn(app)?;
    let mut lines = running.lines()?;
    let acted = act(&display, &mut lines);
    // A picture in any case: it explains a failure best.
    let has_window = acted.is_ok() || running.ended()?.is_none();
    let pictured = if has_window { display.screenshot(screenshot) } else { Ok(()) };
    let stopped = running.stop();

    let acted = acted.map_err(|reason| format!("{reason}\n{}", tail(&log)))?;
    pictured?;
    stopped?;
    none_left(&mark)?;
    Ok(acted)
}

/// Waits until the app reports that the conversation of the demonstration has started, and returns its reports.
fn wait_for_conversation(lines: &mut Lines) -> Outcome<Vec<String>> {
    let deadline = Instant::now() + LIMIT;
    let arrived = lines.wait_for(deadline, |line| report(line).is_some_and(has_arrived));
    let reports: Vec<String> =
        lines.seen().iter().filter_map(|line| report(line)).map(str::to_owned).collect();
    let so_far = match reports.last() {
        Some(report) => format!("its last report was “{report}”"),
        None => "it reported nothing".to_owned(),
    };
    match arrived {
        Ok(_) => Ok(reports),
        Err(NoLine::OutputEnded) => Err(format!("the app ended early; {so_far}")),
        Err(NoLine::TimeIsUp) => Err(format!("no turn ended within {} s; {so_far}", LIMIT.as_secs())),
    }
}

/// A newly made folder with some contents for the demonstration.
pub fn project_folder() -> Outcome<PathBuf> {
    let folder = project::target().join("demo-project");
    let error = |error| format!("could not make {}: {error}", folder.display());
    fs::create_dir_all(&folder).map_err(error)?;
    fs::write(folder.join("README.md"), "# A small project\n\nOne file, to try things out.\n")
        .map_err(error)?;
    Ok(folder)
}

fn report(line: &str) -> Option<&str> {
    line.strip_prefix(REPORT)
}

fn has_arrived(report: &str) -> bool {
    ARRIVED.iter().any(|arrived| report.starts_with(arrived))
}

fn none_left(mark: &str) -> Outcome {
    let deadline = Instant::now() + GONE;
    loop {
        let left = marked(MARK, mark);
        if left.is_empty() {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(format!("the app exited and left processes running: {}", left.join(", ")));
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// The last lines of the app's standard error.
fn tail(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let first = lines.len().saturating_sub(20);
    format!("{} ends with:\n{}", log.display(), lines[first..].join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_app_s_reports_are_told_from_other_lines() {
        assert_eq!(report("deskbell: demo: turn ended"), Some("turn ended"));
        assert_eq!(report("deskbell: ready"), None);
        assert!(has_arrived("turn ended in 1.2 s"));
        assert!(has_arrived("permission waits"));
        assert!(!has_arrived("painted"));
    }
}
