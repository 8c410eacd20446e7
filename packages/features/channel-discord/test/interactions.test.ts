// Commands of the menu and presses on buttons: answered in time, by the right person, in the right place; and never by two
// answers of which one is lost.
import type { OutgoingMessage, Prompt } from "@svc/contract";
import { memorySecrets } from "@svc/testkit/memory-secrets";
import { describe, expect, test } from "vitest";
import { fixture, type Fixture, never, PERSON, soon, STRANGER } from "./fixture.ts";

const PROMPT: Prompt = {
  id: "ap-12",
  title: "Deploy?",
  message: "To production.",
  approve: "Approve",
  reject: "Reject",
};
const question = ({ room }: Fixture, id = room.id): OutgoingMessage => ({
  conversation: { channel: "discord", id },
  text: "Deploy? Answer: approve #12",
  deliveryId: "question-1",
});

async function started(section: Readonly<Record<string, unknown>> = {}, given: object = {}): Promise<Fixture> {
  const at = await fixture(section, given);
  await at.start();
  at.platform.write({ from: PERSON, text: "begin" });
  await at.received(1);
  return at;
}

/** The answer of the agent to the last message that came in. */
const answer = (at: Fixture, text: string, deliveryId = "answer-1") => {
  const { conversation, replyData } = at.context.received.at(-1)!;
  return at.channel.send({ conversation, text, deliveryId, ...(replyData !== undefined && { replyData }) }, never);
};

describe("a command of the menu", () => {
  test.each([
    ["status", undefined, "/status"],
    ["model", "large", "/model large"],
    ["model", undefined, "/model"],
  ])("/%s %s comes in as the text that somebody could have written", async (name, value, text) => {
    await using at = await started();
    const used = at.platform.useCommand({ userId: PERSON, channelId: at.room.id, name, ...(value && { value }) });
    await at.received(2);
    expect(at.context.received[1]).toMatchObject({
      id: `interaction-${used.id}`,
      conversation: { channel: "discord", id: at.room.id },
      sender: PERSON,
      senderName: "Ada",
      group: true,
      text,
    });
    expect(used.answeredBy).toBe(5);
  });

  test("is answered where it was used, in place of the waiting; what follows is a message", async () => {
    await using at = await started();
    const used = at.platform.useCommand({ userId: PERSON, channelId: at.room.id, name: "status" });
    await at.received(2);
    const receipt = await answer(at, "All is well");
    const again = await answer(at, "All is well");
    await answer(at, "And more", "answer-2");
    expect(used.response?.content).toBe("All is well");
    expect([receipt, again]).toEqual([{ platformId: used.response!.id }, { platformId: used.response!.id }]);
    expect(at.platform.sent.map(({ text }) => text)).toEqual(["All is well", "And more"]);
    await at.channel.drafts.edit(
      { conversation: { channel: "discord", id: at.room.id }, platformId: receipt.platformId! },
      "Better",
      never,
    );
    expect(at.platform.sent[0]?.text).toBe("Better");
  });

  test("after a quarter of an hour the answer is a message; the token is kept encrypted, and no longer than that", async () => {
    const secrets = memorySecrets();
    await using at = await started({}, { secrets });
    at.platform.useCommand({ userId: PERSON, channelId: at.room.id, name: "status" });
    await at.received(2);
    expect(await secrets.list()).toHaveLength(1);
    expect(JSON.stringify(at.context.received)).not.toContain("aW50ZXJhY3Rpb24");
    const later = at.platform.world.nowMs + 16 * 60_000;
    at.platform.world.nowMs = later;
    at.context.clock.setWallClock(later);
    await answer(at, "Late");
    expect(at.platform.sent.map(({ text }) => text)).toEqual(["Late"]);
    expect(at.platform.requests.filter(({ path }) => path.includes("/webhooks/"))).toEqual([]);
    at.platform.useCommand({ userId: PERSON, channelId: at.room.id, name: "help" });
    await at.received(3);
    await soon(() => at.context.received.length === 3);
    expect(await secrets.list()).toHaveLength(1);
  });

  test("of which the platform knows nothing any more is answered by a message", async () => {
    await using at = await started();
    const used = at.platform.useCommand({ userId: PERSON, channelId: at.room.id, name: "status" });
    await at.received(2);
    Object.assign(used, { answeredBy: undefined });
    await answer(at, "Here");
    expect(at.platform.sent.map(({ text }) => text)).toEqual(["Here"]);
  });

  test("is answered at once although messages wait to be kept", async () => {
    await using at = await fixture({}, { receive: () => new Promise(() => undefined) });
    await at.start();
    at.platform.write({ from: PERSON, text: "waits" });
    const used = at.platform.useCommand({ userId: PERSON, channelId: at.room.id, name: "stop" });
    await soon(() => used.answeredBy !== undefined);
    expect(used.answeredBy).toBe(5);
  });

  test("of somebody else is refused, seen by nobody else, and comes in nowhere", async () => {
    await using at = await started();
    const used = at.platform.useCommand({ userId: STRANGER, channelId: at.room.id, name: "new" });
    await soon(() => used.answeredBy !== undefined);
    expect([used.answeredBy, used.ephemeral]).toEqual([4, expect.stringContaining("not among those")]);
    expect([at.platform.sent, at.context.received.length]).toEqual([[], 1]);
  });

  test("on a server that is not listed is refused", async () => {
    await using at = await started({ allowed_guilds: ["5"] });
    const used = at.platform.useCommand({ userId: PERSON, channelId: at.room.id, name: "new" });
    await soon(() => used.answeredBy !== undefined);
    expect(used.ephemeral).toContain("does not listen on this server");
    const direct = at.platform.useCommand({
      userId: PERSON,
      channelId: at.platform.directWith(PERSON).id,
      name: "new",
    });
    await at.received(2);
    expect(direct.answeredBy).toBe(5);
  });
});

describe("the menu", () => {
  const NAMES = ["new", "model", "status", "stop", "help"];
  const asked = ({ platform }: Fixture) =>
    platform.requests.filter(({ path }) => path.endsWith("/commands")).map(({ method }) => method);

  test("is registered where it is not there, and only then", async () => {
    const disk = { state: memorySecrets(), secrets: memorySecrets() };
    await using at = await started({}, disk);
    await soon(() => asked(at).length === 2);
    expect((await at.platform.commands()).map((command) => (command as { name: string }).name)).toEqual(NAMES);
    await at.stop();
    await using next = await fixture({}, { ...disk, platform: at.platform });
    await next.start();
    await soon(() => asked(at).length === 3);
    await next.received(0);
    expect(asked(at)).toEqual(["GET", "PUT", "GET"]);
  });

  test("goes where it is turned off, if it was ours", async () => {
    const disk = { state: memorySecrets(), secrets: memorySecrets() };
    await using at = await started({}, disk);
    await soon(() => asked(at).length === 2);
    await at.stop();
    await using off = await fixture({ slash_commands: false }, { ...disk, platform: at.platform });
    await off.start();
    await soon(() => asked(at).length === 3);
    expect(await at.platform.commands()).toEqual([]);
    await using never_ = await started({ slash_commands: false });
    expect(asked(never_)).toEqual([]);
  });

  test("that can't be registered is said, and keeps nothing from working", async () => {
    await using at = await fixture();
    at.platform.limits.refuseNext(/PUT applications/, 60);
    await at.start();
    at.platform.write({ from: PERSON, text: "works" });
    await at.received(1);
    await soon(() => at.context.log.lines.some(({ message }) => message.includes("menu of commands")));
    expect(await at.platform.commands()).toEqual([]);
  });
});

describe("a question", () => {
  test("has two buttons, and opens a thread on a server", async () => {
    await using at = await fixture();
    const receipt = await at.channel.prompts.post(question(at), PROMPT, never);
    const [sent] = at.platform.sent;
    expect(sent).toMatchObject({ text: question(at).text, buttons: ["Approve", "Reject"], flags: 4 });
    expect(sent?.customIds).toEqual(["svc-prompt:ap-12:yes", "svc-prompt:ap-12:no"]);
    expect(receipt).toEqual({ platformId: sent!.id, opened: { channel: "discord", id: sent!.message.threadId } });
    expect(at.platform.world.channels.get(receipt.opened!.id)?.name).toBe("Deploy?");
    expect(await at.channel.prompts.post(question(at), PROMPT, never)).toEqual(receipt);
  });

  test("opens none in direct messages, in a thread, and where the bot may not", async () => {
    await using at = await fixture();
    const thread = at.platform.addChannel(at.guild, { type: 11, parentId: at.room.id });
    for (const id of [at.platform.directWith(PERSON).id, thread.id]) {
      expect(await at.channel.prompts.post(question(at, id), PROMPT, never)).not.toHaveProperty("opened");
    }
    at.room.denied.add("threads");
    expect(await at.channel.prompts.post(question(at), PROMPT, never)).not.toHaveProperty("opened");
    expect(at.platform.sent.map(({ buttons }) => buttons.length)).toEqual([2, 2, 2]);
  });

  test("whose thread could not be opened for a moment is posted once, and has one in the end", async () => {
    await using at = await fixture();
    at.platform.limits.refuseNext(/threads/, 1);
    await expect(at.channel.prompts.post(question(at), PROMPT, never)).rejects.toMatchObject({
      code: "DELIVERY_FAILED",
    });
    await at.context.clock.advance(1_000);
    const { opened } = await at.channel.prompts.post(question(at), PROMPT, never);
    expect([at.platform.sent.length, opened?.id]).toEqual([1, at.platform.sent[0]!.id]);
  });

  test.each([
    ["a title of many lines", { title: `a\n${"b".repeat(200)}` }, 2],
    ["a label of 80 characters", { approve: "a".repeat(80) }, 2],
    ["a label of 81", { approve: "a".repeat(81) }, 0],
    ["a blank label", { reject: " " }, 0],
  ])("with %s is taken", async (_, more, buttons) => {
    await using at = await fixture();
    await at.channel.prompts.post(question(at), { ...PROMPT, ...more }, never);
    expect(at.platform.sent.map((one) => one.buttons.length)).toEqual([buttons]);
  });

  test("in its thread is answered without a mention", async () => {
    await using at = await started();
    const { opened } = await at.channel.prompts.post(question(at), PROMPT, never);
    at.platform.write({ from: PERSON, channelId: opened!.id, text: "approve" });
    await at.received(2);
    expect(at.context.received[1]).toMatchObject({ text: "approve", conversation: opened });
  });

  test("that is over has no buttons, and says how it ended, however long it was", async () => {
    await using at = await fixture();
    const { conversation } = question(at);
    for (const text of ["Deploy?", "x".repeat(2_000)]) {
      const { platformId } = await at.channel.prompts.post({ ...question(at), text, deliveryId: text }, PROMPT, never);
      await at.channel.prompts.close!({ conversation, platformId, text }, "approved by ada", never);
      expect(at.platform.sent.at(-1)?.text).toMatch(/^(?:Deploy\?|x+…)\n\napproved by ada$/);
      expect(at.platform.sent.at(-1)?.buttons).toEqual([]);
    }
  });
});

describe("a press", () => {
  test("says which question it answers, and how; it is acknowledged at once", async () => {
    await using at = await started();
    await at.channel.prompts.post(question(at), PROMPT, never);
    const yes = at.platform.press(PERSON, "Approve");
    const no = at.platform.press(PERSON, "Reject");
    await at.received(3);
    await soon(() => no.answeredBy !== undefined);
    expect([yes.answeredBy, no.answeredBy]).toEqual([6, 6]);
    const [, first, second] = at.context.received;
    expect(first).toMatchObject({
      id: `interaction-${yes.id}`,
      text: "Approve",
      choice: { prompt: "ap-12", approved: true },
      conversation: { channel: "discord", id: at.room.id },
      sender: PERSON,
      replyData: { messageId: at.platform.sent[0]!.id },
    });
    expect(second).toMatchObject({ text: "Reject", choice: { prompt: "ap-12", approved: false } });
    expect(at.platform.sent[0]?.buttons).toHaveLength(2);
  });

  test("of a stranger is refused, seen by nobody else", async () => {
    await using at = await started();
    await at.channel.prompts.post(question(at), PROMPT, never);
    const press = at.platform.press(STRANGER, "Approve");
    await soon(() => press.answeredBy !== undefined);
    expect([press.answeredBy, press.ephemeral]).toEqual([4, expect.stringContaining("not among those")]);
    expect(at.context.received).toHaveLength(1);
  });

  test("on a button of another's making is left to the other", async () => {
    await using at = await started();
    const { platform } = at;
    const message = platform.write({ from: platform.world.bot.id, channelId: at.room.id, text: "Other" });
    for (const customId of [
      "other",
      "svc-prompt::yes",
      "svc-prompt:ap-12:YES",
      "svc-prompt:ap 12:yes",
      `svc-prompt:${"a".repeat(33)}:no`,
    ]) {
      platform.interactions.press({ userId: PERSON, message, customId });
    }
    platform.write({ from: PERSON, text: "the end" });
    await at.received(2);
    expect(at.context.received[1]?.text).toBe("the end");
    expect(platform.interactions.all.map(({ answeredBy }) => answeredBy)).toEqual(Array.from({ length: 5 }));
  });
});
