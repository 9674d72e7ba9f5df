//! Limits on navigation and links: a page may only navigate to itself; only some links and files may be opened outside
//! it.

use deskbell_engine::api::{CommandError, ErrorCode};
use deskbell_engine::may_be_opened;
use std::path::{Path, PathBuf};
use tauri::Url;

/// Returns whether the page may navigate to this address. WebKitGTK lets a meta refresh through the CSP.
pub fn may_navigate(url: &Url) -> bool {
    let is_ours = url.scheme() == "tauri" || url.host_str() == Some("tauri.localhost");
    is_ours || (tauri::is_dev() && url.host_str() == Some("localhost"))
}

/// Checks a link for the user's browser or mail program, by the rule for the links of a document.
pub fn outward(url: &str) -> Result<Url, CommandError> {
    let parsed = Url::parse(url).map_err(|_| refused("The link is not valid."))?;
    if may_be_opened(&parsed) {
        Ok(parsed)
    } else if parsed.scheme() == "mailto" {
        Err(refused("Deskbell does not open this mail link: a field of it may add a file to the mail."))
    } else {
        Err(refused(&format!("Deskbell does not open “{}” links.", parsed.scheme())))
    }
}

/// Resolves a path for the file manager: it must exist, and its real path must be inside the project.
pub fn inside(project: &Path, path: &str) -> Result<PathBuf, CommandError> {
    // An absolute path replaces the project's.
    let real = project.join(path).canonicalize().map_err(|error| CommandError {
        detail: Some(error.to_string()),
        ..refused("The file no longer exists.")
    })?;
    let project = project.canonicalize().map_err(|error| CommandError {
        detail: Some(error.to_string()),
        ..refused("The project's folder does not exist.")
    })?;
    if !real.starts_with(&project) {
        return Err(refused("That file is outside the project."));
    }
    // Windows' file manager does not accept a verbatim path (`\\?\C:\…`). The comparison uses the verbatim paths,
    // because a path that is too long has no other spelling.
    Ok(dunce::simplified(&real).to_owned())
}

fn refused(message: &str) -> CommandError {
    CommandError { code: ErrorCode::BadCommand, message: message.to_owned(), detail: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_goes_nowhere_but_to_itself() {
        let may = |url: &str| may_navigate(&Url::parse(url).unwrap());
        assert!(may("tauri://localhost/index.html"));
        assert!(may("http://tauri.localhost/"));
        for url in [
            "https://example.com/",
            "http://localhost.example.com/",
            "http://tauri.localhost.example.com/",
            "https://tauri.localhost@example.com/",
            "file:///etc/passwd",
            "data:text/html,x",
            "javascript:alert(1)",
            "about:blank",
            "blob:https://example.com/x",
        ] {
            assert!(!may(url), "{url}");
        }
    }

    #[test]
    fn only_web_and_mail_are_opened() {
        for url in ["https://example.com/a?b#c", "http://localhost:8080/", "mailto:ann@example.org"] {
            assert_eq!(outward(url).unwrap().as_str(), url);
        }
        for url in [
            "file:///etc/passwd",
            "javascript:alert(1)",
            "data:text/html,x",
            "tauri://localhost/",
            "vscode://file/x",
            "ssh://example.com",
            "mailto:ann@example.org?attach=/etc/passwd",
            "-a Calculator",
            "src/lib.rs",
            "",
        ] {
            assert!(outward(url).is_err(), "{url}");
        }
    }

    #[test]
    fn only_what_is_inside_the_project_is_shown() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        std::fs::create_dir_all(project.join("src")).unwrap();
        std::fs::write(project.join("src/lib.rs"), "").unwrap();
        std::fs::write(folder.path().join("secret"), "").unwrap();
        let real = dunce::canonicalize(&project).unwrap();
        assert_eq!(inside(&project, "src/lib.rs").unwrap(), real.join("src/lib.rs"));
        assert_eq!(inside(&project, "src/../src/lib.rs").unwrap(), real.join("src/lib.rs"));
        assert_eq!(inside(&project, &real.join("src").display().to_string()).unwrap(), real.join("src"));
        let outside = folder.path().join("secret").display().to_string();
        for path in ["../secret", "src/../../secret", &outside, "/", "src/gone.rs"] {
            assert!(inside(&project, path).is_err(), "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_inside_the_project_does_not_lead_out_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        std::fs::create_dir(&project).unwrap();
        std::fs::write(folder.path().join("secret"), "").unwrap();
        std::os::unix::fs::symlink(folder.path().join("secret"), project.join("plain.txt")).unwrap();
        std::os::unix::fs::symlink(folder.path(), project.join("up")).unwrap();
        assert!(inside(&project, "plain.txt").is_err());
        assert!(inside(&project, "up/secret").is_err());
    }
}
