//! Whole lives of a session, with everything around it simulated from one seed: the agent with its bad days, the disk
//! that fills up, the clock, the user, and the app that crashes at any moment and comes back.
//!
//! What is promised is checked at every step (see `rules`). When a promise breaks, the life is lived again and its last
//! moments are printed with its seed. A longer run:
//!
//! ```text
//! DESKBELL_SIM_STEPS=100000000 cargo test --release -p deskbell-engine simulation
//! ```

mod chance;
mod child;
mod fault;
mod rules;
mod user;
mod world;

use chance::Chance;
use fault::Fault;
use rules::{Checked, Rule, Violation};
use std::collections::VecDeque;
use world::{Seen, World};

/// A life, from its seed. The one that follows has the next number as its seed.
fn live(world: &mut World, seed: u64) -> Checked {
    let mut chance = Chance::new(seed ^ 0x5EED);
    let n_steps = 100 + chance.below(3_000);
    while world.n_steps < n_steps {
        world.tick()?;
    }
    if chance.one_in(3) {
        world.stop()?;
    }
    world.calm_down()?;
    world.stop()
}

struct Broken {
    seed: u64,
    step: u64,
    violation: Violation,
}

/// Lives until so many steps are made.
fn simulate(seed: u64, n_steps: u64, fault: Option<Fault>, seen: &mut Seen) -> Result<u64, Broken> {
    let (mut seed, mut n_made) = (seed, 0);
    while n_made < n_steps {
        let mut world = World::new(seed, fault);
        let lived = live(&mut world, seed);
        n_made += world.n_steps;
        for (what, n) in world.seen {
            *seen.entry(what).or_default() += n;
        }
        if let Err(violation) = lived {
            return Err(Broken { seed, step: world.n_steps, violation });
        }
        seed = Chance::new(seed).next();
    }
    Ok(n_made)
}

/// The last moments of a life.
fn last_moments(broken: &Broken, fault: Option<Fault>) -> String {
    let mut world = World::new(broken.seed, fault);
    world.trace = Some(VecDeque::new());
    let violation = live(&mut world, broken.seed).expect_err("the same seed lives the same life");
    let trace: Vec<String> = world.trace.take().into_iter().flatten().collect();
    format!(
        "{}\n\n{:?} broken at step {}: {}\nAgain: DESKBELL_SIM_SEED={} cargo test -p deskbell-engine simulation\n",
        trace.join("\n"),
        violation.rule,
        broken.step,
        violation.what,
        broken.seed
    )
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().expect("a number"))
}

#[test]
fn every_promise_is_kept_in_a_million_steps() {
    let seed = setting("DESKBELL_SIM_SEED", 1);
    let n_steps = setting("DESKBELL_SIM_STEPS", 1_000_000);
    let mut seen = Seen::new();
    let begin = std::time::Instant::now();
    match simulate(seed, n_steps, None, &mut seen) {
        Ok(n_made) => println!("{n_made} steps in {:.1?} from seed {seed}: {seen:#?}", begin.elapsed()),
        Err(broken) => panic!("\n{}", last_moments(&broken, None)),
    }
}

#[test]
fn zz_survey() {
    let mut kinds: std::collections::BTreeMap<String, (u64, u64, u64)> = Default::default();
    let mut seed = 1;
    for _ in 0..setting("LIVES", 600) {
        let mut world = World::new(seed, None);
        if let Err(v) = live(&mut world, seed) {
            let key: String = v.what.chars().filter(|c| !c.is_ascii_digit()).take(90).collect();
            let e = kinds.entry(format!("{:?}: {key}", v.rule)).or_insert((0, seed, u64::MAX));
            e.0 += 1;
            if world.n_steps < e.2 { e.1 = seed; e.2 = world.n_steps; }
        }
        seed = Chance::new(seed).next();
    }
    for (k, v) in kinds { println!("{v:?} {k}"); }
}

#[test]
fn zz_show() {
    let seed = setting("DESKBELL_SIM_SEED", 1);
    let mut world = World::new(seed, None);
    if let Err(violation) = live(&mut world, seed) {
        println!("{}", last_moments(&Broken { seed, step: world.n_steps, violation }, None));
    }
}
