/** A server on loopback for the files of a release, in place of the one that a release is published on. */
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";

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
