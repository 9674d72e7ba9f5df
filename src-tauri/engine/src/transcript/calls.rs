//! Tool calls in a transcript: start, permission request, background run and end of each call.

use super::changes::ChangeKind;
use super::lazy::Late;
use super::{RequestEnd, Transcript, progress, tasks, tool};
use crate::agent::{DecidedBy, Rejection, ToolResult, User};
use crate::api::*;
use std::sync::Arc;

/// With more open calls than this, none is shown as waiting for another one: the time to work that out grows with each
/// open call.
const ORDERED: usize = 100;

/// The images of calls that are kept in a conversation, in bytes of base64.
pub(super) const MOST_IMAGES: usize = 32 << 20;

/// Maximum number of task ends kept for calls without a result. A turn has few.
const EARLY_ENDS: usize = 1_000;

/// The end of a task, as the agent reported it.
pub(super) struct TaskEnd {
    pub status: String,
    pub summary: String,
    pub report: Option<String>,
}

impl Transcript {
    pub(super) fn user(&mut self, now: u64, user: &User) {
        self.summarized(user);
        for result in user.results() {
            let tool_use_id = result.tool_use_id.as_str();
            let by_a_hook = match result.decision {
                Some(DecidedBy::Hook) => Some("allowed by a hook"),
                Some(DecidedBy::DeniedByHook) => Some("denied by a hook"),
                _ => None,
            };
            if let (Some(note), Some(call)) = (by_a_hook, self.tools.get_mut(&ItemId::new(tool_use_id))) {
                call.end_note = Some(note.to_owned());
            }
            let task = user.background_task.as_deref().filter(|_| !result.is_error);
            self.tool_ends(now, result, task);
        }
    }

    pub(super) fn tool_begins(&mut self, now: u64, id: &str, begun: tool::Begun, parent: Option<ItemId>) {
        let tool::Begun { call, state } = begun;
        let item_id = ItemId::new(id);
        self.n_calls += 1;
        let number = self.n_calls;
        let is_complete = !call.input.is_absent();
        let mut call = tool::Call::new(number, call, now, &self.project);
        if let Some(changed) = self.changed_inputs.get(id).filter(|_| is_complete) {
            call.change(changed.clone());
        }
        call.has_plain_diff = self.is_reading;
        let view = call.view(state, None, None);
        match self.head(&item_id).map(|item| &item.body) {
            Some(Body::ToolCall(_)) => self.put_view(&item_id, view, None),
            _ => self.add(item_id.clone(), parent.clone(), now, Body::ToolCall(Box::new(view))),
        }
        self.learn(&item_id);
        if let Some(known) = self.tools.get(&item_id) {
            self.running.remove(&known.number);
        }
        self.running.insert(number, item_id.clone());
        self.tools.insert(item_id, call);
        self.settle_order(parent.as_ref());
    }

    /// The agent requests permission for a call.
    pub(super) fn request_opened(&mut self, id: Option<String>) {
        let Some(id) = id.map(ItemId) else { return };
        let Some(call) = self.tools.get_mut(&id).filter(|call| !call.ended) else { return };
        (call.asked, call.held) = (true, false);
        self.show_call(&id, ToolState::Waiting, None);
        self.settle_order(self.parent_of(&id).as_ref());
    }

    /// The permission request for a call is no longer open.
    pub(super) fn request_closed(&mut self, now: u64, id: Option<String>, end: RequestEnd) {
        let Some(id) = id else { return };
        if let RequestEnd::Allowed { changed: Some(changed) } = &end {
            self.changed_inputs.insert(id.clone(), changed.clone());
        }
        let id = ItemId(id);
        let Some(call) = self.tools.get_mut(&id).filter(|call| !call.ended) else { return };
        let state = match end {
            RequestEnd::Allowed { changed } => {
                call.allowed = true;
                // The time that the user took to answer does not count.
                call.started_at = now;
                if let Some(changed) = changed {
                    call.change(changed);
                }
                ToolState::Running
            }
            RequestEnd::Denied => {
                call.denied = true;
                ToolState::Denied
            }
            // The call has not started, and the agent decides whether it will.
            RequestEnd::Withdrawn => ToolState::Preparing,
        };
        self.show_call(&id, state, None);
        self.settle_order(self.parent_of(&id).as_ref());
    }

    /// Shows calls after one that waits for the user as not started. Applies to the calls with this parent.
    fn settle_order(&mut self, parent: Option<&ItemId>) {
        if self.running.len() > ORDERED {
            return;
        }
        let mut waits = false;
        for id in self.running.values().cloned().collect::<Vec<_>>() {
            let (Some(item), Some(call)) = (self.head(&id), self.tools.get(&id)) else { continue };
            let Body::ToolCall(view) = &item.body else { continue };
            if item.parent.as_ref() != parent {
                continue;
            }
            let held = match view.state {
                ToolState::Waiting => {
                    waits = true;
                    continue;
                }
                ToolState::Running if waits && !call.allowed => true,
                ToolState::Preparing if call.held && !waits => false,
                _ => continue,
            };
            if let Some(call) = self.tools.get_mut(&id) {
                call.held = held;
            }
            self.show_call(&id, if held { ToolState::Preparing } else { ToolState::Running }, None);
        }
    }

    fn parent_of(&self, id: &ItemId) -> Option<ItemId> {
        self.head(id)?.parent.clone()
    }

    /// Shows a call that has no result yet in this state.
    fn show_call(&mut self, id: &ItemId, state: ToolState, duration_ms: Option<u64>) {
        let Some(call) = self.tools.get(id) else { return };
        let view = call.view(state, duration_ms, None);
        let excerpt = call.excerpt(&view);
        self.put_view(id, view, excerpt);
    }

    /// Replaces the view of a call. The excerpt of its output is made at once, unless the conversation is being read.
    fn put_view(&mut self, id: &ItemId, view: ToolCall, excerpt: Option<Late>) {
        let Some(place) = self.index.get(id) else { return };
        let item = Arc::make_mut(&mut self.items[*place]);
        if !matches!(item.head().body, Body::ToolCall(_)) {
            return;
        }
        let has_same_input = match &item.head().body {
            Body::ToolCall(known) => progress::repeats_input(known, &view),
            _ => false,
        };
        item.put(Body::ToolCall(Box::new(view)), excerpt);
        if !self.is_reading
            && let (Body::ToolCall(view), Some(call)) = (item.body_mut(), self.tools.get(id))
        {
            call.paint(view);
        }
        self.touch(id, if has_same_input { ChangeKind::Progressed } else { ChangeKind::Changed });
    }

    fn state_of(&self, id: &ItemId) -> Option<ToolState> {
        match &self.head(id)?.body {
            Body::ToolCall(call) => Some(call.state),
            _ => None,
        }
    }

    pub(super) fn tool_ends(&mut self, now: u64, outcome: &ToolResult, task: Option<&str>) {
        let id = ItemId::new(&outcome.tool_use_id);
        let had_begun = self.state_of(&id).is_some_and(|state| state == ToolState::Running);
        let Some(call) = self.tools.get_mut(&id) else { return };
        let is_change = !call.ended;
        call.background = task.is_some();
        call.has_plain_diff = self.is_reading;
        call.end(outcome);
        let n_bytes = call.images().iter().map(|image| image.len()).sum();
        self.running.remove(&call.number);
        let state = match outcome.rejection {
            _ if task.is_some() => ToolState::Background,
            _ if !outcome.is_error => ToolState::Succeeded,
            _ if call.denied || outcome.is_denied => ToolState::Denied,
            Some(Rejection::BeforeItRan) => ToolState::NotRun,
            Some(Rejection::WhileItRan) => ToolState::Interrupted,
            Some(Rejection::Unknown) if !had_begun => ToolState::NotRun,
            Some(Rejection::Unknown) => {
                call.may_not_have_begun = !call.allowed;
                ToolState::Interrupted
            }
            None => ToolState::Failed,
        };
        if is_change {
            let input = call.input();
            let progress = self.facts.task(&input, outcome);
            let whole = tasks::whole_list(&input).filter(|_| !outcome.is_error);
            let end_note = match whole {
                Some(list) => Some(tasks::progress(list)),
                None => progress.is_some().then(|| tasks::progress(self.facts.tasks())),
            };
            call.end_note = end_note.or(call.end_note.take());
            self.change.extend(progress);
        }
        let took = matches!(state, ToolState::Succeeded | ToolState::Failed | ToolState::Interrupted);
        let duration_ms = took.then(|| now.saturating_sub(call.started_at));
        let view = call.view(state, duration_ms, Some(outcome));
        let excerpt = call.excerpt(&view);
        let report = call.is_agent().then(|| outcome.report()).flatten();
        let report = report.filter(|_| state == ToolState::Succeeded);
        if let Some(call) = self.tools.get_mut(&id).filter(|_| task.is_none()) {
            call.forget_requested();
        }
        self.put_view(&id, view, excerpt);
        self.keep_images(&id, n_bytes);
        if let Some(task) = task {
            self.background.insert(task.to_owned(), id.clone());
            if let Some(end) = self.early_ends.remove(task) {
                self.task_ended(now, task, None, end);
            }
        }
        if let Some(report) = report {
            self.report(now, &id, report);
        }
        if is_change {
            self.learn(&id);
        }
        self.settle_order(self.parent_of(&id).as_ref());
    }

    /// Keeps the images of a call, and drops those of the calls before that are too many together.
    fn keep_images(&mut self, id: &ItemId, n_bytes: usize) {
        if n_bytes == 0 {
            return;
        }
        self.with_images.retain(|(known, _)| known != id);
        self.with_images.push_back((id.clone(), n_bytes));
        let mut sum: usize = self.with_images.iter().map(|(_, n_bytes)| n_bytes).sum();
        while sum > MOST_IMAGES
            && let Some((oldest, n_bytes)) = self.with_images.pop_front()
        {
            sum -= n_bytes;
            if let Some(call) = self.tools.get_mut(&oldest) {
                call.forget_images();
            }
        }
    }

    /// Adds a subagent's report as the last item of its thread, unless the thread already ends with it.
    fn report(&mut self, now: u64, call: &ItemId, report: String) {
        let row = self.row_of(call);
        let last = row.and_then(|row| self.rows.inside(row).last()).map(|place| &self.items[*place as usize]);
        let is_there = last.is_some_and(|last| {
            last.head().parent.as_ref() == Some(call)
                && last.source().is_some_and(|source| source.trim() == report.trim())
        });
        if !is_there {
            self.whole_text(now, ItemId(format!("{call}.report")), Some(call.clone()), report);
        }
    }

    /// Handles the end of a task. While its call is still running, the end is only kept: the call's result says whether
    /// the task is a background task at all.
    pub(super) fn task_ended(&mut self, now: u64, task_id: &str, tool_use_id: Option<&str>, end: TaskEnd) {
        if self.is_running(tool_use_id) {
            if self.early_ends.len() < EARLY_ENDS {
                self.early_ends.insert(task_id.to_owned(), end);
            }
            return;
        }
        let call = self.background.remove(task_id);
        let subject = call.as_ref().and_then(|id| match &self.head(id)?.body {
            Body::ToolCall(call) => Some(call.subject.clone()),
            _ => None,
        });
        let TaskEnd { status, summary, report } = end;
        if let Some(id) = call {
            let state = match status.as_str() {
                "completed" => ToolState::Succeeded,
                "failed" => ToolState::Failed,
                _ => ToolState::Interrupted,
            };
            self.background_ends(now, &id, state, exit_code(&summary).filter(|_| state == ToolState::Failed));
            if let Some(report) = report.filter(|report| !report.trim().is_empty()) {
                self.report(now, &id, report);
            }
        }
        if let Some(words) = Some(summary).filter(|summary| !summary.is_empty()).or(subject) {
            self.info(now, format!("Background task {status}: {words}"));
        }
    }

    fn background_ends(&mut self, now: u64, id: &ItemId, state: ToolState, note: Option<String>) {
        let Some(call) = self.tools.get_mut(id) else { return };
        call.end_note = note;
        let took = now.saturating_sub(call.started_at);
        self.show_call(id, state, Some(took).filter(|_| now > 0));
    }

    /// The process has exited, which also ended its background tasks.
    pub(super) fn background_cut_off(&mut self, now: u64) {
        for id in std::mem::take(&mut self.background).into_values() {
            let note = Some("stopped with the agent".to_owned());
            self.background_ends(now, &id, ToolState::Interrupted, note);
        }
    }

    /// Ends everything that is still being written or run.
    pub(super) fn cut_off(&mut self, now: u64, reason: &str) {
        self.close_reply();
        self.keys.end_calls();
        self.keep_broken_off(now, reason);
        self.broken_off.clear();
        for id in std::mem::take(&mut self.running).into_values() {
            let state = match self.state_of(&id) {
                Some(ToolState::Preparing | ToolState::Waiting) => ToolState::NotRun,
                Some(ToolState::Running) => ToolState::Interrupted,
                Some(state) => state,
                None => continue,
            };
            let Some(call) = self.tools.get_mut(&id) else { continue };
            call.ended = true;
            // A transcript on disk has no time here (`now` is 0) and no requests, so it is unknown whether the call had
            // started.
            call.may_not_have_begun |= now == 0;
            let took = (state == ToolState::Interrupted).then(|| now.saturating_sub(call.started_at));
            self.show_call(&id, state, took.filter(|_| now > 0));
        }
    }

    /// Updates the facts (changed files, tasks) from a tool call.
    fn learn(&mut self, id: &ItemId) {
        if let Some(place) = self.index.get(id) {
            self.change.extend(self.facts.learn(self.items[*place].head()));
        }
    }

    pub(super) fn is_running(&self, tool_use_id: Option<&str>) -> bool {
        let call = tool_use_id.and_then(|id| self.tools.get(&ItemId::new(id)));
        call.is_some_and(|call| self.running.contains_key(&call.number))
    }
}

/// Extracts “exit code 3” from the agent's summary of an ended command (2.1.197 and 2.1.329).
fn exit_code(summary: &str) -> Option<String> {
    let (_, behind) = summary.rsplit_once("exit code ")?;
    let code: String = behind.chars().take_while(|c| c.is_ascii_digit() || *c == '-').take(12).collect();
    (!code.is_empty()).then(|| format!("exit code {code}"))
}
