//! The inventory of a program: every crate and npm package in it, as CycloneDX 1.5.

use super::dates::iso;
use super::shipped::{Origin, Shipped};
use serde_json::json;

/// The inventory of the program of this crate and these packages; the same packages give the same text.
pub fn sbom(root: &str, shipped: &[Shipped], version: &str, seconds: u64) -> String {
    let is_root = |package: &Shipped| package.origin == Origin::Cargo && package.name == root;
    let component = |package: &Shipped| {
        json!({
            "type": if is_root(package) { "application" } else { "library" },
            "bom-ref": package.key(),
            "name": package.name,
            "version": package.version,
            "licenses": [{"expression": package.licence}],
            "purl": package.key(),
        })
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
        json!({"ref": package.key(), "dependsOn": uses})
    };
    let mut metadata = json!({"timestamp": format!("{}T00:00:00Z", iso(seconds))});
    if let Some(program) = program.first() {
        metadata["component"] = component(program);
    }
    let document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": metadata,
        "components": others.iter().map(|package| component(package)).collect::<Vec<_>>(),
        "dependencies": shipped.iter().map(uses).collect::<Vec<_>>(),
        "properties": [{"name": "deskbell:version", "value": version}],
    });
    format!("{document}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::APP;
    use serde_json::Value;

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
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["components"].as_array().unwrap().len(), 3);
        let program = &document["metadata"]["component"];
        assert_eq!((&program["name"], &program["type"]), (&APP.into(), &"application".into()));
        let dependencies = document["dependencies"].as_array().unwrap();
        let app = dependencies.iter().find(|entry| entry["ref"] == "pkg:cargo/deskbell@1.0.0");
        assert_eq!(app.unwrap()["dependsOn"], json!(["pkg:cargo/a@1.0.0", "pkg:npm/b@1.0.0"]));
        let known: Vec<&Value> = dependencies.iter().map(|entry| &entry["ref"]).collect();
        let referred = dependencies.iter().flat_map(|entry| entry["dependsOn"].as_array().unwrap());
        assert!(referred.into_iter().all(|key| known.contains(&key)));
    }
}
