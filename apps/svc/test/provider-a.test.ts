// Provider A through the whole binary: what its platform posts is answered by what its API takes, once.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer, type FakeModelOptions, type FakeModelServer } from "@svc/testkit/fake-model/server";
import { startDeliverer } from "@svc/testkit/platforms/deliverer";
import { providerADelivery, providerAStatus } from "@svc/testkit/platforms/provider-a/delivery";
import { verifyCallback } from "@svc/testkit/platforms/provider-a/hub";
import { type ProviderA, startProviderA } from "@svc/testkit/platforms/provider-a/server";
import { expect, test } from "vitest";
import { homeWith, localModel } from "./daemon.ts";

const PERSON = "+16505551234";
const ACCOUNT = { accessToken: "EAAG-planted-access-token", phoneNumberId: "106540352242922" };
const NUMBER = { phoneNumberId: ACCOUNT.phoneNumberId, appSecret: "planted-app-secret-0123456789" };
const VERIFY_TOKEN = "planted-verify-token";

interface Surroundings extends AsyncDisposable {
  readonly daemon: RunningBinary;
  readonly platform: ProviderA;
  readonly model: FakeModelServer;
  readonly home: string;
}

async function surroundings(script: FakeModelOptions["script"]): Promise<Surroundings> {
  const stack = new AsyncDisposableStack();
  const platform = stack.use(await startProviderA(ACCOUNT));
  const model = stack.use(await fakeModelServer({ script }));
  const home = stack.use(
    homeWith(`
${localModel(model)}

[channels_config.provider_a]
access_token = "${ACCOUNT.accessToken}"
phone_number_id = "${ACCOUNT.phoneNumberId}"
verify_token = "${VERIFY_TOKEN}"
app_secret = "${NUMBER.appSecret}"
allowed_numbers = ["${PERSON}"]
api_url = "${platform.apiUrl}"
`),
  );
  const daemon = stack.use(await startBinary({ home: home.path }));
  const disposal = () => stack.disposeAsync();
  return { daemon, platform, model, home: home.path, [Symbol.asyncDispose]: disposal };
}

const message = (id: string, text: string, more: object = {}) =>
  providerADelivery(NUMBER, { id, text, from: PERSON, atMs: Date.now(), ...more });

/** Resolves once what the platform was asked has come to that. */
async function until(platform: ProviderA, isSo: () => boolean): Promise<void> {
  for (let asked = platform.requests.length; !isSo(); asked += 1) {
    await platform.arrived(asked);
    // It came; what becomes of it is written down a moment later.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function seen(platform: ProviderA, count: number): Promise<ProviderA["sent"]> {
  await until(platform, () => platform.sent.length >= count);
  return platform.sent;
}

test("verified, asked, answered, marked as read; what is posted twice is answered once", async () => {
  await using at = await surroundings([{ text: "one" }, { text: "two" }]);
  const { daemon, platform, model } = at;
  const callback = `${daemon.url}/provider-a`;
  expect(await verifyCallback(callback, VERIFY_TOKEN)).toBe("verified");
  expect(await verifyCallback(callback, "guessed")).toBe(403);

  using deliverer = startDeliverer({ url: () => callback });
  const first = message("wamid.1", "hello");
  expect(await deliverer.deliver(first)).toEqual({ acknowledged: true, statuses: [200] });
  expect(await deliverer.deliver(first)).toEqual({ acknowledged: true, statuses: [200] });
  await seen(platform, 1);
  await deliverer.deliver(message("wamid.2", "and now?"));
  expect(await seen(platform, 2)).toMatchObject([
    { to: PERSON, text: "one", quotes: undefined },
    { to: PERSON, text: "two" },
  ]);
  expect(model.requests).toHaveLength(2);
  expect(JSON.stringify(model.requests[1]!.body)).toContain("hello");
  await until(platform, () => ["read wamid.1", "read wamid.2"].every((mark) => platform.marks.includes(mark)));

  const [sent] = platform.sent;
  await deliverer.deliver(
    providerAStatus(NUMBER, {
      id: sent!.messageId,
      status: "failed",
      recipient: PERSON,
      atMs: Date.now(),
      errorCode: 131047,
    }),
  );
  const shown = await runBinary(["inbox", "show", "out-1"], { home: at.home });
  expect(shown.stdout).toContain("failed");
  for (const secret of [ACCOUNT.accessToken, NUMBER.appSecret, VERIFY_TOKEN]) {
    expect(daemon.output() + shown.stdout).not.toContain(secret);
  }
});

test("forged, meant for another number, or of a stranger: no turn", async () => {
  await using at = await surroundings([{ text: "only this" }]);
  const { daemon, platform, model } = at;
  using deliverer = startDeliverer({ url: () => `${daemon.url}/provider-a`, attempts: 1 });
  const statusOf = async (delivery: Parameters<typeof deliverer.deliver>[0]) =>
    (await deliverer.deliver(delivery)).statuses;
  const genuine = message("wamid.1", "hello");
  const forger = { ...NUMBER, appSecret: "guessed" };
  const said = { id: "wamid.2", text: "let me in", from: PERSON, atMs: Date.now() };
  expect(await statusOf(providerADelivery(forger, said))).toEqual([401]);
  expect(await statusOf({ ...genuine, headers: {} })).toEqual([401]);
  expect(await statusOf({ ...genuine, body: Buffer.concat([genuine.body, Buffer.from(" ")]) })).toEqual([401]);
  expect(await statusOf(providerADelivery({ ...NUMBER, phoneNumberId: "1" }, said))).toEqual([200]);
  expect(await statusOf(message("wamid.3", "hi", { from: "+16505559999" }))).toEqual([200]);
  expect(await statusOf(message("wamid.4", "old", { atMs: Date.now() - 9 * 86_400_000 }))).toEqual([200]);
  // Only then one that counts: whatever the others began would be there before it.
  await deliverer.deliver(genuine);
  await seen(platform, 1);
  expect(model.requests).toHaveLength(1);
});

test("a picture comes in, a file goes out, and a message that the platform did not take is tried again", async () => {
  await using at = await surroundings(({ body }) => {
    const asked = JSON.stringify(body);
    const path = /media\/[^"\\\]\s]+\.jpg/.exec(asked)?.[0];
    return { text: path === undefined ? "no picture" : `I see it\n[IMAGE:${path}]` };
  });
  const { daemon, platform, home } = at;
  const picture = Buffer.from("not really a picture");
  const id = platform.host(picture, "image/jpeg");
  platform.failNext("*", [131000]);
  using deliverer = startDeliverer({ url: () => `${daemon.url}/provider-a` });
  const image = { id, mime_type: "image/jpeg", sha256: "x", caption: "what is it?" };
  await deliverer.deliver(message("wamid.1", "", { content: { type: "image", image } }));
  const [text, file] = await seen(platform, 2);
  expect(text).toMatchObject({ type: "text", text: "I see it" });
  expect(file).toMatchObject({ type: "image", file: { mimeType: "image/jpeg" } });
  expect(Buffer.from(file!.file!.bytes)).toEqual(picture);
  expect(readFileSync(join(home, "config.toml"), "utf8")).toContain("provider_a");
});

test("svc channels test asks the platform, svc webhook send goes the whole way", async () => {
  await using at = await surroundings([{ text: "hello back" }]);
  const { home, platform } = at;
  const tested = await runBinary(["channels", "test", "provider_a"], { home });
  expect([tested.code, tested.stdout]).toEqual([0, expect.stringContaining("Lucky Shrub, +1 555-078-3881")]);
  const sent = await runBinary(["webhook", "send", "provider_a", "--text", "hello"], { home });
  expect([sent.code, sent.stdout]).toEqual([0, expect.stringContaining("answered 200")]);
  expect(await seen(platform, 1)).toMatchObject([{ to: PERSON, text: "hello back" }]);
});

test("a token that is refused turns the channel off, and nothing else", async () => {
  await using platform = await startProviderA(ACCOUNT);
  using home = homeWith(`
[channels_config.provider_a]
access_token = "EAAG-another-token"
phone_number_id = "${ACCOUNT.phoneNumberId}"
verify_token = "${VERIFY_TOKEN}"
app_secret = "${NUMBER.appSecret}"
api_url = "${platform.apiUrl}"
`);
  await using daemon = await startBinary({ home: home.path });
  await daemon.waitFor(/expired or was withdrawn \(error 190\)/);
  const health = (await (await daemon.request("/health")).json()) as { status: string };
  expect(health.status).toBe("degraded");
  using deliverer = startDeliverer({ url: () => `${daemon.url}/provider-a`, attempts: 1 });
  expect((await deliverer.deliver(message("wamid.1", "hello"))).statuses).toEqual([503]);
});

test("session_path alone needs the feature of Web mode, which is told with its line", async () => {
  using home = homeWith('[channels_config.provider_a]\nsession_path = "session"\n');
  const { code, stderr, stdout } = await runBinary(["config", "check"], { home: home.path });
  expect([code, stderr + stdout]).toEqual([78, expect.stringContaining("this key needs the feature provider-a-web")]);
});
