//! Questions of the agent: forms with fields, and whether an answer fits them.

use crate::event::{Choice, Field, FieldKind};
use crate::read::text;
use crate::rpc::shortened;
use agent_client_protocol_schema::v1;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The fields of an open question.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    pub fields: Vec<Field>,
}

/// A question: its call, its words and its form. Fails for a question of another kind than a form, which this side
/// does not offer.
pub fn read(params: &Value) -> Result<(Option<String>, String, Form), String> {
    if params.get("mode").is_some_and(|mode| mode != "form") {
        return Err(format!("questions of the mode {} are not offered", params["mode"]));
    }
    let Some(Value::Object(properties)) = params.pointer("/requestedSchema/properties") else {
        return Err("the question has no fields".to_owned());
    };
    let required = params.pointer("/requestedSchema/required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.is_some_and(|names| names.iter().any(|required| required == name));
    let field = |(name, schema): (&String, &Value)| Field {
        name: name.clone(),
        title: text(schema, "title"),
        description: text(schema, "description"),
        is_required: is_required(name),
        kind: kind(schema),
    };
    let form = Form { fields: properties.iter().map(field).collect() };
    Ok((text(params, "toolCallId"), text(params, "message").unwrap_or_default(), form))
}

fn kind(schema: &Value) -> FieldKind {
    let other = || FieldKind::Other(shortened(schema));
    let Ok(property) = v1::ElicitationPropertySchema::deserialize(schema) else { return other() };
    match property {
        v1::ElicitationPropertySchema::String(field) => {
            let named = field.one_of.map(|options| options.into_iter().map(choice).collect());
            let plain = || field.enum_values.map(|values| values.into_iter().map(plain_choice).collect());
            match named.or_else(plain) {
                Some(choices) => FieldKind::One { choices, default: field.default },
                None => FieldKind::Text { default: field.default },
            }
        }
        v1::ElicitationPropertySchema::Number(field) => {
            FieldKind::Number { is_whole: false, default: field.default }
        }
        v1::ElicitationPropertySchema::Integer(field) => {
            FieldKind::Number { is_whole: true, default: field.default.map(|default| default as f64) }
        }
        v1::ElicitationPropertySchema::Boolean(field) => FieldKind::Switch { default: field.default },
        v1::ElicitationPropertySchema::Array(field) => {
            let choices = match field.items {
                v1::MultiSelectItems::String(items) => items.values.into_iter().map(plain_choice).collect(),
                v1::MultiSelectItems::Titled(items) => items.options.into_iter().map(choice).collect(),
                _ => return other(),
            };
            FieldKind::Many { choices, default: field.default.unwrap_or_default() }
        }
        _ => other(),
    }
}

fn choice(option: v1::EnumOption) -> Choice {
    Choice { id: option.value, name: option.title, description: option.description }
}

fn plain_choice(value: String) -> Choice {
    Choice { id: value.clone(), name: value, description: None }
}

impl Form {
    /// The content of an answer with these values. Fails with the name of the first field that does not fit.
    pub fn filled(&self, values: Vec<(String, Value)>) -> Result<Map<String, Value>, String> {
        let mut content = Map::new();
        for (name, value) in values {
            let field = self.fields.iter().find(|field| field.name == name);
            if !field.is_some_and(|field| fits(&field.kind, &value)) {
                return Err(name);
            }
            content.insert(name, value);
        }
        match self.fields.iter().find(|field| field.is_required && !content.contains_key(&field.name)) {
            Some(missing) => Err(missing.name.clone()),
            None => Ok(content),
        }
    }
}

fn fits(kind: &FieldKind, value: &Value) -> bool {
    let is_one =
        |choices: &[Choice], value: &Value| choices.iter().any(|choice| *value == choice.id.as_str());
    match kind {
        FieldKind::Text { .. } => value.is_string(),
        FieldKind::Number { is_whole: true, .. } => value.is_i64(),
        FieldKind::Number { .. } => value.is_number(),
        FieldKind::Switch { .. } => value.is_boolean(),
        FieldKind::One { choices, .. } => is_one(choices, value),
        FieldKind::Many { choices, .. } => {
            value.as_array().is_some_and(|values| values.iter().all(|value| is_one(choices, value)))
        }
        FieldKind::Other(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn form() -> Form {
        let params = json!({"mode": "form", "sessionId": "s", "message": "Which?", "requestedSchema":
            {"type": "object", "required": ["z"], "properties": {
                "z": {"type": "string", "oneOf": [{"const": "r", "title": "Red"}]},
                "a": {"type": "string"}, "n": {"type": "integer"}, "f": {"type": "number"},
                "b": {"type": "boolean"},
                "m": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}},
                "o": {"type": "object"}}}});
        let (call, message, form) = read(&params).unwrap();
        assert_eq!((call, message.as_str()), (None, "Which?"));
        form
    }

    #[test]
    fn fields_are_in_the_agents_order_and_of_their_kinds() {
        let form = form();
        let names: Vec<&str> = form.fields.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["z", "a", "n", "f", "b", "m", "o"]);
        assert!(matches!(&form.fields[0].kind, FieldKind::One { choices, .. } if choices[0].name == "Red"));
        assert!(matches!(&form.fields[5].kind, FieldKind::Many { choices, .. } if choices.len() == 2));
        assert!(matches!(&form.fields[6].kind, FieldKind::Other(_)));
    }

    #[test]
    fn an_answer_fits_its_form() {
        let filled = |values: Value| {
            let Value::Object(values) = values else { panic!() };
            form().filled(values.into_iter().collect())
        };
        let whole = json!({"z": "r", "a": "t", "n": 1, "f": 1.5, "b": true, "m": ["x"]});
        assert_eq!(Value::from(filled(whole.clone()).unwrap()), whole);
        for (values, wrong) in [
            (json!({}), "z"),
            (json!({"z": "green"}), "z"),
            (json!({"z": "r", "n": 1.5}), "n"),
            (json!({"z": "r", "m": ["x", "q"]}), "m"),
            (json!({"z": "r", "o": {}}), "o"),
            (json!({"z": "r", "unknown": 1}), "unknown"),
        ] {
            assert_eq!(filled(values), Err(wrong.to_owned()));
        }
    }

    #[test]
    fn other_questions_are_refused() {
        assert!(read(&json!({"mode": "url", "url": "https://x"})).is_err());
        assert!(read(&json!({"message": "?"})).is_err());
    }
}
