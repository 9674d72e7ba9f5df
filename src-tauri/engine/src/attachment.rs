//! Attachments of a prompt: images, identified by their content instead of their name, and files of the project.

use crate::api::{CommandError, Dropped, ErrorCode, Image};
use crate::disk::{self, FileKind, ReadError, open_regular};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use imagesize::ImageType;
use std::io::Read;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

/// Maximum size of an image in bytes (Messages API, images).
pub const MAX_BYTES: usize = 5 << 20;
/// Maximum length of an image's longer side in pixels (Messages API, images).
pub(crate) const MAX_SIDE: usize = 8_000;
/// Maximum number of items read from one drop.
const MAX_DROPPED: usize = 50;

/// Checks an image given as base64. `name` is used in error messages.
pub fn check_base64(name: &str, data: &str) -> Result<Image, CommandError> {
    if data.len() > MAX_BYTES.div_ceil(3) * 4 {
        return Err(too_large(name));
    }
    let bytes = BASE64_STANDARD.decode(data).map_err(|error| CommandError {
        detail: Some(error.to_string()),
        ..refused(format!("{name} could not be read."))
    })?;
    let media_type = media_type(name, &bytes)?;
    Ok(Image { media_type: media_type.to_owned(), data: data.to_owned() })
}

/// Checks an image given as bytes. `name` is used in error messages.
pub fn of_bytes(name: &str, bytes: &[u8]) -> Result<Image, CommandError> {
    let media_type = media_type(name, bytes)?;
    Ok(Image { media_type: media_type.to_owned(), data: BASE64_STANDARD.encode(bytes) })
}

/// Checks the images of a prompt, whatever their source. The media type is taken from the bytes.
pub(crate) fn check_all(images: &[Image]) -> Result<Vec<Image>, CommandError> {
    let name =
        |at: usize| if images.len() == 1 { "The image".to_owned() } else { format!("Image {}", at + 1) };
    images.iter().enumerate().map(|(at, image)| check_base64(&name(at), &image.data)).collect()
}

/// The media type, detected from the first bytes. Fails if the agent does not accept the type or the image is too
/// large.
pub(crate) fn media_type(name: &str, bytes: &[u8]) -> Result<&'static str, CommandError> {
    if bytes.is_empty() {
        return Err(refused(format!("{name} is empty.")));
    }
    let media_type = of_first_bytes(bytes)
        .ok_or_else(|| refused(format!("{name} is not a PNG, JPEG, GIF or WebP image.")))?;
    if bytes.len() > MAX_BYTES {
        return Err(too_large(name));
    }
    let size = imagesize::blob_size(bytes).map_err(|error| CommandError {
        detail: Some(error.to_string()),
        ..refused(format!("{name} is damaged: its size in pixels cannot be read."))
    })?;
    if size.width == 0 || size.height == 0 {
        return Err(refused(format!("{name} has no pixels.")));
    }
    if size.width.max(size.height) > MAX_SIDE {
        let (width, height) = (size.width, size.height);
        return Err(refused(format!(
            "{name} is {width} × {height} pixels; the longer side may have {MAX_SIDE}."
        )));
    }
    Ok(media_type)
}

fn of_first_bytes(bytes: &[u8]) -> Option<&'static str> {
    match imagesize::image_type(bytes).ok()? {
        ImageType::Png => Some("image/png"),
        ImageType::Jpeg => Some("image/jpeg"),
        ImageType::Gif => Some("image/gif"),
        ImageType::Webp => Some("image/webp"),
        _ => None,
    }
}

/// Separates the folders outside the project, which are opened as projects of their own, from everything else that was
/// dropped on a window.
pub fn other_projects(project: &Path, paths: Vec<PathBuf>) -> (Vec<PathBuf>, Vec<PathBuf>) {
    paths.into_iter().partition(|path| {
        // A link inside the project may lead to a folder outside.
        !path.starts_with(project) && matches!(disk::kind(path), Ok(FileKind::Folder))
    })
}

/// Reads items dropped on a window: an image is attached, anything else is named in the prompt.
pub fn dropped(project: &Path, paths: &[impl AsRef<Path>]) -> Vec<Dropped> {
    paths.iter().take(MAX_DROPPED).map(|path| drop_one(project, path.as_ref())).collect()
}

fn drop_one(project: &Path, path: &Path) -> Dropped {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let refused = |why: String| Dropped::Refused { why };
    let is_folder = match disk::kind(path) {
        Ok(FileKind::Folder) => true,
        Ok(FileKind::Regular) => false,
        Ok(kind) => return refused(format!("{name} is {kind}, neither a file nor a folder.")),
        Err(error) => return refused(format!("{name} could not be read: {error}.")),
    };
    if !is_folder {
        match image(path) {
            Ok(Some(bytes)) => {
                return match media_type(&name, &bytes) {
                    Ok(media_type) => Dropped::Image {
                        name,
                        image: Image {
                            media_type: media_type.to_owned(),
                            data: BASE64_STANDARD.encode(bytes),
                        },
                    },
                    Err(error) => refused(error.message),
                };
            }
            Ok(None) => {}
            Err(error) => return refused(format!("{name} could not be read: {error}.")),
        }
    }
    let inside = path.strip_prefix(project).ok().filter(|inside| !inside.as_os_str().is_empty());
    let Some(named) = inside.unwrap_or(path).to_str().filter(|named| !named.chars().any(char::is_control))
    else {
        return refused(format!("{name} has a name that cannot be written into a prompt."));
    };
    let end = if is_folder { "/" } else { "" };
    Dropped::File { path: named.replace(MAIN_SEPARATOR, "/") + end }
}

/// The content of a file if it is an image. Of a file that is too large, slightly more than the limit is read.
fn image(path: &Path) -> Result<Option<Vec<u8>>, ReadError> {
    let mut file = open_regular(path)?.file;
    let mut bytes = Vec::new();
    file.by_ref().take(64).read_to_end(&mut bytes)?;
    if of_first_bytes(&bytes).is_none() {
        return Ok(None);
    }
    file.take((MAX_BYTES + 1) as u64).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

pub fn too_large(name: &str) -> CommandError {
    refused(format!("{name} is larger than {} MB.", MAX_BYTES >> 20))
}

fn refused(message: String) -> CommandError {
    CommandError { code: ErrorCode::BadCommand, message, detail: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The header of a PNG of that size; the check reads nothing after it.
    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        bytes.extend(width.to_be_bytes());
        bytes.extend(height.to_be_bytes());
        bytes.extend([8, 6, 0, 0, 0]);
        bytes
    }

    #[track_caller]
    fn check(bytes: &[u8], expected: Result<&str, &str>) {
        let found = media_type("x", bytes).map_err(|error| error.message);
        assert_eq!(found.as_deref().map_err(String::as_str), expected);
    }

    #[test]
    fn an_image_is_what_its_bytes_say() {
        check(&png(2, 3), Ok("image/png"));
        check(b"GIF89a\x01\0\x01\0\x80\0\0", Ok("image/gif"));
        check(b"RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0\x2f\0\0\0\x10\x07\x10\x11\x11", Ok("image/webp"));
        let jpeg = b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xc0\0\x0b\x08\0\x02\0\x03\x01\x01\x11\0";
        check(jpeg, Ok("image/jpeg"));
    }

    #[test]
    fn what_is_none_is_refused_in_words() {
        let no_image = Err("x is not a PNG, JPEG, GIF or WebP image.");
        check(b"", Err("x is empty."));
        check(b"<svg xmlns='http://www.w3.org/2000/svg'/>", no_image);
        check(b"%PDF-1.7", no_image);
        check(b"BM\x1e\0\0\0\0\0\0\0\x1a\0\0\0\x0c\0\0\0\x01\0\x01\0\x01\0\x18\0", no_image);
        check(&png(1, 1)[..18], Err("x is damaged: its size in pixels cannot be read."));
        check(&png(0, 1), Err("x has no pixels."));
        check(&png(8_001, 1), Err("x is 8001 × 1 pixels; the longer side may have 8000."));
        let mut large = png(1, 1);
        large.resize(MAX_BYTES + 1, 0);
        check(&large, Err("x is larger than 5 MB."));
    }

    #[test]
    fn base64_is_decoded_and_the_callers_word_for_the_type_is_not_asked() {
        let data = BASE64_STANDARD.encode(png(1, 1));
        let image = check_base64("x", &data).unwrap();
        assert_eq!((image.media_type.as_str(), image.data), ("image/png", data));
        assert_eq!(check_base64("x", "*").unwrap_err().message, "x could not be read.");
        assert_eq!(check_base64("x", &"A".repeat(8 << 20)).unwrap_err().message, "x is larger than 5 MB.");
    }

    #[test]
    fn a_dropped_folder_outside_the_project_is_another_project() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        for folder in ["p/src", "other"] {
            std::fs::create_dir_all(path(folder)).unwrap();
        }
        std::fs::write(path("notes.txt"), "").unwrap();
        let dropped = ["p/src", "other", "notes.txt", "gone"].map(path).to_vec();
        let (folders, rest) = other_projects(&path("p"), dropped);
        assert_eq!(folders, [path("other")]);
        assert_eq!(rest, ["p/src", "notes.txt", "gone"].map(path));
    }

    #[test]
    fn a_dropped_image_goes_along_and_a_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        std::fs::create_dir_all(project.join("src")).unwrap();
        std::fs::write(project.join("src/a.rs"), "fn a() {}").unwrap();
        std::fs::write(project.join("shot.txt"), png(1, 1)).unwrap();
        std::fs::write(project.join("wide.png"), png(9_000, 1)).unwrap();
        std::fs::write(folder.path().join("out.md"), "x").unwrap();
        let outside = folder.path().join("out.md");
        let paths = [project.join("src/a.rs"), project.join("src"), outside.clone(), project.join("none")];
        let file = |path: &str| Dropped::File { path: path.to_owned() };
        let found = dropped(&project, &paths);
        assert_eq!(found[..3], [file("src/a.rs"), file("src/"), file(outside.to_str().unwrap())]);
        assert!(matches!(&found[3], Dropped::Refused { why } if why.starts_with("none could not be read")));
        let found = dropped(&project, &[project.join("shot.txt"), project.join("wide.png")]);
        assert!(
            matches!(&found[0], Dropped::Image { name, image } if name == "shot.txt" && image.media_type == "image/png")
        );
        assert!(matches!(&found[1], Dropped::Refused { why } if why.contains("9000 × 1")));
    }
}
