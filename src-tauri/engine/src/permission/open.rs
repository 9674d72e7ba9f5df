//! The open permission requests of one session. Each gets at most one answer, and none after it was withdrawn.

use super::{answer, view};
use crate::agent::tool::RawInput;
use crate::agent::{AgentCommand, Input, ToolRequest, json};
use crate::api::{Decision, PermissionRequest, RequestId, Resolution, Subagent};
use std::path::PathBuf;
use std::sync::Arc;

/// The requests without an answer, oldest first.
#[derive(Debug, Default)]
pub struct OpenRequests {
    open: Vec<Open>,
    /// The requests so far. An agent may use an id again.
    n_asked: u64,
}

/// What a request of the agent is.
#[derive(Debug)]
pub enum Asking<'a> {
    /// It waits for the user.
    New(&'a PermissionRequest),
    /// It is open already: the agent sent it again.
    Known,
    /// It has the id of another one that is open, so an answer could go to either. Both are denied: the open one, and
    /// with the command the new one.
    Clash(Box<Closed>, AgentCommand),
}

#[derive(Debug)]
struct Open {
    view: PermissionRequest,
    request: Arc<ToolRequest>,
}

#[cfg(test)]
impl Asking<'_> {
    /// The request that waits now.
    pub fn unwrap(self) -> PermissionRequest {
        let Self::New(view) = self else { panic!("no new request") };
        view.clone()
    }
}

/// A request that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct Closed {
    pub request_id: RequestId,
    /// The tool call it belonged to.
    pub tool_use_id: Option<String>,
    /// For the agent; `None` if it no longer accepts an answer.
    pub command: Option<AgentCommand>,
    pub resolution: Resolution,
    /// The input as the user edited it, if it differs.
    pub changed: Option<RawInput>,
}

/// The reason why a decision was rejected. The request is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("The request was already answered or withdrawn.")]
    NotOpen,
    #[error("{0}")]
    Unfit(String),
}

impl OpenRequests {
    /// Adds a request, unless one with this id is open.
    pub fn ask(
        &mut self,
        id: RequestId,
        request: Arc<ToolRequest>,
        subagent: Option<Subagent>,
        now: u64,
    ) -> Asking<'_> {
        if let Some(at) = self.place(&id) {
            if self.open[at].request == request {
                return Asking::Known;
            }
            let message =
                "Two requests had the same id, so an answer could go to the wrong one. Both were denied.";
            let command = denial(&id, &request, message);
            return Asking::Clash(Box::new(denied(self.open.remove(at), message)), command);
        }
        self.n_asked += 1;
        let mut view = PermissionRequest { subagent, ..view(id, &request, now) };
        // An answer to an earlier request with this id, even to the same call, is none to this one.
        view.shown = format!("{}-{}", self.n_asked, view.shown);
        self.open.push(Open { view, request });
        Asking::New(&self.open[self.open.len() - 1].view)
    }

    /// Answers a request with a decision.
    pub fn decide(
        &mut self,
        id: &RequestId,
        shown: Option<&str>,
        decision: Decision,
    ) -> Result<Closed, Refusal> {
        let at = self.place(id).ok_or(Refusal::NotOpen)?;
        let open = &self.open[at];
        let answer = answer(&open.view, &open.request, shown, decision).map_err(Refusal::Unfit)?;
        let closed = closed(self.open.remove(at), answer.resolution, Some(answer.command));
        Ok(Closed { changed: answer.changed, ..closed })
    }

    /// The agent withdraws a request.
    pub fn withdraw(&mut self, id: &RequestId, reason: &str) -> Option<Closed> {
        let at = self.place(id)?;
        let resolution = Resolution::Withdrawn { reason: reason.to_owned() };
        Some(closed(self.open.remove(at), resolution, None))
    }

    /// The file with the plan of a request.
    pub fn plan_file(&self, id: &RequestId) -> Option<PathBuf> {
        let request = &self.open[self.place(id)?].request;
        request.asked.plan_file.as_ref().map(PathBuf::from)
    }

    /// Withdraws the request for a plan if the plan is another one now. Returns also the request with the plan of now.
    pub fn plan_changed(&mut self, id: &RequestId, plan: &str) -> Option<(Closed, Arc<ToolRequest>)> {
        let at = self.place(id)?;
        if self.open[at].request.asked.plan.trim() == plan.trim() {
            return None;
        }
        let open = self.open.remove(at);
        let mut request = ToolRequest::clone(&open.request);
        let text = json::with_field(request.input.text(), "plan", &serde_json::Value::from(plan).to_string());
        // The agent takes the plan from its file; the input only has to be what is shown.
        if let Ok(input) = Input::read(&text) {
            request.input = input;
        }
        plan.clone_into(&mut request.asked.plan);
        let resolution = Resolution::Withdrawn {
            reason: "The plan changed after it was shown. It is shown again.".to_owned(),
        };
        Some((closed(open, resolution, None), Arc::new(request)))
    }

    /// Withdraws the requests for these calls.
    pub fn withdraw_of(&mut self, is_over: impl Fn(&ToolRequest) -> bool, reason: &str) -> Vec<Closed> {
        let over = self.open.extract_if(.., |open| is_over(&open.request));
        let withdrawn = |open| closed(open, Resolution::Withdrawn { reason: reason.to_owned() }, None);
        over.map(withdrawn).collect()
    }

    /// Denies all open requests, because no user is left who could answer them.
    pub fn deny_all(&mut self, message: &str) -> Vec<Closed> {
        std::mem::take(&mut self.open).into_iter().map(|open| denied(open, message)).collect()
    }

    /// Withdraws all open requests; no answer counts any more.
    pub fn withdraw_all(&mut self, reason: &str) -> Vec<Closed> {
        let withdrawn = |open| closed(open, Resolution::Withdrawn { reason: reason.to_owned() }, None);
        std::mem::take(&mut self.open).into_iter().map(withdrawn).collect()
    }

    pub fn iter(&self) -> impl Iterator<Item = &PermissionRequest> {
        self.open.iter().map(|open| &open.view)
    }

    #[cfg(test)]
    pub fn get(&self, id: &RequestId) -> Option<&PermissionRequest> {
        self.iter().find(|view| view.id == *id)
    }

    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    fn place(&self, id: &RequestId) -> Option<usize> {
        self.open.iter().position(|open| open.view.id == *id)
    }
}

fn denial(id: &RequestId, request: &ToolRequest, message: &str) -> AgentCommand {
    let request_id = id.to_string();
    match request.asked.form {
        Some(_) => AgentCommand::Fill { request_id, values: None },
        None => AgentCommand::Deny { request_id, message: message.to_owned(), interrupt: false },
    }
}

fn denied(open: Open, message: &str) -> Closed {
    let command = denial(&open.view.id, &open.request, message);
    closed(open, Resolution::Denied { message: message.to_owned() }, Some(command))
}

fn closed(open: Open, resolution: Resolution, command: Option<AgentCommand>) -> Closed {
    Closed {
        request_id: open.view.id,
        tool_use_id: open.request.tool_use_id.clone(),
        command,
        resolution,
        changed: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request(tool: &str, input: serde_json::Value) -> Arc<ToolRequest> {
        let (tool_name, tool_use_id) = (tool.to_owned(), Some("t".to_owned()));
        let request = ToolRequest { tool_name, input: input.into(), tool_use_id, ..ToolRequest::default() };
        Arc::new(crate::claude::request::read(request, Vec::new()))
    }

    #[test]
    fn a_plan_whose_file_changed_is_shown_again_and_is_not_approved_unseen() {
        let mut open = OpenRequests::default();
        let id = RequestId::new("r");
        let asked = request("ExitPlanMode", json!({"plan": "1. Look\n", "planFilePath": "/plans/a.md"}));
        let shown = open.ask(id.clone(), asked, None, 1).unwrap().shown;
        assert_eq!(open.plan_file(&id), Some(PathBuf::from("/plans/a.md")));
        assert!(open.plan_changed(&id, "1. Look").is_none(), "the same plan");
        let (closed, changed) = open.plan_changed(&id, "1. Delete").unwrap();
        assert!(closed.command.is_none() && matches!(closed.resolution, Resolution::Withdrawn { .. }));
        open.ask(id.clone(), changed, None, 1).unwrap();
        let approve = || Decision::ApprovePlan { accept_edits: false };
        assert!(matches!(open.decide(&id, Some(&shown), approve()), Err(Refusal::Unfit(_))));
        let view = open.get(&id).unwrap().clone();
        assert!(serde_json::to_string(&view.kind).unwrap().contains("Delete"));
        let Some(AgentCommand::Allow { input, .. }) =
            open.decide(&id, Some(&view.shown), approve()).unwrap().command
        else {
            panic!("not approved")
        };
        assert_eq!(input, r#"{"plan":"1. Delete","planFilePath":"/plans/a.md"}"#);
    }

    #[test]
    fn two_requests_with_one_id_are_both_denied() {
        let mut open = OpenRequests::default();
        let (id, other) = (RequestId::new("r"), RequestId::new("q"));
        let [first, second] = ["ls", "rm -r ."].map(|command| request("Bash", json!({"command": command})));
        let shown = open.ask(id.clone(), first.clone(), None, 1).unwrap().shown;
        open.ask(other.clone(), second.clone(), None, 1).unwrap();
        assert!(matches!(open.ask(id.clone(), first, None, 2), Asking::Known), "the same one again");
        let Asking::Clash(closed, denied) = open.ask(id.clone(), second, None, 3) else { panic!("no clash") };
        assert!(matches!(closed.resolution, Resolution::Denied { .. }));
        for command in [closed.command.unwrap(), denied] {
            let is_denied = matches!(&command, AgentCommand::Deny { request_id, .. } if request_id == "r");
            assert!(is_denied, "{command:?}");
        }
        let allow = Decision::AllowOnce { updated_input: None };
        assert_eq!(open.decide(&id, Some(&shown), allow), Err(Refusal::NotOpen));
        assert!(open.get(&other).is_some(), "another request is not affected");
    }

    #[test]
    fn an_answer_counts_only_for_the_request_that_was_shown() {
        let mut open = OpenRequests::default();
        let id = RequestId::new("r");
        let same = request("Bash", json!({"command": "make"}));
        let shown = open.ask(id.clone(), same.clone(), None, 1).unwrap().shown;
        let allow = || Decision::AllowOnce { updated_input: None };
        open.decide(&id, Some(&shown), allow()).unwrap();
        // The agent asks for the same call with the id that it used before, and the user had pressed twice.
        let again = open.ask(id.clone(), same, None, 1).unwrap().shown;
        for decision in [allow(), Decision::Deny { message: String::new(), interrupt: false }] {
            assert!(matches!(open.decide(&id, Some(&shown), decision), Err(Refusal::Unfit(_))));
        }
        assert!(open.decide(&id, Some(&again), allow()).is_ok());
    }

    #[test]
    fn a_write_over_a_file_is_a_change_of_it() {
        let mut asked = request("Write", json!({"file_path": "/p/a.txt", "content": "one\n"}));
        let new = view(RequestId::new("r"), &asked, 1);
        assert_eq!((new.reason, new.diff.map(|diff| (diff.added, diff.removed))), (None, Some((1, 0))));
        let change = Arc::make_mut(&mut asked).asked.change.as_mut().unwrap();
        change.old = "old\n".repeat(200);
        let over = view(RequestId::new("r"), &asked, 1);
        assert_eq!(over.reason.as_deref(), Some("Replaces 200 lines"));
        assert_eq!(over.diff.map(|diff| (diff.added, diff.removed)), Some((1, 200)));
    }
}
