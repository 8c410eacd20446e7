/** Proxies of the browser, servers behind them, and requests over raw sockets. */
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, type Server, type Socket } from "node:net";
import { type GuardingProxy, startGuardingProxy } from "../../src/browser/guarding-proxy.ts";
import { browserGuard } from "../../src/browser/index.ts";
import { createGuardedResolve } from "../../src/index.ts";

export const quiet = { debug() {}, info() {}, warn() {}, error() {} };
export const closing: (() => unknown)[] = [];
/** For `afterEach` of each file. */
export async function closeAll(): Promise<void> {
  for (const close of closing.splice(0)) await close();
}

/** Time that stands still: no limit of the proxy passes by itself. */
export const stillClock = {
  now: () => 0,
  monotonic: () => 0,
  after: () => () => undefined,
  sleep: async () => undefined,
};

export async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket.on("error", () => undefined)));
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A web server that tells what it was asked. */
export const echo = () =>
  portOf(
    createHttpServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        response.writeHead(
          200,
          [
            ["Set-Cookie", "a=1"],
            ["Set-Cookie", "b=2"],
            ["Connection", "x-hop"],
            ["X-Hop", "secret"],
          ].flat(),
        );
        response.end(
          JSON.stringify({
            url: request.url,
            method: request.method,
            headers: request.headers,
            body: Buffer.concat(chunks).toString(),
          }),
        );
      });
    }),
  );

interface Setting {
  readonly allowed?: string[];
  readonly exempt?: string[];
  readonly lookup?: (host: string) => Promise<readonly string[]>;
}

export async function proxyFor({
  allowed = ["good.test"],
  exempt = [],
  lookup = async () => ["127.0.0.1"],
}: Setting): Promise<GuardingProxy> {
  const guard = browserGuard(allowed, createGuardedResolve({ allowPrivate: exempt, lookup }));
  const proxy = await startGuardingProxy({ guard, clock: stillClock, log: quiet });
  closing.push(() => proxy.close());
  return proxy;
}

export const basic = ({ access }: GuardingProxy): string =>
  `Basic ${Buffer.from(`${access.username}:${access.password}`).toString("base64")}`;

/** Sends bytes, and resolves with all that comes until the other side ends. */
export function raw(
  { access }: GuardingProxy,
  text: string,
  after?: (answer: string, socket: Socket) => void,
  last = false,
): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(Number(new URL(access.server).port), "127.0.0.1", () => {
      if (last) socket.end(text);
      else socket.write(text);
    });
    socket.on("data", (bytes) => {
      answer += bytes.toString("latin1");
      after?.(answer, socket);
    });
    socket.on("close", () => resolve(answer));
    socket.on("error", reject);
  });
}

export const get = (proxy: GuardingProxy, url: string, lines: string[] = []): Promise<string> =>
  raw(
    proxy,
    [
      `GET ${url} HTTP/1.1`,
      `Host: ${new URL(url).host}`,
      `Proxy-Authorization: ${basic(proxy)}`,
      "Connection: close",
      ...lines,
      "",
      "",
    ].join("\r\n"),
  );

export const connectTo = (
  proxy: GuardingProxy,
  target: string,
  host = target,
  auth = basic(proxy),
  after?: (answer: string, socket: Socket) => void,
) => raw(proxy, `CONNECT ${target} HTTP/1.1\r\nHost: ${host}\r\nProxy-Authorization: ${auth}\r\n\r\n`, after);
