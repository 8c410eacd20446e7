/**
 * Web sites on this machine that try all that a page can: `good` is on the list and may be reached, `forbidden` is neither. Names are
 * resolved by the guard of the test; none of them exists outside of it.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createGuardedResolve } from "@svc/kit";
import { startForbiddenMachine } from "./forbidden.ts";
import { answerPage, type PagePlaces } from "./pages.ts";

export interface HostileSites {
  /** `browser.allowed_domains` for them. */
  readonly allowedDomains: readonly string[];
  /** `security.net.allow_private` for them. */
  readonly allowPrivate: readonly string[];
  /** What `FeatureContext.resolve` is in a service with that setting, whose resolver knows these names only. */
  resolve(url: string): Promise<readonly string[]>;
  /** Address of a page of the good site. */
  url(path: string): string;
  /** URLs at which a page would be on the forbidden machine: by a name off the list, by names on it, by addresses. */
  readonly forbiddenUrls: readonly string[];
  /** What has reached the forbidden machine. */
  readonly reached: readonly string[];
  /** Paths that were asked of the good site, each with its method: `GET /form`. */
  readonly asked: readonly string[];
  /** Resolves when the good site was asked for this. */
  untilAsked(line: string): Promise<void>;
  /** Answers what was asked of `/held-…` so far. */
  release(): void;
  close(): Promise<void>;
}

/** Pages below .localhost are secure contexts, in which service workers and the like work without TLS. */
export const GOOD_HOST = "good.localhost";
/** Below a listed domain, and at this machine all the same. */
export const INSIDE_HOST = "inside.good.localhost";
/** Two addresses: a public one and this machine. */
export const MIXED_HOST = "mixed.good.localhost";
export const EVIL_HOST = "evil.test";

export async function startHostileSites(): Promise<HostileSites> {
  const forbidden = await startForbiddenMachine();
  const asked: string[] = [];
  const waiting = new Map<string, () => void>();
  const held: ServerResponse[] = [];
  let places: PagePlaces | undefined;
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const line = `${request.method} ${request.url?.split("?", 1)[0]}`;
    asked.push(line);
    waiting.get(line)?.();
    if (line.startsWith("GET /held-")) held.push(response);
    else if (places !== undefined) answerPage(request, response, places);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const evil = `http://${EVIL_HOST}:${forbidden.port}`;
  const local = `http://127.0.0.1:${forbidden.port}`;
  places = { good: `http://${GOOD_HOST}:${port}`, evil, local, forbiddenPort: forbidden.port };
  const allowPrivate = [`${GOOD_HOST}:${port}`];
  const resolve = createGuardedResolve({ allowPrivate, lookup: async (host) => ADDRESSES[host] ?? ["127.0.0.1"] });
  return {
    allowedDomains: [GOOD_HOST],
    allowPrivate,
    resolve,
    url: (path) => `${places?.good}${path}`,
    forbiddenUrls: [
      evil,
      evil.replace("http:", "https:"),
      local,
      `http://localhost:${forbidden.port}`,
      `http://[::1]:${forbidden.port}`,
      `http://[::ffff:127.0.0.1]:${forbidden.port}`,
      `http://2130706433:${forbidden.port}`,
      `http://${INSIDE_HOST}:${forbidden.port}`,
      `http://${MIXED_HOST}:${forbidden.port}`,
      "http://169.254.169.254/latest/meta-data/",
      "http://metadata.google.internal/",
      "http://printer.local/",
    ],
    reached: forbidden.seen,
    asked,
    async untilAsked(line) {
      if (!asked.includes(line)) await new Promise<void>((done) => waiting.set(line, done));
    },
    release() {
      for (const response of held.splice(0)) response.end();
    },
    async close() {
      server.closeAllConnections();
      await new Promise<void>((done) => {
        server.close(() => done());
      });
      await forbidden.close();
    },
  };
}

const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  [MIXED_HOST]: ["93.184.215.14", "127.0.0.1"],
};
