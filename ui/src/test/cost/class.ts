// Measuring a class of input in two sizes.

import { readFileSync } from 'node:fs';

import type { Prepare } from './inputs';

/** Size of the smaller input in characters. The other is four times as large. */
const N = 8 * 1024;
/** Quadratic work takes 16 times as long, linear work 4 times. */
const MOST = 8;
/** Shorter times are noise. */
const FLOOR_MS = 6;
const TRIES = 6;

/**
 * The time that this thread has spent on a processor, in milliseconds, so that a busy machine changes little. Node knows
 * it only for the whole process, in which other tests run too; Linux knows it for the thread, to some milliseconds.
 */
function cpuTime(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return performance.now();
  }
}

function cost(prepare: Prepare, n: number): number {
  const work = prepare(n);
  const startedAt = cpuTime();
  work();
  return cpuTime() - startedAt;
}

export interface Measured {
  isLinear: boolean;
  /** The times of n and 4n, one pair for each try. */
  times: string;
}

/** Measures a class until it is within the limit, at most a few times. */
export function measure(prepare: Prepare): Measured {
  const times: string[] = [];
  // Garbage of earlier work only adds time, so the shortest of all runs so far are compared.
  let [one, four] = [Infinity, Infinity];
  for (let nr = 0; nr < TRIES; nr += 1) {
    const measured = [cost(prepare, N), cost(prepare, 4 * N)] as const;
    times.push(measured.map((ms) => `${ms.toFixed(1)} ms`).join(' and '));
    one = Math.min(one, measured[0]);
    four = Math.min(four, measured[1]);
    if (four <= MOST * Math.max(one, FLOOR_MS)) return { isLinear: true, times: times.join('; ') };
  }
  return { isLinear: false, times: times.join('; ') };
}
