/** What `svc chat` and `svc tools run` ask for: turns and tool calls, and the questions of both to the person at the terminal. */
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { open, unlink } from "node:fs/promises";
import { join } from "node:path";
import { type AskPerson, callTool, type PersonAnswer, type ToolEnvironment, type ToolQuestion } from "@svc/agent";
import { DEFAULT_AGENT } from "@svc/config";
import { type ClientId, type Json, SvcError } from "@svc/contract";
import type { ControlHandlers, ControlRequest } from "@svc/gateway/control";
import { outcomeText } from "@svc/sop";
import { text } from "./input.ts";
import type { Service } from "../service.ts";
import type { Governance } from "../governance/governance.ts";

export function chatHandlers(service: Service, local: ClientId): ControlHandlers {
  const questions = new TerminalQuestions();
  return {
    ...attachHandlers(service, local),
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
  const conversation = store.sessions.find(clientId, session);
  const [newest] = conversation === undefined ? [] : store.sessions.turnsBefore(conversation, 1).turns;
  if (newest) return newest.id;
  throw new SvcError("TURN_UNKNOWN", "This conversation has no message yet.", { hint: "Write one." });
}

/** A daemon asks everybody who may answer, the terminal among them; a command can ask nobody else. */
function askIn(service: Service, request: ControlRequest, questions: TerminalQuestions): { readonly ask?: AskPerson } {
  const isInteractive = request.body["interactive"] === true;
  if (service.isDaemon) return { ask: questions.amongOthers(request, service.governance, isInteractive) };
  return isInteractive ? { ask: questions.asker(request) } : {};
}

/** Throws AGENT_UNKNOWN. */
function environmentOf({ generation }: Service, agent: Json | undefined): ToolEnvironment {
  const profile = generation.agents.profiles.get(text(agent) ?? DEFAULT_AGENT);
  if (!profile) throw new SvcError("AGENT_UNKNOWN");
  return profile.environment;
}

/** Files that `svc chat` attaches. The command puts a copy into the folder of uploads; from there on it is an upload like any other. */
function attachHandlers(
  { attachments, context }: Pick<Service, "attachments" | "context">,
  owner: ClientId,
): ControlHandlers {
  return {
    /** `copy`: name of the copy; `name`: of the file, for people. */
    attach: async ({ body }) => {
      const copy = text(body["copy"]) ?? "";
      // A name of ours: no other path is read, or removed.
      if (!/^[0-9a-f]{16}\.part$/.test(copy)) throw new SvcError("BAD_REQUEST");
      const path = join(context.home.uploadsDir, copy);
      try {
        await using file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)).catch(unreadable);
        const { id, name, type, size } = await attachments.receive(owner, text(body["name"]) ?? "", async (write) => {
          for await (const chunk of file.createReadStream({ autoClose: false })) await write(chunk as Buffer);
        });
        return { id, name, type, size };
      } finally {
        await unlink(path).catch(() => {});
      }
    },
    detach: async ({ body }) => {
      const id = text(body["id"]) ?? "";
      return { id, deleted: await attachments.discard(owner, id) };
    },
  };
}

/** Ids of what comes with a message. */
const filesIn = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((id): id is string => typeof id === "string") : [];

function unreadable(cause: unknown): never {
  throw new SvcError("FILE_UNKNOWN", "The daemon can't read the copy of the file.", { cause });
}

/** Questions on their way to the person at the terminal. Only the terminal that was asked knows the id. */
const BY = "an operator at the terminal";
const MAX_OUTCOME_CHARS = 1_000;

/** Rejects where it came too late. */
type Take = (answer: PersonAnswer) => unknown;

class TerminalQuestions {
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
