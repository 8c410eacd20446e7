// A linked device in use: groups, files, voice notes, signs of life; and each way in which the platform ends it, with the next step.
import { memorySecrets } from "@svc/testkit/memory-secrets";
import { Curve } from "baileys";
import { expect, onTestFinished, test } from "vitest";
import type { WebSection } from "../src/connection.ts";
import { linkedSecrets, type Opened, open, sectionOf, until } from "./fixture.ts";
import { uploaded } from "@svc/testkit/platforms/provider-a-web/files";
import {
  GROUP,
  OWNER,
  PERSON,
  startWebPlatform,
  STRANGER,
  type WebPlatform,
} from "@svc/testkit/platforms/provider-a-web/server";

const NEVER = new AbortController().signal;
const toAda = { channel: "provider_a", id: PERSON };

async function started(more: Partial<WebSection> = {}): Promise<{ platform: WebPlatform; opened: Opened }> {
  const platform = await startWebPlatform();
  const opened = open(sectionOf(platform, more), await linkedSecrets(platform));
  onTestFinished(async () => {
    await opened.stop();
    await platform.close();
  });
  opened.start();
  return { platform, opened };
}

const sound = ({ broken, violations, retries }: WebPlatform): void =>
  expect({ broken, violations, retries }).toEqual({ broken: [], violations: [], retries: 0 });

test("links by a code that is typed on the phone", async () => {
  await using platform = await startWebPlatform();
  await using opened = open(sectionOf(platform, { pair_phone: OWNER }), memorySecrets());
  const linking = opened.channel.linking!;
  await linking.begin(NEVER);
  await until(async () => (await linking.state(NEVER)).stage === "code", "a code is shown");
  const state = await linking.state(NEVER);
  await platform.type(state.stage === "code" ? state.code : "");
  await until(async () => (await linking.state(NEVER)).stage === "done", "the account is linked");
  expect(await linking.begin(NEVER)).toEqual({ stage: "done", account: OWNER });
  opened.start();
  await platform.write({ from: PERSON, text: "Hello" });
  await until(() => opened.context.received.length === 1, "a message is received");
  sound(platform);
});

test("a group: who is on the list and names the account is heard, and the answer quotes the message", async () => {
  const { platform, opened } = await started();
  const mention = { contextInfo: { mentionedJid: [platform.person(OWNER).lid] } };
  await platform.write({ from: PERSON, group: true, content: { extendedTextMessage: { text: "not for you" } } });
  await platform.write({
    from: STRANGER,
    group: true,
    content: { extendedTextMessage: { text: "@bot let me in", ...mention } },
  });
  const id = await platform.write({
    from: PERSON,
    group: true,
    content: { extendedTextMessage: { text: "@bot hello", ...mention } },
  });
  await until(() => opened.context.received.length > 0, "a message is received");
  const [message] = opened.context.received;
  expect(opened.context.received.map(({ text }) => text)).toEqual(["@bot hello"]);
  expect(message).toMatchObject({ group: true, sender: PERSON, conversation: { id: GROUP } });
  for (const text of ["Hello all", "And again"]) {
    await opened.channel.send(
      { conversation: message!.conversation, text, deliveryId: text, replyData: message!.replyData! },
      NEVER,
    );
  }
  const seen = platform.seen.filter(({ by }) => by === STRANGER);
  expect(seen.map(({ text }) => text)).toEqual(["Hello all", "And again"]);
  expect(seen[0]!.message.extendedTextMessage?.contextInfo).toMatchObject({
    stanzaId: id,
    participant: platform.person(PERSON).lid,
  });
  await opened.channel.readMarks!.mark(message!.conversation, message!.id!, NEVER);
  await until(() => platform.reads.length === 1, "it is marked as read");
  expect(platform.reads).toEqual([{ id, to: GROUP }]);
  sound(platform);
});

test("voice notes both ways: what is recorded can be fetched, and Ogg with Opus arrives as a voice note", async () => {
  const { platform, opened } = await started();
  const recording = Buffer.from("OggS a recording");
  const audioMessage = {
    ...uploaded(platform, "audio", recording),
    ptt: true,
    seconds: 2,
    mimetype: "audio/ogg; codecs=opus",
  };
  await platform.write({ from: PERSON, content: { audioMessage } });
  await until(() => opened.context.received.length === 1, "a message is received");
  const [media] = opened.context.received[0]!.media!;
  expect(media).toMatchObject({ kind: "audio", mimeType: "audio/ogg", placeholder: "[audio]" });
  const chunks: Uint8Array[] = [];
  await opened.channel.media!.fetch(media!, async (chunk) => void chunks.push(chunk), NEVER);
  expect(Buffer.concat(chunks)).toEqual(recording);

  const answer = Buffer.from("OggS an answer");
  const file = { kind: "audio", name: "answer.ogg", mimeType: "audio/ogg", read: async () => answer } as const;
  await opened.channel.send({ conversation: toAda, text: "", files: [file], deliveryId: "voice" }, NEVER);
  const note = platform.seen.find(({ by }) => by === PERSON)!.message.audioMessage!;
  expect({ ptt: note.ptt, mimetype: note.mimetype }).toEqual({ ptt: true, mimetype: "audio/ogg; codecs=opus" });
  expect(platform.requests.some(({ body }) => Buffer.from(body ?? "").equals(answer))).toBe(true);
  sound(platform);
});

test("in personal mode nothing of others is read or answered, and the owner writes in the chat with themselves", async () => {
  const { platform, opened } = await started({ mode: "personal", allowed_numbers: [OWNER] });
  await platform.write({ from: STRANGER, text: "Hello?" });
  await platform.write({ from: PERSON, text: "Are you there?" });
  await platform.writeOwn({ text: "to Ada", to: PERSON });
  await platform.writeOwn({ text: "a note" });
  await until(() => opened.context.received.length > 0, "a message is received");
  expect(opened.context.received.map(({ text, sender }) => [text, sender])).toEqual([["a note", OWNER]]);
  await opened.channel.send(
    { conversation: opened.context.received[0]!.conversation, text: "Noted", deliveryId: "n" },
    NEVER,
  );
  expect(platform.seen.map(({ by, text }) => [by, text])).toEqual([[OWNER, "Noted"]]);
  expect(platform.reads).toEqual([]);
  sound(platform);
});

test("it shows that it writes", async () => {
  const { platform, opened } = await started();
  await opened.channel.typing!.start(toAda, undefined, NEVER);
  await until(() => platform.typing.length === 1, "typing is shown");
  expect(platform.typing).toEqual([platform.person(PERSON).jid]);
});

test.each([
  [
    "logged out",
    { tag: "stream:error", attrs: { code: "401" }, content: [{ tag: "conflict", attrs: { type: "device_removed" } }] },
    /logged this linked device out.*svc channels link/,
  ],
  ["banned", { tag: "failure", attrs: { reason: "403" } }, /banned or locked.*says why/],
  ["version rejected", { tag: "failure", attrs: { reason: "405" } }, /does not accept this version.*web_version/],
  [
    "replaced",
    { tag: "stream:error", attrs: {}, content: [{ tag: "conflict", attrs: { type: "replaced" } }] },
    /Another program.*Stop the other/,
  ],
])("%s: run ends with what to do, and stays down for a while", async (_, node, says) => {
  const { platform, opened } = await started();
  await opened.channel.check!(NEVER);
  platform.fail(node);
  const error = (await opened.over) as { message: string; hint: string; code: string };
  expect(`${error.message} ${error.hint}`).toMatch(says);
  expect(error.code).not.toBe("FEATURE_FAILED");
  await expect(opened.channel.send({ conversation: toAda, text: "x", deliveryId: "x" }, NEVER)).rejects.toMatchObject({
    message: error.message,
  });
});

test("a server whose certificate another key signed is not the platform", async () => {
  await using platform = await startWebPlatform();
  const other = Buffer.from(Curve.generateKeyPair().public).toString("hex");
  const secrets = await linkedSecrets(platform);
  await using opened = open(sectionOf(platform, { web_root_key: other }), secrets);
  opened.start();
  expect(String(await opened.over)).toContain("certificate is signed by another key");
  expect(platform.logins).toBe(0);
});
