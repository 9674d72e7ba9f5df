//! Test scripts: a prompt whose first line is a directive is a script, one step per line, played in one turn.
//!
//! ```text
//! THINK which file is it? | It is src/money.rs.
//! TOOL Bash {"command": "touch a.txt"}
//! SAY done
//! ```
//!
//! In a text `\n` stands for a new line. Pauses are literal: `DESKBELL_DEMO_SPEED` does not change them.
//!
//! | Step | Effect |
//! |---|---|
//! | `SAY text` | a message of one text |
//! | `STREAM n text` | a message of `n` deltas, each the text |
//! | `SLOW ms n word` | a message of `n` deltas `word0 `, `word1 `…, `ms` apart |
//! | `THINK thought \| answer` | a message of a thought and a text |
//! | `TOOL Name {json}` | calls a tool, asking first unless mode or rule allows it; result `ok`, or the denial |
//! | `RUN ms Name {json}` | as `TOOL`, but the call takes that long |
//! | `ASK_TWICE` | two calls of Bash, both requests open at once; results as the answers come |
//! | `QUESTION` | calls AskUserQuestion, then says the answers as JSON |
//! | `PLAN` | calls ExitPlanMode with a short plan |
//! | `TASKS` | two TaskCreate, one TaskUpdate |
//! | `RETRY n` | half a message, `n` times `api_retry`, then the message from its start |
//! | `FAIL status kind` | ends the turn as an API error does, such as `FAIL 529 overloaded`; status 0 is none |
//! | `CRASH code` | exits at once |
//! | `KILL signal` | ends by a signal, by number or name (Unix) |
//! | `GARBAGE text` | a line on the standard output that is not JSON |
//! | `LINES file` | the lines of that file on the standard output, as they are |
//! | `PACE n file` | the same, `n` lines a second |
//! | `STDERR text` | a line on the standard error |
//! | `STDERR_FLOOD bytes` | this many bytes on the standard error |
//! | `LINE bytes` | one line of at least that length: an `assistant` text |
//! | `UNKNOWN_MESSAGE` | messages and a content block of types that do not exist |
//! | `UNKNOWN_CONTROL` | a control request of a subtype that does not exist, then says the reply |
//! | `WAIT` | waits until it is interrupted |
//! | `PAUSE ms` | waits that long |
//! | `UNTIL file` | waits until that file exists |
//! | `IGNORE_INTERRUPT`, `IGNORE_INTERRUPT silently` | acknowledges interrupts, or stays silent, and continues |
//! | `WITHDRAW`, `WITHDRAW ms` | asks permission and withdraws the request itself |
//! | `UNASKED text` | after this turn, begins one without a prompt, as after the end of a task |
//! | `MONITORED text` | the same, for an event of a monitor |
//! | `SCHEDULED source text` | the same, for a scheduled turn: `schedule_wakeup` or `loop_wakeup` |
//! | `CHILD seconds` | leaves a child in its own session that keeps the standard output open, says its pid (Unix) |
//! | `BUSY number` | leaves so many processes that never wait, each in its own session, until the agent ends (Unix) |
//! | `PID` | says the process id |
//! | `RECALL` | says the prompts before this one, those of an earlier run first, or `(nothing)` |
//! | `ENV NAME` | says an environment variable, or `(unset)` |
//! | `CWD`, `ARGS` | says the folder, the arguments as a JSON list |
//! | `CLEAR` | `conversation_reset`, and a new session from here on |
//! | `COMPACT` | summarizes the context |
//! | `MODE mode` | changes the permission mode |
//! | `RATE_LIMIT`, `RATE_LIMIT status` | a `rate_limit_event`, `allowed_warning` by default |
//!
//! `/clear`, `/compact`, `/cost` and `/rename title` are the commands of those names. Prompts that arrive while a
//! script runs are folded into it after the next tool result: their steps are added to its end.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::agent::{Hearing, Reason, Unasked};

/// One step of a script.
#[derive(Clone, Debug, PartialEq)]
pub enum ScriptStep {
    Say(String),
    Stream {
        count: usize,
        text: String,
    },
    Slow {
        pause: Duration,
        count: usize,
        word: String,
    },
    Think {
        thought: String,
        answer: String,
    },
    Tool {
        name: String,
        input: Value,
        takes: Duration,
    },
    AskTwice,
    Question,
    Plan,
    Tasks,
    Retry(u32),
    Fail {
        status: Option<u16>,
        kind: String,
    },
    Crash(i32),
    Kill(String),
    Garbage(String),
    Lines(PathBuf),
    Pace {
        per_second: u32,
        file: PathBuf,
    },
    Stderr(String),
    StderrFlood(usize),
    Line(usize),
    UnknownMessage,
    UnknownControl,
    Wait,
    Pause(Duration),
    Until(PathBuf),
    IgnoreInterrupt(Hearing),
    Withdraw(Duration),
    Unasked(Unasked),
    Child(u64),
    Busy(u64),
    Pid,
    Recall,
    Env(String),
    Cwd,
    Args,
    Clear,
    Compact,
    Cost,
    Rename(String),
    Mode(String),
    RateLimit(String),
    /// A line that is not a step; the agent says so.
    Unknown(String),
}

/// The steps of a prompt, or `None` if it is not a script.
pub fn parse(prompt: &str) -> Option<VecDeque<ScriptStep>> {
    let mut lines = prompt.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = step(lines.next()?)?;
    let rest = lines.map(|line| step(line).unwrap_or_else(|| ScriptStep::Unknown(line.to_owned())));
    Some(std::iter::once(first).chain(rest).collect())
}

fn step(line: &str) -> Option<ScriptStep> {
    let (word, rest) = split(line);
    let text = || rest.replace("\\n", "\n");
    let number = || rest.parse::<u64>().ok();
    Some(match word {
        "SAY" => ScriptStep::Say(text()),
        "STREAM" => {
            let (count, text) = split(rest);
            ScriptStep::Stream { count: count.parse().ok()?, text: text.replace("\\n", "\n") }
        }
        "SLOW" => {
            let (pause, rest) = split(rest);
            let (count, word) = split(rest);
            let pause = Duration::from_millis(pause.parse().ok()?);
            let word = if word.is_empty() { "w" } else { word };
            ScriptStep::Slow { pause, count: count.parse().ok()?, word: word.to_owned() }
        }
        "THINK" => {
            let (thought, answer) = rest.split_once('|').unwrap_or((rest, ""));
            ScriptStep::Think { thought: thought.trim().to_owned(), answer: answer.trim().to_owned() }
        }
        "TOOL" => tool(rest, Duration::ZERO)?,
        "RUN" => {
            let (takes, rest) = split(rest);
            tool(rest, Duration::from_millis(takes.parse().ok()?))?
        }
        "ASK_TWICE" => ScriptStep::AskTwice,
        "QUESTION" => ScriptStep::Question,
        "PLAN" => ScriptStep::Plan,
        "TASKS" => ScriptStep::Tasks,
        "RETRY" => ScriptStep::Retry(rest.parse().ok()?),
        "FAIL" => {
            let (status, kind) = split(rest);
            let status: u16 = status.parse().ok()?;
            let kind = if kind.is_empty() { "unknown" } else { kind };
            ScriptStep::Fail { status: Some(status).filter(|status| *status > 0), kind: kind.to_owned() }
        }
        "CRASH" => ScriptStep::Crash(rest.parse().ok()?),
        "KILL" => ScriptStep::Kill(rest.to_owned()),
        "GARBAGE" => ScriptStep::Garbage(rest.to_owned()),
        "LINES" => ScriptStep::Lines(rest.into()),
        "PACE" => {
            let (per_second, file) = split(rest);
            ScriptStep::Pace { per_second: per_second.parse().ok().filter(|n| *n > 0)?, file: file.into() }
        }
        "STDERR" => ScriptStep::Stderr(text()),
        "STDERR_FLOOD" => ScriptStep::StderrFlood(rest.parse().ok()?),
        "LINE" => ScriptStep::Line(rest.parse().ok()?),
        "UNKNOWN_MESSAGE" => ScriptStep::UnknownMessage,
        "UNKNOWN_CONTROL" => ScriptStep::UnknownControl,
        "WAIT" => ScriptStep::Wait,
        "PAUSE" => ScriptStep::Pause(Duration::from_millis(number()?)),
        "UNTIL" if !rest.is_empty() => ScriptStep::Until(rest.into()),
        "IGNORE_INTERRUPT" if rest == "silently" => ScriptStep::IgnoreInterrupt(Hearing::Deaf),
        "IGNORE_INTERRUPT" => ScriptStep::IgnoreInterrupt(Hearing::Stubborn),
        "WITHDRAW" => ScriptStep::Withdraw(Duration::from_millis(number().unwrap_or(200))),
        "UNASKED" => ScriptStep::Unasked(Unasked { text: text(), reason: Reason::TaskEnded }),
        "MONITORED" => ScriptStep::Unasked(Unasked { text: text(), reason: Reason::Monitor }),
        "SCHEDULED" => {
            let (source, text) = split(rest);
            let reason = Reason::Scheduled(source.to_owned());
            ScriptStep::Unasked(Unasked { text: text.to_owned(), reason })
        }
        "CHILD" => ScriptStep::Child(number()?),
        "BUSY" => ScriptStep::Busy(number()?),
        "PID" => ScriptStep::Pid,
        "RECALL" => ScriptStep::Recall,
        "ENV" => ScriptStep::Env(rest.to_owned()),
        "CWD" => ScriptStep::Cwd,
        "ARGS" => ScriptStep::Args,
        "CLEAR" | "/clear" => ScriptStep::Clear,
        "COMPACT" | "/compact" => ScriptStep::Compact,
        "/cost" => ScriptStep::Cost,
        "/rename" => ScriptStep::Rename(rest.to_owned()),
        "MODE" => ScriptStep::Mode(rest.to_owned()),
        "RATE_LIMIT" if rest.is_empty() => ScriptStep::RateLimit("allowed_warning".to_owned()),
        "RATE_LIMIT" => ScriptStep::RateLimit(rest.to_owned()),
        _ => return None,
    })
}

fn tool(rest: &str, takes: Duration) -> Option<ScriptStep> {
    let (name, input) = split(rest);
    let input = if input.is_empty() { "{}" } else { input };
    let input: Value = serde_json::from_str(input).ok()?;
    Some(ScriptStep::Tool { name: name.to_owned(), input: Some(input).filter(Value::is_object)?, takes })
}

fn split(text: &str) -> (&str, &str) {
    match text.split_once(char::is_whitespace) {
        Some((first, rest)) => (first, rest.trim_start()),
        None => (text, ""),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_plain_prompt_is_no_script() {
        assert_eq!(parse("Please SAY hello"), None);
        assert_eq!(parse("Say hello"), None);
        assert_eq!(parse(""), None);
        assert_eq!(parse("TOOL Bash {not json"), None);
    }

    #[test]
    fn steps_are_read_in_order() {
        let steps =
            parse("SAY one\\ntwo\n\nTOOL Bash {\"command\": \"ls\"}\nSLOW 5 3 tick\nnonsense\nWAIT").unwrap();
        assert_eq!(
            steps,
            [
                ScriptStep::Say("one\ntwo".into()),
                ScriptStep::Tool {
                    name: "Bash".into(),
                    input: json!({"command": "ls"}),
                    takes: Duration::ZERO
                },
                ScriptStep::Slow { pause: Duration::from_millis(5), count: 3, word: "tick".into() },
                ScriptStep::Unknown("nonsense".into()),
                ScriptStep::Wait,
            ]
        );
    }

    #[test]
    fn every_documented_step_is_known() {
        let documentation = include_str!("script.rs");
        let rows = documentation.lines().filter_map(|line| line.strip_prefix("//! | `"));
        let words = rows.filter_map(|row| row.split(['`', ' ', '|']).next()).filter(|word| *word != "Step");
        for word in words {
            let known =
                ["", " 1", " 1 1 x", " x"].iter().any(|rest| step(&format!("{word}{rest}")).is_some());
            assert!(known, "{word} is documented but not read");
        }
    }
}
