// Files of a folder in the fake host.

import type { FileText } from '../lib/bindings/api';
import { codeLine } from './markdown';

export const NO_FILE = "There is no such file in the session's folder.";

const MONEY = `// Amounts of money, in whole cents.
use crate::decimal::Decimal;

pub struct Money(Decimal);

impl Money {
    pub fn round(self) -> Self {
        Self(self.0.round_dp(2))
    }
}`;

const text = (path: string, source: string, facts: Partial<FileText> = {}): FileText => {
  const lines = source.split('\n').map(codeLine);
  return { path, lines, first: 1, nLines: lines.length, nCut: 0, ...facts };
};

/** By path. */
export const FILES = new Map(
  [
    text('src/money.rs', MONEY),
    { path: 'src/empty.rs', lines: [], first: 1, nLines: 0, nCut: 0 },
    text('src/a b.rs', 'let hidden = "a\u202Eb";'),
    text('src/long.rs', 'let total = 0;\n'.repeat(40).trimEnd(), { first: 2_801, nLines: 5_000, nCut: 2 }),
  ].map((file) => [file.path, file]),
);
