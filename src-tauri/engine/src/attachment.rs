//! Attachments of a prompt: images and documents, identified by their content instead of their name, and files that are
//! named in it.

use crate::api::{Attachment, CommandError, Dropped, ErrorCode};
use crate::disk::{self, FileKind, ReadError, open_regular};
use crate::files::Files;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use imagesize::ImageType;
use std::io::Read;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

/// Maximum size of an image in bytes (Messages API, images).
pub(crate) const MAX_BYTES: usize = 5 << 20;
/// Maximum length of an image's longer side in pixels (Messages API, images).
pub(crate) const MAX_SIDE: usize = 8_000;
/// Maximum size of a PDF in bytes. As base64 it fits into a request of the Messages API, which takes 32 MB.
pub(crate) const MAX_PDF: usize = 20 << 20;
/// Maximum size of an attached text in bytes, more than a model's context holds.
pub(crate) const MAX_TEXT: usize = 1 << 20;
/// Maximum length of the data of all attachments of a prompt, for the same limit of a request.
pub(crate) const MAX_TOGETHER: usize = 28 << 20;
/// A PDF has its header within these first bytes (ISO 32000-1, annex H.3.4.1).
const PDF_HEADER_WITHIN: usize = 1_024;
/// Maximum number of items read from one drop.
const MAX_DROPPED: usize = 50;

const PDF: &str = "application/pdf";
const TEXT: &str = "text/plain";

/// Attachments that are made from the content of a file, which decides their type.
pub trait CheckedAttachment: Sized {
    /// Maximum size of an image in bytes.
    const MAX_IMAGE: usize = MAX_BYTES;

    /// Checks the content of a file given as base64: an image, a PDF or a text. `name` is used in error messages.
    fn of_base64(name: &str, data: &str) -> Result<Self, CommandError>;

    /// Checks an image given as bytes.
    fn of_image(name: &str, bytes: &[u8]) -> Result<Self, CommandError>;

    /// The refusal of an image that is too large.
    fn image_too_large(name: &str) -> CommandError {
        larger_than(name, Self::MAX_IMAGE)
    }
}

impl CheckedAttachment for Attachment {
    fn of_base64(name: &str, data: &str) -> Result<Self, CommandError> {
        of_bytes(name, &decoded(name, data, MAX_PDF)?)
    }

    fn of_image(name: &str, bytes: &[u8]) -> Result<Self, CommandError> {
        let media_type = media_type(name, bytes)?.to_owned();
        Ok(Self { name: name.to_owned(), media_type, data: BASE64_STANDARD.encode(bytes) })
    }
}

/// Checks an image given as base64. `name` is used in error messages.
pub(crate) fn image_of_base64(name: &str, data: &str) -> Result<Attachment, CommandError> {
    let media_type = media_type(name, &decoded(name, data, MAX_BYTES)?)?;
    Ok(Attachment { name: name.to_owned(), media_type: media_type.to_owned(), data: data.to_owned() })
}

fn of_bytes(name: &str, bytes: &[u8]) -> Result<Attachment, CommandError> {
    if bytes.is_empty() || of_first_bytes(bytes).is_some() {
        return Attachment::of_image(name, bytes);
    }
    if is_pdf(bytes) {
        if bytes.len() > MAX_PDF {
            return Err(larger_than(name, MAX_PDF));
        }
        let data = BASE64_STANDARD.encode(bytes);
        return Ok(Attachment { name: name.to_owned(), media_type: PDF.to_owned(), data });
    }
    match str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => of_text(name, text),
        _ => Err(refused(format!(
            "{name} cannot be attached: only PNG, JPEG, GIF and WebP images, PDF files and texts in UTF-8 can. The \
             agent may still be able to read it: write its path into the prompt."
        ))),
    }
}

fn of_text(name: &str, text: &str) -> Result<Attachment, CommandError> {
    if text.trim().is_empty() {
        return Err(refused(format!("{name} is empty.")));
    }
    if text.len() > MAX_TEXT {
        return Err(larger_than(name, MAX_TEXT));
    }
    Ok(Attachment { name: name.to_owned(), media_type: TEXT.to_owned(), data: text.to_owned() })
}

fn is_pdf(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(PDF_HEADER_WITHIN)].windows(5).any(|window| window == b"%PDF-")
}

fn decoded(name: &str, data: &str, limit: usize) -> Result<Vec<u8>, CommandError> {
    if data.len() > limit.div_ceil(3) * 4 {
        return Err(larger_than(name, limit));
    }
    BASE64_STANDARD.decode(data).map_err(|error| CommandError {
        detail: Some(error.to_string()),
        ..refused(format!("{name} could not be read."))
    })
}

/// Checks the attachments of a prompt, whatever their source. The media types of all but texts are taken from the bytes.
pub(crate) fn check_all(attachments: &[Attachment]) -> Result<Vec<Attachment>, CommandError> {
    let is_one = attachments.len() == 1;
    if attachments.iter().map(|one| one.data.len()).sum::<usize>() > MAX_TOGETHER {
        return Err(refused(format!(
            "The attachments are too large together: the agent takes about {} MB with one prompt.",
            (MAX_TOGETHER / 4 * 3) >> 20
        )));
    }
    let check = |(at, one): (usize, &Attachment)| {
        let name = match one.name.as_str() {
            "" if !one.is_image() && is_one => "The document".to_owned(),
            "" if !one.is_image() => format!("Document {}", at + 1),
            "" if is_one => "The image".to_owned(),
            "" => format!("Image {}", at + 1),
            name => name.to_owned(),
        };
        let checked = match one.media_type.as_str() {
            TEXT => of_text(&name, &one.data),
            PDF => Attachment::of_base64(&name, &one.data),
            _ => image_of_base64(&name, &one.data),
        }?;
        Ok(Attachment { name: one.name.clone(), ..checked })
    };
    attachments.iter().enumerate().map(check).collect()
}

/// The media type of an image, detected from the first bytes. Fails if the agent does not accept the type or the image
/// is too large.
pub(crate) fn media_type(name: &str, bytes: &[u8]) -> Result<&'static str, CommandError> {
    if bytes.is_empty() {
        return Err(refused(format!("{name} is empty.")));
    }
    let media_type = of_first_bytes(bytes)
        .ok_or_else(|| refused(format!("{name} is not a PNG, JPEG, GIF or WebP image.")))?;
    if bytes.len() > MAX_BYTES {
        return Err(larger_than(name, MAX_BYTES));
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

impl Files {
    /// Separates the folders outside the project, which are opened as projects of their own, from everything else that was
    /// dropped on a window.
    pub fn other_projects(project: &Path, paths: Vec<PathBuf>) -> (Vec<PathBuf>, Vec<PathBuf>) {
        paths.into_iter().partition(|path| {
            // A link inside the project may lead to a folder outside.
            !path.starts_with(project) && matches!(disk::kind(path), Ok(FileKind::Folder))
        })
    }

    /// Reads items dropped on a window: an image or a PDF is attached, anything else is named in the prompt.
    pub fn dropped(project: &Path, paths: &[impl AsRef<Path>]) -> Vec<Dropped> {
        paths.iter().take(MAX_DROPPED).map(|path| drop_one(project, path.as_ref())).collect()
    }
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
        match attachable(path) {
            Ok(Some(bytes)) => {
                return match of_bytes(&name, &bytes) {
                    Ok(attachment) => Dropped::Attachment { attachment },
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

/// The content of a file if it is an image or a PDF. Of a file that is too large, slightly more than the limit is read.
/// Any other file is better named than attached: the agent reads the part of it that it needs.
fn attachable(path: &Path) -> Result<Option<Vec<u8>>, ReadError> {
    let mut file = open_regular(path)?.file;
    let mut bytes = Vec::new();
    file.by_ref().take(PDF_HEADER_WITHIN as u64).read_to_end(&mut bytes)?;
    let limit = match of_first_bytes(&bytes) {
        Some(_) => MAX_BYTES,
        None if is_pdf(&bytes) => MAX_PDF,
        None => return Ok(None),
    };
    file.take((limit + 1) as u64).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

fn larger_than(name: &str, limit: usize) -> CommandError {
    refused(format!("{name} is larger than {} MB.", limit >> 20))
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
        let image = Attachment::of_base64("x", &data).unwrap();
        assert_eq!((image.media_type.as_str(), image.data), ("image/png", data));
        assert_eq!(Attachment::of_base64("x", "*").unwrap_err().message, "x could not be read.");
        assert_eq!(image_of_base64("x", &"A".repeat(8 << 20)).unwrap_err().message, "x is larger than 5 MB.");
        assert_eq!(
            Attachment::of_base64("x", &"A".repeat(28 << 20)).unwrap_err().message,
            "x is larger than 20 MB."
        );
    }

    #[test]
    fn a_document_is_a_pdf_or_a_text() {
        let check = |bytes: &[u8]| Attachment::of_base64("x", &BASE64_STANDARD.encode(bytes));
        let kind = |bytes: &[u8]| check(bytes).map(|found| found.media_type).map_err(|error| error.message);
        let none = "x cannot be attached: only PNG, JPEG, GIF and WebP images, PDF files and texts in UTF-8 can. The \
                    agent may still be able to read it: write its path into the prompt.";
        assert_eq!(kind(b"%PDF-1.7\n"), Ok(PDF.to_owned()));
        assert_eq!(kind(&[&[b' '; 1_000][..], b"%PDF-1.4"].concat()), Ok(PDF.to_owned()));
        assert_eq!(kind(&[&[0; 1_020][..], b"%PDF-1.4"].concat()), Err(none.to_owned()));
        assert_eq!(
            check("caf\u{e9}\n".as_bytes()).unwrap().data,
            "caf\u{e9}\n",
            "the text itself, not base64"
        );
        assert_eq!(kind(b"caf\xe9"), Err(none.to_owned()));
        assert_eq!(kind(b"a\0b"), Err(none.to_owned()));
        assert_eq!(kind(b" \n"), Err("x is empty.".to_owned()));
        assert_eq!(kind(b""), Err("x is empty.".to_owned()));
        assert_eq!(kind(&vec![b'a'; MAX_TEXT + 1]), Err("x is larger than 1 MB.".to_owned()));
        assert_eq!(kind(&vec![b'a'; MAX_TEXT]), Ok(TEXT.to_owned()));
    }

    #[test]
    fn the_attachments_of_a_prompt_are_checked_each_and_together() {
        let of = |name: &str, media_type: &str, data: String| Attachment {
            name: name.to_owned(),
            media_type: media_type.to_owned(),
            data,
        };
        let pdf = |n: usize| BASE64_STANDARD.encode([&b"%PDF-1.7"[..], &vec![b' '; n]].concat());
        let good = [
            of("", "image/png", BASE64_STANDARD.encode(png(1, 1))),
            of("a.pdf", PDF, pdf(0)),
            of("notes", TEXT, "one".to_owned()),
        ];
        assert_eq!(check_all(&good).unwrap(), good);
        let why = |all: &[Attachment]| check_all(all).unwrap_err().message;
        assert_eq!(why(&[good[0].clone(), of("", TEXT, String::new())]), "Document 2 is empty.");
        assert_eq!(why(&[of("", TEXT, "\n".to_owned())]), "The document is empty.");
        assert_eq!(
            why(&[of("", "x/y", BASE64_STANDARD.encode("x"))]),
            "The document is not a PNG, JPEG, GIF or WebP image."
        );
        // A text that claims to be a PDF is sent as the text that it is.
        let claimed = check_all(&[of("a", PDF, BASE64_STANDARD.encode("one"))]).unwrap();
        assert_eq!(claimed, [of("a", TEXT, "one".to_owned())]);
        let large = of("a.pdf", PDF, pdf(12 << 20));
        assert!(check_all(std::slice::from_ref(&large)).is_ok());
        assert_eq!(
            why(&[large.clone(), large]),
            "The attachments are too large together: the agent takes about 21 MB with one prompt."
        );
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
        let (folders, rest) = Files::other_projects(&path("p"), dropped);
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
        let found = Files::dropped(&project, &paths);
        assert_eq!(found[..3], [file("src/a.rs"), file("src/"), file(outside.to_str().unwrap())]);
        assert!(matches!(&found[3], Dropped::Refused { why } if why.starts_with("none could not be read")));
        let found = Files::dropped(&project, &[project.join("shot.txt"), project.join("wide.png")]);
        assert!(
            matches!(&found[0], Dropped::Attachment { attachment } if attachment.name == "shot.txt" && attachment.media_type == "image/png")
        );
        assert!(matches!(&found[1], Dropped::Refused { why } if why.contains("9000 × 1")));
        std::fs::write(project.join("paper"), "%PDF-1.7").unwrap();
        let [Dropped::Attachment { attachment }] = &Files::dropped(&project, &[project.join("paper")])[..]
        else {
            panic!()
        };
        assert_eq!((attachment.name.as_str(), attachment.media_type.as_str()), ("paper", PDF));
    }
}
