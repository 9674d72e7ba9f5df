//! The steps of an update.

use super::curl::Curl;
use super::image::Image;
use super::latest::{LIST, LONGEST_LIST, Latest, SIGNATURE, kind};
use super::running;
use super::update_place::UpdatePlace;
use super::{Report, State};
use crate::attach::list;
use anyhow::Context;
use deskbell_engine::owner::Lock;
use deskbell_sessions::folders;
use std::path::Path;
use std::time::Duration;

/// Timeouts for the list and for the AppImage, which has some 10 MB.
const LIST_TIMEOUT: Duration = Duration::from_secs(60);
const FILE_TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// The name of the lock that an update has for as long as it runs.
const LOCK: &str = "update";

/// Installs a newer version, or only says whether there is one. Nothing is downloaded where it is not available.
pub async fn update(only_check: bool) -> Report {
    let Some(image) = Image::of_process() else {
        return Report::new(
            State::Unavailable,
            "This Deskbell is no AppImage: the package manager that installed it updates it.",
        );
    };
    let Some(place) = UpdatePlace::of_build() else {
        return Report::new(State::Unavailable, "This build of Deskbell has no place to ask for updates.");
    };
    let mut newest = None;
    let ended = steps(&image, &place, only_check, &mut newest).await;
    let report = ended.unwrap_or_else(|error| Report::new(State::Failed, sentence(&error)));
    Report { newest, ..report }
}

/// The error with its causes, as one sentence.
fn sentence(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    if text.ends_with('.') { text } else { text + "." }
}

async fn steps(
    image: &Image,
    place: &UpdatePlace,
    only_check: bool,
    newest: &mut Option<String>,
) -> anyhow::Result<Report> {
    let current = env!("CARGO_PKG_VERSION");
    let url = |name: &str| {
        place
            .url_of(name)
            .context("The place of updates of this build is no plain https address, so nothing was asked.")
    };
    let (list_url, signature_url) = (url(LIST)?, url(SIGNATURE)?);
    let curl = Curl::find(std::env::var_os("PATH").as_deref()).with_context(|| {
        format!(
            "The program curl, which downloads updates, was not found. Install it, or download the AppImage that \
             {list_url} names from {} and put it in the place of {}.",
            place.base(),
            image.path().display()
        )
    })?;
    let listed = curl.fetch(&list_url, LONGEST_LIST, LIST_TIMEOUT).await?;
    let signature = curl.fetch(&signature_url, LONGEST_LIST, LIST_TIMEOUT).await?;
    let latest = Latest::verified(&listed, &signature, &place.key)?;
    if !latest.is_newer_than(current) {
        // An older list is no error: a server may lag, and the signature of an old list stays right.
        *newest = Some(current.to_owned());
        return Ok(Report::new(State::Newest, format!("Deskbell {current} is the newest version.")));
    }
    let version = &latest.version;
    *newest = Some(version.clone());
    let Some(file) = latest.file()? else {
        let why = format!("Deskbell {version} is newer than this {current}, but has no {}.", kind());
        return Ok(Report::new(State::Unavailable, why));
    };
    if only_check {
        let why = format!("Deskbell {version} is newer than this {current}. `deskbell update` installs it.");
        return Ok(Report::new(State::Newer, why));
    }

    let data = folders::data();
    let lock = Lock::take(&data, LOCK).context("The update could not begin")?;
    if lock.is_none() {
        return Ok(Report::new(State::Refused, "Deskbell was not updated, because another update runs."));
    }
    if let Some(why) = busy(&data, image).await? {
        return Ok(Report::new(State::Refused, why));
    }
    image.check_folder()?;
    let bytes = curl.fetch(&url(&file.name)?, file.size, FILE_TIMEOUT).await?;
    file.check(&bytes)?;
    // A download takes long enough for a turn to begin.
    if let Some(why) = busy(&data, image).await? {
        return Ok(Report::new(State::Refused, why));
    }
    image.replace(&bytes)?;
    let why =
        format!("Deskbell {version} is installed as {}. The next start runs it.", image.path().display());
    Ok(Report::new(State::Installed, why))
}

/// Why Deskbell must not be replaced now; `None` if nothing works or waits.
async fn busy(data: &Path, image: &Image) -> anyhow::Result<Option<String>> {
    let servers =
        list::busy(data).await.context("Deskbell was not updated, because its servers were not found")?;
    if let Some(unknown) = servers.unknown.first() {
        return Ok(Some(format!("Deskbell was not updated, because it is not known what works: {unknown}.")));
    }
    if servers.n_sessions > 0 {
        let (sessions, them) = match servers.n_sessions {
            1 => ("1 session works or waits".to_owned(), "it"),
            n => (format!("{n} sessions work or wait"), "them"),
        };
        return Ok(Some(format!(
            "Deskbell was not updated, because {sessions}. Let {them} finish, or run `deskbell sessions stop --all`, and \
             update again."
        )));
    }
    Ok(running::of_image(image.path()).first().map(|pid| {
        format!("Deskbell was not updated, because it runs (process {pid}). Quit it and update again.")
    }))
}
