// Counts, tokens and money in words.

const WHOLE = new Intl.NumberFormat('en-US');

export function count(n: number): string {
  return WHOLE.format(n);
}

/** “1 file”, “3 files”. */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** “840”, “12.4k”, “1.2M”. */
export function tokens(n: number): string {
  if (n < 1_000) return String(n);
  if (n < 999_950) return `${(n / 1_000).toFixed(n < 99_950 ? 1 : 0)}k`;
  return `${(n / 1_000_000).toFixed(1)}M`;
}

/** “$0.04”. An amount below a cent is shown as such; zero is “$0”. */
export function dollars(usd: number): string {
  if (usd <= 0) return '$0';
  return usd < 0.01 ? '< $0.01' : `$${usd.toFixed(2)}`;
}

/** An exact amount with at least two decimals: “$0.20” of “0.2”, “$12.345678” of “12.345678”. */
export function exactDollars(usd: string): string {
  const [whole = '0', cents = ''] = usd.split('.');
  return `$${whole}.${cents.padEnd(2, '0')}`;
}

/** Keeps a number and its unit in one line. */
const SPACE = '\u{a0}';

/** “84 kB”, “1.2 MB”. */
export function bytes(n: number): string {
  if (n >= 1_000_000) return `${(n / 1_000_000).toFixed(1)}${SPACE}MB`;
  return `${Math.ceil(n / 1000)}${SPACE}kB`;
}
