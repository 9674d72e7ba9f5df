//! The script of a terminal that runs a program on another machine, as its user would type it there.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use deskbell_engine::api::RemoteFolder;

/// A login shell reads its start files, so that it finds what its user would find. The line is a variable for it, because
/// each shell has quotes of its own. Shells of the C family take no such options together, and run without the start files
/// of a login.
const IN_SHELL: &str = r#"case "$SHELL" in
*csh) exec /bin/sh -c "$DESKBELL_LINE" ;;
*) exec "${SHELL:-/bin/sh}" -lic 'exec /bin/sh -c "$DESKBELL_LINE"' ;;
esac"#;

/// A script without a single quote that runs these words in a folder there, or in the home folder. Neither is in it as it
/// is.
pub(super) fn script(folder: Option<&RemoteFolder>, words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    let folder = folder.map_or_else(String::new, |folder| format!(" {}", quoted(folder.as_str())));
    // After the start files, which could have changed the folder.
    let line = format!("cd{folder} && exec {}", words.join(" "));
    let script = format!("DESKBELL_LINE={}\nexport DESKBELL_LINE\n{IN_SHELL}", quoted(&line));
    let packed = BASE64_STANDARD.encode(script);
    // Without the program that unpacks it, its error stays on the screen.
    format!(r#"eval "$(echo {packed} | base64 -d || echo read _)""#)
}

/// A word as a POSIX shell reads it.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::super::MachineCommand;
    use deskbell_engine::api::RemoteMachine;

    fn line(machine: &str, folder: &str, words: &[&str]) -> Vec<String> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let line =
            machine.parse::<RemoteMachine>().unwrap().in_terminal(Some(&folder.parse().unwrap()), &words);
        line.into_iter().map(|part| part.into_string().unwrap()).collect()
    }

    #[test]
    fn every_transport_gets_a_terminal() {
        for (machine, expected) in [
            ("box", "ssh -t -oClearAllForwardings=yes -oForwardX11=no -oPermitLocalCommand=no -- box"),
            ("docker:web", "docker exec -it web"),
            ("podman:web", "podman exec -it web"),
            ("devcontainer:/home/me/app", "devcontainer exec --workspace-folder /home/me/app"),
            ("kubectl:shop/web-0", "kubectl exec -it -n shop web-0 --"),
            ("wsl:Debian", "wsl.exe -d Debian --exec"),
        ] {
            let all = line(machine, "/p", &["claude"]);
            let n = expected.split(' ').count();
            assert_eq!(all[..n].join(" "), expected);
            let rest = &all[n..];
            match machine {
                "box" => assert!(matches!(rest, [one] if one.starts_with("exec /bin/sh -c '"))),
                _ => assert!(matches!(rest, [sh, c, _] if sh == "/bin/sh" && c == "-c"), "{rest:?}"),
            }
            // Also in a terminal that gives it to a shell here, or splits it.
            let hostile = line(machine, "/a;touch b'", &["touch", ";touch c", "$(touch d)"]).join(" ");
            assert!(!hostile.contains([';', '\n']) && !hostile.contains("touch"), "{hostile}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_login_runs_in_the_home_folder_whatever_a_start_file_does() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join(".profile"), "cd /\n").unwrap();
        for (folder, expected) in [(None, home.path().to_str().unwrap()), (Some("/usr"), "/usr")] {
            let folder = folder.map(|folder| folder.parse().unwrap());
            let docker: RemoteMachine = "docker:web".parse().unwrap();
            let all = docker.in_terminal(folder.as_ref(), &["pwd".to_owned()]);
            let mut there = std::process::Command::new("/bin/sh");
            there.arg("-c").arg(all.last().unwrap()).env_clear().env("HOME", home.path());
            let output = there.env("PATH", "/usr/bin:/bin").output().unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), expected, "{output:?}");
        }
    }

    /// Every installed login shell passes the folder and the words unchanged.
    #[cfg(unix)]
    #[test]
    fn no_login_shell_changes_a_word() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(r#"it's "$(touch x)" \ `y` !é"#);
        std::fs::create_dir(&folder).unwrap();
        let words = ["/usr/bin/printf", "%s|", r#"a'b"c $HOME \n"#, "$(touch x)", "", r"\'", "é *"];
        let mut n_shells = 0;
        for shell in ["/bin/sh", "/bin/bash", "/usr/bin/zsh", "/usr/bin/fish", "/bin/tcsh"] {
            if !std::path::Path::new(shell).exists() {
                continue;
            }
            n_shells += 1;
            for machine in ["box", "docker:web"] {
                let all = line(machine, folder.to_str().unwrap(), &words);
                let mut there = match machine {
                    // As sshd starts a login shell.
                    "box" => std::process::Command::new(shell),
                    _ => std::process::Command::new("/bin/sh"),
                };
                there.args(["-c", all.last().unwrap()]).env_clear().env("HOME", home.path());
                let output = there
                    .env("SHELL", shell)
                    .env("LC_ALL", "C.UTF-8")
                    .env("PATH", "/usr/bin:/bin")
                    .output()
                    .unwrap();
                let said = String::from_utf8_lossy(&output.stdout).into_owned();
                assert_eq!(said, words[2..].join("|") + "|", "{shell}, {machine}: {output:?}");
            }
        }
        assert!(n_shells > 1, "too few shells to compare");
        let left: Vec<_> = std::fs::read_dir(&folder).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}
