//! JSON as other tools print it: `cargo metadata` and `package.json`. Read and written with the standard library alone.

use std::fmt::{self, Display, Formatter};

use crate::Outcome;

/// A value; numbers are kept as text.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Json>),
    Map(Vec<(String, Json)>),
}

impl Json {
    /// Reads one value and nothing after it.
    pub fn parse(text: &str) -> Outcome<Self> {
        let mut reader = Reader { text, at: 0 };
        let value = reader.value(0)?;
        reader.space();
        if reader.at == text.len() { Ok(value) } else { Err(reader.wrong("more after the value")) }
    }

    /// The field of a map.
    pub fn get(&self, name: &str) -> Option<&Json> {
        match self {
            Self::Map(fields) => fields.iter().find(|(found, _)| found == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The text in a field; empty if there is none.
    pub fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Some(Self::Text(text)) => text,
            _ => "",
        }
    }

    /// The list in a field; empty if there is none.
    pub fn list(&self, name: &str) -> &[Json] {
        match self.get(name) {
            Some(Self::List(values)) => values,
            _ => &[],
        }
    }

    /// The fields of the map in a field; empty if there is none.
    pub fn map(&self, name: &str) -> &[(String, Json)] {
        match self.get(name) {
            Some(Self::Map(fields)) => fields,
            _ => &[],
        }
    }

    /// The text, if the value is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl Display for Json {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => write!(out, "null"),
            Self::Bool(value) => write!(out, "{value}"),
            Self::Number(value) => write!(out, "{value}"),
            Self::Text(text) => quote(text, out),
            Self::List(values) => {
                write!(out, "[")?;
                for (index, value) in values.iter().enumerate() {
                    write!(out, "{}{value}", if index == 0 { "" } else { "," })?;
                }
                write!(out, "]")
            }
            Self::Map(fields) => {
                write!(out, "{{")?;
                for (index, (name, value)) in fields.iter().enumerate() {
                    write!(out, "{}", if index == 0 { "" } else { "," })?;
                    quote(name, out)?;
                    write!(out, ":{value}")?;
                }
                write!(out, "}}")
            }
        }
    }
}

fn quote(text: &str, out: &mut Formatter<'_>) -> fmt::Result {
    write!(out, "\"")?;
    for character in text.chars() {
        match character {
            '"' | '\\' => write!(out, "\\{character}")?,
            '\n' => write!(out, "\\n")?,
            c if u32::from(c) < 0x20 => write!(out, "\\u{:04x}", u32::from(c))?,
            c => write!(out, "{c}")?,
        }
    }
    write!(out, "\"")
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn wrong(&self, what: &str) -> String {
        format!("not JSON: {what} at byte {}", self.at)
    }

    fn space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn takes(&mut self, text: &str) -> bool {
        self.space();
        let found = self.rest().starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    fn value(&mut self, depth: usize) -> Outcome<Json> {
        if depth > 128 {
            return Err(self.wrong("too many levels"));
        }
        for (word, value) in [("null", Json::Null), ("true", Json::Bool(true)), ("false", Json::Bool(false))]
        {
            if self.takes(word) {
                return Ok(value);
            }
        }
        if self.takes("{") {
            let mut fields = Vec::new();
            while !self.takes("}") {
                if !fields.is_empty() && !self.takes(",") {
                    return Err(self.wrong("no comma"));
                }
                let name = self.string()?;
                if !self.takes(":") {
                    return Err(self.wrong("no colon"));
                }
                fields.push((name, self.value(depth + 1)?));
            }
            return Ok(Json::Map(fields));
        }
        if self.takes("[") {
            let mut values = Vec::new();
            while !self.takes("]") {
                if !values.is_empty() && !self.takes(",") {
                    return Err(self.wrong("no comma"));
                }
                values.push(self.value(depth + 1)?);
            }
            return Ok(Json::List(values));
        }
        if self.rest().starts_with('"') {
            return self.string().map(Json::Text);
        }
        let is_number = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
        let length = self.rest().find(|c| !is_number(c)).unwrap_or(self.rest().len());
        let number = self.rest()[..length].to_owned();
        if number.parse::<f64>().is_err() {
            return Err(self.wrong("no value"));
        }
        self.at += length;
        Ok(Json::Number(number))
    }

    fn string(&mut self) -> Outcome<String> {
        if !self.takes("\"") {
            return Err(self.wrong("no text"));
        }
        let mut units: Vec<u16> = Vec::new();
        loop {
            let Some(character) = self.rest().chars().next() else { return Err(self.wrong("an open text")) };
            self.at += character.len_utf8();
            match character {
                '"' => return String::from_utf16(&units).map_err(|_| self.wrong("half a character")),
                '\\' => {
                    let Some(escaped) = self.rest().chars().next() else {
                        return Err(self.wrong("an open text"));
                    };
                    self.at += escaped.len_utf8();
                    match escaped {
                        'n' => units.push(0x0a),
                        't' => units.push(0x09),
                        'r' => units.push(0x0d),
                        'b' => units.push(0x08),
                        'f' => units.push(0x0c),
                        '"' | '\\' | '/' => units.push(escaped as u16),
                        'u' => {
                            let digits = self.rest().get(..4).ok_or_else(|| self.wrong("half an escape"))?;
                            let unit =
                                u16::from_str_radix(digits, 16).map_err(|_| self.wrong("no hexadecimal"))?;
                            units.push(unit);
                            self.at += 4;
                        }
                        _ => return Err(self.wrong("an unknown escape")),
                    }
                }
                character => units.extend_from_slice(character.encode_utf16(&mut [0; 2])),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_written_again() {
        let text = r#"{"a":[1,-2.5e3,true,false,null],"b":{"c":"x \"y\" \\ \n é 😀"},"d":[],"e":{}}"#;
        let value = Json::parse(text).unwrap();
        assert_eq!(value.to_string(), text);
        assert_eq!(value.get("b").unwrap().text("c"), "x \"y\" \\ \n é 😀");
        assert_eq!(value.list("a").len(), 5);
        assert_eq!(value.map("b")[0].0, "c");
        assert_eq!(Json::parse(" [ \"\\ud83d\\ude00\\u00e9\\/\" ] ").unwrap().to_string(), r#"["😀é/"]"#);
    }

    #[test]
    fn what_is_not_json_is_refused() {
        let deep = "[".repeat(1000);
        for text in
            ["", "{", "[1", "[1 2]", "{\"a\" 1}", "\"a", "nul", "1 2", "\"\\x\"", "\"\\ud800\"", "-", &deep]
        {
            assert!(Json::parse(text).is_err(), "{text}");
        }
    }
}
