// A kill at any instant that loses a message, answers it twice, out of order, or lets a tool act twice for it.
import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { defineTool } from "@svc/contract";
import type { Store } from "@svc/store";
import { temporaryHome } from "@svc/testkit/temporary-home";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { suspectDelayMs } from "@svc/agent";
import { call, text, until } from "@svc/agent/agent-fixture";
import {
  afterKill,
  lastAsked,
  type MessagingFixture,
  messagingFixture,
  type MessagingFixtureOptions,
  quiet,
  saidIn,
} from "./messaging-fixture.ts";

const MESSAGES = [saidIn("a", "a1"), saidIn("a", "a2"), saidIn("b", "b1")];
const PRICED = { provider: "openai", name: "m", price: { input_per_million: 1e6, output_per_million: 0 } } as const;

/** Of the turn that runs: what its calls gave, in order. */
function resultsIn({ prompt }: LanguageModelV4CallOptions): string[] {
  const asked = prompt.findLastIndex(({ role }) => role === "user");
  return prompt
    .slice(asked)
    .flatMap((message) => (message.role === "tool" ? message.content : []))
    .map((part) => JSON.stringify(part.type === "tool-result" && "value" in part.output ? part.output.value : ""));
}

/** Acts, reads and is refused, acts again, and tells what came of it. */
function think(options: LanguageModelV4CallOptions) {
  const words = lastAsked(options);
  const results = resultsIn(options);
  const of = (name: string, n: number) => call(name, { of: words }, `${words}-${n}`);
  if (results.length === 0) return [of("act", 1)];
  if (results.length === 1) return [of("read", 2), of("missing", 3)];
  if (results.length === 3) return [of("act", 4)];
  return [text([words, ...results].join(" "))];
}

/** One life of the service: what its tools did, and what a kill would have left at each commit. */
interface Life extends Disposable {
  readonly made: MessagingFixture;
  /** `acts` is what may have been done when it was killed: all that began before the next commit. */
  readonly kills: { readonly folder: string; acts: string[] }[];
  readonly acts: string[];
}

function live(options: MessagingFixtureOptions & { readonly remembers?: boolean }): Life {
  const acts: string[] = [];
  const kills: Life["kills"] = [];
  const input = v.object({ of: v.string() });
  const act = defineTool({
    name: "act",
    description: "acts",
    input,
    approval: "ask",
    run: async ({ of }) => `did ${of} ${acts.push(of)}`,
  });
  const read = defineTool({
    name: "read",
    description: "reads",
    input,
    approval: "auto",
    run: async ({ of }) => `saw ${of}`,
  });
  let folder = "";
  let size = 0;
  const remember = (): void => {
    // Of one commit many are told.
    const now = statSync(join(folder, "svc.db-wal")).size;
    if (!options.remembers || now === size) return;
    size = now;
    const last = kills.at(-1);
    if (last) last.acts = [...acts];
    const kill = temporaryHome();
    afterKill(folder, kill.path);
    kills.push({ folder: kill.path, acts: [] });
  };
  const wrap = (store: Store): Store => ({
    ...store,
    write: (change) => store.write(change).finally(remember),
  });
  const config = { model: PRICED };
  const made = messagingFixture({ think, wrap, config, ...options, tools: [act, read] });
  folder = made.folder;
  return {
    made,
    kills,
    acts,
    [Symbol.dispose]() {
      made[Symbol.dispose]();
      for (const kill of kills) rmSync(kill.folder, { recursive: true, force: true });
    },
  };
}

const isOver = ({ store }: MessagingFixture): boolean => store.inbox.counts().inbox.waiting === 0;

function checkAll({ made, acts }: Life, actsBefore: readonly string[]): void {
  const { store, agent } = made;
  const kept = store.inbox.list({}, 10).toReversed();
  expect(kept.map(({ state }) => state)).toEqual(kept.map(() => "done"));
  for (const message of kept) {
    const answers = made.answersTo(message.n);
    expect(answers).toHaveLength(1);
    const words = (message.body as { text: string }).text;
    const [first, second, third, fourth] = answers[0]!.slice(words.length + 1).split(/(?<=") (?=")/);
    expect(first).toMatch(new RegExp(`^"did ${words} \\d+"$|^"interrupted, outcome unknown"$`));
    expect([second, third]).toEqual([`"saw ${words}"`, expect.stringContaining("TOOL_UNKNOWN")]);
    expect(fourth).toMatch(new RegExp(`^"did ${words} \\d+"$|^"interrupted, outcome unknown"$`));
    // Two calls, each at most once; one that the model was told to be unknown may have been made or not.
    const runs = [...actsBefore, ...acts].filter((of) => of === words).length;
    const known = [first, fourth].filter((outcome) => outcome!.startsWith('"did')).length;
    expect(runs).toBeGreaterThanOrEqual(known);
    expect(runs).toBeLessThanOrEqual(2);
    expect(store.steps.of(message.turnId)).toEqual([]);
  }
  for (const room of agent.sessions.list({}, 10)) {
    const asked = agent.sessions.messages(room.id, { limit: 100 }).messages.filter(({ role }) => role === "user");
    const expected = kept
      .filter(({ conversationKey }) => conversationKey === room.name)
      .map(({ body }) => (body as { text: string }).text);
    expect(asked.map((message) => message.text)).toEqual(expected);
  }
  // Four answers of the model for each, 10 tokens in at a dollar: those of all attempts, and none of them twice.
  expect(store.usage.list("2026-01-01")).toMatchObject([
    { turns: kept.length, inputTokens: 40 * kept.length, costUsd: 40 * kept.length },
  ]);
}

describe("a kill", () => {
  test("at any commit loses nothing, and lets nothing happen twice", async () => {
    // One turn after the other, or their commits would be the same ones.
    using first = live({ remembers: true, settings: { maxParallelTurns: 1 } });
    for (const message of MESSAGES) await first.made.messaging.receive("chat", [message]);
    await until(() => isOver(first.made));
    await quiet();
    checkAll(first, []);
    expect(first.acts).toHaveLength(6);
    first.kills.at(-1)!.acts = first.acts;
    expect(first.kills.length).toBeGreaterThan(20);
    for (const { folder, acts } of first.kills) {
      using second = live({ folder });
      await until(() => isOver(second.made));
      checkAll(second, acts);
    }
  });

  test("of the process that goes on after a kill is survived too", async () => {
    using first = live({ remembers: true });
    await first.made.messaging.receive("chat", [MESSAGES[0]!]);
    await until(() => isOver(first.made));
    for (const { folder, acts } of first.kills.slice(0, -1)) {
      using second = live({ folder, remembers: true });
      await until(() => isOver(second.made));
      const middle = second.kills[Math.floor(second.kills.length / 2)];
      if (!middle) continue;
      using third = live({ folder: middle.folder });
      // What two processes died of rests first.
      await third.made.pass(suspectDelayMs(2));
      await until(() => isOver(third.made));
      checkAll(third, [...acts, ...middle.acts]);
      expect(third.made.chat.taken.length).toBeLessThanOrEqual(1);
    }
  });
});
