//! `latest.json`: the newest version and its AppImage, as `deskbell update` reads it. A release signs it.

use std::fs;
use std::path::Path;

use super::kind::Kind;
use super::sums;
use crate::Outcome;
use serde_json::json;

/// Prints the list for an AppImage.
pub fn latest(image: &str) -> Outcome {
    println!("{}", list(Path::new(image))?);
    Ok(())
}

fn list(image: &Path) -> Outcome<String> {
    let name = image.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let of_app = name.strip_prefix(&format!("{}-", Kind::App.name()));
    let parts = of_app.and_then(|name| name.strip_suffix(".AppImage")?.rsplit_once('-'));
    // The version and the processor are parts of addresses.
    let is_plain =
        |part: &str| part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._".contains(&byte));
    let Some((version, processor)) = parts.filter(|(version, of)| is_plain(version) && is_plain(of)) else {
        return Err(format!("{} is not named as an AppImage of Deskbell", image.display()));
    };
    let found = fs::metadata(image).map_err(|error| format!("{}: {error}", image.display()))?;
    let (size, sum) = (found.len(), sums::sum(image)?);
    let file = json!({"name": name, "size": size, "sha256": sum});
    Ok(json!({"version": version, "files": {format!("linux-{processor}.AppImage"): file}}).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_the_version_and_the_checksum_of_the_image() {
        let folder = crate::scratch::Scratch::new().unwrap();
        let image = folder.path().join("deskbell-0.2.0-x86_64.AppImage");
        fs::write(&image, "").unwrap();
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let file = format!(r#"{{"name":"deskbell-0.2.0-x86_64.AppImage","size":0,"sha256":"{empty}"}}"#);
        let expected = format!(r#"{{"version":"0.2.0","files":{{"linux-x86_64.AppImage":{file}}}}}"#);
        assert_eq!(list(&image), Ok(expected));
        for name in ["deskbell.AppImage", "other-0.2.0-x86_64.AppImage", "deskbell-0.2.0\"-x86_64.AppImage"] {
            assert!(list(&folder.path().join(name)).is_err(), "{name}");
        }
    }
}
