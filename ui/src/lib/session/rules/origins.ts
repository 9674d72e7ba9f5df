// Permission rules, grouped by their file or origin and labelled.

import type {
  FileRule,
  Rule,
  RuleEffect,
  RuleFile,
  RuleFileList,
  RuleOrigin,
  RulePlace,
  RulesInForce,
} from '../../bindings/api';

export interface ListedRule {
  effect: RuleEffect;
  rule: string;
  /** The way to remove it; `null` if there is none here. */
  removal: Removal | null;
  /** The agent does not list it. */
  isIdle: boolean;
}

/** A rule in a file, or one of the session. */
export type Removal = { place: RulePlace } | { sessionRule: string };

/** A text that is the same for the same rule in the same place. */
export const removalId = (removal: Removal): string => JSON.stringify(removal);

export interface RuleGroup {
  origin: RuleOrigin;
  title: string;
  place: string;
  /** Words about the whole group. */
  note: string | null;
  rules: readonly ListedRule[];
}

const ORIGINS: Record<RuleOrigin, { title: string; place: string }> = {
  session: { title: 'This session', place: 'Added here, until the agent stops' },
  local: { title: 'You, in this project', place: '.claude/settings.local.json' },
  project: { title: 'Everyone in this project', place: '.claude/settings.json' },
  user: { title: 'You, in all projects', place: 'Your own settings' },
  policy: { title: 'Your organisation', place: 'Managed settings' },
  folder: {
    title: 'This folder',
    place: '.claude/settings.json and .claude/settings.local.json, as you trusted them',
  },
  arguments: { title: 'Command line', place: 'The arguments that the agent was started with' },
  other: { title: 'Other', place: 'The agent does not report the source' },
};

/** Why rules of these origins cannot be removed here. */
const FIXED: Partial<Record<RuleOrigin, string>> = {
  policy: 'Only your organisation can change these rules.',
  arguments: 'These rules are part of the start of the agent. Change them in the session options.',
};

const FOLDER_NOTES: Record<RuleFileList['folder'], string | null> = {
  inEffect: null,
  restricted: 'Not in effect: this folder’s own settings are not loaded.',
  kept: 'Not in effect: you keep the settings that you trusted earlier.',
  undecided: 'Not in effect: you have not decided whether to trust this folder as it is now.',
};

const SHARED = 'This file may be shared in the repository. Removing a rule changes it for everyone.';

export const EFFECTS: Record<RuleEffect, string> = { deny: 'Denies', ask: 'Asks', allow: 'Allows' };

/** Origins whose rules stand in a file of the list. */
const IN_FILES: readonly RuleOrigin[] = ['local', 'project', 'folder', 'user'];

/**
 * The groups: what the agent lists, in the order in which the engine sorted the rules, with each file in the place of
 * its origin. `files` is `null` if the files are not known.
 */
export function ruleGroups(inForce: RulesInForce | null, files: RuleFileList | null): RuleGroup[] {
  const listed = inForce?.rules ?? [];
  const ofFiles = files?.files.map((file) => ofFile(file, files, inForce)) ?? [];
  // Of a folder that is not in effect as it is, the agent has rules of its copy, which stand in none of these files.
  const inEffect = files?.files.filter(({ origin }) => origin === 'user' || files.folder === 'inEffect') ?? [];
  const isInFile = (rule: Rule) =>
    IN_FILES.includes(rule.origin) && inEffect.some((file) => file.rules.some((one) => isSame(one, rule)));
  const rest = listed.filter((rule) => !isInFile(rule));
  const origins = [...new Set(rest.map(({ origin }) => origin))];
  const ofAgent = origins.map((origin) => ({
    origin,
    ...ORIGINS[origin],
    note: FIXED[origin] ?? null,
    rules: rest.filter((rule) => rule.origin === origin).map(ofOrigin),
  }));
  const [session, others] = [ofAgent.filter(isOfSession), ofAgent.filter((group) => !isOfSession(group))];
  return [...session, ...ofFiles, ...others];
}

const isOfSession = ({ origin }: RuleGroup) => origin === 'session';

const isSame = (inFile: FileRule, rule: Rule) =>
  inFile.effect === rule.effect && (inFile.rule === rule.rule || inFile.forms.includes(rule.rule));

function ofOrigin({ effect, rule, origin }: Rule): ListedRule {
  // A rule that asks is one that was taken back.
  const isRemovable = origin === 'session' && effect === 'allow';
  return { effect, rule, removal: isRemovable ? { sessionRule: rule } : null, isIdle: false };
}

function ofFile(file: RuleFile, { folder }: RuleFileList, inForce: RulesInForce | null): RuleGroup {
  const isOfFolder = file.origin !== 'user';
  const idle = isOfFolder ? FOLDER_NOTES[folder] : null;
  const isListed = (rule: FileRule) => inForce?.rules.some((one) => isSame(rule, one)) ?? true;
  const rules = file.rules.map((rule) => ({
    effect: rule.effect,
    rule: rule.rule,
    removal: idle === null ? { place: { path: file.path, effect: rule.effect, rule: rule.rule } } : null,
    // Without a list of its own the agent may have rules that it does not report.
    isIdle: idle === null && inForce?.basis === 'agent' && !isListed(rule),
  }));
  const problem = file.problem === null ? null : `The rules could not be read: ${file.problem}`;
  const shared = file.origin === 'project' && file.rules.length > 0 ? SHARED : null;
  const place = file.link === null ? file.path : `${file.path} → ${file.link}`;
  return {
    origin: file.origin,
    title: ORIGINS[file.origin].title,
    place,
    note: problem ?? idle ?? shared,
    rules,
  };
}
