/** Updates that wait, and who asks for them. https://core.telegram.org/bots/api#getting-updates */
import type { Json } from "@svc/contract";
import type { ServerResponse } from "node:http";
import type { PlatformReply } from "../base.ts";
import { failed, succeeded } from "./answer.ts";

export type Update = Readonly<Record<string, Json>> & { readonly update_id: number };

export interface Polls {
  /** Not confirmed yet, oldest first. */
  readonly waiting: readonly Update[];
  /** Whether a client is waiting for an update right now. */
  readonly isHeld: boolean;
  add(update: Readonly<Record<string, Json>>): Update;
  confirm(updateId: number): void;
  clear(): void;
  ask(asked: Asked): PlatformReply;
  /** Answers who waits with nothing, as when its time is over. */
  expire(): void;
  /** Ends the request of who waits with a conflict. */
  terminate(by: string): void;
  /** Cuts the connection of who waits. */
  cut(): void;
}

export interface Asked {
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
  readonly timeoutSecs?: number | undefined;
}

interface Held {
  readonly limit: number;
  readonly response: ServerResponse;
  readonly cancel: () => void;
}

/** `after`: ends long requests by a clock; without one only `expire` does. */
export function createPolls(firstId: number, after?: (ms: number, run: () => void) => () => void): Polls {
  const waiting: Update[] = [];
  let nextId = firstId;
  let held: Held | undefined;

  const confirmBelow = (offset: number): void => {
    while (waiting[0] !== undefined && waiting[0].update_id < offset) waiting.shift();
  };
  const answer = (reply: Exclude<PlatformReply, (response: ServerResponse) => void>): void => {
    if (held === undefined) return;
    const { response, cancel } = held;
    held = undefined;
    cancel();
    response.writeHead(reply.status ?? 200, { "content-type": "application/json" });
    response.end(JSON.stringify("json" in reply ? reply.json : null));
  };
  const expire = (): void => answer({ json: { ok: true, result: [] } });
  const terminate = (by: string): void => {
    const description = `Conflict: terminated by ${by}`;
    answer(failed({ code: 409, description }) as { status: number; json: Json });
  };

  return {
    waiting,
    get isHeld() {
      return held !== undefined;
    },
    expire,
    terminate,
    cut: () => void held?.response.destroy(),
    add(update) {
      const added = { ...update, update_id: nextId } as Update;
      nextId += 1;
      waiting.push(added);
      if (held !== undefined) answer({ json: { ok: true, result: waiting.slice(0, held.limit) as unknown as Json } });
      return added;
    },
    confirm: (updateId) => confirmBelow(updateId + 1),
    clear: () => void waiting.splice(0),
    ask({ offset = 0, limit = 100, timeoutSecs = 0 }) {
      terminate("other getUpdates request; make sure that only one bot instance is running");
      if (offset < 0) waiting.splice(0, Math.max(0, waiting.length + offset));
      else confirmBelow(offset);
      const most = Math.min(100, Math.max(1, limit));
      if (waiting.length > 0 || timeoutSecs <= 0) return succeeded(waiting.slice(0, most) as unknown as Json);
      return (response) => {
        const cancel = after?.(timeoutSecs * 1000, expire) ?? (() => undefined);
        const mine = { limit: most, response, cancel };
        held = mine;
        response.once("close", () => {
          if (held !== mine) return;
          cancel();
          held = undefined;
        });
      };
    },
  };
}
