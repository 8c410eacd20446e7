/** What people write, for a channel that polls: held until there is something, repeated until it is confirmed. */
import type { ServerResponse } from "node:http";
import type { PlatformReply, PlatformRequest } from "../../src/platforms/base.ts";

export interface Update {
  readonly id: string;
  readonly text: string;
  readonly from: string;
  readonly room: string;
  readonly atMs: number;
  readonly button?: string;
}

export interface Updates {
  poll(request: PlatformRequest): PlatformReply;
  write(update: Omit<Update, "room">): void;
  disconnect(): void;
}

/** No poll answers more. */
const MOST = 5;

export function startUpdates(): Updates {
  const waiting: (Update & { readonly number: number })[] = [];
  const polls = new Map<ServerResponse, number>();
  let numbers = 0;

  const answer = (response: ServerResponse, after: number): void => {
    const updates = waiting.filter(({ number }) => number > after).slice(0, MOST);
    if (updates.length === 0) return void polls.set(response, after);
    polls.delete(response);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ updates }));
  };

  return {
    poll({ query }) {
      const after = Number(query.get("after"));
      while ((waiting[0]?.number ?? Infinity) <= after) waiting.shift();
      return (response) => {
        response.on("close", () => polls.delete(response));
        answer(response, after);
      };
    },
    write(update) {
      waiting.push({ ...update, room: "room-1", number: (numbers += 1) });
      for (const [response, after] of polls) answer(response, after);
    },
    disconnect() {
      for (const response of polls.keys()) response.destroy();
    },
  };
}
