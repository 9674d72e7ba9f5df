//! `cargo xtask fuzz`: libFuzzer on invariants that hold for every input.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use crate::command::{cargo, command, read, run};
use crate::packages::Need;
use crate::{Outcome, project, system};

const CARGO_FUZZ_VERSION: &str = "0.13.2";
/// The running time of each target in minutes, unless the command sets it.
const MINUTES: u64 = 10;

/// The targets, and the dictionary of each.
const TARGETS: [(&str, Option<&str>); 7] = [
    ("wire", Some("json.txt")),
    ("lines", None),
    ("markdown", Some("markdown.txt")),
    ("terminal", Some("terminal.txt")),
    ("diff", None),
    ("fold", Some("json.txt")),
    ("acp", Some("json.txt")),
];

/// The targets to run, and the time for each.
#[derive(Debug, PartialEq, Eq)]
struct Plan {
    targets: Vec<(&'static str, Option<&'static str>)>,
    minutes: u64,
}

/// Runs one target or all, as many at a time as there are cores; fails if any has a finding.
pub fn fuzz(arguments: &[&str]) -> Outcome {
    let plan = plan(arguments)?;
    system::ensure(&[Need::Fuzz])?;
    let tool = ensure_tool()?;
    run(cargo_fuzz(&tool, "build").args(["--target-dir", &build_folder()]))?;
    let n_cores = thread::available_parallelism().map_or(1, usize::from);
    let mut findings = Vec::new();
    for some in plan.targets.chunks(n_cores) {
        let outcomes: Vec<Outcome> = thread::scope(|scope| {
            let start = |target| {
                let (tool, minutes) = (&tool, plan.minutes);
                scope.spawn(move || run_target(tool, target, minutes))
            };
            let running: Vec<_> = some.iter().map(start).collect();
            running.into_iter().map(|one| one.join().unwrap_or_else(|_| Err("it broke off".into()))).collect()
        });
        findings.extend(outcomes.into_iter().filter_map(Result::err));
    }
    if findings.is_empty() { Ok(()) } else { Err(findings.join("\n")) }
}

fn plan(arguments: &[&str]) -> Outcome<Plan> {
    let mut plan = Plan { targets: Vec::new(), minutes: MINUTES };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if *argument == "--minutes" {
            let number = arguments.next().and_then(|number| number.parse().ok());
            plan.minutes = number.ok_or("--minutes needs a whole number")?;
        } else {
            let names = TARGETS.map(|(name, _)| name).join(" ");
            let target = TARGETS.iter().find(|(name, _)| name == argument);
            plan.targets.push(*target.ok_or(format!("no target is called {argument}; they are: {names}"))?);
        }
    }
    if plan.targets.is_empty() {
        plan.targets = TARGETS.to_vec();
    }
    Ok(plan)
}

fn run_target(tool: &Path, &(target, words): &(&str, Option<&str>), minutes: u64) -> Outcome {
    // New inputs are written to the first folder, which is not versioned; inputs worth keeping are chosen by hand.
    let found = project::target().join("fuzz").join("corpus").join(target);
    let log = project::target().join("fuzz").join(format!("{target}.log"));
    fs::create_dir_all(&found).map_err(|error| format!("could not make {}: {error}", found.display()))?;
    let log_file =
        fs::File::create(&log).map_err(|error| format!("could not make {}: {error}", log.display()))?;
    let log_too =
        log_file.try_clone().map_err(|error| format!("could not write {}: {error}", log.display()))?;
    let kept = folder().join("corpus").join(target);
    let mut fuzz = cargo_fuzz(tool, "run");
    fuzz.args(["--target-dir", &build_folder(), target]).args([&found, &kept]).arg("--");
    fuzz.arg(format!("-max_total_time={}", minutes * 60));
    // A minute is a hang; seconds may be a machine that is busy with something else.
    fuzz.args(["-timeout=60", "-max_len=4096", "-rss_limit_mb=2048", "-print_final_stats=1"]);
    if let Some(words) = words {
        fuzz.arg(format!("-dict={}", folder().join("dictionaries").join(words).display()));
    }
    println!("Fuzzing {target} for {minutes} min; its log is {}", log.display());
    let status = fuzz.stdout(log_too).stderr(log_file).status();
    let status = status.map_err(|error| format!("could not start cargo-fuzz: {error}"))?;
    let text = fs::read_to_string(&log).unwrap_or_default();
    let n_runs = text.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    if status.success() {
        println!("{target}: {} inputs, no finding", n_runs.unwrap_or(" ?").trim());
        Ok(())
    } else {
        let artefact =
            text.lines().find_map(|line| line.split_once("Test unit written to ")).map(|(_, path)| path);
        Err(format!("{target}: a finding in {}, reported in {}", artefact.unwrap_or("?"), log.display()))
    }
}

/// The engine's own code is safe Rust, so it needs no sanitizer and no nightly compiler.
fn cargo_fuzz(tool: &Path, verb: &str) -> Command {
    let mut fuzz = command(tool);
    fuzz.args(["fuzz", verb, "--sanitizer=none"]).current_dir(folder());
    fuzz
}

fn folder() -> PathBuf {
    project::root().join("src-tauri/engine/fuzz")
}

fn build_folder() -> String {
    project::target().join("fuzz").display().to_string()
}

/// The tool, built on first need.
fn ensure_tool() -> Outcome<PathBuf> {
    let root = project::tools().join(format!("cargo-fuzz-{CARGO_FUZZ_VERSION}"));
    let tool = root.join("bin").join(format!("cargo-fuzz{}", std::env::consts::EXE_SUFFIX));
    if read(command(&tool).args(["fuzz", "--version"])).is_err() {
        let package = format!("cargo-fuzz@{CARGO_FUZZ_VERSION}");
        run(cargo().args(["install", "--locked", "--root"]).arg(&root).arg(package))?;
    }
    Ok(tool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_name_every_target_runs() {
        assert_eq!(plan(&[]), Ok(Plan { targets: TARGETS.to_vec(), minutes: MINUTES }));
    }

    #[test]
    fn a_target_and_a_time_can_be_named() {
        assert_eq!(
            plan(&["--minutes", "3", "lines"]),
            Ok(Plan { targets: vec![("lines", None)], minutes: 3 })
        );
        assert!(plan(&["--minutes"]).is_err() && plan(&["everything"]).is_err());
    }

    #[test]
    fn every_target_is_one_of_the_package() {
        for (target, words) in TARGETS {
            assert!(folder().join("fuzz_targets").join(format!("{target}.rs")).is_file(), "{target}");
            assert!(
                words.is_none_or(|words| folder().join("dictionaries").join(words).is_file()),
                "{target}"
            );
        }
    }
}
