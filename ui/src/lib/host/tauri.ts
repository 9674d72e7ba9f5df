// The host inside the desktop app. The only file that uses Tauri.

import { invoke } from '@tauri-apps/api/core';
import { listen } from '@tauri-apps/api/event';

import type { WindowMessage, WindowEvent } from '../bindings/api';
import { asCommandError, writeClipboard, type Host } from './host';
import { isMac } from '../kit/keys';
import { wellFormedValue } from '../text/wellFormed';
import { inOrder } from './order';

async function call<T>(name: string, args: Record<string, unknown> = {}): Promise<T> {
  try {
    return await invoke<T>(name, wellFormedValue(args) as typeof args);
  } catch (reason) {
    throw asCommandError(reason);
  }
}

/**
 * The label of this window. `getCurrentWebviewWindow` of Tauri 2.12 reads it from the same place; its module brings 50 kB
 * of windows, menus and images into the page.
 */
function ownLabel(): string {
  const { metadata } = (window as unknown as { __TAURI_INTERNALS__: Internals }).__TAURI_INTERNALS__;
  return metadata.currentWebview.label;
}

interface Internals {
  metadata: { currentWebview: { label: string } };
}

/** The shell gives the start page and the board these labels. */
function pageOf(label: string): Host['page'] {
  return label === 'start' || label === 'board' ? label : 'project';
}

export const tauriHost: Host = {
  // Read when it is asked for: a browser has no window of Tauri.
  get page() {
    return pageOf(ownLabel());
  },
  hasMenuBar: isMac,
  connectStart: () => call('connect_start'),
  connectBoard: () => call('connect_board'),
  connect: () => call('connect'),
  // Listens on the window, not on the app: a plain `listen` would also receive events emitted to other windows.
  listen: (event, heard, lost) => {
    const hear = inOrder(heard, (nr) => call<WindowEvent>('waiting_event', { nr }), lost);
    const target = { kind: 'WebviewWindow', label: ownLabel() } as const;
    return listen<WindowMessage>(event, ({ payload }) => hear(payload), { target });
  },
  setMenu: (menu) => call('set_menu', { menu }),
  createSession: (agent, withoutAsking) => call('create_session', { agent, withoutAsking }),
  plannedSession: () => call('planned_session'),
  machineAgents: () => call('machine_agents'),
  createSessionWith: (agent) => call('create_session_with', { agent }),
  createSessionWithProfile: (profile) => call('create_session_with_profile', { profile }),
  reviewAgentTrust: (sessionId) => call('review_agent_trust', { sessionId }),
  retryLink: (sessionId) => call('retry_link', { sessionId }),
  startWithoutAsking: (sessionId) => call('start_without_asking', { sessionId }),
  subscribe: (sessionId, show, unfolded) => call('subscribe', { sessionId, show, unfolded }),
  subscribeSecond: (sessionId, show, unfolded) => call('subscribe_second', { sessionId, show, unfolded }),
  leaveSecond: () => call('leave_second'),
  showRows: (sessionId, show) => call('show_rows', { sessionId, show }),
  recordSession: (sessionId) => call('record_session', { sessionId }),
  stopRecording: (sessionId) => call('stop_recording', { sessionId }),
  recordingOf: (sessionId) => call('recording_of', { sessionId }),
  revealRecording: (sessionId, path) => call('reveal_recording', { sessionId, path }),
  removeRecording: (sessionId, path) => call('remove_recording', { sessionId, path }),
  ask: (sessionId, query) => call('ask', { sessionId, query }),
  command: (sessionId, command) => call('command', { sessionId, command }),
  nextBatch: (sessionId, after) => call('next_batch', { sessionId, after }),
  removeSession: (sessionId) => call('remove_session', { sessionId }),
  restoreSession: (sessionId, agentSessionId) => call('restore_session', { sessionId, agentSessionId }),
  followStored: () => call('follow_stored'),
  openStored: (agentSessionId) => call('open_stored', { agentSessionId }),
  markSession: (id, mark) => call('mark_session', { id, mark }),
  openTerminal: (sessionId) => call('open_terminal', { sessionId }),
  forkSession: (sessionId, before) => call('fork_session', { sessionId, before }),
  exportSession: (sessionId, format) => call('export_session', { sessionId, format }),
  usage: (all) => call('usage', { all }),
  revertChange: (sessionId, against, change) => call('revert_change', { sessionId, against, change }),
  undoRevert: (at) => call('undo_revert', { at }),
  ruleFiles: (sessionId) => call('rule_files', { sessionId }),
  savedRules: (sessionId, requestId) => call('saved_rules', { sessionId, requestId }),
  removeRule: (sessionId, place) => call('remove_rule', { sessionId, place }),
  restoreRule: (removal) => call('restore_rule', { removal }),
  commitState: () => call('commit_state'),
  commit: (request, withoutPrograms) => call('commit', { request, withoutPrograms }),
  stopCommit: () => call('stop_commit'),
  undoCommit: () => call('undo_commit'),
  exportUsage: (all) => call('export_usage', { all }),
  searchSessions: (nr, query, all, toTheEnd, utcOffsetMinutes) =>
    call('search_sessions', { nr, query, all, toTheEnd, utcOffsetMinutes }),
  stopSearch: () => call('stop_search'),
  openFound: (agentSessionId, itemId) => call('open_found', { agentSessionId, itemId }),
  openSender: (sessionId, itemId) => call('open_sender', { sessionId, itemId }),
  locateItem: (sessionId, itemId) => call('locate_item', { sessionId, itemId }),
  worktrees: () => call('worktrees'),
  planWorktree: (branch) => call('plan_worktree', { branch }),
  addWorktree: (branch, draft) => call('add_worktree', { branch, draft }),
  openWorktree: (path) => call('open_worktree', { path }),
  reviewWorktree: (path) => call('review_worktree', { path }),
  removeWorktree: (path, withIgnored) => call('remove_worktree', { path, withIgnored }),
  openBoard: () => call('open_board'),
  openBoardSession: (sessionId) => call('open_board_session', { sessionId }),
  showWaiting: () => call('show_waiting'),
  answerBoardRequest: (sessionId, requestId, shown, answer) =>
    call('answer_board_request', { sessionId, requestId, shown, answer }),
  clearBoardRows: (sessionIds) => call('clear_board_rows', { sessionIds }),
  restoreBoardRows: (sessionIds) => call('restore_board_rows', { sessionIds }),
  stopBoardSessions: (sessionIds) => call('stop_board_sessions', { sessionIds }),
  machineSessions: (machine) => call('machine_sessions', { machine }),
  openMachineSession: (machine, project, sessionId) => call('open_machine_session', { machine, project, sessionId }),
  stopMachine: (machine) => call('stop_machine', { machine }),
  zoomWindow: (step) => call('zoom_window', { step }),
  showSession: (sessionId) => call('show_session', { sessionId }),
  placeSession: (sessionId, inOwnWindow) => call('place_session', { sessionId, inOwnWindow }),
  keepPanels: (panels) => call('keep_panels', { panels }),
  setKeepRunning: (keep) => call('set_keep_running', { keep }),
  setSetting: (key, value) => call('set_setting', { key, value }),
  changeProfile: (was, profile) => call('change_profile', { was, profile }),
  setPresets: (presets) => call('set_presets', { presets }),
  quit: () => call('quit'),
  openSettingsFile: () => call('open_settings_file'),
  testBell: () => call('test_bell'),
  decideTrust: (decision, fingerprint, agent, load) => call('decide_trust', { decision, fingerprint, agent, load }),
  checkAgent: () => call('check_agent'),
  lastLogLines: () => call('last_log_lines'),
  checkReadiness: () => call('check_readiness'),
  openLogin: (sessionId) => call('open_login', { sessionId }),
  chooseAgent: () => call('choose_agent'),
  findFiles: (query) => call('find_files', { query }),
  checkAttachment: (name, data) => call('check_attachment', { name, data }),
  clipboardFiles: () => call('clipboard_files'),
  clipboardImage: () => call('clipboard_image'),
  endOrphans: (pids) => call('end_orphans', { pids }),
  leaveOrphans: () => call('leave_orphans'),
  reportPageError: (place, error) => call('report_page_error', { place, error }),
  cardsInSight: (sessionId, requestIds) => call('cards_in_sight', { sessionId, requestIds }),
  takeDraft: () => call('take_draft'),
  recentProjects: () => call('recent_projects'),
  chooseFolder: () => call('choose_folder'),
  sshHosts: () => call('ssh_hosts'),
  farFolders: (machine, folder) => call('far_folders', { machine, folder }),
  openFar: (machine, folder) => call('open_far', { machine, folder }),
  answerConnection: (id, answer) => call('answer_connection', { id, answer }),
  retryFar: () => call('retry_far'),
  openRecent: (project) => call('open_recent', { project }),
  answerFolderQuestion: (open) => call('answer_folder_question', { open }),
  openDemo: () => call('open_demo'),
  openStartPage: () => call('open_start_page'),
  pinProject: (project, pinned) => call('pin_project', { project, pinned }),
  forgetProject: (project) => call('forget_project', { project }),
  moveProject: (project) => call('move_project', { project }),
  forgetAllProjects: () => call('forget_all_projects'),
  openLink: (url) => call('open_link', { url }),
  revealPath: (path) => call('reveal_path', { path }),
  openInEditor: (path, line) => call('open_in_editor', { path, line }),
  writeClipboard: writeClipboard,
};
