// The control socket: a command's end is waited for before the store closes (a turn of `svc chat` was lost at SIGTERM), a
// daemon that goes away is said in words (it was a stack), and an interrupted command is the caller's own doing.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SvcError } from "@svc/contract";
import { captureLogger } from "@svc/testkit/capture-logger";
import { fakeClock } from "@svc/testkit/fake-clock";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { callDaemon, type ControlHandlers, startControl } from "../src/control/index.ts";

let folder: string;
let socketFile: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-control-"));
  socketFile = join(folder, "run", "control.sock");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function started(handlers: ControlHandlers) {
  const clock = fakeClock();
  const control = await startControl(socketFile, handlers, { log: captureLogger(), clock });
  return { clock, control };
}

const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "answered",
    (error: unknown) => (error instanceof SvcError ? error.code : `not ours: ${String(error)}`),
  );

/** A command that runs until it is told to end, or aborted. */
function state() {
  const begun = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  const ended: string[] = [];
  const handlers: ControlHandlers = {
    work: async ({ signal }) => {
      begun.resolve();
      signal.addEventListener("abort", () => finish.reject(signal.reason), { once: true });
      try {
        await finish.promise;
        ended.push("done");
        return "worked";
      } catch (error) {
        // What is kept of a cancelled turn takes a moment.
        await new Promise((resolve) => setImmediate(resolve));
        ended.push("kept");
        throw error;
      }
    },
    look: () => "seen",
  };
  return { handlers, begun: begun.promise, finish: finish.resolve, ended };
}

describe("close", () => {
  test("waits for a running command, and answers others meanwhile", async () => {
    const { handlers, begun, finish } = state();
    const { control } = await started(handlers);
    const answer = callDaemon({ socketFile, name: "work" });
    await begun;
    const closed = control.close(30_000);
    expect(await callDaemon({ socketFile, name: "look" })).toBe("seen");
    finish();
    expect(await answer).toBe("worked");
    await closed;
    expect(existsSync(socketFile)).toBe(false);
    expect(await codeOf(callDaemon({ socketFile, name: "look" }))).toBe("NOT_RUNNING");
  });

  test("aborts a command that does not end in time, tells its caller, and waits until it is over", async () => {
    const { handlers, begun, ended } = state();
    const { control, clock } = await started(handlers);
    const answer = codeOf(callDaemon({ socketFile, name: "work" }));
    await begun;
    const closed = control.close(30_000);
    await clock.advance(30_000);
    await closed;
    expect(ended).toEqual(["kept"]);
    expect(await answer).toBe("TURN_CANCELLED");
  });

  test("asked again with no patience, aborts at once", async () => {
    const { handlers, begun, ended } = state();
    const { control } = await started(handlers);
    const answer = codeOf(callDaemon({ socketFile, name: "work" }));
    await begun;
    const closed = control.close(30_000);
    await control.close(0);
    await closed;
    expect([ended, await answer]).toEqual([["kept"], "TURN_CANCELLED"]);
  });

  test("a command that never ends does not hold it for ever", async () => {
    const begun = Promise.withResolvers<void>();
    const { control, clock } = await started({ stuck: () => (begun.resolve(), new Promise(() => {})) });
    const answer = codeOf(callDaemon({ socketFile, name: "stuck" }));
    await begun.promise;
    const closed = control.close(0);
    await clock.advance(0);
    await clock.advance(5_000);
    await closed;
    expect(await answer).toBe("DAEMON_LOST");
  });
});

describe("a body", () => {
  const posted = (body: string | Buffer): Promise<string> =>
    new Promise((resolve, reject) => {
      const outgoing = request({ socketPath: socketFile, method: "POST", path: "/look", agent: false }, (incoming) => {
        let text = "";
        incoming.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        incoming.on("end", () => resolve(text));
      });
      outgoing.on("error", reject);
      outgoing.end(body);
    });

  test.each([
    ["no JSON", "{secret", "BAD_JSON"],
    ["two of them", "{}{}", "BAD_JSON"],
    ["not UTF-8", Buffer.from('{"a":"\xff"}', "latin1"), "BAD_JSON"],
    ["nested without end", "[".repeat(100_000), "BAD_JSON"],
    ["a list", "[]", "BAD_REQUEST"],
    ["a text", '"secret"', "BAD_REQUEST"],
    ["null", "null", "BAD_REQUEST"],
    ["larger than 16 MiB", Buffer.alloc(20 * 1024 * 1024, "x"), "TOO_LARGE"],
  ])(
    "that is %s is refused with its code, and is the caller's mistake, not the daemon's",
    async (_what, body, code) => {
      const log = captureLogger();
      const control = await startControl(socketFile, { look: () => "seen" }, { log, clock: fakeClock() });
      const answer = await posted(body);
      expect(JSON.parse(answer)).toMatchObject({ type: "error", code });
      expect(answer).not.toContain("secret");
      expect(log.text()).toBe("");
      await control.close(0);
    },
  );

  test("that breaks after its command was refused gets no second answer", async () => {
    const control = await startControl(socketFile, {}, { log: captureLogger(), clock: fakeClock() });
    const socket = connect(socketFile);
    let text = "";
    socket.on("data", (chunk) => (text += chunk.toString()));
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.write("POST /unknown HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n");
    await new Promise((resolve) => socket.once("data", resolve));
    socket.end("half");
    await closed;
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200"]);
    await control.close(0);
  });

  test("that stops in the middle is nobody's failure", async () => {
    const log = captureLogger();
    const control = await startControl(socketFile, { look: () => "seen" }, { log, clock: fakeClock() });
    const head = "POST /look HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n";
    const socket = connect(socketFile);
    await new Promise<void>((resolve) => socket.write(`${head}{"half`, () => resolve()));
    socket.destroy();
    // Closing waits for every command that was begun.
    expect(await callDaemon({ socketFile, name: "look" })).toBe("seen");
    await control.close(30_000);
    expect(log.text()).toBe("");
  });
});

test("a place that can't be had is said, and the daemon does not go on half open", async () => {
  mkdirSync(socketFile, { recursive: true });
  expect(await codeOf(started({}))).toBe("HOME_UNWRITABLE");
});

describe("the caller", () => {
  test("who interrupts a command gets the own reason, and the command is aborted", async () => {
    const { handlers, begun, ended } = state();
    const { control } = await started(handlers);
    const caller = new AbortController();
    const events: string[] = [];
    const answer = codeOf(
      callDaemon({ socketFile, name: "work", signal: caller.signal, onEvent: (event) => events.push(event.type) }),
    );
    await begun;
    caller.abort(new SvcError("TURN_CANCELLED"));
    expect(await answer).toBe("TURN_CANCELLED");
    await control.close(30_000);
    expect(ended).toEqual(["kept"]);
  });

  test.each([
    ["before it answers", ""],
    ["after the headers", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"],
    ["in the middle of an event", 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n8\r\n{"type":\r\n'],
    ["after a whole answer without a result", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"],
  ])("is told so when the daemon goes away %s", async (_when, bytes) => {
    const file = join(folder, "dying.sock");
    const dying = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => (bytes === "" ? socket.destroy() : socket.write(bytes, () => socket.destroy())));
    });
    await new Promise<void>((resolve) => dying.listen(file, resolve));
    expect(await codeOf(callDaemon({ socketFile: file, name: "work" }))).toBe("DAEMON_LOST");
    await new Promise((resolve) => dying.close(resolve));
  });

  test("is told that there is no daemon, also when the home is no folder", async () => {
    expect(await codeOf(callDaemon({ socketFile, name: "work" }))).toBe("NOT_RUNNING");
    expect(await codeOf(callDaemon({ socketFile: "/dev/null/run/control.sock", name: "work" }))).toBe("NOT_RUNNING");
  });
});

describe("a caller that sends more than it reads", () => {
  const ask = (name: string): string => `POST /${name} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}`;
  const ticks = async (count: number): Promise<void> => {
    for (let left = count; left > 0; left -= 1) await new Promise((resolve) => setImmediate(resolve));
  };

  test("has 32 commands of a connection running, and the others after them", async () => {
    const finish: (() => void)[] = [];
    const work = () => new Promise<string>((resolve) => finish.push(() => resolve("worked")));
    const { control } = await started({ work });
    const caller = connect(socketFile);
    let text = "";
    caller.on("data", (chunk) => (text += chunk.toString()));
    caller.write(ask("work").repeat(40));
    while (finish.length < 32) await ticks(1);
    await ticks(100);
    expect(finish).toHaveLength(32);
    for (let done = 0; done < 40; done += 1) {
      while (finish.length <= done) await ticks(1);
      finish[done]!();
    }
    while (text.split("worked").length <= 40) await ticks(1);
    caller.destroy();
    await control.close(0);
  });

  test("of events is cut, and its command aborted, before they are many megabytes", async () => {
    const ended = Promise.withResolvers<number>();
    const event = { type: "line", text: "x".repeat(65_536) };
    const work: ControlHandlers["work"] = async ({ send, signal }) => {
      let sent = 0;
      for (; !signal.aborted && sent < 2_000; sent += 1) {
        send(event);
        await ticks(1);
      }
      ended.resolve(sent);
      return sent;
    };
    const { control } = await started({ work });
    const caller = connect(socketFile).on("error", () => {});
    caller.pause();
    caller.write(ask("work"));
    expect(await ended.promise).toBeLessThan(400);
    caller.destroy();
    await control.close(0);
  });

  test("of results is cut after two minutes", async () => {
    const { control, clock } = await started({ work: () => "x".repeat(16 * 1_048_576) });
    const caller = connect(socketFile).on("error", () => {});
    const closed = new Promise((resolve) => caller.once("close", resolve));
    caller.pause();
    caller.write(ask("work").repeat(3));
    while (clock.waiting === 0) await ticks(1);
    await clock.advance(120_000);
    let read = 0;
    caller.on("data", (bytes) => (read += bytes.length)).resume();
    await closed;
    expect(read).toBeLessThan(16 * 1_048_576);
    await control.close(0);
  });
});
