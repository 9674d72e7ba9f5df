// The `deskbell://` link to a session: it opens the project's window and shows the session, and does nothing else.

/** `deskbell://open?folder=%2Fhome%2Fines%2Fledger&session=…`. */
export function appLink(folder: string, sessionId: string): string {
  return `deskbell://open?folder=${encodeURIComponent(folder)}&session=${encodeURIComponent(sessionId)}`;
}
