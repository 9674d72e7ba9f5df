// Detects links whose text leaves the link's target in doubt.

/** Text that looks like a host name: `example.com`, `docs.rs`. */
const NAME = /(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+\p{L}{2,}/gu;

/**
 * Whether the host must be shown next to the link text: the text names another host, or the host itself can be misread.
 */
export function mustShowHost(text: string, host: string): boolean {
  if (host === '' || text.toLowerCase().includes(host)) return false;
  if (/(^|\.)xn--/.test(host)) return true;
  return [...text.matchAll(NAME)].some(
    ([name]) => !within(name.toLowerCase(), host) && !within(host, name.toLowerCase()),
  );
}

const within = (name: string, host: string) => host === name || host.endsWith(`.${name}`);
