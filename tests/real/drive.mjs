// Drives one server with an official TypeScript client and prints one JSON line per step.
// Usage: node drive.mjs PLAN.json, with {client: "ts1"|"ts2", command: [..], limit: seconds?, steps: [{tool, arguments}]}.
// The step {tool: "tools/list"} lists the tools again. With {form: {action, content}} the client shows forms, and answers each like that. With {tasks: true} it polls for its calls.
import { readFileSync } from "node:fs";

const plan = JSON.parse(readFileSync(process.argv[2], "utf8"));
const me = { name: "real-test", version: "1" };
const [command, ...args] = plan.command;
const say = (line) => console.log(JSON.stringify(line));

async function connect() {
  if (plan.client === "ts1") {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
    const client = new Client(me, plan.form && { capabilities: { elicitation: {} } });
    if (plan.form) {
      const { ElicitRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
      client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
        say({ form: params.message });
        return plan.form;
      });
    }
    await client.connect(new StdioClientTransport({ command, args }));
    return [client, "handshake"];
  }
  const { Client } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const client = new Client(me, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StdioClientTransport({ command, args }));
  return [client, client.getNegotiatedProtocolVersion()];
}

const [client, revision] = await connect();
const { tools } = await client.listTools();
say({ revision, tools: tools.length });
for (const { tool, arguments: given } of plan.steps) {
  try {
    if (tool === "tools/list") {
      const { tools } = await client.listTools();
      say({ tool, error: false, text: tools.map(({ name }) => name).join(" ") });
      continue;
    }
    const call = { name: tool, arguments: given };
    const options = plan.limit ? { timeout: plan.limit * 1000 } : undefined;
    if (plan.tasks) {
      const seen = [];
      for await (const one of client.experimental.tasks.callToolStream(call, undefined, { ...options, task: {} })) {
        seen.push(one.type === "taskStatus" ? one.task.status : one.type);
        if (one.type === "result") {
          say({ tool, seen: [...new Set(seen)], error: one.result.isError === true, text: one.result.content[0].text });
        } else if (one.type === "error") {
          say({ tool, seen, thrown: String(one.error) });
        }
      }
      continue;
    }
    const result = await (plan.client === "ts1" ? client.callTool(call, undefined, options) : client.callTool(call, options));
    const text = (result.content ?? []).map((block) => block.text ?? "").join("\n");
    say({ tool, error: result.isError === true, text });
  } catch (failure) {
    say({ tool, thrown: String(failure) });
  }
}
await client.close();
