//! Side questions to the agent, which leave the conversation as it is.

use super::*;
use crate::agent::{Answer, Refused, Retry, SideAnswer};
use crate::document;

const UNKNOWN: &str = "This version of the agent does not answer side questions.";
/// Maximum length of an answer, in bytes.
const LONGEST_ANSWER: usize = 64 * 1024;

impl Step<'_> {
    /// Asks the agent. Starts its process if necessary.
    pub(super) fn ask_side(&mut self, id: String, question: String, purpose: SidePurpose) {
        if !self.machine.side.is_known() {
            return self.refuse(ErrorCode::BadCommand, UNKNOWN);
        }
        if let Some(problem) = self.machine.side.obstacle(&id, &question) {
            return self.refuse(ErrorCode::BadCommand, problem);
        }
        if !matches!(
            self.machine.process.state(),
            ProcessState::Absent | ProcessState::Starting | ProcessState::Ready
        ) {
            let text = "The agent is being stopped or restarted. Try again when that is done.";
            return self.refuse(ErrorCode::BadCommand, text);
        }
        self.machine.side.on_asked(self.now, id, question, purpose);
        self.changed();
        if self.machine.process.is_ready() {
            self.send_side_questions();
        } else {
            self.time_side_questions();
            self.start();
        }
    }

    /// Sends what waited for the process.
    pub(super) fn send_side_questions(&mut self) {
        for UnsentQuestion { id, question, history } in self.machine.side.take_unsent() {
            if !self.ask(PendingRequest::Side(id.clone()), HostRequest::AskSide { question, history }) {
                self.set_side(&id, failed("The question could not be sent. Ask again later."));
            }
        }
        self.time_side_questions();
    }

    pub(super) fn cancel_side(&mut self, id: &str) {
        if !self.machine.side.is_waiting(id) {
            return self.refuse(ErrorCode::BadCommand, "This side question does not wait for an answer.");
        }
        self.withdraw_side(id);
        self.set_side(id, SideOutcome::Cancelled);
        self.time_side_questions();
    }

    fn withdraw_side(&mut self, id: &str) {
        let asked = self.machine.control.withdrawn(&PendingRequest::Side(id.to_owned()));
        if let Some(request_id) = asked.filter(|_| self.listens()) {
            self.push(Effect::Write(AgentCommand::CancelRequest { request_id }));
        }
    }

    pub(super) fn side_in_progress(&mut self, request_id: &str, retry: Option<&Retry>) {
        let Some(PendingRequest::Side(id)) = self.machine.control.pending(request_id) else { return };
        let id = id.clone();
        let retry = retry.map(|retry| SideRetry { attempt: retry.attempt, most: retry.max_retries });
        self.set_side(&id, SideOutcome::Waiting { retry });
    }

    pub(super) fn side_answered(&mut self, id: &str, outcome: Result<&Answer, &Refused>) {
        let outcome = match outcome {
            Ok(Answer::Side(SideAnswer::Text(text))) => answered(text),
            Ok(Answer::Side(SideAnswer::Problem(words))) => failed(words),
            Ok(_) => failed("The agent gave no answer."),
            Err(problem) if problem.is_unknown => {
                self.machine.side.on_unknown();
                failed(UNKNOWN)
            }
            Err(problem) => failed(&format!("The agent could not answer: {}", problem.message)),
        };
        self.set_side(id, outcome);
        self.time_side_questions();
    }

    /// No answer will come to any question.
    pub(super) fn side_fails(&mut self, why: &str) {
        for id in self.machine.side.waiting_since(u64::MAX) {
            self.set_side(&id, failed(why));
        }
        self.time_side_questions();
    }

    pub(super) fn side_timed_out(&mut self) {
        let limit_ms = self.machine.timeouts.side_ms;
        let minutes = limit_ms / 60_000;
        for id in self.machine.side.waiting_since(self.now.saturating_sub(limit_ms)) {
            self.withdraw_side(&id);
            self.set_side(&id, failed(&format!("The agent did not answer within {minutes} minutes.")));
        }
        self.time_side_questions();
    }

    fn set_side(&mut self, id: &str, outcome: SideOutcome) {
        let has_changed = self.machine.side.on_outcome(id, outcome);
        self.changed_if(has_changed);
    }

    fn time_side_questions(&mut self) {
        let timer = Timer::Side;
        let limit_ms = self.machine.timeouts.side_ms;
        self.push(match self.machine.side.waits_since() {
            Some(since) => Effect::Arm { timer, at: since + limit_ms },
            None => Effect::Disarm(timer),
        });
    }
}

fn answered(text: &str) -> SideOutcome {
    let kept = &text[..text.floor_char_boundary(LONGEST_ANSWER)];
    SideOutcome::Answered {
        text: kept.to_owned(),
        blocks: document::markdown(kept),
        is_cut: kept.len() < text.len(),
    }
}

fn failed(message: &str) -> SideOutcome {
    SideOutcome::Failed { message: message.to_owned() }
}
