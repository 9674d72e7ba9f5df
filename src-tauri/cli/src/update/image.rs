//! The AppImage that runs this program, and its replacement.

use anyhow::Context;
use deskbell_engine::disk;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The name of the file that shows whether the folder can be written.
const PROBE: &str = ".deskbell-update.partial";

/// An AppImage, by its real path.
#[derive(Debug, PartialEq, Eq)]
pub struct Image(PathBuf);

impl Image {
    /// The AppImage of this process; `None` if it is none.
    pub fn of_process() -> Option<Self> {
        let program = std::env::current_exe().ok()?;
        Self::of(std::env::var_os("APPIMAGE"), std::env::var_os("APPDIR"), &program)
    }

    /// `APPIMAGE` alone is not enough: a terminal that is an AppImage itself passes its own on to all programs that are
    /// started in it. So the program has to be among the files of the AppImage.
    fn of(image: Option<OsString>, files: Option<OsString>, program: &Path) -> Option<Self> {
        let image = PathBuf::from(image?);
        let files = PathBuf::from(files?);
        if !image.is_absolute() || !files.is_absolute() {
            return None;
        }
        let files = dunce::canonicalize(files).ok()?;
        let image = dunce::canonicalize(image).ok()?;
        (files.parent().is_some() && program.starts_with(files) && image.is_file()).then_some(Self(image))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Fails if the folder cannot be written. Asked before a long download.
    pub fn check_folder(&self) -> anyhow::Result<()> {
        let folder = self.0.parent().unwrap_or(&self.0);
        // What an update left that was killed while it wrote.
        disk::remove_old_leftovers(folder, SystemTime::now());
        let probe = folder.join(PROBE);
        disk::replace(&probe, b"", false).and_then(|()| std::fs::remove_file(&probe)).with_context(|| {
            format!(
                "Deskbell was not updated, because the folder {} cannot be written. Move the AppImage to a folder of \
                 your own, or run the update as the user that owns it",
                folder.display()
            )
        })
    }

    /// Replaces the file with these bytes, in one step: it has the complete old content or the complete new one at any
    /// moment. Blocks without a deadline, so that the result is certain.
    pub fn replace(&self, bytes: &[u8]) -> anyhow::Result<()> {
        std::fs::metadata(&self.0)
            .and_then(|found| disk::write_with_mode(&self.0, bytes, Some(found.permissions().mode() & 0o777)))
            .with_context(|| {
                format!(
                    "Deskbell was not updated, and {} is as it was, because the new file could not be written",
                    self.0.display()
                )
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_image_that_has_the_program_is_its_own() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let (files, image) = (root.join("mount"), root.join("Deskbell.AppImage"));
        std::fs::create_dir(&files).unwrap();
        std::fs::write(&image, "").unwrap();
        std::os::unix::fs::symlink(&image, root.join("link")).unwrap();
        let of = |image: &Path, files: &Path, program: &str| {
            Image::of(Some(image.into()), Some(files.into()), &root.join(program))
        };
        let own = Some(Image(image.clone()));
        assert_eq!(of(&image, &files, "mount/usr/bin/deskbell"), own);
        assert_eq!(of(&root.join("link"), &files, "mount/usr/bin/deskbell"), own);
        assert_eq!(of(&image, &files, "bin/deskbell"), None, "the terminal is an AppImage, and not Deskbell");
        assert_eq!(of(&image, &files, "mounted/deskbell"), None);
        assert_eq!(of(&image, Path::new("/"), "bin/deskbell"), None);
        assert_eq!(of(&root, &files, "mount/deskbell"), None, "a folder");
        assert_eq!(of(&root.join("gone"), &files, "mount/deskbell"), None);
        assert_eq!(of(Path::new("Deskbell.AppImage"), &files, "mount/deskbell"), None);
        assert_eq!(Image::of(Some(image.into()), None, &files.join("deskbell")), None);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_named() {
        // Not even root can make a file there.
        let error = Image("/proc/version".into()).check_folder().unwrap_err();
        assert!(error.to_string().contains("the folder /proc cannot be written"), "{error:#}");
        let error = Image("/proc/version".into()).replace(b"new").unwrap_err();
        assert!(error.to_string().contains("/proc/version is as it was"), "{error:#}");
    }
}
