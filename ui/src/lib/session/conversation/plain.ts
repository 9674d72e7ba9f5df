// Plain text of an item, shown if drawing the item fails.

import type { Body } from '../../bindings/api';
import { blocksText } from '../../document/markdown';

export function bodyText(body: Body): string {
  switch (body.type) {
    case 'prompt':
    case 'message':
    case 'thinking':
      return body.text;
    case 'text':
      return blocksText(body.blocks);
    case 'notice':
      return [body.text, body.detail ?? ''].filter((part) => part !== '').join('\n\n');
    case 'turnEnd':
      return body.words;
    case 'toolCall':
      return `${body.verb} ${body.subject}\n\n${JSON.stringify(body.detail, null, 2)}`;
  }
}
