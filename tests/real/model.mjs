// A fake model on loopback: makes the calls of a script, one per turn, and keeps what the agent sends back.
// Usage: node model.mjs STEPS.json LOG; prints its port. STEPS: [{server, tool, arguments, pause}], where
// the model thinks for `pause` seconds before that call; LOG gets one JSON line per request.
//
// It speaks Anthropic's messages, OpenAI's responses and chat completions, and Gemini's generateContent. It is a proxy
// too, one that connects to nobody: what an agent wants beyond the model is refused and kept as {reached}.
import { appendFileSync, readFileSync } from "node:fs";
import { createServer } from "node:http";

const [, , script, log] = process.argv;
const steps = JSON.parse(readFileSync(script, "utf8"));
const keep = (line) => appendFileSync(log, JSON.stringify(line) + "\n");

/** Every text in a value that a model reads, whatever its shape: agents wrap a tool's answer in ways of their own. */
function texts(value) {
  if (typeof value === "string") return [value];
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, inner]) => (/^(.*id|type|role|name)$/.test(key) ? [] : texts(inner)));
}

/** Where each API keeps the answers of tools, and the tools on offer as [name, namespace]. */
const apis = {
  messages: {
    results: (body) =>
      body.messages.flatMap((turn) =>
        Array.isArray(turn.content) ? turn.content.filter((block) => block.type === "tool_result") : [],
      ),
    tools: (body) => (body.tools ?? []).map((tool) => [tool.name]),
    answer: (call) => {
      const block = call ? { type: "tool_use", id: call.id, name: call.name, input: {} } : { type: "text", text: "" };
      const delta = call
        ? { type: "input_json_delta", partial_json: JSON.stringify(call.arguments) }
        : { type: "text_delta", text: "done" };
      const usage = { input_tokens: 1, output_tokens: 1 };
      const message = { id: "m", type: "message", role: "assistant", model: "fake", content: [], stop_reason: null };
      const stop = { stop_reason: call ? "tool_use" : "end_turn", stop_sequence: null };
      return {
        events: [
          { type: "message_start", message: { ...message, usage } },
          { type: "content_block_start", index: 0, content_block: block },
          { type: "content_block_delta", index: 0, delta },
          { type: "content_block_stop", index: 0 },
          { type: "message_delta", delta: stop, usage },
          { type: "message_stop" },
        ],
        whole: { ...message, ...stop, content: [call ? { ...block, input: call.arguments } : { type: "text", text: "done" }], usage },
      };
    },
  },
  responses: {
    results: (body) => body.input.filter((item) => item.type === "function_call_output"),
    tools: (body) =>
      (body.tools ?? []).flatMap((tool) =>
        tool.type === "namespace" ? tool.tools.map((inner) => [inner.name, tool.name]) : [[tool.name]],
      ),
    answer: (call) => {
      const item = call
        ? {
            type: "function_call",
            id: "f",
            call_id: call.id,
            name: call.name,
            ...(call.namespace && { namespace: call.namespace }),
            arguments: JSON.stringify(call.arguments),
          }
        : { type: "message", id: "t", role: "assistant", content: [{ type: "output_text", text: "done" }] };
      const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
      const whole = { id: "r", output: [item], usage };
      return {
        events: [
          { type: "response.created", response: { id: "r" } },
          { type: "response.output_item.done", item },
          { type: "response.completed", response: whole },
        ],
        whole,
      };
    },
  },
  chat: {
    results: (body) => body.messages.filter((turn) => turn.role === "tool"),
    tools: (body) => (body.tools ?? []).map((tool) => [tool.function.name]),
    answer: (call) => {
      const said = call
        ? {
            tool_calls: [
              { index: 0, id: call.id, type: "function", function: { name: call.name, arguments: JSON.stringify(call.arguments) } },
            ],
          }
        : { content: "done" };
      const base = { id: "c", model: "fake", created: 0 };
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
      const reason = call ? "tool_calls" : "stop";
      const chunk = (delta, finish_reason) => ({
        ...base,
        object: "chat.completion.chunk",
        choices: [{ index: 0, delta, finish_reason }],
      });
      return {
        events: [chunk({ role: "assistant", ...said }, null), { ...chunk({}, reason), usage }],
        end: "data: [DONE]\n\n",
        whole: { ...base, choices: [{ index: 0, message: { role: "assistant", ...said }, finish_reason: reason }], usage },
      };
    },
  },
  gemini: {
    results: (body) => body.contents.flatMap((turn) => (turn.parts ?? []).filter((part) => part.functionResponse)),
    tools: (body) => (body.tools ?? []).flatMap((tool) => (tool.functionDeclarations ?? []).map((one) => [one.name])),
    answer: (call) => {
      const part = call ? { functionCall: { name: call.name, args: call.arguments } } : { text: "done" };
      const whole = {
        candidates: [{ content: { role: "model", parts: [part] }, finishReason: "STOP", index: 0 }],
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      };
      return { events: [whole], whole };
    },
  },
};

/** Which API a request speaks, and whether its answer is a stream. */
function route(url, body) {
  const path = url.split("?")[0];
  if (path.endsWith("/messages")) return ["messages", body.stream];
  if (path.endsWith("/responses")) return ["responses", body.stream];
  if (path.endsWith("/chat/completions")) return ["chat", body.stream];
  if (path.endsWith(":streamGenerateContent")) return ["gemini", true];
  if (path.endsWith(":generateContent")) return ["gemini", false];
  return [null, false];
}

/** A tool's name as agents spell it, with its server's: mcp__fs__read, mcp_fs_read, fs_read, fs-read, or read in mcp__fs. */
const spelled = ([name, namespace]) => `${namespace ?? ""}_${name}`.replaceAll(/[_-]+/g, "_");

/** The next call of the script, if this request offers its tool; agents also ask for titles and summaries. */
function next(api, body) {
  const step = steps[api.results(body).length];
  const offered = api.tools(body).find((tool) => step && spelled(tool).endsWith(`${step.server}_${step.tool}`));
  return offered && {
    pause: step.pause ?? 0,
    id: `call_${api.results(body).length}`, name: offered[0], namespace: offered[1], arguments: step.arguments };
}

const server = createServer(async (request, response) => {
  let text = "";
  for await (const chunk of request) text += chunk;
  if (request.url.startsWith("http")) {
    keep({ reached: request.url });
    return response.writeHead(403).end();
  }
  const body = text.startsWith("{") ? JSON.parse(text) : {};
  const [name, stream] = route(request.url, body);
  if (!name) {
    keep({ other: `${request.method} ${request.url}` });
    const known = { data: [], models: [], input_tokens: 1, totalTokens: 1 };
    return response.setHeader("content-type", "application/json").end(JSON.stringify(known));
  }
  const api = apis[name];
  const call = next(api, body);
  keep({ api: name, tools: api.tools(body).map(([tool]) => tool), results: api.results(body).map((one) => texts(one).join("\n")), call: call?.name });
  if (call?.pause) await new Promise((go) => setTimeout(go, call.pause * 1000));
  const { events, end, whole } = api.answer(call);
  if (!stream) return response.setHeader("content-type", "application/json").end(JSON.stringify(whole));
  response.setHeader("content-type", "text/event-stream");
  for (const event of events) {
    response.write(`${event.type ? `event: ${event.type}\n` : ""}data: ${JSON.stringify(event)}\n\n`);
  }
  response.end(end);
});
server.on("connect", (request, socket) => {
  keep({ reached: request.url });
  socket.on("error", () => {}); // It may be gone before it reads the refusal.
  socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
