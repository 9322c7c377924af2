// A server with everything that the official conformance suite calls by name, on stdio, in both eras, without an SDK:
// what the suite finds must be the same with and without the wrapper in between, whatever it finds.
import { createHmac } from "node:crypto";
import { createInterface } from "node:readline";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const SOUND = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";
const MODERN = "2026-07-28";
const HANDSHAKE = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const META = "io.modelcontextprotocol/";
const info = { name: "conform", version: "1" };

const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
const notify = (method, params) => send({ method, params });
const sleep = (milliseconds) => new Promise((go) => setTimeout(go, milliseconds));
const fail = (code, message, data) => {
  throw { code, message, data };
};

/** Requests to the client that wait for its answer; the handshake era only. */
const waiting = new Map();
let asked = 0;
const ask = (method, params) =>
  new Promise((take, refuse) => {
    const id = `s${asked++}`;
    waiting.set(id, { take, refuse });
    send({ id, method, params });
  });

const text = (words) => ({ type: "text", text: words });
const image = { type: "image", data: PIXEL, mimeType: "image/png" };
const resource = (uri, mimeType, words) => ({ type: "resource", resource: { uri, mimeType, text: words } });
const object = (properties = {}, required = Object.keys(properties)) => ({ type: "object", properties, required });
const word = { type: "string" };
const told = (result) => [text(`Elicitation completed: action=${result.action}, content=${JSON.stringify(result.content ?? {})}`)];

/** A form for the client: an elicitation inside an `input_required` answer. */
const form = (message, properties) => ({
  method: "elicitation/create",
  params: { mode: "form", message, requestedSchema: object(properties) },
});
const sample = (words) => ({
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: text(words) }], maxTokens: 100 },
});
const roots = { method: "roots/list", params: {} };

/** State that the client carries and may not change. */
const seal = (value) => {
  const plain = JSON.stringify(value);
  return JSON.stringify([plain, createHmac("sha256", "conform").update(plain).digest("hex")]);
};
const unseal = (state) => {
  try {
    const [plain] = JSON.parse(state);
    if (seal(JSON.parse(plain)) === state) return JSON.parse(plain);
  } catch {}
  return fail(-32602, "requestState was changed");
};

/** Asks for `requests` until each has an answer, and then answers with `content`. */
const needs = (requests, content, state) => ({ inputResponses: given, requestState, clientCapabilities }) => {
  if (state && given) unseal(requestState ?? "");
  if (given && Object.keys(requests).every((key) => given[key])) return { content: content(given) };
  const able = { "elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots" };
  const can = Object.entries(requests).filter(([, { method }]) => clientCapabilities?.[able[method]]);
  if (can.length === 0) {
    const required = Object.values(requests).map(({ method }) => [able[method], {}]);
    fail(-32021, "the client lacks a capability", { requiredCapabilities: Object.fromEntries(required) });
  }
  return {
    resultType: "input_required",
    inputRequests: Object.fromEntries(can),
    ...(state && { requestState: seal(state) }),
  };
};

const name = form("What is your name?", { name: word });
const hello = (given) => [text(`Hello, ${given.user_name.content?.name}!`)];
const tools = {
  test_simple_text: () => [text("This is a simple text response for testing.")],
  test_image_content: () => [image],
  test_audio_content: () => [{ type: "audio", data: SOUND, mimeType: "audio/wav" }],
  test_embedded_resource: () => [resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
  test_multiple_content_types: () => [
    text("Multiple content types test:"),
    image,
    resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
  ],
  test_error_handling: () => ({ isError: true, content: [text("This tool intentionally returns an error for testing")] }),
  test_tool_with_logging: async () => {
    for (const data of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      notify("notifications/message", { level: "info", data });
      await sleep(50);
    }
    return [text("done")];
  },
  test_tool_with_progress: async ({ _meta }) => {
    for (const progress of [0, 50, 100]) {
      const progressToken = _meta?.progressToken;
      if (progressToken !== undefined) notify("notifications/progress", { progressToken, progress, total: 100 });
      await sleep(50);
    }
    return [text("done")];
  },
  test_reconnection: () => [text("done")],
  test_logging_tool: () => [text("done")],
  test_missing_capability: needs({ greeting: sample("Greet") }, () => [text("done")]),
  test_sampling: async ({ arguments: given }) => [
    text(`LLM response: ${(await ask("sampling/createMessage", sample(given.prompt).params)).content?.text}`),
  ],
  test_elicitation: async ({ arguments: given }) => {
    const requestedSchema = object({ username: word, email: word });
    return told(await ask("elicitation/create", { message: given.message, requestedSchema }));
  },
  test_elicitation_sep1034_defaults: async () =>
    told(
      await ask("elicitation/create", {
        message: "Look at the defaults",
        requestedSchema: object(
          {
            name: { type: "string", default: "John Doe" },
            age: { type: "integer", default: 30 },
            score: { type: "number", default: 95.5 },
            status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
            verified: { type: "boolean", default: true },
          },
          [],
        ),
      }),
    ),
  test_elicitation_sep1330_enums: async () => {
    const titled = ["value1", "value2", "value3"].map((value) => ({ const: value, title: `Option ${value}` }));
    const options = ["option1", "option2", "option3"];
    const properties = {
      untitledSingle: { type: "string", enum: options },
      titledSingle: { type: "string", oneOf: titled },
      legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["One", "Two", "Three"] },
      untitledMulti: { type: "array", items: { type: "string", enum: options } },
      titledMulti: { type: "array", items: { anyOf: titled } },
    };
    return told(await ask("elicitation/create", { message: "Choose", requestedSchema: object(properties, []) }));
  },
  json_schema_2020_12_tool: ({ arguments: given }) => [text(JSON.stringify(given))],
  test_input_required_result_elicitation: needs({ user_name: name }, hello),
  test_input_required_result_sampling: needs({ capital_question: sample("What is the capital of France?") }, (given) => [
    text(given.capital_question.content?.text ?? "nothing"),
  ]),
  test_input_required_result_list_roots: needs({ client_roots: roots }, (given) => [text(JSON.stringify(given.client_roots))]),
  test_input_required_result_request_state: needs({ confirm: form("Sure?", { ok: { type: "boolean" } }) }, () => [text("state-ok")], { for: "request" }),
  test_input_required_result_tampered_state: needs({ confirm: form("Sure?", { ok: { type: "boolean" } }) }, () => [text("state-ok")], { for: "tampering" }),
  test_input_required_result_multiple_inputs: needs({ user_name: name, greeting: sample("Greet"), client_roots: roots }, hello, { for: "many" }),
  test_input_required_result_capabilities: needs({ user_name: name, greeting: sample("Greet") }, () => [text("done")]),
  test_input_required_result_multi_round: (params) => {
    const round = params.requestState ? unseal(params.requestState).round : 0;
    const steps = { step1: name, step2: form("Which colour?", { color: word }) };
    if (round === 2 && params.inputResponses?.step2) return [text("done")];
    const [key, next] = round === 1 && params.inputResponses?.step1 ? ["step2", 2] : ["step1", 1];
    return { resultType: "input_required", inputRequests: { [key]: steps[key] }, requestState: seal({ round: next }) };
  },
};
const inputs = {
  test_sampling: object({ prompt: word }),
  test_elicitation: object({ message: word }),
  json_schema_2020_12_tool: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    $defs: { address: { $anchor: "addressDef", type: "object", properties: { street: word, city: word } } },
    properties: {
      name: word,
      address: { $ref: "#/$defs/address" },
      contactMethod: { type: "string", enum: ["phone", "email"] },
      phone: word,
      email: word,
    },
    allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
    if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
    then: { required: ["phone"] },
    else: { required: ["email"] },
    additionalProperties: false,
  },
};

const resources = {
  "test://static-text": { mimeType: "text/plain", text: "This is the content of the static text resource." },
  "test://static-binary": { mimeType: "image/png", blob: PIXEL },
  "test://watched-resource": { mimeType: "text/plain", text: "watched" },
};
const user = (content) => ({ role: "user", content });
const prompts = {
  test_simple_prompt: [[], () => [user(text("This is a simple prompt for testing."))]],
  test_prompt_with_arguments: [
    ["arg1", "arg2"],
    ({ arg1, arg2 }) => [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
  ],
  test_prompt_with_embedded_resource: [
    ["resourceUri"],
    ({ resourceUri }) => [
      user(resource(resourceUri, "text/plain", "Embedded resource content for testing.")),
      user(text("Please process the embedded resource above.")),
    ],
  ],
  test_prompt_with_image: [[], () => [user(image), user(text("Please analyze the image above."))]],
  test_input_required_result_prompt: [[], () => [user(text("done"))]],
};

const capabilities = {
  tools: { listChanged: true },
  resources: { subscribe: true },
  prompts: {},
  logging: {},
  completions: {},
};
/** What may be kept, in the stateless era. */
const cached = { ttlMs: 1000, cacheScope: "public" };
const methods = {
  initialize: ({ protocolVersion: wanted }) => ({
    protocolVersion: HANDSHAKE.includes(wanted) ? wanted : HANDSHAKE.at(-1),
    capabilities,
    serverInfo: info,
  }),
  "server/discover": () => ({ supportedVersions: [MODERN], capabilities, ...cached }),
  // It stays open: the end of the process is its answer.
  "subscriptions/listen": ({ id, notifications }) => {
    const _meta = { [`${META}subscriptionId`]: id };
    notify("notifications/subscriptions/acknowledged", { notifications, _meta });
    return new Promise(() => {});
  },
  ping: () => ({}),
  "logging/setLevel": () => ({}),
  "resources/subscribe": () => ({}),
  "resources/unsubscribe": () => ({}),
  "completion/complete": () => ({ completion: { values: ["test"], total: 1, hasMore: false } }),
  "tools/list": () => ({
    tools: Object.keys(tools).map((tool) => ({ name: tool, description: `Tests ${tool}`, inputSchema: inputs[tool] ?? object() })),
    ...cached,
  }),
  "tools/call": async (params) => {
    const tool = tools[params.name] ?? fail(-32602, `Unknown tool: ${params.name}`);
    const result = await tool(params);
    return Array.isArray(result) ? { content: result } : result;
  },
  "resources/list": () => ({
    resources: Object.entries(resources).map(([uri, { mimeType }]) => ({ uri, mimeType, name: uri, description: `Tests ${uri}` })),
    ...cached,
  }),
  "resources/templates/list": () => ({
    resourceTemplates: [{ uriTemplate: "test://template/{id}/data", name: "template", mimeType: "application/json" }],
    ...cached,
  }),
  "resources/read": ({ uri }) => {
    const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
    const found = id ? { mimeType: "application/json", text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) } : resources[uri];
    return { contents: [{ uri, ...(found ?? fail(-32602, `Resource not found: ${uri}`, { uri })) }], ...cached };
  },
  "prompts/list": () => ({
    prompts: Object.entries(prompts).map(([prompt, [given]]) => ({
      name: prompt,
      description: `Tests ${prompt}`,
      arguments: given.map((key) => ({ name: key, required: true })),
    })),
    ...cached,
  }),
  "prompts/get": (params) => {
    const [, messages] = prompts[params.name] ?? fail(-32602, `Unknown prompt: ${params.name}`);
    if (params.name === "test_input_required_result_prompt") {
      const asks = needs({ user_context: form("Which context?", { context: word }) }, () => []);
      const { content, ...required } = asks(params);
      if (!content) return required;
    }
    return { messages: messages(params.arguments ?? {}) };
  },
};

async function answer({ id, method, params = {} }) {
  const version = params._meta?.[`${META}protocolVersion`];
  try {
    if (version !== undefined && version !== MODERN) {
      fail(-32022, "unsupported protocol version", { supported: [MODERN], requested: version });
    }
    const handle = methods[method] ?? fail(-32601, `Method not found: ${method}`);
    const result = await handle({ ...params, id, clientCapabilities: params._meta?.[`${META}clientCapabilities`] });
    if (version === undefined) {
      const { ttlMs: _, cacheScope: __, ...plain } = result;
      return send({ id, result: plain });
    }
    send({ id, result: { resultType: "complete", ...result, _meta: { [`${META}serverInfo`]: info } } });
  } catch (error) {
    send({ id, error: error.code ? error : { code: -32603, message: String(error) } });
  }
}

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const message = JSON.parse(line);
    if (message.method === undefined) {
      const { take, refuse } = waiting.get(message.id) ?? {};
      waiting.delete(message.id);
      if (message.error) refuse?.(message.error);
      else take?.(message.result);
    } else if (message.id !== undefined) answer(message);
  })
  .on("close", () => process.exit(0));
