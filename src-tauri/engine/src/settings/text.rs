//! The text of the settings file: reading it with the places of its values, and changing one value in it.

use super::keys::{check, keys};
use crate::api::{Settings, SettingsProblem};
use jsonc_parser::ast::{self, ObjectProp};
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use jsonc_parser::tokens::Token;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, ParseResult, parse_to_ast};
use serde_json::{Map, Value};

/// A file may begin with a byte order mark.
const BOM: char = '\u{feff}';

/// The settings in a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    pub settings: Settings,
    pub problems: Vec<SettingsProblem>,
    /// Keys that Deskbell does not know, each with its line. They are kept and have no effect.
    pub unknown: Vec<(String, u32)>,
    /// The file could not be read as a whole.
    pub is_broken: bool,
}

/// The reason why a text was not edited.
#[derive(Debug)]
pub(super) enum EditError {
    Invalid(SettingsProblem),
    /// The result would differ in more than the one value.
    Unsafe,
}

/// JSON with comments and trailing commas, and nothing else.
fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

fn parse(text: &str) -> Result<ParseResult<'_>, SettingsProblem> {
    let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
    let parsed = parse_to_ast(text, &collect, &options()).map_err(|error| SettingsProblem {
        line: u32::try_from(error.line_display()).ok(),
        column: u32::try_from(error.column_display()).ok(),
        message: format!("{}. Until it is corrected, the last good settings stay.", error.kind()),
    })?;
    match &parsed.value {
        None | Some(ast::Value::Object(_)) => Ok(parsed),
        Some(other) => Err(problem(text, start(other), "The file must be an object: { … }.".to_owned())),
    }
}

fn start(value: &ast::Value<'_>) -> usize {
    match value {
        ast::Value::StringLit(value) => value.range.start,
        ast::Value::NumberLit(value) => value.range.start,
        ast::Value::BooleanLit(value) => value.range.start,
        ast::Value::Object(value) => value.range.start,
        ast::Value::Array(value) => value.range.start,
        ast::Value::NullKeyword(value) => value.range.start,
    }
}

fn problem(text: &str, at: usize, message: String) -> SettingsProblem {
    let before = &text[..at];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    SettingsProblem { line: u32::try_from(line).ok(), column: u32::try_from(column).ok(), message }
}

/// The value of a node. Of a repeated key the last one counts, as in other JSON parsers.
fn json(value: &ast::Value<'_>) -> Value {
    match value {
        ast::Value::StringLit(value) => Value::String(value.value.to_string()),
        ast::Value::NumberLit(value) => serde_json::from_str(value.value).unwrap_or_default(),
        ast::Value::BooleanLit(value) => Value::Bool(value.value),
        ast::Value::Object(value) => value
            .properties
            .iter()
            .map(|one| (one.name.as_str().to_owned(), json(&one.value)))
            .collect::<Map<_, _>>()
            .into(),
        ast::Value::Array(value) => value.elements.iter().map(json).collect(),
        ast::Value::NullKeyword(_) => Value::Null,
    }
}

/// In place of a dot in a name of the file, which would look like two names in a key.
const DOT: char = '\u{1}';

fn name(property: &ObjectProp<'_>) -> String {
    property.name.as_str().replace('.', &DOT.to_string())
}

fn body(text: &str) -> &str {
    text.strip_prefix(BOM).unwrap_or(text)
}

/// Reads the settings. A wrong value counts as the one in `last`; a missing one is the default.
pub(super) fn read(text: &str, last: &Settings) -> Read {
    let text = body(text);
    let parsed = match parse(text) {
        Ok(parsed) => parsed,
        Err(problem) => {
            let problems = vec![problem];
            return Read { settings: last.clone(), problems, unknown: Vec::new(), is_broken: true };
        }
    };
    let tree = |settings: &Settings| serde_json::to_value(settings).unwrap_or_default();
    let mut reading = Reading {
        text,
        tree: tree(&Settings::default()),
        last: tree(last),
        problems: Vec::new(),
        unknown: Vec::new(),
    };
    if let Some(ast::Value::Object(root)) = &parsed.value {
        reading.object(root, "");
    }
    let Reading { tree, mut problems, unknown, .. } = reading;
    let settings = serde_json::from_value(tree).unwrap_or_else(|error| {
        // Each value was checked, so this is an error of ours; the settings are still safe.
        tracing::error!(%error, "checked settings do not fit their type");
        problems.push(SettingsProblem {
            line: None,
            column: None,
            message: format!("The settings were not read: {error}."),
        });
        last.clone()
    });
    Read { settings, problems, unknown, is_broken: false }
}

struct Reading<'a> {
    text: &'a str,
    tree: Value,
    last: Value,
    problems: Vec<SettingsProblem>,
    unknown: Vec<(String, u32)>,
}

impl Reading<'_> {
    fn object(&mut self, object: &ast::Object<'_>, prefix: &str) {
        for (nr, property) in object.properties.iter().enumerate() {
            let key = format!("{prefix}{}", name(property));
            let is_repeated =
                object.properties[nr + 1..].iter().any(|later| later.name.as_str() == property.name.as_str());
            if is_repeated {
                self.report(property, format!("“{key}” appears again below; the last one counts."));
            } else {
                self.property(property, &key);
            }
        }
    }

    fn property(&mut self, property: &ObjectProp<'_>, key: &str) {
        let pointer = format!("/{}", key.replace('.', "/"));
        if let Some(known) = keys().iter().find(|known| known.key == key) {
            let value = json(&property.value);
            match check(known, &value) {
                Ok(()) => self.put(&pointer, value),
                Err(problem) => {
                    self.report(property, problem);
                    self.keep(&pointer);
                }
            }
        } else if keys().iter().any(|known| known.key.starts_with(&format!("{key}."))) {
            match &property.value {
                ast::Value::Object(inner) => self.object(inner, &format!("{key}.")),
                _ => {
                    self.report(property, format!("“{key}” must be an object: {{ … }}."));
                    self.keep(&pointer);
                }
            }
        } else if key != "$schema" {
            let line = problem(self.text, property.range.start, String::new()).line.unwrap_or_default();
            self.unknown.push((key.replace(DOT, "."), line));
        }
    }

    fn report(&mut self, property: &ObjectProp<'_>, message: String) {
        self.problems.push(problem(self.text, start(&property.value), message));
    }

    fn keep(&mut self, pointer: &str) {
        if let Some(last) = self.last.pointer(pointer).cloned() {
            self.put(pointer, last);
        }
    }

    fn put(&mut self, pointer: &str, value: Value) {
        if let Some(place) = self.tree.pointer_mut(pointer) {
            *place = value;
        }
    }
}

/// The value that a text has for a key, known or not; `None` if it has none or is not valid.
pub fn value_of(text: &str, key: &str) -> Option<Value> {
    let parsed = parse(body(text)).ok()?;
    let root = json(parsed.value.as_ref()?);
    root.pointer(&format!("/{}", key.replace('.', "/"))).cloned()
}

/// Sets the value of a key and keeps everything else: comments, unknown keys, order and layout.
pub(super) fn edit(whole: &str, key: &str, value: &Value) -> Result<String, EditError> {
    let text = body(whole);
    let before = content(text).map_err(EditError::Invalid)?;
    let root = CstRootNode::parse(text, &options()).map_err(|_| EditError::Unsafe)?;
    let mut object = root.object_value_or_create().ok_or(EditError::Unsafe)?;
    let mut names: Vec<&str> = key.split('.').collect();
    let leaf = names.pop().unwrap_or_default();
    for name in names {
        object = match last_property(&object, name) {
            Some(property) => property.object_value().ok_or(EditError::Unsafe)?,
            None => object
                .append(name, CstInputValue::Object(Vec::new()))
                .object_value()
                .ok_or(EditError::Unsafe)?,
        };
    }
    match last_property(&object, leaf) {
        // Writing the value again could change its layout.
        Some(property) if value_of(text, key).as_ref() == Some(value) => drop(property),
        Some(property) => replace(&property, value),
        None => drop(object.append(leaf, input(value))),
    }
    let edited = root.to_string();
    let after = content(&edited).map_err(|_| EditError::Unsafe)?;
    if !is_only_change(&before, &after, key, value) {
        return Err(EditError::Unsafe);
    }
    Ok(if whole.starts_with(BOM) { format!("{BOM}{edited}") } else { edited })
}

/// Replaces the value of a property. An object that stays one is changed entry by entry, and a list of named objects or of the
/// same length item by item, because there may be comments in them.
fn replace(property: &CstObjectProp, value: &Value) {
    match (property.object_value(), property.array_value(), value) {
        (Some(object), _, Value::Object(entries)) => replace_entries(&object, entries),
        (_, Some(array), Value::Array(values)) if is_named_alike(&array, values) => {
            let names: Vec<Option<&str>> = values.iter().map(named).collect();
            for element in array.elements() {
                if !names.contains(&name_of(&element).as_deref()) {
                    element.remove();
                }
            }
            for (element, value) in array.elements().into_iter().zip(values) {
                if let (Some(object), Some(entries)) = (element.as_object(), value.as_object()) {
                    replace_entries(&object, entries);
                }
            }
            for value in values.iter().skip(array.elements().len()) {
                drop(array.append(input(value)));
            }
        }
        (_, Some(array), Value::Array(values))
            if array.elements().len() == values.len() && values.iter().all(Value::is_string) =>
        {
            for (element, value) in array.elements().into_iter().zip(values) {
                if let Some(text) = element.as_string_lit() {
                    drop(text.replace_with(input(value)));
                }
            }
        }
        _ => property.set_value(input(value)),
    }
}

fn replace_entries(object: &CstObject, entries: &Map<String, Value>) {
    for (name, value) in entries {
        match last_property(object, name) {
            Some(inner) => replace(&inner, value),
            None => drop(object.append(name, input(value))),
        }
    }
}

/// Whether a list has named objects, and its new values begin with those of them that stay, in their order. Only then is
/// each of them changed in its place: what is ours and what is not would be mixed otherwise.
fn is_named_alike(array: &CstArray, values: &[Value]) -> bool {
    let wanted: Vec<Option<&str>> = values.iter().map(named).collect();
    let names: Vec<Option<String>> = array.elements().iter().map(name_of).collect();
    let staying: Vec<Option<&str>> =
        names.iter().map(Option::as_deref).filter(|name| wanted.contains(name)).collect();
    let is_distinct = |names: &[Option<&str>]| {
        names.iter().enumerate().all(|(nr, name)| name.is_some() && !names[..nr].contains(name))
    };
    !names.is_empty()
        && names.iter().all(Option::is_some)
        && is_distinct(&wanted)
        && is_distinct(&staying)
        && wanted.starts_with(&staying)
}

/// The entries that name an element of a list: a preset, the key of an action.
const NAMES: [&str; 2] = ["name", "action"];

/// The name of a value in a list.
pub(super) fn named(value: &Value) -> Option<&str> {
    let object = value.as_object()?;
    NAMES.iter().find_map(|name| object.get(*name))?.as_str()
}

/// The name of an element of a list.
fn name_of(element: &CstNode) -> Option<String> {
    let object = element.as_object()?;
    let name = NAMES.iter().find_map(|name| last_property(&object, name))?;
    name.value()?.as_string_lit()?.decoded_value().ok()
}

/// Whether a value has everything of another one. An object may have more, which is not ours.
fn includes(value: &Value, other: &Value) -> bool {
    match (value, other) {
        (Value::Object(entries), Value::Object(wanted)) => {
            wanted.iter().all(|(name, wanted)| entries.get(name).is_some_and(|value| includes(value, wanted)))
        }
        (Value::Array(values), Value::Array(wanted)) if values.len() == wanted.len() => {
            values.iter().zip(wanted).all(|(value, wanted)| includes(value, wanted))
        }
        _ => value == other,
    }
}

fn last_property(object: &CstObject, name: &str) -> Option<CstObjectProp> {
    object.properties().into_iter().rev().find(|property| property.decoded_name().as_deref() == Some(name))
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(value) => CstInputValue::Number(value.to_string()),
        Value::String(value) => CstInputValue::String(value.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(values) => {
            CstInputValue::Object(values.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}

/// What must not be lost: every value with its key, in order and also if it is repeated, and every comment.
struct Content {
    values: Vec<(String, Value)>,
    comments: Vec<String>,
}

fn content(text: &str) -> Result<Content, SettingsProblem> {
    let parsed = parse(text)?;
    let mut values = Vec::new();
    if let Some(ast::Value::Object(root)) = &parsed.value {
        flatten(root, "", &mut values);
    }
    let comments = parsed.tokens.into_iter().flatten().filter_map(|token| match token.token {
        Token::CommentLine(text) | Token::CommentBlock(text) => Some(text.trim_end().to_owned()),
        _ => None,
    });
    Ok(Content { values, comments: comments.collect() })
}

fn flatten(object: &ast::Object<'_>, prefix: &str, values: &mut Vec<(String, Value)>) {
    for property in &object.properties {
        let key = format!("{prefix}{}", name(property));
        match &property.value {
            // The value of a known key is one value, whatever its type is.
            ast::Value::Object(inner) if keys().iter().all(|known| known.key != key) => {
                values.push((key.clone(), Value::Object(Map::new())));
                flatten(inner, &format!("{key}."), values);
            }
            value => values.push((key, json(value))),
        }
    }
}

/// Whether two contents differ in this value alone, and in the empty objects that were made for it.
fn is_only_change(before: &Content, after: &Content, key: &str, value: &Value) -> bool {
    let rest = |content: &Content| -> Vec<(String, Value)> {
        let mut values = content.values.clone();
        let inside = format!("{key}.");
        if let Some(last) = values.iter().rposition(|(name, _)| name == key) {
            // An unknown key may be an object, which is listed with everything in it.
            let n_inside =
                values[last + 1..].iter().take_while(|(name, _)| name.starts_with(&inside)).count();
            values.drain(last..=last + n_inside);
        }
        values
    };
    let is_made = |name: &str| key.starts_with(&format!("{name}."));
    let mut left = rest(before).into_iter().peekable();
    for entry in rest(after) {
        if left.peek() == Some(&entry) {
            left.next();
        } else if !is_made(&entry.0) || before.values.iter().any(|(name, _)| *name == entry.0) {
            return false;
        }
    }
    let is_set = keys().iter().all(|known| known.key != key)
        || after
            .values
            .iter()
            .rev()
            .find(|(name, _)| name == key)
            .is_some_and(|(_, now)| includes(now, value));
    left.next().is_none() && is_set && before.comments == after.comments
}
