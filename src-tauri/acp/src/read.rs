//! Values of the protocol as the types of `event`. Items of a list are read one by one, so that one that is not
//! understood is kept as JSON and the others stay: the types of the schema drop such items.

use crate::event::{
    Abilities, AcpChoice, AcpSession, AcpSlashCommand, AcpStoredSession, AcpTokens, AcpUsage, ConfigOption,
    Content, Login, OptionValue, PlanEntry, PlanStatus, Ready, TerminalLogin,
};
use crate::rpc::shortened;
use agent_client_protocol_schema::v1;
use deskbell_agent::n_bytes_of_base64;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The items of a list as types; those that are none as JSON.
pub fn items<T: DeserializeOwned>(list: Option<&Value>) -> (Vec<T>, Vec<Value>) {
    let (mut known, mut other) = (Vec::new(), Vec::new());
    match list {
        Some(Value::Array(list)) => {
            for item in list {
                match T::deserialize(item) {
                    Ok(item) => known.push(item),
                    Err(_) => other.push(item.clone()),
                }
            }
        }
        None | Some(Value::Null) => {}
        Some(no_list) => other.push(no_list.clone()),
    }
    (known, other)
}

pub fn text(value: &Value, field: &str) -> Option<String> {
    value.get(field).and_then(Value::as_str).map(str::to_owned)
}

/// The largest image that is kept, in digits of base64: 5 MB, as the agents themselves take.
const LONGEST_IMAGE: usize = (5 << 20) / 3 * 4 + 4;

pub fn content(block: &Value) -> Content {
    match v1::ContentBlock::deserialize(block) {
        Ok(v1::ContentBlock::Text(text)) => Content::Text(text.text),
        Ok(v1::ContentBlock::Image(image)) => image_of(image.mime_type, image.data, image.uri),
        Ok(v1::ContentBlock::Audio(audio)) => {
            Content::Audio { n_bytes: n_bytes_of_base64(&audio.data), media_type: audio.mime_type }
        }
        Ok(v1::ContentBlock::ResourceLink(link)) => Content::Link {
            uri: link.uri,
            name: link.name,
            media_type: link.mime_type,
            n_bytes: link.size.and_then(|size| size.try_into().ok()),
        },
        Ok(v1::ContentBlock::Resource(resource)) => match resource.resource {
            v1::EmbeddedResourceResource::TextResourceContents(file) => Content::File {
                uri: file.uri,
                media_type: file.mime_type,
                n_bytes: file.text.len() as u64,
                text: Some(file.text.into()),
            },
            v1::EmbeddedResourceResource::BlobResourceContents(file) => match file.mime_type {
                Some(media_type) if media_type.starts_with("image/") => {
                    image_of(media_type, file.blob, Some(file.uri))
                }
                media_type => Content::File {
                    uri: file.uri,
                    media_type,
                    n_bytes: n_bytes_of_base64(&file.blob),
                    text: None,
                },
            },
            _ => Content::Other(shortened(block)),
        },
        _ => Content::Other(shortened(block)),
    }
}

fn image_of(media_type: String, data: String, uri: Option<String>) -> Content {
    let n_bytes = n_bytes_of_base64(&data);
    let data = Some(data).filter(|data| data.len() <= LONGEST_IMAGE).map(Into::into);
    Content::Image { media_type, data, n_bytes, uri }
}

/// The answer to `initialize`. Fails if it has no version of the protocol, or not this one.
pub fn ready(result: &Value) -> Result<Ready, String> {
    let answer = v1::InitializeResponse::deserialize(result).map_err(|error| error.to_string())?;
    if answer.protocol_version != agent_client_protocol_schema::ProtocolVersion::V1 {
        return Err(format!("it speaks version {} of the protocol, not 1", answer.protocol_version));
    }
    let able = answer.agent_capabilities;
    let session = able.session_capabilities;
    let (name, version) =
        answer.agent_info.map(|info| (info.title.unwrap_or(info.name), info.version)).unzip();
    let methods = result.get("authMethods").and_then(Value::as_array);
    Ok(Ready {
        name,
        version,
        abilities: Abilities {
            load: able.load_session,
            resume: session.resume.is_some(),
            list: session.list.is_some(),
            delete: session.delete.is_some(),
            close: session.close.is_some(),
            logout: able.auth.logout.is_some(),
            images: able.prompt_capabilities.image,
            embedded_files: able.prompt_capabilities.embedded_context,
        },
        logins: methods.into_iter().flatten().filter_map(login).collect(),
    })
}

/// A way to log in. The place of its command differs: `type: terminal` of the protocol, or `_meta`.
fn login(method: &Value) -> Option<Login> {
    let id = text(method, "id")?;
    let meta = method.get("_meta");
    let own = meta.and_then(|meta| meta.get("terminal-auth"));
    let is_terminal = |value: &Value| value.get("type").is_some_and(|kind| kind == "terminal");
    let terminal = own
        .or_else(|| meta.filter(|meta| is_terminal(meta)))
        .or_else(|| Some(method).filter(|method| is_terminal(method)))
        .map(terminal_login);
    let variables = method.get("vars").and_then(Value::as_array);
    Some(Login {
        name: text(method, "name").unwrap_or_else(|| id.clone()),
        description: text(method, "description"),
        terminal,
        variables: variables.into_iter().flatten().filter_map(|variable| text(variable, "name")).collect(),
        id,
    })
}

fn terminal_login(place: &Value) -> TerminalLogin {
    let arguments = place.get("args").and_then(Value::as_array);
    let environment = place.get("env").and_then(Value::as_object);
    TerminalLogin {
        command: text(place, "command"),
        arguments: arguments.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect(),
        environment: environment
            .into_iter()
            .flatten()
            .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
            .collect(),
    }
}

/// The answer to `session/new`, which names the session, or to `session/load` and `session/resume`, which do not.
pub fn session(result: &Value, id: Option<&str>) -> Result<AcpSession, String> {
    let id = text(result, "sessionId").or_else(|| id.map(str::to_owned));
    let id = id.ok_or("the answer names no session")?;
    let (mut session, modes) = (AcpSession { id, ..AcpSession::default() }, result.get("modes"));
    if let Some(modes) = modes {
        let (known, _) = items::<v1::SessionMode>(modes.get("availableModes"));
        session.modes = known.into_iter().map(mode).collect();
        session.mode = text(modes, "currentModeId");
    }
    session.options = config_options(result.get("configOptions")).0;
    if session.mode.is_none()
        && let Some(ConfigOption { value: OptionValue::Choice { value, choices }, .. }) =
            session.options.iter().find(|option| is_mode(option))
    {
        session.mode = Some(value.clone());
        session.modes = choices.clone();
    }
    if let Some(models) = result.get("models") {
        session.model = text(models, "currentModelId");
        let listed = models.get("availableModels").and_then(Value::as_array);
        session.models = listed.into_iter().flatten().filter_map(model).collect();
    }
    Ok(session)
}

/// The option that is the session's mode.
pub fn is_mode(option: &ConfigOption) -> bool {
    option.category.as_deref() == Some("mode")
}

/// The option that is the session's model.
pub fn is_model(option: &ConfigOption) -> bool {
    option.category.as_deref() == Some("model")
}

fn mode(mode: v1::SessionMode) -> AcpChoice {
    AcpChoice { id: mode.id.0.to_string(), name: mode.name, description: mode.description }
}

/// Models outside of the options are not in the schema: an older form that agents still send.
fn model(model: &Value) -> Option<AcpChoice> {
    let id = text(model, "modelId")?;
    let name = text(model, "name").unwrap_or_else(|| id.clone());
    Some(AcpChoice { id, name, description: text(model, "description") })
}

/// The settings of a session, and those that are not understood.
pub fn config_options(list: Option<&Value>) -> (Vec<ConfigOption>, Vec<Value>) {
    let (known, other) = items::<v1::SessionConfigOption>(list);
    (known.into_iter().filter_map(config_option).collect(), other)
}

fn config_option(option: v1::SessionConfigOption) -> Option<ConfigOption> {
    let value = match option.kind {
        v1::SessionConfigKind::Select(select) => {
            let options = match select.options {
                v1::SessionConfigSelectOptions::Ungrouped(options) => options,
                v1::SessionConfigSelectOptions::Grouped(groups) => {
                    groups.into_iter().flat_map(|group| group.options).collect()
                }
                _ => Vec::new(),
            };
            let choice = |option: v1::SessionConfigSelectOption| AcpChoice {
                id: option.value.0.to_string(),
                name: option.name,
                description: option.description,
            };
            OptionValue::Choice {
                value: select.current_value.0.to_string(),
                choices: options.into_iter().map(choice).collect(),
            }
        }
        v1::SessionConfigKind::Boolean(switch) => OptionValue::Switch(switch.current_value),
        _ => return None,
    };
    let category = option.category.and_then(|category| serde_json::to_value(category).ok());
    Some(ConfigOption {
        id: option.id.0.to_string(),
        name: option.name,
        description: option.description,
        category: category.and_then(|category| category.as_str().map(str::to_owned)),
        value,
    })
}

pub fn command(command: v1::AvailableCommand) -> AcpSlashCommand {
    let hint = match command.input {
        Some(v1::AvailableCommandInput::Unstructured(input)) => Some(input.hint),
        _ => None,
    };
    AcpSlashCommand {
        name: command.name,
        description: command.description,
        hint: hint.filter(|hint| !hint.is_empty()),
    }
}

pub fn plan_entry(entry: v1::PlanEntry) -> PlanEntry {
    let priority = match entry.priority {
        v1::PlanEntryPriority::High => "high",
        v1::PlanEntryPriority::Low => "low",
        _ => "medium",
    };
    let status = match entry.status {
        v1::PlanEntryStatus::InProgress => PlanStatus::Running,
        v1::PlanEntryStatus::Completed => PlanStatus::Done,
        _ => PlanStatus::Pending,
    };
    PlanEntry { text: entry.content, priority: priority.to_owned(), status }
}

pub fn usage(update: v1::UsageUpdate) -> AcpUsage {
    AcpUsage {
        context: Some((update.used, update.size)),
        cost: update.cost.map(|cost| (cost.amount, cost.currency)),
        tokens: None,
    }
}

/// Tokens of a turn. Not yet a part of version 1, and sent by most agents.
pub fn tokens(usage: &Value) -> Option<AcpTokens> {
    let number = |field: &str| usage.get(field).and_then(Value::as_u64);
    Some(AcpTokens {
        input: number("inputTokens")?,
        output: number("outputTokens")?,
        total: number("totalTokens")?,
        thought: number("thoughtTokens"),
        cache_read: number("cachedReadTokens"),
        cache_write: number("cachedWriteTokens"),
    })
}

/// A page of stored sessions, the place of the next page, and items that are not understood.
pub fn stored(result: &Value) -> (Vec<AcpStoredSession>, Option<String>, Vec<Value>) {
    let (known, other) = items::<v1::SessionInfo>(result.get("sessions"));
    let session = |info: v1::SessionInfo| AcpStoredSession {
        id: info.session_id.0.to_string(),
        folder: info.cwd.display().to_string(),
        title: info.title,
        updated_at: info.updated_at,
    };
    (known.into_iter().map(session).collect(), text(result, "nextCursor"), other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn another_version_of_the_protocol_is_refused() {
        assert!(ready(&json!({"protocolVersion": 1})).is_ok());
        for result in [json!({"protocolVersion": 2}), json!({}), json!(null), json!({"protocolVersion": "x"})]
        {
            assert!(ready(&result).is_err(), "{result}");
        }
    }

    #[test]
    fn a_login_is_found_in_each_of_its_places() {
        let terminal = |method: Value| login(&method).and_then(|login| login.terminal);
        let own = terminal(
            json!({"id": "a", "_meta": {"terminal-auth": {"command": "/bin/a", "args": ["login"]}}}),
        );
        assert_eq!(own.unwrap().command.as_deref(), Some("/bin/a"));
        let qwen = terminal(json!({"id": "a", "_meta": {"type": "terminal", "args": ["--auth-type=x"]}}));
        assert_eq!(qwen.unwrap().arguments, ["--auth-type=x"]);
        let typed = terminal(json!({"id": "a", "type": "terminal", "env": {"A": "1"}})).unwrap();
        assert_eq!((typed.command, typed.environment), (None, vec![("A".to_owned(), "1".to_owned())]));
        assert_eq!(terminal(json!({"id": "a", "name": "x"})), None);
        let key = login(&json!({"id": "k", "type": "env_var", "vars": [{"name": "KEY"}]})).unwrap();
        assert_eq!((key.name.as_str(), key.variables), ("k", vec!["KEY".to_owned()]));
    }

    #[test]
    fn a_mode_is_found_in_the_options_too() {
        let options = json!([{"id": "mode", "name": "Mode", "category": "mode", "type": "select",
            "currentValue": "plan", "options": [{"value": "plan", "name": "Plan"}]}]);
        let found = session(&json!({"sessionId": "s", "configOptions": options}), None).unwrap();
        assert_eq!((found.mode.as_deref(), found.modes.len()), (Some("plan"), 1));
        assert!(session(&json!({}), None).is_err());
        assert_eq!(session(&Value::Null, Some("s")).unwrap().id, "s");
    }

    #[test]
    fn an_item_that_is_not_understood_stays() {
        let list = json!([{"name": "a", "description": ""}, {"name": 1}]);
        let (known, other) = items::<v1::AvailableCommand>(Some(&list));
        assert_eq!((known.len(), other), (1, vec![json!({"name": 1})]));
        assert_eq!(content(&json!({"type": "new"})), Content::Other("{\"type\":\"new\"}".to_owned()));
    }
}
