//! The program for another machine. Each connection names its hash and most need no more, because a copy is there: so the
//! hash is kept while the file stays as it is, and the file is read when it is to be copied.

use super::READ;
use deskbell_engine::disk::{self, Regular};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// The largest program that is copied, in bytes.
const MAX_PROGRAM: u64 = 256 << 20;

/// The hashes of files, each with the size and the time that the file had.
static HASHES: Mutex<Option<HashMap<PathBuf, Known>>> = Mutex::new(None);

#[derive(Clone)]
struct Known {
    size: u64,
    modified: Option<SystemTime>,
    hash: String,
}

fn hashes() -> MutexGuard<'static, Option<HashMap<PathBuf, Known>>> {
    HASHES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The program for another machine.
#[derive(Debug)]
pub struct Copy {
    path: PathBuf,
    pub size: u64,
    /// SHA-256, in hexadecimal digits. It is the name of the copy there.
    pub hash: String,
}

impl Copy {
    /// The program in this file. Accesses the disk: call it through `disk::run`.
    pub fn of(path: PathBuf) -> io::Result<Self> {
        let unreadable = |error: &dyn std::fmt::Display| {
            io::Error::other(format!("{} could not be read: {error}", path.display()))
        };
        let Regular { file, size } = disk::open_regular(&path).map_err(|error| unreadable(&error))?;
        // Not every file system has the time.
        let modified = file.metadata().and_then(|metadata| metadata.modified()).ok();
        let known = hashes().as_ref().and_then(|known| known.get(&path).cloned());
        let is_same = |known: &Known| known.size == size && known.modified == modified && modified.is_some();
        let hash = match known.filter(is_same) {
            Some(known) => known.hash,
            None => {
                let bytes = disk::read_regular(&path, MAX_PROGRAM).map_err(|error| unreadable(&error))?;
                let hash = hash_of(&bytes);
                let known = Known { size, modified, hash: hash.clone() };
                hashes().get_or_insert_default().insert(path.clone(), known);
                hash
            }
        };
        Ok(Self { path, size, hash })
    }

    /// The program itself, if the file is still the one that the hash is of.
    pub async fn bytes(&self) -> io::Result<Vec<u8>> {
        let (path, hash) = (self.path.clone(), self.hash.clone());
        let read = disk::run(&self.path, READ, move || {
            let bytes = disk::read_regular(&path, MAX_PROGRAM).map_err(|error| {
                io::Error::other(format!("{} could not be read: {error}", path.display()))
            })?;
            if hash_of(&bytes) == hash {
                return Ok(bytes);
            }
            forget(&path);
            Err(io::Error::other(format!("{} was replaced meanwhile. Connect again", path.display())))
        });
        read.await.map_err(io::Error::other)?
    }
}

fn forget(path: &Path) {
    if let Some(known) = hashes().as_mut() {
        known.remove(path);
    }
}

fn hash_of(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};

    #[tokio::test]
    async fn the_hash_is_that_of_the_file_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        let copy = |text: &str| {
            fs::write(&path, text).unwrap();
            Copy::of(path.clone()).unwrap()
        };
        let (first, second) = (copy("one"), copy("longer"));
        assert_eq!((first.hash, first.size), (hash_of(b"one"), 3));
        assert_eq!((&second.hash, second.size), (&hash_of(b"longer"), 6));
        assert_eq!(second.bytes().await.unwrap(), b"longer");

        // Of the same size and time: the hash is kept, and a copy says that it is wrong.
        let modified = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, "LONGER").unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
        let kept = Copy::of(path.clone()).unwrap();
        assert_eq!(kept.hash, second.hash, "the file is not read for each connection");
        assert!(kept.bytes().await.unwrap_err().to_string().contains("was replaced meanwhile"));
        assert_eq!(Copy::of(path.clone()).unwrap().hash, hash_of(b"LONGER"));

        fs::remove_file(&path).unwrap();
        assert!(Copy::of(path).unwrap_err().to_string().contains("could not be read"));
    }
}
