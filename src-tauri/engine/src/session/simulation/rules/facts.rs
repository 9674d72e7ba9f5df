//! Rules for the published session: it must match the model.

use super::process::{ExpectedProcess, Phase};
use super::prompts::Prompts;
use super::requests::ExpectedRequests;
use super::turns::Turns;
use super::{RuleResult, hold};
use crate::api::BYPASS;
use crate::api::*;
use crate::board::Board;
use crate::session::core::Core;

#[derive(Default)]
pub struct ExpectedFacts {
    shown: Option<Session>,
    /// What a subscriber made of the events.
    told: Option<Session>,
}

/// The part of a session that the core fills in.
pub fn describe(core: &Core) -> Session {
    let mut session =
        Session::new(SessionId::new("session"), String::new(), AgentKind::Claude, "Claude Code".to_owned());
    core.describe(&mut session);
    session.requests = core.requests();
    session
}

impl ExpectedFacts {
    /// An event was published.
    pub fn publish(&mut self, event: &Event) {
        self.told.iter_mut().for_each(|told| told.apply(event));
    }

    /// Also checks that the core reported a change if the session differs from the last check.
    pub fn check(
        &mut self,
        core: &mut Core,
        process: &ExpectedProcess,
        prompts: &Prompts,
        requests: &ExpectedRequests,
        turns: &Turns,
    ) -> RuleResult {
        let session = describe(core);
        let changed = core.take_changed();
        if let Some(shown) = &self.shown {
            hold!(changed || *shown == session, Facts, "nobody is told:\n{shown:?}\nbecame\n{session:?}");
            let change = SessionChange::between(shown, &session);
            let change = change.of(session.agent_session_id.clone(), core.has_requests());
            self.publish(&Event::SessionChanged { session: Box::new(change) });
        }
        let told = self.told.get_or_insert_with(|| session.clone());
        hold!(*told == session, Facts, "a subscriber has\n{told:?}\nand not\n{session:?}");
        let is_alive = process.is_alive();
        hold!(session.alive == is_alive, Facts, "alive: {}", session.alive);
        hold!(
            is_alive || session.mode != BYPASS,
            Asking,
            "nothing runs, and it is shown as if it asked nothing"
        );
        hold!(is_alive || session.missed_prompt.is_none(), Facts, "an agent is accused that is gone");
        let has_requests = !requests.open.is_empty();
        let is_ready = process.phase == Phase::Ready;
        let has_turn = turns.running.is_some();
        let is_right = match session.status {
            Status::NeedsInput { .. } => has_requests,
            Status::Working { .. } => is_ready && has_turn && !turns.interrupting,
            Status::Interrupting => is_ready && turns.interrupting,
            Status::Starting => process.phase == Phase::Starting,
            Status::Stopping => process.phase == Phase::Stopping,
            Status::Restarting { .. } => !is_alive,
            Status::Background => !has_turn && !has_requests && session.n_background > 0,
            Status::Idle | Status::Completed | Status::Interrupted => {
                !has_turn && !has_requests && session.n_background == 0
            }
            Status::Failed { .. } | Status::Stopped => !has_turn && !has_requests,
        };
        hold!(is_right, Facts, "{:?} while {:?}, a turn: {has_turn}", session.status, process.phase);
        let ends_at_rest = turns.last_end.as_ref().filter(|_| is_ready && !has_turn && !has_requests);
        if let Some(turn) = ends_at_rest {
            agree(turn, &session)?;
        }
        let shown: Vec<_> = session.requests.iter().map(|request| &request.id).collect();
        let open: Vec<_> = requests.open.iter().map(|(id, _)| id).collect();
        hold!(shown == open, Facts, "{shown:?} is shown, {open:?} is open");
        let takes = turns.takes_prompts() && is_ready;
        hold!(session.takes_into_turn == takes, Facts, "a prompt can join the turn: {takes}");
        hold!(session.turn_started_at.is_some() == has_turn, Facts, "the turn's beginning is not shown");
        hold!(session.queue.len() + prompts.in_flight.len() == prompts.n_unended(), Facts, "the queue");
        self.shown = Some(session);
        Ok(())
    }
}

/// The relay and the list (`status`), the board with the tray, and the notification report the same end of a turn.
fn agree(turn: &TurnEnd, session: &Session) -> RuleResult {
    let is_background = session.n_background > 0;
    let expected = match turn.outcome {
        Outcome::Done | Outcome::Interrupted if is_background => Status::Background,
        Outcome::Done => Status::Completed,
        Outcome::Interrupted => Status::Interrupted,
        _ => Status::Failed { message: turn.words.clone() },
    };
    hold!(session.status == expected, Facts, "{:?} after {:?}", session.status, turn.outcome);
    let view = Board::default().view(std::slice::from_ref(session), &[], session.changed_at);
    let on_board = view.rows.first().map(|row| row.state);
    let notified = turn.status().and_then(|status| status.state());
    let is_right = match notified {
        Some(BoardState::Finished) | None if is_background => on_board == Some(BoardState::Working),
        notified => on_board == notified,
    };
    hold!(is_right, Facts, "the board shows {on_board:?}, and the user was notified of {notified:?}");
    Ok(())
}
