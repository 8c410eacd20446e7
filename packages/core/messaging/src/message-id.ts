/** Ids of messages as people see them: `in-12` came in, `out-7` goes out. */
import { SvcError } from "@svc/contract";

export const incomingId = (n: number): string => `in-${n}`;
export const outgoingId = (n: number): string => `out-${n}`;

/** Throws MESSAGE_UNKNOWN. */
export function parseMessageId(id: string): { readonly box: "in" | "out"; readonly n: number } {
  const [, box, digits] = /^(in|out)-([1-9]\d{0,14})$/.exec(id) ?? [];
  if (box === "in" || box === "out") return { box, n: Number(digits) };
  throw messageUnknown();
}

export const messageUnknown = (): SvcError =>
  new SvcError("MESSAGE_UNKNOWN", undefined, { hint: "See svc inbox list." });
