//! The directives in a prompt: the actions of the “model”, one line for each request of the turn.
//!
//! | Line | Reply |
//! |---|---|
//! | `SAY text` | the text |
//! | `THINK thought \| answer` | a thinking block, then the answer |
//! | `BASH command`, `READ path`, `WRITE path content`, `EDIT path old => new` | a call of that tool |
//! | `TOOL Name argument` | a call of any tool; its argument is JSON, or the text of its main parameter |
//! | `TOOLS [{"name":…,"input":…},…]` | several calls in one reply |
//! | `TALK text \| line` | the text, then the action of the line after the bar, in one reply |
//! | `QUESTION text \| option \| option…` | a call of `AskUserQuestion`; everything has a default |
//! | `PLAN` | a call of `ExitPlanMode` |
//! | `STREAM n ms word` | `n` deltas `word1 `, `word2 `, …, a pause before each |
//! | `BIG n` | a text of `n` bytes |
//! | `RECALL` | all earlier prompts that came with the request |
//! | `HEARD` | the newest tool result that came with the request |
//! | `REFUSE`, `MAXTOKENS text` | a reply with that reason to stop; `REFUSE category` names what the safeguards flagged |
//! | `HANG text` | the text, then nothing while the connection is open; without a text not even a reply |
//! | `DROP text` | the text, then the connection breaks |
//! | `STREAMERR kind text` | the text, then an error event; if retried without streaming, the text |
//! | `FAIL status kind \| message` | an HTTP error; `no-retry` after the kind adds the header that forbids a retry |
//! | `LIMIT status` | no reply of its own: the next line's reply has this rate limit state; it resets in three hours |
//! | `GATE name` | no reply of its own: the next line waits until the test opens the gate |
//! | `TIMES n line` | no reply of its own: only the first `n` tries of the next line are answered by this one |
//!
//! `\n` in a text is a line break. A prompt that does not begin with a directive is returned: `echo: …`. A turn that
//! continues after its last line is answered with `SAY done`.

use std::time::Duration;

use serde_json::{Value, json};

/// The action for one request.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    Reply(Reply),
    /// The same, built from the request itself.
    Recall,
    Heard,
    Fail {
        status: u16,
        kind: String,
        message: String,
        retry: bool,
    },
    /// No reply; the connection stays open.
    Silence,
    /// No reply; the connection breaks.
    HangUp,
}

/// A message of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    pub blocks: Vec<Block>,
    pub ending: Ending,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    Text(String),
    /// A text of `n` words, with a pause before each.
    Stream {
        n: u32,
        pause: Duration,
        word: String,
    },
    Thinking(String),
    ToolUse {
        name: String,
        input: Value,
    },
}

/// How a reply ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// With this reason to stop.
    Stop(&'static str),
    /// With a refusal of this category.
    Refused(String),
    Hang,
    Drop,
    Error(String),
}

/// One step of a turn: the gate to pass first, then the action.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    pub obstacles: Vec<Obstacle>,
    /// `None`: the script ended before.
    pub act: Option<Act>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Obstacle {
    TrustGate(String),
    /// The state of the rate limit: `allowed`, `allowed_warning` or `rejected`.
    Limit(String),
    /// The first `n` tries get this instead.
    Times {
        n: u32,
        act: Act,
    },
}

impl Step {
    /// The action for the `try_idx`-th request of this step.
    pub fn act(&self, mut try_idx: u32) -> Act {
        for obstacle in &self.obstacles {
            if let Obstacle::Times { n, act } = obstacle {
                if try_idx < *n {
                    return act.clone();
                }
                try_idx -= n;
            }
        }
        self.act.clone().unwrap_or_else(|| Act::say("done"))
    }

    pub fn gates(&self) -> impl Iterator<Item = &str> {
        self.obstacles.iter().filter_map(|obstacle| match obstacle {
            Obstacle::TrustGate(name) => Some(name.as_str()),
            Obstacle::Limit(_) | Obstacle::Times { .. } => None,
        })
    }

    pub fn limit(&self) -> Option<&str> {
        self.obstacles.iter().find_map(|obstacle| match obstacle {
            Obstacle::Limit(status) => Some(status.as_str()),
            Obstacle::TrustGate(_) | Obstacle::Times { .. } => None,
        })
    }
}

/// Step number `step_idx` of the script in `prompt`.
pub fn step(prompt: &str, step_idx: usize) -> Step {
    let mut steps = vec![Step::default()];
    let is_script = prompt.lines().next().is_some_and(|line| line_of_script(line.trim()).is_some());
    if !is_script {
        return Step { obstacles: Vec::new(), act: (step_idx == 0).then(|| echo(prompt)) };
    }
    for line in prompt.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let step = steps.last_mut().expect("there is always a step to add to");
        match line_of_script(line) {
            Some(Line::Obstacle(obstacle)) => step.obstacles.push(obstacle),
            Some(Line::Act(act)) => {
                step.act = Some(act);
                steps.push(Step::default());
            }
            None => {
                step.act = Some(echo(line));
                steps.push(Step::default());
            }
        }
    }
    steps.into_iter().nth(step_idx).unwrap_or_default()
}

enum Line {
    Act(Act),
    Obstacle(Obstacle),
}

/// `None` if the line is not a directive.
fn line_of_script(line: &str) -> Option<Line> {
    let (word, rest) = first_word(line);
    let obstacle = match word {
        "GATE" => Obstacle::TrustGate(rest.to_owned()),
        "LIMIT" => Obstacle::Limit(rest.to_owned()),
        "TIMES" => {
            let (n, line) = first_word(rest);
            Obstacle::Times { n: n.parse().ok()?, act: act(line)? }
        }
        _ => return act(line).map(Line::Act),
    };
    Some(Line::Obstacle(obstacle))
}

fn act(line: &str) -> Option<Act> {
    let (word, rest) = first_word(line);
    let act = match word {
        "SAY" => Act::say(&unescaped(rest)),
        "THINK" => {
            let (thought, answer) = rest.split_once('|').unwrap_or((rest, ""));
            Act::reply([Block::Thinking(unescaped(thought.trim())), Block::Text(unescaped(answer.trim()))])
        }
        "BASH" => Act::tool("Bash", json!({"command": rest, "description": "as the script says"})),
        "READ" => Act::tool("Read", json!({"file_path": rest})),
        "WRITE" => {
            let (path, content) = first_word(rest);
            Act::tool("Write", json!({"file_path": path, "content": unescaped(content)}))
        }
        "EDIT" => {
            let (path, change) = first_word(rest);
            let (old, new) = change.split_once(" => ")?;
            let (old, new) = (unescaped(old), unescaped(new));
            Act::tool("Edit", json!({"file_path": path, "old_string": old, "new_string": new}))
        }
        "TOOL" => {
            let (name, argument) = first_word(rest);
            Act::tool(name, tool_input(name, argument))
        }
        "TOOLS" => Act::reply(serde_json::from_str::<Vec<Value>>(rest).ok()?.into_iter().map(|call| {
            let name = call["name"].as_str().unwrap_or_default().to_owned();
            Block::ToolUse { name, input: call["input"].clone() }
        })),
        "TALK" => {
            let (text, line) = rest.split_once('|')?;
            let Some(Act::Reply(Reply { mut blocks, ending })) = act(line.trim()) else { return None };
            blocks.insert(0, Block::Text(unescaped(text.trim())));
            Act::Reply(Reply { blocks, ending })
        }
        "QUESTION" => Act::tool("AskUserQuestion", question(rest)),
        "PLAN" => Act::tool("ExitPlanMode", json!({})),
        "STREAM" => {
            let (n, rest) = first_word(rest);
            let (pause_ms, word) = first_word(rest);
            let pause = Duration::from_millis(pause_ms.parse().ok()?);
            Act::reply([Block::Stream { n: n.parse().ok()?, pause, word: word.to_owned() }])
        }
        "BIG" => Act::say(&"0123456789abcde ".repeat(rest.parse::<usize>().ok()?.div_ceil(16))),
        "RECALL" => Act::Recall,
        "HEARD" => Act::Heard,
        "REFUSE" if rest.is_empty() => Act::ending("I cannot help with that.", Ending::Stop("refusal")),
        "REFUSE" => Act::ending("I cannot help with that.", Ending::Refused(rest.to_owned())),
        "MAXTOKENS" => Act::ending(rest, Ending::Stop("max_tokens")),
        "HANG" if rest.is_empty() => Act::Silence,
        "HANG" => Act::ending(rest, Ending::Hang),
        "DROP" if rest.is_empty() => Act::HangUp,
        "DROP" => Act::ending(rest, Ending::Drop),
        "STREAMERR" => {
            let (kind, text) = first_word(rest);
            Act::ending(text, Ending::Error(kind.to_owned()))
        }
        "FAIL" => fail(rest)?,
        _ => return None,
    };
    Some(act)
}

impl Act {
    pub fn say(text: &str) -> Self {
        Self::ending(text, Ending::Stop("end_turn"))
    }

    fn ending(text: &str, ending: Ending) -> Self {
        Self::Reply(Reply { blocks: vec![Block::Text(unescaped(text))], ending })
    }

    fn tool(name: &str, input: Value) -> Self {
        Self::reply([Block::ToolUse { name: name.to_owned(), input }])
    }

    fn reply(blocks: impl IntoIterator<Item = Block>) -> Self {
        let blocks = Vec::from_iter(blocks);
        let calls = blocks.iter().any(|block| matches!(block, Block::ToolUse { .. }));
        let ending = Ending::Stop(if calls { "tool_use" } else { "end_turn" });
        Self::Reply(Reply { blocks, ending })
    }
}

fn echo(text: &str) -> Act {
    Act::Reply(Reply { blocks: vec![Block::Text(format!("echo: {text}"))], ending: Ending::Stop("end_turn") })
}

fn tool_input(name: &str, argument: &str) -> Value {
    if let Ok(input @ Value::Object(_)) = serde_json::from_str(argument) {
        return input;
    }
    let parameter = match name {
        "Bash" => "command",
        "Read" | "Write" | "Edit" => "file_path",
        "Glob" | "Grep" => "pattern",
        "WebFetch" => "url",
        "WebSearch" => "query",
        _ if argument.is_empty() => return json!({}),
        _ => "input",
    };
    json!({ parameter: argument })
}

fn question(text: &str) -> Value {
    let mut parts = text.split('|').map(str::trim).filter(|part| !part.is_empty());
    let question = parts.next().unwrap_or("Which colour?");
    let mut labels: Vec<&str> = parts.collect();
    if labels.is_empty() {
        labels = vec!["Red", "Green"];
    }
    let options: Vec<Value> = labels
        .into_iter()
        .map(|label| json!({"label": label, "description": format!("The choice {label}")}))
        .collect();
    json!({"questions": [{"question": question, "header": "Choice", "options": options, "multiSelect": false}]})
}

fn fail(rest: &str) -> Option<Act> {
    let (status, rest) = first_word(rest);
    let status = status.parse().ok()?;
    let (rest, message) = rest.split_once('|').unwrap_or((rest, "the script said so"));
    let mut kind = None;
    let mut retry = true;
    for word in rest.split_whitespace() {
        if word == "no-retry" {
            retry = false;
        } else {
            kind = Some(word);
        }
    }
    let usual = match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    let (kind, message) = (kind.unwrap_or(usual).to_owned(), message.trim().to_owned());
    Some(Act::Fail { status, kind, message, retry })
}

fn first_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    (word, rest.trim_start())
}

fn unescaped(text: &str) -> String {
    text.replace("\\n", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_a_step() {
        let prompt = "WRITE /p/a.txt hello file\nSAY all\\nwell";
        let write = json!({"file_path": "/p/a.txt", "content": "hello file"});
        assert_eq!(step(prompt, 0).act(0), Act::tool("Write", write));
        assert_eq!(step(prompt, 1).act(0), Act::say("all\nwell"));
        assert_eq!(step(prompt, 2).act(0), Act::say("done"));
    }

    #[test]
    fn obstacles_belong_to_the_line_behind_them() {
        let prompt = "BASH ls\nGATE open\nTIMES 2 FAIL 529\nTIMES 1 DROP\nSAY made it";
        let step = step(prompt, 1);
        assert_eq!(step.gates().collect::<Vec<_>>(), ["open"]);
        let overloaded = failure(529, "overloaded_error", "the script said so", true);
        let acts: Vec<Act> = (0..4).map(|try_idx| step.act(try_idx)).collect();
        assert_eq!(acts, [overloaded.clone(), overloaded, Act::HangUp, Act::say("made it")]);
    }

    #[test]
    fn plain_text_is_said_back_whole() {
        assert_eq!(step("What is SAY?\nSAY it", 0).act(0), Act::say("echo: What is SAY?\nSAY it"));
    }

    #[test]
    fn a_tools_argument_is_json_or_its_main_parameter() {
        let bash = |argument| step(argument, 0).act(0);
        assert_eq!(bash("TOOL Bash echo hi"), Act::tool("Bash", json!({"command": "echo hi"})));
        assert_eq!(bash("TOOL Bash {\"command\":\"ls\"}"), Act::tool("Bash", json!({"command": "ls"})));
    }

    #[test]
    fn a_failure_has_the_usual_kind_of_its_status() {
        let expected = failure(429, "rate_limit_error", "the script said so", false);
        assert_eq!(step("FAIL 429 no-retry", 0).act(0), expected);
        let expected = failure(400, "invalid_request_error", "too long", true);
        assert_eq!(step("FAIL 400 | too long", 0).act(0), expected);
    }

    #[test]
    fn a_limit_goes_with_the_line_behind_it() {
        let step = step("LIMIT rejected\nFAIL 429", 0);
        assert_eq!(step.limit(), Some("rejected"));
        assert_eq!(step.act(0), failure(429, "rate_limit_error", "the script said so", true));
    }

    fn failure(status: u16, kind: &str, message: &str, retry: bool) -> Act {
        Act::Fail { status, kind: kind.into(), message: message.into(), retry }
    }
}
