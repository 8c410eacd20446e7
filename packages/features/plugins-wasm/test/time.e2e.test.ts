// A plugin that never ends is ended: by its limit, by whoever called it off, with the service. Nobody waits for it for ever.
import { expect, it } from "vitest";
import { pluginRoom, said } from "./running/plugin-room.ts";
import { ECHO, pluginWat, text } from "./running/wat.ts";

const here = text(8, "here");

/** Says "here", and loops where the input begins with "b". */
const LOOP = pluginWat(
  `(call $log_info ${here.call})
   (if (i32.eq (call $input_load_u8 (i64.const 0)) (i32.const 98)) (then (loop $for_ever (br $for_ever))))
   (call $output_set (call $input_offset) (call $input_length))`,
  { before: here.data },
);

it("an endless loop is ended at the limit, and the next call works", async () => {
  using room = pluginRoom();
  const plugin = await room.plugin(LOOP);
  const failed = failure(room.call(plugin, "bad"));
  await said(room, "here");
  await room.clock.advance(4999);
  await room.clock.advance(1);
  expect(await failed).toMatchObject({
    code: "TOOL_FAILED",
    message: "The plugin was stopped: it took longer than 5 s.",
  });
  expect(await room.call(plugin, "good")).toBe("good");
});

it("so is one in the module's start function", async () => {
  using room = pluginRoom();
  const plugin = await room.plugin(
    pluginWat("(nop)", {
      before: `${here.data} (func $begin (call $log_info ${here.call}) (loop $l (br $l))) (start $begin)`,
    }),
  );
  const failed = failure(room.call(plugin));
  await said(room, "here");
  await room.clock.advance(5000);
  expect(await failed).toMatchObject({ message: expect.stringMatching(/longer than 5 s/) });
});

it("a call that is called off ends at once, with the reason, and its process too", async () => {
  using room = pluginRoom();
  const plugin = await room.plugin(LOOP);
  const stop = new AbortController();
  const failed = failure(room.call(plugin, "bad", { signal: stop.signal }));
  await said(room, "here");
  const enough = new Error("enough");
  stop.abort(enough);
  expect(await failed).toBe(enough);
  expect(await room.call(plugin, "good")).toBe("good");
  await expect(room.call(plugin, "good", { signal: stop.signal })).rejects.toThrow("enough");
});

it("calls of one plugin wait for each other, in their order, and one more than there may be is told so", async () => {
  using room = pluginRoom();
  const plugin = await room.plugin(LOOP);
  const stop = new AbortController();
  const first = room.call(plugin, "bad", { signal: stop.signal }).catch(() => "stopped");
  await said(room, "here");
  const done: string[] = [];
  const waiting = Array.from({ length: 8 }, (_, at) => room.call(plugin, `x${at}`).then((output) => done.push(output)));
  await expect(room.call(plugin, "one more")).rejects.toMatchObject({ code: "BUSY" });
  expect(done).toEqual([]);
  stop.abort();
  expect(await first).toBe("stopped");
  await Promise.all(waiting);
  expect(done).toEqual(["x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"]);
});

it("one that gives up while it waits holds up nobody", async () => {
  using room = pluginRoom();
  const plugin = await room.plugin(LOOP);
  const [running, waiting] = [new AbortController(), new AbortController()];
  const first = room.call(plugin, "bad", { signal: running.signal }).catch(() => "stopped");
  await said(room, "here");
  const second = room.call(plugin, "second", { signal: waiting.signal }).catch(() => "gave up");
  const third = room.call(plugin, "third");
  waiting.abort();
  expect(await second).toBe("gave up");
  running.abort();
  expect(await Promise.all([first, third])).toEqual(["stopped", "third"]);
});

it("plugins do not wait for each other; more than eight at once are told so, one that only waits makes room", async () => {
  using room = pluginRoom();
  const stop = new AbortController();
  const idle = await room.plugin(ECHO);
  expect(await room.call(idle, "first")).toBe("first");
  // They wait for an answer, which takes no processor.
  const ask = text(8, '{"url":"https://example.org/"}');
  const asked: string[] = [];
  const fetch = (url: string) => {
    asked.push(url);
    return new Promise<never>(() => undefined);
  };
  const running = [];
  for (let count = 1; count <= 8; count += 1) {
    const wat = pluginWat(`(drop (call $http_request ${ask.call} (i64.const 0)))`, { before: ask.data });
    const plugin = await room.plugin(wat, { allowedHosts: ["example.org"] });
    running.push(room.call(plugin, "", { signal: stop.signal, fetch }).catch(() => "stopped"));
    while (asked.length < count) await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await expect(room.call(idle, "again")).rejects.toMatchObject({ code: "BUSY" });
  stop.abort();
  expect(new Set(await Promise.all(running))).toEqual(new Set(["stopped"]));
  expect(await room.call(idle, "again")).toBe("again");
});

it("a process that nobody calls for a minute is ended, and not before", async () => {
  using room = pluginRoom();
  // An idle process is the one thing that has a timer.
  const plugin = await room.plugin(ECHO);
  await room.call(plugin, "a");
  expect(room.clock.waiting).toBe(1);
  await room.clock.advance(59_999);
  expect(room.clock.waiting).toBe(1);
  await room.call(plugin, "b");
  await room.clock.advance(59_999);
  expect(room.clock.waiting).toBe(1);
  await room.clock.advance(1);
  expect(room.clock.waiting).toBe(0);
  expect(await room.call(plugin, "c")).toBe("c");
});

it("when the host is closed, what runs fails, and nothing is started any more", async () => {
  using room = pluginRoom();
  const plugin = await room.plugin(LOOP);
  const failed = failure(room.call(plugin, "bad"));
  await said(room, "here");
  room.host.close();
  expect(await failed).toMatchObject({ code: "DRAINING" });
  await expect(room.call(plugin, "good")).rejects.toMatchObject({ code: "DRAINING" });
  expect(room.clock.waiting).toBe(0);
});

/** What it rejects with; looked at later, when the test has done what ends it. */
const failure = (called: Promise<string>): Promise<unknown> =>
  called.then(
    () => undefined,
    (error: unknown) => error,
  );
