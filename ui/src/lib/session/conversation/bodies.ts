// The variants of an item's body, by name.

import type { Body } from '../../bindings/api';

export type PromptBody = Extract<Body, { type: 'prompt' }>;
export type MessageBody = Extract<Body, { type: 'message' }>;
export type TextBody = Extract<Body, { type: 'text' }>;
export type ThinkingBody = Extract<Body, { type: 'thinking' }>;
export type ToolCallBody = Extract<Body, { type: 'toolCall' }>;
export type NoticeBody = Extract<Body, { type: 'notice' }>;
export type TurnEndBody = Extract<Body, { type: 'turnEnd' }>;
