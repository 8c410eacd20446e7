// A message whose model is down: given up before its answer would be, tried for ever, or forgotten by a restart.
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { text } from "@svc/agent/agent-fixture";
import {
  afterKill,
  down,
  echo,
  failing,
  messagingFixture,
  quiet,
  said,
  status,
  type Think,
} from "./messaging-fixture.ts";

/** No retries of the model's own. */
const config = { model: { max_retries: 0 } };
/** With the longest jitter: some eighteen minutes. */
const RESTS_MS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((seconds) => seconds * 1_000);

describe("a message whose model is down", () => {
  test.each([
    ["the model can't be reached", down],
    ["its provider is busy", () => status(429)],
    ["its provider is in trouble", () => status(503)],
  ])("because %s is tried again as a delivery is, with more and more patience", async (_, error) => {
    using made = messagingFixture({ config, think: failing(RESTS_MS.length, error) });
    await made.receive(said("hello"));
    for (const waitMs of RESTS_MS) {
      const asked = made.model.asked.length;
      await made.clock.advance(waitMs - 1);
      await quiet();
      expect(made.model.asked.length).toBe(asked);
      await made.clock.advance(1);
      await quiet();
      expect(made.model.asked.length).toBe(asked + 1);
    }
    expect([made.row(1).state, made.row(1).attempts]).toEqual(["done", 11]);
    expect(made.chat.taken).toEqual(["echo hello"]);
    expect(made.events.map(({ type }) => type)).toEqual(["message-received", "message-delivered"]);
  });

  test("fails when the last time was in vain: its sender is told once, and so is who watches", async () => {
    using made = messagingFixture({ config, think: failing(3, down), settings: { maxAttempts: 3 } });
    await made.receive(said("hello"), said("next"));
    await made.pass(3_000);
    expect([made.row(1).state, made.row(1).attempts, made.row(1).error]).toEqual(["failed", 3, "MODEL_UNREACHABLE"]);
    expect(made.chat.taken).toEqual([
      "Sorry, this message could not be answered: the model provider could not be reached.",
      "echo next",
    ]);
    const { turnId } = made.row(1);
    const conversation = { channel: "chat", id: "room" };
    expect(made.events.filter(({ type }) => type === "message-failed")).toEqual([
      { type: "message-failed", messageId: "in-1", conversation, turnId, code: "MODEL_UNREACHABLE" },
    ]);
  });

  test("is left alone for as long as the provider asks for", async () => {
    const busy = () => Object.assign(status(429), { responseHeaders: { "retry-after": "90" } });
    using made = messagingFixture({ config, think: failing(1, busy) });
    await made.receive(said("hello"));
    await made.clock.advance(89_000);
    expect(made.model.asked).toHaveLength(1);
    await made.pass(15_000);
    expect(made.chat.taken).toEqual(["echo hello"]);
  });

  test("and whose process is killed goes on counting in the next one, which tries at once", async () => {
    const target = temporaryHome();
    using made = messagingFixture({ config, think: failing(9, down), settings: { maxAttempts: 4 } });
    await made.receive(said("hello"), said("next"));
    await made.pass(3_000);
    expect(made.row(1).attempts).toBe(3);
    afterKill(made.folder, target.path);
    using next = messagingFixture({
      folder: target.path,
      config,
      think: failing(1, down),
      settings: { maxAttempts: 4 },
    });
    await quiet();
    expect([next.row(1).state, next.row(1).attempts]).toEqual(["failed", 4]);
    expect(next.chat.taken).toEqual([expect.stringContaining("could not be reached"), "echo next"]);
    target.remove();
  });

  test("is tried at once when the config was fixed, however long it was to rest", async () => {
    const busy = () => Object.assign(status(429), { responseHeaders: { "retry-after": "3600" } });
    using made = messagingFixture({ config, think: failing(1, busy) });
    await made.receive(said("hello"));
    await made.pass(10_000);
    expect(made.model.asked).toHaveLength(1);
    made.messaging.reconfigure(made.settings());
    await quiet();
    expect([made.chat.taken, made.clock.waiting]).toEqual([["echo hello"], 0]);
  });

  test("after an outage has the second try of a turn that failed all the same", async () => {
    const errors = [down(), down(), new Error("odd")];
    const think: Think = (options) => {
      const error = errors.shift();
      if (error?.message === "odd") return [text(" ")];
      if (error) throw error;
      return echo(options);
    };
    using made = messagingFixture({ config, think });
    await made.receive(said("hello"));
    await made.pass(7_000);
    expect([made.row(1).attempts, made.chat.taken]).toEqual([3, ["echo hello"]]);
  });
});
