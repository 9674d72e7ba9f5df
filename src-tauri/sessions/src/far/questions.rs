//! The questions of one connection's ssh, on their way to a window: a socket that only this user's ssh can find and use.

use super::askpass::{ANSWERED, MAX_QUESTION, Message, SOCKET, WORD};
use super::secret::Secret;
use super::{AskWindow, Asked, Unanswered};
use deskbell_engine::api::{ConnectionQuestion, ConnectionQuestionKind};
use deskbell_server::lines::{ReadLine, next_line};
use deskbell_server::socket::{self, Stream};
use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::sync::{oneshot, watch};
use tokio::task::{JoinHandle, JoinSet};

/// Timeout of an answer. sshd ends a connection without one after 120 s.
const ANSWERS: Duration = Duration::from_secs(110);

/// Timeout of the question itself, from a process of this machine.
const ASKS: Duration = Duration::from_secs(5);

/// The longest question that is shown, in characters.
const SHOWN: usize = 2_000;

/// Receives the questions of one ssh, until it is dropped.
pub(super) struct Listener {
    path: PathBuf,
    word: String,
    program: PathBuf,
    unanswered: watch::Receiver<Option<Unanswered>>,
    accepting: JoinHandle<()>,
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.accepting.abort();
        if let Err(error) = std::fs::remove_file(&self.path) {
            tracing::debug!(%error, "the socket for questions is gone");
        }
    }
}

impl Listener {
    /// Listens in a folder that only this user can enter. `program`: Deskbell, as the program that ssh asks through.
    pub fn open(folder: &Path, program: PathBuf, machine: String, window: AskWindow) -> io::Result<Self> {
        Self::open_for(ANSWERS, folder, program, machine, window)
    }

    fn open_for(
        limit: Duration,
        folder: &Path,
        program: PathBuf,
        machine: String,
        window: AskWindow,
    ) -> io::Result<Self> {
        let name = uuid::Uuid::new_v4().simple().to_string();
        let path = folder.join(format!("ask-{}", &name[..12]));
        let listener = socket::listen(&path).map_err(io::Error::other)?;
        let word = uuid::Uuid::new_v4().to_string();
        let (sender, unanswered) = watch::channel(None);
        let asked = Mutex::default();
        let of = Of { word: word.clone(), machine, window, limit, unanswered: sender, asked };
        let accepting = tokio::spawn(accept(listener, Arc::new(of)));
        Ok(Self { path, word, program, unanswered, accepting })
    }

    /// The variables that make ssh ask through Deskbell.
    pub fn environment(&self) -> [(&'static str, OsString); 4] {
        [
            ("SSH_ASKPASS", self.program.clone().into()),
            ("SSH_ASKPASS_REQUIRE", "force".into()),
            (SOCKET, self.path.clone().into()),
            (WORD, self.word.clone().into()),
        ]
    }

    /// Waits until a question was not answered. ssh would ask the same again.
    pub async fn unanswered(&self) -> Unanswered {
        let mut unanswered = self.unanswered.clone();
        match unanswered.wait_for(Option::is_some).await.map(|why| *why) {
            Ok(Some(why)) => why,
            _ => std::future::pending().await,
        }
    }
}

struct Of {
    word: String,
    machine: String,
    window: AskWindow,
    limit: Duration,
    unanswered: watch::Sender<Option<Unanswered>>,
    /// The questions that were answered. One that comes again was answered wrong.
    asked: Mutex<HashSet<String>>,
}

async fn accept(mut listener: socket::Listener, of: Arc<Of>) {
    // They end with the listener.
    let mut asking = JoinSet::new();
    loop {
        match listener.accept().await {
            Ok(stream) => {
                let of = of.clone();
                asking.spawn(async move {
                    if let Err(error) = of.ask(stream).await {
                        tracing::warn!(%error, "a question of ssh could not be passed on");
                    }
                });
            }
            Err(error) => return tracing::warn!(%error, "the questions of ssh cannot be received"),
        }
        while asking.try_join_next().is_some() {}
    }
}

impl Of {
    async fn ask(&self, stream: Stream) -> io::Result<()> {
        if !socket::is_same_user(&stream)? {
            return Err(io::Error::other("another user asks"));
        }
        let (reader, mut writer) = stream.into_split();
        let mut reader = BufReader::new(reader);
        let message = tokio::time::timeout(ASKS, read(&mut reader)).await.map_err(io::Error::other)??;
        if message.word != self.word {
            return Err(io::Error::other("it has not the word of this connection"));
        }
        let question = self.question(&message);
        let is_notice = question.kind == ConnectionQuestionKind::Notice;
        let (reply, answer) = oneshot::channel();
        // Dropped when this function ends.
        let (_gone, gone) = oneshot::channel();
        // Without a window nothing answers.
        drop(self.window.send(Asked { question, reply, gone }));
        let mut end = [0];
        tokio::select! {
            // ssh needs no answer any more.
            _ = reader.read(&mut end) => Ok(()),
            answer = answer => match answer {
                Ok(Some(secret)) => reply_to(&mut writer, &secret).await,
                Ok(None) | Err(_) => self.end(Unanswered::Cancelled),
            },
            () = tokio::time::sleep(self.limit), if !is_notice => self.end(Unanswered::Slow),
        }
    }

    fn end(&self, why: Unanswered) -> io::Result<()> {
        self.unanswered.send_replace(Some(why));
        Ok(())
    }

    fn question(&self, message: &Message) -> ConnectionQuestion {
        let text: String = message.text.trim().chars().take(SHOWN).collect();
        let kind = kind_of(message.hint.as_deref(), &text);
        let is_first = self.asked.lock().unwrap_or_else(PoisonError::into_inner).insert(text.clone());
        let fingerprint = fingerprint_in(&text).filter(|_| kind == ConnectionQuestionKind::HostKey);
        ConnectionQuestion {
            id: uuid::Uuid::new_v4().to_string(),
            machine: self.machine.clone(),
            kind,
            text,
            fingerprint,
            is_again: !is_first && kind == ConnectionQuestionKind::Secret,
        }
    }
}

async fn read(reader: &mut (impl tokio::io::AsyncBufRead + Unpin)) -> io::Result<Message> {
    let mut line = Vec::new();
    match next_line(reader, &mut line, MAX_QUESTION as usize).await? {
        ReadLine::Line => Ok(serde_json::from_slice(&line)?),
        ReadLine::End | ReadLine::TooLong => Err(io::Error::other("it is not one line, or too long")),
    }
}

async fn reply_to(writer: &mut (impl tokio::io::AsyncWrite + Unpin), secret: &Secret) -> io::Result<()> {
    writer.write_all(&[ANSWERED]).await?;
    writer.write_all(secret.bytes()).await?;
    writer.shutdown().await
}

/// What ssh wants to have, from its hint and from the beginning of its own questions. A server's own question begins with
/// “(user@host)” (OpenSSH 8.5), so it does not pass for one of ssh.
fn kind_of(hint: Option<&str>, text: &str) -> ConnectionQuestionKind {
    match hint {
        Some("none") => ConnectionQuestionKind::Notice,
        Some("confirm") => ConnectionQuestionKind::Confirm,
        _ if text.starts_with("The authenticity of host ") => ConnectionQuestionKind::HostKey,
        _ if text.ends_with("(yes/no)?") || text.ends_with("(yes/no):") => ConnectionQuestionKind::Confirm,
        _ => ConnectionQuestionKind::Secret,
    }
}

/// `SHA256:…` in “ED25519 key fingerprint is SHA256:….”
fn fingerprint_in(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("key fingerprint is ")?;
    let fingerprint = rest.split_whitespace().next()?.trim_end_matches('.');
    (fingerprint.len() <= 200).then(|| fingerprint.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::UnixStream;
    use tokio::sync::mpsc;

    const HOST_KEY: &str = "The authenticity of host '[127.0.0.1]:22 ([127.0.0.1]:22)' can't be established.\nED25519 key \
                            fingerprint is SHA256:abc/+x.\nThis key is not known by any other names.\nAre you sure you \
                            want to continue connecting (yes/no/[fingerprint])?";

    #[test]
    fn a_question_is_recognized_by_its_beginning() {
        for (hint, text, kind) in [
            (None, HOST_KEY, ConnectionQuestionKind::HostKey),
            (None, "me@box's password:", ConnectionQuestionKind::Secret),
            (None, "Enter passphrase for key '/k':", ConnectionQuestionKind::Secret),
            (Some("none"), "Confirm user presence for key ED25519-SK", ConnectionQuestionKind::Notice),
            (Some("confirm"), "Allow use of key?", ConnectionQuestionKind::Confirm),
            (None, "Accept updated hostkeys? (yes/no):", ConnectionQuestionKind::Confirm),
            // A server asks like ssh does.
            (None, &format!("(me@box) {HOST_KEY}"), ConnectionQuestionKind::Secret),
        ] {
            assert_eq!(kind_of(hint, text), kind, "{text}");
        }
        assert_eq!(fingerprint_in(HOST_KEY).as_deref(), Some("SHA256:abc/+x"));
        assert_eq!(fingerprint_in("key fingerprint is "), None);
    }

    struct World {
        _folder: tempfile::TempDir,
        listener: Listener,
        window: mpsc::UnboundedReceiver<Asked>,
    }

    fn world() -> World {
        world_for(ANSWERS)
    }

    fn world_for(limit: Duration) -> World {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
        let (sender, window) = mpsc::unbounded_channel();
        let listener =
            Listener::open_for(limit, folder.path(), "/deskbell".into(), "box".to_owned(), sender).unwrap();
        World { _folder: folder, listener, window }
    }

    impl World {
        async fn send(&self, word: &str, text: &str) -> UnixStream {
            let mut stream = UnixStream::connect(&self.listener.path).await.unwrap();
            let message = Message { word: word.to_owned(), hint: None, text: text.to_owned() };
            let mut line = serde_json::to_vec(&message).unwrap();
            line.push(b'\n');
            stream.write_all(&line).await.unwrap();
            stream
        }

        async fn ask(&mut self, text: &str) -> (UnixStream, Asked) {
            let stream = self.send(&self.listener.word.clone(), text).await;
            (stream, self.window.recv().await.unwrap())
        }
    }

    async fn answer_to(mut stream: UnixStream) -> Vec<u8> {
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn a_question_is_answered_once_and_a_repeated_one_says_so() {
        let mut world = world();
        for is_again in [false, true] {
            let (stream, asked) = world.ask("me@box's password: ").await;
            assert_eq!(
                (asked.question.text.as_str(), asked.question.is_again),
                ("me@box's password:", is_again)
            );
            asked.reply.send(Secret::of("hunter2".to_owned())).unwrap();
            assert_eq!(answer_to(stream).await, b"+hunter2");
            assert!(asked.gone.await.is_err());
        }
        assert!(world.listener.unanswered.borrow().is_none());
    }

    #[tokio::test]
    async fn a_cancelled_question_ends_the_connection() {
        let mut world = world();
        let (stream, asked) = world.ask("Password:").await;
        asked.reply.send(None).unwrap();
        assert_eq!(answer_to(stream).await, b"");
        assert_eq!(world.listener.unanswered().await, Unanswered::Cancelled);
    }

    #[tokio::test]
    async fn a_window_that_closes_cancels() {
        let mut world = world();
        let (stream, asked) = world.ask("Password:").await;
        drop(asked);
        assert_eq!(answer_to(stream).await, b"");
        assert_eq!(world.listener.unanswered().await, Unanswered::Cancelled);
    }

    #[tokio::test]
    async fn a_question_is_gone_with_the_process_that_asks() {
        let mut world = world();
        let (stream, asked) = world.ask("Confirm user presence").await;
        drop(stream);
        assert!(asked.gone.await.is_err());
        assert!(world.listener.unanswered.borrow().is_none());
    }

    #[tokio::test]
    async fn a_question_has_a_timeout() {
        let mut world = world_for(Duration::from_millis(10));
        let (stream, _asked) = world.ask("Password:").await;
        assert_eq!(world.listener.unanswered().await, Unanswered::Slow);
        assert_eq!(answer_to(stream).await, b"");
    }

    #[tokio::test]
    async fn a_process_without_the_word_asks_nothing() {
        let mut world = world();
        let stream = world.send("another word", "Your password for the bank:").await;
        assert_eq!(answer_to(stream).await, b"");
        let (_stream, asked) = world.ask(&"x".repeat(9_000)).await;
        assert_eq!(asked.question.text.len(), SHOWN);
    }

    #[tokio::test]
    async fn only_this_user_can_use_the_socket() {
        use std::os::unix::fs::PermissionsExt;
        let world = world();
        let mode = std::fs::metadata(&world.listener.path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let path = world.listener.path.clone();
        drop(world.listener);
        assert!(!path.exists());
    }
}
