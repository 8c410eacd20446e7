// Boards behind a bridge: both forms of JSON lines, and what comes of one that is slow, noisy, silent, endless or gone. No command is sent
// twice, and the next one finds the board again.
import { once } from "node:events";
import { createServer } from "node:net";
import { SvcError } from "@svc/contract";
import { fakeClock } from "@svc/testkit/fake-clock";
import { type JsonBoard, type JsonBoardMood, startJsonBoard } from "@svc/testkit/platforms/json-board";
import { describe, expect, test } from "vitest";
import { registryOf } from "./registry.ts";

const signal = new AbortController().signal;
const robot = ({ path }: JsonBoard) => ({ boards: [{ board: "my-robot", transport: "bridge", path }] });
const outcome = (work: Promise<unknown>): Promise<unknown> =>
  work.catch((error: unknown) => (error instanceof SvcError ? error.code : error));

describe.each(["with ids", "without ids"] as const)("the form %s", (form) => {
  test("writes, reads and tells of itself", async () => {
    await using board = await startJsonBoard({ form });
    await using registry = await registryOf(robot(board));
    await registry.writePin("device0", 25, 1, signal);
    expect(board.pins.get(25)).toBe(1);
    expect(await registry.readPin("device0", 25, { signal })).toBe(1);
    expect(await registry.readPin("device0", 3, { pull: "up", signal })).toBe(0);
    expect(await registry.describe("device0", signal)).toEqual({
      protocol: "json",
      about: { form, capabilities: { gpio: [0, 29] } },
    });
    expect(registry.show()[0]!.readings.map(({ pin, value, by }) => [pin, value, by])).toEqual([
      [25, 1, "read"],
      [3, 0, "read"],
    ]);
  });

  test("reads the number of an analog input", async () => {
    await using board = await startJsonBoard({ form });
    await using registry = await registryOf(robot(board));
    board.analog.set(14, 523);
    expect(await registry.readAnalog("device0", 14, signal)).toBe(523);
    expect(registry.show()[0]!.readings).toMatchObject([{ pin: 14, value: 523, isAnalog: true, by: "read" }]);
    await expect(registry.readAnalog("device0", 99, signal)).rejects.toThrow("pin not available");
  });

  test.each<JsonBoardMood>(["noisy", "slow"])("a board that is %s is understood", async (mood) => {
    await using board = await startJsonBoard({ form });
    await using registry = await registryOf(robot(board));
    board.mood = mood;
    await registry.writePin("device0", 4, 1, signal);
    expect(await registry.readPin("device0", 4, { signal })).toBe(1);
  });

  test("a pin that the board does not have is its refusal, and the connection stays", async () => {
    await using board = await startJsonBoard({ form });
    await using registry = await registryOf(robot(board));
    await expect(registry.writePin("device0", 99, 1, signal)).rejects.toThrow("refused gpio_write: pin not available");
    board.mood = "sound";
    await registry.writePin("device0", 1, 1, signal);
    expect(board.commands).toHaveLength(2);
  });

  test("a board that goes away in the middle of a command is told so, and asked anew the next time", async () => {
    await using board = await startJsonBoard({ form });
    await using registry = await registryOf(robot(board));
    board.mood = "unplugged";
    await expect(registry.writePin("device0", 5, 1, signal)).rejects.toMatchObject({
      code: "BOARD_LOST",
      message: expect.stringContaining("may have acted") as unknown,
    });
    expect(board.commands).toHaveLength(1);
    board.mood = "sound";
    expect(await registry.readPin("device0", 5, { signal })).toBe(1);
    expect(board.commands).toHaveLength(2);
  });

  test("a board that never answers is given up after 5 s, and its late answer is nobody's", async () => {
    await using board = await startJsonBoard({ form });
    const clock = fakeClock();
    await using registry = await registryOf({ ...robot(board), clock });
    await registry.readPin("device0", 1, { signal });
    board.mood = "silent";
    const written = outcome(registry.writePin("device0", 6, 1, signal));
    while (board.commands.length < 2) await clock.advance(0);
    await clock.advance(4999);
    await clock.advance(1);
    expect(await written).toBe("BOARD_TIMEOUT");
    expect(board.commands).toHaveLength(2);
    board.mood = "sound";
    expect(await registry.readPin("device0", 6, { signal })).toBe(1);
  });

  test("1 MB without a newline ends the connection, not the memory", async () => {
    await using board = await startJsonBoard({ form });
    await using registry = await registryOf(robot(board));
    await registry.readPin("device0", 1, { signal });
    board.mood = "endless";
    await expect(registry.readPin("device0", 1, { signal })).rejects.toThrow("more than 4096 bytes without a newline");
    board.mood = "sound";
    expect(await registry.readPin("device0", 1, { signal })).toBe(0);
  });
});

test("an answer to another command is not taken for its own", async () => {
  await using board = await startJsonBoard();
  await using registry = await registryOf(robot(board));
  board.mood = "confused";
  expect(await registry.readPin("device0", 1, { signal })).toBe(0);
});

test("commands of one board run one after the other, those that wait can be called off, and there is a limit", async () => {
  await using board = await startJsonBoard();
  const clock = fakeClock();
  await using registry = await registryOf({ ...robot(board), clock });
  await registry.readPin("device0", 1, { signal });
  board.mood = "silent";
  const calledOff = new AbortController();
  const first = outcome(registry.writePin("device0", 1, 1, signal));
  const second = outcome(registry.writePin("device0", 2, 1, calledOff.signal));
  const others = Array.from({ length: 14 }, (_, pin) => outcome(registry.writePin("device0", pin + 3, 1, signal)));
  expect(await outcome(registry.writePin("device0", 20, 1, signal))).toBe("BOARD_BUSY");
  while (board.commands.length < 2) await clock.advance(0);
  calledOff.abort(new SvcError("TURN_CANCELLED"));
  expect(await second).toBe("TURN_CANCELLED");
  board.mood = "sound";
  await clock.advance(5000);
  expect(await first).toBe("BOARD_TIMEOUT");
  expect(new Set(await Promise.all(others))).toEqual(new Set([undefined]));
  expect(board.commands.filter((line) => line.includes('"pin":2,'))).toEqual([]);
  expect(board.commands).toHaveLength(2 + 14);
});

test("a bridge that is not there is told, and not asked again at once", async () => {
  let path: string;
  {
    await using board = await startJsonBoard();
    path = board.path;
  }
  const clock = fakeClock();
  await using registry = await registryOf({ boards: [{ board: "my-robot", transport: "bridge", path }], clock });
  const read = () => outcome(registry.readPin("device0", 1, { signal }));
  expect(await read()).toBe("BOARD_LOST");
  expect(await read()).toBe("BOARD_LOST");
});

test.each([
  ["tcp://10.0.0.7:9", "ADDRESS_REFUSED"],
  ["tcp://169.254.169.254:80", "ADDRESS_REFUSED"],
  ["tcp://8.8.8.8:9", "ADDRESS_REFUSED"],
])("a bridge at %s is refused", async (path, code) => {
  await using registry = await registryOf({ boards: [{ board: "my-robot", transport: "bridge", path }] });
  expect(await outcome(registry.readPin("device0", 1, { signal }))).toBe(code);
});

test("a late answer of the connection before is not taken for one of this", async () => {
  let late: string | undefined;
  const answered: string[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => undefined).setEncoding("utf8");
    socket.on("data", (text: string) => {
      for (const line of text.trim().split("\n")) {
        const { id, cmd } = JSON.parse(line) as { readonly id: string; readonly cmd: string };
        const answer = (to: string, result: unknown) =>
          socket.write(`${JSON.stringify({ id: to, ok: true, result })}\n`);
        if (cmd === "ping") answer(id, "pong");
        else if (late === undefined) {
          late = id;
          gaveUp.abort(new Error("too late"));
        } else {
          answered.push(late, id);
          answer(late, 1);
          answer(id, 0);
        }
      }
    });
  });
  const gaveUp = new AbortController();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const path = `tcp://127.0.0.1:${(server.address() as { readonly port: number }).port}`;
  await using registry = await registryOf({ boards: [{ board: "my-robot", transport: "bridge", path }] });
  await expect(registry.readPin("device0", 3, { signal: gaveUp.signal })).rejects.toThrow("too late");
  expect(await registry.readPin("device0", 3, { signal })).toBe(0);
  expect(answered[0]).not.toBe(answered[1]);
  server.close();
});
