// Actions of the agent: its modes, models and options, its process, and what is known of it.

import type { AgentOption, Command, Session } from '../../../bindings/api';
import { currentModel, effortLabel, nextMode, offeredModes, optionChoices } from '../../../session/modes';
import { NO_OPTIONS } from '../../../session/options/form';
import type { Action, Choice, Desk } from '../action';
import { isOpen, isRecorded, NO_SESSION, offOpenOther, offRecording, offRow, offSession, open } from '../conditions';
import { onSession } from './builders';

/** The open session; without one the session that a choice would begin. */
const chosenFor = (desk: Desk): Session | null => open(desk)?.session ?? desk.project.creation.planned;

const choose = (desk: Desk, command: Command, what: string) => void desk.project.choose(desk.pane, command, what);

/** An action that switches a choice of the open session, or of the session that a choice would begin. */
const switching = (
  id: string,
  label: string,
  missing: string | ((session: Session) => string),
  choices: (session: Session, desk: Desk) => readonly Choice[],
  ...keys: string[]
): Action => {
  const all = (desk: Desk) => {
    const session = chosenFor(desk);
    return session === null ? [] : choices(session, desk);
  };
  return {
    id,
    group: 'Agent',
    label,
    keys,
    off: (desk) => {
      const session = chosenFor(desk);
      if (desk.covered !== null || session === null) return desk.covered ?? NO_SESSION;
      if (all(desk).length > 0) return null;
      return typeof missing === 'string' ? missing : missing(session);
    },
    does: { choices: all },
  };
};

/** Whether the agent did not report yet what it offers. */
const isUnknown = ({ alive, status, models }: Session) =>
  models.length === 0 && (!alive || status.type === 'starting' || status.type === 'restarting');

/** The values of settings that the agent offers itself. The label of a mode is its name alone. */
const ofAgent = (session: Session, desk: Desk, of: (option: AgentOption) => boolean): Choice[] =>
  session.agentOptions.filter(of).flatMap((option) =>
    optionChoices(option).map(({ id, label, checked, command }) => ({
      id: `${option.id}=${id}`,
      label: option.kind === 'mode' ? label : `${option.name}: ${label}`,
      isCurrent: checked,
      run: () => choose(desk, command, 'The setting was not changed'),
    })),
  );

export const AGENT: readonly Action[] = [
  switching(
    'mode',
    'Permission mode',
    'This agent has no permission modes.',
    (session, desk) => [
      ...offeredModes(session).map(({ id, label }) => ({
        id,
        label,
        isCurrent: id === session.mode,
        run: () => choose(desk, { type: 'setMode', mode: id }, 'The permission mode was not changed'),
      })),
      ...ofAgent(session, desk, (option) => option.kind === 'mode'),
    ],
    'Ctrl+Shift+P',
  ),
  {
    id: 'next-mode',
    group: 'Agent',
    label: 'Next permission mode',
    keys: ['Shift+Tab'],
    isLocal: true,
    off: (desk) => {
      const session = chosenFor(desk);
      if (session === null) return NO_SESSION;
      return nextMode(session) === undefined ? 'This agent has no other permission mode.' : null;
    },
    does: {
      run: (desk) => {
        const session = chosenFor(desk);
        const mode = session === null ? undefined : nextMode(session);
        if (mode !== undefined) choose(desk, { type: 'setMode', mode }, 'The permission mode was not changed');
      },
    },
  },
  {
    id: 'without-asking',
    group: 'Agent',
    label: 'Skip all permissions…',
    isDanger: true,
    off: (desk) => {
      const session = open(desk)?.session;
      if (session?.alive === true || session?.status.type === 'restarting') {
        return 'The agent is running. This can only be chosen before it starts.';
      }
      return offSession(desk) ?? (session?.capabilities.withoutAsking === true ? null : 'This agent cannot do that.');
    },
    does: { run: (desk) => desk.confirmWithoutAsking() },
  },
  switching(
    'model',
    'Model',
    (session) =>
      isUnknown(session)
        ? 'The models are known once the agent has started.'
        : 'This agent offers no choice of models.',
    (session, desk) =>
      (session.capabilities.models ? session.models : []).map(({ name, label }) => ({
        id: name,
        label,
        isCurrent: name === currentModel(session)?.name,
        run: () => choose(desk, { type: 'setModel', model: name }, 'The model was not changed'),
      })),
    'Ctrl+Shift+M',
  ),
  switching(
    'effort',
    'Effort',
    (session) =>
      isUnknown(session)
        ? 'The effort levels are known once the agent has started.'
        : 'The model has no effort levels.',
    (session, desk) =>
      (session.capabilities.effort ? (currentModel(session)?.effortLevels ?? []) : []).map((level) => ({
        id: level,
        label: effortLabel(level),
        isCurrent: level === session.effort,
        run: () => choose(desk, { type: 'setEffort', effort: level }, 'The setting was not changed'),
      })),
    'Ctrl+Shift+E',
  ),
  switching('agent-setting', 'Agent setting', 'This agent offers no settings of its own.', (session, desk) =>
    ofAgent(session, desk, (option) => option.kind !== 'mode'),
  ),
  switching('thinking', 'Thinking', 'The model always thinks.', (session, desk) =>
    session.capabilities.thinking && currentModel(session)?.canStopThinking === true
      ? [true, false].map((on) => ({
          id: on ? 'on' : 'off',
          label: on ? 'on' : 'off',
          isCurrent: on === session.thinking,
          run: () => choose(desk, { type: 'setThinking', on }, 'The setting was not changed'),
        }))
      : [],
  ),
  {
    id: 'rules',
    group: 'Agent',
    label: 'Permission rules',
    off: offOpenOther,
    menu: 'session',
    isAbsent: (desk, on) => !isOpen(desk, on),
    does: { run: (desk) => desk.showRules() },
  },
  {
    id: 'configuration',
    group: 'Agent',
    label: 'Servers, hooks and skills',
    off: offOpenOther,
    menu: 'session',
    isAbsent: (desk, on) => !isOpen(desk, on),
    keys: ['Ctrl+Shift+K'],
    does: { run: (desk) => desk.showConfiguration() },
  },
  {
    id: 'options',
    group: 'Agent',
    label: 'Session options',
    off: offOpenOther,
    menu: 'session',
    isAbsent: (desk, on) => !isOpen(desk, on),
    does: { run: (desk) => desk.showOptions() },
  },
  switching('preset', 'Options preset', 'This agent has no session options.', (session, desk) =>
    (session.agent === 'acp'
      ? []
      : [{ name: 'Agent’s defaults', options: NO_OPTIONS }, ...desk.project.settings.settings.agent.presets]
    ).map(({ name, options }) => ({
      id: name,
      label: name,
      run: () => choose(desk, { type: 'setOptions', options }, 'The options were not changed'),
    })),
  ),
  {
    id: 'context',
    group: 'Agent',
    label: 'Context and limits',
    off: offSession,
    does: { run: (desk) => desk.showContext() },
  },
  {
    id: 'lines',
    group: 'Agent',
    label: 'Raw messages',
    off: offSession,
    menu: 'session',
    isAbsent: (desk, on) => !isOpen(desk, on),
    does: { run: (desk) => desk.show('lines') },
  },
  {
    id: 'record',
    group: 'Agent',
    label: 'Record this session',
    labelNow: (desk) => (isRecorded(desk) ? 'Stop recording this session' : 'Record this session'),
    off: (desk) => offSession(desk) ?? offRecording(desk),
    menu: 'session',
    isAbsent: (desk, on) => !isOpen(desk, on),
    does: {
      run: (desk) => {
        const id = open(desk)?.id;
        if (id === undefined) return;
        void (isRecorded(desk) ? desk.project.recordings.stop(id) : desk.project.recordings.start(id));
      },
    },
  },
  {
    id: 'stop',
    group: 'Agent',
    label: 'Stop the agent',
    menu: 'session',
    off: (desk, on) => offRow(desk, on) ?? (on.row?.session?.alive === true ? null : 'The agent is not running.'),
    does: {
      run: (desk, on) =>
        onSession(desk, on, ({ id }) => desk.project.acts.commandTo(id, { type: 'stop' }, 'The agent was not stopped')),
    },
  },
];
