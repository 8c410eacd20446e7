// `http_get` keeps what every tool keeps, asks exactly when it acts, and shows text as text and nothing secret.
import type { FetchOptions, FetchResult } from "@svc/contract";
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import { toolConformance } from "@svc/testkit/conformance/tool-conformance";
import { fakeToolContext } from "@svc/testkit/fake-tool-context";
import * as v from "valibot";
import { expect, test } from "vitest";
import { httpGet } from "../src/http-get.ts";
import definition from "../src/index.ts";

featureConformance(definition, { root: `${import.meta.dirname}/..` });

toolConformance(httpGet, {
  input: { url: "https://example.org/" },
  badInputs: [
    {},
    { url: "" },
    { url: "https://x", max_bytes: 0 },
    { url: "https://x", max_bytes: 1e9 },
    { url: "https://x", headers: { a: 1 } },
    { url: "https://x", method: "PUT" },
  ],
});

const get = (input: Record<string, unknown>, answer: Partial<FetchResult> = {}, seen: FetchOptions[] = []) =>
  httpGet.run(
    v.parse(httpGet.input, { url: "https://example.org/", ...input }),
    fakeToolContext({ fetch: (_, options) => (seen.push(options), answer) }),
  );
const bytes = (text: string) => new TextEncoder().encode(text);

test("a body makes it a POST that asks, an empty one too", async () => {
  const approval = httpGet.approval as (input: v.InferOutput<typeof httpGet.input>) => string;
  const asked = (input: object) => approval(v.parse(httpGet.input, { url: "https://x", ...input }));
  expect([asked({}), asked({ headers: { a: "b" } }), asked({ body: "x" }), asked({ body: "" })]).toEqual([
    "auto",
    "auto",
    "ask",
    "ask",
  ]);
  const seen: FetchOptions[] = [];
  await get({}, {}, seen);
  await get({ body: "x", headers: { a: "b" }, max_bytes: 5 }, {}, seen);
  expect(seen).toMatchObject([{ method: "GET" }, { method: "POST", body: "x", headers: { a: "b" }, maxBytes: 5 }]);
  expect(seen[0]).not.toHaveProperty("body");
});

test("status, text and the headers that matter, without cookies", async () => {
  const headers = { "content-type": "text/html", "set-cookie": "session=secret", etag: "e" };
  expect(await get({}, { status: 404, headers, bytes: bytes("<p>grüß</p>"), truncated: true })).toEqual({
    status: 404,
    url: "https://example.org/",
    headers: { "content-type": "text/html", etag: "e" },
    text: "<p>grüß</p>",
    truncated: true,
  });
});

test.each([
  ["application/json", "{}", { text: "{}" }],
  ["application/problem+json; charset=utf-8", "{}", { text: "{}" }],
  [undefined, "plain", { text: "plain" }],
  ["text/plain; charset=nonsense", "x", { text: "x" }],
  ["image/png", "x", { note: expect.any(String), bytes: 1 }],
  ["application/octet-stream", "x", { note: expect.any(String), bytes: 1 }],
  ["text/plain", "a\0b", { note: expect.any(String), bytes: 3 }],
])("%s", async (type, content, expected) => {
  const headers: Record<string, string> = type === undefined ? {} : { "content-type": type };
  expect(await get({}, { headers, bytes: bytes(content) })).toMatchObject(expected);
});

test("text in another charset", async () => {
  const headers = { "content-type": "text/plain; charset=iso-8859-1" };
  expect(await get({}, { headers, bytes: Uint8Array.of(0xe9) })).toMatchObject({ text: "é" });
});
