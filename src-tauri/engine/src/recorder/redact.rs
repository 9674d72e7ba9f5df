//! Redaction of recordings: removes keys, tokens, addresses and the name of the user's home folder.
//!
//! A rule matches whole words: `task-notification` contains no key. Each removed part is replaced by a mark of its
//! kind. Everything else is unchanged, because otherwise a replay would produce a different conversation.
//!
//! The rules look at the text as it stands and as it is meant: a colour or a written-out `\n` hides no secret.

mod decoded;
#[cfg(test)]
mod kinds;
mod rules;

use decoded::{Commands, Decoded};
use rules::RULES;
use serde_json::{Map, Value};
use std::ops::Range;
use std::path::Path;
use std::sync::LazyLock;

/// Home folder of the user, wherever it is.
static HOME: LazyLock<Option<String>> = LazyLock::new(|| {
    let home = dirs::home_dir()?;
    (home != Path::new("/")).then(|| home.to_str().map(str::to_owned))?
});

/// Fields whose values are secret or useless in a report; compared without case, `-` and `_`.
const SECRET_FIELDS: &[&str] =
    &["signature", "authorization", "email", "organization", "accountuuid", "auth", "cookie", "setcookie"];

/// The ends of names of fields whose values are secret.
const SECRET_ENDS: &[&str] = &[
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "credential",
    "credentials",
];

fn is_secret_field(name: &str, value: &str) -> bool {
    let plain: String = name.chars().filter(|c| !matches!(c, '-' | '_')).collect();
    let plain = plain.to_ascii_lowercase();
    let is_count = value.chars().all(|c| c.is_ascii_digit());
    SECRET_FIELDS.contains(&plain.as_str()) || !is_count && SECRET_ENDS.iter().any(|end| plain.ends_with(end))
}

/// The longest value that is looked at together with the name of its field, in bytes.
const MOST_NAMED: usize = 4096;

/// The value of a field: what a rule says of the name and the value together holds as well.
fn redacted_value(name: &str, value: String) -> Value {
    if is_secret_field(name, &value) {
        return Value::from("<redacted>");
    }
    if value.len() <= MOST_NAMED && !value.is_empty() && RULES.announce(name) {
        let start = name.len() + 2;
        let named = format!("{name}=\"{value}\"");
        let is_one_word = !value.contains(char::is_whitespace);
        let inside = start..start + value.len();
        if is_one_word && found(&named).iter().any(|found| found.span == inside) {
            return Value::from("<redacted>");
        }
    }
    Value::from(redacted_text(value))
}

/// The line with all secrets removed.
pub(super) fn redacted(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(redacted_text(text)),
        Value::Array(values) => Value::Array(values.into_iter().map(redacted).collect()),
        Value::Object(fields) => {
            let mut clean = Map::new();
            for (key, value) in fields {
                let value = match value {
                    value if key == "environment" => without_values(value),
                    Value::String(text) => redacted_value(&key, text),
                    other => redacted(other),
                };
                let mut key = redacted_text(key);
                // Two keys that became equal by redaction stay separate.
                while clean.contains_key(&key) {
                    key = format!("{key} ({})", clean.len());
                }
                clean.insert(key, value);
            }
            Value::Object(clean)
        }
        other => other,
    }
}

/// Removes the values of environment variables in a session's options.
fn without_values(mut environment: Value) -> Value {
    for variable in environment.as_array_mut().into_iter().flatten() {
        for (name, value) in variable.as_object_mut().into_iter().flatten() {
            if name == "value" {
                *value = Value::from("<redacted>");
            }
        }
    }
    redacted(environment)
}

/// A part of a text that a rule found.
struct Found {
    span: Range<usize>,
    /// The number of the rule: the first one gives the mark.
    rule: usize,
}

/// The parts of the text that are secret, in their order and apart from each other.
fn found(text: &str) -> Vec<Found> {
    let (mut secrets, mut rest) = (private_keys(text), Vec::new());
    let mut add = |rule: usize, span: Range<usize>| {
        let list = if RULES.all[rule].yields { &mut rest } else { &mut secrets };
        list.push(Found { span, rule: rule + 1 });
    };
    RULES.look(text, &mut add);
    let decoded = Decoded::of(text, Commands::Blank);
    let is_twice = decoded.as_ref().is_some_and(|decoded| decoded.has_commands);
    let again = is_twice.then(|| Decoded::of(text, Commands::Nothing)).flatten();
    let decoded: Vec<Decoded> = decoded.into_iter().chain(again).collect();
    for decoded in &decoded {
        RULES.look(&decoded.text, |rule, span| add(rule, decoded.source(&span)));
    }
    for decoded in &decoded {
        let keys = private_keys(&decoded.text).into_iter();
        secrets.extend(keys.map(|found| Found { span: decoded.source(&found.span), ..found }));
    }
    let mut secrets = joined(secrets);
    let others = joined(rest).into_iter().filter(|other| {
        let after = secrets.partition_point(|secret| secret.span.end <= other.span.start);
        secrets.get(after).is_none_or(|secret| secret.span.start >= other.span.end)
    });
    let others: Vec<Found> = others.collect();
    secrets.extend(others);
    secrets.sort_by_key(|found| found.span.start);
    secrets
}

/// Spans that overlap become one.
fn joined(mut all: Vec<Found>) -> Vec<Found> {
    all.sort_by_key(|found| found.span.start);
    let mut joined: Vec<Found> = Vec::new();
    for found in all {
        match joined.last_mut() {
            Some(last) if found.span.start < last.span.end => {
                last.span.end = last.span.end.max(found.span.end);
                last.rule = last.rule.min(found.rule);
            }
            _ => joined.push(found),
        }
    }
    joined
}

const BEGIN: &str = "-----BEGIN";
const PRIVATE_KEY: &str = "<private key>";

/// Private keys, each up to its end. One without an end goes on to the end of the text.
fn private_keys(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(begin) = text[at..].find(BEGIN).map(|begin| at + begin) {
        let name = begin + BEGIN.len();
        let end_of_name = text[name..text.floor_char_boundary(name + 100)].find("-----");
        let Some(end_of_name) = end_of_name.filter(|end| text[name..name + end].contains("PRIVATE KEY"))
        else {
            at = name;
            continue;
        };
        let inside = name + end_of_name + 5;
        at = text[inside..].find("-----END").map_or(text.len(), |end| {
            let name = inside + end + 8;
            text[name..].find("-----").map_or(text.len(), |end| name + end + 5)
        });
        found.push(Found { span: begin..at, rule: 0 });
    }
    found
}

pub(crate) fn redacted_text(mut text: String) -> String {
    if let Some(home) = HOME.as_deref() {
        text = without_home(text, home);
    }
    let found = found(&text);
    if found.is_empty() {
        return text;
    }
    let mut clean = String::with_capacity(text.len());
    let mut from = 0;
    for Found { span, rule } in found {
        clean.push_str(&text[from..span.start]);
        clean.push_str(rule.checked_sub(1).map_or(PRIVATE_KEY, |rule| RULES.all[rule].mark));
        from = span.end;
    }
    clean + &text[from..]
}

/// Whether a rule has to look at what follows the text: a word in it may announce a secret.
pub(super) fn may_announce(text: &str) -> bool {
    text.contains("-----") || RULES.announce(text)
}

/// Replaces the home folder `home`, which may be anywhere, by `/home/user`.
fn without_home(text: String, home: &str) -> String {
    let is_inside =
        |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    let mut clean = String::new();
    let mut from = 0;
    for (at, _) in text.match_indices(home) {
        let is_whole = is_inside(&text[at + home.len()..])
            && !text[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
        if is_whole && at >= from {
            clean.push_str(&text[from..at]);
            clean.push_str("/home/user");
            from = at + home.len();
        }
    }
    if from == 0 { text } else { clean + &text[from..] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn clean(text: &str) -> String {
        redacted_text(text.to_owned())
    }

    #[test]
    fn keys_tokens_and_homes_go() {
        for (text, expected) in [
            ("sk-ant-api03-xyzxyzxyz", "<key>"),
            ("key=sk-proj-0123456789abcdef.", "key=<key>."),
            ("\"sk-abcdefghijklmnopqrstuvwx\"", "\"<key>\""),
            ("sk_live_0123456789 AKIAABCDEFGHIJKLMNOP", "<key> <key>"),
            ("ghp_0123456789abcdef,xoxb-12345678-abc", "<token>,<token>"),
            ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc", "<token>"),
            ("Authorization: Bearer abc.def-123456", "Authorization: Bearer <token>"),
            ("API_KEY=abcdef123456", "API_KEY=<secret>"),
            ("{\"client_secret\": \"hunter2hunter2\"}", "{\"client_secret\": \"<secret>\"}"),
            ("deploy --token abc123def --force", "deploy --token <secret> --force"),
            ("postgres://joe:hunter2@db.example/x", "postgres://joe:<secret>@db.example/x"),
            (
                "a\n-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nb",
                "a\n<private key>\nb",
            ),
            ("-----BEGIN PRIVATE KEY-----\nMIIcut", "<private key>"),
            ("write to a.b+c@d.example now", "write to <address> now"),
            ("/home/someone/project:/Users/some.one", "/home/user/project:/Users/user"),
            ("file:///home/someone", "file:///home/user"),
            ("C:\\Users\\someone\\x C:\\\\Users\\\\someone", "C:\\Users\\user\\x C:\\\\Users\\\\user"),
            ("/mnt/c/Users/someone/x", "/mnt/c/Users/user/x"),
            ("projects/-home-someone-project/a.jsonl", "projects/-home-user-project/a.jsonl"),
        ] {
            assert_eq!(clean(text), expected);
            assert_eq!(clean(expected), expected, "once is enough");
        }
    }

    #[test]
    fn words_stay() {
        for text in [
            "task-notification",
            "task-notification-0123456789abcdef0123456789",
            "risk-assessment-2024 disk-usage-report desk-lamp-12345678",
            "sk-learn-tutorial",
            "a bearer authentication scheme",
            "max_tokens: 200000, input_tokens=12345678",
            "the token is stored, a secret is kept, password reset",
            "git@github.com:org/repo icon@2x.png @scope/package@1.2.3",
            "https://example.com/home/page ./home/x my/Users/x",
            "0c0f2a5e-5d2b-4e8e-9a6b-0123456789ab toolu_01ABCDEFGHIJKLMNOP msg_0123456789abcdef",
            "at-home-someone",
        ] {
            assert_eq!(clean(text), text);
        }
    }

    #[test]
    fn a_home_that_is_elsewhere_goes_and_what_is_only_named_like_it_stays() {
        let text = "/root/x /root \"/root\" /rootless x/root /root-2";
        let expected = "/home/user/x /home/user \"/home/user\" /rootless x/root /root-2";
        assert_eq!(without_home(text.to_owned(), "/root"), expected);
    }

    #[test]
    fn a_secret_is_found_wherever_it_stands() {
        let secret = "sk-ant-api03-0123456789";
        let line = json!({
            secret: 1,
            "text": [{"deep": format!("x {secret} y")}],
            "nested": format!("{{\"json\": \"{secret}\"}}"),
            "x-api-key": "anything", "Authorization": "anything", "refreshToken": "anything",
        });
        let clean = redacted(line).to_string();
        assert!(!clean.contains("0123456789") && !clean.contains("anything"), "{clean}");
    }

    #[test]
    fn keys_that_become_equal_stay_two() {
        let clean = redacted(json!({"/home/a/x": 1, "/home/b/x": 2}));
        assert_eq!(clean, json!({"/home/user/x": 1, "/home/user/x (1)": 2}));
    }
}
