/** Questions on their way to the person at the terminal. Only the terminal that was asked knows the id. */
import { randomUUID } from "node:crypto";
import type { AskPerson, PersonAnswer, ToolQuestion } from "@svc/agent";
import { type Json, SvcError } from "@svc/contract";
import type { ControlRequest } from "@svc/gateway/control";
import { outcomeText } from "@svc/sop";
import type { Governance } from "../governance/governance.ts";
import { text } from "./fields.ts";

const BY = "an operator at the terminal";
const MAX_OUTCOME_CHARS = 1_000;

/** Rejects where it came too late. */
type Take = (answer: PersonAnswer) => unknown;

export class TerminalQuestions {
  readonly #open = new Map<string, Take>();

  /** Asks nobody else. */
  asker(request: ControlRequest): AskPerson {
    return (question, signal) => new Promise((resolve) => this.#ask(request, question, signal, resolve));
  }

  /**
   * The terminal is one of those that may answer: the registry decides who was first. Without anybody at the terminal it is
   * told where an answer is waited for.
   */
  amongOthers(request: ControlRequest, { questions, approvals }: Governance, isInteractive: boolean): AskPerson {
    return async (question, signal) => {
      const key = { runId: question.turnId, stepId: question.callId };
      const settled = new AbortController();
      const over = AbortSignal.any([signal, settled.signal]);
      const askHere = (): void => {
        const { n } = approvals.get(key)!;
        if (!isInteractive) return request.send({ type: "waiting", approval: n, tool: question.tool });
        this.#ask(request, question, over, (answer) => approvals.resolve(key, { ...answer, by: BY, via: "cli" }));
      };
      try {
        return await questions.alsoBy(askHere)(question, signal);
      } finally {
        const approval = approvals.get(key);
        settled.abort(approval?.answer && outcomeText(approval, MAX_OUTCOME_CHARS));
      }
    };
  }

  /** Rejects with NOT_FOUND, and with what the registry says to an answer that came too late. */
  async answer(body: ControlRequest["body"]): Promise<Json> {
    const id = text(body["id"]) ?? "";
    const take = this.#open.get(id);
    if (!take) throw new SvcError("NOT_FOUND", "This question is answered already, or waits no longer.");
    this.#open.delete(id);
    const feedback = text(body["feedback"]);
    await take({ approved: body["approved"] === true, ...(feedback !== undefined && { feedback }) });
    return { ok: true };
  }

  /** `over`: nobody need answer any more; its reason says why. */
  #ask(request: ControlRequest, { tool, input, reason }: ToolQuestion, over: AbortSignal, take: Take): void {
    const id = randomUUID();
    const close = (): void => {
      if (this.#open.delete(id)) request.send({ type: "question-over", id, outcome: wordsOf(over.reason) });
    };
    over.addEventListener("abort", close, { once: true });
    this.#open.set(id, take);
    request.send({ type: "question", id, tool, input, reason });
  }
}

function wordsOf(reason: unknown): string {
  if (typeof reason === "string") return reason;
  return reason instanceof SvcError ? reason.message : "The answer is no longer waited for.";
}
