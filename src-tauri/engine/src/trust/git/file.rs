//! The syntax of git's configuration files, as git reads it (config.c of 2.47). Reading runs nothing.
//!
//! What git would refuse is an error here, too: git then ends with “bad config line”, and runs nothing.

use std::iter::Peekable;
use std::str::Chars;

/// One setting of a file, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    /// `section.name` or `section.subsection.name`; the section and the name are in lower case.
    pub key: String,
    /// Empty for a key without `=`, which is true for git.
    pub value: String,
}

impl Setting {
    /// The section and the name, without a subsection: `filter.clean` for `filter.lfs.clean`.
    pub fn kind(&self) -> (&str, &str) {
        let section = self.key.split('.').next().unwrap_or_default();
        let name = self.key.rsplit('.').next().unwrap_or_default();
        (section, name)
    }
}

/// The settings of a file. The error names the line.
pub(super) fn parse(bytes: &[u8]) -> Result<Vec<Setting>, String> {
    let text = str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text).replace("\r\n", "\n");
    if text.contains('\0') {
        return Err("it has a null character".to_owned());
    }
    let mut reader = Reader { rest: text.chars().peekable(), line: 1 };
    match reader.settings() {
        Some(settings) => Ok(settings),
        None => Err(format!("line {} is not valid", reader.line)),
    }
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    line: usize,
}

impl Reader<'_> {
    /// The next character; the end of the file is the end of a line.
    fn next(&mut self) -> char {
        let next = self.rest.next().unwrap_or('\n');
        self.line += usize::from(next == '\n');
        next
    }

    fn skip_line(&mut self) {
        while self.next() != '\n' {}
    }

    fn settings(&mut self) -> Option<Vec<Setting>> {
        let mut settings = Vec::new();
        let mut section = String::new();
        while self.rest.peek().is_some() {
            match self.next() {
                c if is_space(c) => {}
                '#' | ';' => self.skip_line(),
                '[' => section = self.section()?,
                c if c.is_ascii_alphabetic() => {
                    let (name, value) = self.setting(c)?;
                    settings.push(Setting { key: format!("{section}{name}"), value });
                }
                _ => return None,
            }
        }
        Some(settings)
    }

    /// The rest of `[section]`, `[section.old]` or `[section "new"]`, with a dot at its end.
    fn section(&mut self) -> Option<String> {
        let mut section = String::new();
        loop {
            match self.next() {
                ']' => return (!section.is_empty()).then(|| section + "."),
                c if is_space(c) && c != '\n' => break,
                c if c.is_ascii_alphanumeric() || c == '-' || c == '.' => {
                    section.push(c.to_ascii_lowercase())
                }
                _ => return None,
            }
        }
        let mut next = self.next();
        while is_space(next) && next != '\n' {
            next = self.next();
        }
        if next != '"' {
            return None;
        }
        section.push('.');
        loop {
            match self.next() {
                '\n' => return None,
                '"' => break,
                '\\' => match self.next() {
                    '\n' => return None,
                    c => section.push(c),
                },
                c => section.push(c),
            }
        }
        (self.next() == ']').then(|| section + ".")
    }

    fn setting(&mut self, first: char) -> Option<(String, String)> {
        let mut name = String::from(first.to_ascii_lowercase());
        let mut next = self.next();
        while next.is_ascii_alphanumeric() || next == '-' {
            name.push(next.to_ascii_lowercase());
            next = self.next();
        }
        while next == ' ' || next == '\t' {
            next = self.next();
        }
        match next {
            '\n' => Some((name, String::new())),
            '=' => Some((name, self.value()?)),
            _ => None,
        }
    }

    fn value(&mut self) -> Option<String> {
        let mut value = String::new();
        // Length without white space at the end.
        let mut length = 0;
        let mut is_quoted = false;
        loop {
            match self.next() {
                '\n' if is_quoted => return None,
                '\n' => break,
                c if is_space(c) && !is_quoted => {
                    if length > 0 {
                        value.push(c);
                    }
                    continue;
                }
                ';' | '#' if !is_quoted => {
                    self.skip_line();
                    break;
                }
                '\\' => match self.next() {
                    '\n' => continue,
                    't' => value.push('\t'),
                    'b' => value.push('\u{8}'),
                    'n' => value.push('\n'),
                    c @ ('\\' | '"') => value.push(c),
                    _ => return None,
                },
                '"' => {
                    is_quoted = !is_quoted;
                    continue;
                }
                c => value.push(c),
            }
            length = value.len();
        }
        value.truncate(length);
        Some(value)
    }
}

/// White space as git has it.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::process::Command;

    /// The settings of a file as git lists them; `None` if git refuses it.
    fn of_git(text: &str) -> Option<Vec<Setting>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        std::fs::write(&path, text).unwrap();
        let listed =
            Command::new("git").args(["config", "--list", "-z", "--file"]).arg(&path).output().unwrap();
        let listed = listed.status.success().then_some(listed.stdout)?;
        let listed = String::from_utf8(listed).unwrap();
        let setting = |entry: &str| {
            let (key, value) = entry.split_once('\n').unwrap_or((entry, ""));
            Setting { key: key.to_owned(), value: value.to_owned() }
        };
        Some(listed.split_terminator('\0').map(setting).collect())
    }

    fn check(text: &str) {
        let ours = parse(text.as_bytes()).ok();
        let theirs = of_git(text);
        let keys = |settings: &Option<Vec<Setting>>| -> Option<Vec<String>> {
            Some(settings.as_ref()?.iter().map(|setting| setting.key.clone()).collect())
        };
        assert_eq!(keys(&ours), keys(&theirs), "{text:?}");
        // Versions of git differ in the white space inside of a value.
        let plain = |settings: Option<Vec<Setting>>| -> Vec<String> {
            settings.into_iter().flatten().map(|one| one.value.replace(['\t', '\r'], " ")).collect()
        };
        assert_eq!(plain(ours), plain(theirs), "{text:?}");
    }

    #[test]
    fn a_file_is_read_as_git_reads_it() {
        for text in [
            "",
            "[a]b=1",
            "[a] b = 1 ; c\n[A \"X y\\\"\"]\n\tB-c\n",
            "[a.B]\nc = \" x \" y \\\n z\\t # end\n",
            "[a]\nb = x\\\n[c]\nd = 1\n",
            "[a]b\n=1",
            "[a\n]b=1",
            "[a \"b\n\"]c=1",
            "[a]\nb = \"x\ny\"\n",
            "[a]\nb = \\x\n",
            "[a]\r\nb = 1\r\n",
            "\u{FEFF}[a]\nb=1\n",
            "a = 1\n",
            "[a][b]c=1 [d]\n",
            "[]",
            "[]\na=1\n",
            "[ \"x\"]a=1\n",
            "[.]a=1\n",
        ] {
            check(text);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(150))]

        #[test]
        fn any_file_is_read_as_git_reads_it(
            parts in prop::collection::vec(prop::sample::select(vec![
                "[", "]", "[a]", "[filter \"", "\"]", "[b.C]", "clean", "x", "=", " ", "\n", "\n", "\t", "\r", "\"", "\\",
                "\\\\", "\\n", "#", ";", "é", "-", ".", "1", "[d \"e\"]\nf=g\n", "h = i\n",
            ]), 0..14),
        ) {
            check(&parts.concat());
        }
    }
}
