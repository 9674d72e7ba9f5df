//! The runner of test targets that need something external: the CLI, a display, a notification daemon.
//!
//! If it is missing, each test is reported as ignored, by name, and the reason is printed on stderr. With
//! `DESKBELL_TEST_REQUIRE=1` a missing requirement fails each test, so a run that must be complete cannot pass by
//! skipping. A test that hangs fails after its deadline.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::env;
use std::future::Future;
use std::io::Write;
use std::pin::Pin;
use std::sync::{Condvar, Mutex, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use libtest_mimic::{Arguments, Failed, Trial};

use crate::chance;

/// A requirement of a suite: present, or missing for this reason.
#[derive(Clone, Debug, PartialEq)]
pub enum Requirement {
    Met,
    Missing(String),
}

impl Requirement {
    /// Met if these programs are installed.
    pub fn programs(names: &[&str]) -> Self {
        let path = env::var_os("PATH").unwrap_or_default();
        let is_there = |name: &&str| env::split_paths(&path).any(|folder| folder.join(name).is_file());
        match names.iter().find(|name| !is_there(name)) {
            None => Self::Met,
            Some(name) => Self::Missing(format!("not installed: {name}")),
        }
    }

    /// Met if all are; otherwise the reason of the first that is not.
    pub fn all(requirements: impl IntoIterator<Item = Requirement>) -> Self {
        requirements.into_iter().find(|requirement| *requirement != Self::Met).unwrap_or(Self::Met)
    }
}

impl From<&Result<()>> for Requirement {
    fn from(found: &Result<()>) -> Self {
        match found {
            Ok(()) => Self::Met,
            Err(error) => Self::Missing(format!("{error:#}")),
        }
    }
}

/// Whether a missing dependency fails its tests.
pub fn is_required() -> bool {
    env::var_os("DESKBELL_TEST_REQUIRE").is_some_and(|value| value == "1")
}

/// Reports the running test as skipped because of a missing dependency, or fails it if the dependency is required.
pub fn missing<T>(reason: &str) -> Option<T> {
    assert!(!is_required(), "{reason}");
    skipped(reason)
}

/// Reports the running test as skipped, by name.
pub fn skipped<T>(reason: &str) -> Option<T> {
    let current = thread::current();
    let name = current.name().unwrap_or("a test");
    // The harness hides the prints of passing tests, but not direct writes to stderr. One write, because tests run at
    // the same time. If stderr is closed, the report has no reader.
    let _ = std::io::stderr().write_all(format!("skipped: {name}: {reason}\n").as_bytes());
    None
}

/// One asynchronous test.
pub struct Test {
    name: String,
    body: Box<dyn FnOnce() -> Body + Send>,
    needs: Requirement,
    deadline: Duration,
    is_alone: bool,
    is_idle: bool,
    is_sampled: bool,
}

/// A test that runs.
pub type Body = Pin<Box<dyn Future<Output = Result<()>>>>;

/// The default time limit of a test.
pub const DEADLINE: Duration = Duration::from_secs(240);

/// A test by its name and its function: `test("a_turn_ends", a_turn_ends)`.
pub fn test<F, Fut>(name: impl Into<String>, body: F) -> Test
where
    F: FnOnce() -> Fut + Send + 'static,
    Fut: Future<Output = Result<()>> + 'static,
{
    let body = Box::new(|| Box::pin(body()) as Body);
    Test {
        name: name.into(),
        body,
        needs: Requirement::Met,
        deadline: DEADLINE,
        is_alone: false,
        is_idle: false,
        is_sampled: false,
    }
}

impl Test {
    /// Adds a requirement to those of the test and of the whole suite.
    pub fn needing(mut self, requirement: Requirement) -> Self {
        self.needs = Requirement::all([self.needs, requirement]);
        self
    }

    /// The same test under a name with this prefix, wrapped by `around`.
    pub fn inside(self, name: &str, around: impl FnOnce(Body) -> Body + Send + 'static) -> Self {
        let body = self.body;
        Self { name: format!("{name}::{}", self.name), body: Box::new(|| around(body())), ..self }
    }

    pub fn within(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Runs while no other does, because it measures times or the load of the machine.
    pub fn alone(mut self) -> Self {
        self.is_alone = true;
        self
    }

    /// Waits for minutes and hardly uses the processor: it begins early, and runs beside the usual number of tests.
    pub fn idle(mut self) -> Self {
        self.is_idle = true;
        self
    }

    /// One of many that are alike: a run plays half of them, chosen by its seed. A whole run, and one whose tests are named,
    /// plays all.
    pub fn sampled(mut self) -> Self {
        self.is_sampled = true;
        self
    }
}

/// Prefixes the tests of a module with its name: `tests![queue: prompts_go_in_order, …]`.
#[macro_export]
macro_rules! tests {
    ($($module:ident: $($name:ident),+ $(,)?);+ $(;)?) => {
        vec![$($($crate::suite::test(
            concat!(stringify!($module), "::", stringify!($name)),
            $module::$name,
        )),+),+]
    };
}

/// How many tests run at the same time unless a suite has another number. Each has its own folders, display and bus, and
/// waits most of the time.
pub const N_THREADS: usize = 2;

/// How many of the slowest tests are named at the end of a run.
const N_SLOWEST: usize = 20;

/// The name of each test that ran, and how long it took.
static TIMES: Mutex<Vec<(String, Duration)>> = Mutex::new(Vec::new());

/// Places for tests that use the processor.
struct Places {
    free: Mutex<usize>,
    freed: Condvar,
}

static PLACES: Places = Places { free: Mutex::new(0), freed: Condvar::new() };

impl Places {
    fn open(&self, n: usize) {
        *self.free.lock().unwrap_or_else(PoisonError::into_inner) += n;
        self.freed.notify_one();
    }

    /// Waits for a place, which is free again when the guard is dropped.
    fn take(&self) -> impl Drop {
        struct Place<'a>(&'a Places);
        impl Drop for Place<'_> {
            fn drop(&mut self) {
                self.0.open(1);
            }
        }
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free = self.freed.wait_while(free, |free| *free == 0).unwrap_or_else(PoisonError::into_inner);
        *free -= 1;
        drop(free);
        Place(self)
    }
}

/// Runs the tests in order, `n_threads` at the same time and those that have to be alone first, and exits the process.
pub fn run(requirement: Requirement, n_threads: usize, mut tests: Vec<Test>) -> ! {
    let mut arguments = Arguments::from_args();
    PLACES.open(arguments.test_threads.unwrap_or(n_threads));
    let n_idle = tests.iter().filter(|test| test.is_idle).count();
    arguments.test_threads.get_or_insert(n_threads + n_idle);
    tests.sort_by_key(|test| (!test.is_alone, !test.is_idle));
    let required = is_required();
    let mut reasons: Vec<String> = Vec::new();
    let left_out = left_out(&tests, arguments.filter.is_none() && !arguments.list && !chance::is_whole());
    let trials =
        tests.into_iter().map(|test| match Requirement::all([requirement.clone(), test.needs.clone()]) {
            _ if left_out.contains(&test.name) => Trial::test(test.name, || Ok(())).with_ignored_flag(true),
            Requirement::Met => Trial::test(test.name.clone(), move || test.run()),
            Requirement::Missing(reason) if required => Trial::test(test.name, move || {
                Err(Failed::from(format!("skipped, but this run requires it: {reason}")))
            }),
            Requirement::Missing(reason) => {
                let trial = Trial::test(test.name, {
                    let reason = reason.clone();
                    move || Err(Failed::from(reason))
                });
                reasons.push(reason);
                trial.with_ignored_flag(true)
            }
        });
    let trials = trials.collect();
    if !arguments.list {
        reasons.dedup();
        for reason in reasons {
            eprintln!("ignored: {reason}");
        }
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    let times = std::mem::take(&mut *TIMES.lock().unwrap_or_else(PoisonError::into_inner));
    for line in slowest(times) {
        println!("{line}");
    }
    conclusion.exit()
}

/// The sampled tests that this run does not play.
fn left_out(tests: &[Test], is_part: bool) -> HashSet<String> {
    let sampled: Vec<&String> = tests.iter().filter(|test| test.is_sampled).map(|test| &test.name).collect();
    if !is_part || sampled.is_empty() {
        return HashSet::new();
    }
    let played: HashSet<&String> = chance::every(2, sampled.clone()).into_iter().collect();
    println!(
        "{} of {} tests that are alike are left out; DESKBELL_TEST_WHOLE=1 plays all",
        sampled.len() - played.len(),
        sampled.len()
    );
    sampled.into_iter().filter(|name| !played.contains(name)).cloned().collect()
}

/// The slowest tests, a line each: where the time of a run went.
fn slowest(mut times: Vec<(String, Duration)>) -> impl Iterator<Item = String> {
    times.sort_by_key(|(_, took)| Reverse(*took));
    let shown = times.into_iter().take(N_SLOWEST);
    shown.map(|(name, took)| format!("{:>7.1} s  {name}", took.as_secs_f32()))
}

impl Test {
    fn run(self) -> Result<(), Failed> {
        let _place = (!self.is_idle).then(|| PLACES.take());
        // A failed test poisons nothing: the lock protects no data.
        static RUNNING: RwLock<()> = RwLock::new(());
        let _alone = self.is_alone.then(|| RUNNING.write().unwrap_or_else(PoisonError::into_inner));
        let _beside = (!self.is_alone).then(|| RUNNING.read().unwrap_or_else(PoisonError::into_inner));
        let (name, started_at) = (self.name.clone(), Instant::now());
        let result = self.result();
        if let Err(error) = &result {
            // The report of failures comes after the last test, which an interrupted run never reaches.
            eprintln!("{name}: {error:#}");
        }
        TIMES.lock().unwrap_or_else(PoisonError::into_inner).push((name, started_at.elapsed()));
        result.map_err(|error| Failed::from(format!("{error:?}")))
    }

    fn result(self) -> Result<()> {
        // Two workers: the mock API and the readers of pipes continue while the test itself blocks or compares.
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .context("starting the test's runtime")?;
        let deadline = self.deadline;
        let body = self.body;
        let ended = runtime.block_on(async { tokio::time::timeout(deadline, body()).await });
        // Tasks that the test left running must not delay the next one.
        runtime.shutdown_background();
        match ended {
            Ok(result) => result,
            Err(_) => bail!("the test did not end within {deadline:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_hangs_fails() {
        let hangs = test("hangs", std::future::pending).within(Duration::from_millis(10));
        let error = hangs.result().unwrap_err().to_string();
        assert_eq!(error, "the test did not end within 10ms");
    }

    #[test]
    fn the_slowest_tests_are_named_first() {
        let names = ["quick", "slow", "medium"].map(str::to_owned);
        let times: Vec<_> = names.into_iter().zip([1, 30, 5].map(Duration::from_secs)).collect();
        let lines: Vec<String> = slowest(times).collect();
        assert_eq!(lines, ["   30.0 s  slow", "    5.0 s  medium", "    1.0 s  quick"]);
        let many = vec![("one".to_owned(), Duration::ZERO); N_SLOWEST + 1];
        assert_eq!(slowest(many).count(), N_SLOWEST);
    }

    #[test]
    fn a_test_waits_for_a_place() {
        let places = Places { free: Mutex::new(0), freed: Condvar::new() };
        places.open(1);
        let first = places.take();
        let (taken, second) = std::sync::mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(|| {
                let _place = places.take();
                taken.send(()).unwrap();
            });
            assert!(second.try_recv().is_err());
            assert_eq!(*places.free.lock().unwrap(), 0);
            drop(first);
            second.recv().unwrap();
        });
        assert_eq!(*places.free.lock().unwrap(), 1);
    }

    #[test]
    fn half_of_the_sampled_tests_is_left_out_and_no_other() {
        let named = |name: &str| test(name, std::future::pending);
        let tests = vec![named("a").sampled(), named("b"), named("c").sampled(), named("d")];
        let left_out = left_out(&tests, !chance::is_whole());
        assert_eq!(left_out.len(), if chance::is_whole() { 0 } else { 1 });
        assert!(left_out.is_subset(&HashSet::from(["a", "c"].map(str::to_owned))));
        assert!(super::left_out(&tests, false).is_empty());
    }

    #[test]
    fn the_first_missing_requirement_is_the_reason() {
        let missing = |reason: &str| Requirement::Missing(reason.to_owned());
        assert_eq!(Requirement::all([Requirement::Met, missing("a"), missing("b")]), missing("a"));
        assert_eq!(Requirement::all([Requirement::Met]), Requirement::Met);
    }
}
