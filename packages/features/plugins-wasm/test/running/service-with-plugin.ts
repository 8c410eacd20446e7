/** A service that has a plugin running, tells the process's id once it runs, and waits for it. Argument: the module, base64. */
import { encodeFrame } from "../../src/frames.ts";
import { launch } from "../../src/plugin-process.ts";
import { HOST_COMMAND } from "./plugin-room.ts";

const child = launch(HOST_COMMAND, 16);
const limits = { maxPages: 16, maxHostBytes: 100_000, maxOutputBytes: 1000 };
child.stdin?.write(encodeFrame({ kind: "load", ...limits }, Buffer.from(process.argv[2] ?? "", "base64")));
child.stdin?.write(encodeFrame({ kind: "call" }));
// `ready`, and then what the plugin says before it loops.
let said = "";
child.stdout?.on("data", (chunk: Buffer) => {
  said += chunk.toString("latin1");
  if (said.includes("here")) process.stdout.write(`${child.pid}\n`);
});
