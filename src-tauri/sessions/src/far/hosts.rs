//! The hosts of the user's ssh configuration, to choose from. Only their names are read; ssh itself reads what they mean.

use deskbell_engine::api::RemoteMachine;
use deskbell_engine::disk;
use std::path::{Path, PathBuf};

/// Limits: bytes of a file, files, levels of `Include`, and hosts.
const MAX_FILE: u64 = 1 << 20;
const MOST_FILES: usize = 64;
const MOST_LEVELS: usize = 8;
const MOST_HOSTS: usize = 500;

/// Entries of a folder that a pattern is compared with.
const MOST_ENTRIES: usize = 1_000;

/// The names after `Host` in `~/.ssh/config` and in the files that it includes, in their order, without patterns. What
/// cannot be read is left out. Accesses the disk: call it through `disk::run`.
pub fn in_config(home: &Path) -> Vec<String> {
    let mut hosts = Hosts { folder: home.join(".ssh"), home: home.to_owned(), n_files: 0, names: Vec::new() };
    hosts.read(&home.join(".ssh/config"), 0);
    hosts.names
}

struct Hosts {
    home: PathBuf,
    folder: PathBuf,
    n_files: usize,
    names: Vec<String>,
}

impl Hosts {
    fn read(&mut self, path: &Path, level: usize) {
        if level > MOST_LEVELS || self.n_files == MOST_FILES {
            return;
        }
        self.n_files += 1;
        // Usually there is none.
        let Ok(bytes) = disk::read_regular(path, MAX_FILE) else { return };
        for line in String::from_utf8_lossy(&bytes).lines() {
            let (word, values) = words(line);
            if word.eq_ignore_ascii_case("host") {
                values.iter().for_each(|name| self.add(name));
            } else if word.eq_ignore_ascii_case("include") {
                values.iter().for_each(|pattern| self.include(pattern, level));
            }
        }
    }

    fn add(&mut self, name: &str) {
        // A pattern or a negation is no name of a machine.
        let is_machine = name
            .parse::<RemoteMachine>()
            .is_ok_and(|machine| machine.is_ssh() && machine.to_string() == name);
        if is_machine && self.names.len() < MOST_HOSTS && !self.names.iter().any(|known| known == name) {
            self.names.push(name.to_owned());
        }
    }

    /// Reads the files of an `Include`. Only its last part may be a pattern.
    fn include(&mut self, pattern: &str, level: usize) {
        let path = match pattern.strip_prefix("~/") {
            Some(inside) => self.home.join(inside),
            None => self.folder.join(pattern),
        };
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if !name.contains(['*', '?']) {
            return self.read(&path, level + 1);
        }
        let Some(folder) = path.parent() else { return };
        let Ok(listed) = disk::list(folder, MOST_ENTRIES) else { return };
        let is_match = |path: &&PathBuf| {
            let file = path.file_name().and_then(|file| file.to_str());
            file.is_some_and(|file| !file.starts_with('.') && matches(name.as_bytes(), file.as_bytes()))
        };
        let mut files: Vec<PathBuf> = listed.paths.iter().filter(is_match).cloned().collect();
        files.sort();
        files.iter().for_each(|file| self.read(file, level + 1));
    }
}

/// The keyword of a line and its values: `Host a "b"`, `Host=a`.
fn words(line: &str) -> (&str, Vec<&str>) {
    let line = line.trim();
    let end = line.find(|c: char| c.is_whitespace() || c == '=').unwrap_or(line.len());
    let (word, rest) = line.split_at(end);
    let rest = rest.trim_start().trim_start_matches('=');
    let values = rest.split_whitespace().take_while(|value| !value.starts_with('#'));
    (word, values.map(|value| value.trim_matches('"')).filter(|value| !value.is_empty()).collect())
}

/// Whether a name matches a pattern with `*` and `?`. In one pass with one place to return to: a long name costs no more
/// than its length times that of the pattern.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut n) = (0, 0);
    let mut again = None;
    while n < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                again = Some((at, n));
                at += 1;
            }
            Some(c) if *c == b'?' || *c == name[n] => {
                at += 1;
                n += 1;
            }
            _ => match again {
                Some((star, from)) => {
                    again = Some((star, from + 1));
                    at = star + 1;
                    n = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|c| *c == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home(files: &[(&str, &str)]) -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = home.path().join(".ssh").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        home
    }

    #[test]
    fn names_are_listed_without_patterns() {
        let home = home(&[(
            "config",
            "# Host no\nHost box \"web\" *.example !not box # comment\n  hostname x\nhost=a\nHOST\tb\n\
             Host -oProxyCommand=x $(y) a;b docker:web\nMatch host c\nHost",
        )]);
        assert_eq!(in_config(home.path()), ["box", "web", "a", "b"]);
        assert_eq!(in_config(&home.path().join("none")), [""; 0]);
    }

    #[test]
    fn included_files_are_read_also_in_a_circle() {
        let home = home(&[
            ("config", "Include conf.d/*.conf ~/.ssh/more missing config\nHost last"),
            ("conf.d/b.conf", "Host b"),
            ("conf.d/a.conf", "Host a"),
            ("conf.d/c.old", "Host c"),
            ("conf.d/.a.conf", "Host hidden"),
            ("more", "Host more"),
        ]);
        assert_eq!(in_config(home.path()), ["a", "b", "more", "last"]);
    }

    #[test]
    fn long_files_and_names_are_bounded() {
        let many: String = (0..10_000).map(|nr| format!("Host h{nr}\n")).collect();
        let home = home(&[("config", &many)]);
        assert_eq!(in_config(home.path()).len(), MOST_HOSTS);
        assert!(!matches(&b"*a".repeat(200), &b"a".repeat(199)));
        for (pattern, name, expected) in
            [("*", "", true), ("a*c", "abc", true), ("a?c", "ac", false), ("*.conf", "a.conf", true)]
        {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        }
    }
}
