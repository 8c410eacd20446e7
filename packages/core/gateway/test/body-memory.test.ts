// A stranger proves himself with the last byte of his body: by holding it back on every connection there is he could have all
// of our memory. And a body in a million pieces must not take a hundred times its size.
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { MemoryBudget, readBody } from "../src/http/request.ts";
import { Harness } from "./harness.ts";
import { codeOf, statusOf, Wire } from "./http.ts";

const MOST = 64 * 1_048_576;

/** A request whose body comes when the test says so. */
class Coming {
  readonly #incoming = new IncomingMessage(new Socket());
  readonly read: ReturnType<typeof readBody> | Promise<Buffer | "memory-full" | "too-large" | "gone">;
  result: unknown;

  constructor(memory: MemoryBudget, maxBytes: number, declared?: number) {
    const [name, value] = declared === undefined ? ["transfer-encoding", "chunked"] : ["content-length", `${declared}`];
    this.#incoming.headers[name!] = value;
    this.read = Promise.resolve(readBody(this.#incoming, new ServerResponse(this.#incoming), maxBytes, memory));
    void this.read.then((result) => (this.result = result));
  }

  /** Resolves when it has been read. */
  async comes(bytes: Buffer | string): Promise<void> {
    this.#incoming.push(bytes);
    await settled();
  }

  async ends(): Promise<unknown> {
    this.#incoming.push(null);
    return this.read;
  }

  goes(): Promise<unknown> {
    this.#incoming.destroy();
    return Promise.resolve(this.read);
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("room for bodies", () => {
  test("past the most, the body that has been coming for longest goes, and the others come in", async () => {
    const memory = new MemoryBudget(100);
    const [first, second, third] = [1, 2, 3].map(() => new Coming(memory, 1000, 80));
    for (const one of [first, second, third]) await one!.comes("x".repeat(40));
    expect([first!.result, second!.result, third!.result]).toEqual(["memory-full", undefined, undefined]);
    await second!.comes("x".repeat(40));
    expect(await second!.ends()).toHaveLength(80);
    await third!.comes("x".repeat(40));
    expect(await third!.ends()).toHaveLength(80);
    expect(memory.bytes).toBe(0);
  });

  test("the last one stays, however large it may be", async () => {
    const memory = new MemoryBudget(100);
    const body = new Coming(memory, 1000, 1000);
    for (let count = 0; count < 10; count += 1) await body.comes("x".repeat(100));
    expect(await body.ends()).toHaveLength(1000);
    expect(memory.bytes).toBe(0);
  });

  test("is not asked for by a body that comes in one piece", async () => {
    const memory = new MemoryBudget(0);
    const waiting = new Coming(memory, 1000, 50);
    await waiting.comes("x".repeat(25));
    const quick = new Coming(memory, 1000, 500);
    await quick.comes("x".repeat(500));
    expect(memory.bytes).toBe(25);
    expect(await quick.ends()).toHaveLength(500);
    expect(waiting.result).toBeUndefined();
  });

  test("is free again when a body is too large, or its client is gone", async () => {
    const memory = new MemoryBudget(1000);
    const large = new Coming(memory, 100);
    const lost = new Coming(memory, 100);
    await large.comes("x".repeat(60));
    await lost.comes("x".repeat(60));
    expect(memory.bytes).toBe(120);
    await large.comes("x".repeat(60));
    await lost.goes();
    expect([large.result, lost.result, memory.bytes]).toEqual(["too-large", "gone", 0]);
  });

  test("a thousand held-back bodies of 1 MiB hold no more than the room", async () => {
    const memory = new MemoryBudget(MOST);
    const bytes = Buffer.alloc(1_048_575);
    let most = 0;
    const bodies = Array.from({ length: 1000 }, () => new Coming(memory, 1_048_576, 1_048_576));
    for (const body of bodies) {
      await body.comes(bytes);
      most = Math.max(most, memory.bytes);
    }
    expect(most).toBeLessThanOrEqual(MOST);
    expect(bodies.filter(({ result }) => result === undefined)).toHaveLength(64);
    for (const body of bodies) await body.goes();
    expect(memory.bytes).toBe(0);
  });

  test("counts what a body takes, whatever becomes of it", async () => {
    const step = fc.record({
      body: fc.nat(4),
      does: fc.constantFrom("comes", "ends", "goes"),
      bytes: fc.integer({ min: 1, max: 60 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const memory = new MemoryBudget(150);
        const bodies = Array.from({ length: 5 }, () => new Coming(memory, 100));
        const over = new Set<Coming>();
        for (const { body, does, bytes } of steps) {
          const one = bodies[body]!;
          if (over.has(one) || one.result !== undefined) continue;
          if (does === "comes") await one.comes("x".repeat(bytes));
          else await (over.add(one), does === "ends" ? one.ends() : one.goes());
          // A body takes at most its limit, and one may stay beyond the room.
          expect(memory.bytes).toBeLessThanOrEqual(150);
        }
        for (const body of bodies) if (body.result === undefined) await body.goes();
        expect(memory.bytes).toBe(0);
      }),
      { numRuns: cases(100) },
    );
  });
});

describe("a body in pieces", () => {
  test("is put together byte for byte, whatever the pieces", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ minLength: 1, maxLength: 9_000 }), { maxLength: 8 }),
        async (pieces) => {
          const sent = Buffer.concat(pieces);
          const body = new Coming(new MemoryBudget(), 100_000);
          for (const piece of pieces) await body.comes(Buffer.from(piece));
          expect(Buffer.compare((await body.ends()) as Buffer, sent)).toBe(0);
        },
      ),
      { numRuns: cases(60) },
    );
  });

  test("of one byte each takes about twice its size, not an object for each", async () => {
    const memory = new MemoryBudget();
    const body = new Coming(memory, 100_000);
    for (let count = 0; count < 5_000; count += 1) await body.comes("x");
    expect(memory.bytes).toBeLessThanOrEqual(12_000);
    expect(await body.ends()).toHaveLength(5_000);
  });
});

test.each(["/webhook", "/api/approvals/run/step"])(
  "a device's bodies to %s share a room of their own",
  async (path) => {
    const harness = new Harness();
    const token = harness.device();
    await harness.start({ config: { max_body_bytes: 1_048_576, webhook_rate_limit_per_minute: 0 } });
    const head =
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n` +
      "Content-Type: application/json\r\nContent-Length: 1048576\r\n\r\n";
    const almost = head + "x".repeat(1_048_000);
    const wires: Wire[] = [];
    for (let count = 0; count < 66; count += 1) {
      const wire = new Wire(harness);
      wires.push(wire);
      await new Promise((resolve) => wire.socket.write(almost, resolve));
    }
    const [answer = ""] = await wires[0]!.responses(1);
    expect([statusOf(answer), codeOf(answer)]).toEqual([503, "BUSY"]);
    expect(wires.at(-1)!.text).toBe("");
    for (const wire of wires) wire.socket.destroy();
  },
);
