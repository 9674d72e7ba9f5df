//! The requests of `tests/hostile/permissions` in the real window: a screen reader gets every code point, in the card
//! and, where one is shown, in the native dialog.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use deskbell_agent::{AgentEvent, AgentRequest};
use deskbell_claude::wire;
use deskbell_engine::api::{PermissionRequest, RequestId};
use deskbell_engine::permission::Dialogs;
use deskbell_tests::window::{LONG, SHORT, eventually};
use serde_json::{Value, json};

use crate::stage::Stage;

/// The parts of a request's card, as text.
const READ_CARD: &str = "
    const card = document.getElementById('request-' + arguments[0]);
    if (card === null) return null;
    const details = card.querySelector('details');
    if (details && !details.open) { details.open = true; return null; }
    const text = (name) => card.querySelector(`pre[aria-label='${name}']`)?.textContent ?? null;
    const notices = [...card.querySelectorAll(\"ul[aria-label='Warnings'] li\")].map((item) => item.textContent);
    return { subject: text('Requested action'), input: text('Full input'), notices };";

struct Hostile {
    line: String,
    view: PermissionRequest,
}

/// Every request of the corpus: the line that sends it, and the engine's view of it.
fn corpus() -> Result<Vec<Hostile>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("hostile/permissions");
    let mut files: Vec<PathBuf> = Vec::new();
    for kind in fs::read_dir(&root).with_context(|| root.display().to_string())? {
        let kind = kind?.path();
        if kind.is_dir() {
            files.extend(
                fs::read_dir(kind)?.collect::<Result<Vec<_>, _>>()?.into_iter().map(|file| file.path()),
            );
        }
    }
    files.sort();
    files.iter().enumerate().map(|(nr, file)| read(nr, file)).collect()
}

fn read(nr: usize, file: &Path) -> Result<Hostile> {
    let text = fs::read_to_string(file)?;
    let fields = text.trim_end().strip_prefix('{').context("a request is an object")?;
    let line = format!(
        r#"{{"type":"control_request","request_id":"hostile-{nr}","request":{{"subtype":"can_use_tool",{fields}}}"#
    );
    let AgentEvent::Request { request: AgentRequest::Tool(request), .. } = wire::parse(line.as_bytes())
    else {
        anyhow::bail!("{} is no request", file.display())
    };
    Ok(Hostile { view: Dialogs::view(RequestId::new(format!("hostile-{nr}")), &request, 0), line })
}

/// The text that the marks and escapes of a card represent.
fn meant(shown: &str) -> String {
    let mut text = shown.replace("↵\n", "\n").replace("⇥\t", "\t").replace('·', " ");
    let mut out = String::new();
    while let Some(at) = text.find("\\u{") {
        let end = text[at..].find('}').map_or(text.len(), |end| at + end);
        let code = u32::from_str_radix(&text[at + 3..end], 16).ok().and_then(char::from_u32);
        out.push_str(&text[..at]);
        match code {
            Some(character) => out.push(character),
            None => out.push_str(&text[at..=end]),
        }
        text = text[end + 1..].to_owned();
    }
    out + &text
}

pub async fn every_code_point_reaches_a_screen_reader() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("hostile", async |stage| {
            let window = &stage.window;
            let dialogs = stage.dialogs().await?;
            window.prompt("SAY Ready.").await?;
            window.wait_said("Ready.", SHORT).await?;
            let _elsewhere = stage.step_aside().await?;
            let session_id = stage.session_ids()?.pop().context("there is a session")?;
            // A few at a time, as an agent with parallel calls would send them.
            for some in corpus()?.chunks(8) {
                let lines: String =
                    some.iter().map(|hostile| format!("GARBAGE {}\n", hostile.line)).collect();
                let command = json!({"type": "prompt", "text": format!("{lines}PAUSE 10"), "images": []});
                let arguments = json!({"sessionId": session_id, "command": command});
                let sent = window.invoke("command", arguments).await?;
                ensure!(sent.is_ok(), "the prompt was refused: {sent:?}");
                for hostile in some {
                    let view = &hostile.view;
                    let id = view.id.as_str();
                    let card = eventually(&format!("the card of {id}"), LONG, async || {
                        let card = window.run(READ_CARD, vec![json!(id)]).await?;
                        Ok((card["input"].is_string()).then_some(card))
                    })
                    .await?;
                    let text = |part: &Value| meant(part.as_str().unwrap_or_default());
                    ensure!(
                        text(&card["subject"]) == meant(&view.subject),
                        "{}: {}",
                        hostile.line,
                        card["subject"]
                    );
                    ensure!(
                        text(&card["input"]) == meant(&view.input_text),
                        "{}: {}",
                        hostile.line,
                        card["input"]
                    );
                    let words: Vec<&str> = view.notices.iter().map(|notice| notice.words.as_str()).collect();
                    ensure!(card["notices"] == json!(words), "{}: {}", hostile.line, card["notices"]);
                }
                for hostile in some {
                    let view = &hostile.view;
                    // They are in the order of the requests.
                    let key = view
                        .plain
                        .clone()
                        .or_else(|| view.notices.first().map(|notice| notice.words.clone()));
                    let key = key.context("it is plain, or there is a notice")?;
                    let dialog = dialogs.with(&key).await?;
                    let text = dialog.text().await;
                    for notice in &view.notices {
                        ensure!(
                            text.contains(&notice.words),
                            "the dialog does not say “{}”:\n{text}",
                            notice.words
                        );
                    }
                    let can_allow = dialog.buttons().await.iter().any(|name| name == "Allow once");
                    ensure!(
                        can_allow == view.plain.is_some(),
                        "{}: allowed unseen, or not at all",
                        hostile.line
                    );
                    dialog.press("Deny").await?;
                    dialog.gone().await?;
                }
                dialogs.none().await?;
            }
            Ok(())
        })
        .await
}
