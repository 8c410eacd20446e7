// A mark that says "I am at it" and stays for ever, or comes after it was taken back.
import { SvcError } from "@svc/contract";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { expect, test } from "vitest";
import { hang, until } from "@svc/agent/agent-fixture";
import {
  afterKill,
  echo,
  failing,
  messagingFixture,
  quiet,
  said,
  saidIn,
  status,
  type Think,
} from "./messaging-fixture.ts";
import { platform } from "./delivery-fixture.ts";

/** What people see below their messages: set and taken back, in the order in which the platform took it. */
function marking() {
  const marks: string[] = [];
  const moods = { mark: async (): Promise<void> => {}, clear: async (): Promise<void> => {} };
  const chat = platform({
    readMarks: {
      mark: async (_, id) => (await moods.mark(), void marks.push(`+${id}`)),
      clear: async (_, id) => (await moods.clear(), void marks.push(`-${id}`)),
    },
  });
  return { chat, marks, moods };
}

const hanging: Think = (options) => (JSON.stringify(options.prompt).includes("long") ? hang(options) : echo(options));

test("is taken back when the message is answered, once", async () => {
  const { chat, marks } = marking();
  using made = messagingFixture({ chat });
  await made.receive(said("hi", { id: "a" }), said("no id"));
  expect([marks, made.clock.waiting]).toEqual([["+a", "-a"], 0]);
});

test("is there until then, over all attempts", async () => {
  const { chat, marks } = marking();
  const think = failing(2, () => status(503));
  using made = messagingFixture({ chat, think, config: { model: { max_retries: 0 } } });
  await made.receive(said("hi", { id: "a" }));
  expect(marks).toEqual(["+a"]);
  await made.pass(10_000);
  expect([marks, chat.taken]).toEqual([["+a", "-a"], ["echo hi"]]);
});

test("is taken back when the message fails, is stopped, or is dropped", async () => {
  const { chat, marks } = marking();
  const think: Think = (options) => {
    if (JSON.stringify(options.prompt.at(-1)).includes("bad")) throw status(400);
    return hanging(options);
  };
  using made = messagingFixture({ chat, think, config: { model: { max_retries: 0 } } });
  await made.receive(said("bad", { id: "failed" }));
  await made.receive(said("long", { id: "stopped" }));
  await made.receive(said("/stop", { id: "stop" }));
  await made.receive(said("long", { id: "dropped" }));
  await made.messaging.messageAdmin.drop("in-4");
  await quiet();
  expect(marks).toEqual(["+failed", "-failed", "+stopped", "-stopped", "+dropped", "-dropped"]);
});

test("of one that rests is taken back when somebody stops it or drops it", async () => {
  const { chat, marks } = marking();
  const think = failing(9, () => status(503));
  using made = messagingFixture({ chat, think, config: { model: { max_retries: 0 } } });
  await made.receive(said("hi", { id: "a" }));
  await made.receive(said("/stop", { id: "s" }));
  await made.receive(said("hi", { id: "b" }));
  await made.messaging.messageAdmin.drop("in-3");
  await quiet();
  expect(marks).toEqual(["+a", "-a", "+b", "-b"]);
});

test("of one that an earlier process marked is taken back by the next", async () => {
  const home = temporaryHome();
  const { chat, marks } = marking();
  using before = messagingFixture({ chat, think: hang });
  await before.receive(said("hi", { id: "a" }));
  afterKill(before.folder, home.path);
  using made = messagingFixture({ chat, folder: home.path });
  await quiet();
  expect([marks, made.row(1).state]).toEqual([["+a", "-a"], "done"]);
  home.remove();
});

test("is set once, however often the same process begins the message", async () => {
  const { chat, marks } = marking();
  const disk = { isFull: false };
  let asked = 0;
  using made = messagingFixture({
    chat,
    think: (options) => ((disk.isFull = (asked += 1) === 1), echo(options)),
    wrap: (store) => ({
      ...store,
      write: (change) => (disk.isFull ? Promise.reject(new SvcError("STORE_FULL")) : store.write(change)),
    }),
  });
  await made.receive(said("hi", { id: "a" }));
  expect([made.row(1), marks]).toMatchObject([{ state: "waiting", attempts: 0 }, ["+a"]]);
  disk.isFull = false;
  await made.pass(5_000);
  expect([asked, marks]).toEqual([2, ["+a", "-a"]]);
});

test("is never taken back before it is set; when that hangs, only after it was given up", async () => {
  const { chat, marks, moods } = marking();
  const gate = Promise.withResolvers<void>();
  moods.mark = () => gate.promise;
  using made = messagingFixture({ chat });
  await made.receive(said("hi", { id: "a" }));
  expect([chat.taken, marks]).toEqual([["echo hi"], []]);
  gate.resolve();
  await quiet();
  expect(marks).toEqual(["+a", "-a"]);
  moods.mark = () => new Promise(() => {});
  await made.receive(said("hi", { id: "b" }));
  await made.pass(29_500);
  expect(marks).toHaveLength(2);
  await made.pass(500);
  expect(marks).toEqual(["+a", "-a", "-b"]);
});

test("that can't be taken back is forgotten, and its words are nobody's business", async () => {
  const { chat, moods } = marking();
  moods.clear = () => Promise.reject(new Error("sk-secret"));
  using made = messagingFixture({ chat });
  await made.receive(said("hi", { id: "a" }), said("again", { id: "b" }));
  expect(chat.taken).toEqual(["echo hi", "echo again"]);
  expect(made.log.text()).not.toContain("sk-secret");
});

test("many are taken back a few at a time, and a shutdown waits for none", async () => {
  const { chat, marks, moods } = marking();
  const answer = Promise.withResolvers<void>();
  const gates: (() => void)[] = [];
  moods.clear = () => new Promise<void>((resolve) => gates.push(resolve));
  const settings = { maxParallelTurns: 40 };
  const config = { agent: { max_parallel_turns: 40 } };
  using made = messagingFixture({
    chat,
    settings,
    config,
    think: async (options) => (await answer.promise, echo(options)),
  });
  for (let n = 0; n < 40; n += 1) await made.receive(saidIn(`room-${n}`, "hi", { id: `m-${n}` }));
  answer.resolve();
  await until(() => chat.taken.length === 40);
  expect([marks.length, gates.length]).toEqual([40, 16]);
  for (let n = 0; n < 20; n += 1) {
    gates.shift()!();
    await quiet();
  }
  expect([gates.length, marks.length]).toEqual([16, 60]);
  await made.messaging.stop(0);
  await quiet();
  expect([made.clock.waiting, marks.length]).toEqual([0, 60]);
});

test("of a message that turns out to be an answer is taken back with it", async () => {
  const { chat, marks } = marking();
  const think: Think = (options) =>
    options.prompt.length === 1 ? Promise.reject(status(503)) : Promise.resolve([{ type: "text", text: "ok" }]);
  using made = messagingFixture({ chat, think, asks: true, config: { model: { max_retries: 0 } } });
  await made.receive(said("yes", { id: "a" }));
  expect(marks).toEqual(["+a"]);
  const ask = made.desk.askIn({ conversation: { channel: "chat", id: "room" }, turnId: "t", sender: "x" });
  made.clock.setWallClock(made.row(1).receivedAtMs - 1);
  void ask(
    { turnId: "t", callId: "c", tool: "act", input: {}, agent: "default", lasting: {}, reason: "" },
    new AbortController().signal,
  );
  await made.pass(2_000);
  expect([made.desk.committed, marks, made.row(1).state]).toEqual([[1], ["+a", "-a"], "done"]);
});
