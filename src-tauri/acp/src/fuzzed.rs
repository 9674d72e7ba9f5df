//! Fuzz target for the driver: any output of an agent, with commands between its lines.
//!
//! `cargo xtask fuzz acp` runs it with libFuzzer (`engine/fuzz`). The test here runs it with the inputs in its corpus.

use crate::agents::CommandPlace;
use crate::command::{AcpCommand, PromptPart};
use crate::event::{AcpEvent, RequestKey};
use crate::{AcpClient, ClientStep};

/// Lines that begin a session, so that most inputs reach what comes after it.
const BEGIN: [&str; 2] = [
    r#"{"id":0,"result":{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"close":{}}}}}"#,
    r#"{"id":1,"result":{"sessionId":"s","modes":{"currentModeId":"a","availableModes":[{"id":"a","name":"A"}]}}}"#,
];

/// Uses the bytes as lines. A line that begins with `!` is a command instead: its second byte says which.
pub fn acp(data: &[u8]) {
    let mut driver = AcpClient::new(CommandPlace::Title);
    let mut open: Vec<(RequestKey, String)> = Vec::new();
    let begin = [
        AcpCommand::Initialize { version: String::new() },
        AcpCommand::NewSession { folder: "/p".to_owned() },
    ];
    for (command, line) in begin.into_iter().zip(BEGIN) {
        driver.command(command).expect("a session can begin");
        driver.line(line.as_bytes());
    }
    for line in data.split(|byte| *byte == b'\n') {
        let step = match line {
            [b'!', which, ..] => match command(*which, &open) {
                Some(command) => driver.command(command).unwrap_or_default(),
                None => driver.line(line),
            },
            line => driver.line(line),
        };
        check(&driver, &step, &mut open);
    }
    if let Ok(step) = driver.command(AcpCommand::Stop) {
        check(&driver, &step, &mut open);
    }
    assert_eq!(driver.n_requests(), 0, "a stop answers everything");
    driver.ended();
    assert_eq!(driver.n_calls(), 0, "an exit settles everything");
    assert_eq!(driver.ended(), [], "and it does so once");
}

fn command(which: u8, open: &[(RequestKey, String)]) -> Option<AcpCommand> {
    let (request, option) = open.last().cloned().unwrap_or((RequestKey(0), String::new()));
    Some(match which {
        b'p' => AcpCommand::Prompt(vec![PromptPart::Text("p".to_owned())]),
        b'i' => AcpCommand::Interrupt,
        b'c' => AcpCommand::Choose { request, option },
        b'a' => AcpCommand::Answer { request, option, answers: vec![(0, "a".to_owned())] },
        b'f' => AcpCommand::Fill { request, values: Vec::new() },
        b'd' => AcpCommand::Decline { request },
        b'x' => AcpCommand::Cancel { request },
        b's' => AcpCommand::Stop,
        _ => return None,
    })
}

fn check(driver: &AcpClient, step: &ClientStep, open: &mut Vec<(RequestKey, String)>) {
    for line in &step.lines {
        assert!(!line.contains('\n'), "{line:?}");
        serde_json::from_str::<serde_json::Value>(line).expect("a line of ours is JSON");
    }
    for event in &step.events {
        match event {
            AcpEvent::Permission(asked) => open.push((asked.request, asked.options[0].id.clone())),
            AcpEvent::Question(asked) => open.push((asked.request, String::new())),
            AcpEvent::Withdrawn { request, .. } => open.retain(|(key, _)| key != request),
            AcpEvent::TurnEnded { .. } => open.clear(),
            AcpEvent::Unreadable { line, .. } => assert!(line.len() <= crate::rpc::KEPT),
            AcpEvent::Unknown { json, .. } => assert!(json.len() <= crate::rpc::KEPT),
            _ => {}
        }
    }
    if matches!(step.events.last(), Some(AcpEvent::TurnEnded { .. })) {
        assert_eq!((driver.n_requests(), driver.n_calls()), (0, 0), "a turn settles everything");
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "it reads the project's own corpus")]
    fn the_corpus_holds() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine/fuzz/corpus/acp");
        let mut n_inputs = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            println!("{}", path.display());
            super::acp(&std::fs::read(path).unwrap());
            n_inputs += 1;
        }
        assert!(n_inputs >= 5, "{n_inputs}");
    }
}
