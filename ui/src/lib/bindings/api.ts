// Generated from src-tauri/engine/src/api.rs. Do not edit.
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

/**
 * What can be asked of a session. One JSON object per line through `deskbell relay`.
 */
export type Command = { "type": "prompt", text: string, images: Array<Image>, delivery: Delivery, } | { "type": "decide", requestId: RequestId, shown: string | null, decision: Decision, } | { "type": "interrupt" } | { "type": "withdraw", promptId: PromptId, } | { "type": "editQueued", promptId: PromptId, text: string, } | { "type": "resend", promptId: PromptId, } | { "type": "deliver", promptId: PromptId, delivery: Delivery, } | { "type": "move", promptId: PromptId, before: PromptId | null, } | { "type": "setMode", mode: string, } | { "type": "setModel", model: string, } | { "type": "setEffort", effort: string | null, } | { "type": "setThinking", on: boolean, } | { "type": "listRules" } | { "type": "rename", title: string, } | { "type": "stop" };

/**
 * When a prompt goes that is given while the agent works.
 */
export type Delivery = "afterTurn" | "now" | "intoTurn";

/**
 * An image that belongs to a prompt.
 */
export type Image = { 
/**
 * `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
 */
mediaType: string, 
/**
 * Base64, without a `data:` prefix.
 */
data: string, };

/**
 * The answer to a permission request.
 */
export type Decision = { "type": "allowOnce", updatedInput: InputChange | null, } | { "type": "allowAlways", suggestion: JsonValue, } | { "type": "deny", message: string, interrupt: boolean, } | { "type": "approvePlan", acceptEdits: boolean, } | { "type": "answer", answers: { [key in string]: string }, };

/**
 * An input as a person changed it: sent exactly as it stands here.
 */
export type InputChange = { "type": "whole", json: string, } | { "type": "field", name: string, text: string, };

/**
 * An event with its place in the session's order. `seq` grows by one with each event of a session, without a gap.
 */
export type Envelope = { seq: number, sessionId: SessionId, } & ({ "type": "sessionChanged", session: Session, } | { "type": "itemAdded", item: Item, } | { "type": "itemChanged", item: Item, } | { "type": "blocksChanged", itemId: ItemId, keep: number, blocks: Array<Block>, } | { "type": "codeGrew", itemId: ItemId, keep: number, lines: Array<CodeLine>, } | { "type": "beginningGone", itemId: ItemId, part: number, parts: number, gone: Gone, } | { "type": "textFinished", itemId: ItemId, } | { "type": "itemRemoved", itemId: ItemId, } | { "type": "fileChanged", file: ChangedFile, } | { "type": "tasksChanged", tasks: Array<Todo>, } | { "type": "turnStarted", promptIds: Array<PromptId>, } | { "type": "turnEnded", turn: TurnEnd, } | { "type": "permissionRequested", request: PermissionRequest, } | { "type": "permissionResolved", requestId: RequestId, resolution: Resolution, } | { "type": "agentExited", report: ExitReport, } | { "type": "commandFailed", error: CommandError, });

/**
 * What goes from the beginning of a text.
 */
export type Gone = { 
/**
 * So many blocks.
 */
blocks: number, 
/**
 * Of the block behind them, which is code, so many lines.
 */
lines: number, 
/**
 * What is left of the block behind them, if that is not all of it, nor lines of code.
 */
cut: Block | null, };

/**
 * What happened in a session.
 */
export type Event = { "type": "sessionChanged", session: Session, } | { "type": "itemAdded", item: Item, } | { "type": "itemChanged", item: Item, } | { "type": "blocksChanged", itemId: ItemId, keep: number, blocks: Array<Block>, } | { "type": "codeGrew", itemId: ItemId, keep: number, lines: Array<CodeLine>, } | { "type": "beginningGone", itemId: ItemId, part: number, parts: number, gone: Gone, } | { "type": "textFinished", itemId: ItemId, } | { "type": "itemRemoved", itemId: ItemId, } | { "type": "fileChanged", file: ChangedFile, } | { "type": "tasksChanged", tasks: Array<Todo>, } | { "type": "turnStarted", promptIds: Array<PromptId>, } | { "type": "turnEnded", turn: TurnEnd, } | { "type": "permissionRequested", request: PermissionRequest, } | { "type": "permissionResolved", requestId: RequestId, resolution: Resolution, } | { "type": "agentExited", report: ExitReport, } | { "type": "commandFailed", error: CommandError, };

/**
 * The way a permission request ended.
 */
export type Resolution = { "type": "allowed", 
/**
 * The suggestion that was applied as well, in its own words.
 */
always: string | null, } | { "type": "denied", message: string, } | { "type": "answered" } | { "type": "withdrawn", reason: string, };

/**
 * All a window needs to draw a session from nothing; patches with a greater `seq` go on top.
 */
export type Snapshot = { 
/**
 * The last event that this snapshot already contains.
 */
seq: number, 
/**
 * When that event was told.
 */
toldAt: number, session: Session, 
/**
 * The part of the transcript that was asked for.
 */
rows: Rows, 
/**
 * Only the end of the conversation was read so far, and the rows are counted from there. When all of it is read, a gap
 * comes, and with it a new snapshot.
 */
isPartial: boolean, 
/**
 * The items of those rows, in their order.
 */
items: Array<Item>, 
/**
 * The files that the session changed, the one that changed last at the end.
 */
files: Array<ChangedFile>, tasks: Array<Todo>, 
/**
 * The last prompts, oldest first, to go back to.
 */
prompts: Array<string>, };

/**
 * One conversation with one agent in one project.
 */
export type Session = { id: SessionId, title: string, 
/**
 * The project's folder.
 */
project: string, 
/**
 * Which agent: `claude` or `demo`.
 */
agent: AgentKind, 
/**
 * The agent's own id of this conversation; `null` until it gave one.
 */
agentSessionId: string | null, status: Status, 
/**
 * Is there a process? Not the same as working: an idle session may or may not have one.
 */
alive: boolean, pid: number | null, agentVersion: string | null, model: string | null, mode: string, 
/**
 * The level that counts; `null` where the model has none, or nobody said.
 */
effort: string | null, thinking: boolean, 
/**
 * As they were told last; `null` until somebody asked.
 */
rules: RulesInForce | null, 
/**
 * The agent did not ask where it must: to be shown for as long as its process lives.
 */
channelFault: ChannelFault | null, 
/**
 * What the agent offers; empty until it said so.
 */
models: Array<Model>, commands: Array<SlashCommand>, 
/**
 * Accepted prompts that were not sent yet, in order.
 */
queue: Array<QueuedPrompt>, 
/**
 * The turn that runs can take up another prompt: the agent tells which prompts it took.
 */
takesIntoTurn: boolean, 
/**
 * Open permission requests, oldest first.
 */
requests: Array<PermissionRequest>, usage: Usage, createdAt: number, 
/**
 * The last time anything happened in it.
 */
changedAt: number, 
/**
 * The turn that runs now began then.
 */
turnStartedAt: number | null, 
/**
 * Its agent runs, or ran last, without the folder's own settings: `--setting-sources=user --strict-mcp-config`.
 */
restricted: boolean, };

/**
 * Which program speaks.
 */
export type AgentKind = "claude" | "demo";

/**
 * Whose turn it is, in the words that are shown.
 */
export type Status = { "type": "idle" } | { "type": "starting" } | { "type": "working", activity: string, } | { "type": "interrupting" } | { "type": "needsInput", what: string, } | { "type": "completed" } | { "type": "failed", message: string, } | { "type": "restarting", attempt: number, at: number, } | { "type": "stopping" } | { "type": "stopped" };

export type Model = { 
/**
 * What `setModel` takes.
 */
name: string, label: string, description: string, 
/**
 * The full name behind `name`, as `Session::model` has it once a turn began.
 */
resolved: string | null, 
/**
 * From the least to the most; empty if it has none.
 */
effortLevels: Array<string>, canStopThinking: boolean, 
/**
 * It can judge by itself what needs asking: the mode `auto`.
 */
canDecide: boolean, };

export type SlashCommand = { 
/**
 * Without the slash.
 */
name: string, description: string, argumentHint: string, };

export type QueuedPrompt = { id: PromptId, text: string, nImages: number, 
/**
 * `true`: held back because a crash or a stop came between; it goes only when the user says so.
 */
held: boolean, 
/**
 * `true`: it was sent before, and its turn had no end. The agent may have done some of it.
 */
cutOff: boolean, delivery: Delivery, };

/**
 * Tokens and money. Cost is the agent's own figure in US dollars.
 */
export type Usage = { 
/**
 * In the context at the end of the last turn: input, cached or not, and output.
 */
contextTokens: number, 
/**
 * The model's window; `null` until the agent said so.
 */
contextWindow: number | null, 
/**
 * Of the whole session.
 */
costUsd: number, outputTokens: number, };

/**
 * Asks whether a tool may do what it is about to do.
 */
export type PermissionRequest = { id: RequestId, tool: string, 
/**
 * One line: “Run this command?”
 */
question: string, 
/**
 * What exactly would be run, written or fetched: the raw text, nothing left out.
 */
subject: string, 
/**
 * The whole input as a value, for programs: a number may have lost its spelling, a key that stands twice is here
 * once.
 */
input: JsonValue, 
/**
 * The whole input as text, for eyes: every token as the agent wrote it, a field to a line.
 */
inputText: string, 
/**
 * Names what is shown here. An answer that lets something happen carries it, so that what was seen is what runs.
 */
shown: string, 
/**
 * The input holds more than `subject` and `diff` show.
 */
hasMore: boolean, 
/**
 * The host that a fetch would really reach; `null` for anything else.
 */
host: string | null, 
/**
 * What may not be what it seems, in the whole of the input.
 */
notices: Array<Notice>, 
/**
 * All of it for a place that shows no more than plain text; `null` if that would hide something.
 */
plain: string | null, kind: RequestKind, 
/**
 * An edit, as it would change the file; `null` for anything else.
 */
diff: Diff | null, 
/**
 * The agent's own choices for “always allow”.
 */
suggestions: Array<Suggestion>, 
/**
 * The tool call it belongs to.
 */
itemId: ItemId | null, 
/**
 * Why it is asked, if the agent said so.
 */
reason: string | null, askedAt: number, };

/**
 * Something in a request that may not be what it seems.
 */
export type Notice = { kind: NoticeKind, 
/**
 * One line: “1 hidden character changes the direction of the text: \u{202E}”.
 */
words: string, };

/**
 * What a notice is about.
 */
export type NoticeKind = "direction" | "invisible" | "control" | "blank" | "combining" | "lookAlike" | "broken" | "duplicateKey" | "padding" | "shell" | "address" | "path" | "long";

/**
 * What kind of answer is wanted.
 */
export type RequestKind = { "type": "command" } | { "type": "edit" } | { "type": "fetch" } | { "type": "other" } | { "type": "questions", questions: Array<Question>, } | { "type": "plan", blocks: Array<Block>, };

export type Question = { text: string, header: string, options: Array<QuestionOption>, multiSelect: boolean, };

export type QuestionOption = { label: string, description: string, };

/**
 * A rule that the agent offers to keep.
 */
export type Suggestion = { 
/**
 * Names it in `Decision::AllowAlways`.
 */
id: string, 
/**
 * In words: “Allow `touch b.txt`”.
 */
label: string, 
/**
 * The exact rule, `Bash(touch b.txt)`: to be drawn so that every code point shows.
 */
rule: string, 
/**
 * Where it is kept, in words: “this session”, “this project, for me”.
 */
keptIn: string, 
/**
 * As the agent sent it, and as it goes back.
 */
raw: JsonValue, };

/**
 * What a turn came to.
 */
export type TurnEnd = { outcome: Outcome, 
/**
 * One line for people: “Done”, “Interrupted”, “The API answered 529: overloaded”.
 */
words: string, 
/**
 * The prompts it answered; empty if nobody asked for it.
 */
promptIds: Array<PromptId>, durationMs: number, outputTokens: number, 
/**
 * Of this turn alone.
 */
costUsd: number, timing: TurnTiming, };

/**
 * What a turn was waited for, each in milliseconds; none of what there was not.
 */
export type TurnTiming = { 
/**
 * From the start of the agent's process until it was ready; only of the first turn in it.
 */
spawnMs: number | null, 
/**
 * From the prompt to the agent's first line.
 */
firstLineMs: number | null, 
/**
 * From the prompt to the first piece of text for the user.
 */
firstTextMs: number | null, };

/**
 * How a turn ended. Judged by `is_error` first: an API failure comes as `subtype: success` (2.1.329).
 */
export type Outcome = { "type": "done" } | { "type": "interrupted" } | { "type": "notLoggedIn" } | { "type": "unknownModel" } | { "type": "contextExceeded" } | { "type": "rateLimited" } | { "type": "maxTurns" } | { "type": "budgetExhausted" } | { "type": "apiError", status: number | null, } | { "type": "crashed" } | { "type": "failed" };

/**
 * How a process ended.
 */
export type ExitReport = { code: number | null, signal: number | null, 
/**
 * Asked for: by stop, by the end of the app, by hibernation.
 */
expected: boolean, 
/**
 * The last lines of its error output.
 */
stderr: string, };

/**
 * A failure to branch on, to read, and to unfold.
 */
export type CommandError = { code: ErrorCode, message: string, detail: string | null, };

export type ErrorCode = "agentNotFound" | "spawnFailed" | "badProject" | "notTrusted" | "noSuchSession" | "noSuchPrompt" | "noSuchRequest" | "badCommand" | "openElsewhere" | "refused" | "internal";

/**
 * One entry of the conversation.
 */
export type Item = { id: ItemId, 
/**
 * The tool call whose subagent made this item; `null` for the main thread.
 */
parent: ItemId | null, 
/**
 * The row it is drawn in, counted from 0: a run of reads and searches shares one, and what a subagent made is in
 * that of its call. A row keeps its number for good, and may become empty.
 */
row: number, 
/**
 * Its number in its row, from 0. A window has the last items of a subagent, and asks for those before them.
 */
nr: number, at: number, 
/**
 * In how many parts a window draws it. More than one: the body is the first of them, or, of a text that streams,
 * the last of them. The engine gives the others. Whoever listens without a window has the whole of it.
 */
parts: number, 
/**
 * The part that its body begins with. Not 0: the body goes on to the end.
 */
part: number, body: Body, };

export type Body = { "type": "prompt", text: string, nImages: number, state: PromptState, } | { "type": "text", blocks: Array<Block>, 
/**
 * Still being written.
 */
streaming: boolean, } | { "type": "thinking", text: string, streaming: boolean, durationMs: number | null, } | { "type": "toolCall" } & ToolCall | { "type": "notice", level: Level, text: string, 
/**
 * More to unfold: stderr, a line that could not be read.
 */
detail: string | null, 
/**
 * When what it tells of is over: a limit resets then.
 */
untilAt: number | null, } | { "type": "turnEnd" } & TurnEnd;

/**
 * Where a prompt is on its way.
 */
export type PromptState = "queued" | "sent" | "done" | "failed" | "withdrawn" | "held";

export type Level = "info" | "warning" | "error";

/**
 * A tool at work.
 */
export type ToolCall = { 
/**
 * The agent's name of the tool: `Bash`, `Edit`, `mcp__server__tool`.
 */
tool: string, icon: ToolIcon, 
/**
 * “Ran”, “Edited”, “Read”; in the present while it runs: “Running”.
 */
verb: string, 
/**
 * `cargo test`, `src/lib.rs`: one line.
 */
subject: string, state: ToolState, 
/**
 * How it ended, if that is worth a word: “exit code 1”, “denied”.
 */
note: string | null, durationMs: number | null, detail: ToolDetail, };

export type ToolIcon = "command" | "edit" | "read" | "search" | "web" | "agent" | "todo" | "question" | "plan" | "mcp" | "other";

export type ToolState = "preparing" | "running" | "waiting" | "succeeded" | "failed" | "denied" | "interrupted";

/**
 * What opens below a tool call.
 */
export type ToolDetail = { "type": "command", command: string, 
/**
 * Its end.
 */
output: Output, } | { "type": "edit" } & Diff | { "type": "text", language: string | null, 
/**
 * Its beginning.
 */
output: Output, } | { "type": "todos", todos: Array<Todo>, } | { "type": "json", input: string, 
/**
 * Its beginning.
 */
output: Output, };

/**
 * A part of what a tool put out. The engine has the whole of it.
 */
export type Output = { 
/**
 * How many lines there are; a very long one counts, and comes, as several.
 */
total: number, 
/**
 * The number of the first of `lines`, counted from 0.
 */
first: number, lines: Array<CodeLine>, };

export type Todo = { text: string, 
/**
 * `pending`, `inProgress`, `completed`.
 */
state: TodoState, };

export type TodoState = "pending" | "inProgress" | "completed";

/**
 * A block of a document, from Markdown.
 */
export type Block = { "type": "paragraph", spans: Array<Span>, } | { "type": "heading", level: number, spans: Array<Span>, } | { "type": "code", language: string | null, lines: Array<CodeLine>, } | { "type": "quote", blocks: Array<Block>, } | { "type": "list", 
/**
 * The first number of an ordered list; `null` for bullets.
 */
start: number | null, items: Array<ListItem>, } | { "type": "table", align: Array<Align>, head: Array<Cell>, rows: Array<Array<Cell>>, } | { "type": "rule" } | { "type": "footnote", label: string, blocks: Array<Block>, };

export type ListItem = { 
/**
 * A task's state; `null` for an ordinary item.
 */
checked: boolean | null, blocks: Array<Block>, };

export type Cell = { spans: Array<Span>, };

export type Align = "none" | "left" | "center" | "right";

/**
 * A run of text inside a block.
 */
export type Span = { "type": "text", text: string, } | { "type": "code", text: string, } | { "type": "emphasis", spans: Array<Span>, } | { "type": "strong", spans: Array<Span>, } | { "type": "strike", spans: Array<Span>, } | { "type": "link", url: string, host: string, spans: Array<Span>, } | { "type": "image", url: string, host: string | null, alt: string, } | { "type": "raw", text: string, } | { "type": "footnoteRef", label: string, } | { "type": "break" };

/**
 * One line of code or of terminal output.
 */
export type CodeLine = { tokens: Array<Token>, };

export type Token = { text: string, style: TokenStyle, };

/**
 * What a token is; the UI's tokens file gives it a colour.
 */
export type TokenStyle = "plain" | "keyword" | "string" | "function" | "comment" | "number" | "type" | "red" | "green" | "yellow" | "blue" | "magenta" | "cyan" | "dim" | "bold";

/**
 * A change of one file.
 */
export type Diff = { path: string, added: number, removed: number, hunks: Array<Hunk>, };

export type Hunk = { lines: Array<DiffLine>, };

export type DiffLine = { kind: DiffKind, 
/**
 * 1-based; `null` where the file has no such line, or where the place in the file is not known.
 */
oldLine: number | null, newLine: number | null, parts: Array<DiffPart>, };

export type DiffKind = "context" | "added" | "removed";

/**
 * A run of a changed line; `strong` marks the words that changed.
 */
export type DiffPart = { text: string, strong: boolean, };

/**
 * What a window draws first: its project and the sessions known there.
 */
export type ProjectView = { 
/**
 * The folder, whole.
 */
path: string, name: string, 
/**
 * The checked-out branch, if the folder is under git.
 */
branch: string | null, sessions: Array<Session>, 
/**
 * The session that was open last.
 */
open: SessionId | null, agent: AgentView, 
/**
 * The folder cannot be worked in: why.
 */
problem: CommandError | null, 
/**
 * What the folder would make its agent do, and what its user decided; `null` where only the demo agent works.
 */
trust: TrustView | null, 
/**
 * Processes of an earlier run of the app that are still there, whatever their project.
 */
survivors: Array<Survivor>, appVersion: string, };

/**
 * Which agent program a new session would run, and why that one.
 */
export type AgentView = { "type": "found", kind: AgentKind, program: string, source: string, } | { "type": "missing", tried: Array<Tried>, };

/**
 * A process of an earlier run of the app that is still there.
 */
export type Survivor = { pid: number, 
/**
 * Its command line, the arguments parted by blanks.
 */
command: string, 
/**
 * Where it works.
 */
folder: string | null, startedAt: number, };

export type Tried = { 
/**
 * A path, or the name of a variable.
 */
place: string, problem: string, };

/**
 * Something that was dropped on a window.
 */
export type Dropped = { "type": "image", name: string, image: Image, } | { "type": "file", path: string, } | { "type": "refused", why: string, };

/**
 * Files of the project that fit what was typed, the best first.
 */
export type FoundFiles = { files: Array<FoundFile>, 
/**
 * The project has more files than are looked through.
 */
isCut: boolean, };

export type FoundFile = { 
/**
 * From the project, with slashes; a folder ends in one.
 */
path: string, 
/**
 * Which of its characters matched.
 */
matched: Array<number>, };

/**
 * What goes to a window in one Tauri event: the events of one frame, merged.
 */
export type Batch = { sessionId: SessionId, 
/**
 * The batch applies on top of exactly this `seq`; anything else is a gap, and asks for a new snapshot.
 */
after: number, 
/**
 * The `seq` after it. Merged events leave their numbers out: `seq - after` may exceed their count.
 */
seq: number, 
/**
 * The rows that the window holds from now on. Items that come into it are added by the events.
 */
rows: Rows, events: Array<Event>, };

/**
 * What a window learns first. Its events come under a name that only it was told.
 */
export type Hello = { 
/**
 * The Tauri event to listen to, before anything else is asked.
 */
event: string, project: ProjectView, preferences: Preferences, };

/**
 * What a window hears.
 */
export type Told = { "type": "event", event: WindowEvent, } | { "type": "waits", nr: number, };

/**
 * What the shell tells a window.
 */
export type WindowEvent = { "type": "batch" } & Batch | { "type": "sessionListed", session: Session, } | { "type": "sessionRemoved", sessionId: SessionId, } | { "type": "show", sessionId: SessionId, requestId: RequestId | null, } | { "type": "dragging", over: boolean, } | { "type": "dropped", dropped: Array<Dropped>, } | { "type": "projectChanged", project: ProjectView, };

/**
 * What a person chose for all windows.
 */
export type Preferences = { theme: Theme, 
/**
 * Ask by native dialog and card, or by the card alone.
 */
askBy: AskBy, 
/**
 * The agent program; `null` looks in the usual places.
 */
agentProgram: string | null, 
/**
 * How large everything is drawn, in percent: from 50 to 200.
 */
zoom: number, };

export type Theme = "system" | "light" | "dark";

export type AskBy = "dialogAndCard" | "card";

/**
 * What a window shows before any agent starts in a folder that is not trusted.
 */
export type TrustView = { 
/**
 * The folder, whole, links resolved.
 */
project: string, standing: TrustStanding, 
/**
 * What the folder says now, the most dangerous first.
 */
findings: Array<Finding>, 
/**
 * If it changed since it was trusted: what is new, and what is gone. Both may be empty, if only the writing changed.
 */
added: Array<Finding>, removed: Array<Finding>, 
/**
 * Nothing runs, sends anything elsewhere or widens what the agent may do: ask briefly.
 */
nothingToRun: boolean, 
/**
 * Names exactly what is shown here, and goes back with `trust`. `null`: a file could not be read or shown whole, so
 * the folder cannot be trusted as it is.
 */
fingerprint: string | null, };

/**
 * What the user decided about a folder.
 */
export type TrustStanding = "unknown" | "trusted" | "restricted" | "changed";

/**
 * The answer to whether a folder is trusted.
 */
export type TrustDecision = "trust" | "restrict";

/**
 * One thing that a folder's settings say.
 */
export type Finding = { kind: FindingKind, severity: Severity, 
/**
 * The file that says it, from the folder: `.claude/settings.json`, `../.mcp.json`.
 */
file: string, 
/**
 * Where that file really lies, if a link leads there.
 */
link: string | null, 
/**
 * In words: “Runs when a session starts”.
 */
title: string, 
/**
 * What it goes by: a server's name, the tools that a hook is for, a setting's key.
 */
name: string | null, 
/**
 * The command, address, rule or value, exactly and whole: to be drawn so that every code point shows.
 */
text: string, 
/**
 * Whatever else the entry says.
 */
details: Array<FindingDetail>, };

export type FindingDetail = { name: string, value: string, };

/**
 * How bad a finding can be, the worst first.
 */
export type Severity = "runs" | "redirects" | "allows" | "changes";

/**
 * What sort of thing a finding is, in the order in which they are shown.
 */
export type FindingKind = "unreadable" | "apiAddress" | "hook" | "server" | "helper" | "statusLine" | "plugin" | "environment" | "mode" | "allowRule" | "directory" | "serverApproval" | "sandbox" | "narrowingRule" | "setting" | "oddity";

/**
 * What the doctor says of the agent.
 */
export type Checkup = { 
/**
 * Which one, and why that one; or what was tried.
 */
agent: AgentView, version: string | null, channel: PermissionChannel, };

/**
 * Whether an agent asks before it acts.
 */
export type PermissionChannel = { "type": "asks" } | { "type": "neverAsks" } | { "type": "unknown", reason: string, };

/**
 * What lets a session's agent do things unasked, or keeps it from them.
 */
export type RulesInForce = { basis: RulesBasis, rules: Array<Rule>, 
/**
 * Folders beside the project's that it may work in.
 */
directories: Array<string>, };

/**
 * How far a list of rules can be relied on.
 */
export type RulesBasis = "agent" | "settings";

/**
 * One rule.
 */
export type Rule = { effect: RuleEffect, 
/**
 * As it is written: `Bash(touch *)`.
 */
rule: string, origin: RuleOrigin, };

/**
 * What a rule does with the calls that it covers.
 */
export type RuleEffect = "deny" | "ask" | "allow";

/**
 * Where a rule comes from, in the order in which they are shown.
 */
export type RuleOrigin = "session" | "local" | "project" | "user" | "policy" | "arguments" | "other";

/**
 * The agent did not ask where it must, or cannot ask at all.
 */
export type ChannelFault = { kind: ChannelFaultKind, 
/**
 * One line for people: “The agent ran a command without asking.”
 */
words: string, 
/**
 * What it did so, exactly.
 */
subject: string | null, };

/**
 * In which way the permission channel failed.
 */
export type ChannelFaultKind = "unasked" | "cannotAsk";

/**
 * The part of a transcript that a window holds: the rows from `first` up to `end`, of `total`.
 */
export type Rows = { first: number, end: number, total: number, 
/**
 * The request that this answers, by its number.
 */
ask: number, };

/**
 * The part of a transcript that a window wants. More rows than the engine gives at once are cut off.
 */
export type Show = { 
/**
 * `null`: the end, and whatever is added there.
 */
first: number | null, count: number, 
/**
 * A number of the window's own, to know the answer by.
 */
ask: number, };

/**
 * A file that a session changed.
 */
export type ChangedFile = { path: string, added: number, removed: number, 
/**
 * The last edit of it, and where that stands.
 */
itemId: ItemId, row: number, };

/**
 * What can be copied, as the agent wrote it.
 */
export type CopyOf = { "type": "conversation" } | { "type": "message", itemId: ItemId, } | { "type": "output", itemId: ItemId, } | { "type": "input", itemId: ItemId, };

/**
 * Where words stand in a transcript.
 */
export type Found = { 
/**
 * How many items hold the words.
 */
count: number, hit: Hit | null, };

/**
 * One of the items that hold the words.
 */
export type Hit = { 
/**
 * Counted from 0.
 */
index: number, itemId: ItemId, row: number, 
/**
 * The words stand in what has to be unfolded first.
 */
inside: boolean, 
/**
 * In which part of the item they stand first, counted from 0.
 */
part: number, };

/**
 * A session as Deskbell knows it; stable from its creation, across restarts of app and agent.
 */
export type SessionId = string;

/**
 * One entry of the transcript.
 */
export type ItemId = string;

/**
 * A prompt. It carries this id to the agent when it is sent first, and another each time it is sent again.
 */
export type PromptId = string;

/**
 * A permission request, as the agent named it.
 */
export type RequestId = string;
