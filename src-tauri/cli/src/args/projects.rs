//! The command line of `deskbell projects`.

use super::{Problem, split};
use crate::far::Machine;
use deskbell_engine::projects::{Change, KnownProject, ProjectStore};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The change of the list; `None` lists it.
pub fn parse(args: &[OsString], cwd: &Path) -> Result<Option<Change>, Problem> {
    let mut options: Vec<_> = args.iter().map(|arg| split(arg)).collect();
    let at = options.iter().position(|(name, _)| name == "--machine");
    let machine = at.map(|at| options.remove(at)).map(|(name, value)| of(&name, value)).transpose()?;
    if let Some((name, _)) = options.get(1) {
        return Err(Problem::UnknownOption(name.clone()));
    }
    let Some((name, value)) = options.pop() else {
        return machine.map_or(Ok(None), |_| Err(Problem::UnknownOption("--machine".to_owned())));
    };
    Ok(Some(match name.as_str() {
        "--pin" | "--unpin" => {
            Change::Pin { path: path(machine, of(&name, value)?, cwd)?, pinned: name == "--pin" }
        }
        "--keep-running" | "--no-keep-running" | "--default-keep-running" => {
            // Sessions of another machine always run there.
            if machine.is_some() {
                return Err(Problem::UnknownOption("--machine".to_owned()));
            }
            let folder = cwd.join(of(&name, value)?);
            let (keep, path) = match name.as_str() {
                // The folder of a choice that is taken back may be gone.
                "--default-keep-running" => (None, dunce::canonicalize(&folder).unwrap_or(folder)),
                _ => (Some(name == "--keep-running"), ProjectStore::check_folder(&folder)?),
            };
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            Change::KeepRunning { path, keep, at: now.map_or(0, |since| since.as_millis() as u64) }
        }
        "--remove" => Change::Remove { path: path(machine, of(&name, value)?, cwd)? },
        "--clear" if value.is_none() && machine.is_none() => Change::Clear,
        _ => return Err(Problem::UnknownOption(name)),
    }))
}

fn of(name: &str, value: Option<OsString>) -> Result<OsString, Problem> {
    value.filter(|value| !value.is_empty()).ok_or_else(|| Problem::NoValue(name.to_owned()))
}

/// The folder may be gone, and one of another machine is not asked for: it is the one with the name that is listed.
fn path(machine: Option<OsString>, folder: OsString, cwd: &Path) -> Result<PathBuf, Problem> {
    let Some(machine) = machine else {
        let path = cwd.join(folder);
        return Ok(dunce::canonicalize(&path).unwrap_or(path));
    };
    let machine: Machine = machine.to_string_lossy().parse()?;
    Ok(KnownProject::path_on(&machine.to_string(), &folder.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Result<Option<Change>, Problem> {
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        parse(&args, Path::new("/"))
    }

    #[test]
    fn a_project_is_chosen_to_keep_running_or_not() {
        let chosen = |args: &[&str]| match parsed(args) {
            Ok(Some(Change::KeepRunning { path, keep, at })) => Some((path, keep, at > 1_700_000_000_000)),
            other => panic!("{args:?}: {other:?}"),
        };
        assert_eq!(chosen(&["--keep-running=/"]), Some(("/".into(), Some(true), true)));
        assert_eq!(chosen(&["--no-keep-running=/"]), Some(("/".into(), Some(false), true)));
        assert_eq!(chosen(&["--default-keep-running=/no/such"]), Some(("/no/such".into(), None, true)));
        assert!(matches!(parsed(&["--keep-running=/no/such"]), Err(Problem::Folder(_))));
        assert_eq!(parsed(&["--keep-running="]), Err(Problem::NoValue("--keep-running".into())));
        let of_machine = parsed(&["--machine=box", "--keep-running=/"]);
        assert_eq!(of_machine, Err(Problem::UnknownOption("--machine".into())));
    }

    #[test]
    fn a_folder_of_another_machine_is_named_as_it_is_listed() {
        let app = KnownProject::path_on("box", "/app");
        let removed = Ok(Some(Change::Remove { path: app.clone() }));
        assert_eq!(parsed(&["--machine=box", "--remove=/app"]), removed);
        assert_eq!(parsed(&["--remove=/app", "--machine=box"]), removed);
        let pinned = Ok(Some(Change::Pin { path: app, pinned: true }));
        assert_eq!(parsed(&["--machine=box", "--pin=/app"]), pinned);
        for args in [&["--machine=box"][..], &["--machine=box", "--clear"]] {
            assert!(matches!(parsed(args), Err(Problem::UnknownOption(_))), "{args:?}");
        }
        assert_eq!(parsed(&["--machine=", "--remove=/app"]), Err(Problem::NoValue("--machine".into())));
        assert!(parsed(&["--machine=-oProxyCommand=x", "--remove=/app"]).is_err());
        assert!(parsed(&["--pin=/", "--pin=/"]).is_err());
    }
}
