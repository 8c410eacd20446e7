// A peer that is let in may still be hostile, or broken: what it sends must end its own connection at most.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Reply } from "../src/http/reply.ts";
import { clientFrame } from "../src/streams/socket.ts";
import { delta } from "./event-stream.ts";
import type { Harness } from "./harness.ts";
import { until, Wire } from "./http.ts";
import { started, upgradeBytes } from "./socket-house.ts";

describe("a hostile peer", () => {
  /** A frame as RFC 6455 has it, masked with zeros. */
  const frame = (first: number, payload: Buffer): Buffer => {
    const { length } = payload;
    const extended = length < 126 ? Buffer.of(0x80 | length) : Buffer.of(0x80 | 126, length >> 8, length & 255);
    return Buffer.concat([Buffer.of(first), extended, Buffer.alloc(4), payload]);
  };
  async function opened(harness: Harness, token: string) {
    const wire = new Wire(harness);
    wire.write(upgradeBytes(`Authorization: Bearer ${token}\r\n`));
    await until(() => wire.text.includes("\r\n\r\n"));
    return wire;
  }

  test.each([
    ["an unmasked frame", Buffer.of(0x81, 0x01, 0x78), 1002],
    ["a reserved bit", frame(0xc1, Buffer.from("x")), 1002],
    ["an unknown opcode", frame(0x83, Buffer.from("x")), 1002],
    ["text that is no UTF-8", frame(0x81, Buffer.of(0xff, 0xfe)), 1007],
    ["a ping that is too long", frame(0x89, Buffer.alloc(126)), 1002],
    ["a length of four gigabytes", Buffer.of(0x81, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0), 1009],
    [
      "more fragments than anybody needs",
      Buffer.concat(Array.from({ length: 2_000 }, (_, index) => frame(index === 0 ? 0x01 : 0x00, Buffer.from("x")))),
      1008,
    ],
  ])("that sends %s is told by code and cut, and nobody else notices", async (_name, bytes, code) => {
    const { harness, hub, tokens, open } = await started();
    const [other, wire] = [await open(), await opened(harness, tokens.operator)];
    other.say({ type: "resume", last_event_id: "boot-1-0" });
    wire.socket.write(bytes);
    const head = wire.text.indexOf("\r\n\r\n") + 4;
    await until(() => wire.text.length >= head + 4);
    expect(Buffer.from(wire.text.slice(head), "latin1").readUInt16BE(2)).toBe(code);
    await harness.clock.advance(1_000);
    await wire.closed;
    hub.publish(delta("alive"));
    await until(() => other.texts.length === 1);
  });

  test("that sends more than a mebibyte is told so and cut", async () => {
    const { harness, open } = await started();
    const reader = await open();
    reader.say({ type: "message", content: "x".repeat(1_048_577) });
    await until(() => reader.closed !== undefined);
    expect([reader.closed, harness.turns]).toEqual([1009, []]);
  });

  test("that asks for errors and does not read them is cut, before they are many megabytes", async () => {
    const { harness, tokens } = await started();
    const wire = await opened(harness, tokens.operator);
    wire.socket.pause();
    const garbage = Buffer.concat(Array.from({ length: 1_000 }, () => frame(0x81, Buffer.from("{"))));
    let isCut = false;
    void wire.closed.then(() => (isCut = true));
    const flood = (): void => {
      if (!isCut && wire.socket.writable) wire.socket.write(garbage, () => setImmediate(flood));
    };
    flood();
    await until(() => harness.gateway.connections === 0);
    expect(harness.log.lines.filter(({ level }) => level === "error")).toEqual([]);
    wire.socket.destroy();
  });

  test("that holds back the end of a message on every connection loses the oldest; whoever is heard keeps its own", async () => {
    const { harness, tokens, open } = await started();
    const other = await open();
    const held: Wire[] = [];
    const almost = Buffer.concat([Buffer.of(0x81, 0xff, 0, 0, 0, 0, 0, 0x0f, 0xff, 0xff), Buffer.alloc(1_048_000)]);
    for (let count = 0; count < 70; count += 1) {
      const wire = await opened(harness, tokens.operator);
      held.push(wire);
      await new Promise((resolve) => wire.socket.write(almost, resolve));
    }
    await until(() => harness.gateway.connections < 66);
    await held[0]!.closed;
    expect(held.at(-1)!.socket.destroyed).toBe(false);
    other.say("{");
    expect((await other.answer()).code).toBe("BAD_JSON");
    for (const wire of held) wire.socket.destroy();
  });

  test("that sends thousands of messages at once is heard a few at a time, and others in between", async () => {
    const { harness, tokens, open } = await started();
    const [other, wire] = [await open(), await opened(harness, tokens.operator)];
    const count = 8_000;
    const answers = (): number => wire.text.split("BAD_JSON").length - 1;
    wire.socket.write(Buffer.concat(Array.from({ length: count }, () => frame(0x81, Buffer.from("{")))));
    await until(() => answers() > 0);
    other.say("{");
    await other.answer();
    expect(answers()).toBeLessThan(count / 2);
    await until(() => answers() === count);
    wire.socket.destroy();
  });

  test("any frame is understood or refused, whatever is in it", () => {
    const any = fc.oneof(
      fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      fc.json().map((text) => Buffer.from(text)),
      fc
        .record({ type: fc.constantFrom("message", "resume", "x"), content: fc.anything(), session_id: fc.anything() })
        .map((value) => Buffer.from(JSON.stringify(value) ?? "")),
    );
    fc.assert(
      fc.property(any, fc.boolean(), (data, isBinary) => {
        const told = clientFrame(data, isBinary);
        const isUnderstood = !(told instanceof Reply) && (told.type === "resume" || told.content.trim() !== "");
        expect(isUnderstood || (told instanceof Reply && told.status === 400)).toBe(true);
      }),
    );
  });
});
