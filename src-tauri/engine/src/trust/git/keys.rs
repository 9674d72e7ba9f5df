//! The settings of git that name a program, and those that are known to be harmless.
//!
//! A setting that is on neither list is unknown, and counts as one that may run something. The lists are held against
//! the keys that git itself prints (`git help --config`).

use super::file::Setting;

/// Shows the difference as git does, for a setting whose program gets the seven arguments of a command for differences.
const SHOWS_DIFFERENCE: &str =
    "show() { git diff --no-index --no-ext-diff --no-textconv -- \"$2\" \"$5\"; true; }; show";

/// `section.name` of each setting whose value is or has a program, and a value that runs nothing of a folder. `*` stands
/// for any name.
const PROGRAMS: &[(&str, &str)] = &[
    ("alias.*", ""),
    ("browser.cmd", "false"),
    ("browser.path", "false"),
    ("core.alternaterefscommand", "true"),
    ("core.askpass", ""),
    ("core.editor", "false"),
    ("core.fsmonitor", "false"),
    ("core.gitproxy", "none"),
    ("core.hookspath", super::NO_FOLDER),
    ("core.pager", "cat"),
    ("core.sshcommand", "ssh"),
    ("credential.helper", ""),
    ("diff.command", SHOWS_DIFFERENCE),
    ("diff.external", SHOWS_DIFFERENCE),
    ("diff.textconv", "cat"),
    ("difftool.cmd", "false"),
    ("difftool.path", "false"),
    ("filter.clean", ""),
    ("filter.process", ""),
    ("filter.required", "false"),
    ("filter.smudge", ""),
    ("gc.recentobjectshook", ""),
    ("gpg.defaultkeycommand", "true"),
    ("gpg.program", "gpg"),
    ("guitool.cmd", "false"),
    ("hook.command", "true"),
    ("imap.tunnel", ""),
    ("instaweb.browser", "false"),
    ("instaweb.httpd", "false"),
    ("interactive.difffilter", "cat"),
    ("man.cmd", "false"),
    ("man.path", "false"),
    ("merge.driver", "git merge-file --marker-size=%L %A %O %B"),
    ("mergetool.cmd", "false"),
    ("mergetool.path", "false"),
    ("pager.*", "false"),
    ("remote.receivepack", "git-receive-pack"),
    ("remote.uploadpack", "git-upload-pack"),
    ("sendemail.cccmd", ""),
    ("sendemail.headercmd", ""),
    ("sendemail.sendmailcmd", ""),
    ("sendemail.smtpserver", ""),
    ("sendemail.tocmd", ""),
    ("sequence.editor", "false"),
    ("submodule.update", "checkout"),
    ("tar.command", "cat"),
    ("trailer.cmd", "true"),
    ("trailer.command", "true"),
    ("uploadpack.packobjectshook", ""),
    ("web.browser", "false"),
];

/// `section.name` of each setting that names no program: those of 2.47.3, and those that common tools write.
const HARMLESS: &str = include_str!("harmless_keys.txt");

/// The effect of a setting in a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It names a program. The value is one that runs nothing of the folder.
    Program {
        neutral: &'static str,
    },
    /// It can name a program, and this value names none.
    NoProgram,
    Harmless,
    Unknown,
}

/// The effect of a setting.
pub(super) fn effect(setting: &Setting) -> Effect {
    let (section, name) = setting.kind();
    let fits = |pattern: &str| {
        pattern.split_once('.').is_some_and(|(of, its)| of == section && (its == "*" || its == name))
    };
    if let Some((pattern, neutral)) = PROGRAMS.iter().find(|(pattern, _)| fits(pattern)) {
        return if names_none(pattern, &setting.value) {
            Effect::NoProgram
        } else {
            Effect::Program { neutral }
        };
    }
    if HARMLESS.lines().any(fits) { Effect::Harmless } else { Effect::Unknown }
}

/// Whether this value of a setting runs nothing.
fn names_none(pattern: &str, value: &str) -> bool {
    let is_switch = ["", "true", "false", "yes", "no", "on", "off", "0", "1"]
        .iter()
        .any(|switch| value.eq_ignore_ascii_case(switch));
    match pattern {
        "core.fsmonitor" | "pager.*" => is_switch,
        // It can only make the failure of a filter an error.
        "filter.required" => true,
        "submodule.update" => !value.trim_start().starts_with('!'),
        // An alias can also begin with options that name a program: `-c core.fsmonitor=…`.
        "alias.*" => !value.trim_start().starts_with(['!', '-']),
        _ => value.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn setting(key: &str, value: &str) -> Setting {
        Setting { key: key.to_owned(), value: value.to_owned() }
    }

    #[test]
    fn a_setting_is_judged_by_its_section_its_name_and_its_value() {
        let runs = |key: &str, value: &str| matches!(effect(&setting(key, value)), Effect::Program { .. });
        assert!(runs("core.fsmonitor", "./x") && !runs("core.fsmonitor", "true"));
        assert!(runs("filter.any.name.clean", "x") && runs("diff.d.textconv", "x"));
        assert!(
            runs("alias.st", "!x") && runs("alias.st", "-c core.pager=x log") && !runs("alias.st", "status")
        );
        assert!(runs("credential.https://x.y.helper", "x") && !runs("credential.helper", ""));
        for key in ["core.bare", "branch.a.b.remote", "remote.o.url", "user.name", "lfs.https://h/x.access"] {
            assert_eq!(effect(&setting(key, "x")), Effect::Harmless, "{key}");
        }
        for key in ["lfs.extension.x.clean", "core.newthing", "annex.x-command", "remote.o.vcs"] {
            assert_eq!(effect(&setting(key, "x")), Effect::Unknown, "{key}");
        }
    }

    /// Prints the keys of this machine's git that are on neither list. They count as unknown, so a newer git adds no
    /// gap; the version that the list was made with has none.
    #[test]
    fn every_key_that_git_prints_is_known() {
        let said = |arguments: &[&str]| {
            String::from_utf8(Command::new("git").args(arguments).output().unwrap().stdout).unwrap()
        };
        let key = |line: &str| {
            let (section, name) = (line.split('.').next()?, line.rsplit('.').next()?);
            let name = if name.contains(['<', '*']) { "any" } else { name };
            Some(format!("{section}.x.{name}").to_lowercase())
        };
        let listed = said(&["help", "--config"]);
        let left_out = |key: &str| {
            ["include.", "includeif.", "gitcvs.", "remote.x.vcs"].iter().any(|start| key.starts_with(start))
        };
        let new: Vec<String> = listed
            .lines()
            .filter(|line| line.contains('.') && !line.starts_with('\''))
            .filter_map(key)
            .filter(|key| !left_out(key) && effect(&setting(key, "/x")) == Effect::Unknown)
            .collect();
        println!("unknown keys: {new:?}");
        assert!(new.is_empty() || !said(&["--version"]).contains("2.47."), "{new:?}");
    }
}
