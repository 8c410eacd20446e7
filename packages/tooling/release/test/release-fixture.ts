/** The built binary as a release has it, and a server of loopback for its files. */
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, dirname, join } from "node:path";
import { expect } from "vitest";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { binaryPath } from "@svc/testkit/binary/spawn-binary";
import { type Build, readBuild } from "../src/builds.ts";

export const built = (): Build => readBuild(dirname(binaryPath()));

export interface FileServer extends AsyncDisposable {
  readonly url: string;
}

/** Serves what `answer` has for a path: a file's path, a text, or undefined. */
export async function serve(answer: (path: string, url: string) => string | Buffer | undefined): Promise<FileServer> {
  const server = createServer((request, response) => {
    const body = answer(decodeURIComponent(request.url ?? "/"), url);
    response.writeHead(body === undefined ? 404 : 200).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const serveFolder = (folder: string): Promise<FileServer> =>
  serve((path) => {
    const file = join(folder, basename(path));
    return existsSync(file) ? readFileSync(file) : undefined;
  });

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
