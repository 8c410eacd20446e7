// A configured secret that a model repeats, or that a tool reads, must not go out: not whole, not in two halves.
import { defineTool, type Json, SvcError } from "@svc/contract";
import { DOTS, createRedactor, redactJson } from "@svc/config";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { RedactedStream } from "../src/turn/model-call.ts";
import {
  act,
  ask,
  call,
  client,
  failure,
  agentFixture,
  type AgentFixtureOptions,
  lastSent,
  read,
  scripted,
  text,
} from "./agent-fixture.ts";

const SECRET = "sk-live-0123456789";
const redactor = createRedactor([SECRET, "two words", "1234567"]);
const guarded: AgentFixtureOptions = { redact: redactor.redact, partialSecret: redactor.partial };
const deltas: string[] = [];
const onEvent = (event: { type: string; text?: string }) => {
  if (event.type === "text-delta") deltas.push(event.text ?? "");
};

describe("what a model says", () => {
  test("has no secret in it: in the answer, in what is kept, in what the next turn sends along", async () => {
    const model = scripted([text(`the key is ${SECRET}, keep it`)], [text("ok")]);
    const { agent, store } = agentFixture({ ...guarded, model });
    const clean = `the key is ${DOTS}, keep it`;
    expect(await ask(agent, "tell me", { session: "s" })).toMatchObject({ response: clean });
    await ask(agent, "and?", { session: "s" });
    expect(JSON.stringify(model.asked[1]!.prompt)).not.toContain(SECRET);
    const { place } = store.sessions.byId(store.sessions.list({}, 1)[0]!.id)!;
    expect(JSON.stringify(store.sessions.recentTurns(place, 1e6))).not.toContain(SECRET);
  });

  test("has none in it that stands with one half in each of two parts", async () => {
    const model = scripted([text(SECRET.slice(0, 9)), text(SECRET.slice(9))], [text("ok")]);
    const { agent } = agentFixture({ ...guarded, model });
    expect(await ask(agent, "tell me", { session: "s" })).toMatchObject({ response: DOTS });
    await ask(agent, "and?", { session: "s" });
    expect(model.asked[1]!.prompt[1]).toMatchObject({ role: "assistant", content: [{ text: DOTS }] });
  });

  test("has none in it when it is streamed letter by letter, and comes in many pieces all the same", async () => {
    deltas.length = 0;
    const words = `it is ${SECRET} and two words, also 1234567; class dismissed s`;
    await ask(agentFixture({ ...guarded, model: scripted([text(words)]) }).agent, "tell me", { onEvent });
    expect(deltas.join("")).toBe(redactor.redact(words));
    expect(deltas.length).toBeGreaterThan(20);
  });

  test("is told in one piece where nobody can say what half a secret is", async () => {
    deltas.length = 0;
    const model = scripted([text(`it is ${SECRET}!`)]);
    await ask(agentFixture({ redact: redactor.redact, model }).agent, "tell me", { onEvent });
    expect(deltas).toEqual([`it is ${DOTS}!`]);
  });

  test("goes out as it is when nothing is configured", async () => {
    deltas.length = 0;
    await ask(agentFixture({ model: scripted([text("as it is")]) }).agent, "tell me", { onEvent });
    expect(deltas).toEqual([..."as it is"]);
  });
});

test("what is asked of a tool reaches it as it was said, and is kept, and told to the next turn, without a secret", async () => {
  const input = { what: `use ${SECRET}`, pin: 1234567 };
  const given: Json[] = [];
  const anything = v.object({ what: v.string(), pin: v.number() });
  const tool = defineTool({ ...read, input: anything, run: async (what) => (given.push(what), "done") });
  const model = scripted([call("read", input)], [text("thanks")], [text("ok")]);
  const { agent, store } = agentFixture({ ...guarded, model, tools: [tool] });
  const journalled: unknown[] = [];
  const start = store.toolCalls.start.bind(store.toolCalls);
  store.toolCalls.start = (record) => (journalled.push(record.input), start(record));
  await ask(agent, "do it", { session: "s" });
  await ask(agent, "and?", { session: "s" });
  expect(given).toEqual([input]);
  expect(journalled).toEqual([{ what: `use ${DOTS}`, pin: DOTS }]);
  const { place } = store.sessions.byId(store.sessions.list({}, 1)[0]!.id)!;
  for (const seen of [store.sessions.recentTurns(place, 1e6), model.asked[2]!.prompt].map((one) =>
    JSON.stringify(one),
  )) {
    expect(seen).toContain(`use ${DOTS}`);
    expect(seen).not.toMatch(/sk-live|1234567/);
  }
});

describe("what a tool gives", () => {
  const giving = (output: Json) => defineTool({ ...read, run: async () => output });

  test.each<[string, Json]>([
    ["a text", `api_key = "${SECRET}"`],
    ["a list of objects", [{ deep: { [SECRET]: ["a", `Bearer ${SECRET}`] } }]],
    ["a number", { pin: 1234567 }],
  ])("reaches neither the model's provider nor the journal with a secret in it: %s", async (_, output) => {
    const model = scripted([call("read")], [text("thanks")]);
    const { agent, store } = agentFixture({ ...guarded, model, tools: [giving(output)] });
    const written: unknown[] = [];
    const finish = store.toolCalls.finish.bind(store.toolCalls);
    store.toolCalls.finish = (...all) => (written.push(all), finish(...all));
    await ask(agent, "read it");
    for (const seen of [lastSent(model), JSON.stringify(written)]) {
      expect(seen).toContain(DOTS);
      expect(seen).not.toMatch(/sk-live|1234567/);
    }
  });

  test("is cut after that, so that no half of a secret stands at the cut", async () => {
    const model = scripted([call("read")], [text("thanks")]);
    const output = "x".repeat(995) + SECRET + "y".repeat(100);
    await ask(agentFixture({ ...guarded, model, tools: [giving(output)] }).agent, "read it");
    expect(lastSent(model)).not.toContain("sk-l");
  });

  test("as an error is clean too", async () => {
    const failing = { ...act, run: () => Promise.reject(new SvcError("TOOL_FAILED", `no ${SECRET}`)) };
    const model = scripted([call("act")], [text("thanks")]);
    await ask(agentFixture({ ...guarded, model, tools: [failing] }).agent, "go");
    expect(lastSent(model)).toContain(`no ${DOTS}`);
  });
});

test("what is kept of a turn that runs has no secret of a tool's result; what a tool is to get, it has as it was said", async () => {
  const turn = { turnId: "t-1", resumable: true, session: "s", owner: client } as const;
  const giving = defineTool({ ...read, run: async () => `api_key = "${SECRET}"` });
  const refusing = defineTool({ ...act, run: () => Promise.reject(new SvcError("TOOL_FAILED", `no ${SECRET}`)) });
  const tools = [giving, refusing];
  const dying = scripted([call("read"), call("act")], [call("read", { what: SECRET }, "second")], new Error("down"));
  const before = agentFixture({ ...guarded, model: dying, tools });
  await failure(ask(before.agent, "go", turn));
  const [, first, second] = before.store.steps.of("t-1").map(({ message }) => JSON.stringify(message));
  expect([first, JSON.stringify(before.store.toolCalls.of("t-1"))].join("")).not.toContain(SECRET);
  expect((JSON.parse(second!) as { content: unknown }).content).toEqual([call("read", { what: SECRET }, "second")]);

  const model = scripted([text("done")]);
  const after = agentFixture({ ...guarded, model, tools, store: before.store });
  await ask(after.agent, "go", turn);
  expect(model.asked[0]!.prompt).toEqual(dying.asked[2]!.prompt);
  expect(after.store.steps.of("t-1")).toEqual([]);
  const { place } = after.store.sessions.byId(after.store.sessions.list({}, 1)[0]!.id)!;
  expect(JSON.stringify(after.store.sessions.recentTurns(place, 1e6))).not.toContain(SECRET);
});

test("old messages are shown without a secret that was configured later", async () => {
  const before = agentFixture({ model: scripted([call("read", { what: SECRET })], [text(`it is ${SECRET}`)]) });
  await ask(before.agent, `my key is ${SECRET}`, { session: "s" });
  const { agent } = agentFixture({ ...guarded, model: scripted(), store: before.store });
  const shown = JSON.stringify(agent.sessions.messages(agent.sessions.list({}, 1)[0]!.id, { limit: 10 }));
  expect(shown).toContain(DOTS);
  expect(shown).not.toContain(SECRET);
});

describe("any text in any pieces, any secrets, one within another or overlapping", () => {
  const letters = fc.stringMatching(/^[abc ]{4,6}$/).filter((secret) => secret.trim().length > 3);

  test("is told without a secret, whole, and nothing is held back for good", () => {
    fc.assert(
      fc.property(
        fc.array(letters, { minLength: 1, maxLength: 4 }),
        fc.array(fc.stringMatching(/^[abcx ]{0,5}$/), { maxLength: 12 }),
        (secrets, pieces) => {
          const { redact, partial } = createRedactor(secrets);
          let told = "";
          const stream = new RedactedStream({ redact, partial }, (text) => (told += text));
          for (const piece of pieces) stream.push(piece);
          stream.end();
          expect(told).toBe(redact(pieces.join("")));
        },
      ),
      { numRuns: cases(2000) },
    );
  });

  test("as JSON: no string, key or number has one, and what has none is the very same value", () => {
    const { redact } = createRedactor(["abcd", "4242"]);
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const shown = redactJson(value as Json, redact);
        expect(JSON.stringify(shown)).not.toMatch(/abcd|4242/);
        expect(shown === value || JSON.stringify(value) !== JSON.stringify(shown)).toBe(true);
      }),
    );
  });
});
