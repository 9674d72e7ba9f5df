//! Links: checks whether a link may be opened, resolves its real host, and finds bare URLs in text.

use url::Url;

use deskbell_api::Span;

/// A link that may be opened, in its resolved form.
pub(super) struct Target {
    pub url: String,
    /// Destination for display: the host, with its port if that is not the default; for mail the domain.
    pub host: String,
}

/// The fields of a mail link that are only text. For another one, such as `attach`, a mail program may add a file.
const MAIL_FIELDS: [&str; 5] = ["to", "cc", "bcc", "subject", "body"];

/// Whether a link may be opened outside of Deskbell: web pages, and mail whose fields are only text.
pub fn may_be_opened(url: &Url) -> bool {
    match url.scheme() {
        "https" | "http" => true,
        "mailto" => url
            .query_pairs()
            .all(|(name, _)| MAIL_FIELDS.iter().any(|field| name.eq_ignore_ascii_case(field))),
        _ => false,
    }
}

/// Resolves a link's destination. `None` for one that may not be opened, and for relative links.
pub(super) fn target(destination: &str) -> Option<Target> {
    // The URL standard, as browsers implement it: resolves user names before an `@`, backslashes and odd number
    // spellings. A non-ASCII host name becomes punycode.
    let url = Url::parse(destination).ok().filter(may_be_opened)?;
    let host = match url.scheme() {
        "https" | "http" => {
            let host = url.host_str().filter(|host| !host.is_empty())?;
            match url.port() {
                Some(port) => format!("{host}:{port}"),
                None => host.to_owned(),
            }
        }
        "mailto" => match url.path().split_once('@') {
            Some((_, domain)) if !domain.contains(['@', ',']) => domain.to_owned(),
            _ => url.path().to_owned(),
        },
        _ => return None,
    };
    Some(Target { url: url.into(), host })
}

/// Splits text at its bare URLs (`https://…`, `http://…`), by the rules of GitHub's Markdown.
pub(super) fn linkify(text: String, spans: &mut Vec<Span>) {
    let mut plain_from = 0;
    let mut search_from = 0;
    while let Some(found) = text[search_from..].find("://") {
        let colon = search_from + found;
        let end = colon + text[colon..].find(ends_url).unwrap_or(text.len() - colon);
        search_from = end;
        let Some(start) = scheme_start(&text[plain_from..colon]).map(|start| plain_from + start) else {
            search_from = colon + "://".len();
            continue;
        };
        let url = &text[start..start + trimmed_len(&text[start..end])];
        if url.len() <= colon + "://".len() - start {
            continue;
        }
        let Some(Target { url: resolved, host }) = target(url) else { continue };
        if start > plain_from {
            spans.push(Span::Text { text: text[plain_from..start].to_owned() });
        }
        plain_from = start + url.len();
        search_from = plain_from;
        spans.push(Span::Link { url: resolved, host, spans: vec![Span::Text { text: url.to_owned() }] });
    }
    if plain_from == 0 {
        spans.push(Span::Text { text });
    } else if plain_from < text.len() {
        spans.push(Span::Text { text: text[plain_from..].to_owned() });
    }
}

/// Start of the scheme before `://`, if it is http or https and begins a word.
fn scheme_start(before: &str) -> Option<usize> {
    let scheme = ["https", "http"].into_iter().find(|scheme| {
        before.len() >= scheme.len()
            && before.as_bytes()[before.len() - scheme.len()..].eq_ignore_ascii_case(scheme.as_bytes())
    })?;
    let start = before.len() - scheme.len();
    let at_word = before[..start].chars().next_back().is_none_or(|c| !c.is_ascii_alphanumeric());
    at_word.then_some(start)
}

/// Whether the character ends a URL: whitespace, or punctuation of scripts that are written without spaces.
pub(super) fn ends_url(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '<' | '>' | '`' | '"' | '、' | '。' | '，' | '；' | '：' | '！' | '？' | '（' | '）')
        || matches!(c, '「' | '」' | '『' | '』' | '【' | '】' | '《' | '》' | '“' | '”' | '‘' | '’')
}

/// The length without trailing punctuation of the sentence: `(see https://example.com/a_(b)).`
pub(super) fn trimmed_len(url: &str) -> usize {
    let count = |wanted: u8| url.bytes().filter(|&byte| byte == wanted).count();
    let mut surplus = count(b')').saturating_sub(count(b'('));
    let mut len = url.len();
    loop {
        match url.as_bytes()[..len].last() {
            Some(b'?' | b'!' | b'.' | b',' | b':' | b';' | b'*' | b'_' | b'~' | b'\'' | b']' | b'|') => {
                len -= 1
            }
            Some(b')') if surplus > 0 => {
                surplus -= 1;
                len -= 1;
            }
            _ => return len,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compact;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut spans = Vec::new();
        linkify(text.to_owned(), &mut spans);
        assert_eq!(compact::spans(&spans), expected);
    }

    #[track_caller]
    fn check_host(destination: &str, expected: Option<&str>) {
        assert_eq!(target(destination).map(|target| target.host).as_deref(), expected, "{destination}");
    }

    #[test]
    fn the_host_is_where_a_link_leads() {
        check_host("https://example.com/a?b#c", Some("example.com"));
        check_host("HTTPS://EXAMPLE.com:443/", Some("example.com"));
        check_host("http://localhost:5173/x", Some("localhost:5173"));
        check_host("https://github.com@evil.example/", Some("evil.example"));
        check_host("https://github.com:80@evil.example:8080/", Some("evil.example:8080"));
        check_host("https://github.com\\@evil.example/", Some("github.com"));
        check_host("https:\\\\evil.example\\x", Some("evil.example"));
        check_host("https://gіthub.com/", Some("xn--gthub-n2e.com"));
        check_host("http://0x7f.1/", Some("127.0.0.1"));
        check_host("http://[::1]:8080/", Some("[::1]:8080"));
        check_host("mailto:ann@example.org?subject=x", Some("example.org"));
        check_host("mailto:ann@example.org?Subject=x&body=y%0Az&cc=b@example.com", Some("example.org"));
        check_host("mailto:a@example.org,b@example.com", Some("a@example.org,b@example.com"));
    }

    #[test]
    fn other_schemes_and_relative_links_are_no_targets() {
        for destination in [
            "javascript:alert(1)",
            "java\nscript:alert(1)",
            " javascript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "vscode://file/x",
            "tauri://localhost/",
            "//example.com/x",
            "src/main.rs",
            "/etc/passwd",
            "#part",
            "?q",
            "",
            "https://",
            "https:",
            "http://[::1",
            "https://exa mple.com",
            "mailto:?attach=/etc/passwd",
            "mailto:ann@example.org?subject=x&ATTACHMENT=/etc/passwd",
            "mailto:ann@example.org?%61ttach=/etc/passwd",
            "mailto:ann@example.org?subject=x&amp;attach=/etc/passwd",
        ] {
            check_host(destination, None);
        }
    }

    #[test]
    fn bare_urls_become_links_without_the_sentence_around_them() {
        check(
            "see https://example.com/a.",
            "see link(https://example.com/a @example.com “https://example.com/a”).",
        );
        check(
            "(http://example.com/a_(b)), and",
            "(link(http://example.com/a_(b) @example.com “http://example.com/a_(b)”)), and",
        );
        check(
            "在https://example.com/a。",
            "在link(https://example.com/a @example.com “https://example.com/a”)。",
        );
        check("xhttps://example.com", "xhttps://example.com");
        check("ftp://example.com https:// http://[", "ftp://example.com https:// http://[");
    }
}
