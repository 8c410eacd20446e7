// The way from a URL to a plugin: real HTTP between the guarded client and servers that are slow, stop half-way, never end, lie, or
// lead elsewhere. Whatever they do, nothing is kept that nobody agreed to, and no private address is reached by a redirect.
import { captureLogger } from "@svc/testkit/capture-logger";
import { fakeClock } from "@svc/testkit/fake-clock";
import { type TemporaryHome, temporaryHome } from "@svc/testkit/temporary-home";
import { existsSync, readdirSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hashOf, readPlugins } from "../../src/installed.ts";
import { plugin, type CommandSetup } from "./fixture.ts";
import { archiveOf, entry, sampleEntries, sampleWasm } from "./sample.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let home: TemporaryHome;
let servers: Server[] = [];
beforeEach(() => {
  home = temporaryHome();
});
afterEach(async () => {
  home.remove();
  for (const server of servers) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  servers = [];
});

/** Resolves with its origin. */
async function serve(answer: Answer): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const sends =
  (body: Uint8Array): Answer =>
  (_, response) =>
    response.writeHead(200, { "content-length": body.byteLength }).end(body);
const install = (url: string, setup: Omit<CommandSetup, "home"> = { answers: [] }) =>
  plugin(["install", url], { home: home.path, ...setup });
const left = (): string[] => (existsSync(join(home.path, "plugins")) ? readdirSync(join(home.path, "plugins")) : []);

test("an archive is fetched, with a bar, shown, agreed to and installed", async () => {
  // Of some chunks, so that there is a way to show.
  const wasm = Buffer.concat([sampleWasm(), custom(300_000)]);
  const origin = await serve(sends(await archiveOf(sampleEntries({ wasm }))));
  const { end, printed, progress } = await install(`${origin}/weather.tgz?token=SECRET`, { answers: [true] });
  expect(end).toBe(0);
  expect(printed).toContain(`${origin}/weather.tgz\n`);
  expect(printed).not.toContain("SECRET");
  expect(progress.length).toBeGreaterThan(1);
  expect(progress.at(-1)).toBe(1);
  const { plugins } = await readPlugins(join(home.path, "plugins"), captureLogger());
  expect(plugins).toMatchObject([{ name: "weather", sha256: hashOf(wasm) }]);
  const { printed: info } = await plugin(["info", "weather"], { home: home.path });
  expect(info).toContain(`${origin}/weather.tgz\n`);
});

/** A custom section of random bytes, which no compression makes small. */
function custom(length: number): Uint8Array {
  const leb = (value: number): number[] => (value < 128 ? [value] : [(value & 0x7f) | 0x80, ...leb(value >> 7)]);
  const bytes = crypto.getRandomValues(new Uint8Array(60_000));
  const body = Buffer.concat([Buffer.from([1, 0x78]), ...Array.from({ length: length / 60_000 }, () => bytes)]);
  return Buffer.concat([Buffer.from([0, ...leb(body.length)]), body]);
}

test("without a length there is a download, and no share of it", async () => {
  const archive = await archiveOf(sampleEntries());
  const origin = await serve((_, response) => {
    response.flushHeaders();
    response.end(archive);
  });
  const { end, progress } = await install(origin, { answers: [true] });
  expect(end).toBe(0);
  expect(new Set(progress)).toEqual(new Set([undefined]));
});

describe("URLs that nothing is installed from", () => {
  test.each([
    "http://example.org/weather.tgz",
    "http://10.0.0.1/weather.tgz",
    "http://localhost.example.org/weather.tgz",
    "http://127.0.0.1.example.org/weather.tgz",
    "HTTP://example.org/weather.tgz",
    "ftp://example.org/weather.tgz",
    "file:///etc/passwd",
    "data://x",
    "https://",
  ])("%s", async (url) => {
    expect((await install(url)).end).toBe("PLUGIN_INVALID");
  });

  test.each([
    "https://10.0.0.1/x.tgz",
    "https://169.254.169.254/x.tgz",
    "https://[fd00::1]/x.tgz",
    "https://0.0.0.0/x.tgz",
  ])("%s is a private address", async (url) => {
    expect((await install(url)).end).toBe("ADDRESS_REFUSED");
  });

  test("a name that leads to this machine is no loopback address", async () => {
    expect(
      (await install("https://rebound.example/x.tgz", { answers: [], addresses: { "rebound.example": "127.0.0.1" } }))
        .end,
    ).toBe("ADDRESS_REFUSED");
  });

  test("a user and a password in it", async () => {
    expect((await install("https://user:SECRET@127.0.0.1:1/x.tgz")).end).toBe("ADDRESS_REFUSED");
  });
});

describe("redirects", () => {
  const leads =
    (location: string, status = 302): Answer =>
    (_, response) =>
      response.writeHead(status, { location }).end();

  test("on the same server they are followed", async () => {
    const archive = await archiveOf(sampleEntries());
    const origin = await serve((request, response) =>
      request.url === "/weather.tgz" ? sends(archive)(request, response) : leads("weather.tgz", 307)(request, response),
    );
    expect((await install(`${origin}/latest`, { answers: [true] })).end).toBe(0);
  });

  test("to another server of this machine they are not, and it is never asked", async () => {
    let asked = 0;
    const inner = await serve((_, response) => {
      asked += 1;
      response.end();
    });
    for (const target of [
      inner,
      inner.replace("127.0.0.1", "localhost"),
      inner.replace("127.0.0.1", "[::1]"),
      inner.replace("127.0.0.1", "127.1"),
      inner.replace("http:", "https:"),
    ]) {
      const origin = await serve(leads(`${target}/weather.tgz`));
      expect((await install(origin)).end).toBe("ADDRESS_REFUSED");
    }
    expect(asked).toBe(0);
  });

  test.each([
    ["to http", "http://example.org/x.tgz"],
    ["to a private address", "https://192.168.1.1/x.tgz"],
    ["to metadata", "https://169.254.169.254/latest"],
    ["to a name that leads inside", "https://inside.example/x.tgz"],
    ["to a file", "file:///etc/passwd"],
    ["with a user", "https://user@example.org/x.tgz"],
  ])("%s they are not", async (_, location) => {
    const origin = await serve(leads(location));
    expect((await install(origin, { answers: [], addresses: { "inside.example": "10.1.2.3" } })).end).toBe(
      "ADDRESS_REFUSED",
    );
  });

  test("without an end they end", async () => {
    let asked = 0;
    const origin = await serve((request, response) => {
      asked += 1;
      leads(`/${asked}`)(request, response);
    });
    expect((await install(origin)).end).toBe("REMOTE_UNREACHABLE");
    expect(asked).toBe(6);
  });
});

describe("servers that are not what they should be", () => {
  const endless: Answer = (_, response) => {
    const more = (): void => {
      while (response.write(chunk)) {
        // until the socket is full
      }
    };
    response.on("drain", more);
    more();
  };
  const chunk = crypto.getRandomValues(new Uint8Array(65_536));

  test.each<[string, Answer | (() => Promise<Answer>), string]>([
    ["answer 404 with a page", (_, response) => response.writeHead(404).end("<html>"), "REMOTE_UNREACHABLE"],
    ["answer 200 with a page", (_, response) => response.end("<html>"), "PLUGIN_INVALID"],
    ["answer 204", (_, response) => response.writeHead(204).end(), "REMOTE_UNREACHABLE"],
    ["send nothing", (_, response) => response.end(), "PLUGIN_INVALID"],
    ["never end", endless, "PLUGIN_INVALID"],
    ["hang up", (request) => request.socket.destroy(), "REMOTE_UNREACHABLE"],
    [
      "hang up half-way",
      (_, response) => response.writeHead(200, { "content-length": 1000 }).write("x", () => response.destroy()),
      "REMOTE_UNREACHABLE",
    ],
    ["speak no HTTP", (request) => void request.socket.end("\u0000\u0001garbage"), "REMOTE_UNREACHABLE"],
  ])("%s", async (_, answer, code) => {
    const origin = await serve(answer as Answer);
    expect(await install(origin)).toMatchObject({ end: code, asked: [] });
    expect(left()).toEqual([]);
  });

  test("send half of it, and say that this is all", async () => {
    const archive = await archiveOf(sampleEntries());
    const origin = await serve(sends(archive.subarray(0, archive.byteLength / 2)));
    expect(await install(origin)).toMatchObject({ end: "PLUGIN_INVALID", asked: [] });
  });

  test("compress it once more: a gigabyte in a megabyte is not unpacked", async () => {
    const member = gzipSync(Buffer.alloc(16 * 1024 * 1024));
    const bomb = Buffer.concat(Array.from({ length: 64 }, () => member));
    const origin = await serve((_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(bomb));
    const before = process.memoryUsage().arrayBuffers;
    expect((await install(origin)).end).toBe("PLUGIN_INVALID");
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(150 * 1024 * 1024);
    expect(left()).toEqual([]);
  });

  test("hold the archive of a plugin with a way out of its folder", async () => {
    const origin = await serve(sends(await archiveOf([...sampleEntries(), entry("../../.ssh/authorized_keys", "x")])));
    expect(await install(origin)).toMatchObject({ end: "PLUGIN_INVALID", asked: [] });
  });

  test("are slow: after five minutes that is enough", async () => {
    const clock = fakeClock();
    const asked = Promise.withResolvers<void>();
    const origin = await serve((_, response) => {
      response.writeHead(200, { "content-length": 1000 }).write("x");
      asked.resolve();
    });
    const done = install(origin, { answers: [], clock });
    await asked.promise;
    await clock.advance(299_000);
    expect(await Promise.race([done, Promise.resolve("waits")])).toBe("waits");
    await clock.advance(1_000);
    expect((await done).end).toBe("REMOTE_TIMEOUT");
  });

  test("are given up by Ctrl-C", async () => {
    const interrupted = new AbortController();
    const asked = Promise.withResolvers<void>();
    const origin = await serve(() => asked.resolve());
    const done = install(origin, { answers: [], signal: interrupted.signal });
    await asked.promise;
    interrupted.abort(new DOMException("stopped", "AbortError"));
    await expect(done).rejects.toThrow("stopped");
    expect(left()).toEqual([]);
  });
});
