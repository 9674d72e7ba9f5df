"""What an event costs the Python SDK: one turn of an agent that streams so many."""

import asyncio
import os
import resource
import sys

from claude_agent_sdk import ClaudeAgentOptions, query


def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def turn(agent, n_events):
    os.environ["STUB_EVENTS"] = str(n_events)
    options = ClaudeAgentOptions(cli_path=agent, include_partial_messages=True)
    n_heard = 0
    async for _ in query(prompt="a turn", options=options):
        n_heard += 1
    return n_heard


async def main(agent, n_events):
    await turn(agent, 10)
    before = cpu()
    n_heard = await turn(agent, n_events)
    assert n_heard >= n_events, n_heard
    print(f"Python SDK: {1e6 * (cpu() - before) / n_events:.1f} µs of CPU an event")


os.environ["CLAUDE_AGENT_SDK_SKIP_VERSION_CHECK"] = "1"
asyncio.run(main(sys.argv[1], int(sys.argv[2])))
