//! Files that permission requests are about, read beside the agent: the file that a write replaces, and the plan as its
//! file has it now.

use super::Actor;
use crate::agent::tool::ToolKind;
use crate::agent::{AgentEvent, AgentRequest};
use crate::api::Command;
use crate::disk;
use crate::owner;
use crate::session::machine::Input;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Maximum size of such a file. A larger one is not compared.
const MOST_BYTES: u64 = 1024 * 1024;

/// Time limit for reading it: the session waits for it.
const DEADLINE: Duration = Duration::from_secs(2);

impl Actor {
    /// Adds to a request to write a file what the file has now. A file that cannot be read as text is left out.
    pub(super) async fn read_replaced(&self, event: &mut AgentEvent) {
        let AgentEvent::Request { request: AgentRequest::Tool(request), .. } = event else { return };
        let is_write = request.asked.kind == ToolKind::Write;
        let Some(change) = request.asked.change.as_ref().filter(|change| is_write && change.old.is_empty())
        else {
            return;
        };
        let Some(old) = self.read_now(Path::new(&change.path)).await else { return };
        if let Some(change) = &mut Arc::make_mut(request).asked.change {
            change.old = old;
        }
    }

    /// Adds to a message of another session what the agent's list of live processes says about its sender.
    pub(super) async fn find_sender(&self, event: &mut AgentEvent) {
        let AgentEvent::Message(message) = event else { return };
        let Some(pid) = message.pid else { return };
        let config = self.open.agent_config.clone();
        match disk::run(&self.place, DEADLINE, move || owner::conversation_of(&config, pid)).await {
            Ok(Some(sender)) => {
                message.conversation = Some(sender.agent_session_id);
                message.folder = Some(sender.owner.cwd.to_string_lossy().into_owned());
            }
            // It has ended.
            Ok(None) => {}
            Err(unfinished) => tracing::info!(%unfinished, "the sender of a message could not be looked up"),
        }
    }

    /// Reads the file of a plan before it is approved: the agent takes the plan from the file (2.1.329).
    pub(super) async fn read_plan(&mut self, command: &Command) {
        let Command::Decide { request_id, .. } = command else { return };
        let Some(path) = self.core.plan_file(request_id) else { return };
        if let Some(plan) = self.read_now(&path).await {
            self.step(Input::PlanRead(request_id.clone(), plan)).await;
        }
    }

    async fn read_now(&self, path: &Path) -> Option<String> {
        let path = self.open.record.project.join(path);
        let place = path.clone();
        match disk::run(&place, DEADLINE, move || disk::read_text(&path, MOST_BYTES)).await {
            Ok(read) => read.ok(),
            Err(unfinished) => {
                tracing::info!(%unfinished, "a file of a permission request could not be read");
                None
            }
        }
    }
}
