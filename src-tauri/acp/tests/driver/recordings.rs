//! The recordings of real agents: the events that they fold to, and what each row of the table claims.

use super::player::{Played, folder, names, play, recording, text};
use super::summary::summary;
use deskbell_acp::AcpEvent;
use deskbell_acp::agents::{AGENTS, AcpAgent, Asks, CommandPlace, Proof, Reports};
use deskbell_acp::command::AcpRefusal;
use deskbell_acp::event::{AcpOptionKind, AcpTurnEnd, CallKind, CommandFrom, Content, Voice};
use serde_json::Value;

/// The row that a recording belongs to.
fn row(name: &str) -> &'static AcpAgent {
    let is_of = |agent: &&AcpAgent| match agent.proof {
        Proof::Recorded { recordings, .. } => recordings.contains(&name),
        Proof::NotRun => false,
    };
    AGENTS.iter().find(is_of).unwrap_or_else(|| panic!("{name} belongs to no row"))
}

fn played(name: &str) -> Played {
    play(name, row(name).command)
}

#[test]
fn each_folds_to_the_text_next_to_it() {
    let mut problems = Vec::new();
    for name in names() {
        let folded = summary(&played(&name).events);
        let path = folder().join(format!("{name}.txt"));
        if std::env::var_os("UPDATE_EXPECTATIONS").is_some() {
            std::fs::write(&path, &folded).unwrap();
        }
        if folded != std::fs::read_to_string(&path).unwrap_or_default() {
            problems.push(format!("{name} folds to\n{folded}"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_message_of_the_agents_is_read() {
    let mut n_messages = 0;
    for name in names() {
        let place = CommandPlace::Input;
        let unread = play(&name, place)
            .events
            .into_iter()
            .filter(|event| matches!(event, AcpEvent::Unreadable { .. }));
        assert_eq!(unread.collect::<Vec<_>>(), [], "{name}");
        n_messages += recording(&name).iter().filter(|line| line.is_out).count();
    }
    assert!(n_messages > 500, "{n_messages}");
}

/// Everything that is not understood in all recordings: vendors' own notifications, states and figures.
#[test]
fn what_is_not_understood_is_known() {
    let mut kinds: Vec<String> = Vec::new();
    for name in names() {
        for event in played(&name).events {
            match event {
                AcpEvent::Unknown { kind, .. } if kind != "answer" => kinds.push(kind),
                AcpEvent::Refused { method, .. } => kinds.push(method),
                _ => {}
            }
        }
    }
    kinds.sort();
    kinds.dedup();
    assert_eq!(
        kinds,
        [
            "_auth/status_update",
            "craft/drainMidTurnQueue",
            "fs/read_text_file",
            "fs/write_text_file",
            "qwen/notify/session/prompt-suggestion",
            "session_info_update",
        ]
    );
}

/// What the recordings of an agent show that it reports.
fn reported(events: &[AcpEvent]) -> Reports {
    let mut reports = Reports::default();
    let mut commands = Vec::new();
    for event in events {
        match event {
            AcpEvent::Said { voice: Voice::Thinking, .. } => reports.thinking = true,
            AcpEvent::Call(call) => {
                if call.kind == Some(CallKind::Execute) {
                    commands.push(call.id.clone());
                }
                reports.input |= call.input.as_ref().is_some_and(|input| input.json.is_some());
                reports.output |= call.output.is_some() && commands.contains(&call.id);
                reports.exit_code |= call.exit.as_ref().is_some_and(|exit| exit.code.is_some());
                reports.diffs |= call.diffs.is_some();
            }
            AcpEvent::Permission(permission) => {
                let always = |kind| matches!(kind, AcpOptionKind::AllowAlways);
                reports.always |= permission.options.iter().any(|option| always(option.kind));
                reports.diffs |= permission.call.diffs.as_ref().is_some_and(|diffs| !diffs.is_empty());
            }
            AcpEvent::Usage(usage) => {
                reports.context |= usage.context.is_some();
                reports.tokens |= usage.tokens.is_some();
                reports.cost |= usage.cost.is_some();
            }
            AcpEvent::TurnEnded { tokens, .. } => reports.tokens |= tokens.is_some(),
            AcpEvent::Title(Some(_)) => reports.title = true,
            _ => {}
        }
    }
    reports
}

#[test]
fn each_row_reports_what_its_recordings_show() {
    for agent in AGENTS {
        let Proof::Recorded { recordings, version } = agent.proof else { continue };
        let mut events = Vec::new();
        for name in recordings {
            events.extend(played(name).events);
        }
        assert_eq!(agent.reports, reported(&events), "{}", agent.id);
        let versions = events.iter().filter_map(|event| match event {
            AcpEvent::Ready(ready) => ready.version.clone(),
            _ => None,
        });
        for said in versions {
            assert_eq!(version.split(' ').next(), said.split(' ').next(), "{}", agent.id);
        }
        // An agent without a session reports nothing.
        let commands = events.iter().filter_map(|event| match event {
            AcpEvent::Permission(permission) => {
                permission.call.input.as_ref().map(|input| input.command_from)
            }
            _ => None,
        });
        let from = match agent.command {
            CommandPlace::Title => CommandFrom::Title,
            CommandPlace::Input => CommandFrom::Input,
        };
        for found in commands.filter(|found| *found != CommandFrom::None) {
            assert_eq!(found, from, "{}", agent.id);
        }
    }
    let recorded: usize = AGENTS
        .iter()
        .map(|agent| match agent.proof {
            Proof::Recorded { recordings, .. } => recordings.len(),
            Proof::NotRun => 0,
        })
        .sum();
    assert_eq!(recorded, names().len(), "every recording belongs to one row");
}

/// Whether each agent asks when its session begins, and by which mode or setting it will.
#[test]
fn each_row_makes_its_agent_ask() {
    let asks = |name: &str| {
        let session = played(name).events.into_iter().find_map(|event| match event {
            AcpEvent::Session(session) => Some(session),
            _ => None,
        });
        row(name).asking.of(&session.unwrap())
    };
    for name in ["copilot", "gemini", "claude-acp"] {
        assert_eq!(asks(name), Asks::Yes, "{name}");
    }
    for name in ["codex-acp", "codex-acp-zed", "qwen"] {
        assert!(matches!(asks(name), Asks::After(_)), "{name}: {:?}", asks(name));
    }
    assert_eq!(asks("opencode"), Asks::Unknown);
}

/// A mode of a row that its agent does not have would never be offered.
#[test]
fn each_row_offers_modes_that_its_agent_has() {
    for agent in AGENTS {
        let Proof::Recorded { recordings, .. } = agent.proof else { continue };
        let sessions =
            recordings.iter().flat_map(|name| played(name).events).filter_map(|event| match event {
                AcpEvent::Session(session) => Some(session),
                _ => None,
            });
        let Some(session) = sessions.into_iter().find(|session| !session.modes.is_empty()) else {
            assert_eq!(agent.modes, [""; 0], "{}", agent.id);
            continue;
        };
        for mode in agent.modes {
            assert!(session.modes.iter().any(|known| known.id == *mode), "{}: {mode}", agent.id);
        }
        assert!(agent.modes.len() < session.modes.len() || agent.id == "opencode", "{}", agent.id);
    }
}

#[test]
fn a_login_that_is_missing_is_an_event() {
    let events = played("auggie").events;
    let required = |event: &AcpEvent| matches!(event, AcpEvent::LoginRequired { message, .. } if message.contains("auggie login"));
    assert!(events.iter().any(required), "{events:?}");
}

#[test]
fn a_live_session_is_never_loaded() {
    for name in names() {
        let Played { refused, written, .. } = played(&name);
        let loads = |line: &&Value| line["method"] == "session/load";
        if refused.iter().any(|(_, refusal)| *refusal == AcpRefusal::HasSession) {
            assert_eq!(written.iter().filter(loads).count(), 0, "{name}");
        }
    }
    let loaded = played("gemini-load");
    assert!(loaded.events.iter().any(|event| matches!(event, AcpEvent::Session(_))));
    assert!(loaded.events.iter().any(|event| matches!(event, AcpEvent::Said { voice: Voice::User, .. })));
}

/// opencode's tool for questions never returns: the turn is still open when the process ends, and ends with it.
#[test]
fn a_turn_that_hangs_ends_with_its_process() {
    let Played { events, refused, .. } = played("opencode-question");
    assert!(
        matches!(events.last(), Some(AcpEvent::TurnEnded { end: AcpTurnEnd::Failed(_), .. })),
        "{events:?}"
    );
    assert!(refused.iter().any(|(_, refusal)| *refusal == AcpRefusal::TurnRunning), "{refused:?}");
}

/// Looks at the lines and at the texts that they add up to: a path may be cut in pieces.
#[test]
fn no_recording_names_the_machine_it_was_made_on() {
    let mut n_bytes = 0;
    for name in names() {
        let text = text(&name);
        n_bytes += text.len();
        for text in [text, summary_of_texts(&name)] {
            for private in ["/root", "/opt/", "/var/", "/tmp/", "/Users", "sk-", "BEGIN PRIVATE", "probe\""] {
                assert!(!text.contains(private), "{name} contains {private}");
            }
            let mut homes = text.match_indices("/home/");
            let is_neutral = homes.all(|(at, home)| text[at + home.len()..].starts_with("user"));
            assert!(is_neutral, "{name} contains a home folder");
        }
    }
    assert!(n_bytes < 400_000, "{n_bytes} bytes");
}

fn summary_of_texts(name: &str) -> String {
    let text = |event| match event {
        AcpEvent::Said { content: Content::Text(text), .. } => Some(text),
        _ => None,
    };
    played(name).events.into_iter().filter_map(text).collect()
}
