"""Drives one server with an official Python client and prints one JSON line per step.

Usage: python drive.py PLAN.json, with {client: "py1"|"py2", command: [..], limit: seconds?,
steps: [{tool, arguments}]}.
"""

import asyncio
import json
import sys
from contextlib import asynccontextmanager
from datetime import timedelta

from mcp import ClientSession, StdioServerParameters


def say(line):
    print(json.dumps(line), flush=True)


@asynccontextmanager
async def connect(kind, server):
    if kind == "py1":
        from mcp.client.stdio import stdio_client

        async with stdio_client(server) as (reader, writer), ClientSession(reader, writer) as client:
            answer = await client.initialize()
            yield client, answer.protocolVersion
    else:
        from mcp.client.client import Client

        async with Client(server) as client:
            yield client, client.protocol_version


async def main(plan):
    program, *arguments = plan["command"]
    server = StdioServerParameters(command=program, args=arguments)
    async with connect(plan["client"], server) as (client, revision):
        listed = await client.list_tools()
        say({"revision": revision, "tools": len(listed.tools)})
        for step in plan["steps"]:
            try:
                limit = plan.get("limit")
                limit = timedelta(seconds=limit) if limit and plan["client"] == "py1" else limit
                result = await client.call_tool(step["tool"], step["arguments"], read_timeout_seconds=limit)
                failed = getattr(result, "is_error", None) or getattr(result, "isError", None) or False
                text = "\n".join(getattr(block, "text", "") for block in result.content)
                say({"tool": step["tool"], "error": failed, "text": text})
            except Exception as failure:  # noqa: BLE001 - whatever the client throws is the finding
                say({"tool": step["tool"], "thrown": repr(failure)})


with open(sys.argv[1], encoding="utf8") as file:
    asyncio.run(main(json.load(file)))
