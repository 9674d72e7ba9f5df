//! The inventory of a program: every crate and npm package in it, as CycloneDX 1.5.

use super::dates::iso;
use super::shipped::{Origin, Shipped};
use crate::json::Json;

/// The inventory of the program of this crate and these packages; the same packages give the same text.
pub fn sbom(root: &str, shipped: &[Shipped], version: &str, seconds: u64) -> String {
    let map = |fields: Vec<(&str, Json)>| {
        Json::Map(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    };
    let list = |keys: &[String]| Json::List(keys.iter().map(|key| key.as_str().into()).collect());
    let is_root = |package: &Shipped| package.origin == Origin::Cargo && package.name == root;
    let component = |package: &Shipped| {
        map(vec![
            ("type", if is_root(package) { "application" } else { "library" }.into()),
            ("bom-ref", package.key().as_str().into()),
            ("name", package.name.as_str().into()),
            ("version", package.version.as_str().into()),
            ("licenses", Json::List(vec![map(vec![("expression", package.licence.as_str().into())])])),
            ("purl", package.key().as_str().into()),
        ])
    };
    let (program, others): (Vec<&Shipped>, Vec<&Shipped>) =
        shipped.iter().partition(|package| is_root(package));
    // The page is compiled into the app: what only it uses is used by the app.
    let used: Vec<&String> = shipped.iter().flat_map(|package| &package.uses).collect();
    let page: Vec<String> = others
        .iter()
        .filter(|package| package.origin == Origin::Npm)
        .map(|package| package.key())
        .filter(|key| !used.contains(&key))
        .collect();
    let uses = |package: &Shipped| {
        let mut uses = package.uses.clone();
        if is_root(package) {
            uses.extend(page.iter().cloned());
        }
        uses.sort();
        uses.dedup();
        map(vec![("ref", package.key().as_str().into()), ("dependsOn", list(&uses))])
    };
    let timestamp = format!("{}T00:00:00Z", iso(seconds));
    let mut metadata = vec![("timestamp", timestamp.as_str().into())];
    if let Some(program) = program.first() {
        metadata.push(("component", component(program)));
    }
    let document = map(vec![
        ("bomFormat", "CycloneDX".into()),
        ("specVersion", "1.5".into()),
        ("version", Json::Number("1".to_owned())),
        ("metadata", map(metadata)),
        ("components", Json::List(others.iter().map(|package| component(package)).collect())),
        ("dependencies", Json::List(shipped.iter().map(uses).collect())),
        (
            "properties",
            Json::List(vec![map(vec![("name", "deskbell:version".into()), ("value", version.into())])]),
        ),
    ]);
    format!("{document}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::APP;

    #[test]
    fn every_package_is_a_component_and_every_reference_leads_to_one() {
        let package = |origin, name: &str, uses: &[&str]| Shipped {
            origin,
            name: name.into(),
            version: "1.0.0".into(),
            licence: "MIT".into(),
            authors: Vec::new(),
            texts: Vec::new(),
            uses: uses.iter().map(|key| (*key).into()).collect(),
        };
        let all = [
            package(Origin::Cargo, APP, &["pkg:cargo/a@1.0.0"]),
            package(Origin::Cargo, "a", &[]),
            package(Origin::Npm, "b", &["pkg:npm/c@1.0.0"]),
            package(Origin::Npm, "c", &[]),
        ];
        let text = sbom(APP, &all, "1.0.0", 0);
        assert_eq!(text, sbom(APP, &all, "1.0.0", 0));
        let document = Json::parse(&text).unwrap();
        assert_eq!(document.list("components").len(), 3);
        let program = document.get("metadata").and_then(|metadata| metadata.get("component")).unwrap();
        assert_eq!((program.text("name"), program.text("type")), (APP, "application"));
        let app = document
            .list("dependencies")
            .iter()
            .find(|entry| entry.text("ref") == "pkg:cargo/deskbell@1.0.0");
        let uses: Vec<&str> = app.unwrap().list("dependsOn").iter().filter_map(Json::as_text).collect();
        assert_eq!(uses, ["pkg:cargo/a@1.0.0", "pkg:npm/b@1.0.0"]);
        let known: Vec<&str> = document.list("dependencies").iter().map(|entry| entry.text("ref")).collect();
        let referred = document.list("dependencies").iter().flat_map(|entry| entry.list("dependsOn"));
        assert!(referred.filter_map(Json::as_text).all(|key| known.contains(&key)));
    }
}
