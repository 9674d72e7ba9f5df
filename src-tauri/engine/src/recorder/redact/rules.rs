//! What is a secret: Deskbell's own rules, and the rules of gitleaks, which are data.
//!
//! `gitleaks.json` has the rules of `config/gitleaks.toml` of <https://github.com/gitleaks/gitleaks> v8.30.1, unchanged:
//! each with its id, pattern and keywords. Its licence is beside it. Its minimum
//! entropies and its allow lists are left out: redacting too much is better than keeping a secret.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex::bytes::{Captures, Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use serde::Deserialize;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

const GITLEAKS: &str = include_str!("gitleaks.json");

/// Rules of gitleaks that are not used, with the reason.
const LEFT_OUT: &[(&str, &str)] = &[
    (
        "curl-auth-header",
        "it reads on over six lines; `authorization` and `assigned` are the same for any program",
    ),
    ("curl-auth-user", "it reads on over six lines; `user of curl` is the same within one"),
    ("generic-api-key", "too wide: ids of messages and calls, which a replay needs; `assigned` is narrower"),
    ("hashicorp-tf-password", "`assigned` has it"),
    ("jwt", "`ey` is in many words; `JWT` has it"),
    ("jwt-base64", "its groups are no secrets; `JWT in base64` has it"),
    ("pkcs12-file", "it has no pattern, only a file's name"),
    ("private-key", "a key that was cut off has no end; `private key` has it"),
    ("sourcegraph-access-token", "too wide: each commit's name; `token` has those that say what they are"),
    ("vault-service-token", "`s.` is in many words; `token` has those of today"),
];

/// The farthest before and after its keyword that a match of unbounded length is looked for, in bytes. It goes on to the
/// end of a word.
const BEFORE: usize = 512;
const AFTER: usize = 1024;

/// Limit for a compiled pattern and for what it remembers while it runs, in bytes.
const MOST_MEMORY: usize = 1 << 20;

/// A rule, which is compiled when one of its keywords is seen for the first time.
pub(super) struct Rule {
    name: String,
    pattern: String,
    /// What stands in the secret's place.
    pub mark: &'static str,
    /// Whether what it finds is no secret in itself and stays where another rule finds one.
    pub yields: bool,
    is_meant: fn(&Captures<'_>) -> bool,
    compiled: OnceLock<Compiled>,
}

struct Compiled {
    regex: Regex,
    /// The farthest that a match can reach from its keyword. `None`: as far as it likes.
    reach: Option<usize>,
}

/// A rule of Deskbell's own. The group `s` of the pattern is the secret.
struct Own {
    name: &'static str,
    keywords: &'static [&'static str],
    pattern: &'static str,
    mark: &'static str,
    yields: bool,
    is_meant: fn(&Captures<'_>) -> bool,
}

#[derive(Deserialize)]
struct Gitleaks {
    id: String,
    regex: Option<String>,
    #[serde(default)]
    keywords: Vec<String>,
}

fn group<'a>(found: &'a Captures<'_>, name: &str) -> &'a [u8] {
    found.name(name).map_or(b"", |text| text.as_bytes())
}

/// Can the text be a secret? A single word is not one; a text with a digit or of at least 24 bytes may be.
fn is_random(text: &[u8]) -> bool {
    text.len() >= 24 || text.iter().any(u8::is_ascii_digit)
}

fn is_always(_: &Captures<'_>) -> bool {
    true
}

fn is_secret_random(found: &Captures<'_>) -> bool {
    is_random(group(found, "s"))
}

/// `max_tokens: 200000` is a count, and `PWD=/a` a folder. After a blank, only an option has a value.
fn is_assigned(found: &Captures<'_>) -> bool {
    let (name, between) = (group(found, "name"), group(found, "between"));
    let value = ["s", "s2", "s3"].iter().map(|name| group(found, name)).find(|value| !value.is_empty());
    let value = value.unwrap_or_default();
    let is_count = value.iter().all(|c| c.is_ascii_digit() || matches!(c, b'_' | b'.'));
    let is_folder = name.to_ascii_lowercase().ends_with(b"pwd") && matches!(value.first(), Some(b'/' | b'~'));
    if between.iter().any(|c| matches!(c, b'=' | b':')) {
        !is_count && !is_folder
    } else {
        name.starts_with(b"--") && is_random(value)
    }
}

/// `git@` is the user of a Git server, not a person, and `icon@2x.png` is a file.
fn is_person(found: &Captures<'_>) -> bool {
    let (name, host) = (group(found, "name"), group(found, "host"));
    name != b"git" && !host.first().is_some_and(u8::is_ascii_digit)
}

/// The position before a secret: a match never begins inside a word.
macro_rules! before {
    () => {
        r"(?:^|[^A-Za-z0-9_-])"
    };
}

const OWN: &[Own] = &[
    Own {
        name: "key",
        keywords: &["sk-"],
        pattern: concat!(before!(), r"(?P<s>sk-(?P<rest>[A-Za-z0-9_-]{8,}))"),
        mark: "<key>",
        yields: false,
        is_meant: |found| is_random(group(found, "rest")),
    },
    Own {
        name: "key of a service",
        keywords: &["k_live_", "k_test_", "akia", "asia", "aiza", "rzp_live_", "rzp_test_", "apa91b"],
        pattern: concat!(
            before!(),
            r"(?P<s>[spr]k_(?:live|test)_[A-Za-z0-9]{8,}|A[KS]IA[0-9A-Z]{16}|AIza[A-Za-z0-9_-]{30,}",
            r"|rzp_(?:live|test)_[A-Za-z0-9]{10,}|[A-Za-z0-9_-]{8,14}:APA91b[A-Za-z0-9_-]{20,})"
        ),
        mark: "<key>",
        yields: false,
        is_meant: is_always,
    },
    Own {
        name: "token",
        keywords: &[
            "ghp_",
            "gho_",
            "ghu_",
            "ghs_",
            "ghr_",
            "github_pat_",
            "glpat-",
            "glrt-",
            "gldt-",
            "glptt-",
            "xoxa-",
            "xoxb-",
            "xoxc-",
            "xoxd-",
            "xoxe-",
            "xoxo-",
            "xoxp-",
            "xoxr-",
            "xoxs-",
            "xapp-",
            "hf_",
            "npm_",
            "pypi-",
            "gsk_",
            "xai-",
            "pplx-",
            "tvly-",
            "r8_",
            "lsv2_",
            "nvapi-",
            "pcsk_",
            "tgp_v1_",
            "csk-",
            "sbp_",
            "sb_secret_",
            "ntn_",
            "whsec_",
            "figd_",
            "tskey-",
            "ya29.",
            "1//0",
            "gocspx-",
            "ccipat_",
            "bkua_",
            "squ_",
            "sqp_",
            "sgp_",
            "hvs.",
            "hvb.",
            "dckr_pat_",
            "dckr_oat_",
            "nfp_",
            "vcp_",
            "atatt3",
            "atctt3",
            "atbb",
            "phx_",
            "phc_",
            "cfpat-",
            "dp.st.",
            "dp.ct.",
            "dp.sa.",
            "sntryu_",
            "nrak-",
            "fm2_",
            "ops_ey",
            "cio",
            "oy2",
            "rk_prod_",
            "sk_prod_",
            "ctx7sk-",
            "fc-",
            "jina_",
            "apify_api_",
            "dapi",
            "lin_oauth_",
            "secret_",
            "nbp_",
            "ghcr_",
            "glsa_",
            "xkeysib-",
            "shpat_",
            "eyjrijoi",
        ],
        pattern: concat!(
            before!(),
            r"(?P<s>(?:gh[pousr]_|github_pat_|gl(?:pat|rt|dt|ptt)-|xox[a-e]-|xox[opsr]-|xapp-|hf_|npm_|pypi-)[A-Za-z0-9_.-]{8,}",
            r"|(?:gsk_|xai-|pplx-|tvly-|r8_|lsv2_[ps][kt]_|nvapi-|pcsk_|tgp_v1_|csk-|sbp_|sb_secret_|ntn_|whsec_|figd_",
            r"|tskey-|ya29\.|1//0|GOCSPX-|CCIPAT_|bkua_|sq[up]_|sgp_|hv[sb]\.|dckr_[po]at_|nfp_|vcp_|AT[AC]TT3|ATBB|ph[xc]_",
            r"|CFPAT-|dp\.(?:st|ct|sa)\.|sntryu_|NRAK-|fm2_|ops_ey|[sr]k_prod_|ctx7sk-|fc-|jina_|apify_api_|lin_oauth_",
            r"|nbp_|glsa_|xkeysib-|shpat_)[A-Za-z0-9_./+=~-]{16,}",
            r"|cio[A-Za-z0-9]{32}|oy2[a-z0-9]{43}|dapi[a-f0-9]{32}(?:-\d)?|secret_[A-Za-z0-9]{43}",
            r"|eyJrIjoi[A-Za-z0-9+/=]{30,})"
        ),
        mark: "<token>",
        yields: false,
        is_meant: is_secret_random,
    },
    Own {
        name: "JWT",
        keywords: &["eyj"],
        pattern: concat!(
            before!(),
            r"(?P<s>eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+){0,2})"
        ),
        mark: "<token>",
        yields: false,
        is_meant: is_always,
    },
    Own {
        name: "JWT in base64",
        keywords: &["zxlk"],
        pattern: concat!(before!(), r"(?P<s>ZXlK[A-Za-z0-9+/_-]{40,}={0,2})"),
        mark: "<token>",
        yields: false,
        is_meant: is_always,
    },
    Own {
        name: "key of a service that names itself",
        keywords: &[".atlasv1.", "-us", "amzn.mws.", "pat", ":aa", "pk.eyj", "sk.eyj"],
        pattern: concat!(
            before!(),
            r"(?P<s>[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}|[0-9a-f]{32}-us\d{1,2}|amzn\.mws\.[0-9a-f-]{36}",
            r"|pat[A-Za-z0-9]{14}\.[a-f0-9]{64}|\d{8,10}:AA[A-Za-z0-9_-]{32,35}|[ps]k\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,})"
        ),
        mark: "<token>",
        yields: false,
        is_meant: is_always,
    },
    Own {
        name: "authorization",
        keywords: &["bearer", "basic", "authorization"],
        pattern: concat!(
            r"(?i)(?:\b(?:bearer|basic)\s+(?P<s>[A-Za-z0-9._~+/=-]{8,})",
            r#"|\bauthorization["'`]?\s*[=:]\s*["'`]?(?:[a-z][a-z0-9-]{2,20}\s+)?(?P<s2>[A-Za-z0-9._~+/=-]{16,}))"#
        ),
        mark: "<token>",
        yields: false,
        is_meant: |found| is_random(group(found, "s")) || is_random(group(found, "s2")),
    },
    Own {
        name: "password in a URL",
        keywords: &["://"],
        pattern: r"://(?:[^/\s:@]*:(?P<s>[^/\s@]+)|(?P<s2>[A-Za-z0-9_.~-]{20,}))@",
        mark: "<secret>",
        yields: false,
        is_meant: is_always,
    },
    Own {
        name: "assigned",
        keywords: &[
            "api_key",
            "api-key",
            "apikey",
            "secret",
            "token",
            "password",
            "passwd",
            "credential",
            "passphrase",
            "_pass",
            "-pass",
            "pwd",
            "access_key",
            "access-key",
            "accesskey",
            "account_key",
            "account-key",
            "accountkey",
            "private_key",
            "private-key",
            "privatekey",
            "shared_key",
            "sharedkey",
            "presharedkey",
            "preshared_key",
            "signing_key",
            "signing-key",
            "signingkey",
            "encryption_key",
            "encryption-key",
            "encryptionkey",
            "master_key",
            "master-key",
            "masterkey",
            "license_key",
            "license-key",
            "licensekey",
            "auth_key",
            "auth-key",
            "authkey",
            "app_key",
            "app-key",
            "appkey",
            "write_key",
            "write-key",
            "writekey",
            "_auth",
        ],
        pattern: concat!(
            r"(?i)(?P<name>(?:--)?\b[a-z0-9_-]{0,64}(?:(?:api|access|account|private|shared|preshared|signing|encryption",
            r"|master|licen[cs]e|auth|app|write)[_-]?key|secret|token|password|passwd|credential|passphrase|[_-]pass\b",
            r"|pwd\b|\b_auth\b)[a-z0-9_]{0,64})",
            r#"(?P<between>["'`]?\s*(?:=|:)=?>?\s*|["']?\s+)(?:"(?P<s>[^"\n<>]{6,})"|'(?P<s2>[^'\n<>]{6,})'|["'`]?(?P<s3>[^\s,;&"'<>]{6,}))"#
        ),
        mark: "<secret>",
        yields: false,
        is_meant: is_assigned,
    },
    Own {
        name: "parameter of an address",
        keywords: &[
            "sig=",
            "signature=",
            "credential=",
            "?key=",
            "&key=",
            "?code=",
            "&code=",
            "?auth=",
            "&auth=",
        ],
        pattern: r#"(?i)(?:[?&]|\b)(?:sig|(?:x-[a-z]+-)?signature|x-[a-z]+-credential|key|code|auth)=(?P<s>[^&\s"'<>]{12,})"#,
        mark: "<secret>",
        yields: false,
        is_meant: is_secret_random,
    },
    Own {
        name: "cookie",
        keywords: &["cookie:", "cookie\":"],
        pattern: r#"(?i)\bcookie["']?:\s*["']?(?P<s>[^\r\n"'<>]{8,})"#,
        mark: "<secret>",
        yields: false,
        is_meant: |found| group(found, "s").contains(&b'='),
    },
    Own {
        name: "user of curl",
        keywords: &["curl", "wget"],
        pattern: r#"\b(?:curl|wget)\b[^\n]{0,400}?\s(?:-u|--user|--proxy-user)(?:=|\s{0,5})["']?[^\s:"']{1,64}:(?P<s>[^\s"'<>]{3,})"#,
        mark: "<secret>",
        yields: false,
        is_meant: is_always,
    },
    Own {
        name: "password of a command",
        keywords: &[
            "mysql",
            "mariadb",
            "sshpass",
            "docker",
            "podman",
            "redis-cli",
            "auth plain",
            "auth login",
        ],
        pattern: concat!(
            r#"(?i)(?:\b(?:mysql|mariadb)[a-z]{0,8}\b[^\n|;&]{0,200}?\s-p["']?(?P<s>[^\s"'<>-][^\s"'<>]{3,})"#,
            r#"|\bsshpass\s+-p\s*["']?(?P<s2>[^\s"'<>]{3,})"#,
            r#"|\b(?:docker|podman)\s+login\b[^\n|;&]{0,200}?\s-p\s*["']?(?P<s3>[^\s"'<>]{3,})"#,
            r#"|\bredis-cli\b[^\n|;&]{0,200}?\s-a\s*["']?(?P<s4>[^\s"'<>]{3,})"#,
            r"|\bauth (?:plain|login)\s+(?P<s5>[A-Za-z0-9+/=]{8,}))"
        ),
        mark: "<secret>",
        yields: false,
        is_meant: is_always,
    },
    Own {
        name: "netrc",
        keywords: &["machine"],
        pattern: r"\bmachine\s+\S{1,255}\s+login\s+\S{1,255}\s+password\s+(?P<s>[^\s<>]+)",
        mark: "<secret>",
        yields: false,
        is_meant: is_always,
    },
    Own {
        name: "pgpass",
        keywords: &[":5432:"],
        pattern: r#"[^\s:"']{1,255}:5432:[^\s:"']{1,64}:[^\s:"']{1,64}:(?P<s>[^\s"'<>]{3,})"#,
        mark: "<secret>",
        yields: false,
        is_meant: is_always,
    },
    Own {
        name: "auth of a registry",
        keywords: &["auth\":", "identitytoken"],
        pattern: r#""(?:auth|identitytoken)"\s*:\s*"(?P<s>[A-Za-z0-9+/=._-]{8,})""#,
        mark: "<secret>",
        yields: false,
        is_meant: is_always,
    },
    Own {
        name: "hash of a password",
        keywords: &["$1$", "$5$", "$6$", "$y$", "$2a$", "$2b$", "$2y$", "$apr1$", "$argon2"],
        pattern: r"(?P<s>\$(?:[156y]|2[aby]|apr1|argon2(?:id|i|d))\$[./A-Za-z0-9$=,+]{20,})",
        mark: "<secret>",
        yields: false,
        is_meant: is_always,
    },
    Own {
        name: "webhook",
        keywords: &["/api/webhooks/", "hooks.zapier.com", "hooks.slack.com", ".webhook.office.com"],
        pattern: concat!(
            r"(?:/api/webhooks/\d+/|hooks\.zapier\.com/hooks/catch/\d+/|hooks\.slack\.com/[a-z]+/)",
            r"(?P<s>[A-Za-z0-9_/-]{6,})|\.webhook\.office\.com/[a-z0-9]+/(?P<s2>[A-Za-z0-9_/@-]{20,})"
        ),
        mark: "<secret>",
        yields: false,
        is_meant: is_always,
    },
    Own {
        name: "PuTTY",
        keywords: &["private-lines:"],
        pattern: r"Private-Lines: \d+\s+(?P<s>(?:[A-Za-z0-9+/=]+\s+){1,80})",
        mark: "<private key>",
        yields: false,
        is_meant: is_always,
    },
    Own {
        name: "address",
        keywords: &["@"],
        pattern: r"(?P<s>(?P<name>[A-Za-z0-9._%+-]+)@(?P<host>[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}))\b",
        mark: "<address>",
        yields: true,
        is_meant: is_person,
    },
    Own {
        name: "home",
        keywords: &["/home/", "/users/", "\\users\\"],
        pattern: r#"(?:^|[^A-Za-z0-9_.~-]|/mnt/[a-z])(?:/home/|/Users/|\\{1,2}Users\\{1,2})(?P<s>[^/\\\s"'`<>:;,)\]}]+)"#,
        mark: "user",
        yields: true,
        is_meant: is_always,
    },
    Own {
        // The agent's encoding of a project folder.
        name: "home in a name",
        keywords: &["-home-", "-users-"],
        pattern: r"(?:^|[/\\\s])-(?:home|Users)-(?P<s>[A-Za-z0-9]+)",
        mark: "user",
        yields: true,
        is_meant: is_always,
    },
];

/// All rules, and a search for all their keywords at once.
pub(super) struct Rules {
    pub all: Vec<Rule>,
    keywords: AhoCorasick,
    /// By keyword.
    of_keyword: Vec<Vec<usize>>,
    /// Those keywords that stand apart from their secret.
    announcing: AhoCorasick,
}

/// The end of a match in gitleaks, which is a blank, a quote or the end of the text. Here it is any end of a word: a
/// secret may be in brackets, or before a comma.
const END: (&str, &str) = (r#"(?:[\x60'"\s;]|\\[nr]|$)"#, "(?:[^0-9A-Za-z_]|$)");

/// What may precede the name of a service. It says nothing of the secret and costs time.
const START: &str = r"[\w.-]{0,50}?";

impl Rule {
    fn of_gitleaks(name: String, pattern: &str) -> Self {
        Self {
            name,
            pattern: pattern.replace(END.0, END.1).replace(START, ""),
            mark: "<secret>",
            yields: false,
            is_meant: is_always,
            compiled: OnceLock::new(),
        }
    }

    fn compiled(&self) -> &Compiled {
        self.compiled.get_or_init(|| {
            let hir = ParserBuilder::new().unicode(false).utf8(false).build().parse(&self.pattern);
            let reach =
                hir.unwrap_or_else(|error| panic!("{}: {error}", self.name)).properties().maximum_len();
            let mut builder = RegexBuilder::new(&self.pattern);
            builder.unicode(false).size_limit(MOST_MEMORY).dfa_size_limit(MOST_MEMORY);
            Compiled {
                regex: builder.build().unwrap_or_else(|error| panic!("{}: {error}", self.name)),
                reach: reach.filter(|reach| *reach <= AFTER),
            }
        })
    }

    /// Whether a match can have a blank in it.
    fn spans_words(&self) -> bool {
        !self.yields && (self.pattern.contains(r"\s") || self.pattern.contains(' '))
    }

    /// The part of the text in which a match with this keyword is.
    fn window(&self, text: &[u8], keyword: &Range<usize>) -> Range<usize> {
        let reach = self.compiled().reach;
        let start = keyword.start.saturating_sub(reach.unwrap_or(BEFORE));
        start..(keyword.end + reach.unwrap_or(AFTER)).min(text.len())
    }

    /// Calls for each secret in this part of the text.
    fn look(&self, text: &[u8], part: Range<usize>, found: &mut impl FnMut(Range<usize>)) {
        let Compiled { regex, reach } = self.compiled();
        let mut end = part.end;
        if reach.is_none() {
            let is_inside =
                |byte: &&u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'<' | b'>');
            end += text[end..].iter().take_while(is_inside).count();
        }
        let (text, mut at) = (&text[..end], part.start);
        while let Some(captures) = (at <= end).then(|| regex.captures_at(text, at)).flatten() {
            let Some(whole) = captures.get(0) else { return };
            at = whole.end().max(at + 1);
            if (self.is_meant)(&captures) {
                let groups = captures.iter().skip(1).flatten();
                let secret = ["s", "s2", "s3", "s4", "s5"].iter().find_map(|name| captures.name(name));
                let secret =
                    secret.or_else(|| groups.clone().find(|group| !group.is_empty())).unwrap_or(whole);
                // What ended this one may begin the next.
                at = secret.end().max(whole.start() + 1);
                found(secret.range());
            }
        }
    }
}

impl Rules {
    fn new() -> Self {
        let mut all = Vec::new();
        let mut keywords: HashMap<String, Vec<usize>> = HashMap::new();
        let mut add = |rule: Rule, of_rule: Vec<String>| {
            for keyword in of_rule {
                keywords.entry(keyword).or_default().push(all.len());
            }
            all.push(rule);
        };
        for Own { name, keywords, pattern, mark, yields, is_meant } in OWN {
            let rule = Rule {
                name: (*name).to_owned(),
                pattern: (*pattern).to_owned(),
                mark,
                yields: *yields,
                is_meant: *is_meant,
                compiled: OnceLock::new(),
            };
            add(rule, keywords.iter().map(|keyword| (*keyword).to_owned()).collect());
        }
        let gitleaks: Vec<Gitleaks> = serde_json::from_str(GITLEAKS).expect("a test reads it");
        for Gitleaks { id, regex, keywords } in gitleaks {
            if let Some(regex) = regex
                && !LEFT_OUT.iter().any(|(left_out, _)| *left_out == id)
            {
                add(Rule::of_gitleaks(id, &regex), keywords);
            }
        }
        let (words, of_keyword): (Vec<_>, Vec<Vec<usize>>) = keywords.into_iter().unzip();
        let with_keyword = words.iter().zip(&of_keyword);
        let announcing = with_keyword.filter(|(_, rules)| rules.iter().any(|nr| all[*nr].spans_words()));
        let announcing = search_for(announcing.map(|(word, _)| word.clone()).collect());
        Self { all, keywords: search_for(words), of_keyword, announcing }
    }

    /// Whether a word in the text announces a secret: it can be after a blank.
    pub fn announce(&self, text: &str) -> bool {
        self.announcing.is_match(text)
    }

    /// Calls for each secret in the text, with the number of its rule. Each rule looks only around its keywords, and at
    /// no place twice.
    pub fn look(&self, text: &str, mut found: impl FnMut(usize, Range<usize>)) {
        let bytes = text.as_bytes();
        let mut open: HashMap<usize, Range<usize>> = HashMap::new();
        let mut look = |nr: usize, part: Range<usize>| {
            self.all[nr].look(bytes, part, &mut |span| found(nr, whole_characters(text, span)));
        };
        for hit in self.keywords.find_overlapping_iter(text) {
            for nr in &self.of_keyword[hit.pattern().as_usize()] {
                let window = self.all[*nr].window(bytes, &hit.range());
                match open.get_mut(nr) {
                    Some(open) if window.start <= open.end => open.end = open.end.max(window.end),
                    Some(open) => look(*nr, std::mem::replace(open, window)),
                    None => drop(open.insert(*nr, window)),
                }
            }
        }
        open.into_iter().for_each(|(nr, part)| look(nr, part));
    }
}

/// A search for all these words at once, whatever their case.
fn search_for(words: Vec<String>) -> AhoCorasick {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::Standard)
        .kind(Some(AhoCorasickKind::DFA))
        .build(words)
        .expect("the words are few")
}

/// The span with the characters that it cuts: patterns match bytes.
fn whole_characters(text: &str, span: Range<usize>) -> Range<usize> {
    text.floor_char_boundary(span.start)..text.ceil_char_boundary(span.end)
}

pub(super) static RULES: LazyLock<Rules> = LazyLock::new(Rules::new);

/// All keywords, once each.
#[cfg(test)]
pub(super) fn keywords() -> impl Iterator<Item = String> {
    let gitleaks: Vec<Gitleaks> = serde_json::from_str(GITLEAKS).expect("a test reads it");
    let own = OWN.iter().flat_map(|rule| rule.keywords).map(|keyword| (*keyword).to_owned());
    let all: std::collections::BTreeSet<String> =
        own.chain(gitleaks.into_iter().flat_map(|rule| rule.keywords)).collect();
    all.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_are_read_quickly_and_are_small() {
        let begun = cpu_time::ThreadTime::now();
        let rules = Rules::new();
        let n_bytes = rules.keywords.memory_usage() + rules.announcing.memory_usage();
        println!("read in {:?}, the searches take {n_bytes} bytes", begun.elapsed());
        assert!(n_bytes < 4 << 20);
    }

    #[test]
    fn each_rule_compiles_and_has_keywords() {
        for rule in &RULES.all {
            assert!(rule.compiled().regex.captures_len() > 0, "{}", rule.name);
        }
        let gitleaks: Vec<Gitleaks> = serde_json::from_str(GITLEAKS).unwrap();
        let ids: Vec<&str> = gitleaks.iter().map(|rule| rule.id.as_str()).collect();
        for (id, reason) in LEFT_OUT {
            assert!(ids.contains(id), "{id} is no rule; it was left out because: {reason}");
        }
        assert_eq!(RULES.all.len(), OWN.len() + gitleaks.len() - LEFT_OUT.len());
        let n_with_keywords: std::collections::BTreeSet<usize> =
            RULES.of_keyword.iter().flatten().copied().collect();
        assert_eq!(n_with_keywords.len(), RULES.all.len(), "a rule without keywords never looks");
        println!("{} rules of gitleaks, {} left out, {} own", gitleaks.len(), LEFT_OUT.len(), OWN.len());
    }
}
