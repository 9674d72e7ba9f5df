//! The permission mode of new sessions, from the environment: `DESKBELL_MODE`, or `GOOSE_MODE`, which users of Goose have.

use deskbell_engine::api::{BadMode, PermissionMode};

/// What the environment says.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ModeOfEnvironment {
    pub mode: Option<PermissionMode>,
    /// A value that is not used, in a sentence.
    pub problem: Option<String>,
    /// The value would run without asking, which is chosen for one start of an agent and never here.
    pub is_refused: bool,
}

/// Reads the mode. `DESKBELL_MODE` counts before `GOOSE_MODE`; an empty value is none.
pub fn mode(variable: impl Fn(&str) -> Option<String>) -> ModeOfEnvironment {
    let value = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
    if let Some(name) = value("DESKBELL_MODE") {
        return match name.trim().parse::<PermissionMode>() {
            Ok(mode) => ModeOfEnvironment { mode: Some(mode), ..ModeOfEnvironment::default() },
            Err(error) => ModeOfEnvironment {
                is_refused: error == BadMode::WithoutAsking,
                problem: Some(format!("DESKBELL_MODE is not used. {error}")),
                mode: None,
            },
        };
    }
    let Some(name) = value("GOOSE_MODE") else { return ModeOfEnvironment::default() };
    let mode = match name.trim().to_ascii_lowercase().as_str() {
        "approve" => Some(PermissionMode::Default),
        "smart_approve" => Some(PermissionMode::AcceptEdits),
        "chat" => Some(PermissionMode::Plan),
        _ => None,
    };
    let problem = mode.is_none().then(|| match name.trim().to_ascii_lowercase().as_str() {
        "auto" => "GOOSE_MODE=auto is not used, because it would run everything without asking.".to_owned(),
        other => {
            let shown: String = other.escape_debug().take(60).collect();
            format!("GOOSE_MODE=“{shown}” is not used. Available: approve, smart_approve, chat.")
        }
    });
    // Another program's variable is no reason to end.
    ModeOfEnvironment { is_refused: problem.is_some(), mode, problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(deskbell: Option<&str>, goose: Option<&str>) -> ModeOfEnvironment {
        mode(|name| if name == "DESKBELL_MODE" { deskbell } else { goose }.map(str::to_owned))
    }

    #[test]
    fn the_environment_names_a_mode_that_asks() {
        assert_eq!(of(None, None), ModeOfEnvironment::default());
        assert_eq!(of(Some(""), None), ModeOfEnvironment::default());
        assert_eq!(of(Some("plan"), Some("approve")).mode, Some(PermissionMode::Plan));
        assert_eq!(of(None, Some("approve")).mode, Some(PermissionMode::Default));
        assert_eq!(of(None, Some("Smart_Approve")).mode, Some(PermissionMode::AcceptEdits));
        assert_eq!(of(None, Some("chat")).mode, Some(PermissionMode::Plan));
    }

    #[test]
    fn it_never_leads_to_running_without_asking() {
        for (deskbell, goose) in
            [(Some("bypassPermissions"), None), (None, Some("auto")), (Some("nonsense"), Some("approve"))]
        {
            let read = of(deskbell, goose);
            assert_eq!(read.mode, None);
            assert!(read.problem.is_some(), "{deskbell:?} {goose:?}");
        }
        assert!(of(Some("bypassPermissions"), None).is_refused);
        assert!(!of(Some("nonsense"), None).is_refused);
    }
}
