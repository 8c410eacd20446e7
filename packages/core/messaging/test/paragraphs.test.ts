// Each paragraph of an answer is a message as soon as it is complete: one that is torn, lost, said twice or out of order.
import type { LanguageModelV4Content } from "@ai-sdk/provider";
import { fakeWorkspace } from "@svc/testkit/fake-workspace";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { ANEW } from "../src/paragraphs.ts";
import { act, call, read, until } from "@svc/agent/agent-fixture";
import { afterKill, quiet, said, status } from "./messaging-fixture.ts";
import { draftsFixture, type WritingOptions } from "./drafts-fixture.ts";

const agentFixture = (options: WritingOptions = {}) => draftsFixture({ mode: "multi_message", ...options });
const lost = () => Object.assign(new Error("lost"), { isRetryable: true });

describe("an answer", () => {
  test("goes out paragraph by paragraph, in order, code blocks whole, and its end adds what is left", async () => {
    const { made, chat, pen } = agentFixture();
    using _ = made;
    await made.receive(said("hi", { replyData: 7 }));
    await pen.say("First.\n");
    expect(chat.shown).toEqual([]);
    await pen.say("\nSec");
    expect(chat.shown).toEqual(["First."]);
    await pen.say("ond:\n```\na\n\n");
    await pen.say("b\n```\n\nThi");
    expect(chat.shown).toEqual(["First.", "Second:\n```\na\n\nb\n```"]);
    await pen.say("rd.");
    await made.pass(10_000);
    expect(chat.shown).toHaveLength(2);
    await pen.end();
    expect(chat.shown).toEqual(["First.", "Second:\n```\na\n\nb\n```", "Third."]);
    expect([made.row(1).state, chat.edits, chat.sent.map(({ replyData }) => replyData)]).toEqual([
      "done",
      [],
      [7, 7, 7],
    ]);
    expect(made.answersTo(1)).toHaveLength(3);
    expect(made.agent.sessions.list({}, 1)).toMatchObject([{ turns: 1 }]);
  });

  test("of one paragraph is one message; a long one is split", async () => {
    const { made, chat, pen } = agentFixture();
    using _ = made;
    Object.assign(chat.channel, { text: { maxChars: 12 } });
    await made.receive(said("hi"));
    await pen.say("Short.\n\nLonger. Longer.\n\n");
    await pen.end();
    expect(chat.shown).toEqual(["Short.", "Longer.", "Longer."]);
  });

  test("has what is said before a tool call in it, before whatever the tool does and asks", async () => {
    const { made, chat, pen } = agentFixture({ asks: true, tools: [act, read], verdict: "ask" });
    using _ = made;
    await made.receive(said("hi"));
    await pen.say("Let me look.");
    await pen.end(call("read"));
    expect(chat.shown).toEqual(["Let me look."]);
    await pen.say("I see.\n\nNow I act.");
    await pen.end(call("act"));
    expect(chat.shown).toEqual(["Let me look.", "I see.", "Now I act.", "May it? #1"]);
    await made.receive(said("yes"));
    await pen.say("Done.");
    await pen.end();
    expect(chat.shown.slice(3)).toEqual(["May it? #1", "approved #1", "Done."]);
  });

  test("has its files where they belong, and not more than ten", async () => {
    const { made, chat, pen } = agentFixture({ workspace: fakeWorkspace({ "a.png": "png" }) });
    using _ = made;
    const media = { maxBytes: 100, sends: ["image"] as const, fetch: () => Promise.reject(new Error()) };
    Object.assign(chat.channel, { media });
    await made.receive(said("hi"));
    await pen.say("Look:\n[IMAGE:a.png]\n\nNice.\n\n");
    await until(() => chat.sent.length === 3);
    await pen.say(Array(10).fill("[IMAGE:a.png]").join("\n\n"));
    await pen.end();
    await until(() => made.row(1).state === "done" && chat.sent.length === 13);
    const seen = chat.sent.map(({ text, files = [] }) => text || files[0]!.name);
    expect(seen.slice(0, 3)).toEqual(["Look:", "a.png", "Nice."]);
    expect(seen.filter((one) => one === "a.png")).toHaveLength(10);
    expect(seen.at(-1)).toBe("[IMAGE:a.png] (not sent: too many files)");
  });
});

describe("a model that is asked again", () => {
  const [A, B, C] = ["Alpha.", "Beta.", "Gamma."];

  test("and says the same is heard once", async () => {
    const { made, chat, pen } = agentFixture({ config: { model: { max_retries: 1 } } });
    using _ = made;
    await made.receive(said("hi"));
    await pen.say(`${A}\n\n${B}\n\nGam`);
    await pen.fail(lost());
    await made.pass(1_000);
    for (const letter of `${A}\n\n${B}\n\n${C}`) await pen.say(letter);
    await pen.end();
    expect(chat.shown).toEqual([A, B, C]);
  });

  test("and says it otherwise says all of it from there on, behind a word about it", async () => {
    const { made, chat, pen } = agentFixture({ config: { model: { max_retries: 1 } } });
    using _ = made;
    await made.receive(said("hi"));
    await pen.say(`${A}\n\n${B}\n\n${C}\n\n`);
    await pen.fail(lost());
    await made.pass(1_000);
    await pen.say(`${A}\n\nOther.\n\n${C}`);
    await pen.end();
    expect(chat.shown).toEqual([A, B, C, ANEW, "Other.", C]);
  });

  test("and says less says it again, so that nobody takes the rest for a part of it", async () => {
    const { made, chat, pen } = agentFixture({ config: { model: { max_retries: 1 } } });
    using _ = made;
    await made.receive(said("hi"));
    await pen.say(`${A}\n\n${B}\n\n`);
    await pen.fail(lost());
    await made.pass(1_000);
    await pen.say(A);
    await pen.end();
    expect(chat.shown).toEqual([A, B, ANEW, A]);
  });

  test("after a kill goes on behind what is in the outbox, whether it was delivered or not", async () => {
    const home = temporaryHome();
    const before = agentFixture();
    using _ = before.made;
    const { chat } = before;
    await before.made.receive(said("hi"));
    await before.pen.say(`${A}\n\n`);
    chat.mood = () => new Promise(() => {});
    await before.pen.say(`${B}\n\nGa`);
    afterKill(before.made.folder, home.path);
    chat.mood = () => undefined;
    const { made, pen } = agentFixture({ folder: home.path, chat });
    using _next = made;
    await quiet();
    expect(chat.shown).toEqual([A, B]);
    await pen.say(`${A}\n\n${B}\n\n${C}`);
    await pen.end();
    expect(chat.shown).toEqual([A, B, C]);
    home.remove();
  });

  test("by a turn that is taken up says nothing of the steps before again", async () => {
    const home = temporaryHome();
    const before = agentFixture({ tools: [act] });
    using _ = before.made;
    const { chat } = before;
    await before.made.receive(said("hi"));
    await before.pen.say(A);
    await before.pen.end(call("act"));
    await before.pen.say(`${B}\n\n`);
    afterKill(before.made.folder, home.path);
    const { made, pen } = agentFixture({ folder: home.path, chat, tools: [act] });
    using _next = made;
    await quiet();
    await pen.say(`${B}\n\n${C}`);
    await pen.end();
    expect(chat.shown).toEqual([A, B, C]);
    home.remove();
  });

  test("because it was down for a while goes on where it was, and an apology stands behind what is there", async () => {
    const { made, chat, pen } = agentFixture({ config: { model: { max_retries: 0 } } });
    using _ = made;
    await made.receive(said("hi"));
    await pen.say(`${A}\n\n${B}`);
    await pen.fail(status(503));
    await made.pass(2_000);
    await pen.say(`${A}\n\n${B}\n\n`);
    expect(chat.shown).toEqual([A, B]);
    await pen.fail(status(400));
    expect(chat.shown).toEqual([A, B, expect.stringMatching(/^Sorry, /)]);
  });
});

test("a step that calls a tool without a word says nothing", async () => {
  const { made, chat, pen } = agentFixture({ tools: [read] });
  using _ = made;
  await made.receive(said("hi"));
  const silent: LanguageModelV4Content = call("read");
  await pen.end(silent);
  await pen.say("Done.");
  await pen.end();
  expect(chat.shown).toEqual(["Done."]);
});
