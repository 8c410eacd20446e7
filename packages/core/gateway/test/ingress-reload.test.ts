// Channels change with a reload: from the next request on by the new settings, a delivery that has begun by the old ones, and
// no feature is taken down under a delivery that is its own.
import { expect, test } from "vitest";
import { channelWith, delivery, PATH, sign } from "./channel.ts";
import { Harness } from "./harness.ts";
import { call, post, statusOf, tick, until, Wire } from "./http.ts";

const MESSAGE = '{"text":"hi"}';
const ingressPaths = new Map([[PATH, { feature: "channel-provider-a", title: "Provider A" }]]);

/** A delivery that has begun and lacks its last bytes. */
async function half(gateway: Harness): Promise<Wire> {
  const wire = new Wire(gateway);
  const lines = `POST ${PATH} HTTP/1.1\r\nHost: x\r\nX-Signature: ${sign(MESSAGE)}\r\nContent-Length: ${MESSAGE.length}`;
  wire.write(`${lines}\r\n\r\n${MESSAGE.slice(0, 6)}`);
  await until(() => gateway.gateway.connections === 1);
  // Once this is answered, what was written before it has been read.
  await call(gateway, { path: "/health" });
  return wire;
}

test("a channel that is added takes deliveries at once, one that is removed is not configured any more", async () => {
  const gateway = await new Harness().start({ ingressPaths });
  const ask = async () => (await call(gateway, delivery())).status;
  expect(await ask()).toBe(404);
  gateway.reconfigure({ ingress: [channelWith()] });
  expect(await ask()).toBe(200);
  gateway.reconfigure({ ingress: [channelWith({}, {}, "another-secret")] });
  expect(await ask()).toBe(401);
  gateway.reconfigure({ config: { require_signatures: true }, ingress: [channelWith({ signed: false })] });
  expect(await ask()).toBe(401);
  gateway.reconfigure({ ingress: [] });
  expect((await call(gateway, delivery())).json.error).toBe("Provider A not configured");
});

test("a change that can't be in force changes nothing", async () => {
  const gateway = await new Harness().start({ ingress: [channelWith()] });
  expect(() => gateway.reconfigure({ ingress: [channelWith(), channelWith({ path: "/pair" })] })).toThrow(/\/pair/);
  expect((await call(gateway, delivery())).status).toBe(200);
});

test("a delivery that has begun ends with the channel it came for, which is in use until then", async () => {
  const gateway = await new Harness().start({ ingress: [channelWith()] });
  const wire = await half(gateway);
  const before = gateway.reconfigure({ ingress: [channelWith({}, {}, "another-secret")] });
  let isIdle = false;
  const idle = before.idle().then(() => (isIdle = true));
  expect((await call(gateway, delivery())).status).toBe(401);
  await tick();
  expect(isIdle).toBe(false);
  wire.write(MESSAGE.slice(6));
  expect(statusOf((await wire.responses(1))[0]!)).toBe(200);
  await idle;
  expect(gateway.arrivals).toHaveLength(1);
  wire.socket.destroy();
});

test("one that never comes whole is in use until its client is gone, and no longer", async () => {
  const gateway = await new Harness().start({ ingress: [channelWith()] });
  const wire = await half(gateway);
  const before = gateway.reconfigure({ ingress: [] });
  wire.socket.destroy();
  await before.idle();
  expect(gateway.arrivals).toEqual([]);
});

test("handshakes and refused deliveries leave nothing in use", async () => {
  const gateway = await new Harness().start({ ingress: [channelWith()] });
  await call(gateway, { path: `${PATH}?token=t0ken&challenge=c` });
  await call(gateway, delivery(undefined, { headers: { "x-signature": "forged" } }));
  await call(gateway, delivery("{"));
  await call(gateway, delivery("x".repeat(9000)));
  await expect(gateway.reconfigure({}).idle()).resolves.toBeUndefined();
});

test("the line a minute about forged deliveries stays one over any number of reloads", async () => {
  const gateway = await new Harness().start({ ingress: [channelWith()] });
  for (let count = 0; count < 5; count += 1) {
    await call(gateway, delivery(undefined, { headers: { "x-signature": "forged" } }));
    gateway.reconfigure({ ingress: [channelWith()] });
  }
  expect(gateway.log.lines.filter(({ level }) => level === "warn")).toHaveLength(1);
});

test("/webhook is what it was beside them", async () => {
  const harness = new Harness();
  const token = harness.device();
  const gateway = await harness.start({ ingress: [channelWith()] });
  expect((await post(gateway, token)).json.response).toBe("echo: hi");
});
