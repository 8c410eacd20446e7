// A provider is told which call of the model it answers, in the header that every tracing system reads, and only where somebody traces.
import { fakeClock } from "@svc/testkit/fake-clock";
import { recordedInstruments } from "@svc/testkit/observe/recorded-tracer";
import type { RecordingOptions } from "@svc/testkit/observe/recording-observer";
import { describe, expect, test } from "vitest";
import { providerFetch } from "../src/models/agent-models.ts";
import { inScope } from "@svc/runtime";
import { ask } from "./agent-fixture.ts";
import { against, PROVIDERS, rawServer } from "./provider-fixture.ts";

const CALLS = [{ name: "read", input: { what: "x" } }];
const SCRIPT = [{ text: "I look.", calls: CALLS }, { text: "Done." }];

function watched(options: RecordingOptions = {}) {
  const clock = fakeClock();
  return { clock, ...recordedInstruments(clock, options) };
}

describe.each(PROVIDERS)("%s", (provider) => {
  test.each([
    ["a whole answer", {}],
    ["a streamed one", { onEvent: () => {} }],
  ])("is told of the call itself, not of its turn: %s", async (_, more) => {
    const { clock, tracer, recorded } = watched();
    await using made = await against(provider, SCRIPT, { clock, tracer });
    await ask(made.agent, "go", more);
    const told = made.server.requests.map(({ headers }) => headers["traceparent"]);
    expect(told).toEqual(recorded.of("model-call").map(({ traceparent }) => traceparent));
    expect(new Set(told).size).toBe(2);
  });

  test.each([
    ["nobody watches", undefined],
    ["somebody counts", watched({ traces: false })],
  ])("is told nothing where %s", async (_, made) => {
    await using provided = await against(provider, [{ text: "hi" }], made ?? {});
    await ask(provided.agent, "go");
    expect(provided.server.requests[0]!.headers).not.toHaveProperty("traceparent");
  });
});

test("what a library says itself stands", async () => {
  const heard: unknown[] = [];
  await using server = await rawServer((request, response) => {
    heard.push(request.headers["traceparent"], request.headers["x-key"]);
    response.end();
  });
  const [ours, theirs] = ["1", "2"].map((digit) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`);
  await inScope({ traceparent: ours! }, async () => {
    await providerFetch(server.url, { headers: { "X-Key": "k", Traceparent: theirs! } });
    await providerFetch(server.url, { headers: new Headers({ "x-key": "k" }) });
    await providerFetch(server.url);
  });
  expect(heard).toEqual([theirs, "k", ours, "k", ours, undefined]);
});
