//! Keeping the computer awake, with the portal and with logind: held while that is wanted, and released at once, whatever the
//! portal does.

mod services;

use anyhow::{Result, ensure};
use deskbell_awake::{Buses, KeepAwake};
use deskbell_tests::suite::{Test, test};
use deskbell_tests::window::{Bus, Desktop, Inhibitor, PortalManners, SHORT};

use crate::last_runs;
use services::{AwakeService, ServiceKind};

/// The portal's flag for idleness, and logind's kind and mode. A lid and a shutdown are not held up.
const FLAGS: &str = "8";
const LOCK: &str = "idle block";

pub fn all() -> Vec<Test> {
    let one = |kind: ServiceKind| {
        test(format!("awake::{}", kind.name()), move || keeps_the_contract(kind)).needing(kind.requirement())
    };
    let mut tests: Vec<Test> = ServiceKind::all().into_iter().map(one).collect();
    tests.extend(with_doubles());
    tests
}

/// Differences that the real services have by design.
fn with_doubles() -> Vec<Test> {
    vec![
        test("awake::the_portal_holds_until_the_wish_ends", the_portal_holds_until_the_wish_ends),
        test("awake::logind_holds_where_there_is_no_portal", logind_holds_where_there_is_no_portal),
        test("awake::logind_holds_where_the_portal_refuses", logind_holds_where_the_portal_refuses),
        test(
            "awake::logind_holds_where_the_portal_never_answers",
            logind_holds_where_the_portal_never_answers,
        ),
        test("awake::logind_takes_over_from_a_portal_that_ends", logind_takes_over_from_a_portal_that_ends),
        test("awake::nothing_waits_for_buses_that_never_answer", nothing_waits_for_buses_that_never_answer),
        test("awake::the_end_of_the_app_releases", the_end_of_the_app_releases),
    ]
}

async fn keeps_the_contract(kind: ServiceKind) -> Result<()> {
    let desktop = Desktop::start().await?;
    let service = AwakeService::start(kind, &desktop).await?;
    let awake = keep_awake(desktop.bus().address());
    let what = if kind.is_portal() { FLAGS } else { LOCK };
    for _ in 0..3 {
        awake.set(true);
        let held = service.holds(1, SHORT).await?;
        ensure!(held == [(what.to_owned(), "An agent works".to_owned())], "{held:?}");
        awake.set(false);
        service.holds(0, SHORT).await?;
    }
    for _ in 0..20 {
        awake.set(true);
        tokio::task::yield_now().await;
        awake.set(false);
    }
    awake.set(true);
    service.holds(1, SHORT).await?;
    // The app's exit also releases.
    drop(awake);
    service.holds(0, SHORT).await?;
    match kind.package().and_then(last_runs::version_of) {
        Some(version) => last_runs::kept(kind.name(), &version),
        None => Ok(()),
    }
}

/// What keeps awake on a desktop, and its buses, which are one.
async fn start() -> Result<(Desktop, Inhibitor, KeepAwake)> {
    let desktop = Desktop::start().await?;
    let logind = Inhibitor::logind(desktop.bus()).await?;
    let awake = keep_awake(desktop.bus().address());
    Ok((desktop, logind, awake))
}

fn keep_awake(address: &str) -> KeepAwake {
    let (awake, carry_out) =
        KeepAwake::new(Buses::At { session: address.to_owned(), system: address.to_owned() });
    tokio::spawn(carry_out);
    awake
}

async fn portal(bus: &Bus, manners: PortalManners) -> Result<Inhibitor> {
    Inhibitor::portal(bus, manners).await
}

async fn the_portal_holds_until_the_wish_ends() -> Result<()> {
    let (desktop, logind, awake) = start().await?;
    let portal = portal(desktop.bus(), PortalManners::Holds).await?;
    for n_times in 1..=3 {
        awake.set(true);
        // Wanted already: nothing more is asked.
        awake.set(true);
        portal.holds(1).await?;
        awake.set(false);
        portal.holds(0).await?;
        let all = portal.all();
        ensure!(all.len() == n_times, "{all:?}");
        ensure!(all.iter().all(|one| one.what == FLAGS && one.reason == "An agent works"), "{all:?}");
    }
    ensure!(logind.all().is_empty(), "{:?}", logind.all());
    Ok(())
}

async fn logind_holds_where_there_is_no_portal() -> Result<()> {
    let (_desktop, logind, awake) = start().await?;
    for n_times in 1..=3 {
        awake.set(true);
        logind.holds(1).await?;
        awake.set(false);
        logind.holds(0).await?;
        let all = logind.all();
        ensure!(all.len() == n_times && all.iter().all(|one| one.what == LOCK), "{all:?}");
    }
    Ok(())
}

async fn logind_holds_where_the_portal_refuses() -> Result<()> {
    let (desktop, logind, awake) = start().await?;
    let _portal = portal(desktop.bus(), PortalManners::Refuses).await?;
    awake.set(true);
    logind.holds(1).await?;
    awake.set(false);
    logind.holds(0).await
}

async fn logind_holds_where_the_portal_never_answers() -> Result<()> {
    let (desktop, logind, awake) = start().await?;
    let portal = portal(desktop.bus(), PortalManners::Mute).await?;
    // What it took without an answer ends with the wish.
    awake.set(true);
    portal.holds(1).await?;
    awake.set(false);
    portal.holds(0).await?;
    ensure!(logind.all().is_empty(), "{:?}", logind.all());
    awake.set(true);
    logind.holds(1).await?;
    // A late answer of the portal would hold twice.
    portal.holds(0).await?;
    awake.set(false);
    logind.holds(0).await
}

async fn logind_takes_over_from_a_portal_that_ends() -> Result<()> {
    let (desktop, logind, awake) = start().await?;
    let gone = portal(desktop.bus(), PortalManners::Holds).await?;
    awake.set(true);
    gone.holds(1).await?;
    gone.leave().await?;
    logind.holds(1).await?;
    awake.set(false);
    logind.holds(0).await?;
    let back = portal(desktop.bus(), PortalManners::Holds).await?;
    awake.set(true);
    back.holds(1).await?;
    ensure!(logind.all().len() == 1, "{:?}", logind.all());
    Ok(())
}

async fn nothing_waits_for_buses_that_never_answer() -> Result<()> {
    let scratch = tempfile::tempdir()?;
    let socket = scratch.path().join("bus");
    // Connections are made by the system before the program accepts them.
    let _silent = std::os::unix::net::UnixListener::bind(&socket)?;
    let address = format!("unix:path={}", socket.display());
    let buses = Buses::At { session: address.clone(), system: address };
    let (awake, carry_out) = KeepAwake::new(buses);
    let carry_out = tokio::spawn(carry_out);
    for _ in 0..100 {
        awake.set(true);
        tokio::task::yield_now().await;
        awake.set(false);
    }
    awake.set(true);
    drop(awake);
    Ok(tokio::time::timeout(SHORT, carry_out).await??)
}

async fn the_end_of_the_app_releases() -> Result<()> {
    let (desktop, logind, awake) = start().await?;
    awake.set(true);
    logind.holds(1).await?;
    drop(awake);
    logind.holds(0).await?;
    let portal = portal(desktop.bus(), PortalManners::Holds).await?;
    let awake = keep_awake(desktop.bus().address());
    awake.set(true);
    portal.holds(1).await?;
    drop(awake);
    portal.holds(0).await
}
