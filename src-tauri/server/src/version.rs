//! Comparing the versions of servers.

/// Whether `version` is newer than `than`. A text that is no version is never newer, so it replaces no server.
pub fn is_newer(version: &str, than: &str) -> bool {
    match (parts(version), parts(than)) {
        (Some(version), Some(than)) => version > than,
        _ => false,
    }
}

/// Whether the text is a version, which is also safe as a folder name.
pub fn is_version(text: &str) -> bool {
    parts(text).is_some()
}

fn parts(version: &str) -> Option<[u32; 3]> {
    let mut numbers = version.split('.').map(|part| {
        let is_number = (1..=9).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { part.parse().ok() } else { None }
    });
    let found = [numbers.next()??, numbers.next()??, numbers.next()??];
    numbers.next().is_none().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        for (version, than, expected) in [
            ("0.2.0", "0.1.9", true),
            ("0.10.0", "0.9.0", true),
            ("1.0.0", "0.99.99", true),
            ("0.1.0", "0.1.0", false),
            ("0.1.0", "0.2.0", false),
            ("", "0.1.0", false),
            ("9", "0.1.0", false),
            ("9.9.9.9", "0.1.0", false),
            ("+9.0.0", "0.1.0", false),
            ("../9", "0.1.0", false),
            ("9.0.0", "x", false),
            ("99999999999.0.0", "0.1.0", false),
        ] {
            assert_eq!(is_newer(version, than), expected, "{version} than {than}");
        }
    }
}
