//! The places of windows: what the window of each project, and the own window of a session, remembers, in `windows.json`
//! by tauri-plugin-store.
//!
//! The plugin truncates the file and writes (2.5), so a killed app could lose it. Each save therefore writes a copy as a
//! whole first. A start takes the copy if the file is a part of it, or cannot be read.

use anyhow::Context;
use deskbell_engine::api::{ProjectRef, SessionId, SidePanels};
use deskbell_engine::disk::{
    self, Loaded, ReadError, SetAside, load_json, open_regular, read_regular, set_aside, write_atomically,
};
use deskbell_engine::projects::{Change, KnownProject, ProjectStore};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tauri::plugin::TauriPlugin;
use tauri::{AppHandle, Wry};
use tauri_plugin_store::{JsonValue, StoreBuilder};

const WINDOWS: &str = "windows";

/// Maximum size of the file. The places of windows take a few kilobytes.
const MOST_BYTES: u64 = 4 * 1024 * 1024;

/// The plugin that writes the file.
pub fn plugin() -> TauriPlugin<Wry> {
    tauri_plugin_store::Builder::new().build()
}

type Entries = HashMap<String, JsonValue>;

/// A window that was open, in the system's physical pixels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WindowPlace {
    #[serde(deserialize_with = "KnownProject::read_project")]
    pub project: ProjectRef,
    /// The session whose own window it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_session: Option<SessionId>,
    #[serde(default)]
    pub demo: bool,
    /// Not open now, but its size and position are remembered.
    #[serde(default)]
    pub closed: bool,
    pub size: Option<(u32, u32)>,
    pub position: Option<(i32, i32)>,
    /// The session that was open in it.
    #[serde(default)]
    pub open_session: Option<SessionId>,
    /// The second session of the window.
    #[serde(default)]
    pub second_session: Option<SessionId>,
    /// The project's own zoom, in percent; `None` is that of the settings.
    #[serde(default)]
    pub zoom: Option<u32>,
    #[serde(default)]
    pub panels: SidePanels,
}

impl WindowPlace {
    /// An open window without a size and position of its own.
    pub fn new(project: impl Into<ProjectRef>, demo: bool) -> Self {
        Self {
            project: project.into(),
            own_session: None,
            demo,
            closed: false,
            size: None,
            position: None,
            open_session: None,
            second_session: None,
            zoom: None,
            panels: SidePanels::default(),
        }
    }

    /// Is it the window of this project, and not that of one of its sessions?
    fn is_of_project(&self, project: &ProjectRef) -> bool {
        self.own_session.is_none() && self.project == *project
    }
}

/// The contents of the file.
#[derive(Default)]
pub struct SavedPlaces {
    entries: Entries,
    /// Set if the file could not be read.
    pub unread: Option<SetAside>,
}

impl SavedPlaces {
    /// The windows that are remembered, open or closed.
    pub fn windows(&self) -> Vec<WindowPlace> {
        let windows = self.entries.get(WINDOWS).and_then(JsonValue::as_array).into_iter().flatten();
        windows.filter_map(|window| WindowPlace::deserialize(window).ok()).collect()
    }

    /// Begins the list of projects with those that had a window, if there is no list yet. Returns a file in place of the
    /// list that could not be read. Blocks on the disk.
    pub fn list_projects(&self, data: &Path) -> std::io::Result<Option<SetAside>> {
        let store = ProjectStore::new(data);
        let projects = store.load();
        // The first window is the one that was used last.
        let windows = self.windows().into_iter().rev().filter(|window| !window.demo);
        let used: Vec<Change> =
            (1..).zip(windows).map(|(at, window)| Change::Used { project: window.project, at }).collect();
        if projects.is_new && !used.is_empty() {
            store.change(&used)?;
        }
        Ok(projects.set_aside)
    }

    /// Reads the file. Blocks on the disk.
    pub fn read(app: &AppHandle, data: &Path) -> anyhow::Result<Self> {
        let file = path(data);
        let unread = restore(&file).context("restoring the places of windows")?;
        let store = builder(app, &file).build().context("opening the places of windows")?;
        store.close_resource();
        Ok(Self { entries: store.entries().into_iter().collect(), unread })
    }
}

/// Puts the copy in place of a file that a killed save left in part, or that is not readable, which is returned.
fn restore(file: &Path) -> anyhow::Result<Option<SetAside>> {
    let copy = read_regular(&copy(file), MOST_BYTES).ok().filter(|copy| is_entries(copy));
    let is_torn =
        |found: &[u8]| copy.as_ref().is_some_and(|copy| copy.len() > found.len() && copy.starts_with(found));
    let found = read_regular(file, MOST_BYTES);
    let unread = match found {
        Ok(found) if is_torn(&found) => None,
        _ => match load_json::<Entries>(file, MOST_BYTES) {
            Loaded::Missing | Loaded::Read(_) => return Ok(None),
            Loaded::Unreadable(aside) => Some(aside),
        },
    };
    let is_free = unread.as_ref().is_none_or(|aside| aside.moved_to.is_ok());
    if let Some(copy) = copy.filter(|_| is_free) {
        write_atomically(file, &copy)?;
    }
    Ok(unread)
}

fn is_entries(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Entries>(bytes).is_ok()
}

fn path(data: &Path) -> PathBuf {
    data.join("windows.json")
}

fn copy(file: &Path) -> PathBuf {
    file.with_extension("json.copy")
}

/// The bytes of the file. Sorted, so that equal entries have equal bytes, and a torn file is the start of its copy.
fn bytes_of(entries: &Entries) -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> {
    let sorted: BTreeMap<_, _> = entries.iter().collect();
    Ok(serde_json::to_vec_pretty(&sorted)?)
}

fn builder(app: &AppHandle, file: &Path) -> StoreBuilder<Wry> {
    StoreBuilder::new(app, file).serialize(bytes_of).disable_auto_save()
}

/// Writes the entries by the plugin. Blocks on the disk.
fn save(app: &AppHandle, file: &Path, entries: Entries) -> anyhow::Result<()> {
    let bytes = bytes_of(&entries).map_err(|error| anyhow::anyhow!(error))?;
    write(file, &bytes, || {
        // A store for each save, with the entries as its defaults: `Store::set` publishes each value to the pages of all
        // windows, and a page must not learn the places of other projects.
        let store = builder(app, file).create_new().defaults(entries).build()?;
        // Forgotten by the plugin, which would save it again at the end of the app, without a deadline.
        store.close_resource();
        Ok(store.save()?)
    })
}

/// Writes the bytes with a writer that may be killed in the middle: the file or its copy is complete at any moment.
fn write(file: &Path, bytes: &[u8], in_place: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    let is_new = match open_regular(file) {
        // A folder for example cannot be replaced.
        Err(ReadError::NotAFile(_)) => {
            set_aside(file)?;
            true
        }
        Err(ReadError::Missing) => true,
        _ => false,
    };
    write_atomically(&copy(file), bytes)?;
    if is_new {
        // With the permissions of Deskbell's files; the plugin's would be those of the umask.
        write_atomically(file, bytes)?;
    }
    in_place()
}

/// The places and their file.
pub struct PlacesStore {
    /// What is written, besides the windows: entries of another version.
    others: Entries,
    windows: Arc<Mutex<Vec<WindowPlace>>>,
    data: PathBuf,
    /// Locked while the file is written, so that an earlier content never replaces a later one.
    saving: Arc<Mutex<()>>,
    /// The file at the path could not be moved away, so it is not overwritten.
    is_blocked: bool,
}

impl PlacesStore {
    pub fn new(data: PathBuf, saved: SavedPlaces) -> Self {
        let is_blocked = saved.unread.as_ref().is_some_and(|aside| aside.moved_to.is_err());
        let windows = Arc::new(Mutex::new(saved.windows()));
        Self { others: saved.entries, windows, data, saving: Arc::default(), is_blocked }
    }

    /// The windows that are remembered, open or closed.
    pub fn windows(&self) -> Vec<WindowPlace> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<WindowPlace>> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session that was open in the project's window.
    pub fn open_session(&self, project: &ProjectRef) -> Option<SessionId> {
        self.lock().iter().find(|known| known.is_of_project(project))?.open_session.clone()
    }

    /// The project's own zoom.
    pub fn zoom(&self, project: &ProjectRef) -> Option<u32> {
        self.lock().iter().find(|known| known.is_of_project(project))?.zoom
    }

    /// Changes the project's own zoom, and returns the new one. Written to disk by the next save.
    pub fn change_zoom(
        &self,
        project: &ProjectRef,
        change: impl FnOnce(Option<u32>) -> Option<u32>,
    ) -> Option<u32> {
        let mut windows = self.lock();
        let place = windows.iter_mut().find(|known| known.is_of_project(project));
        let zoom = change(place.as_ref().and_then(|place| place.zoom));
        if let Some(place) = place {
            place.zoom = zoom;
        }
        zoom
    }

    /// The panels of the project's window.
    pub fn panels(&self, project: &ProjectRef) -> SidePanels {
        self.lock()
            .iter()
            .find(|known| known.is_of_project(project))
            .map(|known| known.panels)
            .unwrap_or_default()
    }

    /// Remembers the panels of a project's window. Written to disk by the next save. `false`: nothing changed.
    pub fn remember_panels(&self, project: &ProjectRef, panels: SidePanels) -> bool {
        let mut windows = self.lock();
        let Some(place) = windows.iter_mut().find(|known| known.is_of_project(project)) else { return false };
        std::mem::replace(&mut place.panels, panels) != panels
    }

    /// Remembers which session is open in a project's window. Written to disk by the next save. `false`: nothing
    /// changed.
    pub fn remember_session(&self, project: &ProjectRef, id: &SessionId) -> bool {
        let mut windows = self.lock();
        let Some(place) = windows.iter_mut().find(|known| known.is_of_project(project)) else { return false };
        if place.open_session.as_ref() == Some(id) {
            return false;
        }
        place.open_session = Some(id.clone());
        true
    }

    /// The second session of the project's window.
    pub fn second_session(&self, project: &ProjectRef) -> Option<SessionId> {
        self.lock().iter().find(|known| known.is_of_project(project))?.second_session.clone()
    }

    /// Remembers the second session of a project's window. Written to disk by the next save. `false`:
    /// nothing changed.
    pub fn remember_second(&self, project: &ProjectRef, id: Option<SessionId>) -> bool {
        let mut windows = self.lock();
        let Some(place) = windows.iter_mut().find(|known| known.is_of_project(project)) else { return false };
        if place.second_session == id {
            return false;
        }
        place.second_session = id;
        true
    }

    /// Forgets the place of the own window of a session, which was closed.
    pub fn forget_own(&self, project: &ProjectRef, id: &SessionId) {
        self.lock().retain(|known| known.project != *project || known.own_session.as_ref() != Some(id));
    }

    /// Remembers a window, and replaces the earlier entry of its project or session; its zoom, panels and second session stay.
    /// Written to disk by the next save.
    pub fn remember(&self, place: WindowPlace) {
        let mut windows = self.lock();
        let place = match windows
            .iter()
            .position(|known| known.project == place.project && known.own_session == place.own_session)
        {
            Some(at) => {
                let WindowPlace { zoom, panels, second_session, .. } = windows.remove(at);
                WindowPlace { zoom, panels, second_session, ..place }
            }
            None => place,
        };
        windows.insert(0, place);
        // Limits the number of entries of projects that were closed long ago.
        windows.truncate(100);
    }

    /// Writes all entries to the file.
    pub async fn save(&self, app: &AppHandle) -> anyhow::Result<()> {
        let app = app.clone();
        self.save_by(move |file, entries| save(&app, file, entries)).await
    }

    async fn save_by(
        &self,
        save: impl FnOnce(&Path, Entries) -> anyhow::Result<()> + Send + 'static,
    ) -> anyhow::Result<()> {
        let file = path(&self.data);
        anyhow::ensure!(!self.is_blocked, "{} cannot be replaced", file.display());
        let (saving, windows, mut entries) = (self.saving.clone(), self.windows.clone(), self.others.clone());
        let write = move || {
            let _saving = saving.lock().unwrap_or_else(PoisonError::into_inner);
            let windows = windows.lock().unwrap_or_else(PoisonError::into_inner).clone();
            entries.insert(WINDOWS.to_owned(), serde_json::to_value(windows)?);
            save(&file, entries)
        };
        disk::run(&self.data, disk::DEADLINE, write).await?
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deskbell_engine::api::{PanelChoice, RemoteProject};
    use tauri::async_runtime::block_on;

    fn place(project: &str) -> WindowPlace {
        WindowPlace { size: Some((800, 600)), ..WindowPlace::new(project, false) }
    }

    /// The saved places, read as the plugin does (2.5).
    fn saved(data: &Path) -> SavedPlaces {
        let file = path(data);
        let unread = restore(&file).unwrap();
        let entries = std::fs::read(&file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        SavedPlaces { entries: entries.unwrap_or_default(), unread }
    }

    fn opened(data: &Path) -> PlacesStore {
        PlacesStore::new(data.to_owned(), saved(data))
    }

    /// Saves as the plugin does (2.5): it truncates and writes.
    fn save(kept: &PlacesStore) -> anyhow::Result<()> {
        block_on(kept.save_by(|file, entries| {
            let bytes = bytes_of(&entries).map_err(|error| anyhow::anyhow!(error))?;
            write(file, &bytes, || Ok(std::fs::write(file, &bytes)?))
        }))
    }

    #[test]
    fn what_is_in_place_of_the_file_is_replaced_by_the_next_save_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(path(folder.path())).unwrap();
        let unread = saved(folder.path());
        assert!(unread.unread.is_some());
        let kept = PlacesStore::new(folder.path().to_owned(), unread);
        // The same while the app runs.
        std::fs::create_dir(path(folder.path())).unwrap();
        kept.remember(place("/p"));
        save(&kept).unwrap();
        assert_eq!(saved(folder.path()).windows(), [place("/p")]);
        assert!(folder.path().join("windows.json.unreadable-2").is_dir());
    }

    #[test]
    fn a_projects_own_zoom_is_kept_with_its_place_and_apart_from_other_projects() {
        let folder = tempfile::tempdir().unwrap();
        let kept = opened(folder.path());
        for project in ["/p", "/q"] {
            kept.remember(place(project));
        }
        assert_eq!(kept.change_zoom(&"/p".into(), |own| own.is_none().then_some(125)), Some(125));
        // Closing the window remembers its place again.
        kept.remember(WindowPlace { closed: true, ..place("/p") });
        save(&kept).unwrap();
        let kept = opened(folder.path());
        assert_eq!(["/p", "/q"].map(|project| kept.zoom(&project.into())), [Some(125), None]);
        assert_eq!(kept.change_zoom(&"/p".into(), |_| None), None);
        assert_eq!(kept.zoom(&"/p".into()), None);
    }

    #[test]
    fn a_window_of_another_machine_is_remembered_apart_from_the_folder_of_the_same_name_here() {
        let folder = tempfile::tempdir().unwrap();
        // As an earlier version wrote it, with one whose machine has no such name.
        let windows = ["/p", "\0me@box\0/p", "\0-oProxyCommand=x\0/p"]
            .map(|project| serde_json::json!({ "project": project, "size": [800, 600], "position": null }));
        std::fs::write(path(folder.path()), serde_json::json!({ "windows": windows }).to_string()).unwrap();
        let there = RemoteProject { machine: "me@box".parse().unwrap(), folder: "/p".parse().unwrap() };
        let far = WindowPlace { size: Some((800, 600)), ..WindowPlace::new(there, false) };
        let kept = opened(folder.path());
        assert_eq!(kept.windows(), [place("/p"), far.clone()]);
        kept.change_zoom(&far.project, |_| Some(125));
        save(&kept).unwrap();
        assert!(!std::fs::read_to_string(path(folder.path())).unwrap().contains("\\u0000"));
        let kept = opened(folder.path());
        assert_eq!((kept.zoom(&far.project), kept.zoom(&"/p".into())), (Some(125), None));
    }

    #[test]
    fn a_projects_panels_are_kept_with_its_place_and_apart_from_other_projects() {
        let folder = tempfile::tempdir().unwrap();
        let kept = opened(folder.path());
        kept.remember(place("/p"));
        kept.remember(place("/q"));
        let panels = SidePanels {
            sessions: PanelChoice { width: Some(300), shown: None },
            side: PanelChoice { width: None, shown: Some(false) },
        };
        assert!(kept.remember_panels(&"/p".into(), panels) && !kept.remember_panels(&"/p".into(), panels));
        // Closing the window remembers its place again.
        kept.remember(WindowPlace { closed: true, ..place("/p") });
        save(&kept).unwrap();
        let kept = opened(folder.path());
        assert_eq!(kept.panels(&"/p".into()), panels);
        assert_eq!(kept.panels(&"/q".into()), SidePanels::default());
        assert!(!kept.remember_panels(&"/none".into(), panels));
    }

    #[test]
    fn the_session_beside_the_open_one_is_kept_with_its_place_until_it_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let kept = opened(folder.path());
        kept.remember(place("/p"));
        kept.remember(place("/q"));
        let [p, q]: [ProjectRef; 2] = ["/p".into(), "/q".into()];
        let second = Some(SessionId::new("second"));
        assert!(kept.remember_second(&p, second.clone()) && !kept.remember_second(&p, second.clone()));
        // Closing the window remembers its place again.
        kept.remember(WindowPlace { closed: true, ..place("/p") });
        save(&kept).unwrap();
        let kept = opened(folder.path());
        assert_eq!((kept.second_session(&p), kept.second_session(&q)), (second, None));
        assert!(kept.remember_second(&p, None));
        save(&kept).unwrap();
        assert_eq!(opened(folder.path()).second_session(&p), None);
        assert!(!kept.remember_second(&"/none".into(), Some(SessionId::new("second"))));
    }

    #[test]
    fn a_save_keeps_what_another_version_wrote_and_is_for_the_user_alone() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(path(folder.path()), r#"{"later": [1], "windows": []}"#).unwrap();
        let kept = opened(folder.path());
        kept.remember(place("/p"));
        save(&kept).unwrap();
        let entries: Entries = serde_json::from_slice(&std::fs::read(path(folder.path())).unwrap()).unwrap();
        assert_eq!(entries["later"], serde_json::json!([1]));
        assert_eq!(saved(folder.path()).windows(), [place("/p")]);
        #[cfg(unix)]
        for file in [path(folder.path()), copy(&path(folder.path()))] {
            use std::os::unix::fs::PermissionsExt;
            let new = tempfile::tempdir().unwrap();
            let kept = opened(new.path());
            save(&kept).unwrap();
            let mode =
                std::fs::metadata(new.path().join(file.file_name().unwrap())).unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "{mode:o}");
        }
    }

    #[test]
    fn a_file_that_a_killed_save_left_in_part_is_taken_from_the_copy() {
        let folder = tempfile::tempdir().unwrap();
        let kept = opened(folder.path());
        kept.remember(place("/p"));
        save(&kept).unwrap();
        let whole = std::fs::read(path(folder.path())).unwrap();
        assert_eq!(std::fs::read(copy(&path(folder.path()))).unwrap(), whole);
        for length in 0..whole.len() {
            std::fs::write(path(folder.path()), &whole[..length]).unwrap();
            let read = saved(folder.path());
            assert_eq!((read.windows(), read.unread), (vec![place("/p")], None), "{length} bytes");
            assert_eq!(std::fs::read(path(folder.path())).unwrap(), whole);
        }
    }

    #[test]
    fn a_file_that_is_not_a_part_of_the_copy_counts_if_it_can_be_read_and_is_kept_otherwise() {
        let folder = tempfile::tempdir().unwrap();
        let kept = opened(folder.path());
        kept.remember(place("/p"));
        save(&kept).unwrap();
        // An app that was killed between its copy and its file, and an editor.
        std::fs::write(path(folder.path()), r#"{"windows": []}"#).unwrap();
        let read = saved(folder.path());
        assert_eq!((read.windows(), read.unread), (vec![], None));
        std::fs::write(path(folder.path()), "{ \"windows\": mine").unwrap();
        let read = saved(folder.path());
        assert_eq!(read.windows(), [place("/p")]);
        let aside = read.unread.unwrap().moved_to.unwrap();
        assert_eq!(std::fs::read_to_string(aside).unwrap(), "{ \"windows\": mine");
        // A file that the user has removed does not come back, and a copy that is none is not taken.
        std::fs::remove_file(path(folder.path())).unwrap();
        assert_eq!(saved(folder.path()).windows(), []);
        std::fs::write(copy(&path(folder.path())), "{").unwrap();
        std::fs::write(path(folder.path()), "").unwrap();
        assert!(saved(folder.path()).unread.is_some());
    }

    #[cfg(unix)]
    #[test]
    fn saves_until_it_is_killed() {
        let Some(data) = std::env::var_os(KILLED).map(PathBuf::from) else { return };
        let kept = opened(&data);
        for nr in 1.. {
            remember_many(&kept);
            kept.remember(place(&format!("/{nr}")));
            save(&kept).unwrap();
            println!("saved {nr}");
        }
    }

    /// An app that is killed while it saves loses no place that was saved before.
    #[cfg(unix)]
    #[test]
    fn a_kill_at_any_moment_leaves_the_last_save_or_a_later_one() {
        use std::io::{BufRead, BufReader};
        let folder = tempfile::tempdir().unwrap();
        for n_saves in 1..=10 {
            let mut child = std::process::Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "places::tests::saves_until_it_is_killed", "--nocapture"])
                .env(KILLED, folder.path())
                .stdout(std::process::Stdio::piped())
                .stderr(std::process::Stdio::null())
                .spawn()
                .unwrap();
            let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
            let number = |line: String| line.split_once("saved ").and_then(|(_, nr)| nr.parse::<u32>().ok());
            let mut last = lines.by_ref().filter_map(number).nth(n_saves).unwrap();
            child.kill().unwrap();
            child.wait().unwrap();
            last = lines.filter_map(number).last().unwrap_or(last);
            let read = saved(folder.path());
            assert_eq!(read.unread, None);
            let first = read.windows()[0].project.to_string();
            let kept: u32 = first.trim_start_matches('/').parse().unwrap();
            assert!(kept == last || kept == last + 1, "{last} was saved, and {kept} is there");
        }
    }

    /// The folder that is written in until the writer is killed.
    #[cfg(unix)]
    const KILLED: &str = "DESKBELL_TEST_PLACES_KILLED";

    /// The folder that a writer writes in; without it the test of the writer does nothing.
    #[cfg(unix)]
    const FOLDER: &str = "DESKBELL_TEST_PLACES";

    #[cfg(unix)]
    fn remember_many(kept: &PlacesStore) {
        (0..100).for_each(|nr| kept.remember(place(&format!("/{}/{nr}", "p".repeat(200)))));
    }

    /// Writes where no file may have more than 4 KiB, as on a full disk.
    #[cfg(unix)]
    #[test]
    fn writes_on_a_full_disk() {
        let Some(data) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
        let kept = opened(&data);
        kept.remember(place("/last"));
        println!("refused: {}", save(&kept).unwrap_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_full_disk_is_reported_and_the_places_stay() {
        let folder = tempfile::tempdir().unwrap();
        let kept = opened(folder.path());
        remember_many(&kept);
        save(&kept).unwrap();
        let before = std::fs::read(path(folder.path())).unwrap();
        // Without the signal the write fails, as it does on a full disk. The unit of the limit is 512 or 1024 bytes.
        let output = std::process::Command::new("sh")
            .arg("-c")
            .arg("trap '' XFSZ; ulimit -f 8; exec \"$0\" --exact places::tests::writes_on_a_full_disk --nocapture")
            .arg(std::env::current_exe().unwrap())
            .env(FOLDER, folder.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && said.contains("refused: "), "{output:?}");
        assert_eq!(std::fs::read(path(folder.path())).unwrap(), before);
        let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(names.into_iter().all(|name| !name.to_string_lossy().starts_with(".deskbell-")));
        kept.remember(place("/last"));
        save(&kept).unwrap();
        assert_eq!(saved(folder.path()).windows()[0], place("/last"));
    }

    #[test]
    fn the_list_begins_with_the_projects_that_had_a_window() {
        let data = tempfile::tempdir().unwrap();
        let place = |project: &str, demo: bool| serde_json::json!({"project": project, "demo": demo, "size": null, "position": null});
        let windows = [place("/last", false), place("/demo", true), place("/first", false)];
        let text = serde_json::json!({ "windows": windows }).to_string();
        let places = SavedPlaces { entries: serde_json::from_str(&text).unwrap(), unread: None };
        let listed = || {
            let known = ProjectStore::new(data.path()).load().known;
            known.into_iter().map(|known| known.project.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(places.list_projects(data.path()).unwrap(), None);
        assert_eq!(listed(), ["/last", "/first"]);
        // A list that the user has emptied stays empty.
        ProjectStore::new(data.path()).change(&[Change::Clear]).unwrap();
        assert_eq!(places.list_projects(data.path()).unwrap(), None);
        assert_eq!(listed(), [""; 0]);
        // An unreadable list is reported, and not filled again.
        std::fs::write(data.path().join("projects.json"), "torn {").unwrap();
        let aside = places.list_projects(data.path()).unwrap().unwrap();
        assert!(aside.moved_to.is_ok());
    }
}
