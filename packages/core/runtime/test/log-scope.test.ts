// A line says for which request, turn and trace it was written, whoever writes it, so that all lines of one are found by its
// id; and the line of somebody else's work never has it.
import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, test } from "vitest";
import { createLogger, currentScope, fromOutside, inScope, keepScope, within } from "../src/index.ts";
import { FakeClock } from "./fake-clock.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";

function logged(write: (log: ReturnType<typeof createLogger>) => unknown, json = true): Record<string, unknown>[] {
  const lines: string[] = [];
  const log = createLogger({ level: "info", write: (line) => lines.push(line), json, clock: new FakeClock() });
  write(log);
  return lines.map((line) => (json ? JSON.parse(line) : { line }));
}

const scope = { request: "b-1", turn: "t-1", traceparent: `00-${TRACE}-b7ad6b7169203331-01` };

describe("ids", () => {
  test("are on a line written in a scope, and on no other", () => {
    const [outside, inside, after] = logged((log) => {
      log.info("a");
      inScope(scope, () => log.info("b"));
      log.info("c");
    });
    expect(inside).toMatchObject({ request: "b-1", turn: "t-1", trace: TRACE });
    for (const line of [outside, after]) expect(Object.keys(line!)).toEqual(["time", "level", "message"]);
  });

  test("are those that there are", () => {
    const lines = logged((log) => inScope({ turn: "t-1" }, () => log.info("a")));
    expect(lines[0]).toMatchObject({ turn: "t-1" });
    expect(Object.keys(lines[0]!)).toEqual(["time", "level", "message", "turn"]);
  });

  test("stand behind what the line itself says, and before nothing of its maker's", () => {
    const lines = logged((log) =>
      inScope(scope, () => log.child({ feature: "f", turn: "its maker's" }).info("a", { turn: "its own" })),
    );
    expect(lines[0]).toMatchObject({ feature: "f", request: "b-1", turn: "its own" });
  });

  test("are in what people read, too", () => {
    const [line] = logged(
      (log) => inScope({ request: "b-1", turn: "t-1" }, () => log.warn("port taken", { port: 1 })),
      false,
    );
    expect(line!["line"]).toMatch(/ port taken request=b-1 turn=t-1 port=1$/);
  });

  test("of a secret are taken out as everywhere", () => {
    const lines: string[] = [];
    const log = createLogger({
      level: "info",
      write: (line) => lines.push(line),
      json: true,
      clock: new FakeClock(),
      redact: () => [TRACE],
    });
    inScope(scope, () => log.info("a"));
    expect(lines[0]).not.toContain(TRACE);
  });

  test("follow timers, promises and callbacks; a callback of an emitter keeps them by keepScope alone", async () => {
    const lines: string[] = [];
    const log = createLogger({ level: "info", write: (line) => lines.push(line), json: true, clock: new FakeClock() });
    const emitter = new EventTarget();
    const { promise, resolve } = Promise.withResolvers<void>();
    const done = inScope({ request: "b-1" }, async () => {
      emitter.addEventListener("told", () => log.info("not kept"));
      emitter.addEventListener(
        "told",
        keepScope(() => log.info("kept")),
      );
      await promise;
      log.info("after a promise");
      await new Promise<void>((passed) => setImmediate(passed));
      log.info("after a turn of the loop");
    });
    inScope({ request: "b-2" }, () => emitter.dispatchEvent(new Event("told")));
    inScope({ request: "b-2" }, resolve);
    await done;
    expect(lines.map((line) => JSON.parse(line)).map(({ message, request }) => [message, request])).toEqual([
      ["not kept", "b-2"],
      ["kept", "b-1"],
      ["after a promise", "b-1"],
      ["after a turn of the loop", "b-1"],
    ]);
  });

  test("of what is part of it are added, and what takes up somebody else's work has none of his", () => {
    const lines = logged((log) =>
      inScope({ request: "b-1" }, () => {
        within({ turn: "t-1" }, () => log.info("part"));
        inScope({ turn: "t-2" }, () => log.info("another's"));
      }),
    );
    expect(lines[0]).toMatchObject({ request: "b-1", turn: "t-1" });
    expect(Object.keys(lines[1]!)).toEqual(["time", "level", "message", "turn"]);
  });
});

describe("what comes in from outside", () => {
  test("works for its own scope alone, and nothing of it is left behind", () => {
    const library = new AsyncLocalStorage<string>();
    library.run("somebody's", () =>
      inScope({ request: "b-1", turn: "t-1" }, () => {
        const inside = fromOutside({ request: "b-2" }, () => [currentScope(), library.getStore()]);
        expect(inside).toEqual([{ request: "b-2" }, undefined]);
        expect([currentScope(), library.getStore()]).toEqual([{ request: "b-1", turn: "t-1" }, "somebody's"]);
      }),
    );
    expect(currentScope()).toEqual({});
  });

  test("the same when it throws", () => {
    const broken = (): never => {
      throw new Error("unforeseen");
    };
    expect(() => fromOutside({ request: "b-1" }, broken)).toThrow("unforeseen");
    expect(currentScope()).toEqual({});
  });

  test("keeps its scope over everything it waits for", async () => {
    const told = await Promise.all(
      Array.from({ length: 50 }, (_, number) =>
        fromOutside({ request: `b-${number}` }, async () => {
          for (let left = number % 5; left >= 0; left -= 1) await new Promise((passed) => setImmediate(passed));
          return [number, currentScope().request] as const;
        }),
      ),
    );
    for (const [number, request] of told) expect(request).toBe(`b-${number}`);
  });
});
