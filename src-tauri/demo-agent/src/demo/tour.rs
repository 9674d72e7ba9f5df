//! The tour: one turn that shows most of an agent's features, as the story of a cent that gets lost.

use serde_json::{Value, json};

use super::pretend::PretendFile;
use super::{asked_command, command, say, say_and_call};
use crate::agent::Cut;
use crate::reply::words;
use crate::tools::settle_questions;
use crate::turn::PlayedTurn;

const THINKING: &str = include_str!("text/thinking.md");
const EXPLANATION: &str = include_str!("text/explanation.md");

const OLD_SPLIT: &str = "    let each = cents / shares;\n    vec![each; shares as usize]\n";
const NEW_SPLIT: &str = "    let each = cents.div_euclid(shares);
    let left = cents.rem_euclid(shares);
    (0..shares).map(|share| each + i64::from(share < left)).collect()
";

const WHO: &str = "Who gets the odd cents when an amount does not divide?";
const FIRST: &str = "The first shares";
const LAST: &str = "The last shares";
const ACCOUNT: &str = "A rounding account";
const COVER: &str = "Which cases should the tests cover as well?";

const TESTS_PASS: &str = "\x1b[1m\x1b[32m   Compiling\x1b[0m ledger v0.3.1
\x1b[1m\x1b[32m    Finished\x1b[0m `test` profile [unoptimized + debuginfo] target(s) in 0.84s
\x1b[1m\x1b[32m     Running\x1b[0m unittests src/lib.rs

running 1 test
test money::tests::a_split_keeps_every_cent ... \x1b[32mok\x1b[0m

test result: \x1b[32mok\x1b[0m. 1 passed; 0 failed; 0 ignored; 0 measured; 11 filtered out; finished in 0.00s";

const DOC_TEST_PASSES: &str = "\x1b[1m\x1b[32m   Doc-tests\x1b[0m ledger

running 1 test
test src/money.rs - money::split (line 5) ... \x1b[32mok\x1b[0m

test result: \x1b[32mok\x1b[0m. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.31s";

/// Plays the tour. The user's answers change how it continues, and its last text.
pub fn play(turn: &mut PlayedTurn<'_>) -> Result<(), Cut> {
    let mut file = PretendFile::money();
    read_and_explain(turn, &mut file)?;
    let tested = run_tests(turn)?;
    let answers = ask(turn)?;
    let who = answer_to(&answers, WHO).unwrap_or(FIRST).to_owned();
    let parts = if who == LAST { "[33, 33, 34]" } else { "[34, 33, 33]" };
    if who == LAST {
        let input = file.edit_input("share < left", "share >= shares - left");
        let call = say_and_call(turn, "Then the test for who gets a cent more turns around.", "Edit", input)?;
        file.edit(turn, &call);
    }
    if tested {
        mend_documentation(turn, &mut file, parts)?;
    }
    say(turn, &summary(tested, &answers, &who, parts))
}

fn read_and_explain(turn: &mut PlayedTurn<'_>, file: &mut PretendFile) -> Result<(), Cut> {
    let pace = turn.pace();
    turn.open_message()?;
    turn.thinking(&words(THINKING.trim_end(), 3), pace)?;
    turn.text(&words("I start with the only place that divides an amount.", 3), pace)?;
    let call = turn.tool_use("Read", file.read_input(), pace)?;
    turn.close_message("tool_use");
    turn.agent.pause(turn.agent.environment.paced(300))?;
    file.read(turn, &call);

    let call = say_and_call(turn, EXPLANATION.trim_end(), "Edit", file.edit_input(OLD_SPLIT, NEW_SPLIT))?;
    turn.agent.pause(turn.agent.environment.paced(300))?;
    file.edit(turn, &call);
    Ok(())
}

/// The command that asks for permission; returns whether it ran.
fn run_tests(turn: &mut PlayedTurn<'_>) -> Result<bool, Cut> {
    let input = json!({"command": "cargo test money", "description": "Run the tests of src/money.rs"});
    let call = say_and_call(turn, "Now the tests. I need your permission to run a command.", "Bash", input)?;
    asked_command(turn, &call, TESTS_PASS)
}

/// The questions; `None` if they were skipped.
fn ask(turn: &mut PlayedTurn<'_>) -> Result<Option<Value>, Cut> {
    let option = |label: &str, description: &str| json!({"label": label, "description": description});
    let questions = json!({"questions": [
        {
            "question": WHO,
            "header": "Odd cents",
            "options": [
                option(FIRST, "Simple and always the same: 34, 33, 33. Done already."),
                option(LAST, "As with instalments, where the last one settles the account: 33, 33, 34."),
                option(ACCOUNT, "The shares stay equal, and what is left is booked where it can be seen."),
            ],
            "multiSelect": false,
        },
        {
            "question": COVER,
            "header": "Tests",
            "options": [
                option("Negative amounts", "Refunds and corrections"),
                option("Zero shares", "Today that panics"),
                option("Very large amounts", "Close to what 64 bits can hold"),
            ],
            "multiSelect": true,
        },
    ]});
    let text = "The arithmetic is settled; two things are yours to decide.";
    let call = say_and_call(turn, text, "AskUserQuestion", questions)?;
    settle_questions(turn, &call)
}

/// The command that fails, because an example in the documentation shows the old result, and the fix.
fn mend_documentation(turn: &mut PlayedTurn<'_>, file: &mut PretendFile, parts: &str) -> Result<(), Cut> {
    let input =
        json!({"command": "cargo test --doc", "description": "Run the examples in the documentation"});
    let call =
        say_and_call(turn, "The examples in the documentation are tests as well.", "Bash", input.clone())?;
    let failure = format!(
        "Exit code 101
running 1 test
test src/money.rs - money::split (line 5) ... FAILED

---- src/money.rs - money::split (line 5) stdout ----
assertion `left == right` failed
  left: {parts}
 right: [33, 33, 33]

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out"
    );
    command(turn, &call, Err(&failure))?;

    let text =
        "The example had **written the bug down** as the right answer: 33 + 33 + 33 is 99. I correct it.";
    let call = say_and_call(turn, text, "Edit", file.edit_input("[33, 33, 33]", parts))?;
    file.edit(turn, &call);
    let call = say_and_call(turn, "", "Bash", input)?;
    command(turn, &call, Ok(DOC_TEST_PASSES))
}

fn answer_to<'a>(answers: &'a Option<Value>, question: &str) -> Option<&'a str> {
    answers.as_ref()?.get(question)?.as_str()
}

fn summary(tested: bool, answers: &Option<Value>, who: &str, parts: &str) -> String {
    let decided = match (answer_to(answers, WHO), who) {
        (None, _) => {
            "You left the question open, so the odd cents go to **the first shares**, as is usual.".into()
        }
        (_, FIRST) => "The odd cents go to **the first shares**, as you chose.".to_owned(),
        (_, LAST) => "The odd cents go to **the last shares**, as you chose.".to_owned(),
        (_, ACCOUNT) => {
            "You want them in **a rounding account**: that needs a place in the ledger's chart first, so \
                         until then the first shares get them."
                .into()
        }
        (_, own) => {
            format!("Your own answer was “{own}”; until that is worked out, the first shares get them.")
        }
    };
    let cover = answer_to(answers, COVER)
        .map(|cases| format!("\n- Still to do, as you asked: tests for *{}*.", cases.to_lowercase()))
        .unwrap_or_default();
    let tests = if tested {
        "Its tests pass, and so does the example in the documentation, which had the bug written down."
    } else {
        "**Nothing has been run**, since you said no: run `cargo test money` yourself before you trust it."
    };
    format!(
        "### Done: no cent is lost any more

- `split(100, 3)` in `src/money.rs` is now `{parts}`, which is 100 again.
- {decided}
- {tests}{cover}

*This was a demonstration: no file was changed and no command was run. Write `permission`, `plan`, `edit`, `todo`, \
         `question`, `long` or `error` to see more.*"
    )
}
