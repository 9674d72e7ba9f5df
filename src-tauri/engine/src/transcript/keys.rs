//! Keys of items: an agent may use an id again for another call or reply, but an item keeps its key forever.
//!
//! The first item of an id has that id as its key, and each later one has the id with its number. So a key depends only
//! on the order of the conversation, and is the same live and in a stored conversation. Gateways and local model servers
//! number the calls of each reply from zero (`call_0`), and some send a constant id for messages.
//!
//! An event names a call by the agent's id. It is the open call with that id: ids of calls that are open at the same
//! time differ, except in replies of faulty servers, whose results come in the order of the calls.

use super::Transcript;
use crate::agent::tool::ToolKind;
use crate::agent::{AgentEvent, AgentRequest, Assistant, ContentBlock, StreamEvent, Task, ToolRequest, User};
use crate::api::ItemId;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Maximum number of tasks whose calls are known. The oldest is dropped first.
const MOST_TASKS: usize = 10_000;

/// The keys of a conversation.
#[derive(Default)]
pub(super) struct Keys {
    /// Ids with more than one item, each with the number of the last one.
    repeated: HashMap<String, u32>,
    /// The agent's ids of the items whose keys differ from them.
    ids: HashMap<ItemId, String>,
    /// Calls without a result by the agent's id, oldest first.
    open: HashMap<String, VecDeque<OpenCall>>,
    /// The last call of each id that started a subagent. It may continue after its result.
    subagents: HashMap<String, ItemId>,
    /// The calls of the tasks of this process.
    tasks: HashMap<String, ItemId>,
    task_order: VecDeque<String>,
}

struct OpenCall {
    key: ItemId,
    parent: Option<ItemId>,
    is_subagent: bool,
    /// The reply that it is streamed in, until it is complete, and its place there.
    streamed_in: Option<(String, u32)>,
    is_asked: bool,
    has_task: bool,
}

impl OpenCall {
    fn is_streamed_in(&self, message_id: &str) -> bool {
        self.streamed_in.as_ref().is_some_and(|(id, _)| id == message_id)
    }
}

impl Keys {
    /// The agent's id of the item with this key.
    pub fn id_of<'a>(&'a self, item: &'a ItemId) -> &'a str {
        self.ids.get(item).map_or(item.as_str(), String::as_str)
    }

    /// A key for the next item of this id. `is_used`: whether an item has the key.
    pub fn next(&mut self, id: &str, is_used: impl Fn(&ItemId) -> bool) -> ItemId {
        let key = ItemId::new(id);
        if !is_used(&key) && !self.open.contains_key(id) {
            return key;
        }
        let number = self.repeated.entry(id.to_owned()).or_insert(1);
        loop {
            *number += 1;
            let key = ItemId(format!("{id}~{number}"));
            if !is_used(&key) {
                self.ids.insert(key.clone(), id.to_owned());
                return key;
            }
        }
    }

    /// The last item of this id.
    fn last(&self, id: &str) -> ItemId {
        self.repeated.get(id).map_or_else(|| ItemId::new(id), |number| ItemId(format!("{id}~{number}")))
    }

    /// The item was removed. The next item of its id gets its key if it was the last one.
    pub fn removed(&mut self, key: &ItemId) {
        let id = self.id_of(key).to_owned();
        if let Some(open) = self.open.get_mut(&id) {
            open.retain(|call| call.key != *key);
            if open.is_empty() {
                self.open.remove(&id);
            }
        }
        if self.ids.contains_key(key) && self.last(&id) == *key {
            self.ids.remove(key);
            if let Some(number) = self.repeated.get_mut(&id) {
                *number -= 1;
            }
        }
    }

    /// No call is open any more.
    pub fn end_calls(&mut self) {
        self.open.clear();
    }

    /// The tasks ended with their process.
    pub fn end_tasks(&mut self) {
        self.tasks.clear();
        self.task_order.clear();
    }

    fn begin(&mut self, id: &str, call: OpenCall) -> ItemId {
        let key = call.key.clone();
        if call.is_subagent {
            self.subagents.insert(id.to_owned(), key.clone());
        }
        self.open.entry(id.to_owned()).or_default().push_back(call);
        key
    }

    /// The call whose subagent sends a message with this parent: the innermost one that is open.
    fn parent(&self, id: &str) -> ItemId {
        let open = self.open.get(id).and_then(|open| open.iter().rev().find(|call| call.is_subagent));
        open.map(|call| &call.key)
            .or_else(|| self.subagents.get(id))
            .cloned()
            .unwrap_or_else(|| self.last(id))
    }

    /// The call that a result belongs to. It is no longer open.
    fn ended(&mut self, id: &str, parent: Option<&ItemId>) -> ItemId {
        let id_of_parent = parent.map(|parent| self.id_of(parent).to_owned());
        let Some(open) = self.open.get(id) else { return self.last(id) };
        let of_parent = open.iter().position(|call| call.parent.as_ref() == parent);
        // A subagent and the call of the main agent that started it have the same id.
        let of_same_id = || {
            open.iter().position(|call| {
                call.parent.as_ref().map(|parent| self.id_of(parent)) == id_of_parent.as_deref()
            })
        };
        let Some(place) = of_parent.or_else(of_same_id).or_else(|| (!open.is_empty()).then_some(0)) else {
            return self.last(id);
        };
        let Some(open) = self.open.get_mut(id) else { return self.last(id) };
        let ended = open.remove(place);
        if open.is_empty() {
            self.open.remove(id);
        }
        ended.map_or_else(|| self.last(id), |call| call.key)
    }

    /// The call that a permission request is for. `fits`: whether it has the request's input.
    fn asked(&mut self, id: &str, agent: Option<&str>, fits: impl Fn(&ItemId) -> bool) -> ItemId {
        let parent = agent.and_then(|agent| self.tasks.get(agent)).cloned();
        let last = self.last(id);
        let Some(open) = self.open.get_mut(id) else { return last };
        let place = if open.len() == 1 {
            Some(0)
        } else {
            let waits = |call: &OpenCall| !call.is_asked && fits(&call.key);
            let of_parent = open.iter().position(|call| waits(call) && call.parent == parent);
            of_parent
                .or_else(|| open.iter().position(waits))
                .or_else(|| open.iter().position(|call| !call.is_asked))
                .or_else(|| (!open.is_empty()).then_some(0))
        };
        let Some(call) = place.and_then(|place| open.get_mut(place)) else { return last };
        call.is_asked = true;
        call.key.clone()
    }

    /// The call that a task belongs to.
    fn of_task(&mut self, task: &str, id: &str) -> ItemId {
        if let Some(key) = self.tasks.get(task) {
            return key.clone();
        }
        let open = self.open.get_mut(id).and_then(|open| open.iter_mut().find(|call| !call.has_task));
        let key = match open {
            Some(call) => {
                call.has_task = true;
                call.key.clone()
            }
            None => self.last(id),
        };
        self.task_of(task, key.clone());
        key
    }

    fn task_of(&mut self, task: &str, key: ItemId) {
        if self.tasks.insert(task.to_owned(), key).is_none() {
            self.task_order.push_back(task.to_owned());
            if self.task_order.len() > MOST_TASKS
                && let Some(oldest) = self.task_order.pop_front()
            {
                self.tasks.remove(&oldest);
            }
        }
    }
}

impl Transcript {
    /// Replaces the agent's ids of calls in an event by the keys of their items. Everything behind it, the machine
    /// included, knows only keys.
    pub fn identify(&mut self, event: &mut AgentEvent) {
        match event {
            AgentEvent::Assistant(assistant) => {
                let parent = assistant.parent_tool_use_id.as_deref().map(|id| self.keys.parent(id));
                self.identify_reply(assistant, parent);
            }
            AgentEvent::User(user) => {
                let parent = user.parent_tool_use_id.as_deref().map(|id| self.keys.parent(id));
                self.identify_results(user, parent);
            }
            AgentEvent::Stream(stream) if stream.parent_tool_use_id.is_none() => {
                if let StreamEvent::BlockStart { index, block: ContentBlock::ToolUse { id, call } } =
                    &mut stream.event
                {
                    *id = self.streamed_key(*index, id, call.kind);
                }
            }
            AgentEvent::Request { request: AgentRequest::Tool(request), .. } => {
                self.identify_request(request)
            }
            AgentEvent::Task(task) => self.identify_task(task),
            AgentEvent::BackgroundTasks { tasks } => {
                tasks.iter_mut().for_each(|task| self.identify_task(task));
            }
            AgentEvent::TaskEnded { task_id, tool_use_id: Some(id), .. } => {
                *id = self.keys.of_task(task_id, id).0;
            }
            _ => {}
        }
    }

    /// The same for a message in the stored thread of this call.
    pub fn identify_below(&mut self, event: &mut AgentEvent, call: &ItemId) {
        match event {
            AgentEvent::Assistant(assistant) => self.identify_reply(assistant, Some(call.clone())),
            AgentEvent::User(user) => self.identify_results(user, Some(call.clone())),
            _ => {}
        }
    }

    /// The agent's id of the call with this key.
    pub fn agents_id<'a>(&'a self, key: &'a ItemId) -> &'a str {
        self.keys.id_of(key)
    }

    fn identify_reply(&mut self, assistant: &mut Assistant, parent: Option<ItemId>) {
        let Assistant { message, uuid, parent_tool_use_id, .. } = assistant;
        *parent_tool_use_id = parent.as_ref().map(|parent| parent.0.clone());
        for block in &mut message.content {
            let (id, call) = match block {
                ContentBlock::ToolUse { id, call } => (id, call),
                ContentBlock::ToolResult(result) => {
                    result.tool_use_id = self.keys.ended(&result.tool_use_id, parent.as_ref()).0;
                    continue;
                }
                _ => continue,
            };
            let mut open = self.keys.open.get_mut(id.as_str()).into_iter().flatten();
            let known = match uuid {
                // Each line of Claude Code is a block of its own. It was streamed before, or it is another call.
                Some(_) => open.find(|open| open.is_streamed_in(&message.id) && open.parent == parent),
                // Other drivers give each call an id, and repeat the call when it changes.
                None => open.find(|open| open.parent == parent),
            };
            if let Some(known) = known {
                known.streamed_in = None;
                id.clone_from(&known.key.0);
                continue;
            }
            *id = self.begin_call(id, call.kind, parent.clone(), None);
        }
    }

    fn begin_call(
        &mut self,
        id: &str,
        kind: ToolKind,
        parent: Option<ItemId>,
        streamed_in: Option<(String, u32)>,
    ) -> String {
        let index = &self.index;
        let key = self.keys.next(id, |key| index.contains_key(key));
        let is_subagent = kind == ToolKind::Subagent;
        let call = OpenCall { key, parent, is_subagent, streamed_in, is_asked: false, has_task: false };
        self.keys.begin(id, call).0
    }

    fn streamed_key(&mut self, index: u32, id: &str, kind: ToolKind) -> String {
        let Some(message_id) = self.reply.as_ref().map(|reply| reply.message_id().to_owned()) else {
            return id.to_owned();
        };
        let streamed_in = Some((message_id, index));
        let mut open = self.keys.open.get(id).into_iter().flatten();
        match open.find(|open| open.streamed_in == streamed_in) {
            Some(begun) => begun.key.0.clone(),
            None => self.begin_call(id, kind, None, streamed_in),
        }
    }

    fn identify_results(&mut self, user: &mut User, parent: Option<ItemId>) {
        user.parent_tool_use_id = parent.as_ref().map(|parent| parent.0.clone());
        for block in &mut user.message.content {
            let ContentBlock::ToolResult(result) = block else { continue };
            let key = self.keys.ended(&result.tool_use_id, parent.as_ref());
            if let Some(task) = &user.background_task {
                self.keys.task_of(task, key.clone());
            }
            result.tool_use_id = key.0;
        }
    }

    fn identify_request(&mut self, request: &mut Arc<ToolRequest>) {
        let Some(id) = &request.tool_use_id else { return };
        let tools = &self.tools;
        let fits = |item: &ItemId| tools.get(item).is_some_and(|call| call.has_input(&request.input));
        let key = self.keys.asked(id, request.agent_id.as_deref(), fits);
        if *id != key.0 {
            // It is shared only after this.
            Arc::make_mut(request).tool_use_id = Some(key.0);
        }
    }

    fn identify_task(&mut self, task: &mut Task) {
        if let Some(id) = &mut task.tool_use_id {
            *id = self.keys.of_task(&task.id, id).0;
        }
    }
}

#[cfg(test)]
mod tests;
