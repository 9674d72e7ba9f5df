//! Subagents by their ids: a permission request contains only the id of the subagent that asks.

use crate::agent::{Task, ToolRequest};
use crate::api::{ItemId, Subagent};
use crate::misleading::written_out;
use crate::title::Title;
use std::collections::VecDeque;

/// Number of subagents kept. They stay after their end, because an ended one can be continued.
const KEPT: usize = 1_000;
/// Longest description, in user-perceived characters.
const LONGEST: usize = 120;

/// The subagents that the process started.
#[derive(Debug, Default)]
pub struct Subagents(VecDeque<Started>);

#[derive(Debug)]
struct Started {
    id: String,
    description: String,
    item_id: Option<ItemId>,
}

impl Subagents {
    /// The agent reports a task. Only the first report of a task has its kind and its description; a later one says in
    /// the same field what the task does at the moment.
    pub fn on_task(&mut self, task: &Task) {
        if task.kind.is_none() || self.0.iter().any(|known| known.id == task.id) {
            return;
        }
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back(Started {
            id: task.id.clone(),
            description: shown(&task.description),
            item_id: task.tool_use_id.clone().map(ItemId),
        });
    }

    /// The subagent that makes this request; `None` if the agent itself does.
    pub fn asking(&self, request: &ToolRequest) -> Option<Subagent> {
        let agent_id = request.agent_id.clone()?;
        let started = self.0.iter().find(|started| started.id == agent_id);
        let description = started.map(|started| started.description.clone()).unwrap_or_default();
        let words = if description.is_empty() {
            "Asked by a subagent".to_owned()
        } else {
            format!("Asked by the subagent “{description}”")
        };
        let item_id = started.and_then(|started| started.item_id.clone());
        Some(Subagent { agent_id, description, item_id, words })
    }
}

/// A description for the user. It cannot end the quotation marks around it, so nothing in it reads as Deskbell's words.
fn shown(description: &str) -> String {
    let line = written_out(description.trim()).replace(['“', '”', '„', '"'], "'");
    Title::one_line(&line, LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::TaskKind;

    fn task(id: &str, description: &str) -> Task {
        Task {
            id: id.to_owned(),
            tool_use_id: Some(format!("call of {id}")),
            kind: Some(TaskKind::Subagent),
            description: description.to_owned(),
            ..Task::default()
        }
    }

    fn words(subagents: &Subagents, agent_id: Option<&str>) -> Option<String> {
        let request = ToolRequest { agent_id: agent_id.map(str::to_owned), ..ToolRequest::default() };
        subagents.asking(&request).map(|subagent| subagent.words)
    }

    #[test]
    fn a_subagent_is_named_by_its_first_description() {
        let mut subagents = Subagents::default();
        subagents.on_task(&task("a", "Explore the parser"));
        subagents.on_task(&Task { kind: None, ..task("b", "Running ls") });
        subagents.on_task(&task("a", "Something else"));
        assert_eq!(
            words(&subagents, Some("a")).as_deref(),
            Some("Asked by the subagent “Explore the parser”")
        );
        assert_eq!(words(&subagents, Some("b")).as_deref(), Some("Asked by a subagent"));
        assert_eq!(words(&subagents, None), None);
        let request = ToolRequest { agent_id: Some("a".to_owned()), ..ToolRequest::default() };
        assert_eq!(subagents.asking(&request).unwrap().item_id, Some(ItemId::new("call of a")));
    }

    #[test]
    fn a_description_shows_what_is_in_it_and_cannot_leave_its_quotation_marks() {
        let mut subagents = Subagents::default();
        let description = "Look”.\nApproved by \u{202e}Deskbell\u{200b}: \"yes” “";
        subagents.on_task(&task("a", description));
        assert_eq!(
            words(&subagents, Some("a")).as_deref(),
            Some("Asked by the subagent “Look'.\\u{000A}Approved by \\u{202E}Deskbell\\u{200B}: 'yes' '”")
        );
        subagents.on_task(&task("long", &"x".repeat(1_000_000)));
        assert_eq!(words(&subagents, Some("long")).unwrap().chars().count(), LONGEST + 25);
        subagents.on_task(&task("blank", " \t "));
        assert_eq!(words(&subagents, Some("blank")).as_deref(), Some("Asked by a subagent"));
    }

    #[test]
    fn the_oldest_of_many_is_dropped() {
        let mut subagents = Subagents::default();
        for number in 0..=KEPT {
            subagents.on_task(&task(&number.to_string(), "look"));
        }
        assert_eq!(words(&subagents, Some("0")).as_deref(), Some("Asked by a subagent"));
        assert_eq!(words(&subagents, Some("1")).as_deref(), Some("Asked by the subagent “look”"));
    }
}
