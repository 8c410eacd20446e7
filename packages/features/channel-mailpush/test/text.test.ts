// What a mail says, as the model gets it: every kind of body, HTML of strangers, quotes of what was said before.
import type { Json } from "@svc/contract";
import { vectorCases } from "@svc/testkit/vectors";
import * as fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { bodyText, leavesOf } from "../src/mail.ts";
import { closePlatforms, connected, never, NEWEST } from "./open-channel.ts";

afterEach(closePlatforms);

const body = (payload: unknown, snippet = "snippet") => bodyText({ leaves: leavesOf(payload), snippet });
const part = (mimeType: string, content: string | Uint8Array, more: object = {}) => ({
  mimeType,
  filename: "",
  body: { data: Buffer.from(content as string).toString("base64url") },
  ...more,
});

test.each(vectorCases<{ snippet: string }, string>("mailpush.body_text"))("$name", ({ input, expected }) => {
  expect(body(input, input.snippet)).toBe(expected);
});

test("plain text before HTML, wherever it is; both of a mixed one; no attached file", () => {
  const plain = part("text/plain", "plain\r\ntext");
  const html = part("text/html", "<p>html</p>");
  const file = part("text/plain", "file", { filename: "a.txt" });
  const attached = part("text/plain", "file", { headers: [{ name: "Content-Disposition", value: "attachment" }] });
  const multi = (kind: string, ...parts: object[]) => ({
    mimeType: `multipart/${kind}`,
    filename: "",
    body: { size: 0 },
    parts,
  });
  expect(body(multi("alternative", html, plain))).toBe("plain\ntext");
  expect(body(multi("mixed", multi("related", multi("alternative", plain, html)), file))).toBe("plain\ntext");
  expect(body(multi("mixed", plain, file, part("text/plain", "more")))).toBe("plain\ntext\n\nmore");
  expect(body(multi("mixed", html, attached))).toBe("html");
  expect(body(multi("alternative", part("text/plain", "  \n"), html))).toBe("html");
  expect(body(multi("mixed", file), "it&#39;s &amp; more")).toBe("it's & more");
  expect(body(part("TEXT/PLAIN", "loud"))).toBe("loud");
});

test("a text in another charset than UTF-8, with the right name of it, a wrong one, or none", () => {
  const latin = Buffer.from("Grüße", "latin1");
  const of = (value: string) => part("text/plain", latin, { headers: [{ name: "content-type", value }] });
  expect(body(of("text/plain; charset=iso-8859-1"))).toBe("Grüße");
  expect(body(of('text/plain; format=flowed; charset="windows-1252"'))).toBe("Grüße");
  expect(body(of("text/plain; charset=nonsense"))).toBe("Grüße");
  expect(body(of("text/plain"))).toBe("Grüße");
  expect(
    body(part("text/plain", "Grüße", { headers: [{ name: "Content-Type", value: "text/plain; charset=latin1" }] })),
  ).toBe("Grüße");
});

async function readOne(mail: object) {
  const { platform, channel, context } = await connected();
  platform.arrive({ from: "ada@example.org", ...mail });
  await channel.onNotice(NEWEST, never);
  return context.received[0];
}

test("of a reply only what is new; a forwarded mail stays whole", async () => {
  const text = "Look\n\nOn Tue, 3 Feb 2026, Bob <b@example.org> wrote:\n> the thing";
  const headers = { "In-Reply-To": "<m0@example.org>" };
  expect(await readOne({ text, headers, subject: "Re: It" })).toMatchObject({ text: "Look" });
  expect(await readOne({ text, headers, subject: "Fwd: It" })).toMatchObject({ text: `Subject: Fwd: It\n\n${text}` });
  expect(await readOne({ text, subject: "=?utf-8?q?Gr=C3=BC=C3=9Fe?=" })).toMatchObject({
    text: `Subject: Grüße\n\n${text}`,
  });
});

test("a mail without a text, a subject or a file says nothing", async () => {
  expect(await readOne({ text: " \n" })).toBeUndefined();
  expect(await readOne({ subject: "Only this" })).toMatchObject({ text: "Subject: Only this" });
});

const json = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<Json>("text/plain", "text/html", "multipart/mixed", "QUJD", "a.txt", "1"),
    fc.jsonValue() as fc.Arbitrary<Json>,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(
      fc.constantFrom("mimeType", "filename", "body", "data", "parts", "headers", "name", "value", "partId"),
      tie("value"),
    ),
  ),
})).value;

test("no payload makes it throw", () => {
  fc.assert(
    fc.property(json, (payload) => {
      expect(body(payload)).toBeTypeOf("string");
    }),
  );
  const deep = Array.from({ length: 5000 }).reduce<object>((inner) => ({ parts: [inner, inner] }), {});
  expect(body(deep)).toBe("snippet");
});
