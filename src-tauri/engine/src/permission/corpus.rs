//! Tests of the requests in `tests/hostile/permissions`. Their views are written to a file for the tests of the card by
//! `UPDATE_BINDINGS=1 cargo test -p deskbell-engine corpus`.

use super::{OpenRequests, view};
use crate::agent::{AgentEvent, AgentRequest, ToolRequest};
use crate::api::{Decision, PermissionRequest, RequestId};
use crate::wire;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/hostile/permissions")
}

/// Every request: the kind of its expected notice, its name, and its line.
fn corpus() -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    for kind in fs::read_dir(root()).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_dir()) {
        let kind = kind.file_name().into_string().unwrap();
        for file in fs::read_dir(root().join(&kind)).unwrap().map(Result::unwrap) {
            let name = format!("{kind}/{}", file.path().file_stem().unwrap().to_str().unwrap());
            found.push((kind.clone(), name, fs::read_to_string(file.path()).unwrap()));
        }
    }
    found.sort();
    assert!(found.len() >= 60, "{}", found.len());
    found
}

fn asked(id: &str, request: &str) -> ToolRequest {
    let fields = request.trim_end().strip_prefix('{').unwrap();
    let line = format!(
        r#"{{"type":"control_request","request_id":"{id}","request":{{"subtype":"can_use_tool",{fields}}}"#
    );
    match wire::parse(line.as_bytes()) {
        AgentEvent::Request { request: AgentRequest::Tool(request), .. } => (*request).clone(),
        other => panic!("{id}: {other:?}"),
    }
}

#[test]
fn each_is_flagged_and_none_can_be_allowed_unseen() {
    for (due, name, line) in corpus() {
        let request = asked(&name, &line);
        let view = view(RequestId::new(&name), &request, 0);
        let kinds: Vec<String> = view
            .notices
            .iter()
            .map(|notice| serde_json::to_value(notice.kind).unwrap().as_str().unwrap().to_owned())
            .collect();
        if due == "plain" {
            assert!(kinds.is_empty() && view.plain.is_some(), "{name}: {kinds:?} {:?}", view.plain);
        } else {
            assert!(kinds.contains(&due), "{name}: {kinds:?}");
            assert_eq!(view.plain, None, "{name}");
        }
        let labels = view.suggestions.iter().flat_map(|suggestion| [&suggestion.label, &suggestion.kept_in]);
        let words = view.notices.iter().map(|notice| &notice.words);
        for label in [&view.tool, &view.question].into_iter().chain(labels).chain(words) {
            let hides = |character: char| {
                let oddity = crate::misleading::oddity(character);
                character.is_control() || oddity.is_some_and(|kind| kind != crate::api::NoticeKind::LookAlike)
            };
            assert!(
                !label.chars().any(|character| hides(character) && character != '“'),
                "{name}: {label:?}"
            );
        }
        assert!(!view.subject.contains("List the files"), "{name}: a description is shown as what would run");
    }
}

#[test]
fn each_is_sent_byte_for_byte() {
    for (_, name, line) in corpus() {
        let start = line.find("\"input\":").unwrap() + "\"input\":".len();
        let input = line.trim_end().strip_suffix('}').unwrap().get(start..).unwrap();
        let id = RequestId::new(&name);
        let mut open = OpenRequests::default();
        let shown = open.ask(id.clone(), asked(&name, &line).into(), None, 0).unwrap().shown.clone();
        let decision = Decision::AllowOnce { updated_input: None };
        let sent = open.decide(&id, Some(&shown), decision).unwrap().command.unwrap();
        let sent = wire::line(&sent);
        assert!(sent.contains(&format!("\"updatedInput\":{input}}}")), "{name}: {sent}");
        assert!(!sent.contains('\n'));
    }
}

#[test]
fn the_card_is_tested_with_these() {
    let views: Vec<PermissionRequest> =
        corpus().iter().map(|(_, name, line)| view(RequestId::new(name), &asked(name, line), 0)).collect();
    let lines: Vec<String> = views.iter().map(|view| serde_json::to_string(view).unwrap()).collect();
    let fresh = format!("[\n{}\n]\n", lines.join(",\n"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/src/test/hostile.json");
    if std::env::var_os("UPDATE_BINDINGS").is_some() {
        fs::write(&path, &fresh).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == fresh, "run UPDATE_BINDINGS=1 cargo test -p deskbell-engine corpus");
}
