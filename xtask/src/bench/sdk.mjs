// What an event costs the TypeScript SDK: one turn of an agent that streams so many.

import { query } from "@anthropic-ai/claude-agent-sdk";

const [agent, nEvents] = [process.argv[2], Number(process.argv[3])];

async function turn(n) {
  const options = {
    pathToClaudeCodeExecutable: agent,
    includePartialMessages: true,
    env: { ...process.env, STUB_EVENTS: String(n) },
  };
  let heard = 0;
  for await (const _ of query({ prompt: "a turn", options })) heard += 1;
  return heard;
}

await turn(10);
const before = process.cpuUsage();
const heard = await turn(nEvents);
const { user, system } = process.cpuUsage(before);
if (heard < nEvents) throw new Error(`heard ${heard} of ${nEvents}`);
console.log(`TypeScript SDK: ${((user + system) / nEvents).toFixed(1)} µs of CPU an event`);
process.exit(0);
