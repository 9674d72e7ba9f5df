//! A service that others answer: permission requests go out as lines of JSON on a Unix socket, and come back as
//! `allow ID` or `deny ID`. Several clients may be connected; the first answer counts.
//!
//! `cargo run -p deskbell-engine --example approval_service -- AGENT PROJECT PROMPT SOCKET`

#[cfg(unix)]
mod support;

#[cfg(not(unix))]
fn main() {
    eprintln!("this example needs Unix sockets");
}

#[cfg(unix)]
#[tokio::main]
async fn main() -> Result<(), support::Failed> {
    service::run().await
}

#[cfg(unix)]
mod service {
    use super::support::{self, Failed};
    use deskbell_engine::api::{Command, Decision, Delivery, Event, PermissionRequest};
    use std::collections::BTreeMap;
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
    use tokio::net::{UnixListener, UnixStream};
    use tokio::sync::{broadcast, mpsc};

    pub async fn run() -> Result<(), Failed> {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let [agent, project, prompt, socket] = arguments.as_slice() else {
            return Err("usage: approval_service AGENT PROJECT PROMPT SOCKET".into());
        };
        // In a folder that only this user can enter: who can connect can allow.
        let listener = UnixListener::bind(socket)?;
        let session = support::open(agent.into(), project.into())?;
        let mut events = support::events(&session).await?;
        let text = prompt.clone();
        session
            .command(Command::Prompt { text, attachments: Vec::new(), delivery: Delivery::default() })
            .await?;
        println!("ready");

        let (publish, _) = broadcast::channel(64);
        let (answer, mut answers) = mpsc::channel::<String>(64);
        let mut open: BTreeMap<String, Box<PermissionRequest>> = BTreeMap::new();
        loop {
            tokio::select! {
                client = listener.accept() => {
                    let waiting = open.values().map(|request| line(request)).collect::<Result<Vec<_>, _>>()?;
                    tokio::spawn(serve(client?.0, waiting, publish.subscribe(), answer.clone()));
                }
                event = events.recv() => match event {
                    Some(Event::PermissionRequested { request, .. }) => {
                        // It fails only if no client is connected; later ones get the request when they connect.
                        let _ = publish.send(line(&request)?);
                        open.insert(request.id.to_string(), request);
                    }
                    Some(Event::PermissionResolved { request_id, .. }) => {
                        open.remove(&request_id.to_string());
                    }
                    Some(Event::TurnEnded { turn }) => {
                        println!("{}", turn.words);
                        break;
                    }
                    Some(_) => {}
                    None => break,
                },
                Some(answer) = answers.recv() => {
                    let (word, id) = answer.split_once(' ').unwrap_or((answer.as_str(), ""));
                    let Some(request) = open.get(id) else { continue };
                    let decision = match word {
                        "allow" => Decision::AllowOnce { updated_input: None },
                        _ => Decision::Deny { message: "Denied by a client.".to_owned(), interrupt: false },
                    };
                    // `shown` says what the client saw: nothing else can be allowed.
                    let shown = Some(request.shown.clone());
                    let decide = Command::Decide { request_id: request.id.clone(), shown, decision };
                    // Refused if another client was faster.
                    if let Err(error) = session.command(decide).await {
                        eprintln!("{error}");
                    }
                }
            }
        }
        session.close().await?;
        std::fs::remove_file(socket)?;
        Ok(())
    }

    /// A request as a line of JSON.
    fn line(request: &PermissionRequest) -> Result<String, serde_json::Error> {
        serde_json::to_string(request).map(|text| text + "\n")
    }

    /// Sends requests to a client, and passes its answers on, until it leaves.
    async fn serve(
        client: UnixStream,
        waiting: Vec<String>,
        mut published: broadcast::Receiver<String>,
        answer: mpsc::Sender<String>,
    ) -> std::io::Result<()> {
        let (reader, mut writer) = client.into_split();
        let mut lines = BufReader::new(reader).lines();
        for line in waiting {
            writer.write_all(line.as_bytes()).await?;
        }
        loop {
            tokio::select! {
                Ok(line) = published.recv() => writer.write_all(line.as_bytes()).await?,
                line = lines.next_line() => {
                    let Some(line) = line? else { return Ok(()) };
                    if answer.send(line).await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }
}
