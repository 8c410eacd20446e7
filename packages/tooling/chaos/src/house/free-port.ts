/** A port that stays ours while the daemon is down: below those that the system gives to whoever asks for any. */
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

const FIRST = 20_000;
const LAST = 32_000;

export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = randomInt(FIRST, LAST);
    if (await isFree(port)) return port;
  }
  throw new Error("no port is free");
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
