// The tools keep what every tool keeps, on a board that runs code and on one that does not, and say so where there is no board.
import { SvcError } from "@svc/contract";
import { toolConformance } from "@svc/testkit/conformance/tool-conformance";
import { fakeClock } from "@svc/testkit/fake-clock";
import { fakeToolContext } from "@svc/testkit/fake-tool-context";
import { startJsonBoard } from "@svc/testkit/platforms/json-board";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { afterAll, expect, test } from "vitest";
import { CallLog, toolsOf } from "../src/tools.ts";
import type { CodeOutput, Dialect } from "../src/dialect/dialect.ts";
import type { BoardRegistry } from "../src/registry.ts";
import { registryOf } from "./registry.ts";

const done = (text = ""): CodeOutput => ({ output: Buffer.from(text), isCut: false, error: "" });

/** Answers code as a board does whose files are all `print(1)`. */
const interpreter: Dialect = {
  protocol: "micropython",
  isSettled: true,
  describe: async () => null,
  readPin: async () => 1,
  readAnalog: async () => 7,
  writePin: async () => {},
  code: {
    async run(code, { signal }) {
      signal.throwIfAborted();
      if (code.includes("hasattr")) return done("True\r\n");
      if (code.includes("0xffffff")) return done("8 8015475\r\n");
      if (code.includes("%02x")) return done("7072696e7428312e\r\nend\r\n");
      return done("42\r\n");
    },
  },
};

const board = await startJsonBoard();
const registry = await registryOf({ boards: [{ board: "my-robot", transport: "bridge", path: board.path }] });
const home = temporaryHome();
afterAll(async () => {
  await registry.close();
  await board[Symbol.asyncDispose]();
  home[Symbol.dispose]();
});

const flashWith = (registry: BoardRegistry) => ({
  registry,
  clock: fakeClock(),
  homeFolder: home.path,
  firmwareDir: "firmware",
  root: home.path,
});
const withCode = Object.assign(await registryOf({ boards: [{ board: "esp32", path: "/dev/null" }] }), {
  command: async (
    _alias: string,
    signal: AbortSignal,
    work: (dialect: Dialect, signal: AbortSignal) => Promise<unknown>,
  ) => await work(interpreter, signal),
} as Pick<BoardRegistry, "command">);

const tool = (name: string, boards: BoardRegistry) =>
  toolsOf(boards, flashWith(boards), new CallLog(fakeClock())).find((one) => one.name === name)!;
const badDevices = [{ device: "../x" }, { device: "" }];
const badFiles = [{ file: "../boot.py" }, { file: "/a" }, { file: "a'b" }, { file: "a\nb" }, { file: "" }];

toolConformance(tool("gpio_write", registry), {
  input: { pin: 2, value: 1 },
  badInputs: [{ pin: 2 }, { pin: 256, value: 1 }, { pin: -1, value: 1 }, { pin: 1.5, value: 1 }, { pin: 2, value: 2 }],
  refused: [{ input: { pin: 99, value: 1 }, code: "BOARD_FAILED" }],
});
toolConformance(tool("gpio_read", registry), {
  input: { pin: 2 },
  badInputs: [{ pin: 2, pull: "sideways" }],
  refused: [{ input: { pin: 2, pull: "up", analog: true }, code: "TOOL_BAD_INPUT" }],
});
toolConformance(tool("device_exec", withCode), {
  input: { code: "print(42)" },
  badInputs: [{ code: "" }, { code: "x", timeout_secs: 61 }, ...badDevices.map((bad) => ({ ...bad, code: "x" }))],
});
toolConformance(tool("device_read_code", withCode), { input: {}, badInputs: badFiles });
toolConformance(tool("device_write_code", withCode), {
  input: { code: "print(1)" },
  badInputs: badFiles.map((bad) => ({ ...bad, code: "x" })),
});

test("each tool says that there is no device", async () => {
  await using none = await registryOf();
  const inputs: Readonly<Record<string, object>> = {
    gpio_write: { pin: 1, value: 1 },
    gpio_read: { pin: 1 },
    device_exec: { code: "1", timeout_secs: 1 },
    device_read_code: { file: "main.py" },
    device_write_code: { file: "main.py", code: "1" },
  };
  for (const [name, input] of Object.entries(inputs)) {
    const call = tool(name, none).run(input, fakeToolContext());
    await expect(call).rejects.toMatchObject({
      code: "BOARD_UNKNOWN",
      message: expect.stringContaining("No device found") as unknown,
    });
  }
});

test("a board without an interpreter says what it needs", async () => {
  const call = tool("device_exec", registry).run({ code: "1", timeout_secs: 1 }, fakeToolContext());
  await expect(call).rejects.toBeInstanceOf(SvcError);
  await expect(call).rejects.toThrow("device0 runs no source code; it needs MicroPython or CircuitPython.");
});

test("of several boards one has to be named, and the error lists them", async () => {
  await using other = await startJsonBoard();
  await using two = await registryOf({
    boards: [board, other].map(({ path }) => ({ board: "pico", transport: "bridge", path })),
  });
  await expect(tool("gpio_read", two).run({ pin: 1 }, fakeToolContext())).rejects.toThrow(
    "Several boards are connected; name one as device. Connected: pico0 (pico), pico1 (pico).",
  );
  await expect(tool("gpio_read", two).run({ pin: 1, device: "pico7" }, fakeToolContext())).rejects.toThrow(
    "There is no board of this alias. Connected: pico0 (pico), pico1 (pico).",
  );
  expect(await tool("gpio_read", two).run({ pin: 1, device: "pico1" }, fakeToolContext())).toBe(
    "GPIO 1 is LOW (0) on pico1",
  );
});
