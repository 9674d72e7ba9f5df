//! What the processes of a session cost now: their number, their memory and the CPU time that they have used. Only Linux
//! is asked; elsewhere nothing is known.

use deskbell_engine::api::ProcessCost;
use deskbell_engine::disk::{self, Unfinished};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// The most processes that are looked at.
const MOST: usize = 100_000;

/// The length of a process's line of numbers, in bytes.
const LINE: u64 = 4 << 10;

/// The bytes of a page, and the ticks of the clock in a second.
#[cfg(unix)]
fn units() -> (u64, u64) {
    (rustix::param::page_size() as u64, rustix::param::clock_ticks_per_second())
}

/// This system lists no processes as files.
#[cfg(not(unix))]
fn units() -> (u64, u64) {
    (1, 1)
}

/// The processes that were read last are used for this time.
const READ_FOR: Duration = Duration::from_secs(2);

/// The processes of this machine as they were read last. Callers that come at the same time share one look.
#[derive(Default)]
pub struct LastProcesses(Mutex<Option<(Instant, Arc<Processes>)>>);

impl LastProcesses {
    /// Reads them, unless that was done a moment ago.
    pub async fn get(&self) -> Result<Arc<Processes>, Unfinished> {
        let mut last = self.0.lock().await;
        if let Some((_, processes)) = last.as_ref().filter(|(at, _)| at.elapsed() < READ_FOR) {
            return Ok(processes.clone());
        }
        let read = Arc::new(disk::run(Path::new("/proc"), disk::DEADLINE, Processes::read).await?);
        *last = Some((Instant::now(), read.clone()));
        Ok(read)
    }
}

/// The processes of this machine at one moment.
#[derive(Default)]
pub struct Processes {
    costs: HashMap<u32, ProcessCost>,
    children: HashMap<u32, Vec<u32>>,
}

impl Processes {
    /// Reads them; none where the system does not list them.
    pub fn read() -> Self {
        let Ok(listing) = disk::list(Path::new("/proc"), MOST) else { return Self::default() };
        let pids = listing.paths.iter().filter_map(|path| path.file_name()?.to_str()?.parse().ok());
        let lines = pids.filter_map(|pid: u32| {
            // It may have ended since.
            let line = disk::read_start(Path::new(&format!("/proc/{pid}/stat")), LINE).ok()?;
            Some((pid, String::from_utf8_lossy(&line).into_owned()))
        });
        let (page, ticks) = units();
        Self::of(lines, page, ticks)
    }

    fn of(lines: impl Iterator<Item = (u32, String)>, page: u64, ticks: u64) -> Self {
        let mut processes = Self::default();
        for (pid, line) in lines {
            // The name is in brackets and may contain some.
            let Some((_, numbers)) = line.rsplit_once(')') else { continue };
            let numbers: Vec<&str> = numbers.split_whitespace().collect();
            let number = |at: usize| numbers.get(at)?.parse::<u64>().ok();
            // Fields 4, 14, 15 and 24 of proc_pid_stat(5); the first one here is field 3.
            let (Some(parent), Some(user), Some(system), Some(pages)) =
                (number(1), number(11), number(12), number(21))
            else {
                continue;
            };
            let cpu_ms = (user + system) * 1_000 / ticks.max(1);
            processes.costs.insert(pid, ProcessCost { n_processes: 1, memory_bytes: pages * page, cpu_ms });
            processes.children.entry(parent as u32).or_default().push(pid);
        }
        processes
    }

    /// The cost of a process and everything below it; `None` if it is not there.
    pub fn cost_of(&self, pid: u32) -> Option<ProcessCost> {
        let mut cost = *self.costs.get(&pid)?;
        let (mut next, mut n_seen) = (vec![pid], 0);
        while let Some(parent) = next.pop() {
            n_seen += 1;
            // A process id that was used again between two reads could make a circle.
            if n_seen > MOST {
                break;
            }
            for child in self.children.get(&parent).into_iter().flatten().filter(|child| **child != pid) {
                let ProcessCost { n_processes, memory_bytes, cpu_ms } =
                    self.costs.get(child).copied().unwrap_or_default();
                cost.n_processes += n_processes;
                cost.memory_bytes += memory_bytes;
                cost.cpu_ms += cpu_ms;
                next.push(*child);
            }
        }
        Some(cost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(pid: u32, name: &str, parent: u32, ticks: u64, pages: u64) -> (u32, String) {
        let zeros = ["0"; 8].join(" ");
        (
            pid,
            format!(
                "{pid} ({name}) S {parent} {pid} {zeros} {ticks} {ticks} 0 0 20 0 1 0 99 4096 {pages} 0\n"
            ),
        )
    }

    #[test]
    fn a_session_costs_what_its_process_and_all_below_it_cost() {
        let lines = [
            stat(10, "claude", 1, 50, 100),
            stat(11, "sh) S 1 (x", 10, 5, 3),
            stat(12, "make", 11, 10, 7),
            stat(20, "other", 1, 1_000, 1_000),
            (13, "13 (odd".to_owned()),
            (14, "14 (short) S 10".to_owned()),
        ];
        let processes = Processes::of(lines.into_iter(), 4_096, 100);
        let expected = ProcessCost { n_processes: 3, memory_bytes: 110 * 4_096, cpu_ms: 2 * 650 };
        assert_eq!(processes.cost_of(10), Some(expected));
        assert_eq!(processes.cost_of(12).unwrap().n_processes, 1);
        assert_eq!(processes.cost_of(99), None);
        assert_eq!(expected.to_string(), "3 processes, 0 MiB, 1 s of CPU");
    }

    #[test]
    fn a_circle_of_process_ids_ends() {
        let lines = [stat(10, "a", 12, 1, 1), stat(11, "b", 10, 1, 1), stat(12, "c", 11, 1, 1)];
        assert_eq!(Processes::of(lines.into_iter(), 1, 1).cost_of(10).unwrap().n_processes, 3);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_costs_something() {
        let cost = Processes::read().cost_of(std::process::id()).expect("it is there");
        assert!(cost.n_processes >= 1 && cost.memory_bytes > 1 << 20, "{cost:?}");
    }
}
