/** Servers on the loopback interface for tests of the guarded client, and what such a test needs beside them. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Server as TcpServer } from "node:net";
import type { Logger } from "@svc/contract";
import { createGuardedFetch, type GuardedFetchOptions } from "../src/index.ts";

const quiet: Logger = { debug() {}, info() {}, warn() {}, error() {} };
export const servers: (Server | TcpServer)[] = [];

/** For `afterEach` of each file: this module is loaded once for all of them. */
export function closeServers(): void {
  for (const server of servers.splice(0)) {
    if ("closeAllConnections" in server) server.closeAllConnections();
    server.close();
  }
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export async function listen(answer: Answer): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export const client = (allowPrivate: string[], more: Partial<GuardedFetchOptions> = {}) =>
  createGuardedFetch({ allowPrivate, log: quiet, ...more });

/** A clock whose time limits pass when `event` happens. */
export const afterPromise = (event: Promise<void>) => ({
  after: (_delayMs: number, run: () => void) => {
    let cancelled = false;
    void event.then(() => cancelled || run());
    return () => {
      cancelled = true;
    };
  },
});

export const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
