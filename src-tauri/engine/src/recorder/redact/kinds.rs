//! The kinds of secrets that go, each with an example that is made here: no key stands in the source in one piece.
//!
//! In a form, `{h32}` is 32 random characters of an alphabet, and `|` is nothing: it parts what would look like a key.

use super::{redacted, redacted_text};
use serde_json::json;

/// The alphabets by their letter.
const ALPHABETS: &[(char, &str)] = &[
    ('h', "0123456789abcdef"),
    ('H', "0123456789ABCDEF"),
    ('d', "0123456789"),
    ('l', "0123456789abcdefghijklmnopqrstuvwxyz"),
    ('U', "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    ('2', "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    ('m', "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"),
    ('z', "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"),
    ('w', "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-"),
    ('b', "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/"),
    ('q', "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
];

/// Kinds, and the form of each. A form is what a file, a command or a program's output has.
const KINDS: &[(&str, &str)] = &[
    ("1Password secret key", "A3|-{U6}-{U11}-{U5}-{U5}-{U5}"),
    ("1Password service account", "ops|_eyJ{b260}"),
    ("Adafruit", "ADAFRUIT_KEY={l32}"),
    ("Adobe client secret", "p8e|-{l32}"),
    ("Adyen", "ADYEN_API_KEY=AQE|{b60}"),
    ("age", "AGE-SECRET|-KEY-1{q58}"),
    ("Airtable personal", "pat|{m14}.{h64}"),
    ("Airtable", "airtable_key = '{l17}'"),
    ("Algolia", "ALGOLIA_ADMIN: {l32}"),
    ("Alibaba id", "LT|AI{l20}"),
    ("Anthropic", "sk-ant|-api03-{w93}AA"),
    ("Anthropic admin", "sk-ant|-admin01-{w93}AA"),
    ("Anthropic OAuth", "sk-ant|-oat01-{w95}"),
    ("Apify", "apify|_api_{m36}"),
    ("Artifactory", "AK|Cp{m69}"),
    ("Artifactory reference", "cmV|md{m59}"),
    ("Asana", "ASANA_SECRET={l32}"),
    ("Atlassian", "ATA|TT3xFfGF0{w180}={H8}"),
    ("Auth0 client secret", "AUTH0_CLIENT_SECRET={w64}"),
    ("authorization, basic", "Authorization: Basic {b32}=="),
    ("authorization, bearer", "authorization: bearer {w40}"),
    (
        "authorization, digest of AWS",
        "Authorization: AWS4-HMAC-SHA256 Credential|=AK|IA{212}1234/20260101/x, Signature={h64}",
    ),
    ("authorization, token", "Authorization: token {h40}"),
    ("AWS access key", "AK|IA{216}"),
    ("AWS Bedrock", "AB|SK{b120}"),
    ("AWS MWS", "amzn|.mws.{h8}-{h4}-{h4}-{h4}-{h12}"),
    ("AWS presigned URL", "https://b.s3.amazonaws.com/k?X-Amz-Signature={h64}"),
    ("AWS secret key", "aws_secret_access_key = {b40}"),
    ("AWS session key", "AS|IA{216}"),
    ("AWS session token", "AWS_SESSION_TOKEN={b200}"),
    ("Azure AD client secret", "'{m3}8Q~|{m34}'"),
    ("Azure SAS", "https://a.blob.core.windows.net/c?sv=2024-01-01&sig={b40}%3D"),
    ("Azure storage", "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={b86}=="),
    ("Bitbucket app password", "AT|BB{m32}"),
    ("Buildkite", "bk|ua_{h40}"),
    ("Cerebras", "csk|-{l48}"),
    ("CircleCI", "CCI|PAT_{m22}_{h40}"),
    ("Clojars", "CLO|JARS_{l60}"),
    ("Cloudflare", "CLOUDFLARE_API_KEY={h37}"),
    ("Cloudflare origin", "v1.0|-{h24}-{h146}"),
    ("Codecov", "codecov: {l32}"),
    ("Cohere", "CO_API_KEY={m40}"),
    ("Confluent", "confluent_secret={l64}"),
    ("Contentful", "CF|PAT-{w43}"),
    ("cookie", "Cookie: theme=dark; session={m40}"),
    ("crates.io", "ci|o{m32}"),
    ("curl's user", "curl -sS -u joe:{m20} https://a.example/"),
    ("database, MongoDB", "mongodb+srv://joe:{m16}@cluster0.mongodb.net/db"),
    ("database, MySQL", "mysql -h db -ujoe -p{m16} shop"),
    ("database, ODBC", "Driver={ODBC};Server=db;Uid=joe;Pwd={m16};"),
    ("database, PostgreSQL", "postgresql://joe:{m16}@db.example:5432/x"),
    ("database, Redis", "redis://:{m24}@cache.example:6379/0"),
    ("Databricks", "da|pi{h32}"),
    ("Datadog", "DD_API_KEY={h32}"),
    ("DeepSeek", "sk|-{h32}"),
    ("DigitalOcean", "dop|_v1_{h64}"),
    ("Discord bot", "DISCORD_TOKEN={m24}.{m6}.{w38}"),
    ("Discord webhook", "https://discord.com/api|/webhooks/123456789012345678/{w68}"),
    ("Django", "SECRET_KEY = 'django-insecure-{l50}'"),
    ("Docker access token", "dckr|_pat_{w27}"),
    ("Docker login", "docker login -u joe -p {m20} registry.example"),
    ("Docker registry file", "\"auths\": {\"r.example\": {\"auth\": \"{b40}\"}}"),
    ("Doppler", "dp|.pt.{m43}"),
    ("Dropbox", "dropbox_token = sl|.{w135}"),
    ("Duffel", "duf|fel_live_{w43}"),
    ("Dynatrace", "dt0|c01.{U24}.{U64}"),
    ("EasyPost", "EZ|AK{m54}"),
    ("Facebook page", "EA|AC{m120}"),
    ("Figma", "fig|d_{w40}"),
    ("Finnhub", "finnhub_token={l20}"),
    ("Firebase messaging", "AAA|A{w7}:APA91b{w134}"),
    ("Firecrawl", "fc|-{h32}"),
    ("Flutterwave", "FLW|SECK_TEST-{h12}"),
    ("Fly.io", "fm2|_{b120}"),
    ("Frame.io", "fio|-u-{w64}"),
    ("GitHub app", "gh|s_{m36}"),
    ("GitHub fine-grained", "github|_pat_{m22}_{m59}"),
    ("GitHub OAuth", "gh|o_{m36}"),
    ("GitHub personal", "gh|p_{m36}"),
    ("GitLab deploy", "gl|dt-{w20}"),
    ("GitLab personal", "gl|pat-{w20}"),
    ("GitLab runner", "gl|rt-{w20}"),
    ("GitLab session", "_gitlab|_session={l32}"),
    ("GitLab trigger", "gl|ptt-{h40}"),
    ("Google access token", "ya|29.{w120}"),
    ("Google API key", "AI|za{w35}"),
    ("Google client secret", "GOC|SPX-{w28}"),
    ("Google refresh token", "1//|0{w60}"),
    ("Grafana cloud", "gl|c_{m60}"),
    ("Grafana service account", "gl|sa_{m32}_{h8}"),
    ("Groq", "gs|k_{m52}"),
    ("Harness", "pa|t.{m22}.{h24}.{m20}"),
    ("hash, bcrypt", "joe:$2y|$10${m53}"),
    ("hash, shadow", "root:$6|${m16}${m86}:19000:0"),
    ("Heroku", "HR|KU-AA{w58}"),
    ("Heroku, older", "HEROKU_API_KEY={h8}-{h4}-{h4}-{h4}-{h12}"),
    ("HubSpot", "hubspot_key: {H8}-{H4}-{H4}-{H4}-{H12}"),
    ("Hugging Face", "hf|_{z34}"),
    ("Infracost", "ic|o-{m32}"),
    ("Intercom", "intercom = \"{l60}\""),
    ("Jina", "ji|na_{m60}"),
    ("JSON field", "{\"password\": \"{m6} {m6} {m6}\"}"),
    ("JWT", "ey|JhbGciOiJIUzI1NiJ9.ey|J{m60}.{w43}"),
    ("Kubernetes secret", "kind: Secret\ndata:\n  user: {b24}\n"),
    ("LangSmith", "lsv2|_pt_{h32}_{h10}"),
    ("Linear", "lin|_api_{l40}"),
    ("Lob", "lob_api_key: live|_{h35}"),
    ("Mailchimp", "{h32}-|us12"),
    ("Mailgun", "mailgun_key = key|-{h32}"),
    ("Mapbox", "sk|.eyJ{m60}.{m22}"),
    ("MaxMind", "{m6}_{m29}_|mmk"),
    (
        "Microsoft Teams webhook",
        "https://a.webhook|.office.com/webhookb2/{l8}-{l4}-{l4}-{l4}-{l12}@{l8}-{l4}-{l4}-{l4}-{l12}/IncomingWebhook/{l32}/{l8}-{l4}-{l4}-{l4}-{l12}",
    ),
    ("Netlify", "nf|p_{m36}"),
    ("netrc", "machine git.example login joe password {m16}"),
    ("New Relic", "NR|AK-{U27}"),
    ("Notion", "nt|n_{d11}{m35}"),
    ("npm", "np|m_{m36}"),
    ("npm, by file", "//registry.npmjs.org/:_authToken={h8}-{h4}-{h4}-{h4}-{h12}"),
    ("npm, older", "_auth = {b40}"),
    ("NuGet", "oy|2{l43}"),
    ("NVIDIA", "nv|api-{w64}"),
    ("OAuth code", "https://a.example/callback?state=x&code=4/0{w60}"),
    ("Octopus Deploy", "AP|I-{U26}"),
    ("Okta", "okta_token = 00|{w40}"),
    ("OpenAI", "sk|-{m20}T3Blb|kFJ{m20}"),
    ("OpenAI project", "sk|-proj-{w74}T3Blb|kFJ{w74}"),
    ("OpenRouter", "sk|-or-v1-{h64}"),
    ("OpenShift", "sha|256~{w43}"),
    ("one-time password", "otpauth://totp/A:joe?secret={232}&issuer=A"),
    ("option of a command", "deploy --token {m24} --force"),
    ("PayPal", "PAYPAL_CLIENT_SECRET={w80}"),
    ("Perplexity", "pp|lx-{m48}"),
    ("pgpass", "db.example:5432:shop:joe:{m16}"),
    ("Pinecone", "pcs|k_{m60}"),
    ("Plaid", "plaid_secret = {h30}"),
    ("PlanetScale", "psc|ale_tkn_{w43}"),
    ("Postman", "PM|AK-{h24}-{h34}"),
    ("PostHog", "ph|x_{m43}"),
    ("Prefect", "pn|u_{m36}"),
    ("private key", "-----BEGIN RSA |PRIVATE KEY-----\n{b64}\n{b64}\n-----END RSA PRIVATE KEY-----"),
    (
        "private key, OpenSSH",
        "-----BEGIN OPENSSH |PRIVATE KEY-----\n{b70}\n{b20}\n-----END OPENSSH PRIVATE KEY-----",
    ),
    (
        "private key, PGP",
        "-----BEGIN PGP |PRIVATE KEY BLOCK-----\n\n{b64}\n-----END PGP PRIVATE KEY BLOCK-----",
    ),
    ("private key, PuTTY", "Private-Lines: 2\n{b64}\n{b64}\nPrivate-MAC: x"),
    ("private key, WireGuard", "PrivateKey = {b43}="),
    ("Pulumi", "pu|l-{h40}"),
    ("PyPI", "py|pi-AgEIcHlwaS5vcmc{w120}"),
    ("RapidAPI", "rapidapi-key: {l50}"),
    ("Razorpay", "rzp|_live_{m14}"),
    ("Replicate", "r8|_{m37}"),
    ("RubyGems", "ruby|gems_{h48}"),
    ("Sendbird", "sendbird_token={h40}"),
    ("SendGrid", "SG|.{w22}.{w43}"),
    ("Sendinblue", "xkey|sib-{h64}-{l16}"),
    ("Sentry", "snt|ryu_{h64}"),
    ("Shippo", "ship|po_live_{h40}"),
    ("Shopify", "shp|at_{h32}"),
    ("Slack app", "xa|pp-1-A{U10}-{d13}-{h64}"),
    ("Slack bot", "xo|xb-{d12}-{d12}-{m24}"),
    ("Slack session", "xo|xc-{d12}-{d12}-{d12}-{h64}"),
    ("Slack webhook", "https://hooks.slack|.com/services/T{U10}/B{U10}/{m24}"),
    ("SMTP", "AUTH PLAIN {b32}="),
    ("Snyk", "SNYK_TOKEN={h8}-{h4}-{h4}-{h4}-{h12}"),
    ("SonarQube", "sq|u_{h40}"),
    ("Sourcegraph", "sg|p_{h16}_{h40}"),
    ("Square", "sq0|atp-{w22}"),
    ("ssh password", "sshpass -p {m14} ssh joe@a.example"),
    ("Stripe", "sk|_live_{m24}"),
    ("Stripe restricted", "rk|_test_{m24}"),
    ("Stripe webhook", "wh|sec_{m32}"),
    ("Supabase", "sb|p_{h40}"),
    ("Tailscale", "ts|key-auth-{m17}-{m32}"),
    ("Tavily", "tv|ly-dev-{m32}"),
    ("Telegram", "{d10}:A|A{w33}"),
    ("Terraform", "{m14}.|atlasv1.{w64}"),
    ("Together", "tgp|_v1_{w43}"),
    ("token in a URL", "https://{m40}@git.example/a.git"),
    ("Travis", "travis_token={l22}"),
    ("Twilio", "S|K{h32}"),
    ("Twitch", "twitch_secret={l30}"),
    ("Twitter", "twitter_bearer = {z0}AAAAAAAAAAAAAAAAAAAAAA{m90}"),
    ("Typeform", "typeform = tf|p_{w59}"),
    ("Vault", "hv|s.{w95}"),
    ("Vault batch", "hv|b.{w140}"),
    ("Vercel", "vc|p_{m56}"),
    ("xAI", "xa|i-{m80}"),
    ("Yandex", "yandex = AQ|VN{w36}"),
    ("Zapier webhook", "https://hooks.zapier|.com/hooks/catch/1234567/{l7}/"),
    ("Zendesk", "zendesk_secret={l40}"),
];

/// Kinds that look like ordinary text, so that no rule can find them.
const UNKNOWABLE: &[(&str, &str)] = &[
    ("a hexadecimal key alone", "{h32}"),
    ("a password in a sentence", "my password is {m12}"),
    ("a short key alone", "{m20}"),
    (
        "words of a wallet",
        "abandon ability {z0}able about above absent absorb abstract absurd abuse access acc|ident",
    ),
];

struct Example {
    text: String,
    /// The parts that must go.
    secrets: Vec<String>,
}

fn example(form: &str, seed: u64) -> Example {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let (mut text, mut secrets) = (String::new(), Vec::new());
    let mut rest = form;
    while let Some(c) = rest.chars().next() {
        let field = rest.strip_prefix('{').and_then(|inside| inside.split_once('}'));
        let field = field.and_then(|(field, after)| {
            let alphabet = ALPHABETS.iter().find(|(name, _)| field.starts_with(*name))?.1.as_bytes();
            Some((alphabet, field[1..].parse::<usize>().ok()?, after))
        });
        if let Some((alphabet, n_letters, after)) = field {
            let mut secret: String = (0..n_letters)
                .map(|_| char::from(alphabet[(next() % alphabet.len() as u64) as usize]))
                .collect();
            // A word without a digit can be any word.
            if alphabet.contains(&b'7') && n_letters > 5 {
                secret.replace_range(2..3, "7");
            }
            text.push_str(&secret);
            if n_letters > 5 {
                secrets.push(secret);
            }
            rest = after;
        } else {
            if c != '|' {
                text.push(c);
            }
            rest = &rest[c.len_utf8()..];
        }
    }
    Example { text, secrets }
}

/// Makes the text in which a secret stands.
type Place = fn(&str) -> String;

/// Where a secret stands. Each is a text of an agent, a program or a file.
const PLACES: &[(&str, Place)] = &[
    ("alone", str::to_owned),
    ("in a sentence", |secret| format!("It is {secret}, I think.")),
    ("in brackets", |secret| format!("({secret})")),
    ("after a colour", |secret| format!("a\u{1b}[1;32m{secret}\u{1b}[0mb")),
    ("after a written-out colour", |secret| format!("a\\u001b[32m{secret}\\u001b[0m")),
    ("after a colour of a shell", |secret| format!("echo -e '\\033[31m{secret}\\033[0m'")),
    ("between written-out lines", |secret| format!("a\\n{secret}\\nb\\t{secret}\\tc")),
    ("in JSON in JSON", |secret| {
        let inner = json!({"a": {"text": secret}}).to_string();
        json!([inner]).to_string()
    }),
    ("with a marked part", |secret| {
        let at = secret.floor_char_boundary(4);
        format!("\u{1b}[01;31m\u{1b}[K{}\u{1b}[m\u{1b}[K{}", &secret[..at], &secret[at..])
    }),
    ("in an address", |secret| secret.replace('=', "%3D").replace(' ', "%20").replace('"', "%22")),
];

fn left(example: &Example, clean: &str) -> bool {
    example.secrets.iter().any(|secret| clean.contains(secret.as_str()))
}

#[test]
fn each_kind_goes_wherever_it_stands() {
    let mut stay = Vec::new();
    for (seed, (kind, form)) in (1..).zip(KINDS) {
        let example = example(form, seed);
        assert!(!example.secrets.is_empty(), "{kind} has nothing to hide");
        for (place, at) in PLACES {
            let text = at(&example.text);
            let clean = redacted_text(text.clone());
            if left(&example, &clean) {
                stay.push(format!("{kind}, {place}: {text:?} → {clean:?}"));
            }
            let line = redacted(json!({"message": {"content": [{"type": "text", "text": text}]}}));
            if left(&example, &line.to_string()) {
                stay.push(format!("{kind}, {place}, in a line"));
            }
        }
    }
    let unknowable = (1..).zip(UNKNOWABLE).filter(|(seed, (_, form))| {
        let example = example(form, *seed);
        redacted_text(example.text.clone()) == example.text
    });
    let n_all = KINDS.len() + UNKNOWABLE.len();
    println!("{} of {n_all} kinds go, each in {} places", n_all - unknowable.count(), PLACES.len());
    assert!(stay.is_empty(), "{} stay:\n{}", stay.len(), stay.join("\n"));
}

/// A field's name and its value are apart in JSON.
#[test]
fn the_name_of_a_field_tells_what_its_value_is() {
    for name in [
        "DD_API_KEY",
        "slackToken",
        "db_password",
        "clientSecret",
        "aws_secret_access_key",
        "Cookie",
        "passphrase",
        "HEROKU_API_KEY",
        "private-key",
        "auth",
        "sessionToken",
        "AUTH0_CLIENT_SECRET",
    ] {
        let secret = example("{m24}", 7).text;
        let clean = redacted(json!({"input": {name: secret}})).to_string();
        assert!(!clean.contains(&secret), "{clean}");
    }
    let keyed = example("{h8}-{h4}-{h4}-{h4}-{h12}", 3).text;
    let clean = redacted(json!({"env": {"HEROKU_ACCESS": keyed}})).to_string();
    assert!(!clean.contains(&keyed), "{clean}");
    let plain = json!({"max_tokens": "200000", "tokens": 12, "path": "/a/token.rs", "token_count": "12 of 13",
        "uuid": keyed, "tool": "password manager", "secretary": "Ms. Jones"});
    assert_eq!(redacted(plain.clone()), plain);
}

/// The rules of others are data: whatever they are, their cost is bounded.
#[test]
fn a_long_line_costs_a_bounded_number_of_copies() {
    let n_bytes = 10 << 20;
    let log = "2026-11-22T10:00:00Z INFO src/main.rs:42 compiled crate `serde` v1.0.200 in 3.2 s (ok)\n";
    let keywords: String = super::rules::keywords().collect::<Vec<_>>().join(" ");
    let texts: [(&str, String, u32); 3] = [
        ("a log", log.repeat(n_bytes / log.len()), 400),
        ("one word", "a".repeat(n_bytes), 400),
        (
            "every keyword, again and again",
            format!("{keywords} ").repeat(n_bytes / (keywords.len() + 1)),
            15_000,
        ),
    ];
    for (name, text, most) in texts {
        redacted_text(text[..text.floor_char_boundary(64 << 10)].to_owned());
        let begun = cpu_time::ThreadTime::now();
        for _ in 0..8 {
            std::hint::black_box(std::hint::black_box(&text).clone());
        }
        let copy = begun.elapsed() / 8;
        let begun = cpu_time::ThreadTime::now();
        let clean = redacted_text(text);
        let cost = begun.elapsed();
        let ratio = cost.as_secs_f64() / copy.as_secs_f64();
        println!("10 MB of {name}: {:.0} ms, {ratio:.0} copies", cost.as_secs_f64() * 1e3);
        assert!(ratio < f64::from(most), "{name}: {ratio:.0} copies of {} bytes", clean.len());
    }
}

/// Texts that almost match, for each rule: the time grows as the text does, and not with its square.
#[test]
fn no_rule_costs_more_than_its_text_is_long() {
    const SHORT: usize = 8 << 10;
    const N: usize = 16;
    const MOST: f64 = 4.0 * N as f64;
    let mut worst = (0.0, String::new());
    let forms = KINDS.iter().map(|(_, form)| example(form, 5).text);
    let almost = forms.map(|text| text[..text.floor_char_boundary(text.len().saturating_sub(2))].to_owned());
    for piece in almost.chain(super::rules::keywords()) {
        let cost = |n_bytes: usize| {
            let text = piece.repeat(n_bytes / piece.len() + 1);
            let begun = cpu_time::ThreadTime::now();
            drop(redacted_text(text));
            begun.elapsed().as_secs_f64()
        };
        // The patterns are compiled at first use.
        cost(1 << 10);
        let mut ratio = cost(N * SHORT) / cost(SHORT);
        if ratio > MOST {
            ratio = cost(N * SHORT).min(cost(N * SHORT)) / cost(SHORT).max(cost(SHORT));
        }
        if ratio > worst.0 {
            worst = (ratio, piece.clone());
        }
    }
    println!("{N} times the text costs at most {:.0} times the time: {:?}", worst.0, worst.1);
    assert!(worst.0 < MOST, "{N} times the text costs {:.0} times the time: {:?}", worst.0, worst.1);
}
