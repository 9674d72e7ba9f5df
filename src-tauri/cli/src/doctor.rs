//! `deskbell doctor`: the report about the agents and the desktop.

use crate::args::ReportForm;
use crate::logs;
use crate::output::print;
use deskbell_engine::api::PermissionChannel;
use deskbell_sessions::agent::Run;
use deskbell_sessions::doctor;
use std::path::PathBuf;
use std::process::ExitCode;

/// Runs `deskbell doctor`: succeeds if the agent is found and asks for permission. `Json` prints the whole result as one
/// JSON object instead of the report.
pub fn main(chosen: Option<PathBuf>, form: ReportForm, data: PathBuf, gpu: Option<bool>) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("deskbell: could not start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let run = Run::begin(&data);
    let checkup = runtime.block_on(doctor::check(chosen, data.clone(), run.clone(), gpu));
    run.end();
    let text = match form {
        ReportForm::Text => Ok(checkup.report.clone()),
        ReportForm::WithLog => {
            Ok(format!("{}\n{}", checkup.report, runtime.block_on(logs::last_lines(&data))))
        }
        ReportForm::Json => serde_json::to_string(&checkup).map(|line| line + "\n"),
    };
    if let Err(error) = text.map_err(std::io::Error::from).and_then(|text| print(text.as_bytes())) {
        eprintln!("deskbell: {error}");
        return ExitCode::FAILURE;
    }
    if checkup.channel == PermissionChannel::Asks { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
