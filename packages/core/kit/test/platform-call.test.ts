// What a platform answers decides whether a message is tried again, given up, or the channel told to be out of order; and
// none of its words may get into an error, as it may quote the token.
import { inspect } from "node:util";
import type { FetchOptions, FetchResult } from "@svc/contract";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { platformCall, retryAfterMs, type PlatformCall } from "../src/index.ts";

const URL_ = "https://api.example.org/v1/messages";
const SECRET = "token-7f3a";
const NOW_MS = Date.UTC(2026, 0, 1);

function platform(answer: Partial<FetchResult> = {}) {
  const requests: FetchOptions[] = [];
  const bytes = new TextEncoder().encode(`{"error":"${SECRET} is wrong"}`);
  const fetch = async (url: string, options: FetchOptions = {}): Promise<FetchResult> => {
    requests.push(options);
    return { status: 200, headers: {}, bytes, truncated: false, url, ...answer };
  };
  const call = (more: Partial<PlatformCall> = {}) =>
    platformCall(fetch, {
      url: URL_,
      headers: { authorization: `Bearer ${SECRET}` },
      json: { text: "hello" },
      signal: new AbortController().signal,
      nowMs: NOW_MS,
      ...more,
    });
  return { call, requests };
}

test("sends JSON, follows no redirect to another host, and reads JSON", async () => {
  const { call, requests } = platform({ bytes: new TextEncoder().encode('{"id":"m-1"}') });
  expect(await call()).toEqual({ status: 200, headers: {}, json: { id: "m-1" } });
  expect(requests).toMatchObject([
    {
      body: '{"text":"hello"}',
      headers: { "content-type": "application/json", authorization: `Bearer ${SECRET}` },
      redirects: "same-host",
    },
  ]);
});

test("follows no redirect at all where it must not; what is answered is no acceptance", async () => {
  const { call, requests } = platform({ status: 307 });
  await expect(call({ redirects: "none" })).rejects.toMatchObject({ code: "DELIVERY_FAILED" });
  expect(requests).toMatchObject([{ redirects: "none" }]);
});

test("sends other bytes as they are", async () => {
  const { call, requests } = platform();
  const form = { body: Uint8Array.of(1, 2, 3), headers: { "content-type": "multipart/form-data; boundary=x" } };
  await call({ json: undefined as never, ...form });
  expect(requests).toMatchObject([form]);
});

test.each([
  ["nothing", new Uint8Array()],
  ["no JSON", new TextEncoder().encode("<html>")],
])("an acceptance with %s in it is one", async (_, bytes) => {
  expect(await platform({ status: 202, bytes }).call()).toMatchObject({ status: 202, json: undefined });
});

test("an answer that was cut off is not read", async () => {
  expect((await platform({ bytes: new TextEncoder().encode("[1]"), truncated: true }).call()).json).toBeUndefined();
});

describe("statuses", () => {
  test.each([
    [401, "CHANNEL_UNAUTHORIZED"],
    [403, "CHANNEL_UNAUTHORIZED"],
    [400, "DELIVERY_REFUSED"],
    [404, "DELIVERY_REFUSED"],
    [413, "DELIVERY_REFUSED"],
    [422, "DELIVERY_REFUSED"],
    [408, "DELIVERY_FAILED"],
    [425, "DELIVERY_FAILED"],
    [429, "DELIVERY_FAILED"],
    [500, "DELIVERY_FAILED"],
    [503, "DELIVERY_FAILED"],
    [304, "DELIVERY_FAILED"],
  ])("%i is %s, without a word of the platform's", async (status, code) => {
    const error: unknown = await platform({ status, headers: { "x-echo": SECRET } })
      .call()
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code });
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(SECRET);
  });

  test("one that the caller knows is an answer", async () => {
    expect(await platform({ status: 404 }).call({ answers: [404] })).toMatchObject({ status: 404 });
  });

  test("when to come back is kept to, whichever status says it", async () => {
    for (const status of [429, 503]) {
      const call = platform({ status, headers: { "retry-after": "120" } }).call();
      await expect(call).rejects.toMatchObject({ code: "DELIVERY_FAILED", retryAfterMs: 120_000 });
    }
  });
});

test("a redirect that turned the message into a question is no acceptance", async () => {
  const call = platform({ url: "https://api.example.org/login" }).call();
  await expect(call).rejects.toMatchObject({ code: "DELIVERY_FAILED" });
  expect(await platform({ url: "https://api.example.org/v2/me" }).call({ method: "GET" })).toMatchObject({
    status: 200,
  });
});

test("an aborted call is not made", async () => {
  const { call, requests } = platform();
  await expect(call({ signal: AbortSignal.abort(new Error("called off")) })).rejects.toThrow("called off");
  expect(requests).toEqual([]);
});

describe("Retry-After", () => {
  test.each([
    [undefined, undefined],
    ["", undefined],
    ["120", 120_000],
    [" 7 ", 7_000],
    ["0", 0],
    ["Thu, 01 Jan 2026 00:01:00 GMT", 60_000],
    ["Wed, 31 Dec 2025 23:00:00 GMT", 0],
    ["soon", undefined],
    ["-1", undefined],
    ["1.5", undefined],
    ["9999999999", undefined],
  ])("%j is %j ms", (header, expected) => expect(retryAfterMs(header, NOW_MS)).toBe(expected));

  test("is a time not in the past, or nothing, whatever the header", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
        ),
        (header) => {
          const waitMs = retryAfterMs(header, NOW_MS) ?? 0;
          expect(Number.isFinite(waitMs) && waitMs >= 0).toBe(true);
        },
      ),
    );
  });
});
