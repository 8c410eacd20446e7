/** Whether a call is still going on, which the platform does not always tell by itself. */
import type { FeatureContext } from "@svc/contract";
import { type Call, OVER } from "../calls/call.ts";
import type { Calls } from "../calls/calls.ts";
import { firstPlace } from "../calls/place.ts";
import type { PlatformApi } from "../platform/api.ts";
import type { Person } from "../platform/number.ts";

export interface LiveParts {
  readonly api: PlatformApi;
  readonly calls: Calls;
  readonly clock: FeatureContext["clock"];
}

/** A call that was heard of so lately needs no question. */
const LATELY_MS = 30_000;

const GOING_ON: ReadonlySet<unknown> = new Set(["queued", "ringing", "in-progress"]);

/** The call of that SID; it may be from before this process. It may be over. */
export async function callOf(parts: LiveParts, sid: string, person: Person, signal: AbortSignal): Promise<Call> {
  const { calls, clock } = parts;
  const known = calls.get(sid);
  if (known && (known.over !== undefined || clock.now() - known.seenAtMs < LATELY_MS)) return known;
  // Before the first webhook of this process its place is not known: any that comes is newer.
  const place = { ...firstPlace(clock.now()), step: 0 };
  return asked(parts, known ?? calls.open({ sid, person, place, seenAtMs: clock.now() }), signal);
}

/** The call that goes on with this person; undefined: none does. */
export async function callWith(parts: LiveParts, person: string, signal: AbortSignal): Promise<Call | undefined> {
  for (let call = parts.calls.liveWith(person); call; call = parts.calls.liveWith(person)) {
    if ((await asked(parts, call, signal)).over === undefined) return call;
  }
  return undefined;
}

async function asked({ api, clock }: LiveParts, call: Call, signal: AbortSignal): Promise<Call> {
  const fields = await api.getCall(call.sid, signal);
  if (GOING_ON.has(fields?.["status"])) call.seenAtMs = clock.now();
  else call.end(OVER, clock.now());
  return call;
}
