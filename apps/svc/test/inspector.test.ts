// Node opens its inspector at SIGUSR1, or when NODE_OPTIONS asks for it: a port without a password by which any program on this
// machine runs code in the service. The binary does neither, and serves on.
import { readFileSync } from "node:fs";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { expect, test } from "vitest";

/** Ports that the process listens on, of all network interfaces. */
function portsOf(pid: number): number[] {
  const table = ["tcp", "tcp6"].flatMap((name) =>
    readFileSync(`/proc/${pid}/net/${name}`, "utf8").split("\n").slice(1),
  );
  const listening = table.map((line) => line.trim().split(/\s+/)).filter(([, , , state]) => state === "0A");
  return listening.map(([, local = ""]) => Number.parseInt(local.split(":")[1] ?? "", 16));
}

test("no signal and no variable opens the inspector", async (context) => {
  context.skip(process.platform !== "linux", "looks into /proc");
  const PORT = 39_229;
  await using daemon = await startBinary({
    env: { NODE_OPTIONS: `--inspect=127.0.0.1:${PORT} --inspect-port=${PORT}` },
  });
  const before = portsOf(daemon.pid).filter((port) => port === 9229 || port === PORT);
  process.kill(daemon.pid, "SIGUSR1");
  // A second signal, and requests after it: the first one has been dealt with by then.
  for (let round = 0; round < 5; round += 1) {
    expect((await daemon.request("/health")).status).toBe(200);
    process.kill(daemon.pid, "SIGUSR1");
  }
  expect(daemon.output()).not.toMatch(/debugger/i);
  const inspectors = portsOf(daemon.pid).filter((port) => port === 9229 || port === PORT);
  expect(inspectors).toEqual(before);
  expect(before).not.toContain(PORT);
  expect(await daemon.stop()).toEqual({ code: 0, signal: null });
});
