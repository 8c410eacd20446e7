// Every byte of a broker passes the guard first: what it lets through must be exactly what came, however it was cut into pieces, and
// no packet may fill the memory.
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { generate, type Packet, parser } from "mqtt-packet";
import { expect, test } from "vitest";
import { MAX_PAYLOAD_BYTES, PacketGuard } from "../src/connection.ts";

const publish = (payload: Buffer, qos: 0 | 1 = 1, messageId = 7): Buffer =>
  generate({ cmd: "publish", topic: "a/ö", payload, qos, dup: false, retain: false, messageId });

async function through(
  bytes: Buffer,
  sizes: readonly number[] = [bytes.length],
): Promise<{ out: Buffer; guard: PacketGuard }> {
  const guard = new PacketGuard();
  const out: Buffer[] = [];
  guard.on("data", (chunk: Buffer) => out.push(chunk));
  const ended = new Promise<void>((resolve, reject) => guard.once("end", resolve).once("error", reject));
  let at = 0;
  for (let index = 0; at < bytes.length; index += 1) {
    const size = sizes[index % sizes.length]!;
    guard.write(Buffer.from(bytes.subarray(at, at + size)));
    at += size;
  }
  guard.end();
  await ended;
  return { out: Buffer.concat(out), guard };
}

const packetsIn = (bytes: Buffer): Packet[] => {
  const found: Packet[] = [];
  const reader = parser();
  reader.on("packet", (packet) => found.push(packet));
  reader.parse(bytes);
  return found;
};

test("lets packets of usual size through, byte by byte the same, in any pieces", async () => {
  const packet = fc.oneof(
    fc.constant(generate({ cmd: "pingresp" })),
    fc.constant(generate({ cmd: "suback", messageId: 3, granted: [1, 1] })),
    fc
      .record({ size: fc.integer({ max: 300, min: 0 }), qos: fc.constantFrom(0 as const, 1 as const) })
      .map(({ size, qos }) => publish(Buffer.alloc(size, "x"), qos)),
  );
  const pieces = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(fc.array(packet, { maxLength: 8 }), pieces, async (packets, sizes) => {
      const bytes = Buffer.concat(packets);
      expect((await through(bytes, sizes)).out.equals(bytes)).toBe(true);
    }),
    { numRuns: cases(300) },
  );
});

test.each([0, 1] as const)(
  "takes the payload out of a message with QoS %i that is too large, and nothing else",
  async (qos) => {
    const large = publish(Buffer.alloc(10_000_000), qos);
    const bytes = Buffer.concat([publish(Buffer.from("1")), large, publish(Buffer.from("2")), large]);
    for (const sizes of [[65_536], [1, 2, 3, 5, 65_536]]) {
      const { out, guard } = await through(bytes, sizes);
      const packets = packetsIn(out);
      expect(packets.map((packet) => packet.cmd === "publish" && String(packet.payload))).toEqual(["1", "", "2", ""]);
      expect(packets[1]).toMatchObject({ topic: "a/ö", qos, ...(qos === 1 && { messageId: 7 }) });
      expect([...guard.oversized]).toEqual([
        [2, 10_000_000],
        [4, 10_000_000],
      ]);
    }
  },
);

test("lets the largest payload through", async () => {
  const bytes = publish(Buffer.alloc(MAX_PAYLOAD_BYTES));
  const { out, guard } = await through(bytes);
  expect([out.equals(bytes), guard.oversized.size]).toEqual([true, 0]);
  expect((await through(publish(Buffer.alloc(MAX_PAYLOAD_BYTES + 1)))).guard.oversized.size).toBe(1);
});

test.each([
  ["a packet that is too long", Buffer.from("90ffffff7f", "hex")],
  ["a packet without a length", Buffer.from("30ffffffff", "hex")],
  ["a message with a QoS that was not subscribed to", Buffer.from("340500016100", "hex")],
])("ends the connection at %s", async (what, bytes) => {
  await expect(through(bytes)).rejects.toMatchObject({
    code: "REMOTE_UNREACHABLE",
    message: `The broker sent ${what}.`,
  });
});
