// The guarded client against servers that feed it without end, decompress to more than they send, or never answer.
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { afterPromise, client, closeServers, listen, text } from "./loopback.ts";

afterEach(closeServers);

describe("sizes", () => {
  test("an endless body is cut at the cap and the connection is closed", async () => {
    const closed = Promise.withResolvers<void>();
    const host = await listen((_, response) => {
      const chunk = Buffer.alloc(65_536, 97);
      const pump = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on("drain", pump).on("close", closed.resolve);
      pump();
    });
    const result = await client([host])(`http://${host}/`, { maxBytes: 1000 });
    expect([result.bytes.byteLength, result.truncated]).toEqual([1000, true]);
    await closed.promise;
  });

  test("a body of exactly the cap is whole", async () => {
    const host = await listen((_, response) => response.end("x".repeat(10)));
    expect((await client([host])(`http://${host}/`, { maxBytes: 10 })).truncated).toBe(false);
    expect((await client([host])(`http://${host}/`, { maxBytes: 9 })).truncated).toBe(true);
  });

  test("a compression bomb yields no more than the cap", async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    const host = await listen((_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(bomb));
    const result = await client([host])(`http://${host}/`, { maxBytes: 5000 });
    expect([result.bytes.byteLength, result.truncated]).toEqual([5000, true]);
  });

  test("compressed bodies are decoded, and the headers no longer claim otherwise", async () => {
    const host = await listen((request, response) => {
      const [coding, bytes] = request.url === "/br" ? ["br", brotliCompressSync("hello")] : ["gzip", gzipSync("hello")];
      response.writeHead(200, { "content-encoding": coding }).end(bytes);
    });
    for (const path of ["gzip", "br"]) {
      const result = await client([host])(`http://${host}/${path}`);
      expect([text(result.bytes), result.headers["content-encoding"]]).toEqual(["hello", undefined]);
    }
  });

  test.each([
    ["garbage", Buffer.from("this is not gzip")],
    ["half of it", gzipSync("hello hello hello").subarray(0, 15)],
  ])("a compressed body that is %s is an error, not a hang", async (_, bytes) => {
    const host = await listen((_request, response) =>
      response.writeHead(200, { "content-encoding": "gzip" }).end(bytes),
    );
    await expect(client([host])(`http://${host}/`)).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE" });
  });

  test("a connection that breaks half-way is an error", async () => {
    const host = await listen((request, response) => {
      response.writeHead(200, request.url === "/gzip" ? { "content-encoding": "gzip" } : { "content-length": "100" });
      response.write(gzipSync("hello hello hello").subarray(0, 12), () => response.destroy());
    });
    await expect(client([host])(`http://${host}/gzip`)).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE" });
    await expect(client([host])(`http://${host}/plain`)).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE" });
  });
});

describe("time", () => {
  test("the time limit covers a server that never answers", async () => {
    const arrived = Promise.withResolvers<void>();
    const host = await listen(() => arrived.resolve());
    const clock = afterPromise(arrived.promise); // the limit passes the moment the request has arrived
    await expect(client([host], { clock })(`http://${host}/`)).rejects.toMatchObject({ code: "REMOTE_TIMEOUT" });
  });

  test("and one that stops in the middle of a body", async () => {
    const started = Promise.withResolvers<void>();
    const host = await listen((_, response) => response.write("x", () => started.resolve()));
    const clock = afterPromise(started.promise);
    await expect(client([host], { clock })(`http://${host}/`)).rejects.toMatchObject({ code: "REMOTE_TIMEOUT" });
  });

  test("an abort rejects with the caller's own reason", async () => {
    const caller = new AbortController();
    const host = await listen(() => caller.abort(new Error("turn cancelled")));
    await expect(client([host])(`http://${host}/`, { signal: caller.signal })).rejects.toThrow("turn cancelled");
    await expect(client([host])(`http://${host}/`, { signal: caller.signal })).rejects.toThrow("turn cancelled");
  });
});
