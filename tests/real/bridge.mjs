// Streamable HTTP in front of a stdio server, message by message and nothing more: the conformance suite only speaks
// HTTP. Usage: node bridge.mjs COMMAND...; prints its port.
//
// A handshake begins a session with a process of its own. Requests of the stateless era share one process, so their
// ids are made distinct there.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const [, , command, ...given] = process.argv;

/** One process of the server, with the requests that wait for it. */
class Peer {
  waiting = new Map();
  count = 0;

  constructor() {
    this.child = spawn(command, given, { stdio: ["pipe", "pipe", "inherit"] });
    this.child.stdin.on("error", () => {});
    createInterface({ input: this.child.stdout }).on("line", (line) => this.hears(JSON.parse(line)));
    this.child.on("exit", () => {
      for (const { response } of this.waiting.values()) response.end();
    });
  }

  say(message) {
    this.child.stdin.write(JSON.stringify(message) + "\n");
  }

  /** Sends a request, and streams what comes until its answer. */
  request(message, response, distinct) {
    const id = distinct ? `b${this.count++}` : message.id;
    this.waiting.set(id, { response, id: message.id, token: message.params?._meta?.progressToken });
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    response.on("close", () => {
      if (this.waiting.delete(id)) {
        this.say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
      }
    });
    this.say({ ...message, id });
  }

  hears(message) {
    const tell = ({ response }, what) => response.write(`event: message\ndata: ${JSON.stringify(what)}\n\n`);
    if (message.method === undefined) {
      const entry = this.waiting.get(message.id);
      if (!entry) return;
      this.waiting.delete(message.id);
      tell(entry, { ...message, id: entry.id });
      entry.response.end();
      return;
    }
    // What is about no request goes with the newest, as no other stream is open.
    const entries = [...this.waiting.values()];
    const token = message.params?.progressToken;
    const entry = entries.find((one) => token !== undefined && one.token === token) ?? entries.at(-1);
    if (entry) tell(entry, message);
  }
}

const sessions = new Map();
let stateless;

createServer(async (request, response) => {
  let text = "";
  for await (const chunk of request) text += chunk;
  const session = sessions.get(request.headers["mcp-session-id"]);
  if (request.method === "DELETE" && session) {
    session.child.stdin.end();
    sessions.delete(request.headers["mcp-session-id"]);
    return response.writeHead(200).end();
  }
  if (request.method !== "POST") return response.writeHead(405).end();
  const message = JSON.parse(text);
  const modern = message.params?._meta?.["io.modelcontextprotocol/protocolVersion"] !== undefined;
  let peer = session;
  if (modern) peer = stateless ??= new Peer();
  else if (message.method === "initialize") {
    peer = new Peer();
    const id = randomUUID();
    sessions.set(id, peer);
    response.setHeader("mcp-session-id", id);
  }
  if (!peer) return response.writeHead(404).end();
  if (message.method !== undefined && message.id !== undefined) return peer.request(message, response, modern);
  peer.say(message);
  response.writeHead(202).end();
}).listen(0, "127.0.0.1", function () {
  console.log(this.address().port);
});
process.on("SIGTERM", () => {
  for (const { child } of [...sessions.values(), stateless].filter(Boolean)) child.stdin.end();
  process.exit();
});
