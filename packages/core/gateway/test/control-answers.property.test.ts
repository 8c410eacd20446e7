// A daemon of another version, or something that is no daemon, may answer anything on the control socket: a command ends with
// a result or an error of ours, never with a stack.
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { SvcError } from "@svc/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callDaemon } from "../src/control/index.ts";

let folder: string;
let server: Server;
let answer = Buffer.alloc(0);
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "svc-answers-"));
  server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end(answer));
  });
  await new Promise<void>((resolve) => server.listen(join(folder, "s.sock"), resolve));
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const line = fc.oneof(
  fc.json(),
  fc.string({ unit: "binary" }).map((text) => text.replace(/[\r\n]/g, "")),
  fc
    .tuple(
      fc.constantFrom("result", "error", "question", "x"),
      fc.constantFrom("code", "error", "hint", "value"),
      fc.jsonValue(),
    )
    .map(([type, name, value]) => JSON.stringify({ type, [name]: value })),
  fc
    .constantFrom("toString", "__proto__", "BAD_REQUEST")
    .map((code) => JSON.stringify({ type: "error", code, error: "words" })),
);
const head = fc.constantFrom(
  "HTTP/1.1 200 OK\r\n\r\n",
  "HTTP/1.1 500 Oops\r\n\r\n",
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
  "nonsense\r\n\r\n",
  "",
);

test("whatever is answered", async () => {
  await fc.assert(
    fc.asyncProperty(head, fc.array(line, { maxLength: 4 }), async (start, lines) => {
      answer = Buffer.from(start + lines.map((one) => `${one}\n`).join(""));
      const seen: unknown[] = [];
      const call = callDaemon({
        socketFile: join(folder, "s.sock"),
        name: "look",
        onEvent: (event) => seen.push(event.type),
      });
      const error: unknown = await call.then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error === undefined || (error instanceof SvcError && error.exitCode > 0)).toBe(true);
    }),
    { numRuns: cases(300) },
  );
});
