//! The parts of the demo that a later prompt can select by a word.

use serde_json::json;

use super::pretend::PretendFile;
use super::{asked_command, say, say_and_call};
use crate::agent::Cut;
use crate::reply::words;
use crate::steps::api_retries;
use crate::tools::{TaskStep, settle_plan, settle_questions, task};
use crate::turn::PlayedTurn;

const GREETING: &str = include_str!("text/greeting.md");
const LONG: &str = include_str!("text/long.md");
const PLAN: &str = include_str!("text/plan.md");

type Part = fn(&mut PlayedTurn<'_>) -> Result<(), Cut>;

const PARTS: &[(&str, Part)] = &[
    ("long", long),
    ("error", error),
    ("plan", plan),
    ("todo", todo),
    ("edit", edit),
    ("permission", permission),
    ("question", question),
];

/// Plays the first part that the prompt names; otherwise lists the parts.
pub fn play(turn: &mut PlayedTurn<'_>, prompt: &str) -> Result<(), Cut> {
    let prompt = prompt.to_lowercase();
    let named = prompt.split(|letter: char| !letter.is_alphanumeric()).find_map(|word| {
        PARTS.iter().find(|(name, _)| *name == word || word.strip_suffix('s') == Some(*name))
    });
    match named {
        Some((_, part)) => part(turn),
        None => say(turn, GREETING.trim_end()),
    }
}

fn long(turn: &mut PlayedTurn<'_>) -> Result<(), Cut> {
    let pace = turn.pace();
    turn.say(LONG.trim_end(), 5, pace)
}

fn error(turn: &mut PlayedTurn<'_>) -> Result<(), Cut> {
    let pause = turn.agent.environment.paced(1_200);
    api_retries(turn, 2, Some(529), "overloaded", pause)?;
    Err(Cut::Failed {
        status: Some(529),
        kind: "overloaded".into(),
        text: "API Error: Repeated 529 Overloaded errors. The API is at capacity — this is usually temporary. Try \
               again in a moment."
            .into(),
    })
}

fn plan(turn: &mut PlayedTurn<'_>) -> Result<(), Cut> {
    let pace = turn.pace();
    turn.open_message()?;
    let thought = "The fix keeps every cent, but what about no shares at all? That changes the signature, so it \
                   deserves a plan first.";
    turn.thinking(&words(thought, 3), pace)?;
    turn.text(&words("Before I touch the signature, here is a plan for you to judge.", 3), pace)?;
    let call =
        turn.tool_use("ExitPlanMode", json!({"plan": PLAN.trim_end()}), turn.agent.environment.paced(8))?;
    turn.close_message("tool_use");
    if settle_plan(turn, &call)? {
        say(turn, "Approved, thank you. In a real session I would now begin with step 1.")
    } else {
        say(turn, "Understood, the plan stays a plan. Tell me what to change, and I come back with another.")
    }
}

fn todo(turn: &mut PlayedTurn<'_>) -> Result<(), Cut> {
    let pace = turn.agent.environment.paced(8);
    let between = turn.agent.environment.paced(700);
    let steps = [
        ("1", "Give split an error type", "Giving split an error type"),
        ("2", "Pass the error on from the import", "Passing the error on"),
        ("3", "Test the edges", "Testing the edges"),
    ];
    say(turn, "Three steps; I tick them off as I go.")?;
    for (id, subject, doing) in steps {
        task(turn, TaskStep::Create { id, subject, doing }, pace)?;
    }
    for (id, _, _) in steps {
        task(turn, TaskStep::Update { id, from: "pending", to: "in_progress" }, pace)?;
        turn.agent.pause(between)?;
        task(turn, TaskStep::Update { id, from: "in_progress", to: "completed" }, pace)?;
    }
    say(turn, "All three are done, as far as a demonstration can be said to do anything.")
}

fn edit(turn: &mut PlayedTurn<'_>) -> Result<(), Cut> {
    let mut file = PretendFile::money();
    let old = "pub fn total(entries: &[i64]) -> i64 {\n    entries.iter().sum()\n}\n";
    let new = "///\n/// Fails rather than wraps around when the sum is too large to be held.\npub fn total(entries: \
               &[i64]) -> Option<i64> {\n    entries.iter().try_fold(0_i64, |sum, entry| \
               sum.checked_add(*entry))\n}\n";
    let call = say_and_call(turn, "I look at the file again before I change it.", "Read", file.read_input())?;
    file.read(turn, &call);
    let text = "`total` would wrap around without a word. I would rather have it say so:";
    let call = say_and_call(turn, text, "Edit", file.edit_input(old, new))?;
    if file.edit_if_allowed(turn, &call)? {
        say(turn, "Changed. Its callers now have to say what they do when a sum can not be held.")
    } else {
        say(turn, "I leave the file as it is.")
    }
}

fn permission(turn: &mut PlayedTurn<'_>) -> Result<(), Cut> {
    let commands = [
        (
            "git switch -c keep-every-cent",
            "Begin a branch for the fix",
            "First a branch. You can allow it once, or let me run it from now on.",
            "Switched to a new branch 'keep-every-cent'",
        ),
        (
            "git commit -am 'Keep every cent when an amount is split'",
            "Commit the fix",
            "Now the commit.",
            "[keep-every-cent 4f1d2c7] Keep every cent when an amount is split\n 1 file changed, 4 insertions(+), 3 \
             deletions(-)",
        ),
    ];
    let mut ran = 0;
    for (line, description, text, output) in commands {
        let call = say_and_call(turn, text, "Bash", json!({"command": line, "description": description}))?;
        ran += u32::from(asked_command(turn, &call, output)?);
    }
    let end = match ran {
        0 => "Neither ran. A denial ends nothing: I read why, and go on.",
        1 => "One ran and one did not, just as you said.",
        _ => "Both ran (or would have: this is a demonstration).",
    };
    say(turn, end)
}

fn question(turn: &mut PlayedTurn<'_>) -> Result<(), Cut> {
    let text = "How should amounts be shown?";
    let questions = json!({"questions": [{
        "question": text,
        "header": "Amounts",
        "options": [
            {"label": "1,234.50", "description": "A comma for the thousands, a point for the cents"},
            {"label": "1.234,50", "description": "The other way around"},
            {"label": "As the system has it", "description": "Whatever the user's language asks for"},
        ],
        "multiSelect": false,
    }]});
    let call = say_and_call(turn, "One thing I can not know:", "AskUserQuestion", questions)?;
    let answers = settle_questions(turn, &call)?;
    match answers.as_ref().and_then(|answers| answers.get(text)?.as_str()) {
        Some(answer) => say(turn, &format!("**{answer}** it is.")),
        None => say(turn, "No answer is an answer, too: I leave it as it is."),
    }
}
