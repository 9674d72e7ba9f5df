//! The arguments of `deskbell sessions search`.

use super::{Problem, split};
use deskbell_engine::projects::ProjectStore;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What to search, and how to print it.
#[derive(Debug, PartialEq, Eq)]
pub struct SearchOptions {
    pub query: String,
    /// `None` for all projects.
    pub project: Option<PathBuf>,
    /// One JSON object a line instead of text.
    pub json: bool,
}

/// Several words are one query; a phrase keeps its quotation marks only if the shell passes them on.
pub fn parse(args: &[OsString], cwd: &Path) -> Result<SearchOptions, Problem> {
    let (mut words, mut project, mut all, mut json) = (Vec::new(), None, false, false);
    let mut only_words = false;
    for arg in args {
        let text = arg.to_string_lossy();
        if only_words || !text.starts_with("--") {
            words.push(text.into_owned());
            continue;
        }
        match split(arg) {
            (name, None) if name == "--" => only_words = true,
            (name, None) if name == "--all" => all = true,
            (name, None) if name == "--json" => json = true,
            (name, Some(folder)) if name == "--project" => {
                project = Some(ProjectStore::check_folder(&cwd.join(folder))?)
            }
            (name, None) if name == "--project" => return Err(Problem::NoValue(name)),
            (name, _) => return Err(Problem::UnknownOption(name)),
        }
    }
    if words.is_empty() {
        return Err(Problem::NoQuery);
    }
    let project = if all { None } else { Some(project.map_or_else(|| ProjectStore::check_folder(cwd), Ok)?) };
    Ok(SearchOptions { query: words.join(" "), project, json })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Result<SearchOptions, Problem> {
        parse(&args.iter().map(OsString::from).collect::<Vec<_>>(), Path::new("/"))
    }

    #[test]
    fn words_are_a_query_and_options_choose_what_is_searched() {
        let options = |query: &str, project: Option<&str>, json| {
            Ok(SearchOptions { query: query.to_owned(), project: project.map(Into::into), json })
        };
        assert_eq!(parsed(&["fix", "login"]), options("fix login", Some("/"), false));
        assert_eq!(
            parsed(&["\"fix login\" tool:Bash", "--all"]),
            options("\"fix login\" tool:Bash", None, false)
        );
        assert_eq!(parsed(&["--project=/proc", "x", "--json"]), options("x", Some("/proc"), true));
        assert_eq!(parsed(&["-x", "--", "--all"]), options("-x --all", Some("/"), false));
        assert_eq!(parsed(&["--all"]), Err(Problem::NoQuery));
        assert_eq!(parsed(&["x", "--project"]), Err(Problem::NoValue("--project".into())));
        assert_eq!(parsed(&["x", "--every"]), Err(Problem::UnknownOption("--every".into())));
    }
}
