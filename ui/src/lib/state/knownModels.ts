// The models and commands that agents offered last, so that a session has them before its agent runs.

import type { Model, Session, SlashCommand } from '../bindings/api';

const KEY = 'deskbell.models';
/** Lists that are kept, each of an agent in one version. The oldest go first. */
const MOST_LISTS = 12;
/** The most models and commands of one list. */
const MOST_ENTRIES = 200;

/** The agent that a list is of. */
interface Source {
  agent: string;
  /** Its profile: another account or service has other models. */
  profile: string | null;
  /** The other machine that it runs on. */
  machine: string | null;
  version: string | null;
}

interface Kept extends Source {
  models: Model[];
  commands: SlashCommand[];
}

export class KnownModels {
  /** Newest first. */
  #lists: readonly Kept[];
  #machine: string | null;
  #storage: Storage;

  /** `ondamaged` gets the reason why stored lists are ignored. */
  constructor(machine: string | null, ondamaged: (reason: string) => void, storage: Storage = localStorage) {
    this.#machine = machine;
    this.#storage = storage;
    this.#lists = read(storage, ondamaged);
  }

  /** Returns the session with the lists of its agent's last run, if its own are not known yet. Keeps those of an agent that runs. */
  complete(session: Session): Session {
    if (!session.capabilities.models) return session;
    if (session.models.length > 0) {
      if (session.alive) this.#keep(session);
      return session;
    }
    const known = this.#lists.find((list) => this.#isOf(list, session));
    if (known === undefined) return session;
    const commands = session.commands.length > 0 ? session.commands : known.commands;
    return { ...session, models: known.models, commands };
  }

  /** Before its first start the version of a session's agent is unknown; the newest list counts. */
  #isOf(list: Source, { agent, profile, agentVersion }: Session): boolean {
    const isAgent = list.agent === agent && list.profile === profile && list.machine === this.#machine;
    return isAgent && (agentVersion === null || list.version === agentVersion);
  }

  #keep(session: Session): void {
    const { agent, profile, agentVersion: version } = session;
    const list: Kept = {
      agent,
      profile,
      machine: this.#machine,
      version,
      models: session.models.slice(0, MOST_ENTRIES),
      commands: session.commands.slice(0, MOST_ENTRIES),
    };
    const isAgent = (other: Source) =>
      other.agent === agent && other.profile === profile && other.machine === this.#machine;
    // The session's events come often, and seldom change them.
    if (JSON.stringify(this.#lists.find(isAgent)) === JSON.stringify(list)) return;
    const isSame = (other: Source) => isAgent(other) && other.version === version;
    // Another window may have written since.
    const others = read(this.#storage, () => {}).filter((other) => !isSame(other));
    this.#lists = [list, ...others].slice(0, MOST_LISTS);
    try {
      this.#storage.setItem(KEY, JSON.stringify(this.#lists));
    } catch {
      // Full storage: the lists live as long as the window.
    }
  }
}

function read(storage: Storage, ondamaged: (reason: string) => void): readonly Kept[] {
  const text = storage.getItem(KEY);
  if (text === null) return [];
  try {
    const lists: unknown = JSON.parse(text);
    if (!Array.isArray(lists) || !lists.every(isList)) throw new Error('an entry is not a list of models');
    return lists;
  } catch (reason) {
    ondamaged(String(reason));
    return [];
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const isNamed = (value: unknown) => isObject(value) && typeof value.name === 'string';

function isList(value: unknown): value is Kept {
  if (!isObject(value) || typeof value.agent !== 'string') return false;
  const { models, commands } = value;
  const isModel = (model: unknown) => isNamed(model) && isObject(model) && Array.isArray(model.effortLevels);
  return Array.isArray(models) && models.every(isModel) && Array.isArray(commands) && commands.every(isNamed);
}
