// Other machines, as a form that opens a folder there uses them.

import type { ConnectionQuestion, FolderListing } from '../bindings/api';
import type { Host } from '../host/host';

export interface Machines {
  /** The hosts to offer; none if they cannot be read, because a name can be typed. */
  hosts(): Promise<readonly string[]>;
  folders(machine: string, folder: string): Promise<FolderListing>;
  open(machine: string, folder: string): Promise<void>;
}

export const machinesOf = (host: Host): Machines => ({
  hosts: () => host.sshHosts().catch(() => []),
  folders: (machine, folder) => host.farFolders(machine, folder),
  open: (machine, folder) => host.openFar(machine, folder),
});

/** The heading of a question of a connection. */
export const titleOf = ({ kind, machine }: ConnectionQuestion): string =>
  kind === 'hostKey' ? `Is this really ${machine}?` : `Connect to ${machine}`;
