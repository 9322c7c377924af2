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

/** A server that makes tasks of calls of one tool. */
async function withTasks(McpServer) {
  const { InMemoryTaskStore } = await import("@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js");
  const capabilities = { tasks: { cancel: {}, list: {}, requests: { tools: { call: {} } } } };
  const server = tools(new McpServer(info, { capabilities, taskStore: new InMemoryTaskStore() }));
  server.experimental.tasks.registerToolTask(
    "write_slowly",
    {
      description: "Writes a note, replacing what it said.",
      inputSchema: { name: z.string(), text: z.string() },
      execution: { taskSupport: "required" },
    },
    {
      createTask: async ({ name, text }, { taskStore }) => {
        const task = await taskStore.createTask({ ttl: 60_000, pollInterval: 200 });
        setTimeout(async () => {
          writeFileSync(join(folder, name), text);
          await taskStore.storeTaskResult(task.taskId, "completed", say("written in time"));
        }, 500);
        return { task };
      },
      getTask: async (_, { taskStore, taskId }) => taskStore.getTask(taskId),
      getTaskResult: async (_, { taskStore, taskId }) => taskStore.getTaskResult(taskId),
    },
  );
  return server;
}

const info = { name: `small-${line}`, version: "1" };
if (line === "ts1") {
  const { McpServer } = await import("@modelcontextprotocol/sdk/server/mcp.js");
  const { StdioServerTransport } = await import("@modelcontextprotocol/sdk/server/stdio.js");
  const server = process.argv[4] === "tasks" ? await withTasks(McpServer) : tools(new McpServer(info));
  await server.connect(new StdioServerTransport());
} else {
  const { McpServer } = await import("@modelcontextprotocol/server");
  const { serveStdio } = await import("@modelcontextprotocol/server/stdio");
  serveStdio(() => tools(new McpServer(info)));
}
