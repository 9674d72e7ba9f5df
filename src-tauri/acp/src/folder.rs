//! What each agent loads from the folder that it works in, as data: the survey reads these files, and the user decides.
//!
//! A path is a file, or a folder with everything below it. An agent loads the folder's own files and no copy, so a
//! change is asked about at its next start.

/// What an agent loads from a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FolderSetup {
    pub files: &'static [FolderFile],
    /// It also loads the files of Claude Code, which have a survey of their own.
    pub claude: bool,
    pub checked: FolderCheck,
}

/// A file or a folder that an agent looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FolderFile {
    /// Relative, with `/`.
    pub path: &'static str,
    pub effect: FolderEffect,
    pub up: Up,
}

/// What a file can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderEffect {
    /// It can start programs and servers, be code itself, send requests elsewhere or allow tools.
    Runs,
    /// Environment variables: they can name an address that receives the key.
    Variables,
    /// Text for the model. Its contents may change without a question, as `CLAUDE.md` may.
    Instructions,
}

/// Folders above the project in which the agent looks too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Up {
    No,
    /// Up to the root of the repository.
    Repository,
    /// Every folder above. The user's home ends the search.
    All,
}

/// The source of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderCheck {
    /// The names are in the program of the version that the row names.
    Program,
    /// The agent's documentation, or what is known of similar agents. It may load more.
    Documentation,
}

const fn runs(path: &'static str) -> FolderFile {
    FolderFile { path, effect: FolderEffect::Runs, up: Up::Repository }
}

const fn text(path: &'static str) -> FolderFile {
    FolderFile { path, effect: FolderEffect::Instructions, up: Up::Repository }
}

const fn variables(path: &'static str, up: Up) -> FolderFile {
    FolderFile { path, effect: FolderEffect::Variables, up }
}

const fn documented(files: &'static [FolderFile]) -> FolderSetup {
    FolderSetup { files, claude: false, checked: FolderCheck::Documentation }
}

/// It loads nothing.
pub const NOTHING: FolderSetup = FolderSetup { files: &[], claude: false, checked: FolderCheck::Program };

/// An agent without a list of its own: files that many agents load.
pub const UNKNOWN: FolderSetup =
    documented(&[runs(".mcp.json"), runs(".agents"), variables(".env", Up::No), text("AGENTS.md")]);

pub const CLAUDE: FolderSetup =
    FolderSetup { files: &[text("CLAUDE.md")], claude: true, checked: FolderCheck::Program };

pub const COPILOT: FolderSetup = documented(&[
    runs(".github/hooks"),
    runs(".github/copilot"),
    runs(".github/agents"),
    runs(".github/skills"),
    runs(".github/prompts"),
    runs(".github/mcp.json"),
    runs(".github/lsp.json"),
    runs(".copilot"),
    runs(".mcp.json"),
    runs(".vscode/mcp.json"),
    runs(".agents"),
    runs(".claude"),
    text(".github/copilot-instructions.md"),
    text(".github/instructions"),
    text("AGENTS.md"),
    text("CLAUDE.md"),
    text("GEMINI.md"),
]);

pub const CODEX: FolderSetup =
    documented(&[runs(".codex"), runs(".agents"), text("AGENTS.override.md"), text("AGENTS.md")]);

pub const GEMINI: FolderSetup = FolderSetup {
    files: &[
        runs(".gemini"),
        runs(".agents"),
        // It takes the first one that it finds on its way up.
        variables(".env", Up::All),
        text("GEMINI.md"),
    ],
    claude: false,
    checked: FolderCheck::Program,
};

pub const OPENCODE: FolderSetup = FolderSetup {
    files: &[
        runs("opencode.json"),
        runs("opencode.jsonc"),
        // It installs its plugins' packages in `.opencode/node_modules`, which the survey leaves out.
        runs(".opencode"),
        runs(".claude/skills"),
        runs(".agents"),
        // Its runtime is Bun, which may load these by itself.
        runs("bunfig.toml"),
        variables(".env", Up::No),
        variables(".env.local", Up::No),
        text("AGENTS.md"),
        text("CLAUDE.md"),
        text("CONTEXT.md"),
    ],
    claude: false,
    checked: FolderCheck::Program,
};

pub const QWEN: FolderSetup = FolderSetup {
    files: &[
        runs(".qwen"),
        runs(".agents"),
        runs(".mcp.json"),
        runs(".lsp.json"),
        variables(".env", Up::All),
        text("QWEN.md"),
        text("AGENTS.md"),
    ],
    claude: false,
    checked: FolderCheck::Program,
};

pub const AUGGIE: FolderSetup = documented(&[
    runs(".augment"),
    runs(".claude"),
    runs(".agents"),
    runs(".mcp.json"),
    text(".augment-guidelines"),
    text("AGENTS.md"),
    text("CLAUDE.md"),
]);

pub const GOOSE: FolderSetup = documented(&[
    runs(".goose"),
    runs(".agents"),
    runs(".claude/skills"),
    variables(".env", Up::No),
    text(".goosehints"),
    text("AGENTS.md"),
]);

pub const CURSOR: FolderSetup = documented(&[
    runs(".cursor"),
    runs(".agents"),
    runs(".claude"),
    variables(".env", Up::No),
    text(".cursorrules"),
    text("AGENTS.md"),
    text("CLAUDE.md"),
]);

pub const KIMI: FolderSetup = documented(&[
    runs(".kimi"),
    runs(".agents"),
    runs(".claude/skills"),
    runs(".mcp.json"),
    variables(".env", Up::No),
    text("AGENTS.md"),
]);

pub const VIBE: FolderSetup =
    documented(&[runs(".vibe"), runs(".agents"), variables(".env", Up::No), text("AGENTS.md")]);
