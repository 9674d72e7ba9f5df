//! The board: chooses and orders the sessions of all projects that need a look, and remembers since when each is in its
//! state. Conversations that other programs have open are on it too. Has no clock: the time is an argument.

mod memory;
mod requests;

pub use requests::decision;

use memory::BoardMemory;

use crate::api::{AgentKind, BoardRow, BoardState, BoardView, Checkout, LiveActivity, LiveProcess, Outcome};
use crate::api::{Session, SessionId, SessionLink, Status, StoredSession, StoredState, TurnEnd};
use crate::stored::Located;
use crate::title::Title;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Sessions that finished are on the board for at most this long, in milliseconds. The page, which knows the time zone,
/// shows only those of its day.
const RECENT_MS: u64 = 24 * 60 * 60 * 1000;

/// Maximum number of finished sessions on the board, and of failed ones.
const MOST_OVER: usize = 100;

/// Longest name of a project, in user-perceived characters.
const LONGEST_NAME: usize = 80;

/// Since when each session is in its state, and how its last turn ended.
#[derive(Debug, Default)]
pub struct Board {
    since: HashMap<SessionId, (BoardState, u64)>,
    endings: HashMap<SessionId, Ending>,
    memory: BoardMemory,
}

/// The end of the last turn of a session.
#[derive(Clone, Debug, Default)]
struct Ending {
    /// The first line of its answer.
    answer: Option<String>,
    needs_login: bool,
}

impl Board {
    /// A board with the failures of earlier runs, and without the rows that were cleared in them.
    pub fn open(path: &Path) -> Self {
        Self { memory: BoardMemory::open(path), ..Self::default() }
    }

    /// Whether [`Board::take_unsaved`] has something.
    pub fn is_unsaved(&self) -> bool {
        self.memory.has_changed()
    }

    /// The content of the file that [`Board::open`] reads, if it changed since the last call.
    pub fn take_unsaved(&mut self) -> Option<serde_json::Result<Vec<u8>>> {
        self.memory.take_unsaved()
    }

    /// Removes the rows of these sessions that are over from a view. They appear again when the sessions fail or finish
    /// again.
    pub fn clear(&mut self, view: &BoardView, ids: &[SessionId]) {
        let is_one = |row: &&BoardRow| row.state.is_over() && ids.contains(&row.session_id);
        view.rows.iter().filter(is_one).for_each(|row| self.memory.clear(&row.session_id, row.since));
    }

    /// Shows cleared rows again.
    pub fn restore(&mut self, ids: &[SessionId]) {
        ids.iter().for_each(|id| self.memory.restore(id));
    }

    /// The folder of a session of this computer that failed in an earlier run.
    pub fn failed_in(&self, id: &SessionId) -> Option<&str> {
        self.memory.project_of(id)
    }

    /// The user removed this session: forgets it, and its failure.
    pub fn forget(&mut self, id: &SessionId) {
        self.since.remove(id);
        self.endings.remove(id);
        self.memory.forget(id);
        self.memory.show(id);
    }

    /// Takes a session as published at `now`, in milliseconds since the epoch. The failure of a session on another machine
    /// (not `is_here`) is not kept, because its server keeps it.
    pub fn learn(&mut self, session: &Session, is_here: bool, now: u64) {
        let state = session.status.state();
        let began = match state {
            Some(BoardState::Working) => session.turn_started_at,
            Some(BoardState::Finished | BoardState::Failed) => Some(session.changed_at),
            Some(BoardState::NeedsInput) | None => None,
        };
        self.note(&session.id, state, began, now);
        match state {
            Some(BoardState::Working | BoardState::NeedsInput) => {
                self.memory.forget(&session.id);
                self.memory.show(&session.id);
            }
            Some(BoardState::Finished) => self.memory.forget(&session.id),
            Some(BoardState::Failed) if is_here => {
                let since = self.since.get(&session.id).copied();
                if let Some(row) = since.and_then(|since| self.row(session, since)) {
                    self.memory.keep_row(&row);
                }
            }
            None if session.status == Status::Starting => self.memory.show(&session.id),
            Some(BoardState::Failed) | None => {}
        }
    }

    /// A turn of this session ended.
    pub fn turn_ended(&mut self, id: &SessionId, turn: &TurnEnd) {
        let needs_login = turn.outcome == Outcome::NotLoggedIn;
        self.endings.insert(id.clone(), Ending { answer: None, needs_login });
        self.memory.set_needs_login(id, needs_login);
    }

    /// The first line of the answer with which the last turn of this session ended, as [`crate::bell::BellEvent`] cuts it.
    pub fn answered(&mut self, id: &SessionId, words: &str) {
        if let Some(ending) = self.endings.get_mut(id) {
            ending.answer = Some(words.to_owned());
        }
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
        if state == BoardState::Working {
            self.endings.remove(id);
        }
        // The first time the session's own times are better than that of the message.
        let at = began.filter(|_| known.is_none()).unwrap_or(now).min(now);
        self.since.insert(id.clone(), (state, at));
    }

    /// The board with the rows of these sessions, which are all that Deskbell has, of the conversations that live
    /// processes of the agent have open (`live`), and of failed sessions that are gone, without the rows that were cleared.
    /// Deskbell's own processes are among the live ones. No row has its machine.
    pub fn view(&mut self, sessions: &[Session], live: &[Located], now: u64) -> BoardView {
        let (own, others) = split(sessions, live);
        let there: HashSet<SessionId> = sessions
            .iter()
            .map(|session| session.id.clone())
            .chain(others.iter().map(|one| other_id(one)))
            .collect();
        self.since.retain(|id, _| there.contains(id));
        self.endings.retain(|id, _| there.contains(id));
        own.iter().for_each(|session| {
            // The project of one on another machine has the machine before the folder.
            self.learn(session, Path::new(&session.project).is_absolute(), now);
        });
        others.iter().for_each(|other| {
            self.note(&other_id(other), other_state(&other.session), Some(other.session.changed_at), now);
        });
        let mut rows: Vec<BoardRow> =
            own.iter().filter_map(|session| self.row(session, *self.since.get(&session.id)?)).collect();
        rows.extend(others.iter().filter_map(|other| other_row(other, *self.since.get(&other_id(other))?)));
        rows.retain(|row| is_shown(row, now));
        rows.extend(self.memory.failures(&rows));
        rows.retain(|row| !self.memory.hides(row));
        sort(&mut rows);
        for state in [BoardState::Failed, BoardState::Finished] {
            let mut n_over = 0;
            rows.retain(|row| {
                n_over += usize::from(row.state == state);
                row.state != state || n_over <= MOST_OVER
            });
        }
        BoardView { rows, machines: Vec::new() }
    }

    fn row(&self, session: &Session, (state, since): (BoardState, u64)) -> Option<BoardRow> {
        let ending = self.endings.get(&session.id);
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
            request: (state == BoardState::NeedsInput)
                .then(|| requests::request(&session.requests))
                .flatten(),
            answer: ending.filter(|_| state.is_over()).and_then(|ending| ending.answer.clone()),
            needs_login: state == BoardState::Failed && ending.is_some_and(|ending| ending.needs_login),
            is_reached: matches!(session.link, SessionLink::Here | SessionLink::Connected),
            since,
            n_background: session.n_background,
            other_pid: None,
            cost_usd: session.usage.cost_usd,
            processes: None,
        })
    }
}

/// Who waits longest comes first; of those that are over, the last one.
fn sort(rows: &mut [BoardRow]) {
    let time =
        |row: &BoardRow| if row.state.is_over() { (0, Reverse(row.since)) } else { (row.since, Reverse(0)) };
    rows.sort_by(|a, b| {
        (a.state, time(a))
            .cmp(&(b.state, time(b)))
            .then_with(|| a.session_id.as_str().cmp(b.session_id.as_str()))
    });
}

/// The sessions that Deskbell runs or that are at rest, and the conversations that other programs have open. A session
/// that another program continues is only among the second.
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
        request: None,
        answer: None,
        needs_login: false,
        is_reached: true,
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

/// A failure is shown until it is cleared, and one of another program for as long as what finished.
fn is_shown(row: &BoardRow, now: u64) -> bool {
    let stays = match row.state {
        BoardState::NeedsInput | BoardState::Working => true,
        BoardState::Failed => row.other_pid.is_none(),
        BoardState::Finished => false,
    };
    stays || now.saturating_sub(row.since) < RECENT_MS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::TurnTiming;

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
        assert_eq!(ids(&view), ["waits", "background", "works", "failed", "done"]);
        assert_eq!(view.rows[0].project_name, "lighthouse");
        assert_eq!(Board::default().view(&[], &[], NOW), BoardView::default());
    }

    #[test]
    fn the_time_is_that_in_the_state() {
        let mut board = Board::default();
        let mut one = session("one", working());
        one.turn_started_at = Some(NOW - 5);
        let since = |board: &mut Board, session: &Session, now| {
            board.learn(session, true, now);
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
        board.learn(&one, true, NOW + 4);
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
        board.learn(&sessions[0], true, NOW);
        board.learn(&sessions[1], true, NOW + 1);
        let [mut b, a, x, mut y] = sessions;
        y.changed_at = NOW - 5;
        b.title = "first".to_owned();
        assert_eq!(ids(&board.view(&[a, x, y, b], &[], NOW + 2)), ["b", "a", "y", "x"]);
    }

    #[test]
    fn what_finished_leaves_after_a_day_a_failure_stays_and_a_removed_session_leaves_at_once() {
        let mut board = Board::default();
        let done = session("done", Status::Completed);
        let failed = session("failed", Status::Failed { message: String::new() });
        let all = [done, failed, session("waits", waiting())];
        assert_eq!(ids(&board.view(&all, &[], NOW)), ["waits", "failed", "done"]);
        assert_eq!(ids(&board.view(&all, &[], NOW + RECENT_MS)), ["waits", "failed"]);
        assert_eq!(board.view(&all[..2], &[], NOW + 1).rows.len(), 2);
        assert!(!board.since.contains_key(&SessionId::new("waits")));
        for status in [Status::Completed, Status::Failed { message: String::new() }] {
            let many: Vec<Session> = (0..200).map(|nr| session(&nr.to_string(), status.clone())).collect();
            assert_eq!(Board::default().view(&many, &[], NOW).rows.len(), MOST_OVER);
        }
    }

    fn turn(outcome: Outcome) -> TurnEnd {
        TurnEnd {
            outcome,
            words: String::new(),
            prompt_ids: Vec::new(),
            duration_ms: 1,
            output_tokens: 0,
            cost_usd: None,
            tokens: None,
            timing: TurnTiming::default(),
        }
    }

    #[test]
    fn a_row_has_the_end_of_the_last_turn_until_the_next_one_begins() {
        let mut board = Board::default();
        let mut one = session("one", Status::Completed);
        let row = |board: &mut Board, session: &Session| {
            let row = board.view(std::slice::from_ref(session), &[], NOW).rows.remove(0);
            (row.answer, row.needs_login)
        };
        assert_eq!(row(&mut board, &one), (None, false));
        board.turn_ended(&one.id, &turn(Outcome::Done));
        board.answered(&one.id, "All 41 tests pass");
        assert_eq!(row(&mut board, &one), (Some("All 41 tests pass".to_owned()), false));
        one.status = working();
        assert_eq!(row(&mut board, &one), (None, false));
        one.status = Status::Failed { message: "Not logged in".to_owned() };
        assert_eq!(
            row(&mut board, &one),
            (None, false),
            "the end of an earlier turn is not that of this one"
        );
        board.turn_ended(&one.id, &turn(Outcome::NotLoggedIn));
        assert_eq!(row(&mut board, &one), (None, true));
        board.view(&[], &[], NOW);
        assert!(board.endings.is_empty());
    }

    #[test]
    fn a_row_of_a_lost_machine_says_so() {
        let mut one = session("one", waiting());
        one.link = SessionLink::Waiting { attempt: 1, at: 0 };
        let view = Board::default().view(&[one], &[], NOW);
        assert!(!view.rows[0].is_reached);
    }

    #[test]
    fn a_failure_stays_over_restarts_until_it_is_cleared_or_its_session_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("board.json");
        let save = |board: &mut Board| {
            if let Some(bytes) = board.take_unsaved() {
                crate::disk::write_atomically(&path, &bytes.unwrap()).unwrap();
            }
        };
        let shown = |board: &mut Board, sessions: &[Session], now: u64| board.view(sessions, &[], now);
        let failed = session("a", Status::Failed { message: "529".to_owned() });
        let mut board = Board::open(&path);
        let first = shown(&mut board, std::slice::from_ref(&failed), NOW);
        save(&mut board);
        assert!(board.take_unsaved().is_none(), "nothing changed");

        let mut board = Board::open(&path);
        let idle = session("a", Status::Idle);
        for sessions in [&[][..], std::slice::from_ref(&idle)] {
            assert_eq!(shown(&mut board, sessions, NOW + 10 * RECENT_MS), first);
        }
        assert_eq!(board.failed_in(&failed.id), Some("/home/me/lighthouse"));
        board.clear(&first, std::slice::from_ref(&failed.id));
        assert!(shown(&mut board, &[], NOW).rows.is_empty());
        board.restore(std::slice::from_ref(&failed.id));
        assert_eq!(shown(&mut board, &[], NOW), first, "the user took it back");
        board.clear(&first, std::slice::from_ref(&failed.id));
        save(&mut board);

        let mut board = Board::open(&path);
        assert!(shown(&mut board, std::slice::from_ref(&failed), NOW).rows.is_empty(), "cleared for good");
        let works = session("a", working());
        assert_eq!(ids(&shown(&mut board, &[works], NOW + 1)), ["a"]);
        let again = shown(&mut board, &[failed], NOW + 2);
        assert_eq!(again.rows[0].state, BoardState::Failed, "it failed again");
        shown(&mut board, &[session("a", working())], NOW + 3);
        assert!(shown(&mut board, &[], NOW + 4).rows.is_empty(), "it went on before it was gone");
    }

    #[test]
    fn only_rows_that_are_over_are_cleared() {
        let mut board = Board::default();
        let sessions = [session("a", waiting()), session("b", Status::Completed)];
        let view = board.view(&sessions, &[], NOW);
        board.clear(&view, &["a", "b"].map(SessionId::new));
        assert_eq!(ids(&board.view(&sessions, &[], NOW)), ["a"]);
    }

    fn failed(id: &str) -> Session {
        session(id, Status::Failed { message: "529".to_owned() })
    }

    /// The board of the next run.
    fn reopened(board: &mut Board, path: &Path) -> Board {
        if let Some(bytes) = board.take_unsaved() {
            crate::disk::write_atomically(path, &bytes.unwrap()).unwrap();
        }
        Board::open(path)
    }

    #[test]
    fn a_failure_is_kept_and_forgotten_without_a_view() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("board.json");
        let mut board = Board::open(&path);
        let one = failed("a");
        board.learn(&one, true, NOW);
        board.turn_ended(&one.id, &turn(Outcome::NotLoggedIn));
        let mut board = reopened(&mut board, &path);
        let view = board.view(&[], &[], NOW);
        assert_eq!(ids(&view), ["a"]);
        assert!(view.rows[0].needs_login);
        for goes_on in [working(), waiting()] {
            board.learn(&one, true, NOW);
            board.learn(&session("a", goes_on), true, NOW + 1);
            board = reopened(&mut board, &path);
            assert_eq!(ids(&board.view(&[], &[], NOW + 2)), [] as [&str; 0]);
        }
        let there = Session { project: "box:/home/me/lighthouse".to_owned(), ..one };
        board.learn(&there, false, NOW);
        assert_eq!(ids(&board.view(&[], &[], NOW)), [] as [&str; 0], "its server keeps it");
    }

    #[test]
    fn a_removed_session_leaves_no_failure() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("board.json");
        let mut board = Board::open(&path);
        board.learn(&failed("a"), true, NOW);
        let mut board = reopened(&mut board, &path);
        board.forget(&SessionId::new("a"));
        assert!(board.view(&[], &[], NOW).rows.is_empty());
        assert!(reopened(&mut board, &path).view(&[], &[], NOW).rows.is_empty());
        assert_eq!(ids(&board.view(&[failed("a")], &[], NOW)), ["a"], "it was brought back");
    }

    #[test]
    fn a_new_failure_is_shown_whatever_was_cleared_before() {
        for begins in [Status::Starting, working(), waiting()] {
            let mut board = Board::default();
            let one = failed("a");
            let view = board.view(std::slice::from_ref(&one), &[], NOW);
            board.clear(&view, std::slice::from_ref(&one.id));
            assert!(board.view(std::slice::from_ref(&one), &[], NOW).rows.is_empty());
            board.learn(&session("a", begins.clone()), true, NOW);
            // It has the same times.
            assert_eq!(ids(&board.view(&[one], &[], NOW)), ["a"], "{begins:?}");
        }
    }

    #[test]
    fn older_failures_take_the_places_of_cleared_ones() {
        let mut board = Board::default();
        let many: Vec<Session> = (0..MOST_OVER + 50).map(|nr| failed(&format!("{nr:03}"))).collect();
        let first = board.view(&many, &[], NOW);
        assert_eq!(first.rows.len(), MOST_OVER);
        let all: Vec<SessionId> = many.iter().map(|session| session.id.clone()).collect();
        board.clear(&first, &all);
        assert_eq!(board.view(&many, &[], NOW).rows.len(), 50);
        assert_eq!(board.view(&[], &[], NOW).rows.len(), 50);
    }

    #[test]
    fn an_unreadable_file_is_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("board.json");
        std::fs::write(&path, "{").unwrap();
        let mut board = Board::open(&path);
        assert!(board.view(&[], &[], NOW).rows.is_empty());
        assert!(!path.exists());
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
        assert_eq!(ids(&over), ["asks", "busy"], "what is over leaves after a day");
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
