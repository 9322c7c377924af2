// One small server on an official TypeScript SDK. Usage: node serve.mjs ts1|ts2 FOLDER.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";

const [, , line, folder] = process.argv;
const say = (text) => ({ content: [{ type: "text", text }] });

/** Has a server of either SDK offer the tools. */
function tools(server) {
  const name = z.string();
  server.registerTool(
    "read_note",
    { description: "Reads a note and returns its text.", inputSchema: z.object({ name }), annotations: { readOnlyHint: true } },
    ({ name }) => say(readFileSync(join(folder, name), "utf8")),
  );
  server.registerTool(
    "get_sum",
    {
      description: "Returns the sum of two numbers.",
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
      annotations: { readOnlyHint: true },
    },
    ({ a, b }) => ({ ...say(String(a + b)), structuredContent: { sum: a + b } }),
  );
  server.registerTool(
    "write_note",
    { description: "Writes a note, replacing what it said.", inputSchema: z.object({ name, text: z.string() }) },
    ({ name, text }) => {
      writeFileSync(join(folder, name), text);
      return say("written");
    },
  );
  if (process.argv[4] === "labels") {
    server.registerTool(
      "create_label",
      { description: "Creates a label.", inputSchema: z.object({ name }) },
      ({ name }) => say(`created ${name}`),
    );
  }
  return server;
}

const info = { name: `small-${line}`, version: "1" };
if (line === "ts1") {
  const { McpServer } = await import("@modelcontextprotocol/sdk/server/mcp.js");
  const { StdioServerTransport } = await import("@modelcontextprotocol/sdk/server/stdio.js");
  await tools(new McpServer(info)).connect(new StdioServerTransport());
} else {
  const { McpServer } = await import("@modelcontextprotocol/server");
  const { serveStdio } = await import("@modelcontextprotocol/server/stdio");
  serveStdio(() => tools(new McpServer(info)));
}
