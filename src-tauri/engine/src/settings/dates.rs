//! Language tags (BCP 47), as far as every webview can format dates with them.

/// Maximum length of a tag, in bytes.
const MOST: usize = 64;

/// Whether a text is `system` or a well-formed tag: a language of two or three letters, then a script, a region, variants
/// and the extension `u`, each at most once. The webview refuses other forms; in a language that it does not know it
/// formats dates as the system does.
pub(super) fn is_language_tag(tag: &str) -> bool {
    let mut parts = tag.split('-').peekable();
    let is = |part: &str, from: usize, to: usize, kind: fn(&u8) -> bool| {
        (from..=to).contains(&part.len()) && part.as_bytes().iter().all(kind)
    };
    let letters: fn(&u8) -> bool = u8::is_ascii_alphabetic;
    let any: fn(&u8) -> bool = u8::is_ascii_alphanumeric;
    let is_language = |part: &&str| is(part, 2, 3, letters);
    if tag == "system" {
        return true;
    }
    if tag.len() > MOST || parts.next().filter(is_language).is_none() {
        return false;
    }
    parts.next_if(|part| is(part, 4, 4, letters));
    parts.next_if(|part| is(part, 2, 2, letters) || is(part, 3, 3, u8::is_ascii_digit));
    let mut variants = Vec::new();
    while let Some(variant) = parts
        .next_if(|part| is(part, 5, 8, any) || (is(part, 4, 4, any) && part.as_bytes()[0].is_ascii_digit()))
    {
        variants.push(variant.to_ascii_lowercase());
    }
    let n_variants = variants.len();
    variants.sort();
    variants.dedup();
    if variants.len() < n_variants {
        return false;
    }
    match parts.next() {
        None => true,
        Some(singleton) => singleton.eq_ignore_ascii_case("u") && are_keywords(parts),
    }
}

/// Keys of two characters, each with its values: `hc-h12`.
fn are_keywords<'a>(parts: impl Iterator<Item = &'a str>) -> bool {
    let (mut n_keys, mut seen) = (0, Vec::new());
    for part in parts {
        let is_word = part.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let is_key = part.len() == 2 && part.as_bytes()[1].is_ascii_alphabetic();
        match part.len() {
            2 if is_word && is_key && !seen.contains(&part.to_ascii_lowercase()) => {
                seen.push(part.to_ascii_lowercase());
                n_keys += 1;
            }
            3..=8 if is_word && n_keys > 0 => {}
            _ => return false,
        }
    }
    n_keys > 0
}

#[cfg(test)]
mod tests {
    use super::is_language_tag;

    /// `ui/src/lib/text/language.test.ts` formats a date with each of them.
    #[test]
    fn tags_that_the_page_can_use_are_accepted() {
        for tag in [
            "de",
            "en-GB",
            "en-US",
            "zh-Hant-TW",
            "es-419",
            "sl-rozaj-biske",
            "de-1996",
            "DE-de",
            "system",
            "en-GB-u-hc-h12",
            "ar-u-nu-latn-ca-islamic-umalqura",
            "xx-ZZ",
        ] {
            assert!(is_language_tag(tag), "{tag}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "d",
            "de_DE",
            "de_DE.UTF-8",
            "de-",
            "-de",
            "de--DE",
            "C",
            "POSIX.",
            "en GB",
            "deutschland",
            "abcd",
            "de-DE-DE",
            "de-1996-1996",
            "en-u",
            "en-u-hc-h12-hc-h24",
            "en-u-h12",
            "x-private",
            "en-t-de",
            "zh-cmn",
            "English",
            "de\u{0}",
            "dé",
            "de-\u{202e}DE",
            "en-u-h\u{661}-x",
            "en-a-bcd",
        ] {
            assert!(!is_language_tag(text), "{text:?}");
        }
        assert!(!is_language_tag(&format!("en{}", "-abcde".repeat(20))));
    }
}
