// The channel against a platform that takes, refuses (quoting the token) and never answers: what every channel keeps,
// and the request it makes.
import type { FeatureContext, FetchOptions, FetchResult } from "@svc/contract";
import { captureLogger, channelConformance, fakeClock, featureConformance, type ConformanceMood } from "@svc/testkit";
import { expect, test } from "vitest";
import { create } from "../src/__name__.ts";
import definition from "../src/index.ts";

const config = { api_url: "https://chat.example.org/messages", token: "token-1" };
const message = {
  conversation: { channel: "__name__", id: "room-1", thread: "t-1" },
  text: "Hello",
  deliveryId: "delivery-1",
};

featureConformance(definition, { root: `${import.meta.dirname}/..`, config });

channelConformance(definition.id, { open: (mood) => Promise.resolve(open(mood)), message, secrets: [config.token] });

interface Request {
  readonly url: string;
  readonly options: FetchOptions;
}

/** A channel whose outgoing client is the platform. */
function open(mood: ConformanceMood, answer: Partial<FetchResult> = {}) {
  const log = captureLogger();
  const requests: Request[] = [];
  const fetch: FeatureContext["fetch"] = async (url, options = {}) => {
    options.signal?.throwIfAborted();
    if (mood === "hangs") return untilAborted(options.signal);
    requests.push({ url, options });
    const quoting = new TextEncoder().encode(`no, ${options.headers?.["authorization"]}`);
    const refused = { status: 403, headers: {}, bytes: quoting, truncated: false, url };
    const taken = { ...refused, status: 200, bytes: new TextEncoder().encode('{"id":"m-1"}') };
    return { ...(mood === "takes" ? taken : refused), ...answer };
  };
  const { channel } = create({ config, log, clock: fakeClock(0), fetch });
  if (channel === undefined) throw new Error("no channel");
  return { channel, log, requests, received: () => requests.length };
}

const untilAborted = (signal: AbortSignal | undefined): Promise<never> =>
  new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason), { once: true }));

const never = new AbortController().signal;

test("one reply is one authorized request with a key that is the same for every retry", async () => {
  const { channel, requests } = open("takes");
  expect(await channel.send(message, never)).toEqual({ platformId: "m-1" });
  expect(requests).toMatchObject([
    {
      url: config.api_url,
      options: {
        method: "POST",
        headers: { "idempotency-key": "delivery-1", authorization: "Bearer token-1" },
        body: '{"to":"room-1","thread":"t-1","text":"Hello"}',
      },
    },
  ]);
});

test.each([
  ["120", 120_000],
  ["Thu, 01 Jan 1970 00:01:00 GMT", 60_000],
  ["soon", undefined],
])("a platform that says when to come back (%s) is kept to", async (header, retryAfterMs) => {
  const { channel } = open("refuses", { status: 429, headers: { "retry-after": header } });
  await expect(channel.send(message, never)).rejects.toMatchObject({ code: "RATE_LIMITED", retryAfterMs });
});

test.each(["", "not json", "[]", '{"id":7}'])("an acceptance without a usable id (%s) is one", async (body) => {
  const { channel } = open("takes", { status: 202, bytes: new TextEncoder().encode(body) });
  expect(await channel.send(message, never)).toEqual({});
});
