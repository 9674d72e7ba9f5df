//! Rules for prompts: the place of each prompt from submission to its end.

use super::super::child::prompt_of;
use super::turns::Turns;
use super::{RuleResult, Scene, hold};
use crate::agent::AgentEvent;
use crate::api::*;
use crate::session::machine::{Effect, Input, Machine, SavedSession, Timer};
use crate::transcript::TranscriptEvent;
use serde_json::Value;
use std::collections::{HashMap, HashSet, VecDeque};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Submitted; not yet known to be on disk.
    Saving,
    Queued,
    Held,
    InFlight,
    Ended,
    /// Never accepted.
    Refused,
}

struct Ticket {
    place: Place,
    text: String,
    n_images: usize,
    delivery: Delivery,
    /// Names used on the wire so far.
    names: HashSet<String>,
    /// It may be sent: it never was, or the user asked to send it again.
    may_go: bool,
    /// It is held until this time.
    sends_at: Option<u64>,
    /// It was sent, and the process exited before its turn ended.
    cut_off: bool,
    /// The number of successful saves when it ended.
    ended_after: u64,
}

#[derive(Default)]
pub struct Prompts {
    tickets: HashMap<PromptId, Ticket>,
    /// Queued and held prompts, in order.
    line: VecDeque<PromptId>,
    saving: Vec<PromptId>,
    pub in_flight: Vec<PromptId>,
    n_good_saves: u64,
    /// State of the current step.
    step: Step,
}

#[derive(Default)]
struct Step {
    /// The prompt that the command names was waiting.
    was_waiting: bool,
    was_saving: bool,
    n_refused: usize,
    n_saves: usize,
    n_offered_again: usize,
    is_kept: bool,
    is_accepted: bool,
    is_done: bool,
    sent: Option<PromptId>,
}

impl Prompts {
    pub fn input(&mut self, scene: &Scene<'_>) -> RuleResult {
        self.step = Step::default();
        match scene.cause {
            Input::Prompt(prompt) => {
                let ticket = Ticket {
                    place: Place::Saving,
                    text: prompt.text.clone(),
                    n_images: prompt.attachments.len(),
                    delivery: prompt.delivery,
                    names: HashSet::new(),
                    may_go: false,
                    sends_at: None,
                    cut_off: false,
                    ended_after: 0,
                };
                self.tickets.insert(prompt.id.clone(), ticket);
                self.saving.push(prompt.id.clone());
            }
            Input::Saved(id) => self.step.was_saving = self.leaves_saving(id),
            Input::SaveFailed(id, _) => {
                self.step.was_saving = self.leaves_saving(id);
                self.put(id, Place::Refused);
            }
            Input::Command(
                Command::Withdraw { prompt_id }
                | Command::EditQueued { prompt_id, .. }
                | Command::Resend { prompt_id },
            ) => self.step.was_waiting = self.line.contains(prompt_id),
            Input::Command(Command::Deliver { prompt_id, delivery }) => {
                self.step.was_waiting = self.line.contains(prompt_id);
                if self.step.was_waiting && *delivery != Delivery::AtReset {
                    self.tickets.get_mut(prompt_id).unwrap().delivery = *delivery;
                    if *delivery == Delivery::Now {
                        self.leaves_line(prompt_id);
                        self.goes_first(prompt_id);
                    }
                }
            }
            Input::Command(Command::Move { prompt_id, before }) => {
                let before = before.as_ref();
                self.step.was_waiting =
                    self.line.contains(prompt_id) && before.is_none_or(|before| self.line.contains(before));
                if self.step.was_waiting && before != Some(prompt_id) {
                    self.leaves_line(prompt_id);
                    let place = before.and_then(|before| self.line.iter().position(|id| id == before));
                    self.line.insert(place.unwrap_or(self.line.len()), prompt_id.clone());
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Inserts a prompt at the front, after the queued ones with delivery `Now`.
    fn goes_first(&mut self, id: &PromptId) {
        let is_urgent =
            |id: &&PromptId| self.delivery(id) == Delivery::Now && self.place(id) == Some(Place::Queued);
        let place = self.line.iter().take_while(is_urgent).count();
        self.line.insert(place, id.clone());
    }

    fn delivery(&self, id: &PromptId) -> Delivery {
        self.tickets.get(id).map_or(Delivery::AfterTurn, |ticket| ticket.delivery)
    }

    /// The input makes the machine interrupt the running turn to send a prompt.
    pub fn ends_turn(&self, cause: &Input) -> bool {
        match cause {
            Input::Saved(id) => self.saving.contains(id) && self.delivery(id) == Delivery::Now,
            Input::Command(Command::Deliver { prompt_id, delivery: Delivery::Now }) => {
                self.line.contains(prompt_id)
            }
            _ => false,
        }
    }

    /// The next queued prompt that need not wait for the end of the turn.
    pub fn urgent(&self) -> Option<&PromptId> {
        self.line
            .iter()
            .find(|id| self.place(id) == Some(Place::Queued) && self.delivery(id) != Delivery::AfterTurn)
    }

    fn leaves_saving(&mut self, id: &PromptId) -> bool {
        let place = self.saving.iter().position(|known| known == id);
        place.map(|place| self.saving.remove(place)).is_some()
    }

    fn put(&mut self, id: &PromptId, place: Place) {
        let n_good_saves = self.n_good_saves;
        if let Some(ticket) = self.tickets.get_mut(id) {
            ticket.place = place;
            if place == Place::Ended {
                ticket.ended_after = n_good_saves;
            }
        }
    }

    fn place(&self, id: &PromptId) -> Option<Place> {
        self.tickets.get(id).map(|ticket| ticket.place)
    }

    fn leaves_line(&mut self, id: &PromptId) {
        self.line.retain(|known| known != id);
    }

    /// The next queued prompt.
    pub fn next(&self) -> Option<&PromptId> {
        self.line.iter().find(|id| self.place(id) == Some(Place::Queued))
    }

    pub fn n_unended(&self) -> usize {
        self.line.len() + self.in_flight.len()
    }

    /// All waiting and sent prompts that have not ended.
    pub fn known(&self) -> impl Iterator<Item = &PromptId> {
        self.line.iter().chain(self.in_flight.iter())
    }

    pub fn effect(
        &mut self,
        scene: &Scene<'_>,
        effect: &Effect,
        line: Option<&Value>,
        turns: &Turns,
    ) -> RuleResult {
        match effect {
            Effect::Write(_) => {
                if let Some(line) = line.filter(|line| line["type"] == "user") {
                    return self.sent(line, turns);
                }
            }
            Effect::Save(id) => {
                self.step.is_kept |= id.is_some();
                self.step.n_saves += 1;
            }
            Effect::Emit(Event::TurnEnded { .. }) => {
                for id in &self.line {
                    let ticket = self.tickets.get_mut(id).unwrap();
                    if ticket.delivery == Delivery::IntoTurn {
                        ticket.delivery = Delivery::AfterTurn;
                    }
                }
            }
            Effect::Refuse(_) => self.step.n_refused += 1,
            Effect::TranscriptEvent(TranscriptEvent::PromptAccepted(prompt)) => {
                let is_answer =
                    matches!(scene.cause, Input::Saved(id) if *id == prompt.id) && self.step.was_saving;
                hold!(
                    is_answer && !self.step.is_accepted,
                    Prompts,
                    "{} is accepted, but not on disk",
                    prompt.id
                );
                self.step.is_accepted = true;
                self.put(&prompt.id, Place::Queued);
                self.tickets.get_mut(&prompt.id).unwrap().may_go = true;
                match prompt.delivery {
                    Delivery::Now => self.goes_first(&prompt.id),
                    _ => self.line.push_back(prompt.id.clone()),
                }
            }
            Effect::TranscriptEvent(TranscriptEvent::PromptEdited { id, text }) => {
                let is_asked = matches!(scene.cause, Input::Command(Command::EditQueued { prompt_id, text: wanted })
                    if prompt_id == id && wanted == text);
                hold!(is_asked && self.step.was_waiting, Prompts, "{id} is edited, which nobody asked for");
                self.tickets.get_mut(id).unwrap().text.clone_from(text);
                self.step.is_done = true;
            }
            Effect::TranscriptEvent(TranscriptEvent::PromptState { id, state }) => {
                return self.state(scene, id, *state, turns);
            }
            _ => {}
        }
        Ok(())
    }

    fn sent(&mut self, line: &Value, turns: &Turns) -> RuleResult {
        let name = line["uuid"].as_str().unwrap_or_default();
        let id = prompt_of(name);
        let place = self.place(&id);
        let next = if turns.running.is_some() {
            hold!(turns.takes_prompts(), Order, "{id} is sent while {:?} is in flight", self.in_flight);
            self.urgent().cloned()
        } else {
            self.next().cloned()
        };
        hold!(place != Some(Place::InFlight), Order, "{id} is sent twice");
        hold!(place == Some(Place::Queued), Prompts, "{id} is sent, though it is {place:?}");
        hold!(next.as_ref() == Some(&id), Order, "{id} is sent before {next:?}");
        let is_new = self.tickets.get_mut(&id).unwrap().names.insert(name.to_owned());
        hold!(is_new, Names, "{id} is sent under a name that the agent knows: {name}");
        let ticket = self.tickets.get_mut(&id).unwrap();
        hold!(ticket.may_go, Prompts, "{id} is sent again, which nobody asked for");
        let content = &line["message"]["content"];
        let text = content.as_str().or_else(|| content.as_array()?.last()?["text"].as_str());
        let expected = Some(ticket.text.as_str()).filter(|text| !text.is_empty());
        hold!(text == expected, Prompts, "{id} is sent with another text: {content}");
        ticket.may_go = false;
        ticket.place = Place::InFlight;
        self.leaves_line(&id);
        self.in_flight.push(id.clone());
        self.step.sent = Some(id);
        Ok(())
    }

    fn state(&mut self, scene: &Scene<'_>, id: &PromptId, state: PromptState, turns: &Turns) -> RuleResult {
        let place = self.place(id);
        let is_in_flight = self.in_flight.contains(id);
        match state {
            PromptState::Sent => {
                hold!(self.step.sent.take().as_ref() == Some(id), Prompts, "{id} was not sent");
            }
            PromptState::Done | PromptState::Failed => {
                hold!(is_in_flight, Prompts, "{id} ends, though it is {place:?}");
                match scene.cause {
                    Input::Line(_) => {
                        hold!(scene.ended.contains(id), Prompts, "{id} ends before its turn does")
                    }
                    // The user interrupted the turn, and the process was terminated to end it.
                    Input::Exited(_) => hold!(
                        turns.interrupting && state == PromptState::Done,
                        Prompts,
                        "{id} ends with the process, though nobody ended it"
                    ),
                    cause => hold!(false, Prompts, "{id} ends by {cause:?}"),
                }
                self.lands(id);
                self.put(id, Place::Ended);
            }
            PromptState::Withdrawn => {
                let is_asked =
                    matches!(scene.cause, Input::Command(Command::Withdraw { prompt_id }) if prompt_id == id);
                hold!(
                    is_asked && self.step.was_waiting,
                    Prompts,
                    "{id} is withdrawn, which nobody asked for"
                );
                self.leaves_line(id);
                self.put(id, Place::Ended);
                self.step.is_done = true;
            }
            PromptState::Held if is_in_flight => {
                // After an interrupt by the user, the agent returns prompts that it had not begun with.
                let is_given_back = match scene.cause {
                    Input::Line(AgentEvent::PromptState { state, .. }) => {
                        state == "cancelled" && turns.can_be_given_back(id, false)
                    }
                    Input::Line(AgentEvent::Response { .. }) => turns.can_be_given_back(id, true),
                    _ => false,
                };
                let is_cut_off = matches!(scene.cause, Input::Exited(_));
                hold!(is_cut_off || is_given_back, Prompts, "{id} is held while it is in flight");
                self.tickets.get_mut(id).unwrap().cut_off |= is_cut_off;
                self.lands(id);
                self.line.insert(self.step.n_offered_again, id.clone());
                self.step.n_offered_again += 1;
                self.hold(id);
            }
            PromptState::Held => {
                hold!(place == Some(Place::Queued), Prompts, "{id} is held, though it is {place:?}");
                let until_reset = match scene.cause {
                    Input::Saved(saved) => saved == id && self.delivery(id) == Delivery::AtReset,
                    Input::Command(Command::Deliver { prompt_id, delivery }) => {
                        prompt_id == id && *delivery == Delivery::AtReset
                    }
                    _ => false,
                };
                let may_hold = matches!(
                    scene.cause,
                    Input::Command(
                        Command::Stop
                            | Command::Interrupt
                            | Command::Decide { decision: Decision::Deny { interrupt: true, .. }, .. }
                    ) | Input::SpawnFailed(_)
                        | Input::Exited(_)
                        | Input::Timer(Timer::Initialize | Timer::Switch)
                        | Input::Line(
                            // A stopped turn ended, and what was written into it would be the next one. Or a process that
                            // claims to run without asking, and does not stop that, is shut down. Or the agent says that it
                            // cannot work.
                            AgentEvent::TurnEnded(_)
                                | AgentEvent::CannotStart { .. }
                                | AgentEvent::SessionState { .. }
                                | AgentEvent::Status { .. }
                                | AgentEvent::Init(_)
                                | AgentEvent::Response { .. }
                        )
                );
                hold!(may_hold || until_reset, Prompts, "{id} is held by {:?}", scene.cause);
                self.hold(id);
            }
            PromptState::Queued => {
                let is_asked = match scene.cause {
                    Input::Command(Command::Resend { prompt_id } | Command::Deliver { prompt_id, .. }) => {
                        prompt_id == id && self.step.was_waiting
                    }
                    Input::Command(Command::ContinueQueue) => {
                        place == Some(Place::Held) && !self.tickets[id].cut_off
                    }
                    Input::Timer(Timer::Reset) => self.tickets[id].sends_at.is_some_and(|at| at <= scene.now),
                    _ => false,
                };
                hold!(is_asked, Prompts, "{id} is queued again, which nobody asked for");
                self.put(id, Place::Queued);
                self.tickets.get_mut(id).unwrap().may_go = true;
                self.step.is_done = true;
            }
        }
        Ok(())
    }

    fn lands(&mut self, id: &PromptId) {
        self.in_flight.retain(|known| known != id);
    }

    fn hold(&mut self, id: &PromptId) {
        self.put(id, Place::Held);
        self.tickets.get_mut(id).unwrap().delivery = Delivery::AfterTurn;
    }

    pub fn end_of_step(&mut self, scene: &Scene<'_>, machine: &Machine) -> RuleResult {
        let step = std::mem::take(&mut self.step);
        let missed = scene.ended.iter().find(|id| self.in_flight.contains(id));
        hold!(missed.is_none(), Prompts, "{missed:?} ended, and nobody is told");
        // A new name is saved before it is used; everything else is saved once.
        let renames = matches!(
            scene.cause,
            Input::Command(Command::Resend { .. } | Command::Deliver { .. } | Command::ContinueQueue)
                | Input::Timer(Timer::Reset)
        );
        let n_saves = step.n_saves;
        hold!(n_saves <= 1 + usize::from(renames), Saves, "the record is written {n_saves} times");
        if let Some(id) = step.sent {
            hold!(false, Prompts, "{id} was sent, and its state does not say so");
        }
        match scene.cause {
            Input::Prompt(prompt) => {
                let is_empty = prompt.text.trim().is_empty() && prompt.attachments.is_empty()
                    || prompt.delivery == Delivery::AtReset && machine.resets_at(scene.now).is_none();
                hold!(step.is_kept != is_empty, Disk, "{} is not put on disk", prompt.id);
                hold!(
                    (step.n_refused == 1) == is_empty,
                    Prompts,
                    "{} is refused {} times",
                    prompt.id,
                    step.n_refused
                );
                if is_empty {
                    self.leaves_saving(&prompt.id);
                    self.put(&prompt.id, Place::Refused);
                }
            }
            Input::Saved(id) => hold!(step.is_accepted, Prompts, "{id} is on disk, and not accepted"),
            Input::SaveFailed(id, _) => {
                hold!(step.n_refused == 1, Prompts, "{id} is not on disk, and nobody is told")
            }
            Input::Command(Command::EditQueued { prompt_id, text }) => {
                let is_empty = text.trim().is_empty()
                    && self.tickets.get(prompt_id).is_none_or(|ticket| ticket.n_images == 0);
                let is_due = step.was_waiting && !is_empty;
                hold!(step.is_done == is_due, Prompts, "{prompt_id} was waiting, and not edited");
                hold!((step.n_refused == 0) == is_due, Prompts, "{prompt_id}: nobody is told");
            }
            Input::Command(Command::Deliver { prompt_id, delivery: Delivery::AtReset }) => {
                let is_due = step.was_waiting && machine.resets_at(scene.now).is_some();
                hold!((step.n_refused == 0) == is_due, Prompts, "{prompt_id}: nobody is told");
            }
            Input::Command(Command::Deliver { prompt_id, .. } | Command::Move { prompt_id, .. }) => {
                hold!((step.n_refused == 0) == step.was_waiting, Prompts, "{prompt_id}: nobody is told");
            }
            Input::Command(Command::Resend { prompt_id }) => {
                let is_due = step.was_waiting && step.n_refused == 0;
                hold!(is_due == step.was_waiting, Prompts, "{prompt_id}: nobody is told");
            }
            Input::Command(Command::Withdraw { prompt_id }) => {
                hold!(
                    step.is_done == step.was_waiting,
                    Prompts,
                    "{prompt_id} was waiting, and the command is lost"
                );
                hold!((step.n_refused == 0) == step.was_waiting, Prompts, "{prompt_id}: nobody is told");
            }
            Input::Command(Command::Stop | Command::Interrupt) => {
                let next = self.next();
                hold!(next.is_none(), Stop, "{next:?} would go though the user stopped it");
                let timed = machine.prompts().find(|prompt| prompt.sends_at.is_some());
                hold!(timed.is_none(), Stop, "{timed:?} would go later though the user stopped it");
            }
            Input::Command(Command::ContinueQueue) => {
                let left = self
                    .line
                    .iter()
                    .find(|id| self.place(id) == Some(Place::Held) && !self.tickets[*id].cut_off);
                hold!(left.is_none(), Prompts, "{left:?} is held though the queue was to go on");
            }
            Input::Exited(_) => {
                hold!(self.in_flight.is_empty(), Prompts, "{:?} went down with the process", self.in_flight);
            }
            _ => {}
        }
        let mut n_shown = 0;
        let mut timed = Vec::new();
        for (shown, id) in machine.prompts().zip(&self.line) {
            let ticket = &self.tickets[id];
            hold!(shown.id == *id, Order, "{} waits in the place of {id}", shown.id);
            hold!(shown.held == (ticket.place == Place::Held), Prompts, "{id} is not {:?}", ticket.place);
            hold!(shown.delivery == ticket.delivery, Prompts, "{id} goes {:?}", shown.delivery);
            hold!(shown.text == ticket.text, Prompts, "{id} has another text");
            let may_be_timed = match scene.cause {
                Input::Saved(of) | Input::Command(Command::Deliver { prompt_id: of, .. }) => of == id,
                _ => false,
            };
            let is_timed =
                shown.sends_at.is_none() || shown.held && (shown.sends_at == ticket.sends_at || may_be_timed);
            hold!(is_timed, Prompts, "{id} goes at {:?}", shown.sends_at);
            timed.push((id.clone(), shown.sends_at));
            n_shown += 1;
        }
        for (id, sends_at) in timed {
            self.tickets.get_mut(&id).unwrap().sends_at = sends_at;
        }
        hold!(n_shown == self.line.len(), Prompts, "{:?} is lost", self.line.get(n_shown));
        hold!(machine.prompts().count() == n_shown, Bounds, "more prompts wait than there are");
        Ok(())
    }

    /// Checks the record that is about to be saved.
    pub fn saving(&self, memory: &SavedSession) -> RuleResult {
        let mut n_due = 0;
        for id in self.in_flight.iter().chain(&self.line).chain(&self.saving) {
            n_due += 1;
            let mut kept = memory.prompts.iter().filter(|prompt| prompt.id == *id);
            let prompt = kept.next();
            hold!(prompt.is_some() && kept.next().is_none(), Disk, "{id} is not saved once");
            hold!(
                prompt.is_some_and(|prompt| prompt.text == self.tickets[id].text),
                Disk,
                "{id} is saved as {prompt:?}"
            );
        }
        hold!(memory.prompts.len() == n_due, Bounds, "{:?} is saved, and some of it is over", memory.prompts);
        Ok(())
    }

    pub fn saved_well(&mut self) {
        self.n_good_saves += 1;
    }

    /// `is_certain`: the content of the disk is known, because no failed write has replaced it.
    pub fn restarted(&mut self, memory: &SavedSession, is_certain: bool) -> RuleResult {
        self.step = Step::default();
        self.line = memory.prompts.iter().map(|prompt| prompt.id.clone()).collect();
        self.in_flight.clear();
        self.saving.clear();
        let mut n_found = 0;
        for (id, ticket) in &mut self.tickets {
            let n = memory.prompts.iter().filter(|prompt| prompt.id == *id).count();
            n_found += n;
            hold!(n <= 1, Prompts, "{id} is on disk {n} times");
            let is_on_disk = n == 1;
            match ticket.place {
                Place::Queued | Place::Held | Place::InFlight => {
                    hold!(is_on_disk, Prompts, "{id} was accepted, and is lost");
                }
                Place::Ended => hold!(
                    !is_on_disk || !is_certain || ticket.ended_after == self.n_good_saves,
                    Prompts,
                    "{id} was over, and comes back"
                ),
                Place::Refused => {
                    hold!(!is_on_disk || !is_certain, Prompts, "{id} was refused, and comes back");
                }
                Place::Saving => {}
            }
            ticket.may_go = false;
            ticket.sends_at = None;
            ticket.delivery = Delivery::AfterTurn;
            ticket.place = match (is_on_disk, ticket.place) {
                (true, _) => Place::Held,
                (false, Place::Saving) => Place::Refused,
                (false, place) => place,
            };
        }
        hold!(n_found == memory.prompts.len(), Bounds, "a prompt is on disk that nobody gave");
        for prompt in &memory.prompts {
            // A full disk loses an edit; the user was informed of that failure.
            let ticket = self.tickets.get_mut(&prompt.id).unwrap();
            ticket.text.clone_from(&prompt.text);
            ticket.cut_off = prompt.cut_off;
        }
        Ok(())
    }
}
