// Looking at conversations and removing them: running ones too, page by page, nothing of a provider, nothing that comes back.
import type { LanguageModelV4Content } from "@ai-sdk/provider";
import type { ClientId } from "@svc/contract";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Agent, SessionMessage } from "../src/index.ts";
import {
  act,
  ask,
  call,
  failure,
  gate,
  hang,
  agentFixture,
  read,
  rolesOf,
  scripted,
  text,
  until,
} from "./agent-fixture.ts";

const idOf = (agent: Agent, name: string): string => agent.sessions.list({}, 100).find((one) => one.name === name)!.id;
const other = "other" as ClientId;

describe("the list", () => {
  test("has what runs for the first time, then the most recently active, each with its owner", async () => {
    const { agent, clock } = agentFixture({ model: scripted([text("1")], [text("2")], hang, hang) });
    await ask(agent, "1", { session: "a" });
    await clock.advance(1000);
    await ask(agent, "2", { session: "b", clientId: other });
    const leave = new AbortController();
    const running = ["a", "c"].map((session) => failure(ask(agent, "3", { session, signal: leave.signal })));
    await until(() => agent.sessions.running().length === 2);
    expect(agent.sessions.list({}, 10).map(({ name, clientId, running }) => [name, clientId, running])).toEqual([
      ["c", "client", true],
      ["b", "other", false],
      ["a", "client", true],
    ]);
    expect(agent.sessions.list({ clientId: other }, 10).map(({ name }) => name)).toEqual(["b"]);
    expect(agent.sessions.list({}, 1).map(({ name }) => name)).toEqual(["c"]);
    const begun = agent.sessions.list({}, 1)[0]!;
    expect(agent.sessions.find(begun.id)).toEqual({ ...begun, turns: 0, running: true, title: "3" });
    await until(() => agent.sessions.messages(begun.id, { limit: 5 }).messages.length > 0);
    expect(agent.sessions.messages(begun.id, { limit: 5 }).messages).toMatchObject([
      { role: "user", text: "3", state: "running" },
    ]);
    leave.abort();
    await Promise.all(running);
    expect(agent.sessions.find(begun.id)).toMatchObject({ turns: 1, running: false });
    expect(agent.sessions.list({}, 10).map(({ running }) => running)).toEqual([false, false, false]);
  });

  test("calls a conversation by its first words at once, or by the title that its first turn brings", async () => {
    const model = scripted(hang, [text("done")], [text("done")]);
    const { agent } = agentFixture({ model });
    const leave = new AbortController();
    const running = failure(ask(agent, "What is  on\ntoday?", { session: "words", signal: leave.signal }));
    await until(() => model.asked.length === 1);
    expect(agent.sessions.list({}, 1).map(({ title }) => title)).toEqual(["What is on today?"]);
    leave.abort();
    await running;
    await ask(agent, "Step 1 of 3: Read the notes", { session: "run", title: "release #7" });
    await ask(agent, "Step 2 of 3: Tell the team", { session: "run", title: "other" });
    expect(agent.sessions.list({}, 2).map(({ title }) => title)).toEqual(["release #7", "What is on today?"]);
  });

  test("has a conversation once, also in the instant in which its first turn is written", async () => {
    const { agent, store } = agentFixture({ model: scripted([text("1")]) });
    const seen: number[] = [];
    const { write } = store;
    const turn = ask(agent, "1", { session: "a" });
    store.write = (change) => {
      const written = write(change);
      void written.then(() => seen.push(agent.sessions.list({}, 10).length));
      return written;
    };
    await turn;
    expect(seen).toEqual([1]);
  });
});

describe("messages", () => {
  test("are what a person reads: roles, text, calls and how they ended", async () => {
    const reasoning: LanguageModelV4Content = {
      type: "reasoning",
      text: "secret thoughts",
      providerMetadata: { anthropic: { signature: "sig-1" } },
    };
    const model = scripted(
      [reasoning, text("let me look"), call("read", { what: "it" }), call("nope", {}, "c2")],
      [{ ...text("I saw it"), providerMetadata: { openai: { itemId: "msg-1" } } } as LanguageModelV4Content],
    );
    const { agent } = agentFixture({ model });
    const { turnId } = await ask(agent, "look", { session: "s" });
    const page = agent.sessions.messages(idOf(agent, "s"), { limit: 10 });
    const at = Date.UTC(2026, 0, 1);
    const about = {
      state: "done",
      kind: "message",
      replaced: false,
      files: [],
      problem: undefined,
      author: undefined,
    };
    expect(page).toEqual({
      before: undefined,
      followUps: undefined,
      messages: [
        { turnId, at, role: "user", text: "look", calls: [], ...about },
        {
          turnId,
          at,
          role: "assistant",
          text: "let me look",
          calls: [
            {
              callId: "call-read",
              tool: "read",
              input: { what: "it" },
              ok: true,
              outcome: "done",
              output: { saw: "it" },
            },
            {
              callId: "c2",
              tool: "nope",
              input: {},
              ok: false,
              outcome: "failed",
              output: expect.stringContaining("TOOL_UNKNOWN"),
            },
          ],
          ...about,
        },
        { turnId, at, role: "assistant", text: "I saw it", calls: [], ...about },
      ],
    });
    expect(JSON.stringify(page)).not.toMatch(/secret thoughts|sig-1|msg-1|provider/);
  });

  test("tell of a turn that was stopped after it had acted", async () => {
    const model = scripted([call("act"), call("read")], hang);
    const { agent } = agentFixture({ model, tools: [act, read] });
    const turn = failure(ask(agent, "go", { session: "s" }));
    await until(() => model.asked.length === 2);
    await ask(agent, "/stop", { session: "s" });
    await turn;
    const { messages } = agent.sessions.messages(idOf(agent, "s"), { limit: 10 });
    expect(messages.map(({ role, text, calls, state }) => [role, text, calls.length, state])).toEqual([
      ["user", "go", 0, "stopped"],
      ["assistant", "", 2, "stopped"],
    ]);
    expect(messages[1]!.problem).toMatchObject({ code: "TURN_CANCELLED", reason: "The turn was stopped by /stop." });
  });

  test("come in pages of any size, whole and in order, whatever is written meanwhile", async () => {
    const step = () => [text("a"), call("read", {}, crypto.randomUUID())];
    const model = scripted(step(), step(), [text("done")], [text("2")], step(), [text("3")], [text("4")]);
    const { agent } = agentFixture({ model });
    for (const words of ["one", "two", "three"]) await ask(agent, words, { session: "s" });
    const id = idOf(agent, "s");
    const all = agent.sessions.messages(id, { limit: 100 }).messages;
    expect(all).toHaveLength(9);
    for (let limit = 1; limit <= 10; limit += 1) {
      const pages: SessionMessage[][] = [];
      let before: string | undefined;
      do {
        const page = agent.sessions.messages(id, { limit, ...(before !== undefined && { before }) });
        pages.unshift([...page.messages]);
        ({ before } = page);
      } while (before !== undefined);
      expect(pages.flat()).toEqual(all);
      expect(Math.max(...pages.map((page) => page.length))).toBeLessThanOrEqual(limit);
      expect(pages.every((page) => page.length > 0)).toBe(true);
    }
    const { before } = agent.sessions.messages(id, { limit: 2 });
    await ask(agent, "four", { session: "s" });
    const older = agent.sessions.messages(id, { limit: 100, before: before! }).messages;
    expect(older).toEqual(all.slice(0, -2));
  });

  test("of another conversation are not reached by a cursor, whatever it says", async () => {
    const { agent } = agentFixture({ model: scripted([text("mine")], [text("theirs")]) });
    await ask(agent, "mine", { session: "s" });
    await ask(agent, "theirs", { session: "t", clientId: other });
    const id = idOf(agent, "s");
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.tuple(fc.nat(5), fc.nat(5)).map(([turn, shown]) => `${turn}.${shown}`),
        ),
        (before) => {
          expect(shownOrRefused(agent, id, before)).not.toContain("theirs");
        },
      ),
    );
    expect(() => agent.sessions.messages("nobody", { limit: 1 })).toThrow(
      expect.objectContaining({ code: "SESSION_UNKNOWN" }),
    );
  });
});

/** Any other failure than BAD_REQUEST fails the test. */
function shownOrRefused(agent: Agent, id: string, before: string): string {
  try {
    return JSON.stringify(agent.sessions.messages(id, { limit: 10, before }));
  } catch (error) {
    if ((error as { code?: unknown }).code === "BAD_REQUEST") return "";
    throw error;
  }
}

describe("removing a conversation", () => {
  test("takes it from disk and from memory; its name begins anew", async () => {
    const model = scripted([text("1")], [text("2")]);
    const { agent, store } = agentFixture({ model });
    await ask(agent, "1", { session: "s" });
    const id = idOf(agent, "s");
    expect(await agent.sessions.remove(id)).toBe(true);
    expect(await agent.sessions.remove(id)).toBe(false);
    expect([agent.sessions.find(id), store.sessions.list({}, 10)]).toEqual([undefined, []]);
    await ask(agent, "2", { session: "s" });
    expect(rolesOf(model.asked[1])).toEqual(["user"]);
    expect(idOf(agent, "s")).not.toBe(id);
  });

  test("stops what runs and what waits, and what the running turn still writes does not bring it back", async () => {
    const slow = gate();
    const stubborn = { ...act, run: async () => (await slow.opened, "done") };
    const model = scripted([text("1")], [call("act")], [text("after")]);
    const { agent, store } = agentFixture({ model, tools: [stubborn] });
    await ask(agent, "1", { session: "s" });
    const id = idOf(agent, "s");
    const running = failure(ask(agent, "2", { session: "s" }));
    const waiting = failure(ask(agent, "3", { session: "s" }));
    await until(() => store.toolCalls.actionsSince("default", 0).length === 1);
    const removed = agent.sessions.remove(id, "an operator");
    const after = ask(agent, "4", { session: "s" });
    await until(() => true);
    expect(agent.sessions.find(id)).toBeDefined();
    slow.open();
    expect(await removed).toBe(true);
    for (const error of await Promise.all([running, waiting])) {
      expect(error).toMatchObject({ code: "TURN_CANCELLED", message: "The turn was stopped by an operator." });
    }
    await after;
    expect(rolesOf(model.asked.at(-1))).toEqual(["user"]);
    expect(store.sessions.list({}, 10)).toMatchObject([{ name: "s", turns: 1 }]);
    expect(store.sessions.byId(id)).toBeUndefined();
  });

  test("of a first turn that acts leaves nothing on disk", async () => {
    const model = scripted([call("act")], hang);
    const { agent, store } = agentFixture({ model });
    const turn = failure(ask(agent, "1", { session: "s" }));
    await until(() => model.asked.length === 2);
    expect(await agent.sessions.remove(agent.sessions.running()[0]!.sessionId)).toBe(true);
    expect(await turn).toMatchObject({ code: "TURN_CANCELLED" });
    expect(store.sessions.list({}, 10)).toEqual([]);
  });

  test("does not wait for a place among other conversations", async () => {
    const model = scripted([text("1")], hang);
    const { agent } = agentFixture({ model, config: { agent: { max_parallel_turns: 1 } } });
    await ask(agent, "1", { session: "s" });
    const leave = new AbortController();
    const busy = failure(ask(agent, "2", { session: "t", signal: leave.signal }));
    expect(await agent.sessions.remove(idOf(agent, "s"))).toBe(true);
    leave.abort();
    await busy;
  });

  test("raced by the end of a turn: nothing of the removed one is left, at whatever moment", async () => {
    for (let delay = 0; delay < 50; delay += 1) {
      const answer = gate();
      const model = scripted([call("act")], async () => (await answer.opened, [text("done")]));
      const { agent, store } = agentFixture({ model });
      const turn = ask(agent, "1", { session: "s" }).catch(() => {});
      await until(() => model.asked.length === 2);
      const { sessionId } = agent.sessions.running()[0]!;
      answer.open();
      for (let tick = 0; tick < delay; tick += 1) await Promise.resolve();
      if (delay % 5 === 4) await new Promise(setImmediate);
      expect(await agent.sessions.remove(sessionId)).toBe(true);
      await turn;
      expect(store.sessions.list({}, 10)).toEqual([]);
    }
  });
});
