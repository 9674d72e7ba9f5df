// What the interface needs from the program around it. Components know this and no more, so they run in any browser.

import type {
  AgentKind,
  Body,
  Checkup,
  Command,
  CommandError,
  FoundFiles,
  CopyOf,
  Found,
  Hello,
  Image,
  ItemId,
  Output,
  Preferences,
  Session,
  SessionId,
  Show,
  Snapshot,
  TrustDecision,
  WindowEvent,
} from '../bindings/api';

/** The program around the window. Every call that fails rejects with a `CommandError`. */
export interface Host {
  /** What a window learns first. */
  hello(): Promise<Hello>;
  /**
   * Hears everything told to this window; resolves when nothing can be missed any more. Something is lost only when the
   * program around is in trouble.
   */
  listen(event: string, heard: (event: WindowEvent) => void, lost: (reason: unknown) => void): Promise<() => void>;
  /** Without asking only if a person chose that for this very session. */
  createSession(agent: AgentKind | null, withoutAsking: boolean): Promise<Session>;
  /** Starts the agent of a session that has none so that it asks nothing, if a person chose that for this start. */
  startWithoutAsking(sessionId: SessionId): Promise<void>;
  /** The session as it stands, with some of its rows; from now on its batches come to this window. */
  snapshot(sessionId: SessionId, show: Show): Promise<Snapshot>;
  /** Shows other rows of that session; what comes into sight comes with a batch. */
  showRows(sessionId: SessionId, show: Show): Promise<void>;
  /** Shows more of what a subagent did before number `before`, and from `until` on if that is near; it comes with a batch. */
  showEarlier(sessionId: SessionId, itemId: ItemId, before: number, until: ItemId | null): Promise<void>;
  /** Finds words in the whole session: the hit of that number, around the end if it must, or the last; `null` if another find began. */
  findWords(sessionId: SessionId, query: string, index: number | null): Promise<Found | null>;
  /** Some lines of what a tool put out, from `first` on. */
  outputLines(sessionId: SessionId, itemId: ItemId, first: number, count: number): Promise<Output>;
  /** A part of an item that is not drawn at once, counted from 0. */
  itemPart(sessionId: SessionId, itemId: ItemId, part: number): Promise<Body>;
  /** A text to take along, as the agent wrote it. */
  textOf(sessionId: SessionId, copy: CopyOf): Promise<string>;
  command(sessionId: SessionId, command: Command): Promise<void>;
  /** Says that every batch up to `seq` is applied, so that more may come. */
  acknowledge(sessionId: SessionId, seq: number): Promise<void>;
  removeSession(sessionId: SessionId): Promise<void>;
  setPreferences(preferences: Preferences): Promise<void>;
  /** Keeps whether the folder is trusted; to trust needs the fingerprint of what was shown. */
  decideTrust(decision: TrustDecision, fingerprint: string | null): Promise<void>;
  /** Tries the agent: which one it is, and whether it asks before it acts. Takes some seconds. */
  checkAgent(): Promise<Checkup>;
  /** Files of the project that fit what was typed after an `@`. */
  findFiles(query: string): Promise<FoundFiles>;
  /** The image with the type that its bytes have; rejects if it cannot go with a prompt. `data` is base64. */
  checkImage(name: string, data: string): Promise<Image>;
  /** Ends those of these processes that an earlier run left behind and that are still the same. */
  endSurvivors(pids: number[]): Promise<void>;
  /** Lets what an earlier run left behind be; it is not told of again. */
  leaveSurvivors(): Promise<void>;
  /** Opens a web page in the browser of the desktop. */
  openLink(url: string): Promise<void>;
  /** Shows a file of the project in the file manager of the desktop; nothing that lies outside. */
  revealPath(path: string): Promise<void>;
  /** Puts a text on the clipboard, at once or when it comes. */
  copyText(text: string | Promise<string>): Promise<void>;
}

/** Writes to the clipboard of the page. A text that is still on its way is promised: only a click may write. */
export async function writeClipboard(text: string | Promise<string>): Promise<void> {
  if (typeof text === 'string') return navigator.clipboard.writeText(text);
  // A refusal of the text itself says more than one of the clipboard.
  const blob = text.then((whole) => new Blob([whole], { type: 'text/plain' }));
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'text/plain': blob })]);
  } catch (reason) {
    await text;
    throw reason;
  }
}

/** Turns whatever a call was rejected with into an error that can be shown. */
export function asCommandError(reason: unknown): CommandError {
  if (isCommandError(reason)) return reason;
  const message = reason instanceof Error ? reason.message : String(reason);
  return { code: 'internal', message, detail: null };
}

function isCommandError(reason: unknown): reason is CommandError {
  return typeof reason === 'object' && reason !== null && 'code' in reason && 'message' in reason;
}
