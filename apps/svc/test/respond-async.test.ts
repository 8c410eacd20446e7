// Programs that ask the agent and do not wait, with the real binary: the answer is posted to the operator's URL, over a kill too,
// in the session of whoever asked; two programs with one name for theirs never hear of each other.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { type FakeModelOptions, fakeModelServer, type ModelRequest } from "@svc/testkit/fake-model/server";
import { startWebhookReceiver } from "@svc/testkit/platforms/webhook/receiver";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";
import { localModel } from "./daemon.ts";

const KEY = "whsec_b3V0Z29pbmctd2ViaG9vay1rZXktMDEyMzQ1";

async function startFixture(script: FakeModelOptions["script"]) {
  const stack = new AsyncDisposableStack();
  const model = stack.use(await fakeModelServer({ script }));
  const receiver = stack.use(await startWebhookReceiver({ secret: KEY }));
  const home = stack.use(temporaryHome());
  const section = `[channels_config.webhook]\nurl = "${receiver.hook}"\nurl_secret = "${KEY}"\n`;
  writeFileSync(join(home.path, "config.toml"), `${localModel(model)}\n${section}`, { mode: 0o600 });
  const fixture = {
    home: home.path,
    model,
    receiver,
    daemon: await startBinary({ home: home.path }),
    async device(name: string): Promise<string> {
      const { stdout } = await runBinary(["pair", "--scope", "webhook", "--name", name, "--json"], { home: home.path });
      return fixture.daemon.pair((JSON.parse(stdout) as { code: string }).code);
    },
    async [Symbol.asyncDispose]() {
      await fixture.daemon.close();
      await stack.disposeAsync();
    },
  };
  return fixture;
}

async function ask(daemon: RunningBinary, token: string, message: string, headers: Record<string, string> = {}) {
  const response = await daemon.request("/webhook", { token, body: { message }, headers });
  return {
    status: response.status,
    applied: response.headers.get("preference-applied"),
    body: (await response.json()) as object,
  };
}

const LATER = { Prefer: "respond-async" };
const OPS = { "X-Session-Id": "ops" };

/** What people said in the conversation, as the model is shown it. */
const heardIn = ({ body }: ModelRequest): string =>
  (body["messages"] as { role: string; content: unknown }[])
    .filter(({ role }) => role === "user")
    .map(({ content }) => (typeof content === "string" ? content : JSON.stringify(content)))
    .join(" | ");

test("is answered 202, then at the operator's URL; a session goes on whichever way it is asked, and is nobody else's", async () => {
  await using fixture = await startFixture((request) => ({ text: `heard: ${heardIn(request)}` }));
  const { daemon, receiver } = fixture;
  const [ci, cron] = [await fixture.device("ci"), await fixture.device("cron")];
  expect(await ask(daemon, ci, "one", OPS)).toMatchObject({
    status: 200,
    applied: null,
    body: { response: "heard: one" },
  });
  const accepted = await ask(daemon, ci, "two", { ...OPS, ...LATER, "X-Idempotency-Key": "k" });
  expect(accepted).toEqual({
    status: 202,
    applied: "respond-async",
    body: { status: "accepted", session_id: "ops", message_id: "in-1" },
  });
  await eventually(
    () => receiver.sent.length,
    (count) => count === 1,
  );
  expect(receiver.sent).toEqual([
    { id: expect.any(String), text: "heard: one | two", conversation: "ops", threadId: null },
  ]);
  const again = await ask(daemon, ci, "two", { ...OPS, ...LATER, "X-Idempotency-Key": "k" });
  expect(again).toMatchObject({ status: 200, body: { status: "duplicate" } });
  expect(await ask(daemon, ci, "three", OPS)).toMatchObject({ body: { response: "heard: one | two | three" } });

  expect(await ask(daemon, cron, "other", { ...OPS, ...LATER })).toMatchObject({ status: 202 });
  const { body } = await ask(daemon, cron, "own", LATER);
  const { session_id: own } = body as { session_id: string };
  await eventually(
    () => receiver.sent.length,
    (count) => count === 3,
  );
  expect(
    receiver.sent
      .slice(1)
      .map(({ text, conversation }) => [conversation, text])
      .toSorted(),
  ).toEqual(
    [
      ["ops", "heard: other"],
      [own, "heard: own"],
    ].toSorted(),
  );
  expect(await ask(daemon, cron, "goes on", { "X-Session-Id": own })).toMatchObject({
    body: { response: "heard: own | goes on" },
  });
  const inbox = await runBinary(["inbox", "list", "--box", "in"], { home: fixture.home });
  expect(inbox.stdout.match(/in-\d/g)).toEqual(["in-3", "in-2", "in-1"]);
});

test("what was taken before kill -9 is answered after it, once; what a revoked program asked is not answered", async () => {
  let isHanging = true;
  await using fixture = await startFixture((request) =>
    isHanging ? { fault: "hang" } : { text: `heard: ${heardIn(request)}` },
  );
  const [ci, cron] = [await fixture.device("ci"), await fixture.device("cron")];
  expect(await ask(fixture.daemon, ci, "do not forget me", { ...OPS, ...LATER })).toMatchObject({ status: 202 });
  expect(await ask(fixture.daemon, cron, "never mind", { ...OPS, ...LATER })).toMatchObject({ status: 202 });
  await eventually(
    () => fixture.model.requests.length,
    (count) => count === 2,
  );
  await fixture.daemon.kill9();
  isHanging = false;
  const { stdout } = await runBinary(["devices", "list", "--json"], { home: fixture.home });
  const { devices } = JSON.parse(stdout) as { devices: { id: string; name: string }[] };
  const { id } = devices.find(({ name }) => name === "cron")!;
  expect(await runBinary(["devices", "revoke", id, "--yes"], { home: fixture.home })).toMatchObject({ code: 0 });
  fixture.daemon = await startBinary({ home: fixture.home });
  await eventually(
    async () => (await runBinary(["inbox", "list", "--state", "waiting"], { home: fixture.home })).stdout,
    (text) => text.includes("there is no such message"),
  );
  expect(fixture.receiver.sent.map(({ text }) => text)).toEqual(["heard: do not forget me"]);
  const dropped = await runBinary(["inbox", "list", "--state", "dropped", "--json"], { home: fixture.home });
  expect(JSON.parse(dropped.stdout)).toMatchObject({ messages: [{ id: "in-2", text: "never mind" }] });
});

test("without a URL to post to, the caller waits as ever", async () => {
  await using fixture = await startFixture(() => ({ text: "an answer" }));
  const token = await fixture.device("ci");
  writeFileSync(join(fixture.home, "config.toml"), localModel(fixture.model), { mode: 0o600 });
  expect(await runBinary(["reload"], { home: fixture.home })).toMatchObject({ code: 0 });
  expect(await ask(fixture.daemon, token, "hi", LATER)).toMatchObject({
    status: 200,
    applied: null,
    body: { response: "an answer" },
  });
});
