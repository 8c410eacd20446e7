// Events are what was sent, whatever ends the lines, and wherever the bytes are cut. Nothing that never ends fills the memory.
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { EventStreamReader, EventTooLong } from "../src/models/event-stream.ts";

const line = fc
  .oneof(fc.string({ unit: "grapheme", maxLength: 8 }), fc.constantFrom("", " ", ":", "\ufeff", "\u2028"))
  .map((text) => text.replace(/[\r\n]/g, ""));
const event = fc.array(line, { minLength: 1, maxLength: 3 });
const noise = fc.constantFrom("", ":", ": ping", "event: data", "id: data: x", "retry: 5", "datax: 1", " data: x", "x");

test.each(["\n", "\r\n", "\r"])("lines that end with %j, cut between any two bytes", (lineEnd) => {
  const sent = fc.array(fc.tuple(event, noise, fc.boolean()), { maxLength: 5 });
  fc.assert(
    fc.property(sent, fc.boolean(), fc.func(fc.integer({ min: 1, max: 7 })), (events, hasMark, lengthAt) => {
      const lines = events.flatMap(([data, before, hasBlank]) => [
        ...(before === "" ? [] : [before]),
        // A value that begins with a blank needs the one that is taken away.
        ...data.map((text) => (text.startsWith(" ") || hasBlank ? `data: ${text}` : `data:${text}`)),
        "",
      ]);
      const mark = hasMark ? "\ufeff" : "";
      const bytes = new TextEncoder().encode(
        mark + lines.map((text) => text + lineEnd).join("") + "data: without its end",
      );
      const heard: string[] = [];
      const reader = new EventStreamReader((data) => heard.push(data));
      for (let at = 0; at < bytes.length;) {
        const end = at + lengthAt(at);
        reader.push(bytes.subarray(at, end));
        at = end;
      }
      expect(heard).toEqual(events.map(([data]) => data.join("\n")));
    }),
    { numRuns: cases(2_000) },
  );
});

test("bytes that are no UTF-8 are replaced, and the event is not lost", () => {
  const heard: string[] = [];
  const reader = new EventStreamReader((data) => heard.push(data));
  reader.push(Buffer.concat([Buffer.from("data: a"), Buffer.of(0xff, 0xc3), Buffer.from("\n\n")]));
  expect(heard).toEqual(["a\ufffd\ufffd"]);
});

test.each([
  ["a line", Buffer.alloc(64 * 1024, "x")],
  [
    "an event of many lines",
    Buffer.from("data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n".repeat(1024)),
  ],
])("%s without an end is refused after 16 MiB", (_, chunk) => {
  const reader = new EventStreamReader(() => {});
  let bytes = 0;
  const endless = (): void => {
    for (;;) {
      reader.push(chunk);
      bytes += chunk.length;
    }
  };
  expect(endless).toThrow(EventTooLong);
  expect(bytes).toBeLessThan(24 * 1024 * 1024);
});

test("a line that comes byte by byte is joined once", () => {
  let heard = "";
  const reader = new EventStreamReader((data) => (heard = data));
  const byte = Buffer.from("x");
  reader.push(Buffer.from("data: "));
  for (let at = 0; at < 300_000; at += 1) reader.push(byte);
  reader.push(Buffer.from("\n\n"));
  expect(heard).toHaveLength(300_000);
});
