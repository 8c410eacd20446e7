// Signing in to the page: what a browser is handed, what of it opens anything, and what it is called.
import { hash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Harness } from "./harness.ts";
import { call } from "./http.ts";
import { askSignIn, originOf, signedIn, signIn, started, status } from "./sign-in.ts";

const codeOf = ({ gateway }: Harness, scope: "operator" | "webhook" | "read" = "operator", name?: string) =>
  gateway.pairing.issueCode({ scope, name }).code;

describe("with a token", () => {
  test("a page is told who it is; the browser gets a cookie that no script and no other site can use", async () => {
    const { gateway, tokens } = await started();
    const { answer, cookie, csrf } = await signIn(gateway, tokens.operator);
    expect(answer.json).toEqual({ csrf, device: { id: "dev-operator", name: "operator", scope: "operator" } });
    expect(answer.headers["set-cookie"]).toEqual([
      `svc_session=${cookie}; HttpOnly; SameSite=Strict; Path=/; Max-Age=7776000`,
    ]);
    expect(answer.headers["cache-control"]).toBe("no-store");
    for (const secret of [cookie, csrf]) expect(Buffer.from(secret, "base64url")).toHaveLength(32);
  });

  test("only hashes are kept, and nothing is logged", async () => {
    const { gateway, tokens } = await started();
    const { cookie, csrf } = await signIn(gateway, tokens.operator);
    const row = {
      idHash: hash("sha256", cookie, "hex"),
      deviceId: "dev-operator",
      browser: "Browser",
      isSecure: false,
    };
    expect(gateway.pageSessions.rows).toMatchObject([row]);
    const kept = JSON.stringify(gateway.pageSessions.rows) + gateway.log.text();
    expect([kept.includes(cookie), kept.includes(csrf)]).toEqual([false, false]);
  });

  test("the cookie is Secure where the page came by https", async () => {
    const { gateway, tokens } = await started({ config: { public_url: "https://svc.example.org" } });
    const { answer } = await signIn(gateway, tokens.operator, { origin: "https://svc.example.org" });
    expect(answer.headers["set-cookie"]).toEqual([expect.stringMatching(/; Secure$/)]);
  });

  test("the page may what its token may", async () => {
    const { gateway, tokens } = await started();
    const reader = await signIn(gateway, tokens.read);
    expect([await status(gateway, reader), await status(gateway, reader, "/api/devices")]).toEqual([200, 403]);
    const refused = await askSignIn(gateway, { authorization: `Bearer ${tokens.webhook}` });
    expect([refused.status, refused.json.code, refused.headers["set-cookie"]]).toEqual([
      403,
      "FORBIDDEN_SCOPE",
      undefined,
    ]);
  });

  test("it is its device: /health tells it all, a new name is its name, and it is marked in the list", async () => {
    const { gateway, tokens } = await started();
    const page = await signIn(gateway, tokens.operator);
    await gateway.gateway.devices.rename("dev-operator", "editor");
    const ask = async (path: string) => (await call(gateway, { path, headers: page.headers })).json;
    expect(await ask("/api/session")).toEqual({ device: { id: "dev-operator", name: "editor", scope: "operator" } });
    expect(await ask("/health")).toMatchObject({ units: [] });
    expect((await ask("/api/devices")).devices.filter((one: { current: boolean }) => one.current)).toMatchObject([
      { id: "dev-operator" },
    ]);
  });

  test("it opens no path that programs call", async () => {
    const { gateway, tokens } = await started();
    const { headers } = await signIn(gateway, tokens.operator);
    const json = { "content-type": "application/json" };
    const body = '{"message":"hi"}';
    const posted = await call(gateway, { method: "POST", path: "/webhook", headers: { ...headers, ...json }, body });
    expect([posted.status, gateway.turns.length]).toEqual([401, 0]);
  });
});

describe("with a pairing code", () => {
  test("the browser becomes a device, called after itself", async () => {
    const { gateway } = await started();
    const userAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
    const page = signedIn(await askSignIn(gateway, { "x-pairing-code": codeOf(gateway), "user-agent": userAgent }));
    expect(page.answer.json.device).toMatchObject({ name: "Firefox on Linux", scope: "operator" });
    expect([await status(gateway, page), gateway.devices.length]).toEqual([200, 4]);
  });

  test("its owner's word goes before that, and the operator's before both", async () => {
    const { gateway } = await started();
    const named = async (name?: string) => {
      const code = { "x-pairing-code": codeOf(gateway, "read", name) };
      return (await askSignIn(gateway, code, '{"device_name":"kitchen"}')).json.device.name;
    };
    expect([await named(), await named("wall")]).toEqual(["kitchen", "wall"]);
  });

  test("a code for programs signs nobody in, and is still good for a program", async () => {
    const { gateway } = await started();
    const code = { "x-pairing-code": codeOf(gateway, "webhook") };
    const refused = await askSignIn(gateway, code);
    expect([refused.status, refused.json.code, gateway.devices.length]).toEqual([403, "FORBIDDEN_SCOPE", 3]);
    expect((await call(gateway, { method: "POST", path: "/pair", headers: code })).status).toBe(200);
  });

  test("a sign-in that can't be stored leaves no device behind that nobody has a token of", async () => {
    const { gateway } = await started();
    gateway.pageSessions.fails = new Error("no room");
    const failed = await askSignIn(gateway, { "x-pairing-code": codeOf(gateway) });
    expect([failed.status, failed.headers["set-cookie"], gateway.devices.length]).toEqual([500, undefined, 3]);
  });

  test.each(["{", "[]", '{"device_name":" "}'])("the body %s is refused, and the code stays good", async (body) => {
    const { gateway } = await started();
    const code = { "x-pairing-code": codeOf(gateway) };
    expect((await askSignIn(gateway, code, body)).status).toBe(400);
    expect((await askSignIn(gateway, code)).status).toBe(200);
  });
});

test("the origin of another port is no page of ours", async () => {
  const { gateway, tokens } = await started();
  const elsewhere = { authorization: `Bearer ${tokens.operator}`, origin: originOf({ port: gateway.port + 1 }) };
  expect((await askSignIn(gateway, elsewhere)).json.code).toBe("BAD_ORIGIN");
});
