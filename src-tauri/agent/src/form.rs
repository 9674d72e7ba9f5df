//! Forms: their fields as a JSON schema describes them, and whether values fit.
//!
//! The schemas are those of elicitations: flat objects of texts, numbers, switches and choices (MCP 2025-06-18, and with
//! several choices 2025-11-25; ACP v1 has the same).

use crate::api::{FieldKind, FormChoice, FormField};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A form with more fields is not read.
const MAX_FIELDS: usize = 100;

/// Maximum length of the schema of a field that cannot be filled in, in characters.
const MAX_SCHEMA: usize = 200;

/// The fields of a schema, those in `order` first. `None` if it is not the schema of a form.
pub fn fields(schema: &Value, order: &[String]) -> Option<Vec<FormField>> {
    let properties = schema.get("properties")?.as_object()?;
    if properties.len() > MAX_FIELDS {
        return None;
    }
    let required: Vec<&str> = list(schema, "required").filter_map(Value::as_str).collect();
    let place = |name: &String| order.iter().position(|known| known == name).unwrap_or(usize::MAX);
    let mut fields: Vec<FormField> = properties
        .iter()
        .map(|(name, schema)| FormField {
            name: name.clone(),
            label: text(schema, "title").filter(|title| !title.is_empty()).unwrap_or_else(|| name.clone()),
            description: text(schema, "description").filter(|description| !description.is_empty()),
            is_required: required.contains(&name.as_str()),
            kind: kind(schema),
        })
        .collect();
    fields.sort_by_key(|field| place(&field.name));
    Some(fields)
}

fn kind(schema: &Value) -> FieldKind {
    let number = |key: &str| schema.get(key).and_then(Value::as_f64);
    let count = |key: &str| schema.get(key).and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
    let default = schema.get("default");
    let known = match schema.get("type").and_then(Value::as_str) {
        Some("string") => match choices(schema) {
            Some(choices) => Some(FieldKind::One { choices, default: text(schema, "default") }),
            None => Some(FieldKind::Text {
                default: text(schema, "default"),
                format: text(schema, "format"),
                min_length: count("minLength"),
                max_length: count("maxLength"),
            }),
        },
        Some(name @ ("number" | "integer")) => Some(FieldKind::Number {
            is_whole: name == "integer",
            default: default.and_then(Value::as_f64),
            minimum: number("minimum"),
            maximum: number("maximum"),
        }),
        Some("boolean") => Some(FieldKind::Switch { default: default.and_then(Value::as_bool) }),
        Some("array") => schema.get("items").and_then(choices).map(|choices| FieldKind::Many {
            choices,
            default: list(schema, "default").filter_map(Value::as_str).map(str::to_owned).collect(),
            minimum: count("minItems"),
            maximum: count("maxItems"),
        }),
        _ => None,
    };
    known.unwrap_or_else(|| FieldKind::Unknown {
        schema: schema.to_string().chars().take(MAX_SCHEMA).collect(),
    })
}

/// The choices of a schema; `None` if it has none, or one that is not a text.
fn choices(schema: &Value) -> Option<Vec<FormChoice>> {
    let named = ["oneOf", "anyOf"].into_iter().find_map(|key| schema.get(key)?.as_array());
    if let Some(named) = named {
        let choice = |option: &Value| {
            let value = text(option, "const")?;
            let label = text(option, "title").unwrap_or_else(|| value.clone());
            Some(FormChoice { value, label, description: text(option, "description") })
        };
        return named.iter().map(choice).collect();
    }
    let labels: Vec<&Value> = list(schema, "enumNames").collect();
    let choice = |(place, value): (usize, &Value)| {
        let value = value.as_str()?.to_owned();
        let label = labels.get(place).and_then(|label| label.as_str()).unwrap_or(&value).to_owned();
        Some(FormChoice { value, label, description: None })
    };
    schema.get("enum")?.as_array()?.iter().enumerate().map(choice).collect()
}

/// The content of an answer with these values, in the order of the fields. Fails with the name of the first field that
/// is unknown, or whose value does not fit or is missing.
pub fn filled(
    fields: &[FormField],
    mut values: BTreeMap<String, Value>,
) -> Result<Map<String, Value>, String> {
    let mut content = Map::new();
    for field in fields {
        match values.remove(&field.name) {
            Some(value) if fits(&field.kind, &value) => content.insert(field.name.clone(), value),
            None if !field.is_required => continue,
            _ => return Err(field.name.clone()),
        };
    }
    match values.into_keys().next() {
        Some(unknown) => Err(unknown),
        None => Ok(content),
    }
}

fn fits(kind: &FieldKind, value: &Value) -> bool {
    let is_one = |choices: &[FormChoice], value: &Value| choices.iter().any(|choice| *value == *choice.value);
    match kind {
        FieldKind::Text { min_length, max_length, .. } => value.as_str().is_some_and(|text| {
            let length = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
            min_length.is_none_or(|min| length >= min) && max_length.is_none_or(|max| length <= max)
        }),
        FieldKind::Number { is_whole, minimum, maximum, .. } => value.as_f64().is_some_and(|number| {
            (!is_whole || value.is_i64() || value.is_u64())
                && minimum.is_none_or(|min| number >= min)
                && maximum.is_none_or(|max| number <= max)
        }),
        FieldKind::Switch { .. } => value.is_boolean(),
        FieldKind::One { choices, .. } => is_one(choices, value),
        FieldKind::Many { choices, minimum, maximum, .. } => value.as_array().is_some_and(|values| {
            let n_values = u32::try_from(values.len()).unwrap_or(u32::MAX);
            values.iter().all(|value| is_one(choices, value))
                && minimum.is_none_or(|min| n_values >= min)
                && maximum.is_none_or(|max| n_values <= max)
        }),
        FieldKind::Unknown { .. } => false,
    }
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}

fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Value {
        json!({"type": "object", "required": ["z"], "properties": {
            "z": {"type": "string", "title": "Colour", "oneOf": [{"const": "r", "title": "Red"}, {"const": "g", "title": "Red"}]},
            "a": {"type": "string", "minLength": 2, "maxLength": 3, "format": "email"},
            "e": {"type": "string", "enum": ["x", "y"], "enumNames": ["Ex"], "default": "y"},
            "n": {"type": "integer", "minimum": 1, "maximum": 5},
            "f": {"type": "number", "default": 0.5},
            "b": {"type": "boolean", "default": true},
            "m": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string", "enum": ["x", "y", "z"]}, "default": ["x"]},
            "t": {"type": "array", "items": {"anyOf": [{"const": "u", "title": "You"}]}},
            "o": {"type": "object", "properties": {}}}})
    }

    #[test]
    fn fields_are_of_their_kinds_and_in_the_agents_order() {
        let names = |order: &[String]| -> Vec<String> {
            fields(&schema(), order).unwrap().into_iter().map(|field| field.name).collect()
        };
        assert_eq!(names(&[]), ["z", "a", "e", "n", "f", "b", "m", "t", "o"]);
        assert_eq!(names(&["o".to_owned(), "b".to_owned()])[..3], ["o", "b", "z"]);
        let fields = fields(&schema(), &[]).unwrap();
        assert_eq!((fields[0].label.as_str(), fields[0].is_required), ("Colour", true));
        assert_eq!((fields[1].label.as_str(), fields[1].is_required), ("a", false));
        assert!(matches!(&fields[2].kind, FieldKind::One { choices, default: Some(default) }
            if choices[0].label == "Ex" && choices[1].label == "y" && default == "y"));
        assert!(matches!(&fields[7].kind, FieldKind::Many { choices, .. } if choices[0].label == "You"));
        assert!(
            matches!(&fields[8].kind, FieldKind::Unknown { schema } if schema.starts_with(r#"{"type":"object""#))
        );
    }

    #[test]
    fn a_schema_that_is_no_form_is_not_read() {
        let many: Map<String, Value> = (0..101).map(|n| (n.to_string(), json!({"type": "string"}))).collect();
        for schema in [json!(null), json!({}), json!({"properties": []}), json!({"properties": many})] {
            assert_eq!(fields(&schema, &[]), None, "{schema}");
        }
        let odd = json!({"properties": {"a": 1, "b": {"type": "string", "enum": [1]}, "c": {"type": "array"}, "d": {"type": "string", "oneOf": [{}]}}});
        let kinds: Vec<bool> = fields(&odd, &[])
            .unwrap()
            .iter()
            .map(|field| matches!(field.kind, FieldKind::Unknown { .. }))
            .collect();
        assert_eq!(kinds, [true, false, true, false], "a text with unusable choices is still a text");
    }

    #[test]
    fn values_fit_their_fields() {
        let fields = fields(&schema(), &[]).unwrap();
        let filled = |values: Value| {
            let Value::Object(values) = values else { panic!("{values}") };
            filled(&fields, values.into_iter().collect()).map(Value::from)
        };
        let whole =
            json!({"z": "g", "a": "éé", "e": "x", "n": 5, "f": 2, "b": false, "m": ["x", "z"], "t": []});
        assert_eq!(filled(whole.clone()), Ok(whole));
        assert_eq!(filled(json!({"z": "r"})), Ok(json!({"z": "r"})));
        for (name, value) in [
            ("z", json!("Red")),
            ("z", json!(null)),
            ("a", json!("a")),
            ("a", json!("four")),
            ("n", json!(1.5)),
            ("n", json!(0)),
            ("n", json!(6)),
            ("f", json!("1")),
            ("b", json!("true")),
            ("m", json!([])),
            ("m", json!(["x", "y", "z"])),
            ("m", json!(["w"])),
            ("o", json!({})),
            ("unknown", json!(1)),
        ] {
            let mut values = json!({"z": "r"});
            values[name] = value.clone();
            assert_eq!(filled(values), Err(name.to_owned()), "{value}");
        }
        assert_eq!(filled(json!({})), Err("z".to_owned()));
    }
}
