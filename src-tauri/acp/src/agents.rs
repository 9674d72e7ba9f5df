//! The agents that speak ACP, as data: a new one is a row. Every fact was measured with the real program unless its row
//! says that it was not run.

use crate::command::{AcpCommand, NewValue};
use crate::event::{AcpSession, OptionValue};
use crate::folder::{self, FolderSetup};
use crate::offline::{self, Offline};
use deskbell_api::AgentLacks;

/// One agent. Rows are constants; any other agent is a command of the user.
#[derive(Clone, Debug, PartialEq)]
pub struct AcpAgent {
    pub id: &'static str,
    pub name: &'static str,
    /// Names of its program.
    pub programs: &'static [&'static str],
    /// Arguments that make it speak ACP.
    pub arguments: &'static [&'static str],
    /// Its package on npm.
    pub package: Option<&'static str>,
    /// The first major version of Node that it works with. npm installs an old package silently on an older one.
    pub node: Option<u32>,
    pub environment: AgentVariables,
    pub asking: AskingHabit,
    /// Modes that the user can choose: those that are known to ask before a command runs, or to change nothing. One in
    /// which the agent or its model decides what to ask is none of them.
    pub modes: &'static [&'static str],
    pub command: CommandPlace,
    pub questions: Questions,
    /// It answers `session/load` before it has repeated the conversation.
    pub repeats_late: bool,
    /// What happens with a tool running; `None` where it was not measured.
    pub stopping: Option<Stopping>,
    pub restriction: Restriction,
    /// What it loads from the folder that it works in.
    pub folder: FolderSetup,
    /// The user's command for a login, its words separated by spaces. `None`: one that the agent reports, or its program
    /// without arguments, which begins with a login.
    pub login: Option<&'static str>,
    /// How it is sent to a model on loopback; `None` if that is not known.
    pub offline: Option<Offline>,
    pub reports: Reports,
    /// The tokens that it reports with the end of a turn are those of all turns of its process.
    pub sums_tokens: bool,
    pub proof: Proof,
}

/// Variables of the agent's process, in addition to the user's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentVariables {
    pub set: &'static [(&'static str, Variable)],
    pub strip: &'static [&'static str],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variable {
    Fixed(&'static str),
    /// A new random value for each process, which is stored nowhere.
    Random,
}

/// What makes the agent ask before it acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskingHabit {
    /// This mode. Set and checked before the first prompt.
    Mode(&'static str),
    /// This setting with this value. Set and checked before the first prompt.
    Setting(&'static str, &'static str),
    /// The user's own configuration of the agent; the protocol does not say what it is.
    Configured,
    /// Not known, which the window says.
    Unknown,
}

/// Whether a session asks.
#[derive(Clone, Debug, PartialEq)]
pub enum Asks {
    Yes,
    /// Not yet: this command makes it ask.
    After(AcpCommand),
    /// The agent does not offer what would make it ask.
    No,
    /// The protocol does not say.
    Unknown,
}

impl AskingHabit {
    /// Whether this session asks, from what the agent reports of it.
    pub fn of(self, session: &AcpSession) -> Asks {
        match self {
            Self::Mode(mode) if session.mode.as_deref() == Some(mode) => Asks::Yes,
            Self::Mode(mode) if session.modes.iter().any(|known| known.id == mode) => {
                Asks::After(AcpCommand::SetMode { id: mode.to_owned() })
            }
            Self::Mode(_) => Asks::No,
            Self::Setting(id, wanted) => {
                match session.options.iter().find(|option| option.id == id).map(|option| &option.value) {
                    Some(OptionValue::Choice { value, .. }) if value == wanted => Asks::Yes,
                    Some(OptionValue::Choice { choices, .. })
                        if choices.iter().any(|choice| choice.id == wanted) =>
                    {
                        let value = NewValue::Choice(wanted.to_owned());
                        Asks::After(AcpCommand::SetOption { id: id.to_owned(), value })
                    }
                    _ => Asks::No,
                }
            }
            Self::Configured | Self::Unknown => Asks::Unknown,
        }
    }
}

/// The place of the command that a request is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CommandPlace {
    /// `rawInput.command`: a text, or a list of words. A title is then the model's own description.
    #[default]
    Input,
    /// The title, because the agent sends no input.
    Title,
}

/// How the agent asks the user something that is no permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Questions {
    /// Forms of the protocol.
    Forms,
    /// Permission requests of this tool, with the questions in its input. The answers are sent beside the option.
    InRequests(&'static str),
    /// Text in the answer: the model has no tool for questions, or the agent refuses it in the modes that are offered.
    Text,
    /// Its tool for questions waits forever: it has to be off.
    Hang,
    Unknown,
}

/// What is left of the agent and its tool, 8 s after each way to stop it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopping {
    pub end_of_input: Left,
    pub terminate: Left,
    pub kill: Left,
    /// `session/cancel`: the agent stays.
    pub cancel: Left,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    pub agent: bool,
    pub tool: bool,
}

/// Nothing is left, the tool, the agent, or both.
const NONE: Left = Left { agent: false, tool: false };
const TOOL: Left = Left { agent: false, tool: true };
const AGENT: Left = Left { agent: true, tool: false };
const BOTH: Left = Left { agent: true, tool: true };

/// How the agent is kept from running what is in a folder that the user does not trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restriction {
    /// It runs nothing of such a folder by itself.
    ByItself,
    /// Nothing closes it: it starts only in a trusted folder. The reason is for the user.
    TrustedOnly(&'static str),
}

/// What the agent reports. A card says what is missing; nothing is invented.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reports {
    pub thinking: bool,
    /// The input of a call.
    pub input: bool,
    /// The output of a command.
    pub output: bool,
    pub exit_code: bool,
    pub diffs: bool,
    /// It asks for permission with an option that is valid for more than one call.
    pub always: bool,
    /// Tokens in the context.
    pub context: bool,
    /// Tokens of a turn.
    pub tokens: bool,
    pub cost: bool,
    pub title: bool,
}

/// How far a row was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The real program ran. The recordings are in `tests/recordings/acp`.
    Recorded { version: &'static str, recordings: &'static [&'static str] },
    /// It was never run here. Its row has what its documentation says, and everything else is not known.
    NotRun,
}

/// What no agent that speaks version 1 of the protocol offers, whatever its capabilities: the protocol has no word for it.
const OFFERED_BY_NONE: [&str; 4] =
    ["rewind", "forks", "editing a call before it runs", "reasons for a denial"];

impl AcpAgent {
    /// What it does not report or offer, in words for the user. Of an agent that never did a turn here, only what the
    /// protocol itself lacks is known.
    pub fn lacks(&self) -> AgentLacks {
        let Reports { input, output, exit_code, diffs, context, tokens, cost, always, .. } = self.reports;
        let is_known = self.reports != UNKNOWN.reports;
        let reported = [
            (input, "the input of its calls"),
            (output, "the output of commands"),
            (exit_code, "exit codes"),
            (diffs, "changes of files as diffs"),
            (context, "how full its context is"),
            (tokens, "tokens"),
            (cost, "cost"),
        ];
        let missing = reported.iter().filter(|(has, _)| is_known && !has);
        let always = (is_known && !always).then_some("“always allow”");
        let asks_in_text = matches!(self.questions, Questions::Text | Questions::Hang);
        let questions = asks_in_text.then_some("questions with answers to choose");
        AgentLacks {
            reports: missing.map(|(_, words)| (*words).to_owned()).collect(),
            offers: always.into_iter().chain(questions).chain(OFFERED_BY_NONE).map(str::to_owned).collect(),
        }
    }
}

impl AcpAgent {
    /// A command goes on when its turn is interrupted.
    pub fn leaves_commands(&self) -> bool {
        self.stopping.is_some_and(|stopping| stopping.cancel.tool)
    }
}

/// The row of an agent, or of the demo agent.
pub fn agent(id: &str) -> Option<&'static AcpAgent> {
    AGENTS.iter().chain([&DEMO]).find(|agent| agent.id == id)
}

/// The demo agent of Deskbell over this protocol. It is a part of the app, so it is not searched for, and it reads and
/// runs nothing in a folder.
pub const DEMO: AcpAgent = AcpAgent {
    id: "demo-acp",
    name: "Demo agent (ACP)",
    arguments: &["--acp"],
    // It starts in “auto”, so that the change of the mode is tried.
    asking: AskingHabit::Mode("default"),
    modes: &["default", "plan"],
    questions: Questions::Forms,
    restriction: Restriction::ByItself,
    folder: folder::NOTHING,
    reports: Reports {
        thinking: true,
        input: true,
        output: true,
        diffs: true,
        always: true,
        ..UNKNOWN.reports
    },
    ..UNKNOWN
};

/// An agent that has no row: nothing is assumed.
pub const UNKNOWN: AcpAgent = AcpAgent {
    id: "",
    name: "",
    programs: &[],
    arguments: &[],
    package: None,
    node: None,
    environment: AgentVariables { set: &[], strip: &[] },
    asking: AskingHabit::Unknown,
    modes: &[],
    command: CommandPlace::Input,
    questions: Questions::Unknown,
    repeats_late: false,
    stopping: None,
    restriction: Restriction::TrustedOnly("Deskbell does not know what this agent runs in a folder."),
    folder: folder::UNKNOWN,
    login: None,
    offline: None,
    reports: Reports {
        thinking: false,
        input: false,
        output: false,
        exit_code: false,
        diffs: false,
        always: false,
        context: false,
        tokens: false,
        cost: false,
        title: false,
    },
    sums_tokens: false,
    proof: Proof::NotRun,
};

/// Every agent that has a row. Claude Code has a wire of its own (`deskbell-claude`); its adapter is here to compare
/// the two.
pub const AGENTS: &[AcpAgent] = &[
    AcpAgent {
        id: "copilot",
        name: "Copilot CLI",
        programs: &["copilot"],
        arguments: &["--acp"],
        package: Some("@github/copilot"),
        node: Some(20),
        asking: AskingHabit::Setting("allow_all", "off"),
        modes: &[
            "https://agentclientprotocol.com/protocol/session-modes#agent",
            "https://agentclientprotocol.com/protocol/session-modes#plan",
        ],
        questions: Questions::Text,
        stopping: Some(Stopping { end_of_input: NONE, terminate: NONE, kill: TOOL, cancel: AGENT }),
        restriction: Restriction::TrustedOnly(
            "Copilot CLI runs the hooks of a folder, and nothing turns them off.",
        ),
        folder: folder::COPILOT,
        offline: Some(offline::COPILOT),
        login: Some("copilot login"),
        reports: Reports {
            input: true,
            output: true,
            exit_code: true,
            diffs: true,
            always: true,
            context: true,
            tokens: true,
            title: true,
            ..UNKNOWN.reports
        },
        sums_tokens: true,
        proof: Proof::Recorded { version: "1.0.102", recordings: &["copilot", "copilot-writes"] },
        ..UNKNOWN
    },
    AcpAgent {
        id: "codex",
        name: "Codex",
        programs: &["codex-acp"],
        package: Some("@agentclientprotocol/codex-acp"),
        node: Some(20),
        // It starts in “Auto review”, where a model decides instead of the user.
        asking: AskingHabit::Mode("workspace-write"),
        modes: &["workspace-write", "read-only"],
        // Its tool for questions is refused outside of its plan mode.
        questions: Questions::Text,
        stopping: Some(Stopping { end_of_input: NONE, terminate: NONE, kill: NONE, cancel: BOTH }),
        restriction: Restriction::TrustedOnly(
            "The adapter of Codex treats every folder as trusted, and starts the MCP servers in it.",
        ),
        folder: folder::CODEX,
        offline: Some(offline::CODEX),
        login: Some("codex login"),
        reports: Reports {
            input: true,
            output: true,
            exit_code: true,
            diffs: true,
            always: true,
            context: true,
            tokens: true,
            title: true,
            ..UNKNOWN.reports
        },
        proof: Proof::Recorded {
            version: "2.6.0 (codex 0.166.0)",
            recordings: &["codex-acp", "codex-acp-noterm", "codex-acp-question", "codex-acp-writes"],
        },
        ..UNKNOWN
    },
    AcpAgent {
        id: "codex-zed",
        name: "Codex (Zed's adapter)",
        programs: &["codex-acp"],
        package: Some("@zed-industries/codex-acp"),
        node: Some(20),
        asking: AskingHabit::Mode("auto"),
        modes: &["auto", "read-only"],
        restriction: Restriction::TrustedOnly(
            "Deskbell does not know what this adapter of Codex runs in a folder.",
        ),
        folder: folder::CODEX,
        login: Some("codex login"),
        reports: Reports { input: true, exit_code: true, always: true, context: true, ..UNKNOWN.reports },
        proof: Proof::Recorded { version: "0.16.0", recordings: &["codex-acp-zed"] },
        ..UNKNOWN
    },
    AcpAgent {
        id: "gemini",
        name: "Gemini CLI",
        programs: &["gemini"],
        arguments: &["--acp"],
        package: Some("@google/gemini-cli"),
        node: Some(20),
        asking: AskingHabit::Mode("default"),
        modes: &["default", "autoEdit", "plan"],
        command: CommandPlace::Title,
        questions: Questions::Text,
        repeats_late: true,
        stopping: Some(Stopping { end_of_input: BOTH, terminate: BOTH, kill: TOOL, cancel: AGENT }),
        restriction: Restriction::ByItself,
        folder: folder::GEMINI,
        offline: Some(offline::GEMINI),
        reports: Reports { diffs: true, always: true, ..UNKNOWN.reports },
        proof: Proof::Recorded {
            version: "0.61.0",
            recordings: &["gemini", "gemini-nofs", "gemini-load-1", "gemini-load"],
        },
        ..UNKNOWN
    },
    AcpAgent {
        id: "opencode",
        name: "opencode",
        programs: &["opencode"],
        arguments: &["acp"],
        package: Some("opencode-ai"),
        node: Some(20),
        // It opens an HTTP server with a shell among its routes. Without this variable it needs no password.
        environment: AgentVariables { set: &[("OPENCODE_SERVER_PASSWORD", Variable::Random)], strip: &[] },
        asking: AskingHabit::Configured,
        modes: &["build", "plan"],
        questions: Questions::Hang,
        stopping: Some(Stopping { end_of_input: NONE, terminate: TOOL, kill: TOOL, cancel: AGENT }),
        restriction: Restriction::TrustedOnly(
            "opencode runs the plugins and MCP servers of a folder, and a folder can send its key elsewhere.",
        ),
        folder: folder::OPENCODE,
        offline: Some(offline::OPENCODE),
        login: Some("opencode auth login"),
        reports: Reports {
            input: true,
            output: true,
            exit_code: true,
            diffs: true,
            always: true,
            context: true,
            tokens: true,
            cost: true,
            ..UNKNOWN.reports
        },
        proof: Proof::Recorded { version: "1.18.33", recordings: &["opencode", "opencode-question"] },
        ..UNKNOWN
    },
    AcpAgent {
        id: "qwen",
        name: "Qwen Code",
        programs: &["qwen"],
        arguments: &["--acp"],
        package: Some("@qwen-code/qwen-code"),
        node: Some(22),
        // It starts in “Auto”, which writes files without asking.
        asking: AskingHabit::Mode("default"),
        modes: &["default", "auto-edit", "plan"],
        questions: Questions::InRequests("ask_user_question"),
        // Also with `--safe-mode` (0.24.4): requests went to the proxy of a folder's .env file.
        restriction: Restriction::TrustedOnly(
            "Qwen Code reads the .env file of a folder, which can send its requests elsewhere.",
        ),
        folder: folder::QWEN,
        offline: Some(offline::QWEN),
        reports: Reports {
            input: true,
            output: true,
            exit_code: true,
            diffs: true,
            tokens: true,
            ..UNKNOWN.reports
        },
        proof: Proof::Recorded { version: "0.24.4", recordings: &["qwen"] },
        ..UNKNOWN
    },
    AcpAgent {
        id: "claude-acp",
        name: "Claude Code (ACP adapter)",
        programs: &["claude-agent-acp"],
        package: Some("@agentclientprotocol/claude-agent-acp"),
        node: Some(22),
        environment: AgentVariables { set: &[], strip: &["CLAUDECODE"] },
        asking: AskingHabit::Mode("default"),
        modes: &["default", "acceptEdits", "plan"],
        questions: Questions::Forms,
        restriction: Restriction::TrustedOnly("The adapter runs the hooks and MCP servers of a folder."),
        folder: folder::CLAUDE,
        offline: Some(offline::CLAUDE),
        login: Some("claude-agent-acp --cli auth login"),
        reports: Reports {
            input: true,
            output: true,
            diffs: true,
            always: true,
            context: true,
            tokens: true,
            cost: true,
            title: true,
            ..UNKNOWN.reports
        },
        proof: Proof::Recorded { version: "0.100.0", recordings: &["claude-acp", "claude-acp-question"] },
        ..UNKNOWN
    },
    AcpAgent {
        id: "auggie",
        name: "Auggie",
        programs: &["auggie"],
        arguments: &["--acp"],
        package: Some("@augmentcode/auggie"),
        node: Some(20),
        folder: folder::AUGGIE,
        login: Some("auggie login"),
        // Without an account it makes no session.
        proof: Proof::Recorded { version: "0.36.0", recordings: &["auggie"] },
        ..UNKNOWN
    },
    AcpAgent {
        id: "goose",
        name: "goose",
        programs: &["goose"],
        arguments: &["acp"],
        folder: folder::GOOSE,
        // As its documentation says, like that of the next rows.
        login: Some("goose configure"),
        ..UNKNOWN
    },
    AcpAgent {
        id: "cursor",
        name: "Cursor CLI",
        programs: &["cursor-agent"],
        arguments: &["acp"],
        folder: folder::CURSOR,
        login: Some("cursor-agent login"),
        ..UNKNOWN
    },
    AcpAgent {
        id: "kimi",
        name: "Kimi CLI",
        programs: &["kimi"],
        arguments: &["acp"],
        folder: folder::KIMI,
        ..UNKNOWN
    },
    AcpAgent {
        id: "vibe",
        name: "Mistral Vibe",
        programs: &["vibe-acp"],
        folder: folder::VIBE,
        login: Some("vibe --setup"),
        ..UNKNOWN
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{AcpChoice, ConfigOption};

    #[test]
    fn every_row_can_be_found_and_started() {
        for row in AGENTS {
            assert_eq!(agent(row.id), Some(row), "{}: the id occurs twice", row.id);
            assert!(!row.name.is_empty() && !row.programs.is_empty(), "{}", row.id);
        }
        assert_eq!(agent(DEMO.id), Some(&DEMO));
    }

    #[test]
    fn a_row_that_was_not_run_claims_nothing() {
        for row in AGENTS.iter().filter(|row| row.proof == Proof::NotRun) {
            let known = (row.reports, row.asking, row.questions, row.stopping, row.restriction);
            let nothing =
                (UNKNOWN.reports, UNKNOWN.asking, UNKNOWN.questions, UNKNOWN.stopping, UNKNOWN.restriction);
            assert_eq!(known, nothing, "{}", row.id);
        }
    }

    #[test]
    fn every_row_lists_what_it_loads_from_a_folder() {
        use crate::folder::{FolderCheck, FolderEffect};
        for row in AGENTS {
            let folder = row.folder;
            assert!(folder.files.iter().any(|file| file.effect == FolderEffect::Instructions), "{}", row.id);
            assert!(
                folder.claude || folder.files.iter().any(|file| file.effect == FolderEffect::Runs),
                "{}",
                row.id
            );
            for file in folder.files {
                let is_relative = file.path.split('/').all(|part| !["", ".", ".."].contains(&part));
                assert!(is_relative, "{}: {}", row.id, file.path);
            }
            let was_run = row.proof != Proof::NotRun;
            assert!(was_run || folder.checked == FolderCheck::Documentation, "{}", row.id);
        }
    }

    /// The table of what each agent's card says.
    #[test]
    fn every_row_says_what_its_agent_does_not_report() {
        let (input, output, exit) = ("the input of its calls", "the output of commands", "exit codes");
        let (diffs, context) = ("changes of files as diffs", "how full its context is");
        let expected: &[(&str, &[&str], bool)] = &[
            ("copilot", &["cost"], true),
            ("codex", &["cost"], true),
            ("codex-zed", &[output, diffs, "tokens", "cost"], true),
            ("gemini", &[input, output, exit, context, "tokens", "cost"], true),
            ("opencode", &[], true),
            ("qwen", &[context, "cost"], false),
            ("claude-acp", &[exit], true),
            // Not known: they did no turn here.
            ("auggie", &[], true),
            ("goose", &[], true),
            ("cursor", &[], true),
            ("kimi", &[], true),
            ("vibe", &[], true),
        ];
        assert_eq!(expected.len(), AGENTS.len());
        for (row, (id, reports, always)) in AGENTS.iter().zip(expected) {
            let lacks = row.lacks();
            assert_eq!((row.id, lacks.reports), (*id, reports.iter().map(|one| (*one).to_owned()).collect()));
            assert_eq!(lacks.offers.contains(&"“always allow”".to_owned()), !always, "{id}");
            assert!(OFFERED_BY_NONE.iter().all(|one| lacks.offers.contains(&(*one).to_owned())), "{id}");
        }
        assert_eq!(UNKNOWN.lacks().reports, [""; 0]);
        assert_eq!(DEMO.lacks().reports, [exit, context, "tokens", "cost"]);
    }

    #[test]
    fn no_capability_that_an_agent_has_is_said_to_be_missing() {
        let can = crate::AcpDriver::capabilities();
        assert!(!can.rewind && !can.fork && !can.edited_input && !can.denial_reasons);
    }

    #[test]
    fn the_port_of_opencode_has_a_password() {
        let opencode = agent("opencode").unwrap();
        assert_eq!(opencode.environment.set, [("OPENCODE_SERVER_PASSWORD", Variable::Random)]);
    }

    #[test]
    fn a_session_that_does_not_ask_is_made_to_or_says_so() {
        let choice = |id: &str| AcpChoice { id: id.to_owned(), ..AcpChoice::default() };
        let mut session =
            AcpSession { modes: vec![choice("auto"), choice("default")], ..AcpSession::default() };
        session.mode = Some("auto".to_owned());
        let set = AcpCommand::SetMode { id: "default".to_owned() };
        assert_eq!(AskingHabit::Mode("default").of(&session), Asks::After(set));
        session.mode = Some("default".to_owned());
        assert_eq!(AskingHabit::Mode("default").of(&session), Asks::Yes);
        assert_eq!(AskingHabit::Mode("other").of(&session), Asks::No);
        assert_eq!(AskingHabit::Setting("allow_all", "off").of(&session), Asks::No);
        session.options = vec![ConfigOption {
            id: "allow_all".to_owned(),
            name: String::new(),
            description: None,
            category: None,
            value: OptionValue::Choice { value: "on".to_owned(), choices: vec![choice("on"), choice("off")] },
        }];
        let asks = AskingHabit::Setting("allow_all", "off").of(&session);
        assert!(matches!(asks, Asks::After(AcpCommand::SetOption { .. })), "{asks:?}");
        assert_eq!(AskingHabit::Unknown.of(&session), Asks::Unknown);
    }
}
