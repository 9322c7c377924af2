// A streamable-HTTP server on loopback, made with the official SDK: it keeps one note, and wants a token.
// Usage: node remote.mjs TOKEN; prints its port.
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

const token = process.argv[2];
let note = "as it was";

function notes() {
  const server = new McpServer({ name: "notes", version: "1" });
  const says = (text) => ({ content: [{ type: "text", text }] });
  server.registerTool(
    "get_note",
    { description: "Gets the note.", inputSchema: {}, annotations: { readOnlyHint: true } },
    () => says(note),
  );
  server.registerTool(
    "write_note",
    { description: "Writes the note.", inputSchema: { text: z.string() } },
    ({ text }) => says(`written: ${(note = text)}`),
  );
  return server;
}

const http = createServer(async (request, response) => {
  if (request.headers.authorization !== `Bearer ${token}`) return response.writeHead(401).end();
  if (request.method !== "POST") return response.writeHead(405).end();
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  await notes().connect(transport);
  await transport.handleRequest(request, response, JSON.parse(Buffer.concat(chunks).toString()));
});
http.listen(0, "127.0.0.1", () => console.log(http.address().port));
