// The GDB server of QEMU: what the tool reads is what GDB itself reads, of flash and RAM, and the processor runs on afterwards.
import { missingStm32, startStm32 } from "@svc/testkit/real/stm32";
import { requireReal } from "@svc/testkit/require-real";
import { expect, test } from "vitest";
import { probeFor } from "./feature.ts";

const bytesOf = (text: string): Buffer => Buffer.from(text.replaceAll(/0x[\da-f]{8}: |[\s]/g, ""), "hex");

test("memory is what GDB says, and the target goes on", async (context) => {
  const missing = missingStm32();
  if (missing) requireReal(context, missing);
  await using target = await startStm32();
  const probe = probeFor(`127.0.0.1:${target.port}`);
  const read = async (address: number, length: number): Promise<Buffer> => {
    const answer = await probe.read({ address, length, board: "nucleo-f401re" });
    return bytesOf((answer as { bytes: string }).bytes);
  };
  while (!(await isListening(() => read(0x2000_0000, 4)))) await new Promise((resolve) => setTimeout(resolve, 20));
  while ((await read(0x2000_0000, 4)).readUInt32LE() !== 0xdead_beef)
    await new Promise((resolve) => setImmediate(resolve));
  expect(await read(0x0800_0000, 4096)).toEqual(target.gdb(0x0800_0000, 4096));
  expect((await read(0x0800_0000, 4)).readUInt32LE()).toBe(0x2001_8000);
  expect((await read(0x2000_0000, 8)).toString("hex")).toBe("efbeadde78563412");
  expect(await read(0x2000_0100, 4096)).toEqual(target.gdb(0x2000_0100, 4096));
  expect(target.gdb(0x2000_0000, 8).toString("hex")).toBe("efbeadde78563412");
  const counter = async (): Promise<number> => (await read(0x2000_0008, 4)).readUInt32LE();
  const before = await counter();
  while ((await counter()) === before) await new Promise((resolve) => setImmediate(resolve));
  await expect(probe.read({ address: "0x20000000" })).rejects.toMatchObject({
    message: expect.stringContaining("which chip"),
  });
  expect(await probe.chip.read("STM32F401RE", new AbortController().signal)).toMatchObject({
    isIdentified: false,
    memory: [{ bytes: 524_288, isLive: false }, { bytes: 98_304 }],
  });
});

async function isListening(read: () => Promise<unknown>): Promise<boolean> {
  return await read().then(
    () => true,
    ({ code }: { code?: string }) => code !== "REMOTE_UNREACHABLE",
  );
}
