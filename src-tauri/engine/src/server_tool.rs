//! The names of an MCP server's tool as they are displayed: one line each, cleaned and bounded.
//!
//! A server chooses what its tools are called. So a request names the tool by its exact name too, if it is not the same
//! in other words, and the name of the server is the one in the exact name.

use crate::agent::ServerToolNames;
use crate::misleading::written_out;

/// Maximum number of characters of each name. The raw call and the request contain the exact name.
const LONGEST: usize = 60;

/// A server and its tool, to display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerTool {
    pub server: String,
    pub tool: String,
    /// The tool's own name, if `tool` is not the same in other words.
    exact: Option<String>,
}

impl ServerTool {
    pub fn of(names: &ServerToolNames) -> Self {
        let exact = shown(&names.tool);
        let title = names.title.as_deref().map(shown).filter(|title| !title.is_empty());
        let tool = title.unwrap_or_else(|| exact.clone());
        let exact = Some(exact).filter(|exact| letters(exact) != letters(&tool));
        Self { server: shown(&names.server), tool, exact }
    }

    /// “Time (get_now)”: the tool by both names.
    pub fn both_names(&self) -> String {
        match &self.exact {
            Some(exact) => format!("{} ({exact})", self.tool),
            None => self.tool.clone(),
        }
    }

    /// “clock: Time”
    pub fn words(&self) -> String {
        format!("{}: {}", self.server, self.tool)
    }
}

fn shown(name: &str) -> String {
    let line = name.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short: String = line.chars().take(LONGEST).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    written_out(&short)
}

fn letters(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(name: &str, server: Option<&str>, tool: Option<&str>) -> Option<[String; 2]> {
        let names = crate::claude::tool::server_tool(name, server, tool)?;
        let known = ServerTool::of(&names);
        Some([known.words(), known.both_names()])
    }

    fn are(words: [&str; 2]) -> Option<[String; 2]> {
        Some(words.map(str::to_owned))
    }

    #[test]
    fn a_tool_is_named_by_its_display_name_and_its_server() {
        let name = "mcp__clock__get_time";
        assert_eq!(words(name, None, None), are(["clock: get_time", "get_time"]));
        assert_eq!(words(name, Some("clock"), Some("Get time")), are(["clock: Get time", "Get time"]));
        let other = are(["clock: Time of day", "Time of day (get_time)"]);
        assert_eq!(words(name, Some("clock"), Some("Time of day")), other);
        let dotted = words("mcp__My_clock_2__x", Some("My clock.2"), None);
        assert_eq!(dotted, are(["My clock.2: x", "x"]));
        assert_eq!(words("mcp__a__b__c", Some("a__b"), None), are(["a__b: c", "c"]));
        for other in ["Bash", "mcp__", "mcp__clock", "mcp____x"] {
            assert_eq!(words(other, None, Some("Time")), None, "{other}");
        }
    }

    /// The name of another server cannot be claimed, and no name hides text or moves it.
    #[test]
    fn a_hostile_name_is_cleaned_and_bounded() {
        let name = "mcp__evil__rm";
        assert_eq!(words(name, Some("good"), None), are(["evil: rm", "rm"]));
        assert_eq!(words(name, Some(""), Some(" \n ")), are(["evil: rm", "rm"]));
        let hostile = words(name, None, Some("Read\u{202e} a\nfile")).unwrap();
        assert_eq!(hostile[1], "Read\\u{202E} a file (rm)");
        let long = words(name, None, Some(&"x ".repeat(10_000))).unwrap();
        assert!(long[1].chars().count() < 100 && long[1].ends_with("… (rm)"), "{}", long[1]);
    }
}
