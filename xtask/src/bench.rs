//! `cargo xtask bench`: what Deskbell costs. Times are told; only what is counted can fail.

mod gate;
mod sdks;

use std::env;
use std::path::PathBuf;
use std::process::Command;

use crate::command::{cargo, command, run};
use crate::packages::Need;
use crate::{Outcome, project, system};

pub use gate::gate;

/// Runs the named benchmarks, or all that need nothing from outside.
pub fn bench(names: &[&str]) -> Outcome {
    let all = ["gate", "faults", "reader", "relay", "sessions"];
    let names = if names.is_empty() { &all[..] } else { names };
    let known = |name: &&&str| all.contains(name) || **name == "sdks";
    if let Some(name) = names.iter().find(|name| !known(name)) {
        return Err(format!("no benchmark is called {name}; they are: {} sdks", all.join(" ")));
    }
    for name in names {
        println!("\n==== {name} ====");
        match *name {
            "gate" => gate()?,
            "sdks" => sdks::compare()?,
            "relay" => {
                system::ensure(&[Need::Build])?;
                run(cargo().args(["build", "--release"]))?;
                let app = project::target().join("release").join(format!(
                    "{}{}",
                    project::APP,
                    env::consts::EXE_SUFFIX
                ));
                run(program()?.arg("relay").arg(app))?;
            }
            name => run(program()?.arg(name))?,
        }
    }
    Ok(())
}

/// The benchmarks' own program, optimised as the app is.
fn program() -> Outcome<Command> {
    run(cargo().args(["build", "--release", "--package", "deskbell-bench"]))?;
    Ok(command(path()))
}

fn path() -> PathBuf {
    project::target().join("release").join(format!("deskbell-bench{}", env::consts::EXE_SUFFIX))
}
