"""One small server on the official Python SDK, of whichever line is installed. Usage: python serve.py FOLDER."""

import sys
from pathlib import Path

try:
    from mcp.server import MCPServer as Server
except ImportError:
    from mcp.server.fastmcp import FastMCP as Server

from mcp.types import ToolAnnotations

folder = Path(sys.argv[1])
server = Server("small-python")
reads = ToolAnnotations(**{"readOnlyHint": True})


@server.tool(annotations=reads)
def read_note(name: str) -> str:
    """Reads a note and returns its text."""
    return (folder / name).read_text()


@server.tool(annotations=reads)
def get_sum(a: float, b: float) -> float:
    """Returns the sum of two numbers."""
    return a + b


@server.tool()
def write_note(name: str, text: str) -> str:
    """Writes a note, replacing what it said."""
    (folder / name).write_text(text)
    return "written"


server.run()
