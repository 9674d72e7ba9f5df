//! The permission rules in the text of a settings file: listing them, taking one out and putting it back. All other bytes
//! stay as they are.

use crate::api::RuleEffect;
use deskbell_agent::json;
use serde_json::value::RawValue;
use std::ops::Range;

/// Fields of `permissions`, in the order in which rules apply.
const LISTS: [(RuleEffect, &str); 3] =
    [(RuleEffect::Deny, "deny"), (RuleEffect::Ask, "ask"), (RuleEffect::Allow, "allow")];

/// The reason why a text cannot be read as settings, or be changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleTextError {
    #[error("it is not UTF-8 text")]
    NotText,
    /// Lines and columns are counted from 1.
    #[error("line {line}, column {column}: {problem}")]
    NotJson { line: usize, column: usize, problem: String },
    #[error("it is not a JSON object")]
    NotObject,
    #[error("“permissions” is not an object")]
    NoPermissions,
    #[error("“permissions.{0}” is not a list")]
    NoList(&'static str),
    #[error("the file does not have the rule")]
    NoRule,
    #[error("the rule is in the file again")]
    RuleIsThere,
}

/// A rule that was taken out of a text, with what puts it back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovedRule {
    effect: RuleEffect,
    /// Each of its elements as it was written, with its index in the list.
    elements: Vec<(usize, String)>,
}

/// The text of a settings file.
pub struct RuleText<'a> {
    /// Without a byte order mark.
    text: &'a str,
    /// Number of bytes before it.
    n_before: usize,
}

impl<'a> RuleText<'a> {
    /// Checks the text. An empty one has no rules.
    pub fn read(bytes: &'a [u8]) -> Result<Self, RuleTextError> {
        let rest = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let text = std::str::from_utf8(rest).map_err(|_| RuleTextError::NotText)?;
        let n_before = bytes.len() - rest.len();
        if text.trim().is_empty() {
            return Ok(Self { text: "{}", n_before });
        }
        if let Err(error) = serde_json::from_str::<&RawValue>(text) {
            let (line, column) = (error.line(), error.column());
            let problem = error.to_string();
            let problem = problem.split(" at line ").next().unwrap_or_default().to_owned();
            return Err(RuleTextError::NotJson { line, column, problem });
        }
        if !text.trim_start().starts_with('{') {
            return Err(RuleTextError::NotObject);
        }
        Ok(Self { text, n_before })
    }

    /// The rules by effect, as they are written. An element that is not a text is no rule.
    pub fn rules(&self) -> Result<Vec<(RuleEffect, String)>, RuleTextError> {
        let mut rules = Vec::new();
        for (effect, _) in LISTS {
            let Some(list) = self.list(effect)? else { continue };
            let list = &self.text[list];
            rules.extend(
                json::elements(list)
                    .into_iter()
                    .filter_map(|place| json::string(&list[place]))
                    .map(|rule| (effect, rule)),
            );
        }
        Ok(rules)
    }

    /// The text without a rule. A rule that is written repeatedly in its list is taken out everywhere, because one of them
    /// would have its effect.
    pub fn without(&self, effect: RuleEffect, rule: &str) -> Result<(Vec<u8>, RemovedRule), RuleTextError> {
        let place = self.list(effect)?.ok_or(RuleTextError::NoRule)?;
        let mut list = self.text[place.clone()].to_owned();
        let mut elements: Vec<(usize, String)> = Vec::new();
        loop {
            let all = json::elements(&list);
            let is_it = |place: &Range<usize>| json::string(&list[place.clone()]).as_deref() == Some(rule);
            let Some(at) = all.iter().position(is_it) else { break };
            elements.push((at, list[all[at].clone()].to_owned()));
            list.replace_range(around(&list, &all, at), "");
        }
        if elements.is_empty() {
            return Err(RuleTextError::NoRule);
        }
        Ok((self.with_list(&place, &list), RemovedRule { effect, elements }))
    }

    /// The text with a rule that was taken out, in its place or as near to it as the list allows now.
    pub fn with(&self, removed: &RemovedRule) -> Result<Vec<u8>, RuleTextError> {
        let Some(place) = self.list(removed.effect)? else { return self.with_new_list(removed) };
        let mut list = self.text[place.clone()].to_owned();
        // The last one was taken out of the list that the others had left.
        for (at, element) in removed.elements.iter().rev() {
            let all = json::elements(&list);
            if all.iter().any(|place| json::string(&list[place.clone()]) == json::string(element))
                && removed.elements.len() == 1
            {
                return Err(RuleTextError::RuleIsThere);
            }
            match (all.get(*at), all.last()) {
                (Some(next), _) => {
                    let space = separation(&list, &all);
                    list.insert_str(next.start, &format!("{element},{space}"));
                }
                (None, Some(last)) => {
                    let space = separation(&list, &all);
                    list.insert_str(last.end, &format!(",{space}{element}"));
                }
                (None, None) => list = format!("[{element}]"),
            }
        }
        Ok(self.with_list(&place, &list))
    }

    /// The place of a list of rules; `None` if there is none.
    fn list(&self, effect: RuleEffect) -> Result<Option<Range<usize>>, RuleTextError> {
        let Some(permissions) = json::value_at(self.text, &["permissions"]) else { return Ok(None) };
        if !self.text[permissions].starts_with('{') {
            return Err(RuleTextError::NoPermissions);
        }
        let key = key(effect);
        let Some(list) = json::value_at(self.text, &["permissions", key]) else { return Ok(None) };
        if !self.text[list.clone()].starts_with('[') {
            return Err(RuleTextError::NoList(key));
        }
        Ok(Some(list))
    }

    fn with_list(&self, place: &Range<usize>, list: &str) -> Vec<u8> {
        self.whole(&format!("{}{list}{}", &self.text[..place.start], &self.text[place.end..]))
    }

    /// The list is gone, with `permissions` or without.
    fn with_new_list(&self, removed: &RemovedRule) -> Result<Vec<u8>, RuleTextError> {
        let elements: Vec<&str> = removed.elements.iter().map(|(_, element)| element.as_str()).collect();
        let list = format!("[{}]", elements.join(", "));
        let before = json::value_at(self.text, &["permissions"]).map_or("{}", |place| &self.text[place]);
        let permissions = json::with_field(before, key(removed.effect), &list);
        Ok(self.whole(&json::with_field(self.text, "permissions", &permissions)))
    }

    fn whole(&self, text: &str) -> Vec<u8> {
        let mark: &[u8] = if self.n_before == 0 { b"" } else { b"\xEF\xBB\xBF" };
        [mark, text.as_bytes()].concat()
    }
}

fn key(effect: RuleEffect) -> &'static str {
    match effect {
        RuleEffect::Deny => "deny",
        RuleEffect::Ask => "ask",
        RuleEffect::Allow => "allow",
    }
}

/// An element with the comma and the space that separate it from the others.
fn around(list: &str, all: &[Range<usize>], at: usize) -> Range<usize> {
    match (at.checked_sub(1).map(|before| &all[before]), all.get(at + 1)) {
        (_, Some(next)) => all[at].start..next.start,
        (Some(before), None) => before.end..all[at].end,
        (None, None) => 1..list.len() - 1,
    }
}

/// The space after a comma of the list: a line with its indentation, or a blank.
fn separation(list: &str, all: &[Range<usize>]) -> String {
    let between = match all {
        [first, second, ..] => list[first.end..second.start].split_once(',').map(|(_, space)| space),
        [only] => Some(&list[1..only.start]).filter(|space| !space.is_empty()),
        [] => None,
    };
    between.unwrap_or(" ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    const ALLOW: RuleEffect = RuleEffect::Allow;

    fn without(text: &str, rule: &str) -> Result<String, RuleTextError> {
        let (bytes, _) = RuleText::read(text.as_bytes())?.without(ALLOW, rule)?;
        Ok(String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn exactly_one_rule_is_taken_out_and_all_other_bytes_stay() {
        let text = "{\r\n\t\"z\": 1.0,\r\n\t\"permissions\": {\"allow\": [\r\n\t\t\"A\",\r\n\t\t\"B\",\r\n\t\t\"C\"\r\n\t], \"deny\": [\"A\"]},\r\n\t\"a\": 1e400}\r\n";
        for (rule, written) in [("A", "\"A\",\r\n\t\t"), ("B", "\"B\",\r\n\t\t"), ("C", ",\r\n\t\t\"C\"")] {
            assert_eq!(without(text, rule).unwrap(), text.replacen(written, "", 1), "{rule}");
        }
        assert_eq!(
            without(r#"{"permissions": {"allow": [ "A" ]}}"#, "A").unwrap(),
            r#"{"permissions": {"allow": []}}"#
        );
        let twice = r#"{"permissions": {"allow": ["A", 7, "B", "\u0041"]}}"#;
        assert_eq!(without(twice, "A").unwrap(), r#"{"permissions": {"allow": [7, "B"]}}"#);
        // Of duplicate keys the agent reads the last one.
        let repeated =
            r#"{"permissions": {"allow": ["A"]}, "permissions": {"allow": ["A", "B"], "allow": ["A"]}}"#;
        assert_eq!(
            without(repeated, "A").unwrap(),
            repeated.replacen(r#""allow": ["A"]}}"#, r#""allow": []}}"#, 1)
        );
    }

    #[test]
    fn a_byte_order_mark_and_escapes_are_kept() {
        let text = "\u{feff}{\"permissions\": {\"allow\": [\"B\\u0061sh(ls \\\\\\\"a)\", \"\\ud800\"]}}";
        let read = RuleText::read(text.as_bytes()).unwrap();
        assert_eq!(read.rules().unwrap()[0], (ALLOW, "Bash(ls \\\"a)".to_owned()));
        let (bytes, removed) = read.without(ALLOW, "Bash(ls \\\"a)").unwrap();
        assert_eq!(bytes, "\u{feff}{\"permissions\": {\"allow\": [\"\\ud800\"]}}".as_bytes());
        assert_eq!(RuleText::read(&bytes).unwrap().with(&removed).unwrap(), text.as_bytes());
    }

    #[test]
    fn bad_texts_are_refused_with_the_place() {
        let refused = |text: &str| without(text, "A").unwrap_err().to_string();
        assert_eq!(
            refused("{\n  \"permissions\": {\n    // mine\n  }\n}"),
            "line 3, column 5: key must be a string"
        );
        assert_eq!(refused("{\"a\": 1,}"), "line 1, column 9: key must be a string");
        assert_eq!(refused("[\"A\"]"), "it is not a JSON object");
        assert_eq!(refused("{\"permissions\": [\"A\"]}"), "“permissions” is not an object");
        assert_eq!(refused("{\"permissions\": {\"allow\": \"A\"}}"), "“permissions.allow” is not a list");
        for text in [
            "",
            " \n",
            "{}",
            "{\"permissions\": {}}",
            "{\"permissions\": {\"deny\": [\"A\"], \"allow\": [[\"A\"]]}}",
        ] {
            assert_eq!(refused(text), RuleTextError::NoRule.to_string(), "{text}");
        }
        assert_eq!(RuleText::read(b"{\"a\": \"\xff\"}").err(), Some(RuleTextError::NotText));
    }

    #[test]
    fn a_rule_returns_to_its_place_although_another_program_wrote_meanwhile() {
        let text = "{\"permissions\": {\"allow\": [\n  \"A\",\n  \"B\",\n  \"C\"\n]}}";
        let (bytes, removed) = RuleText::read(text.as_bytes()).unwrap().without(ALLOW, "B").unwrap();
        let back = |now: &str| {
            let text = RuleText::read(now.as_bytes())?.with(&removed)?;
            Ok::<_, RuleTextError>(String::from_utf8(text).unwrap())
        };
        assert_eq!(back(std::str::from_utf8(&bytes).unwrap()).unwrap(), text);
        assert_eq!(
            back("{\"permissions\": {\"allow\": [\"D\"]}}").unwrap(),
            "{\"permissions\": {\"allow\": [\"D\", \"B\"]}}"
        );
        assert_eq!(
            back("{\"permissions\": {\"allow\": []}}").unwrap(),
            "{\"permissions\": {\"allow\": [\"B\"]}}"
        );
        assert_eq!(back("{\"x\": 1}").unwrap(), "{\"x\": 1,\"permissions\":{\"allow\":[\"B\"]}}");
        assert_eq!(back("").unwrap(), "{\"permissions\":{\"allow\":[\"B\"]}}");
        assert_eq!(back(text).unwrap_err(), RuleTextError::RuleIsThere);
    }

    proptest! {
        #[test]
        fn a_removal_and_its_undo_leave_every_byte(
            rules in prop::collection::vec("[ABC]{1,2}", 0..6),
            at in 0_usize..6,
            space in prop::sample::select(vec!["", " ", "\n    ", "\r\n\t"]),
            is_pretty in any::<bool>(),
        ) {
            let elements: Vec<String> = rules.iter().map(|rule| format!("\"{rule}\"")).collect();
            let list = match is_pretty {
                true => serde_json::to_string_pretty(&rules).unwrap(),
                false => format!("[{}]", elements.join(&format!(",{space}"))),
            };
            let text = format!("{{\"a\": [1], \"permissions\": {{\"allow\": {list}}}}}");
            let Some(rule) = rules.get(at) else { return Ok(()) };
            let (bytes, removed) = RuleText::read(text.as_bytes()).unwrap().without(ALLOW, rule).unwrap();
            let value: Value = serde_json::from_slice(&bytes).unwrap();
            let left: Vec<&String> = rules.iter().filter(|other| *other != rule).collect();
            prop_assert_eq!(&value, &json!({"a": [1], "permissions": {"allow": left}}));
            let back = RuleText::read(&bytes).unwrap().with(&removed).unwrap();
            let value: Value = serde_json::from_slice(&back).unwrap();
            prop_assert_eq!(value, json!({"a": [1], "permissions": {"allow": rules}}));
        }
    }
}
