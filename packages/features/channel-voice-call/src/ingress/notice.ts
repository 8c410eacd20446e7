/** What is kept of an incoming call so that it is followed up: `Channel.onNotice`. */
import type { Json, Notice } from "@svc/contract";
import { fieldsOf } from "@svc/kit";
import { CALL_SID } from "./webhook.ts";

export const began = (sid: string): Notice => ({ id: `began ${sid}`, lane: sid, body: { began: sid } });

/** The call that began; undefined for anything else. */
export function begunIn(body: Json): string | undefined {
  const { began: sid } = fieldsOf(body);
  return typeof sid === "string" && CALL_SID.test(sid) ? sid : undefined;
}
