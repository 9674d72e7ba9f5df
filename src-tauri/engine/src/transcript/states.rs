//! Tests of the words for a tool call in every state, for every order of its messages: streamed or not, answered or
//! not, and cut off at every point.

use super::Transcript;
use super::{RequestEnd, TranscriptEvent};
use crate::agent::tool::RawInput;
use crate::api::*;
use crate::wire;
use serde_json::{Value, json};
use std::path::Path;

const CALL: &str = "t";

struct Life(Transcript);

impl Life {
    fn new() -> Self {
        Self(Transcript::new(Path::new("/project")))
    }

    fn line(&mut self, line: &Value) {
        self.0.line(1_000, wire::parse(line.to_string().as_bytes()));
    }

    fn note(&mut self, note: TranscriptEvent) {
        self.0.apply(1_000, note);
    }

    fn streamed(&mut self, tool: &str) {
        let event = |event: Value| json!({"type": "stream_event", "event": event});
        self.line(&event(json!({"type": "message_start", "message": {"id": "m"}})));
        let block = json!({"type": "tool_use", "id": CALL, "name": tool, "input": {}});
        self.line(&event(json!({"type": "content_block_start", "index": 0, "content_block": block})));
    }

    fn called(&mut self, tool: &str, input: Value) {
        let block = json!({"type": "tool_use", "id": CALL, "name": tool, "input": input});
        self.line(&json!({"type": "assistant", "message": {"id": "m", "content": [block]}}));
    }

    fn asked(&mut self) {
        self.note(TranscriptEvent::Asked { tool_use_id: Some(CALL.to_owned()) });
    }

    fn answered(&mut self, end: RequestEnd) {
        self.note(TranscriptEvent::Answered { tool_use_id: Some(CALL.to_owned()), end });
    }

    fn result(&mut self, content: Value, structured: Value, is_error: bool, refusal: Option<&str>) {
        let result =
            json!({"type": "tool_result", "tool_use_id": CALL, "content": content, "is_error": is_error});
        let meta = refusal.map(|kind| json!([{"id": CALL, "non_execution_kind": kind}]));
        self.line(&json!({"type": "user", "message": {"role": "user", "content": [result]},
            "tool_use_result": structured, "tool_result_meta": meta}));
    }

    fn turn_ends(&mut self) {
        self.note(TranscriptEvent::TurnEnded(TurnEnd {
            outcome: Outcome::Interrupted,
            words: "Interrupted".to_owned(),
            prompt_ids: Vec::new(),
            duration_ms: 1,
            output_tokens: 0,
            cost_usd: Some(0.0),
            tokens: None,
            timing: TurnTiming::default(),
        }));
    }

    fn call(&self) -> &ToolCall {
        match &self.0.item(&ItemId::new(CALL)).unwrap().body {
            Body::ToolCall(call) => call,
            body => panic!("{body:?}"),
        }
    }

    /// The line as displayed: the note follows a dash.
    fn said(&self) -> String {
        let call = self.call();
        let note = call.note.as_deref().map(|note| format!(" – {note}")).unwrap_or_default();
        format!("{} {}{note}", call.verb, call.subject)
    }
}

/// Each tool with its input and its wording: base form, running, done.
fn tools() -> Vec<(&'static str, Value, [&'static str; 3])> {
    vec![
        ("Bash", json!({"command": "rm -rf x"}), ["run rm -rf x", "running rm -rf x", "Ran rm -rf x"]),
        (
            "Write",
            json!({"file_path": "/project/notes.md", "content": "one"}),
            ["write notes.md", "writing notes.md", "Wrote notes.md"],
        ),
        (
            "Edit",
            json!({"file_path": "/project/a.rs", "old_string": "a", "new_string": "b"}),
            ["edit a.rs", "editing a.rs", "Edited a.rs"],
        ),
        ("Read", json!({"file_path": "/project/a.rs"}), ["read a.rs", "reading a.rs", "Read a.rs"]),
        ("WebFetch", json!({"url": "http://x"}), ["fetch http://x", "fetching http://x", "Fetched http://x"]),
        (
            "Agent",
            json!({"description": "look"}),
            ["run a subagent: look", "running a subagent: look", "Ran a subagent: look"],
        ),
        ("mcp__s__t", json!({}), ["use s: t", "using s: t", "Used s: t"]),
        (
            "TaskUpdate",
            json!({"taskId": "1", "status": "completed"}),
            ["update task 1: done", "updating task 1: done", "Updated task 1: done"],
        ),
    ]
}

#[test]
fn a_call_that_runs_is_said_to_run_and_then_to_have_run() {
    for (tool, input, [to_do, doing, done]) in tools() {
        for streamed in [false, true] {
            let mut life = Life::new();
            if streamed {
                life.streamed(tool);
                assert!(life.call().verb.starts_with("Preparing to "), "{}", life.said());
            }
            life.called(tool, input.clone());
            assert_eq!(life.said().to_lowercase(), doing.to_lowercase());
            life.asked();
            assert_eq!(life.said(), format!("Wants to {to_do} – waiting for you"));
            life.answered(RequestEnd::Allowed { changed: None });
            assert_eq!(life.said().to_lowercase(), doing.to_lowercase());
            life.result(json!("fine"), json!({}), false, None);
            assert_eq!((life.said().as_str(), life.call().state), (done, ToolState::Succeeded));
            life.turn_ends();
            life.note(TranscriptEvent::ProcessEnded);
            assert_eq!(life.said(), done);
        }
    }
}

#[test]
fn a_call_that_was_denied_did_not_run() {
    for (tool, input, [to_do, ..]) in tools() {
        let expected = format!("Did not {to_do} – denied");
        // Denied by the user; shown before the agent's answer arrives.
        let mut life = Life::new();
        life.called(tool, input.clone());
        life.asked();
        life.answered(RequestEnd::Denied);
        assert_eq!(life.said(), expected);
        let mut cut_off = Life::new();
        cut_off.called(tool, input.clone());
        cut_off.asked();
        cut_off.answered(RequestEnd::Denied);
        cut_off.note(TranscriptEvent::ProcessEnded);
        assert_eq!(cut_off.said(), expected);
        // 2.1.197 gives no reason.
        life.result(json!("The user said no."), json!("Error: The user said no."), true, None);
        assert_eq!((life.said(), life.call().state), (expected.clone(), ToolState::Denied));
        assert_eq!(life.call().duration_ms, None);
        // Denied by a rule or a hook, without a request.
        let mut life = Life::new();
        life.called(tool, input);
        life.result(json!("PreToolUse hook error"), json!("Error: no"), true, Some("permission-rule"));
        // A call that shows its result has the reason there.
        let reason = if life.call().detail.output().is_none() { ": PreToolUse hook error" } else { "" };
        assert_eq!((life.said(), life.call().state), (format!("{expected}{reason}"), ToolState::Denied));
    }
}

#[test]
fn a_denied_edit_keeps_its_change_and_says_the_reason() {
    let edits = [
        ("Edit", json!({"file_path": "/project/a.rs", "old_string": "a", "new_string": "b"})),
        ("Write", json!({"file_path": "/project/a.rs", "content": "b"})),
        ("NotebookEdit", json!({"notebook_path": "/project/a.ipynb", "cell_id": "c1", "new_source": "b"})),
    ];
    for (tool, input) in edits {
        let mut life = Life::new();
        life.called(tool, input);
        life.asked();
        life.answered(RequestEnd::Denied);
        let requested = life.call().detail.clone();
        life.result(json!("Use tabs.\nNot spaces."), json!("Error: Use tabs."), true, None);
        let (ToolDetail::Edit(diff) | ToolDetail::Notebook { diff, .. }) = &life.call().detail else {
            panic!("{tool}: {:?}", life.call().detail)
        };
        assert!(!diff.hunks.is_empty());
        assert_eq!(life.call().detail, requested, "it is the change that was shown");
        assert_eq!(life.call().note.as_deref(), Some("denied: Use tabs. Not spaces."));
    }
    // A denial that ends the turn is stored as an interrupt.
    let mut life = Life::new();
    life.called("Write", json!({"file_path": "/project/a.rs", "content": "b"}));
    let requested = life.call().detail.clone();
    cut(&mut life, Cut::Rejected { is_old: false }, false);
    assert_eq!(
        (life.call().state, life.call().note.as_deref()),
        (ToolState::NotRun, Some("interrupted before it ran"))
    );
    assert_eq!(life.call().detail, requested);
    // Of an edit that failed, the error is shown.
    let mut life = Life::new();
    life.called("Edit", json!({"file_path": "/project/a.rs", "old_string": "a", "new_string": "b"}));
    life.result(json!("No such text."), json!("Error: No such text."), true, None);
    assert!(matches!(life.call().detail, ToolDetail::Json { .. }));
}

#[test]
fn a_plan_is_shown_with_its_answer() {
    let plan = "# Steps\n\n1. Look";
    let shown = ToolDetail::Plan { blocks: crate::document::markdown(plan) };
    for (answer, end, is_error, note) in [
        ("User has approved your plan.", RequestEnd::Allowed { changed: None }, false, "approved"),
        ("Look twice.", RequestEnd::Denied, true, "not approved: Look twice."),
        ("The user said no.", RequestEnd::Denied, true, "not approved"),
    ] {
        let mut life = Life::new();
        life.called("ExitPlanMode", json!({"plan": plan, "planFilePath": "/plans/a.md"}));
        assert_eq!(life.call().detail, shown);
        life.asked();
        life.answered(end);
        life.result(json!(answer), json!(answer), is_error, None);
        assert_eq!(life.said(), format!("Proposed a plan – {note}"));
        assert_eq!(life.call().detail, shown);
        let copy = life.0.text_of("Title", &CopyOf::Conversation).unwrap();
        assert!(copy.contains("> # Steps"), "{copy}");
    }
    for without in [json!({}), json!({"plan": " "}), json!({"plan": "x".repeat(17 * 1024)})] {
        let mut life = Life::new();
        life.called("ExitPlanMode", without);
        assert!(matches!(life.call().detail, ToolDetail::Json { .. }));
    }
}

/// How a call is cut off: the agent's answer to an interrupt, the end of its turn, or the end of its process.
#[derive(Clone, Copy, Debug)]
enum Cut {
    Rejected { is_old: bool },
    Turn,
    Process,
}

fn cut(life: &mut Life, by: Cut, while_it_ran: bool) {
    match by {
        Cut::Rejected { is_old } => {
            let more = if while_it_ran && !is_old {
                " this call was stopped while running, not refused"
            } else {
                ""
            };
            let words = format!("The user doesn't want to proceed with this tool use. STOP.{more}");
            let kind = if is_old { None } else { Some("user-rejected") };
            life.result(json!(words), json!("User rejected tool use"), true, kind);
        }
        Cut::Turn => life.turn_ends(),
        Cut::Process => life.note(TranscriptEvent::ProcessEnded),
    }
}

#[test]
fn a_call_that_was_cut_off_says_how_far_it_came() {
    let cuts = [Cut::Rejected { is_old: false }, Cut::Rejected { is_old: true }, Cut::Turn, Cut::Process];
    for (tool, input, [to_do, doing, _]) in tools() {
        for by in cuts {
            let not_run = format!("Did not {to_do} – interrupted before it ran");
            for streamed in [false, true] {
                let begun = || {
                    let mut life = Life::new();
                    if streamed {
                        life.streamed(tool);
                    }
                    life.called(tool, input.clone());
                    life
                };
                // While its request was open.
                let mut life = begun();
                life.asked();
                cut(&mut life, by, false);
                assert_eq!((life.said(), life.call().state), (not_run.clone(), ToolState::NotRun), "{by:?}");
                assert_eq!(life.call().duration_ms, None);
                // The request was withdrawn first.
                let mut life = begun();
                life.asked();
                life.answered(RequestEnd::Withdrawn);
                assert_eq!(life.said(), format!("Preparing to {to_do}"));
                cut(&mut life, by, false);
                assert_eq!(life.said(), not_run, "{by:?}");
                // While it ran.
                let mut life = begun();
                life.asked();
                life.answered(RequestEnd::Allowed { changed: None });
                cut(&mut life, by, true);
                assert_eq!(life.said(), format!("Interrupted while {doing}"), "{by:?}");
                assert_eq!(life.call().state, ToolState::Interrupted);
            }
            // While its input was being streamed.
            if matches!(by, Cut::Turn | Cut::Process) {
                let mut life = Life::new();
                life.streamed(tool);
                cut(&mut life, by, false);
                assert_eq!(life.call().state, ToolState::NotRun, "{tool} {by:?}");
                assert!(life.said().starts_with("Did not "), "{}", life.said());
            }
        }
        // 2.1.197 does not report how far a call without a request had run.
        let mut life = Life::new();
        life.called(tool, input);
        cut(&mut life, Cut::Rejected { is_old: true }, true);
        assert_eq!(life.said(), format!("Was about to {to_do} – interrupted, may have run"));
    }
}

#[test]
fn a_failure_says_whether_anything_ran() {
    let failed = |tool: &str, input: Value, words: &str| {
        let mut life = Life::new();
        life.called(tool, input);
        life.result(json!(words), json!(format!("Error: {words}")), true, None);
        life.said()
    };
    let bash = || json!({"command": "false"});
    assert_eq!(failed("Bash", bash(), "Exit code 3\nout"), "Ran false – exit code 3");
    assert_eq!(failed("Bash", bash(), "The mode forbids it"), "Could not run false – The mode forbids it");
    let tagged = "<tool_use_error>File has not been read yet.</tool_use_error>";
    let write = json!({"file_path": "/project/a", "content": "x"});
    assert_eq!(failed("Write", write, tagged), "Could not write a – File has not been read yet.");
}

#[test]
fn a_note_is_cut_between_words() {
    let mut life = Life::new();
    life.called("Bash", json!({"command": "false"}));
    let words = "The mode of this session forbids every command that is not in the list of the allowed ones";
    life.result(json!(words), json!(format!("Error: {words}")), true, None);
    let note = "The mode of this session forbids every command that is not in the list of the …";
    assert_eq!(life.call().note.as_deref(), Some(note));
}

#[test]
fn a_question_is_asked_whatever_comes_of_it() {
    let input = json!({"questions": [{"question": "Which?", "options": []}]});
    let mut life = Life::new();
    life.called("AskUserQuestion", input);
    life.asked();
    assert_eq!(life.said(), "Asking Which? – waiting for you");
    life.answered(RequestEnd::Denied);
    life.result(json!("skipped"), json!("Error: skipped"), true, Some("permission-rule"));
    assert_eq!(life.said(), "Asked Which? – not answered: skipped");
}

/// The agent sends the permission requests of a reply one after the other.
#[test]
fn a_call_after_one_that_waits_has_not_begun() {
    let mut life = Life::new();
    let block = |id: &str| json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": id}});
    life.line(&json!({"type": "assistant", "message": {"id": "m", "content": [block(CALL), block("u")]}}));
    let states = |life: &Life| {
        let state = |item: &Item| match &item.body {
            Body::ToolCall(call) => Some(call.state),
            _ => None,
        };
        life.0.items().filter_map(state).collect::<Vec<_>>()
    };
    life.asked();
    assert_eq!(states(&life), [ToolState::Waiting, ToolState::Preparing]);
    life.answered(RequestEnd::Allowed { changed: None });
    assert_eq!(states(&life), [ToolState::Running, ToolState::Running]);
    life.asked();
    life.turn_ends();
    assert_eq!(states(&life), [ToolState::NotRun, ToolState::NotRun]);
}

fn background(life: &mut Life) {
    life.called("Bash", json!({"command": "serve", "run_in_background": true}));
    let structured = json!({"stdout": "", "stderr": "", "backgroundTaskId": "b1"});
    life.result(json!("Command running in background with ID: b1."), structured, false, None);
}

fn task_ended(status: &str, summary: &str) -> Value {
    json!({"type": "system", "subtype": "task_notification", "task_id": "b1", "tool_use_id": CALL,
           "status": status, "summary": summary})
}

#[test]
fn a_command_in_the_background_runs_until_its_task_ends() {
    let ends = [
        ("completed", "Background command \"x\" completed (exit code 0)", "Ran in the background: serve"),
        (
            "failed",
            "Background command \"x\" failed with exit code 3",
            "Ran in the background: serve – exit code 3",
        ),
        ("stopped", "stopped", "Ran in the background: serve – stopped"),
    ];
    for (status, summary, expected) in ends {
        let mut life = Life::new();
        background(&mut life);
        assert_eq!(life.said(), "Running in the background: serve");
        assert_eq!((life.call().state, life.call().duration_ms), (ToolState::Background, None));
        // The end of its turn does not end it.
        life.turn_ends();
        assert_eq!(life.call().state, ToolState::Background);
        life.line(&task_ended(status, summary));
        assert_eq!(life.said(), expected);
        assert!(life.call().in_background && life.call().duration_ms == Some(0));
    }
    let mut life = Life::new();
    background(&mut life);
    life.note(TranscriptEvent::ProcessEnded);
    assert_eq!(life.said(), "Ran in the background: serve – stopped with the agent");
}

#[test]
fn a_task_that_ended_before_its_call_did_does_not_run_on() {
    let mut life = Life::new();
    life.called("Bash", json!({"command": "serve", "run_in_background": true}));
    life.line(&task_ended("completed", "done"));
    let structured = json!({"stdout": "", "stderr": "", "backgroundTaskId": "b1"});
    life.result(json!("Command running in background with ID: b1."), structured, false, None);
    assert_eq!(life.call().state, ToolState::Succeeded);
}

#[test]
fn a_subagents_report_is_shown_as_it_was_written_and_kept_as_it_came() {
    let frame = "[Subagent hand-back] Not from the user. The report follows:\n  # Found\nagentId: a1 (use \
                 SendMessage)";
    let content = json!([{"type": "text", "text": frame}]);
    let mut life = Life::new();
    life.called("Agent", json!({"description": "look", "prompt": "find"}));
    life.result(content.clone(), json!({"status": "completed", "agentId": "a1"}), false, None);
    let report = life.0.item(&ItemId::new("t.report")).unwrap();
    assert_eq!(report.parent, Some(ItemId::new(CALL)));
    assert!(matches!(&report.body, Body::Text { blocks, .. } if matches!(blocks[0], Block::Heading { .. })));
    let shown = serde_json::to_string(&life.0.items().collect::<Vec<_>>()).unwrap();
    assert!(!shown.contains("hand-back") && !shown.contains("SendMessage"), "{shown}");
    let raw = life.0.text_of("T", &CopyOf::Raw { item_id: ItemId::new(CALL) }).unwrap();
    let raw: Value = serde_json::from_str(&raw).unwrap();
    assert_eq!((&raw["result"], &raw["input"]["prompt"]), (&content, &json!("find")));
}

#[test]
fn a_subagent_in_the_background_reports_with_its_end() {
    let mut life = Life::new();
    life.called("Agent", json!({"description": "look", "run_in_background": true}));
    let text = json!([{"type": "text", "text": "Async agent launched successfully. never quote this"}]);
    life.result(text, json!({"isAsync": true, "status": "async_launched", "agentId": "b1"}), false, None);
    assert_eq!(life.said(), "Running a subagent in the background: look");
    let mut ended = task_ended("completed", "**found** it");
    ended["summary_is_report"] = json!(true);
    life.line(&ended);
    assert_eq!(life.said(), "Ran a subagent in the background: look");
    let copy = CopyOf::Message { item_id: ItemId::new("t.report") };
    assert_eq!(life.0.text_of("T", &copy).as_deref(), Some("**found** it"));
    let shown = serde_json::to_string(&life.0.items().collect::<Vec<_>>()).unwrap();
    assert!(!shown.contains("never quote"), "{shown}");
    assert!(shown.contains("Background task completed: look"), "{shown}");
}

#[test]
fn what_ran_is_shown_and_what_was_asked_for_is_kept() {
    let changed: RawInput = json!({"command": "touch changed.txt"}).into();
    let mut life = Life::new();
    life.called("Bash", json!({"command": "touch original.txt"}));
    life.asked();
    life.answered(RequestEnd::Allowed { changed: Some(changed.clone()) });
    life.result(json!("ok"), json!({"stdout": "ok"}), false, None);
    let check = |life: &Life| {
        assert_eq!(life.call().subject, "touch changed.txt");
        assert_eq!(life.call().original_input.as_deref(), Some("touch original.txt"));
        assert!(
            matches!(&life.call().detail, ToolDetail::Command { command, .. } if command == "touch changed.txt")
        );
        let copied = life.0.text_of("T", &CopyOf::Conversation).unwrap();
        assert!(copied.contains("Ran `touch changed.txt` (edited by you)"), "{copied}");
        assert!(!copied.contains("original"), "{copied}");
        let input = CopyOf::Input { item_id: ItemId::new(CALL) };
        assert_eq!(life.0.text_of("T", &input).as_deref(), Some("touch changed.txt"));
    };
    check(&life);
    // Read from disk, which only has the input that the agent requested.
    let kept = super::changed_inputs::ChangedInput { tool_use_id: CALL.to_owned(), input: changed };
    let mut life = Life(Transcript::with_changed_inputs(Path::new("/project"), &[kept]));
    life.called("Bash", json!({"command": "touch original.txt"}));
    life.result(json!("ok"), json!({"stdout": "ok"}), false, None);
    check(&life);
}

#[test]
fn changes_to_the_tasks_are_one_line_of_a_copy() {
    let mut life = Life::new();
    for nr in 1..=3 {
        let block = json!({"type": "tool_use", "id": format!("c{nr}"), "name": "TaskCreate", "input": {"subject": format!("s{nr}")}});
        life.line(&json!({"type": "assistant", "message": {"id": format!("m{nr}"), "content": [block]}}));
        let result = json!({"type": "tool_result", "tool_use_id": format!("c{nr}"), "content": "made"});
        life.line(&json!({"type": "user", "message": {"content": [result]}, "tool_use_result": {"task": {"id": nr}}}));
    }
    life.called("TaskUpdate", json!({"taskId": "2", "status": "completed"}));
    life.result(json!("ok"), json!({"success": true}), false, None);
    assert_eq!(life.said(), "Updated task 2: done – 1 of 3 done");
    assert_eq!(life.0.n_rows(), 1);
    assert_eq!(life.0.text_of("T", &CopyOf::Conversation).unwrap(), "# T\n\nUpdated tasks: 1 of 3 done\n");
}

/// A transcript on disk has no requests, so it is unknown whether a call without a result had started. When 2.1.329
/// resumes the conversation of a killed process, it writes a result that says so.
#[test]
fn a_call_without_a_result_on_disk_claims_nothing() {
    let words = "[Tool call interrupted: the session ended before this call's result was recorded]";
    let block = json!({"type": "tool_use", "id": CALL, "name": "Bash", "input": {"command": "a"}});
    let call = json!({"type": "assistant", "uuid": "a", "message": {"id": "m", "content": [block]}});
    let block = json!({"type": "tool_result", "tool_use_id": CALL, "content": words, "is_error": true});
    let result = json!({"type": "user", "uuid": "b", "parentUuid": "a", "toolDenialKind": "interrupted",
                        "toolUseResult": words, "message": {"role": "user", "content": [block]}});
    for lines in [vec![&call], vec![&call, &result]] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let lines: Vec<String> = lines.into_iter().map(Value::to_string).collect();
        std::fs::write(&path, lines.join("\n")).unwrap();
        let kept = crate::history::Kept::load(&path).unwrap();
        let life = Life(kept.transcript(Path::new("/project"), &crate::history::Additions::default()));
        assert_eq!(life.said(), "Was about to run a – interrupted, may have run");
    }
}

#[test]
fn a_task_that_ended_is_over_on_disk_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let block = json!({"type": "tool_use", "id": CALL, "name": "Bash", "input": {"command": "serve"}});
    let result =
        json!({"type": "tool_result", "tool_use_id": CALL, "content": "Command running in background"});
    let notification = "<task-notification>\n<task-id>b1</task-id>\n<tool-use-id>t</tool-use-id>\n\
        <status>failed</status>\n<summary>Background command \"x\" failed with exit code \
            3</summary>\n</task-notification>";
    let lines = [
        json!({"type": "assistant", "uuid": "a", "message": {"id": "m", "content": [block]}}),
        json!({"type": "user", "uuid": "b", "parentUuid": "a", "message": {"content": [result]},
               "toolUseResult": {"backgroundTaskId": "b1"}}),
        json!({"type": "user", "uuid": "c", "parentUuid": "b", "message": {"content": notification}}),
    ];
    std::fs::write(&path, lines.map(|line| line.to_string()).join("\n")).unwrap();
    let life = Life(
        crate::history::Kept::load(&path)
            .unwrap()
            .transcript(Path::new("/project"), &crate::history::Additions::default()),
    );
    assert_eq!(life.said(), "Ran in the background: serve – exit code 3");
}

#[test]
fn the_plan_that_woke_the_agent_is_said_at_the_head_of_the_turn() {
    let mut life = Life::new();
    for source in ["schedule_wakeup", "loop_wakeup"] {
        life.line(&json!({"type": "command_lifecycle", "command_uuid": "u", "state": "started",
                          "wakeup_source": source}));
    }
    let notices = life.0.items().filter_map(|item| match &item.body {
        Body::Notice { text, .. } => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(
        notices.collect::<Vec<_>>(),
        ["A scheduled job started this turn", "A wake-up that the agent planned started this turn"]
    );
}

#[test]
fn a_command_that_works_only_in_a_terminal_is_a_notice() {
    for outcome in [json!({"kind": "unavailable_headless"}), Value::Null] {
        let text = json!([{"type": "text", "text": "/login isn't available in this environment."}]);
        let message = json!({"id": "m", "model": "<synthetic>", "content": text});
        let mut life = Life::new();
        life.line(&json!({"type": "assistant", "message": message, "local_command_outcome": outcome}));
        let bodies: Vec<&Body> = life.0.items().map(|item| &item.body).collect();
        assert!(
            matches!(bodies[..], [Body::Notice { level: Level::Warning, text, .. }]
                if text == "“/login” is not available here. Log in with `claude` in a terminal."),
            "{bodies:?}"
        );
    }
}
