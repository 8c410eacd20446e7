// A message that was taken and not answered, or answered twice, is what people leave a service like this for.
import { runBinary } from "@svc/testkit/binary/run-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { startDeliverer } from "@svc/testkit/platforms/deliverer";
import { providerADelivery } from "@svc/testkit/platforms/provider-a/delivery";
import { verifyCallback } from "@svc/testkit/platforms/provider-a/hub";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { atTerminal, needScript } from "./at-terminal.ts";
import { eventually, PERSON, startChannelFixture, VERIFY_TOKEN } from "./channel-fixture.ts";

interface Line {
  readonly id: string;
  readonly state: string;
  readonly sender: string | null;
  readonly text: string;
  readonly error: string | null;
}

describe("a message from a platform", () => {
  test("is answered there, once, however often it is delivered; strangers and forgers are not", async () => {
    await using fixture = await startChannelFixture();
    expect(await verifyCallback(`${fixture.daemon.url}/provider-a`, VERIFY_TOKEN)).toBe("verified");
    expect(await verifyCallback(`${fixture.daemon.url}/provider-a`, "wrong")).toBe(403);

    expect(await fixture.write({ id: "wamid.1", text: "hello there" })).toEqual([200]);
    expect(await fixture.write({ id: "wamid.1", text: "hello there" })).toEqual([200]);
    expect(await fixture.write({ id: "wamid.2", from: "+4915112345678", text: "let me in" })).toEqual([200]);
    const forged = providerADelivery(
      { phoneNumberId: "109876543210", appSecret: "guessed" },
      { id: "wamid.3", from: PERSON, atMs: Date.now(), text: "forged" },
    );
    using forger = startDeliverer({ url: () => `${fixture.daemon.url}/provider-a`, attempts: 1 });
    expect((await forger.deliver(forged)).statuses).toEqual([401]);
    expect(await fixture.write({ id: "wamid.4", text: "and again" })).toEqual([200]);

    const sent = await eventually(
      () => fixture.platform.sent.map(({ to, text }) => [to, text]),
      ({ length }) => length === 2,
    );
    expect(sent).toEqual([
      [PERSON, expect.stringContaining("hello there")],
      [PERSON, expect.stringContaining("and again")],
    ]);
    const { messages } = await fixture.json<{ messages: Line[] }>("inbox", "list", "--box", "in");
    expect(messages.map(({ state, sender, text }) => [state, sender, text])).toEqual([
      ["done", PERSON, "and again"],
      ["done", PERSON, "hello there"],
    ]);
    expect(fixture.daemon.output()).not.toContain("forged");
  });

  test("taken before kill -9 is answered after it, and only once; the platform may deliver it again", async () => {
    await using fixture = await startChannelFixture();
    fixture.platform.mood = "hangs";
    expect(await fixture.write({ id: "wamid.1", text: "do not forget me" })).toEqual([200]);
    await eventually(
      () => fixture.platform.requests.length,
      (count) => count > 0,
    );
    await fixture.daemon.kill9();
    fixture.platform.mood = "takes";
    fixture.daemon = await startBinary({ home: fixture.home });
    await eventually(
      () => fixture.platform.sent.length,
      (count) => count > 0,
    );
    expect(await fixture.write({ id: "wamid.1", text: "do not forget me" })).toEqual([200]);
    expect(await fixture.write({ id: "wamid.2", text: "next" })).toEqual([200]);
    await eventually(
      () => fixture.platform.sent.length,
      (count) => count > 1,
    );
    expect(fixture.platform.sent.map(({ text }) => text)).toEqual([
      expect.stringContaining("do not forget me"),
      expect.stringContaining("next"),
    ]);
  });

  test("whose answer the platform refuses for good is a dead letter: seen, dropped, sent again", async () => {
    await using fixture = await startChannelFixture();
    fixture.platform.failNext(PERSON, [131026]);
    await fixture.write({ text: "hello" });
    const dead = await eventually(
      async () => (await fixture.json<{ messages: Line[] }>("inbox", "list", "--state", "dead")).messages,
      ({ length }) => length === 1,
    );
    expect(dead).toMatchObject([{ id: "out-1", state: "dead", error: "DELIVERY_REFUSED" }]);
    expect(await fixture.svc("inbox", "show", "in-1")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("out-1"),
    });
    expect(await fixture.svc("inbox", "replay", "out-1")).toMatchObject({ code: 0 });
    await eventually(
      () => fixture.platform.sent.length,
      (count) => count === 1,
    );
    expect(await fixture.svc("inbox", "replay", "out-1")).toMatchObject({ code: expect.any(Number) });
    expect((await fixture.svc("inbox", "replay", "out-1")).stderr).toContain("MESSAGE_STATE");
    expect((await fixture.svc("inbox", "show", "in-9")).stderr).toContain("MESSAGE_UNKNOWN");
  });
});

test("what is stuck is taken up again all at once, with a daemon and without one", async () => {
  await using fixture = await startChannelFixture();
  const dead = async () =>
    (await fixture.json<{ messages: Line[] }>("inbox", "list", "--state", "dead")).messages.length;
  fixture.platform.failNext(PERSON, [131026, 131026, 131026]);
  for (const text of ["one", "two", "three"]) await fixture.write({ text });
  await eventually(dead, (count) => count === 3);
  expect(await fixture.json("inbox", "replay", "--state", "failed")).toEqual({ replayed: 0, messages: [] });
  expect(await fixture.json("inbox", "replay", "--state", "dead", "--channel", "provider_b")).toMatchObject({
    replayed: 0,
  });
  const all = { replayed: 3, messages: ["out-1", "out-2", "out-3"] };
  expect(await fixture.json("inbox", "replay", "--state", "dead", "--channel", "provider_a")).toEqual(all);
  await eventually(
    () => fixture.platform.sent.length,
    (count) => count === 3,
  );
  fixture.platform.failNext(PERSON, [131026]);
  await fixture.write({ text: "four" });
  await eventually(dead, (count) => count === 1);
  await fixture.daemon.stop();
  expect(await fixture.svc("inbox", "replay", "--state", "dead")).toMatchObject({
    code: 0,
    stdout: "1 message taken up again\n",
  });
  expect(fixture.platform.sent).toHaveLength(3);
  fixture.daemon = await startBinary({ home: fixture.home });
  await eventually(
    () => fixture.platform.sent.length,
    (count) => count === 4,
  );
});

test("at a terminal nothing is taken up again before somebody has seen how much that is", async (context) => {
  needScript(context);
  await using fixture = await startChannelFixture();
  fixture.platform.failNext(PERSON, [131026, 131026]);
  for (const text of ["one", "two"]) await fixture.write({ text });
  const dead = async () =>
    (await fixture.json<{ messages: Line[] }>("inbox", "list", "--state", "dead")).messages.length;
  await eventually(dead, (count) => count === 2);
  const asked = "Take up 2 messages again?";
  const replay = (key: string) => atTerminal(fixture.home, "inbox replay --state dead", [[asked, key]]);
  expect((await replay("n")).screen).toContain("CANCELLED");
  expect(await dead()).toBe(2);
  expect(await replay("y")).toMatchObject({ code: 0, screen: expect.stringContaining("2 messages taken up again") });
});

test.each([
  ["neither one nor all", ["inbox", "replay"]],
  ["one and all", ["inbox", "replay", "in-1", "--state", "failed"]],
  ["all of a state that is no trouble", ["inbox", "replay", "--state", "done", "--yes"]],
  ["a limit that would not hold", ["inbox", "replay", "--state", "dead", "--limit", "5"]],
  ["one of a channel", ["inbox", "replay", "in-1", "--channel", "provider_a"]],
])("replay of %s is refused", async (_, args) => {
  using home = temporaryHome();
  const { code, stderr } = await runBinary(args, { home: home.path });
  expect([code, stderr]).toEqual([64, expect.stringContaining("USAGE")]);
});

describe("svc", () => {
  test("channels list and test, status and webhook send", async () => {
    await using fixture = await startChannelFixture(`[gateway]\npublic_url = "https://agent.example.org"\n`);
    const { channels } = await fixture.json<{ channels: unknown[] }>("channels", "list");
    expect(channels).toEqual([
      {
        id: "provider_a",
        feature: "channel-provider-a",
        state: "running",
        reason: null,
        callback_urls: ["https://agent.example.org/provider-a"],
        signed: true,
        last_failure: null,
        last_message_at: null,
        last_error: null,
      },
    ]);
    expect(await fixture.svc("channels", "test", "provider-a")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Lucky Shrub"),
    });
    expect((await fixture.svc("channels", "test", "nobody")).stderr).toContain("CHANNEL_UNKNOWN");
    expect(await fixture.svc("status")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("https://agent.example.org/provider-a"),
    });
    const toPath = ["--url", `${fixture.daemon.url}/provider-a`];
    for (const url of [[], toPath]) {
      const sent = await fixture.svc("webhook", "send", "provider_a", "--text", "a try", ...url);
      expect(sent).toMatchObject({ code: 0, stdout: expect.stringContaining("answered 200") });
    }
    await eventually(
      () => fixture.platform.sent.length,
      (count) => count === 2,
    );
    expect(fixture.platform.sent[0]).toMatchObject({ to: PERSON, text: expect.stringContaining("a try") });
    expect((await fixture.svc("webhook", "send", "provider_b", "--text", "x")).stderr).toContain("CHANNEL_UNKNOWN");
    expect((await fixture.svc("webhook", "send", "provider_a")).stderr).toContain("--text");
    for (const url of ["agent.example.org", "ftp://x", "https://a:b@x", "https://x?y=1", "https://x#y"]) {
      const refused = await fixture.svc("webhook", "send", "provider_a", "--text", "x", "--url", url);
      expect(refused).toMatchObject({ code: 64, stderr: expect.stringContaining("--url takes") });
    }
  });

  test("the inbox is there without a daemon too", async () => {
    await using fixture = await startChannelFixture();
    fixture.platform.mood = "hangs";
    await fixture.write({ text: "hello" });
    await fixture.daemon.stop();
    expect(await fixture.json("inbox", "list", "--box", "in")).toMatchObject({ messages: [{ id: "in-1" }] });
    expect(await fixture.json("channels", "list")).toMatchObject({
      channels: [{ id: "provider_a", state: "stopped", reason: "no daemon runs" }],
    });
    expect((await fixture.svc("webhook", "send", "provider_a", "--text", "x")).stderr).toContain("NOT_RUNNING");
  });
});
