// channelConformance must fail for a channel that breaks a rule: one deliberately broken fake per rule.
import { SvcError, type Channel } from "@svc/contract";
import { describe, expect, test } from "vitest";
import {
  captureLogger,
  channelChecks,
  type CapturedLogger,
  type OpenChannel,
  type ConformanceMood,
} from "../src/index.ts";
import { brokenRules } from "./broken-names.ts";

const SECRET = "token-7f3a";
const message = { conversation: { channel: "fake", id: "room" }, text: "hello", deliveryId: "d1" };

/** A platform in memory. Refusing, it quotes the token, as some do. */
interface Platform {
  post(token: string): Promise<{ id: string }>;
  readonly count: () => number;
}

function platformOf(mood: ConformanceMood): Platform {
  let count = 0;
  return {
    count: () => count,
    async post(token) {
      if (mood === "hangs") await new Promise(() => undefined);
      if (mood === "refuses") throw new Error(`401: ${token} is not valid`);
      count += 1;
      return { id: "m1" };
    },
  };
}

type Send = (platform: Platform, log: CapturedLogger, signal: AbortSignal, isDown: () => boolean) => Promise<unknown>;

const abortOf = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

const sound: Send = async (platform, log, signal, isDown) => {
  signal.throwIfAborted();
  if (isDown()) throw new SvcError("DRAINING");
  try {
    const { id } = await Promise.race([platform.post(SECRET), abortOf(signal)]);
    return { platformId: id };
  } catch (error) {
    signal.throwIfAborted();
    log.warn("The platform refused.");
    throw new SvcError("TOOL_FAILED", "The platform refused.", error instanceof SvcError ? { cause: error } : {});
  }
};

const checksOf = (send: Send) =>
  channelChecks({
    message,
    secrets: [SECRET],
    open: async (mood): Promise<OpenChannel> => {
      const platform = platformOf(mood);
      const log = captureLogger();
      let down = false;
      const channel: Channel = { send: (_, signal) => send(platform, log, signal, () => down) as Promise<never> };
      return { channel, log, received: platform.count, shutdown: async () => void (down = true) };
    },
  });

const RECEIPT = "send resolves with a receipt when the platform took the message";
const REFUSED = "send rejects when the platform refused, and no secret is in the error or the log";
const ABORT = "send rejects at once when its signal is aborted, before or on the way";
const AFTER = "nothing is sent after shutdown";

const BROKEN: [fake: string, send: Send, rule: string][] = [
  ["no receipt", async (...all) => (await sound(...all), null), RECEIPT],
  ["a receipt with a number", async (...all) => (await sound(...all), { platformId: 5 }), RECEIPT],
  ["a receipt without sending", async () => ({}), RECEIPT],
  ["a refusal swallowed", async (...all) => sound(...all).catch(() => ({})), REFUSED],
  [
    "the platform's words in the error",
    async (platform) => ({ platformId: (await platform.post(SECRET)).id }),
    REFUSED,
  ],
  [
    "the platform's words in a cause",
    async (platform) =>
      platform
        .post(SECRET)
        .catch((cause: unknown) => Promise.reject(new SvcError("TOOL_FAILED", "Refused.", { cause }))),
    REFUSED,
  ],
  [
    "the token in a field of the error",
    async (...all) =>
      sound(...all).catch((error: unknown) =>
        Promise.reject(Object.assign(error as Error, { headers: { authorization: SECRET } })),
      ),
    REFUSED,
  ],
  [
    "the token in the log",
    async (platform, log, ...rest) => (log.info("sending", { token: SECRET }), sound(platform, log, ...rest)),
    REFUSED,
  ],
  [
    "an abort on the way overlooked",
    async (platform, log, signal, isDown) => (
      signal.throwIfAborted(),
      sound(platform, log, new AbortController().signal, isDown)
    ),
    ABORT,
  ],
  [
    "an aborted signal overlooked",
    async (platform, log, signal, isDown) => (signal.aborted ? {} : sound(platform, log, signal, isDown)),
    ABORT,
  ],
  ["sending after shutdown", async (platform, log, signal) => sound(platform, log, signal, () => false), AFTER],
];

describe("channelConformance", () => {
  test("a sound channel breaks no rule", async () => {
    expect(await brokenRules(checksOf(sound))).toEqual([]);
  });

  test.each(BROKEN)("%s", async (_, send, rule) => {
    expect(await brokenRules(checksOf(send))).toContain(rule);
  });

  test("every rule has a fake that breaks it", () => {
    const rules = new Set(BROKEN.map(([, , rule]) => rule));
    expect(
      checksOf(sound)
        .map(({ name }) => name)
        .filter((name) => !rules.has(name)),
    ).toEqual([]);
  });
});
