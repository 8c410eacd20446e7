// Bytes of a serial port arrive in a service that does nothing else: a server that nobody calls keeps its loop waiting, and no timer runs.
// docs/decisions/0014-serialport-needs-a-tick.md
import { spawn } from "node:child_process";
import { once } from "node:events";
import { missingUno, startUno } from "@svc/testkit/real/emulated-board";
import { requireReal } from "@svc/testkit/require-real";
import { expect, test } from "vitest";

const PROGRAM = `
import { createServer } from "node:net";
import { openSerial } from ${JSON.stringify(new URL("../src/link/serial-link.ts", import.meta.url).href)};
createServer().listen(0, "127.0.0.1");
const link = await openSerial({ what: "arduino0", path: process.argv[1], baud: 115_200 });
await link.write(Uint8Array.of(0xf0, 0x79, 0xf7));
const parse = (bytes) => (bytes.includes(0xf7) ? { value: bytes.includes(0x79), used: bytes.length } : undefined);
process.stdout.write(String(await link.incoming.take(parse, new AbortController().signal)));
process.exit(0);
`;

test("an idle service reads what a board sends", async (context) => {
  const missing = missingUno();
  if (missing) requireReal(context, missing);
  await using board = await startUno("uno-firmata");
  const child = spawn(process.execPath, ["--input-type=module", "--eval", PROGRAM, board.path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  context.onTestFinished(() => void child.kill("SIGKILL"));
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
  await once(child, "close");
  expect(printed).toBe("true");
});
