/**
 * A thousand readers of `GET /api/events`, as a process of their own beside the daemon:
 *
 *   readers.ts '{"port","token","readers","rounds"}'   prints one line of JSON for each phase
 */
import { get } from "node:http";

interface Options {
  readonly port: number;
  readonly token: string;
  readonly readers: number;
  readonly rounds: number;
}

const EVENT_BYTES = 512;
/** What an event has beside its message. */
const ENVELOPE_BYTES = 190;
const BETWEEN_MS = 50;
const AT_ONCE = 50;

const options = JSON.parse(process.argv[2]!) as Options;
let seen = 0;
let whole = (): void => {};

for (let opened = 0; opened < options.readers; opened += AT_ONCE) {
  await Promise.all(Array.from({ length: AT_ONCE }, open));
}
process.stdout.write('"open"\n');
// Whoever measures memory says when it has.
await new Promise((resolve) => process.stdin.once("data", resolve));
const ms: number[] = [];
for (let round = 0; round < options.rounds; round += 1) {
  await new Promise((resolve) => setTimeout(resolve, BETWEEN_MS));
  ms.push(await broadcast());
}
process.stdout.write(`${JSON.stringify(ms)}\n`);
process.exit(0);

/** Milliseconds from the request that causes an event until the last reader has it. */
async function broadcast(): Promise<number> {
  seen = 0;
  const everybody = new Promise<void>((resolve) => (whole = resolve));
  const beganAt = performance.now();
  const posted = fetch(`http://127.0.0.1:${options.port}/api/channel-events`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ type: "bench", content: { message: "x".repeat(EVENT_BYTES - ENVELOPE_BYTES) } }),
  });
  await everybody;
  const tookMs = performance.now() - beganAt;
  const answer = await posted;
  if (answer.status !== 200) throw new Error(`refused: ${answer.status}`);
  return tookMs;
}

function open(): Promise<void> {
  return new Promise((resolve, reject) => {
    const { port, token } = options;
    const headers = { authorization: `Bearer ${token}` };
    get({ host: "127.0.0.1", port, path: "/api/events", headers, agent: false }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`refused: ${response.statusCode}`));
      response.on("data", (chunk: Buffer) => {
        // Each event comes in one piece: it is written at once and is small.
        if (!chunk.includes("\ndata: ")) return;
        seen += 1;
        if (seen === options.readers) whole();
      });
      resolve();
    }).on("error", reject);
  });
}
