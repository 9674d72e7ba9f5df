//! The command line of a window.

use super::Problem;
use super::app_link::{self, AppLink, is_link};
use clap::ValueHint;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use deskbell_engine::projects::ProjectStore;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// A window of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Args {
    /// The absolute path; `None` if no folder was given.
    pub folder: Option<PathBuf>,
    pub demo: bool,
    pub prompt: Option<String>,
    /// The id of a session to show, from a link.
    pub session: Option<String>,
    /// Started from the desktop: nothing depends on the current folder, and errors are shown in a window.
    pub launcher: bool,
    /// Started at login: no window opens.
    pub hidden: bool,
}

impl Args {
    /// Whether a failure of the start is shown in a window too, because the user may see no other output.
    pub fn says_failures(&self) -> bool {
        self.launcher || (*self == Self::default() && !std::io::stderr().is_terminal())
    }
}

/// The option of the desktop entry.
const LAUNCHER: &str = "--open";

/// The option of the entry that the desktop starts at login.
pub const BACKGROUND: &str = "--background";

/// Whether these are the arguments of a launcher.
pub fn is_launcher(args: &[OsString]) -> bool {
    args.first().is_some_and(|first| first == LAUNCHER || is_link(first))
}

/// The arguments of a start with a window.
#[derive(Debug, clap::Args)]
pub struct WindowArgs {
    /// The project's folder, by default the current one, or the start page if that is your home folder. Or a link,
    /// deskbell://open?folder=DIR[&session=ID], which opens a project or one of its sessions and can do nothing else
    #[arg(value_hint = ValueHint::DirPath)]
    folder: Option<PathBuf>,
    /// New sessions there use the built-in demo agent: no account, no network
    #[arg(long)]
    demo: bool,
    /// Start a session with this prompt; a draft if Deskbell is already running
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    prompt: Option<String>,
    /// Open as a launcher does: the start page without FOLDER, and errors in a window
    #[arg(long)]
    open: bool,
    /// Start without a window, as at login: only the tray icon is shown
    #[arg(long, exclusive = true)]
    background: bool,
}

impl WindowArgs {
    pub fn checked(self, cwd: &Path) -> Result<Args, Problem> {
        let Self { folder, demo, prompt, open: launcher, background: hidden } = self;
        if folder.as_ref().is_some_and(|folder| is_link(folder.as_os_str())) {
            return Err(Problem::LinkWithOthers);
        }
        let folder = folder.map(|folder| ProjectStore::check_folder(&cwd.join(folder))).transpose()?;
        Ok(Args { folder, demo, prompt, session: None, launcher, hidden })
    }
}

/// What a desktop passes when the user opens a link, a folder or a file's folder: one argument, which is never an option,
/// whatever its first character is. `None` for any other start.
pub fn of_desktop(args: &[OsString], cwd: &Path) -> Option<Result<Args, Problem>> {
    let (path, is_launcher) = match args {
        [link] if is_link(link) => (link, true),
        [first, path] if first == LAUNCHER => (path, is_link(path)),
        _ => return None,
    };
    if is_launcher {
        return Some(linked(path));
    }
    let is_option = path.to_string_lossy().starts_with("--") && !cwd.join(path).exists();
    (!is_option).then(|| {
        let folder = match app_link::file_of(path) {
            Some(file) => ProjectStore::check_folder(&file)?,
            None => ProjectStore::check_folder(&cwd.join(path))?,
        };
        Ok(Args { folder: Some(folder), launcher: true, ..Args::default() })
    })
}

/// Whether a window was to open a link beside something else.
pub fn has_link(command: &clap::Command, args: &[OsString]) -> bool {
    let is_command = args.first().is_some_and(|first| command.find_subcommand(first).is_some());
    !is_command && args.iter().any(|arg| is_link(arg))
}

/// clap takes a word after FOLDER for a command.
pub fn second_folder(error: &clap::Error) -> Option<Problem> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    (error.kind() == ErrorKind::ArgumentConflict).then(|| Problem::SecondFolder(word.clone()))
}

fn linked(link: &OsString) -> Result<Args, Problem> {
    let AppLink { folder, session } = AppLink::parse(link)?;
    let folder = Some(ProjectStore::check_folder(&folder)?);
    Ok(Args { folder, session, launcher: true, ..Args::default() })
}
