// A page's sign-in in the hands of others: a site the browser also visits, a server on another port, a guesser, a thief of one half.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sentCookie } from "../src/auth/page-sessions.ts";
import { Harness } from "./harness.ts";
import { call, raw, statusOf } from "./http.ts";
import { askSignIn, originOf, signedIn, type SignedIn, signIn } from "./sign-in.ts";

const OTHER = "A".repeat(43);
const ATTACKER = { "x-forwarded-for": "203.0.113.5" };

async function started() {
  const harness = new Harness();
  const tokens = { operator: harness.device("operator"), lost: harness.device("operator", "lost") };
  const gateway = await harness.start({ config: { trust_forwarded_headers: true } });
  return { gateway, tokens, page: await signIn(gateway, tokens.operator) };
}

const ask = (to: Harness, headers: Readonly<Record<string, string>>, path = "/api/devices") =>
  call(to, { path, headers });

describe("half of it", () => {
  const halves: readonly (readonly [string, (page: SignedIn) => Record<string, string>])[] = [
    ["the cookie alone", ({ cookie }) => ({ cookie: `svc_session=${cookie}` })],
    ["the other secret alone", ({ csrf }) => ({ "x-svc-csrf": csrf })],
    ["an empty other secret", ({ cookie }) => ({ cookie: `svc_session=${cookie}`, "x-svc-csrf": "" })],
    ["an empty cookie", ({ csrf }) => ({ cookie: "svc_session=", "x-svc-csrf": csrf })],
    ["the cookie twice", ({ cookie }) => ({ cookie: `svc_session=${cookie}`, "x-svc-csrf": cookie })],
    [
      "the other secret with a sign outside ASCII",
      ({ headers, csrf }) => ({ ...headers, "x-svc-csrf": `${csrf.slice(1)}\u00fb` }),
    ],
    ["the hash of it", ({ headers, csrf }) => ({ ...headers, "x-svc-csrf": `${csrf}=` })],
    [
      "the cookie by another name",
      ({ cookie, csrf }) => ({ cookie: `SVC_SESSION=${cookie}; svc_session_=x`, "x-svc-csrf": csrf }),
    ],
  ];

  test.each(halves)("%s opens nothing", async (_name, of) => {
    const { gateway, page } = await started();
    for (const path of ["/api/devices", "/api/session", "/api/config"]) {
      expect((await ask(gateway, of(page), path)).status).toBe(401);
    }
    expect(Object.keys((await ask(gateway, of(page), "/health")).json)).toEqual(["status", "instance"]);
    const left = await call(gateway, { method: "DELETE", path: "/api/session", headers: of(page) });
    expect([left.status, (await ask(gateway, page.headers)).status]).toEqual([401, 200]);
  });

  test("neither fits the other half of another sign-in, of the same device or of another", async () => {
    const { gateway, tokens, page } = await started();
    for (const other of [await signIn(gateway, tokens.operator), await signIn(gateway, tokens.lost)]) {
      expect((await ask(gateway, { ...page.headers, "x-svc-csrf": other.csrf })).status).toBe(401);
      expect((await ask(gateway, { ...other.headers, "x-svc-csrf": page.csrf })).status).toBe(401);
    }
  });
});

describe("a planted cookie", () => {
  test("beside ours: which of the two is right is not guessed, and no client is locked out for it", async () => {
    const { gateway, page } = await started();
    for (const cookie of [
      `svc_session=${OTHER}; svc_session=${page.cookie}`,
      `svc_session=${page.cookie}; svc_session=${OTHER}`,
      `svc_session=${page.cookie}; svc_session=${page.cookie}`,
      `a=b; svc_session=${page.cookie};svc_session`,
    ]) {
      for (let count = 0; count < 5; count += 1) {
        const answer = await ask(gateway, { cookie, "x-svc-csrf": page.csrf, ...ATTACKER });
        expect([answer.status, answer.json.error]).toEqual([401, expect.stringContaining("Two svc_session cookies")]);
      }
    }
    expect((await ask(gateway, { ...page.headers, ...ATTACKER })).status).toBe(200);
  });

  test("in a second header is beside ours, too", async () => {
    const { gateway, page } = await started();
    const lines = [`Cookie: svc_session=${OTHER}`, `Cookie: svc_session=${page.cookie}`, `X-Svc-Csrf: ${page.csrf}`];
    const request = `GET /api/devices HTTP/1.1\r\nHost: localhost\r\n${lines.join("\r\n")}\r\nConnection: close\r\n\r\n`;
    expect(statusOf(await raw(gateway, request))).toBe(401);
  });

  test("before the sign-in is never adopted, and does not stand in its way", async () => {
    const { gateway, tokens } = await started();
    for (const cookie of [`svc_session=${OTHER}`, `svc_session=${OTHER}; svc_session=x`]) {
      const fixed = await signIn(gateway, tokens.operator, { cookie });
      expect(fixed.cookie).not.toBe(OTHER);
      expect((await ask(gateway, { ...fixed.headers, cookie: `svc_session=${OTHER}` })).status).toBe(401);
    }
  });

  test("of another site among ours changes nothing", async () => {
    const { gateway, page } = await started();
    const cookie = `theme=dark; svc_session=${page.cookie}; x_svc_session=${OTHER}; other="svc_session=${OTHER}"`;
    expect((await ask(gateway, { ...page.headers, cookie })).status).toBe(200);
  });

  test("as large as headers may be is read and refused, and larger is not read", async () => {
    const { gateway, page } = await started();
    const many = "svc_session;".repeat(1200);
    expect((await ask(gateway, { ...page.headers, cookie: many })).status).toBe(401);
    const request = `GET /api/devices HTTP/1.1\r\nHost: localhost\r\nCookie: ${many + many}\r\n\r\n`;
    expect(statusOf(await raw(gateway, request))).toBe(431);
  });
});

describe("another site", () => {
  const foreign = ["https://evil.example", "null", "http://localhost", "http://localhost.evil.example"];

  test.each(foreign)("can't sign in, not with a token and not with a code: %s", async (origin) => {
    const { gateway, tokens } = await started();
    const code = gateway.gateway.pairing.issueCode({ scope: "operator" }).code;
    for (const proof of [{ authorization: `Bearer ${tokens.operator}` }, { "x-pairing-code": code }]) {
      const answer = await askSignIn(gateway, { ...proof, origin });
      expect([answer.status, answer.json.code, answer.headers["set-cookie"]]).toEqual([403, "BAD_ORIGIN", undefined]);
    }
    expect((await askSignIn(gateway, { "x-pairing-code": code })).status).toBe(200);
  });

  test("is not let in by being no site at all, or by what the browser calls cross-site", async () => {
    const { gateway, tokens } = await started();
    const headers = { authorization: `Bearer ${tokens.operator}` };
    const without = await call(gateway, { method: "POST", path: "/api/session", headers });
    expect([without.status, without.json.code]).toEqual([403, "BAD_ORIGIN"]);
    for (const site of ["cross-site", "same-site", "none"]) {
      expect((await askSignIn(gateway, { ...headers, "sec-fetch-site": site })).status).toBe(403);
    }
    expect((await askSignIn(gateway, { ...headers, "sec-fetch-site": "same-origin" })).status).toBe(200);
  });

  test("can't use the sign-in of somebody who visits it", async () => {
    const { gateway, page } = await started();
    const answer = await ask(gateway, { ...page.headers, origin: "https://evil.example" });
    expect([answer.status, answer.json.code]).toEqual([403, "BAD_ORIGIN"]);
    const preflight = await call(gateway, {
      method: "OPTIONS",
      path: "/api/session",
      headers: { origin: originOf(gateway), "access-control-request-headers": "x-svc-csrf" },
    });
    expect(Object.keys(preflight.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  });
});

describe("guessing", () => {
  test("ten wrong secrets in a minute lock out that client, for the right ones too, and nobody else", async () => {
    const { gateway, tokens, page } = await started();
    for (let count = 0; count < 5; count += 1) {
      await ask(gateway, { ...page.headers, "x-svc-csrf": OTHER, ...ATTACKER });
      await ask(gateway, { ...page.headers, cookie: `svc_session=${OTHER}`, ...ATTACKER });
    }
    const locked = await ask(gateway, { ...page.headers, ...ATTACKER });
    expect([locked.status, locked.json.code]).toEqual([429, "LOCKED_OUT"]);
    expect((await askSignIn(gateway, { authorization: `Bearer ${tokens.operator}`, ...ATTACKER })).status).toBe(429);
    expect((await ask(gateway, page.headers)).status).toBe(200);
    expect((await ask(gateway, { ...page.headers, "x-forwarded-for": "203.0.113.6" })).status).toBe(200);
    await gateway.clock.advance(300_000);
    expect((await ask(gateway, { ...page.headers, ...ATTACKER })).status).toBe(200);
  });

  test("a page that was signed out and does not know it yet guesses nothing, nor does a cookie alone", async () => {
    const { gateway, tokens, page } = await started();
    const other = await signIn(gateway, tokens.operator);
    await call(gateway, { method: "DELETE", path: "/api/session", headers: page.headers });
    for (let count = 0; count < 20; count += 1) {
      expect((await ask(gateway, { ...page.headers, ...ATTACKER })).json.error).toBe("The page was signed out.");
      await ask(gateway, { cookie: `svc_session=${OTHER}`, ...ATTACKER });
      await ask(gateway, { "x-svc-csrf": OTHER, ...ATTACKER });
    }
    expect((await ask(gateway, { ...other.headers, ...ATTACKER })).status).toBe(200);
  });

  test("wrong codes count together with those of /pair: five lock out, thirty burn, ten requests a minute", async () => {
    const { gateway } = await started();
    const { code } = gateway.gateway.pairing.issueCode({ scope: "operator" });
    const wrong = { "x-pairing-code": code === "000000" ? "000001" : "000000" };
    const pair = (headers: Record<string, string>) => call(gateway, { method: "POST", path: "/pair", headers });
    for (let count = 0; count < 2; count += 1) {
      expect((await askSignIn(gateway, { ...wrong, ...ATTACKER })).json.code).toBe("BAD_PAIRING_CODE");
      await pair({ ...wrong, ...ATTACKER });
    }
    await askSignIn(gateway, { ...wrong, ...ATTACKER });
    for (const answer of [
      await pair({ "x-pairing-code": code, ...ATTACKER }),
      await askSignIn(gateway, { "x-pairing-code": code, ...ATTACKER }),
    ]) {
      expect([answer.status, answer.json.code]).toEqual([429, "LOCKED_OUT"]);
    }
    for (let count = 5; count < 30; count += 1) {
      const from = { "x-forwarded-for": `203.0.113.${100 + Math.floor(count / 4)}` };
      await askSignIn(gateway, { ...wrong, ...from });
    }
    expect((await askSignIn(gateway, { "x-pairing-code": code })).json.code).toBe("BAD_PAIRING_CODE");
    const busy = { "x-pairing-code": "", "x-forwarded-for": "203.0.113.9" };
    for (let count = 0; count < 5; count += 1) await Promise.all([pair({ ...busy }), askSignIn(gateway, busy, "{")]);
    expect((await askSignIn(gateway, busy)).json.code).toBe("RATE_LIMITED");
  });

  test("one code at the same instant here and there makes one device", async () => {
    const { gateway } = await started();
    const code = { "x-pairing-code": gateway.gateway.pairing.issueCode({ scope: "operator" }).code };
    const pair = () => call(gateway, { method: "POST", path: "/pair", headers: code });
    const answers = await Promise.all([askSignIn(gateway, code), pair(), askSignIn(gateway, code), pair()]);
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([200, 403, 403, 403]);
    expect(gateway.devices).toHaveLength(3);
  });
});

test("requests by the hundred while the page signs out: each is answered 200 or 401, and none after it with 200", async () => {
  const { gateway, page } = await started();
  const answers = Array.from({ length: 100 }, (_, index) => {
    const answer = ask(gateway, page.headers);
    if (index === 50) void call(gateway, { method: "DELETE", path: "/api/session", headers: page.headers });
    return answer;
  });
  const statuses = (await Promise.all(answers)).map((answer) => answer.status);
  expect(statuses.filter((one) => one !== 200 && one !== 401)).toEqual([]);
  expect((await ask(gateway, page.headers)).status).toBe(401);
});

test("a token goes before a sign-in, and a wrong one is not fixed by it", async () => {
  const { gateway, tokens, page } = await started();
  const lost = signedIn(await askSignIn(gateway, { authorization: `Bearer ${tokens.lost}` }));
  const as = async (authorization: string) =>
    (await ask(gateway, { ...lost.headers, authorization }, "/api/session")).json.device?.id;
  expect(await as(`Bearer ${tokens.operator}`)).toBe("dev-operator");
  expect(await as("Bearer nobody")).toBeUndefined();
  expect((await ask(gateway, page.headers)).status).toBe(200);
});

test("whatever the header: only one cookie of ours is ever taken, as it was sent", () => {
  const value = fc.stringMatching(/^[A-Za-z0-9_-]{1,50}$/);
  const others = fc.array(
    fc.string().filter((text) => !text.includes("svc_session") && !text.includes(";")),
    { maxLength: 5 },
  );
  fc.assert(
    fc.property(value, others, others, (sent, before, after) => {
      const ours = `svc_session=${sent}`;
      expect(sentCookie([...before, ours, ...after].join("; "))).toBe(sent);
      expect(sentCookie([ours, ...before, ours, ...after].join(";"))).toBe("several");
      expect(sentCookie([...before, ...after].join("; "))).toBeUndefined();
    }),
  );
  fc.assert(fc.property(fc.string(), (text) => void sentCookie(text)));
});
