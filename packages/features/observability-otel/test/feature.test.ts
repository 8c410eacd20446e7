// The feature in its phases, and what it says about its collector: never a secret, whatever the collector sends back.
import { fakeFeatureContext } from "@svc/testkit/feature-context";
import { expect, test } from "vitest";
import { create } from "../src/otel.ts";
import { openFeature, sectionOf } from "./open.ts";
import { FACTS, KINDS, RESULTS } from "./samples.ts";
import { type Answer, answers } from "./sink.ts";

const SECRET = "Bearer topsecret-topsecret";
const HEADERS = `authorization=${encodeURIComponent(SECRET)}`;

test("before it is registered and after it is shut down nothing is watched", async () => {
  const { observer, shutdown } = create(fakeFeatureContext(sectionOf()));
  const work = { kind: "turn", facts: FACTS.turn, parent: undefined, startedAtMs: 1 } as const;
  expect(observer!.begin!(work)).toBeUndefined();
  await shutdown?.();
  await using feature = await openFeature();
  await feature.told();
  expect(KINDS.map((kind) => feature.begin(kind, FACTS[kind]))).toEqual(KINDS.map(() => undefined));
});

test("work that ends after the shutdown disturbs nobody, and its traceparent stays", async () => {
  await using feature = await openFeature();
  const turn = feature.begin("turn", FACTS.turn)!;
  await feature.told();
  turn.end(RESULTS.turn, feature.context.clock.now());
  expect(turn.traceparent).toMatch(/-01$/);
  expect(feature.sink.requests).toEqual([]);
});

test("a header that is none stops its registration, unquoted", async () => {
  const { register, shutdown } = create(fakeFeatureContext(sectionOf({ otel_headers: "authorization=%zz-topsecret" })));
  const registering = register!(new AbortController().signal);
  await expect(registering).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  await expect(registering).rejects.not.toThrow("topsecret");
  await shutdown?.();
});

const echoes: readonly [string, Answer][] = [
  ["status", (response, { headers }) => void response.writeHead(401, headers.authorization).end(headers.authorization)],
  ["body", (response, { headers }) => void response.writeHead(400).end(JSON.stringify(headers))],
  [
    "partial success",
    (response, { headers }) =>
      void response.end(
        JSON.stringify({ partialSuccess: { rejectedSpans: 1, errorMessage: `no spans of ${headers.authorization}` } }),
      ),
  ],
  ["garbage", (response, { headers }) => void response.end(`{"a": ${headers.authorization}`)],
  [
    "redirect",
    (response, { headers }) => void response.writeHead(302, { location: `/${headers.authorization}` }).end(),
  ],
];

test.each(echoes)("a collector that sends the secret back (%s) does not get it into the log", async (_, answer) => {
  await using feature = await openFeature({ otel_headers: HEADERS });
  feature.sink.answer = answer;
  feature.begin("turn", FACTS.turn)!.end(RESULTS.turn, feature.context.clock.now());
  await feature.told();
  expect(feature.sink.requests[0]?.headers.authorization).toBe(SECRET);
  expect(feature.context.log.text()).not.toMatch(/topsecret|Bearer/);
  expect(JSON.stringify(feature.sink.requests[0]?.spans)).not.toMatch(/topsecret|Bearer/);
});

test("after a reload both have their own collector: the old one's last spans come, the new one's rejections count", async () => {
  await using old = await openFeature();
  old.begin("turn", FACTS.turn)!.end(RESULTS.turn, 1);
  await using next = await openFeature();
  expect(await old.told()).toHaveLength(1);
  next.sink.answer = (response) => void response.end('{"partialSuccess":{"rejectedSpans":5}}');
  next.begin("turn", FACTS.turn)!.end(RESULTS.turn, 1);
  await next.told();
  expect(next.context.log.lines).toMatchObject([{ level: "warn", fields: { dropped: 5 } }]);
});

test("spans go off by themselves, a second after they ended", async () => {
  await using feature = await openFeature();
  feature.begin("turn", FACTS.turn)!.end(RESULTS.turn, feature.context.clock.now());
  await feature.context.clock.advance(1_000);
  await feature.sink.came(1);
  expect(feature.sink.requests[0]?.spans).toHaveLength(1);
});

test("a collector that is full does not hold up whoever ends a span", async () => {
  await using feature = await openFeature();
  feature.sink.answer = answers(503, { "retry-after": "600" });
  for (let count = 0; count < 10_000; count += 1) {
    feature.begin("turn", FACTS.turn)!.end(RESULTS.turn, feature.context.clock.now());
    if (count % 500 === 0) await feature.context.clock.advance(1_000);
  }
  await feature.sink.came(1);
  await feature.context.clock.advance(60_000);
  expect(feature.sink.requests).toHaveLength(1);
  expect(feature.context.log.lines.length).toBeLessThanOrEqual(3);
});
