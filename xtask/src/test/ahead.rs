//! The optimised build of the app, begun while the tests of whole programs mostly wait. It is minutes of a run.

use std::process::{Command, Stdio};

use crate::Outcome;
use crate::command::{cargo, command};
use crate::process::Guarded;

use super::part::Part;

/// A build in the background that ends with its owner. Nothing depends on it: the parts that need the app build it
/// again, find most of it compiled, and report what fails.
pub struct Ahead {
    _build: Guarded,
}

impl Ahead {
    /// Whether it helps to begin it with this part of the run.
    pub fn is_useful(parts: &[Part], part: Part) -> bool {
        matches!(part, Part::RealCli | Part::RealWindow) && parts.contains(&Part::Package)
    }

    /// Begins to build, at the lowest priority.
    pub fn begin() -> Outcome<Self> {
        let mut build = at_lowest_priority(&cargo());
        // As `tauri build` does, without the page: that is built already, and the tests run with it.
        build.args(["build", "--quiet", "--release", "--bins", "--features", "tauri/custom-protocol"]);
        build.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Self { _build: Guarded::spawn(&mut build)? })
    }
}

/// The command through `nice`, where there is one.
fn at_lowest_priority(program: &Command) -> Command {
    if cfg!(windows) {
        return cargo();
    }
    let mut nice = command("nice");
    nice.args(["-n", "19"]).arg(program.get_program());
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => nice.env(name, value),
            None => nice.env_remove(name),
        };
    }
    nice
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_app_is_built_ahead_only_if_it_is_packaged_later() {
        assert!(Ahead::is_useful(&[Part::RealCli, Part::Package], Part::RealCli));
        assert!(Ahead::is_useful(&[Part::RealWindow, Part::Package], Part::RealWindow));
        assert!(!Ahead::is_useful(&[Part::RealCli], Part::RealCli));
        assert!(!Ahead::is_useful(&[Part::Rust, Part::Package], Part::Rust));
    }
}
