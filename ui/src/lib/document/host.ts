// Detects links whose text leaves the link's target in doubt.

/** A run of the characters that host names consist of. */
const RUN = /[\p{L}\p{N}.-]+/gu;
/** The end of a name: `com`, and what the next word of `com-pare` adds to it is no part of it. */
const LAST_LABEL = /^\p{L}{2,}/u;

/**
 * Whether the host must be shown next to the link text: the text names another host, or the host itself can be misread.
 */
export function mustShowHost(text: string, host: string): boolean {
  if (host === '' || text.toLowerCase().includes(host)) return false;
  if (/(^|\.)xn--/.test(host)) return true;
  return hostNames(text.toLowerCase()).some((name) => !within(name, host) && !within(host, name));
}

/** Whether the host is this name or below it. */
function within(name: string, host: string): boolean {
  const at = host.length - name.length;
  return host.endsWith(name) && (at === 0 || host.charAt(at - 1) === '.');
}

/**
 * The parts of a text that look like a host name: `example.com`, `docs.rs`. A single expression for them would search
 * the rest of the text from each of its characters.
 */
function hostNames(text: string): string[] {
  const found: string[] = [];
  for (const [run] of text.matchAll(RUN)) {
    let labels: string[] = [];
    /** The last label of the longest name so far, and the number of labels before it. */
    let last: [label: string, nBefore: number] | null = null;
    const end = () => {
      if (last !== null) found.push([...labels.slice(0, last[1]), last[0]].join('.'));
      labels = [];
      last = null;
    };
    for (const part of run.split('.')) {
      const label = labels.length === 0 ? undefined : LAST_LABEL.exec(part)?.[0];
      if (label !== undefined) last = [label, labels.length];
      if (part === '' || part.startsWith('-') || part.endsWith('-')) end();
      if (part !== '' && !part.endsWith('-')) labels.push(part.replace(/^-+/, ''));
    }
    end();
  }
  return found;
}
