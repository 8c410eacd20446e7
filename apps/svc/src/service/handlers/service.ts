/** What `svc chat` and `svc tools` ask for: answered by the daemon over the control socket, or here when there is none. */
import { randomUUID } from "node:crypto";
import { type AskPerson, callTool, type ToolEnvironment } from "@svc/agent";
import { type ClientId, type FeatureQuestion, type Json, SvcError } from "@svc/contract";
import type { ControlHandlers, ControlRequest } from "@svc/gateway/control";
import { DEFAULT_AGENT } from "@svc/kernel";
import { attachHandlers, filesIn } from "./attach.ts";
import { approvalHandlers } from "./approvals.ts";
import { auditHandlers } from "./audit.ts";
import { channelHandlers } from "./channels.ts";
import { askRoute, followRoute } from "./feature-route.ts";
import { text } from "./fields.ts";
import { messageHandlers } from "./messages.ts";
import { modelHandlers } from "./model.ts";
import { passkeyHandlers } from "./passkeys.ts";
import { secretHandlers } from "./secrets.ts";
import { sendHandlers } from "./send.ts";
import { sessionHandlers } from "./sessions.ts";
import { sopHandlers } from "./sops.ts";
import { TerminalQuestions } from "./terminal-questions.ts";
import { localClient } from "../local-client.ts";
import type { Service } from "../service.ts";
import { checkProcedures } from "../governance/library.ts";
import { featureList, toolList } from "../status.ts";

export async function serviceHandlers(service: Service): Promise<ControlHandlers> {
  const local = await localClient(service.store);
  const { approvals, author, rules, sops } = service.governance;
  const questions = new TerminalQuestions();
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
    ...sendHandlers(service),
    ...messageHandlers(service.messaging.messageAdmin),
    ...approvalHandlers(approvals, rules),
    ...sopHandlers({
      sops,
      author,
      approvals,
      check: () => checkProcedures(service.context, service.config, toolNames(service)),
      events: service.isDaemon ? service.events.hub : undefined,
    }),
    ...attachHandlers(service, local),
    ...auditHandlers(sops.audit),
    ...passkeyHandlers(service),
    "feature-route": ({ body, signal }) => askRoute(service, { ...(body as unknown as FeatureQuestion), signal }),
    "feature-stream": async ({ body, signal, send }) => {
      const question = { ...(body as unknown as FeatureQuestion), signal };
      await followRoute(service, question, (event) => send({ type: "event", event: event as unknown as Json }));
      return null;
    },
    ping: () => ({ ok: true }),
    features: () => featureList(service),
    tools: () => toolList(service),
    answer: ({ body }) => questions.answer(body),
    chat: async (request) => {
      const session = text(request.body["session"]);
      const agent = text(request.body["agent"]);
      const files = filesIn(request.body["files"]);
      const follow = (["retry", "continue"] as const).find((how) => how === request.body["follow"]);
      const result = await service.agent.run({
        clientId: local,
        text: text(request.body["text"]) ?? "",
        ...(follow !== undefined && { after: { turnId: newestTurn(service, local, session), how: follow } }),
        author: { kind: "terminal" },
        takesCommands: true,
        sender: "",
        ...(session !== undefined && { session }),
        ...(agent !== undefined && { agent }),
        ...(files.length > 0 && { files, onStored: () => request.send({ type: "stored" }) }),
        ...askIn(service, request, questions),
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

/** Of the terminal's conversation. Throws TURN_UNKNOWN. */
function newestTurn({ store }: Service, clientId: ClientId, session = ""): string {
  const place = store.sessions.find(clientId, session);
  const [newest] = place === undefined ? [] : store.sessions.turnsBefore(place, 1).turns;
  if (newest) return newest.id;
  throw new SvcError("TURN_UNKNOWN", "This conversation has no message yet.", { hint: "Write one." });
}

/** A daemon asks everybody who may answer, the terminal among them; a command can ask nobody else. */
function askIn(service: Service, request: ControlRequest, questions: TerminalQuestions): { readonly ask?: AskPerson } {
  const isInteractive = request.body["interactive"] === true;
  if (service.isDaemon) return { ask: questions.amongOthers(request, service.governance, isInteractive) };
  return isInteractive ? { ask: questions.asker(request) } : {};
}

const toolNames = ({ generation }: Service): string[] => generation.registry.tools.list().map(({ name }) => name);

/** Throws AGENT_UNKNOWN. */
function environmentOf({ generation }: Service, agent: Json | undefined): ToolEnvironment {
  const profile = generation.agents.profiles.get(text(agent) ?? DEFAULT_AGENT);
  if (!profile) throw new SvcError("AGENT_UNKNOWN");
  return profile.environment;
}
