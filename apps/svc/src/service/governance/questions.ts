/** Tool calls that wait for a person: who asks, and where, beside the page and the command line. */
import { type AskPerson, isPostponed } from "@svc/agent";
import { type AskPlace } from "@svc/messaging";
import type { Conversation } from "@svc/contract";
import { type ApprovalRegistry, askForTool, type AskForToolParts } from "@svc/sop";
import type { Store } from "@svc/store";

export interface QuestionParts {
  readonly approvals: () => ApprovalRegistry;
  readonly store: Store;
  readonly redact: (text: string) => string;
  readonly timeoutMs: () => number;
  /** For a person: whose turn it is. */
  readonly whose: (turnId: string) => string;
  /** Where the questions of procedures are posted. */
  readonly targets: () => readonly Conversation[];
}

export interface Questions {
  /** Of a turn that came by HTTP or from the page. */
  readonly anywhere: AskPerson;
  /** The same, for somebody who asks a person himself as well: `onWaiting` says when. */
  alsoBy(onWaiting: () => void): AskPerson;
  /** In the conversation that caused the call, if that has one. */
  inConversation(where: AskPlace): AskPerson;
  ofProcedure(askedBy: string): AskPerson;
}

export function toolQuestions({ approvals, store, redact, timeoutMs, whose, targets }: QuestionParts): Questions {
  const asker = (placeOf: AskForToolParts["placeOf"], onWaiting = (): void => {}): AskPerson => {
    const parts = { store, redact, timeoutMs, isPostponed, placeOf, onWaiting };
    return (question, signal) => askForTool({ approvals: approvals(), ...parts })(question, signal);
  };
  const nowhere: AskForToolParts["placeOf"] = ({ turnId }) => ({ askedBy: whose(turnId), conversations: [] });
  return {
    anywhere: asker(nowhere),
    alsoBy: (onWaiting) => asker(nowhere, onWaiting),
    inConversation: ({ conversation, sender }) => {
      if (!conversation) return asker(nowhere);
      const askedBy = `the agent, for ${sender} on ${conversation.channel}`;
      return asker(() => ({ askedBy, asker: sender, conversations: [conversation] }));
    },
    ofProcedure: (askedBy) => asker(() => ({ askedBy, conversations: targets() })),
  };
}
