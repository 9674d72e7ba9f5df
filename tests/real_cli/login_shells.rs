//! Real login shells, asked for the environment that the user's own files make.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use deskbell_engine::LocalHost;
use deskbell_engine::login_shell::LoginShell;
use deskbell_tests::suite::Requirement;

/// The variable with the path of nushell, which Debian has no package of.
const NU: &str = "DESKBELL_TEST_NU";

/// A shell, the files that it reads, and their lines. They print something, put a folder before the others, and set a
/// variable in the file of a login or, where there is one, of every shell.
struct Shell {
    program: &'static str,
    files: &'static [(&'static str, &'static str)],
}

const SHELLS: &[Shell] = &[
    Shell {
        program: "sh",
        files: &[(".profile", "echo hello; PATH=/own/bin:$PATH; export OWN='a\nb' LOGIN=1\n")],
    },
    Shell {
        program: "bash",
        files: &[
            (".bash_profile", "echo hello >&2; export LOGIN=1; . ~/.bashrc\n"),
            // As Debian has it: what follows counts in an interactive shell only.
            (
                ".bashrc",
                "case $- in *i*) ;; *) return ;; esac\nexport PATH=/own/bin:$PATH OWN=$'a\\nb'\necho hello\n",
            ),
        ],
    },
    Shell {
        program: "zsh",
        files: &[
            (".zprofile", "echo hello; export LOGIN=1\n"),
            (".zshrc", "export OWN=$'a\\nb'; path=(/own/bin $path)\n"),
        ],
    },
    Shell {
        program: "fish",
        files: &[(
            ".config/fish/config.fish",
            "echo hello\nset -gx OWN (printf 'a\\nb' | string collect)\nset -gx PATH /own/bin $PATH\n\
             if status is-login; set -gx LOGIN 1; end\n",
        )],
    },
    Shell {
        program: "tcsh",
        files: &[
            (".tcshrc", "echo hello; setenv OWN 'a\\\nb'; set path = (/own/bin $path)\n"),
            (".login", "setenv LOGIN 1\n"),
        ],
    },
    Shell {
        program: "nu",
        files: &[
            (
                ".config/nushell/config.nu",
                "print hello\n$env.OWN = \"a\\nb\"\n$env.PATH = ($env.PATH | prepend \"/own/bin\")\n",
            ),
            (".config/nushell/login.nu", "$env.LOGIN = \"1\"\n"),
        ],
    },
];

pub fn requirement() -> Requirement {
    match env::var_os(NU) {
        Some(_) => Requirement::programs(&["bash", "zsh", "fish", "tcsh"]),
        None => Requirement::Missing(format!("{NU} does not name nushell")),
    }
}

pub async fn each_shell_gives_the_environment_of_the_users_files() -> Result<()> {
    for shell in SHELLS {
        let home = tempfile::tempdir()?;
        for (name, lines) in shell.files {
            let path = home.path().join(name);
            fs::create_dir_all(path.parent().context("a file is in a folder")?)?;
            fs::write(path, lines)?;
        }
        let program = program(shell.program)?;
        let variables = additions(&program, home.path()).await?;
        let value = |name: &str| {
            let found = variables.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.as_os_str())
        };
        let path = value("PATH").context("there is a PATH")?;
        let folders: Vec<PathBuf> = env::split_paths(path).collect();
        ensure!(
            folders.first().is_some_and(|first| first == Path::new("/own/bin"))
                && folders.iter().any(|folder| folder == Path::new("/usr/bin")),
            "{}: {path:?}",
            shell.program
        );
        ensure!(value("OWN") == Some(OsStr::new("a\nb")), "{}: {variables:?}", shell.program);
        ensure!(value("LOGIN") == Some(OsStr::new("1")), "{}: {variables:?}", shell.program);
        let own = ["SHLVL", "PWD", "TERM"].into_iter().filter(|name| value(name).is_some());
        ensure!(own.count() == 0, "{}: {variables:?}", shell.program);
    }
    Ok(())
}

/// Users whose login shell stays bash begin another one at the end of its file.
pub async fn a_shell_that_becomes_another_one_ends_in_time() -> Result<()> {
    for exec in ["exec fish", "exec zsh", "exec tcsh"] {
        let home = tempfile::tempdir()?;
        fs::write(home.path().join(".bash_profile"), ". ~/.bashrc\n")?;
        fs::write(home.path().join(".bashrc"), format!("export EARLY=1\n{exec}\n"))?;
        // The other shell reads an empty input and ends, before the limit. The environment is unknown then.
        let told = additions(&program("bash")?, home.path()).await;
        let problem = told.err().with_context(|| format!("{exec} has no environment"))?;
        ensure!(problem.to_string().ends_with("it did not print its environment"), "{exec}: {problem}");
    }
    Ok(())
}

async fn additions(program: &Path, home: &Path) -> Result<Vec<(OsString, OsString)>> {
    let ours = vec![("HOME".into(), home.as_os_str().to_owned()), ("PATH".into(), "/usr/bin:/bin".into())];
    let shell = LoginShell { program, home };
    let token = format!("login-shell-{}", home.display().to_string().replace('/', "-"));
    let additions = shell.additions(&LocalHost, ours, &token).await;
    additions.map_err(|error| anyhow::anyhow!("{}: {error}", program.display()))
}

fn program(name: &str) -> Result<PathBuf> {
    if name == "nu" {
        return env::var_os(NU).map(PathBuf::from).context("nushell is installed");
    }
    let found = env::split_paths("/usr/bin:/bin").map(|folder| folder.join(name)).find(|path| path.is_file());
    found.with_context(|| format!("{name} is installed"))
}
