/** The built binary as a release has it, and a turn with what was installed. */
import { dirname } from "node:path";
import { expect } from "vitest";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { binaryPath } from "@svc/testkit/binary/spawn-binary";
import { type Build, readBuild } from "../src/builds.ts";

export const built = (): Build => readBuild(dirname(binaryPath()));

export { type FileServer, serve, serveFolder } from "../src/file-server.ts";

/** Starts what was installed, pairs and has one message answered. */
export async function useForOneTurn(binary: string, home?: string): Promise<void> {
  await using daemon = await startBinary({ binary, ...(home !== undefined && { home }) });
  const token = await daemon.pair();
  const response = await daemon.request("/webhook", { token, body: { message: "hello" } });
  const answer: unknown = await response.json();
  // Not by SIGKILL: that would end a shim, and leave the binary that it started.
  await daemon.stop();
  expect([response.status, answer]).toEqual([200, expect.objectContaining({ model: "builtin" })]);
}
