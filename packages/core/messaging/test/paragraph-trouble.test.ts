// Paragraphs that go out while the disk is full, a try breaks off or somebody stops the turn: lost, doubled, or said too late.
import { SvcError } from "@svc/contract";
import { fakeWorkspace } from "@svc/testkit/fake-workspace";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ANEW } from "../src/paragraphs.ts";
import { gate, until } from "@svc/agent/agent-fixture";
import { afterKill, quiet, said } from "./messaging-fixture.ts";
import { draftsFixture, type WritingOptions } from "./drafts-fixture.ts";

const agentFixture = (options: WritingOptions = {}) => draftsFixture({ mode: "multi_message", ...options });
const lost = () => Object.assign(new Error("lost"), { isRetryable: true });

describe("nothing is lost and nothing doubled", () => {
  test("when the disk refuses a paragraph: it goes out with the next one, or with the end", async () => {
    const disk = { isFull: false };
    const { made, chat, pen } = agentFixture({
      wrap: (store) => ({
        ...store,
        write: (change) => (disk.isFull ? Promise.reject(new SvcError("STORE_FULL")) : store.write(change)),
      }),
    });
    using _ = made;
    await made.receive(said("hi"));
    await pen.say("One.\n\n");
    disk.isFull = true;
    await pen.say("Two.\n\n");
    expect(chat.shown).toEqual(["One."]);
    disk.isFull = false;
    await pen.say("Three.\n\n");
    expect(chat.shown).toEqual(["One.", "Two.", "Three."]);
    disk.isFull = true;
    await pen.say("Four.\n\nFive.");
    disk.isFull = false;
    await pen.end();
    expect(chat.shown).toEqual(["One.", "Two.", "Three.", "Four.", "Five."]);
  });

  test("when the disk refuses what a try says that breaks off: it was never said", async () => {
    const disk = { isFull: false };
    const { made, chat, pen } = agentFixture({
      config: { model: { max_retries: 1 } },
      wrap: (store) => ({
        ...store,
        write: (change) => (disk.isFull ? Promise.reject(new SvcError("STORE_FULL")) : store.write(change)),
      }),
    });
    using _ = made;
    await made.receive(said("hi"));
    await pen.say("One.\n\n");
    disk.isFull = true;
    await pen.say("Old.\n\n");
    await pen.fail(lost());
    disk.isFull = false;
    await made.pass(1_000);
    await pen.say("One.\n\nNew.\n\nEnd.");
    await pen.end();
    expect(chat.shown).toEqual(["One.", "New.", "End."]);
  });

  test("when a try breaks off while a file of it is looked for: what it said behind that is not said", async () => {
    const open = gate();
    const files = fakeWorkspace({ "a.png": "png" });
    const workspace = {
      ...files,
      read: async (...all: Parameters<typeof files.read>) => (await open.opened, files.read(...all)),
    };
    const { made, chat, pen } = agentFixture({ workspace, config: { model: { max_retries: 1 } } });
    using _ = made;
    const media = { maxBytes: 100, sends: ["image"] as const, fetch: () => Promise.reject(new Error()) };
    Object.assign(chat.channel, { media });
    await made.receive(said("hi"));
    await pen.say("[IMAGE:a.png]\n\nStale.\n\n");
    await pen.fail(lost());
    await made.pass(1_000);
    open.open();
    await pen.say("Fresh.");
    await pen.end();
    await until(() => made.row(1).state === "done" && chat.shown.includes("Fresh."));
    expect(chat.shown).not.toContain("Stale.");
  });

  test("a turn that is stopped or dropped in the instant of a paragraph says nothing after that", async () => {
    const seen = new Set<string>();
    const states = new Set<string>();
    for (const how of ["stopped", "dropped"]) {
      for (let ticks = -4; ticks < 8; ticks += 1) {
        const { made, chat, pen } = agentFixture();
        using _ = made;
        await made.receive(said("hi"));
        const { outbox } = made.store;
        const add = outbox.add.bind(outbox);
        outbox.add = (rows, atMs) => {
          if (rows[0]?.key?.startsWith("said:")) states.add(made.row(1).state);
          return add(rows, atMs);
        };
        // A stream that was called off takes no more.
        const speak = () => void pen.say("One.\n\nTwo.\n\n").catch(() => undefined);
        if (ticks < 0) speak();
        for (let tick = ticks; tick < 0; tick += 1) await Promise.resolve();
        const ended = how === "stopped" ? made.receive(said("/stop")) : made.messaging.messageAdmin.drop("in-1");
        for (let tick = 0; tick < ticks; tick += 1) await new Promise(setImmediate);
        if (ticks >= 0) speak();
        await ended;
        const before = made.answersTo(1).length;
        await quiet();
        expect(made.answersTo(1)).toHaveLength(before);
        expect(chat.shown.slice(before)).toEqual(how === "stopped" ? ["Stopped."] : []);
        seen.add(`${how} ${before}`);
      }
    }
    expect(seen.size).toBeGreaterThan(2);
    expect([...states]).toEqual(["waiting"]);
  });

  test.each(["stopped", "dropped"])("a turn that is %s leaves what was said, and says no more", async (how) => {
    const { made, chat, pen } = agentFixture();
    using _ = made;
    await made.receive(said("hi"));
    await pen.say("One.\n\nTw");
    if (how === "stopped") await made.receive(said("/stop"));
    else await made.messaging.messageAdmin.drop("in-1");
    await quiet();
    expect(chat.shown).toEqual(how === "stopped" ? ["One.", "Stopped."] : ["One."]);
    expect(made.clock.waiting).toBe(0);
  });

  test("whatever the tries say, and wherever they break off: what is read last is the answer", async () => {
    const paragraph = fc.constantFrom("A", "B", "C", "D");
    const broken = fc.record({ said: fc.array(paragraph, { maxLength: 4 }), kills: fc.boolean() });
    const answer = fc.array(paragraph, { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.array(broken, { maxLength: 3 }), answer, async (tries, final) => {
        const [home, other] = [temporaryHome(), temporaryHome()];
        const options = { config: { model: { max_retries: 5 } } };
        let now = agentFixture(options);
        const { chat } = now;
        const fixtures = [now.made];
        await now.made.receive(said("hi"));
        for (const { said: words, kills } of tries) {
          await now.pen.say(words.map((word) => `${word}\n\n`).join(""));
          if (kills) {
            const target = fixtures.length % 2 === 0 ? home.path : other.path;
            afterKill(now.made.folder, target);
            now = agentFixture({ ...options, folder: target, chat });
            fixtures.push(now.made);
            await now.made.pass(20_000);
          } else {
            await now.pen.fail(lost());
            await now.made.pass(20_000);
          }
        }
        await now.pen.say(final.join("\n\n"));
        await now.pen.end();
        expect(now.made.row(1).state).toBe("done");
        expect(answerRead(now.made.store.outbox.ofTurn(now.made.row(1).turnId))).toEqual(final);
        expect(chat.shown).toEqual(now.made.answersTo(1));
        const isSameAgain = tries.every(({ said: words }) => words.every((word, at) => final[at] === word));
        expect(isSameAgain && chat.shown.length !== final.length).toBe(false);
        for (const one of fixtures) one[Symbol.dispose]();
        for (const one of [home, other]) one.remove();
      }),
      { numRuns: cases(25) },
    );
  });

  /** What somebody reads who, at each word about it, begins again from the place that it is about. */
  function answerRead(rows: readonly { readonly text: string; readonly key?: string }[]): string[] {
    let read: string[] = [];
    for (const [index, { text, key }] of rows.entries()) {
      if (text === ANEW) continue;
      const place = Number(key?.split(":")[3]);
      expect(rows[index - 1]?.text === ANEW ? place < read.length : place === read.length).toBe(true);
      read = [...read.slice(0, place), text];
    }
    return read;
  }
});
