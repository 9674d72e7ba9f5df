//! Permission rules in files: the list for a session, the removal of one and its undo, and their effect on running agents.

use super::{SessionRegistry, lock};
use crate::{agent, profiles};
use deskbell_engine::api::*;
use deskbell_engine::disk;
use deskbell_engine::rule_files::{RuleFiles, RuleRemoval};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Maximum number of removals that can be undone.
const MOST_REMOVALS: usize = 50;

/// Maximum size in memory of the removals that can be undone, in bytes. Each file is at most 4 MiB.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// The CLI writes the file within a few milliseconds of the answer (2.1.332).
const SAVED_WITHIN: Duration = Duration::from_secs(5);

/// The time between two looks at the file.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// The removals that can be undone.
#[derive(Default)]
pub(super) struct Removals {
    n_removed: u64,
    known: Vec<NumberedRemoval>,
}

#[derive(Clone)]
struct NumberedRemoval {
    number: u64,
    project: PathBuf,
    /// The folder of the user's own settings.
    config: PathBuf,
    removal: RuleRemoval,
}

impl Removals {
    /// Returns the number of the removal. The oldest ones are forgotten.
    fn add(&mut self, project: &Path, config: &Path, removal: RuleRemoval) -> u64 {
        self.n_removed += 1;
        let (project, config) = (project.to_owned(), config.to_owned());
        self.known.push(NumberedRemoval { number: self.n_removed, project, config, removal });
        let n_bytes =
            |known: &[NumberedRemoval]| -> usize { known.iter().map(|known| known.removal.n_bytes()).sum() };
        while self.known.len() > MOST_REMOVALS || n_bytes(&self.known) > MOST_BYTES {
            self.known.remove(0);
        }
        self.n_removed
    }
}

impl SessionRegistry {
    /// The settings files that may have rules for a session.
    pub async fn rule_files(&self, project: &Path, id: &SessionId) -> Result<RuleFileList, CommandError> {
        let config = self.rules_config(project, id)?;
        self.on_rule_files(project, config, |files| files.list()).await
    }

    /// The places of the rules that the agent saved with this answer, once it has; empty if it saves none in the folder.
    ///
    /// # Errors
    ///
    /// The agent did not save them in time. The detail has the reason, if the files show one.
    pub async fn saved_rules(
        &self,
        project: &Path,
        id: &SessionId,
        request: &RequestId,
    ) -> Result<Vec<RulePlace>, CommandError> {
        let config = self.rules_config(project, id)?;
        // The demo agent saves nothing.
        if self.known(id).is_none_or(|(_, session)| session.agent != AgentKind::Claude) {
            return Ok(Vec::new());
        }
        let known =
            lock(&self.saving).get(id).filter(|(of, _)| of == request).map(|(_, rules)| rules.clone());
        let Some(rules) = known else { return Ok(Vec::new()) };
        let until = tokio::time::Instant::now() + SAVED_WITHIN;
        loop {
            let wanted = rules.clone();
            let look = move |files: &RuleFiles| Ok(files.saved(&wanted).ok_or_else(|| files.obstacle()));
            match self.on_rule_files(project, config.clone(), look).await? {
                Ok(places) => return Ok(places),
                Err(obstacle) if tokio::time::Instant::now() >= until => {
                    return Err(CommandError {
                        code: ErrorCode::Internal,
                        message: "The agent allowed it, and did not save the rule.".to_owned(),
                        detail: obstacle,
                    });
                }
                Err(_) => tokio::time::sleep(LOOK_AGAIN).await,
            }
        }
    }

    /// Removes a rule from its file. Running agents ask from the next call on. Returns the number for its undo.
    pub async fn remove_rule(
        &self,
        project: &Path,
        id: &SessionId,
        place: RulePlace,
    ) -> Result<u64, CommandError> {
        let config = self.rules_config(project, id)?;
        let removal = self.on_rule_files(project, config.clone(), move |files| files.remove(&place)).await?;
        let number = lock(&self.removals).add(project, &config, removal.clone());
        self.apply_to_agents(project, &config, &removal, true).await;
        Ok(number)
    }

    /// Puts a removed rule back.
    pub async fn restore_rule(&self, project: &Path, number: u64) -> Result<(), CommandError> {
        let known = lock(&self.removals)
            .known
            .iter()
            .find(|known| known.number == number && known.project == project)
            .cloned();
        let NumberedRemoval { config, removal, .. } = known.ok_or_else(|| CommandError {
            code: ErrorCode::BadCommand,
            message: "This removal is no longer known.".to_owned(),
            detail: None,
        })?;
        let restored = removal.clone();
        self.on_rule_files(project, config.clone(), move |files| files.restore(&restored)).await?;
        lock(&self.removals).known.retain(|known| known.number != number);
        self.apply_to_agents(project, &config, &removal, false).await;
        Ok(())
    }

    /// The folder of the user's own settings, for a session of Claude Code or of the demo agent.
    fn rules_config(&self, project: &Path, id: &SessionId) -> Result<PathBuf, CommandError> {
        self.session(&project.into(), id)?;
        let (_, session) = self.known(id).ok_or_else(super::no_such_session)?;
        let profile = session.profile.as_deref().map(|name| self.profile(name)).transpose()?;
        let own = profile.as_ref().and_then(profiles::config_folder);
        Ok(own.unwrap_or_else(|| agent::config_folder(session.agent, &self.opener.data)))
    }

    async fn on_rule_files<T: Send + 'static>(
        &self,
        project: &Path,
        config: PathBuf,
        work: impl FnOnce(&RuleFiles) -> Result<T, CommandError> + Send + 'static,
    ) -> Result<T, CommandError> {
        let (trust, folder) = (self.gate.store(), project.to_owned());
        disk::run(project, disk::DEADLINE, move || work(&RuleFiles::new(&folder, &config, trust)?)).await?
    }

    /// Running agents have a copy of the folder's settings, and read their user's own after a while. So each of them is
    /// sent what no longer allows a call. What it may do without asking only grows with a new process.
    async fn apply_to_agents(&self, project: &Path, config: &Path, removal: &RuleRemoval, suspended: bool) {
        let project = ProjectRef::from(project);
        if removal.place.effect != RuleEffect::Allow {
            // The CLI reads the user's own settings again by itself.
            if removal.origin != RuleOrigin::User {
                self.reload(&project, None).await;
            }
            return;
        }
        // One that starts now may have read the files already.
        let others: Vec<_> = self
            .lock()
            .values()
            .filter(|entry| entry.session.agent != AgentKind::Acp)
            .map(|entry| (entry.project.clone(), entry.session.id.clone(), entry.handle.clone()))
            .collect();
        // The user's own settings are those of all projects with the same folder of configuration.
        let is_concerned = |of: &ProjectRef, id: &SessionId| match (removal.origin, of.here()) {
            (RuleOrigin::User, Some(folder)) => self.rules_config(folder, id).is_ok_and(|own| own == config),
            _ => *of == project,
        };
        for (_, _, handle) in others.into_iter().filter(|(of, id, _)| is_concerned(of, id)) {
            let command = Command::SuspendRules { rules: removal.forms.clone(), suspended };
            if let Err(error) = handle.command(command).await {
                // It does not run, starts, ends, or did not suspend the rule: its next process reads the files.
                tracing::debug!(%error, "an agent did not get a changed rule");
                if let Err(error) = handle.command(Command::Reload).await {
                    tracing::warn!(%error, "could not reload an agent: it keeps its earlier rules");
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deskbell_engine::trust::TrustStore;
    use std::fs;

    #[test]
    fn old_removals_are_forgotten_by_number_and_by_size() {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("config");
        fs::create_dir(&config).unwrap();
        let trust = TrustStore::open(folder.path().join("trust")).unwrap();
        let files = RuleFiles::new(folder.path(), &config, trust).unwrap();
        let path = config.join("settings.json");
        let remove = |n_bytes: usize| {
            let text = format!("{{\"permissions\": {{\"allow\": [\"A\"]}}}}{}", " ".repeat(n_bytes));
            fs::write(&path, text).unwrap();
            let path = path.display().to_string();
            files.remove(&RulePlace { path, effect: RuleEffect::Allow, rule: "A".to_owned() }).unwrap()
        };
        let mut removals = Removals::default();
        for number in 1..=60 {
            assert_eq!(removals.add(folder.path(), &config, remove(0)), number);
        }
        assert_eq!((removals.known.len(), removals.known[0].number), (50, 11));
        for _ in 0..3 {
            removals.add(folder.path(), &config, remove(3 * 1024 * 1024));
        }
        assert_eq!(removals.known.iter().map(|known| known.number).collect::<Vec<_>>(), [62, 63]);
    }
}
