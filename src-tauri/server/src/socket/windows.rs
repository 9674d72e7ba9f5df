//! A named pipe with a random name, which stands in a file at the socket's path: in a folder of the user's profile, as
//! everything of Deskbell. Its security descriptor names this user as its owner and lets no other user in, and tokio refuses
//! other computers. The name is visible to all users of the computer, so a client checks the pipe's owner: when
//! a server has ended, another user could make a pipe of its name.

use super::{SocketError, failed};
use std::ffi::c_void;
use std::fs;
use std::io;
use std::os::windows::io::AsRawHandle;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::windows::named_pipe::{ClientOptions, NamedPipeClient, NamedPipeServer, ServerOptions};
use tokio::time::{Instant, sleep};
use windows::Win32::Foundation::{CloseHandle, ERROR_PIPE_BUSY, HANDLE, HLOCAL, LocalFree};
use windows::Win32::Security::Authorization::{
    ConvertSidToStringSidW, ConvertStringSecurityDescriptorToSecurityDescriptorW, GetSecurityInfo,
    SDDL_REVISION_1, SE_KERNEL_OBJECT,
};
use windows::Win32::Security::{
    GetTokenInformation, OWNER_SECURITY_INFORMATION, PSECURITY_DESCRIPTOR, PSID, SECURITY_ATTRIBUTES,
    TOKEN_QUERY, TOKEN_USER, TokenUser,
};
use windows::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};
use windows::core::{BOOL, HSTRING, PWSTR};

/// What stands before the random part of a name.
const PREFIX: &str = r"\\.\pipe\deskbell-";

/// The digits of the random part.
const DIGITS: usize = 32;

/// Timeout of a server that has no free end of its pipe: it makes one as soon as it has accepted the client before.
const BUSY: Duration = Duration::from_secs(5);
const LOOKS_AGAIN: Duration = Duration::from_millis(10);

pub type ReadHalf = tokio::io::ReadHalf<Stream>;
pub type WriteHalf = tokio::io::WriteHalf<Stream>;

/// One end of a pipe.
pub enum Stream {
    Server(NamedPipeServer),
    Client(NamedPipeClient),
}

impl Stream {
    pub fn into_split(self) -> (ReadHalf, WriteHalf) {
        tokio::io::split(self)
    }
}

/// The other end is gone: its last bytes have been read.
fn is_end(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let read = match self.get_mut() {
            Self::Server(pipe) => Pin::new(pipe).poll_read(cx, buf),
            Self::Client(pipe) => Pin::new(pipe).poll_read(cx, buf),
        };
        read.map(|read| read.or_else(|error| if is_end(&error) { Ok(()) } else { Err(error) }))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Server(pipe) => Pin::new(pipe).poll_write(cx, bytes),
            Self::Client(pipe) => Pin::new(pipe).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Server(pipe) => Pin::new(pipe).poll_flush(cx),
            Self::Client(pipe) => Pin::new(pipe).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Server(pipe) => Pin::new(pipe).poll_shutdown(cx),
            Self::Client(pipe) => Pin::new(pipe).poll_shutdown(cx),
        }
    }
}

/// Accepts connections.
pub struct Listener {
    name: String,
    descriptor: Descriptor,
    /// The end that the next client connects to. There is always one, or the pipe would be gone between two clients.
    next: NamedPipeServer,
}

impl Listener {
    /// The next connection. The pipe let only this user in.
    pub async fn accept(&mut self) -> io::Result<Stream> {
        self.next.connect().await?;
        let next = make(&self.name, &self.descriptor, false)?;
        Ok(Stream::Server(std::mem::replace(&mut self.next, next)))
    }
}

/// Creates the folder if it is missing. Windows keeps other users out of a user's profile.
pub fn own_folder(folder: &Path) -> Result<(), SocketError> {
    fs::create_dir_all(folder).map_err(failed(folder))
}

/// Listens under a new name, which is written to the path. The caller has the lock of the server, so a name that is there
/// was left by a server that was killed.
pub fn listen(path: &Path) -> Result<Listener, SocketError> {
    if let Some(folder) = path.parent() {
        own_folder(folder)?;
    }
    let name = format!("{PREFIX}{}", uuid::Uuid::new_v4().simple());
    let user = user().map_err(failed(path))?;
    let descriptor = Descriptor::of(&user).map_err(failed(path))?;
    let next = make(&name, &descriptor, true).map_err(failed(path))?;
    // A client that reads half a name finds no server, and looks again.
    fs::write(path, &name).map_err(failed(path))?;
    Ok(Listener { name, descriptor, next })
}

/// Connects to the server whose name is at the path, if it is this user's.
pub async fn connect(path: &Path) -> Result<Stream, SocketError> {
    let Some(name) = name_at(path).await? else { return Err(SocketError::NoServer) };
    let deadline = Instant::now() + BUSY;
    let pipe = loop {
        match ClientOptions::new().open(&name) {
            Ok(pipe) => break pipe,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(SocketError::NoServer),
            Err(error) if is_busy(&error) && Instant::now() < deadline => sleep(LOOKS_AGAIN).await,
            Err(error) => return Err(failed(path)(error)),
        }
    };
    let checked = user().and_then(|user| Ok(owner(&pipe)? == user));
    if checked.map_err(failed(path))? {
        return Ok(Stream::Client(pipe));
    }
    let problem = "another user listens there".to_owned();
    Err(SocketError::Unsafe { path: path.to_owned(), problem })
}

/// The pipe let only this user in, and a client has checked its owner.
pub fn is_same_user(_stream: &Stream) -> io::Result<bool> {
    Ok(true)
}

/// The name of this machine.
pub fn host_name() -> Option<String> {
    std::env::var("COMPUTERNAME").ok().filter(|name| !name.is_empty())
}

fn is_busy(error: &io::Error) -> bool {
    error.raw_os_error() == Some(ERROR_PIPE_BUSY.0 as i32)
}

/// The name in the file at the path; `None` without a file, or with half a name in it.
async fn name_at(path: &Path) -> Result<Option<String>, SocketError> {
    let read = |path: PathBuf| move || fs::read(path);
    let name = match tokio::task::spawn_blocking(read(path.to_owned())).await.map_err(io::Error::other) {
        Ok(Ok(name)) => name,
        Ok(Err(error)) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Ok(Err(error)) | Err(error) => return Err(failed(path)(error)),
    };
    let name = String::from_utf8(name).unwrap_or_default();
    let is_whole = name.strip_prefix(PREFIX).is_some_and(|digits| {
        digits.len() == DIGITS && digits.chars().all(|digit| digit.is_ascii_hexdigit())
    });
    if is_whole || name.is_empty() || PREFIX.starts_with(&name) || name.starts_with(PREFIX) {
        return Ok(is_whole.then_some(name));
    }
    let problem = "it does not contain the name of a pipe".to_owned();
    Err(SocketError::Unsafe { path: path.to_owned(), problem })
}

/// An end of the pipe of this name. `is_first`: fails if there is a pipe of the name.
fn make(name: &str, descriptor: &Descriptor, is_first: bool) -> io::Result<NamedPipeServer> {
    let mut attributes = SECURITY_ATTRIBUTES {
        nLength: size_of::<SECURITY_ATTRIBUTES>() as u32,
        lpSecurityDescriptor: descriptor.0.0,
        bInheritHandle: BOOL(0),
    };
    let mut options = ServerOptions::new();
    options.first_pipe_instance(is_first);
    // SAFETY: the attributes and the descriptor in them live until the call has returned.
    unsafe { options.create_with_security_attributes_raw(name, (&raw mut attributes).cast::<c_void>()) }
}

/// The security descriptor of a pipe that a user owns and no other can open.
struct Descriptor(PSECURITY_DESCRIPTOR);

// SAFETY: it is memory of the heap, which is only read until it is freed with its owner.
unsafe impl Send for Descriptor {}
// SAFETY: it is only read.
unsafe impl Sync for Descriptor {}

impl Descriptor {
    /// `user`: a security identifier, as text.
    fn of(user: &str) -> io::Result<Self> {
        // Owner; a list that nothing is inherited into, and that allows everything to the user.
        let text = HSTRING::from(format!("O:{user}D:P(A;;GA;;;{user})"));
        let mut descriptor = PSECURITY_DESCRIPTOR::default();
        // SAFETY: the text is terminated, and the descriptor is written before it is used.
        unsafe {
            ConvertStringSecurityDescriptorToSecurityDescriptorW(
                &text,
                SDDL_REVISION_1,
                &raw mut descriptor,
                None,
            )?;
        }
        Ok(Self(descriptor))
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        free(self.0.0);
    }
}

fn free(memory: *mut c_void) {
    // SAFETY: it was allocated by a function whose result is freed so, and is not used afterwards.
    unsafe { LocalFree(Some(HLOCAL(memory))) };
}

/// The security identifier of this user, as text.
fn user() -> io::Result<String> {
    let mut token = HANDLE::default();
    // SAFETY: the handle of this process is always valid, and the token is written before it is used.
    unsafe { OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &raw mut token)? };
    // Words of the size of a pointer, so that what is written there is aligned. An identifier has at most 68 bytes.
    let mut buffer = [0_usize; 32];
    let size = size_of_val(&buffer) as u32;
    let mut used = 0;
    // SAFETY: the buffer has the size that is given.
    let found = unsafe {
        GetTokenInformation(token, TokenUser, Some(buffer.as_mut_ptr().cast()), size, &raw mut used)
    };
    // SAFETY: the token was opened above, and is not used afterwards.
    let closed = unsafe { CloseHandle(token) };
    found.and(closed)?;
    // SAFETY: the call has written this structure to the start of the buffer, which is aligned for it.
    let user = unsafe { &*buffer.as_ptr().cast::<TOKEN_USER>() };
    text_of(user.User.Sid)
}

/// The owner of a pipe, as text.
fn owner(pipe: &impl AsRawHandle) -> io::Result<String> {
    let mut owner = PSID::default();
    let mut descriptor = PSECURITY_DESCRIPTOR::default();
    // SAFETY: the handle is open, and both results are written before they are used.
    let found = unsafe {
        GetSecurityInfo(
            HANDLE(pipe.as_raw_handle()),
            SE_KERNEL_OBJECT,
            OWNER_SECURITY_INFORMATION,
            Some(&raw mut owner),
            None,
            None,
            None,
            Some(&raw mut descriptor),
        )
    };
    found.ok()?;
    // The identifier is a part of the descriptor.
    let text = text_of(owner);
    free(descriptor.0);
    text
}

fn text_of(identifier: PSID) -> io::Result<String> {
    let mut text = PWSTR::null();
    // SAFETY: the identifier came from the system, and the text is written before it is used.
    let read = unsafe {
        ConvertSidToStringSidW(identifier, &raw mut text)?;
        text.to_string()
    };
    free(text.0.cast());
    read.map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[tokio::test]
    async fn only_a_pipe_of_this_user_is_used() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("a").join("socket");
        assert!(matches!(connect(&path).await, Err(SocketError::NoServer)));
        let mut listener = listen(&path).unwrap();
        for round in ["first", "second"] {
            let (client, server) = tokio::join!(connect(&path), listener.accept());
            let (mut client, mut server) = (client.unwrap(), server.unwrap());
            server.write_all(round.as_bytes()).await.unwrap();
            drop(server);
            let mut text = String::new();
            client.read_to_string(&mut text).await.unwrap();
            assert_eq!(text, round, "what was written arrives, and then the end");
        }
        drop(listener);
        assert!(matches!(connect(&path).await, Err(SocketError::NoServer)), "nothing listens");
        fs::write(&path, &PREFIX[..7]).unwrap();
        assert!(matches!(connect(&path).await, Err(SocketError::NoServer)), "half a name");
        fs::write(&path, r"\\other\pipe\deskbell-0123456789abcdef0123456789abcdef").unwrap();
        assert!(
            matches!(connect(&path).await, Err(SocketError::Unsafe { .. })),
            "a pipe of another computer"
        );
    }

    #[tokio::test]
    async fn the_owner_of_a_pipe_is_its_user() {
        let temp = tempfile::tempdir().unwrap();
        let listener = listen(&temp.path().join("socket")).unwrap();
        let client = ClientOptions::new().open(&listener.name).unwrap();
        assert_eq!(owner(&client).unwrap(), user().unwrap());
        assert!(user().unwrap().starts_with("S-1-"));
    }
}
