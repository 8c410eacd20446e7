/**
 * `svc __agent-loop`: svc's own agent in a process of its own, an agent of the Agent Client Protocol. It holds the conversation and decides
 * what is next; svc asks the model and calls the tools for it, with the rights of its parent.
 */
import { Readable, Writable } from "node:stream";
import { agent, type AgentContext, methods, ndJsonStream, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";
import type { Json } from "@svc/contract";
import { CALL, type CallAnswer, type OwnSession, STEP, type StepAnswer } from "../own-protocol.ts";

interface Session {
  readonly maxSteps: number;
  readonly messages: Json[];
  running: AbortController | undefined;
}

export async function run(args: readonly string[]): Promise<number | undefined> {
  if (args.length > 0) return 64;
  const sessions = new Map<string, Session>();
  const app = agent({ name: "svc" })
    .onRequest(methods.agent.initialize, () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentCapabilities: { loadSession: false },
    }))
    .onRequest(methods.agent.authenticate, () => ({}))
    .onRequest(methods.agent.session.new, ({ params }) => {
      const sessionId = crypto.randomUUID();
      const { maxSteps } = params._meta!["svc"] as OwnSession;
      sessions.set(sessionId, { maxSteps, messages: [], running: undefined });
      return { sessionId };
    })
    .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
      const session = sessions.get(params.sessionId);
      if (!session) throw new Error("there is no such session");
      const text = params.prompt.map((part) => (part.type === "text" ? part.text : "")).join("\n");
      return { stopReason: await answer(session, params.sessionId, text, client) };
    })
    .onNotification(methods.agent.session.cancel, ({ params }) => sessions.get(params.sessionId)?.running?.abort());
  const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
  const connection = app.connect(ndJsonStream(Writable.toWeb(process.stdout), input));
  // svc is gone, or wants no more: then there is nobody to work for.
  await connection.closed;
  process.exit(0);
}

async function answer(
  session: Session,
  sessionId: string,
  text: string,
  client: AgentContext,
): Promise<"end_turn" | "cancelled" | "max_turn_requests"> {
  const running = new AbortController();
  session.running = running;
  const { messages } = session;
  const before = messages.length;
  messages.push({ role: "user", content: [{ type: "text", text }] });
  try {
    for (let step = 0; step < session.maxSteps; step += 1) {
      const { said, text: spoken, calls } = await client.request<StepAnswer>(STEP, { messages });
      messages.push(said);
      if (spoken !== "") {
        await client.notify(methods.client.session.update, {
          sessionId,
          update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: spoken } },
        });
      }
      if (running.signal.aborted) return "cancelled";
      if (calls.length === 0) return "end_turn";
      for (const call of calls) {
        const update = { toolCallId: call.callId, title: call.tool };
        await client.notify(methods.client.session.update, {
          sessionId,
          update: { sessionUpdate: "tool_call", status: "in_progress", ...update },
        });
        const { ok, message } = await client.request<CallAnswer>(CALL, call);
        messages.push(message);
        await client.notify(methods.client.session.update, {
          sessionId,
          update: { sessionUpdate: "tool_call_update", status: ok ? "completed" : "failed", ...update },
        });
      }
      if (running.signal.aborted) return "cancelled";
    }
    return "max_turn_requests";
  } catch (error) {
    // A call without a result would make the provider refuse whatever is asked next.
    messages.length = before;
    if (running.signal.aborted) return "cancelled";
    throw error;
  } finally {
    session.running = undefined;
  }
}
