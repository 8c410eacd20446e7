// A credential is rotated while it is in use. Whoever began with the old one ends with it, whoever begins after the command returns
// has the new one, and the service is the same all along: no restart, no answer lost.
import { existsSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import type { RunningBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer, type ModelRequest } from "@svc/testkit/fake-model/server";
import type { PlatformRequest } from "@svc/testkit/platforms/base";
import { expect, test } from "vitest";
import { type ChannelFixture, eventually, PERSON, startChannelFixture } from "./channel-fixture.ts";
import { homeWith, post, startPaired, UNGUARDED } from "./daemon.ts";

/** A command that says on disk that it runs, and ends when the test says so. */
const WAITING = "touch began; while [ ! -e go ]; do sleep 0.02; done; echo went";

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}

const instanceOf = async (daemon: RunningBinary): Promise<string> =>
  ((await (await daemon.request("/health")).json()) as { instance: string }).instance;

const setSecret = (home: string, key: string, value: string) =>
  runBinary(["secrets", "set", key], { home, input: value });

test("model.api_key: every call of the running turn has the old one, those after the reload too; the next turn's have the new", async () => {
  await using model = await fakeModelServer({
    script: ({ body, headers }, index) => {
      if (index === 0) return { calls: [{ name: "shell", input: { command: WAITING } }] };
      if (headers["authorization"] !== "Bearer old-key-of-the-model") return { text: "said with the new" };
      const results = (body["messages"] as { role: string }[]).filter(({ role }) => role === "tool");
      return results.length < 2 ? { calls: [{ name: "file_list", input: {} }] } : { text: "said with the old" };
    },
  });
  const key = (name: string): string => `[model]
provider = "openai-compatible"
name = "fake"
base_url = "${model.url}"
api_key = "${name}-key-of-the-model"
`;
  using home = homeWith(`${key("old")}${UNGUARDED}`);
  const { daemon, token } = await startPaired({ home: home.path });
  await using _ = daemon;
  const instance = await instanceOf(daemon);
  const running = post(daemon, token, "work for a while");
  await until(() => existsSync(join(home.path, "workspace/began")));
  const set = await setSecret(home.path, "model.api_key", "new-key-of-the-model");
  expect(set).toMatchObject({ code: 0, stdout: expect.stringContaining("changed: [model]") });
  expect((await runBinary(["reload"], { home: home.path })).code).toBe(0);
  expect((await post(daemon, token, "hello")).body.response).toBe("said with the new");
  writeFileSync(join(home.path, "workspace/go"), "");
  expect((await running).body.response).toBe("said with the old");
  expect((await post(daemon, token, "and again")).body.response).toBe("said with the new");
  const keys = model.requests.map(
    ({ headers }: ModelRequest) => /Bearer (\w+)/.exec(String(headers["authorization"]))?.[1],
  );
  expect(keys).toEqual(["old", "new", "old", "old", "new"]);
  expect(await instanceOf(daemon)).toBe(instance);
  for (const name of ["old", "new"]) expect(daemon.output()).not.toContain(`${name}-key-of-the-model`);
});

const TOKEN = "channels_config.provider_a.access_token";
const OLD = "EAAB-access-token-of-the-test";

const isSend = ({ method, path }: PlatformRequest): boolean => method === "POST" && path.endsWith("/messages");
const tokenOf = ({ headers }: PlatformRequest): string => (headers["authorization"] ?? "").replace("Bearer ", "");
/** First lines, with the token that each was sent with. */
const sentWith = ({ platform }: ChannelFixture): string[][] =>
  platform.requests.filter(isSend).flatMap((request) => {
    const { text } = (request.json ?? {}) as { text?: { body?: string } };
    return text?.body === undefined ? [] : [[text.body.split("\n")[0]!, tokenOf(request)]];
  });

test("a channel's token: the delivery under way ends with the old one, those of turns that run have the new one", async () => {
  await using fixture = await startChannelFixture(`[secrets]\nencrypt = false\n${UNGUARDED}`);
  const instance = await instanceOf(fixture.daemon);
  const gate = Promise.withResolvers<void>();
  fixture.platform.mood = (request) =>
    isSend(request) && JSON.stringify(request.json).includes("held") ? { slow: () => gate.promise } : "takes";
  await fixture.write({ text: "held" });
  await until(() => sentWith(fixture).length === 1);
  await fixture.write({ from: PERSON, text: `/tool shell ${JSON.stringify({ command: WAITING })}`, id: "wamid.turn" });
  await until(() => existsSync(join(fixture.home, "workspace/began")));
  fixture.platform.tokens.add("EAAB-the-new-token");
  const set = await setSecret(fixture.home, TOKEN, "EAAB-the-new-token");
  expect(set).toMatchObject({ code: 0, stdout: expect.stringContaining("channel-provider-a") });
  // It was asked for before it was put into force.
  expect(
    fixture.platform.requests.some((request) => request.method === "GET" && tokenOf(request) === "EAAB-the-new-token"),
  ).toBe(true);
  gate.resolve();
  await until(() => fixture.platform.sent.length === 1);
  fixture.platform.tokens.delete(OLD);
  writeFileSync(join(fixture.home, "workspace/go"), "");
  const all = await eventually(
    () => sentWith(fixture),
    ({ length }) => length >= 2,
  );
  expect(all).toEqual([
    ["held", OLD],
    [expect.stringContaining("went"), "EAAB-the-new-token"],
  ]);
  expect(fixture.platform.sent).toHaveLength(2);
  expect(await instanceOf(fixture.daemon)).toBe(instance);
});

test("a token that the platform refuses: the reload is refused, and messages go on with the old one", async () => {
  await using fixture = await startChannelFixture("[secrets]\nencrypt = false\n");
  const instance = await instanceOf(fixture.daemon);
  const set = await setSecret(fixture.home, TOKEN, "EAAB-a-wrong-token");
  expect(`${set.stdout}${set.stderr}`).toContain("channel-provider-a:");
  const refused = await fixture.svc("reload");
  expect([refused.code === 0, refused.stderr]).toEqual([
    false,
    expect.stringContaining("The old config stays in force"),
  ]);
  await fixture.write({ text: "still there" });
  await eventually(
    () => fixture.platform.sent,
    ({ length }) => length > 0,
  );
  expect(sentWith(fixture)).toEqual([["still there", OLD]]);
  const health = (await (await fixture.daemon.request("/health")).json()) as object;
  expect(health).toEqual({ status: "ok", instance });
  expect(`${fixture.daemon.output()}${set.stdout}${set.stderr}${refused.stderr}`).not.toContain("EAAB-a-wrong-token");
});

test("a platform that is away does not keep a token from being rotated", async () => {
  await using fixture = await startChannelFixture("[secrets]\nencrypt = false\n");
  fixture.platform.mood = "resets";
  fixture.platform.tokens.add("EAAB-the-new-token");
  const set = await setSecret(fixture.home, TOKEN, "EAAB-the-new-token");
  expect(set).toMatchObject({ code: 0, stdout: expect.stringContaining("channel-provider-a") });
  fixture.platform.mood = "takes";
  await fixture.write({ text: "hello" });
  await eventually(
    () => fixture.platform.sent,
    ({ length }) => length > 0,
  );
  expect(sentWith(fixture).at(-1)).toEqual(["hello", "EAAB-the-new-token"]);
});

test("the secret of /webhook: a request whose head has come is answered by the old one, the next needs the new", async () => {
  const secret = (value: string): string =>
    `[secrets]\nencrypt = false\n[channels_config.webhook]\nsecret = "${value}"\n`;
  using home = homeWith(secret("old-secret-of-the-webhook"));
  const { daemon, token } = await startPaired({ home: home.path });
  await using _ = daemon;
  const instance = await instanceOf(daemon);
  const body = JSON.stringify({ message: "hello" });
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "x-webhook-secret": "old-secret-of-the-webhook",
    // Its answer says that the head has been read.
    expect: "100-continue",
  };
  const status = Promise.withResolvers<number | undefined>();
  const head = Promise.withResolvers<void>();
  const sent = request(`${daemon.url}/webhook`, { method: "POST", headers }, (response) => {
    response.resume();
    status.resolve(response.statusCode);
  });
  sent
    .on("continue", () => head.resolve())
    .on("error", status.reject)
    .flushHeaders();
  await head.promise;
  expect((await setSecret(home.path, "channels_config.webhook.secret", "new-secret-of-the-webhook")).code).toBe(0);
  sent.end(body);
  expect(await status.promise).toBe(200);
  const next = async (value: string): Promise<number> =>
    (await post(daemon, token, "hello", { "X-Webhook-Secret": value })).status;
  expect([await next("old-secret-of-the-webhook"), await next("new-secret-of-the-webhook")]).toEqual([401, 200]);
  expect(await instanceOf(daemon)).toBe(instance);
});
