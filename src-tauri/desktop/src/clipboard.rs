//! The image or the files on the clipboard. WebKitGTK (2.50) gives a page an empty clipboard if it contains an image, and
//! the name of the format alone if it contains files. So on Linux the shell reads them through GTK's clipboard, which is
//! already part of the app and asynchronous. On other systems the page gets them itself.

use deskbell_engine::api::{Attachment, CommandError};
use std::path::PathBuf;
use tauri::AppHandle;

#[cfg(target_os = "linux")]
pub use linux::{files, image};

#[cfg(not(target_os = "linux"))]
pub async fn image(_: &AppHandle) -> Result<Option<Attachment>, CommandError> {
    Ok(None)
}

#[cfg(not(target_os = "linux"))]
pub async fn files(_: &AppHandle) -> Result<Vec<PathBuf>, CommandError> {
    Ok(Vec::new())
}

#[cfg(target_os = "linux")]
mod linux {
    use super::*;
    use deskbell_engine::api::ErrorCode;
    use deskbell_engine::attachment::CheckedAttachment;
    use gtk::gdk::{Atom, SELECTION_CLIPBOARD};
    use gtk::glib::filename_from_uri;
    use gtk::{Clipboard, SelectionData};
    use std::time::Duration;
    use tokio::sync::oneshot;

    /// Timeout for the program that owns the image, which may hang. GTK's own timeout is longer.
    const DEADLINE: Duration = Duration::from_secs(5);
    /// The name of the image in error messages.
    const NAME: &str = "The image on the clipboard";
    /// The formats that an agent accepts, the most exact first.
    const FORMATS: [&str; 4] = ["image/png", "image/webp", "image/jpeg", "image/gif"];

    /// The formats in which file managers copy files: a list of their addresses, in the second one after an action.
    const FILES: [&str; 2] = ["text/uri-list", "x-special/gnome-copied-files"];

    /// The result of reading the clipboard.
    enum Found {
        Nothing,
        Bytes(Vec<u8>),
        TooLarge,
        /// The program that offered it did not deliver it.
        Unread,
        /// The image is available only in formats that no agent accepts.
        Other(String),
    }

    type Answer = oneshot::Sender<Found>;

    /// Reads the image, if there is one.
    pub async fn image(app: &AppHandle) -> Result<Option<Attachment>, CommandError> {
        let (answer, found) = oneshot::channel();
        app.run_on_main_thread(move || ask(answer)).map_err(|error| CommandError {
            detail: Some(error.to_string()),
            ..failed("The clipboard could not be read.")
        })?;
        match tokio::time::timeout(DEADLINE, found).await {
            Ok(Ok(Found::Nothing)) => Ok(None),
            // The check reads the whole image.
            Ok(Ok(Found::Bytes(bytes))) => {
                let checked = tokio::task::spawn_blocking(move || Attachment::of_image(NAME, &bytes)).await;
                checked.map_err(|_| failed("The image on the clipboard could not be read."))?.map(Some)
            }
            Ok(Ok(Found::TooLarge)) => Err(Attachment::image_too_large(NAME)),
            Ok(Ok(Found::Other(format))) => Err(failed(&format!(
                "{NAME} is {format}. Copy it as PNG, JPEG, GIF or WebP, or attach a file."
            ))),
            Ok(Ok(Found::Unread) | Err(_)) => Err(failed(
                "The program that the image was copied from did not provide it. Copy it again, or attach a \
                 file.",
            )),
            Err(_) => Err(failed(
                "The program that the image was copied from does not respond. Copy it again, or attach a \
                 file.",
            )),
        }
    }

    /// Reads the paths of files that were copied in a file manager, if there are any.
    pub async fn files(app: &AppHandle) -> Result<Vec<PathBuf>, CommandError> {
        let (answer, found) = oneshot::channel();
        app.run_on_main_thread(move || ask_files(answer)).map_err(|error| CommandError {
            detail: Some(error.to_string()),
            ..failed("The clipboard could not be read.")
        })?;
        match tokio::time::timeout(DEADLINE, found).await {
            Ok(Ok(files)) => Ok(files),
            Ok(Err(_)) | Err(_) => Err(failed(
                "The program that the files were copied from does not respond. Copy them again, or attach a \
                 file.",
            )),
        }
    }

    fn failed(message: &str) -> CommandError {
        CommandError { code: ErrorCode::BadCommand, message: message.to_owned(), detail: None }
    }

    /// Requests the list of formats first, then the best of them. A failed send is ignored: the caller no longer waits.
    fn ask(answer: Answer) {
        let clipboard = Clipboard::get(&SELECTION_CLIPBOARD);
        clipboard.request_contents(&Atom::intern("TARGETS"), move |clipboard, targets| {
            let formats = formats(targets);
            let Some(first) = formats.first() else { return drop(answer.send(Found::Nothing)) };
            let Some(best) = FORMATS.iter().find(|known| formats.iter().any(|format| format == *known))
            else {
                return drop(answer.send(Found::Other(first.clone())));
            };
            clipboard.request_contents(&Atom::intern(best), move |_, data| {
                drop(answer.send(bytes(data)));
            });
        });
    }

    /// Like `ask`, for files.
    fn ask_files(answer: oneshot::Sender<Vec<PathBuf>>) {
        let clipboard = Clipboard::get(&SELECTION_CLIPBOARD);
        clipboard.request_contents(&Atom::intern("TARGETS"), move |clipboard, targets| {
            let formats = names(targets);
            let Some(format) = FILES.iter().find(|known| formats.iter().any(|name| name == *known)) else {
                return drop(answer.send(Vec::new()));
            };
            clipboard.request_contents(&Atom::intern(format), move |_, data| {
                let list = if data.length() > 0 { data.data() } else { Vec::new() };
                drop(answer.send(paths(&list)));
            });
        });
    }

    /// The files of this machine in a list of addresses.
    fn paths(list: &[u8]) -> Vec<PathBuf> {
        let path = |address: &str| match filename_from_uri(address) {
            Ok((path, None)) => Some(path),
            Ok((path, Some(host))) => (host == "localhost").then_some(path),
            // An action, a comment, or another address.
            Err(_) => None,
        };
        String::from_utf8_lossy(list).lines().filter_map(path).collect()
    }

    fn formats(targets: &SelectionData) -> Vec<String> {
        names(targets).into_iter().filter(|name| name.starts_with("image/")).collect()
    }

    fn names(targets: &SelectionData) -> Vec<String> {
        let targets = targets.targets().unwrap_or_default();
        targets.iter().map(|target| target.name().to_string()).collect()
    }

    fn bytes(data: &SelectionData) -> Found {
        match usize::try_from(data.length()) {
            Ok(length) if length > Attachment::MAX_IMAGE => Found::TooLarge,
            Ok(length) if length > 0 => Found::Bytes(data.data()),
            _ => Found::Unread,
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn files_of_this_machine_are_read_from_either_format() {
            let list = b"copy\nfile:///a/b%20c.rs\r\n# a comment\r\nfile://localhost/d\r\nfile://box/e\r\n\
                https://example.org/f\r\n/g\r\nfile:///\xff\r\n";
            assert_eq!(paths(list)[..2], [PathBuf::from("/a/b c.rs"), PathBuf::from("/d")]);
            assert!(!paths(list).iter().any(|path| path.ends_with("e") || path.ends_with("f")));
            assert!(paths(b"").is_empty());
        }
    }
}
