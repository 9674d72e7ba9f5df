//! Simulation of complete session lifetimes from one seed: the agent and its faults, a disk that fills up, the clock,
//! the user, and an app that can crash at any moment and restart.
//!
//! Every step is checked against the rules in `rules`. When a rule is violated, the lifetime is replayed and its last
//! steps are printed with its seed. A longer run:
//!
//! ```text
//! DESKBELL_SIM_STEPS=100000000 cargo test --release -p deskbell-engine simulation
//! ```

mod acp_child;
mod child;
mod fault;
mod process;
mod rules;
mod seen;
mod user;
mod windows;
mod world;

use crate::acp::ChosenAgent;
use crate::chance::Chance;
use fault::Fault;
use rules::{RuleResult, SimulationRule, Violation};
use seen::SeenKinds;
use std::collections::VecDeque;
use world::World;

/// Runs one lifetime from its seed.
fn live(world: &mut World, seed: u64) -> RuleResult {
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

/// What an agent speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wire {
    Claude,
    Acp,
}

impl Wire {
    /// The agent of a lifetime; `None` for Claude Code.
    fn agent(self, seed: u64) -> Option<ChosenAgent> {
        let command = ChosenAgent::Command { program: "/agent".into(), arguments: Vec::new() };
        match self {
            Self::Claude => None,
            Self::Acp => {
                // One is set to a mode that asks, one repeats a conversation late, and one has no row in the table.
                let rows = [ChosenAgent::row_of("demo-acp"), ChosenAgent::row_of("gemini"), Some(command)];
                let at = Chance::new(seed ^ 0xAC9).below(rows.len() as u64) as usize;
                rows.into_iter().nth(at).flatten()
            }
        }
    }
}

struct Broken {
    wire: Wire,
    seed: u64,
    /// Steps made in that lifetime.
    step: u64,
    violation: Violation,
}

/// Prints the seed of a lifetime that ends in a panic.
struct Guard(u64);

impl Drop for Guard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the seed of this life is {}", self.0);
        }
    }
}

/// Runs lifetimes until `n_steps` steps are made; returns the number of steps made.
fn simulate(
    wire: Wire,
    seed: u64,
    n_steps: u64,
    fault: Option<Fault>,
    seen: &mut SeenKinds,
) -> Result<u64, Broken> {
    let (mut seed, mut n_made) = (seed, 0);
    while n_made < n_steps {
        let mut world = World::new(seed, wire.agent(seed), fault);
        let _guard = Guard(seed);
        let lived = live(&mut world, seed);
        n_made += world.n_steps;
        seen.add(&world.seen);
        if let Err(violation) = lived {
            return Err(Broken { wire, seed, step: world.n_steps, violation });
        }
        seed = Chance::new(seed).next();
    }
    Ok(n_made)
}

/// Replays a violated lifetime and returns its last steps as text.
fn last_moments(broken: &Broken, fault: Option<Fault>) -> String {
    let mut world = World::new(broken.seed, broken.wire.agent(broken.seed), fault);
    world.trace = Some(VecDeque::new());
    let violation = live(&mut world, broken.seed).expect_err("the same seed lives the same life");
    let trace: Vec<String> = world.trace.take().into_iter().flatten().collect();
    format!(
        "{}\n\n{:?} broken at step {} with {:?}: {}\nAgain: DESKBELL_SIM_SEED={} cargo test -p deskbell-engine simulation\n",
        trace.join("\n"),
        violation.rule,
        broken.step,
        broken.wire,
        violation.what,
        broken.seed
    )
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().expect("a number"))
}

/// The steps are made in this number of threads: in one they took longer than all other tests of the engine.
const N_THREADS: u64 = 4;

/// Unoptimised, a million steps take minutes of two cores.
const N_STEPS: u64 = 300_000;
const N_ACP_STEPS: u64 = 60_000;

#[test]
fn every_promise_is_kept_at_every_step() {
    play(Wire::Claude, N_STEPS);
}

/// With the driver of ACP between the session and the agent: they exchange lines.
#[test]
fn every_promise_is_kept_to_an_agent_that_speaks_acp() {
    play(Wire::Acp, N_ACP_STEPS);
}

/// `enough`: the number of steps that a run makes, and after which it has to have seen every situation.
fn play(wire: Wire, enough: u64) {
    let seed = setting("DESKBELL_SIM_SEED", 1);
    let n_steps = setting("DESKBELL_SIM_STEPS", enough);
    let begin = std::time::Instant::now();
    let simulated: Vec<(Result<u64, Broken>, SeenKinds)> = std::thread::scope(|scope| {
        // The first thread begins with the seed itself, so that a lifetime is replayed by its seed.
        let seeds = (0..N_THREADS).map(|nr| seed.wrapping_add(nr << 32));
        let threads: Vec<_> = seeds
            .map(|seed| {
                scope.spawn(move || {
                    let mut seen = SeenKinds::nothing();
                    (simulate(wire, seed, n_steps.div_ceil(N_THREADS), None, &mut seen), seen)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("the simulation does not panic")).collect()
    });
    let (mut n_made, mut seen) = (0, SeenKinds::nothing());
    for (result, seen_in_thread) in &simulated {
        seen.add(seen_in_thread);
        match result {
            Ok(n) => n_made += n,
            Err(broken) => panic!("\n{}", last_moments(broken, None)),
        }
    }
    println!("{wire:?}: {n_made} steps in {:.1?} from seed {seed}: {seen:#?}", begin.elapsed());
    if n_made >= enough {
        let unseen = seen.unseen(wire);
        assert!(unseen.is_empty(), "the simulation has gone blind: it never saw {unseen:?}");
    }
}

/// Lifetimes that once broke a promise.
#[test]
fn lifetimes_that_found_something_keep_every_promise() {
    // The agent gave back a prompt that had already counted as one of the next turn; a stopped turn without a prompt ended
    // by the agent's report that it is idle, while a prompt that was to go now waited; a rewind stopped a process that
    // the user had stopped already; an undo of a rewind led back to a conversation that the agent no longer had.
    for seed in [
        8_254_360_982_090_859_398,
        9_898_844_405_839_060_969,
        3_050_029_958_228_155_698,
        10_419_234_573_218_354_778,
    ] {
        if let Err(broken) = simulate(Wire::Claude, seed, 1, None, &mut SeenKinds::nothing()) {
            panic!("\n{}", last_moments(&broken, None));
        }
    }
}

/// Each fault with a list of rules. The first rule that it violates is in its list.
const PLANTED: &[(Fault, &[SimulationRule])] = &[
    (Fault::ForgetSave, &[SimulationRule::Disk, SimulationRule::Prompts]),
    (Fault::SendTwice, &[SimulationRule::Order]),
    (Fault::SendAnother, &[SimulationRule::Order]),
    (Fault::LoseCutOff, &[SimulationRule::Prompts, SimulationRule::Disk]),
    (Fault::EndTooSoon, &[SimulationRule::Prompts]),
    (Fault::AnswerWithdrawn, &[SimulationRule::Answers]),
    (Fault::AllowForDeny, &[SimulationRule::Answers]),
    (Fault::AnswerTwice, &[SimulationRule::Answers]),
    (Fault::LeaveUnknown, &[SimulationRule::Answers]),
    (Fault::CloseFirst, &[SimulationRule::Process]),
    (Fault::SecondProcess, &[SimulationRule::Process]),
    (Fault::StartStopped, &[SimulationRule::Stop]),
    (Fault::SlowLadder, &[SimulationRule::Stop]),
    (Fault::RestartAtOnce, &[SimulationRule::Restarts]),
    (Fault::ForgetRestart, &[SimulationRule::Progress]),
    (Fault::ForgetTurnEnd, &[SimulationRule::Turns, SimulationRule::Order]),
    (Fault::ForgetResolved, &[SimulationRule::Answers]),
    (Fault::ForgetDisarm, &[SimulationRule::Timers]),
    (Fault::KeepRefused, &[SimulationRule::Bounds]),
    (Fault::ForgetChange, &[SimulationRule::Facts]),
    (Fault::KeepName, &[SimulationRule::Names, SimulationRule::Prompts]),
    (Fault::JoinUnasked, &[SimulationRule::Order]),
    (Fault::NowAfterwards, &[SimulationRule::Order, SimulationRule::Prompts, SimulationRule::Turns]),
    (
        Fault::ForgetJoin,
        &[SimulationRule::Order, SimulationRule::Prompts, SimulationRule::Progress, SimulationRule::Turns],
    ),
    (Fault::ForgetMove, &[SimulationRule::Order, SimulationRule::Prompts]),
    (Fault::AnotherConversation, &[SimulationRule::Conversation]),
    (Fault::SaveTwice, &[SimulationRule::Saves]),
    (Fault::BypassAgain, &[SimulationRule::Asking]),
    (Fault::GoOn, &[SimulationRule::Stop, SimulationRule::Turns]),
    (Fault::HoldForNow, &[SimulationRule::Prompts]),
    (Fault::ForgetContinue, &[SimulationRule::Prompts]),
    (Fault::AskAgain, &[SimulationRule::Budget]),
    (Fault::SendUnconfirmed, &[SimulationRule::Switches, SimulationRule::Timers]),
    (Fault::Hollow, &[SimulationRule::Timings]),
    (Fault::LoseChange, &[SimulationRule::Windows]),
    (Fault::FinishTooSoon, &[SimulationRule::Stop]),
];

/// Faults that cannot occur with an agent that speaks ACP. It accepts no prompt during a turn. Its driver answers unknown
/// requests and repeats none. In this model no change of a setting delays a prompt.
const NOT_WITH_ACP: [Fault; 4] =
    [Fault::LeaveUnknown, Fault::ForgetJoin, Fault::AskAgain, Fault::SendUnconfirmed];

#[test]
fn every_planted_fault_is_found() {
    PLANTED.iter().for_each(|(fault, rules)| finds(Wire::Claude, *fault, rules));
}

#[test]
fn every_planted_fault_is_found_with_an_agent_that_speaks_acp() {
    let planted = PLANTED.iter().filter(|(fault, _)| !NOT_WITH_ACP.contains(fault));
    planted.for_each(|(fault, rules)| finds(Wire::Acp, *fault, rules));
}

fn finds(wire: Wire, fault: Fault, rules: &[SimulationRule]) {
    let found = simulate(wire, 1, 100_000, Some(fault), &mut SeenKinds::nothing());
    let Err(broken) = found else { panic!("{fault:?} is not found") };
    let rule = broken.violation.rule;
    assert!(rules.contains(&rule), "{fault:?} breaks {rule:?}:\n{}", last_moments(&broken, Some(fault)));
    println!("{wire:?}, {fault:?}: found after {} steps of a life: {}", broken.step, broken.violation.what);
}
