// One value that is not what the platform's documents say, wherever it is, must be no error, which would be delivered again, and no
// message that can't be stored or answered. The same for bytes of frames, and texts that cost time.
import type { Json } from "@svc/contract";
import { worstGrowth } from "@svc/steps";
import { everyAlteration, flawOf } from "@svc/testkit/conformance/channel-conformance";
import {
  workchatId,
  workchatMention,
  workchatMessageEvent,
  workchatPress,
} from "@svc/testkit/platforms/workchat/events";
import { readWorkchatFrame, workchatFrame } from "@svc/testkit/platforms/workchat/frames";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { withNames } from "../src/events.ts";
import { readFrame, writeFrame } from "../src/websocket.ts";
import { localeOf } from "../src/language.ts";
import { cardMarkdown } from "../src/markdown.ts";
import { decrypted } from "../src/webhook.ts";
import { ingressOf, NOW_MS, PERSON, posted } from "./fixture.ts";

const ingress = ingressOf({ encrypt_key: undefined, verification_token: undefined, mention_only: false });
const flawIn = (payload: unknown): string | undefined =>
  flawOf(ingress.parse(posted(JSON.stringify(payload))), "workchat");

const said = { id: "1", from: PERSON, text: "@_user_1 look", atMs: NOW_MS, mentions: [workchatMention()] };
const group = {
  chat: workchatId("oc", "group"),
  more: { thread_id: "omt_1", root_id: workchatId("om", "r"), parent_id: workchatId("om", "r") },
};
const post = {
  title: "T",
  content: [
    [
      { tag: "text", text: "a" },
      { tag: "at", user_id: "@_user_1" },
      { tag: "img", image_key: "img_1" },
      { tag: "a", text: "l", href: "https://x.test" },
    ],
  ],
};
const press = { id: "p", from: PERSON, chat: group.chat, message: workchatId("om", "q"), atMs: NOW_MS };
const payloads: Record<string, Json> = {
  message: workchatMessageEvent(said),
  "message of a thread": workchatMessageEvent({ ...said, ...group }),
  press: workchatPress({
    ...press,
    value: { choice: "svc-prompt:ap-1:yes", label: "Approve", thread: workchatId("om", "r") },
  }),
  challenge: { type: "url_verification", token: "x", challenge: "3eZbrw1aB" },
};

test.each(Object.keys(payloads))("%s", (name) => {
  let count = 0;
  for (const altered of everyAlteration(payloads[name]!)) {
    expect(flawIn(altered)).toBeUndefined();
    count += 1;
  }
  expect(count).toBeGreaterThan(20);
});

const CONTENTS: Readonly<Record<string, Json>> = {
  post,
  text: { text: "x" },
  image: { image_key: "img_1" },
  file: { file_key: "file_1", file_name: "a" },
  audio: { file_key: "file_1", duration: 1 },
  media: { file_key: "file_1", image_key: "img_1", file_name: "a" },
  interactive: { title: "a", elements: [[{ tag: "text", text: "b" }]] },
  location: { name: "a", longitude: "1", latitude: "2" },
  vote: { topic: "a", options: ["b"] },
  todo: { summary: post },
};

test.each(Object.keys(CONTENTS))("content of the type %s", (type) => {
  for (const content of everyAlteration(CONTENTS[type]!) as Iterable<Json>) {
    expect(flawIn(workchatMessageEvent({ ...said, type, content }))).toBeUndefined();
  }
});

test("any bytes are a frame or none, and what is read is written the same", () => {
  const genuine = workchatFrame({
    method: 1,
    headers: { type: "event", message_id: "m", sum: "1", seq: "0" },
    payload: Buffer.from("{}"),
  });
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(genuine.length - 1), fc.nat(255), (bytes, at, byte) => {
      const altered = Buffer.from(genuine);
      altered[at] = byte;
      for (const input of [bytes, altered, genuine.subarray(0, at)]) {
        const frame = readFrame(input);
        expect(frame && readFrame(writeFrame(frame))).toEqual(frame);
      }
    }),
    { numRuns: cases(2_000) },
  );
  const frame = readFrame(genuine)!;
  expect(readWorkchatFrame(Buffer.from(writeFrame(frame)))).toEqual(readWorkchatFrame(genuine));
});

test("what is no base64 of the platform's is not decrypted", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), fc.uint8Array({ maxLength: 200 }), (text, bytes) => {
      for (const sealed of [text, Buffer.from(bytes).toString("base64")]) {
        const opened = decrypted(sealed, "key");
        expect(opened === undefined || Buffer.isBuffer(opened)).toBe(true);
      }
    }),
    { numRuns: cases(1_000) },
  );
});

test("the Markdown of any text has no tag in it", () => {
  const parts = fc.constantFrom(
    "<",
    ">",
    "at id=all",
    "/",
    "`",
    "```\n",
    "*",
    "_",
    "[",
    "](",
    ")",
    "\\",
    "&",
    "#60;",
    "lt;",
    "\n",
    "- ",
    "> ",
    "|",
    "x",
  );
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 30 }), (list) => {
      expect(cardMarkdown(list.join(""))).not.toMatch(/<\/?[a-z]/i);
    }),
    { numRuns: cases(3_000) },
  );
});

const READERS: readonly (readonly [string, (text: string) => unknown])[] = [
  ["names", (text) => withNames(text, [])],
  ["languages", localeOf],
];

test.each(READERS)("time in proportion to the text: %s", (_, read) =>
  expect(worstGrowth(read)).toSatisfy(({ times }: { times: number }) => times < 6),
);
