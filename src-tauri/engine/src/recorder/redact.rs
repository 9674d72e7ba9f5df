//! Redaction of recordings: removes keys, tokens, addresses and the name of the user's home folder.
//!
//! A rule matches whole words: `task-notification` contains no key. Each removed part is replaced by a mark of its
//! kind. Everything else is unchanged, because otherwise a replay would produce a different conversation.

use regex::{Captures, Regex};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::path::Path;
use std::sync::LazyLock;

/// Home folder of the user, wherever it is.
static HOME: LazyLock<Option<String>> = LazyLock::new(|| {
    let home = dirs::home_dir()?;
    (home != Path::new("/")).then(|| home.to_str().map(str::to_owned))?
});

struct Rule {
    pattern: Regex,
    replace: fn(&Captures<'_>) -> String,
}

fn group<'a>(found: &'a Captures<'_>, nr: usize) -> &'a str {
    found.get(nr).map_or("", |text| text.as_str())
}

/// Can the text be a secret? A single word is not one; a text with a digit or of at least 24 bytes may be.
fn is_random(text: &str) -> bool {
    text.len() >= 24 || text.contains(|c: char| c.is_ascii_digit())
}

/// Pattern for the position before a secret: a match never begins inside a word.
macro_rules! before {
    () => {
        "(^|[^A-Za-z0-9_-])"
    };
}

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let rule = |pattern: &str, replace| Rule {
        pattern: Regex::new(pattern).expect("the pattern is a constant"),
        replace,
    };
    vec![
        rule(r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)", |_| {
            "<private key>".to_owned()
        }),
        rule(concat!(before!(), r"(sk-)([A-Za-z0-9_-]{8,})"), |found| {
            if is_random(group(found, 3)) {
                group(found, 1).to_owned() + "<key>"
            } else {
                found[0].to_owned()
            }
        }),
        rule(
            concat!(
                before!(),
                r"(?:[spr]k_(?:live|test)_[A-Za-z0-9]{8,}|A[KS]IA[0-9A-Z]{16}|AIza[A-Za-z0-9_-]{30,})"
            ),
            |found| group(found, 1).to_owned() + "<key>",
        ),
        rule(
            concat!(
                before!(),
                r"(?:(?:gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|hf_|npm_|pypi-)[A-Za-z0-9_-]{8,}",
                r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)"
            ),
            |found| group(found, 1).to_owned() + "<token>",
        ),
        rule(r"(?i)\b(bearer|basic)(\s+)([A-Za-z0-9._~+/=-]{8,})", |found| {
            if is_random(group(found, 3)) {
                format!("{}{}<token>", group(found, 1), group(found, 2))
            } else {
                found[0].to_owned()
            }
        }),
        // A user name and password before the host in a URL.
        rule(r"(://[^/\s:@]+:)[^/\s@]+@", |found| format!("{}<secret>@", group(found, 1))),
        rule(
            concat!(
                r#"(?i)((?:--)?\b[a-z0-9_-]*(?:api[_-]?key|secret|token|password|passwd|credential)[a-z0-9_]*)"#,
                r#"(["']?\s*[=:]\s*["']?|["']?\s+["']?)([^\s,;&"'<>]{6,})"#
            ),
            |found| {
                let (name, between, value) = (group(found, 1), group(found, 2), group(found, 3));
                let is_assigned = between.contains(['=', ':']);
                // `max_tokens: 200000` is a count. After a blank, only an option has a value.
                let is_count = value.chars().all(|c| c.is_ascii_digit() || matches!(c, '_' | '.'));
                let is_value =
                    if is_assigned { !is_count } else { name.starts_with("--") && is_random(value) };
                if is_value { format!("{name}{between}<secret>") } else { found[0].to_owned() }
            },
        ),
        rule(r"([A-Za-z0-9._%+-]+)@([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,})\b", |found| {
            let (name, host) = (group(found, 1), group(found, 2));
            // `git@` is the user of a Git server, not a person, and `icon@2x.png` is a file.
            let is_nobody = name == "git" || host.starts_with(|c: char| c.is_ascii_digit());
            if is_nobody { found[0].to_owned() } else { "<address>".to_owned() }
        }),
        rule(
            r#"(^|[^A-Za-z0-9_.~-]|/mnt/[a-z])(/home/|/Users/|\\{1,2}Users\\{1,2})([^/\\\s"'`<>:;,)\]}]+)"#,
            |found| format!("{}{}user", group(found, 1), group(found, 2)),
        ),
        // The agent's encoding of a project folder.
        rule(r"(^|[/\\\s])(-(?:home|Users)-)([A-Za-z0-9]+)", |found| {
            format!("{}{}user", group(found, 1), group(found, 2))
        }),
    ]
});

/// Keys whose values are secret or useless in a report; compared without case, `-` and `_`.
const SECRET_KEYS: &[&str] = &[
    "signature",
    "apikey",
    "xapikey",
    "authorization",
    "password",
    "secret",
    "clientsecret",
    "accesstoken",
    "refreshtoken",
    "authtoken",
    "email",
    "organization",
    "accountuuid",
];

fn is_secret_key(key: &str) -> bool {
    let plain: String = key.chars().filter(|c| !matches!(c, '-' | '_')).collect();
    SECRET_KEYS.iter().any(|secret| plain.eq_ignore_ascii_case(secret))
}

/// The line with all secrets removed.
pub(super) fn redacted(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(redacted_text(text)),
        Value::Array(values) => Value::Array(values.into_iter().map(redacted).collect()),
        Value::Object(fields) => {
            let mut clean = Map::new();
            for (key, value) in fields {
                let value = if key == "environment" {
                    without_values(value)
                } else if is_secret_key(&key) && value.is_string() {
                    Value::from("<redacted>")
                } else {
                    redacted(value)
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

pub(crate) fn redacted_text(mut text: String) -> String {
    if let Some(home) = HOME.as_deref() {
        text = without_home(text, home);
    }
    for Rule { pattern, replace } in RULES.iter() {
        if let Cow::Owned(clean) = pattern.replace_all(&text, replace) {
            text = clean;
        }
    }
    text
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
