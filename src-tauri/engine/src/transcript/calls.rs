//! The tool calls of a transcript: how each begins, waits, goes on and ends.

use super::news::Dirty;
use super::outcome::Outcome;
use super::{Transcript, tool};
use crate::api::*;
use crate::wire::{ContentBlock, User};
use serde_json::Value;

impl Transcript {
    pub(super) fn user(&mut self, now: u64, user: &User) {
        for block in &user.message.content {
            if let ContentBlock::ToolResult { tool_use_id, content, is_error } = block {
                let result =
                    Outcome { content, structured: user.tool_use_result.as_ref(), is_error: *is_error };
                self.tool_ends(now, tool_use_id, &result);
            }
        }
    }

    pub(super) fn tool_begins(
        &mut self,
        now: u64,
        id: &str,
        name: &str,
        input: &Value,
        parent: Option<ItemId>,
        state: ToolState,
    ) {
        let item_id = ItemId::new(id);
        let call = tool::Call::new(name, input.clone(), now, &self.project);
        let view = call.view(state, None, None);
        match self.body(&item_id) {
            Some(Body::ToolCall(known)) => {
                **known = view;
                self.touch(&item_id, Dirty::Changed);
            }
            _ => self.add(item_id.clone(), parent, now, Body::ToolCall(Box::new(view))),
        }
        self.learn(&item_id);
        self.running.retain(|known| *known != item_id);
        self.running.push(item_id.clone());
        self.tools.insert(item_id, call);
    }

    pub(super) fn tool_state(&mut self, now: u64, id: Option<String>, state: ToolState) {
        let Some(id) = id.map(ItemId) else { return };
        let Some(call) = self.tools.get(&id) else { return };
        let duration_ms = (state == ToolState::Interrupted).then(|| now.saturating_sub(call.started_at));
        let view = call.view(state, duration_ms, None);
        if let Some(Body::ToolCall(known)) = self.body(&id) {
            **known = view;
            self.touch(&id, Dirty::Changed);
        }
    }

    fn tool_ends(&mut self, now: u64, id: &str, outcome: &Outcome<'_>) {
        let id = ItemId::new(id);
        let Some(call) = self.tools.get_mut(&id) else { return };
        let is_news = !call.ended;
        call.end(outcome);
        self.running.retain(|known| *known != id);
        let state = match (outcome.is_error, call.denied) {
            (true, true) => ToolState::Denied,
            // The agent says so of whatever an interrupt ends, as if its user had refused it.
            (true, false) if outcome.is_rejected() => ToolState::Interrupted,
            (true, false) => ToolState::Failed,
            (false, _) => ToolState::Succeeded,
        };
        let view = call.view(state, Some(now.saturating_sub(call.started_at)), Some(outcome));
        if is_news {
            self.news.extend(self.facts.task(call.name(), call.input(), outcome));
        }
        if let Some(Body::ToolCall(known)) = self.body(&id) {
            **known = view;
            self.touch(&id, Dirty::Changed);
        }
        if is_news {
            self.learn(&id);
        }
    }

    /// Whatever was being written or run is not going on.
    pub(super) fn cut_off(&mut self, now: u64) {
        self.close_reply();
        self.broken_off.clear();
        for id in std::mem::take(&mut self.running) {
            if let Some(call) = self.tools.get_mut(&id) {
                call.ended = true;
            }
            self.tool_state(now, Some(id.0), ToolState::Interrupted);
        }
    }

    /// What a tool call means for the facts beside the transcript.
    fn learn(&mut self, id: &ItemId) {
        if let Some(place) = self.index.get(id) {
            self.news.extend(self.facts.learn(&self.items[*place]));
        }
    }

    pub(super) fn is_running(&self, tool_use_id: Option<&str>) -> bool {
        tool_use_id.is_some_and(|id| self.running.iter().any(|running| running.as_str() == id))
    }
}
