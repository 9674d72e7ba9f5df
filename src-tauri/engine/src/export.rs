//! Exporting a session: as Markdown, as JSON, or as one HTML page that loads nothing and runs nothing.
//!
//! The cost is proportional to the conversation. The text comes from agents and tools and may contain anything.

mod html;
mod images;
mod item;

#[cfg(test)]
mod tests;

pub use images::Images;
pub(crate) use images::valid_images;
pub(crate) use item::ExportedItem;

use crate::api::{AgentKind, Attachment, ExportFormat, Item};
use crate::disk::{write_atomically, write_new};
use crate::parallel;
use crate::title::Title;
use crate::transcript::colours;
use crate::transcript::output::Source;
use serde::Serialize;
use std::io;
use std::path::Path;

/// Longest file name made from a title, without its extension, in user-perceived characters.
const LONGEST_NAME: usize = 60;

/// The facts about a session that are not in its transcript.
#[derive(Clone, Debug)]
pub struct Heading {
    pub title: String,
    /// The project's folder.
    pub project: String,
    pub agent: AgentKind,
    pub agent_session_id: Option<String>,
}

/// A conversation at one moment, in the order of its items.
#[derive(Clone, Debug, Default)]
pub struct Conversation {
    pub items: Vec<ExportedItem>,
    /// The conversation as Markdown; empty unless that is the format.
    pub markdown: String,
}

impl Conversation {
    /// Returns the content of a file in this format.
    pub fn render(
        mut self,
        format: ExportFormat,
        heading: &Heading,
        images: &Images,
    ) -> Result<Vec<u8>, serde_json::Error> {
        self.colour();
        let mut images = images.clone();
        images.add(&self.items);
        let images = &images;
        match format {
            ExportFormat::Markdown => Ok(self.markdown.into_bytes()),
            ExportFormat::Json => json(heading, &self, images),
            ExportFormat::Html => Ok(html::page(heading, &self.items, images).into_bytes()),
        }
    }

    /// Gives all code its colours: that of a long conversation has them only near the rows that a window showed.
    fn colour(&mut self) {
        let coloured = parallel::map(&self.items, |one| colours::coloured(&one.item));
        for (one, coloured) in self.items.iter_mut().zip(coloured) {
            if let Some(coloured) = coloured {
                one.item = coloured;
            }
        }
    }

    /// A name for the file, made of the letters and digits of the title.
    pub fn file_name(title: &str, format: ExportFormat) -> String {
        let words = title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let name = Title::one_line(&words.collect::<Vec<_>>().join(" "), LONGEST_NAME);
        let name = name.trim_end_matches('…').trim_end();
        format!("{}.{}", if name.is_empty() { "Session" } else { name }, extension(format))
    }

    /// Saves an export in a file that only its owner can read. `overwrite`: replaces an existing file; otherwise that is
    /// an error of the kind `AlreadyExists`. The file never has a part of the content.
    pub fn save(path: &Path, bytes: &[u8], overwrite: bool) -> io::Result<()> {
        if overwrite { write_atomically(path, bytes) } else { write_new(path, bytes) }
    }
}

/// The usual file extension of a format.
pub(crate) fn extension(format: ExportFormat) -> &'static str {
    match format {
        ExportFormat::Markdown => "md",
        ExportFormat::Json => "json",
        ExportFormat::Html => "html",
    }
}

fn json(
    heading: &Heading,
    conversation: &Conversation,
    images: &Images,
) -> Result<Vec<u8>, serde_json::Error> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct File<'a> {
        format: &'a str,
        version: u32,
        title: &'a str,
        project: &'a str,
        agent: AgentKind,
        agent_session_id: Option<&'a str>,
        items: Vec<Exported<'a>>,
    }
    #[derive(Serialize)]
    struct Exported<'a> {
        item: &'a Item,
        text: Option<&'a str>,
        output: Option<String>,
        images: &'a [Attachment],
    }
    let items = conversation.items.iter().map(|one| Exported {
        item: &one.item,
        text: one.source.as_deref(),
        output: one.output.as_ref().map(Source::text),
        images: images.at(&one.stored_id),
    });
    serde_json::to_vec_pretty(&File {
        format: "deskbell-session",
        version: 1,
        title: &heading.title,
        project: &heading.project,
        agent: heading.agent,
        agent_session_id: heading.agent_session_id.as_deref(),
        items: items.collect(),
    })
}
