// What is known of a board is told by its alias or name, with its source; a probe adds what the chip says, and its failure hides nothing.
import { SvcError } from "@svc/contract";
import { type BoardEntry, BOARDS, CHIP_PROBE, type ChipProbe } from "@svc/kit/hardware";
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import { toolConformance } from "@svc/testkit/conformance/tool-conformance";
import { fakeFeatureContext } from "@svc/testkit/feature-context";
import { fakeToolContext } from "@svc/testkit/fake-tool-context";
import { expect, test } from "vitest";
import { create } from "../src/boards.ts";
import { dataOf, knownBoards } from "../src/chips.ts";
import definitions from "../src/index.ts";

const NUCLEO = { boards: [{ board: "nucleo-f401re", path: "/dev/ttyACM0" }] };
featureConformance(definitions, {
  root: `${import.meta.dirname}/..`,
  configs: { peripherals: NUCLEO, hardware: {} },
  inputs: { hardware_board_info: {}, hardware_memory_map: {}, hardware_capabilities: {} },
});

interface Given {
  readonly boards?: readonly string[];
  readonly probe?: ChipProbe["read"];
}

function toolsOf({ boards = ["nucleo-f401re"], probe }: Given = {}) {
  const entries = [{ alias: "pico0", board: "raspberry-pi-pico" }] as unknown as readonly BoardEntry[];
  const capabilities = (({ id }: { id: string }) => {
    if (id === BOARDS.id) return [{ list: () => entries }];
    return id === CHIP_PROBE.id && probe ? [{ boards: ["nucleo-f401re"], read: probe }] : [];
  }) as never;
  const { tools = [] } = create(
    fakeFeatureContext({ boards: boards.map((board) => ({ board })) } as unknown, { capabilities }),
  );
  return (name: string) => tools.find((tool) => tool.name === name)!;
}
const ask = (name: string, input: object, given?: Given) => toolsOf(given)(name).run(input, fakeToolContext());

toolConformance(toolsOf()("hardware_board_info"), { input: {}, badInputs: [{ board: "../x" }, { chip: "x" }] });
toolConformance(toolsOf()("hardware_memory_map"), {
  input: { board: "pico0" },
  refused: [{ input: { board: "toaster" }, code: "BOARD_UNKNOWN" }],
});
toolConformance(toolsOf()("hardware_capabilities"), { input: { board: "arduino-uno" } });

test.each([
  ["nucleo-f401re", 84, 512, 96],
  ["nucleo-f411re", 100, 512, 128],
  ["arduino-uno", 16, 32, 2],
  ["arduino-mega", 16, 256, 8],
])("%s has %i MHz, %i kB of flash and %i kB of RAM", (board, mhz, flash, ram) => {
  const { clockMhz, memory } = dataOf(board)!;
  const kilobytes = (form: RegExp) => memory.find(({ name }) => form.test(name))!.bytes / 1024;
  expect([clockMhz, kilobytes(/flash/), kilobytes(/RAM/)]).toEqual([mhz, flash, ram]);
});

test("regions do not overlap, and every board names its source", () => {
  expect(knownBoards.map((board) => dataOf(board)!.source.length > 10)).not.toContain(false);
  expect(dataOf("pico")).toBe(dataOf("raspberry-pi-pico"));
  expect(dataOf("esp32-s3")).toBe(dataOf("esp32"));
  expect(dataOf("arduino-nano")).toBeUndefined();
});

test("the memory map of a Nucleo begins where its chip's does", async () => {
  expect(await ask("hardware_memory_map", {})).toMatchObject({
    memory: [
      { name: "flash", start: "0x08000000", end: "0x0807ffff" },
      { name: "RAM", start: "0x20000000", end: "0x20017fff" },
    ],
  });
});

test("an alias leads to its board, and several boards have to be named", async () => {
  expect(await ask("hardware_board_info", { board: "pico0" })).toMatchObject({ board: "pico0", chip: "RP2040" });
  const several = ask("hardware_board_info", {}, { boards: ["arduino-uno", "esp32"] });
  await expect(several).rejects.toThrow("Several boards are configured; name one: arduino-uno, esp32.");
});

test("a probe adds what the chip says, and says why it can't", async () => {
  const probe: ChipProbe["read"] = async () => ({
    chip: "STM32F401RE",
    board: "nucleo-f401re",
    isIdentified: true,
    deviceId: 0x433,
    revision: 0x1001,
    memory: [{ name: "flash", start: 0x0800_0000, bytes: 524_288, isLive: true }],
  });
  expect(await ask("hardware_board_info", {}, { probe })).toMatchObject({
    chip: "STM32F401RE",
    live: { device_id: "0x433", memory: [{ start: "0x08000000", bytes: 524_288, read_from_chip: true }] },
  });
  const broken = async () => Promise.reject(new SvcError("REMOTE_UNREACHABLE", "No server."));
  expect(await ask("hardware_board_info", {}, { probe: broken })).toMatchObject({
    chip: "STM32F401RE",
    live: { error: "REMOTE_UNREACHABLE: No server." },
  });
});
