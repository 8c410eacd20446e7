// Who may push: our secret, or a token that Pub/Sub signed for exactly our account and audience, and no one else; keys that
// change, and keys that someone made up.
import type { Json } from "@svc/contract";
import { mailpushDelivery } from "@svc/testkit/platforms/mailpush/push";
import { vectorCases } from "@svc/testkit/vectors";
import { afterEach, expect, test } from "vitest";
import { closePlatforms, NOW_MS, open, requestOf, SECRET, started, startPlatform, urlsOf } from "./open-channel.ts";

afterEach(closePlatforms);

const told = { id: "push-1", emailAddress: "a@b.example", historyId: "1", atMs: NOW_MS };
const withHeader = (authorization: string | undefined) => ({
  ...requestOf(mailpushDelivery(told, undefined)),
  headers: authorization === undefined ? {} : { authorization },
});

interface Http {
  readonly enabled: boolean;
  readonly webhook_secret?: string;
  readonly authorization: string | null;
}

test.each(vectorCases<Http, { status: number }>("mailpush.http").filter(({ input }) => input.enabled))(
  "$name",
  ({ input, expected }) => {
    const { ingress } = open({ webhook_secret: input.webhook_secret });
    const request = withHeader(input.authorization ?? undefined);
    const verdict = ingress.verify(request);
    expect(verdict.ok ? 200 : verdict.code).toBe(expected.status === 401 ? "UNAUTHORIZED" : expected.status);
    expect(ingress.signed).toBe(expected.status === 401);
    expect(ingress.parse(request).notices).toHaveLength(1);
  },
);

test("the secret as a bearer, in any case of the word, and nothing that looks like it", () => {
  const { ingress } = open();
  const isTaken = (header: string | undefined) => ingress.verify(withHeader(header)).ok;
  expect([`Bearer ${SECRET}`, `bearer  ${SECRET}`, `BEARER ${SECRET} `].every(isTaken)).toBe(true);
  const wrong = [
    undefined,
    "",
    "Bearer",
    "Bearer ",
    SECRET,
    `Basic ${SECRET}`,
    `Bearer ${SECRET}x`,
    `Bearer ${SECRET.slice(1)}`,
  ];
  expect([...wrong, `Bearer ${SECRET.toUpperCase()}`, `Bearer ${SECRET} ${SECRET}`].some(isTaken)).toBe(false);
});

const AUDIENCE = "https://svc.example.org/webhook/mailpush";
const ACCOUNT = "push@my-project.iam.gserviceaccount.com";
const signedConfig = { push_audience: AUDIENCE, push_service_account: ACCOUNT, webhook_secret: undefined };
const CLAIMS = {
  iss: "https://accounts.google.com",
  aud: AUDIENCE,
  email: ACCOUNT,
  email_verified: true,
  sub: "113774264463038321964",
  azp: "113774264463038321964",
  iat: NOW_MS / 1000 - 10,
  exp: NOW_MS / 1000 + 3590,
};

/** A channel that has run long enough to have the keys. */
async function withKeys(changes: Record<string, unknown> = {}) {
  const platform = await startPlatform();
  const opened = open({ ...urlsOf(platform), ...signedConfig, ...changes });
  void started(opened);
  await platform.arrived(0);
  // The loop has the keys once it asks for something else.
  await platform.arrived(1);
  const verify = (token: string) => opened.ingress.verify(withHeader(`Bearer ${token}`));
  return { ...opened, platform, verify };
}

test("a token that Pub/Sub signed for our account and audience is taken; the secret too, where there is one", async () => {
  const { verify, platform, ingress } = await withKeys({ webhook_secret: SECRET });
  expect(ingress.signed).toBe(true);
  expect(verify(platform.signer.token(CLAIMS))).toEqual({ ok: true });
  expect(verify(SECRET)).toEqual({ ok: true });
  expect(verify(platform.signer.token({ ...CLAIMS, iss: "accounts.google.com" }))).toEqual({ ok: true });
  const { iss, aud, email, exp } = CLAIMS;
  expect(verify(platform.signer.token({ iss, aud, email, exp }))).toEqual({ ok: true });
});

test("a claim that is missing, another or of another type is refused; why tells no value", async () => {
  const { verify, platform } = await withKeys();
  const { token } = platform.signer;
  const changes: Record<string, Json>[] = [
    { iss: "https://accounts.example.com" },
    { aud: "https://other.example" },
    { aud: [AUDIENCE] },
    { email: "other@my-project.iam.gserviceaccount.com" },
    { email_verified: false },
    { email_verified: "true" },
    { exp: NOW_MS / 1000 - 61 },
    { exp: String(CLAIMS.exp) },
    { iat: NOW_MS / 1000 + 61 },
  ];
  for (const change of changes) {
    const verdict = verify(token({ ...CLAIMS, ...change }));
    expect(verdict).toMatchObject({ ok: false, code: "UNAUTHORIZED" });
    const texts = Object.values(change).filter((value) => typeof value === "string");
    expect(texts.filter((text) => JSON.stringify(verdict).includes(text))).toEqual([]);
  }
  for (const missing of Object.keys(CLAIMS).filter((name) => ["iss", "aud", "email", "exp"].includes(name))) {
    const rest = Object.fromEntries(Object.entries(CLAIMS).filter(([name]) => name !== missing));
    expect(verify(token(rest))).toMatchObject({ code: "UNAUTHORIZED" });
  }
});

test("a token may not choose how it is checked, and none of its bytes may be changed", async () => {
  const { verify, platform } = await withKeys();
  const { token } = platform.signer;
  const genuine = token(CLAIMS);
  const [head = "", payload = "", signature = ""] = genuine.split(".");
  const part = (json: Json) => Buffer.from(JSON.stringify(json)).toString("base64url");
  const forged = part({ ...CLAIMS, email: "evil@example.org" });
  for (const text of [
    `${part({ alg: "none", kid: "key-0" })}.${payload}.`,
    `${part({ alg: "none", kid: "key-0" })}.${payload}.x`,
    `${head}.${forged}.${signature}`,
    `${head}.${payload}.${signature.slice(0, -4)}AAAA`,
    `${head}.${payload}`,
    `${head}.${payload}.${signature}.${signature}`,
    `${head}.${payload}.`,
    `${head}.${payload}.!!!!`,
    token(CLAIMS, { alg: "HS256" }),
    token(CLAIMS, { alg: "RS512" }),
    token(CLAIMS, { kid: "" }),
    "..",
    "a.b.c",
    "x".repeat(100_000),
  ]) {
    expect(verify(text)).toMatchObject({ ok: false, code: "UNAUTHORIZED" });
  }
  expect(verify(genuine)).toEqual({ ok: true });
});

test("a key that is not known makes Pub/Sub come again and the keys be fetched; once they have come, it is refused", async () => {
  const { verify, platform, context } = await withKeys();
  await context.clock.advance(120_000);
  platform.signer.rotate(true);
  const asked = () => platform.requests.filter(({ path }) => path === "/certs").length;
  expect(asked()).toBe(1);
  const token = platform.signer.token({ ...CLAIMS, exp: CLAIMS.exp + 1000 });
  expect(verify(token)).toMatchObject({ ok: false, code: "CHANNEL_DOWN" });
  await expect.poll(asked).toBe(2);
  await expect.poll(() => verify(token).ok).toBe(true);
  // Made up: the keys are a moment old, so that nothing is fetched for it.
  platform.signer.rotate(false);
  const made = platform.signer.token(CLAIMS);
  expect(verify(made)).toMatchObject({ ok: false, code: "UNAUTHORIZED" });
  expect(asked()).toBe(2);
});

test("before the keys are here a push is to come again, whoever signed it", () => {
  const { ingress } = open(signedConfig);
  const part = (json: Json) => Buffer.from(JSON.stringify(json)).toString("base64url");
  const token = `${part({ alg: "RS256", kid: "key-0" })}.${part(CLAIMS)}.AAAA`;
  expect(ingress.verify(withHeader(`Bearer ${token}`))).toMatchObject({ ok: false, code: "CHANNEL_DOWN" });
  expect(ingress.verify(withHeader(undefined))).toMatchObject({ ok: false, code: "UNAUTHORIZED" });
});

test("keys that can't be had are no reason to stop reading mail, and are not asked for all the time", async () => {
  const platform = await startPlatform();
  platform.mood = ({ path }) => (path === "/certs" ? { refuses: 500 } : "takes");
  const opened = open({ ...urlsOf(platform), ...signedConfig });
  const { context } = opened;
  void started(opened);
  const asked = (path: string) => platform.requests.filter((request) => request.path.endsWith(path)).length;
  await expect.poll(() => asked("/history")).toBe(1);
  expect(asked("/certs")).toBe(1);
  await context.clock.advance(59_000);
  expect(asked("/certs")).toBe(1);
  await context.clock.advance(2000);
  await expect.poll(() => asked("/certs")).toBe(2);
  expect(context.log.text()).toContain("keys");
});

test("a sample carries the secret; where only a signature counts there is none", () => {
  const { ingress } = open();
  const request = requestOf(ingress.sample!({ text: "x", id: "s-1", atMs: NOW_MS }));
  expect(ingress.verify(request)).toEqual({ ok: true });
  expect(ingress.parse(request).notices).toMatchObject([{ id: "s-1", body: { historyId: "18446744073709551615" } }]);
  expect(open(signedConfig).ingress.sample).toBeUndefined();
});
