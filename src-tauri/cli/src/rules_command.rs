//! `deskbell rules`: lists the permission rules in Claude Code's settings files, and removes one. See docs/relay.md.

use crate::args::rules::{RulesAction, RulesOptions};
use crate::output::{ended, plain, print, words};
use anyhow::bail;
use deskbell_engine::api::{
    AgentKind, FolderRules, RuleEffect, RuleFile, RuleFileList, RuleOrigin, RulePlace,
};
use deskbell_engine::disk;
use deskbell_engine::rule_files::RuleFiles;
use deskbell_sessions::trust::open_store;
use deskbell_sessions::{agent, folders};
use std::process::ExitCode;

pub fn main(options: RulesOptions) -> ExitCode {
    ended(run(options))
}

fn run(options: RulesOptions) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let RulesOptions { folder, action } = options;
    let place = folder.clone();
    let work = disk::run(&folder, disk::DEADLINE, move || {
        let data = folders::data();
        disk::own_folder(&data)?;
        let config = agent::config_folder(AgentKind::Claude, &data);
        let files = RuleFiles::new(&place, &config, open_store(&data)?).map_err(words)?;
        let list = files.list().map_err(words)?;
        match action {
            RulesAction::List { json: true } => anyhow::Ok(format!("{}\n", serde_json::to_string(&list)?)),
            RulesAction::List { json: false } => Ok(shown(&list)),
            RulesAction::Remove { rule, effect, from } => {
                let place = found(&list, &rule, effect, from)?;
                let removal = files.remove(&place).map_err(words)?;
                Ok(removed(&removal.place, removal.origin))
            }
        }
    });
    let text = runtime.block_on(work);
    // A thread that waits for a dead mount must not hold up the end.
    runtime.shutdown_background();
    Ok(print(text??.as_bytes())?)
}

/// Claude Code reads the user's own settings again by itself; of a folder's its agents have a copy.
fn removed(place: &RulePlace, origin: RuleOrigin) -> String {
    let text = format!("Removed {} from {}.\n", plain(&place.rule), plain(&place.path));
    if origin == RuleOrigin::User { text } else { text + "Running agents keep it until they restart.\n" }
}

/// The one place of a rule.
fn found(
    list: &RuleFileList,
    rule: &str,
    effect: Option<RuleEffect>,
    from: Option<RuleOrigin>,
) -> anyhow::Result<RulePlace> {
    let mut places: Vec<RulePlace> = Vec::new();
    for file in list.files.iter().filter(|file| from.is_none_or(|from| from == file.origin)) {
        let same = file.rules.iter().filter(|known| known.rule == rule);
        for known in same.filter(|known| effect.is_none_or(|effect| effect == known.effect)) {
            let place = RulePlace { path: file.path.clone(), effect: known.effect, rule: rule.to_owned() };
            if !places.contains(&place) {
                places.push(place);
            }
        }
    }
    match &places[..] {
        [place] => Ok(place.clone()),
        [] => {
            let unread = list
                .files
                .iter()
                .filter_map(|file| Some(format!("{}: {}", file.path, file.problem.as_ref()?)));
            let unread: String = unread.map(|problem| format!("; {}", plain(&problem))).collect();
            bail!("no file has the rule {}; `deskbell rules` lists all{unread}", plain(rule))
        }
        _ => bail!("the rule {} is in several lists; choose one with --from and --effect", plain(rule)),
    }
}

fn shown(list: &RuleFileList) -> String {
    let mut text = match list.folder {
        FolderRules::InEffect => String::new(),
        FolderRules::Restricted => "The folder is restricted: its own rules are not in effect.\n".to_owned(),
        FolderRules::Kept => {
            "The folder's files changed: the rules that you trusted before are in effect.\n".to_owned()
        }
        FolderRules::Undecided => {
            "You have not decided about the folder as it is now: its own rules are not in effect.\n"
                .to_owned()
        }
    };
    list.files.iter().for_each(|file| text += &of_file(file));
    text
}

fn of_file(file: &RuleFile) -> String {
    let link = file.link.as_ref().map_or_else(String::new, |link| format!(" -> {}", plain(link)));
    let mut text = format!("{}{link}\n", plain(&file.path));
    for rule in &file.rules {
        let effect = match rule.effect {
            RuleEffect::Deny => "deny ",
            RuleEffect::Ask => "ask  ",
            RuleEffect::Allow => "allow",
        };
        text += &format!("  {effect}  {}\n", plain(&rule.rule));
    }
    file.problem.iter().for_each(|problem| text += &format!("  could not be read: {}\n", plain(problem)));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use deskbell_engine::api::FileRule;

    fn list() -> RuleFileList {
        let rule = |effect, rule: &str| FileRule { effect, rule: rule.to_owned(), forms: Vec::new() };
        let file = |origin, path: &str, rules| RuleFile {
            origin,
            path: path.to_owned(),
            link: None,
            rules,
            problem: None,
        };
        let local = vec![rule(RuleEffect::Allow, "Bash(a)"), rule(RuleEffect::Allow, "Bash(a)")];
        let user = vec![
            rule(RuleEffect::Deny, "Bash(b)"),
            rule(RuleEffect::Allow, "Bash(b)"),
            rule(RuleEffect::Allow, "Bash(a\u{202e})"),
        ];
        let broken = RuleFile {
            problem: Some("line 1, column 2: no".to_owned()),
            ..file(RuleOrigin::Project, "/p/settings.json", Vec::new())
        };
        let files = vec![
            file(RuleOrigin::Local, "/p/local.json", local),
            broken,
            file(RuleOrigin::User, "/u.json", user),
        ];
        RuleFileList { files, folder: FolderRules::Restricted }
    }

    #[test]
    fn rules_are_shown_by_file_and_no_rule_breaks_a_line() {
        assert_eq!(
            shown(&list()),
            "The folder is restricted: its own rules are not in effect.\n/p/local.json\n  allow  Bash(a)\n  allow  \
             Bash(a)\n/p/settings.json\n  could not be read: line 1, column 2: no\n/u.json\n  deny   Bash(b)\n  \
             allow  Bash(b)\n  allow  Bash(a\\u{202e})\n"
        );
    }

    #[test]
    fn a_removal_says_what_running_agents_do() {
        let place =
            RulePlace { path: "/p".to_owned(), effect: RuleEffect::Allow, rule: "Bash(a)".to_owned() };
        assert_eq!(removed(&place, RuleOrigin::User), "Removed Bash(a) from /p.\n");
        let local = "Removed Bash(a) from /p.\nRunning agents keep it until they restart.\n";
        assert_eq!(removed(&place, RuleOrigin::Local), local);
    }

    #[test]
    fn a_rule_is_found_in_one_list_and_named_if_it_is_in_several_or_none() {
        let list = list();
        assert_eq!(found(&list, "Bash(a)", None, None).unwrap().path, "/p/local.json");
        let several = found(&list, "Bash(b)", None, None).unwrap_err().to_string();
        assert!(several.contains("--effect"), "{several}");
        assert_eq!(found(&list, "Bash(b)", Some(RuleEffect::Deny), None).unwrap().effect, RuleEffect::Deny);
        let none = found(&list, "Bash(b)", None, Some(RuleOrigin::Local)).unwrap_err().to_string();
        assert!(none.contains("`deskbell rules` lists all"), "{none}");
        assert!(none.contains("/p/settings.json: line 1, column 2: no"), "{none}");
    }
}
