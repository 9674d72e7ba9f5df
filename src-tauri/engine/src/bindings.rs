//! Holds `ui/src/lib/bindings/api.ts` to `api.rs`. `UPDATE_BINDINGS=1 cargo test -p deskbell-engine bindings` writes it.

use crate::api::*;
use ts_rs::{Config, TS};

/// Each type of `api.rs`, as an exported TypeScript declaration under its documentation.
fn typescript() -> String {
    // Every integer here fits a JavaScript number: milliseconds since 1970, counts, exit codes.
    let config = Config::new().with_large_int("number");
    let mut out = String::from("// Generated from src-tauri/engine/src/api.rs. Do not edit.\n");
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
        Image,
        Decision,
        InputChange,
        Envelope,
        Event,
        Resolution,
        Snapshot,
        Session,
        AgentKind,
        Status,
        Model,
        SlashCommand,
        QueuedPrompt,
        Usage,
        PermissionRequest,
        Notice,
        NoticeKind,
        RequestKind,
        Question,
        QuestionOption,
        Suggestion,
        TurnEnd,
        Outcome,
        ExitReport,
        CommandError,
        ErrorCode,
        Item,
        Body,
        PromptState,
        Level,
        ToolCall,
        ToolIcon,
        ToolState,
        ToolDetail,
        Output,
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
        ProjectView,
        AgentView,
        Tried,
        Dropped,
        FoundFiles,
        FoundFile,
        Batch,
        Hello,
        WindowEvent,
        Preferences,
        Theme,
        AskBy,
        TrustView,
        TrustStanding,
        TrustDecision,
        Finding,
        FindingDetail,
        Severity,
        FindingKind,
        Checkup,
        PermissionChannel,
        RulesInForce,
        RulesBasis,
        Rule,
        RuleEffect,
        RuleOrigin,
        ChannelFault,
        ChannelFaultKind,
        Rows,
        Show,
        ChangedFile,
        CopyOf,
        Found,
        Hit,
        SessionId,
        ItemId,
        PromptId,
        RequestId,
    }
    out
}

#[test]
fn bindings_are_fresh() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/src/lib/bindings/api.ts");
    let fresh = typescript();
    if std::env::var_os("UPDATE_BINDINGS").is_some() {
        std::fs::create_dir_all(path.parent().expect("the path has a folder"))
            .expect("the folder can be made");
        std::fs::write(&path, &fresh).expect("the bindings can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == fresh,
        "api.rs changed: run UPDATE_BINDINGS=1 cargo test -p deskbell-engine bindings"
    );
}
