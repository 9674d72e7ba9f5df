//! A canary for each setting of git that names a program: it runs with ordinary git, and not with the variables of an
//! agent in a restricted folder.

use super::*;
use crate::trust::survey;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};

/// A repository that runs a canary.
struct Case {
    name: &'static str,
    /// Shell commands that prepare the repository.
    prepare: &'static str,
    /// The commands of the agent.
    trigger: &'static str,
}

/// A setting, and the command that runs its program. `a` is a changed file with all attributes.
const SETTINGS: &[(&str, &str)] = &[
    ("core.fsmonitor", "git status"),
    ("diff.external", "git diff"),
    ("diff.x.command", "git diff"),
    ("diff.x.textconv", "git diff"),
    ("filter.x.clean", "git status"),
    ("filter.x.process", "git diff"),
    ("filter.x.smudge", "git checkout a"),
    ("filter.a.name=with;.clean", "echo '* filter=a.name=with;' >.git/info/attributes; git status"),
    ("merge.x.driver", "git commit -qam 2; git merge other"),
    ("core.editor", "git commit --amend"),
    ("sequence.editor", "git stash -q; git rebase -i --root"),
    ("core.sshCommand", "git fetch ssh://127.0.0.1/x"),
    ("core.gitProxy", "git fetch git://127.0.0.1:9/x"),
    ("core.askPass", "printf 'protocol=https\\nhost=h\\n\\n' | git credential fill"),
    ("credential.helper", "printf 'protocol=https\\nhost=h\\n\\n' | git credential fill"),
    ("credential.https://h.helper", "printf 'protocol=https\\nhost=h\\n\\n' | git credential fill"),
    ("gpg.program", "git commit -S --allow-empty -qm x"),
    ("gpg.openpgp.program", "git commit -S --allow-empty -qm x"),
    ("gpg.x509.program", "git -c gpg.format=x509 commit -S --allow-empty -qm x"),
    ("gpg.ssh.program", "git -c gpg.format=ssh -c user.signingkey=/dev/null commit -S --allow-empty -qm x"),
    ("gpg.ssh.defaultKeyCommand", "git -c gpg.format=ssh commit -S --allow-empty -qm x"),
    ("remote.origin.uploadpack", "git fetch origin"),
    ("remote.origin.receivepack", "git push origin HEAD:refs/heads/y"),
    ("core.alternateRefsCommand", "git fetch origin"),
    ("interactive.diffFilter", "echo q | git -c color.ui=always add -p"),
    ("difftool.x.cmd", "git difftool -y -t x"),
    ("mergetool.x.cmd", "git commit -qam 2; git merge other; git mergetool -y -t x"),
    ("tar.x.command", "git archive --format=x HEAD"),
    ("trailer.x.command", "echo m | git interpret-trailers --trailer x=y"),
    ("trailer.x.cmd", "echo m | git interpret-trailers --trailer x=y"),
    ("browser.x.cmd", "git web--browse -t x http://127.0.0.1:9/"),
    ("core.pager", "script -qec 'git log' /dev/null"),
    ("pager.log", "script -qec 'git log' /dev/null"),
];

const OTHERS: &[Case] = &[
    Case {
        name: "a hook",
        prepare: "cp $CANARY .git/hooks/post-index-change; touch a",
        trigger: "git update-index --refresh; git status",
    },
    Case {
        name: "a folder of hooks",
        prepare: "mkdir h; cp $CANARY h/post-index-change; git config core.hooksPath h; touch a",
        trigger: "git update-index --refresh; git status",
    },
    Case { name: "an alias", prepare: "git config alias.st \"!$CANARY\"", trigger: "git st" },
    Case {
        name: "an alias with options",
        prepare: "git config alias.st \"-c diff.external=$CANARY diff\"",
        trigger: "git st",
    },
    Case {
        name: "an included file",
        prepare: "git config diff.external $CANARY; mv .git/config inc; cp .git/HEAD .git/config; \
                  printf '[core]\\nbare=false\\n[include]\\npath=../inc\\n' >.git/config",
        trigger: "git diff",
    },
    Case {
        name: "a file that is included on a condition",
        prepare: "printf \"[diff]\\nexternal=$CANARY\\n\" >inc; git config includeIf.onbranch:main.path ../inc",
        trigger: "git diff",
    },
    Case {
        name: "the configuration of a worktree",
        prepare: "git config extensions.worktreeConfig true; git config --worktree diff.external $CANARY",
        trigger: "git diff",
    },
    Case {
        name: "another worktree in the folder",
        prepare: "git worktree add -q sub; echo 2 >sub/a; git config extensions.worktreeConfig true; \
                  git -C sub config --worktree diff.external $CANARY",
        trigger: "cd sub; git diff",
    },
    Case {
        name: "a repository in the folder",
        prepare: "mkdir -p d/e; git clone -q . d/e/n; cd d/e/n; echo 2 >a; git config diff.external $CANARY",
        trigger: "git -C d/e/n diff",
    },
    Case {
        name: "a submodule",
        prepare: "git -c protocol.file.allow=always submodule --quiet add ../remote sub; \
                  git -C sub config filter.q.clean $CANARY; echo 2 >sub/a; echo '* filter=q' >.git/modules/sub/info/attributes",
        trigger: "git status",
    },
    Case {
        name: "the update of a submodule",
        prepare: "git -c protocol.file.allow=always submodule --quiet add ../remote sub; git commit -qm s; \
                  git config submodule.sub.update \"!$CANARY\"; git -C sub commit -q --allow-empty -m y",
        trigger: "git submodule update",
    },
    Case {
        name: "git's own folder of a submodule",
        prepare: "git -c protocol.file.allow=always submodule --quiet add ../remote sub; \
                  git -C sub config diff.external $CANARY; echo 2 >sub/a",
        trigger: "cd .git/modules/sub; git diff",
    },
    Case {
        name: "a repository without a working tree",
        prepare: "git init -q --bare b; git -C b config core.fsmonitor $CANARY; git -C b config core.bare false; \
                  git -C b config core.worktree .; echo x >b/x",
        trigger: "cd b; git add x; git status",
    },
    Case {
        name: "a remote that is a command",
        prepare: "git config remote.ext.url \"ext::$CANARY x\"; git config protocol.ext.allow always",
        trigger: "git fetch ext",
    },
    Case {
        name: "missing objects that are fetched",
        prepare: "git config extensions.partialClone origin; git config core.repositoryFormatVersion 1; \
                  git config remote.origin.promisor true; git config remote.origin.url ssh://h/x; \
                  git config core.sshCommand $CANARY; rm .git/objects/info/alternates; id=$(git rev-parse HEAD:a); \
                  rm -f .git/objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-)",
        trigger: "git diff",
    },
    Case {
        name: "a setting that is unknown, in the folder",
        prepare: "git config unknown.tool x; git config diff.external $CANARY",
        trigger: "git diff",
    },
];

/// A folder with a repository `r` of two branches, a remote, and a canary.
struct Place {
    root: tempfile::TempDir,
}

impl Place {
    fn new(prepare: &str) -> Self {
        let place = Self { root: tempfile::tempdir().unwrap() };
        let canary = format!("#!/bin/sh\necho \"$*\" >>'{}'\n", place.sign().display());
        fs::write(place.canary(), canary).unwrap();
        fs::set_permissions(place.canary(), fs::Permissions::from_mode(0o755)).unwrap();
        let start = "git init -q -b main r; cd r; echo 1 >a; git add a; git commit -qm 1; git clone -q --bare . ../remote; \
                     git checkout -qb other; echo 3 >a; git commit -qam 3; git checkout -q main; \
                     git remote add origin ../remote; echo \"$PWD/../remote/objects\" >.git/objects/info/alternates; \
                     echo '* filter=x diff=x merge=x' >.git/info/attributes; echo 2 >a";
        let made = place.sh(".", start, &[]);
        assert!(made.status.success(), "{made:?}");
        let made = place.sh("r", prepare, &[]);
        assert!(made.status.success(), "{prepare}: {made:?}");
        fs::remove_file(place.sign()).ok();
        place
    }

    fn canary(&self) -> PathBuf {
        self.root.path().join("canary")
    }

    fn sign(&self) -> PathBuf {
        self.root.path().join("ran")
    }

    fn project(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("r")
    }

    /// Runs commands in a folder.
    fn sh(&self, folder: &str, script: &str, variables: &[(OsString, OsString)]) -> Output {
        let mut sh = Command::new("sh");
        sh.args(["-c", script]).current_dir(self.root.path().join(folder)).stdin(Stdio::null()).env_clear();
        for name in ["GIT_AUTHOR", "GIT_COMMITTER"] {
            sh.env(format!("{name}_NAME"), "x").env(format!("{name}_EMAIL"), "x@localhost");
        }
        sh.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", self.root.path()).env("TERM", "xterm");
        sh.env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("CANARY", self.canary());
        sh.env("GIT_TERMINAL_PROMPT", "0");
        sh.envs(variables.iter().map(|(name, value)| (name, value))).output().unwrap()
    }

    fn shield(&self) -> Vec<(OsString, OsString)> {
        restricted_environment(&self.project(), |name| match name {
            "GIT_CONFIG_SYSTEM" | "GIT_CONFIG_GLOBAL" => Some("/dev/null".into()),
            _ => None,
        })
    }
}

/// Problems of a case.
fn check(name: &str, prepare: &str, trigger: &str) -> Option<String> {
    let free = Place::new(prepare);
    let output = free.sh("r", trigger, &[]);
    if !free.sign().exists() {
        return Some(format!("{name}: the canary is deaf: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let shielded = Place::new(prepare);
    let output = shielded.sh("r", trigger, &shielded.shield());
    shielded.sign().exists().then(|| {
        let ran = fs::read_to_string(shielded.sign()).unwrap_or_default();
        format!("{name}: it ran: {ran} {}", String::from_utf8_lossy(&output.stderr))
    })
}

#[test]
fn no_setting_of_git_runs_anything_in_a_restricted_folder() {
    let settings = SETTINGS.iter().map(|(key, trigger)| {
        ((*key).to_owned(), format!("git config trailer.x.key X; git config '{key}' $CANARY"), *trigger)
    });
    let others = OTHERS.iter().map(|case| (case.name.to_owned(), case.prepare.to_owned(), case.trigger));
    let problems: Vec<String> = settings
        .chain(others)
        .filter_map(|(name, prepare, trigger)| check(&name, &prepare, trigger))
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn ordinary_git_works_in_a_restricted_folder() {
    let place = Place::new(
        "git config filter.x.clean $CANARY; git config diff.x.command $CANARY; git config merge.x.driver $CANARY",
    );
    let shield = place.shield();
    let said = |script: &str| {
        let output = place.sh("r", script, &shield);
        assert!(output.status.success(), "{script}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(said("git status --short"), " M a\n");
    assert!(said("git diff").contains("-1\n+2\n"));
    said("git commit -qam 2 && git log --oneline && git init -q new && git -C new status");
    assert!(!place.sign().exists());
}

#[test]
fn a_repository_that_is_not_understood_is_refused_and_the_others_work() {
    let place = Place::new("git init -q odd; git -C odd config lfs.extension.x.clean x; git init -q own");
    let shield = place.shield();
    let refused = place.sh("r", "git -C odd status", &shield);
    assert!(
        !refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("ownership"),
        "{refused:?}"
    );
    for script in ["git status", "git -C own status", "cd .git && git log"] {
        let output = place.sh("r", script, &shield);
        assert!(output.status.success(), "{script}: {output:?}");
    }
}

#[test]
fn what_the_user_set_for_all_repositories_stays() {
    let setting = |key: &str, value: &str| file::Setting { key: key.to_owned(), value: value.to_owned() };
    let repository = Repository {
        folder: "/p".into(),
        git: "/p/.git".into(),
        settings: Ok(vec![setting("credential.helper", "evil"), setting("core.sshcommand", "evil")]),
    };
    let of_user = [
        setting("credential.helper", "store"),
        setting("core.sshcommand", "ssh -4"),
        setting("core.hookspath", "relative"),
    ];
    let found = Repositories { list: vec![repository], is_cut: false };
    let variables = shield(&found, &of_user, Some("2".into()));
    let value = |name: &str| {
        let found = variables.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.to_string_lossy().into_owned())
    };
    let count: usize = value("GIT_CONFIG_COUNT").unwrap().parse().unwrap();
    let settings: Vec<_> = (2..count)
        .map(|n| {
            (value(&format!("GIT_CONFIG_KEY_{n}")).unwrap(), value(&format!("GIT_CONFIG_VALUE_{n}")).unwrap())
        })
        .collect();
    let of = |key: &str| -> Vec<&str> {
        settings.iter().filter(|(known, _)| known == key).map(|(_, value)| value.as_str()).collect()
    };
    assert_eq!(of("credential.helper"), ["", "store"]);
    assert_eq!(of("core.sshcommand"), ["ssh -4"]);
    assert_eq!(of("core.hooksPath"), [NO_FOLDER]);
}

#[test]
fn what_git_would_run_is_on_the_page_and_in_the_fingerprint() {
    let place = Place::new("git config unknown.tool x; git config alias.st status");
    let texts = || -> Vec<String> {
        let findings = survey(&place.project()).findings;
        findings
            .into_iter()
            .map(|finding| format!("{} {}: {}", finding.file, finding.title, finding.text))
            .collect()
    };
    assert_eq!(texts(), [".git/config May run when git is used: unknown.tool = x"]);
    let before = survey(&place.project()).fingerprint;
    // A branch is no change that is asked about.
    place.sh("r", "git config branch.x.remote origin", &[]);
    assert_eq!(survey(&place.project()).fingerprint, before);
    place.sh("r", "git config --unset unknown.tool; git config core.fsmonitor ./x; git init -q sub; cp $CANARY sub/.git/hooks/pre-commit", &[]);
    assert_eq!(
        texts(),
        [
            "sub/.git/hooks/pre-commit Runs when git is used: pre-commit",
            ".git/config Runs when git is used: core.fsmonitor = ./x"
        ]
    );
    let armed = survey(&place.project()).fingerprint;
    assert!(armed.is_some() && armed != before);
    place.sh("r", "echo true >>sub/.git/hooks/pre-commit", &[]);
    assert_ne!(survey(&place.project()).fingerprint, armed);
}

#[test]
fn a_pipe_in_place_of_gits_configuration_is_not_waited_for_and_not_trusted() {
    let place = Place::new("rm .git/config; mkfifo .git/config");
    assert_eq!(survey(&place.project()).fingerprint, None);
    assert!(place.shield().iter().any(|(name, _)| name == REFUSE_OTHERS));
}
