//! The choices of a session: its models, effort levels and other settings, as those of the core. They are bounded, and
//! without what would turn off asking.

use crate::agents::AcpAgent;
use crate::event::{AcpChoice, AcpSession, ConfigOption, OptionValue};
use crate::read;
use crate::slash_commands::{is_unseen, line};
use deskbell_agent::Choices;
use deskbell_api::{AgentChoice, AgentOption, AgentOptionKind, Model};

/// The id of the session's mode, whether the agent has it as an option or not.
pub const MODE: &str = "mode";

/// Categories of the protocol. An option of any other one is not offered: it may be the one that turns off asking.
const EFFORT: &str = "thought_level";
const OF_MODEL: &str = "model_config";

/// The lists are part of every change of their session that the window receives, and opencode 1.18.33 lists every model
/// of every provider.
const MOST_CHOICES: usize = 256;
const MOST_OPTIONS: usize = 16;
/// An id is sent back to the agent. The limit is that of every model's name.
const LONGEST_ID: usize = 200;
const LONGEST_NAME: usize = 100;
const LONGEST_DESCRIPTION: usize = 300;

/// What the user can choose now. An agent that reports nothing has none.
pub fn of(session: &AcpSession, row: &AcpAgent) -> Choices {
    let model = current_model(session);
    let efforts: Vec<String> = usable(&choices_of(effort(session))).map(|choice| choice.id.clone()).collect();
    let mut models: Vec<Model> = usable(&known_models(session)).map(described).collect();
    if let Some(current) = models.iter_mut().find(|known| Some(&known.name) == model.as_ref()) {
        current.effort_levels = efforts;
    }
    let others = session.options.iter().filter(|option| option.category.as_deref() == Some(OF_MODEL));
    let options = mode(session, row).into_iter().chain(others.filter_map(option)).take(MOST_OPTIONS);
    Choices { models, model, effort: current_effort(session), options: options.collect() }
}

/// The effort in force, if the agent reports one.
pub fn current_effort(session: &AcpSession) -> Option<String> {
    value_of(effort(session))
}

/// The option of the effort.
pub fn effort(session: &AcpSession) -> Option<&ConfigOption> {
    session.options.iter().find(|option| option.category.as_deref() == Some(EFFORT))
}

fn current_model(session: &AcpSession) -> Option<String> {
    value_of(model(session)).or_else(|| session.model.clone())
}

fn model(session: &AcpSession) -> Option<&ConfigOption> {
    session.options.iter().find(|option| read::is_model(option))
}

/// The model in force comes first in a list that is too long: it must not be left out.
fn known_models(session: &AcpSession) -> Vec<AcpChoice> {
    let option = model(session);
    let mut listed = option.map_or_else(|| session.models.clone(), |option| choices_of(Some(option)));
    let current = current_model(session);
    let at = listed.iter().position(|choice| Some(&choice.id) == current.as_ref());
    if let Some(at) = at.filter(|at| *at >= MOST_CHOICES) {
        listed[..=at].rotate_right(1);
    }
    listed
}

fn value_of(option: Option<&ConfigOption>) -> Option<String> {
    match option.map(|option| &option.value) {
        Some(OptionValue::Choice { value, .. }) => Some(value.clone()),
        _ => None,
    }
}

fn choices_of(option: Option<&ConfigOption>) -> Vec<AcpChoice> {
    match option.map(|option| &option.value) {
        Some(OptionValue::Choice { choices, .. }) => choices.clone(),
        _ => Vec::new(),
    }
}

/// Those with an id that can be sent back unchanged.
fn usable(choices: &[AcpChoice]) -> impl Iterator<Item = &AcpChoice> {
    choices.iter().filter(|choice| is_usable(&choice.id)).take(MOST_CHOICES)
}

fn is_usable(id: &str) -> bool {
    !id.is_empty() && id.len() <= LONGEST_ID && !id.chars().any(|c| c.is_whitespace() || is_unseen(c))
}

fn named(name: &str, id: &str) -> String {
    Some(line(name, LONGEST_NAME)).filter(|name| !name.is_empty()).unwrap_or_else(|| id.to_owned())
}

fn words(description: Option<&str>) -> String {
    line(description.unwrap_or_default(), LONGEST_DESCRIPTION)
}

fn described(choice: &AcpChoice) -> Model {
    Model {
        name: choice.id.clone(),
        label: named(&choice.name, &choice.id),
        description: words(choice.description.as_deref()),
        resolved: None,
        effort_levels: Vec::new(),
        can_stop_thinking: false,
        can_decide: false,
    }
}

fn choice(choice: &AcpChoice) -> AgentChoice {
    AgentChoice {
        id: choice.id.clone(),
        name: named(&choice.name, &choice.id),
        description: words(choice.description.as_deref()),
    }
}

/// The modes that the row knows. The one in force is among them, so that it is shown, also if it cannot be chosen.
fn mode(session: &AcpSession, row: &AcpAgent) -> Option<AgentOption> {
    let value = session.mode.clone()?;
    let known = session.modes.iter().filter(|mode| row.modes.contains(&mode.id.as_str()) || mode.id == value);
    let choices: Vec<AgentChoice> = known.map(choice).take(MOST_CHOICES).collect();
    let can_switch = choices.iter().any(|choice| is_offered(row, &choice.id) && choice.id != value);
    can_switch.then(|| AgentOption {
        id: MODE.to_owned(),
        name: "Mode".to_owned(),
        description: String::new(),
        kind: AgentOptionKind::Mode,
        value,
        choices,
    })
}

/// Whether the user can choose this mode.
pub fn is_offered(row: &AcpAgent, mode: &str) -> bool {
    row.modes.contains(&mode)
}

fn option(option: &ConfigOption) -> Option<AgentOption> {
    let (kind, value, choices) = match &option.value {
        OptionValue::Switch(on) => (AgentOptionKind::Switch, on.to_string(), Vec::new()),
        OptionValue::Choice { value, choices } => {
            (AgentOptionKind::Choice, value.clone(), usable(choices).map(choice).collect())
        }
    };
    (is_usable(&option.id) && option.id != MODE).then(|| AgentOption {
        id: option.id.clone(),
        name: named(&option.name, &option.id),
        description: words(option.description.as_deref()),
        kind,
        value,
        choices,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::{AGENTS, AskingHabit, DEMO, UNKNOWN, agent};

    fn choices(ids: &[&str]) -> Vec<AcpChoice> {
        ids.iter().map(|id| AcpChoice { id: (*id).to_owned(), ..AcpChoice::default() }).collect()
    }

    fn select(id: &str, category: &str, value: &str, ids: &[&str]) -> ConfigOption {
        ConfigOption {
            id: id.to_owned(),
            name: String::new(),
            description: None,
            category: Some(category.to_owned()),
            value: OptionValue::Choice { value: value.to_owned(), choices: choices(ids) },
        }
    }

    fn ids(choices: &[AgentChoice]) -> Vec<&str> {
        choices.iter().map(|choice| choice.id.as_str()).collect()
    }

    #[test]
    fn an_agent_that_reports_nothing_has_no_choices() {
        assert_eq!(of(&AcpSession::default(), &DEMO), Choices::default());
    }

    #[test]
    fn models_of_the_options_replace_the_older_form_and_only_the_current_one_has_efforts() {
        let mut session = AcpSession {
            models: choices(&["old[low]", "old[high]"]),
            model: Some("old[low]".to_owned()),
            ..AcpSession::default()
        };
        let names = |session: &AcpSession| {
            of(session, &UNKNOWN)
                .models
                .into_iter()
                .map(|one| (one.name, one.effort_levels))
                .collect::<Vec<_>>()
        };
        let none = Vec::<String>::new();
        let old = [("old[low]".to_owned(), none.clone()), ("old[high]".to_owned(), none.clone())];
        assert_eq!(
            (names(&session), of(&session, &UNKNOWN).model),
            (old.to_vec(), Some("old[low]".to_owned()))
        );
        session.options =
            vec![select("m", "model", "b", &["a", "b"]), select("e", EFFORT, "low", &["low", "high"])];
        let levels = vec!["low".to_owned(), "high".to_owned()];
        assert_eq!(names(&session), [("a".to_owned(), none), ("b".to_owned(), levels)]);
        assert_eq!(of(&session, &UNKNOWN).model.as_deref(), Some("b"));
        assert_eq!(current_effort(&session).as_deref(), Some("low"));
    }

    /// The rows are compared with what the agents report in `tests/driver/recordings.rs`.
    #[test]
    fn a_mode_is_offered_only_if_the_row_knows_it() {
        let qwen = agent("qwen").unwrap();
        let mut session = AcpSession {
            modes: choices(&["plan", "default", "auto-edit", "auto", "yolo"]),
            mode: Some("default".to_owned()),
            ..AcpSession::default()
        };
        let shown = |session: &AcpSession, row| of(session, row).options.pop().map(|option| option.choices);
        assert_eq!(ids(&shown(&session, qwen).unwrap()), ["plan", "default", "auto-edit"]);
        assert_eq!(shown(&session, &UNKNOWN), None, "nothing is known of its modes");
        session.mode = Some("yolo".to_owned());
        assert_eq!(ids(&shown(&session, qwen).unwrap()), ["plan", "default", "auto-edit", "yolo"]);
        assert!(!is_offered(qwen, "yolo") && is_offered(qwen, "plan"));
    }

    #[test]
    fn the_mode_that_asks_is_offered_by_every_row_that_has_one_and_no_mode_that_skips_asking_is() {
        for row in AGENTS.iter().chain([&DEMO]) {
            if let AskingHabit::Mode(mode) = row.asking {
                assert!(row.modes.contains(&mode), "{}", row.id);
            }
            for mode in ["yolo", "full-access", "agent-full-access", "bypassPermissions", "agent"] {
                assert!(!row.modes.contains(&mode), "{}", row.id);
            }
        }
    }

    /// `allow_all` of Copilot CLI has the category `permissions`.
    #[test]
    fn an_option_that_may_change_what_is_asked_is_not_offered() {
        let session = AcpSession {
            options: vec![
                select("allow_all", "permissions", "off", &["on", "off"]),
                select("mode", OF_MODEL, "a", &["a"]),
                select("tier", OF_MODEL, "a", &["a", "b"]),
                ConfigOption { value: OptionValue::Switch(true), ..select("fast", OF_MODEL, "", &[]) },
                ConfigOption { category: None, ..select("other", "", "a", &["a"]) },
            ],
            ..AcpSession::default()
        };
        let options = of(&session, &DEMO).options;
        let found: Vec<_> =
            options.iter().map(|one| (one.id.as_str(), one.kind, one.value.as_str())).collect();
        let expected = [("tier", AgentOptionKind::Choice, "a"), ("fast", AgentOptionKind::Switch, "true")];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_hostile_list_is_bounded_and_an_id_that_could_not_be_sent_back_is_left_out() {
        let many: Vec<String> = (0..5_000).map(|nr| format!("m{nr}")).collect();
        let mut many: Vec<&str> = many.iter().map(String::as_str).collect();
        let long = "x".repeat(LONGEST_ID + 1);
        many.splice(..0, ["", "a b", "a\u{202e}b", "a\nb", &long]);
        let session =
            AcpSession { options: vec![select("m", "model", "m4999", &many)], ..AcpSession::default() };
        let Choices { models, model, .. } = of(&session, &UNKNOWN);
        assert_eq!((models.len(), model.as_deref()), (MOST_CHOICES, Some("m4999")));
        assert_eq!((models[0].name.as_str(), models[1].name.as_str()), ("m4999", "m0"));
        assert_eq!(models[0].label, "m4999", "a model without a name has its id");
    }
}
