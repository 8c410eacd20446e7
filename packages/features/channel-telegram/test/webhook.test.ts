// In webhook mode the platform proves itself by a secret; a press is answered in the answer to its delivery, since parsing may
// ask no one anything.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { rawOf } from "@svc/testkit/conformance/channel-conformance";
import { telegramDelivery, telegramMessage, telegramPress } from "@svc/testkit/platforms/telegram/update";
import { expect, test } from "vitest";
import { ADA, fixtureAndPlatform, NOW_MS, never, only, posted, said, SECRET } from "./fixture.ts";

const QUESTION = {
  message: { conversation: { channel: "telegram", id: ADA }, text: "Deploy?", deliveryId: "d" },
  prompt: { id: "ap-1", title: "Deploy?", message: "Now.", approve: "Do it", reject: "Don't" },
};

test.each([
  [SECRET, true],
  [`${SECRET}x`, false],
  [SECRET.slice(1), false],
  ["", false],
  [undefined, false],
])("the secret %j", async (secret, isRight) => {
  const { made } = await posted();
  const verdict = made.ingress![0]!.verify(rawOf(telegramDelivery({ update_id: 1 }, secret), NOW_MS));
  expect(verdict.ok).toBe(isRight);
});

test("in polling mode nobody can post", async () => {
  await using at = await fixtureAndPlatform();
  expect(at.made.ingress).toEqual([]);
});

test("a message that is posted twice has one id, and so has one that polling hands over", async () => {
  const { parsed } = await posted();
  const ids = [1, 2].map((update_id) => only(parsed({ ...said("x"), update_id })).id);
  expect(new Set(ids).size).toBe(1);
});

test("each picture of an album is a message of its own: they are posted one by one", async () => {
  const { parsed } = await posted();
  const picture = { photo: [{ file_id: "f" }], media_group_id: "a" };
  expect(only(parsed(said(undefined, { more: picture }))).text).toBe("[image]");
});

test("a press is answered in the answer to its delivery, a stranger's is not", async () => {
  const { parsed } = await posted();
  const message = { message_id: 5, chat: { id: Number(ADA), type: "private" }, date: 0 };
  const press = { id: "q", from: ADA, data: "p:ap-1:y", message };
  const { reply, inbound } = parsed({ callback_query: telegramPress(press) });
  // The message is too old for the platform to say what is on its buttons.
  expect(inbound).toMatchObject([{ text: "Approve", choice: { prompt: "ap-1", approved: true }, sentAtMs: NOW_MS }]);
  expect(reply).toMatchObject({ status: 200, contentType: "application/json" });
  expect(JSON.parse(reply!.body as string)).toEqual({
    method: "answerCallbackQuery",
    callback_query_id: telegramPress(press)["id"],
  });
  expect(parsed({ callback_query: telegramPress({ ...press, from: "9" }) })).toEqual({ inbound: [] });
  expect(parsed({ callback_query: telegramPress({ ...press, data: "p:ap-1:x" }) }).inbound).toEqual([]);
});

test.each(["p:ap-1:yes", "p::y", "p:AP:y", `p:${"a".repeat(33)}:y`, "p:ap-1:y ", "x", ""])(
  "a button of another's making, %j, answers nothing",
  async (data) => {
    const { parsed } = await posted();
    const message = { message_id: 5, chat: { id: Number(ADA), type: "private" }, date: 1 };
    expect(parsed({ callback_query: telegramPress({ id: "q", from: ADA, data, message }) }).inbound).toEqual([]);
  },
);

test("set up, what is written and pressed comes in by it, again where we were down", async () => {
  let isUp = false;
  const received: unknown[] = [];
  let target = "";
  await using at = await fixtureAndPlatform({ mode: "webhook" }, { webhook: { target: () => target } });
  const ingress = at.made.ingress![0]!;
  // The gateway, as far as it matters here.
  const gateway = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const raw = rawOf({ method: "POST", query: "", headers, body: Buffer.concat(chunks) }, NOW_MS);
    if (!isUp || !ingress.verify(raw).ok) return void response.writeHead(503).end();
    const { inbound = [], reply } = ingress.parse(raw);
    received.push(...inbound);
    response.writeHead(200, { "content-type": "application/json" }).end(reply?.body ?? '{"status":"ok"}');
  });
  await new Promise<void>((resolve) => gateway.listen(0, "127.0.0.1", resolve));
  target = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}/telegram`;
  try {
    expect(await at.channel.setup({ url: "https://svc.example.org/telegram" }, never)).toContain(
      "posts messages to svc",
    );
    await at.channel.prompts.post(QUESTION.message, QUESTION.prompt, never);
    at.platform.push({ message: telegramMessage({ id: "1", text: "Hello", from: ADA, atMs: NOW_MS }) });
    const message = at.platform.told(at.platform.sent[0]!);
    at.platform.push({ callback_query: telegramPress({ id: "q", from: ADA, data: "p:ap-1:y", message }) });
    await at.platform.webhook.deliver();
    expect(received).toEqual([]);
    expect(await at.channel.check(never)).toContain("2 messages wait because the last delivery failed");
    isUp = true;
    await at.platform.webhook.deliver();
    expect(received).toMatchObject([{ text: "Hello" }, { text: "Do it", choice: { approved: true } }]);
    expect(at.platform.done.answered).toHaveLength(1);
    expect(await at.channel.check(never)).toBe("@svc_bot; its webhook is set");
  } finally {
    await new Promise((resolve) => gateway.close(resolve));
  }
});
