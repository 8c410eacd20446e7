// Memory must not grow with the number of conversations, and what left memory must come back whole.
import type { LanguageModelV4Message } from "@ai-sdk/provider";
import type { ClientId, Json } from "@svc/contract";
import { openStore, type Store } from "@svc/store";
import { fakeClock } from "@svc/testkit/fake-clock";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { History, userMessage } from "../src/turn/history.ts";

const client = "c" as ClientId;

/** `isRead`: its model is told the earlier turns, as each but the built-in one is. */
async function say(
  store: Store,
  history: History,
  name: string,
  words: string,
  tokens: number,
  isRead = true,
): Promise<void> {
  const conversation = history.open(client, name);
  if (isRead) history.messagesOf(conversation);
  const messages = [userMessage(words)];
  const place = await store.write(() =>
    store.sessions.append(conversation, conversation.place, {
      id: words,
      at: 1,
      model: "m",
      messages: messages as unknown as Json,
      tokens,
      inputTokens: 0,
      outputTokens: 0,
      costUsd: undefined,
    }),
  );
  history.append(conversation, place, { messages, text: JSON.stringify(messages), tokens });
}

const wordsOf = (messages: readonly LanguageModelV4Message[]): string[] =>
  messages.map((message) => (message.content[0] as { text: string }).text);

describe("history", () => {
  test("whatever is cached or not, a conversation is its newest turns that fit", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            name: fc.constantFrom("a", "b", "c", "d"),
            tokens: fc.integer({ min: 1, max: 60 }),
            isRead: fc.boolean(),
          }),
          { maxLength: 40 },
        ),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 3_000 }),
        async (turns, conversations, bytes) => {
          const store = openStore({ file: ":memory:", clock: fakeClock(), idempotency: { ttlMs: 1, maxKeys: 1 } });
          const history = new History(store, 100, { conversations, bytes });
          const said: Record<string, { words: string; tokens: number }[]> = {};
          for (const [index, turn] of turns.entries()) {
            await say(store, history, turn.name, `${turn.name}${index}`, turn.tokens, turn.isRead);
            (said[turn.name] ??= []).push({ words: `${turn.name}${index}`, tokens: turn.tokens });
          }
          for (const [name, all] of Object.entries(said)) {
            let left = 100;
            const fitting: string[] = [];
            for (const { words, tokens } of all.toReversed()) {
              left -= tokens;
              if (left < 0) break;
              fitting.unshift(words);
            }
            expect(wordsOf(history.messagesOf(history.open(client, name)))).toEqual(fitting);
          }
          store.close();
        },
      ),
      { numRuns: cases(60) },
    );
  });

  const opened = (maxTokens: number, bytes: number): { store: Store; history: History } => {
    const store = openStore({ file: ":memory:", clock: fakeClock(), idempotency: { ttlMs: 1, maxKeys: 1 } });
    return { store, history: new History(store, maxTokens, { conversations: 10, bytes }) };
  };

  test("the cache is bounded in bytes: the least recently used conversation is read again", async () => {
    // Each message takes at most 2000 bytes and what its objects take, whatever its tokens are said to be.
    const { store, history } = opened(100, 5_000);
    const words = (letter: string): string => letter.repeat(1_000);
    await say(store, history, "a", words("a"), 1);
    const a = history.open(client, "a");
    await say(store, history, "b", words("b"), 1);
    expect(history.open(client, "a")).toBe(a);
    await say(store, history, "c", words("c"), 1);
    const b = history.open(client, "b");
    expect(wordsOf(history.messagesOf(b))).toEqual([words("b")]);
    expect(history.open(client, "a")).not.toBe(a);
    store.close();
  });

  test("a turn that leaves a conversation leaves the bytes of the cache", async () => {
    const { store, history } = opened(2, 10_000);
    await say(store, history, "a", "quiet", 1);
    const a = history.open(client, "a");
    for (let count = 0; count < 50; count += 1) {
      await say(store, history, "b", `${count}`.padEnd(500, "b"), 1);
      expect(history.open(client, "a")).toBe(a);
    }
    store.close();
  });

  test("a conversation larger than the cache is not kept, and comes whole from disk", async () => {
    const { store, history } = opened(100, 1_000);
    await say(store, history, "a", "x".repeat(2_000), 1);
    const first = history.open(client, "a");
    expect(wordsOf(history.messagesOf(first))).toEqual(["x".repeat(2_000)]);
    expect(history.open(client, "a")).not.toBe(first);
    store.close();
  });
});
