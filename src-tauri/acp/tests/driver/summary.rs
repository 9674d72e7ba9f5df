//! The events of a recording as a short text.

use deskbell_acp::AcpEvent;
use deskbell_acp::event::{
    AcpCall, AcpTokens, AcpUsage, CommandFrom, Content, OptionValue, OutputChange, Permission, Voice,
};
use deskbell_api::FieldKind;
use std::fmt::Write;

pub fn summary(events: &[AcpEvent]) -> String {
    let mut out = String::new();
    let mut said: Option<(Voice, String)> = None;
    for event in events {
        if let AcpEvent::Said { voice, content: Content::Text(text), is_new, .. } = event {
            match &mut said {
                Some((_, before)) if !is_new => before.push_str(text),
                _ => {
                    flush(&mut out, said.take());
                    said = Some((*voice, text.clone()));
                }
            }
            continue;
        }
        // Figures come between the chunks of a message.
        if let AcpEvent::Usage(usage) = event {
            if said.is_none() {
                line(&mut out, &used(usage));
            }
            continue;
        }
        flush(&mut out, said.take());
        line(&mut out, &one(event));
    }
    flush(&mut out, said);
    out
}

fn flush(out: &mut String, said: Option<(Voice, String)>) {
    if let Some((voice, text)) = said {
        let voice = match voice {
            Voice::Agent => "text",
            Voice::Thinking => "thinking",
            Voice::User => "prompt",
        };
        line(out, &format!("{voice} {}", short(&text)));
    }
}

fn line(out: &mut String, text: &str) {
    out.push_str(text.trim_end());
    out.push('\n');
}

fn short(text: &str) -> String {
    let cut: String = text.chars().take(80).collect();
    let rest = text.chars().count() - cut.chars().count();
    if rest == 0 { format!("{cut:?}") } else { format!("{cut:?} and {rest} more") }
}

fn tokens(tokens: &Option<AcpTokens>) -> String {
    tokens.as_ref().map_or_else(String::new, |tokens| format!(", {} tokens", tokens.total))
}

fn used(usage: &AcpUsage) -> String {
    let mut out = "usage".to_owned();
    if let Some((used, size)) = usage.context {
        let _ = write!(out, " context {used} of {size}");
    }
    if let Some((cost, currency)) = &usage.cost {
        let _ = write!(out, " cost {cost} {currency}");
    }
    out + &tokens(&usage.tokens)
}

fn one(event: &AcpEvent) -> String {
    match event {
        AcpEvent::Ready(ready) => {
            let logins: Vec<String> = ready
                .logins
                .iter()
                .map(|login| {
                    let terminal = login.terminal.as_ref().map_or_else(String::new, |terminal| {
                        format!(
                            " ({} {})",
                            terminal.command.as_deref().unwrap_or("own"),
                            terminal.arguments.join(" ")
                        )
                    });
                    format!("{}{terminal}", login.id)
                })
                .collect();
            format!(
                "ready {} {}\n  {:?}\n  logins: {}",
                ready.name.as_deref().unwrap_or("?"),
                ready.version.as_deref().unwrap_or("?"),
                ready.abilities,
                logins.join(", ")
            )
        }
        AcpEvent::Session(session) => {
            let modes: Vec<&str> = session.modes.iter().map(|mode| mode.id.as_str()).collect();
            let mut out = format!("session\n  mode {:?} of {}\n", session.mode, modes.join(", "));
            for option in &session.options {
                let value = match &option.value {
                    OptionValue::Choice { value, choices } => format!("{value} of {}", choices.len()),
                    OptionValue::Switch(on) => on.to_string(),
                };
                let _ = writeln!(out, "  option {} ({:?}): {value}", option.id, option.category);
            }
            let _ = write!(out, "  model {:?} of {}", session.model, session.models.len());
            out
        }
        AcpEvent::LoginRequired { message, logins } => {
            format!("login required {} ({} ways)", short(message), logins.len())
        }
        AcpEvent::Done(action) => format!("done {action:?}"),
        AcpEvent::Failed { action, failure } => format!("failed {action:?}: {failure:?}"),
        AcpEvent::TurnStarted => "\nturn".to_owned(),
        AcpEvent::Said { voice, content, .. } => format!("{voice:?} {content:?}"),
        AcpEvent::Call(call) => format!("call {}{}", call.id, changes(call)),
        AcpEvent::Permission(permission) => asked(permission),
        AcpEvent::Question(question) => {
            let mut out = format!("question {} by {:?}", short(&question.message), question.call);
            for field in &question.fields {
                let kind = match &field.kind {
                    FieldKind::One { choices, .. } => {
                        choices.iter().map(|choice| choice.label.as_str()).collect::<Vec<_>>().join(" | ")
                    }
                    kind => format!("{kind:?}"),
                };
                let _ = write!(out, "\n  {} {:?}: {kind}", field.name, field.label);
            }
            out
        }
        AcpEvent::Withdrawn { reason, .. } => format!("withdrawn {reason:?}"),
        AcpEvent::TurnEnded { end, tokens: used } => format!("end {end:?}{}", tokens(used)),
        AcpEvent::Mode { id } => format!("mode {id}"),
        AcpEvent::Options(options) => format!("options {}", options.len()),
        AcpEvent::Commands(commands) => format!("commands {}", commands.len()),
        AcpEvent::Plan(entries) => format!("plan {}", entries.len()),
        AcpEvent::Usage(usage) => used(usage),
        AcpEvent::Title(title) => format!("title {title:?}"),
        AcpEvent::Notice { severity, title, .. } => format!("notice {severity} {}", short(title)),
        AcpEvent::Compaction { status, .. } => format!("compaction {status}"),
        AcpEvent::Stored { sessions, .. } => format!("stored {}", sessions.len()),
        AcpEvent::Refused { method, reason, .. } => format!("refused {method}: {reason}"),
        AcpEvent::Unknown { kind, json } => format!("unknown {kind} {}", short(json)),
        AcpEvent::Unreadable { line, n_bytes, .. } => format!("unreadable {n_bytes} {}", short(line)),
    }
}

fn changes(call: &AcpCall) -> String {
    let mut out = String::new();
    let mut add = |text: String| {
        let _ = write!(out, "\n  {text}");
    };
    if let Some(status) = call.status {
        add(format!("{status:?}"));
    }
    if let Some(title) = &call.title {
        add(format!("title {}", short(title)));
    }
    if let Some(kind) = call.kind {
        add(format!("kind {kind:?}, tool {:?}", call.tool));
    }
    if let Some(input) = &call.input {
        match (&input.command, input.command_from) {
            (Some(command), CommandFrom::Title) => add(format!("command by its title: {}", short(command))),
            (Some(command), _) => add(format!("command: {}", short(command))),
            (None, _) => add(format!("input: {}", short(&format!("{:?}", input.json)))),
        }
    }
    for place in call.places.iter().flatten() {
        add(format!("at {}", place.path));
    }
    for diff in call.diffs.iter().flatten() {
        add(format!("diff {}: {:?} to {}", diff.path, diff.old, short(&diff.new)));
    }
    if let Some(note) = &call.note {
        add(format!("note {}", short(note)));
    }
    match &call.output {
        Some(OutputChange::Added(text)) => add(format!("output adds {}", short(text))),
        Some(OutputChange::Replaced(text)) => add(format!("output is {}", short(text))),
        None => {}
    }
    for (name, text) in [("beside", &call.beside), ("raw output", &call.raw_output)] {
        if let Some(text) = text {
            add(format!("{name} {}", short(text)));
        }
    }
    if let Some(exit) = &call.exit {
        add(format!("exit {:?} {:?}", exit.code, exit.signal));
    }
    for attachment in call.attachments.iter().flatten() {
        add(format!("attachment {attachment:?}"));
    }
    out
}

fn asked(permission: &Permission) -> String {
    let options: Vec<String> =
        permission.options.iter().map(|option| format!("{} ({:?})", option.id, option.kind)).collect();
    format!(
        "permission {}{}\n  explained: {}\n  options: {}",
        permission.call.id,
        changes(&permission.call),
        permission.explanation.as_deref().map_or_else(|| "no".to_owned(), short),
        options.join(" | ")
    )
}
