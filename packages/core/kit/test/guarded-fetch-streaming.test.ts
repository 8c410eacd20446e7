// Files on their way through the guarded client: piece by piece at the pace of who writes them down, never more than the
// cap, and not from a host that the caller did not mean.
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { afterPromise, client, closeServers, listen, text } from "./loopback.ts";

afterEach(closeServers);

const collect = () => {
  const chunks: Uint8Array[] = [];
  const write = async (chunk: Uint8Array) => void chunks.push(chunk.slice());
  return { write, chunks, all: () => Buffer.concat(chunks) };
};

describe("an answer piece by piece", () => {
  test("comes whole and in order; nothing of it is kept", async () => {
    const sent = Buffer.from(Array.from({ length: 500_000 }, (_, index) => index % 251));
    const host = await listen((_, response) => response.end(sent));
    const { write, chunks, all } = collect();
    const result = await client([host])(`http://${host}/`, { write });
    expect([result.status, result.bytes.length, result.truncated]).toEqual([200, 0, false]);
    expect(all().equals(sent)).toBe(true);
    expect(chunks.length).toBeGreaterThan(1);
  });

  test("is decoded on the way, and a bomb ends at the cap", async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    const host = await listen((_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(bomb));
    const { write, all } = collect();
    const result = await client([host])(`http://${host}/`, { write, maxBytes: 5000 });
    expect([all().length, result.truncated, result.headers["content-encoding"]]).toEqual([5000, true, undefined]);
  });

  test("of exactly the cap is whole; one byte more is cut", async () => {
    const host = await listen((_, response) => response.end("x".repeat(10)));
    for (const [maxBytes, truncated] of [
      [10, false],
      [9, true],
    ] as const) {
      const { write, all } = collect();
      expect((await client([host])(`http://${host}/`, { write, maxBytes })).truncated).toBe(truncated);
      expect(all().length).toBe(maxBytes);
    }
  });

  test("comes no faster than it is written down", async () => {
    let produced = 0;
    const host = await listen((_, response) => {
      const pump = (): void => {
        for (let room = true; room && !response.destroyed; produced += 65_536)
          room = response.write(Buffer.alloc(65_536));
      };
      response.on("drain", pump);
      pump();
    });
    const gate = Promise.withResolvers<void>();
    const writing = Promise.withResolvers<void>();
    const write = () => (writing.resolve(), gate.promise);
    const stuck = client([host])(`http://${host}/`, { write, maxBytes: 2 ** 40 });
    await writing.promise;
    // Once the buffers of both sides are full the server gets no further, however long nobody writes.
    for (let before = -1; before !== produced;) {
      before = produced;
      for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(produced).toBeLessThan(64 * 1024 * 1024);
    gate.reject(new Error("disk full"));
    await expect(stuck).rejects.toThrow("disk full");
  });

  test("ends with the writer's own error, and the connection is closed", async () => {
    const closed = Promise.withResolvers<void>();
    const host = await listen((_, response) => {
      response.on("close", closed.resolve);
      response.write("x".repeat(1000));
    });
    const full = Object.assign(new Error("no space left"), { code: "ENOSPC" });
    await expect(client([host])(`http://${host}/`, { write: () => Promise.reject(full) })).rejects.toBe(full);
    await closed.promise;
  });

  test("a writer that never ends is under the time limit, and can be aborted", async () => {
    const host = await listen((_, response) => response.end("x"));
    const writing = Promise.withResolvers<void>();
    const write = () => (writing.resolve(), new Promise<void>(() => undefined));
    const clock = afterPromise(writing.promise);
    await expect(client([host], { clock })(`http://${host}/`, { write })).rejects.toMatchObject({
      code: "REMOTE_TIMEOUT",
    });
    const caller = new AbortController();
    const aborted = client([host])(`http://${host}/`, { write, signal: caller.signal });
    setImmediate(() => caller.abort(new Error("stopped")));
    await expect(aborted).rejects.toThrow("stopped");
  });

  test("nothing of a redirect's own body is handed over", async () => {
    const host = await listen((request, response) =>
      request.url === "/" ? response.writeHead(302, { location: "/file" }).end("moved") : response.end("the file"),
    );
    const { write, all } = collect();
    await client([host])(`http://${host}/`, { write, redirects: "same-host" });
    expect(text(all())).toBe("the file");
  });
});

describe("a redirect that must stay at its host", () => {
  const redirecting = (location: () => string) =>
    listen((request, response) =>
      request.url === "/" ? response.writeHead(302, { location: location() }).end() : response.end("ok"),
    );

  test("may go to another path, and to its own host by name", async () => {
    const host: string = await redirecting(() => `http://${host}/there`);
    const result = await client([host])(`http://${host}/`, { redirects: "same-host" });
    expect([text(result.bytes), result.url]).toEqual(["ok", `http://${host}/there`]);
  });

  test.each<[string, (host: string, other: string) => string]>([
    ["another port", (_, other) => `http://${other}/`],
    ["another name of the same machine", (host) => `http://localhost:${host.split(":")[1]}/x`],
    ["another scheme", (host) => `https://${host}/x`],
    ["its name inside of another", (host) => `http://${host.split(":")[0]}.evil.test:${host.split(":")[1]}/x`],
  ])("not to %s", async (_, location) => {
    let asked = 0;
    const other = await listen((_request, response) => response.end(String((asked += 1))));
    const host: string = await redirecting(() => location(host, other));
    const port = host.split(":")[1] as string;
    const fetch = client([host, other, `localhost:${port}`]);
    await expect(fetch(`http://${host}/`, { redirects: "same-host" })).rejects.toMatchObject({
      code: "ADDRESS_REFUSED",
    });
    expect(asked).toBe(0);
  });

  test("not after a first hop within the host either", async () => {
    const other = await listen((_, response) => response.end("other"));
    const host = await listen((request, response) => {
      response.writeHead(302, { location: request.url === "/" ? "/second" : `http://${other}/` }).end();
    });
    await expect(client([host, other])(`http://${host}/`, { redirects: "same-host" })).rejects.toMatchObject({
      code: "ADDRESS_REFUSED",
    });
  });
});

test("a redirect that is not to be followed is the answer, and nobody is asked where it leads", async () => {
  const asked: string[] = [];
  const host = await listen((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(308, { location: "/there" }).end("moved");
  });
  const result = await client([host])(`http://${host}/`, { method: "POST", body: "x", redirects: "none" });
  expect([result.status, text(result.bytes), result.headers["location"]]).toEqual([308, "moved", "/there"]);
  expect(asked).toEqual(["POST /"]);
});

test("bytes are sent as they are", async () => {
  const sent = Uint8Array.from({ length: 256 }, (_, index) => index);
  const host = await listen(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    response.end(Buffer.concat(chunks));
  });
  const result = await client([host])(`http://${host}/`, { method: "POST", body: sent });
  expect(Buffer.from(result.bytes).equals(sent)).toBe(true);
});
