//! Starting a program of the user that continues by itself, such as a terminal or an editor. No shell reads its command
//! line.

use deskbell_engine::launch::Launch;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;
use tokio::process::Command;

/// A program that ends with an error within this time was not started.
const FAILS_WITHIN: Duration = Duration::from_millis(700);

/// Starts a program in a folder.
pub async fn start(folder: &Path, line: &[OsString]) -> Result<(), String> {
    let [program, arguments @ ..] = line else { return Err("it has no name".to_owned()) };
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    for (name, _) in std::env::vars_os() {
        if Launch::is_private(&name) {
            command.env_remove(&name);
        }
    }
    command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null());
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "not found".to_owned(),
        _ => error.to_string(),
    })?;
    match tokio::time::timeout(FAILS_WITHIN, child.wait()).await {
        Ok(Ok(status)) if !status.success() => Err(format!("it ended with {status}")),
        Ok(Err(error)) => Err(error.to_string()),
        // It runs, or it gave the command to a program that runs already.
        Ok(Ok(_)) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_program_that_is_missing_or_fails_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let line = |parts: &[&str]| parts.iter().map(OsString::from).collect::<Vec<_>>();
        assert_eq!(start(folder.path(), &line(&["/no/such/terminal"])).await, Err("not found".to_owned()));
        let failed = start(folder.path(), &line(&["false"])).await.unwrap_err();
        assert!(failed.contains("exit status: 1"), "{failed}");
        assert_eq!(start(folder.path(), &line(&["touch", "here; touch there"])).await, Ok(()));
        assert!(folder.path().join("here; touch there").exists(), "in the folder, and no shell read it");
    }
}
