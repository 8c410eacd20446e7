/** What `svc chat` and `svc tools` ask for: answered by the daemon over the control socket, or here when there is none. */
import { randomUUID } from "node:crypto";
import { type AskPerson, callTool, type PersonAnswer } from "@svc/agent";
import { type Json, SvcError } from "@svc/contract";
import type { ControlHandlers, ControlRequest } from "@svc/gateway/control";
import { localClient } from "./local-client.ts";
import type { Service } from "./service.ts";
import { featureList, toolList } from "./status.ts";

export async function serviceHandlers(service: Service): Promise<ControlHandlers> {
  const local = await localClient(service.store);
  const questions = new Questions();
  return {
    ping: () => ({ ok: true }),
    features: () => featureList(service),
    tools: () => toolList(service),
    answer: ({ body }) => questions.answer(text(body["id"]) ?? "", answerOf(body)),
    chat: async (request) => {
      const session = text(request.body["session"]);
      const result = await service.agent.run({
        clientId: local,
        text: text(request.body["text"]) ?? "",
        ...(session !== undefined && { session }),
        ...(request.body["interactive"] === true && { ask: questions.asker(request) }),
        onEvent: (event) => {
          if (event.type !== "turn-start" && event.type !== "turn-end") request.send({ ...event });
        },
        signal: request.signal,
      });
      return {
        response: result.response,
        model: result.model,
        session_id: result.sessionId,
        input_tokens: result.inputTokens,
        output_tokens: result.outputTokens,
        cost_usd: result.costUsd ?? null,
      };
    },
    tool: async (request) => {
      const outcome = await callTool(service.environment, {
        turnId: `cli-${randomUUID()}`,
        callId: "1",
        clientId: local,
        name: text(request.body["name"]) ?? "",
        input: text(request.body["input"]) ?? "{}",
        ask: request.body["interactive"] === true ? questions.asker(request) : undefined,
        signal: request.signal,
      });
      return { ok: outcome.ok, output: outcome.output };
    },
  };
}

/** Questions on their way to the person at the terminal. Only the terminal that was asked knows the id. */
class Questions {
  readonly #open = new Map<string, (answer: PersonAnswer) => void>();

  asker(request: ControlRequest): AskPerson {
    return async (question, signal) => {
      const id = randomUUID();
      const answered = new Promise<PersonAnswer>((resolve) => this.#open.set(id, resolve));
      const forget = (): void => void this.#open.delete(id);
      signal.addEventListener("abort", forget, { once: true });
      const { tool, input, reason } = question;
      request.send({ type: "question", id, tool, input, reason });
      return answered.finally(forget);
    };
  }

  answer(id: string, answer: PersonAnswer): Json {
    const resolve = this.#open.get(id);
    if (!resolve) throw new SvcError("NOT_FOUND", "This question is answered already, or waits no longer.");
    resolve(answer);
    return { ok: true };
  }
}

function answerOf(body: ControlRequest["body"]): PersonAnswer {
  const feedback = text(body["feedback"]);
  return { approved: body["approved"] === true, ...(feedback !== undefined && { feedback }) };
}

const text = (value: Json | undefined): string | undefined => (typeof value === "string" ? value : undefined);
