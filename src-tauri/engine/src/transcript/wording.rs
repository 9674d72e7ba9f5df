//! Wording of tool calls: one table of tools, and one rule for each state of a call.
//!
//! The window, the Markdown export, the search, the relay and the replay all show these words, so this is the only
//! place that makes them. The past tense is used only for what happened.

use crate::agent::tool::ToolKind;
use crate::api::{ToolIcon, ToolState};

/// The verb forms and the icon of a kind of call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words {
    pub icon: ToolIcon,
    /// “run”
    base: &'static str,
    /// “running”
    doing: &'static str,
    /// “ran”
    done: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A command can run and then fail.
    Command,
    Action,
    /// The user sees the call as a request, and its result is the user's answer.
    Request,
}

/// Facts about a call in addition to its state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// It runs, or ran, in the background.
    pub background: bool,
    /// The user saw a request for it.
    pub asked: bool,
    /// It failed after it had run: a command with an exit code.
    pub ran: bool,
    /// It is unknown whether it had started when it was interrupted.
    pub may_not_have_begun: bool,
}

/// The words for a kind of tool.
pub fn of(tool: ToolKind) -> Words {
    use ToolIcon as Icon;
    let words = |icon, base, doing, done, kind| Words { icon, base, doing, done, kind };
    let action = |icon, base, doing, done| words(icon, base, doing, done, Kind::Action);
    match tool {
        ToolKind::Command => words(Icon::Command, "run", "running", "ran", Kind::Command),
        ToolKind::Edit | ToolKind::MultiEdit | ToolKind::EditNotebook => {
            action(Icon::Edit, "edit", "editing", "edited")
        }
        ToolKind::Write => action(Icon::Edit, "write", "writing", "wrote"),
        ToolKind::Read => action(Icon::Read, "read", "reading", "read"),
        ToolKind::Search => action(Icon::Search, "search for", "searching for", "searched for"),
        ToolKind::FindFiles => action(Icon::Search, "look for", "looking for", "looked for"),
        ToolKind::ListFolder => action(Icon::Search, "list", "listing", "listed"),
        ToolKind::Fetch => action(Icon::Web, "fetch", "fetching", "fetched"),
        ToolKind::SearchWeb => {
            action(Icon::Web, "search the web for", "searching the web for", "searched the web for")
        }
        ToolKind::Subagent => {
            action(Icon::Agent, "run a subagent:", "running a subagent:", "ran a subagent:")
        }
        ToolKind::TodoList | ToolKind::UpdateTask => action(Icon::Todo, "update", "updating", "updated"),
        ToolKind::CreateTask => action(Icon::Todo, "add a task:", "adding a task:", "added a task:"),
        ToolKind::ListTasks | ToolKind::GetTask => action(Icon::Todo, "check", "checking", "checked"),
        ToolKind::Questions => words(Icon::Question, "ask", "asking", "asked", Kind::Request),
        ToolKind::Plan => words(Icon::Plan, "propose", "proposing", "proposed", Kind::Request),
        ToolKind::Monitor => action(Icon::Command, "watch", "watching", "watched"),
        ToolKind::ScheduleJob => {
            action(Icon::Other, "schedule a job:", "scheduling a job:", "scheduled a job:")
        }
        ToolKind::ListJobs => action(Icon::Other, "list", "listing", "listed"),
        ToolKind::CancelJob => action(Icon::Other, "cancel", "cancelling", "cancelled"),
        ToolKind::WakeUp => {
            action(Icon::Other, "plan a wake-up:", "planning a wake-up:", "planned a wake-up:")
        }
        ToolKind::Message => words(Icon::Other, "let in", "letting in", "let in", Kind::Request),
        ToolKind::Server => action(Icon::Mcp, "use", "using", "used"),
        ToolKind::Other => action(Icon::Other, "use", "using", "used"),
    }
}

impl Words {
    pub fn is_command(&self) -> bool {
        self.kind == Kind::Command
    }

    /// The verb before the subject.
    pub fn verb(&self, state: ToolState, facts: Facts) -> String {
        let Self { base, doing, done, .. } = *self;
        let in_background =
            |words: &str| capital(&format!("{} in the background:", words.trim_end_matches(':')));
        let was_shown = self.kind == Kind::Request && facts.asked;
        match state {
            ToolState::Preparing => format!("Preparing to {base}"),
            ToolState::Waiting if self.kind == Kind::Request => capital(doing),
            ToolState::Waiting => format!("Wants to {base}"),
            ToolState::Running => capital(doing),
            ToolState::Background => in_background(doing),
            // It ran for some time, regardless of how it ended.
            ToolState::Succeeded | ToolState::Failed | ToolState::Interrupted if facts.background => {
                in_background(done)
            }
            ToolState::Succeeded => capital(done),
            // The user saw the question or the plan and did not answer it, or did not approve.
            ToolState::Denied | ToolState::NotRun | ToolState::Interrupted | ToolState::Failed
                if was_shown =>
            {
                capital(done)
            }
            ToolState::Failed if facts.ran => capital(done),
            ToolState::Failed => format!("Could not {base}"),
            ToolState::Denied | ToolState::NotRun => format!("Did not {base}"),
            ToolState::Interrupted if facts.may_not_have_begun => format!("Was about to {base}"),
            ToolState::Interrupted => format!("Interrupted while {doing}"),
        }
    }

    /// A short note after the subject, if the verb alone is not enough.
    pub fn note(&self, state: ToolState, facts: Facts) -> Option<&'static str> {
        let was_shown = self.kind == Kind::Request && facts.asked;
        match state {
            ToolState::Waiting => Some("waiting for you"),
            ToolState::Succeeded if self.icon == ToolIcon::Plan => Some("approved"),
            ToolState::Denied if was_shown && self.icon == ToolIcon::Plan => Some("not approved"),
            ToolState::Denied | ToolState::NotRun | ToolState::Interrupted if was_shown => {
                Some("not answered")
            }
            ToolState::Denied => Some("denied"),
            ToolState::NotRun => Some("interrupted before it ran"),
            ToolState::Interrupted if facts.background => Some("stopped"),
            ToolState::Interrupted if facts.may_not_have_begun => Some("interrupted, may have run"),
            // The verb is enough.
            ToolState::Interrupted => None,
            ToolState::Preparing
            | ToolState::Running
            | ToolState::Background
            | ToolState::Succeeded
            | ToolState::Failed => None,
        }
    }
}

fn capital(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + chars.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATES: [ToolState; 9] = [
        ToolState::Preparing,
        ToolState::Waiting,
        ToolState::Running,
        ToolState::Background,
        ToolState::Succeeded,
        ToolState::Failed,
        ToolState::Denied,
        ToolState::NotRun,
        ToolState::Interrupted,
    ];

    fn line(tool: &str, facts: Facts) -> Vec<String> {
        let words = of(crate::claude::tool::kind(tool));
        let with_note = |state| match words.note(state, facts) {
            Some(note) => format!("{} … {note}", words.verb(state, facts)),
            None => words.verb(state, facts),
        };
        STATES.map(with_note).to_vec()
    }

    /// Every kind of tool in every state.
    #[test]
    fn every_tool_has_words_for_every_state() {
        let table = [
            ("Bash", ["run", "Running", "Ran"]),
            ("PowerShell", ["run", "Running", "Ran"]),
            ("Edit", ["edit", "Editing", "Edited"]),
            ("MultiEdit", ["edit", "Editing", "Edited"]),
            ("NotebookEdit", ["edit", "Editing", "Edited"]),
            ("Write", ["write", "Writing", "Wrote"]),
            ("Read", ["read", "Reading", "Read"]),
            ("Grep", ["search for", "Searching for", "Searched for"]),
            ("Glob", ["look for", "Looking for", "Looked for"]),
            ("LS", ["list", "Listing", "Listed"]),
            ("WebFetch", ["fetch", "Fetching", "Fetched"]),
            ("WebSearch", ["search the web for", "Searching the web for", "Searched the web for"]),
            ("Agent", ["run a subagent:", "Running a subagent:", "Ran a subagent:"]),
            ("Task", ["run a subagent:", "Running a subagent:", "Ran a subagent:"]),
            ("TodoWrite", ["update", "Updating", "Updated"]),
            ("TaskUpdate", ["update", "Updating", "Updated"]),
            ("TaskCreate", ["add a task:", "Adding a task:", "Added a task:"]),
            ("TaskList", ["check", "Checking", "Checked"]),
            ("TaskGet", ["check", "Checking", "Checked"]),
            ("Monitor", ["watch", "Watching", "Watched"]),
            ("CronCreate", ["schedule a job:", "Scheduling a job:", "Scheduled a job:"]),
            ("CronList", ["list", "Listing", "Listed"]),
            ("CronDelete", ["cancel", "Cancelling", "Cancelled"]),
            ("ScheduleWakeup", ["plan a wake-up:", "Planning a wake-up:", "Planned a wake-up:"]),
            ("mcp__tracker__create", ["use", "Using", "Used"]),
            ("Unheard", ["use", "Using", "Used"]),
        ];
        for (tool, [base, doing, done]) in table {
            let expected = [
                format!("Preparing to {base}"),
                format!("Wants to {base} … waiting for you"),
                doing.to_owned(),
                format!("{} in the background:", doing.trim_end_matches(':')),
                done.to_owned(),
                format!("Could not {base}"),
                format!("Did not {base} … denied"),
                format!("Did not {base} … interrupted before it ran"),
                format!("Interrupted while {}", doing.to_lowercase()),
            ];
            assert_eq!(line(tool, Facts::default()), expected, "{tool}");
            let background = line(tool, Facts { background: true, ..Facts::default() });
            let done = done.trim_end_matches(':');
            assert_eq!(background[4], format!("{done} in the background:"));
            assert_eq!(background[8], format!("{done} in the background: … stopped"));
            let unknown = line(tool, Facts { may_not_have_begun: true, ..Facts::default() });
            assert_eq!(unknown[8], format!("Was about to {base} … interrupted, may have run"));
        }
        assert_eq!(line("Bash", Facts { ran: true, ..Facts::default() })[5], "Ran");
    }

    #[test]
    fn a_question_and_a_plan_were_shown_whatever_the_answer() {
        let asked = Facts { asked: true, ..Facts::default() };
        let words = |tool: &str, facts| line(tool, facts).split_off(4);
        let question =
            ["Asked", "Asked", "Asked … not answered", "Asked … not answered", "Asked … not answered"];
        assert_eq!(words("AskUserQuestion", asked), question);
        let plan = [
            "Proposed … approved",
            "Proposed",
            "Proposed … not approved",
            "Proposed … not answered",
            "Proposed … not answered",
        ];
        assert_eq!(words("ExitPlanMode", asked), plan);
        assert_eq!(line("ExitPlanMode", asked)[1], "Proposing … waiting for you");
        // The user never saw it.
        assert_eq!(words("AskUserQuestion", Facts::default())[3], "Did not ask … interrupted before it ran");
    }

    /// The past tense is for what happened: no state without execution may use it.
    #[test]
    fn nothing_is_claimed_that_did_not_happen() {
        for tool in ["Bash", "Write", "Edit", "WebFetch", "Agent", "mcp__a__b"] {
            let done = of(crate::claude::tool::kind(tool)).verb(ToolState::Succeeded, Facts::default());
            for state in STATES.into_iter().filter(|state| *state != ToolState::Succeeded) {
                let verb = of(crate::claude::tool::kind(tool))
                    .verb(state, Facts { asked: true, ..Facts::default() });
                assert!(!verb.starts_with(&done), "{tool} {state:?}: {verb}");
            }
        }
    }
}
