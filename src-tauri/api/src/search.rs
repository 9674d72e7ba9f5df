//! Results of a search in the agent's stored sessions.

use super::id::ItemId;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// More results of a search, and how far it has come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SearchChange {
    /// Sessions with matches, the last changed ones first, after those that were sent before.
    pub found: Vec<FoundSession>,
    /// Files that have been searched, and files to search.
    pub n_searched: u32,
    pub n_files: u32,
    /// Files that could not be read.
    pub n_unreadable: u32,
    /// Lines that were not searched: too long, or not complete.
    pub n_left_out: u32,
    /// There are more results than are sent.
    pub is_cut: bool,
    /// Nothing follows.
    pub is_complete: bool,
    /// Why the search ended early, or the query is not searched.
    pub problem: Option<String>,
}

/// A session with matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FoundSession {
    /// The agent's own id of the conversation.
    pub agent_session_id: String,
    /// One line.
    pub title: String,
    /// The folder in which the session began.
    pub project: String,
    /// The name of that folder, one line.
    pub project_name: String,
    /// Time of its last message.
    pub changed_at: u64,
    /// The newest matches, newest first.
    pub hits: Vec<SearchHit>,
    /// It has older matches too.
    pub has_more: bool,
    /// Its agent runs in another window of Deskbell. A result is opened there.
    pub in_other_window: bool,
    /// The profile whose agents keep it, in a folder of their own.
    pub profile: Option<String>,
}

/// A match in a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SearchHit {
    /// The item with the match; `null` if it is the title.
    pub item_id: Option<ItemId>,
    pub place: SearchPlace,
    /// The tool, if the match is in a call or in its output.
    pub tool: Option<String>,
    /// Time of the message; `null` if it has none.
    pub at: Option<u64>,
    /// The text around the match, on one line.
    pub snippet: Vec<SnippetPart>,
}

/// The part of a session that matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum SearchPlace {
    Title,
    Prompt,
    /// The agent's text.
    Text,
    Thinking,
    /// The input of a tool call.
    Call,
    /// The result of a tool call.
    Output,
}

/// A piece of a snippet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SnippetPart {
    pub text: String,
    /// It matches the query.
    pub is_match: bool,
}
