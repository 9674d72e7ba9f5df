// The same prompt for another agent.

import type { Command, CommandError, ItemId } from '../bindings/api';
import type { AgentOrProfile } from '../host/host';
import type { ProjectState } from './project.svelte';

/**
 * Gives a prompt of the open session to another agent, in a new session, and shows the two side by side. `null` is
 * Claude Code. Returns why there is no session.
 */
export async function askAnother(
  project: ProjectState,
  promptId: ItemId,
  wanted: AgentOrProfile | null,
): Promise<CommandError | null> {
  const { creation, drafts, problems } = project;
  const origin = project.open;
  const body = origin?.item(promptId)?.body;
  if (origin === null || body?.type !== 'prompt') return null;
  const text = await project.promptText(origin.id, promptId);
  if (text === null) return null;
  const refused = wanted === null ? null : await creation.createWith(wanted);
  if (refused !== null) return refused;
  if (wanted === null) await creation.create('claude');
  if (project.open === null || project.open.id === origin.id) {
    // The user decides about the folder first, or reads why there is no agent. The prompt waits for the session.
    drafts.of(null, project.project.path).add(text, []);
    return null;
  }
  await project.second.show(origin);
  const nFiles = body.nImages + body.nDocuments;
  if (nFiles > 0) {
    project.draft.add(text, []);
    const message = `Its attachments (${nFiles}) are not kept. Attach them again, then send it.`;
    problems.report('The prompt was not sent', { code: 'badCommand', message, detail: null });
    return null;
  }
  const sent: Command = { type: 'prompt', text, attachments: [], delivery: 'afterTurn' };
  if ((await project.command(sent, 'The prompt was not sent')) !== null) project.draft.add(text, []);
  return null;
}
