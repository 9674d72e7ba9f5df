//! `deskbell sessions attach`: one session of a server in a terminal, line by line. Its items are printed when they are
//! complete; a line is sent as a prompt, or answers the open request. The session continues when this program ends.

use super::following::{Face, Typed, follow};
use super::{connect, list};
use crate::args::server::{AttachOptions, IDLE};
use crate::exit::Exit;
use anyhow::Context;
use deskbell_engine::api::*;
use deskbell_engine::permission::Dialogs;
use deskbell_engine::replay::Replayed;
use deskbell_server::client::Refused;
use deskbell_sessions::far::shown;
use std::collections::{HashMap, HashSet, VecDeque};
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::Instant;

/// What a terminal of Windows has of a line that was begun cannot be dropped, so such a line could allow what appeared while
/// it was typed.
const CAN_ALLOW: bool = cfg!(unix);

/// Items of the conversation that are printed first. The others are counted.
const FIRST_ITEMS: usize = 20;

/// A line that arrives within this time after a request was printed was typed before it could be read.
const READS: Duration = Duration::from_millis(400);

const HELP: &str = "A line is sent as a prompt. When the agent asks, answer y, n, or n and a reason.\n\
                    :stop ends the turn, :quit leaves (so does Ctrl+D), :help prints this. :: begins a prompt with a colon.\n";

/// Follows a session until the user leaves it.
pub async fn attach(session_id: SessionId) -> anyhow::Result<ExitCode> {
    let data = deskbell_sessions::folders::data();
    let mut found = list::find_session(&data, &session_id).await?;
    if found.is_none() {
        // It may be saved.
        let options = AttachOptions { session: None, start: true, idle: IDLE };
        drop(connect(&data, &options).await?);
        found = list::find_session(&data, &session_id).await?;
    }
    match found {
        Some((link, run)) => follow(link, &run, session_id, &mut View::default()).await,
        None => {
            eprintln!("deskbell: there is no session {session_id}; `deskbell sessions running` lists them");
            Ok(Exit::NothingToAttach.into())
        }
    }
}

/// What the terminal shows. Text is collected, and printed once everything that has arrived is in it.
#[derive(Default)]
struct View {
    text: String,
    printed: HashSet<ItemId>,
    /// Unfinished calls.
    running: HashMap<ItemId, Item>,
    /// Open requests, the one that is asked first.
    requests: VecDeque<PermissionRequest>,
    /// The request that was asked last, and when it was on the screen.
    asked: Option<RequestId>,
    is_asked_now: bool,
    asked_at: Option<Instant>,
    status: String,
}

impl Face for View {
    fn event(&mut self, line: &[u8]) -> anyhow::Result<()> {
        match serde_json::from_slice::<Envelope>(line) {
            Ok(envelope) => self.show(envelope.event),
            Err(error) => self.say(&format!("an event of a newer server could not be read: {error}")),
        }
        Ok(())
    }

    fn snapshot(&mut self, line: &[u8]) -> anyhow::Result<()> {
        #[derive(serde::Deserialize)]
        struct Whole {
            snapshot: Box<Snapshot>,
        }
        let whole: Whole = serde_json::from_slice(line).context("reading the session")?;
        self.begin(*whole.snapshot);
        Ok(())
    }

    fn refused(&mut self, refused: &Refused, _: &[u8]) -> anyhow::Result<()> {
        self.say(&refused.error.message);
        Ok(())
    }

    fn removed(&mut self) -> anyhow::Result<()> {
        self.say("the session was removed");
        self.print()
    }

    fn typed(&mut self, text: &str, now: Instant) -> Typed {
        self.meant(text, now)
    }

    fn is_up_to_date(&mut self) -> anyhow::Result<()> {
        self.print()
    }

    fn left(&self) {
        eprintln!("deskbell: left; the session continues");
    }
}

impl View {
    /// Prints what there is to say. What was typed before a request is on the screen is no answer to it: it is dropped, and
    /// what is typed while the request is printed comes too early to be one (`READS`).
    fn print(&mut self) -> anyhow::Result<()> {
        if self.is_asked_now {
            drop_typed();
        }
        super::print(std::mem::take(&mut self.text).as_bytes())?;
        if std::mem::take(&mut self.is_asked_now) {
            self.asked_at = Some(Instant::now());
        }
        Ok(())
    }

    fn say(&mut self, words: &str) {
        self.text.push_str(&format!("-- {}\n", shown(words)));
    }

    fn begin(&mut self, snapshot: Snapshot) {
        let Snapshot { session, items, .. } = snapshot;
        self.say(&format!("{} in {}; :help says what to type", session.title, session.project));
        let (complete, open): (Vec<Item>, Vec<Item>) =
            items.into_iter().partition(|item| is_complete(&item.body));
        open.iter().for_each(|item| self.item(item));
        let n_before = complete.len().saturating_sub(FIRST_ITEMS);
        if n_before > 0 && self.printed.is_empty() {
            self.say(&format!(
                "{n_before} earlier entries; `deskbell sessions export` has the whole conversation"
            ));
        }
        for (nr, item) in complete.into_iter().enumerate() {
            if nr < n_before {
                self.printed.insert(item.id);
            } else {
                self.item(&item);
            }
        }
        self.status(&session.status);
        self.requests = session.requests.into();
        self.ask();
    }

    fn status(&mut self, status: &Status) {
        let status = list::words(status).to_owned();
        if status != self.status {
            self.say(&status);
            self.status = status;
        }
    }

    /// Each item is printed once, when it does not change any more.
    fn item(&mut self, item: &Item) {
        if !is_complete(&item.body) {
            if let Body::ToolCall(_) = item.body {
                self.running.insert(item.id.clone(), item.clone());
            }
            return;
        }
        self.running.remove(&item.id);
        if self.printed.insert(item.id.clone()) {
            self.text.push_str(&shown(&Replayed::text_of(item)));
        }
    }

    fn call_changed(&mut self, id: &ItemId, progress: CallProgress) {
        let Some(mut item) = self.running.remove(id) else { return };
        if let Body::ToolCall(call) = &mut item.body {
            call.apply(progress);
        }
        self.item(&item);
    }

    fn show(&mut self, event: Event) {
        match event {
            Event::SessionChanged { session } => session.status.iter().for_each(|status| self.status(status)),
            Event::ItemAdded { item } | Event::ItemChanged { item } => self.item(&item),
            Event::CallChanged { item_id, call } => self.call_changed(&item_id, *call),
            Event::TranscriptReplaced { items, .. } => {
                self.say("the conversation was rewound");
                self.running.clear();
                self.printed = items.into_iter().map(|item| item.id).collect();
            }
            Event::PermissionRequested { request, .. } => {
                self.requests.retain(|open| open.id != request.id);
                self.requests.push_back(*request);
                self.ask();
            }
            Event::PermissionResolved { request_id, resolution } => {
                let was_asked = self.asked.as_ref() == Some(&request_id);
                self.requests.retain(|open| open.id != request_id);
                if was_asked {
                    self.say(&outcome(&resolution));
                    (self.asked, self.asked_at) = (None, None);
                }
                self.ask();
            }
            Event::AgentExited { .. } => self.say("the agent’s process ended"),
            Event::CommandFailed { error } => self.say(&error.message),
            _ => {}
        }
    }

    /// Prints the first open request, whole, unless it is on the screen.
    fn ask(&mut self) {
        let Some(request) = self.requests.front() else { return };
        if self.asked.as_ref() == Some(&request.id) {
            return;
        }
        let mut text = String::from("\n");
        let mut line = |words: &str| text.push_str(&format!("?? {}\n", shown(words)));
        Dialogs::lines(request).iter().for_each(|words| line(words));
        match &request.kind {
            RequestKind::Questions { .. } | RequestKind::Form { .. } => {
                line("Answer it in Deskbell's window, or n to decline it here.");
            }
            RequestKind::Plan { .. } if CAN_ALLOW => {
                line("y approves the plan and asks before each edit, n keeps planning: n and a reason")
            }
            _ if !CAN_ALLOW => line("Allow it in Deskbell's window; n denies it here: n and a reason."),
            _ => line("y allows it once, n denies it: n and a reason. Enter alone answers nothing."),
        }
        self.asked = Some(request.id.clone());
        (self.is_asked_now, self.asked_at) = (true, None);
        self.text.push_str(&text);
    }

    /// `now`: when the line arrived.
    /// What a typed line means.
    fn meant(&mut self, typed: &str, now: Instant) -> Typed {
        let words = typed.trim();
        match words {
            ":quit" => return Typed::Leave,
            ":stop" => return Typed::Send(Box::new(Command::Interrupt)),
            ":help" => {
                self.text.push_str(HELP);
                return Typed::Nothing;
            }
            _ => {}
        }
        let request = self.requests.front().filter(|request| self.asked.as_ref() == Some(&request.id));
        if let Some(request) = request.cloned() {
            return self.answer(&request, words, now);
        }
        if words.is_empty() {
            return Typed::Nothing;
        }
        let text = match typed.strip_prefix(':') {
            None => typed,
            Some(rest) if rest.starts_with(':') => rest,
            Some(_) => {
                self.say("this is no command; :help lists them");
                return Typed::Nothing;
            }
        };
        let prompt =
            Command::Prompt { text: text.to_owned(), attachments: Vec::new(), delivery: Delivery::default() };
        Typed::Send(Box::new(prompt))
    }

    fn answer(&mut self, request: &PermissionRequest, words: &str, now: Instant) -> Typed {
        if self.asked_at.is_none_or(|at| now.duration_since(at) < READS) {
            self.say("that was typed before the request could be read, so it is no answer; type it again");
            return Typed::Nothing;
        }
        let (word, reason) = words.split_once(' ').unwrap_or((words, ""));
        let decision = match (word, &request.kind) {
            ("n", _) => Decision::Deny { message: reason.trim().to_owned(), interrupt: false },
            ("y", RequestKind::Questions { .. } | RequestKind::Form { .. }) => {
                self.say("this needs values; answer it in Deskbell's window, or n to decline it");
                return Typed::Nothing;
            }
            ("y", _) if !CAN_ALLOW => {
                self.say("in a terminal of Windows that may have been typed before the request was shown; allow it in Deskbell's window");
                return Typed::Nothing;
            }
            ("y", RequestKind::Plan { .. }) if reason.is_empty() => {
                Decision::ApprovePlan { accept_edits: false }
            }
            ("y", _) if reason.is_empty() => Decision::AllowOnce { updated_input: None },
            _ => {
                self.say("the agent waits for an answer: y, n, or n and a reason");
                return Typed::Nothing;
            }
        };
        let decide =
            Command::Decide { request_id: request.id.clone(), shown: Some(request.shown.clone()), decision };
        Typed::Send(Box::new(decide))
    }
}

/// Drops what was typed and not sent.
#[cfg(unix)]
fn drop_typed() {
    let stdin = std::io::stdin();
    if std::io::IsTerminal::is_terminal(&stdin)
        && let Err(error) = rustix::termios::tcflush(&stdin, rustix::termios::QueueSelector::IFlush)
    {
        tracing::debug!(%error, "could not drop what was typed before a request");
    }
}

/// Nothing has to be dropped, because nothing is allowed here ([`CAN_ALLOW`]).
#[cfg(windows)]
fn drop_typed() {}

fn is_complete(body: &Body) -> bool {
    match body {
        Body::Text { streaming, .. } | Body::Thinking { streaming, .. } => !streaming,
        Body::ToolCall(call) => {
            !matches!(call.state, ToolState::Preparing | ToolState::Running | ToolState::Waiting)
        }
        Body::Prompt { .. } | Body::Message { .. } | Body::Notice { .. } | Body::TurnEnd(_) => true,
    }
}

fn outcome(resolution: &Resolution) -> String {
    match resolution {
        Resolution::Allowed { .. } => "allowed".to_owned(),
        Resolution::Denied { message } if message.is_empty() => "denied".to_owned(),
        Resolution::Denied { message } => format!("denied: {message}"),
        Resolution::Answered => "answered".to_owned(),
        Resolution::Withdrawn { reason } => format!("withdrawn: {reason}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request(id: &str, input: &str) -> PermissionRequest {
        let value = json!({
            "id": id, "tool": "Bash", "serverTool": null, "question": "Run this command?", "subject": input,
            "inputText": input, "shown": format!("shown-{id}"), "hasMore": false, "host": null,
            "notices": [], "plain": null, "kind": {"type": "command"}, "diff": null, "suggestions": [],
            "itemId": null, "reason": null, "unreported": null, "subagent": null, "askedAt": 0
        });
        serde_json::from_value(value).unwrap()
    }

    /// A view whose requests have been on the screen for a while, and the time now.
    fn asked(requests: &[PermissionRequest]) -> (View, Instant) {
        let mut view = View::default();
        for request in requests {
            view.show(Event::PermissionRequested { request: Box::new(request.clone()), in_item: false });
        }
        let at = Instant::now();
        view.asked_at = Some(at);
        (view, at + READS)
    }

    fn decision(typed: Typed) -> (String, Option<String>, Decision) {
        let Typed::Send(command) = typed else { panic!("{typed:?}") };
        let Command::Decide { request_id, shown, decision } = *command else { panic!("{command:?}") };
        (request_id.0, shown, decision)
    }

    #[test]
    fn only_y_allows_and_what_was_shown_is_part_of_the_answer() {
        let (mut view, now) = asked(&[request("a", "touch a.txt")]);
        for typed in ["", " ", "yes", "Y", "y please", "ok", "ny", "y\u{200b}", ":yes"] {
            assert_eq!(view.meant(typed, now), Typed::Nothing, "{typed:?}");
        }
        let (id, shown, answer) = decision(view.meant(" y ", now));
        assert_eq!((id.as_str(), shown.as_deref()), ("a", Some("shown-a")));
        assert_eq!(answer, Decision::AllowOnce { updated_input: None });
        let (_, _, answer) = decision(view.meant("n not this file", now));
        assert_eq!(answer, Decision::Deny { message: "not this file".to_owned(), interrupt: false });
    }

    #[test]
    fn what_was_typed_before_a_request_is_no_answer() {
        let (mut view, now) = asked(&[request("a", "touch a.txt"), request("b", "rm -r x")]);
        assert_eq!(view.meant("y", now - READS), Typed::Nothing, "at once");
        view.asked_at = None;
        assert_eq!(view.meant("y", now), Typed::Nothing, "it is not on the screen yet");
        view.asked_at = Some(now - READS);
        assert_eq!(decision(view.meant("y", now)).0, "a");
        // The second one is asked when the first one is closed, and needs an answer of its own.
        let resolution = Resolution::Allowed { always: None };
        view.show(Event::PermissionResolved { request_id: RequestId("a".to_owned()), resolution });
        assert!(view.is_asked_now && view.text.ends_with("Enter alone answers nothing.\n"), "{}", view.text);
        assert_eq!(view.meant("y", now), Typed::Nothing);
        view.asked_at = Some(now);
        assert_eq!(decision(view.meant("y", now + READS)).0, "b");
    }

    #[test]
    fn the_whole_input_is_shown_with_every_character_visible() {
        let long = format!("echo {}\nrm -rf \u{202e}x\u{1b}[2K\r", "y".repeat(5_000));
        let (view, _) = asked(&[request("a", &long)]);
        assert!(view.text.contains(&"y".repeat(5_000)), "it is not cut");
        assert!(!view.text.contains(['\u{202e}', '\u{1b}', '\r']), "{:?}", view.text);
        assert!(view.text.contains("rm -rf "), "{}", view.text);
        let lines = view.text.lines().filter(|line| !line.is_empty());
        assert!(lines.into_iter().all(|line| line.starts_with("?? ")), "{}", view.text);
    }

    #[test]
    fn a_line_is_a_prompt_without_a_request() {
        let mut view = View::default();
        let now = Instant::now();
        let prompt = |text: &str| {
            let text = text.to_owned();
            Typed::Send(Box::new(Command::Prompt {
                text,
                attachments: Vec::new(),
                delivery: Delivery::default(),
            }))
        };
        assert_eq!(view.meant("y", now), prompt("y"));
        assert_eq!(view.meant("/compact", now), prompt("/compact"));
        assert_eq!(view.meant("::x", now), prompt(":x"));
        assert_eq!(view.meant("  ", now), Typed::Nothing);
        assert_eq!(view.meant(":x", now), Typed::Nothing);
        assert_eq!(view.meant(":quit", now), Typed::Leave);
        assert_eq!(view.meant(":stop", now), Typed::Send(Box::new(Command::Interrupt)));
    }
}
