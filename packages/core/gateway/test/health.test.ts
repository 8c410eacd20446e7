// /health is asked by strangers and by probes: what is wrong inside is told to nobody who may not read, and no bearer, right
// or wrong, makes a service look as if it were down.
import { expect, test } from "vitest";
import { Harness } from "./harness.ts";
import { call } from "./http.ts";

const PUBLIC = { status: "degraded", instance: "boot-1" };
const WRONG = `Bearer svc_${"0".repeat(64)}`;

async function started() {
  const harness = new Harness();
  const as = (scope: "operator" | "webhook" | "read") => `Bearer ${harness.device(scope)}`;
  const bearers = { operator: as("operator"), webhook: as("webhook"), read: as("read") };
  const gateway = await harness.start({ config: { trust_forwarded_headers: true } });
  gateway.health = {
    degraded: true,
    units: [
      { id: "database", state: "running" },
      { id: "channel-chat", state: "waiting", reason: "no route" },
    ],
    unsigned: ["webhook"],
  };
  const ask = async (authorization?: string, headers = {}) =>
    (await call(gateway, { path: "/health", headers: { ...headers, ...(authorization && { authorization }) } })).json;
  return { gateway, bearers, ask };
}

test("says to everybody whether it is well and which start this is, and nothing about why", async () => {
  const { gateway, ask } = await started();
  expect(await ask()).toEqual(PUBLIC);
  gateway.health = { ...gateway.health, degraded: false };
  expect(await ask()).toEqual({ ...PUBLIC, status: "ok" });
  expect((await call(gateway, { path: "/health?x=1", headers: { host: "anything.example" } })).status).toBe(200);
});

test.each(["operator", "read"] as const)("says why to a token of scope %s", async (scope) => {
  const { bearers, ask } = await started();
  expect(await ask(bearers[scope])).toEqual({
    ...PUBLIC,
    units: [
      { id: "database", state: "running", reason: null },
      { id: "channel-chat", state: "waiting", reason: "no route" },
    ],
    unsigned: ["webhook"],
  });
});

test("says no more to a token that may not read, to a wrong one, and to one of another scheme", async () => {
  const { bearers, ask } = await started();
  for (const bearer of [bearers.webhook, WRONG, "Basic eDp5", ""]) expect(await ask(bearer)).toEqual(PUBLIC);
});

test("is no place to guess tokens: wrong ones count, and who is locked out learns nothing with the right one", async () => {
  const { gateway, bearers, ask } = await started();
  const from = { "x-forwarded-for": "203.0.113.5" };
  for (let count = 0; count < 10; count += 1) expect(await ask(WRONG, from)).toEqual(PUBLIC);
  expect(await ask(bearers.operator, from)).toEqual(PUBLIC);
  const headers = { authorization: bearers.operator, ...from };
  expect((await call(gateway, { path: "/api/status", headers })).json.code).toBe("LOCKED_OUT");
  expect(Object.keys(await ask(bearers.operator))).toContain("units");
});

test("is 503 for everybody while the service stops", async () => {
  const { gateway, bearers, ask } = await started();
  gateway.gateway.drain();
  expect([(await ask()).code, (await ask(bearers.operator)).code]).toEqual(["DRAINING", "DRAINING"]);
});

test("goes on after what it asks has failed", async () => {
  const { gateway, ask } = await started();
  gateway.broken = new Error("password=hunter2");
  expect(await ask()).toEqual({ error: expect.any(String), code: "INTERNAL" });
  gateway.broken = undefined;
  expect(await ask()).toEqual(PUBLIC);
});
