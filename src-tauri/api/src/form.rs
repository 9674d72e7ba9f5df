//! Forms that an agent, or an MCP server of it, asks the user to fill in.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A form, or a page that the user is asked to open.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Form {
    /// The MCP server that asks; `null` for the agent itself.
    pub server: Option<String>,
    /// What it says to the user. Can be empty.
    pub message: String,
    /// The page to open, `http` or `https`; `null` for a form to fill in. A page has no fields.
    pub url: Option<String>,
    /// In the order of the one who asks. Can be empty: then it asks only for consent.
    pub fields: Vec<FormField>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FormField {
    /// Its key in `Decision::Fill`. Unique in the form.
    pub name: String,
    /// The label to show. Can be equal for two fields.
    pub label: String,
    pub description: Option<String>,
    pub is_required: bool,
    pub kind: FieldKind,
}

/// The values that a field takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum FieldKind {
    Text {
        default: Option<String>,
        /// `email`, `uri`, `date` or `date-time`, or what else the schema names. Not checked.
        format: Option<String>,
        /// In characters.
        min_length: Option<u32>,
        max_length: Option<u32>,
    },
    Number {
        is_whole: bool,
        default: Option<f64>,
        minimum: Option<f64>,
        maximum: Option<f64>,
    },
    Switch {
        default: Option<bool>,
    },
    /// One of the choices, by its value.
    One {
        choices: Vec<FormChoice>,
        default: Option<String>,
    },
    /// Any of the choices, as a list of their values.
    Many {
        choices: Vec<FormChoice>,
        default: Vec<String>,
        /// How many have to be chosen.
        minimum: Option<u32>,
        maximum: Option<u32>,
    },
    /// A kind that cannot be filled in: the beginning of its schema.
    Unknown {
        schema: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FormChoice {
    pub value: String,
    pub label: String,
    pub description: Option<String>,
}
