//! Images and documents reach the model as they were given, and are counted when the conversation is opened again.

use anyhow::{Context as _, Result, ensure};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use deskbell_engine::api::{Attachment, Command, Delivery};
use deskbell_tests::real_cli::World;
use deskbell_tests::relay::{Relay, app};
use deskbell_tests::wait::LONG;
use serde_json::{Value, json};

/// The smallest PDF with a page.
pub const PDF: &str = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n\
    2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
    3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n";

fn documents(pdf: &[u8]) -> [Attachment; 2] {
    let of = |name: &str, media_type: &str, data: String| Attachment {
        name: name.to_owned(),
        media_type: media_type.to_owned(),
        data,
    };
    [
        of("paper.pdf", "application/pdf", BASE64_STANDARD.encode(pdf)),
        of("notes \u{1f600}", "text/plain", "one\r\ntwo <b>\u{7}".to_owned()),
    ]
}

async fn sent(
    world: &World,
    relay: &mut Relay,
    text: &str,
    attachments: &[Attachment],
) -> Result<Vec<Value>> {
    let (delivery, attachments) = (Delivery::default(), attachments.to_vec());
    relay.send(&Command::Prompt { text: text.to_owned(), attachments, delivery }).await?;
    relay.turn_end().await?;
    let request = world.api.wait_for_prompt(text, LONG).await?;
    let messages = request.body["messages"].as_array().context("a request has messages")?;
    let blocks = messages.iter().filter_map(|message| message["content"].as_array()).flatten();
    Ok(blocks.filter(|block| block["type"] == "document").cloned().collect())
}

pub async fn documents_reach_the_model_and_are_counted_after_a_restart() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    let [pdf, notes] = documents(PDF.as_bytes());
    let found = sent(&world, &mut relay, "SAY both", &[pdf.clone(), notes.clone()]).await?;
    let without_cache = |block: &Value| {
        let mut block = block.clone();
        block.as_object_mut().map(|block| block.remove("cache_control"));
        block
    };
    let expected = [
        json!({"type": "document", "title": pdf.name,
            "source": {"type": "base64", "media_type": "application/pdf", "data": pdf.data}}),
        json!({"type": "document", "title": notes.name,
            "source": {"type": "text", "media_type": "text/plain", "data": notes.data}}),
    ];
    let found: Vec<Value> = found.iter().map(without_cache).collect();
    ensure!(found == expected, "the model saw {found:?}");
    let id = relay.session()?["agentSessionId"].as_str().context("no id")?.to_owned();
    ensure!(relay.finish().await?.status.success());

    let mut export = world.command(&app()?);
    export.args(["sessions", "export", &id, "--format=json"]);
    let exported = export.output().await.context("exporting the conversation")?;
    ensure!(exported.status.success(), "{}", String::from_utf8_lossy(&exported.stderr));
    let exported: Value = serde_json::from_slice(&exported.stdout)?;
    let prompt = &exported["items"][0]["item"]["body"];
    ensure!(
        prompt["text"] == "SAY both" && prompt["nDocuments"] == 2 && prompt["nImages"] == 0,
        "{exported}"
    );
    Ok(())
}

/// As large as Deskbell lets it be.
pub async fn a_large_document_reaches_the_model_whole() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    let mut large = PDF.as_bytes().to_vec();
    large.resize(20 << 20, b' ');
    let [pdf, _] = documents(&large);
    let found = sent(&world, &mut relay, "SAY large", std::slice::from_ref(&pdf)).await?;
    ensure!(found.len() == 1 && found[0]["source"]["data"] == pdf.data.as_str(), "{} documents", found.len());
    relay.close().await
}
