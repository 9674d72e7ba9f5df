//! The place of updates and the key that signs them. Both are compiled in.

/// An address, and a public key of minisign in base64.
pub struct UpdatePlace {
    base: String,
    pub key: String,
}

impl UpdatePlace {
    /// The place of this build; `None` if it was built without one.
    pub fn of_build() -> Option<Self> {
        let given = |compiled: Option<&str>, _test: &str| {
            // Only a debug build takes them from the environment, for tests.
            #[cfg(debug_assertions)]
            if let Ok(value) = std::env::var(_test) {
                return Some(value);
            }
            compiled.map(str::to_owned)
        };
        let base = given(option_env!("DESKBELL_UPDATE_URL"), "DESKBELL_TEST_UPDATE_URL");
        let key = given(option_env!("DESKBELL_UPDATE_KEY"), "DESKBELL_TEST_UPDATE_KEY");
        // A workflow passes an empty text for a variable that is not set.
        let filled = |value: Option<String>| value.filter(|value| !value.trim().is_empty());
        let (base, key) = (filled(base)?, filled(key)?);
        Some(Self { base: base.trim().trim_end_matches('/').to_owned(), key: key.trim().to_owned() })
    }

    /// The address of a file whose name was checked; `None` if the place is no https address.
    pub fn url_of(&self, name: &str) -> Option<String> {
        let rest = self.base.strip_prefix("https://")?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/%".contains(c);
        let has_host = rest.starts_with(|c: char| c.is_ascii_alphanumeric());
        (has_host && rest.chars().all(is_plain)).then(|| format!("{}/{name}", self.base))
    }

    /// The address, for messages.
    pub fn base(&self) -> &str {
        &self.base
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_https_address_is_asked() {
        let url =
            |base: &str| UpdatePlace { base: base.to_owned(), key: String::new() }.url_of("latest.json");
        let expected = Some("https://example.org:8443/a/b/latest.json".to_owned());
        assert_eq!(url("https://example.org:8443/a/b"), expected);
        for base in [
            "http://example.org",
            "HTTPS://example.org",
            "file:///tmp",
            "ftp://example.org",
            "https://",
            "https:///a",
            "https://user@example.org",
            "https://example.org/?a=",
            "https://example.org/#",
            "https://example.org/[1-9]",
            "https://example.org/{a,b}",
            "https://example.org/a b",
            "https://example.org/\n",
            "-ohttps://example.org",
            "https://-o",
            "",
        ] {
            assert_eq!(url(base), None, "{base:?}");
        }
    }
}
