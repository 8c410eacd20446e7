/** A person is asked about a call of a message's turn. That takes minutes, in which the process may well be stopped. */
import { isPostponed } from "@svc/contract";
import type { AskPerson } from "../../types.ts";
import { sessionIn } from "../session-message.ts";
import { within } from "../within.ts";
import type { Attempt } from "./attempt.ts";
import type { InboxParts } from "./parts.ts";
import type { Typing } from "./typing.ts";

/** Undefined: whoever the agent was made with is asked. */
export function askerOf({ store, askIn }: InboxParts, attempt: Attempt, typing: Typing): AskPerson | undefined {
  const { n, turnId, lane } = attempt.message;
  const { conversation, sender } = attempt.inbound;
  // Who asked by HTTP can't answer a question.
  const ask = askIn?.({ conversation: sessionIn(lane) ? undefined : conversation, turnId, sender });
  if (!ask) return undefined;
  return async (question, signal) => {
    // A process that ends while nothing is done has not died of this message, however often.
    await store.write(() => store.inbox.calledOff(n));
    try {
      const wait = () => within(signal, () => ask(question, signal));
      return await typing.whileSilent(() => attempt.leave.asking(wait));
    } finally {
      // Of one that goes on in the next process, the end of the attempt notes what is to be noted.
      if (!isPostponed(signal.reason)) store.write(() => store.inbox.begin(n)).catch(() => undefined);
    }
  };
}
