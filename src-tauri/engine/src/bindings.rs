//! Checks the files that are made from `api` and from lists in the engine: `ui/src/lib/bindings` and the documentation
//! of the settings.
//! `UPDATE_BINDINGS=1 cargo test -p deskbell-engine bindings` writes it.

use crate::api::*;
use crate::misleading::oddity;
use crate::settings;
use ts_rs::{Config, TS};

/// Every type of `api` as an exported TypeScript declaration with its documentation.
fn typescript() -> String {
    // Every integer here fits a JavaScript number: milliseconds since 1970, counts, exit codes.
    let config = Config::new().with_large_int("number");
    let mut out = String::from("// Generated from src-tauri/api/src. Do not edit.\n");
    out.push_str("export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };\n");
    macro_rules! declare {
        ($($name:ident,)*) => {$(
            out.push('\n');
            out.push_str(&<$name as TS>::docs().unwrap_or_default());
            out.push_str("export ");
            out.push_str(&<$name as TS>::decl(&config));
            out.push('\n');
        )*};
    }
    declare! {
        Command,
        Delivery,
        PermissionMode,
        SessionOptions,
        SystemPrompt,
        EnvironmentVariable,
        Preset,
        KeyBinding,
        OptionField,
        OptionProblem,
        OptionServer,
        OptionsReview,
        Attachment,
        AskedAgent,
        NamedDraft,
        Decision,
        InputChange,
        Envelope,
        Event,
        Resolution,
        ExportFormat,
        Snapshot,
        Session,
        MenuEntry,
        AgentKind,
        AgentCapabilities,
        RulesScope,
        Status,
        SessionLink,
        Checkout,
        Worktree,
        WorktreePlan,
        WorktreeRemoval,
        WorktreeView,
        BackgroundTask,
        TaskKind,
        ScheduledTurn,
        ScheduleKind,
        Model,
        Slice,
        Sender,
        SlashCommand,
        QueuedPrompt,
        Usage,
        ContextUsage,
        Configuration,
        ConfigurationPart,
        ConfigurationProblem,
        ServerFailure,
        McpServer,
        McpStatus,
        McpTool,
        Hooks,
        Hook,
        Plugin,
        Extension,
        MemoryFile,
        RewindState,
        RewindUndo,
        RewindPreview,
        SideQuestion,
        SidePurpose,
        SideOutcome,
        SideRetry,
        RewindFile,
        RewindChange,
        ContextReport,
        ContextCategory,
        ContextKind,
        PlanLimits,
        LimitWindow,
        LimitStatus,
        Overage,
        ModelUsage,
        Tokens,
        PermissionRequest,
        Notice,
        NoticeKind,
        RequestKind,
        Question,
        QuestionOption,
        Form,
        FormField,
        FieldKind,
        FormChoice,
        Suggestion, Subagent,
        TurnEnd,
        TurnTiming,
        Outcome,
        ExitReport,
        CommandError,
        ErrorCode,
        Item,
        Body,
        PromptState,
        Level,
        ToolCall,
        CallProgress,
        ToolIcon,
        ToolState,
        ToolDetail,
        Output,
        AnsweredOption,
        AnsweredQuestion,
        Todo,
        TodoState,
        Block,
        ListItem,
        Cell,
        Align,
        Span,
        CodeLine,
        Token,
        TokenStyle,
        Diff,
        Hunk,
        DiffLine,
        DiffKind,
        DiffPart,
        FarMachine,
        SidePanels,
        PanelChoice,
        ConnectionQuestion,
        ConnectionQuestionKind,
        ProjectView,
        StoredSession,
        ForkedSession,
        SessionMark,
        MarkedSession,
        StoredState,
        LiveProcess,
        LiveActivity,
        StoredChange,
        SearchChange,
        FoundSession,
        SearchHit,
        SearchPlace,
        SnippetPart,
        UsageView,
        Against,
        Changes,
        ChangesBase,
        FileChange,
        FileState,
        FileContent,
        FileDiff,
        HunkPlace,
        PromptMoment,
        Patch,
        Reverted,
        CommitRequest,
        CommitFiles,
        CommitFile,
        CommitState,
        CommitBoxState,
        Amendment,
        Committed,
        UndoneCommit,
        UsageRow,
        BoardView,
        BoardMachine,
        MachineAnswer,
        MachineSession,
        BoardRow,
        BoardRequest,
        EditedLines,
        BoardRequestKind,
        BoardAnswer,
        ProcessCost,
        BoardState,
        BoardConnection,
        ProjectRef,
        RemoteProject,
        RemoteMachine,
        RemoteFolder,
        RecentProject,
        FolderState,
        FolderListing,
        StartView,
        StartConnection,
        AgentView,
        OrphanProcess,
        Tried,
        Dropped,
        FileText,
        FoundFiles,
        FoundFile,
        UnreadFile,
        UnreadKind,
        Batch,
        Connection,
        WindowMessage,
        PagePoint,
        WindowEvent,
        Settings,
        Theme,
        Asking,
        AgentSettings,
        Priority,
        BellSettings,
        BellKind,
        BellUrgency,
        UserCommand,
        Accent,
        ZoomStep,
        Density,
        FontSettings,
        LogLevel,
        Closing,
        SettingsView,
        SettingsProblem,
        SettingKey,
        SettingControl,
        SettingOption,
        SettingSection,
        BellTest,
        TrustAgent,
        TrustView,
        TrustStatus,
        TrustDecision,
        UnknownSetting,
        Finding,
        FindingDetail,
        Severity,
        FindingKind,
        Checkup,
        ReportLine,
        Health,
        PermissionChannel,
        Readiness,
        ReadinessState,
        OtherAgent,
        MachineAgents,
        AgentLacks,
        AgentLogin,
        Profile,
        AgentOption,
        AgentOptionKind,
        AgentChoice,
        TaskOutput,
        RawLines,
        RawLine,
        RawDirection,
        RawKind,
        RecordingState,
        OtherAgentState,
        SetupCommand,
        RulesInForce,
        RulesBasis,
        Rule,
        RuleEffect,
        RuleOrigin,
        RuleFileList,
        FolderRules,
        RuleFile,
        FileRule,
        RulePlace,
        MissedPrompt,
        MissedPromptKind,
        RowRange,
        Viewport,
        ChangedFile,
        CopyOf,
        SessionQuery,
        SessionAnswers,
        Found,
        Hit,
        SessionId,
        ItemId,
        PromptId,
        RequestId,
    }
    out
}

/// The characters that the UI marks in permission requests, including texts that the engine never checked.
fn lookalikes() -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for character in ('\0'..=char::MAX).filter(|character| oddity(*character) == Some(NoticeKind::LookAlike))
    {
        let code = u32::from(character);
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == code => *last = code,
            _ => ranges.push((code, code)),
        }
    }
    let rows: String = ranges.iter().map(|(first, last)| format!("  [0x{first:x}, 0x{last:x}],\n")).collect();
    format!(
        "// Generated from src-tauri/engine/src/permission/notice.rs. Do not edit.\n\
         /** Characters that look like signs of ASCII: the first and the last of each range. */\n\
         export const LOOKALIKES: readonly (readonly [number, number])[] = [\n{rows}];\n"
    )
}

/// The settings with their labels, for the settings page, their defaults, and the agents that a profile can have.
fn settings() -> String {
    let keys = serde_json::to_string_pretty(settings::SettingsFile::keys()).expect("they are JSON");
    let defaults = serde_json::to_string_pretty(&Settings::default()).expect("they are JSON");
    format!(
        "// Generated from src-tauri/api/src/settings.rs. Do not edit.\n\
         import type {{ SettingKey, Settings }} from './api';\n\n\
         export const SETTING_KEYS: readonly SettingKey[] = {keys};\n\n\
         export const DEFAULT_SETTINGS: Settings = {defaults};\n",
    )
}

/// Without the settings, which the page loads later.
fn agents() -> String {
    let agents: String = deskbell_acp::agents::AGENTS
        .iter()
        .map(|agent| format!("  {{ id: {:?}, name: {:?} }},\n", agent.id, agent.name))
        .collect();
    format!(
        "// Generated from src-tauri/acp/src/agents.rs and src-tauri/engine/src/launch.rs. Do not edit.\n\n\
         /** The agents that a profile can have by their name, without Claude Code. */\n\
         export const PROFILE_AGENTS: readonly {{ id: string; name: string }}[] = [\n{agents}];\n\n\
         /** The command that logs in to Claude Code. */\n\
         export const CLAUDE_LOGIN = '{login}';\n",
        login =
            ["claude"].iter().chain(crate::launch::Launch::LOGIN_ARGS).copied().collect::<Vec<_>>().join(" "),
    )
}

fn hold(file: &str, fresh: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    if std::env::var_os("UPDATE_BINDINGS").is_some() {
        std::fs::create_dir_all(path.parent().expect("the path has a folder"))
            .expect("the folder can be made");
        std::fs::write(&path, fresh).expect("the bindings can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == fresh,
        "{file} is not what the engine says: run UPDATE_BINDINGS=1 cargo test -p deskbell-engine bindings"
    );
}

#[test]
fn bindings_are_fresh() {
    hold("ui/src/lib/bindings/api.ts", &typescript());
    hold("ui/src/lib/bindings/lookalikes.ts", &lookalikes());
    hold("ui/src/lib/bindings/settings.ts", &settings());
    hold("ui/src/lib/bindings/agents.ts", &agents());
    hold("docs/settings.md", &settings::markdown());
    hold("docs/settings.schema.json", &format!("{:#}\n", settings::SettingsFile::schema()));
}
