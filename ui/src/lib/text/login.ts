// The slash command that logs in. Claude Code runs it in its own terminal interface only.

export function isLogin(prompt: string): boolean {
  return prompt.trim() === '/login';
}
