// Provider D through the whole binary: what its server posts is answered by its bot API, once; a used random opens nothing.
import { runBinary } from "@svc/testkit/binary/run-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer, type FakeModelOptions } from "@svc/testkit/fake-model/server";
import { startDeliverer } from "@svc/testkit/platforms/deliverer";
import { providerDActivity, providerDDelivery } from "@svc/testkit/platforms/provider-d/delivery";
import { startProviderD } from "@svc/testkit/platforms/provider-d/server";
import { expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";
import { homeWith, localModel } from "./daemon.ts";

const SECRET = "planted-webhook-secret-0123456789-0123456789";
const TOKEN = "planted-app-token-0123456789-0123456789-0123";

async function surroundings(script: FakeModelOptions["script"]) {
  const stack = new AsyncDisposableStack();
  const platform = stack.use(await startProviderD({ secret: SECRET }));
  const model = stack.use(await fakeModelServer({ script }));
  const home = stack.use(
    homeWith(`
${localModel(model)}

[channels_config.provider_d]
base_url = "${platform.url}"
app_token = "${TOKEN}"
bot_name = "Helper"
allowed_users = ["ada"]
`),
  );
  const daemon = stack.use(await startBinary({ home: home.path, env: { SVC_PROVIDER_D_WEBHOOK_SECRET: SECRET } }));
  const deliverer = stack.use(startDeliverer({ url: () => `${daemon.url}/provider-d`, attempts: 1 }));
  const statusOf = async (delivery: ReturnType<typeof providerDActivity>) =>
    (await deliverer.deliver(delivery)).statuses[0];
  return { daemon, platform, model, home, statusOf, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const message = (id: string, text: string, from = "ada") =>
  providerDDelivery({ id, text, from, room: "room1" }, SECRET);

test("answered as a reply, in order and once; a request that is posted again is stale", async () => {
  await using at = await surroundings([{ text: "one" }, { text: "two" }]);
  const { platform, model, daemon, statusOf } = at;
  const first = message("101", "hello");
  expect(await statusOf(first)).toBe(200);
  expect(await statusOf(first)).toBe(401);
  // The same message under a random of its own is a duplicate, and no attack.
  expect(await statusOf(message("101", "hello"))).toBe(200);
  expect(await statusOf(message("102", "and now?"))).toBe(200);
  await eventually(
    () => platform.sent.length,
    (count) => count === 2,
  );
  expect(platform.sent).toMatchObject([
    { room: "room1", text: "one", replyTo: 101 },
    { room: "room1", text: "two", replyTo: 102 },
  ]);
  expect(JSON.stringify(model.requests[0]!.body)).toContain("hello");
  expect(model.requests).toHaveLength(2);
  for (const secret of [SECRET, TOKEN]) expect(daemon.output()).not.toContain(secret);
});

test("forged, of a stranger, of a bot, of another shape: no turn, and the answers that the interface promises", async () => {
  await using at = await surroundings([{ text: "only this" }]);
  const { platform, model, statusOf } = at;
  const genuine = message("201", "hello");
  expect(await statusOf({ ...genuine, headers: {} })).toBe(401);
  expect(await statusOf({ ...genuine, body: Buffer.concat([genuine.body, Buffer.from(" ")]) })).toBe(401);
  expect(await statusOf(providerDDelivery({ id: "202", text: "x", from: "ada", room: "room1" }, TOKEN))).toBe(401);
  expect(await statusOf(message("203", "let me in", "mallory"))).toBe(200);
  expect(await statusOf(message("204", "me again", "Helper"))).toBe(200);
  expect(await statusOf(providerDActivity({ type: "Join" }, SECRET))).toBe(200);
  expect(await statusOf(providerDActivity(Buffer.from("{"), SECRET))).toBe(400);
  expect(await statusOf(providerDActivity(Buffer.alloc(1_048_577, 0x20), SECRET))).toBe(413);
  expect(await statusOf(genuine)).toBe(200);
  await eventually(
    () => platform.sent.length,
    (count) => count > 0,
  );
  expect(model.requests).toHaveLength(1);
});

test("the commands of its page: test tells the server, send posts a delivery that is taken", async () => {
  await using at = await surroundings([{ text: "to nobody" }]);
  const { platform, home } = at;
  const tested = await runBinary(["channels", "test", "provider_d"], { home: home.path });
  expect(tested).toMatchObject({ code: 0, stdout: expect.stringContaining("31.0.2, Talk 21.0.1 with bots") });
  const env = { SVC_PROVIDER_D_WEBHOOK_SECRET: SECRET };
  const posted = await runBinary(["webhook", "send", "provider_d", "--text", "Hello", "--from", "ada"], {
    home: home.path,
    env,
  });
  expect(posted).toMatchObject({ code: 0 });
  await eventually(
    () => platform.sent.length,
    (count) => count > 0,
  );
  expect(platform.sent).toMatchObject([{ room: "svc-sample", text: "to nobody" }]);
});
