// 300 strangers' connections that pipelined 64 KB of requests and read nothing took the daemon from 100 to more than 1 000 MB and
// kept it from answering anybody for ten seconds. `pnpm fuzz` also judges how quickly the others are answered.
import { connect, type Socket } from "node:net";
import { runFloods } from "@svc/fuzz";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { expect, test } from "vitest";
import { readFileSync } from "node:fs";

const CONNECTIONS = 300;
const REQUEST = "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
const BYTES = 65_536;

test("64 KB of requests on each of 300 connections, and nothing read: memory is bounded, and others are served", async (context) => {
  if (process.platform !== "linux") context.skip("memory of a process is told by /proc");
  await using daemon = await startBinary();
  const { hostname: host, port } = new URL(daemon.url);
  // The document is made for the first who asks.
  const document = await (await daemon.request("/openapi.json")).text();
  const before = anonymousMb(daemon.pid);
  const sockets: Socket[] = [];
  const requests = REQUEST.repeat(Math.floor(BYTES / REQUEST.length));
  const begin = (): Promise<void> =>
    new Promise((resolve) => {
      const socket = connect({ host, port: Number(port) });
      sockets.push(socket.on("error", () => resolve()).on("close", () => resolve()));
      socket.pause();
      socket.write(requests, () => resolve());
    });
  await Promise.all(Array.from({ length: CONNECTIONS }, begin));
  let most = before;
  for (let served = 0; served < 50; served += 1) {
    expect((await daemon.request("/health")).status).toBe(200);
    most = Math.max(most, anonymousMb(daemon.pid));
  }
  expect(most - before).toBeLessThan(200);
  // Not lost: a client that reads in the end has all its answers, in order and whole.
  const [patient, ...others] = sockets;
  for (const socket of others) socket.destroy();
  const expected = requests.length / REQUEST.length;
  const answers = await count(patient!, document.length, expected);
  expect(answers).toBe(expected);
  patient!.destroy();
  expect(await daemon.stop()).toEqual({ code: 0, signal: null });
});

test("floods of a daemon that may take 512 MB: it survives each, and others are served", async () => {
  const report = await runFloods({ forMs: 300, quietMs: 100 });
  expect(report.problems).toEqual([]);
  expect(Object.keys(report.floods).length).toBeGreaterThan(10);
});

const anonymousMb = (pid: number): number =>
  Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024;

/** Reads until so many answers with a body of that many characters are there; resolves with how many came. */
function count(socket: Socket, bodyChars: number, expected: number): Promise<number> {
  return new Promise((resolve) => {
    let answers = 0;
    let text = "";
    socket.on("data", (bytes: Buffer) => {
      text += bytes.toString("latin1");
      for (;;) {
        const head = text.indexOf("\r\n\r\n");
        const length = Number(/^HTTP\/1\.1 200 [^]*?content-length: (\d+)/i.exec(text.slice(0, head))?.[1]);
        if (head < 0 || length < bodyChars || text.length < head + 4 + length) break;
        text = text.slice(head + 4 + length);
        answers += 1;
      }
      if (answers >= expected) resolve(answers);
    });
    socket.on("close", () => resolve(answers));
    socket.resume();
  });
}
