#!/usr/bin/env node
// Starts this platform's mcp-approve. The standard streams are handed on as they are: no byte of the pipe passes here.
"use strict";

const { constants } = require("os");

const name = `mcp-approve-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/mcp-approve`);
} catch {
  process.stderr.write(
    `mcp-approve: the package ${name} is not installed.\n` +
      "  hint: there are builds for Linux and macOS, x64 and arm64; if this is one of them, install without --omit=optional\n",
  );
  process.exit(127);
}
const args = process.argv.slice(2);

// Newer versions of node can become the program, and nothing stays between it and the host.
if (process.execve) process.execve(program, [program, ...args], process.env);

const child = require("child_process").spawn(program, args, { stdio: "inherit" });
for (const signal of ["SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT"]) {
  // At a terminal the keys that send these reach both processes already.
  const by_keys = (signal === "SIGINT" || signal === "SIGQUIT") && require("tty").isatty(0);
  process.on(signal, () => by_keys || child.kill(signal));
}
child.on("error", (error) => {
  process.stderr.write(`mcp-approve: ${program} cannot be started: ${error.message}\n  hint: install the package again\n`);
  process.exit(126);
});
child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
