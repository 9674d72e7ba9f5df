// Whether a link's own words leave its reader in doubt about where it leads.

/** Something that reads as the name of a host: `example.com`, `docs.rs`. */
const NAME = /(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+\p{L}{2,}/gu;

/** Whether the host must stand beside the text: the text names another one, or the host is one that can be misread. */
export function mustShowHost(text: string, host: string): boolean {
  if (host === '' || text.toLowerCase().includes(host)) return false;
  if (/(^|\.)xn--/.test(host)) return true;
  return [...text.matchAll(NAME)].some(
    ([name]) => !within(name.toLowerCase(), host) && !within(host, name.toLowerCase()),
  );
}

const within = (name: string, host: string) => host === name || host.endsWith(`.${name}`);
