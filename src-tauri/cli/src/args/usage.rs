//! The command line of `deskbell sessions usage`.

use super::{Problem, split};
use deskbell_engine::projects::ProjectStore;
use deskbell_engine::usage::By;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The table of costs to print.
#[derive(Debug, PartialEq, Eq)]
pub struct UsageOptions {
    /// `None`: all projects.
    pub project: Option<PathBuf>,
    pub by: By,
    /// As CSV instead of JSON lines.
    pub csv: bool,
}

/// Parses the arguments after `sessions usage`.
pub fn parse(args: &[OsString], cwd: &Path) -> Result<UsageOptions, Problem> {
    let (mut project, mut by, mut csv) = (None, By::All, None);
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let (name, value) = split(arg);
        match name.as_str() {
            "--by" => {
                let value = value.or_else(|| rest.next().cloned()).ok_or(Problem::NoValue(name))?;
                by = value.to_string_lossy().parse().map_err(Problem::BadColumn)?;
            }
            "--json" | "--csv" if value.is_none() && csv.is_none() => csv = Some(name == "--csv"),
            _ if name.starts_with('-') => return Err(Problem::UnknownOption(name)),
            _ if project.is_some() => return Err(Problem::SecondFolder(arg.into())),
            _ => project = Some(ProjectStore::check_folder(&cwd.join(arg))?),
        }
    }
    Ok(UsageOptions { project, by, csv: csv.unwrap_or(false) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Result<UsageOptions, Problem> {
        parse(&args.iter().map(OsString::from).collect::<Vec<_>>(), Path::new("/"))
    }

    #[test]
    fn costs_are_shown_for_all_projects_or_one() {
        let usage = |project: Option<&str>, by, csv| {
            Ok(UsageOptions { project: project.map(PathBuf::from), by, csv })
        };
        assert_eq!(parsed(&[]), usage(None, By::All, false));
        assert_eq!(parsed(&["/proc", "--by=day", "--csv"]), usage(Some("/proc"), By::Day, true));
        assert_eq!(parsed(&["--json", "--by", "model"]), usage(None, By::Model, false));
        assert_eq!(parsed(&["--by=year"]), Err(Problem::BadColumn("year".into())));
        assert_eq!(parsed(&["--by"]), Err(Problem::NoValue("--by".into())));
        for args in [["--all", "--csv"], ["--csv=x", "/"], ["--json", "--csv"]] {
            assert!(matches!(parsed(&args), Err(Problem::UnknownOption(_))), "{args:?}");
        }
        assert_eq!(parsed(&["/", "/"]), Err(Problem::SecondFolder("/".into())));
    }
}
