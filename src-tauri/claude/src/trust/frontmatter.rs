//! The YAML at the beginning of a skill, an agent or a command.

use super::json::Json;

/// A document in its two parts.
pub(super) struct Document<'a> {
    /// Without the lines of dashes; `None` if the document has none.
    pub yaml: Option<&'a str>,
    pub body: &'a str,
}

/// Splits a document at two lines of three dashes. The first one must start the document.
///
/// # Errors
///
/// The CLI ends the YAML at the first three dashes anywhere, also inside a value (2.1.332). A document that the CLI
/// would split elsewhere is an error: its YAML is ambiguous.
pub(super) fn split(text: &str) -> Result<Document<'_>, String> {
    let whole = Document { yaml: None, body: text };
    let Some((first, rest)) = text.split_once('\n') else { return Ok(whole) };
    if !first.starts_with("---") || !is_blank(&first[3..]) {
        return Ok(whole);
    }
    let Some(first_dashes) = rest.find("---") else { return Ok(whole) };
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.starts_with("---") && is_blank(&line[3..]) {
            break;
        }
        at += line.len();
    }
    if at != first_dashes {
        return Err(
            "the end of its settings is ambiguous: there are three dashes in another place, too".to_owned()
        );
    }
    let body = rest[at..].split_once('\n').map_or("", |(_, body)| body);
    Ok(Document { yaml: Some(&rest[..at]), body })
}

/// Whether the text has only characters that JavaScript counts as blanks, the byte order mark among them.
fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c == '\u{feff}')
}

/// The entries of a front matter, in their order.
type Entries = Vec<(String, Json)>;

/// Reads the entries and the body of a document.
///
/// # Errors
///
/// Returns why the document is ambiguous.
pub(super) fn read(text: &str) -> Result<(Entries, &str), String> {
    let document = split(text)?;
    Ok((entries(document.yaml.unwrap_or_default())?, document.body))
}

/// Reads the entries of the YAML. Returns why it is invalid otherwise.
fn entries(yaml: &str) -> Result<Entries, String> {
    if yaml.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Ok(Vec::new());
    }
    // Many documents have a description with a colon in it, which is not valid YAML; the CLI accepts them too
    // (2.1.329).
    let parsed = parse(yaml).or_else(|_| parse(&quoted(yaml)));
    match parsed {
        Ok(Json::Object(entries)) => Ok(entries),
        Ok(_) => Err("it is not a list of settings".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// YAML 1.2, in which `yes` and `y` are texts.
fn parse(yaml: &str) -> Result<Json, serde_saphyr::Error> {
    serde_saphyr::from_str_with_options(yaml, serde_saphyr::options! { strict_booleans: true })
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

/// Writes a document with exactly these entries. Leaves out keys that need quotes: the CLI has no such key.
///
/// The CLI repairs invalid YAML (2.1.332). This text is unambiguous: each value is JSON, which is YAML, and three
/// dashes occur only in the first and the last line.
pub(super) fn written(entries: &[(String, Json)], body: &str) -> String {
    let is_plain =
        |key: &str| !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    let lines =
        entries.iter().filter(|(key, _)| is_plain(key) && !key.contains("---")).map(|(key, value)| {
            // A dash is only in texts and before a digit, so no three of them are anything else than text.
            format!("{key}: {}\n", value.written().replace("--", "\\u002d\\u002d"))
        });
    format!("---\n{}---\n{body}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_split_where_the_cli_splits_it() {
        let check = |text: &str, yaml: Option<&str>, body: &str| {
            let document = split(text).unwrap();
            assert_eq!((document.yaml, document.body), (yaml, body), "{text}");
        };
        check("---\na: 1\n---\nbody", Some("a: 1\n"), "body");
        check("---\r\na: 1\r\n---\r\nbody", Some("a: 1\r\n"), "body");
        check("--- \na: 1\n---\t\nbody", Some("a: 1\n"), "body");
        check("---\n---\nbody", Some(""), "body");
        check("---\na: 1\n---", Some("a: 1\n"), "");
        check("---\na: 1\n---\n---\nb: 2\n---\n", Some("a: 1\n"), "---\nb: 2\n---\n");
        check("---\na: 1\nbody", None, "---\na: 1\nbody");
        check("\n---\na: 1\n---\n", None, "\n---\na: 1\n---\n");
        check("---- \na: 1\n---\n", None, "---- \na: 1\n---\n");
        check("body", None, "body");
    }

    /// The CLI would end the settings at the first three dashes and read the rest as text.
    #[test]
    fn a_document_that_the_cli_would_split_elsewhere_is_an_error() {
        for text in [
            "---\na: x---y\nhooks: 1\n---\nbody",
            "---\na: 1\n----\nbody",
            "---\na: 1\n--- hooks\n---\nbody",
            "---\na: |\n  ---\n  x\n---\nbody",
            "---\na: 1 --- no end",
        ] {
            assert!(split(text).is_err(), "{text}");
        }
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
    fn a_document_is_rewritten_from_what_was_read() {
        let check = |text: &str, expected: &str| {
            let (entries, body) = read(text).unwrap();
            assert_eq!(written(&entries, body), expected, "{text}");
        };
        check("body", "---\n---\nbody");
        check("---\nname: x\nmodel: y\n---\nbody", "---\nname: \"x\"\nmodel: \"y\"\n---\nbody");
        check(
            "---\ndescription: \"a\\x2d--b\"\nallowed-tools: [A, -1]\n---\n---\nhooks: 1\n---\n",
            "---\ndescription: \"a\\u002d\\u002d-b\"\nallowed-tools: [\"A\",-1]\n---\n---\nhooks: 1\n---\n",
        );
        assert!(read("---\na: [\n---\nbody").is_err());
    }
}
