//! The question before a window closes whose sessions work or wait for the user.

use deskbell_engine::api::{Session, Status};

/// A question of which one answer ends work. The other answer, and closing the dialog, changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The title of the dialog.
    pub title: String,
    pub text: String,
    /// The words of the button that ends the work.
    pub accept: &'static str,
}

/// The question to ask before the window of a project closes; `None` if nothing would be stopped.
pub fn question(project: &str, sessions: &[Session]) -> Option<Question> {
    let count = |is: fn(&Session) -> bool| sessions.iter().filter(|session| is(session)).count();
    let n_working = count(is_working);
    let n_waiting = count(|session| matches!(session.status, Status::NeedsInput { .. }));
    let n_in_background = sessions
        .iter()
        .filter(|session| !is_working(session) && !matches!(session.status, Status::NeedsInput { .. }))
        .map(|session| session.n_background as usize)
        .sum();
    let parts: Vec<String> = [
        (n_working, "session is working", "sessions are working"),
        (n_waiting, "session waits for your answer", "sessions wait for your answer"),
        (n_in_background, "background task is running", "background tasks are running"),
    ]
    .into_iter()
    .filter(|(n, ..)| *n > 0)
    .map(|(n, one, many)| format!("{n} {}", if n == 1 { one } else { many }))
    .collect();
    let what = match &parts[..] {
        [] => return None,
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    };
    let them = if n_working + n_waiting + n_in_background == 1 { "it" } else { "them" };
    Some(Question {
        title: format!("Close {project}?"),
        text: format!(
            "{what}. Closing the window stops {them}. The conversations are kept, and you can continue them later."
        ),
        accept: "Stop and close",
    })
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

    fn session(status: Status) -> Session {
        crate::windows::session("s", status)
    }

    fn working() -> Session {
        session(Status::Working { activity: "Writing".to_owned() })
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
        let kept = "The conversations are kept, and you can continue them later.";
        assert_eq!(
            text(&[working()]),
            Some(format!("1 session is working. Closing the window stops it. {kept}"))
        );
        let background = Session { n_background: 3, ..session(Status::Completed) };
        assert_eq!(
            text(&[working(), waiting(), working(), background]),
            Some(format!(
                "2 sessions are working, 1 session waits for your answer and 3 background tasks are running. Closing \
                 the window stops them. {kept}"
            ))
        );
        for status in [Status::Starting, Status::Interrupting, Status::Restarting { attempt: 1, at: 0 }] {
            assert!(text(&[session(status)]).is_some_and(|text| text.starts_with("1 session is working.")));
        }
    }

    #[test]
    fn the_question_names_its_project() {
        let asked = question("lighthouse", &[waiting()]).map(|question| (question.title, question.accept));
        assert_eq!(asked, Some(("Close lighthouse?".to_owned(), "Stop and close")));
    }
}
