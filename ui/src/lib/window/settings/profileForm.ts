// The form of a profile on the settings page: texts that the user types, and the profile that they are.

import type { PermissionMode, Profile } from '../../bindings/api';

/** The choice of an agent by its command, in place of an agent's id. `''` is Claude Code. */
export const BY_COMMAND = '\0command';

/** A profile without a choice. */
export const NO_PROFILE: Omit<Profile, 'name'> = {
  agent: null,
  command: null,
  program: null,
  environment: [],
  model: null,
  effort: null,
  mode: null,
  projects: [],
};

export interface ProfileForm {
  name: string;
  /** An id, `''` or `BY_COMMAND`. */
  agent: string;
  program: string;
  /** One argument in each line. */
  arguments: string;
  environment: { name: string; value: string }[];
  model: string;
  effort: string;
  mode: PermissionMode | '';
  /** One path in each line. */
  projects: string;
}

export function formOf(profile: Profile): ProfileForm {
  const { name, agent, command, program, environment, model, effort, mode, projects } = profile;
  return {
    name,
    agent: command === null ? (agent ?? '') : BY_COMMAND,
    program: command === null ? (program ?? '') : command.program,
    arguments: (command?.args ?? []).join('\n'),
    environment: environment.map((variable) => ({ ...variable })),
    model: model ?? '',
    effort: effort ?? '',
    mode: mode ?? '',
    projects: projects.join('\n'),
  };
}

const textOf = (typed: string) => (typed.trim() === '' ? null : typed.trim());

const linesOf = (typed: string) =>
  typed
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** The profile of a form. A variable without a name and a value is a row that was not used. */
export function profileOf(form: ProfileForm): Profile {
  const isCommand = form.agent === BY_COMMAND;
  return {
    name: form.name.trim(),
    agent: isCommand || form.agent === '' ? null : form.agent,
    command: isCommand
      ? { program: form.program.trim(), args: form.arguments.split('\n').filter((line) => line !== '') }
      : null,
    program: isCommand ? null : textOf(form.program),
    environment: form.environment
      .filter(({ name, value }) => name.trim() !== '' || value !== '')
      .map(({ name, value }) => ({ name: name.trim(), value })),
    model: textOf(form.model),
    effort: textOf(form.effort),
    mode: form.agent === '' && form.mode !== '' ? form.mode : null,
    projects: linesOf(form.projects),
  };
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** What was changed in a form that began with this profile. */
export function editsOf(before: Profile, form: ProfileForm): Partial<Profile> {
  const [begun, edited] = [profileOf(formOf(before)), profileOf(form)];
  const fields = Object.keys(edited) as (keyof Profile)[];
  return Object.fromEntries(
    fields.filter((field) => !isSame(edited[field], begun[field])).map((field) => [field, edited[field]]),
  );
}
