//! `cargo xtask test`: every check of the project, each in a separate part.

mod ahead;
mod busy;
mod part;

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::command::{cargo, run, take_failures};
use crate::debug_build::{debug_build, tests_of};
use crate::node::Node;
use crate::package::Checked;
use crate::packages::Need;
use crate::{
    Outcome, agents, bench, claude, crates, deny, gnome_shell, guide, nushell, package, project, system,
    toolchain, ui, workflows,
};

use ahead::Ahead;
use busy::Builds;
use part::{Part, chosen, needs};

/// The result of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PartResult {
    Passed,
    Failed(String),
    /// It could not run here; a failure where the run is unattended.
    Skipped(String),
    /// A part that it needs failed.
    NotRun(Part),
}

/// Runs the named parts and those they need, or all; fails if any failed. `--times=N` repeats it until a run fails, and
/// `--builds=N` keeps the machine busy with so many builds at the same time.
pub fn test(arguments: &[&str]) -> Outcome {
    let (options, names): (Vec<&str>, Vec<&str>) =
        arguments.iter().partition(|argument| argument.starts_with("--"));
    let (mut n_times, mut n_builds) = (1, 0);
    for option in options {
        let (name, number) = option.split_once('=').unwrap_or((option, ""));
        let number = number.parse().map_err(|_| format!("{option} needs a number, as --times=10"));
        match name {
            "--times" => n_times = number?,
            "--builds" => n_builds = number?,
            _ => {
                return Err(format!("{option} is no option of the tests; they are --times=N and --builds=N"));
            }
        }
    }
    let parts = chosen(&names)?;
    let _busy = Builds::begin(n_builds);
    for nr in 1..=n_times {
        if n_times > 1 {
            println!("\n==== Run {nr} of {n_times} ====");
        }
        once(&parts).map_err(|reason| match n_times {
            1 => reason,
            _ => format!("run {nr} of {n_times}: {reason}"),
        })?;
    }
    Ok(())
}

fn once(parts: &[Part]) -> Outcome {
    let mut suite = Suite { needs: needs(parts), node: None, ahead: builds_ahead(parts), building: None };
    let mut results: Vec<(Part, PartResult, Duration)> = Vec::new();
    let (last, first): (Vec<Part>, Vec<Part>) = parts.iter().copied().partition(|part| part.is_built_ahead());
    for part in first.into_iter().chain(last) {
        println!("\n==== {} ====", part.title());
        let started_at = Instant::now();
        let failed =
            |needed: &Part| results.iter().any(|(part, result, _)| part == needed && !result.is_good());
        let result = match part.needed().iter().find(|needed| failed(needed)) {
            Some(needed) => PartResult::NotRun(*needed),
            None => suite.run(part),
        };
        if result != PartResult::Passed {
            println!("{}: {}", part.title(), result.shown());
        }
        results.push((part, result, started_at.elapsed()));
    }
    summary(&results)
}

/// Repeats the sessions in `tests/recordings`, and writes the recordings again.
pub fn recordings() -> Outcome {
    system::ensure(Part::RealCli.packages())?;
    let node = Node::ensure()?;
    ui::install(&node)?;
    ui::build(&node)?;
    let current = claude::ensure(&node, claude::CURRENT)?;
    run(tests_of("real_cli")?
        .arg("recordings::")
        .env("DESKBELL_TEST_CLAUDE", current)
        .env("DESKBELL_TEST_REQUIRE", "1")
        .env("UPDATE_RECORDINGS", "1"))
}

/// Plays the recorded sessions with two versions of the CLI, and prints what differs. A session whose test fails with a
/// version is compared as far as it came.
pub fn compare_claude(old: &str, new: &str) -> Outcome {
    system::ensure(Part::RealCli.packages())?;
    let node = Node::ensure()?;
    ui::install(&node)?;
    ui::build(&node)?;
    let (mut folders, mut failed) = (Vec::new(), Vec::new());
    for version in [old, new] {
        let program = claude::ensure(&node, version)?;
        let folder = project::target().join("claude-recordings").join(version);
        if folder.exists() {
            fs::remove_dir_all(&folder)
                .map_err(|error| format!("could not remove {}: {error}", folder.display()))?;
        }
        let played = run(tests_of("real_cli")?
            .arg("recordings::")
            .env("DESKBELL_TEST_CLAUDE", &program)
            .env("DESKBELL_TEST_REQUIRE", "1")
            .env("DESKBELL_TEST_RECORD_INTO", &folder));
        if let Err(reason) = played {
            failed.push(format!("{version}: {reason}"));
        }
        folders.push(folder);
    }
    println!("\n{old} → {new}\n{}", claude::changed_options(&node, old, new)?);
    let compare = ["run", "--quiet", "--package=deskbell-tests", "--example=compare_recordings", "--"];
    let compared = run(cargo().args(compare).args(folders));
    both(compared, || if failed.is_empty() { Ok(()) } else { Err(failed.join("; ")) })
}

/// The state that the parts share.
struct Suite {
    needs: Vec<Need>,
    node: Option<Node>,
    /// The builds of the last parts, until the first one begins.
    ahead: Vec<Command>,
    building: Option<Ahead>,
}

impl Suite {
    fn run(&mut self, part: Part) -> PartResult {
        if let Err(reason) = system::ensure(part.packages()) {
            return PartResult::Failed(reason);
        }
        if part.leaves_time() && !self.ahead.is_empty() {
            self.building = Some(Ahead::begin(std::mem::take(&mut self.ahead)));
        }
        if part.is_built_ahead()
            && let Some(building) = self.building.take()
        {
            building.wait();
        }
        let outcome = match part {
            Part::Install => self.install(),
            Part::Formatting => self.formatting(),
            Part::Habits => self.node().and_then(|node| {
                let habits = both(ui::script(node, "unused"), || ui::script(node, "typos"));
                both(habits, || {
                    both(workflows::check(node), || {
                        both(guide::check(), || both(deny::check(), crates::check))
                    })
                })
            }),
            Part::UiBuild => self.node().and_then(ui::build),
            Part::Clippy => both(run(&mut clippy()), || run(&mut documentation())),
            Part::Rust => rust(),
            Part::Ui => {
                self.node().and_then(|node| both(ui::script(node, "check"), || ui::script(node, "test")))
            }
            Part::Looks => {
                self.node().and_then(|node| both(ui::script(node, "shots"), || ui::script(node, "cost")))
            }
            Part::RealCli => return self.real_cli(),
            Part::Agents => self.node().and_then(real_agents),
            Part::RealWindow => self.real_window(),
            Part::Cost => bench::gate(),
            Part::Package => return self.package(),
        };
        match outcome {
            Ok(()) => PartResult::Passed,
            Err(reason) => PartResult::Failed(reason),
        }
    }

    fn node(&self) -> Outcome<&Node> {
        self.node.as_ref().ok_or_else(|| "Node was not installed".to_owned())
    }

    fn install(&mut self) -> Outcome {
        // All at once, so that a password is requested at the start. Anything still missing then fails only the parts
        // that need it.
        if let Err(reason) = system::ensure(&self.needs) {
            eprintln!("xtask: {reason}");
        }
        toolchain::ensure_components()?;
        let node = self.node.insert(Node::ensure()?);
        ui::install(node)
    }

    fn formatting(&self) -> Outcome {
        both(run(cargo().args(["fmt", "--all", "--check"])), || ui::script(self.node()?, "lint"))
    }

    fn real_cli(&self) -> PartResult {
        // Without the CLI the tests still run, and name each one that is skipped.
        let install = |version| self.node().and_then(|node| claude::ensure(node, version));
        let installed =
            [("DESKBELL_TEST_CLAUDE", claude::CURRENT), ("DESKBELL_TEST_CLAUDE_OLD", claude::OLD)]
                .map(|(variable, version)| (variable, install(version)));
        let nushell = self.node().and_then(nushell::ensure);
        if let Err(missing) = &nushell {
            println!("{missing}");
        }
        let tested = against_the_app("real_cli", |tests| {
            if let Ok(program) = &nushell {
                tests.env("DESKBELL_TEST_NU", program);
            }
            for (variable, program) in &installed {
                if let Ok(program) = program {
                    tests.env(variable, program);
                }
            }
        });
        let [(_, current), (_, old)] = installed;
        match (tested, current.and(old)) {
            (Err(reason), Ok(_)) => PartResult::Failed(reason),
            (Err(reason), Err(missing)) => PartResult::Failed(format!("{missing}; {reason}")),
            (Ok(()), Ok(_)) => PartResult::Passed,
            (Ok(()), Err(missing)) => PartResult::Skipped(missing),
        }
    }

    fn real_window(&self) -> Outcome {
        let artefacts = project::target().join("test-artefacts");
        fs::create_dir_all(&artefacts)
            .map_err(|error| format!("could not make {}: {error}", artefacts.display()))?;
        // Most of the tests need no CLI: without it the others are named and skipped, or fail in CI.
        let cli = self.node().and_then(|node| claude::ensure(node, claude::CURRENT));
        if let Err(missing) = &cli {
            println!("{missing}");
        }
        if let Err(missing) = gnome_shell::ensure() {
            println!("{missing}");
        }
        both(against_the_app("contracts", |_| {}), || {
            against_the_app("real_window", |tests| {
                tests.env("DESKBELL_TEST_ARTEFACTS", artefacts);
                if let Ok(program) = cli {
                    tests.env("DESKBELL_TEST_CLAUDE", program);
                }
            })
        })
    }

    fn package(&self) -> PartResult {
        let checked = self.node().and_then(package::test);
        match checked {
            Ok(Checked::Works) => PartResult::Passed,
            Ok(Checked::Skipped(reason)) => PartResult::Skipped(reason),
            Err(reason) => PartResult::Failed(reason),
        }
    }
}

/// The builds that the last of these parts need and that can be made before.
fn builds_ahead(parts: &[Part]) -> Vec<Command> {
    match parts.contains(&Part::Clippy) && Part::Clippy.is_built_ahead() {
        true => vec![clippy(), documentation()],
        false => Vec::new(),
    }
}

fn clippy() -> Command {
    checked(&["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"])
}

/// The documentation of the crates, with every link in it. With the examples Cargo chooses the features that Clippy has
/// checked the dependencies with; without them it would check Tauri and the engine again.
fn documentation() -> Command {
    let mut build = checked(&["doc", "--workspace", "--no-deps", "--lib", "--bins", "--examples"]);
    build.env("RUSTDOCFLAGS", "--deny warnings");
    build
}

/// Cargo with a command that only checks the crates. Where that is made ahead it has a folder of its own, for Cargo locks
/// the one that it builds in.
fn checked(arguments: &[&str]) -> Command {
    let mut build = cargo();
    build.args(arguments);
    if Part::Clippy.is_built_ahead() {
        build.env("CARGO_TARGET_DIR", project::target().join("checked"));
    }
    build
}

fn rust() -> Outcome {
    // Whole sessions run the double, and some of them the app.
    run(&mut debug_build())?;
    let units = if toolchain::has_nextest() {
        // nextest leaves out the examples in the documentation.
        both(run(nextest().arg("not package(deskbell-tests)").arg("--no-tests=pass")), || {
            run(cargo().args(["test", "--doc", "--workspace"]))
        })
    } else {
        run(cargo().args(["test", "--workspace", "--exclude", "deskbell-tests"]))
    };
    both(units, || {
        let mut tests = if toolchain::has_nextest() {
            let mut tests = nextest();
            // They wait for agents and connections half of the time.
            tests.args(["package(deskbell-tests) and (kind(lib) or binary(engine))", "--test-threads=3"]);
            tests
        } else {
            let mut tests = cargo();
            tests.args(["test", "--package", "deskbell-tests", "--lib", "--test", "engine"]);
            tests
        };
        tests.env("DESKBELL_TEST_APP", project::debug_app());
        // As from a terminal: the user's login shell is asked for its environment by the tests about that alone.
        tests.env("TERM", "dumb");
        if project::is_ci() {
            tests.env("DESKBELL_TEST_REQUIRE", "1");
        }
        run(&mut tests)
    })
}

/// nextest, to be given an expression that selects tests. It selects the whole workspace, as the debug build does.
fn nextest() -> Command {
    let mut command = cargo();
    command.args(["nextest", "run", "--workspace", "--no-fail-fast", "--filterset"]);
    command
}

/// The real programs of other agents, against a mock of their models.
fn real_agents(node: &Node) -> Outcome {
    let folder = agents::ensure(node)?;
    run(tests_of("engine")?
        .args(["real_agents::", "both_wires::"])
        .env("PATH", node.path())
        .env("DESKBELL_TEST_AGENTS", folder))
}

/// Runs tests that start the built app, with further settings in their environment.
fn against_the_app(name: &str, prepare: impl FnOnce(&mut Command)) -> Outcome {
    let mut tests = tests_of(name)?;
    if project::is_ci() {
        // A test that cannot run has failed.
        tests.env("DESKBELL_TEST_REQUIRE", "1");
    }
    prepare(&mut tests);
    run(&mut tests)
}

/// Runs the second even if the first failed, and reports all failures.
fn both(first: Outcome, second: impl FnOnce() -> Outcome) -> Outcome {
    match (first, second()) {
        (Err(first), Err(second)) => Err(format!("{first}; {second}")),
        (first, second) => first.and(second),
    }
}

impl PartResult {
    fn is_good(&self) -> bool {
        match self {
            Self::Passed => true,
            Self::Skipped(_) => !project::is_ci(),
            Self::Failed(_) | Self::NotRun(_) => false,
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Passed => "passed".to_owned(),
            Self::Failed(reason) => format!("FAILED: {reason}"),
            Self::Skipped(reason) => format!("SKIPPED: {reason}"),
            Self::NotRun(needed) => format!("NOT RUN, for it needs: {}", needed.title()),
        }
    }
}

fn summary(results: &[(Part, PartResult, Duration)]) -> Outcome {
    println!("\n==== Summary ====");
    for (part, result, took) in results {
        // The whole reason is printed with the part; here it must not break the table.
        let shown = result.shown();
        let first_line = shown.lines().next().unwrap_or_default();
        println!("{:<20} {:>8}  {first_line}", part.title(), minutes(*took));
    }
    println!("{:<20} {:>8}", "All", minutes(results.iter().map(|(_, _, took)| took).sum()));
    let bad: Vec<&str> =
        results.iter().filter(|(_, result, _)| !result.is_good()).map(|(part, ..)| part.title()).collect();
    if bad.is_empty() {
        println!("Everything passed.");
        Ok(())
    } else {
        // A log of an unattended run is often cut to its end.
        for (command, lines) in take_failures() {
            println!("\nThe last lines of `{command}`:\n{}", lines.join("\n"));
        }
        Err(format!("{} of {} parts failed: {}", bad.len(), results.len(), bad.join(", ")))
    }
}

fn minutes(took: Duration) -> String {
    let tenths = (took.as_secs_f32() * 10.0).round() as u32;
    format!("{}:{:02}.{}", tenths / 600, tenths / 10 % 60, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_in_minutes() {
        assert_eq!(minutes(Duration::from_millis(950)), "0:01.0");
        assert_eq!(minutes(Duration::from_millis(61_240)), "1:01.2");
        assert_eq!(minutes(Duration::from_secs(1805)), "30:05.0");
    }

    #[test]
    fn both_run_and_both_failures_are_told() {
        let fails = |text: &str| Err(text.to_owned());
        assert_eq!(both(Ok(()), || Ok(())), Ok(()));
        assert_eq!(both(fails("one"), || Ok(())), fails("one"));
        assert_eq!(both(Ok(()), || fails("two")), fails("two"));
        assert_eq!(both(fails("one"), || fails("two")), fails("one; two"));
    }
}
