#!/usr/bin/env node
// Starts the binary of this platform, which npm installed as an optional dependency.
"use strict";
const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const name = `@name@-${process.platform}-${process.arch}`;
let file;
try {
  file = require.resolve(`${name}/bin/svc${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  console.error(
    `There is no binary of svc for this machine: the package ${name} is not installed.\n` +
      "It is an optional dependency: install again without --omit=optional, or see whether this platform is supported.",
  );
  process.exit(69);
}
const child = spawn(file, process.argv.slice(2), { stdio: "inherit" });
// The terminal signals the whole group; this process only waits. A signal to it alone goes on to the binary.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`svc does not start: ${error.message}`);
  process.exit(69);
});
child.on("exit", (code, signal) => {
  process.exit(signal === null ? code : 128 + constants.signals[signal]);
});
