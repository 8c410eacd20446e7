/** What `svc chat` and `svc tools run` ask for: turns and tool calls, and the questions of both to the person at the terminal. */
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { open, unlink } from "node:fs/promises";
import { join } from "node:path";
import { type AskPerson, callTool, type PersonAnswer, type ToolEnvironment, type ToolQuestion } from "@svc/agent";
import type { ControlBody, QuestionEvent } from "@svc/api/control";
import { DEFAULT_AGENT } from "@svc/config";
import { type ClientId, SvcError } from "@svc/contract";
import { outcomeText } from "@svc/sop";
import type { Handlers, Request } from "../control.ts";
import type { Service } from "../service.ts";
import type { Governance } from "../governance/governance.ts";

type Names = "chat" | "tool" | "answer" | "attach" | "detach";

export function chatHandlers(service: Service, local: ClientId): Pick<Handlers, Names> {
  const questions = new TerminalQuestions();
  return {
    ...attachHandlers(service, local),
    answer: ({ body }) => questions.answer(body),
    chat: async (request) => {
      const { text, follow, session, agent, files } = request.body;
      const result = await service.agent.run({
        clientId: local,
        text,
        ...(follow !== undefined && { after: { turnId: newestTurn(service, local, session), how: follow } }),
        author: { kind: "terminal" },
        takesCommands: true,
        sender: "",
        ...(session !== undefined && { session }),
        ...(agent !== undefined && { agent }),
        ...(files.length > 0 && { files, onStored: () => request.send({ type: "stored" }) }),
        ...askIn(service, request, questions),
        onEvent: (event) => {
          if (event.type !== "turn-start" && event.type !== "turn-end") request.send(event);
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
      const { name, input, agent, interactive } = request.body;
      const outcome = await callTool(() => environmentOf(service, agent), {
        redact: service.context.log.redact,
        turnId: `cli-${randomUUID()}`,
        callId: "1",
        clientId: local,
        name,
        input,
        ask: interactive ? questions.asker(request) : undefined,
        signal: request.signal,
      });
      return { ok: outcome.ok, output: outcome.output };
    },
  };
}

/** Of the terminal's conversation. Throws TURN_UNKNOWN. */
function newestTurn({ store }: Service, clientId: ClientId, session = ""): string {
  const conversation = store.sessions.find(clientId, session);
  const [newest] = conversation === undefined ? [] : store.sessions.turnsBefore(conversation, 1).turns;
  if (newest) return newest.id;
  throw new SvcError("TURN_UNKNOWN", "This conversation has no message yet.", { hint: "Write one." });
}

/** A daemon asks everybody who may answer, the terminal among them; a command can ask nobody else. */
function askIn(service: Service, request: Request<"chat">, questions: TerminalQuestions): { readonly ask?: AskPerson } {
  const { interactive } = request.body;
  if (service.isDaemon) return { ask: questions.amongOthers(request, service.governance, interactive) };
  return interactive ? { ask: questions.asker(request) } : {};
}

/** Throws AGENT_UNKNOWN. */
function environmentOf({ generation }: Service, agent = DEFAULT_AGENT): ToolEnvironment {
  const profile = generation.agents.profiles.get(agent);
  if (!profile) throw new SvcError("AGENT_UNKNOWN");
  return profile.environment;
}

/** Files that `svc chat` attaches. The command puts a copy into the folder of uploads; from there on it is an upload like any other. */
function attachHandlers(
  { attachments, context }: Pick<Service, "attachments" | "context">,
  owner: ClientId,
): Pick<Handlers, "attach" | "detach"> {
  return {
    attach: async ({ body: { copy, name: given } }) => {
      const path = join(context.home.uploadsDir, copy);
      try {
        await using file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)).catch(unreadable);
        const { id, name, type, size } = await attachments.receive(owner, given, async (write) => {
          for await (const chunk of file.createReadStream({ autoClose: false })) await write(chunk as Buffer);
        });
        return { id, name, type, size };
      } finally {
        await unlink(path).catch(() => {});
      }
    },
    detach: async ({ body: { id } }) => ({ id, deleted: await attachments.discard(owner, id) }),
  };
}

function unreadable(cause: unknown): never {
  throw new SvcError("FILE_UNKNOWN", "The daemon can't read the copy of the file.", { cause });
}

const BY = "an operator at the terminal";
const MAX_OUTCOME_CHARS = 1_000;

/** Rejects where it came too late. */
type Take = (answer: PersonAnswer) => unknown;

/** Of a call that can ask the person at the terminal. */
interface Asking {
  send(event: QuestionEvent): void;
}

/** Questions on their way to the person at the terminal. Only the terminal that was asked knows the id. */
class TerminalQuestions {
  readonly #open = new Map<string, Take>();

  /** Asks nobody else. */
  asker(request: Asking): AskPerson {
    return (question, signal) => new Promise((resolve) => this.#ask(request, question, signal, resolve));
  }

  /**
   * The terminal is one of those that may answer: the registry decides who was first. Without anybody at the terminal it is
   * told where an answer is waited for.
   */
  amongOthers(request: Request<"chat">, { questions, approvals }: Governance, isInteractive: boolean): AskPerson {
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
  async answer({ id, approved, feedback }: ControlBody<"answer">): Promise<{ readonly ok: true }> {
    const take = this.#open.get(id);
    if (!take) throw new SvcError("NOT_FOUND", "This question is answered already, or waits no longer.");
    this.#open.delete(id);
    await take({ approved, ...(feedback !== undefined && { feedback }) });
    return { ok: true };
  }

  /** `over`: nobody need answer any more; its reason says why. */
  #ask(request: Asking, { tool, input, reason }: ToolQuestion, over: AbortSignal, take: Take): void {
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
