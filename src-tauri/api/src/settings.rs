//! The user's settings. The doc comments here are the documentation of the keys: the schema, the settings page and
//! `docs/settings.md` are made from them.

use super::mode::PermissionMode;
use super::options::Preset;
use super::profile::Profile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The settings of the user, for all windows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    /// Colours of the windows.
    #[schemars(
        title = "Theme",
        extend("section" = "Appearance", "help" = "Light or dark for every window")
    )]
    pub theme: Theme,
    /// Colour of the main buttons, links, focus marks, chosen rows and progress in the windows. Colours that mean something,
    /// such as those of failures, waiting requests and changed lines, stay as they are, and so do exported conversations
    /// and the desktop's own dialogs.
    #[schemars(
        title = "Accent",
        extend("section" = "Appearance", "help" = "Marks where you are and the next step")
    )]
    pub accent: Accent,
    /// Size of everything in a window. *Zoom in* and *Zoom out* change it for the window of one project, which is remembered
    /// for that project; *Reset zoom* follows this setting again.
    #[schemars(
        title = "Zoom", range(min = 50, max = 200),
        extend("unit" = "%", "section" = "Appearance", "help" = "Size of everything; one window can differ with Ctrl + and Ctrl −")
    )]
    pub zoom: u32,
    /// The type of the windows.
    #[schemars(title = "Fonts")]
    pub fonts: FontSettings,
    /// Space around the parts of a window.
    #[schemars(
        title = "Density",
        extend("section" = "Appearance", "help" = "Space between things")
    )]
    pub density: Density,
    /// Language of dates and times in the windows, as a language tag such as `de`, `en-US` or `en-GB-u-hc-h12`. `null` or
    /// `system` follows the system. The texts of Deskbell stay English.
    #[schemars(
        title = "Dates and times",
        extend("placeholder" = "Follow the system", "section" = "Appearance", "help" = "Language of dates; Deskbell itself stays English")
    )]
    pub dates: Option<String>,
    /// How a permission request gets your attention. Its card is always in the conversation.
    #[schemars(
        title = "How requests reach you",
        extend("section" = "Asking", "help" = "The card is always in the conversation")
    )]
    pub asking: Asking,
    /// How you are called when a session needs you and its window is not in front.
    #[schemars(title = "Bell")]
    pub bell: BellSettings,
    /// What happens to the work in a window that you close. In the background it goes on without the window, and a click
    /// on a notification or a second start of Deskbell brings the window back.
    #[schemars(
        title = "Closing a window with work",
        extend("section" = "Sessions", "help" = "What happens to the work in a window that you close")
    )]
    pub closing: Closing,
    /// While a turn runs in a session on this computer, the computer does not fall asleep by itself. While sessions only
    /// wait for you it may. A closed lid, a shutdown and a sleep that you ask for are never held up. On Linux the desktop
    /// counts as used meanwhile, so its screen stays on.
    #[schemars(
        title = "Keep the computer awake while an agent works",
        extend("section" = "Sessions", "help" = "The computer does not fall asleep during a turn")
    )]
    pub keep_awake: bool,
    /// New sessions run in a server of your own, which goes on when Deskbell closes, is updated or crashes. Deskbell
    /// shows them again when it starts. `deskbell sessions running` lists them, and `deskbell sessions stop` ends them.
    /// A project can differ: *Keep sessions of this project running* chooses for its new sessions.
    #[schemars(
        title = "Keep sessions running when Deskbell closes",
        extend("section" = "Sessions", "help" = "New sessions go on when Deskbell closes, is updated or crashes")
    )]
    pub keep_running: bool,
    /// The agent of new sessions.
    #[schemars(title = "Agent")]
    pub agent: AgentSettings,
    /// Keys of actions, in place of their usual ones. Each is `{"action": "new", "key": "Ctrl+Alt+N"}`; `null` takes
    /// the action's keys away. On macOS, `Ctrl` is ⌘ and `Alt` is ⌥. The names of the actions are in the guide's list of
    /// keys.
    #[schemars(
        title = "Keys",
        extend("control" = "keys", "section" = "Keyboard", "help" = "Keys of actions that you changed")
    )]
    pub keys: Vec<KeyBinding>,
    /// An icon in the desktop's tray, or in the menu bar, with the sessions of all projects that work or wait for you.
    /// Where the desktop has no tray, nothing is shown.
    #[schemars(
        title = "Tray icon",
        extend("section" = "Advanced", "help" = "Shows sessions that work or wait for you")
    )]
    pub tray: bool,
    /// Deskbell starts when you log in, without a window and without an agent: only its tray icon is shown, and sessions
    /// that kept running can call you. Where there is no tray icon nothing is shown. Starting Deskbell again opens its
    /// windows. Not on Windows yet.
    #[schemars(
        title = "Start at login",
        extend("section" = "Advanced", "help" = "Starts without a window when you log in")
    )]
    pub autostart: bool,
    /// The program that opens files, with its arguments: `{file}` in them is the file's path, and `{line}` the line.
    /// Without `{file}` the path is the last argument. No shell reads them. An editor that runs in a terminal needs one:
    /// `kitty` with `vim`, `+{line}` and `{file}`. Without this setting the first well-known editor that is installed
    /// is used, and without one the desktop's editor for text.
    #[schemars(
        title = "Editor",
        extend("section" = "Advanced", "help" = "The program that opens files")
    )]
    pub editor: Option<UserCommand>,
    /// The program that opens a terminal with a command, for “Open in terminal” and the agent's login, with its
    /// arguments: `{command}` as one of them is replaced by the command and its own arguments, and `{folder}` in one by
    /// the folder that the terminal starts in. Without `{command}` the command comes last. No shell reads them:
    /// `gnome-terminal` with `--`, for example. Without this setting the terminal of `TERMINAL` or of the desktop is
    /// used, or the first well-known one that is installed.
    #[schemars(
        title = "Terminal",
        extend("section" = "Advanced", "help" = "The program that opens a terminal")
    )]
    pub terminal: Option<UserCommand>,
    /// How much is logged, on stderr and in files in Deskbell's data folder. The text of conversations never is.
    /// `DESKBELL_LOG` counts before this setting.
    #[schemars(
        title = "Log",
        extend("section" = "Advanced", "help" = "How much is logged; never the text of conversations")
    )]
    pub log: LogLevel,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            theme: Theme::System,
            accent: Accent::Gold,
            zoom: 100,
            density: Density::Comfortable,
            fonts: FontSettings::default(),
            dates: None,
            asking: Asking::DialogAndCard,
            bell: BellSettings::default(),
            agent: AgentSettings::default(),
            closing: Closing::Ask,
            tray: true,
            autostart: false,
            keep_awake: true,
            keep_running: false,
            editor: None,
            terminal: None,
            keys: Vec::new(),
            log: LogLevel::Warn,
        }
    }
}

/// A key that the user chose for an action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyBinding {
    /// Name of an action of the window, such as `new`.
    pub action: String,
    /// Modifiers and one key, such as `Ctrl+Shift+F`, or `null` for none.
    pub key: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Theme {
    /// Follow the system
    System,
    /// Light
    Light,
    /// Dark
    Dark,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Accent {
    /// Gold
    Gold,
    /// Blue
    Blue,
    /// Green
    Green,
    /// Purple
    Purple,
    /// Rose
    Rose,
    /// Grey
    Grey,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Asking {
    /// Dialog and conversation
    DialogAndCard,
    /// Conversation only
    Card,
    /// Dialog only when the window is not in front
    DialogWhenAway,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Density {
    /// Comfortable
    Comfortable,
    /// Compact
    Compact,
}

/// The type of the windows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct FontSettings {
    /// Size of the agent's text. The other sizes follow it.
    #[schemars(
        title = "Text size", range(min = 10, max = 24),
        extend("unit" = "px", "section" = "Appearance", "help" = "The agent’s text; the rest follows")
    )]
    pub size: u32,
    /// Relative to text: code looks larger than text of the same size.
    #[schemars(
        title = "Code size", range(min = 70, max = 120),
        extend("unit" = "%", "section" = "Appearance", "help" = "Relative to text")
    )]
    pub code_size: u32,
    /// Families of the interface, separated by commas; the first that is installed counts.
    #[schemars(
        title = "Interface font",
        extend("placeholder" = "Inter", "section" = "Appearance", "help" = "Families, separated by commas; the first that is installed counts")
    )]
    pub interface: Option<String>,
    /// Families of code, separated by commas; the first that is installed counts.
    #[schemars(
        title = "Code font",
        extend("placeholder" = "JetBrains Mono", "section" = "Appearance", "help" = "Families, separated by commas; the first that is installed counts")
    )]
    pub code: Option<String>,
}

impl Default for FontSettings {
    fn default() -> Self {
        Self { interface: None, code: None, size: 14, code_size: 88 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Closing {
    /// Ask
    Ask,
    /// Stop the work
    Stop,
    /// Keep working in the background
    Background,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum LogLevel {
    /// Errors
    Error,
    /// Errors and warnings
    Warn,
    /// What each session does
    Info,
    /// More of it
    Debug,
    /// Everything
    Trace,
}

/// How you are called when a session needs you and its window is not in front.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct BellSettings {
    /// A session waits for your answer.
    #[schemars(title = "When a session needs you")]
    pub needs_you: BellKind,
    /// A turn failed, the agent stopped unexpectedly, or a connection is lost while something waits there.
    #[schemars(title = "When a session fails")]
    pub failed: BellKind,
    /// A turn ended.
    #[schemars(title = "When a session finishes")]
    pub finished: BellKind,
    /// If more sessions than this wait for you, one notification names them all.
    #[schemars(
        title = "Combine above", range(min = 1, max = 20),
        extend("unit" = "sessions", "section" = "Notifications", "help" = "More sessions than this share one notification")
    )]
    pub fold_above: u32,
}

impl Default for BellSettings {
    fn default() -> Self {
        let kind = BellKind::default;
        Self { finished: kind(), failed: kind(), needs_you: kind(), fold_above: 3 }
    }
}

/// One kind of event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct BellKind {
    /// Show a notification.
    #[schemars(
        title = "Notify",
        extend("section" = "Notifications", "help" = "Shows a notification")
    )]
    pub on: bool,
    /// Let the notification play the desktop's sound for a message.
    #[schemars(
        title = "Sound",
        extend("section" = "Notifications", "help" = "Plays the desktop’s sound for a message")
    )]
    pub sound: bool,
    /// Urgency of the notification. Desktops show a critical one until it is answered, also in do not disturb.
    #[schemars(
        title = "Urgency",
        extend("section" = "Notifications", "help" = "A critical notification stays until it is answered")
    )]
    pub urgency: BellUrgency,
    /// A program of yours with its arguments, for example to reach your phone. It runs whether or not a notification is
    /// shown, without a shell, for at most 30 seconds, and at most four at once. Its environment has `DESKBELL_EVENT`
    /// (`finished`, `failed` or `needsYou`), `DESKBELL_PROJECT` (the folder), `DESKBELL_SESSION` (the id),
    /// `DESKBELL_TITLE` and `DESKBELL_TEXT`.
    #[schemars(
        title = "Run a command",
        extend("section" = "Notifications", "help" = "A program of yours, for example to reach your phone")
    )]
    pub command: Option<UserCommand>,
}

impl Default for BellKind {
    fn default() -> Self {
        Self { on: true, sound: false, urgency: BellUrgency::Normal, command: None }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum BellUrgency {
    /// Low
    Low,
    /// Normal
    Normal,
    /// Critical
    Critical,
}

/// A program with its arguments. No shell reads them.
///
/// `startsPrograms` marks settings that make Deskbell or an agent start a program. The page can change them only after
/// the user confirms it in a native dialog.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("startsPrograms" = true))]
pub struct UserCommand {
    pub program: String,
    #[serde(default)]
    pub args: Vec<String>,
}

/// The agent of new sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentSettings {
    /// Path of the Claude Code program. Leave it empty (`null`) to find the program automatically.
    #[schemars(
        title = "Claude Code path",
        extend("placeholder" = "Find automatically", "startsPrograms" = true, "section" = "Agents", "help" = "The program of Claude Code")
    )]
    pub program: Option<String>,
    /// Model of new sessions, by the agent's name for it, such as `opus`.
    #[schemars(
        title = "Model",
        extend("placeholder" = "Agent’s default", "section" = "Agents", "help" = "For new sessions, by the agent’s name for it")
    )]
    pub model: Option<String>,
    /// Permission mode of new sessions. Running without permission checks is chosen for one start of an agent, never
    /// here.
    #[schemars(
        title = "Permission mode",
        extend("placeholder" = "Agent’s default", "section" = "Asking", "help" = "What a new session may do before it asks")
    )]
    pub mode: Option<PermissionMode>,
    /// Effort of new sessions, such as `low`, `medium` or `high`, for models that have it.
    #[schemars(
        title = "Effort",
        extend("placeholder" = "Agent’s default", "section" = "Agents", "help" = "For new sessions, if the model has it, such as low, medium or high")
    )]
    pub effort: Option<String>,
    /// Share of the processors that agents, and all that they start, get while every processor is busy: with `low`, windows
    /// stay quick to type and to scroll in while an agent compiles. It counts from the next start of an agent.
    #[schemars(
        title = "Priority",
        extend("section" = "Agents", "help" = "With Low, windows stay quick while an agent uses every processor")
    )]
    pub priority: Priority,
    /// Idle time after which an agent's process ends; its session continues with the next prompt. 0 is never.
    #[schemars(
        title = "Hibernate after", range(min = 0, max = 10080),
        extend("unit" = "minutes", "section" = "Sessions", "help" = "Ends an idle agent; its session goes on with the next prompt. 0 is never")
    )]
    pub hibernate_minutes: u32,
    /// The agent generates a title for each new session after its first finished turn, once, unless you or the agent named
    /// the session before. A title takes a small call of the model, which counts like your own use. Only for agents that
    /// can do it, such as Claude Code. *Generate a title for this session* does it for one session.
    #[schemars(
        title = "Generate titles",
        extend("section" = "Agents", "help" = "Names a new session after its first answer; costs a few tokens")
    )]
    pub generate_titles: bool,
    /// Options of sessions under names, chosen in a session's options. New sessions of a preset's `projects` begin with
    /// it. Each preset is `{"name": …, "options": {…}, "projects": […]}`; the options are those of
    /// `deskbell relay --options`.
    #[schemars(
        title = "Presets",
        extend("section" = "Sessions", "help" = "Options of sessions under names, chosen in a session’s options")
    )]
    pub presets: Vec<Preset>,
    /// Agents with their programs, configuration and choices under names, for *New session with…* and
    /// `deskbell relay --profile`: several accounts, or an agent that Deskbell does not know. Each is
    /// `{"name": …, "agent": …, "command": …, "program": …, "environment": […], "model": …, "effort": …, "mode": …,
    /// "projects": […]}`, all but the name optional. `agent` is one of the list of agents, such as `gemini`, and
    /// `command` any other agent that speaks the Agent Client Protocol, as `{"program": …, "args": […]}`; without both it
    /// is Claude Code. `environment` is a list of `{"name": …, "value": …}`, with `CLAUDE_CONFIG_DIR` or `CODEX_HOME` for
    /// example. New sessions of a profile's `projects` begin with it.
    #[schemars(
        title = "Profiles",
        extend("control" = "profiles", "section" = "Profiles", "help" = "Other accounts and other agents, for New session with…")
    )]
    pub profiles: Vec<Profile>,
}

impl Default for AgentSettings {
    fn default() -> Self {
        Self {
            program: None,
            model: None,
            mode: None,
            effort: None,
            priority: Priority::Low,
            hibernate_minutes: 30,
            generate_titles: false,
            presets: Vec::new(),
            profiles: Vec::new(),
        }
    }
}

/// How much of the processors a process gets while they are busy. On an idle one both are equally fast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Priority {
    /// Low
    Low,
    /// Normal
    #[default]
    Normal,
}

/// The settings that are in effect, and what is wrong with their file.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SettingsView {
    pub settings: Settings,
    /// Absolute path of the file.
    pub path: String,
    /// Each wrong value has its earlier value until it is corrected.
    pub problems: Vec<SettingsProblem>,
    /// The file could not be read as a whole, so no setting can be changed.
    pub is_broken: bool,
    /// Language of the system's dates, as a language tag; `null` if the page knows it itself.
    pub system_dates: Option<String>,
}

/// Something in the settings file that has no effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SettingsProblem {
    /// The place in the file, both counted from 1; `null` if the file could not be read.
    pub line: Option<u32>,
    pub column: Option<u32>,
    pub message: String,
}

impl SettingsProblem {
    /// Its place in the file, for the middle of a sentence; empty if it has none.
    pub fn place(&self) -> String {
        match (self.line, self.column) {
            (Some(line), Some(column)) => format!(" in line {line}, column {column}"),
            _ => String::new(),
        }
    }
}

/// The result of a test of the notifications of one event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct BellTest {
    /// The event's name in the settings.
    pub event: String,
    /// The desktop accepted the notification.
    pub is_accepted: bool,
}

/// One setting, as the settings page shows it.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SettingKey {
    /// Its names in the file from the outermost on, joined by dots.
    pub key: String,
    pub section: SettingSection,
    pub label: String,
    /// One line for the settings page.
    pub help: String,
    pub description: String,
    pub control: SettingControl,
    /// The value without an entry in the file.
    pub default: serde_json::Value,
}

/// The section of the settings page and of the documentation that a setting is in, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
pub enum SettingSection {
    Appearance,
    Asking,
    Notifications,
    Agents,
    Profiles,
    Sessions,
    Keyboard,
    Advanced,
}

/// The kind of value that a setting has.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum SettingControl {
    Toggle,
    /// One of several values; one of them may be `null`.
    Choice {
        options: Vec<SettingOption>,
    },
    /// A whole number within these limits.
    Number {
        min: u32,
        max: u32,
        unit: Option<String>,
    },
    /// A text, or `null` for none.
    Text {
        placeholder: Option<String>,
    },
    /// A program with its arguments, or `null` for none.
    Command,
    /// A list of presets of session options.
    Presets,
    /// A list of profiles of agents.
    Profiles,
    /// A list of keys for actions.
    Keys,
}

#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SettingOption {
    pub value: Option<String>,
    pub label: String,
}
