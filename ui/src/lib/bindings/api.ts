// Generated from src-tauri/api/src. Do not edit.
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

/**
 * A command to a session. `deskbell relay` reads one JSON object per line.
 */
export type Command = { "type": "prompt", text: string, 
/**
 * Scripts of earlier versions say `images`.
 */
attachments: Array<Attachment>, delivery: Delivery, } | { "type": "decide", requestId: RequestId, shown: string | null, decision: Decision, } | { "type": "interrupt" } | { "type": "interruptAndContinue" } | { "type": "continueQueue" } | { "type": "withdraw", promptId: PromptId, } | { "type": "editQueued", promptId: PromptId, text: string, } | { "type": "resend", promptId: PromptId, } | { "type": "deliver", promptId: PromptId, delivery: Delivery, } | { "type": "move", promptId: PromptId, before: PromptId | null, } | { "type": "setMode", mode: PermissionMode, } | { "type": "setModel", model: string, } | { "type": "setOptions", options: SessionOptions, } | { "type": "setEffort", effort: string | null, } | { "type": "setAgentOption", id: string, value: string, } | { "type": "setThinking", on: boolean, } | { "type": "stopTask", taskId: string, } | { "type": "moveToBackground" } | { "type": "listRules" } | { "type": "suspendRules", rules: Array<string>, suspended: boolean, } | { "type": "readContext" } | { "type": "askSide", id: string, question: string, purpose: SidePurpose, } | { "type": "cancelSide", id: string, } | { "type": "readConfiguration" } | { "type": "reconnectServer", server: string, } | { "type": "setServerEnabled", server: string, enabled: boolean, } | { "type": "reloadPlugins" } | { "type": "previewRewind", promptId: ItemId, } | { "type": "rewind", promptId: ItemId, files: boolean, conversation: boolean, } | { "type": "undoRewind", overwrite: boolean, } | { "type": "rename", title: string, } | { "type": "generateTitle" } | { "type": "start" } | { "type": "reload" } | { "type": "stop" };

/**
 * When a prompt given while the agent works is sent.
 */
export type Delivery = "afterTurn" | "now" | "intoTurn" | "atReset";

/**
 * A permission mode that a running agent can be switched to. Running without asking is not one of them: it is chosen
 * before an agent starts, for that process only.
 */
export type PermissionMode = "default" | "acceptEdits" | "plan" | "dontAsk" | "auto";

/**
 * What a session's agent is started with, beyond the user's own configuration. Every field is optional. A change takes
 * effect at the next start of the agent, except those of the model, the effort and the hibernation.
 *
 * None of them turns off asking or trust. [`OptionProblem`] says what is refused.
 */
export type SessionOptions = { 
/**
 * A model that the agent knows; `null` is the agent's default.
 */
model: string | null, 
/**
 * Models for when the first one is overloaded or unavailable, in order. At most 8.
 */
fallbackModels: Array<string>, 
/**
 * An effort level of the model, such as `low` or `high`; `null` is the agent's default.
 */
effort: string | null, systemPrompt: SystemPrompt | null, 
/**
 * The most turns of the model for one prompt, 1 to 10,000: its replies with their tool calls.
 */
maxTurns: number | null, 
/**
 * The most that one start of the agent may cost, in US dollars: 0.01 to 100,000. The agent counts from 0 at each
 * start and checks after each of the model's replies, so the last one can exceed it.
 */
maxBudgetUsd: number | null, 
/**
 * More folders that the agent works in, as absolute paths. It reads there without asking. At most 16.
 */
folders: Array<string>, 
/**
 * Permission rules that allow without asking, such as `Bash(git status)`. At most 100 of 500 bytes each.
 */
allowedTools: Array<string>, 
/**
 * Permission rules that deny. A tool without parentheses is not offered to the model. At most 100 of 500 bytes each.
 */
disallowedTools: Array<string>, 
/**
 * The absolute path of a JSON file with MCP servers (`mcpServers`), outside of the project, of at most 256 KiB. Its
 * servers are started with the agent.
 */
mcpConfig: string | null, 
/**
 * Receives messages of your other sessions of Claude Code, in a folder that is trusted. Each begins a turn or joins one.
 */
receivesMessages: boolean, 
/**
 * Environment variables of the agent and of everything that it runs. At most 50.
 */
environment: Array<EnvironmentVariable>, 
/**
 * More arguments of the agent, from a fixed list, each as `--flag` or `--flag=value`. At most 20.
 */
arguments: Array<string>, 
/**
 * Idle time in minutes after which the agent's process ends: 0 to 10,080, 0 is never. `null` is the setting
 * `agent.hibernateMinutes`.
 */
hibernateMinutes: number | null, };

/**
 * A system prompt of the user.
 */
export type SystemPrompt = { 
/**
 * At most 16 KiB.
 */
text: string, 
/**
 * It replaces the agent's own system prompt; otherwise it is appended to it.
 */
replace: boolean, };

/**
 * An environment variable.
 */
export type EnvironmentVariable = { 
/**
 * Letters, digits and `_`, at most 100. Names that make programs run other code or send data elsewhere are refused.
 */
name: string, 
/**
 * At most 4,096 bytes.
 */
value: string, };

/**
 * Options under a name.
 */
export type Preset = { 
/**
 * One line of at most 60 characters; unique.
 */
name: string, options: SessionOptions, 
/**
 * The projects whose new sessions begin with it, as absolute paths.
 */
projects: Array<string>, };

/**
 * A key that the user chose for an action.
 */
export type KeyBinding = { 
/**
 * Name of an action of the window, such as `new`.
 */
action: string, 
/**
 * Modifiers and one key, such as `Ctrl+Shift+F`, or `null` for none.
 */
key: string | null, };

/**
 * A field of [`SessionOptions`].
 */
export type OptionField = "model" | "fallbackModels" | "effort" | "systemPrompt" | "maxTurns" | "maxBudgetUsd" | "folders" | "allowedTools" | "disallowedTools" | "mcpConfig" | "receivesMessages" | "environment" | "arguments" | "hibernateMinutes";

/**
 * Something about a field: why its value is refused, or what it means.
 */
export type OptionProblem = { field: OptionField, 
/**
 * The entry of a list, from 0.
 */
index: number | null, message: string, };

/**
 * A server that the MCP config of the options would start or connect to.
 */
export type OptionServer = { 
/**
 * The finding in words: “Starts a server”.
 */
title: string, name: string | null, 
/**
 * Its command with arguments, or its address.
 */
command: string, };

/**
 * What an agent would be started with, and what is wrong with the options.
 */
export type OptionsReview = { 
/**
 * Reasons why the options are refused. Without any, they can be saved.
 */
problems: Array<OptionProblem>, 
/**
 * What to know about accepted values.
 */
warnings: Array<OptionProblem>, servers: Array<OptionServer>, 
/**
 * The program; `null` if the agent cannot be started now.
 */
program: string | null, 
/**
 * The reason why the agent cannot be started now.
 */
obstacle: string | null, 
/**
 * The arguments of the next start. Without a program only those of the options.
 */
arguments: Array<string>, 
/**
 * The variables that the options set.
 */
environment: Array<EnvironmentVariable>, };

/**
 * An image or a document attached to a prompt.
 */
export type Attachment = { 
/**
 * The name of its file; empty for one that has none. The agent gets the names of documents.
 */
name?: string, 
/**
 * `image/png`, `image/jpeg`, `image/gif`, `image/webp`, `application/pdf` or `text/plain`.
 */
mediaType: string, 
/**
 * Base64, without a `data:` prefix; the text itself for `text/plain`.
 */
data: string, };

/**
 * The agent that a prompt is for.
 */
export type AskedAgent = { "type": "claude" } | { "type": "other", id: string, } | { "type": "profile", name: string, };

/**
 * A prompt that a window takes as a draft: of a second start, or of another window. The user may change and send it.
 */
export type NamedDraft = { text: string, 
/**
 * The agent of a new session for it; `null` for the open session.
 */
asked: AskedAgent | null, };

/**
 * The answer to a permission request.
 */
export type Decision = { "type": "allowOnce", updatedInput: InputChange | null, } | { "type": "allowAlways", suggestion: JsonValue, } | { "type": "deny", message: string, interrupt: boolean, } | { "type": "approvePlan", acceptEdits: boolean, } | { "type": "answer", answers: { [key in string]: string }, } | { "type": "fill", values: { [key in string]: JsonValue }, };

/**
 * An input changed by the user, sent exactly as given here.
 */
export type InputChange = { "type": "whole", json: string, } | { "type": "field", name: string, text: string, };

/**
 * An event with its position in the session. `seq` grows by one with each event of a session, without gaps.
 */
export type Envelope = { seq: number, sessionId: SessionId, } & ({ "type": "sessionChanged", session: Partial<Omit<Session, "id">>, } | { "type": "itemAdded", item: Item, } | { "type": "itemChanged", item: Item, } | { "type": "callChanged", itemId: ItemId, call: CallProgress, } | { "type": "blocksChanged", itemId: ItemId, keep: number, blocks: Array<Block>, } | { "type": "codeGrew", itemId: ItemId, keep: number, lines: Array<CodeLine>, } | { "type": "entriesGrew", itemId: ItemId, keep: number, entries: Array<ListItem>, } | { "type": "thoughtGrew", itemId: ItemId, keep: number, text: string, } | { "type": "textFinished", itemId: ItemId, } | { "type": "itemRemoved", itemId: ItemId, } | { "type": "fileChanged", file: ChangedFile, } | { "type": "tasksChanged", tasks: Array<Todo>, } | { "type": "turnStarted", promptIds: Array<PromptId>, } | { "type": "turnEnded", turn: TurnEnd, } | { "type": "permissionRequested", request: PermissionRequest, 
/**
 * The call's item has the same diff, or the same subject if there is no diff, and it is long (more than 4
 * KiB). The relay and the server leave it out of their lines: the diff is `null`, or the subject is empty.
 */
inItem?: boolean, } | { "type": "permissionResolved", requestId: RequestId, resolution: Resolution, } | { "type": "rewindPreviewed", preview: RewindPreview, } | { "type": "rewound", promptId: ItemId, text: string | null, } | { "type": "transcriptReplaced", items: Array<Item>, files: Array<ChangedFile>, tasks: Array<Todo>, } | { "type": "agentExited", report: ExitReport, } | { "type": "commandFailed", error: CommandError, });

/**
 * An event of a session.
 */
export type Event = { "type": "sessionChanged", session: Partial<Omit<Session, "id">>, } | { "type": "itemAdded", item: Item, } | { "type": "itemChanged", item: Item, } | { "type": "callChanged", itemId: ItemId, call: CallProgress, } | { "type": "blocksChanged", itemId: ItemId, keep: number, blocks: Array<Block>, } | { "type": "codeGrew", itemId: ItemId, keep: number, lines: Array<CodeLine>, } | { "type": "entriesGrew", itemId: ItemId, keep: number, entries: Array<ListItem>, } | { "type": "thoughtGrew", itemId: ItemId, keep: number, text: string, } | { "type": "textFinished", itemId: ItemId, } | { "type": "itemRemoved", itemId: ItemId, } | { "type": "fileChanged", file: ChangedFile, } | { "type": "tasksChanged", tasks: Array<Todo>, } | { "type": "turnStarted", promptIds: Array<PromptId>, } | { "type": "turnEnded", turn: TurnEnd, } | { "type": "permissionRequested", request: PermissionRequest, 
/**
 * The call's item has the same diff, or the same subject if there is no diff, and it is long (more than 4
 * KiB). The relay and the server leave it out of their lines: the diff is `null`, or the subject is empty.
 */
inItem?: boolean, } | { "type": "permissionResolved", requestId: RequestId, resolution: Resolution, } | { "type": "rewindPreviewed", preview: RewindPreview, } | { "type": "rewound", promptId: ItemId, text: string | null, } | { "type": "transcriptReplaced", items: Array<Item>, files: Array<ChangedFile>, tasks: Array<Todo>, } | { "type": "agentExited", report: ExitReport, } | { "type": "commandFailed", error: CommandError, };

/**
 * The outcome of a permission request.
 */
export type Resolution = { "type": "allowed", 
/**
 * The label of the suggestion that was applied as well.
 */
always: string | null, } | { "type": "denied", message: string, } | { "type": "answered" } | { "type": "withdrawn", reason: string, };

/**
 * The format of an exported session.
 */
export type ExportFormat = "markdown" | "json" | "html";

/**
 * All data that a window needs to draw a session. Later events have a greater `seq` and apply on top of it.
 */
export type Snapshot = { 
/**
 * The `seq` of the last event that this snapshot contains.
 */
seq: number, 
/**
 * When that event was sent.
 */
lastEventAt: number, session: Session, 
/**
 * The requested part of the transcript.
 */
rows: RowRange, 
/**
 * Only the end of the conversation was read so far, and rows are counted from there. When all of it is read, the
 * window gets a gap and then a new snapshot.
 */
isPartial: boolean, 
/**
 * The items of those rows, in order.
 */
items: Array<Item>, 
/**
 * The files that the session changed; the most recently changed one is last.
 */
files: Array<ChangedFile>, tasks: Array<Todo>, 
/**
 * The last prompts, oldest first, for the prompt history.
 */
prompts: Array<string>, };

/**
 * One conversation with one agent in one project.
 */
export type Session = { id: SessionId, 
/**
 * Open permission requests, oldest first. Each has events of its own.
 */
requests: Array<PermissionRequest>, title: string, 
/**
 * Path of the project's folder.
 */
project: string, 
/**
 * The agent: `claude`, `demo`, or `acp` for one that speaks the Agent Client Protocol.
 */
agent: AgentKind, 
/**
 * Its name: “Gemini CLI”.
 */
agentName: string, 
/**
 * Its row in the table of agents that speak ACP; `null` for other agents, and for a command of the user.
 */
agentId: string | null, 
/**
 * The name of the profile in the settings that it was begun with.
 */
profile: string | null, 
/**
 * What the agent does not report or offer.
 */
lacks: AgentLacks, 
/**
 * How the user logs in to its agent; `null` for Claude Code, whose login is in `Readiness`, and if no command is known.
 */
login: AgentLogin | null, 
/**
 * The agent's own id of this conversation; `null` until the agent sent one.
 */
agentSessionId: string | null, status: Status, 
/**
 * It has no prompts and no title yet. Its agent starts with `start` or with the first prompt.
 */
isEmpty: boolean, 
/**
 * Its title is the beginning of its first prompt, since Deskbell opened it: neither the user nor the agent has
 * named it, and no title was asked for.
 */
hasPromptTitle: boolean, 
/**
 * Whether the agent's process is running. Independent of working: an idle session may or may not have a process.
 */
alive: boolean, pid: number | null, agentVersion: string | null, capabilities: AgentCapabilities, model: string | null, mode: string, 
/**
 * The effort level in use; `null` if the model has none, or if it is unknown.
 */
effort: string | null, thinking: boolean, 
/**
 * What its agent is started with.
 */
options: SessionOptions, 
/**
 * Its agent runs and was started with other options: they take effect at its next start.
 */
optionsWait: boolean, 
/**
 * The rules as last reported; `null` until they were requested.
 */
rules: RulesInForce | null, 
/**
 * The agent did not ask where it must. Must be shown as long as its process lives.
 */
missedPrompt: MissedPrompt | null, 
/**
 * The models that the agent offers; empty until it reported them.
 */
models: Array<Model>, 
/**
 * Settings that an agent that speaks ACP offers itself; empty until it reported them.
 */
agentOptions: Array<AgentOption>, commands: Array<SlashCommand>, 
/**
 * Accepted prompts that were not sent yet, in order.
 */
queue: Array<QueuedPrompt>, 
/**
 * The running turn can take another prompt: the agent reports which prompts it read.
 */
takesIntoTurn: boolean, usage: Usage, 
/**
 * What fills the context window, after `readContext`.
 */
context: ContextUsage, 
/**
 * What is configured for its agent, after `readConfiguration`.
 */
configuration: Configuration, limits: PlanLimits, rewind: RewindState, 
/**
 * The last side questions, in the order in which they were asked. They live as long as the session is open.
 */
sideQuestions: Array<SideQuestion>, createdAt: number, 
/**
 * When the last prompt was accepted, or the last turn ended.
 */
changedAt: number, 
/**
 * Number of commands and subagents running in the background, with or without a running turn.
 */
nBackground: number, 
/**
 * The first 100 of them, in the order in which they began.
 */
background: Array<BackgroundTask>, 
/**
 * Turns that the agent will begin by itself. Its process does not hibernate before them.
 */
scheduled: Array<ScheduledTurn>, 
/**
 * When the running turn began.
 */
turnStartedAt: number | null, 
/**
 * Its agent runs, or last ran, without the folder's own settings: `--setting-sources=user --strict-mcp-config`.
 */
restricted: boolean, 
/**
 * The link to the process that runs it.
 */
link: SessionLink, 
/**
 * The version of the older Deskbell whose server runs it; `null` if it runs in this version. It moves to this version
 * as soon as nothing runs in that server.
 */
olderServer: string | null, };

/**
 * An entry of a window's menu, as its page shows it.
 */
export type MenuEntry = { 
/**
 * The page gets it back when the entry is chosen.
 */
id: string, label: string, 
/**
 * The keys that the page has for it, as the table of actions writes them: `Ctrl+Shift+F`. On macOS, `Ctrl` is the
 * command key.
 */
chord: string | null, enabled: boolean, 
/**
 * Whether this choice is the current one; `null` for an action.
 */
checked: boolean | null, 
/**
 * A line separates it from the entries before.
 */
separated: boolean, 
/**
 * The entries of its submenu. An entry with a submenu is not chosen itself.
 */
items: Array<MenuEntry> | null, };

/**
 * The agent program of a session.
 */
export type AgentKind = "claude" | "demo" | "acp";

/**
 * What the agent of a session can do, as far as Deskbell uses it. It depends on the agent and its version. What the
 * model in use can do is said by `Model`, and holds only where the agent can do it too.
 */
export type AgentCapabilities = { 
/**
 * The permission modes that it can be switched to while it runs.
 */
modes: Array<PermissionMode>, 
/**
 * It can be started with permission checks off, for one process.
 */
withoutAsking: boolean, 
/**
 * Its model can be changed.
 */
models: boolean, 
/**
 * The effort level can be changed.
 */
effort: boolean, 
/**
 * Thinking can be turned off.
 */
thinking: boolean, 
/**
 * A prompt can contain images.
 */
images: boolean, 
/**
 * A prompt can contain documents, such as PDF files.
 */
documents: boolean, 
/**
 * A running turn can take another prompt, and the agent reports which prompts it read.
 */
promptsIntoTurn: boolean, 
/**
 * A conversation can be continued as a new one.
 */
fork: boolean, 
/**
 * Files can be taken back to their state at an earlier prompt.
 */
rewind: boolean, 
/**
 * The user's hooks run before and after tools.
 */
hooks: boolean, 
/**
 * Commands and subagents can continue after their turn.
 */
backgroundTasks: boolean, 
/**
 * An allowed call can run with an input that the user changed.
 */
editedInput: boolean, 
/**
 * The agent reads the reason of a denial.
 */
denialReasons: boolean, 
/**
 * The permission rules that can be listed, and how long an added one is valid.
 */
rules: RulesScope, 
/**
 * The cost of a turn is known.
 */
cost: boolean, 
/**
 * It reports what fills its context window.
 */
context: boolean, 
/**
 * It answers side questions.
 */
sideQuestions: boolean, };

/**
 * The permission rules that an agent has.
 */
export type RulesScope = "none" | "session" | "saved";

/**
 * The status of a session, as displayed.
 */
export type Status = { "type": "idle" } | { "type": "starting" } | { "type": "working", activity: string, } | { "type": "interrupting" } | { "type": "needsInput", what: string, } | { "type": "completed" } | { "type": "interrupted" } | { "type": "background" } | { "type": "failed", message: string, } | { "type": "restarting", attempt: number, at: number, } | { "type": "stopping" } | { "type": "stopped" };

/**
 * The link between a window and a session. It is another thing than the session: a lost link ends no session.
 */
export type SessionLink = { "type": "here" } | { "type": "connected" } | { "type": "connecting" } | { "type": "waiting", attempt: number, at: number, } | { "type": "incompatible", version: string, };

/**
 * What is checked out in a project's folder.
 */
export type Checkout = { 
/**
 * The branch, or the beginning of a commit's id; `None` if the folder is not under git.
 */
branch: string | null, 
/**
 * The name of the main worktree's folder, if this is another worktree of its repository.
 */
worktreeOf: string | null, };

/**
 * One working tree of a repository.
 */
export type Worktree = { 
/**
 * Its root.
 */
path: string, 
/**
 * The name without `refs/heads/`; `None` for a detached HEAD.
 */
branch: string | null, 
/**
 * The full id of its commit.
 */
commit: string | null, 
/**
 * The repository's first one, which is never removed.
 */
isMain: boolean, 
/**
 * The given folder is in it.
 */
isCurrent: boolean, 
/**
 * Git's user has locked it.
 */
isLocked: boolean, 
/**
 * Its folder is gone.
 */
isMissing: boolean, 
/**
 * Number of files that differ from its commit, new ones included; `None` if unknown.
 */
nChanged: number | null, };

/**
 * A worktree that would be created for a branch.
 */
export type WorktreePlan = { 
/**
 * Its root.
 */
path: string, 
/**
 * The branch would be created, too.
 */
isNew: boolean, };

/**
 * What would happen if a worktree were removed.
 */
export type WorktreeRemoval = { worktree: Worktree, 
/**
 * Why it is not removed, as a part of a sentence: “it is locked”.
 */
kept: string | null, 
/**
 * The first files and folders in it that git ignores. They would be lost.
 */
ignored: Array<string>, 
/**
 * How many more there are.
 */
nMoreIgnored: number, };

/**
 * A worktree with what Deskbell has open in it.
 */
export type WorktreeView = { worktree: Worktree, 
/**
 * A window shows it, or a folder in it.
 */
hasWindow: boolean, 
/**
 * Number of sessions in it whose agents run.
 */
nRunning: number, };

/**
 * A command or a subagent that runs in the background.
 */
export type BackgroundTask = { 
/**
 * The agent's id of the task, for `stopTask`.
 */
id: string, 
/**
 * The tool call that started it; `null` if the agent did not report it.
 */
itemId: ItemId | null, kind: TaskKind, 
/**
 * One line, in the agent's words. Empty if the agent gave none.
 */
description: string, 
/**
 * When Deskbell first heard of it, in milliseconds since the epoch.
 */
startedAt: number, 
/**
 * Tokens that a subagent used so far; `null` if the agent did not report any.
 */
tokens: number | null, 
/**
 * Number of tool calls of a subagent so far.
 */
nToolUses: number | null, 
/**
 * What a subagent does now, in one line.
 */
activity: string | null, 
/**
 * Its output can be shown while it is written.
 */
hasOutput: boolean, 
/**
 * The user asked the agent to stop it, and it has not ended yet.
 */
isStopping: boolean, };

export type TaskKind = "command" | "subagent" | "monitor" | "other";

/**
 * A turn that the agent will begin by itself.
 */
export type ScheduledTurn = { id: string, 
/**
 * The tool call that planned it; `null` if only a list of the agent contained it.
 */
itemId: ItemId | null, kind: ScheduleKind, 
/**
 * When a job runs, in the agent's words, such as “Every minute”. Empty for a wake-up.
 */
times: string, 
/**
 * What the agent will be asked, in one line. Empty until the agent lists its jobs.
 */
prompt: string, 
/**
 * In milliseconds since the epoch; `null` if the agent did not report it.
 */
nextAt: number | null, repeats: boolean, };

export type ScheduleKind = "job" | "wakeUp";

export type Model = { 
/**
 * The value for `setModel`.
 */
name: string, label: string, description: string, 
/**
 * The full model name for `name`, as in `Session::model` after the first turn has begun.
 */
resolved: string | null, 
/**
 * From lowest to highest; empty if the model has none.
 */
effortLevels: Array<string>, canStopThinking: boolean, 
/**
 * The model can decide by itself which calls need permission: the mode `auto`.
 */
canDecide: boolean, };

/**
 * A slice of a long item.
 */
export type Slice = { 
/**
 * The item.
 */
of: ItemId, 
/**
 * Counted from 0.
 */
nr: number, 
/**
 * The item ends with this slice.
 */
isLast: boolean, 
/**
 * The number of its first block in the item, counted from 0.
 */
block: number, 
/**
 * Its first block began in the slice before.
 */
continues: boolean, 
/**
 * Its last block goes on in the next slice.
 */
isContinued: boolean, 
/**
 * How many entries or rows of its first block are in earlier slices, if that is a list or a table.
 */
nBefore?: number, 
/**
 * How many entries or rows its first block has in all slices, if it is a list or a table that is cut. Not there while
 * the block may still grow.
 */
nInFirst?: number, 
/**
 * The same for its last block.
 */
nInLast?: number, };

/**
 * The session that wrote a message.
 */
export type Sender = { 
/**
 * The name that it gives itself, which nothing has checked. One line, misleading characters written out. Empty if it
 * has none.
 */
name: string, 
/**
 * The agent's id of its conversation, by the process that sent the message; `null` if it is not known any more.
 */
agentSessionId: string | null, 
/**
 * The folder of that process.
 */
folder: string | null, };

export type SlashCommand = { 
/**
 * Without the slash.
 */
name: string, description: string, argumentHint: string, };

export type QueuedPrompt = { id: PromptId, text: string, nImages: number, nDocuments: number, 
/**
 * Not sent because of an interrupt, a stop or a crash; it is sent only on the user's command.
 */
held: boolean, 
/**
 * Sent before, but its turn did not end properly. The agent may already have acted on it.
 */
cutOff: boolean, delivery: Delivery, 
/**
 * A held prompt is sent at this time, in milliseconds since 1970: the limit of the plan has reset by then.
 */
sendsAt: number | null, };

/**
 * Token counts and cost. The cost is the agent's own figure in US dollars.
 */
export type Usage = { 
/**
 * Tokens in the context at the end of the last turn: input, cached or not, and output.
 */
contextTokens: number, 
/**
 * Size of the model's context window in tokens; `null` until the agent reported it.
 */
contextWindow: number | null, 
/**
 * Cost of the whole session.
 */
costUsd: number, outputTokens: number, 
/**
 * Exact cost and tokens by model, as the agent reports them, over the whole session.
 */
byModel: Array<ModelUsage>, };

/**
 * The agent's last report of its context window, and the state of the last request for one.
 */
export type ContextUsage = { 
/**
 * The agent has not answered the last request yet.
 */
isPending: boolean, 
/**
 * `null` until the agent reported one for this conversation.
 */
report: ContextReport | null, 
/**
 * Why the last request has no answer, as a text to show.
 */
problem: string | null, };

/**
 * The parts that the agent reported last, and the state of the last request for them. A part is `null` until the agent
 * reported it.
 */
export type Configuration = { 
/**
 * When it was requested last.
 */
requestedAt: number | null, 
/**
 * The parts that the agent has not reported yet since then.
 */
pending: Array<ConfigurationPart>, 
/**
 * Why parts are missing or old.
 */
problems: Array<ConfigurationProblem>, servers: Array<McpServer> | null, hooks: Hooks | null, 
/**
 * Reported with the first turn of a process, and by `reloadPlugins`.
 */
plugins: Array<Plugin> | null, skills: Array<Extension> | null, subagents: Array<Extension> | null, memory: Array<MemoryFile> | null, 
/**
 * Changes of servers that the agent has not confirmed yet, by the names of the servers.
 */
changing: Array<string>, 
/**
 * Changes of servers that failed, until the next change of that server.
 */
failures: Array<ServerFailure>, 
/**
 * The agent has not answered `reloadPlugins` yet.
 */
isReloading: boolean, 
/**
 * Why the last `reloadPlugins` failed, or how many plugins have errors.
 */
reloadProblem: string | null, 
/**
 * How many entries were left out of the lists: too many of them, or names that are too long to show.
 */
nLeftOut: number, };

/**
 * A part of the configuration that is requested by itself.
 */
export type ConfigurationPart = "servers" | "hooks" | "extensions";

/**
 * Why a part is missing or old.
 */
export type ConfigurationProblem = { part: ConfigurationPart, 
/**
 * A text to show.
 */
text: string, };

/**
 * A change of a server that failed.
 */
export type ServerFailure = { server: string, 
/**
 * A text to show.
 */
text: string, };

/**
 * An MCP server that the agent knows.
 */
export type McpServer = { 
/**
 * Exactly as the agent reports it. Commands name the server by it.
 */
name: string, status: McpStatus, 
/**
 * The agent's own word where `status` is `other`.
 */
statusWord: string | null, 
/**
 * Where it is configured: `project`, `user`, `local`, `dynamic`, …
 */
scope: string | null, 
/**
 * `stdio`, `http`, `sse`, …
 */
transport: string | null, 
/**
 * The command with its arguments, or the address without its query.
 */
target: string | null, 
/**
 * The name and version that the server reports of itself.
 */
serverInfo: string | null, 
/**
 * Why it is not connected, in the agent's words.
 */
error: string | null, tools: Array<McpTool>, 
/**
 * All of its tools; `tools` may have fewer.
 */
nTools: number, };

export type McpStatus = "connected" | "failed" | "needsAuth" | "pending" | "disabled" | "other";

/**
 * A tool of an MCP server.
 */
export type McpTool = { name: string, 
/**
 * The server says that it changes nothing.
 */
isReadOnly: boolean, };

/**
 * The hooks that the agent loaded.
 */
export type Hooks = { hooks: Array<Hook>, 
/**
 * All hooks are turned off.
 */
areDisabled: boolean, 
/**
 * Only hooks of the organisation's policy run.
 */
areManaged: boolean, };

/**
 * One hook.
 */
export type Hook = { 
/**
 * `PreToolUse`, `Stop`, …
 */
event: string, 
/**
 * The tools or events that it is for; `null` for all.
 */
matcher: string | null, 
/**
 * `command`, `prompt`, …
 */
kind: string, 
/**
 * What it runs.
 */
text: string, 
/**
 * Where it is configured, in the agent's words.
 */
origin: string, 
/**
 * In seconds.
 */
timeoutS: number | null, };

/**
 * A plugin that the agent loaded.
 */
export type Plugin = { name: string, 
/**
 * Its folder, or `builtin`.
 */
path: string | null, 
/**
 * Where it was installed from: `name@marketplace`.
 */
origin: string | null, };

/**
 * A skill or a subagent.
 */
export type Extension = { name: string, description: string | null, 
/**
 * `null` for a subagent of the agent's own.
 */
origin: string | null, path: string | null, model: string | null, };

/**
 * A file that the agent's context begins with.
 */
export type MemoryFile = { path: string, 
/**
 * The agent's own word: `Project`, `User`, …
 */
kind: string | null, tokens: number | null, };

/**
 * The rewind in progress, if any, and the one that can be undone.
 */
export type RewindState = { 
/**
 * A preview, a rewind or its undo is being carried out.
 */
isPending: boolean, 
/**
 * Why the last one was not carried out, as a text to show.
 */
problem: string | null, 
/**
 * The last rewind, as long as it can be undone.
 */
undo: RewindUndo | null, };

/**
 * A rewind that can be undone.
 */
export type RewindUndo = { at: number, 
/**
 * The beginning of the prompt.
 */
prompt: string, 
/**
 * Number of files that the undo restores.
 */
nFiles: number, 
/**
 * The undo also restores the conversation. It cannot after the next prompt.
 */
conversation: boolean, };

/**
 * What a rewind would change.
 */
export type RewindPreview = { promptId: ItemId, 
/**
 * The prompt's text.
 */
prompt: string, 
/**
 * Why files cannot be rewound, as a text to show; `null` if they can.
 */
filesProblem: string | null, 
/**
 * Why the conversation cannot be rewound; `null` if it can.
 */
conversationProblem: string | null, 
/**
 * The first files that would change.
 */
files: Array<RewindFile>, 
/**
 * Number of further files.
 */
nMore: number, };

/**
 * A question to the agent beside the conversation, and its outcome.
 */
export type SideQuestion = { 
/**
 * The id that the command `askSide` gave to it.
 */
id: string, question: string, purpose: SidePurpose, 
/**
 * When it was asked, in milliseconds since 1970.
 */
askedAt: number, outcome: SideOutcome, };

/**
 * What an answer to a side question is for.
 */
export type SidePurpose = "reading" | "commitMessage";

/**
 * What became of a side question.
 */
export type SideOutcome = { "type": "waiting", retry: SideRetry | null, } | { "type": "answered", text: string, blocks: Array<Block>, 
/**
 * The answer was longer; this is its beginning.
 */
isCut: boolean, } | { "type": "failed", message: string, } | { "type": "cancelled" };

/**
 * A repeated call of the model.
 */
export type SideRetry = { attempt: number, most: number, };

/**
 * A file that a rewind would change.
 */
export type RewindFile = { 
/**
 * Relative to the project, or absolute if it is outside.
 */
path: string, change: RewindChange, 
/**
 * It is outside the project's folder.
 */
isOutside: boolean, 
/**
 * From the file as it is now to what it would be; `null` if that cannot be shown.
 */
diff: Diff | null, 
/**
 * What the user has to know about it, such as why there is no diff.
 */
note: string | null, 
/**
 * The undo can restore it.
 */
hasUndo: boolean, };

export type RewindChange = "modified" | "created" | "removed" | "unknown";

/**
 * A breakdown of the context window.
 */
export type ContextReport = { 
/**
 * When it was requested.
 */
requestedAt: number, model: string | null, 
/**
 * Tokens in use.
 */
totalTokens: number, 
/**
 * Size of the context window in tokens.
 */
windowTokens: number, 
/**
 * The conversation is compacted automatically at this number of tokens; `null` if it is not.
 */
compactsAtTokens: number | null, 
/**
 * In the agent's order.
 */
categories: Array<ContextCategory>, };

/**
 * A part of the context window.
 */
export type ContextCategory = { 
/**
 * The agent's name: “System tools”.
 */
name: string, tokens: number, kind: ContextKind, };

/**
 * What the tokens of a category are.
 */
export type ContextKind = "used" | "reserved" | "free" | "deferred";

/**
 * The limits of the user's plan: the last report of each window. Empty for an agent that uses an API key.
 */
export type PlanLimits = { windows: Array<LimitWindow>, overage: Overage | null, };

/**
 * A limit for a window of time.
 */
export type LimitWindow = { 
/**
 * The agent's name of it: `five_hour`.
 */
id: string, 
/**
 * As shown: “five-hour limit”.
 */
name: string, status: LimitStatus, 
/**
 * The share that is used: 0.91 is 91 %. `null` if the agent did not report it.
 */
used: number | null, resetsAt: number | null, reportedAt: number, };

/**
 * How far a limit is used.
 */
export type LimitStatus = "allowed" | "near" | "reached";

/**
 * Use beyond the limits of the plan, which is paid for separately.
 */
export type Overage = { isAllowed: boolean, 
/**
 * The last turn used it.
 */
isUsed: boolean, 
/**
 * Why it is not allowed, as a text to show.
 */
reason: string | null, resetsAt: number | null, reportedAt: number, };

/**
 * What one model cost.
 */
export type ModelUsage = { 
/**
 * As the agent names it; empty if it reported only a sum.
 */
model: string, 
/**
 * In US dollars, as an exact decimal number: `0.010312`.
 */
cost: string, tokens: Tokens, };

/**
 * Numbers of tokens as the agent counts them. Tokens that were read from a cache or written to it are not in `input`.
 */
export type Tokens = { input: number, output: number, cacheRead: number, cacheWrite: number, };

/**
 * A request for permission to run a tool call.
 */
export type PermissionRequest = { id: RequestId, tool: string, 
/**
 * For a tool of an MCP server: the server and the tool as displayed, “clock: Time (get_now)”. The name in brackets
 * is the tool's own, if it differs. Misleading characters are written out.
 */
serverTool: string | null, 
/**
 * One line: “Run this command?”
 */
question: string, 
/**
 * Exactly what would be run, written or fetched: the raw text, complete.
 */
subject: string, 
/**
 * The whole input as JSON, to display and for programs: every token as the agent wrote it, one field per line.
 */
inputText: string, 
/**
 * Identifies what is shown. An answer that allows anything must contain it, so that what was seen is what runs.
 */
shown: string, 
/**
 * The input contains more than `subject` and `diff` show.
 */
hasMore: boolean, 
/**
 * The host that a fetch would really contact; `null` for anything else.
 */
host: string | null, 
/**
 * Warnings about misleading content in the whole input.
 */
notices: Array<Notice>, 
/**
 * The whole request as plain text, for places that can show only that; `null` if it would hide something.
 */
plain: string | null, kind: RequestKind, 
/**
 * An edit as it would change the file; `null` for anything else.
 */
diff: Diff | null, 
/**
 * The agent's own suggestions for “always allow”.
 */
suggestions: Array<Suggestion>, 
/**
 * The id of the suggestion that one click or key may choose: the only one, short and plain. `null`: the user reads
 * `suggestions` and chooses first.
 */
always: string | null, 
/**
 * The tool call that it belongs to.
 */
itemId: ItemId | null, 
/**
 * The reason for the request, if the agent gave one.
 */
reason: string | null, 
/**
 * What the agent does not say about the call, in words; `null` if it says what would run.
 */
unreported: string | null, 
/**
 * The subagent that asks; `null` for the agent itself.
 */
subagent: Subagent | null, askedAt: number, };

/**
 * A warning about content of a request that may be misleading.
 */
export type Notice = { kind: NoticeKind, 
/**
 * One line: “1 hidden character changes the direction of the text: \u{202E}”.
 */
words: string, };

/**
 * The subject of a notice.
 */
export type NoticeKind = "direction" | "invisible" | "control" | "blank" | "combining" | "lookAlike" | "broken" | "duplicateKey" | "padding" | "shell" | "address" | "path" | "long";

/**
 * The kind of answer that a request needs.
 */
export type RequestKind = { "type": "command" } | { "type": "edit" } | { "type": "fetch" } | { "type": "other" } | { "type": "questions", questions: Array<Question>, } | { "type": "plan", blocks: Array<Block>, } | { "type": "form", form: Form, };

export type Question = { text: string, header: string, options: Array<QuestionOption>, multiSelect: boolean, };

export type QuestionOption = { label: string, description: string, 
/**
 * What the option would look like, as text to draw with equal widths, bounded; `null` if the agent shows nothing.
 */
preview: string | null, };

/**
 * A form, or a page that the user is asked to open.
 */
export type Form = { 
/**
 * The MCP server that asks; `null` for the agent itself.
 */
server: string | null, 
/**
 * What it says to the user. Can be empty.
 */
message: string, 
/**
 * The page to open, `http` or `https`; `null` for a form to fill in. A page has no fields.
 */
url: string | null, 
/**
 * In the order of the one who asks. Can be empty: then it asks only for consent.
 */
fields: Array<FormField>, };

export type FormField = { 
/**
 * Its key in `Decision::Fill`. Unique in the form.
 */
name: string, 
/**
 * The label to show. Can be equal for two fields.
 */
label: string, description: string | null, isRequired: boolean, kind: FieldKind, };

/**
 * The values that a field takes.
 */
export type FieldKind = { "type": "text", default: string | null, 
/**
 * `email`, `uri`, `date` or `date-time`, or what else the schema names. Not checked.
 */
format: string | null, 
/**
 * In characters.
 */
minLength: number | null, maxLength: number | null, } | { "type": "number", isWhole: boolean, default: number | null, minimum: number | null, maximum: number | null, } | { "type": "switch", default: boolean | null, } | { "type": "one", choices: Array<FormChoice>, default: string | null, } | { "type": "many", choices: Array<FormChoice>, default: Array<string>, 
/**
 * How many have to be chosen.
 */
minimum: number | null, maximum: number | null, } | { "type": "unknown", schema: string, };

export type FormChoice = { value: string, label: string, description: string | null, };

/**
 * A rule that the agent suggests to save.
 */
export type Suggestion = { 
/**
 * Its id in `Decision::AllowAlways`.
 */
id: string, 
/**
 * In words: “Allow `touch b.txt`”.
 */
label: string, 
/**
 * The exact rule, `Bash(touch b.txt)`. Must be drawn with every code point visible.
 */
rule: string, 
/**
 * Where it is saved, in words: “this session”, “this project, for me”.
 */
keptIn: string, 
/**
 * The suggestion as the agent sent it, and as it is sent back.
 */
raw: JsonValue, };

/**
 * The subagent that makes a request.
 */
export type Subagent = { 
/**
 * The agent's id of it.
 */
agentId: string, 
/**
 * Its task as the agent described it when it started it: one line, misleading characters written out. Empty if
 * unknown.
 */
description: string, 
/**
 * The tool call that started it, if known.
 */
itemId: ItemId | null, 
/**
 * In words, one line: “Asked by the subagent “Explore the parser””.
 */
words: string, };

/**
 * The result of a turn.
 */
export type TurnEnd = { outcome: Outcome, 
/**
 * One line to show: “Done”, “Interrupted”, “The API answered 529: overloaded”.
 */
words: string, 
/**
 * The prompts that it answered; empty if no prompt caused it.
 */
promptIds: Array<PromptId>, durationMs: number, outputTokens: number, 
/**
 * Cost of this turn only; `null` if unknown. The session's cost is the sum over its turns.
 */
costUsd: number | null, 
/**
 * Tokens of this turn only, over all models and subagents; `null` if unknown.
 */
tokens: Tokens | null, timing: TurnTiming, };

/**
 * Turn latency in milliseconds; a value is `null` if the event did not occur.
 */
export type TurnTiming = { 
/**
 * From the start of the agent's process until it was ready; only for the first turn of the process.
 */
spawnMs: number | null, 
/**
 * From the prompt to the agent's first line.
 */
firstLineMs: number | null, 
/**
 * From the prompt to the first text for the user.
 */
firstTextMs: number | null, };

/**
 * The outcome of a turn. `is_error` takes precedence, because an API failure has `subtype: success` (2.1.329).
 */
export type Outcome = { "type": "done" } | { "type": "unavailable" } | { "type": "interrupted" } | { "type": "notLoggedIn" } | { "type": "unknownModel" } | { "type": "contextExceeded" } | { "type": "rateLimited" } | { "type": "maxTurns" } | { "type": "budgetExhausted" } | { "type": "apiError", status: number | null, } | { "type": "crashed" } | { "type": "failed" };

/**
 * The exit of a process.
 */
export type ExitReport = { code: number | null, signal: number | null, 
/**
 * The exit was requested: by a stop, by quitting the app, or by hibernation.
 */
expected: boolean, 
/**
 * The last lines of its error output.
 */
stderr: string, };

/**
 * An error with a code for programs, a message to show, and an optional detail to expand.
 */
export type CommandError = { message: string, detail: string | null, } & ({ "code": "agentNotFound" } | { "code": "spawnFailed" } | { "code": "badProject" } | { "code": "notTrusted" } | { "code": "noSuchSession" } | { "code": "noSuchPrompt" } | { "code": "noSuchRequest" } | { "code": "badCommand" } | { "code": "openElsewhere" } | { "code": "changedSince", files: Array<string>, } | { "code": "refused" } | { "code": "internal" });

/**
 * The kind of an error, with what a program needs to act on it.
 */
export type ErrorCode = { "code": "agentNotFound" } | { "code": "spawnFailed" } | { "code": "badProject" } | { "code": "notTrusted" } | { "code": "noSuchSession" } | { "code": "noSuchPrompt" } | { "code": "noSuchRequest" } | { "code": "badCommand" } | { "code": "openElsewhere" } | { "code": "changedSince", files: Array<string>, } | { "code": "refused" } | { "code": "internal" };

/**
 * One item of the transcript.
 */
export type Item = { id: ItemId, 
/**
 * The tool call whose subagent made this item; `null` for the main thread.
 */
parent: ItemId | null, 
/**
 * The row that it is drawn in, counted from 0. A run of reads and searches shares one row, and the items of a
 * subagent are in the row of its call. A row keeps its number forever and may become empty.
 */
row: number, 
/**
 * Its number in its row, counted from 0.
 */
nr: number, 
/**
 * How many calls it is inside of. Only in windows, which draw each item of an open subagent as a row.
 */
depth?: number, at: number, 
/**
 * The slice of a long item that this is, if it is not whole. Only in windows, which draw each slice as a row.
 */
slice?: Slice, body: Body, };

export type Body = { "type": "prompt", text: string, nImages: number, nDocuments: number, state: PromptState, } | { "type": "message", sender: Sender, text: string, } | { "type": "text", blocks: Array<Block>, 
/**
 * Still being written.
 */
streaming: boolean, } | { "type": "thinking", text: string, streaming: boolean, durationMs: number | null, } | { "type": "toolCall" } & ToolCall | { "type": "notice", level: Level, text: string, 
/**
 * Expandable detail: stderr, or a line that could not be parsed.
 */
detail: string | null, 
/**
 * The end of the reported condition, for example when a limit resets.
 */
untilAt: number | null, } | { "type": "turnEnd" } & TurnEnd;

/**
 * The state of a prompt.
 */
export type PromptState = "queued" | "sent" | "done" | "failed" | "withdrawn" | "held";

export type Level = "info" | "warning" | "error";

/**
 * A tool call.
 */
export type ToolCall = { 
/**
 * The agent's name of the tool: `Bash`, `Edit`, `mcp__server__tool`.
 */
tool: string, icon: ToolIcon, 
/**
 * “Ran”, “Edited”; depends on the state: “Wants to run”, “Running”, “Did not run”.
 */
verb: string, 
/**
 * `cargo test`, `src/lib.rs`: one line.
 */
subject: string, state: ToolState, 
/**
 * How it ended, if worth mentioning: “exit code 1”, “denied”.
 */
note: string | null, 
/**
 * It runs, or ran, in the background: it continues after its turn.
 */
inBackground: boolean, 
/**
 * If the user changed the input: the beginning of the agent's input. All other fields describe what ran.
 */
originalInput: string | null, durationMs: number | null, 
/**
 * How many images it returned. A window asks for them when they are shown.
 */
nImages?: number, detail: ToolDetail, };

/**
 * The fields of a `ToolCall` that can change while its input stays the same.
 */
export type CallProgress = { verb: string, subject: string, state: ToolState, note: string | null, inBackground: boolean, originalInput: string | null, durationMs: number | null, nImages?: number, 
/**
 * The output in its detail; `null` if that has none.
 */
output: Output | null, };

export type ToolIcon = "command" | "edit" | "read" | "search" | "web" | "agent" | "todo" | "question" | "plan" | "mcp" | "other";

export type ToolState = "preparing" | "running" | "waiting" | "background" | "succeeded" | "failed" | "denied" | "notRun" | "interrupted";

/**
 * The expandable detail of a tool call.
 */
export type ToolDetail = { "type": "command", command: string, 
/**
 * The end of the output.
 */
output: Output, } | { "type": "edit" } & Diff | { "type": "text", language: string | null, 
/**
 * The beginning of the output.
 */
output: Output, } | { "type": "todos", todos: Array<Todo>, } | { "type": "notebook", 
/**
 * In words: “Replaced code cell a1b2”.
 */
cell: string, 
/**
 * The source of the cell: the difference if its earlier source is known, otherwise the new source as added
 * lines. Empty for a deleted cell whose source is not known.
 */
diff: Diff, } | { "type": "questions", questions: Array<AnsweredQuestion>, } | { "type": "plan", blocks: Array<Block>, } | { "type": "json", input: string, 
/**
 * The beginning of the output.
 */
output: Output, };

/**
 * A part of a tool's output. The engine has the complete output.
 */
export type Output = { 
/**
 * Total number of lines. A very long line counts, and is sent, as several.
 */
total: number, 
/**
 * Number of the first of `lines`, counted from 0.
 */
first: number, lines: Array<CodeLine>, };

/**
 * An option of a question.
 */
export type AnsweredOption = { label: string, description: string, isChosen: boolean, };

/**
 * A question of the agent, and the user's answer.
 */
export type AnsweredQuestion = { text: string, header: string, options: Array<AnsweredOption>, 
/**
 * The user's own words, besides or instead of an option.
 */
ownWords: string | null, 
/**
 * There is an answer to it.
 */
isAnswered: boolean, };

export type Todo = { text: string, 
/**
 * `pending`, `inProgress`, `completed`.
 */
state: TodoState, };

export type TodoState = "pending" | "inProgress" | "completed";

/**
 * A block of a document, parsed from Markdown.
 */
export type Block = { "type": "paragraph", spans: Array<Span>, } | { "type": "heading", level: number, spans: Array<Span>, } | { "type": "code", language: string | null, lines: Array<CodeLine>, } | { "type": "quote", blocks: Array<Block>, } | { "type": "list", 
/**
 * The first number of an ordered list; `null` for bullets.
 */
start: number | null, items: Array<ListItem>, } | { "type": "table", align: Array<Align>, head: Array<Cell>, rows: Array<Array<Cell>>, } | { "type": "rule" } | { "type": "footnote", label: string, blocks: Array<Block>, };

export type ListItem = { 
/**
 * Checkbox state of a task; `null` for an ordinary item.
 */
checked: boolean | null, blocks: Array<Block>, };

export type Cell = { spans: Array<Span>, };

export type Align = "none" | "left" | "center" | "right";

/**
 * A run of text inside a block.
 */
export type Span = { "type": "text", text: string, } | { "type": "code", text: string, } | { "type": "emphasis", spans: Array<Span>, } | { "type": "strong", spans: Array<Span>, } | { "type": "strike", spans: Array<Span>, } | { "type": "link", url: string, host: string, spans: Array<Span>, } | { "type": "file", 
/**
 * As the text names it, decoded and without the line.
 */
path: string, 
/**
 * Counted from 1.
 */
line: number | null, 
/**
 * Where a Markdown link leads, if its text does not say it: shown after the text unless the file is a link.
 */
destination: string | null, spans: Array<Span>, } | { "type": "image", url: string, host: string | null, alt: string, } | { "type": "raw", text: string, } | { "type": "footnoteRef", label: string, } | { "type": "break" };

/**
 * One line of code or of terminal output.
 */
export type CodeLine = { tokens: Array<Token>, };

export type Token = { text: string, style: TokenStyle, };

/**
 * The meaning of a token; the UI's tokens file assigns its colour.
 */
export type TokenStyle = "plain" | "keyword" | "string" | "function" | "comment" | "number" | "type" | "red" | "green" | "yellow" | "blue" | "magenta" | "cyan" | "dim" | "bold";

/**
 * The diff of one file.
 */
export type Diff = { path: string, added: number, removed: number, hunks: Array<Hunk>, };

export type Hunk = { 
/**
 * A plain line with consecutive numbers is a string: `+`, `-` or a blank, then its content. Its numbers are those
 * of the previous line plus 1; unknown numbers stay unknown.
 */
lines: Array<string | DiffLine>, };

export type DiffLine = { kind: DiffKind, 
/**
 * 1-based; `null` if that version has no such line, or if the position in the file is unknown.
 */
oldLine: number | null, newLine: number | null, parts: Array<DiffPart>, };

export type DiffKind = "context" | "added" | "removed";

/**
 * A run of text in a line; `strong` marks changed words.
 */
export type DiffPart = { text: string, strong: boolean, style: TokenStyle, };

/**
 * Another machine that a project is on. `path` then begins with its name.
 */
export type FarMachine = { name: string, 
/**
 * The first connection is being made. Until then nothing is known of the folder.
 */
isConnecting: boolean, };

/**
 * The panels at both sides of the conversation.
 */
export type SidePanels = { 
/**
 * The list of sessions.
 */
sessions: PanelChoice, 
/**
 * Changes and tasks.
 */
side: PanelChoice, };

/**
 * What the user chose for a panel.
 */
export type PanelChoice = { 
/**
 * In pixels of the page; `null` is the usual width.
 */
width: number | null, 
/**
 * `null`: the window decides.
 */
shown: boolean | null, };

/**
 * A question of ssh, or of the machine that it connects to. Its text is theirs, not Deskbell's.
 */
export type ConnectionQuestion = { id: string, 
/**
 * The machine, as the user named it.
 */
machine: string, kind: ConnectionQuestionKind, text: string, 
/**
 * The fingerprint of a host key, whole.
 */
fingerprint: string | null, 
/**
 * The same was asked before in this connection: the answer was wrong.
 */
isAgain: boolean, };

/**
 * The answer that a question of ssh needs.
 */
export type ConnectionQuestionKind = "secret" | "hostKey" | "confirm" | "notice";

/**
 * The first view of a window: its project and the sessions in it.
 */
export type ProjectView = { 
/**
 * Absolute path of the folder.
 */
path: string, name: string, 
/**
 * The machine that the folder is on; `null` for this one.
 */
machine: FarMachine | null, checkout: Checkout, 
/**
 * Whether new sessions keep running when Deskbell closes, if that was chosen for the project itself; `null` follows
 * the setting.
 */
keepRunning: boolean | null, sessions: Array<Session>, 
/**
 * The session that was open last.
 */
open: SessionId | null, agent: AgentView, 
/**
 * Why the folder cannot be used.
 */
problem: CommandError | null, 
/**
 * The folder's trust findings and the user's decision; `null` if only the demo agent is used.
 */
trust: TrustView | null, 
/**
 * The same for another agent that was not started here, until the user has decided about it.
 */
agentTrust: TrustView | null, 
/**
 * How many starts of other agents were refused here. With each of them the page is shown again.
 */
agentRefusals: number, 
/**
 * An agent was not started because the user has to decide about the folder first.
 */
startRefused: boolean, 
/**
 * A text waits to be taken as a draft: a second start named a prompt.
 */
hasDraft: boolean, 
/**
 * Processes of earlier runs of the app that are still running, for all projects.
 */
orphans: Array<OrphanProcess>, 
/**
 * Files that could not be read: Deskbell's own when the app started, and the project's current branch.
 */
unreadFiles: Array<UnreadFile>, appVersion: string, };

/**
 * A conversation of the project as the agent stored it.
 */
export type StoredSession = { 
/**
 * The agent's own id of the conversation.
 */
agentSessionId: string, 
/**
 * The user's title, or the agent's, or the last or the first prompt. One line.
 */
title: string, 
/**
 * One line each, cut if long.
 */
firstPrompt: string | null, lastPrompt: string | null, 
/**
 * The branch that was checked out last.
 */
branch: string | null, model: string | null, 
/**
 * Time of its last message; 0 if the agent does not report it.
 */
changedAt: number, state: StoredState, 
/**
 * A process of the agent that has it open now, whichever program started that.
 */
live: LiveProcess | null, 
/**
 * The profile whose agents keep it, in a folder of their own; `null` if it is in Claude Code's usual folder.
 */
profile: string | null, 
/**
 * The name of the agent that keeps it, as its last process listed it; `null` if it is in Claude Code's store.
 */
agent: string | null, };

/**
 * A session that begins as a copy of another one.
 */
export type ForkedSession = { session: Session, 
/**
 * The prompt before which the copy ends; the user may change and send it.
 */
draft: string | null, };

/**
 * A mark of the user on a session, in Deskbell's list only.
 */
export type SessionMark = "pinned" | "archived";

/**
 * A session with a mark.
 */
export type MarkedSession = { 
/**
 * The agent's id of the conversation; the session's own id if the agent had none yet.
 */
id: string, mark: SessionMark, };

/**
 * The end of a stored conversation.
 */
export type StoredState = { "type": "completed" } | { "type": "interrupted" } | { "type": "failed", message: string, } | { "type": "unknown" };

/**
 * A process that has a conversation open.
 */
export type LiveProcess = { pid: number, activity: LiveActivity, };

/**
 * The activity of such a process, as it reports it.
 */
export type LiveActivity = "working" | "needsInput" | "open";

/**
 * A change of the list of stored sessions.
 */
export type StoredChange = { 
/**
 * New or changed sessions.
 */
changed: Array<StoredSession>, 
/**
 * The agent's ids of sessions that are gone.
 */
removed: Array<string>, 
/**
 * The list is as the store was when it was last read; more changes follow only when the store changes.
 */
isComplete: boolean, 
/**
 * Files that could not be read.
 */
nUnreadable: number, 
/**
 * Why the store could not be read.
 */
problem: string | null, };

/**
 * More results of a search, and how far it has come.
 */
export type SearchChange = { 
/**
 * Sessions with matches, the last changed ones first, after those that were sent before.
 */
found: Array<FoundSession>, 
/**
 * Files that have been searched, and files to search.
 */
nSearched: number, nFiles: number, 
/**
 * Files that could not be read.
 */
nUnreadable: number, 
/**
 * Lines that were not searched: too long, or not complete.
 */
nLeftOut: number, 
/**
 * There are more results than are sent.
 */
isCut: boolean, 
/**
 * Nothing follows.
 */
isComplete: boolean, 
/**
 * Why the search ended early, or the query is not searched.
 */
problem: string | null, };

/**
 * A session with matches.
 */
export type FoundSession = { 
/**
 * The agent's own id of the conversation.
 */
agentSessionId: string, 
/**
 * One line.
 */
title: string, 
/**
 * The folder in which the session began.
 */
project: string, 
/**
 * The name of that folder, one line.
 */
projectName: string, 
/**
 * Time of its last message.
 */
changedAt: number, 
/**
 * The newest matches, newest first.
 */
hits: Array<SearchHit>, 
/**
 * It has older matches too.
 */
hasMore: boolean, 
/**
 * Its agent runs in another window of Deskbell. A result is opened there.
 */
inOtherWindow: boolean, 
/**
 * The profile whose agents keep it, in a folder of their own.
 */
profile: string | null, };

/**
 * A match in a session.
 */
export type SearchHit = { 
/**
 * The item with the match; `null` if it is the title.
 */
itemId: ItemId | null, place: SearchPlace, 
/**
 * The tool, if the match is in a call or in its output.
 */
tool: string | null, 
/**
 * Time of the message; `null` if it has none.
 */
at: number | null, 
/**
 * The text around the match, on one line.
 */
snippet: Array<SnippetPart>, };

/**
 * The part of a session that matches.
 */
export type SearchPlace = "title" | "prompt" | "text" | "thinking" | "call" | "output";

/**
 * A piece of a snippet.
 */
export type SnippetPart = { text: string, 
/**
 * It matches the query.
 */
isMatch: boolean, };

/**
 * The usage page: the sums of one project, or of all.
 */
export type UsageView = { total: UsageRow, 
/**
 * The last days with costs, oldest first: at most 366. What has no day is not in it.
 */
days: Array<UsageRow>, 
/**
 * The most expensive first, as in the following lists.
 */
models: Array<UsageRow>, 
/**
 * At most 200.
 */
projects: Array<UsageRow>, 
/**
 * At most 200.
 */
sessions: Array<UsageRow>, 
/**
 * Number of all sessions that cost something.
 */
nSessions: number, 
/**
 * Number of files of sessions that could not be read. Their costs are missing.
 */
nUnreadable: number, };

/**
 * The state that the working tree is compared with.
 */
export type Against = "commit" | "session" | "prompt" | { "at": number };

/**
 * The files that differ from an earlier state.
 */
export type Changes = { base: ChangesBase, 
/**
 * In the order of their paths.
 */
files: Array<FileChange>, 
/**
 * How many more changed files there are than `files` lists.
 */
nMore: number, 
/**
 * Files that may have changed, but were too large or too many to compare.
 */
nNotCompared: number, 
/**
 * Why the list is not complete, as a sentence.
 */
problem: string | null, };

/**
 * What the files were compared with.
 */
export type ChangesBase = { "type": "commit", id: string, } | { "type": "noCommit" } | { "type": "prompt", since: number, } | { "type": "noPrompt" } | { "type": "edits", sincePrompt: boolean, } | { "type": "noRepository" };

export type FileChange = { 
/**
 * Relative to the project, with slashes. Bytes that are not UTF-8 are written as `\xff`.
 */
path: string, 
/**
 * The earlier path of a file that was renamed and is otherwise the same.
 */
oldPath: string | null, state: FileState, content: FileContent, 
/**
 * Lines; `null` if the file is not text, or was not counted.
 */
added: number | null, removed: number | null, };

export type FileState = "added" | "untracked" | "modified" | "deleted" | "renamed" | "conflicted";

export type FileContent = "text" | "binary" | "large" | "link" | "repository" | "special" | "converted" | "unknown";

/**
 * The change of one file.
 */
export type FileDiff = { diff: Diff | null, 
/**
 * What there is to know instead of a diff, or in addition to it, as a sentence.
 */
note: string | null, 
/**
 * How many lines of the diff were left out at its end.
 */
nMoreLines: number, 
/**
 * Identifies both versions, for a revert; `null` if the file cannot be reverted.
 */
version: string | null, };

/**
 * The place of a hunk, as in the header of a patch: `@@ -12,4 +12,5 @@`.
 */
export type HunkPlace = { oldStart: number, nOld: number, newStart: number, nNew: number, };

/**
 * A prompt whose working tree is known.
 */
export type PromptMoment = { 
/**
 * In milliseconds since the epoch.
 */
since: number, 
/**
 * The beginning of the prompt.
 */
text: string, };

/**
 * Changes as a patch for `git apply`.
 */
export type Patch = { text: string, 
/**
 * Number of files in it.
 */
nFiles: number, 
/**
 * Changed files that it lacks, each with the reason, as sentences.
 */
leftOut: Array<string>, };

/**
 * A change that was reverted.
 */
export type Reverted = { 
/**
 * Names the copies of the files as they were before, to undo it. In milliseconds since the epoch.
 */
at: number, 
/**
 * The files that were written or removed.
 */
files: Array<string>, };

/**
 * The content and the message of a commit.
 */
export type CommitRequest = { files: CommitFiles, 
/**
 * `null` keeps the message of an amended commit.
 */
message: string | null, 
/**
 * Adds a line `Signed-off-by`.
 */
signoff: boolean, 
/**
 * Replaces the last commit.
 */
amend: boolean, 
/**
 * The last commit when the plan was shown; `null` if the repository may have any.
 */
head: string | null, };

export type CommitFiles = "all" | { "only": Array<CommitFile> };

/**
 * A changed file, or some hunks of it.
 */
export type CommitFile = { 
/**
 * A path of the list of changes.
 */
path: string, 
/**
 * `null` is the whole file.
 */
hunks: Array<HunkPlace> | null, 
/**
 * The version of the diff that was shown; `null` accepts the present one.
 */
version: string | null, };

/**
 * The state of a repository before a commit.
 */
export type CommitState = { branch: string, 
/**
 * The last commit; `null` if there is none yet.
 */
head: string | null, 
/**
 * Paths of the list of changes whose staged version is the present one.
 */
staged: Array<string>, 
/**
 * Paths of the list of changes whose staged version is another one.
 */
partlyStaged: Array<string>, 
/**
 * `null` if there is no commit yet.
 */
amendment: Amendment | null, 
/**
 * The hooks, filters and other programs that `git commit` would run.
 */
programs: Array<string>, };

/**
 * The state of the commit box of a window.
 */
export type CommitBoxState = { "type": "ready", repository: CommitState, 
/**
 * The folder is trusted. Otherwise the user is asked in a dialog before programs run.
 */
isTrusted: boolean, } | { "type": "refused", problem: CommandError, } | { "type": "running" };

/**
 * Whether the last commit can be amended.
 */
export type Amendment = { "type": "possible", 
/**
 * The message of the last commit; empty if it is not in UTF-8.
 */
message: string, 
/**
 * The programs that `git commit --amend` would run.
 */
programs: Array<string>, } | { "type": "refused", reason: string, };

/**
 * A commit that was made.
 */
export type Committed = { id: string, branch: string, 
/**
 * The first line of the message.
 */
subject: string, 
/**
 * The paths of the commit, relative to the root of the repository.
 */
files: Array<string>, 
/**
 * Files of the commit that were not chosen: a hook added them.
 */
addedByHooks: Array<string>, staysStaged: Array<string>, replacesStaged: Array<string>, 
/**
 * The end of the output of git and its hooks.
 */
output: string, 
/**
 * Why git failed although the commit was made, such as a failing hook after it.
 */
problem: string | null, };

/**
 * A commit that was undone.
 */
export type UndoneCommit = { id: string, branch: string, 
/**
 * The last commit now; `null` if there is none.
 */
head: string | null, };

/**
 * One sum. A column that it is summed over is `null`.
 */
export type UsageRow = { 
/**
 * `2026-11-22`, in UTC; `null` also for what was spent on an unknown day.
 */
day: string | null, 
/**
 * Absolute path of the project's folder.
 */
project: string | null, sessionId: SessionId | null, 
/**
 * The title of the session; `null` also if it has none.
 */
title: string | null, 
/**
 * As the agent names it; empty if it reported only a sum.
 */
model: string | null, 
/**
 * Turns, each counted once for every model that it used.
 */
turns: number, 
/**
 * In US dollars, as an exact decimal number: `0.010312`.
 */
cost: string, 
/**
 * Without cached tokens.
 */
inputTokens: number, outputTokens: number, cacheReadTokens: number, cacheWriteTokens: number, };

/**
 * The content of the board.
 */
export type BoardView = { 
/**
 * Those that need the user come first.
 */
rows: Array<BoardRow>, 
/**
 * The other machines that this run of Deskbell connected to, and those of the listed projects, by name. It connects
 * to none for the board.
 */
machines: Array<BoardMachine>, };

/**
 * Another machine on the board.
 */
export type BoardMachine = { name: string, 
/**
 * `null`: this run of Deskbell did not connect to it.
 */
link: SessionLink | null, 
/**
 * When the link was up last, in milliseconds since the epoch; `null` if it never was.
 */
seenAt: number | null, 
/**
 * When a project there was opened last; `null` if none is in the list.
 */
usedAt: number | null, };

/**
 * What a machine answered when the user asked it what runs there.
 */
export type MachineAnswer = { 
/**
 * When it answered, in milliseconds since the epoch.
 */
at: number, 
/**
 * Those that run or wait; those that wait for the user come first.
 */
sessions: Array<MachineSession>, 
/**
 * Sessions there that neither run nor wait.
 */
nIdle: number, 
/**
 * Sessions that are not in the list: too many, or of a version that this one cannot read.
 */
nMore: number, 
/**
 * What could not be asked there: a server that does not answer, for example.
 */
problem: string | null, };

/**
 * A session that a machine listed.
 */
export type MachineSession = { sessionId: SessionId, title: string, 
/**
 * The folder there.
 */
project: string, 
/**
 * `null` for one that this version does not know.
 */
status: Status | null, 
/**
 * What it cost so far, in US dollars, as the agent says; 0 if nothing is known.
 */
costUsd: number, 
/**
 * What its processes cost; `null` if none runs, or if that is not known there.
 */
processes: ProcessCost | null, };

/**
 * A session on the board.
 */
export type BoardRow = { sessionId: SessionId, title: string, 
/**
 * Absolute path of the project's folder, and its name.
 */
project: string, projectName: string, 
/**
 * The machine that it runs on; `null` for this computer.
 */
machine: string | null, 
/**
 * The name of the profile that it was begun with, or whose agents keep it.
 */
profile: string | null, 
/**
 * The name of its agent; `null` for Claude Code.
 */
agent: string | null, 
/**
 * As of the last look at the folder. Empty until then, and for a folder on another machine.
 */
checkout: Checkout, state: BoardState, 
/**
 * The state in detail: what the session waits for, does, or failed with.
 */
status: Status, 
/**
 * The request that it has waited for longest; `null` if it waits for none that Deskbell knows.
 */
request: BoardRequest | null, 
/**
 * The first line of the last answer, at most 200 characters; `null` while a turn runs, and if it is not known.
 */
answer: string | null, 
/**
 * It failed because its agent needs a login.
 */
needsLogin: boolean, 
/**
 * The process or the server that runs it can be reached. Without a link nothing can be answered or stopped.
 */
isReached: boolean, 
/**
 * When it entered this state.
 */
since: number, 
/**
 * Number of commands and subagents running in the background.
 */
nBackground: number, 
/**
 * The process of another program, such as the agent in a terminal, that has the conversation open; `null` for a
 * session that Deskbell runs. `sessionId` is then the agent's id of the conversation.
 */
otherPid: number | null, 
/**
 * What it cost so far, in US dollars, as the agent says; 0 if nothing is known.
 */
costUsd: number, 
/**
 * What its processes cost, as of the last look; `null` if none runs, and where the system or the server of another
 * machine does not say.
 */
processes: ProcessCost | null, };

/**
 * An open request on the board: what is shown of it there, and which answers may be given there. Its size is bounded.
 */
export type BoardRequest = { id: RequestId, 
/**
 * Identifies what is shown. Every answer must contain it.
 */
shown: string, kind: BoardRequestKind, 
/**
 * The command, the file, the address or the question, at most 600 characters. Must be drawn with every code point
 * visible. If `canAllow` is set, it is the whole request.
 */
text: string, 
/**
 * Number of lines, or parts of a line, that are not in `text`.
 */
nMoreLines: number, 
/**
 * `text` is all of it, and plain, by the rule of the native dialogs: it may be allowed where `text` is visible.
 */
canAllow: boolean, 
/**
 * The labels of the choices of a question that may be answered on the board: at most four, in the order of the
 * question. Empty: its card has to be opened.
 */
choices: Array<string>, 
/**
 * Lines that an edit adds and removes; `null` for anything else.
 */
edited: EditedLines | null, 
/**
 * The subagent that asks, in words; `null` for the agent itself.
 */
askedBy: string | null, 
/**
 * Number of further open requests of the session.
 */
nMore: number, };

/**
 * Number of lines that an edit adds and removes.
 */
export type EditedLines = { added: number, removed: number, };

/**
 * The kind of a request on the board.
 */
export type BoardRequestKind = "command" | "edit" | "fetch" | "other" | "question" | "plan" | "form";

/**
 * An answer that may be given on the board.
 */
export type BoardAnswer = { "type": "allowOnce" } | { "type": "deny" } | { "type": "choose", choice: number, };

/**
 * What the agent of a session and every process below it cost now.
 */
export type ProcessCost = { nProcesses: number, 
/**
 * Resident memory. What several processes share is in it several times.
 */
memoryBytes: number, 
/**
 * CPU time since each of them began.
 */
cpuMs: number, };

/**
 * The state of a session on the board, in the order of the board.
 */
export type BoardState = "needsInput" | "working" | "failed" | "finished";

/**
 * The first data of a board. Its events have a name that only this window knows.
 */
export type BoardConnection = { 
/**
 * The Tauri event to subscribe to before any other request.
 */
event: string, board: BoardView, settings: SettingsView, };

/**
 * A project, by its folder. Its text is JSON: a string for a folder of this machine, else an object.
 */
export type ProjectRef = string | RemoteProject;

/**
 * A folder of another machine that is a project.
 */
export type RemoteProject = { machine: RemoteMachine, folder: RemoteFolder, };

/**
 * A machine, as the user names it: `box` or `ssh:me@box`, `docker:NAME`, `podman:NAME`, `devcontainer:FOLDER`,
 * `kubectl:NAMESPACE/POD`, `wsl:NAME`, `flatpak:host`.
 */
export type RemoteMachine = string;

/**
 * The absolute path of a folder of another machine. It is one line, and no option of a command.
 */
export type RemoteFolder = string;

/**
 * A project that was opened earlier.
 */
export type RecentProject = { project: ProjectRef, 
/**
 * The name of the folder, for display.
 */
name: string, 
/**
 * The folder that it is in, for display: the home folder is `~`.
 */
place: string, lastUsedAt: number, 
/**
 * Listed before the others, and kept when the list is cleared.
 */
pinned: boolean, folder: FolderState, 
/**
 * As of the last check. Empty until then, and for a folder on another machine.
 */
checkout: Checkout, 
/**
 * A window of the project is open.
 */
open: boolean, 
/**
 * Sessions that work.
 */
nWorking: number, 
/**
 * Sessions that wait for the user.
 */
nWaiting: number, };

/**
 * Whether a folder can be opened, as of the last check.
 */
export type FolderState = "unchecked" | "found" | "missing" | "silent";

/**
 * A folder with the folders in it, to choose one from.
 */
export type FolderListing = { 
/**
 * Absolute path, with links resolved.
 */
path: string, 
/**
 * The folder that it is in; `null` for the top.
 */
parent: string | null, 
/**
 * The names of the folders in it, sorted. Hidden ones are left out, and those whose name is not Unicode.
 */
folders: Array<string>, 
/**
 * There are more.
 */
isCut: boolean, };

/**
 * The content of the start page.
 */
export type StartView = { 
/**
 * Pinned ones first, then the most recently used.
 */
projects: Array<RecentProject>, 
/**
 * A folder that is opened only if the user confirms it, because it contains the user's whole home folder.
 */
question: string | null, 
/**
 * Why a folder was not opened.
 */
problem: CommandError | null, 
/**
 * Deskbell's own files that could not be read.
 */
unreadFiles: Array<UnreadFile>, appVersion: string, };

/**
 * The first data of a start page. Its events have a name that only this window knows.
 */
export type StartConnection = { 
/**
 * The Tauri event to subscribe to before any other request.
 */
event: string, start: StartView, settings: SettingsView, };

/**
 * The agent program that a new session would run, and where it was found.
 */
export type AgentView = { "type": "found", kind: AgentKind, program: string, source: string, } | { "type": "missing", tried: Array<Tried>, };

/**
 * A process of an earlier run of the app that is still running.
 */
export type OrphanProcess = { pid: number, 
/**
 * Its command line, with arguments separated by spaces.
 */
command: string, 
/**
 * Its working directory.
 */
folder: string | null, startedAt: number, };

export type Tried = { 
/**
 * A path, or the name of an environment variable.
 */
place: string, problem: string, };

/**
 * An item dropped on a window.
 */
export type Dropped = { "type": "attachment", attachment: Attachment, } | { "type": "file", path: string, } | { "type": "refused", why: string, };

/**
 * Lines of a file of a session's folder.
 */
export type FileText = { 
/**
 * Relative to the session's folder, with slashes.
 */
path: string, lines: Array<CodeLine>, 
/**
 * The number of the first of these lines, counted from 1.
 */
first: number, 
/**
 * How many lines the file has.
 */
nLines: number, 
/**
 * How many of these lines were cut at their end.
 */
nCut: number, };

/**
 * Project files that match the typed text, best match first.
 */
export type FoundFiles = { files: Array<FoundFile>, 
/**
 * Whether the project has more files than are searched.
 */
isCut: boolean, };

export type FoundFile = { 
/**
 * Relative to the project, with slashes; a folder ends with a slash.
 */
path: string, 
/**
 * Indices of the matched characters.
 */
matched: Array<number>, };

/**
 * A file that could not be read.
 */
export type UnreadFile = { kind: UnreadKind, path: string, 
/**
 * The reason as the end of a sentence: “it is a named pipe, not a file”.
 */
problem: string, 
/**
 * Its new name, if it is one of Deskbell's own files and was moved away. Nothing is overwritten or removed.
 */
movedTo: string | null, };

/**
 * The purpose of an unread file.
 */
export type UnreadKind = "places" | "projects" | "session" | "branch";

/**
 * The merged events of one frame, sent to a window as one Tauri event.
 */
export type Batch = { sessionId: SessionId, 
/**
 * The batch applies to exactly this `seq`. Any other state is a gap, and the window requests a new snapshot.
 */
after: number, 
/**
 * The `seq` after this batch. Each merged event counts: `seq - after` can exceed the number of `events`.
 */
seq: number, 
/**
 * The rows that the window has after this batch. Items in newly covered rows are added by the events.
 */
rows: RowRange, events: Array<Event>, };

/**
 * The first data of a window. Its events have a name that only this window knows.
 */
export type Connection = { 
/**
 * The Tauri event to subscribe to before any other request.
 */
event: string, project: ProjectView, settings: SettingsView, 
/**
 * The item to show in the open session: the window was opened for a search result.
 */
showItem: ItemId | null, 
/**
 * As the project's last window left them.
 */
panels: SidePanels, 
/**
 * The second session of the window.
 */
second: SessionId | null, 
/**
 * The session whose own window this is. It shows no other one.
 */
ownSession: SessionId | null, 
/**
 * The sessions of the project that have windows of their own.
 */
ownWindows: Array<SessionId>, 
/**
 * The names of other projects that wait for the user: one for each session, oldest first.
 */
waiting: Array<string>, };

/**
 * A message to a window.
 */
export type WindowMessage = { "type": "event", event: WindowEvent, } | { "type": "deferred", nr: number, };

/**
 * A point of a window's page, as shares of the page's width and height: 0 is left or top, 1 is right or bottom.
 */
export type PagePoint = { x: number, y: number, };

/**
 * An event that the shell sends to a window.
 */
export type WindowEvent = { "type": "batchReady", sessionId: SessionId, } | { "type": "sessionListed", session: Session, } | { "type": "sessionRemoved", sessionId: SessionId, } | { "type": "ownWindowsChanged", sessions: Array<SessionId>, } | { "type": "storedChanged", change: StoredChange, } | { "type": "marksChanged", marks: Array<MarkedSession>, } | { "type": "show", sessionId: SessionId, requestId: RequestId | null, itemId: ItemId | null, } | { "type": "searched", nr: number, change: SearchChange, } | { "type": "worktreesChanged" } | { "type": "commitOutput", text: string, } | { "type": "commitEnded" } | { "type": "boardChanged", board: BoardView, } | { "type": "menuChosen", id: string, } | { "type": "waitingChanged", waiting: Array<string>, } | { "type": "dragging", at: PagePoint | null, } | { "type": "dropped", dropped: Array<Dropped>, at: PagePoint, } | { "type": "recordingEnded", sessionId: SessionId, recording: RecordingState, } | { "type": "startChanged", start: StartView, } | { "type": "failed", what: string, error: CommandError, } | { "type": "settingsChanged", settings: SettingsView, } | { "type": "projectChanged", project: ProjectView, } | { "type": "connectionAsks", question: ConnectionQuestion, } | { "type": "connectionAnswered", id: string, };

/**
 * The settings of the user, for all windows.
 */
export type Settings = { 
/**
 * Colours of the windows.
 */
theme: Theme, 
/**
 * Colour of the main buttons, links, focus marks, chosen rows and progress in the windows. Colours that mean something,
 * such as those of failures, waiting requests and changed lines, stay as they are, and so do exported conversations
 * and the desktop's own dialogs.
 */
accent: Accent, 
/**
 * Size of everything in a window. *Zoom in* and *Zoom out* change it for the window of one project, which is remembered
 * for that project; *Reset zoom* follows this setting again.
 */
zoom: number, 
/**
 * The type of the windows.
 */
fonts: FontSettings, 
/**
 * Space around the parts of a window.
 */
density: Density, 
/**
 * Language of dates and times in the windows, as a language tag such as `de`, `en-US` or `en-GB-u-hc-h12`. `null` or
 * `system` follows the system. The texts of Deskbell stay English.
 */
dates: string | null, 
/**
 * How a permission request gets your attention. Its card is always in the conversation.
 */
asking: Asking, 
/**
 * How you are called when a session needs you and its window is not in front.
 */
bell: BellSettings, 
/**
 * What happens to the work in a window that you close. In the background it goes on without the window, and a click
 * on a notification or a second start of Deskbell brings the window back.
 */
closing: Closing, 
/**
 * While a turn runs in a session on this computer, the computer does not fall asleep by itself. While sessions only
 * wait for you it may. A closed lid, a shutdown and a sleep that you ask for are never held up. On Linux the desktop
 * counts as used meanwhile, so its screen stays on.
 */
keepAwake: boolean, 
/**
 * New sessions run in a server of your own, which goes on when Deskbell closes, is updated or crashes. Deskbell
 * shows them again when it starts. `deskbell sessions running` lists them, and `deskbell sessions stop` ends them.
 * A project can differ: *Keep sessions of this project running* chooses for its new sessions.
 */
keepRunning: boolean, 
/**
 * The agent of new sessions.
 */
agent: AgentSettings, 
/**
 * Keys of actions, in place of their usual ones. Each is `{"action": "new", "key": "Ctrl+Alt+N"}`; `null` takes
 * the action's keys away. On macOS, `Ctrl` is ⌘ and `Alt` is ⌥. The names of the actions are in the guide's list of
 * keys.
 */
keys: Array<KeyBinding>, 
/**
 * An icon in the desktop's tray, or in the menu bar, with the sessions of all projects that work or wait for you.
 * Where the desktop has no tray, nothing is shown.
 */
tray: boolean, 
/**
 * Deskbell starts when you log in, without a window and without an agent: only its tray icon is shown, and sessions
 * that kept running can call you. Where there is no tray icon nothing is shown. Starting Deskbell again opens its
 * windows. Not on Windows yet.
 */
autostart: boolean, 
/**
 * The program that opens files, with its arguments: `{file}` in them is the file's path, and `{line}` the line.
 * Without `{file}` the path is the last argument. No shell reads them. An editor that runs in a terminal needs one:
 * `kitty` with `vim`, `+{line}` and `{file}`. Without this setting the first well-known editor that is installed
 * is used, and without one the desktop's editor for text.
 */
editor: UserCommand | null, 
/**
 * The program that opens a terminal with a command, for “Open in terminal” and the agent's login, with its
 * arguments: `{command}` as one of them is replaced by the command and its own arguments, and `{folder}` in one by
 * the folder that the terminal starts in. Without `{command}` the command comes last. No shell reads them:
 * `gnome-terminal` with `--`, for example. Without this setting the terminal of `TERMINAL` or of the desktop is
 * used, or the first well-known one that is installed.
 */
terminal: UserCommand | null, 
/**
 * How much is logged, on stderr and in files in Deskbell's data folder. The text of conversations never is.
 * `DESKBELL_LOG` counts before this setting.
 */
log: LogLevel, };

export type Theme = "system" | "light" | "dark";

export type Asking = "dialogAndCard" | "card" | "dialogWhenAway";

/**
 * The agent of new sessions.
 */
export type AgentSettings = { 
/**
 * Path of the Claude Code program. Leave it empty (`null`) to find the program automatically.
 */
program: string | null, 
/**
 * Model of new sessions, by the agent's name for it, such as `opus`.
 */
model: string | null, 
/**
 * Permission mode of new sessions. Running without permission checks is chosen for one start of an agent, never
 * here.
 */
mode: PermissionMode | null, 
/**
 * Effort of new sessions, such as `low`, `medium` or `high`, for models that have it.
 */
effort: string | null, 
/**
 * Share of the processors that agents, and all that they start, get while every processor is busy: with `low`, windows
 * stay quick to type and to scroll in while an agent compiles. It counts from the next start of an agent.
 */
priority: Priority, 
/**
 * Idle time after which an agent's process ends; its session continues with the next prompt. 0 is never.
 */
hibernateMinutes: number, 
/**
 * The agent generates a title for each new session after its first finished turn, once, unless you or the agent named
 * the session before. A title takes a small call of the model, which counts like your own use. Only for agents that
 * can do it, such as Claude Code. *Generate a title for this session* does it for one session.
 */
generateTitles: boolean, 
/**
 * Options of sessions under names, chosen in a session's options. New sessions of a preset's `projects` begin with
 * it. Each preset is `{"name": …, "options": {…}, "projects": […]}`; the options are those of
 * `deskbell relay --options`.
 */
presets: Array<Preset>, 
/**
 * Agents with their programs, configuration and choices under names, for *New session with…* and
 * `deskbell relay --profile`: several accounts, or an agent that Deskbell does not know. Each is
 * `{"name": …, "agent": …, "command": …, "program": …, "environment": […], "model": …, "effort": …, "mode": …,
 * "projects": […]}`, all but the name optional. `agent` is one of the list of agents, such as `gemini`, and
 * `command` any other agent that speaks the Agent Client Protocol, as `{"program": …, "args": […]}`; without both it
 * is Claude Code. `environment` is a list of `{"name": …, "value": …}`, with `CLAUDE_CONFIG_DIR` or `CODEX_HOME` for
 * example. New sessions of a profile's `projects` begin with it.
 */
profiles: Array<Profile>, };

/**
 * How much of the processors a process gets while they are busy. On an idle one both are equally fast.
 */
export type Priority = "low" | "normal";

/**
 * How you are called when a session needs you and its window is not in front.
 */
export type BellSettings = { 
/**
 * A session waits for your answer.
 */
needsYou: BellKind, 
/**
 * A turn failed, the agent stopped unexpectedly, or a connection is lost while something waits there.
 */
failed: BellKind, 
/**
 * A turn ended.
 */
finished: BellKind, 
/**
 * If more sessions than this wait for you, one notification names them all.
 */
foldAbove: number, };

/**
 * One kind of event.
 */
export type BellKind = { 
/**
 * Show a notification.
 */
on: boolean, 
/**
 * Let the notification play the desktop's sound for a message.
 */
sound: boolean, 
/**
 * Urgency of the notification. Desktops show a critical one until it is answered, also in do not disturb.
 */
urgency: BellUrgency, 
/**
 * A program of yours with its arguments, for example to reach your phone. It runs whether or not a notification is
 * shown, without a shell, for at most 30 seconds, and at most four at once. Its environment has `DESKBELL_EVENT`
 * (`finished`, `failed` or `needsYou`), `DESKBELL_PROJECT` (the folder), `DESKBELL_SESSION` (the id),
 * `DESKBELL_TITLE` and `DESKBELL_TEXT`.
 */
command: UserCommand | null, };

export type BellUrgency = "low" | "normal" | "critical";

/**
 * A program with its arguments. No shell reads them.
 *
 * `startsPrograms` marks settings that make Deskbell or an agent start a program. The page can change them only after
 * the user confirms it in a native dialog.
 */
export type UserCommand = { program: string, args: Array<string>, };

export type Accent = "gold" | "blue" | "green" | "purple" | "rose" | "grey";

/**
 * A step of the zoom of a project's window.
 */
export type ZoomStep = "larger" | "smaller" | "usual";

export type Density = "comfortable" | "compact";

/**
 * The type of the windows.
 */
export type FontSettings = { 
/**
 * Size of the agent's text. The other sizes follow it.
 */
size: number, 
/**
 * Relative to text: code looks larger than text of the same size.
 */
codeSize: number, 
/**
 * Families of the interface, separated by commas; the first that is installed counts.
 */
interface: string | null, 
/**
 * Families of code, separated by commas; the first that is installed counts.
 */
code: string | null, };

export type LogLevel = "error" | "warn" | "info" | "debug" | "trace";

export type Closing = "ask" | "stop" | "background";

/**
 * The settings that are in effect, and what is wrong with their file.
 */
export type SettingsView = { settings: Settings, 
/**
 * Absolute path of the file.
 */
path: string, 
/**
 * Each wrong value has its earlier value until it is corrected.
 */
problems: Array<SettingsProblem>, 
/**
 * The file could not be read as a whole, so no setting can be changed.
 */
isBroken: boolean, 
/**
 * Language of the system's dates, as a language tag; `null` if the page knows it itself.
 */
systemDates: string | null, };

/**
 * Something in the settings file that has no effect.
 */
export type SettingsProblem = { 
/**
 * The place in the file, both counted from 1; `null` if the file could not be read.
 */
line: number | null, column: number | null, message: string, };

/**
 * One setting, as the settings page shows it.
 */
export type SettingKey = { 
/**
 * Its names in the file from the outermost on, joined by dots.
 */
key: string, section: SettingSection, label: string, 
/**
 * One line for the settings page.
 */
help: string, description: string, control: SettingControl, 
/**
 * The value without an entry in the file.
 */
default: JsonValue, };

/**
 * The kind of value that a setting has.
 */
export type SettingControl = { "type": "toggle" } | { "type": "choice", options: Array<SettingOption>, } | { "type": "number", min: number, max: number, unit: string | null, } | { "type": "text", placeholder: string | null, } | { "type": "command" } | { "type": "presets" } | { "type": "profiles" } | { "type": "keys" };

export type SettingOption = { value: string | null, label: string, };

/**
 * The section of the settings page and of the documentation that a setting is in, in their order.
 */
export type SettingSection = "Appearance" | "Asking" | "Notifications" | "Agents" | "Profiles" | "Sessions" | "Keyboard" | "Advanced";

/**
 * The result of a test of the notifications of one event.
 */
export type BellTest = { 
/**
 * The event's name in the settings.
 */
event: string, 
/**
 * The desktop accepted the notification.
 */
isAccepted: boolean, };

/**
 * An agent other than Claude Code that a trust decision is for. It loads the folder's own files, and no copy of them.
 */
export type TrustAgent = { 
/**
 * Names the decision.
 */
id: string, 
/**
 * “Gemini CLI”
 */
name: string, 
/**
 * The list of its files was not checked with its program: it may load more.
 */
unchecked: boolean, 
/**
 * The reason why it does not start in a folder that is not trusted; `null` if it can be restricted.
 */
trustedOnly: string | null, };

/**
 * The trust view: shown in a window before an agent starts in a folder that is not trusted.
 */
export type TrustView = { 
/**
 * Absolute path of the folder, with links resolved.
 */
project: string, 
/**
 * The agent that the decision is for; `null` for Claude Code. Each agent has a decision of its own.
 */
agent: TrustAgent | null, state: TrustStatus, 
/**
 * The current findings, most dangerous first.
 */
findings: Array<Finding>, 
/**
 * Findings added and removed since the folder was trusted. Both may be empty if only the formatting changed.
 */
added: Array<Finding>, removed: Array<Finding>, 
/**
 * Nothing runs, sends data elsewhere or gives the agent more permissions: a short question is enough.
 */
nothingToRun: boolean, 
/**
 * Identifies exactly what is shown, and is returned with `trust`. `null` if a file could not be read or shown
 * completely, so that the folder cannot be trusted in its current state.
 */
fingerprint: string | null, 
/**
 * The previously trusted settings still exist, so `keep` is possible.
 */
canKeep: boolean, 
/**
 * Settings with unknown effects. They are left out unless the user names them.
 */
unknownSettings: Array<UnknownSetting>, };

/**
 * The trust state of a folder.
 */
export type TrustStatus = "unknown" | "trusted" | "restricted" | "changed" | "kept";

/**
 * The user's decision about trusting a folder.
 */
export type TrustDecision = "trust" | "restrict" | "keep";

/**
 * A setting with unknown effects. It is loaded only if the user trusts it by name.
 */
export type UnknownSetting = { 
/**
 * The key in the settings file.
 */
name: string, 
/**
 * The user has named it.
 */
isLoaded: boolean, };

/**
 * One relevant entry of a folder's settings.
 */
export type Finding = { kind: FindingKind, severity: Severity, 
/**
 * The file with the entry, relative to the folder: `.claude/settings.json`, `../.mcp.json`.
 */
file: string, 
/**
 * The real path of the file, if it is reached through a link.
 */
link: string | null, 
/**
 * In words: “Runs when a session starts”.
 */
title: string, 
/**
 * Its name: a server's name, the tools that a hook applies to, a setting's key.
 */
name: string | null, 
/**
 * The exact and complete command, address, rule or value. Must be drawn with every code point visible.
 */
text: string, 
/**
 * All other fields of the entry.
 */
details: Array<FindingDetail>, };

export type FindingDetail = { name: string, value: string, };

/**
 * The severity of a finding, worst first.
 */
export type Severity = "runs" | "redirects" | "allows" | "changes";

/**
 * The kind of a finding, in display order.
 */
export type FindingKind = "unreadable" | "apiAddress" | "hook" | "server" | "helper" | "statusLine" | "plugin" | "environment" | "mode" | "allowRule" | "directory" | "serverApproval" | "sandbox" | "narrowingRule" | "setting" | "oddity";

/**
 * Result of the agent check (`deskbell doctor`).
 */
export type Checkup = { 
/**
 * The program and its source, or the places that were tried.
 */
agent: AgentView, version: string | null, channel: PermissionChannel, 
/**
 * The agent can work: see [`Readiness`].
 */
ready: boolean, 
/**
 * The report, line by line. Keys, tokens and the user's name are left out.
 */
lines: Array<ReportLine>, 
/**
 * The same as text, to copy.
 */
report: string, };

/**
 * A fact in the doctor's report.
 */
export type ReportLine = { name: string, 
/**
 * May have several lines.
 */
value: string, health: Health, };

/**
 * Whether a fact is as it should be.
 */
export type Health = "good" | "bad" | "plain";

/**
 * Whether an agent asks for permission before it acts.
 */
export type PermissionChannel = { "type": "asks" } | { "type": "neverAsks" } | { "type": "unknown", reason: string, };

/**
 * Whether the agent of new sessions can work.
 */
export type Readiness = { 
/**
 * The program and its source, or the places that were searched.
 */
agent: AgentView, 
/**
 * As the program reports it; `null` if it did not.
 */
version: string | null, 
/**
 * The command that logs in, for a terminal.
 */
login: SetupCommand, state: ReadinessState, };

/**
 * The first obstacle to a session, in the order in which the user has to remove them.
 */
export type ReadinessState = { "type": "ready" } | { "type": "missing", 
/**
 * Ways to install it, the recommended one first.
 */
install: Array<SetupCommand>, } | { "type": "broken", 
/**
 * Its own error, or the system's.
 */
problem: string, } | { "type": "notClaude", 
/**
 * The first line that it printed for `--version`; empty if it printed nothing.
 */
answer: string, } | { "type": "tooOld", oldest: string, update: SetupCommand, } | { "type": "notLoggedIn" };

/**
 * An agent that a new session can have instead of Claude Code.
 */
export type OtherAgent = { 
/**
 * Names it in `create_session_with`.
 */
id: string, 
/**
 * “Gemini CLI”
 */
name: string, state: OtherAgentState, 
/**
 * The reason why it starts only in a trusted folder; `null` if it can be restricted.
 */
trustedOnly: string | null, 
/**
 * Deskbell was never run with it.
 */
untested: boolean, lacks: AgentLacks, };

/**
 * What a new session can have instead of the usual agent, as a machine has it.
 */
export type MachineAgents = { agents: Array<OtherAgent>, 
/**
 * Those of the settings there, without the values of their variables.
 */
profiles: Array<Profile>, };

/**
 * What an agent does not have, compared with Claude Code, in words for the user. What is not known is not listed.
 */
export type AgentLacks = { 
/**
 * What it does not report: “cost”, “exit codes”.
 */
reports: Array<string>, 
/**
 * What it does not offer: “rewind”.
 */
offers: Array<string>, };

/**
 * The command that logs the user in to an agent that speaks ACP, for a terminal.
 */
export type AgentLogin = { 
/**
 * Program and arguments.
 */
words: Array<string>, 
/**
 * The agent could not begin its work without a login.
 */
needed: boolean, };

/**
 * An agent with what it is started with. No field of it turns off asking or trust.
 */
export type Profile = { 
/**
 * One line of at most 60 characters; unique.
 */
name: string, 
/**
 * An agent by its name on the command line, such as `gemini`; `null` is Claude Code, unless there is a `command`.
 */
agent: string | null, 
/**
 * Any other agent that speaks the Agent Client Protocol. It starts only in a folder that you trust.
 */
command: UserCommand | null, 
/**
 * The absolute path of the agent's program; `null` searches the usual places.
 */
program: string | null, 
/**
 * Variables of the agent, such as the folder of its configuration (`CLAUDE_CONFIG_DIR`, `CODEX_HOME`). At most 50.
 */
environment: Array<EnvironmentVariable>, 
/**
 * A model that the agent knows.
 */
model: string | null, 
/**
 * An effort level of the model.
 */
effort: string | null, 
/**
 * A permission mode of Claude Code. Other agents begin in their mode that asks.
 */
mode: PermissionMode | null, 
/**
 * The projects whose new sessions begin with it, as absolute paths.
 */
projects: Array<string>, };

/**
 * A setting that the agent itself offers for its session, beyond model and effort.
 */
export type AgentOption = { 
/**
 * Names it in `setAgentOption`.
 */
id: string, name: string, description: string, kind: AgentOptionKind, 
/**
 * The value in force, as the agent reported it: the id of a choice, or `true` or `false`.
 */
value: string, 
/**
 * What it can be set to. Empty for a switch.
 */
choices: Array<AgentChoice>, };

export type AgentOptionKind = "mode" | "choice" | "switch";

/**
 * A value of an [`AgentOption`].
 */
export type AgentChoice = { id: string, name: string, description: string, };

/**
 * The end of the output of a background task so far.
 */
export type TaskOutput = { lines: Array<CodeLine>, 
/**
 * There is earlier output, which is not in `lines`.
 */
isCut: boolean, };

/**
 * The last lines of a session, without secrets.
 */
export type RawLines = { lines: Array<RawLine>, 
/**
 * The `after` of the next question.
 */
last: number, 
/**
 * There are more lines than fit in one answer.
 */
hasMore: boolean, 
/**
 * How many lines since the session was opened were of a kind that Deskbell does not know.
 */
nUnknown: number, 
/**
 * How many lines since the session was opened were no messages.
 */
nUnreadable: number, 
/**
 * How many lines between `after` and `last` are no longer kept.
 */
nDropped: number, };

export type RawLine = { 
/**
 * From 1, in the order of the lines. Streamed text that is held back, because it may be a part of a secret, has the
 * number of the line that ends it.
 */
nr: number, 
/**
 * Milliseconds since the epoch.
 */
at: number, direction: RawDirection, kind: RawKind, text: string, 
/**
 * How many bytes at the end of the line were not kept.
 */
nCut: number, };

export type RawDirection = "start" | "toAgent" | "fromAgent" | "stderr";

export type RawKind = "known" | "unknown" | "unreadable";

/**
 * A recording that is being written, or the last one, which has ended.
 */
export type RecordingState = { path: string, isRunning: boolean, 
/**
 * Bytes of whole lines in the file.
 */
nBytes: number, 
/**
 * Why it ended by itself. The user stopped it, or it runs, if this is `null`.
 */
problem: string | null, };

/**
 * Whether another agent can be started on a machine.
 */
export type OtherAgentState = { "type": "builtIn" } | { "type": "found", program: string, 
/**
 * As the program reports it; `null` if it did not.
 */
version: string | null, } | { "type": "broken", program: string, 
/**
 * “Qwen Code needs Node 22 or newer, and this machine has v20.20.2.”
 */
problem: string, } | { "type": "missing", 
/**
 * The command that installs it; `null` if Deskbell knows none.
 */
install: SetupCommand | null, };

/**
 * A command that the user runs in a terminal.
 */
export type SetupCommand = { 
/**
 * In words: “Homebrew”.
 */
label: string, command: string, };

/**
 * The rules that allow or deny actions of a session's agent.
 */
export type RulesInForce = { basis: RulesBasis, rules: Array<Rule>, 
/**
 * Folders in addition to the project in which it may work.
 */
directories: Array<string>, };

/**
 * The reliability of a list of rules.
 */
export type RulesBasis = "agent" | "settings";

/**
 * One rule.
 */
export type Rule = { effect: RuleEffect, 
/**
 * The rule as written: `Bash(touch *)`.
 */
rule: string, origin: RuleOrigin, };

/**
 * The effect of a rule on the calls that it matches.
 */
export type RuleEffect = "deny" | "ask" | "allow";

/**
 * The origin of a rule, in display order.
 */
export type RuleOrigin = "session" | "local" | "project" | "folder" | "user" | "policy" | "arguments" | "other";

/**
 * The settings files of Claude Code that may have rules, for a folder and its user.
 */
export type RuleFileList = { files: Array<RuleFile>, folder: FolderRules, };

/**
 * The effect of the rules in a folder's own files.
 */
export type FolderRules = "inEffect" | "restricted" | "kept" | "undecided";

/**
 * A settings file.
 */
export type RuleFile = { 
/**
 * `local`, `project` or `user`.
 */
origin: RuleOrigin, 
/**
 * Absolute path.
 */
path: string, 
/**
 * The real path, if a link leads there.
 */
link: string | null, 
/**
 * By effect, in the order in which they are written.
 */
rules: Array<FileRule>, 
/**
 * The reason why the file could not be read. Its rules are unknown then.
 */
problem: string | null, };

/**
 * A rule in a settings file.
 */
export type FileRule = { effect: RuleEffect, 
/**
 * As it is written: `Read(/src/**)`.
 */
rule: string, 
/**
 * Other forms in which the agent lists it: a copy of the settings has `Read(//home/me/project/src/**)`.
 */
forms: Array<string>, };

/**
 * Names a rule in a settings file.
 */
export type RulePlace = { 
/**
 * The path of the file, from [`RuleFileList`].
 */
path: string, effect: RuleEffect, rule: string, };

/**
 * A failure of the permission channel: the agent did not ask where it must, or cannot ask at all.
 */
export type MissedPrompt = { kind: MissedPromptKind, 
/**
 * One line to show: “The agent ran a command without asking.”
 */
words: string, 
/**
 * Exactly what it did without asking.
 */
subject: string | null, };

/**
 * The kind of failure of the permission channel.
 */
export type MissedPromptKind = "unasked" | "cannotAsk";

/**
 * The part of a transcript that a window has: the rows `first..end` of `total`.
 */
export type RowRange = { first: number, end: number, total: number, 
/**
 * How many of all rows continue a long text: they are no news to a reader who is elsewhere.
 */
nContinued: number, 
/**
 * The number of the request that this answers.
 */
requestId: number, };

/**
 * The part of a transcript that a window requests. The engine limits the number of rows.
 */
export type Viewport = { 
/**
 * `null`: the end of the transcript, including rows that are added later.
 */
first: number | null, count: number, 
/**
 * A number chosen by the window to identify the answer.
 */
requestId: number, };

/**
 * A file that a session changed.
 */
export type ChangedFile = { path: string, added: number, removed: number, 
/**
 * The last edit of the file, and its row.
 */
itemId: ItemId, row: number, };

/**
 * What to copy, as the agent wrote it.
 */
export type CopyOf = { "type": "conversation" } | { "type": "resumeCommand" } | { "type": "message", itemId: ItemId, } | { "type": "code", itemId: ItemId, block: number, } | { "type": "output", itemId: ItemId, } | { "type": "input", itemId: ItemId, } | { "type": "raw", itemId: ItemId, };

/**
 * The parameters of a query about a session.
 */
export type SessionQuery = { "type": "output", itemId: ItemId, first: number, count: number, } | { "type": "images", itemId: ItemId, } | { "type": "taskOutput", taskId: string, } | { "type": "serverLog", server: string, } | { "type": "rawLines", after: number, } | { "type": "copy", copy: CopyOf, } | { "type": "find", query: string, index: number | null, } | { "type": "lastAnswer", } | { "type": "storedPrompt", itemId: ItemId, } | { "type": "reviewOptions", options: SessionOptions, } | { "type": "export", format: ExportFormat, } | { "type": "namedFiles", paths: Array<string>, } | { "type": "fileText", path: string, line: number | null, } | { "type": "files", query: string, } | { "type": "changes", against: Against, } | { "type": "fileDiff", path: string, against: Against, } | { "type": "promptMoments", } | { "type": "edits", sincePrompt: boolean, } | { "type": "editDiff", sincePrompt: boolean, path: string, } | { "type": "patch", path: string | null, against: Against, } | { "type": "processes", };

/**
 * The type of each query's answer, for TypeScript.
 */
export type SessionAnswers = { output: Output | null, images: Array<Attachment> | null, taskOutput: TaskOutput | null, serverLog: TaskOutput | null, rawLines: RawLines, copy: string | null, find: Found | null, lastAnswer: string | null, storedPrompt: [string, string] | null, reviewOptions: OptionsReview, export: string, namedFiles: Array<string | null>, fileText: FileText, files: FoundFiles, changes: Changes, fileDiff: FileDiff, promptMoments: Array<PromptMoment>, edits: Changes | null, editDiff: FileDiff | null, patch: Patch, processes: ProcessCost | null, };

/**
 * The result of a text search in a transcript.
 */
export type Found = { 
/**
 * Number of items that match.
 */
count: number, hit: Hit | null, };

/**
 * One of the matching items.
 */
export type Hit = { 
/**
 * Counted from 0.
 */
index: number, itemId: ItemId, row: number, 
/**
 * The match is in content that must be expanded first.
 */
inside: boolean, 
/**
 * The slice of the item with the first match, counted from 0.
 */
part: number, };

/**
 * Deskbell's id of a session; stable from its creation on, across restarts of app and agent.
 */
export type SessionId = string;

/**
 * The id of an item of the transcript.
 */
export type ItemId = string;

/**
 * The id of a prompt. The agent receives this id when the prompt is first sent, and a new one each time it is sent
 * again.
 */
export type PromptId = string;

/**
 * The agent's id of a permission request.
 */
export type RequestId = string;
