//! Overhead: a later turn of a persistent relay, compared with a relay and a bare CLI that are started for the one
//! prompt.
//!
//! The variants take turns within each round, so that load of the machine affects all of them, and the result is a
//! ratio of medians. The model answers at once: the figures are the cost of the programs around it.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use deskbell_tests::real_cli::{CliChild, World};
use deskbell_tests::relay::Relay;

const N_ROUNDS: usize = 9;

pub async fn a_later_turn_costs_less_than_a_quarter_of_a_fresh_process() -> Result<()> {
    let world = World::new().await?;
    let mut staying = Relay::spawn(&world, &[])?;
    staying.turn("SAY warm").await?;

    let mut arms = [Arm::new("later turn"), Arm::new("fresh relay"), Arm::new("fresh CLI")];
    for round in 0..N_ROUNDS {
        for turn in 0..arms.len() {
            let arm_idx = (round + turn) % arms.len();
            let prompt = format!("SAY round {round} of arm {arm_idx}");
            let started = Instant::now();
            let time = match arm_idx {
                0 => {
                    staying.turn(&prompt).await?;
                    started.elapsed()
                }
                1 => {
                    let mut relay = Relay::spawn(&world, &[])?;
                    relay.turn(&prompt).await?;
                    let time = started.elapsed();
                    ensure!(relay.finish().await?.status.success());
                    time
                }
                _ => {
                    let mut child = CliChild::spawn(&world, &[])?;
                    child.prompt(&prompt).await?;
                    child.result().await?;
                    let time = started.elapsed();
                    ensure!(child.close().await?.success());
                    time
                }
            };
            arms[arm_idx].times.push(time);
        }
    }
    for arm in &mut arms {
        arm.times.sort();
        println!("{arm}");
    }
    let later = arms[0].median().as_secs_f64();
    let (relay, cli) = (arms[1].median().as_secs_f64(), arms[2].median().as_secs_f64());
    println!("a later turn takes {:.3} of a fresh relay, {:.3} of a fresh CLI", later / relay, later / cli);
    ensure!(later < relay / 4.0 && later < cli / 4.0, "a later turn is too slow");
    Ok(())
}

struct Arm {
    name: &'static str,
    times: Vec<Duration>,
}

impl Arm {
    fn new(name: &'static str) -> Self {
        Self { name, times: Vec::new() }
    }

    /// Of sorted times.
    fn median(&self) -> Duration {
        self.times[self.times.len() / 2]
    }
}

impl std::fmt::Display for Arm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ms = |time: Duration| time.as_secs_f64() * 1000.0;
        let (min, max) = (self.times[0], self.times[self.times.len() - 1]);
        write!(
            f,
            "{:12} min {:4.0} ms, median {:4.0} ms, max {:4.0} ms",
            self.name,
            ms(min),
            ms(self.median()),
            ms(max)
        )
    }
}
