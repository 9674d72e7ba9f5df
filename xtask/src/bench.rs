//! `cargo xtask bench`: the costs of Deskbell. Times are only reported; a benchmark can fail only on counted values, and
//! `ssh` also on ratios within its run.

mod gate;
mod sdks;

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

use crate::command::{cargo, command, run};
use crate::debug_build::tests_of;
use crate::node::Node;
use crate::packages::Need;
use crate::{Outcome, package, project, system, ui};

pub use gate::gate;

/// The benchmarks that need a network or a long time, and run only when they are named.
const BY_NAME: [&str; 5] = ["busy", "kills", "sdks", "ssh", "window"];

/// Runs the named benchmarks, or all that need nothing from outside.
pub fn bench(names: &[&str]) -> Outcome {
    let all = ["gate", "faults", "listing", "opening", "reader", "relay", "search", "sessions"];
    let names = if names.is_empty() { &all[..] } else { names };
    let known = |name: &&&str| all.contains(name) || BY_NAME.contains(name);
    if let Some(name) = names.iter().find(|name| !known(name)) {
        let all = [&all[..], &BY_NAME].concat().join(" ");
        return Err(format!("no benchmark is called {name}; they are: {all}"));
    }
    for name in names {
        println!("\n==== {name} ====");
        match *name {
            "gate" => gate()?,
            "sdks" => sdks::compare()?,
            "relay" => {
                system::ensure(&[Need::Build])?;
                run(program()?.arg("relay").arg(app()?))?;
            }
            "search" => {
                system::ensure(&[Need::Search])?;
                run(program()?.arg("search"))?;
            }
            "kills" => kills()?,
            "ssh" => ssh()?,
            "busy" | "window" => window(name)?,
            name => run(program()?.arg(name))?,
        }
    }
    Ok(())
}

/// Measures connections to another machine over real ssh on loopback: 100,000 events beside the plain relay, the latency
/// that ssh adds, wake-ups at rest, and 100 faults. Its tests have the limits.
fn ssh() -> Outcome {
    system::ensure(&[Need::Build, Need::Tests, Need::Ssh])?;
    run(tests_of("engine")?
        .args(["--nocapture", "--test-threads=1"])
        .args(["server::cost", "server::faults", "keeps_up_with_the_plain_relay"])
        .env("DESKBELL_TEST_REQUIRE", "1")
        .env("DESKBELL_EVENTS", "100000")
        .env("DESKBELL_FAULTS", "100"))
}

/// Kills the app, its page, agents, the server and guards 300 times, in turns with queued prompts and open requests. Its test
/// prints the seed.
fn kills() -> Outcome {
    system::ensure(&[Need::Build, Need::Tests, Need::Window])?;
    let node = Node::ensure()?;
    ui::install(&node)?;
    ui::build(&node)?;
    run(tests_of("real_window")?
        .args(["--nocapture", "kills::"])
        .env("DESKBELL_TEST_REQUIRE", "1")
        .env("DESKBELL_KILLS", "300"))
}

/// Measures the cost of rendering in the real window: alone, or beside two busy processes.
fn window(scenes: &str) -> Outcome {
    system::ensure(&[Need::Build, Need::Tests, Need::Window])?;
    let node = Node::ensure()?;
    ui::install(&node)?;
    ui::build(&node)?;
    let artefacts = project::target().join("test-artefacts");
    fs::create_dir_all(&artefacts)
        .map_err(|error| format!("could not make {}: {error}", artefacts.display()))?;
    run(tests_of("real_window")?
        .env("DESKBELL_TEST_APP", app()?)
        .env("DESKBELL_TEST_BARE", bare_window()?)
        .env("DESKBELL_TEST_ARTEFACTS", artefacts)
        .env("DESKBELL_TEST_REQUIRE", "1")
        .env("DESKBELL_BENCH", scenes))
}

/// A window of Tauri with a line of text, optimised.
fn bare_window() -> Outcome<PathBuf> {
    let example = ["--example", "bare_window", "--features", "bare-window"];
    run(cargo().args(["build", "--release", "--package", project::APP]).args(example))?;
    Ok(project::target().join("release/examples").join(format!("bare_window{}", env::consts::EXE_SUFFIX)))
}

/// The app, optimised as users have it.
fn app() -> Outcome<PathBuf> {
    run(&mut package::app())?;
    Ok(project::target().join("release").join(format!("{}{}", project::APP, env::consts::EXE_SUFFIX)))
}

/// The benchmarks' own program, optimised as the app is.
fn program() -> Outcome<Command> {
    run(cargo().args(["build", "--release", "--package", "deskbell-bench"]))?;
    Ok(command(path()))
}

/// Builds the program with the features of crates that the app has in its package. With its own features, building the
/// package would compile again what both use.
fn gates_program() -> Command {
    let selected = ["--package", project::APP, "--package", "deskbell-bench", "--bin", "deskbell-bench"];
    let mut build = cargo();
    build.args(["build", "--release"]).args(selected);
    build
}

fn path() -> PathBuf {
    project::target().join("release").join(format!("deskbell-bench{}", env::consts::EXE_SUFFIX))
}
