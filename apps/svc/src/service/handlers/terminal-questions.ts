/** Questions on their way to the person at the terminal. Only the terminal that was asked knows the id. */
import { randomUUID } from "node:crypto";
import type { AskPerson, PersonAnswer } from "@svc/agent";
import { type Json, SvcError } from "@svc/contract";
import type { ControlRequest } from "@svc/gateway/control";
import type { Governance } from "../governance/governance.ts";
import { text } from "./fields.ts";

const BY = "an operator at the terminal";

export class TerminalQuestions {
  readonly #open = new Map<string, (answer: PersonAnswer) => void>();

  asker(request: ControlRequest): AskPerson {
    return async (question, signal) => {
      const id = randomUUID();
      const answered = new Promise<PersonAnswer>((resolve) => this.#open.set(id, resolve));
      const forget = (): void => {
        if (this.#open.delete(id)) request.send({ type: "answered", id });
      };
      signal.addEventListener("abort", forget, { once: true });
      const { tool, input, reason } = question;
      request.send({ type: "question", id, tool, input, reason });
      return answered.finally(() => this.#open.delete(id));
    };
  }

  /**
   * The terminal is one of those that may answer: the registry decides who was first. Without anybody at the terminal it is
   * told where an answer is waited for.
   */
  amongOthers(request: ControlRequest, { questions, approvals }: Governance, isInteractive: boolean): AskPerson {
    return async (question, signal) => {
      const key = { runId: question.turnId, stepId: question.callId };
      const settled = new AbortController();
      const here = AbortSignal.any([signal, settled.signal]);
      const askHere = (): void => {
        const { n } = approvals.get(key)!;
        if (!isInteractive) return request.send({ type: "waiting", approval: n, tool: question.tool });
        this.asker(request)(question, here)
          .then((answer) => approvals.resolve(key, { ...answer, by: BY, via: "cli" }))
          // Somebody else was first, and what he said counts.
          .catch(() => undefined);
      };
      try {
        return await questions.alsoBy(askHere)(question, signal);
      } finally {
        settled.abort();
      }
    };
  }

  answer(body: ControlRequest["body"]): Json {
    const resolve = this.#open.get(text(body["id"]) ?? "");
    if (!resolve) throw new SvcError("NOT_FOUND", "This question is answered already, or waits no longer.");
    const feedback = text(body["feedback"]);
    resolve({ approved: body["approved"] === true, ...(feedback !== undefined && { feedback }) });
    return { ok: true };
  }
}
