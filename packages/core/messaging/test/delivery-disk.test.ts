// A disk that refuses what became of a message: sent again though the platform has it, or more sent that nobody could
// remember; a row that can't be read stopping the service, or being passed over.
import { SvcError } from "@svc/contract";
import type { Store } from "@svc/store";
import { describe, expect, test } from "vitest";
import { deliveryFixture, type DeliveryFixtureOptions, quiet, say } from "./delivery-fixture.ts";

/** A disk that a test fills. */
function fullDisk(): { isFull: boolean; wrap: NonNullable<DeliveryFixtureOptions["wrap"]> } {
  const disk = {
    isFull: false,
    wrap: (store: Store): Store => ({
      ...store,
      write: (change) => (disk.isFull ? Promise.reject(new SvcError("STORE_FULL")) : store.write(change)),
      writable: () => !disk.isFull,
    }),
  };
  return disk;
}

describe("a disk that is full", () => {
  test("when the platform has accepted: it is not sent again, and noted as soon as there is room", async () => {
    const disk = fullDisk();
    using agentFixture = deliveryFixture({ wrap: disk.wrap });
    const { post, chat, clock, events, row, log } = agentFixture;
    chat.mood = () => void (disk.isFull = true);
    const [first] = await post(say("a", "1"), say("a", "2"));
    await post(say("b", "b1"));
    await clock.advance(3_600_000);
    await quiet();
    // Nothing more is sent that could not be remembered.
    expect([chat.taken, events, row(first!.n).state]).toEqual([["1"], [], "waiting"]);
    expect(log.lines.filter(({ level }) => level === "error")).toHaveLength(1);
    chat.mood = () => "take";
    disk.isFull = false;
    await clock.advance(1_000);
    await quiet();
    expect(row(first!.n).state).toBe("sent");
    expect(chat.taken.toSorted()).toEqual(["1", "2", "b1"]);
  });

  test("when the service stops: what could not be noted is said, and the stop ends", async () => {
    const disk = fullDisk();
    using agentFixture = deliveryFixture({ wrap: disk.wrap });
    const { post, chat, clock, dispatcher, log } = agentFixture;
    chat.mood = () => void (disk.isFull = true);
    await post(say("a", "1"));
    const stopped = dispatcher.stop(5_000);
    await clock.advance(5_000);
    await stopped;
    expect(log.text()).toContain("the next start sends it again");
    expect(clock.waiting).toBe(0);
  });

  test("when a failure is to be noted: a dead letter stays in its place until it is one on disk too", async () => {
    const disk = fullDisk();
    using agentFixture = deliveryFixture({ wrap: disk.wrap });
    const { post, chat, clock, row } = agentFixture;
    chat.mood = ({ text }) => (text === "1" ? ((disk.isFull = true), new SvcError("DELIVERY_REFUSED")) : "take");
    const [first] = await post(say("a", "1"), say("a", "2"));
    disk.isFull = false;
    await clock.advance(1_000);
    await quiet();
    expect([row(first!.n).state, chat.taken, chat.asked.length]).toEqual(["dead", ["2"], 2]);
  });
});

describe("a row that can't be read", () => {
  test("holds its conversation up, is said once a minute, and goes when it can", async () => {
    let isBroken = true;
    const wrap = (store: Store): Store => ({
      ...store,
      outbox: new Proxy(store.outbox, {
        get: (outbox, name) =>
          name === "read" && isBroken
            ? () => {
                throw new Error("disk I/O error");
              }
            : (Reflect.get(outbox, name, outbox) as { bind?: (to: object) => unknown }).bind?.(outbox),
      }),
    });
    using agentFixture = deliveryFixture({ wrap });
    const { post, chat, clock, log } = agentFixture;
    await post(say("a", "1"), say("a", "2"));
    await clock.advance(59_999);
    expect([chat.asked, log.lines.length]).toEqual([[], 1]);
    isBroken = false;
    await clock.advance(1);
    await quiet();
    expect(chat.taken).toEqual(["1", "2"]);
  });
});
