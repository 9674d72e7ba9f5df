//! A password or passphrase on its way from a window to ssh.

use std::fmt;

/// Bytes that are overwritten when they are no longer used, and never printed.
#[derive(Default)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// The text, unless ssh could not read it as one line.
    pub fn of(text: String) -> Option<Self> {
        let secret = Self(text.into_bytes());
        let is_line = !secret.0.iter().any(|byte| matches!(byte, b'\n' | b'\r' | 0));
        (is_line && secret.0.len() <= 1_000).then_some(secret)
    }

    #[cfg(unix)]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    #[cfg(unix)]
    pub(crate) fn bytes_mut(&mut self) -> &mut Vec<u8> {
        // It does not grow, because a vector that moves leaves a copy.
        self.0.reserve_exact(8 << 10);
        &mut self.0
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.fill(0);
        // The compiler must not leave the zeros out.
        std::hint::black_box(&self.0);
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_one_line_and_is_not_printed() {
        let secret = Secret::of("hunter2 ü".to_owned()).unwrap();
        assert_eq!((secret.bytes(), format!("{secret:?}").as_str()), ("hunter2 ü".as_bytes(), "Secret"));
        assert!(Secret::of(String::new()).is_some());
        for text in ["a\nb", "a\rb", "a\0b", &"x".repeat(1_001)] {
            assert!(Secret::of(text.to_owned()).is_none(), "{text:?}");
        }
    }
}
