//! Options of a session as this agent's arguments, and what of them is refused.
//!
//! Nothing that turns off asking or trust is accepted: extra arguments are on a fixed list, and a variable is refused
//! that is known to be dangerous.

mod arguments;
mod rules;

use crate::api::{
    OptionField, OptionProblem, OptionServer, Rule, RuleEffect, RuleOrigin, SessionOptions, SystemPrompt,
};
use crate::trust::{self, Findings, Role, is_dangerous_variable};

/// Limits in bytes, if nothing else is said. All arguments together stay below what Windows accepts (32 KiB).
const MOST_SYSTEM_PROMPT: usize = 16 * 1024;
const MOST_FALLBACKS: usize = 8;
const MOST_FOLDERS: usize = 16;
const MOST_RULES: usize = 100;
const MOST_RULE: usize = 500;
const MOST_VARIABLES: usize = 50;
const MOST_VARIABLE: usize = 4096;
const MOST_ARGUMENTS: usize = 20;
/// Length of a folder's or a file's path.
const MOST_PATH: usize = 4096;
/// Length of all arguments together.
const MOST_TOTAL: usize = 24 * 1024;
/// Maximum size of a file with MCP servers.
pub const MOST_CONFIG: u64 = 256 * 1024;

const MAX_TURNS: std::ops::RangeInclusive<u32> = 1..=10_000;
const MAX_BUDGET_USD: std::ops::RangeInclusive<f64> = 0.01..=100_000.0;
const HIBERNATE_MINUTES: std::ops::RangeInclusive<u32> = 0..=10_080;

/// Collects problems or warnings.
struct Report(Vec<OptionProblem>);

impl Report {
    fn add(&mut self, field: OptionField, message: impl Into<String>) {
        self.0.push(OptionProblem { field, index: None, message: message.into() });
    }

    fn add_at(&mut self, field: OptionField, index: usize, message: impl Into<String>) {
        let index = u32::try_from(index).ok();
        self.0.push(OptionProblem { field, index, message: message.into() });
    }

    fn count(&mut self, field: OptionField, count: usize, most: usize) {
        if count > most {
            self.add(field, format!("At most {most} entries are possible; these are {count}."));
        }
    }

    /// Checks each entry of a list.
    fn each(&mut self, field: OptionField, list: &[String], check: impl Fn(&str) -> Option<String>) {
        for (nr, entry) in list.iter().enumerate() {
            if let Some(problem) = check(entry) {
                self.add_at(field, nr, problem);
            } else if list[..nr].contains(entry) {
                self.add_at(field, nr, "This entry is in the list already.");
            }
        }
    }
}

/// The reasons why these options are refused, as far as no disk is needed to know them.
pub fn problems(options: &SessionOptions) -> Vec<OptionProblem> {
    use OptionField::*;
    let mut report = Report(Vec::new());
    if let Some(problem) = options.model.as_deref().and_then(bad_model) {
        report.add(Model, problem);
    }
    report.count(FallbackModels, options.fallback_models.len(), MOST_FALLBACKS);
    // The agent separates them by commas.
    report.each(FallbackModels, &options.fallback_models, |name| match bad_model(name) {
        Some(problem) => Some(problem.to_owned()),
        None => name.contains(',').then(|| "Enter each model as an entry of its own.".to_owned()),
    });
    if let Some(effort) = &options.effort
        && (effort.is_empty() || effort.len() > 40 || !effort.bytes().all(|byte| byte.is_ascii_lowercase()))
    {
        report.add(Effort, "An effort level is one word in lower case, such as low, medium or high.");
    }
    if let Some(prompt) = &options.system_prompt {
        report.0.extend(bad_system_prompt(prompt));
    }
    if options.max_turns.is_some_and(|turns| !MAX_TURNS.contains(&turns)) {
        report.add(MaxTurns, "Enter a whole number from 1 to 10,000.");
    }
    if options.max_budget_usd.is_some_and(|budget| !MAX_BUDGET_USD.contains(&budget)) {
        report.add(MaxBudgetUsd, "Enter an amount from 0.01 to 100,000 US dollars.");
    }
    report.count(Folders, options.folders.len(), MOST_FOLDERS);
    report.each(Folders, &options.folders, bad_path);
    report.count(AllowedTools, options.allowed_tools.len(), MOST_RULES);
    report.each(AllowedTools, &options.allowed_tools, |rule| {
        rules::problem(rule).or_else(|| rules::allows_asking(rule))
    });
    report.count(DisallowedTools, options.disallowed_tools.len(), MOST_RULES);
    report.each(DisallowedTools, &options.disallowed_tools, rules::problem);
    if rules::deny_asking(&options.disallowed_tools) {
        let names = crate::wire::init::ASKING.join(" and ");
        report.add(
            DisallowedTools,
            format!(
                "Keep one of {names}: Deskbell sees from them that the agent can ask you for permission."
            ),
        );
    }
    if let Some(problem) = options.mcp_config.as_deref().and_then(bad_path) {
        report.add(McpConfig, problem);
    }
    variables(&mut report, options);
    report.count(Arguments, options.arguments.len(), MOST_ARGUMENTS);
    report.each(Arguments, &options.arguments, arguments::problem);
    if options.hibernate_minutes.is_some_and(|minutes| !HIBERNATE_MINUTES.contains(&minutes)) {
        report
            .add(HibernateMinutes, "Enter a whole number of minutes from 0 to 10,080 (a week). 0 is never.");
    }
    let n_bytes: usize = args(options).iter().map(String::len).sum();
    if report.0.is_empty() && n_bytes > MOST_TOTAL {
        let message = format!(
            "All arguments together have {n_bytes} bytes; {MOST_TOTAL} are possible. Shorten the lists."
        );
        report.add(Arguments, message);
    }
    report.0
}

/// What to know about accepted options.
pub fn warnings(options: &SessionOptions) -> Vec<OptionProblem> {
    let mut report = Report(Vec::new());
    for (nr, rule) in options.allowed_tools.iter().enumerate() {
        if let Some(words) = rules::breadth(rule) {
            report.add_at(OptionField::AllowedTools, nr, words);
        }
    }
    if options.system_prompt.as_ref().is_some_and(|prompt| prompt.replace) {
        report.add(
            OptionField::SystemPrompt,
            "It replaces all of Claude Code's own instructions to the model, also those about its tools.",
        );
    }
    report.0
}

/// The arguments that the options add, in a fixed order. Each value is joined to its flag: a separate one that begins
/// with a dash would be read as a flag. Measured with 2.1.197 and 2.1.329; both accept a list flag repeatedly.
pub fn args(options: &SessionOptions) -> Vec<String> {
    let mut args = Vec::new();
    if !options.fallback_models.is_empty() {
        args.push(format!("--fallback-model={}", options.fallback_models.join(",")));
    }
    if let Some(SystemPrompt { text, replace }) = &options.system_prompt {
        let flag = if *replace { "--system-prompt" } else { "--append-system-prompt" };
        args.push(format!("{flag}={text}"));
    }
    args.extend(options.max_turns.map(|turns| format!("--max-turns={turns}")));
    args.extend(options.max_budget_usd.map(|budget| format!("--max-budget-usd={budget}")));
    args.extend(options.folders.iter().map(|folder| format!("--add-dir={folder}")));
    args.extend(options.allowed_tools.iter().map(|rule| format!("--allowedTools={rule}")));
    args.extend(options.disallowed_tools.iter().map(|rule| format!("--disallowedTools={rule}")));
    args.extend(options.mcp_config.iter().map(|path| format!("--mcp-config={path}")));
    args.extend(options.arguments.iter().cloned());
    args
}

/// The rules of the options that allow without asking. An agent that does not list its rules (2.1.197) does not report
/// those of its arguments.
pub fn allow_rules(options: &SessionOptions) -> Vec<Rule> {
    let allow =
        |rule: &String| Rule { effect: RuleEffect::Allow, rule: rule.clone(), origin: RuleOrigin::Arguments };
    options.allowed_tools.iter().map(allow).collect()
}

/// The argument that a program does not know, from its error output.
pub fn unknown_argument(stderr: &str) -> Option<&str> {
    let line = stderr.lines().find_map(|line| line.split_once("unknown option '"))?.1;
    let argument = line.split('\'').next()?;
    argument.split('=').next()
}

/// The servers in the contents of an MCP config. `Err`: why the agent could not read it.
pub fn servers(bytes: &[u8]) -> Result<Vec<OptionServer>, String> {
    let document: serde_json::Value =
        serde_json::from_slice(bytes).map_err(|error| format!("The file is not valid JSON: {error}."))?;
    let Some(servers) = document.get("mcpServers").and_then(serde_json::Value::as_object) else {
        return Err("The file has no object “mcpServers”.".to_owned());
    };
    let mut found = Findings::new(String::new(), None);
    trust::judge(&mut found, bytes, &Role::Servers);
    if found.is_cut {
        return Err(format!("The file has too many servers: {}.", servers.len()));
    }
    let servers = found.list.into_iter().map(|finding| OptionServer {
        title: finding.title,
        name: finding.name,
        command: finding.text,
    });
    Ok(servers.collect())
}

/// Returns the reason why a model name is invalid, if it is. Only the agent knows which models exist.
pub fn bad_model(name: &str) -> Option<&'static str> {
    if name.trim().is_empty() {
        Some("Enter the name of a model.")
    } else if name.len() > 200 || name.chars().any(|c| c.is_control() || c.is_whitespace()) {
        Some("A model's name has no spaces or control characters, and at most 200 bytes.")
    } else {
        None
    }
}

fn bad_system_prompt(prompt: &SystemPrompt) -> Option<OptionProblem> {
    let text = &prompt.text;
    let message = if text.trim().is_empty() {
        "Enter a text, or choose none.".to_owned()
    } else if text.len() > MOST_SYSTEM_PROMPT {
        format!("The text has {} bytes; {MOST_SYSTEM_PROMPT} are possible.", text.len())
    } else if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t' | '\r')) {
        "The text has a control character. Remove it.".to_owned()
    } else {
        return None;
    };
    Some(OptionProblem { field: OptionField::SystemPrompt, index: None, message })
}

fn bad_path(path: &str) -> Option<String> {
    if path.is_empty() {
        Some("Enter an absolute path.".to_owned())
    } else if path.len() > MOST_PATH || path.chars().any(char::is_control) {
        Some("A path has no control characters, and at most 4,096 bytes.".to_owned())
    } else if !std::path::Path::new(path).is_absolute() {
        Some("The path must be absolute.".to_owned())
    } else {
        None
    }
}

fn variables(report: &mut Report, options: &SessionOptions) {
    let field = OptionField::Environment;
    report.count(field, options.environment.len(), MOST_VARIABLES);
    for (nr, variable) in options.environment.iter().enumerate() {
        let name = variable.name.as_str();
        let is_name = |name: &str| {
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            (1..=100).contains(&name.len())
                && name.bytes().all(fits)
                && !name.starts_with(|first: char| first.is_ascii_digit())
        };
        let same = |other: &&crate::api::EnvironmentVariable| other.name.eq_ignore_ascii_case(name);
        let problem = if !is_name(name) {
            "A name has letters, digits and _, and does not begin with a digit.".to_owned()
        } else if name.to_ascii_uppercase().starts_with("DESKBELL_") {
            format!("{name} is Deskbell's own. Set it where Deskbell is started.")
        } else if is_dangerous_variable(name) {
            format!(
                "{name} can make programs run other code, send data elsewhere or change how the agent asks. If you \
                 need it, set it where Deskbell is started."
            )
        } else if options.environment[..nr].iter().any(|other| same(&other)) {
            format!("{name} is in the list already.")
        } else if variable.value.len() > MOST_VARIABLE {
            format!("The value has {} bytes; {MOST_VARIABLE} are possible.", variable.value.len())
        } else if variable.value.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
            "The value has a control character. Remove it.".to_owned()
        } else {
            continue;
        };
        report.add_at(field, nr, problem);
    }
}

#[cfg(test)]
mod tests;
