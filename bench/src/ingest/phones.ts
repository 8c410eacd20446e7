/**
 * Provider A's platform as far as answers need it. It checks nothing and keeps nothing, so that of what is measured beside it
 * as little as possible is its own.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Phones extends AsyncDisposable {
  readonly url: string;
  /** Called with the digits of each phone that a reply has reached. */
  onReply: (to: string) => void;
}

export async function startPhones(): Promise<Phones> {
  let taken = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const to = repliedTo(Buffer.concat(chunks));
      response.writeHead(200, { "content-type": "application/json" });
      response.end(`{"success":true,"messages":[{"id":"wamid.reply-${(taken += 1)}"}]}`);
      if (to !== undefined) phones.onReply(to);
    });
  });
  // The daemon's connections stay open: none may be closed at the moment it is used again.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const phones: Phones = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    onReply: () => {},
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return phones;
}

/** Undefined for marks and questions. */
function repliedTo(body: Buffer): string | undefined {
  if (body.length === 0) return undefined;
  const { to, status } = JSON.parse(body.toString()) as { to?: string; status?: string };
  return status === undefined ? to?.replace("+", "") : undefined;
}
