//! The version of Node that runs an agent. npm installs an agent on a Node that is too old for it, and says nothing
//! that stays visible; the agent then fails with an error of its own code.

use crate::api::{CommandError, ErrorCode, Priority};
use crate::disk;
use crate::host::{Host, Program};
use crate::launch::Launch;
use crate::probe;
use std::path::Path;
use std::time::Duration;

/// For the answer to `node --version`. 20 to 60 ms were measured.
const LIMIT: Duration = Duration::from_secs(10);

/// Bytes in which a script names its interpreter.
const FIRST_LINE: u64 = 256;

/// Returns an error if the agent is a script for Node and the Node that would run it is older than its row says. A Node
/// that does not answer is no reason not to try.
pub(crate) async fn check(host: &dyn Host, launch: &Launch) -> Result<(), CommandError> {
    let Some(agent) = &launch.acp else { return Ok(()) };
    let Some(oldest) = agent.facts().and_then(|row| row.node).filter(|_| cfg!(unix)) else { return Ok(()) };
    let (program, theirs) = (launch.program.clone(), launch.clone());
    let read = move || runs_in_node(&program).then(|| theirs.environment(std::env::vars_os()));
    let Some(environment) = disk::run(&launch.project, disk::DEADLINE, read).await? else { return Ok(()) };
    let program = Program {
        path: "/usr/bin/env".into(),
        args: vec!["node".into(), "--version".into()],
        folder: launch.project.clone(),
        environment,
        priority: Priority::Normal,
    };
    let answer = match probe::ask(host, program, LIMIT).await {
        Ok(answer) => answer,
        Err(error) => {
            tracing::info!(%error, "the version of Node is not known");
            return Ok(());
        }
    };
    let said = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
    let problem = match (answer.exited.code, major(&said)) {
        // `env` found none.
        (Some(127), _) => "no Node was found".to_owned(),
        (_, Some(major)) if major < oldest => format!("this machine has {said}"),
        _ => return Ok(()),
    };
    Err(CommandError {
        code: ErrorCode::SpawnFailed,
        message: format!("{} needs Node {oldest} or newer, and {problem}.", agent.name()),
        detail: Some("Install a newer Node, and then the agent again.".to_owned()),
    })
}

/// The major version in the answer to `node --version`.
fn major(answer: &str) -> Option<u32> {
    answer.strip_prefix('v')?.split('.').next()?.parse().ok()
}

/// Whether the file is a script that names Node as its interpreter.
fn runs_in_node(program: &Path) -> bool {
    // A program that cannot be read is no script.
    let first = disk::read_start(program, FIRST_LINE).unwrap_or_default();
    let line = first.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    line.starts_with("#!") && line.contains("node")
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::acp::ChosenAgent;
    use crate::api::AgentKind;
    use crate::host::LocalHost;
    use std::os::unix::fs::PermissionsExt;

    fn executable(path: &Path, text: &str) {
        std::fs::write(path, text).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    async fn checked(node: &str, agent: &str) -> Result<(), CommandError> {
        let folder = tempfile::tempdir().unwrap();
        executable(&folder.path().join("node"), node);
        executable(&folder.path().join("agent"), agent);
        let launch = Launch {
            kind: AgentKind::Acp,
            acp: ChosenAgent::row_of("qwen"),
            program: folder.path().join("agent"),
            first_args: Vec::new(),
            project: folder.path().into(),
            restricted: true,
            snapshot: None,
            env: vec![("PATH".into(), Some(folder.path().into()))],
            run_token: "token".into(),
            priority: Priority::Normal,
        };
        check(&LocalHost, &launch).await
    }

    const SCRIPT: &str = "#!/usr/bin/env node\n";

    #[tokio::test]
    async fn an_old_node_is_named_before_the_agent_starts() {
        let error = checked("#!/bin/sh\necho v20.20.2\n", SCRIPT).await.unwrap_err();
        assert_eq!(error.message, "Qwen Code needs Node 22 or newer, and this machine has v20.20.2.");
        assert_eq!(checked("#!/bin/sh\necho v22.1.0\n", SCRIPT).await, Ok(()));
        // A program that is no script brings its own.
        assert_eq!(checked("#!/bin/sh\necho v1.0.0\n", "#!/bin/sh\n").await, Ok(()));
        // What is not understood is no reason not to try.
        assert_eq!(checked("#!/bin/sh\necho odd\n", SCRIPT).await, Ok(()));
    }
}
