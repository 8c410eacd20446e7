// A page that is loaded again has lost its second secret, and asks for it by the cookie alone. Whatever is not that page must
// get nothing by it, and the cookie must open nothing else.
import { describe, expect, test } from "vitest";
import { sentCookie } from "../src/auth/page-sessions.ts";
import type { Harness } from "./harness.ts";
import { type Answer, call } from "./http.ts";
import { originOf, type SignedIn, signIn, started, status } from "./sign-in.ts";

const SAME_ORIGIN = { "sec-fetch-site": "same-origin" };
const ATTACKER = { "x-forwarded-for": "203.0.113.5" };

const resume = (to: Harness, cookie: string, headers: Readonly<Record<string, string>> = SAME_ORIGIN, method = "GET") =>
  call(to, { method, path: "/api/session", headers: { cookie: `svc_session=${cookie}`, ...headers } });
const resumed = (to: Harness, page: SignedIn): Promise<Answer> => resume(to, page.cookie);

describe("the cookie alone, sent by our own page", () => {
  test("returns the second secret, which opens what it opened before, and the cookie for as long again", async () => {
    const { gateway, tokens } = await started();
    const page = await signIn(gateway, tokens.operator);
    const answer = await resumed(gateway, page);
    expect(answer.json).toEqual(page.answer.json);
    expect(answer.headers["set-cookie"]).toEqual(page.answer.headers["set-cookie"]);
    expect(answer.headers["cache-control"]).toBe("no-store");
  });

  test("is known by the Origin or by Sec-Fetch-Site; where neither comes with a GET, by the Origin of a POST", async () => {
    const { gateway, tokens } = await started();
    const { cookie, csrf } = await signIn(gateway, tokens.operator);
    const origin = { origin: originOf(gateway) };
    for (const [headers, method] of [
      [SAME_ORIGIN, "GET"],
      [origin, "GET"],
      [{ ...origin, ...SAME_ORIGIN }, "GET"],
      [origin, "POST"],
    ] as const) {
      expect((await resume(gateway, cookie, headers, method)).json.csrf).toBe(csrf);
    }
    expect(gateway.pageSessions.rows).toHaveLength(1);
  });

  test("stays Secure where the page came by https, whether or not this request tells", async () => {
    const origin = "https://svc.example.org";
    const { gateway, tokens } = await started({ config: { public_url: origin } });
    const { cookie } = await signIn(gateway, tokens.operator, { origin });
    expect((await resume(gateway, cookie)).headers["set-cookie"]).toEqual([expect.stringMatching(/; Secure$/)]);
  });

  test("counts as a request: the sign-in lasts from then on, as many days as configured", async () => {
    const { gateway, tokens } = await started({ config: { page_session_days: 2 } });
    const page = await signIn(gateway, tokens.operator);
    expect(page.answer.headers["set-cookie"]).toEqual([expect.stringContaining("Max-Age=172800")]);
    for (let time = 0; time < 3; time += 1) {
      await gateway.clock.advance(2 * 86_400_000 - 1);
      expect((await resumed(gateway, page)).status).toBe(200);
    }
    await gateway.clock.advance(2 * 86_400_000);
    expect([(await resumed(gateway, page)).status, await status(gateway, page)]).toEqual([401, 401]);
  });
});

describe("the cookie alone, sent by anything else", () => {
  const others: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ["a program that took it and says nothing of itself", {}],
    ["another site", { "sec-fetch-site": "cross-site" }],
    ["another port or name of this host", { "sec-fetch-site": "same-site" }],
    ["the address bar, or a link in a mail", { "sec-fetch-site": "none" }],
    ["two answers in one header", { "sec-fetch-site": "cross-site, same-origin" }],
  ];

  test.each(others)("by %s: refused, and no secret", async (_who, headers) => {
    const { gateway, tokens } = await started();
    const { cookie, csrf } = await signIn(gateway, tokens.operator);
    const answer = await resume(gateway, cookie, headers);
    expect([401, 403]).toContain(answer.status);
    expect([answer.headers["set-cookie"], answer.text.includes(csrf)]).toEqual([undefined, false]);
  });

  test("by another origin, or for another name that leads here: 403, whatever Sec-Fetch-Site says", async () => {
    const { gateway, tokens } = await started();
    const { cookie } = await signIn(gateway, tokens.operator);
    for (const headers of [
      { origin: "https://evil.example" },
      { origin: "null" },
      { origin: originOf({ port: gateway.port + 1 }) },
      { host: "rebound.example" },
    ]) {
      for (const method of ["GET", "POST"]) {
        const answer = await resume(gateway, cookie, { ...SAME_ORIGIN, ...headers }, method);
        expect([answer.status, answer.headers["set-cookie"]]).toEqual([403, undefined]);
      }
    }
  });

  test("a POST without an Origin is refused, and so is one that is called same-site", async () => {
    const { gateway, tokens } = await started();
    const { cookie } = await signIn(gateway, tokens.operator);
    expect((await resume(gateway, cookie, SAME_ORIGIN, "POST")).json.code).toBe("BAD_ORIGIN");
    const sameSite = { origin: originOf(gateway), "sec-fetch-site": "same-site" };
    expect((await resume(gateway, cookie, sameSite, "POST")).json.code).toBe("BAD_ORIGIN");
  });

  test("it still opens no other route, also when our own page sends it", async () => {
    const { gateway, tokens } = await started();
    const { cookie } = await signIn(gateway, tokens.operator);
    const headers = { cookie: `svc_session=${cookie}`, origin: originOf(gateway), ...SAME_ORIGIN };
    for (const [method, path] of [
      ["GET", "/api/devices"],
      ["GET", "/api/events"],
      ["POST", "/api/pairing-codes"],
      ["DELETE", "/api/session"],
    ] as const) {
      expect((await call(gateway, { method, path, headers })).status).toBe(401);
    }
  });
});

test("a cookie that opens nothing is what a browser has left, and no guess: no client is locked out for it", async () => {
  const { gateway, tokens } = await started({ config: { trust_forwarded_headers: true } });
  const page = await signIn(gateway, tokens.operator);
  for (let count = 0; count < 20; count += 1) {
    const answer = await resume(gateway, "A".repeat(43), { ...SAME_ORIGIN, ...ATTACKER });
    // Nor is it cleared: by then another tab may have signed in.
    expect([answer.status, answer.headers["set-cookie"]]).toEqual([401, undefined]);
  }
  expect((await resume(gateway, page.cookie, { ...SAME_ORIGIN, ...ATTACKER })).status).toBe(200);
});

test("a client that is locked out learns nothing by the right cookie either", async () => {
  const { gateway, tokens } = await started({ config: { trust_forwarded_headers: true } });
  const page = await signIn(gateway, tokens.operator);
  for (let count = 0; count < 10; count += 1) {
    await call(gateway, { path: "/api/tools", headers: { authorization: "Bearer wrong", ...ATTACKER } });
  }
  expect((await resume(gateway, page.cookie, { ...SAME_ORIGIN, ...ATTACKER })).json.code).toBe("LOCKED_OUT");
});

test("two cookies: which of them is ours is not guessed", async () => {
  const { gateway, tokens } = await started();
  const page = await signIn(gateway, tokens.operator);
  const answer = await resume(gateway, `${page.cookie}; svc_session=${"A".repeat(43)}`);
  expect([answer.status, answer.json.error]).toEqual([401, expect.stringContaining("Two svc_session cookies")]);
  expect(sentCookie(`svc_session=${page.cookie}`)).toBe(page.cookie);
});

describe("operators see the sign-ins of each device", () => {
  const listed = async (gateway: Harness, { headers }: Pick<SignedIn, "headers">) =>
    (await call(gateway, { path: "/api/devices", headers })).json.devices as {
      id: string;
      sessions: { id: string; browser: string; current: boolean }[];
    }[];

  test("with browser, times and which one asks; nothing of it opens anything", async () => {
    const { gateway, tokens } = await started();
    const page = await signIn(gateway, tokens.operator, { "user-agent": "Mozilla/5.0 (X11; Linux) Firefox/140.0" });
    await gateway.clock.advance(1000);
    const phone = await signIn(gateway, tokens.operator, { "user-agent": "Mozilla/5.0 (iPhone) Safari/1" });
    const devices = await listed(gateway, page);
    expect(devices.find(({ id }) => id === "dev-operator")?.sessions).toMatchObject([
      { browser: "Firefox on Linux", current: true },
      { browser: "Safari on iOS", current: false },
    ]);
    expect(devices.find(({ id }) => id === "dev-read")?.sessions).toEqual([]);
    const text = JSON.stringify(devices);
    for (const secret of [page.cookie, page.csrf, phone.cookie]) expect(text).not.toContain(secret);
    for (const { idHash } of gateway.pageSessions.rows) expect(text).not.toContain(idHash);
  });

  test("and end one of them: at once, on disk, and no other", async () => {
    const { gateway, tokens } = await started();
    const [page, lost] = [await signIn(gateway, tokens.operator), await signIn(gateway, tokens.operator)];
    const sessions = (await listed(gateway, page)).find(({ id }) => id === "dev-operator")!.sessions;
    const id = sessions.find(({ current }) => !current)!.id;
    const end = (device: string, session: string, headers = page.headers) =>
      call(gateway, { method: "DELETE", path: `/api/devices/${device}/sessions/${session}`, headers });
    expect((await end("dev-read", id)).json.code).toBe("SESSION_UNKNOWN");
    const reader = await signIn(gateway, tokens.read);
    expect((await end("dev-operator", id, reader.headers)).json.code).toBe("FORBIDDEN_SCOPE");
    expect((await end("dev-operator", id)).json).toEqual({ id, ended: true });
    expect([await status(gateway, lost), await status(gateway, page)]).toEqual([401, 200]);
    expect((await resume(gateway, lost.cookie)).status).toBe(401);
    expect(gateway.pageSessions.rows).toHaveLength(2);
    expect((await end("dev-operator", id)).status).toBe(404);
    // Its own: the answer comes before the door is shut.
    const own = sessions.find(({ current }) => current)!.id;
    expect((await end("dev-operator", own)).status).toBe(200);
    expect(await status(gateway, page)).toBe(401);
  });
});

describe("an operator's page makes pairing codes", () => {
  const make = (gateway: Harness, { headers }: Pick<SignedIn, "headers">, body?: string) =>
    call(gateway, {
      method: "POST",
      path: "/api/pairing-codes",
      headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body }),
    });

  test("with the scope and the name of the device, for one use", async () => {
    const { gateway, tokens } = await started();
    const page = await signIn(gateway, tokens.operator);
    const { json } = await make(gateway, page, '{"scope":"read","name":"wall"}');
    expect(json).toMatchObject({ code: expect.stringMatching(/^\d{6}$/), link: null });
    const pair = () => call(gateway, { method: "POST", path: "/pair", headers: { "x-pairing-code": json.code } });
    expect([(await pair()).status, (await pair()).status]).toEqual([200, 403]);
    expect(gateway.devices.at(-1)).toMatchObject({ scope: "read", name: "wall" });
    expect(gateway.log.text()).not.toContain(json.code);
  });

  test("with a link to gateway.public_url, whose code is in the fragment", async () => {
    const { gateway, tokens } = await started({ config: { public_url: "https://svc.example.org/base/" } });
    const { json } = await make(gateway, await signIn(gateway, tokens.operator), "{}");
    expect(json.link).toBe(`https://svc.example.org/#pair=${json.code}`);
  });

  test("and no other client does", async () => {
    const { gateway, tokens } = await started();
    expect((await make(gateway, await signIn(gateway, tokens.read), "{}")).json.code).toBe("FORBIDDEN_SCOPE");
    const webhook = { headers: { authorization: `Bearer ${tokens.webhook}` } };
    expect((await make(gateway, webhook, "{}")).json.code).toBe("FORBIDDEN_SCOPE");
    const page = await signIn(gateway, tokens.operator);
    for (const body of ['{"scope":"root"}', '{"name":"\\u0000"}', "[]", "{"]) {
      expect((await make(gateway, page, body)).status).toBe(400);
    }
  });
});
