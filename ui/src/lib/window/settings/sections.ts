// The icons of the sections on the settings page.

import Bell from '@lucide/svelte/icons/bell';
import Bot from '@lucide/svelte/icons/bot';
import Keyboard from '@lucide/svelte/icons/keyboard';
import MessagesSquare from '@lucide/svelte/icons/messages-square';
import Palette from '@lucide/svelte/icons/palette';
import ShieldQuestionMark from '@lucide/svelte/icons/shield-question-mark';
import Users from '@lucide/svelte/icons/users';
import Wrench from '@lucide/svelte/icons/wrench';

import type { SettingSection } from '../../bindings/api';

export const ICONS: Record<SettingSection, typeof Bell> = {
  Appearance: Palette,
  Asking: ShieldQuestionMark,
  Notifications: Bell,
  Agents: Bot,
  Profiles: Users,
  Sessions: MessagesSquare,
  Keyboard: Keyboard,
  Advanced: Wrench,
};
