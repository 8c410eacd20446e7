// The access token: one request for all, fresh before it ends, replaced once when it is refused. And what errors mean.
import { SvcError } from "@svc/contract";
import { expect, test } from "vitest";
import { problemOf } from "../src/api.ts";
import { failure, message, never, withPlatform } from "./fixture.ts";

const TOKEN = "auth/v3/tenant_access_token/internal";
const asked = (called: readonly string[]): number => called.filter((path) => path === TOKEN).length;

test("many at once ask for one token, and it is used until two minutes before its end", async () => {
  await using made = await withPlatform();
  const { channel, workchat, context } = made;
  await Promise.all(["a", "b", "c"].map((id) => channel.send(message(id, { deliveryId: id }), never)));
  expect(asked(workchat.called)).toBe(1);
  await context.clock.advance(7_079_000);
  await channel.send(message("d", { deliveryId: "d" }), never);
  expect(asked(workchat.called)).toBe(1);
  await context.clock.advance(1_000);
  await channel.send(message("e", { deliveryId: "e" }), never);
  expect(asked(workchat.called)).toBe(2);
});

test("a token that is refused is replaced once, and the message goes out once", async () => {
  await using made = await withPlatform();
  const { channel, workchat } = made;
  await channel.send(message("a", { deliveryId: "a" }), never);
  workchat.revokeTokens();
  await channel.send(message("b", { deliveryId: "b" }), never);
  expect(asked(workchat.called)).toBe(2);
  expect(workchat.sent.map(({ text }) => text)).toEqual(["a", "b"]);
  workchat.mood = ({ path }) => {
    if (path.endsWith(TOKEN)) workchat.tokenSeconds = 7_200;
    return path.endsWith("/messages") ? { refuses: 401 } : "takes";
  };
  expect(await failure(channel.send(message("c", { deliveryId: "c" }), never))).toMatchObject({
    code: "CHANNEL_UNAUTHORIZED",
  });
  expect(asked(workchat.called)).toBe(3);
});

test("a file whose token is refused is asked for again later, with another token", async () => {
  await using made = await withPlatform();
  const { channel, workchat } = made;
  await channel.send(message("a"), never);
  const media = { kind: "image", ref: workchat.host(Buffer.from("picture")), placeholder: "[image]" } as const;
  const got: Uint8Array[] = [];
  const fetch = () => channel.media.fetch(media, async (chunk) => void got.push(chunk), never);
  workchat.revokeTokens();
  expect(await failure(fetch())).toMatchObject({ code: "REMOTE_UNREACHABLE" });
  got.length = 0;
  await fetch();
  expect(Buffer.concat(got).toString()).toBe("picture");
});

test("who gives up waiting for a token leaves it to the others", async () => {
  await using made = await withPlatform();
  const { channel, workchat } = made;
  const gate = Promise.withResolvers<void>();
  workchat.mood = { slow: () => gate.promise };
  const caller = new AbortController();
  const one = failure(channel.send(message("a", { deliveryId: "a" }), caller.signal));
  const other = channel.send(message("b", { deliveryId: "b" }), never);
  caller.abort(new Error("called off"));
  expect((await one).message).toBe("called off");
  gate.resolve();
  await other;
  expect(workchat.sent.map(({ text }) => text)).toEqual(["b"]);
});

test.each<[status: number, code: number, error: string, retryAfterMs?: number]>([
  [400, 99991663, "CHANNEL_UNAUTHORIZED"],
  [400, 99991672, "CHANNEL_UNAUTHORIZED"],
  [200, 10014, "CHANNEL_UNAUTHORIZED"],
  [429, 99991400, "DELIVERY_FAILED", 1_000],
  [400, 230020, "DELIVERY_FAILED", 1_000],
  [400, 230002, "DELIVERY_REFUSED"],
  [400, 230001, "DELIVERY_REFUSED"],
  [500, 1, "DELIVERY_FAILED", 1_000],
  [200, 123456, "DELIVERY_FAILED"],
  [403, 123456, "CHANNEL_UNAUTHORIZED"],
])("status %i with code %i is %s", (status, code, error, retryAfterMs) => {
  const made = problemOf(status, { code, msg: "a word of the platform's" });
  expect(made).toBeInstanceOf(SvcError);
  expect(made).toMatchObject({ code: error, ...(retryAfterMs !== undefined && { retryAfterMs }) });
  expect(`${made.message} ${made.hint}`).not.toContain("a word of the platform's");
});

test("a rate limit lasts as long as the platform says", () => {
  expect(problemOf(429, { code: 99991400 }, 7_000)).toMatchObject({ retryAfterMs: 7_000 });
});
