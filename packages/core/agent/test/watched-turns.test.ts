// A turn that somebody looks on at is told in pieces; it must end exactly as it would with nobody looking.
import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { ask, failure, agentFixture, scripted, streamOf, text } from "./agent-fixture.ts";
import { throughBackoffs } from "./provider-fixture.ts";

const deltasOf = ({ events }: ReturnType<typeof agentFixture>): string[] =>
  events.flatMap((event) => (event.type === "text-delta" ? [event.text] : []));

/** Its stream breaks off after the first word, each time; asked for the whole answer at once, it gives it. */
function breaking(): LanguageModelV4 & { streams: number } {
  const model = {
    ...scripted([text("the whole answer")], [text("the whole answer")]),
    streams: 0,
    doStream: () => {
      model.streams += 1;
      const lost = Object.assign(new Error("lost"), { isRetryable: true });
      const parts = async function* (): AsyncGenerator<LanguageModelV4StreamPart> {
        yield { type: "text-start", id: "1" };
        yield { type: "text-delta", id: "1", delta: "the " };
        throw lost;
      };
      return Promise.resolve({ stream: streamOf(parts()) });
    },
  };
  return model;
}

test("nobody looks: whole answers alone. Somebody does: pieces, also for turns that nobody asked pieces of", async () => {
  let isListened = false;
  const made = agentFixture({ model: scripted([text("abc")], [text("abc")]), isListened: () => isListened });
  await ask(made.agent, "one");
  expect(deltasOf(made)).toEqual([]);
  isListened = true;
  await ask(made.agent, "two");
  expect(deltasOf(made)).toEqual(["a", "b", "c"]);
});

test("a stream that breaks off is tried again, whole, and nothing is told twice", async () => {
  const model = breaking();
  const made = agentFixture({ model, isListened: () => true });
  expect(await throughBackoffs(made, ask(made.agent, "one"))).toMatchObject({ response: "the whole answer" });
  expect([deltasOf(made), model.streams]).toEqual([["the "], 1]);
});

test("whoever asked for pieces, and was shown one, is told that it failed", async () => {
  const made = agentFixture({ model: breaking(), isListened: () => true });
  expect(await failure(ask(made.agent, "one", { onEvent: () => {} }))).toMatchObject({ code: "MODEL_UNREACHABLE" });
});
