// What the interface needs from the program around it. Components know this and no more, so they run in any browser.

import type {
  AgentKind,
  Checkup,
  Command,
  CommandError,
  FoundFiles,
  Hello,
  Image,
  Preferences,
  Session,
  SessionId,
  Snapshot,
  TrustDecision,
  WindowEvent,
} from '../bindings/api';

/** The program around the window. Every call that fails rejects with a `CommandError`. */
export interface Host {
  /** What a window learns first. */
  hello(): Promise<Hello>;
  /** Hears everything told to this window; resolves when nothing can be missed any more. */
  listen(event: string, heard: (event: WindowEvent) => void): Promise<() => void>;
  /** Without asking only if a person chose that for this very session. */
  createSession(agent: AgentKind | null, withoutAsking: boolean): Promise<Session>;
  /** The session as it stands; from now on its batches come to this window. */
  snapshot(sessionId: SessionId): Promise<Snapshot>;
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
  /** Opens a web page in the browser of the desktop. */
  openLink(url: string): Promise<void>;
  copyText(text: string): Promise<void>;
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
