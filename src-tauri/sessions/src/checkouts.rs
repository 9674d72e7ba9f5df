//! What is checked out in the folders of projects that have no window: their branches, and the repositories of worktrees.

use deskbell_engine::api::{BoardRow, Checkout};
use deskbell_engine::changes::WorkingTree;
use deskbell_engine::disk;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// A folder is read again after this time, when the board changes.
const FRESH: Duration = Duration::from_secs(5);

/// Timeout of reading one folder.
const READ: Duration = Duration::from_secs(2);

/// Maximum number of folders that are read at once.
const AT_ONCE: usize = 8;

/// Reads what is checked out in a folder. Nothing if git's files cannot be read: the project's own window says why.
pub fn read(folder: &Path) -> Checkout {
    WorkingTree::checkout(folder).unwrap_or_else(|error| {
        tracing::info!(%error, "the branch of a folder is not known");
        Checkout::default()
    })
}

/// The last look at each project of the board.
#[derive(Default)]
pub struct Checkouts {
    known: HashMap<String, Known>,
}

struct Known {
    checkout: Checkout,
    /// `None` if the disk did not respond: it is not tried again, because each try keeps a thread.
    read_at: Option<Instant>,
}

impl Checkouts {
    /// Adds what is known to the rows, and forgets the projects that have none.
    pub fn show(&mut self, rows: &mut [BoardRow]) {
        self.known.retain(|project, _| rows.iter().any(|row| row.project == *project));
        for row in rows {
            if let Some(known) = self.known.get(&row.project) {
                row.checkout = known.checkout.clone();
            }
        }
    }

    /// The projects of these rows that are to be read now.
    pub fn due(&self, rows: &[BoardRow], now: Instant) -> Vec<String> {
        let is_due = |project: &str| match self.known.get(project) {
            None => true,
            Some(known) => known.read_at.is_some_and(|at| now.duration_since(at) >= FRESH),
        };
        let mut due: Vec<String> = rows
            .iter()
            .filter(|row| row.machine.is_none())
            .map(|row| &row.project)
            .filter(|project| is_due(project))
            .cloned()
            .collect();
        due.sort();
        due.dedup();
        due
    }

    /// Takes what was read at `now`; `None` for a disk that did not respond. Returns whether something else is shown.
    pub fn take(&mut self, read: Vec<(String, Option<Checkout>)>, now: Instant) -> bool {
        let mut is_new = false;
        for (project, checkout) in read {
            let read_at = checkout.is_some().then_some(now);
            let checkout = checkout.unwrap_or_default();
            let before = self.known.insert(project, Known { checkout: checkout.clone(), read_at });
            is_new |= before.map(|known| known.checkout).unwrap_or_default() != checkout;
        }
        is_new
    }
}

/// Reads projects' folders, a few at once.
pub async fn read_all(projects: Vec<String>) -> Vec<(String, Option<Checkout>)> {
    let mut all = Vec::new();
    for some in projects.chunks(AT_ONCE) {
        let mut reads = JoinSet::new();
        for project in some.iter().cloned() {
            reads.spawn(async move {
                let folder = PathBuf::from(&project);
                let checkout = disk::run(Path::new(&project), READ, move || read(&folder)).await;
                (project, checkout.ok())
            });
        }
        all.extend(reads.join_all().await);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use deskbell_engine::api::{BoardState, SessionId, Status};

    fn row(project: &str) -> BoardRow {
        BoardRow {
            session_id: SessionId::new("s"),
            title: String::new(),
            project: project.to_owned(),
            project_name: String::new(),
            machine: None,
            profile: None,
            agent: None,
            checkout: Checkout::default(),
            state: BoardState::Finished,
            status: Status::Completed,
            request: None,
            answer: None,
            needs_login: false,
            is_reached: true,
            since: 0,
            n_background: 0,
            other_pid: None,
            cost_usd: 0.0,
            processes: None,
        }
    }

    fn on(branch: &str) -> Option<Checkout> {
        Some(Checkout { branch: Some(branch.to_owned()), worktree_of: Some("ledger".to_owned()) })
    }

    #[test]
    fn a_folder_is_read_again_after_a_while_and_a_silent_one_is_not() {
        let mut checkouts = Checkouts::default();
        let far = BoardRow { machine: Some("box".to_owned()), ..row("box:/b") };
        let mut rows = [row("/b"), row("/a"), row("/b"), far];
        let start = Instant::now();
        assert_eq!(checkouts.due(&rows, start), ["/a", "/b"]);
        assert!(checkouts.take(vec![("/a".to_owned(), None), ("/b".to_owned(), on("one"))], start));
        checkouts.show(&mut rows);
        assert_eq!(
            rows.each_ref().map(|row| row.checkout.branch.as_deref()),
            [Some("one"), None, Some("one"), None]
        );
        assert_eq!(rows[0].checkout.worktree_of.as_deref(), Some("ledger"));
        assert_eq!(checkouts.due(&rows, start + FRESH / 2), [] as [&str; 0]);
        let later = start + FRESH;
        assert_eq!(checkouts.due(&rows, later), ["/b"]);
        assert!(!checkouts.take(vec![("/b".to_owned(), on("one"))], later), "nothing changed");
        assert!(checkouts.take(vec![("/b".to_owned(), on("two"))], later));
        // A project without a row is forgotten.
        checkouts.show(&mut rows[1..2]);
        assert_eq!(checkouts.due(&rows, later), ["/b"]);
    }

    #[tokio::test]
    async fn folders_without_git_and_missing_ones_have_nothing() {
        let root = tempfile::tempdir().unwrap();
        let paths = ["", "gone"].map(|name| root.path().join(name).display().to_string());
        let read = read_all(paths.to_vec()).await;
        assert_eq!(read.len(), 2);
        assert!(read.iter().all(|(_, checkout)| *checkout == Some(Checkout::default())), "{read:?}");
    }
}
