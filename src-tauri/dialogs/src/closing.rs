//! The questions before a window closes, or the app quits, whose sessions work or wait for the user.

use crate::Question;
use deskbell_engine::api::{BoardState, Session, SessionLink, Status};
use deskbell_engine::title::Title;

/// Number of sessions that a question names.
const NAMED: usize = 6;

/// Longest name of a session in a question, in characters.
const NAME: usize = 60;

/// The question to ask before the window of a project closes; `None` if nothing would be stopped.
pub fn question(project: &str, sessions: &[Session]) -> Option<Question> {
    let work = work(sessions)?;
    let kept = if work.n == 1 { "it, the conversation is" } else { "them, the conversations are" };
    Some(Question {
        title: format!("Close {project}?"),
        text: format!("{}. If you stop {kept} kept.{}\n\n{}", work.counts, goes_on(sessions), work.names),
        accept: "Stop and close",
        background: Some(("Keep working in the background", "Do not ask again")),
        arms_late: false,
    })
}

/// The one question for all windows before the app quits; `None` if nothing would be stopped.
pub fn quit_question(sessions: &[Session]) -> Option<Question> {
    let work = work(sessions)?;
    let kept = if work.n == 1 { "it. The conversation is" } else { "them. The conversations are" };
    Some(Question {
        title: "Quit Deskbell?".to_owned(),
        text: format!("{}. Quitting stops {kept} kept.{}\n\n{}", work.counts, goes_on(sessions), work.names),
        accept: "Stop and quit",
        background: None,
        arms_late: false,
    })
}

/// Whether a session has something to lose when this process ends. A session of the server has not: it goes on.
pub fn has_work(session: &Session) -> bool {
    session.link == SessionLink::Here && is_busy(session)
}

fn is_busy(session: &Session) -> bool {
    is_working(session) || is_waiting(session) || session.n_background > 0 || !session.scheduled.is_empty()
}

/// What the question says about work that goes on without Deskbell: a sentence of its own, or nothing.
fn goes_on(sessions: &[Session]) -> String {
    let n = sessions.iter().filter(|session| session.link != SessionLink::Here && is_busy(session)).count();
    match n {
        0 => String::new(),
        1 => " 1 other session keeps running without Deskbell.".to_owned(),
        n => format!(" {n} other sessions keep running without Deskbell."),
    }
}

struct Work {
    n: usize,
    /// How many sessions work and wait: “1 session is working”.
    counts: String,
    /// The sessions by name, one in each line.
    names: String,
}

fn work(sessions: &[Session]) -> Option<Work> {
    let sessions: Vec<&Session> =
        sessions.iter().filter(|session| session.link == SessionLink::Here).collect();
    let count = |is: fn(&Session) -> bool| sessions.iter().filter(|session| is(session)).count();
    let n_working = count(is_working);
    let n_waiting = count(is_waiting);
    let n_in_background = sessions
        .iter()
        .filter(|session| !is_working(session) && !is_waiting(session))
        .map(|session| session.n_background as usize)
        .sum();
    let n_scheduled = sessions.iter().map(|session| session.scheduled.len()).sum();
    let parts: Vec<String> = [
        (n_working, "session is working", "sessions are working"),
        (n_waiting, "session waits for your answer", "sessions wait for your answer"),
        (n_in_background, "background task is running", "background tasks are running"),
        (n_scheduled, "turn is scheduled", "turns are scheduled"),
    ]
    .into_iter()
    .filter(|(n, ..)| *n > 0)
    .map(|(n, one, many)| format!("{n} {}", if n == 1 { one } else { many }))
    .collect();
    let counts = match &parts[..] {
        [] => return None,
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    };
    let busy: Vec<&Session> = sessions.into_iter().filter(|session| has_work(session)).collect();
    let mut names: Vec<String> = busy
        .iter()
        .take(NAMED)
        .map(|session| format!("• {}", Title::one_line(&session.title, NAME)))
        .collect();
    if busy.len() > NAMED {
        names.push(format!("and {} more", busy.len() - NAMED));
    }
    Some(Work { n: n_working + n_waiting + n_in_background + n_scheduled, counts, names: names.join("\n") })
}

fn is_waiting(session: &Session) -> bool {
    session.status.state() == Some(BoardState::NeedsInput)
}

/// A turn runs, or is about to.
fn is_working(session: &Session) -> bool {
    match session.status {
        Status::Working { .. } | Status::Interrupting | Status::Restarting { .. } => true,
        // An agent that starts before there is a prompt has nothing to lose.
        Status::Starting => !session.is_empty,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deskbell_engine::api::{AgentKind, ScheduleKind, ScheduledTurn, SessionId};

    fn session(status: Status) -> Session {
        Session {
            title: "Session s".to_owned(),
            status,
            is_empty: false,
            ..Session::new(
                SessionId::new("s"),
                "/lighthouse".to_owned(),
                AgentKind::Demo,
                "Demo agent".to_owned(),
            )
        }
    }

    fn working() -> Session {
        session(Status::Working { activity: "Writing".to_owned() })
    }

    fn hourly() -> ScheduledTurn {
        ScheduledTurn {
            id: "1".to_owned(),
            item_id: None,
            kind: ScheduleKind::Job,
            times: "Every hour".to_owned(),
            prompt: String::new(),
            next_at: None,
            repeats: true,
        }
    }

    fn waiting() -> Session {
        session(Status::NeedsInput { what: "Wants to run a command".to_owned() })
    }

    #[test]
    fn a_window_without_work_closes_at_once() {
        let starting = Session { is_empty: true, ..session(Status::Starting) };
        let failed = session(Status::Failed { message: "no".to_owned() });
        for idle in [Status::Idle, Status::Completed, Status::Stopped, Status::Stopping] {
            assert_eq!(question("lighthouse", &[session(idle), starting.clone(), failed.clone()]), None);
        }
        assert_eq!(question("lighthouse", &[]), None);
    }

    #[test]
    fn the_question_counts_what_would_be_stopped() {
        let text = |sessions: &[Session]| question("lighthouse", sessions).map(|question| question.text);
        assert_eq!(
            text(&[working()]),
            Some("1 session is working. If you stop it, the conversation is kept.\n\n• Session s".to_owned())
        );
        let background = Session { n_background: 3, ..session(Status::Completed) };
        assert_eq!(
            text(&[working(), waiting(), working(), background]),
            Some(
                "2 sessions are working, 1 session waits for your answer and 3 background tasks are running. If you \
                 stop them, the conversations are kept.\n\n• Session s\n• Session s\n• Session s\n• Session s"
                    .to_owned()
            )
        );
        let scheduled = Session { scheduled: vec![hourly()], ..session(Status::Completed) };
        assert_eq!(
            text(&[scheduled]),
            Some("1 turn is scheduled. If you stop it, the conversation is kept.\n\n• Session s".to_owned())
        );
        for status in [Status::Starting, Status::Interrupting, Status::Restarting { attempt: 1, at: 0 }] {
            assert!(text(&[session(status)]).is_some_and(|text| text.starts_with("1 session is working.")));
        }
    }

    #[test]
    fn what_runs_in_the_server_is_not_stopped_and_the_question_says_so() {
        let kept = || Session { link: SessionLink::Connected, ..working() };
        let lost = Session { link: SessionLink::Waiting { attempt: 2, at: 0 }, ..working() };
        assert_eq!(question("lighthouse", &[kept(), lost.clone()]), None);
        assert_eq!(quit_question(&[kept()]), None);
        let one = quit_question(&[working(), kept()]).unwrap().text;
        assert!(
            one.contains("conversation is kept. 1 other session keeps running without Deskbell."),
            "{one}"
        );
        let two = question("lighthouse", &[working(), kept(), lost]).unwrap().text;
        assert!(two.starts_with("1 session is working. If you stop it, the conversation is kept."), "{two}");
        assert!(two.contains(" 2 other sessions keep running without Deskbell."), "{two}");
    }

    #[test]
    fn quitting_asks_once_and_names_the_sessions() {
        let many: Vec<Session> = (0..9).map(|_| working()).collect();
        let asked = quit_question(&many).unwrap();
        assert_eq!(
            (asked.title.as_str(), asked.accept, asked.background),
            ("Quit Deskbell?", "Stop and quit", None)
        );
        assert!(asked.text.starts_with("9 sessions are working. Quitting stops them."), "{}", asked.text);
        assert!(asked.text.ends_with("• Session s\nand 3 more"), "{}", asked.text);
        assert_eq!(quit_question(&[session(Status::Idle)]), None);
    }

    #[test]
    fn the_question_names_its_project() {
        let asked = question("lighthouse", &[waiting()]).map(|question| (question.title, question.accept));
        assert_eq!(asked, Some(("Close lighthouse?".to_owned(), "Stop and close")));
    }
}
