use super::*;
use crate::api::{Body, CopyOf, Delivery, Item, ItemId, ToolState};
use crate::prompt::Prompt;
use serde_json::json;

/// A transcript, and the lines that are kept of it.
struct Kept {
    transcript: Transcript,
    lines: Vec<OwnLine>,
    now: u64,
}

impl Kept {
    fn new() -> Self {
        Self { transcript: Transcript::new(Path::new("/p")), lines: Vec::new(), now: 1_000 }
    }

    fn line(&mut self, event: AgentEvent) {
        self.now += 1;
        self.lines.extend(OwnLine::of_agent(self.now, &event, &self.transcript));
        self.transcript.line(self.now, event);
    }

    fn apply(&mut self, event: TranscriptEvent) {
        self.now += 1;
        self.lines.extend(OwnLine::of_event(self.now, &event, &self.transcript));
        self.transcript.apply(self.now, event);
    }

    fn prompt(&mut self, prompt: &Prompt) {
        self.apply(TranscriptEvent::PromptAccepted(prompt.clone()));
        self.apply(TranscriptEvent::PromptState { id: prompt.id.clone(), state: PromptState::Sent });
        self.apply(TranscriptEvent::PromptState { id: prompt.id.clone(), state: PromptState::Done });
    }

    fn reply(&mut self, message: &str, content: Vec<ContentBlock>) {
        let message = AssistantMessage { id: message.to_owned(), content, ..AssistantMessage::default() };
        self.line(AgentEvent::Assistant(Box::new(Assistant { message, ..Assistant::default() })));
    }

    fn call(&mut self, id: &str, kind: Kind, input: Value) {
        let call = Box::new(call("tool".to_owned(), kind, &RawInput::from(input)));
        self.reply(&format!("call-{id}"), vec![ContentBlock::ToolUse { id: id.to_owned(), call }]);
    }

    fn ends(&mut self, id: &str, change: impl FnOnce(&mut Outcome)) {
        let mut ended = Outcome {
            call: id.to_owned(),
            text: "output\n".to_owned(),
            is_error: false,
            is_denied: false,
            is_cancelled: false,
            has_not_begun: false,
            exit: None,
            images: Vec::new(),
        };
        change(&mut ended);
        let message = UserMessage { content: vec![result(ended)] };
        self.line(AgentEvent::User(Box::new(User { message, ..User::default() })));
    }

    fn asked(&mut self, id: &str, end: RequestEnd) {
        self.apply(TranscriptEvent::Asked { tool_use_id: Some(id.to_owned()) });
        self.apply(TranscriptEvent::Answered { tool_use_id: Some(id.to_owned()), end });
    }

    /// What is read of the lines, through their file.
    fn read(&self) -> Transcript {
        let lines: Vec<String> = self.lines.iter().map(|line| serde_json::to_string(line).unwrap()).collect();
        Own::parse(lines.join("\n").as_bytes()).transcript(Path::new("/p"), Vec::new(), Colouring::All)
    }
}

fn prompt(id: &str, text: &str) -> Prompt {
    Prompt::new(PromptId::new(id), text.to_owned(), Vec::new(), Delivery::Now)
}

fn text(text: &str) -> ContentBlock {
    ContentBlock::Text { text: text.to_owned() }
}

fn shown(transcript: &Transcript) -> Vec<(u64, Body)> {
    transcript.items().map(|item: &Item| (item.at, item.body.clone())).collect()
}

fn states(transcript: &Transcript) -> Vec<ToolState> {
    let state = |item: &Item| match &item.body {
        Body::ToolCall(call) => Some(call.state),
        _ => None,
    };
    transcript.items().filter_map(state).collect()
}

#[test]
fn what_is_read_is_what_was_shown() {
    let mut kept = Kept::new();
    kept.prompt(&prompt("p", "Do *it*"));
    let thought = ContentBlock::Thinking { text: "hm".to_owned() };
    kept.reply("m1", vec![thought, text("# Title\n\n- one\n- `two`")]);
    kept.call("a", Kind::Command, json!({"command": "ls"}));
    kept.asked("a", RequestEnd::Allowed { changed: None });
    kept.ends("a", |_| {});
    kept.call("b", Kind::Edit, json!({"path": "/p/a.rs", "old": "one\n", "new": "two\n"}));
    kept.asked("b", RequestEnd::Denied);
    kept.ends("b", |end| (end.is_error, end.is_denied) = (true, true));
    kept.call("c", Kind::Write, json!({"path": "/p/new.txt", "content": "new"}));
    kept.ends("c", |end| end.is_error = true);
    kept.call("d", Kind::Command, json!({"command": "sleep 9"}));
    kept.apply(TranscriptEvent::Asked { tool_use_id: Some("d".to_owned()) });
    kept.apply(TranscriptEvent::Answered { tool_use_id: Some("d".to_owned()), end: RequestEnd::Withdrawn });
    kept.ends("d", |end| (end.is_error, end.is_cancelled) = (true, true));
    kept.call("g", Kind::Edit, json!({"path": "/p/b.rs", "old": "one\n", "new": "two\n"}));
    kept.ends("g", |_| {});
    kept.call("h", Kind::Read, json!({"path": "/p/c.rs"}));
    kept.ends("h", |_| {});
    kept.call("i", Kind::Command, json!({"command": "ls"}));
    kept.ends("i", |end| (end.is_error, end.is_cancelled, end.has_not_begun) = (true, true, true));
    kept.call("e", Kind::TodoList, json!({"todos": [{"content": "Look", "status": "in_progress"}]}));
    kept.ends("e", |end| end.text.clear());
    kept.call("f", Kind::Other, json!({"anything": [1, null, 1.5]}));
    kept.ends("f", |_| {});
    kept.call("j", Kind::Command, json!({"command": "false"}));
    kept.ends("j", |end| (end.is_error, end.exit) = (true, Some(Exit { code: Some(3), signal: None })));
    kept.call("l", Kind::Other, json!({}));
    kept.ends("l", |end| end.images = vec!["iVBORw==".to_owned()]);
    kept.call("k", Kind::Command, json!({"command": "kill $$"}));
    let signal = Some("SIGTERM".to_owned());
    kept.ends("k", |end| (end.is_error, end.exit) = (true, Some(Exit { code: None, signal })));
    kept.reply("m2", vec![ContentBlock::Unknown { kind: "audio".to_owned(), raw: json!({"a": 1}) }]);
    kept.line(AgentEvent::Informational { level: "warning".to_owned(), text: "Careful".to_owned() });
    kept.line(AgentEvent::Compacted { trigger: "auto".to_owned(), pre_tokens: Some(9), post_tokens: None });
    kept.line(AgentEvent::CompactFailed { error: Some("no".to_owned()) });
    kept.line(AgentEvent::Unreadable { line: "{".to_owned(), error: "torn".to_owned() });
    kept.apply(TranscriptEvent::Notice { level: Level::Error, text: "Failed".to_owned(), detail: None });
    kept.apply(TranscriptEvent::ProcessEnded);
    let read = kept.read();
    let mut expected = std::mem::take(&mut kept.transcript);
    expected.colour_stored(Colouring::All);
    assert_eq!(shown(&read), shown(&expected));
    use ToolState::{Denied, Failed, NotRun, Succeeded};
    let ends = [Succeeded, Denied, Failed, NotRun, Succeeded, Succeeded, NotRun, Succeeded, Succeeded];
    assert_eq!(states(&read), [&ends[..], &[Failed, Succeeded, Failed]].concat());
    assert_eq!(read.tasks().len(), 1);
    assert!(!read.files().is_empty());
    let copied = |transcript: &Transcript| transcript.text_of("T", &CopyOf::Conversation);
    assert_eq!(copied(&read), copied(&expected));
    assert!(copied(&read).is_some_and(|copied| copied.contains("- one\n- `two`")));
    let (images, _) = read.images(&ItemId::new("l")).unwrap();
    assert_eq!(images, ["iVBORw==".into()]);
    let note = |id: &str| match read.item(&ItemId::new(id)).map(|item| &item.body) {
        Some(Body::ToolCall(call)) => format!("{} – {}", call.verb, call.note.as_deref().unwrap_or_default()),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        (note("j").as_str(), note("k").as_str()),
        ("Ran – exit code 3", "Ran – ended by the signal SIGTERM")
    );
}

#[test]
fn a_prompt_that_is_sent_again_is_one_row_with_its_last_id() {
    let mut kept = Kept::new();
    let mut sent = prompt("p", "Go on");
    kept.prompt(&sent);
    sent.release(5);
    kept.prompt(&sent);
    kept.reply("m", vec![text("yes")]);
    assert_eq!(kept.transcript.items().count(), 2);
    let read = kept.read();
    assert_eq!(shown(&read), shown(&kept.transcript));
    assert!(read.knows(&sent.wire_id()), "take_over finds it by this id");
}

#[test]
fn what_was_running_when_the_app_was_killed_is_over() {
    let mut kept = Kept::new();
    kept.call("a", Kind::Command, json!({"command": "sleep 9"}));
    kept.call("b", Kind::Command, json!({"command": "ls"}));
    kept.apply(TranscriptEvent::Asked { tool_use_id: Some("b".to_owned()) });
    let read = kept.read();
    assert_eq!(states(&read), [ToolState::Interrupted, ToolState::NotRun]);
    assert!(read.prompts().is_empty());
}

#[test]
fn a_line_that_cannot_be_read_is_counted_and_the_others_stay() {
    let mut kept = Kept::new();
    kept.reply("m", vec![text("one")]);
    let good = serde_json::to_string(&kept.lines[0]).unwrap();
    let call = json!({"at": 2, "entry": {"type": "reply", "message": "c", "blocks":
        [{"type": "call", "id": "c", "name": "n", "kind": "of a later version", "input": {"x": 1}}]}});
    let bad =
        ["{", "[]", "null", r#"{"at":1}"#, r#"{"at":1,"entry":{"type":"of a later version"}}"#, "\0\u{fffd}"];
    let text = [&bad.join("\n"), &good, "", &call.to_string()].map(str::to_owned).join("\n");
    let read = Own::parse(text.as_bytes()).transcript(Path::new("/p"), Vec::new(), Colouring::All);
    let items: Vec<&Item> = read.items().collect();
    assert_eq!(items.len(), 3, "{items:#?}");
    assert!(matches!(&items[0].body, Body::Text { .. }));
    assert!(matches!(&items[1].body, Body::ToolCall(_)));
    let Body::Notice { detail: Some(detail), .. } = &items[2].body else { panic!("{items:#?}") };
    assert!(detail.starts_with("6 lines"), "{detail}");
}

#[test]
fn a_long_conversation_is_read_in_time() {
    let mut kept = Kept::new();
    for nr in 0..20_000 {
        let event = AgentEvent::Informational { level: "info".to_owned(), text: format!("{nr}") };
        kept.lines.extend(OwnLine::of_agent(nr, &event, &kept.transcript));
    }
    let began = std::time::Instant::now();
    assert_eq!(kept.read().items().count(), 20_000);
    assert!(began.elapsed() < std::time::Duration::from_secs(20));
}

#[test]
fn images_are_bounded_in_the_file_and_in_memory() {
    let image = |size: usize| -> Arc<str> { "A".repeat(size).into() };
    let kept = images(&[image(MOST_IMAGES - 1), image(1), image(1)]);
    assert_eq!(kept.iter().map(String::len).collect::<Vec<_>>(), [MOST_IMAGES - 1, 1]);
    assert!(
        images(&[image(MOST_IMAGES + 1), image(1)]).is_empty(),
        "a later one is not shown in the place of the first"
    );
    let mut kept = Kept::new();
    for nr in 0..9 {
        kept.call(&nr.to_string(), Kind::Other, json!({}));
        kept.ends(&nr.to_string(), |end| end.images = vec!["A".repeat(MOST_IMAGES)]);
    }
    let n_images = |nr: usize| kept.transcript.images(&ItemId::new(nr.to_string())).unwrap().0.len();
    assert_eq!(
        (0..9).map(n_images).collect::<Vec<_>>(),
        [0, 1, 1, 1, 1, 1, 1, 1, 1],
        "the oldest are dropped"
    );
}
