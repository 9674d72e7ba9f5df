//! Simulated user: sends every command at any time, some of them twice or too late.

use super::rules::Rules;
use crate::api::*;
use crate::chance::Chance;
use crate::prompt::Prompt;
use crate::rewind::{Job, Wish};
use crate::session::machine::Input;
use serde_json::json;
use std::collections::BTreeMap;

/// Unfinished prompts at which the user mostly stops sending new ones.
const DEADLINE: usize = 6;

#[derive(Default)]
pub struct SimulatedUser {
    n_prompts: u64,
    n_asides: u64,
    /// The last requests that the user acted on; most of them are closed.
    seen: Vec<RequestId>,
}

impl SimulatedUser {
    pub fn act(&mut self, chance: &mut Chance, rules: &Rules) -> Input {
        let command = match chance.below(100) {
            0..30 => return self.prompt(chance, rules),
            30..56 => self.decide(chance, rules),
            56 | 57 => return rewind(chance),
            58 if chance.one_in(2) => look(chance),
            58 => self.aside(chance),
            59 => Command::StopTask { task_id: format!("task {}", chance.below(3)) },
            60 => Command::MoveToBackground,
            61..65 => Command::Interrupt,
            65 => Command::InterruptAndContinue,
            66 => Command::ContinueQueue,
            67..70 => Command::Withdraw { prompt_id: self.a_prompt(chance, rules) },
            70..74 => {
                let text = *chance.pick(&["changed", "changed", "fix it", " "]).unwrap();
                Command::EditQueued { prompt_id: self.a_prompt(chance, rules), text: text.to_owned() }
            }
            74..78 => Command::Move {
                prompt_id: self.a_prompt(chance, rules),
                before: chance.one_in(2).then(|| self.a_prompt(chance, rules)),
            },
            78..81 => {
                Command::Deliver { prompt_id: self.a_prompt(chance, rules), delivery: a_delivery(chance) }
            }
            81..86 => Command::Resend { prompt_id: self.a_prompt(chance, rules) },
            86..90 => Command::SetMode { mode: *chance.pick(&PermissionMode::ALL).unwrap() },
            90 => {
                let level = *chance.pick(&["low", "high", "unknown"]).unwrap();
                Command::SetEffort { effort: (!chance.one_in(4)).then(|| level.to_owned()) }
            }
            91..93 => {
                let model = *chance.pick(&["opus", "sonnet", "haiku", "unknown", ""]).unwrap();
                Command::SetModel { model: model.to_owned() }
            }
            93..95 => {
                let title = *chance.pick(&["Mine", "  "]).unwrap();
                Command::Rename { title: title.to_owned() }
            }
            95 => return Input::GenerateTitle((*chance.pick(&["fix it", " "]).unwrap()).to_owned()),
            96 => Command::Stop,
            97 => return Input::StartWithoutAsking,
            98 => Command::Start,
            _ => return Input::Start,
        };
        Input::Command(command)
    }

    /// Mostly a new side question, sometimes one without words or with an id that was used, or the end of one.
    fn aside(&mut self, chance: &mut Chance) -> Command {
        let id = format!("side-{}", self.n_asides);
        if chance.one_in(3) {
            return Command::CancelSide { id };
        }
        self.n_asides += u64::from(!chance.one_in(8));
        let id = format!("side-{}", self.n_asides);
        let purpose = if chance.one_in(3) { SidePurpose::CommitMessage } else { SidePurpose::Reading };
        let question = *chance.pick(&["why?", "why?", "why?", ""]).unwrap();
        Command::AskSide { id, question: question.to_owned(), purpose }
    }

    fn prompt(&mut self, chance: &mut Chance, rules: &Rules) -> Input {
        if rules.prompts.n_unended() >= DEADLINE && !chance.one_in(10) {
            return Input::Command(self.decide(chance, rules));
        }
        self.n_prompts += 1;
        // Two prompts with equal text stay two prompts.
        let text = *chance.pick(&["fix it", "fix it", "fix it", "go on\nand on", "/clear", " "]).unwrap();
        let image = Attachment {
            media_type: "image/png".to_owned(),
            data: "AA==".to_owned(),
            ..Attachment::default()
        };
        let images = if chance.one_in(12) { vec![image] } else { Vec::new() };
        let text = if images.is_empty() { text } else { text.trim() };
        let id = PromptId::new(format!("prompt-{}", self.n_prompts));
        Input::Prompt(Prompt::new(id, text.to_owned(), images, a_delivery(chance)))
    }

    /// Mostly a known prompt, sometimes a random id.
    fn a_prompt(&self, chance: &mut Chance, rules: &Rules) -> PromptId {
        let known: Vec<_> = rules.prompts.known().collect();
        match chance.pick(&known) {
            Some(id) if !chance.one_in(6) => (*id).clone(),
            _ => PromptId::new(format!("prompt-{}", chance.below(self.n_prompts + 2))),
        }
    }

    /// Mostly decides an open request, sometimes a closed or unknown one.
    fn decide(&mut self, chance: &mut Chance, rules: &Rules) -> Command {
        let request_id = match chance.pick(&rules.requests.open) {
            Some((id, _)) if !chance.one_in(8) => id.clone(),
            _ => chance.pick(&self.seen).cloned().unwrap_or_else(|| RequestId::new("request-unheard-of")),
        };
        if self.seen.len() == 8 {
            self.seen.remove(0);
        }
        self.seen.push(request_id.clone());
        // Sometimes the decision does not name the input that was shown.
        let shown = rules.requests.shown(&request_id).filter(|_| !chance.one_in(10));
        let decision = decision(chance, &request_id);
        Command::Decide { request_id, shown, decision }
    }
}

/// A look at what the agent has, or a change of its servers.
fn look(chance: &mut Chance) -> Command {
    let server = |chance: &mut Chance| (*chance.pick(&["good", "bad", "unknown"]).unwrap()).to_owned();
    match chance.below(7) {
        0 | 1 => Command::ReadContext,
        6 => Command::SuspendRules { rules: vec!["Bash(ls *)".to_owned()], suspended: chance.one_in(2) },
        2 => Command::ReadConfiguration,
        3 => Command::ReconnectServer { server: server(chance) },
        4 => Command::SetServerEnabled { server: server(chance), enabled: chance.one_in(2) },
        _ => Command::ReloadPlugins,
    }
}

/// A rewind, its preview or the undo of the last one.
fn rewind(chance: &mut Chance) -> Input {
    let wish = match chance.below(6) {
        0 | 1 => return Input::Command(Command::UndoRewind { overwrite: chance.one_in(3) }),
        2 => Wish::Preview,
        _ => Wish::Rewind { files: !chance.one_in(3), conversation: !chance.one_in(3) },
    };
    Input::Rewind(Job {
        item: ItemId::new("item"),
        wire_id: "wire".to_owned(),
        text: "fix it".to_owned(),
        wish,
    })
}

fn a_delivery(chance: &mut Chance) -> Delivery {
    match chance.below(6) {
        0 => Delivery::Now,
        1 => Delivery::IntoTurn,
        2 => Delivery::AtReset,
        _ => Delivery::AfterTurn,
    }
}

pub fn decision(chance: &mut Chance, request_id: &RequestId) -> Decision {
    match chance.below(12) {
        10 => Decision::Fill { values: BTreeMap::from([("colour".to_owned(), json!("B"))]) },
        11 => Decision::Fill { values: BTreeMap::from([("colour".to_owned(), json!("C"))]) },
        0..4 => Decision::AllowOnce { updated_input: None },
        4 => Decision::AllowOnce { updated_input: Some(whole("{\"command\": \"true\"}")) },
        5 => Decision::AllowOnce { updated_input: Some(whole("\"not an object\"")) },
        6 => {
            let nr = chance.below(3);
            // An option of an agent that speaks ACP has the agent's name.
            let is_acp = request_id.as_str().starts_with("acp-");
            let name = if is_acp && nr == 0 { "always".to_owned() } else { format!("s{nr}") };
            Decision::AllowAlways { suggestion: json!(name) }
        }
        7 => Decision::Answer { answers: BTreeMap::from([("Which?".to_owned(), "A".to_owned())]) },
        8 => Decision::Deny { message: String::new(), interrupt: chance.one_in(3) },
        _ => Decision::Deny { message: "no".to_owned(), interrupt: false },
    }
}

fn whole(json: &str) -> InputChange {
    InputChange::Whole { json: json.to_owned() }
}
