// A delivery that kills the process, again and again: the service down for ever, others given up with it, a stop taken for a
// crash, or a commit more for each message that is sent.
import { temporaryHome } from "@svc/testkit/temporary-home";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { suspectDelayMs } from "@svc/agent";
import { platform } from "./delivery-fixture.ts";
import { afterKill, messagingFixture, type MessagingFixture, quiet, saidIn } from "./messaging-fixture.ts";

let homes: ReturnType<typeof temporaryHome>[];
beforeEach(() => void (homes = []));
afterEach(() => homes.forEach((home) => home.remove()));

/** What the process leaves that dies now; resolves with the folder that the next one finds. */
function dies(made: MessagingFixture): string {
  const home = temporaryHome();
  homes.push(home);
  afterKill(made.folder, home.path);
  return home.path;
}

/** Hangs, until the process is killed, at what this is true of. */
function hangingAt(isDeadly: (text: string) => boolean) {
  const chat = platform();
  chat.mood = ({ text }) => (isDeadly(text) ? "hang" : "take");
  return chat;
}

const deadly = (text: string): boolean => text.includes("deadly");
const crashesOf = (made: MessagingFixture): number[] => made.store.outbox.waiting().map(({ crashes }) => crashes);

describe("a delivery that the process dies of", () => {
  test("is a dead letter after five starts that died of it; what is behind it is sent, and it can be replayed", async () => {
    using first = messagingFixture({ chat: hangingAt(deadly) });
    await first.receive(saidIn("a", "deadly"), saidIn("a", "behind"), saidIn("b", "fine"));
    // That "fine" was sent is on disk.
    while (first.store.outbox.waiting().length > 2) await quiet();
    let folder = dies(first);
    for (let death = 1; death <= 5; death += 1) {
      using again = messagingFixture({ folder, chat: hangingAt(deadly) });
      await quiet();
      await again.pass(suspectDelayMs(death - 1));
      expect(again.chat.asked.map(({ text }) => text)).toEqual(["echo deadly"]);
      folder = dies(again);
    }
    using last = messagingFixture({ folder });
    await quiet();
    expect(last.chat.taken).toEqual(["echo behind"]);
    expect(last.store.outbox.read(1)).toMatchObject({ state: "dead", error: "DELIVERY_CRASHED", attempts: 5 });
    expect(last.events[0]).toMatchObject({ type: "message-failed", messageId: "out-1", code: "DELIVERY_CRASHED" });
    expect(last.log.text()).toContain("a message could not be delivered");
    await last.messaging.messageAdmin.replay("out-1");
    await quiet();
    expect(last.chat.taken).toEqual(["echo behind", "echo deadly"]);
  });

  test("is noted before the platform is asked, so that one that kills at once is counted too", async () => {
    using first = messagingFixture({ chat: hangingAt(() => true) });
    await first.receive(saidIn("a", "deadly"));
    const chat = platform();
    let folder = "";
    chat.mood = () => ((folder = dies(again)), "hang");
    using again = messagingFixture({ folder: dies(first), chat });
    await quiet();
    using last = messagingFixture({ folder, idle: true });
    expect(crashesOf(last)).toEqual([1]);
  });

  test("from the second time on is sent alone, so that those that were sent beside it are not given up", async () => {
    const rooms = ["deadly", "one", "two"].map((words, n) => saidIn(`${n}`, words));
    using first = messagingFixture({ chat: hangingAt(() => true) });
    await first.receive(...rooms);
    let folder = dies(first);
    for (let death = 1; death <= 2; death += 1) {
      using again = messagingFixture({ folder, chat: hangingAt(() => true) });
      await quiet();
      expect(again.chat.asked).toHaveLength(3);
      folder = dies(again);
    }
    using third = messagingFixture({ folder, chat: hangingAt(deadly) });
    await quiet();
    await third.pass(suspectDelayMs(2));
    expect(third.chat.asked.map(({ text }) => text)).toEqual(["echo deadly"]);
    expect(crashesOf(third)).toEqual([2, 2, 2]);
    using fourth = messagingFixture({ folder: dies(third), chat: hangingAt(deadly) });
    await quiet();
    await fourth.pass(suspectDelayMs(2));
    expect([crashesOf(fourth), fourth.chat.taken]).toEqual([[3], ["echo one", "echo two"]]);
    await fourth.pass(suspectDelayMs(3) - suspectDelayMs(2));
    expect(fourth.chat.asked.at(-1)!.text).toBe("echo deadly");
  });

  test("is not tried by starts that end within seconds, and does not use up its tries with them", async () => {
    using first = messagingFixture({ chat: hangingAt(() => true) });
    await first.receive(saidIn("a", "hello"));
    let folder = dies(first);
    for (let start = 1; start <= 10; start += 1) {
      using again = messagingFixture({ folder, chat: hangingAt(() => true) });
      await again.pass(1_500);
      expect(again.chat.asked).toHaveLength(start <= 2 ? 1 : 0);
      folder = dies(again);
    }
    using last = messagingFixture({ folder });
    await last.pass(2_000);
    expect(last.chat.taken).toEqual(["echo hello"]);
  });

  test("hands its turn on when it only fails, or is dropped", async () => {
    const rooms = ["one", "two", "three"].map((words, n) => saidIn(`${n}`, words));
    using first = messagingFixture({ chat: hangingAt(() => true) });
    await first.receive(...rooms);
    let folder = dies(first);
    for (let death = 1; death <= 2; death += 1) {
      using again = messagingFixture({ folder, chat: hangingAt(() => true) });
      await quiet();
      folder = dies(again);
    }
    using made = messagingFixture({ folder, chat: hangingAt((text) => text !== "echo three") });
    await quiet();
    await made.pass(60_000 + suspectDelayMs(2));
    expect(made.chat.asked.map(({ text }) => text)).toEqual(["echo one", "echo two"]);
    await made.messaging.messageAdmin.drop("out-2");
    await quiet();
    expect(made.chat.taken).toEqual(["echo three"]);
  });
});

describe("the sending of a delivery", () => {
  test("costs no commit for a note as long as nothing has died of it", async () => {
    using made = messagingFixture({ chat: hangingAt(() => true) });
    await made.receive(saidIn("a", "hello"));
    expect(made.chat.asked).toHaveLength(1);
    using next = messagingFixture({ folder: dies(made), idle: true });
    expect([crashesOf(next), next.store.outbox.read(1)!.attempts]).toEqual([[0], 0]);
  });

  test("that a stop calls off has killed nobody", async () => {
    using made = messagingFixture({ chat: hangingAt(() => true) });
    await made.receive(saidIn("a", "hello"));
    using again = messagingFixture({ folder: dies(made), chat: hangingAt(() => true) });
    await quiet();
    const stopped = again.messaging.stop(1_000);
    await again.clock.advance(1_000);
    await stopped;
    using next = messagingFixture({ folder: dies(again), idle: true });
    expect([crashesOf(next), next.store.outbox.read(1)!.attempts]).toEqual([[0], 0]);
  });

  test("waits while the disk refuses the note", async () => {
    using made = messagingFixture({ chat: hangingAt(() => true) });
    await made.receive(saidIn("a", "hello"));
    let isFull = true;
    using again = messagingFixture({
      folder: dies(made),
      wrap: (store) => ({
        ...store,
        writable: () => true,
        write: (change) => (isFull ? Promise.reject(new Error("full")) : store.write(change)),
      }),
    });
    await quiet();
    expect(again.chat.asked).toEqual([]);
    isFull = false;
    await again.pass(1_000);
    expect(again.chat.taken).toEqual(["echo hello"]);
  });
});
