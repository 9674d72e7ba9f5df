//! Search in all sessions of the agent's store, of one project or of all: words, phrases, tools, files and dates.
//!
//! No index: the files are read and searched as they are, the last changed one first, so the newest results come first
//! and nothing has to be kept up to date. Files that certainly lack a word are left out, as far as their groups of letters
//! are in memory. See docs/design/search.md for the measurement behind that. Files are read on disk threads, a few at a
//! time, each with a deadline, and never written to.

mod file;
mod grams;
mod pattern;
mod query;
mod snippet;

#[cfg(test)]
mod tests;

use query::QueryProblem;
pub use query::{Query, Today};

use crate::api::{FoundSession, SearchChange, SearchPlace};
use crate::disk::{self, ReadError};
use crate::projects::ProjectFolders;
use crate::store;
use crate::stored::Summary;
use crate::stored::files::{self, Found};
use crate::stored::{Place, Store};
use crate::title::Title;
use crate::transcript::changed_inputs::ChangedInput;
use file::{Matcher, Scan, WINDOW};
use grams::Grams;
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};

/// Threads that search at the same time. At most this many windows of 32 MiB are in memory.
const THREADS: usize = 3;

/// Files that one thread searches before it returns, and their bytes: it is done within some 10 ms.
const FILES_AT_A_TIME: usize = 32;
const BYTES_AT_A_TIME: u64 = 8 * 1024 * 1024;

/// Sessions with matches after which a search ends.
#[derive(Clone, Copy)]
enum Extent {
    /// The newest ones, for a search as the user types.
    Newest,
    All,
}

impl Extent {
    const fn n_sessions(self) -> usize {
        match self {
            Self::Newest => 25,
            Self::All => 200,
        }
    }
}

/// Maximum number of projects' folders that are searched.
const MOST_FOLDERS: usize = 100_000;

/// Parts of a place that do not respond after which the others are not read: each keeps a thread.
const MOST_SILENT: usize = 3;

/// Results that may wait for their reader. When the queue is full, the search waits.
const WAITING: usize = 4;

/// Longest name of a project, in user-perceived characters.
const LONGEST_NAME: usize = 80;

/// What to search, and where.
struct Request {
    stores: Vec<Store>,
    /// The folders of Deskbell's own sessions, which know the inputs that the user changed.
    sessions: Vec<PathBuf>,
    /// One project, or all.
    project: Option<ProjectFolders>,
    query: Query,
    extent: Extent,
}

/// A search in progress. Dropping it cancels the search.
pub struct Searching {
    task: JoinHandle<()>,
    is_cancelled: Arc<AtomicBool>,
}

impl Searching {
    /// Searches one project or all in these stores, and sends all results. A conversation that two stores have is that of
    /// the first one. Runs on the current tokio runtime. `absent` remembers files between searches.
    pub fn start(
        stores: Vec<Store>,
        sessions: Vec<PathBuf>,
        project: Option<ProjectFolders>,
        query: Query,
        absent: Arc<Absent>,
    ) -> (Self, mpsc::Receiver<SearchChange>) {
        Self::begin(Request { stores, sessions, project, query, extent: Extent::All }, absent)
    }

    /// The same to the newest results: its end comes at once, whatever the word.
    pub fn newest(
        stores: Vec<Store>,
        sessions: Vec<PathBuf>,
        project: Option<ProjectFolders>,
        query: Query,
        absent: Arc<Absent>,
    ) -> (Self, mpsc::Receiver<SearchChange>) {
        Self::begin(Request { stores, sessions, project, query, extent: Extent::Newest }, absent)
    }

    fn begin(request: Request, absent: Arc<Absent>) -> (Self, mpsc::Receiver<SearchChange>) {
        let (changes, receiver) = mpsc::channel(WAITING);
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let task = tokio::spawn(run(request, absent, is_cancelled.clone(), changes));
        (Self { task, is_cancelled }, receiver)
    }

    /// Reads the files for the searches to come, until it is dropped: the user is about to type. A search does the same
    /// after its end.
    pub fn prepare(stores: Vec<Store>, project: Option<ProjectFolders>, absent: Arc<Absent>) -> Self {
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let of = is_cancelled.clone();
        let task = tokio::spawn(async move {
            let listed = list_all(&stores, project.as_ref()).await;
            learn(listed.files, absent, of).await;
        });
        Self { task, is_cancelled }
    }

    /// Waits until it has also prepared the next search.
    pub async fn prepared(mut self) {
        // It ends early only when this is dropped.
        if let Err(error) = (&mut self.task).await {
            tracing::warn!(%error, "the next search is not prepared");
        }
    }
}

impl Drop for Searching {
    fn drop(&mut self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
        self.task.abort();
    }
}

/// Numbers of texts and of files that are remembered.
const MOST_NEEDLES: usize = 8;
const MOST_ABSENT: usize = 100_000;

/// Files that do not contain a text. While the user types, each query contains the one before, so a file without
/// `need` is not read again for `needle`. Bounded by 7 MB. The groups of letters of files are known for any text.
#[derive(Debug, Default)]
pub struct Absent {
    needles: Mutex<VecDeque<(String, HashSet<u64>)>>,
    grams: Grams,
    /// Files that searches have read.
    #[cfg(test)]
    n_read: std::sync::atomic::AtomicUsize,
}

impl Absent {
    fn knows(&self, needle: &str, file: u64) -> bool {
        let known = self.needles.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().any(|(text, files)| needle.contains(text.as_str()) && files.contains(&file))
    }

    fn note(&self, needle: &str, file: u64) {
        let mut known = self.needles.lock().unwrap_or_else(PoisonError::into_inner);
        if known.back().is_none_or(|(text, _)| text != needle) {
            known.retain(|(text, _)| text != needle);
            known.push_back((needle.to_owned(), HashSet::new()));
        }
        if known.len() > MOST_NEEDLES {
            known.pop_front();
        }
        if let Some((_, files)) = known.back_mut().filter(|(_, files)| files.len() < MOST_ABSENT) {
            files.insert(file);
        }
    }
}

/// The identity of a file in its present state.
fn state_of(found: &Found) -> u64 {
    hash(&(&found.path, found.size, found.modified))
}

fn hash(of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// The result of a file.
enum Searched {
    /// Without a session it has no match.
    Readable {
        session: Option<FoundSession>,
        n_left_out: u32,
    },
    Unreadable,
}

/// What one thread found in some files, in their order.
type Part = Vec<Searched>;

/// Everything that the threads of a search share.
struct Shared {
    matcher: Matcher,
    /// The inputs that the user changed, by the agent's ids of the conversations.
    changed: HashMap<String, Vec<ChangedInput>>,
    place: Option<Place>,
    stores: Vec<Store>,
    after: Option<u64>,
    absent: Arc<Absent>,
    is_cancelled: Arc<AtomicBool>,
    /// There are enough results.
    is_done: Arc<AtomicBool>,
}

impl Shared {
    fn is_over(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed) || self.is_done.load(Ordering::Relaxed)
    }
}

async fn run(
    request: Request,
    absent: Arc<Absent>,
    is_cancelled: Arc<AtomicBool>,
    changes: mpsc::Sender<SearchChange>,
) {
    let problem = |problem: String| SearchChange {
        problem: Some(problem),
        is_complete: true,
        ..SearchChange::default()
    };
    let Request { stores, sessions, project, query, extent } = request;
    let after = query.after;
    let Some(matcher) = Matcher::new(query) else {
        // A reader that has gone needs nothing more; the same below.
        let _ = changes.send(problem(QueryProblem::TooLong.to_string())).await;
        return;
    };
    let Listed { place, files, failure } = list_all(&stores, project.as_ref()).await;
    if let (true, Some(failure)) = (files.is_empty(), &failure) {
        let _ = changes.send(problem(failure.clone())).await;
        return;
    }
    let changed = changed_inputs(sessions).await;
    let is_done = Arc::new(AtomicBool::new(false));
    let (known, of) = (absent.clone(), is_cancelled.clone());
    let shared = Arc::new(Shared { matcher, changed, place, stores, after, absent, is_cancelled, is_done });
    let _ = search_files(files.clone(), failure, extent, shared, &changes).await;
    drop(changes);
    learn(files, known, of).await;
}

/// Without the inputs that the user changed, a search finds those that the agent wanted.
async fn changed_inputs(sessions: Vec<PathBuf>) -> HashMap<String, Vec<ChangedInput>> {
    let Some(place) = sessions.first().cloned() else { return HashMap::new() };
    let problem = match disk::run(&place, disk::DEADLINE, move || store::changed_inputs(&sessions)).await {
        Ok(Ok(changed)) => return changed,
        Ok(Err(error)) => error.to_string(),
        Err(unfinished) => unfinished.to_string(),
    };
    tracing::warn!(problem, "could not read the inputs that the user changed");
    HashMap::new()
}

/// The files of all stores, the last changed one first.
#[derive(Default)]
struct Listed {
    /// The project, if only one is searched.
    place: Option<Place>,
    files: Vec<Found>,
    /// Why some are missing.
    failure: Option<String>,
}

async fn list_all(stores: &[Store], project: Option<&ProjectFolders>) -> Listed {
    let mut all = Listed::default();
    for store in stores {
        let root = store.config.join("projects");
        let (config, project) = (store.config.clone(), project.cloned());
        // The other stores are searched also if one does not respond.
        match disk::run(&root, disk::DEADLINE, move || list(config, project)).await {
            Ok(Ok((of, listed))) => {
                all.place = all.place.or(of);
                all.files.extend(listed);
            }
            Ok(Err(error)) => all.failure = Some(format!("{} could not be read: {error}", root.display())),
            Err(unfinished) => all.failure = Some(unfinished.to_string()),
        }
    }
    Listed { files: in_order(all.files, stores.len()), ..all }
}

/// Reads the groups of letters of files that are not known yet, one file after the other, so that the next search reads
/// only those that may have its words.
async fn learn(files: Vec<Found>, absent: Arc<Absent>, is_cancelled: Arc<AtomicBool>) {
    for part in parts(files) {
        let folder = part.first().and_then(|file| file.path.parent()).map(Path::to_owned).unwrap_or_default();
        let (known, of) = (absent.clone(), is_cancelled.clone());
        let read = move || {
            let is_cancelled = || of.load(Ordering::Relaxed);
            for found in part {
                let key = (hash(&found.path), state_of(&found));
                if is_cancelled() || !known.grams.wants(key.0, key.1) {
                    continue;
                }
                if let Err(error) = known.grams.read(&found.path, key, WINDOW, &is_cancelled) {
                    // A search that reads it says so.
                    tracing::debug!(path = %found.path.display(), %error, "a stored session could not be read");
                }
            }
        };
        if let Err(unfinished) = disk::run(&folder, disk::DEADLINE, read).await {
            tracing::info!(%unfinished, "the stored sessions are not prepared for a search");
            return;
        }
    }
}

/// The files of all stores, the last changed one first. Those of each store are in this order already.
fn in_order(mut files: Vec<Found>, n_stores: usize) -> Vec<Found> {
    if n_stores > 1 {
        let folder = |found: &Found| found.path.parent().and_then(Path::file_name).map(ToOwned::to_owned);
        let mut seen = HashSet::new();
        files.retain(|found| seen.insert((folder(found), found.id.clone())));
        files.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
    }
    files
}

/// The project, and the files of one store, the last changed one first.
fn list(config: PathBuf, project: Option<ProjectFolders>) -> io::Result<(Option<Place>, Vec<Found>)> {
    if let Some(project) = project {
        let place = Place::new(config, project);
        let files = place.list()?;
        return Ok((Some(place), files.found));
    }
    let folders = match disk::list(&config.join("projects"), MOST_FOLDERS) {
        Ok(listing) => listing.paths,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    // Something else than a folder has no sessions.
    let mut found: Vec<Found> =
        folders.iter().filter_map(|folder| files::list(folder).ok()).flat_map(|files| files.found).collect();
    found.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
    Ok((None, found))
}

/// Parts of the list that one thread searches. The first ones are small, because results should appear at once.
fn parts(files: Vec<Found>) -> Vec<Vec<Found>> {
    let mut parts: Vec<Vec<Found>> = Vec::new();
    let mut bytes = 0;
    for file in files {
        let most = if parts.len() <= THREADS { 1 } else { FILES_AT_A_TIME };
        bytes += file.size;
        match parts.last_mut() {
            Some(part) if part.len() < most && bytes <= BYTES_AT_A_TIME => part.push(file),
            _ => {
                bytes = file.size;
                parts.push(vec![file]);
            }
        }
    }
    parts
}

/// The reader of the results has gone.
struct Unwanted;

async fn search_files(
    files: Vec<Found>,
    problem: Option<String>,
    extent: Extent,
    shared: Arc<Shared>,
    changes: &mpsc::Sender<SearchChange>,
) -> Result<(), Unwanted> {
    let n_files = u32::try_from(files.len()).unwrap_or(u32::MAX);
    let mut change = SearchChange { n_files, problem, ..SearchChange::default() };
    let mut parts = parts(files).into_iter().enumerate();
    let mut working = JoinSet::new();
    // Parts that are done before an earlier one.
    let mut done: BTreeMap<usize, Part> = BTreeMap::new();
    let (mut next, mut n_sessions, mut n_silent) = (0, 0, 0);
    for (nr, part) in parts.by_ref().take(THREADS) {
        begin(&mut working, nr, part, &shared);
    }
    while let Some(joined) = working.join_next().await {
        let (nr, n_part, part) = match joined {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic.into_panic()),
        };
        let part = part.unwrap_or_else(|unfinished| {
            n_silent += 1;
            change.problem = Some(unfinished.to_string());
            (0..n_part).map(|_| Searched::Unreadable).collect()
        });
        done.insert(nr, part);
        if n_silent < MOST_SILENT
            && let Some((nr, part)) = parts.next()
        {
            begin(&mut working, nr, part, &shared);
        }
        while let Some(part) = done.remove(&next) {
            next += 1;
            for searched in part {
                take(&mut change, searched);
            }
        }
        let room = extent.n_sessions() - n_sessions;
        if change.found.len() >= room {
            change.is_cut = change.found.len() > room || change.n_searched < n_files;
            change.found.truncate(room);
            break;
        }
        if !change.found.is_empty() {
            n_sessions += change.found.len();
            send(&mut change, changes).await?;
        }
    }
    shared.is_done.store(true, Ordering::Relaxed);
    change.is_complete = true;
    send(&mut change, changes).await
}

fn take(change: &mut SearchChange, searched: Searched) {
    change.n_searched += 1;
    match searched {
        Searched::Readable { session, n_left_out } => {
            change.n_left_out += n_left_out;
            change.found.extend(session);
        }
        Searched::Unreadable => change.n_unreadable += 1,
    }
}

/// Sends the results so far, and keeps the numbers.
async fn send(change: &mut SearchChange, changes: &mpsc::Sender<SearchChange>) -> Result<(), Unwanted> {
    let found = std::mem::take(&mut change.found);
    changes.send(SearchChange { found, ..change.clone() }).await.map_err(|_| Unwanted)
}

type Done = (usize, usize, Result<Part, disk::Unfinished>);

fn begin(working: &mut JoinSet<Done>, nr: usize, part: Vec<Found>, shared: &Arc<Shared>) {
    let (n_part, shared) = (part.len(), shared.clone());
    working.spawn(async move {
        let folder = part.first().and_then(|file| file.path.parent()).map(Path::to_owned).unwrap_or_default();
        let search = move || part.iter().map(|file| search_file(file, &shared)).collect();
        (nr, n_part, disk::run(&folder, disk::DEADLINE, search).await)
    });
}

fn search_file(found: &Found, shared: &Shared) -> Searched {
    let nothing = Searched::Readable { session: None, n_left_out: 0 };
    let state = state_of(found);
    let is_older = shared.after.is_some_and(|after| found.modified / 1_000_000 < after);
    let Matcher { needle, groups, .. } = &shared.matcher;
    let is_absent =
        || shared.absent.knows(needle, state) || shared.absent.grams.lacks(hash(&found.path), state, groups);
    if is_older || shared.is_over() || (!shared.changed.contains_key(&found.id) && is_absent()) {
        return nothing;
    }
    #[cfg(test)]
    shared.absent.n_read.fetch_add(1, Ordering::Relaxed);
    match scan(found, shared) {
        Ok((session, n_left_out)) => Searched::Readable { session, n_left_out },
        Err(error) => {
            tracing::info!(path = %found.path.display(), %error, "a stored session could not be searched");
            Searched::Unreadable
        }
    }
}

/// Returns the session, if it matches, and the number of lines that were left out.
fn scan(found: &Found, shared: &Shared) -> Result<(Option<FoundSession>, u32), ReadError> {
    let file = disk::open_regular(&found.path)?.file;
    let is_cancelled = || shared.is_over();
    let changed = shared.changed.get(&found.id).map_or(&[][..], Vec::as_slice);
    let Scan { mut hits, has_more, n_left_out, is_absent, is_cancelled } =
        file::scan(file, WINDOW, &shared.matcher, changed, &is_cancelled)?;
    // Lines that were left out are counted by each search.
    if is_absent && !is_cancelled && n_left_out == 0 {
        shared.absent.note(&shared.matcher.needle, state_of(found));
    }
    if hits.is_empty() {
        return Ok((None, n_left_out));
    }
    let summary = files::read(found)?;
    let is_wanted = shared.place.as_ref().map_or(summary.has_messages, |place| place.has(&summary));
    // An earlier title is no longer shown.
    let title = summary.title();
    hits.retain(|hit| {
        let snippet: String = hit.snippet.iter().map(|part| part.text.as_str()).collect();
        hit.place != SearchPlace::Title
            || title.contains(snippet.trim_start_matches(['…', ' ']).trim_end_matches(['…', ' ']))
    });
    if !is_wanted || hits.is_empty() {
        return Ok((None, n_left_out));
    }
    let project = project_of(found, &summary, shared.place.as_ref());
    let session = FoundSession {
        agent_session_id: found.id.clone(),
        title: title.to_owned(),
        project_name: Title::one_line(&name_of(&project), LONGEST_NAME),
        project: project.display().to_string(),
        changed_at: summary.at.unwrap_or(found.modified / 1_000_000),
        hits,
        has_more,
        // Only the app knows its windows.
        in_other_window: false,
        profile: profile_of(found, &shared.stores),
    };
    Ok((Some(session), n_left_out))
}

/// The profile of the store that a file is in.
fn profile_of(found: &Found, stores: &[Store]) -> Option<String> {
    let store = stores.iter().find(|store| found.path.starts_with(store.config.join("projects")));
    store.and_then(|store| store.profile.clone())
}

/// The folder of a session. A file that names none has the agent's encoded name of it.
fn project_of(found: &Found, summary: &Summary, place: Option<&Place>) -> PathBuf {
    let encoded = || found.path.parent().and_then(Path::file_name).map(PathBuf::from).unwrap_or_default();
    match place {
        Some(place) => place.project.clone(),
        None => summary.cwd.as_ref().map(PathBuf::from).unwrap_or_else(encoded),
    }
}

fn name_of(project: &Path) -> String {
    let name = project.file_name().map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|| project.display().to_string())
}
