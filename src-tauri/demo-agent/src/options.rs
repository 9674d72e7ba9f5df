//! The command line: the flags of the real CLI that a host passes, in both their forms (`--flag=value`, `--flag
//! value`).
//!
//! A flag that this agent does not use is accepted and ignored: it must not fail where the real CLI would work.

use uuid::Uuid;

use crate::catalogue;

/// The action that the command line selects.
pub enum Invocation {
    Run(Box<RunOptions>),
    Version,
    /// The reason is printed on the standard error, and nothing on the standard output, as the real CLI does.
    Refused(String),
}

/// The options of a run.
pub struct RunOptions {
    /// The arguments as received, for a script's `ARGS`.
    pub args: Vec<String>,
    /// Whether to send `stream_event`s.
    pub partials: bool,
    /// Whether prompts are echoed with `isReplay`.
    pub replay: bool,
    /// Whether permission can be requested on the standard streams; if not, it is denied without a request.
    pub can_ask: bool,
    pub bypass_allowed: bool,
    pub persist: bool,
    pub resume: Option<String>,
    pub resume_latest: bool,
    pub fork: bool,
    pub session_id: Option<String>,
    pub model: String,
    pub mode: String,
    pub title: Option<String>,
    pub allowed_tools: Vec<String>,
    pub max_turns: Option<u32>,
}

/// The flags that take a value, except those whose value [`parse`] uses.
const OTHER_VALUES: &[&str] = &[
    "add-dir",
    "agents",
    "append-system-prompt",
    "append-system-prompt-file",
    "betas",
    "disallowedTools",
    "fallback-model",
    "max-budget-usd",
    "max-thinking-tokens",
    "mcp-config",
    "permission-prompts",
    "setting-sources",
    "settings",
    "system-prompt",
    "system-prompt-file",
    "tools",
];

/// Parses the arguments after the program's name.
pub fn parse(args: Vec<String>) -> Invocation {
    let mut options = RunOptions {
        args: args.clone(),
        partials: false,
        replay: false,
        can_ask: false,
        bypass_allowed: false,
        persist: true,
        resume: None,
        resume_latest: false,
        fork: false,
        session_id: None,
        model: catalogue::DEFAULT_MODEL.into(),
        mode: "default".into(),
        title: None,
        allowed_tools: Vec::new(),
        max_turns: None,
    };
    let (mut stream_out, mut stream_in, mut verbose) = (false, false, false);
    let mut args = args.into_iter().peekable();
    while let Some(arg) = args.next() {
        let Some(flag) = arg.strip_prefix("--") else {
            match arg.as_str() {
                "-v" => return Invocation::Version,
                "-c" => options.resume_latest = true,
                "-r" => options.resume = args.next_if(|next| !next.starts_with('-')),
                "-n" => options.title = args.next(),
                _ => {}
            }
            continue;
        };
        let (name, inline) = match flag.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (flag.to_owned(), None),
        };
        let mut value =
            || inline.clone().or_else(|| args.next_if(|next| !next.starts_with('-'))).unwrap_or_default();
        match name.as_str() {
            "version" => return Invocation::Version,
            "verbose" => verbose = true,
            "include-partial-messages" => options.partials = true,
            "replay-user-messages" => options.replay = true,
            "no-session-persistence" => options.persist = false,
            "continue" => options.resume_latest = true,
            "fork-session" => options.fork = true,
            "dangerously-skip-permissions" => {
                options.bypass_allowed = true;
                options.mode = "bypassPermissions".into();
            }
            "allow-dangerously-skip-permissions" => options.bypass_allowed = true,
            "output-format" => stream_out = value() == "stream-json",
            "input-format" => stream_in = value() == "stream-json",
            "permission-prompt-tool" => options.can_ask = value() == "stdio",
            "resume" => options.resume = Some(value()),
            "session-id" => {
                let id = value();
                if Uuid::parse_str(&id).is_err() {
                    return Invocation::Refused("Error: Invalid session ID. Must be a valid UUID.".into());
                }
                options.session_id = Some(id);
            }
            "model" => {
                options.model = catalogue::resolve_model(&value()).unwrap_or(catalogue::DEFAULT_MODEL).into()
            }
            "permission-mode" => match value().as_str() {
                "manual" => options.mode = "default".into(),
                mode if catalogue::MODES.contains(&mode) => options.mode = mode.into(),
                mode => {
                    return Invocation::Refused(format!(
                        "error: option '--permission-mode <mode>' argument '{mode}' is invalid. Allowed choices are \
                         acceptEdits, auto, bypassPermissions, manual, dontAsk, plan."
                    ));
                }
            },
            "name" => options.title = Some(value()),
            "allowedTools" | "allowed-tools" => {
                options.allowed_tools = value().split([',', ' ']).map(str::to_owned).collect();
            }
            "max-turns" => options.max_turns = value().parse().ok(),
            name if OTHER_VALUES.contains(&name) => drop(value()),
            _ => {}
        }
    }
    if stream_in && !stream_out {
        return Invocation::Refused(
            "Error: --input-format=stream-json requires output-format=stream-json.".into(),
        );
    }
    if stream_out && !verbose {
        return Invocation::Refused(
            "Error: When using --print, --output-format=stream-json requires --verbose".into(),
        );
    }
    if !(stream_in && stream_out) {
        return Invocation::Refused(
            "This demonstration agent is driven by Deskbell over stream-json: pass --input-format=stream-json \
             --output-format=stream-json --verbose."
                .into(),
        );
    }
    Invocation::Run(Box::new(options))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(args: &[&str]) -> RunOptions {
        let base = ["-p", "--input-format", "stream-json", "--output-format=stream-json", "--verbose"];
        match parse(base.iter().chain(args).map(|arg| (*arg).to_owned()).collect()) {
            Invocation::Run(options) => *options,
            Invocation::Version => panic!("version"),
            Invocation::Refused(reason) => panic!("{reason}"),
        }
    }

    #[test]
    fn both_forms_of_a_flag_are_understood() {
        let options =
            run(&["--resume=abc", "--model", "haiku", "--permission-prompt-tool=stdio", "--max-turns=3"]);
        assert_eq!(options.resume.as_deref(), Some("abc"));
        assert_eq!(options.model, "claude-haiku-5-5");
        assert!(options.can_ask);
        assert_eq!(options.max_turns, Some(3));
    }

    #[test]
    fn a_value_that_looks_like_a_flag_is_kept_when_it_is_inline() {
        let options =
            run(&["--append-system-prompt=--permission-mode=plan", "--made-up-flag", "--resume=-x"]);
        assert_eq!(options.mode, "default");
        assert_eq!(options.resume.as_deref(), Some("-x"));
    }

    #[test]
    fn what_the_real_cli_refuses_is_refused() {
        let refused = |args: &[&str]| {
            let parsed = parse(args.iter().map(|arg| (*arg).to_owned()).collect());
            matches!(parsed, Invocation::Refused(_))
        };
        assert!(refused(&["-p", "--input-format=stream-json", "--output-format=stream-json"]));
        assert!(refused(&["-p", "--input-format=stream-json"]));
        assert!(refused(&["--verbose", "--permission-mode=nonsense"]));
        assert!(refused(&["--session-id", "nonsense"]));
    }
}
