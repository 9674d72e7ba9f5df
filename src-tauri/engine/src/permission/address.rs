//! The host of a web address, and properties of the address that may mislead the user.

use url::{Host, Url};

/// The host that would be contacted, as sent over the wire; `None` if the address cannot be parsed.
pub fn host(address: &str) -> Option<String> {
    let url = Url::parse(address).ok()?;
    let host = url.host_str()?;
    Some(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
}

/// The properties that make an address look like another one.
pub fn oddities(address: &str) -> Vec<String> {
    let Ok(url) = Url::parse(address) else {
        return vec!["The address cannot be read".to_owned()];
    };
    let mut found = Vec::new();
    if !url.username().is_empty() || url.password().is_some() {
        found.push("The part before “@” in the address is a user name, not the host".to_owned());
    }
    match url.host() {
        Some(Host::Domain(domain)) if domain.split('.').any(|label| label.starts_with("xn--")) => {
            found.push(format!("The host contains letters that may look like others: {domain}"));
        }
        // Numbers in an unusual notation, full-width letters, characters that are dropped.
        Some(host) if !address.to_lowercase().contains(&host.to_string()) => {
            found.push(format!("The host is read as {host}"));
        }
        Some(_) => {}
        None => found.push("The address has no host".to_owned()),
    }
    // They are dropped, or read as a slash, before the address is used.
    if address.contains(['\\', '\t', '\n', '\r']) {
        found.push("The address contains characters that are not read as written".to_owned());
    }
    if !matches!(url.scheme(), "http" | "https") {
        found.push(format!("The address does not start with http or https, but with “{}”", url.scheme()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_real_host_is_named() {
        for (address, real, n_oddities) in [
            ("https://example.org/a", Some("example.org"), 0),
            ("https://EXAMPLE.org:8080/", Some("example.org:8080"), 0),
            ("https://example.org@evil.example/", Some("evil.example"), 1),
            ("https://example.org:pass@evil.example", Some("evil.example"), 1),
            ("https://ex\u{430}mple.org/", Some("xn--exmple-4nf.org"), 1),
            ("https://xn--exmple-4nf.org/", Some("xn--exmple-4nf.org"), 1),
            ("http://0x7f.1/", Some("127.0.0.1"), 1),
            ("http://2130706433/", Some("127.0.0.1"), 1),
            ("http://127.0.0.1/", Some("127.0.0.1"), 0),
            ("https:\\\\evil.example\\@example.org", Some("evil.example"), 1),
            ("https://example.org\u{ff0f}x.evil.example/", None, 1),
            ("https://github\u{ff0e}com/", Some("github.com"), 1),
            ("file:///etc/passwd", None, 2),
            ("not an address", None, 1),
        ] {
            assert_eq!(host(address).as_deref(), real, "{address}");
            assert_eq!(oddities(address).len(), n_oddities, "{address}: {:?}", oddities(address));
        }
    }
}
