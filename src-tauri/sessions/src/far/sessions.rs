//! The sessions of a machine, asked for once over a connection of their own: what runs there, and a stop of all of it.
//! Nothing is started there.

use super::{AskWindow, Connections, Far, FarError};
use deskbell_engine::api::{MachineAnswer, MachineSession, ProcessCost, SessionId, Status};
use serde::Deserialize;
use serde_json::Value;

/// Sessions that are listed; those beyond are counted. A machine can name as many as it likes.
const MOST: usize = 200;

/// The longest title and the longest path, in characters.
const LONGEST_TITLE: usize = 200;
const LONGEST_PATH: usize = 4_096;

/// A line of `deskbell sessions running --json`. A saved session has only the first fields of its session.
#[derive(Deserialize)]
struct Line {
    session: Listed,
    #[serde(default)]
    cost: Option<ProcessCost>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    id: SessionId,
    project: String,
    #[serde(default)]
    title: String,
    /// A newer version has more kinds of them.
    #[serde(default)]
    status: Value,
    #[serde(default)]
    alive: bool,
    #[serde(default)]
    n_requests: u32,
    #[serde(default)]
    n_queued: u32,
    #[serde(default)]
    n_background: u32,
    #[serde(default)]
    n_scheduled: u32,
    #[serde(default)]
    cost_usd: f64,
}

impl Listed {
    /// Something runs in it, or waits.
    fn is_busy(&self) -> bool {
        let waits = [self.n_requests, self.n_queued, self.n_background, self.n_scheduled];
        self.alive || waits.into_iter().any(|n| n > 0)
    }
}

impl Far {
    /// Asks which sessions the user's servers there have. What ssh asks goes to the window. The connection ends with the
    /// answer; one that was shared is kept by ssh for a minute.
    pub async fn sessions(
        &self,
        connections: &Connections,
        window: Option<AskWindow>,
        now: u64,
    ) -> Result<MachineAnswer, FarError> {
        let command = ["sessions", "running", "--json"].map(str::to_owned);
        let said = self.ask_lines::<Value>(connections, window, &command).await?;
        if said.code != Some(0) && said.values.is_empty() {
            return Err(FarError::Failed { lines: said.problems });
        }
        // ssh may have printed a warning, too.
        let problems = if said.code == Some(0) { Vec::new() } else { said.problems };
        Ok(answer(said.values, problems, now))
    }

    /// Stops the agents of all sessions of the user's servers there, with everything that they started.
    pub async fn stop_all(
        &self,
        connections: &Connections,
        window: Option<AskWindow>,
    ) -> Result<(), FarError> {
        let command = ["sessions", "stop", "--all"].map(str::to_owned);
        let said = self.ask_lines::<Value>(connections, window, &command).await?;
        if said.code == Some(0) { Ok(()) } else { Err(FarError::Failed { lines: said.problems }) }
    }
}

/// What the lines say, as far as they can be read.
fn answer(lines: Vec<Value>, problems: Vec<String>, at: u64) -> MachineAnswer {
    let n_lines = lines.len();
    let listed: Vec<Line> = lines.into_iter().filter_map(|line| serde_json::from_value(line).ok()).collect();
    let n_unreadable = n_lines - listed.len();
    let n_idle = listed.iter().filter(|line| !line.session.is_busy()).count();
    let mut busy: Vec<Line> = listed.into_iter().filter(|line| line.session.is_busy()).collect();
    busy.sort_by_key(|line| (line.session.n_requests == 0, !line.session.alive));
    let n_more = busy.len().saturating_sub(MOST) + n_unreadable;
    let sessions = busy.into_iter().take(MOST).map(|Line { session, cost }| MachineSession {
        title: session.title.chars().take(LONGEST_TITLE).collect(),
        project: session.project.chars().take(LONGEST_PATH).collect(),
        status: serde_json::from_value::<Status>(session.status).ok(),
        cost_usd: session.cost_usd,
        processes: cost.map(ProcessCost::bounded),
        session_id: session.id,
    });
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let problem = (!problems.is_empty()).then(|| problems.join("\n"));
    MachineAnswer { at, sessions: sessions.collect(), n_idle: count(n_idle), n_more: count(n_more), problem }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn line(id: &str, more: Value) -> Value {
        let mut session = json!({"id": id, "project": "/code", "title": "x", "alive": false});
        session.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"version": "0.1.0", "serverPid": 1, "session": session, "cost": null})
    }

    #[test]
    fn what_waits_comes_first_and_what_does_not_run_is_counted() {
        let mut running = line("runs", json!({"alive": true, "status": {"type": "idle"}, "costUsd": 0.5}));
        running["cost"] = json!({"nProcesses": 2, "memoryBytes": u64::MAX, "cpuMs": 1});
        let lines = vec![
            line("idle", json!({})),
            running,
            line("asks", json!({"nRequests": 1, "status": {"type": "needsInput", "what": "w"}})),
            json!({"version": "0.1.0", "session": {"id": "saved", "project": "/code", "alive": false}}),
            // Of a newer version.
            line("dreams", json!({"alive": true, "status": {"type": "dreaming"}})),
            json!({"session": 5}),
        ];
        let said = answer(lines, Vec::new(), 7);
        let ids: Vec<&str> = said.sessions.iter().map(|session| session.session_id.as_str()).collect();
        assert_eq!(ids, ["asks", "runs", "dreams"]);
        assert_eq!((said.at, said.n_idle, said.n_more, said.problem), (7, 2, 1, None));
        assert_eq!((said.sessions[1].cost_usd, &said.sessions[2].status), (0.5, &None));
        let memory = said.sessions[1].processes.map(|cost| cost.memory_bytes);
        assert_eq!(memory, Some(1 << 53), "the largest number that a page reads exactly");
    }

    #[test]
    fn a_machine_can_name_more_than_is_shown() {
        let lines =
            (0..300).map(|nr| line(&nr.to_string(), json!({"alive": true, "title": "é".repeat(999)})));
        let said = answer(lines.collect(), vec!["server 0.0.9: it does not answer".to_owned()], 0);
        assert_eq!((said.sessions.len(), said.n_more), (MOST, 100));
        assert_eq!(said.sessions[0].title.chars().count(), LONGEST_TITLE);
        assert!(said.problem.is_some_and(|problem| problem.contains("0.0.9")));
    }
}
