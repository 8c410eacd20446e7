// An error of the platform must decide between a dead letter, another try and a channel that is off; its words stay there.
import type { Json } from "@svc/contract";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ERROR_CODES, problemOf } from "../src/graph.ts";
import { failure, harnessAndPlatform, message, never, NOW_MS, PERSON } from "./harness.ts";

describe("an error of the platform", () => {
  test.each([
    [131047, "DELIVERY_REFUSED", undefined],
    [131026, "DELIVERY_REFUSED", undefined],
    [100, "DELIVERY_REFUSED", undefined],
    [190, "CHANNEL_UNAUTHORIZED", undefined],
    [10, "CHANNEL_UNAUTHORIZED", undefined],
    [200, "CHANNEL_UNAUTHORIZED", undefined],
    [131005, "CHANNEL_UNAUTHORIZED", undefined],
    [3, "CHANNEL_UNAUTHORIZED", undefined],
    [130429, "DELIVERY_FAILED", undefined],
    [80007, "DELIVERY_FAILED", 60_000],
    [131056, "DELIVERY_FAILED", 6_000],
    [131000, "DELIVERY_FAILED", undefined],
    [131016, "DELIVERY_FAILED", undefined],
    [368, "DELIVERY_FAILED", undefined],
    [131042, "DELIVERY_FAILED", undefined],
    [424_242, "DELIVERY_REFUSED", undefined],
  ])("%d is %s", async (code, expected, retryAfterMs) => {
    await using at = await harnessAndPlatform();
    at.platform.failNext(PERSON, [code]);
    const error = await failure(at.channel.send(message("hi"), never));
    expect(error).toMatchObject({ code: expected, retryAfterMs });
    expect(error.message).toContain(`(error ${code})`);
    expect(at.platform.sent).toEqual([]);
  });

  test("a status alone says what it can, and none of the platform's words come through", async () => {
    await using at = await harnessAndPlatform();
    const told: [string, number | undefined][] = [];
    for (const mood of [{ refuses: 401 }, { refuses: 404 }, { refuses: 502 }, { rateLimits: 7 }, { refuses: 200 }]) {
      at.platform.mood = mood;
      const error = await failure(at.channel.send(message("hi"), never));
      expect(`${error.message}${error.hint ?? ""}`).not.toMatch(/refused|EAAG|delivery-1/);
      told.push([error.code, error.retryAfterMs]);
    }
    expect(told).toEqual([
      ["CHANNEL_UNAUTHORIZED", undefined],
      ["DELIVERY_REFUSED", undefined],
      ["DELIVERY_FAILED", undefined],
      ["DELIVERY_FAILED", 7_000],
      ["DELIVERY_FAILED", undefined],
    ]);
  });

  const answer = (json: Json, status = 400, headers: Record<string, string> = {}) => ({ status, headers, json });

  test("it is believed when it says that it will pass, or how long that takes", () => {
    expect(problemOf(answer({ error: { code: 999, is_transient: true } }), NOW_MS)).toMatchObject({
      code: "DELIVERY_FAILED",
    });
    const usage = { "102": [{ type: "messages", estimated_time_to_regain_access: 19 }, { call_count: 3 }] };
    const headers = { "x-business-use-case-usage": JSON.stringify(usage) };
    expect(problemOf(answer({ error: { code: 80007 } }, 400, headers), NOW_MS)).toMatchObject({
      retryAfterMs: 19 * 60_000,
    });
    expect(
      problemOf(answer({ error: { code: 80007 } }, 400, { ...headers, "retry-after": "5" }), NOW_MS),
    ).toMatchObject({
      retryAfterMs: 5_000,
    });
  });

  test("whatever it answers, what we make of it holds none of it but a number", () => {
    const canary = "canary-7f3a";
    const anything = fc.jsonValue().map((value) => ({ error: { message: canary, type: canary, code: value } }) as Json);
    fc.assert(
      fc.property(anything, fc.integer({ min: 200, max: 599 }), fc.string(), (json, status, header) => {
        const error = problemOf(answer(json, status, { "x-business-use-case-usage": header + canary }), NOW_MS);
        expect(["CHANNEL_UNAUTHORIZED", "DELIVERY_REFUSED", "DELIVERY_FAILED"]).toContain(error?.code);
        expect(`${error?.message}${error?.hint}`).not.toContain(canary);
      }),
    );
  });

  test("every known one is a sentence in itself", () => {
    for (const { sentence } of ERROR_CODES.values()) expect(sentence).toMatch(/^[A-Z][^.]*[A-Za-z]$/);
  });
});

test("an answer that can't be read is an acceptance: the message is out", async () => {
  await using at = await harnessAndPlatform();
  for (const babbles of ["<html>thanks</html>", "", "[null]"]) {
    at.platform.mood = { babbles };
    expect(await at.channel.send(message("hi"), never)).toEqual({});
  }
});
