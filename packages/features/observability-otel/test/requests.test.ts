// Strangers must not be able to fill the collector: what is refused leaves nothing, whatever traceparent it came with.
import { describe, expect, test } from "vitest";
import { openFeature } from "./open.ts";
import { FACTS, RESULTS } from "./samples.ts";

const FORCED = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const WEBHOOK = FACTS.request;

async function toldAfter(status: number | undefined): Promise<number> {
  await using feature = await openFeature();
  feature.begin("request", WEBHOOK, FORCED)!.end({ status }, feature.context.clock.now());
  return (await feature.told()).length;
}

test.each([400, 401, 403, 404, 405, 408, 413, 415, 429, 503, undefined])(
  "one that ends with %s leaves nothing",
  async (status) => {
    expect(await toldAfter(status)).toBe(0);
  },
);

test.each([101, 200, 202, 302, 500, 502, 504])("one that ends with %s is told", async (status) => {
  expect(await toldAfter(status)).toBe(1);
});

test.each([429, undefined])("one that ends with %s is told when something was done for it", async (status) => {
  await using feature = await openFeature();
  const request = feature.begin("request", WEBHOOK)!;
  feature.begin("turn", FACTS.turn, request.traceparent)!.end(RESULTS.turn, feature.context.clock.now());
  request.end({ status }, feature.context.clock.now());
  expect((await feature.told()).map(({ name }) => name)).toEqual(["invoke_agent main", "POST /webhook"]);
});

test("a client that went away is no error of ours", async () => {
  await using feature = await openFeature();
  const request = feature.begin("request", WEBHOOK)!;
  feature.begin("turn", FACTS.turn, request.traceparent)!.end(RESULTS.turn, feature.context.clock.now());
  request.end({ status: undefined }, feature.context.clock.now());
  const [, span] = await feature.told();
  expect(span).toMatchObject({ status: { code: 0 }, attributes: { "error.type": "client_gone" } });
  expect(span!.attributes).not.toHaveProperty("http.response.status_code");
});

test.each([500, 502])("a %s is an error of ours, by its status", async (status) => {
  await using feature = await openFeature();
  feature.begin("request", WEBHOOK)!.end({ status }, feature.context.clock.now());
  expect(await feature.told()).toMatchObject([{ status: { code: 2 }, attributes: { "error.type": String(status) } }]);
});

describe("what is asked for all day", () => {
  test.each(["/health", "/metrics", "/openapi.json", "page"])("%s is not even watched", async (route) => {
    await using feature = await openFeature();
    expect(feature.begin("request", { method: "GET", route }, FORCED)).toBeUndefined();
  });
});
