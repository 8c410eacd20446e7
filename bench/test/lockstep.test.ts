// Bursts of the guard's load: every connection has one request in flight, and a wrong answer ends the measurement.
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { Lockstep } from "../src/guard/lockstep.ts";

async function withServer(listener: RequestListener, work: (port: number) => Promise<void>): Promise<void> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await work((server.address() as AddressInfo).port);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const request = (path: string): Buffer => Buffer.from(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`);

describe("Lockstep", () => {
  it("sends one request on each connection, and the next burst on the same ones", async () => {
    const seen: string[] = [];
    const ports = new Set<number>();
    await withServer(
      (incoming, outgoing) => {
        seen.push(incoming.url!);
        ports.add(incoming.socket.remotePort!);
        // In two pieces: an answer is read to its end.
        outgoing.writeHead(200, { "content-length": 10 }).write("first");
        setImmediate(() => outgoing.end("other"));
      },
      async (port) => {
        using lockstep = await Lockstep.open(port, 3, 200, (connection) => request(`/${connection}`));
        await lockstep.burst();
        expect(seen.toSorted()).toEqual(["/0", "/1", "/2"]);
        await lockstep.burst();
        expect(seen).toHaveLength(6);
      },
    );
    expect(ports.size).toBe(3);
  });

  it("fails for an answer with another status", async () => {
    await withServer(
      (_incoming, outgoing) => outgoing.writeHead(429).end(),
      async (port) => {
        using lockstep = await Lockstep.open(port, 1, 200, () => request("/"));
        await expect(lockstep.burst()).rejects.toThrow("429 instead of 200");
      },
    );
  });

  it("fails when the server closes a connection", async () => {
    await withServer(
      (incoming) => incoming.socket.destroy(),
      async (port) => {
        using lockstep = await Lockstep.open(port, 1, 200, () => request("/"));
        await expect(lockstep.burst()).rejects.toThrow(/closed a connection|ECONNRESET/);
      },
    );
  });
});
