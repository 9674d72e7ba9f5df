// Builders that the lists of actions share.

import type { Command, Session } from '../../../bindings/api';
import type { Action, Desk, Target } from '../action';

/** An action that is always available, unless `off` is added to it. */
export const always = (
  group: Action['group'],
  id: string,
  label: string,
  run: (desk: Desk) => void,
  ...keys: string[]
): Action => ({ id, group, label, keys, does: { run } });

/** Sends a command to the open session. `what` names a refusal. */
export const send = (command: Command, what: string) => (desk: Desk) => void desk.pane.command(command, what);

/** Says in the window that something was copied: an action has no button that could show it. */
export async function sayCopied(desk: Desk, what: string, copied: Promise<boolean>): Promise<void> {
  if (await copied) desk.project.done = { text: `Copied ${what}`, undo: null };
}

/** Does something with the session of a row; a stored conversation becomes one first, and nothing is started. */
export function onSession({ project }: Desk, { row }: Target, act: (session: Session) => unknown): void {
  if (row === null) return;
  // At once where possible: the clipboard can only be written during the click or key press.
  if (row.session !== null) act(row.session);
  else
    void project.sessionOf(row).then((session) => {
      if (session !== null) act(session);
    });
}
