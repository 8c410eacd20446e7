/** What `svc chat` and `svc tools` ask for: answered by the daemon over the control socket, or here when there is none. */
import { randomUUID } from "node:crypto";
import { type AskPerson, callTool, type PersonAnswer, type ToolEnvironment } from "@svc/agent";
import { type Json, SvcError } from "@svc/contract";
import type { ControlHandlers, ControlRequest } from "@svc/gateway/control";
import { DEFAULT_AGENT } from "@svc/kernel";
import { channelHandlers } from "./channels.ts";
import { text } from "./fields.ts";
import { mailHandlers } from "./mail.ts";
import { modelHandlers } from "./model.ts";
import { secretHandlers } from "./secrets.ts";
import { sessionHandlers } from "./sessions.ts";
import { localClient } from "../local-client.ts";
import type { Service } from "../service.ts";
import { featureList, toolList } from "../status.ts";

export async function serviceHandlers(service: Service): Promise<ControlHandlers> {
  const local = await localClient(service.store);
  const questions = new Questions();
  return {
    ...sessionHandlers({ sessions: service.agent.sessions, devices: () => service.store.devices.all() }),
    ...modelHandlers((agent, signal) => service.agent.test(agent, signal)),
    ...secretHandlers({
      home: service.context.home,
      file: () => service.config.file,
      features: service.context.composition.features,
      vault: service.store.vault,
    }),
    ...channelHandlers(service),
    ...mailHandlers(service.messaging.mailbox),
    ping: () => ({ ok: true }),
    features: () => featureList(service),
    tools: () => toolList(service),
    answer: ({ body }) => questions.answer(text(body["id"]) ?? "", answerOf(body)),
    chat: async (request) => {
      const session = text(request.body["session"]);
      const agent = text(request.body["agent"]);
      const result = await service.agent.run({
        clientId: local,
        text: text(request.body["text"]) ?? "",
        ...(session !== undefined && { session }),
        ...(agent !== undefined && { agent }),
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
      const outcome = await callTool(() => environmentOf(service, request.body["agent"]), {
        redact: service.context.log.redact,
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

/** Throws AGENT_UNKNOWN. */
function environmentOf({ generation }: Service, agent: Json | undefined): ToolEnvironment {
  const profile = generation.agents.profiles.get(text(agent) ?? DEFAULT_AGENT);
  if (!profile) throw new SvcError("AGENT_UNKNOWN");
  return profile.environment;
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
