//! Contracts of the doubles: the same program runs against a double of the tests and against the real things that it stands
//! for, and a difference fails. CONTRIBUTING.md lists them.

#[cfg(target_os = "linux")]
mod awake;
#[cfg(target_os = "linux")]
mod last_runs;
#[cfg(target_os = "linux")]
mod notifications;
#[cfg(target_os = "linux")]
mod tray;

#[cfg(target_os = "linux")]
fn main() {
    use deskbell_tests::suite;
    use deskbell_tests::window;

    let needs = window::lacking_programs().map_or(suite::Requirement::Met, suite::Requirement::Missing);
    suite::run(
        needs,
        suite::N_THREADS,
        awake::all().into_iter().chain(notifications::all()).chain(tray::all()).collect(),
    );
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("ignored: the doubles stand for programs of Linux desktops");
}
