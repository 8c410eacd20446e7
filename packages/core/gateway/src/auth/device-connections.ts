/**
 * Open requests and streams of each device. Revoking a device closes all of them at once; signing a page out closes the
 * page's.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { LinkedList } from "@svc/runtime";
import type { Device } from "@svc/store";
import { errorReply, type Reply } from "../http/reply.ts";
import type { Send } from "../http/send.ts";
import type { Principal } from "./authenticator.ts";
import type { PageSignIn } from "./page-sessions.ts";

/** Why it ends. */
export type EndReason = "revoked" | "signed-out";

export interface Opener {
  readonly device: Pick<Device, "id">;
  readonly signIn?: Principal["signIn"];
}

interface Open {
  readonly signIn: PageSignIn | undefined;
  readonly close: (why: EndReason) => void;
  /** It has ended. */
  forget: () => void;
}

export class DeviceConnections {
  /** By device; a device's list stays, empty or not, until it is revoked. */
  readonly #open = new Map<string, LinkedList<Open>>();
  readonly #revoked = new Set<string>();

  /**
   * `close` is called at most once: when the device is revoked or its page signed out, or at once when that has been. Call
   * the result when the stream has ended by itself.
   */
  open({ device: { id }, signIn }: Opener, close: (why: EndReason) => void): () => void {
    if (this.#revoked.has(id) || signIn?.isEnded === true) {
      close(this.#revoked.has(id) ? "revoked" : "signed-out");
      return () => {};
    }
    let list = this.#open.get(id);
    if (list === undefined) this.#open.set(id, (list = new LinkedList()));
    const opened = list;
    const open: Open = { signIn, close, forget };
    const link = opened.add(open);
    return (open.forget = () => void opened.delete(link));
  }

  /** Ends everything that is open for a device. Never throws: one that can't be closed must not save the others. */
  closeAll(deviceId: string): void {
    this.#revoked.add(deviceId);
    const list = this.#open.get(deviceId);
    this.#open.delete(deviceId);
    for (const open of list?.items() ?? []) close(open, "revoked");
  }

  /** Ends what was opened by a sign-in that has ended. Never throws. */
  closeOf(signIn: PageSignIn): void {
    const list = this.#open.get(signIn.deviceId);
    for (const open of list?.items() ?? []) {
      if (open.signIn !== signIn) continue;
      open.forget();
      close(open, "signed-out");
    }
  }

  /** How many are open, of one device or of all. */
  count(deviceId?: string): number {
    if (deviceId !== undefined) return this.#open.get(deviceId)?.size ?? 0;
    let sum = 0;
    for (const list of this.#open.values()) sum += list.size;
    return sum;
  }
}

function close(open: Open, why: EndReason): void {
  try {
    open.close(why);
  } catch {
    // Its connection is gone already.
  }
}

const forget = (): void => {};

// A request that is being answered to a device: when the device is revoked, or the page signed out that sent it, it is
// answered 401, and its connection ends.

const ENDED: Readonly<Record<EndReason, Reply>> = {
  revoked: errorReply("UNAUTHORIZED", { message: "This device was revoked." }),
  "signed-out": errorReply("UNAUTHORIZED", { message: "The page was signed out." }),
};

/** Call the result to let it end by itself after all. */
export function openExchange(
  connections: DeviceConnections,
  opener: Opener,
  send: Send,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): () => void {
  const release = connections.open(opener, (why) => {
    // Half of an answer is already sent; the rest must not follow.
    if (outgoing.headersSent) outgoing.destroy();
    else {
      outgoing.shouldKeepAlive = false;
      send(incoming, outgoing, ENDED[why]);
    }
  });
  // Not `once`: it costs more, on every request, and there is only one close.
  outgoing.on("close", release);
  return release;
}
