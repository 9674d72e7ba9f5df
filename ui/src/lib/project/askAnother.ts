// The same prompt for another agent.

import type { AskedAgent, Command, CommandError, ItemId, NamedDraft } from '../bindings/api';
import type { AgentOrProfile } from '../host/host';
import { drafted } from '../session/attachments';
import type { ProjectState } from './project.svelte';

/** A prompt for another agent, and the number of its attachments, which only the window that sent them may have. */
export interface Asked {
  draft: NamedDraft;
  nFiles: number;
}

/**
 * Gives a prompt of the open session to another agent, in a new session, and shows the two side by side. `null` is
 * Claude Code. Returns why there is no session.
 */
export async function askAnother(
  project: ProjectState,
  promptId: ItemId,
  wanted: AgentOrProfile | null,
): Promise<CommandError | null> {
  const origin = project.open;
  const asked = await askedPrompt(project, promptId, wanted);
  if (origin === null || asked === null) return null;
  const { draft, nFiles } = asked;
  const at = origin.item(promptId)?.at ?? 0;
  const begun = await begin(project, draft.asked);
  if (begun !== true) {
    // The user decides about the folder first, or reads why there is no agent. The prompt waits for the session.
    if (begun === null) keepForLater(project, draft.text);
    return begun;
  }
  await project.showBeside(origin.id);
  const attachments = nFiles === 0 ? [] : project.sentFiles.of(origin.id, draft.text, nFiles, at);
  if (attachments === null) {
    project.pane.draft.add(draft.text, []);
    const message = `Its attachments (${nFiles}) are not kept. Attach them again, then send it.`;
    project.problems.report('The prompt was not sent', { code: 'badCommand', message, detail: null });
    return null;
  }
  const sent: Command = { type: 'prompt', text: draft.text, attachments: [...attachments], delivery: 'afterTurn' };
  if ((await project.pane.command(sent, 'The prompt was not sent')) !== null) {
    project.pane.draft.add(
      draft.text,
      attachments.map((one) => drafted(one.name ?? 'Attachment', one)),
    );
  }
  return null;
}

/** A prompt of the open session, for another agent. `null` if there is none, or if it could not be read. */
export async function askedPrompt(
  project: ProjectState,
  promptId: ItemId,
  wanted: AgentOrProfile | null,
): Promise<Asked | null> {
  const origin = project.open;
  const body = origin?.item(promptId)?.body;
  if (origin === null || body?.type !== 'prompt') return null;
  const text = await project.acts.promptText(origin.id, promptId);
  if (text === null) return null;
  return { draft: { text, asked: askedAgent(wanted) }, nFiles: body.nImages + body.nDocuments };
}

/** Takes a prompt that a second start or another window named as a draft. Nothing is sent. */
export async function takeNamed(project: ProjectState, { text, asked }: NamedDraft): Promise<void> {
  if (asked === null) return project.pane.draft.add(text, []);
  const begun = await begin(project, asked);
  if (begun === true) return project.pane.draft.add(text, []);
  keepForLater(project, text);
  if (begun !== null) project.problems.report('No session was started', begun);
}

/** Creates a session and opens it. `true`, or why there is none; `null` where the window itself shows why. */
async function begin({ creation }: ProjectState, asked: AskedAgent | null): Promise<true | CommandError | null> {
  if (asked === null || asked.type === 'claude') {
    return (await creation.create('claude')) === null ? null : true;
  }
  const refused = await creation.createWith(asked.type === 'profile' ? { profile: asked.name } : { agent: asked.id });
  if (refused !== null) return refused;
  return (await creation.pending()) === null ? null : true;
}

const keepForLater = ({ drafts, project }: ProjectState, text: string) => drafts.of(null, project.path).add(text, []);

function askedAgent(wanted: AgentOrProfile | null): AskedAgent {
  if (wanted === null) return { type: 'claude' };
  return 'profile' in wanted ? { type: 'profile', name: wanted.profile } : { type: 'other', id: wanted.agent };
}
