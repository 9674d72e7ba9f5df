//! The YAML at the beginning of a skill, an agent or a command.

use super::json::Json;

/// A document in its two parts.
pub(super) struct Document<'a> {
    /// Without the lines of dashes; `None` if the document has none.
    pub yaml: Option<&'a str>,
    pub body: &'a str,
}

/// Splits a document as the CLI does: between two lines of three dashes, the first of them at the very beginning.
pub(super) fn split(text: &str) -> Document<'_> {
    let whole = Document { yaml: None, body: text };
    let Some((first, rest)) = text.split_once('\n') else { return whole };
    if first.trim_end() != "---" {
        return whole;
    }
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.starts_with("---") {
            return Document { yaml: Some(&rest[..at]), body: &rest[at + line.len()..] };
        }
        at += line.len();
    }
    whole
}

/// The entries of the YAML, in their order. The error is the reason why they cannot be read.
pub(super) fn entries(yaml: &str) -> Result<Vec<(String, Json)>, String> {
    if yaml.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Ok(Vec::new());
    }
    // Many documents have a description with a colon in it, which is not valid YAML; the CLI accepts them too
    // (2.1.329).
    let parsed = serde_saphyr::from_str(yaml).or_else(|_| serde_saphyr::from_str(&quoted(yaml)));
    match parsed {
        Ok(Json::Object(entries)) => Ok(entries),
        Ok(_) => Err("it is not a list of settings".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// The YAML with quotes around the plain values of its top level.
fn quoted(yaml: &str) -> String {
    let quote = |line: &str| -> String {
        let is_key = |key: &str| {
            !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
        };
        match line.split_once(": ") {
            Some((key, value))
                if is_key(key) && !value.trim().starts_with(['"', '\'', '[', '{', '|', '>', '&', '*']) =>
            {
                format!("{key}: {}\n", Json::Text(value.trim().to_owned()).written())
            }
            _ => format!("{line}\n"),
        }
    };
    yaml.lines().map(quote).collect()
}

/// The document with its name replaced or added.
pub(super) fn named(text: &str, name: &str) -> String {
    let document = split(text);
    let is_name = |line: &&str| !line.starts_with("name:");
    let yaml: Vec<&str> =
        document.yaml.map(|yaml| yaml.lines().filter(is_name).collect()).unwrap_or_default();
    let name = Json::Text(name.to_owned()).written();
    let mut lines = vec![format!("---\nname: {name}")];
    lines.extend(yaml.iter().map(|line| (*line).to_owned()));
    format!("{}\n---\n{}", lines.join("\n"), document.body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_split_where_the_cli_splits_it() {
        let check = |text: &str, yaml: Option<&str>, body: &str| {
            let document = split(text);
            assert_eq!((document.yaml, document.body), (yaml, body), "{text}");
        };
        check("---\na: 1\n---\nbody", Some("a: 1\n"), "body");
        check("---\r\na: 1\r\n---\r\nbody", Some("a: 1\r\n"), "body");
        check("---\n---\nbody", Some(""), "body");
        check("---\na: 1\nbody", None, "---\na: 1\nbody");
        check("\n---\na: 1\n---\n", None, "\n---\na: 1\n---\n");
        check("body", None, "body");
    }

    #[test]
    fn a_description_with_a_colon_is_read() {
        let entries = entries("name: x\ndescription: Use it: often\ntools: [A, B]\n").unwrap();
        let texts: Vec<_> = entries.iter().map(|(key, value)| format!("{key}={}", value.text())).collect();
        assert_eq!(texts, ["name=x", "description=Use it: often", r#"tools=["A","B"]"#]);
    }

    #[test]
    fn what_is_no_yaml_is_an_error() {
        for yaml in ["- a\n", "a: [\n", "a: 1\na: 2\n"] {
            assert!(entries(yaml).is_err(), "{yaml}");
        }
        assert_eq!(entries("# nothing\n\n"), Ok(Vec::new()));
    }

    #[test]
    fn a_name_is_set() {
        assert_eq!(named("body", "a:b"), "---\nname: \"a:b\"\n\n---\nbody".replace("\n\n---", "\n---"));
        assert_eq!(named("---\nname: x\nmodel: y\n---\nbody", "z"), "---\nname: \"z\"\nmodel: y\n---\nbody");
    }
}
