// A feature of kind auth signs a page in as a paired device: what the browser gets, whose session that is, and who can't.
import type { ClientId, Json, Route, RouteResult } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { FEATURE, Harness, route } from "./harness.ts";
import { type Answer, call } from "./http.ts";
import { originOf, signedIn, status } from "./sign-in.ts";

const PATH = "/api/door/finish";

interface Options {
  readonly result?: Partial<RouteResult>;
  readonly access?: Route["access"];
  readonly isAuth?: boolean;
  readonly publicUrl?: string;
}

async function started(who: string, { result, access = "open", isAuth = true, publicUrl }: Options = {}) {
  const harness = new Harness();
  const tokens = {
    operator: harness.device("operator"),
    read: harness.device("read"),
    webhook: harness.device("webhook"),
  };
  const answer: RouteResult = { status: 200, body: { verified: true }, signIn: `client-${who}` as ClientId, ...result };
  const gateway = await harness.start({
    routes: [{ ...route("POST", PATH, () => Promise.resolve(answer)), access }],
    authFeatures: isAuth ? new Set([FEATURE]) : new Set(["another"]),
    config: { public_url: publicUrl },
  });
  const ask = (headers: Readonly<Record<string, string>> = { origin: originOf(gateway) }): Promise<Answer> =>
    call(gateway, { method: "POST", path: PATH, headers });
  return { gateway, tokens, ask };
}

const told = ({ status: of, json, headers }: Answer) => [of, json?.code, headers["set-cookie"]];

describe("a page", () => {
  test("is signed in exactly as by POST /api/session, with the feature's body around it", async () => {
    const { gateway, ask } = await started("operator");
    const { answer, cookie, csrf } = signedIn(await ask());
    expect(answer.json).toEqual({
      verified: true,
      csrf,
      device: { id: "dev-operator", name: "operator", scope: "operator" },
    });
    expect(answer.headers["set-cookie"]).toEqual([
      `svc_session=${cookie}; HttpOnly; SameSite=Strict; Path=/; Max-Age=7776000`,
    ]);
    expect(answer.headers["cache-control"]).toBe("no-store");
    expect(gateway.pageSessions.rows).toMatchObject([{ deviceId: "dev-operator" }]);
    const kept = JSON.stringify(gateway.pageSessions.rows) + gateway.log.text();
    expect([kept.includes(cookie), kept.includes(csrf)]).toEqual([false, false]);
  });

  test("over https has a Secure cookie", async () => {
    const { ask } = await started("operator", { publicUrl: "https://svc.example.org" });
    const answer = await ask({ origin: "https://svc.example.org", host: "svc.example.org" });
    expect(answer.headers["set-cookie"]).toEqual([expect.stringMatching(/; Secure$/)]);
  });

  test("has the rights, the name and the ClientId of the device, and no more", async () => {
    const seen: unknown[] = [];
    const { gateway, ask } = await started("read");
    const page = signedIn(await ask());
    expect([await status(gateway, page), await status(gateway, page, "/api/devices")]).toEqual([200, 403]);
    gateway.reconfigure({
      routes: [
        route("GET", "/api/who", ({ caller }) => {
          seen.push(caller);
          return Promise.resolve({ status: 200, body: null });
        }),
      ],
    });
    await call(gateway, { path: "/api/who", headers: page.headers });
    expect(seen).toEqual([{ kind: "device", clientId: "client-read", proof: "page" }]);
  });

  test("can't say otherwise in the body: csrf and device are the gateway's", async () => {
    const { ask } = await started("read", { result: { body: { csrf: "mine", device: "mine", user_id: "u" } } });
    const { answer, csrf } = signedIn(await ask());
    expect(answer.json).toEqual({ csrf, device: { id: "dev-read", name: "read", scope: "read" }, user_id: "u" });
    expect(csrf).not.toBe("mine");
  });

  test("is shut out when the device is revoked, and signs in no more", async () => {
    const { gateway, ask } = await started("operator");
    const page = signedIn(await ask());
    await gateway.gateway.devices.revoke("dev-operator");
    expect(await status(gateway, page)).toBe(401);
    expect(told(await ask())).toEqual([401, "UNAUTHORIZED", undefined]);
  });

  test("is signed out by DELETE /api/session like any other", async () => {
    const { gateway, ask } = await started("operator");
    const page = signedIn(await ask());
    await call(gateway, { method: "DELETE", path: "/api/session", headers: page.headers });
    expect(await status(gateway, page)).toBe(401);
  });
});

describe("nobody is signed in", () => {
  test("as a device that is not there, or is being revoked", async () => {
    const { ask } = await started("nobody");
    expect(told(await ask())).toEqual([401, "UNAUTHORIZED", undefined]);
    const leaving = await started("operator");
    const slow = Promise.withResolvers<void>();
    leaving.gateway.slowRemove = slow.promise;
    const revoked = leaving.gateway.gateway.devices.revoke("dev-operator");
    expect(told(await leaving.ask())).toEqual([401, "UNAUTHORIZED", undefined]);
    slow.resolve();
    await revoked;
    expect(leaving.gateway.pageSessions.rows).toEqual([]);
  });

  test("as a program", async () => {
    const { gateway, ask } = await started("webhook");
    expect(told(await ask())).toEqual([403, "FORBIDDEN_SCOPE", undefined]);
    expect(gateway.pageSessions.rows).toEqual([]);
  });

  test("without a page of ours that asks", async () => {
    const { gateway, ask } = await started("operator");
    expect(told(await ask({}))).toEqual([403, "BAD_ORIGIN", undefined]);
    expect(told(await ask({ origin: originOf(gateway), "sec-fetch-site": "same-site" }))).toEqual([
      403,
      "BAD_ORIGIN",
      undefined,
    ]);
    expect(gateway.pageSessions.rows).toEqual([]);
  });

  test("by a feature of another kind: that is a defect of the build, logged and told to nobody", async () => {
    const { gateway, ask } = await started("operator", { isAuth: false });
    expect(told(await ask())).toEqual([500, "INTERNAL", undefined]);
    expect(gateway.log.text()).toContain(`feature ${FEATURE} is not of kind auth`);
    expect(gateway.pageSessions.rows).toEqual([]);
  });

  test.each<[Json]>([[null], [[]], ["text"], [1]])("with the body %j, which has no room for it", async (body) => {
    const { gateway, ask } = await started("operator", { result: { body } });
    expect(told(await ask())).toEqual([500, "INTERNAL", undefined]);
    expect(gateway.pageSessions.rows).toEqual([]);
  });

  test("where it can't be stored", async () => {
    const { gateway, ask } = await started("operator");
    gateway.pageSessions.fails = new Error("no room");
    expect(told(await ask())).toEqual([500, "INTERNAL", undefined]);
  });
});

describe("GET /api/session/ways", () => {
  const waysOf = async (to: Harness) => (await call(to, { path: "/api/session/ways" })).json;

  test("tells everybody by what a page is signed in, as long as that works", async () => {
    const { gateway } = await started("operator");
    expect(await waysOf(gateway)).toEqual({ features: [FEATURE] });
    gateway.failed.add(FEATURE);
    expect(await waysOf(gateway)).toEqual({ features: [] });
    gateway.failed.clear();
    gateway.reconfigure({ routes: [] });
    expect(await waysOf(gateway)).toEqual({ features: [] });
  });

  test("knows features of kind auth alone, and of those who are open", async () => {
    const other = await started("operator", { isAuth: false });
    const closed = await started("operator", { access: "read" });
    for (const { gateway } of [other, closed]) expect(await waysOf(gateway)).toEqual({ features: [] });
  });
});

test("a route that is not open signs in, too: whoever it takes", async () => {
  const { gateway, tokens, ask } = await started("read", { access: "operate" });
  expect((await ask()).status).toBe(401);
  const page = signedIn(await ask({ origin: originOf(gateway), authorization: `Bearer ${tokens.operator}` }));
  expect(page.answer.json.device.id).toBe("dev-read");
});
