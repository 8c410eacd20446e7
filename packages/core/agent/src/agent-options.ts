/** What an agent is made with. */
import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { Clock, Logger, SessionEvent, TurnEvent } from "@svc/contract";
import type { Instruments } from "@svc/kernel";
import type { Store } from "@svc/store";
import type { Attachments } from "./attachments/attachments.ts";
import type { ModelOpener } from "./models/agent-models.ts";
import type { LimitedClient } from "./money/budget.ts";
import type { AgentSet } from "./profiles.ts";
import type { Redaction } from "./turn/redacted-stream.ts";
import type { AskPerson } from "./types.ts";

export interface AgentOptions {
  readonly agents: AgentSet;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Told of turns and what is part of them. Default: nobody is. */
  readonly instruments?: Instruments;
  /** Takes the configured secrets out of what leaves the process: answers, what tools give to the model, old messages. */
  readonly redact?: (text: string) => string;
  /** How many characters at the end of a text may be the beginning of a secret. Without it no answer is told in pieces. */
  readonly partialSecret?: (text: string) => number;
  /** Told every event of every turn, and changes of conversations. */
  readonly publish?: (event: TurnEvent | SessionEvent) => void;
  /** Whether somebody reads what is published now: answers are told in pieces then. Default: nobody does. */
  readonly isListened?: () => boolean;
  /** Asks a person in turns whose caller brings nobody. Without it their acting calls that must be asked for are refused. */
  readonly ask?: AskPerson;
  /** Client whose limits a caller counts against. Default: its own. */
  readonly limitedClient?: LimitedClient;
  /** Files that come with messages. Default: none can. */
  readonly attachments?: Attachments;
  /** In place of the models that the config names; for tests. */
  readonly model?: LanguageModelV4 | ModelOpener;
}

export function openerOf(model: LanguageModelV4 | ModelOpener | undefined): ModelOpener | undefined {
  return typeof model === "object" ? () => model : model;
}

export function redactionOf({ redact, partialSecret }: Pick<AgentOptions, "redact" | "partialSecret">): Redaction {
  if (!redact) return { redact: (text) => text, partial: () => 0 };
  return { redact, partial: partialSecret ?? ((text) => text.length) };
}
