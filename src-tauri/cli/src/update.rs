//! `deskbell update`: replaces the AppImage that runs this command with a newer one. Only the user runs it: nothing in
//! Deskbell starts it. See docs/design/packages.md.

#[cfg(target_os = "linux")]
mod curl;
#[cfg(target_os = "linux")]
mod image;
#[cfg(target_os = "linux")]
mod latest;
#[cfg(target_os = "linux")]
mod running;
#[cfg(target_os = "linux")]
mod update_place;
#[cfg(target_os = "linux")]
mod updater;

use crate::args::update::UpdateOptions;
use crate::exit::Exit;
use crate::output::{plain, print};
use serde::Serialize;
use std::process::ExitCode;

/// How an update ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "there is an AppImage on Linux only"))]
enum State {
    /// There is a newer version, and it was not to be installed.
    Newer,
    Newest,
    Installed,
    /// This Deskbell is not updated by itself.
    Unavailable,
    /// Something works or waits.
    Refused,
    Failed,
}

/// The result, as `--json` prints it.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Report {
    current: &'static str,
    /// `null` until a list with a right signature has said it.
    newest: Option<String>,
    state: State,
    /// One sentence or two: what happened, and what to do next.
    why: String,
}

impl Report {
    fn new(state: State, why: impl Into<String>) -> Self {
        Self { current: env!("CARGO_PKG_VERSION"), newest: None, state, why: why.into() }
    }

    fn exit_code(&self) -> ExitCode {
        match self.state {
            State::Newer | State::Newest | State::Installed => ExitCode::SUCCESS,
            State::Refused | State::Failed => ExitCode::FAILURE,
            State::Unavailable => Exit::Usage.into(),
        }
    }
}

pub fn main(options: UpdateOptions) -> ExitCode {
    let report = run(options);
    let is_good = matches!(report.state, State::Newer | State::Newest | State::Installed);
    let printed = if options.json {
        serde_json::to_string(&report).map_err(Into::into).and_then(|text| print((text + "\n").as_bytes()))
    } else if is_good {
        print((plain(&report.why) + "\n").as_bytes())
    } else {
        eprintln!("deskbell: {}", plain(&report.why));
        Ok(())
    };
    match printed {
        Ok(()) => report.exit_code(),
        Err(error) => {
            eprintln!("deskbell: the result could not be printed: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(target_os = "linux")]
fn run(options: UpdateOptions) -> Report {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    match runtime {
        Ok(runtime) => {
            let report = runtime.block_on(updater::update(options.check));
            // A thread that waits for a dead mount must not hold up the end.
            runtime.shutdown_background();
            report
        }
        Err(error) => Report::new(State::Failed, format!("The update could not start: {error}.")),
    }
}

#[cfg(not(target_os = "linux"))]
fn run(_options: UpdateOptions) -> Report {
    Report::new(
        State::Unavailable,
        "On this system the installer of a newer version updates Deskbell; this command does not.",
    )
}
