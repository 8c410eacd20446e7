// A message that an operator sends from a script: to whichever channel there is, told as sent only when the platform has it,
// never lost, and refused with words that say what is missing.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { startWebhookReceiver } from "@svc/testkit/platforms/webhook/receiver";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { eventually, PERSON, startChannelFixture } from "./channel-fixture.ts";
import { startPlatforms } from "./platforms-fixture.ts";

const FRIEND = "+4917012345678";

interface Sent {
  readonly messages: readonly { readonly id: string; readonly state: string; readonly error: string | null }[];
  readonly why_waiting: string | null;
}

interface Feature {
  readonly kind: string;
  readonly planned: boolean;
  readonly sections: readonly string[];
}

describe("svc send", () => {
  test("tells the ids of what the platform took: the text, then each file; to whom the agent may not write, too", async () => {
    await using fixture = await startChannelFixture();
    const sent = await fixture.svc("send", "provider-a", FRIEND, "The backup is done.");
    const id = fixture.platform.sent[0]?.messageId;
    expect(sent).toMatchObject({ code: 0, stdout: `out-1 sent (platform id ${id})\n`, stderr: "" });
    expect(fixture.platform.sent).toMatchObject([{ to: FRIEND, text: "The backup is done." }]);

    mkdirSync(join(fixture.home, "workspace", "charts"), { recursive: true });
    writeFileSync(join(fixture.home, "workspace", "charts", "june.pdf"), "%PDF-1.7");
    const files = ["--file", "charts/june.pdf", "--file", "charts/june.pdf"];
    const more = await fixture.json<Sent>("send", "provider_a", FRIEND, "The charts", ...files);
    expect(more.messages).toMatchObject([
      { id: "out-2", state: "sent", conversation: { id: FRIEND, thread: null }, text: "The charts" },
      { id: "out-3", state: "sent", files: [{ kind: "document", name: "june.pdf" }] },
      { id: "out-4", state: "sent", platform_id: expect.any(String) },
    ]);
    expect(await fixture.svc("send", "provider_a", FRIEND, "", "--file", "charts/june.pdf")).toMatchObject({ code: 0 });
    for (const [file, code] of [
      ["charts/july.pdf", 65],
      ["../config.toml", 77],
    ] as const) {
      expect(await fixture.svc("send", "provider_a", FRIEND, "x", "--file", file)).toMatchObject({ code });
    }
    const { messages } = await fixture.json<Sent>("inbox", "list", "--box", "out");
    expect(messages).toHaveLength(5);
  });

  test("works for every channel that is on, whatever it is called", async () => {
    await using fixture = await startPlatforms();
    const { channels } = await fixture.json<{ channels: { id: string }[] }>("channels", "list");
    expect(channels).toHaveLength(4);
    for (const { id } of channels) {
      const conversation = id === "provider_d" ? "room1" : id === "provider_b" ? fixture.b.openChat([PERSON]) : PERSON;
      expect([id, await fixture.svc("send", id, conversation, "hello from a script")]).toMatchObject([id, { code: 0 }]);
    }
    for (const { sent } of [fixture.a, fixture.b, fixture.c, fixture.d]) {
      expect(sent).toMatchObject([{ text: "hello from a script" }]);
    }
  });

  test("takes the text from standard input, a chat whose id begins with a minus, and a thread", async () => {
    await using receiver = await startWebhookReceiver();
    using home = temporaryHome();
    writeFileSync(join(home.path, "config.toml"), `[channels_config.webhook]\nurl = "${receiver.hook}"\n`, {
      mode: 0o600,
    });
    await using daemon = await startBinary({ home: home.path });
    expect(daemon.output()).toContain("NOT SIGNED");
    const piped = await runBinary(["send", "webhook", "-100123", "-", "--thread", "-7"], {
      home: home.path,
      input: "a report — of two lines\nand its end\n",
    });
    expect(piped).toMatchObject({ code: 0, stdout: "out-1 sent\n" });
    const long = await runBinary(["send", "webhook", "ops", "-", "--json"], {
      home: home.path,
      input: "x".repeat(65_537),
    });
    expect(long).toMatchObject({ code: 64, stdout: "", stderr: expect.stringContaining("65536 characters") });
    expect(receiver.sent).toEqual([
      expect.objectContaining({
        conversation: "-100123",
        threadId: "-7",
        text: "a report — of two lines\nand its end",
      }),
    ]);
    const tested = await runBinary(["channels", "test", "webhook"], { home: home.path });
    expect(tested).toMatchObject({ code: 0, stdout: expect.stringContaining("NOT SIGNED") });
    const doctor = await runBinary(["doctor"], { home: home.path });
    expect(doctor.stdout).toMatch(/warning +outgoing-webhook-signature/);
  });

  test("says at once that a message has to wait, and why; with --wait it stays until it is taken", async () => {
    await using fixture = await startChannelFixture();
    fixture.platform.mood = { refuses: 503 };
    const sent = await fixture.svc("send", "provider_a", FRIEND, "one");
    expect(sent).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^out-1 waits: .*\[DELIVERY_FAILED\] Tried (1 time|\d+ times),/),
    });
    const waiting = fixture.svc("send", "provider_a", FRIEND, "two", "--wait");
    await eventually(
      async () => (await fixture.json<Sent>("inbox", "list", "--box", "out")).messages.length,
      (count) => count === 2,
    );
    fixture.platform.mood = "takes";
    expect(await waiting).toMatchObject({ code: 0, stdout: expect.stringMatching(/^out-2 sent/) });
    expect(fixture.platform.sent.map(({ text }) => text)).toEqual(["one", "two"]);
  });

  test("ends with the error's code when the platform refuses the message for good", async () => {
    await using fixture = await startChannelFixture();
    fixture.platform.failNext(FRIEND, [131026, 131026]);
    for (const more of [[], ["--json"]]) {
      const refused = await fixture.svc("send", "provider_a", FRIEND, "hello", ...more);
      expect(refused).toMatchObject({ code: 69, stdout: expect.stringContaining("DELIVERY_REFUSED") });
    }
    expect(fixture.platform.sent).toEqual([]);
  });

  test("without a daemon it is kept, and sent by the next start; --wait would wait for nobody", async () => {
    await using fixture = await startChannelFixture();
    await fixture.daemon.stop();
    const kept = await fixture.svc("send", "provider_a", FRIEND, "later");
    expect(kept).toMatchObject({ code: 0, stdout: "out-1 waits: no daemon runs; the next start sends it\n" });
    const refused = await fixture.svc("send", "provider_a", FRIEND, "never", "--wait");
    expect(refused).toMatchObject({ code: 69, stderr: expect.stringContaining("NOT_RUNNING") });
    fixture.daemon = await startBinary({ home: fixture.home });
    await eventually(
      () => fixture.platform.sent.length,
      (count) => count === 1,
    );
    expect(fixture.platform.sent).toMatchObject([{ to: FRIEND, text: "later" }]);
    expect((await fixture.json<Sent>("inbox", "list", "--box", "out")).messages).toMatchObject([
      { id: "out-1", state: "sent" },
    ]);
  });

  test("a channel that gave up keeps the message, and says why it does", async () => {
    await using fixture = await startPlatforms({ idle: true });
    fixture.a.mood = { refuses: 401 };
    await fixture.start();
    await eventually(
      async () => (await fixture.json<{ channels: { id: string; state: string }[] }>("channels", "list")).channels,
      (channels) => channels.some(({ id, state }) => id === "provider_a" && state === "failed"),
    );
    const kept = await fixture.svc("send", "provider_a", FRIEND, "hello", "--wait");
    expect(kept).toMatchObject({
      code: 75,
      stdout: expect.stringMatching(/^out-1 waits: the channel is not in service: .*401/),
    });
  });
});

describe("svc send to a channel that is not there", () => {
  test("says what is missing: the name, the section, or the feature", async () => {
    await using fixture = await startChannelFixture();
    const { features } = await fixture.json<{ features: Feature[] }>("features", "--all");
    const planned = features.find(({ kind, planned }) => kind === "channel" && planned);
    const name = planned?.sections[0]?.replace("channels_config.", "") ?? "";
    for (const [channel, told] of [
      ["nobody", /no channel "nobody".*Configured are: provider_a\. {2}\[CHANNEL_UNKNOWN\]/s],
      ["provider_b", /provider_b is not configured: there is no \[channels_config\.provider_b\]/],
      ["webhook", /webhook is not configured: its keys are not in \[channels_config\.webhook\]/],
      ...(planned ? ([[name, /is planned and not written yet/]] as const) : []),
    ] as const) {
      const refused = { code: 64, stdout: "", stderr: expect.stringMatching(told) };
      expect(await fixture.svc("send", channel, "x", "hello")).toMatchObject(refused);
      expect(await fixture.svc("channels", "test", channel)).toMatchObject(refused);
    }
    expect(await fixture.json("inbox", "list")).toEqual({ messages: [] });
  });

  test("a section that turns on no channel", async () => {
    using home = temporaryHome();
    writeFileSync(
      join(home.path, "config.toml"),
      '[channels_config.webhook]\nurl = " "\nurl_secret = "a passphrase"\n',
      { mode: 0o600 },
    );
    const refused = await runBinary(["send", "webhook", "ops", "hello"], { home: home.path });
    expect(refused).toMatchObject({
      code: 64,
      stderr: expect.stringContaining("a key is missing in [channels_config.webhook]"),
    });
    const { stdout } = await runBinary(["channels", "list", "--json"], { home: home.path });
    expect(JSON.parse(stdout)).toEqual({ channels: [] });
    const doctor = await runBinary(["doctor"], { home: home.path });
    expect(doctor.stdout).toMatch(/warning +outgoing-webhook .*url_secret does nothing/);
  });
});

test.each([
  ["a blank text", ["provider_a", "x", " \n"]],
  ["a blank conversation", ["provider_a", " ", "hello"]],
  ["no text", ["provider_a", "x"]],
  ["more words than one text", ["provider_a", "x", "hello", "there"]],
  ["an option of another command", ["provider_a", "x", "hello", "--to", "y"]],
])("svc send of %s is refused", async (_, args) => {
  using home = temporaryHome();
  const { code, stderr } = await runBinary(["send", ...args], { home: home.path });
  expect([code, stderr]).toEqual([64, expect.stringContaining("USAGE")]);
});
