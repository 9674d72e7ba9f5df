//! Tool calls, folded from updates that may come in any order, repeat fields, and have the request before the call.

mod fields;

use crate::agents::CommandPlace;
use crate::event::{
    AcpCall, AcpDiff, AcpPlace, CallInput, CallKind, CallStatus, CommandFrom, Content, Exit, OutputChange,
};
use crate::output::{
    MOST_OUTPUT, TerminalText, exit, exit_in_text, raw_output, raw_text, terminal_text, unfenced,
};
use crate::read::text;
use fields::{Fields, fields};
use serde_json::{Map, Value};
use std::collections::{HashMap, VecDeque};

/// Ended calls of earlier turns whose status is kept for late updates.
const MOST_ENDED: usize = 4096;

/// A field that is not understood: its name and its value.
pub type Odd = (&'static str, Value);

/// The calls of a session.
#[derive(Debug, Default)]
pub struct Calls {
    place: CommandPlace,
    /// The calls of this turn.
    states: HashMap<String, State>,
    /// Their ids, in order.
    order: Vec<String>,
    /// Calls of earlier turns.
    ended: HashMap<String, CallStatus>,
    ended_order: VecDeque<String>,
}

#[derive(Debug, Default)]
struct State {
    title: Option<String>,
    tool: Option<String>,
    kind: Option<CallKind>,
    status: Option<CallStatus>,
    input: Option<Value>,
    places: Vec<AcpPlace>,
    diffs: Vec<AcpDiff>,
    note: String,
    output: String,
    left_out: u64,
    beside: Option<String>,
    raw_output: Option<String>,
    attachments: Vec<Content>,
    exit: Option<Exit>,
    /// Its output comes from a terminal of the agent.
    has_terminal: bool,
    is_allowed: bool,
    /// How it ends, because it must not run: the user denied it, or it was asked for until its turn was interrupted.
    ends_as: Option<CallStatus>,
}

impl Calls {
    pub fn new(place: CommandPlace) -> Self {
        Self { place, ..Self::default() }
    }

    /// Folds `tool_call` (`is_first`) or `tool_call_update`. Returns what changed; `None` if the update has no id.
    pub fn update(&mut self, update: &Value, is_first: bool) -> Option<(AcpCall, Vec<Odd>)> {
        let id = text(update, "toolCallId")?;
        let (fields, odd) = fields(update);
        let place = self.place;
        let (state, is_new) = self.state(&id, is_first);
        let mut change = AcpCall { id, is_new, ..AcpCall::default() };
        let begins = match (is_new, is_first) {
            (false, _) => None,
            (true, true) => Some(CallStatus::Waiting),
            (true, false) => Some(CallStatus::Running),
        };
        state.set_status(fields.status.or(begins), &mut change);
        state.describe(&fields, place, &mut change);
        state.put_output(update, &fields, &mut change);
        let diffs = Some(fields.diffs).filter(|diffs| !diffs.is_empty());
        // The content of an update replaces the content before. A diff and an image stay: they were shown, and an agent
        // that reports a refusal as text does not take them back.
        set_list(&mut state.diffs, diffs, &mut change.diffs);
        let attachments = Some(fields.attachments).filter(|list| !list.is_empty());
        set_list(&mut state.attachments, attachments, &mut change.attachments);
        let exit = exit(update).or_else(|| state.exit_in_words());
        set(&mut state.exit, &exit, &mut change.exit);
        Some((change, odd))
    }

    /// Folds the call of a permission request. Returns the call as the request shows it, the request's own words, and
    /// what is new in the call. What the call said before stays: some agents shorten it in the request.
    pub fn asked(&mut self, call: &Value) -> Option<(AcpCall, Option<String>, AcpCall, Vec<Odd>)> {
        let id = text(call, "toolCallId")?;
        let (fields, odd) = fields(call);
        let place = self.place;
        let (state, is_new) = self.state(&id, false);
        let written =
            if fields.input.is_none() && state.input.is_none() { state.written_input() } else { None };
        let mut change = AcpCall { id: id.clone(), is_new, ..AcpCall::default() };
        // Some agents say that a call runs before they ask about it, and may ask again while it runs.
        state.is_allowed = false;
        state.set_status(Some(CallStatus::Waiting), &mut change);
        let missing = Fields {
            title: fields.title.clone().filter(|_| state.title.is_none()),
            tool: fields.tool.clone().filter(|_| state.tool.is_none()),
            kind: fields.kind.filter(|_| state.kind.is_none()),
            status: None,
            input: fields.input.clone().or_else(|| written.clone()).filter(|_| state.input.is_none()),
            places: fields.places.clone().filter(|_| state.places.is_empty()),
            diffs: Vec::new(),
            text: None,
            attachments: Vec::new(),
            has_terminal: false,
        };
        state.describe(&missing, place, &mut change);
        let diffs = Some(fields.diffs.clone()).filter(|diffs| !diffs.is_empty() && state.diffs.is_empty());
        set_list(&mut state.diffs, diffs, &mut change.diffs);
        // The request is about what it says itself; the call fills its gaps.
        let input = fields.input.or_else(|| state.input.clone());
        let (title, kind) = (fields.title.or_else(|| state.title.clone()), fields.kind.or(state.kind));
        let said = call_input(input.or_else(|| written.clone()), title.as_deref(), kind, place);
        let input = said.map(|input| match input.command_from {
            CommandFrom::Input if written.is_some() => CallInput { command_from: CommandFrom::Text, ..input },
            _ => input,
        });
        let shown = AcpCall {
            id,
            input,
            title,
            tool: fields.tool.or_else(|| state.tool.clone()),
            kind,
            status: state.status,
            places: Some(fields.places.unwrap_or_else(|| state.places.clone())),
            diffs: Some(if fields.diffs.is_empty() { state.diffs.clone() } else { fields.diffs }),
            attachments: Some(fields.attachments).filter(|list| !list.is_empty()),
            ..AcpCall::default()
        };
        Some((shown, fields.text.filter(|text| !text.is_empty()), change, odd))
    }

    /// The user allowed the call: it runs, whether the agent says so or not.
    pub fn allowed(&mut self, id: &str) -> Option<AcpCall> {
        let state = self.states.get_mut(id)?;
        state.is_allowed = true;
        let mut change = AcpCall { id: id.to_owned(), ..AcpCall::default() };
        if state.status == Some(CallStatus::Waiting) {
            state.set_status(Some(CallStatus::Running), &mut change);
        }
        change.status.is_some().then_some(change)
    }

    /// The user denied the call. The agent may report it as failed, as pending, or not at all.
    pub fn denied(&mut self, id: &str) {
        self.ends_as(id, CallStatus::Denied);
    }

    /// The request for the call was cancelled, so it did not run, also if the agent reports that it failed.
    pub fn withdrawn(&mut self, id: &str) {
        self.ends_as(id, CallStatus::NotRun);
    }

    fn ends_as(&mut self, id: &str, status: CallStatus) {
        if let Some(state) = self.states.get_mut(id) {
            state.ends_as = Some(status);
        }
    }

    /// Ends every call that is open: its turn is over. Returns what changed.
    pub fn settle(&mut self, is_cancelled: bool) -> Vec<AcpCall> {
        let mut settled = Vec::new();
        for id in std::mem::take(&mut self.order) {
            let Some(state) = self.states.remove(&id) else { continue };
            let status = state.status.filter(|status| status.is_over()).unwrap_or_else(|| {
                let usual = if is_cancelled { CallStatus::Cancelled } else { CallStatus::Unreported };
                let status = state.ends_as.unwrap_or(usual);
                settled.push(AcpCall { id: id.clone(), status: Some(status), ..AcpCall::default() });
                status
            });
            self.ended.insert(id.clone(), status);
            self.ended_order.push_back(id);
            if self.ended_order.len() > MOST_ENDED
                && let Some(oldest) = self.ended_order.pop_front()
            {
                self.ended.remove(&oldest);
            }
        }
        settled
    }

    /// The number of calls that are not over.
    pub fn n_open(&self) -> usize {
        let is_open = |state: &&State| state.status.is_none_or(|status| !status.is_over());
        self.states.values().filter(is_open).count()
    }

    /// The state of a call, and whether it begins.
    fn state(&mut self, id: &str, is_first: bool) -> (&mut State, bool) {
        let mut is_new = false;
        if !self.states.contains_key(id) {
            let ended = self.ended.remove(id);
            // A late update of an earlier call does not open it again. A call may: an agent can use its ids again.
            let status = ended.filter(|_| !is_first);
            is_new = status.is_none();
            self.states.insert(id.to_owned(), State { status, ..State::default() });
            self.order.push(id.to_owned());
        }
        (self.states.entry(id.to_owned()).or_default(), is_new)
    }
}

impl State {
    /// A call that is over stays over: updates may be out of order.
    fn set_status(&mut self, status: Option<CallStatus>, change: &mut AcpCall) {
        let Some(status) = status else { return };
        if self.status.is_some_and(CallStatus::is_over) && !status.is_over() {
            return;
        }
        let status = match status {
            CallStatus::Failed => self.ends_as.unwrap_or(status),
            // It was allowed: it is no longer waiting.
            CallStatus::Waiting if self.is_allowed => CallStatus::Running,
            status => status,
        };
        if self.status != Some(status) {
            self.status = Some(status);
            change.status = Some(status);
        }
    }

    fn describe(&mut self, fields: &Fields, place: CommandPlace, change: &mut AcpCall) {
        set(&mut self.tool, &fields.tool, &mut change.tool);
        set(&mut self.kind, &fields.kind, &mut change.kind);
        set(&mut self.title, &fields.title, &mut change.title);
        let mut input = None;
        set(&mut self.input, &fields.input, &mut input);
        if input.is_some() || (self.input.is_none() && (change.title.is_some() || change.kind.is_some())) {
            change.input = call_input(self.input.clone(), self.title.as_deref(), self.kind, place);
        }
        set_list(&mut self.places, fields.places.clone(), &mut change.places);
    }

    fn put_output(&mut self, update: &Value, fields: &Fields, change: &mut AcpCall) {
        self.has_terminal |= fields.has_terminal;
        match terminal_text(update) {
            Some(TerminalText::Added(added)) => {
                self.has_terminal = true;
                self.add_output(&added, change);
            }
            Some(TerminalText::Whole(whole)) => {
                self.has_terminal = true;
                self.set_output(&whole, change);
            }
            None => {}
        }
        match raw_text(update) {
            // The content has the same text in a frame.
            Some(raw) if !self.has_terminal => return self.set_output(&raw, change),
            raw => set(&mut self.raw_output, &raw.or_else(|| raw_output(update)), &mut change.raw_output),
        }
        let Some(text) = fields.text.as_ref().filter(|text| !text.is_empty()) else { return };
        if self.status == Some(CallStatus::Waiting) {
            // Nothing ran yet: this is a description.
            if self.note != *text {
                self.note.clone_from(text);
                change.note = Some(text.clone());
            }
        } else if self.has_terminal {
            let text = unfenced(text);
            let kept = Some(text[..text.floor_char_boundary(MOST_OUTPUT)].to_owned());
            set(&mut self.beside, &kept, &mut change.beside);
        } else {
            self.set_output(unfenced(text), change);
        }
    }

    /// The input that the agent wrote into the text of the call before it ran: kimi-code 2.1.0 has it nowhere else when it
    /// asks.
    fn written_input(&self) -> Option<Value> {
        let texts = [self.note.as_str(), self.output.as_str()];
        let read = |text: &str| serde_json::from_str::<Map<String, Value>>(text).ok();
        texts.into_iter().find_map(read).filter(|fields| !fields.is_empty()).map(Value::Object)
    }

    /// The exit code of a command that failed, where the agent reports it only in the last line of its text.
    fn exit_in_words(&self) -> Option<Exit> {
        let is_failed_command =
            self.kind == Some(CallKind::Execute) && self.status == Some(CallStatus::Failed);
        if is_failed_command && self.exit.is_none() { exit_in_text(&self.output) } else { None }
    }

    /// The whole output, which most agents repeat with each update: only what it adds is passed on.
    fn set_output(&mut self, whole: &str, change: &mut AcpCall) {
        let kept = &whole[..whole.floor_char_boundary(MOST_OUTPUT)];
        self.count_left_out((whole.len() - kept.len()) as u64, change);
        if let Some(added) = kept.strip_prefix(self.output.as_str()) {
            if !added.is_empty() {
                change.output = Some(OutputChange::Added(added.to_owned()));
                self.output.push_str(added);
            }
        } else {
            change.output = Some(OutputChange::Replaced(kept.to_owned()));
            kept.clone_into(&mut self.output);
        }
    }

    fn add_output(&mut self, added: &str, change: &mut AcpCall) {
        let room = MOST_OUTPUT.saturating_sub(self.output.len());
        let kept = &added[..added.floor_char_boundary(room)];
        self.count_left_out(self.left_out + (added.len() - kept.len()) as u64, change);
        if !kept.is_empty() {
            self.output.push_str(kept);
            change.output = Some(OutputChange::Added(kept.to_owned()));
        }
    }

    fn count_left_out(&mut self, left_out: u64, change: &mut AcpCall) {
        if self.left_out != left_out {
            self.left_out = left_out;
            change.output_left_out = Some(left_out);
        }
    }
}

fn set<T: Clone + PartialEq>(state: &mut Option<T>, new: &Option<T>, change: &mut Option<T>) {
    if new.is_some() && state != new {
        state.clone_from(new);
        change.clone_from(new);
    }
}

fn set_list<T: Clone + PartialEq>(state: &mut Vec<T>, new: Option<Vec<T>>, change: &mut Option<Vec<T>>) {
    if let Some(new) = new
        && *state != new
    {
        state.clone_from(&new);
        *change = Some(new);
    }
}

/// The input of a call, and the command in it. `None` if the agent said nothing about it.
fn call_input(
    json: Option<Value>,
    title: Option<&str>,
    kind: Option<CallKind>,
    place: CommandPlace,
) -> Option<CallInput> {
    let command = json.as_ref().and_then(|json| match json.get("command")? {
        Value::String(command) => Some(command.clone()),
        Value::Array(words) => {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            Some(words?.into_iter().map(quoted).collect::<Vec<_>>().join(" "))
        }
        _ => None,
    });
    let of_title = || {
        let is_command = place == CommandPlace::Title && kind == Some(CallKind::Execute);
        title.filter(|title| is_command && !title.is_empty()).map(str::to_owned)
    };
    match (json, command) {
        (json, Some(command)) => {
            Some(CallInput { json, command: Some(command), command_from: CommandFrom::Input })
        }
        (json, None) => match of_title() {
            Some(command) => {
                Some(CallInput { json, command: Some(command), command_from: CommandFrom::Title })
            }
            None => json.map(|json| CallInput {
                json: Some(json),
                command: None,
                command_from: CommandFrom::None,
            }),
        },
    }
}

/// A word as a POSIX shell would need it, so that it is clear where each word of a command ends.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn change(calls: &mut Calls, update: Value) -> AcpCall {
        let is_first = update["sessionUpdate"] == "tool_call";
        calls.update(&update, is_first).unwrap().0
    }

    fn said(text: &str) -> Value {
        json!([{"type": "content", "content": {"type": "text", "text": text}}])
    }

    #[test]
    fn an_update_changes_what_it_names_and_a_repeated_one_nothing() {
        let mut calls = Calls::default();
        let update = json!({"toolCallId": "c", "title": "t", "kind": "edit", "status": "in_progress",
            "rawInput": {"path": "a"}, "locations": [{"path": "a"}], "content": said("x")});
        let first = change(&mut calls, update.clone());
        assert_eq!((first.status, first.kind), (Some(CallStatus::Running), Some(CallKind::Edit)));
        assert_eq!(first.output, Some(OutputChange::Added("x".to_owned())));
        assert_eq!(change(&mut calls, update), AcpCall { id: "c".to_owned(), ..AcpCall::default() });
        let done = change(&mut calls, json!({"toolCallId": "c", "status": "completed", "content": []}));
        assert_eq!(
            done,
            AcpCall { id: "c".to_owned(), status: Some(CallStatus::Done), ..AcpCall::default() }
        );
    }

    #[test]
    fn a_call_that_comes_after_its_end_does_not_open_it_again() {
        let mut calls = Calls::default();
        change(&mut calls, json!({"toolCallId": "c", "status": "completed"}));
        let late = change(
            &mut calls,
            json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "status": "pending"}),
        );
        assert_eq!((late.status, late.title.as_deref(), calls.n_open()), (None, Some("t"), 0));
        assert_eq!(calls.settle(false), []);
        let next_turn = change(&mut calls, json!({"toolCallId": "c", "title": "u"}));
        assert_eq!((next_turn.status, calls.settle(false)), (None, vec![]));
        let again = change(&mut calls, json!({"sessionUpdate": "tool_call", "toolCallId": "c"}));
        assert_eq!(again.status, Some(CallStatus::Waiting), "an id that is used again is another call");
    }

    #[test]
    fn repeated_output_is_passed_on_once() {
        let mut calls = Calls::default();
        let mut whole = String::new();
        let mut passed = String::new();
        for nr in 0..50 {
            whole.push_str(&format!("tick {nr}\n"));
            let update = json!({"toolCallId": "c", "status": "in_progress", "content": said(&whole)});
            match change(&mut calls, update).output {
                Some(OutputChange::Added(added)) => passed.push_str(&added),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(passed, whole);
        let other = change(&mut calls, json!({"toolCallId": "c", "content": said("short")}));
        assert_eq!(other.output, Some(OutputChange::Replaced("short".to_owned())));
    }

    #[test]
    fn very_long_output_is_cut_and_counted() {
        let mut calls = Calls::default();
        let whole = "é".repeat(5 << 20);
        let whole_call = change(&mut calls, json!({"toolCallId": "c", "rawOutput": whole}));
        let Some(OutputChange::Added(kept)) = whole_call.output else { panic!() };
        assert_eq!(kept.len(), MOST_OUTPUT);
        assert_eq!(whole_call.output_left_out, Some((whole.len() - MOST_OUTPUT) as u64));
        let delta =
            |text: &str| json!({"toolCallId": "d", "_meta": {"terminal_output_delta": {"data": text}}});
        change(&mut calls, delta(&"x".repeat(MOST_OUTPUT - 1)));
        let last = change(&mut calls, delta("é"));
        assert_eq!((last.output, last.output_left_out), (None, Some(2)), "half a character is none");
        assert_eq!(change(&mut calls, delta("abc")).output_left_out, Some(4));
    }

    #[test]
    fn output_is_not_the_description_that_came_before_it() {
        let mut calls = Calls::default();
        let call = json!({"sessionUpdate": "tool_call", "toolCallId": "c", "content": said("lists files")});
        let first = change(&mut calls, call);
        assert_eq!((first.note.as_deref(), first.output), (Some("lists files"), None));
        assert_eq!(calls.allowed("c").unwrap().status, Some(CallStatus::Running));
        // Copilot CLI never says that a call runs.
        let running =
            change(&mut calls, json!({"toolCallId": "c", "status": "pending", "content": said("a")}));
        assert_eq!((running.status, running.output), (None, Some(OutputChange::Added("a".to_owned()))));
    }

    #[test]
    fn the_command_is_what_would_run() {
        let input = |json: Value, place| {
            call_input(Some(json), Some("ls"), Some(CallKind::Execute), place)
                .map(|input| (input.command, input.command_from))
        };
        let found = |command: &str| Some((Some(command.to_owned()), CommandFrom::Input));
        assert_eq!(input(json!({"command": "rm x"}), CommandPlace::Title), found("rm x"));
        let words = json!({"command": ["/bin/bash", "-lc", "touch 'a b'"]});
        assert_eq!(input(words, CommandPlace::Input), found(r"/bin/bash -lc 'touch '\''a b'\'''"));
        for odd in [json!({"command": 1}), json!({"command": ["a", 2]}), json!({"x": 1}), json!("text")] {
            assert_eq!(input(odd, CommandPlace::Input), Some((None, CommandFrom::None)));
        }
        let title = call_input(None, Some("ls"), Some(CallKind::Execute), CommandPlace::Title).unwrap();
        assert_eq!((title.command.as_deref(), title.command_from), (Some("ls"), CommandFrom::Title));
        assert_eq!(call_input(None, Some("ls"), Some(CallKind::Execute), CommandPlace::Input), None);
        assert_eq!(call_input(None, Some("Writing"), Some(CallKind::Edit), CommandPlace::Title), None);
    }

    #[test]
    fn a_field_of_a_wrong_type_is_odd_and_the_others_count() {
        let mut calls = Calls::default();
        let update = json!({"toolCallId": "c", "title": 5, "status": "cancelled", "kind": "new", "content": "x",
            "locations": [{"path": "a"}, {}], "rawInput": {"a": 1}});
        let (call, odd) = calls.update(&update, true).unwrap();
        let names: Vec<&str> = odd.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["status", "title", "locations", "content"]);
        assert_eq!((call.kind, call.status), (Some(CallKind::Other), Some(CallStatus::Waiting)));
        assert_eq!(call.places.unwrap().len(), 1);
        let (call, odd) =
            calls.update(&json!({"toolCallId": "c", "content": [{"type": "new"}]}), false).unwrap();
        assert_eq!(call.attachments, Some(vec![Content::Other("{\"type\":\"new\"}".to_owned())]));
        assert!(odd.is_empty() && calls.update(&json!({"toolCallId": 1}), false).is_none());
    }

    #[test]
    fn a_request_before_its_call_begins_it() {
        let mut calls = Calls::new(CommandPlace::Title);
        let request = json!({"toolCallId": "c", "title": "ls", "kind": "execute", "status": "pending",
            "content": said("[in /p]")});
        let (shown, words, change, _) = calls.asked(&request).unwrap();
        assert_eq!(words.as_deref(), Some("[in /p]"));
        assert_eq!(shown.input.as_ref().unwrap().command.as_deref(), Some("ls"));
        assert_eq!((change.status, change.input), (Some(CallStatus::Waiting), shown.input));
        calls.denied("c");
        assert_eq!(calls.settle(false)[0].status, Some(CallStatus::Denied));
    }

    #[test]
    fn a_command_that_stands_only_in_the_text_of_the_call_is_shown() {
        for status in ["pending", "in_progress"] {
            let mut calls = Calls::default();
            let text = r#"{"command": "touch a"}"#;
            let call = json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Bash", "kind": "execute",
                "status": status, "content": said(text)});
            change(&mut calls, call);
            let request = json!({"toolCallId": "c", "title": "Bash", "rawInput": {}, "content": said("Requesting approval")});
            let (shown, words, change, _) = calls.asked(&request).unwrap();
            let input = shown.input.unwrap();
            assert_eq!((input.command.as_deref(), input.command_from), (Some("touch a"), CommandFrom::Text));
            assert_eq!(words.as_deref(), Some("Requesting approval"));
            assert_eq!(change.input.unwrap().command.as_deref(), Some("touch a"));
        }
        let mut calls = Calls::default();
        change(
            &mut calls,
            json!({"sessionUpdate": "tool_call", "toolCallId": "c", "content": said("{\"com")}),
        );
        assert_eq!(calls.asked(&json!({"toolCallId": "c"})).unwrap().0.input, None, "it is still written");
    }

    #[test]
    fn a_call_that_was_asked_for_until_the_interrupt_did_not_fail() {
        let mut calls = Calls::default();
        let request = json!({"toolCallId": "c", "title": "ls", "kind": "execute"});
        calls.asked(&request).unwrap();
        calls.withdrawn("c");
        let failed = change(&mut calls, json!({"toolCallId": "c", "status": "failed"}));
        assert_eq!(failed.status, Some(CallStatus::NotRun));
        assert_eq!(calls.settle(true), []);
    }

    #[test]
    fn a_request_shows_its_own_input_and_the_call_keeps_the_first() {
        let mut calls = Calls::default();
        change(
            &mut calls,
            json!({"toolCallId": "c", "title": "write",
            "status": "in_progress", "rawInput": {"filePath": "a", "content": "x"}}),
        );
        let request = json!({"toolCallId": "c", "title": "/p/a", "rawInput": {"diff": "+x"}});
        let (shown, _, change, _) = calls.asked(&request).unwrap();
        assert_eq!(shown.input.unwrap().json, Some(json!({"diff": "+x"})));
        let asks = Some(CallStatus::Waiting);
        assert_eq!(change, AcpCall { id: "c".to_owned(), status: asks, ..AcpCall::default() });
    }
}
