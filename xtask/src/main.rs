//! The project's commands: `cargo xtask run`, `test`, `bench`, `fuzz`, `shots`, `guide`, `systems`, `wine`, `package`,
//! `walk`, `notes`, `latest`, `recordings`, `claude` and `icons`.
//!
//! It needs Rust and a C linker, no library of the system, and installs the other dependencies.

mod agents;
mod bench;
mod claude;
mod command;
mod crates;
mod debug_build;
mod demo;
mod deny;
mod display;
mod fuzz;
mod gnome_shell;
mod guide;
mod icons;
mod node;
mod npm_package;
mod nushell;
mod package;
mod packages;
mod process;
mod project;
mod pypi;
mod root;
mod run;
mod scratch;
mod shots;
mod system;
mod systems;
mod test;
mod toolchain;
mod ui;
mod walk;
mod wine;
mod workflows;

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

/// The result of a step; the error is one sentence with the reason.
type Outcome<T = ()> = Result<T, String>;

const USAGE: &str = "\
Usage: cargo xtask <COMMAND>

Commands:
  run [FOLDER]      Install what is missing, build, and open FOLDER (default: the current folder).
                    Without a display: play a demonstration on a virtual one and take a screenshot
  test [PART...]    Run every check but the agents, or only the named parts: fmt habits clippy rust ui looks cli agents window cost package
                    --times=N repeats it until a run fails; --builds=N keeps the machine busy with builds
  bench [NAME...]   Measure what Deskbell costs: gate faults opening reader relay search sessions; by name only: kills sdks window
  fuzz [TARGET...] [--minutes N]
                    Fuzz the engine for 10 minutes per target: wire lines markdown terminal diff fold
  shots [VIEW...]   Take a screenshot of every view of the interface, or of the named ones, and check each with axe
  guide             Build the user guide and the other documents as a book, and follow its links
  guide --pictures  Take the pictures of the documents again
  systems           Check the code for Windows and macOS, as far as a compiler on Linux can
  wine              Build the program without windows for Windows, and run it under Wine
  package           Build the installable packages for this system
  package --from APP [RELAY]
                    Assemble the Linux packages from programs that are built already
  package --tree DIR APP
                    Write the files of the app's package into DIR, for a recipe that packs them
  package relay [--target TARGET] [--check]
                    Build only the program without windows that needs no library, for other machines, or for another
                    processor (aarch64-unknown-linux-gnu); --check runs the one that was built last
  package --check   Install the built .deb, start it from its desktop entry, remove it again
  package --install Install the built .deb in a new Debian 12 and 13, start, upgrade and purge it; as root
  walk              Go from the README to a first answer of Claude Code in a new Debian, and keep pictures; as root
  notes VERSION     Print what CHANGELOG.md says of a version, for its release
  latest APPIMAGE   Print the list that `deskbell update` reads, for a release that has this AppImage
  recordings        Record the real CLI again, into tests/recordings
  claude OLD NEW    Play the recorded sessions with two versions of Claude Code, such as 2.1.329 2.1.332, and print what
                    the newer one changed in lines, fields, options and conversations
  icons             Generate the icons from icons/deskbell.svg";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments.as_slice() {
        ["run"] => run::run(None),
        ["run", folder] if !folder.starts_with('-') => run::run(Some(PathBuf::from(folder))),
        ["test", parts @ ..] => test::test(parts),
        ["bench", names @ ..] => bench::bench(names),
        ["fuzz", arguments @ ..] => fuzz::fuzz(arguments),
        ["shots", views @ ..] => shots::shots(views),
        ["guide"] => guide::check(),
        ["guide", "--pictures"] => guide::pictures(),
        ["systems"] => systems::systems(),
        ["wine"] => wine::wine(),
        ["package"] => package::package(),
        ["package", "relay", arguments @ ..] => package::relay(arguments),
        ["package", "--from", app] => package::package_from(app, None),
        ["package", "--from", app, relay] => package::package_from(app, Some(relay)),
        ["package", "--tree", folder, app] => package::fill(folder, app),
        ["package", "--install"] => package::install(),
        ["package", "--check"] => package::check_built(),
        ["walk"] => walk::walk(),
        ["notes", version] => package::notes(version),
        ["latest", image] => package::latest(image),
        ["recordings"] => test::recordings(),
        ["claude", old, new] => test::compare_claude(old, new),
        ["icons"] => icons::draw(),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        _ => Err(format!("not understood\n\n{USAGE}")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("xtask: {reason}");
            ExitCode::FAILURE
        }
    }
}
