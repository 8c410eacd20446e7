// What is read is what the target has, and nothing is written; a server that misbehaves costs one call, with an error that says what happened.
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import { toolConformance } from "@svc/testkit/conformance/tool-conformance";
import { afterAll, describe, expect, test } from "vitest";
import definition from "../src/index.ts";
import { parseServer } from "../src/line.ts";
import { probeFor } from "./feature.ts";
import { nucleoMemory, packet, type ServerOptions, startGdbServer } from "./gdb-server.ts";

featureConformance(definition, { root: `${import.meta.dirname}/..`, config: { gdb_server: "127.0.0.1:1" } });

const nucleo = await startGdbServer({ memory: nucleoMemory() });
afterAll(() => nucleo[Symbol.asyncDispose]());

toolConformance(probeFor(nucleo.address).tool, {
  input: { address: "0x20000000", length: 32 },
  badInputs: [
    {},
    { address: "20000000" },
    { address: "0x120000000" },
    { address: 1.5 },
    { address: 0, length: 0 },
    { address: 0, length: 4097 },
  ],
  refused: [
    { input: { address: 0x4000_0000 }, code: "TOOL_BAD_INPUT" },
    { input: { address: "0x20000000", board: "uno" }, code: "TOOL_BAD_INPUT" },
  ],
});

test("reads 4096 bytes as they are, lets the target run again, and sends nothing that writes", async () => {
  await using server = await startGdbServer({ memory: nucleoMemory() });
  const read = (await probeFor(server.address).read({ address: "0x20000100", length: 4096 })) as { bytes: string };
  const bytes = read.bytes.split("\n").flatMap((line) => line.slice("0x20000100: ".length).split(" "));
  expect(bytes).toHaveLength(4096);
  expect(bytes.every((byte, at) => Number.parseInt(byte, 16) === ((at + 0x100) * 7) % 256)).toBe(true);
  expect(read).toMatchObject({ chip: "STM32F401RE", region: "RAM", address: "0x20000100", length: 4096 });
  expect(server.commands.filter((command) => !/^(?:qSupported|m|D$)/.test(command))).toEqual([]);
  expect(server.commands.at(-1)).toBe("D");
});

test("calls come one after the other: a server takes one debugger", async () => {
  await using server = await startGdbServer({ memory: nucleoMemory() });
  const probe = probeFor(server.address);
  await Promise.all(Array.from({ length: 5 }, (_one, at) => probe.read({ address: 0x2000_0000 + at, length: 1 })));
  const sessions = server.commands.filter((command) => !command.startsWith("m"));
  expect(sessions).toEqual(Array.from({ length: 5 }, () => ["qSupported:swbreak+", "D"]).flat());
});

describe("the chip", () => {
  const signal = new AbortController().signal;
  const describeChip = async (options: ServerOptions, named?: string): Promise<unknown> => {
    await using server = await startGdbServer(options);
    return await probeFor(server.address).chip.read(named, signal);
  };

  test("is named by its id, with the flash that it says it has", async () => {
    expect(await describeChip({ memory: nucleoMemory({ deviceId: 0x431, flashKib: 256 }) })).toEqual({
      chip: "STM32F411RE",
      board: "nucleo-f411re",
      isIdentified: true,
      deviceId: 0x431,
      revision: 0x1001,
      memory: [
        { name: "flash", start: 0x0800_0000, bytes: 262_144, isLive: true },
        { name: "RAM", start: 0x2000_0000, bytes: 131_072, isLive: false },
      ],
    });
  });

  test.each([0, 0xffff])("with a flash size of %i has that of the data sheet", async (flashKib) => {
    expect(await describeChip({ memory: nucleoMemory({ flashKib }) })).toMatchObject({
      memory: [{ bytes: 524_288, isLive: false }, { bytes: 98_304 }],
    });
  });

  test("that is another one than was named is refused", async () => {
    const memory = nucleoMemory({ deviceId: 0x431 });
    await expect(describeChip({ memory }, "nucleo-f401re")).rejects.toMatchObject({
      code: "TOOL_FAILED",
      message: "The target is an STM32F411RE, not an STM32F401RE.",
    });
  });

  test.each([
    [0x413, "The target is a chip that svc does not know (device id 0x413)."],
    [0, "The target does not say which chip it is."],
  ])("with the id %i that nobody can name is refused", async (deviceId, message) => {
    await expect(describeChip({ memory: nucleoMemory({ deviceId }) })).rejects.toMatchObject({
      code: "TOOL_FAILED",
      message,
    });
  });

  test("without an id is the one that is named", async () => {
    const memory = nucleoMemory({ deviceId: 0 });
    expect(await describeChip({ memory }, "stm32f401retx")).toMatchObject({ chip: "STM32F401RE", isIdentified: false });
  });

  test("is served to operators as JSON", async () => {
    const request = { caller: { kind: "operator" }, params: {}, body: null, origin: undefined, signal } as const;
    const { route } = probeFor(nucleo.address);
    expect(await route.handle({ ...request, query: new URLSearchParams({ chip: "nucleo-f401re" }) })).toMatchObject({
      status: 200,
      body: {
        chip: "STM32F401RE",
        identified: true,
        device_id: "0x433",
        memory: [{ start: "0x08000000", live: true }, {}],
      },
    });
    expect(route.access).toBe("operate");
  });
});

describe("an address", () => {
  test.each([
    ["before the RAM", 0x1fff_ffff, 1],
    ["over the end of the RAM", 0x2001_8000 - 4, 5],
    ["in the registers", 0x4002_0000, 4],
    ["of the system memory", 0x1fff_0000, 16],
    ["over the end of the flash", 0x0807_ffff, 2],
    ["at the end of the address space", 0xffff_ffff, 4096],
  ])("%s is refused before anything is asked", async (_what, address, length) => {
    await using server = await startGdbServer({ memory: nucleoMemory() });
    await expect(probeFor(server.address).read({ address, length, board: "nucleo-f401re" })).rejects.toMatchObject({
      code: "TOOL_BAD_INPUT",
      message: expect.stringContaining("RAM 0x20000000 to 0x20017fff"),
    });
    expect(server.commands).toEqual([]);
  });
});

describe("a server that", () => {
  const input = { address: 0x2000_0000, length: 16, board: "nucleo-f401re" };
  const faulty = (answer: (command: string) => string | Buffer | undefined): ServerOptions => ({
    memory: nucleoMemory(),
    answer,
  });
  const onRead = (answer: string | Buffer) => faulty((command) => (command.startsWith("m2000") ? answer : undefined));

  test.each<readonly [string, ServerOptions, string, RegExp]>([
    ["sends garbage", faulty(() => Buffer.alloc(5000, "x")), "REMOTE_UNREACHABLE", /does not speak/],
    [
      "speaks HTTP",
      faulty(() => `HTTP/1.1 400 Bad Request\r\n\r\n${"<p>".repeat(2000)}`),
      "REMOTE_UNREACHABLE",
      /does not speak/,
    ],
    ["sends a packet without an end", faulty(() => `$${"0".repeat(100_000)}`), "REMOTE_UNREACHABLE", /too long/],
    [
      "sends runs that fill the memory",
      faulty(() => packet(`0${"*~0".repeat(20_000)}`)),
      "REMOTE_UNREACHABLE",
      /too long/,
    ],
    ["sends a run of nothing", onRead(packet("*!")), "REMOTE_UNREACHABLE", /run of nothing/],
    ["damages every packet", onRead("$00112233#00".repeat(3)), "REMOTE_UNREACHABLE", /damaged/],
    ["refuses every packet", onRead("---"), "REMOTE_UNREACHABLE", /refuses every packet/],
    ["sends too many bytes", onRead(packet("00".repeat(17))), "REMOTE_UNREACHABLE", /more bytes/],
    ["answers with text", onRead(packet("hello")), "REMOTE_UNREACHABLE", /something else than bytes/],
    ["answers with nothing", onRead(packet("")), "REMOTE_UNREACHABLE", /something else than bytes/],
    ["refuses the address", onRead(packet("E14")), "TOOL_FAILED", /can't be read at 0x20000000 \(E14\)/],
    ["refuses in words", onRead(packet("E.the\u001b[2Jtarget")), "TOOL_FAILED", /can't be read at 0x20000000 \(E\)/],
  ])("%s fails the call", async (_what, options, code, message) => {
    await using server = await startGdbServer(options);
    const failure = await probeFor(server.address)
      .read(input)
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code, message: expect.stringMatching(message) });
    expect((failure as Error).message).not.toContain("\u001b");
  });

  test("damages a packet once is asked to send it again", async () => {
    let isFirst = true;
    await using server = await startGdbServer(
      faulty((command) => {
        if (!command.startsWith("m2000") || !isFirst) return undefined;
        isFirst = false;
        return `$0102#00${packet("01".repeat(16))}`;
      }),
    );
    expect(await probeFor(server.address).read(input)).toMatchObject({ bytes: `0x20000000:${" 01".repeat(16)}` });
  });

  test("gives fewer bytes than asked is asked for the rest, also in runs and with notices between", async () => {
    const answers = [
      `${packet("T05thread:1;")}${packet("O48690a")}%Stop:T05#00${packet("0* 11")}`,
      packet("22".repeat(13)),
    ];
    await using server = await startGdbServer(
      faulty((command) => (command.startsWith("m2000") ? answers.shift() : undefined)),
    );
    expect(await probeFor(server.address).read(input)).toMatchObject({
      bytes: `0x20000000: 00 00 11${" 22".repeat(13)}`,
    });
    expect(server.commands.filter((command) => command.startsWith("m2000"))).toEqual(["m20000000,10", "m20000003,d"]);
  });

  test("lets its target go only by the process is told it so", async () => {
    await using server = await startGdbServer(faulty((command) => (command === "D" ? packet("E22") : undefined)));
    await probeFor(server.address).read(input);
    expect(server.commands.slice(-2)).toEqual(["D", "D;1"]);
  });

  test.each([
    ["never answers", () => Buffer.alloc(0)],
    ["sends half a packet", () => "$0102"],
    ["only acknowledges", () => "+++"],
  ])("%s is left after 5 seconds, and the target is let go", async (_what, answer) => {
    await using server = await startGdbServer(
      faulty((command) => (command.startsWith("m2000") ? answer() : undefined)),
    );
    const probe = probeFor(server.address);
    const reading = probe.read(input);
    await untilAsked(server.commands, /^m2000/);
    const failed = reading.catch((error: unknown) => error);
    await probe.context.clock.advance(5000);
    await untilAsked(server.commands, /^D$/);
    expect(await failed).toMatchObject({ code: "REMOTE_TIMEOUT" });
  });

  test("takes no connection, or ends it, is told so", async () => {
    const server = await startGdbServer();
    const { address } = server;
    await server[Symbol.asyncDispose]();
    await expect(probeFor(address).read(input)).rejects.toMatchObject({
      code: "REMOTE_UNREACHABLE",
      message: expect.stringContaining("ECONNREFUSED"),
    });
    await using ending = await startGdbServer({ answer: (_command, socket) => void socket.destroy() });
    await expect(probeFor(ending.address).read(input)).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE" });
  });

  test("waits is left when the turn is cancelled, and the target is let go", async () => {
    await using server = await startGdbServer(
      faulty((command) => (command.startsWith("m2000") ? Buffer.alloc(0) : undefined)),
    );
    const cancelled = new AbortController();
    const reading = probeFor(server.address).read(input, cancelled.signal);
    await untilAsked(server.commands, /^m2000/);
    cancelled.abort(new Error("cancelled"));
    await expect(reading).rejects.toThrow("cancelled");
    expect(server.commands.at(-1)).toBe("D");
  });
});

async function untilAsked(commands: readonly string[], pattern: RegExp): Promise<void> {
  while (!commands.some((command) => pattern.test(command))) await new Promise((resolve) => setImmediate(resolve));
}

test.each([
  ["127.0.0.1:3333", "127.0.0.1", 3333],
  ["localhost:3333", "localhost", 3333],
  [":3333", "127.0.0.1", 3333],
  ["3333", "127.0.0.1", 3333],
  ["[::1]:3333", "::1", 3333],
])("hardware.gdb_server %j is %s and %i", (text, host, port) => expect(parseServer(text)).toEqual({ host, port }));

test.each(["", "localhost", "localhost:0", "localhost:65536", "a b:3333", "http://127.0.0.1:3333", "a@b:1", "[::1]"])(
  "hardware.gdb_server %j is refused",
  (text) => expect(() => parseServer(text)).toThrow(/not a host and a port/),
);

test("a server elsewhere goes through the guard", async () => {
  await expect(probeFor("10.0.0.1:3333").read({ address: 0x2000_0000 })).rejects.toMatchObject({
    code: "ADDRESS_REFUSED",
  });
});
