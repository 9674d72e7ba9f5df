// Refusals of the fake host.

import type { CommandError } from '../lib/bindings/api';

export function refuse<T>(code: Exclude<CommandError['code'], 'changedSince'>, message: string): Promise<T> {
  const error: CommandError = { code, message, detail: null };
  return Promise.reject(error);
}
