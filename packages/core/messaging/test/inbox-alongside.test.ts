// What goes with a message onto the disk and is there without it, or is told of before either of them is.
import { SvcError } from "@svc/contract";
import { describe, expect, test } from "vitest";
import type { InTransaction } from "../src/index.ts";
import { newMessageOf } from "../src/inbox.ts";
import { messagingFixture, said } from "./messaging-fixture.ts";

const arrivalOf = (text: string) => ({ channel: "chat", messages: [newMessageOf(said(text, { id: text }))] });

describe("what goes inTransaction an arrival", () => {
  test("is told what became of each message, inside the transaction, and once more when that is on disk", async () => {
    using made = messagingFixture({ idle: true });
    const told: unknown[] = [];
    const inTransaction: InTransaction = ({ channel }, arrived) => {
      told.push([channel, arrived.state === "kept" && arrived.messages.map((kept) => kept === "duplicate")]);
      told.push(made.store.inbox.read(1)?.state);
      return () => told.push("committed");
    };
    await made.messaging.accept(arrivalOf("a"), inTransaction);
    expect(told.splice(0)).toEqual([["chat", [false]], "waiting", "committed"]);
    expect(await made.messaging.receive("chat", [said("a", { id: "a" })], inTransaction)).toEqual(["duplicate"]);
    expect(told[0]).toEqual(["chat", [true]]);
  });

  test("takes the message with it when it can't be kept, and leaves the next one alone", async () => {
    using made = messagingFixture({ idle: true });
    const refuse: InTransaction = () => {
      throw new SvcError("STORE_FULL");
    };
    const outcomes = await Promise.allSettled([
      made.messaging.accept(arrivalOf("a"), refuse),
      made.messaging.accept(arrivalOf("b")),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
    expect(made.store.inbox.list({}, 5).map(({ body }) => (body as { text: string }).text)).toEqual(["b"]);
    expect(await made.messaging.receive("chat", [said("a", { id: "a" })])).toEqual(["kept"]);
  });

  test("is done once, however often its transaction is tried", async () => {
    using made = messagingFixture({ idle: true });
    let committed = 0;
    const count: InTransaction = () => () => (committed += 1);
    const poison = made.store.write(() => {
      throw new Error("a neighbour in the same transaction");
    });
    await Promise.allSettled([made.messaging.accept(arrivalOf("a"), count), poison]);
    expect([committed, made.store.inbox.counts().inbox.waiting]).toEqual([1, 1]);
  });
});

describe("messages that were taken back", () => {
  const statesOf = ({ store }: ReturnType<typeof messagingFixture>) =>
    store.inbox.list({}, 9).map(({ body, state }) => [(body as { text: string }).text, state]);

  test("are dropped with what comes with that, those of the same channel that wait and no others", async () => {
    using made = messagingFixture({ idle: true });
    const three = ["a", "b", "c"].map((id) => said(id, { id }));
    await made.messaging.receive("chat", three);
    const other = { ...said("elsewhere", { id: "a" }), conversation: { channel: "other", id: "1" } };
    await made.messaging.receive("other", [other]);
    expect(
      await made.messaging.receive("chat", [said("d", { id: "d" })], undefined, { withdrawn: ["a", "c", "unknown"] }),
    ).toEqual(["kept"]);
    expect(statesOf(made)).toEqual([
      ["d", "waiting"],
      ["elsewhere", "waiting"],
      ["c", "dropped"],
      ["b", "waiting"],
      ["a", "dropped"],
    ]);
  });

  test("are left alone when what comes with that can't be kept", async () => {
    using made = messagingFixture({ idle: true });
    await made.messaging.receive("chat", [said("a", { id: "a" })]);
    const refuse: InTransaction = () => {
      throw new SvcError("STORE_FULL");
    };
    await expect(made.messaging.receive("chat", [], refuse, { withdrawn: ["a"] })).rejects.toMatchObject({
      code: "STORE_FULL",
    });
    expect(statesOf(made)).toEqual([["a", "waiting"]]);
  });
});
