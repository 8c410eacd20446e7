/** A request of a client, and how it ends. */
import type { PlatformReply, PlatformRequest } from "../base.ts";
import type { Device, Dict, World } from "./world.ts";

export class MatrixFault extends Error {
  readonly status: number;
  readonly errcode: string;
  readonly more: Dict;

  constructor(status: number, errcode: string, message: string, more: Dict = {}) {
    super(message);
    this.status = status;
    this.errcode = errcode;
    this.more = more;
  }
}

export interface Call {
  readonly world: World;
  readonly device: Device;
  readonly body: Dict;
  readonly request: PlatformRequest;
  /** Variable parts of the path, decoded. */
  readonly parts: readonly string[];
}

export type Answer = Dict | "wait" | { readonly reply: PlatformReply };
export type Route = readonly [method: string, path: string, run: (call: Call) => Answer];

/** Tokens are places in the order of everything: `t<place>`, or `s<place>` of a sync. */
export const placeIn = (token: string | null): number | undefined => {
  if (token === null) return undefined;
  const digits = /^[st](\d+)$/.exec(token)?.[1];
  if (digits === undefined) throw new MatrixFault(400, "M_UNKNOWN", "Invalid stream token");
  return Number(digits);
};
