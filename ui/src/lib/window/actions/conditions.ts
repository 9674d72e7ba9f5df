// Where an action can be used: each condition says why not, as a sentence, or whether a part is there.

import type { Session } from '../../bindings/api';
import { markOf, type Row } from '../../session/sessionRows';
import { isTurnRunning } from '../../text/status';
import type { Desk, Target } from './action';

export const NO_SESSION = 'No session is open.';
const NO_TURN = 'No turn is running.';

export const open = ({ pane }: Desk) => pane.state;

/** Needs the open conversation on screen. */
export const offSession = (desk: Desk) => desk.covered ?? (open(desk) === null ? NO_SESSION : null);

/** Needs a second session on screen. */
export const offSecond = ({ project }: Desk) => (project.beside.state === null ? 'No second session is shown.' : null);

/** Needs the window of the project, which can show any of its sessions. */
export const offOwnWindow = ({ project }: Desk) =>
  project.ownSession === null ? null : 'This window shows one session. The others are in the project’s window.';

/** Needs a session or a stored conversation. */
export const offRow = (_: Desk, { row }: Target) => (row === null ? NO_SESSION : null);

export const offRepository = ({ project }: Desk) => project.noWorktrees;

export const offTurn = (desk: Desk) => {
  const session = open(desk)?.session;
  return session !== undefined && isTurnRunning(session.status) ? null : NO_TURN;
};

const isRequested = (desk: Desk) => desk.project.sessions.some((session) => session.requests.length > 0);
/** Needs a request of this project. */
export const offRequest = (desk: Desk) =>
  (open(desk)?.requests.length ?? 0) > 0 || isRequested(desk) ? null : 'Nothing is waiting.';
/** Needs a request of this project, or a session of another one that waits. */
export const offWaiting = (desk: Desk) => (desk.project.waiting.length > 0 ? null : offRequest(desk));

const agentId = ({ row }: Target) => row?.session?.agentSessionId ?? row?.stored?.agentSessionId ?? null;
export const offUnsent = (desk: Desk, on: Target) =>
  offRow(desk, on) ?? (agentId(on) === null ? 'The session has no conversation yet.' : null);

export const notOffered = (session: Session | null | undefined) =>
  session?.agent === 'acp' ? `${session.agentName} does not offer this in Deskbell.` : null;
/** Needs a session of Claude Code or of the demo agent. */
export const offOther = (desk: Desk, on: Target) => notOffered(on.row?.session) ?? offUnsent(desk, on);
export const offOpenOther = (desk: Desk) => offSession(desk) ?? notOffered(open(desk)?.session);

export const offMessage = (_: Desk, { item }: Target) => (item === null ? 'The conversation has no message.' : null);
/** Why files and conversation cannot be rewound now. */
export const offRewind = (desk: Desk) => {
  const session = open(desk)?.session;
  const off = offSession(desk);
  if (off !== null || session === undefined) return off ?? NO_SESSION;
  if (!session.capabilities.rewind) return 'This agent has no checkpoints.';
  if (desk.pane.isWatching) return 'Another program has this conversation open.';
  if (isTurnRunning(session.status)) return 'The agent is working. Stop it first.';
  if (session.nBackground > 0) return 'Work in the background may change files. Stop it first.';
  return session.rewind.isPending ? 'Another rewind is being carried out.' : null;
};
/** Why there is no link to try again. */
export const offLink = (desk: Desk) => {
  const link = open(desk)?.session.link.type;
  if (link === undefined) return NO_SESSION;
  if (link === 'connecting') return 'An attempt to connect is running.';
  return link === 'waiting' ? null : 'The session has not lost its connection.';
};
export const isCall = ({ item }: Target) => item?.body.type === 'toolCall';
export const hasText = ({ item }: Target) => item?.body.type === 'text' || item?.body.type === 'prompt';
const detailOf = ({ item }: Target) => (item?.body.type === 'toolCall' ? item.body.detail : null);
/** The command that ran, or an input as JSON. The input of other calls is in their title and their result. */
export const hasInput = (on: Target) => detailOf(on)?.type === 'command' || detailOf(on)?.type === 'json';
export const hasOutput = (on: Target) => {
  const detail = detailOf(on);
  return detail !== null && 'output' in detail && detail.output.total > 0;
};
export const canUnfold = (on: Target) => isCall(on) || (on.item?.body.type === 'thinking' && on.item.body.text !== '');

export const isMarked = (desk: Desk, row: Row | null, mark: 'pinned' | 'archived') =>
  row !== null && markOf(row, desk.project.stored.marks) === mark;

/** A session of a server is recorded where its agent runs, which is not this process. */
export function offRecording(desk: Desk): string | null {
  if (open(desk)?.session.link.type === 'here') return null;
  return 'This session runs in a server and cannot be recorded here. “deskbell relay --record” records a session.';
}

export function isRecorded(desk: Desk): boolean {
  const id = open(desk)?.id;
  return id !== undefined && desk.project.recordings.of(id)?.isRunning === true;
}

export function isOpen(desk: Desk, { row }: Target): boolean {
  return row?.session != null && row.session.id === open(desk)?.id;
}
