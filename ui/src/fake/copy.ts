// Texts for the clipboard, in the engine's format.

import type { CopyOf } from '../lib/bindings/api';
import { blocksText, diffText, fenced, indented, spansText } from '../lib/document/markdown';
import type { FakeSession } from './session';

export function textOf(session: FakeSession, copy: CopyOf): string | undefined {
  if (copy.type === 'conversation') return conversationText(session);
  if (copy.type === 'resumeCommand') {
    return `cd '${session.facts.project}' && claude --resume ${session.facts.agentSessionId}`;
  }
  const body = session.items.find((item) => item.id === copy.itemId)?.body;
  if (body?.type === 'prompt') return body.text;
  if (body?.type === 'toolCall') {
    const { detail } = body;
    if (copy.type === 'raw') return JSON.stringify({ tool: body.tool, detail }, null, 2);
    return detail.type === 'command' ? detail.command : detail.type === 'json' ? detail.input : undefined;
  }
  return body?.type === 'text' ? blocksText(body.blocks) : undefined;
}

/** Thinking is left out. Tool calls take one line each, plus what they changed or ran. */
function conversationText({ facts, items }: FakeSession): string {
  const parts = [`# ${facts.title}`];
  for (const { body, parent } of items) {
    if (parent !== null) continue;
    if (body.type === 'prompt') parts.push(indented(body.text, '> ', '> '));
    if (body.type === 'text') parts.push(blocksText(body.blocks));
    if (body.type === 'notice') parts.push(`*${body.text}*`);
    if (body.type === 'toolCall') {
      parts.push(`${body.verb} ${spansText([{ type: 'code', text: body.subject }])}`);
      if (body.detail.type === 'edit') parts.push(fenced('diff', diffText(body.detail)));
    }
  }
  return parts.join('\n\n') + '\n';
}
