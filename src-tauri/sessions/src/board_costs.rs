//! What the processes of the sessions on the board cost, on this computer and on the machines of the others.

use crate::cost::{LastProcesses, Processes};
use crate::registry::SessionRegistry;
use deskbell_engine::api::*;
use deskbell_engine::session::MirroredSession;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// The servers of other machines are asked again after this time, when something changes.
const ASKED_FOR: Duration = Duration::from_secs(2);

#[derive(Default)]
pub struct Costs {
    last: LastProcesses,
    known: Mutex<Known>,
    /// Servers of other machines are being asked.
    is_asking: AtomicBool,
}

#[derive(Default)]
struct Known {
    here: Arc<Processes>,
    there: HashMap<SessionId, ProcessCost>,
    asked_at: Option<Instant>,
}

impl Costs {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the processes of this computer, unless that was done a moment ago.
    pub async fn measure_here(&self) {
        match self.last.get().await {
            Ok(processes) => self.known().here = processes,
            Err(error) => tracing::debug!(%error, "the processes could not be read"),
        }
    }

    /// Adds what is known to the rows.
    pub fn show(&self, sessions: &[Session], rows: &mut [BoardRow]) {
        let known = self.known();
        for row in rows {
            let own = || sessions.iter().find(|session| session.id == row.session_id)?.pid;
            let pid = row.other_pid.or_else(own);
            row.processes = match row.machine {
                None => pid.and_then(|pid| known.here.cost_of(pid)),
                // Of a process that has ended, the last cost is no longer true.
                Some(_) => pid.and_then(|_| known.there.get(&row.session_id).copied()),
            };
        }
    }

    /// Asks the servers of other machines about the sessions in these rows, unless that was done a moment ago. True:
    /// something changed. Of a machine that does not answer, or whose server is too old, nothing is known.
    pub async fn ask_there(&self, registry: &SessionRegistry, rows: &[BoardRow]) -> bool {
        if self.known().asked_at.is_some_and(|at| at.elapsed() < ASKED_FOR)
            || self.is_asking.swap(true, Ordering::AcqRel)
        {
            return false;
        }
        let mut machines: HashMap<RemoteMachine, Vec<MirroredSession>> = HashMap::new();
        for row in rows {
            if let Some((ProjectRef::There(project), Session { pid: Some(_), .. })) =
                registry.known(&row.session_id)
                && let Ok(session) = registry.mirrored_session(&project, &row.session_id)
            {
                machines.entry(project.machine).or_default().push(session);
            }
        }
        let mut asking: JoinSet<_> = machines.into_values().map(of_machine).collect();
        let mut there = HashMap::new();
        while let Some(costs) = asking.join_next().await {
            match costs {
                Ok(costs) => there.extend(costs),
                Err(error) => tracing::error!(%error, "asking for the cost of processes failed"),
            }
        }
        let mut known = self.known();
        known.asked_at = Some(Instant::now());
        self.is_asking.store(false, Ordering::Release);
        let has_changed = known.there != there;
        known.there = there;
        has_changed
    }
}

/// Asks the server of one machine about its sessions, one after the other.
async fn of_machine(sessions: Vec<MirroredSession>) -> Vec<(SessionId, ProcessCost)> {
    let mut costs = Vec::new();
    for session in sessions {
        match session.query(ProcessesQuery {}).await {
            Ok(cost) => costs.extend(cost.map(|cost| (session.id().clone(), cost.bounded()))),
            Err(error) => {
                tracing::debug!(%error, "the cost of processes there is not known");
                break;
            }
        }
    }
    costs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, machine: Option<&str>) -> BoardRow {
        BoardRow {
            session_id: SessionId::new(id),
            title: String::new(),
            project: "/code".to_owned(),
            project_name: "code".to_owned(),
            profile: None,
            agent: None,
            machine: machine.map(str::to_owned),
            checkout: Checkout::default(),
            state: BoardState::Working,
            status: Status::Idle,
            request: None,
            answer: None,
            needs_login: false,
            is_reached: true,
            since: 0,
            n_background: 0,
            other_pid: None,
            cost_usd: 0.0,
            processes: None,
        }
    }

    #[test]
    fn a_session_of_another_machine_has_the_cost_there_and_never_that_of_a_process_here() {
        let costs = Costs::default();
        let own = std::process::id();
        costs.known().here = Arc::new(Processes::read());
        let there = ProcessCost { n_processes: 2, memory_bytes: 5, cpu_ms: 7 };
        costs.known().there.insert(SessionId::new("far"), there);
        let session = |id: &str, pid| {
            let agent = "Demo agent".to_owned();
            Session { pid, ..Session::new(SessionId::new(id), "/code".to_owned(), AgentKind::Demo, agent) }
        };
        let sessions = [
            session("near", Some(own)),
            session("far", Some(own)),
            session("old", Some(own)),
            session("ended", None),
        ];
        let mut rows = [
            row("near", None),
            row("far", Some("box")),
            row("old", Some("old-box")),
            row("ended", Some("box")),
        ];
        costs.known().there.insert(SessionId::new("ended"), there);
        costs.show(&sessions, &mut rows);
        assert_eq!(rows[0].processes.is_some(), cfg!(target_os = "linux"));
        assert_eq!(rows.map(|row| row.processes)[1..], [Some(there), None, None]);
    }
}
