//! What agents offered in their last runs: models with their effort levels, and commands. A session has them before its
//! agent runs.

use super::{Record, Store, StoreError, failed};
use crate::api::{AgentKind, Model, SlashCommand};
use crate::disk::{Loaded, load_json, write_atomically};
use deskbell_acp::ChosenAgent;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most offers that are kept. The oldest go first.
const MOST_OFFERS: usize = 32;

/// The most models and commands of one offer.
const MOST_ENTRIES: usize = 200;

const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// The lists that a running agent has announced.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Offer {
    /// The version of the agent, if it names one.
    pub version: Option<String>,
    pub models: Vec<Model>,
    pub commands: Vec<SlashCommand>,
}

/// An offer with its agent. A profile is another account or service, which has other models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct AgentOffer {
    agent: AgentKind,
    acp: Option<ChosenAgent>,
    profile: Option<String>,
    /// Commands can be those of a folder.
    project: PathBuf,
    #[serde(flatten)]
    offer: Offer,
}

impl AgentOffer {
    fn is_of(&self, record: &Record) -> bool {
        let memory = &record.memory;
        self.agent == record.agent && self.acp == memory.acp && self.profile == memory.profile
    }
}

/// The models that a new session with this agent and profile shows before its agent runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KnownModels {
    /// As in `--agent`: `claude`, `demo`, a name of `deskbell agents`, or the program of a command.
    pub agent: String,
    pub profile: Option<String>,
    /// The version that offered them, if the agent names one.
    pub version: Option<String>,
    pub models: Vec<Model>,
}

impl KnownModels {
    /// Those of the sessions in these folders, newest first in each. An earlier folder counts before a later one.
    pub fn read(folders: &[PathBuf]) -> Vec<Self> {
        let mut known: Vec<Self> = Vec::new();
        let offers = folders.iter().flat_map(|folder| read(&place(folder)));
        for AgentOffer { agent, acp, profile, offer, .. } in offers {
            let agent = match (agent, acp) {
                (AgentKind::Claude, _) => "claude".to_owned(),
                (AgentKind::Demo, _) => "demo".to_owned(),
                (AgentKind::Acp, Some(ChosenAgent::Row { id })) => id,
                (AgentKind::Acp, Some(ChosenAgent::Command { program, .. })) => program.display().to_string(),
                (AgentKind::Acp, None) => continue,
            };
            if !known.iter().any(|other| other.agent == agent && other.profile == profile) {
                known.push(Self { agent, profile, version: offer.version, models: offer.models });
            }
        }
        known
    }
}

/// The offers of a store, newest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Offers(Arc<Mutex<Vec<AgentOffer>>>);

impl Offers {
    pub fn load(folder: &Path) -> Self {
        Self(Arc::new(Mutex::new(read(&place(folder)))))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<AgentOffer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store {
    /// What the agent of this session offered last: its newest models, and the commands that it had in this project.
    pub(crate) fn offer(&self, record: &Record) -> Option<Offer> {
        let known = self.offers.lock();
        let mut offers = known.iter().filter(|known| known.is_of(record));
        let newest = offers.clone().next()?;
        let here = offers.find(|known| known.project == record.project);
        let commands = here.map(|known| known.offer.commands.clone()).unwrap_or_default();
        Some(Offer { commands, ..newest.offer.clone() })
    }

    /// The file of the offers.
    pub(crate) fn offers_path(&self) -> PathBuf {
        place(&self.folder)
    }

    /// Keeps what the agent of this session offers. Calls come one at a time.
    pub(crate) fn keep_offer(&self, record: &Record, mut offer: Offer) -> Result<(), StoreError> {
        offer.models.truncate(MOST_ENTRIES);
        offer.commands.truncate(MOST_ENTRIES);
        let newest = AgentOffer {
            agent: record.agent,
            acp: record.memory.acp.clone(),
            profile: record.memory.profile.clone(),
            project: record.project.clone(),
            offer,
        };
        if self.offers.lock().first() == Some(&newest) {
            return Ok(());
        }
        let path = self.offers_path();
        // Another process may have written since.
        let mut offers = read(&path);
        offers.retain(|other| {
            !(other.is_of(record)
                && other.project == record.project
                && other.offer.version == newest.offer.version)
        });
        offers.insert(0, newest);
        offers.truncate(MOST_OFFERS);
        let text = serde_json::to_vec(&offers).map_err(|error| failed("write", &path)(error.into()));
        *self.offers.lock() = offers;
        write_atomically(&path, &text?).map_err(failed("write", &path))
    }
}

/// No name of a session's record: those end in `.json`.
fn place(folder: &Path) -> PathBuf {
    folder.join("offers.list")
}

/// An unreadable file is set aside.
fn read(path: &Path) -> Vec<AgentOffer> {
    match load_json(path, MOST_BYTES) {
        Loaded::Read(offers) => offers,
        Loaded::Missing | Loaded::Unreadable(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::SessionId;
    use crate::store::SavedSession;
    use serde_json::json;

    fn record(project: &str, profile: Option<&str>) -> Record {
        Record {
            id: SessionId::new("a"),
            project: project.into(),
            agent: AgentKind::Claude,
            created_at: 1,
            changed_at: 2,
            memory: SavedSession { profile: profile.map(str::to_owned), ..SavedSession::default() },
        }
    }

    fn offer(version: &str, model: &str, command: &str) -> Offer {
        let model = json!({"name": model, "label": model, "description": "", "resolved": null,
            "effortLevels": ["high"], "canStopThinking": false, "canDecide": false});
        let command = json!({"name": command, "description": "", "argumentHint": ""});
        Offer {
            version: Some(version.to_owned()),
            models: vec![serde_json::from_value(model).unwrap()],
            commands: vec![serde_json::from_value(command).unwrap()],
        }
    }

    #[test]
    fn the_newest_offer_of_the_agent_is_known_in_the_next_run() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("sessions")).unwrap();
        assert_eq!(store.offer(&record("/a", None)), None);
        store.keep_offer(&record("/a", None), offer("1", "opus", "deploy")).unwrap();
        store.keep_offer(&record("/b", None), offer("2", "sonnet", "test")).unwrap();
        store.keep_offer(&record("/b", Some("work")), offer("2", "haiku", "work")).unwrap();
        for store in [store.clone(), Store::open(folder.path().join("sessions")).unwrap()] {
            // The models are those of the newest run anywhere, the commands those of the folder.
            let here = store.offer(&record("/a", None)).unwrap();
            let newest = offer("2", "sonnet", "deploy");
            assert_eq!(here, newest);
            let elsewhere = store.offer(&record("/c", None)).unwrap();
            assert_eq!((elsewhere.models, elsewhere.commands), (newest.models, Vec::new()));
            assert_eq!(store.offer(&record("/b", Some("work"))), Some(offer("2", "haiku", "work")));
            assert_eq!(store.offer(&record("/b", Some("home"))), None);
            // It is no session.
            assert_eq!(store.load().unwrap().records, []);
        }
    }

    #[test]
    fn the_newest_models_of_each_agent_and_profile_are_listed() {
        let folder = tempfile::tempdir().unwrap();
        let folders = [folder.path().join("own"), folder.path().join("server")];
        assert_eq!(KnownModels::read(&folders), []);
        let server = Store::open(folders[1].clone()).unwrap();
        server.keep_offer(&record("/a", None), offer("0", "opus", "deploy")).unwrap();
        server.keep_offer(&record("/a", Some("lab")), offer("0", "opus", "deploy")).unwrap();
        let store = Store::open(folders[0].clone()).unwrap();
        store.keep_offer(&record("/a", None), offer("1", "opus", "deploy")).unwrap();
        store.keep_offer(&record("/a", Some("work")), offer("1", "haiku", "work")).unwrap();
        store.keep_offer(&record("/b", None), offer("2", "sonnet", "test")).unwrap();
        let acp = Some(ChosenAgent::row_of("gemini").unwrap());
        let gemini = Record { agent: AgentKind::Acp, ..record("/a", None) };
        let gemini = Record { memory: SavedSession { acp, ..gemini.memory.clone() }, ..gemini };
        store.keep_offer(&gemini, offer("3", "flash", "test")).unwrap();
        let known = KnownModels::read(&folders);
        let known: Vec<_> = known
            .iter()
            .map(|one| (&*one.agent, one.profile.as_deref(), one.version.as_deref(), &*one.models[0].name))
            .collect();
        let expected = [
            ("gemini", None, Some("3"), "flash"),
            ("claude", None, Some("2"), "sonnet"),
            ("claude", Some("work"), Some("1"), "haiku"),
            ("claude", Some("lab"), Some("0"), "opus"),
        ];
        assert_eq!(known, expected);
    }

    #[test]
    fn offers_are_bounded_and_an_unreadable_file_is_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("sessions")).unwrap();
        for nr in 0..=MOST_OFFERS {
            store.keep_offer(&record(&format!("/{nr}"), None), offer("1", "opus", "deploy")).unwrap();
        }
        assert_eq!(store.offer(&record("/0", None)).unwrap().commands, []);
        assert_eq!(store.offer(&record("/1", None)).unwrap().commands.len(), 1);
        std::fs::write(place(&store.folder), "no list").unwrap();
        let store = Store::open(folder.path().join("sessions")).unwrap();
        assert_eq!(store.offer(&record("/1", None)), None);
        store.keep_offer(&record("/1", None), offer("1", "opus", "deploy")).unwrap();
        assert!(store.offer(&record("/1", None)).is_some());
    }
}
