//! Completions for bash, zsh and fish.

use super::{CommandOption, Subcommand};
use deskbell_engine::api::PermissionMode;
use std::fmt::Write as _;

const HEAD: &str =
    "# Generated from the help text of src-tauri/cli/src/args.rs by tests/src/command_line.rs.\n";

/// What a shell offers for a value.
enum Values {
    Folders,
    /// Files, and these words.
    Files(Vec<String>),
    Words(Vec<String>),
}

fn values(option: &CommandOption) -> Values {
    let value = option.value.as_deref().unwrap_or_default();
    let is_word = |word: &&str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase());
    let words = value.split('|').filter(is_word).map(Into::into).collect();
    match value.split('|').next().unwrap_or_default() {
        "DIR" => Values::Folders,
        "PATH" | "FILE" => Values::Files(words),
        _ if option.name == "--mode" => {
            Values::Words(PermissionMode::ALL.iter().map(ToString::to_string).collect())
        }
        _ => Values::Words(words),
    }
}

/// The first statement of a description, without marks that a shell would read.
fn brief(about: &str) -> String {
    let end = [". ", "; ", ": "].iter().filter_map(|end| about.find(end)).min().unwrap_or(about.len());
    about[..end].trim_end_matches('.').replace('\'', "’").replace(['"', '[', ']', ':', '`', '$', '\\'], "")
}

fn flag(option: &CommandOption) -> String {
    format!("{}{}", option.name, if option.value.is_some() { "=" } else { "" })
}

/// The commands with the same first word: one, or several with a second word each.
fn groups(commands: &[Subcommand]) -> Vec<(&str, Vec<&Subcommand>)> {
    let mut groups: Vec<(&str, Vec<&Subcommand>)> = Vec::new();
    for command in commands.iter().filter(|command| !command.path.is_empty()) {
        let first = command.path.split(' ').next().unwrap_or_default();
        match groups.iter_mut().find(|(name, _)| *name == first) {
            Some((_, group)) => group.push(command),
            None => groups.push((first, vec![command])),
        }
    }
    groups
}

/// The second words of a group, separated by spaces; `None` for a single command without one.
fn seconds(group: &[&Subcommand]) -> Option<String> {
    let seconds: Vec<&str> =
        group.iter().filter_map(|command| Some(command.path.split_once(' ')?.1)).collect();
    (!seconds.is_empty()).then(|| seconds.join(" "))
}

/// What the shell shows next to the first word of a group.
fn about(group: &[&Subcommand]) -> String {
    match group {
        [command] => brief(&command.about),
        _ => seconds(group).unwrap_or_default().replace(' ', ", "),
    }
}

pub fn bash(commands: &[Subcommand]) -> String {
    let mut script = format!("{HEAD}_deskbell() {{\n");
    script.push_str(
        "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n\
         \x20   local option= command= options= plain= files=\n\
         \x20   # Bash splits --option=value into three words.\n\
         \x20   if [[ $word == '=' ]]; then\n        option=$before word=\n\
         \x20   elif [[ $before == '=' ]]; then\n        option=${COMP_WORDS[COMP_CWORD - 2]}\n\
         \x20   elif [[ $before == --* ]]; then\n        option=$before\n    fi\n\
         \x20   [[ $COMP_CWORD -gt 1 ]] && command=${COMP_WORDS[1]}\n",
    );
    let groups = groups(commands);
    for (first, _) in groups.iter().filter(|(_, group)| seconds(group).is_some()) {
        let _ = writeln!(
            script,
            "    [[ $COMP_CWORD -gt 2 && $command == {first} ]] && command=\"{first} ${{COMP_WORDS[2]}}\""
        );
    }
    script.push_str("    COMPREPLY=()\n    case \"$command $option\" in\n");
    for command in commands {
        for option in command.options.iter().filter(|option| option.value.is_some()) {
            let offer = match values(option) {
                Values::Folders => "-d".to_owned(),
                Values::Files(words) if words.is_empty() => "-f".to_owned(),
                Values::Files(words) => format!("-f -W '{}'", words.join(" ")),
                Values::Words(words) => format!("-W '{}'", words.join(" ")),
            };
            // The window's options may follow its folder, which is then the first word.
            let any = if command.path.is_empty() { "*" } else { "" };
            let _ = writeln!(
                script,
                "        {any}\"{} {}\")\n            mapfile -t COMPREPLY < <(compgen {offer} -- \"$word\")\n\
                 \x20           compopt -o filenames\n            return ;;",
                command.path, option.name
            );
        }
    }
    script.push_str("    esac\n    case \"$command\" in\n");
    let files = |command: &Subcommand| match command.operand.as_deref() {
        Some("FOLDER") => " files=-d",
        Some("FILE") => " files=-f",
        _ => "",
    };
    let flags = |command: &Subcommand| command.options.iter().map(flag).collect::<Vec<_>>().join(" ");
    let (window, named): (Vec<_>, Vec<_>) = commands.iter().partition(|command| command.path.is_empty());
    for command in named {
        let _ = writeln!(
            script,
            "        \"{}\") options='{}'{} ;;",
            command.path,
            flags(command),
            files(command)
        );
    }
    for (first, group) in &groups {
        if let Some(seconds) = seconds(group) {
            let _ = writeln!(script, "        {first} | \"{first} \"*) plain='{seconds}' ;;");
        }
    }
    let all: Vec<&str> = groups.iter().map(|(name, _)| *name).collect();
    for command in window {
        let _ = writeln!(
            script,
            "        *)\n            options='{}'{}\n            [[ $COMP_CWORD -eq 1 ]] && plain='{}' ;;",
            flags(command),
            files(command),
            all.join(" ")
        );
    }
    script.push_str(
        "    esac\n    if [[ $word == -* || -z $files$plain ]]; then\n\
         \x20       mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n\
         \x20       [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n    else\n\
         \x20       mapfile -t COMPREPLY < <(compgen $files -W \"$plain\" -- \"$word\")\n\
         \x20       compopt -o filenames\n    fi\n    return 0\n}\ncomplete -F _deskbell deskbell\n",
    );
    script
}

pub fn zsh(commands: &[Subcommand]) -> String {
    let argument = |option: &CommandOption| {
        let about = brief(&option.about);
        let about = if about.is_empty() { String::new() } else { format!("[{about}]") };
        let Some(value) = &option.value else { return format!("'{}{about}'", option.name) };
        let name = value.split('|').next().unwrap_or_default().to_lowercase();
        let action = match values(option) {
            Values::Folders => "_files -/".to_owned(),
            Values::Files(words) if words.is_empty() => "_files".to_owned(),
            Values::Files(words) => {
                format!("_alternative \"files:file:_files\" \"words:word:({})\"", words.join(" "))
            }
            Values::Words(words) if words.is_empty() => " ".to_owned(),
            Values::Words(words) => format!("({})", words.join(" ")),
        };
        format!("'{}={about}:{name}:{action}'", option.name)
    };
    let arguments = |command: &Subcommand| {
        let mut arguments: Vec<String> = command.options.iter().map(argument).collect();
        match command.operand.as_deref() {
            Some("FOLDER") => arguments.push("'*:folder:_files -/'".to_owned()),
            Some("FILE") => arguments.push("'*:file:_files'".to_owned()),
            _ => {}
        }
        arguments.join(" \\\n            ")
    };
    let mut script =
        format!("#compdef deskbell\n{HEAD}\n_deskbell() {{\n    local -a commands\n    commands=(\n");
    let groups = groups(commands);
    for (name, group) in &groups {
        let _ = writeln!(script, "        '{name}:{}'", about(group));
    }
    script.push_str("    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n    fi\n    case $words[2] in\n");
    for (name, group) in &groups {
        let _ = writeln!(script, "    {name})");
        let Some(seconds) = seconds(group) else {
            let _ = writeln!(
                script,
                "        (( CURRENT -= 1 ))\n        shift words\n        _arguments \\\n            {} ;;",
                arguments(group[0])
            );
            continue;
        };
        let _ = writeln!(
            script,
            "        if (( CURRENT == 3 )); then\n            compadd {seconds}\n            return\n        fi\n        (( CURRENT -= 2 ))\n        shift 2 words\n        case $words[1] in"
        );
        for command in group {
            let second = command.path.split_once(' ').map_or("", |(_, second)| second);
            let arguments = arguments(command);
            let arguments = if arguments.is_empty() { "'*: :'" } else { arguments.as_str() };
            let _ = writeln!(script, "        {second})\n            _arguments {arguments} ;;");
        }
        script.push_str("        esac ;;\n");
    }
    for command in commands.iter().filter(|command| command.path.is_empty()) {
        let _ = writeln!(script, "    *)\n        _arguments \\\n            {} ;;", arguments(command));
    }
    script.push_str("    esac\n}\n\n_deskbell \"$@\"\n");
    script
}

pub fn fish(commands: &[Subcommand]) -> String {
    let groups = groups(commands);
    let all = groups.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" ");
    let mut script = format!("{HEAD}complete -c deskbell -f\n");
    for (name, group) in &groups {
        let _ = writeln!(
            script,
            "complete -c deskbell -n '__fish_use_subcommand' -a {name} -d '{}'",
            about(group)
        );
        if let Some(seconds) = seconds(group) {
            let _ = writeln!(
                script,
                "complete -c deskbell -n '__fish_seen_subcommand_from {name}; and not __fish_seen_subcommand_from {seconds}' -a '{seconds}'"
            );
        }
    }
    for command in commands {
        let condition = match command.path.split_once(' ') {
            _ if command.path.is_empty() => format!("not __fish_seen_subcommand_from {all}"),
            None => format!("__fish_seen_subcommand_from {}", command.path),
            Some((first, second)) => {
                format!("__fish_seen_subcommand_from {first}; and __fish_seen_subcommand_from {second}")
            }
        };
        match command.operand.as_deref() {
            Some("FOLDER") => {
                let _ = writeln!(
                    script,
                    "complete -c deskbell -n '{condition}' -a '(__fish_complete_directories)'"
                );
            }
            Some("FILE") => {
                let _ = writeln!(script, "complete -c deskbell -n '{condition}' -F");
            }
            _ => {}
        }
        for option in &command.options {
            let value = match option.value.as_ref().map(|_| values(option)) {
                None => String::new(),
                Some(Values::Folders) => " -x -a '(__fish_complete_directories)'".to_owned(),
                Some(Values::Files(words)) if words.is_empty() => " -r -F".to_owned(),
                Some(Values::Files(words)) => format!(" -r -F -a '{}'", words.join(" ")),
                Some(Values::Words(words)) => format!(" -x -a '{}'", words.join(" ")),
            };
            let about = brief(&option.about);
            let about = if about.is_empty() { String::new() } else { format!(" -d '{about}'") };
            let _ = writeln!(
                script,
                "complete -c deskbell -n '{condition}' -l {}{value}{about}",
                option.name.trim_start_matches('-')
            );
        }
    }
    script
}
