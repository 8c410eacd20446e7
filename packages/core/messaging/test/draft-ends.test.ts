// The end of an answer that is seen being written: there twice, before an old edit, or not at all after a kill.
import { SvcError } from "@svc/contract";
import { fakeWorkspace } from "@svc/testkit/fake-workspace";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { suspectDelayMs } from "@svc/agent";
import { until } from "@svc/agent/agent-fixture";
import { afterKill, quiet, said, status } from "./messaging-fixture.ts";
import { draftsFixture } from "./drafts-fixture.ts";

const refused = () => {
  throw new SvcError("DELIVERY_REFUSED");
};

describe("its end", () => {
  test("waits for an edit that is under way, which could come after it", async () => {
    const { made, chat, pen } = draftsFixture();
    using _ = made;
    const gate = Promise.withResolvers<void>();
    await made.receive(said("hi"));
    await pen.say("Hel");
    await made.pass(1_000);
    chat.editMood = ({ text }) => (text === "Hello" ? gate.promise : undefined);
    await pen.say("lo");
    await made.pass(1_000);
    await pen.say(", world.");
    await pen.end();
    await made.pass(4_000);
    expect([made.row(1).state, chat.shown]).toEqual(["waiting", ["Hel"]]);
    gate.resolve();
    await quiet();
    expect([made.row(1).state, chat.shown]).toEqual(["done", ["Hello, world."]]);
    expect(chat.edits.map(({ text }) => text)).toEqual(["Hello", "Hello, world."]);
  });

  test("does not wait for ever: one that hangs is called off", async () => {
    const { made, chat, pen } = draftsFixture();
    using _ = made;
    await made.receive(said("hi"));
    await pen.say("Hel");
    await made.pass(1_000);
    let isCalledOff = false;
    chat.editMood = ({ text }, signal) => {
      if (text !== "Hello") return undefined;
      signal.addEventListener("abort", () => (isCalledOff = true));
      return new Promise(() => {});
    };
    await pen.say("lo");
    await made.pass(1_000);
    await pen.say("!");
    await pen.end();
    await made.pass(4_500);
    expect([made.row(1).state, isCalledOff]).toEqual(["waiting", false]);
    await made.pass(500);
    expect([made.row(1).state, isCalledOff, chat.shown]).toEqual(["done", true, ["Hello!"]]);
    expect(made.clock.waiting).toBe(0);
  });

  test("is a message of its own where the beginning can't be edited any more, in the same attempt", async () => {
    const { made, chat, pen } = draftsFixture();
    using _ = made;
    await made.receive(said("hi"));
    await pen.say("Hel");
    await made.pass(1_000);
    chat.editMood = refused;
    await pen.say("lo");
    await made.pass(1_000);
    const { turnId } = made.row(1);
    await pen.say(".");
    let edits = 0;
    chat.editMood = () => ((edits += 1), refused());
    await made.pass(10_000);
    expect(edits).toBe(0);
    await pen.end();
    expect([chat.shown, edits]).toEqual([["Hel", "Hello."], 1]);
    expect(made.store.outbox.ofTurn(turnId)).toMatchObject([{ state: "sent", attempts: 0, platformId: "chat-2" }]);
  });

  test("is tried again by editing when the platform is down, and is there once", async () => {
    const { made, chat, pen } = draftsFixture();
    using _ = made;
    await made.receive(said("hi"));
    await pen.say("Hel");
    await made.pass(1_000);
    chat.editMood = () => Promise.reject(new SvcError("REMOTE_TIMEOUT"));
    await pen.say("lo.");
    await pen.end();
    expect([chat.shown, made.row(1).state]).toEqual([["Hel"], "done"]);
    chat.editMood = () => undefined;
    await made.pass(2_000);
    expect([chat.shown, chat.sent.length]).toEqual([["Hello."], 1]);
  });

  test("leaves no file unsent, and no line that names one is ever seen", async () => {
    const { made, chat, pen } = draftsFixture({ workspace: fakeWorkspace({ "a.png": "png" }) });
    using _ = made;
    const media = { maxBytes: 100, sends: ["image"] as const, fetch: () => Promise.reject(new Error()) };
    Object.assign(chat.channel, { media });
    await made.receive(said("hi"));
    for (const piece of ["Look:\n[IMA", "GE:a.", "png]\nNice", ", isn't it?\n```\n[IMAGE:a.png]\n```"]) {
      await pen.say(piece);
      await made.pass(1_000);
    }
    await pen.end();
    await until(() => chat.sent.length === 2);
    expect(chat.edits.map(({ text }) => text)).toEqual([
      "Look:\nNice",
      "Look:\nNice, isn't it?\n```\n[IMAGE:a.png]\n```",
      "Look:\nNice, isn't it?\n```\n[IMAGE:a.png]\n```",
    ]);
    expect(chat.sent.map(({ text, files = [] }) => [text, files.length])).toEqual([
      ["Look:", 0],
      ["", 1],
    ]);
  });
});

describe("a turn without an end", () => {
  test("that was killed goes on with the same message", async () => {
    const home = temporaryHome();
    const before = draftsFixture();
    using _ = before.made;
    const { chat } = before;
    await before.made.receive(said("hi"));
    await before.pen.say("Hel");
    await before.made.pass(1_000);
    afterKill(before.made.folder, home.path);
    const { made, pen } = draftsFixture({ folder: home.path, chat });
    using _next = made;
    await quiet();
    await pen.say("Good");
    await made.pass(1_000);
    expect([chat.shown, chat.sent.length]).toEqual([["Good"], 1]);
    await pen.say(" day.");
    await pen.end();
    expect([chat.shown, chat.sent.length, made.row(1).state]).toEqual([["Good day."], 1, "done"]);
    home.remove();
  });

  test("that was killed when its answer was kept and not yet sent edits it all the same", async () => {
    const home = temporaryHome();
    const before = draftsFixture();
    using _ = before.made;
    const { chat } = before;
    await before.made.receive(said("hi"));
    await before.pen.say("Hel");
    await before.made.pass(1_000);
    chat.editMood = () => new Promise(() => {});
    await before.pen.say("lo");
    await before.pen.end();
    afterKill(before.made.folder, home.path);
    chat.editMood = () => undefined;
    using made = draftsFixture({ folder: home.path, chat }).made;
    await quiet();
    expect([chat.shown, chat.sent.length, made.row(1).state]).toEqual([["Hello"], 1, "done"]);
    home.remove();
  });

  test("that is called off by a shutdown goes on with it in the next process", async () => {
    const home = temporaryHome();
    const before = draftsFixture();
    using _ = before.made;
    const { chat } = before;
    await before.made.receive(said("hi"));
    await before.pen.say("Hel");
    await before.made.pass(1_000);
    const gate = Promise.withResolvers<void>();
    chat.editMood = () => gate.promise;
    await before.pen.say("lo");
    await before.made.pass(1_000);
    const stopped = before.made.messaging.stop(0);
    await before.made.pass(1_000);
    await stopped;
    gate.resolve();
    afterKill(before.made.folder, home.path);
    chat.editMood = () => undefined;
    const { made, pen } = draftsFixture({ folder: home.path, chat });
    using _next = made;
    await quiet();
    expect(made.row(1)).toMatchObject({ attempts: 0, draft: "chat-1" });
    await pen.say("Hello.");
    await pen.end();
    expect([chat.shown, chat.sent.length]).toEqual([["Hello."], 1]);
    home.remove();
  });

  test("that fails for good says so in its place", async () => {
    const { made, chat, pen } = draftsFixture({ config: { model: { max_retries: 0 } } });
    using _ = made;
    await made.receive(said("hi"));
    await pen.say("Hel");
    await made.pass(1_000);
    await pen.fail(status(400));
    expect(chat.shown).toEqual(["Sorry, this message could not be answered: the model provider refused the request."]);
    expect([chat.sent.length, made.row(1).state]).toEqual([1, "failed"]);
  });

  test("that the process died of says so in its place too", async () => {
    const home = temporaryHome();
    const before = draftsFixture();
    using _ = before.made;
    const { chat } = before;
    await before.made.receive(said("hi"));
    await before.pen.say("Hel");
    await before.made.pass(1_000);
    afterKill(before.made.folder, home.path);
    for (let deaths = 1; deaths < 5; deaths += 1) {
      using made = draftsFixture({ folder: home.path, chat }).made;
      await quiet();
      await made.pass(suspectDelayMs(deaths));
      expect(made.row(1).attempts).toBe(deaths);
      afterKill(home.path, before.made.folder);
      afterKill(before.made.folder, home.path);
    }
    using made = draftsFixture({ folder: home.path, chat }).made;
    await quiet();
    expect(made.row(1)).toMatchObject({ state: "failed", error: "TURN_CRASHED" });
    expect([chat.shown.length, chat.shown[0]]).toEqual([1, expect.stringMatching(/^Sorry, .*could not be answered/)]);
    home.remove();
  });

  test("that is tried again later leaves it, and goes on with it", async () => {
    const { made, chat, pen } = draftsFixture({ config: { model: { max_retries: 0 } } });
    using _ = made;
    await made.receive(said("hi"));
    await pen.say("Hel");
    await made.pass(1_000);
    await pen.fail(status(503));
    expect([chat.shown, made.row(1)]).toMatchObject([["Hel"], { state: "waiting", attempts: 1, draft: "chat-1" }]);
    await made.pass(2_000);
    await pen.say("Hello.");
    await pen.end();
    expect([chat.shown, chat.sent.length]).toEqual([["Hello."], 1]);
  });

  test.each(["stopped", "dropped"])("that is %s leaves what was written", async (how) => {
    const { made, chat, pen } = draftsFixture();
    using _ = made;
    await made.receive(said("hi"));
    await pen.say("Hel");
    await made.pass(1_000);
    await pen.say("lo");
    if (how === "stopped") await made.receive(said("/stop"));
    else await made.messaging.messageAdmin.drop("in-1");
    await quiet();
    await made.pass(60_000);
    expect(chat.shown).toEqual(how === "stopped" ? ["Hel", "Stopped."] : ["Hel"]);
    expect([chat.edits, made.row(1).state, made.clock.waiting]).toEqual([
      [],
      how === "stopped" ? "done" : "dropped",
      0,
    ]);
  });

  test("that is stopped from elsewhere leaves it, and says so behind it", async () => {
    const { made, chat, pen } = draftsFixture();
    using _ = made;
    await made.receive(said("hi"));
    await pen.say("Hel");
    await made.pass(1_000);
    const [session] = made.agent.sessions.list({}, 1);
    made.agent.sessions.cancel(session!.id);
    await quiet();
    expect(chat.shown).toEqual(["Hel", "This message will not be answered: its turn was stopped."]);
  });
});
