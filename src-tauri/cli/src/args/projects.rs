//! The command line of `deskbell projects`.

use super::Problem;
use clap::ValueHint;
use deskbell_engine::api::{BadFolder, ProjectRef, RemoteMachine, RemoteProject};
use deskbell_engine::projects::{Change, ProjectStore};
use deskbell_sessions::opener::now_ms;
use std::path::{Path, PathBuf};

/// The group of the options whose folder can be one of another machine.
const PLACE: &str = "place";

/// The arguments after `projects`.
#[derive(Debug, clap::Args)]
pub struct ProjectsArgs {
    #[command(flatten)]
    list: ListArgs,
    /// With --pin, --unpin and --remove: the folder is one of this machine, as it is listed
    #[arg(long, value_name = "MACHINE", requires = PLACE)]
    machine: Option<RemoteMachine>,
    /// With --moved: the folder's new place
    #[arg(long, requires = "moved", conflicts_with_all = [PLACE, "machine"], value_name = "NEW", value_hint = ValueHint::DirPath)]
    to: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[group(multiple = false)]
struct ListArgs {
    /// Print JSON, which is also what the command prints without it
    #[arg(long)]
    json: bool,
    /// List the project first; it is not cleared
    #[arg(long, group = PLACE, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pin: Option<PathBuf>,
    /// No longer list it first
    #[arg(long, group = PLACE, value_name = "DIR", value_hint = ValueHint::DirPath)]
    unpin: Option<PathBuf>,
    /// Forget the project
    #[arg(long, group = PLACE, value_name = "DIR", value_hint = ValueHint::DirPath)]
    remove: Option<PathBuf>,
    /// The folder was moved, or got another name: its sessions go along, and whether to trust it is asked again
    #[arg(long, requires = "to", value_name = "DIR", value_hint = ValueHint::DirPath)]
    moved: Option<PathBuf>,
    /// Forget all projects that are not pinned
    #[arg(long)]
    clear: bool,
    /// New sessions of the folder keep running when Deskbell closes
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    keep_running: Option<PathBuf>,
    /// New sessions of the folder end when Deskbell closes
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    no_keep_running: Option<PathBuf>,
    /// The setting decides it for the folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    default_keep_running: Option<PathBuf>,
}

impl ProjectsArgs {
    /// The change of the list; `None` lists it.
    pub fn checked(self, cwd: &Path) -> Result<Option<Change>, Problem> {
        let Self { list, machine, to } = self;
        let project = |folder| project(machine, folder, cwd);
        Ok(if let Some(folder) = list.pin {
            Some(Change::Pin { project: project(folder)?, pinned: true })
        } else if let Some(folder) = list.unpin {
            Some(Change::Pin { project: project(folder)?, pinned: false })
        } else if let Some(folder) = list.remove {
            Some(Change::Remove { project: project(folder)? })
        } else if let (Some(folder), Some(to)) = (list.moved, to) {
            let to = ProjectStore::check_folder(&cwd.join(to))?;
            Some(Change::Moved { from: as_listed(&folder, cwd), to, at: now_ms() })
        } else if let Some(folder) = list.keep_running {
            Some(keep_running(ProjectStore::check_folder(&cwd.join(folder))?, Some(true)))
        } else if let Some(folder) = list.no_keep_running {
            Some(keep_running(ProjectStore::check_folder(&cwd.join(folder))?, Some(false)))
        } else if let Some(folder) = list.default_keep_running {
            // The folder of a choice that is taken back may be gone.
            Some(keep_running(as_listed(&folder, cwd), None))
        } else {
            list.clear.then_some(Change::Clear)
        })
    }
}

fn keep_running(folder: PathBuf, keep: Option<bool>) -> Change {
    Change::KeepRunning { folder, keep, at: now_ms() }
}

/// A folder of another machine is not asked for: it is the one with the name that is listed.
fn project(machine: Option<RemoteMachine>, folder: PathBuf, cwd: &Path) -> Result<ProjectRef, BadFolder> {
    let Some(machine) = machine else { return Ok(as_listed(&folder, cwd).into()) };
    let folder = folder.to_str().ok_or(BadFolder)?.parse()?;
    Ok(RemoteProject { machine, folder }.into())
}

/// A folder of this machine, which may be gone.
fn as_listed(folder: &Path, cwd: &Path) -> PathBuf {
    let path = cwd.join(folder);
    dunce::canonicalize(&path).unwrap_or(path)
}
