//! The board: chooses and orders the sessions of all projects that need a look, and remembers since when each is in its
//! state. Conversations that other programs have open are on it too. Has no clock: the time is an argument.

use crate::api::{AgentKind, BoardRow, BoardState, BoardView, Checkout, LiveActivity, LiveProcess};
use crate::api::{Session, SessionId, Status, StoredSession, StoredState};
use crate::stored::Located;
use crate::title::Title;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Sessions that finished or failed are on the board for this long, in milliseconds.
const RECENT_MS: u64 = 60 * 60 * 1000;

/// Maximum number of finished sessions on the board.
const MOST_FINISHED: usize = 100;

/// Longest name of a project, in user-perceived characters.
const LONGEST_NAME: usize = 80;

/// Since when each session is in its state.
#[derive(Debug, Default)]
pub struct Board {
    since: HashMap<SessionId, (BoardState, u64)>,
}

impl Board {
    /// Takes a session as published at `now`, in milliseconds since the epoch.
    pub fn learn(&mut self, session: &Session, now: u64) {
        let state = session.status.state();
        let began = match state {
            Some(BoardState::Working) => session.turn_started_at,
            Some(BoardState::Finished | BoardState::Failed) => Some(session.changed_at),
            Some(BoardState::NeedsInput) | None => None,
        };
        self.note(&session.id, state, began, now);
    }

    /// `began`: when the state began, as the session says.
    fn note(&mut self, id: &SessionId, state: Option<BoardState>, began: Option<u64>, now: u64) {
        let Some(state) = state else {
            self.since.remove(id);
            return;
        };
        let known = self.since.get(id);
        if known.is_some_and(|(known, _)| *known == state) {
            return;
        }
        // The first time the session's own times are better than that of the message.
        let at = began.filter(|_| known.is_none()).unwrap_or(now).min(now);
        self.since.insert(id.clone(), (state, at));
    }

    /// The board with the rows of these sessions, which are all that Deskbell has, and of the conversations that live
    /// processes of the agent have open (`live`). Deskbell's own processes are among them.
    pub fn view(&mut self, sessions: &[Session], live: &[Located], now: u64) -> BoardView {
        let (own, others) = split(sessions, live);
        let there: HashSet<SessionId> = sessions
            .iter()
            .map(|session| session.id.clone())
            .chain(others.iter().map(|one| other_id(one)))
            .collect();
        self.since.retain(|id, _| there.contains(id));
        own.iter().for_each(|session| self.learn(session, now));
        others.iter().for_each(|other| {
            self.note(&other_id(other), other_state(&other.session), Some(other.session.changed_at), now);
        });
        let mut rows: Vec<BoardRow> =
            own.iter().filter_map(|session| row(session, *self.since.get(&session.id)?)).collect();
        rows.extend(others.iter().filter_map(|other| other_row(other, *self.since.get(&other_id(other))?)));
        rows.retain(|row| is_shown(row, now));
        // Who waits longest comes first; of those that are over, the last one.
        let time = |row: &BoardRow| {
            let is_over = matches!(row.state, BoardState::Finished | BoardState::Failed);
            if is_over { (0, Reverse(row.since)) } else { (row.since, Reverse(0)) }
        };
        rows.sort_by(|a, b| {
            (a.state, time(a))
                .cmp(&(b.state, time(b)))
                .then_with(|| a.session_id.as_str().cmp(b.session_id.as_str()))
        });
        let mut n_finished = 0;
        rows.retain(|row| {
            n_finished += usize::from(row.state == BoardState::Finished);
            n_finished <= MOST_FINISHED
        });
        BoardView { rows, machines: Vec::new() }
    }
}

/// The sessions that Deskbell runs or that are at rest, and the conversations that other programs have open. A session
/// that another program continues is that program's.
fn split<'a>(sessions: &'a [Session], live: &'a [Located]) -> (Vec<&'a Session>, Vec<&'a Located>) {
    let id = |session: &'a Session| session.agent_session_id.as_deref();
    let runs: HashSet<&str> = sessions.iter().filter(|session| session.alive).filter_map(id).collect();
    let others: Vec<&Located> =
        live.iter().filter(|one| !runs.contains(one.session.agent_session_id.as_str())).collect();
    let taken: HashSet<&str> = others.iter().map(|one| one.session.agent_session_id.as_str()).collect();
    let own = sessions.iter().filter(|one| one.alive || !id(one).is_some_and(|id| taken.contains(id)));
    (own.collect(), others)
}

/// The row of a conversation that is no session of Deskbell has the agent's id.
fn other_id(other: &Located) -> SessionId {
    SessionId::new(other.session.agent_session_id.clone())
}

/// `None` if the program's prompt waits for the user, and the last turn did not end: it was stopped there.
fn other_state(session: &StoredSession) -> Option<BoardState> {
    match (session.live.as_ref()?.activity, &session.state) {
        (LiveActivity::Working, _) => Some(BoardState::Working),
        (LiveActivity::NeedsInput, _) => Some(BoardState::NeedsInput),
        (LiveActivity::Open, StoredState::Completed) => Some(BoardState::Finished),
        (LiveActivity::Open, StoredState::Failed { .. }) => Some(BoardState::Failed),
        (LiveActivity::Open, StoredState::Interrupted | StoredState::Unknown) => None,
    }
}

fn other_row(other: &Located, (state, since): (BoardState, u64)) -> Option<BoardRow> {
    let LiveProcess { pid, .. } = other.session.live.as_ref()?;
    let project = other.project.as_ref()?.display().to_string();
    let status = match (state, &other.session.state) {
        (BoardState::NeedsInput, _) => Status::NeedsInput { what: String::new() },
        (BoardState::Working, _) => Status::Working { activity: String::new() },
        (BoardState::Failed, StoredState::Failed { message }) => Status::Failed { message: message.clone() },
        _ => Status::Completed,
    };
    Some(BoardRow {
        session_id: other_id(other),
        title: other.session.title.clone(),
        project_name: name_of(&project),
        machine: None,
        profile: other.session.profile.clone(),
        agent: other.session.agent.clone(),
        checkout: Checkout::default(),
        project,
        state,
        status,
        since,
        n_background: 0,
        other_pid: Some(*pid),
        cost_usd: 0.0,
        processes: None,
    })
}

fn name_of(project: &str) -> String {
    let name = Path::new(project).file_name().map(|name| name.to_string_lossy().into_owned());
    Title::one_line(&name.unwrap_or_else(|| project.to_owned()), LONGEST_NAME)
}

fn is_shown(row: &BoardRow, now: u64) -> bool {
    let is_over = matches!(row.state, BoardState::Finished | BoardState::Failed);
    !is_over || now.saturating_sub(row.since) < RECENT_MS
}

fn row(session: &Session, (state, since): (BoardState, u64)) -> Option<BoardRow> {
    Some(BoardRow {
        session_id: session.id.clone(),
        title: session.title.clone(),
        project: session.project.clone(),
        project_name: name_of(&session.project),
        machine: None,
        profile: session.profile.clone(),
        agent: (session.agent == AgentKind::Acp).then(|| session.agent_name.clone()),
        checkout: Checkout::default(),
        state,
        status: session.status.clone(),
        since,
        n_background: session.n_background,
        other_pid: None,
        cost_usd: session.usage.cost_usd,
        processes: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_000 * RECENT_MS;

    fn session(id: &str, status: Status) -> Session {
        let project = "/home/me/lighthouse".to_owned();
        Session {
            title: format!("Session {id}"),
            status,
            is_empty: false,
            alive: true,
            changed_at: NOW - 10,
            ..Session::new(SessionId::new(id), project, AgentKind::Demo, "Demo agent".to_owned())
        }
    }

    fn working() -> Status {
        Status::Working { activity: "Writing".to_owned() }
    }

    fn waiting() -> Status {
        Status::NeedsInput { what: "Wants to run a command".to_owned() }
    }

    fn ids(view: &BoardView) -> Vec<&str> {
        view.rows.iter().map(|row| row.session_id.as_str()).collect()
    }

    #[test]
    fn sessions_that_need_the_user_come_first() {
        let sessions = [
            session("idle", Status::Idle),
            session("done", Status::Completed),
            session("works", working()),
            session("stopped", Status::Stopped),
            session("waits", waiting()),
            session("interrupted", Status::Interrupted),
            session("background", Status::Background),
            session("failed", Status::Failed { message: "529".to_owned() }),
        ];
        let view = Board::default().view(&sessions, &[], NOW);
        assert_eq!(ids(&view), ["waits", "failed", "background", "works", "done"]);
        assert_eq!(view.rows[0].project_name, "lighthouse");
        assert_eq!(Board::default().view(&[], &[], NOW), BoardView::default());
    }

    #[test]
    fn the_time_is_that_in_the_state() {
        let mut board = Board::default();
        let mut one = session("one", working());
        one.turn_started_at = Some(NOW - 5);
        let since = |board: &mut Board, session: &Session, now| {
            board.learn(session, now);
            board.view(std::slice::from_ref(session), &[], now).rows[0].since
        };
        assert_eq!(since(&mut board, &one, NOW), NOW - 5, "the turn began before the board was first shown");
        one.status = Status::Working { activity: "Thinking".to_owned() };
        assert_eq!(since(&mut board, &one, NOW + 1), NOW - 5);
        one.status = waiting();
        assert_eq!(since(&mut board, &one, NOW + 2), NOW + 2);
        one.status = working();
        assert_eq!(since(&mut board, &one, NOW + 3), NOW + 3, "it works again since the answer");
        one.status = Status::Idle;
        board.learn(&one, NOW + 4);
        assert_eq!(board.view(&[one.clone()], &[], NOW + 4).rows, []);
        one.status = Status::Completed;
        assert_eq!(since(&mut board, &one, NOW + 5), NOW - 10);
    }

    #[test]
    fn the_longest_wait_is_first_and_the_last_end() {
        let mut board = Board::default();
        let sessions =
            [("b", waiting()), ("a", waiting()), ("x", Status::Completed), ("y", Status::Completed)]
                .map(|(id, status)| session(id, status));
        board.learn(&sessions[0], NOW);
        board.learn(&sessions[1], NOW + 1);
        let [mut b, a, x, mut y] = sessions;
        y.changed_at = NOW - 5;
        b.title = "first".to_owned();
        assert_eq!(ids(&board.view(&[a, x, y, b], &[], NOW + 2)), ["b", "a", "y", "x"]);
    }

    #[test]
    fn what_is_over_leaves_the_board_after_an_hour_and_a_removed_session_at_once() {
        let mut board = Board::default();
        let done = session("done", Status::Completed);
        let failed = session("failed", Status::Failed { message: String::new() });
        let all = [done, failed, session("waits", waiting())];
        assert_eq!(board.view(&all, &[], NOW).rows.len(), 3);
        assert_eq!(ids(&board.view(&all, &[], NOW + RECENT_MS)), ["waits"]);
        assert_eq!(board.view(&all[..2], &[], NOW + 1).rows.len(), 2);
        assert!(!board.since.contains_key(&SessionId::new("waits")));
        let many: Vec<Session> = (0..200).map(|nr| session(&nr.to_string(), Status::Completed)).collect();
        assert_eq!(board.view(&many, &[], NOW).rows.len(), MOST_FINISHED);
    }

    fn other(id: &str, activity: LiveActivity, state: StoredState) -> Located {
        let session = StoredSession {
            agent_session_id: id.to_owned(),
            title: format!("Conversation {id}"),
            first_prompt: None,
            last_prompt: None,
            branch: None,
            model: None,
            changed_at: NOW - 20,
            state,
            live: Some(LiveProcess { pid: 7, activity }),
            profile: None,
            agent: None,
        };
        Located { path: "/store/x.jsonl".into(), project: Some("/home/me/tides".into()), session }
    }

    #[test]
    fn conversations_of_other_programs_are_among_the_sessions() {
        use LiveActivity::{NeedsInput, Open, Working};
        let live = [
            other("idle", Open, StoredState::Interrupted),
            other("finished", Open, StoredState::Completed),
            other("busy", Working, StoredState::Interrupted),
            other("asks", NeedsInput, StoredState::Unknown),
        ];
        let mut board = Board::default();
        let view = board.view(&[session("works", working())], &live, NOW);
        assert_eq!(ids(&view), ["asks", "busy", "works", "finished"]);
        assert!(view.rows.iter().all(|row| row.profile.is_none() && row.agent.is_none()));
        let busy = &view.rows[1];
        assert_eq!((busy.project_name.as_str(), busy.other_pid, busy.since), ("tides", Some(7), NOW - 20));
        let over = board.view(&[], &live, NOW + RECENT_MS);
        assert_eq!(ids(&over), ["asks", "busy"], "what is over leaves after an hour");
        assert_eq!(ids(&board.view(&[], &[], NOW)), [] as [&str; 0]);
        assert!(board.since.is_empty());
    }

    #[test]
    fn a_row_names_the_profile_and_the_agent_if_it_is_not_claude_code() {
        let mut own = session("own", working());
        (own.profile, own.agent, own.agent_name) = (Some("Work".into()), AgentKind::Acp, "Codex".into());
        let mut claude = session("claude", working());
        (claude.agent, claude.agent_name) = (AgentKind::Claude, "Claude Code".into());
        let mut there = other("there", LiveActivity::Working, StoredState::Interrupted);
        there.session.profile = Some("Home".to_owned());
        let view = Board::default().view(&[own, claude], &[there], NOW);
        let mut named: Vec<_> = view
            .rows
            .iter()
            .map(|row| (row.session_id.as_str(), row.profile.as_deref(), row.agent.as_deref()))
            .collect();
        named.sort_unstable();
        assert_eq!(
            named,
            [("claude", None, None), ("own", Some("Work"), Some("Codex")), ("there", Some("Home"), None)]
        );
    }

    #[test]
    fn a_conversation_has_one_row() {
        let mut own = session("own", Status::Completed);
        own.agent_session_id = Some("a".to_owned());
        let live = [other("a", LiveActivity::Working, StoredState::Interrupted)];
        let view = Board::default().view(std::slice::from_ref(&own), &live, NOW);
        assert_eq!(ids(&view), ["own"], "the process is Deskbell's own");
        own.alive = false;
        let view = Board::default().view(&[own], &live, NOW);
        assert_eq!(ids(&view), ["a"], "another program continues it");
    }
}
