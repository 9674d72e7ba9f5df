//! Hooks in the transcript. A run that failed, decided something, has a message, was slow or printed while it ran has a
//! notice of its own. The other runs that printed something share one notice at the end of their turn, and a run that
//! succeeded without output is not shown.

use super::Transcript;
use super::notices::DETAIL_LIMIT;
use crate::agent::{HookDecision, HookEnd, HookOutcome, HookRun, HookStage};
use crate::api::*;
use std::collections::BTreeMap;

/// A hook that takes this long, in milliseconds, is shown.
const SLOW_MS: u64 = 5_000;

/// Maximum number of runs that are followed at a time. A turn has few.
const MOST_RUNNING: usize = 1_000;

/// Maximum number of hooks that the notice of quiet runs lists.
const MOST_QUIET: usize = 50;

/// Maximum number of names in the text of that notice.
const MOST_NAMES: usize = 5;

/// Maximum number of messages that the agent may repeat in its own words.
const MOST_REPEATED: usize = 16;

/// Maximum bytes of a hook's name, and of a message or reason in the text of a notice.
const NAME_LIMIT: usize = 200;
const MESSAGE_LIMIT: usize = 4 * 1024;

/// The exit code with which a hook blocks what it was asked about.
const BLOCKS: i64 = 2;

#[derive(Default)]
pub(super) struct Hooks {
    /// The runs that have not ended, by their ids.
    running: BTreeMap<String, Running>,
    /// Runs since the end of the last turn that only printed something, one entry for each hook.
    quiet: Vec<Quiet>,
    /// Bytes of their outputs.
    quiet_bytes: usize,
    /// Messages of hooks in the words with which the agent repeats them.
    repeated: Vec<String>,
}

struct Running {
    name: String,
    began_at: u64,
    /// It began in the current turn. The end of a run that an interrupt cut off may not be reported.
    is_of_turn: bool,
    /// Its notice, once it has printed something.
    notice: Option<ItemId>,
}

struct Quiet {
    name: String,
    n_runs: u32,
    output: String,
}

impl Hooks {
    /// What the agent does while a hook runs.
    pub(super) fn activity(&self) -> Option<String> {
        let of_turn = self.running.values().filter(|running| running.is_of_turn);
        let last = of_turn.max_by_key(|running| running.began_at)?;
        Some(format!("Running the hook {}", last.name))
    }

    /// Whether a notice has this text already, in other words: 2.1.329 repeats a hook's message as
    /// “PreToolUse:Bash says: …”.
    pub(super) fn is_shown(&mut self, text: &str) -> bool {
        let known = self.repeated.iter().position(|words| words == text);
        known.map(|place| self.repeated.remove(place)).is_some()
    }

    fn add_quiet(&mut self, name: String, output: &str) {
        let room = DETAIL_LIMIT.saturating_sub(self.quiet_bytes);
        let output = bounded(output, room);
        self.quiet_bytes += output.len();
        if let Some(known) = self.quiet.iter_mut().find(|known| known.name == name) {
            known.n_runs += 1;
            // A hook that prints the same each time is shown with it once.
            if !known.output.lines().eq(output.lines()) && !output.is_empty() {
                known.output = format!("{}\n{output}", known.output);
            }
        } else if self.quiet.len() < MOST_QUIET {
            self.quiet.push(Quiet { name, n_runs: 1, output: output.to_owned() });
        }
    }
}

fn bounded(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

/// The name of a hook with its event.
fn full_name(run: &HookRun) -> String {
    let name = if run.name.starts_with(&run.event) {
        run.name.clone()
    } else {
        format!("{} ({})", run.name, run.event)
    };
    bounded(&name, NAME_LIMIT).to_owned()
}

/// The agent itself reports a prompt that a hook blocked, with the prompt (2.1.197 and 2.1.329).
fn is_reported_elsewhere(run: &HookRun, end: &HookEnd) -> bool {
    let blocks = matches!(end.decision, Some(HookDecision::Blocked | HookDecision::Stopped))
        || (end.outcome == HookOutcome::Failed && end.exit_code == Some(BLOCKS));
    run.event == "UserPromptSubmit" && blocks && end.message.is_none()
}

/// The text about a run that has to be shown by itself.
fn words(name: &str, end: &HookEnd, ran_for: Option<u64>) -> Option<String> {
    let because = end.reason.as_deref().map(|reason| format!(": {}", bounded(reason, MESSAGE_LIMIT)));
    let because = because.unwrap_or_default();
    if let Some(message) = &end.message {
        return Some(format!("The hook {name} reports: {}", bounded(message, MESSAGE_LIMIT)));
    }
    let code = end.exit_code.map(|code| format!(" (exit code {code})")).unwrap_or_default();
    Some(match (end.outcome, end.decision) {
        (HookOutcome::Cancelled, _) => format!("The hook {name} was cancelled, or reached its time limit"),
        (HookOutcome::Failed, _) if end.exit_code == Some(BLOCKS) => {
            format!("The hook {name} reported a blocking error{code}")
        }
        (HookOutcome::Failed, _) => format!("The hook {name} failed{code}"),
        (_, Some(HookDecision::Denied)) => format!("The hook {name} denied the call{because}"),
        (_, Some(HookDecision::Asks)) => format!("The hook {name} requires your permission{because}"),
        (_, Some(HookDecision::ChangedInput)) => {
            format!("The hook {name} changed the input of the call{because}")
        }
        (_, Some(HookDecision::Blocked)) => format!("The hook {name} sent the agent back{because}"),
        (_, Some(HookDecision::Stopped)) => format!("The hook {name} stopped the agent{because}"),
        (_, None) => return ran_for.filter(|ms| *ms >= SLOW_MS).map(|ms| took(name, ms)),
    })
}

fn took(name: &str, ms: u64) -> String {
    format!("The hook {name} took {} s", ms / 1000)
}

fn level(end: &HookEnd) -> Level {
    let is_denied =
        matches!(end.decision, Some(HookDecision::Denied | HookDecision::Blocked | HookDecision::Stopped));
    if end.outcome != HookOutcome::Succeeded || is_denied { Level::Warning } else { Level::Info }
}

/// The output without the message with which it begins, if the text of the notice has all of that.
fn without_message<'a>(output: &'a str, end: &HookEnd) -> &'a str {
    let shown = end.message.as_deref().filter(|message| message.len() <= MESSAGE_LIMIT);
    let rest = shown.and_then(|message| output.strip_prefix(message.trim()));
    // A longer first line is not the message.
    rest.filter(|rest| rest.is_empty() || rest.starts_with('\n')).map_or(output, str::trim_start)
}

fn body(level: Level, text: String, output: &str) -> Body {
    let detail = Some(bounded(output, DETAIL_LIMIT).to_owned()).filter(|detail| !detail.is_empty());
    Body::Notice { level, text, detail, until_at: None }
}

impl Transcript {
    pub(super) fn hook(&mut self, now: u64, run: HookRun) {
        let name = full_name(&run);
        match &run.stage {
            HookStage::Began if self.hooks.running.len() < MOST_RUNNING => {
                let running = Running { name, began_at: now, is_of_turn: true, notice: None };
                self.hooks.running.insert(run.id, running);
            }
            HookStage::Began => {}
            HookStage::Printed => self.hook_printed(now, &name, &run),
            HookStage::Ended(end) => self.hook_ended(now, name, &run, end),
        }
    }

    /// Shows a hook that printed something while it runs: the agent reports that only if it takes a while.
    fn hook_printed(&mut self, now: u64, name: &str, run: &HookRun) {
        let Some(running) = self.hooks.running.get(&run.id) else { return };
        let known = running.notice.clone();
        let body = body(Level::Info, format!("The hook {name} is running"), &run.output);
        match known {
            Some(id) => self.replace(&id, body),
            None => {
                let id = self.notice_id();
                self.add(id.clone(), None, now, body);
                if let Some(running) = self.hooks.running.get_mut(&run.id) {
                    running.notice = Some(id);
                }
            }
        }
    }

    fn hook_ended(&mut self, now: u64, name: String, run: &HookRun, end: &HookEnd) {
        let running = self.hooks.running.remove(&run.id);
        let ran_for = running.as_ref().map(|running| now.saturating_sub(running.began_at));
        if let Some(message) = end.message.as_ref().filter(|_| self.hooks.repeated.len() < MOST_REPEATED) {
            self.hooks.repeated.push(format!("{} says: {message}", run.name));
        }
        let text = words(&name, end, ran_for).filter(|_| !is_reported_elsewhere(run, end));
        let output = without_message(&run.output, end);
        let notice = running.and_then(|running| running.notice);
        match (text, notice) {
            (text, Some(id)) => {
                let text = text.unwrap_or_else(|| took(&name, ran_for.unwrap_or_default()));
                self.replace(&id, body(level(end), text, output));
            }
            (Some(text), None) => {
                let id = self.notice_id();
                self.add(id, None, now, body(level(end), text, output));
            }
            (None, None) if run.output.is_empty() || is_reported_elsewhere(run, end) => {}
            (None, None) => self.hooks.add_quiet(name, &run.output),
        }
    }

    pub(super) fn hooks_of_turn_over(&mut self, now: u64) {
        self.hooks.running.values_mut().for_each(|running| running.is_of_turn = false);
        self.show_quiet_hooks(now);
    }

    /// Shows the quiet runs since the end of the last turn in one notice.
    fn show_quiet_hooks(&mut self, now: u64) {
        self.hooks.repeated.clear();
        self.hooks.quiet_bytes = 0;
        let quiet = std::mem::take(&mut self.hooks.quiet);
        let times = |n_runs: u32| if n_runs == 1 { String::new() } else { format!(" ({n_runs} times)") };
        let names = quiet.iter().take(MOST_NAMES).map(|hook| format!("{}{}", hook.name, times(hook.n_runs)));
        let mut names: Vec<String> = names.collect();
        if quiet.len() > MOST_NAMES {
            names.push(format!("{} more", quiet.len() - MOST_NAMES));
        }
        let detail = match &quiet[..] {
            [] => return,
            [hook] => hook.output.clone(),
            hooks => {
                let sections = hooks.iter().map(|hook| format!("{}:\n{}", hook.name, hook.output));
                sections.collect::<Vec<_>>().join("\n\n")
            }
        };
        let text = match &quiet[..] {
            [hook] => format!("The hook {} ran{}", hook.name, times(hook.n_runs)),
            _ => format!("Hooks ran: {}", names.join(", ")),
        };
        let id = self.notice_id();
        self.add(id, None, now, body(Level::Info, text, &detail));
    }

    /// The process ended: hooks that still ran have no end.
    pub(super) fn hooks_cut_off(&mut self, now: u64) {
        self.show_quiet_hooks(now);
        for running in std::mem::take(&mut self.hooks.running).into_values() {
            let Some(id) = running.notice else { continue };
            if let Some(Body::Notice { text, level, .. }) = self.body(&id) {
                *text = format!("The hook {} was cut off: the agent's process ended", running.name);
                *level = Level::Warning;
                self.touch(&id, super::changes::ChangeKind::Changed);
            }
        }
    }
}

#[cfg(test)]
mod tests;
