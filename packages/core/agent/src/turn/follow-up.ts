/** What a person can do about the newest turn of a conversation when it has no whole answer: again, in other words, or the rest. */
import type { LanguageModelV4Message } from "@ai-sdk/provider";
import { SvcError } from "@svc/contract";
import type { SessionPlace, SessionStore, StoredTurn } from "@svc/store";
import type { FollowUp } from "../sessions/types.ts";
import type { TurnRequest } from "../types.ts";
import { CONTINUE, wordsIn } from "./history.ts";
import { jsonAs } from "@svc/kit";

/** Turns that are looked through for one that is not the newest. */
const LOOKED_AT = 500;

/** None: it has an answer, or none of the model's. */
export function followUpsOf({ state, replaced, meta, messages }: StoredTurn): FollowUp[] {
  if (state === "done" || replaced || meta?.kind === "by_hand") return [];
  const hasBegun = jsonAs<readonly LanguageModelV4Message[]>(messages).some(({ role }) => role === "assistant");
  return hasBegun ? ["continue", "retry", "edit"] : ["retry", "edit"];
}

/**
 * The request as it is run. Throws TURN_UNKNOWN, and TURN_STATE where the turn is not the newest one, or its state does not allow
 * it.
 */
export function followingUp(
  sessions: Pick<SessionStore, "turnsBefore">,
  place: SessionPlace,
  request: TurnRequest & Required<Pick<TurnRequest, "after">>,
): TurnRequest {
  const { turnId, how } = request.after;
  const newest = sessions.turnsBefore(place, 1).turns[0];
  if (newest?.id !== turnId) {
    const isKnown = sessions.turnsBefore(place, LOOKED_AT).turns.some(({ id }) => id === turnId);
    if (!isKnown) throw new SvcError("TURN_UNKNOWN");
    throw new SvcError("TURN_STATE", "The conversation has gone on since this turn.", {
      hint: "Send a new message instead.",
    });
  }
  if (!followUpsOf(newest).includes(how))
    throw new SvcError("TURN_STATE", WHY[how], { hint: "Send a new message instead." });
  // The model has to know what was done: such a turn stays before the new one.
  const replaces = how === "continue" || newest.meta?.acted ? undefined : { turnId };
  const { kind, author, agent, files: sent = [] } = newest.meta ?? {};
  const base = { ...request, ...(agent !== undefined && { agent }), replaces };
  if (how === "edit") {
    const { files = [] } = request;
    const filesAgain = sent.filter(({ id }) => files.includes(id));
    return { ...base, filesAgain, files: files.filter((id) => !sent.some((file) => file.id === id)) };
  }
  if (how === "continue") return { ...base, text: CONTINUE, kind: "continue" };
  return { ...base, text: questionOf(newest), filesAgain: sent, ...(kind && { kind }), ...(author && { author }) };
}

const WHY: Readonly<Record<FollowUp, string>> = {
  retry: "This turn has its answer.",
  edit: "This turn has its answer.",
  continue: "There is no answer that broke off.",
};

function questionOf({ messages, meta }: StoredTurn): string {
  const [first] = jsonAs<readonly LanguageModelV4Message[]>(messages);
  if (first?.role !== "user") throw new SvcError("TURN_STATE");
  return wordsIn(first, meta?.files);
}
