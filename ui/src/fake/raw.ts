// Lines between Deskbell and an agent, as a window gets them.

import type { RawDirection, RawKind, RawLine, RawLines } from '../lib/bindings/api';

const BEGUN = new Date(2026, 10, 24, 16, 40, 3, 120).getTime();

const line = (nr: number, direction: RawDirection, kind: RawKind, text: string, nCut = 0): RawLine => ({
  nr,
  at: BEGUN + nr * 37,
  direction,
  kind,
  text,
  nCut,
});

export const RAW_LINES: RawLines = {
  lines: [
    line(1, 'start', 'known', '{"args":["--print","--output-format","stream-json"]}'),
    line(2, 'toAgent', 'known', '{"type":"user","message":{"role":"user","content":"Round half to even"}}'),
    line(3, 'stderr', 'known', 'Warning: the key <key> is deprecated\nuse another one'),
    line(4, 'fromAgent', 'unknown', '{"type":"system","subtype":"weather_changed","weather":"rain"}'),
    line(5, 'fromAgent', 'unreadable', '\u001B[31mThis is no JSON\u202E'),
    line(6, 'fromAgent', 'known', `{"type":"user","message":{"content":"${'word '.repeat(120)}"}}`, 1_340_000),
    line(7, 'fromAgent', 'known', '{"type":"result","subtype":"success","is_error":false}'),
  ],
  last: 7,
  hasMore: false,
  nUnknown: 1,
  nUnreadable: 1,
  nDropped: 0,
};
