// `node fake-acp-process.ts <mood> [--strict]`: the fake agent as a program.
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { FakeAcpAgent, type Mood, schemaCheck } from "./fake-acp.ts";

const [, , mood, strict] = process.argv;
const agent = new FakeAcpAgent({
  mood: mood as Mood,
  send: (line) =>
    new Promise((resolve) => {
      process.stdout.write(`${line}\n`, () => resolve());
    }),
  exit: (code) => process.exit(code),
  validate: strict === "--strict" ? await schemaCheck() : undefined,
  onViolation: (text) => void writeSync(2, `violation: ${text}\n`),
});
if (mood === "silent") process.on("SIGTERM", () => undefined);
for await (const line of createInterface({ input: process.stdin })) void agent.take(line);
// One that ignores that it is not wanted any more.
if (mood === "silent") setInterval(() => undefined, 1000);
