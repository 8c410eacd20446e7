// What goes out: HTML, files in clear and encrypted, rate limits, transactions; and readers of what others write.
import { cases } from "@svc/cases";
import type { Json } from "@svc/contract";
import { matrixHtmlText } from "@svc/testkit/platforms/matrix/html";
import { type MatrixPlatform, PERSON, startMatrix } from "@svc/testkit/platforms/matrix/server";
import * as fc from "fast-check";
import { decodeRecoveryKey, encodeRecoveryKey } from "matrix-js-sdk/lib/crypto-api/recovery-key.js";
import { expect, test } from "vitest";
import * as v from "valibot";
import { config } from "../src/config.ts";
import { htmlOf, textContent, txnIdOf } from "../src/outbound.ts";
import { inboundOf } from "../src/inbound.ts";
import { mediaRef } from "../src/media.ts";
import { recoveryKeyBytes, recoveryKeyText } from "../src/trust.ts";
import { connect, eventually, never, sectionFor } from "./fixture.ts";

test.each([
  ["plain words & <more>", undefined],
  ["**bold** and `code`", "<strong>bold</strong> and <code>code</code>"],
  ["[a](https://example.org/?a=1&b=2)", '<a href="https://example.org/?a=1&amp;b=2">a</a>'],
  ["[a](javascript:alert)", "a (javascript:alert)"],
  ["# Title\n\ntext", "<h1>Title</h1>\n<p>text</p>"],
  ["3. three\n4. four", '<ol start="3"><li>three</li><li>four</li></ol>'],
  ["- [x] done", "<ul><li>☑ done</li></ul>"],
  ["```js\na < b\n```", '<pre><code class="language-js">a &lt; b\n</code></pre>'],
  [
    "| a | b |\n| --- | --- |\n| 1 | 2 |",
    "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>",
  ],
  ["> quoted", "<blockquote><p>quoted</p></blockquote>"],
])("Markdown %j is shown as its HTML", (markdown, html) => {
  expect(htmlOf(markdown)).toBe(html);
});

test("of any text the HTML is one that clients show, and the event is small enough", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 400 }), (text) => {
      const html = htmlOf(text.toWellFormed());
      if (html !== undefined) matrixHtmlText(html);
      expect(JSON.stringify(textContent(text)).isWellFormed()).toBe(true);
    }),
    { numRuns: cases(500) },
  );
  for (const unit of ["**a** ", '"', "\u4e2d", "<", "- x\n"]) {
    const content = textContent(unit.repeat(8_000).slice(0, 8_000));
    expect(Buffer.byteLength(JSON.stringify(content))).toBeLessThan(44_100);
  }
});

const reading = {
  roomId: "!room:hs.test",
  userId: "@svc:hs.test",
  ownName: "svc",
  senderName: undefined,
  isGroup: false,
  mentionOnly: true,
  isReplyToUs: false,
  receivedAtMs: 1,
};

test("any JSON can be read as an event and as a file, and what comes of it is sound", () => {
  const event = fc.record(
    {
      event_id: fc.oneof(fc.constant("$event"), fc.jsonValue()),
      type: fc.constantFrom("m.room.message", "m.sticker", "m.reaction", "m.other"),
      sender: fc.oneof(fc.constant(PERSON), fc.jsonValue()),
      origin_server_ts: fc.jsonValue(),
      content: fc.record(
        {
          msgtype: fc.constantFrom("m.text", "m.emote", "m.image", "m.file", "m.audio", "m.location", "m.bad"),
          body: fc.oneof(fc.string(), fc.jsonValue()),
          filename: fc.jsonValue(),
          url: fc.oneof(fc.constant("mxc://hs.test/file"), fc.jsonValue()),
          file: fc.jsonValue(),
          info: fc.jsonValue(),
          geo_uri: fc.jsonValue(),
          "m.mentions": fc.jsonValue(),
          "m.relates_to": fc.jsonValue(),
        },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.oneof(event, fc.dictionary(fc.string(), fc.jsonValue())), fc.boolean(), (given, isGroup) => {
      const inbound = inboundOf(given as Record<string, Json>, { ...reading, isGroup });
      if (inbound === undefined) return;
      expect(JSON.parse(JSON.stringify(inbound))).toEqual(inbound);
      expect(inbound.text.trim() !== "" || inbound.kind === "reaction").toBe(true);
      for (const { placeholder, ref } of inbound.media ?? []) {
        expect(inbound.text).toContain(placeholder);
        expect(ref).toMatch(/^mxc:\/\/[^/\s]+\/[\w=.-]+(?:#[\w-]+)?$/);
      }
    }),
    { numRuns: cases(1_000) },
  );
});

test("a quoted message that older clients repeat is left out", () => {
  const content = {
    msgtype: "m.text",
    body: "> <@svc:hs.test> Shall I?\n> Really?\n\nyes",
    "m.relates_to": { "m.in_reply_to": { event_id: "$question" } },
  };
  const event = { event_id: "$e", type: "m.room.message", sender: PERSON, origin_server_ts: 5, content };
  expect(inboundOf(event, reading)).toMatchObject({ text: "yes", repliesTo: "$question", sentAtMs: 5 });
});

test("recovery keys are read and written as matrix-js-sdk does", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (key) => {
      const text = recoveryKeyText(key);
      expect(text).toBe(encodeRecoveryKey(key));
      expect(recoveryKeyBytes(text)).toEqual(Buffer.from(decodeRecoveryKey(text)));
      expect(recoveryKeyBytes(text.replace(/.$/, (last) => (last === "z" ? "y" : "z")))).toBeUndefined();
    }),
    { numRuns: cases(100) },
  );
  for (const bad of ["", "E", "0OIl", "EsT".repeat(100)]) expect(recoveryKeyBytes(bad)).toBeUndefined();
});

async function opened(platform: MatrixPlatform) {
  const svc = await connect(sectionFor(platform));
  await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
  return svc;
}

test.each([false, true])("a file goes out and comes in; encrypted: %s", async (encrypted) => {
  await using platform = await startMatrix({ encrypted });
  await using svc = await opened(platform);
  const bytes = Buffer.from("the bytes of a picture");
  const file = { kind: "image", name: "a.png", mimeType: "image/png", read: async () => bytes } as const;
  const conversation = { channel: "federated", id: platform.room };
  await svc.channel.send({ conversation, text: "", files: [file], deliveryId: "d" }, never);
  const [stored] = [...platform.world.media.values()];
  expect(Buffer.from(stored!.bytes).equals(bytes)).toBe(!encrypted);
  if (encrypted) return;
  const ref = mediaRef(platform.sent.at(-1)!.content as never)!;
  const chunks: Uint8Array[] = [];
  const got = await svc.channel.media!.fetch(
    { kind: "image", ref, placeholder: "" },
    async (chunk) => void chunks.push(chunk),
    never,
  );
  expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
  expect(got).toEqual({ mimeType: "image/png" });
});

test("a rate limit says when to try again, in its body too", async () => {
  await using platform = await startMatrix();
  await using svc = await opened(platform);
  const [{ url }] = [platform];
  expect(url).toBeDefined();
  platform.world.limitMs = 2_500;
  const send = svc.channel.send(
    { conversation: { channel: "federated", id: platform.room }, text: "a", deliveryId: "d" },
    never,
  );
  await expect(send).rejects.toMatchObject({ code: "DELIVERY_FAILED", retryAfterMs: 2_500 });
});

test("transaction ids fit into a path, and tell deliveries apart", () => {
  expect(txnIdOf("a", "b")).toMatch(/^svc-[\w-]{40}$/);
  expect(txnIdOf("a", "b")).not.toBe(txnIdOf("ab"));
  expect(txnIdOf("a", "b")).toBe(txnIdOf("a", "b"));
});

test("a section without a token needs a password and a user id", () => {
  const homeserver = "https://hs.test";
  const paths = (section: object): string[] =>
    v.safeParse(config, section).issues?.map((issue) => v.getDotPath(issue) ?? "") ?? [];
  expect(paths({ homeserver })).toEqual(["access_token", "user_id"]);
  expect(paths({ homeserver, password: "p" })).toEqual(["user_id"]);
  expect(paths({ homeserver, password: "p", user_id: "@svc:hs.test" })).toEqual([]);
  expect(paths({ homeserver, access_token: "t" })).toEqual([]);
  expect(paths({ homeserver, access_token: "t", allowed_rooms: ["office"] })).toEqual(["allowed_rooms.0"]);
  expect(paths({ homeserver, access_token: "t", recovery_key: "nope" })).toEqual(["recovery_key"]);
  expect(paths({ homeserver: "hs.test", access_token: "t" })).toEqual(["homeserver"]);
});
