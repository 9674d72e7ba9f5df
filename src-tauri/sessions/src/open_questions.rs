//! The questions of connections to other machines that windows show, each until it is answered once; nothing keeps an
//! answer.

use crate::far::Secret;
use deskbell_engine::api::{CommandError, ConnectionQuestion, ErrorCode};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// The questions that wait for an answer, by their id.
#[derive(Default)]
pub struct OpenQuestions(Mutex<HashMap<String, Open>>);

struct Open {
    label: String,
    question: ConnectionQuestion,
    /// Without an answer the connection ends, also when this is dropped.
    reply: oneshot::Sender<Option<Secret>>,
}

impl OpenQuestions {
    /// Adds a question of the window with this label.
    pub fn add(&self, label: &str, question: ConnectionQuestion, reply: oneshot::Sender<Option<Secret>>) {
        let id = question.id.clone();
        self.lock().insert(id, Open { label: label.to_owned(), question, reply });
    }

    /// Removes a question that is over.
    pub fn remove(&self, id: &str) {
        self.lock().remove(id);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Open>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the answer of this window; `None` ends the connection.
    pub fn answer(&self, label: &str, id: &str, answer: Option<Secret>) -> Result<(), CommandError> {
        let mut all = self.lock();
        let is_of_window = all.get(id).is_some_and(|open| open.label == label);
        let open = is_of_window.then(|| all.remove(id)).flatten().ok_or_else(over)?;
        // ssh may have ended meanwhile.
        open.reply.send(answer).map_err(|_| over())
    }

    /// Cancels the questions of a window whose page is gone.
    pub fn window_gone(&self, label: &str) {
        self.lock().retain(|_, open| open.label != label);
    }

    /// Whether a connection to this machine waits for the user.
    pub fn is_about(&self, machine: &str) -> bool {
        self.lock().values().any(|open| open.question.machine == machine)
    }

    /// The questions of a window.
    pub fn of_window(&self, label: &str) -> Vec<ConnectionQuestion> {
        let open = self.lock();
        open.values().filter(|open| open.label == label).map(|open| open.question.clone()).collect()
    }
}

fn over() -> CommandError {
    CommandError {
        code: ErrorCode::Refused,
        message: "The connection no longer waits for this answer. Nothing was sent.".to_owned(),
        detail: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deskbell_engine::api::ConnectionQuestionKind;

    fn asked(questions: &OpenQuestions, label: &str, id: &str) -> oneshot::Receiver<Option<Secret>> {
        let question = ConnectionQuestion {
            id: id.to_owned(),
            machine: "box".to_owned(),
            kind: ConnectionQuestionKind::Secret,
            text: "Password:".to_owned(),
            fingerprint: None,
            is_again: false,
        };
        let (reply, answer) = oneshot::channel();
        questions.add(label, question, reply);
        answer
    }

    #[tokio::test]
    async fn an_answer_is_given_once_and_by_the_window_that_was_asked() {
        let questions = OpenQuestions::default();
        let answer = asked(&questions, "project-1", "a");
        for (label, id) in [("project-1", "b"), ("project-2", "a")] {
            assert!(questions.answer(label, id, Secret::of("wrong".to_owned())).is_err());
        }
        questions.answer("project-1", "a", Secret::of("hunter2".to_owned())).unwrap();
        assert!(answer.await.unwrap().is_some());
        assert!(questions.answer("project-1", "a", None).is_err());
    }

    #[tokio::test]
    async fn a_window_that_closes_cancels_its_questions() {
        let questions = OpenQuestions::default();
        let (gone, stays) = (asked(&questions, "start", "a"), asked(&questions, "project-1", "b"));
        questions.window_gone("start");
        assert!(gone.await.is_err());
        assert_eq!(questions.of_window("project-1").len(), 1);
        assert!(questions.is_about("box") && !questions.is_about("other"));
        drop((questions, stays));
    }
}
