/** The messages of a turn as a person reads them: no reasoning, no signatures, no options of a provider, no secret. */
import type { LanguageModelV4Message, LanguageModelV4ToolResultPart } from "@ai-sdk/provider";
import { type Json, SvcError } from "@svc/contract";
import type { Author, SessionPlace, Store, StoredTurn, TurnMeta } from "@svc/store";
import { wordsIn } from "../turn/history.ts";
import { redactJson } from "@svc/config";
import type { SessionMessage, SessionPage, SessionPageRequest, SessionToolCall } from "./types.ts";

type Redact = (text: string) => string;

/** A turn, whether it has ended or not. */
export type ShownTurn = Pick<StoredTurn, "id" | "at" | "meta" | "replaced"> & {
  readonly state: SessionMessage["state"];
  readonly messages: Json | readonly LanguageModelV4Message[];
};

export function shownMessages(turn: ShownTurn, redact: Redact): SessionMessage[] {
  const { id: turnId, at, state, meta, replaced } = turn;
  const messages = turn.messages as readonly LanguageModelV4Message[];
  const kind: SessionMessage["kind"] = meta?.kind ?? "message";
  const problem = meta?.problem;
  const results = resultsOf(messages);
  return messages.flatMap((message) => {
    if (message.role !== "user" && message.role !== "assistant") return [];
    const files = message.role === "user" ? (meta?.files ?? []) : [];
    const text = redact(wordsIn(message, files));
    const calls = message.role === "assistant" ? callsOf(message, results, redact) : [];
    if (message.role === "assistant" && text === "" && calls.length === 0) return [];
    const about = { state, kind, replaced, problem, author: authorOf(message.role, meta) };
    return [{ turnId, at, role: message.role, text, files, calls, ...about }];
  });
}

function authorOf(role: SessionMessage["role"], { kind, author, sender }: TurnMeta = {}): Author | undefined {
  if (kind !== "by_hand") return role === "user" ? author : undefined;
  if (role === "assistant") return author;
  return sender === undefined ? undefined : { kind: "person", id: sender };
}

type Results = ReadonlyMap<string, LanguageModelV4ToolResultPart["output"]>;

function resultsOf(messages: readonly LanguageModelV4Message[]): Results {
  const results = new Map<string, LanguageModelV4ToolResultPart["output"]>();
  for (const message of messages) {
    if (message.role !== "tool") continue;
    for (const part of message.content) if (part.type === "tool-result") results.set(part.toolCallId, part.output);
  }
  return results;
}

function callsOf(
  { content }: Extract<LanguageModelV4Message, { role: "assistant" }>,
  results: Results,
  redact: Redact,
): SessionToolCall[] {
  return content.flatMap((part) => {
    if (part.type !== "tool-call") return [];
    const { toolCallId: callId, toolName: tool } = part;
    const input = redactJson(part.input as Json, redact);
    return [{ callId, tool, input, ...outcomeOf(results.get(callId), redact) }];
  });
}

type Outcome = Pick<SessionToolCall, "ok" | "outcome" | "output">;

function outcomeOf(output: LanguageModelV4ToolResultPart["output"] | undefined, redact: Redact): Outcome {
  if (output === undefined) return { ok: false, outcome: "failed", output: null };
  const value = "value" in output ? (output.value as Json) : (output.reason ?? null);
  const ok = output.type === "text" || output.type === "json";
  const outcome = ok ? "done" : isRejection(value) ? "rejected" : "failed";
  return { ok, outcome, output: redactJson(value, redact) };
}

/** In the words of `callTool`; the second are those of earlier versions. */
const isRejection = (value: Json): boolean =>
  typeof value === "string" && /^(?:TOOL_REJECTED: |TOOL_REFUSED: The person refused this call)/.test(value);

// One page of a conversation, from its end or from a cursor backwards.

/** A page begins at a turn, of which the first `shown` messages are still to come; undefined: all of them. */
interface Start {
  readonly place: SessionPlace;
  readonly shown: number | undefined;
}

export function messagePage(
  store: Store,
  place: SessionPlace,
  { limit, before }: SessionPageRequest,
  redact: (text: string) => string,
): Omit<SessionPage, "followUps"> {
  const newestFirst: SessionMessage[] = [];
  let next: Start | undefined = before === undefined ? { place, shown: undefined } : startOf(before, place);
  while (next) {
    const { turns, before: older } = store.sessions.turnsBefore(next.place, 1);
    const shown: SessionMessage[] = turns.flatMap((turn) => shownMessages(turn, redact)).slice(0, next.shown);
    while (shown.length > 0) {
      if (newestFirst.length === limit)
        return { messages: newestFirst.reverse(), before: cursorOf(next, shown.length) };
      newestFirst.push(shown.pop()!);
    }
    next = older && { place: older, shown: undefined };
  }
  return { messages: newestFirst.reverse(), before: undefined };
}

const cursorOf = ({ place }: Start, shown: number): string => `${place.lastTurn}.${shown}`;

/** The session is the one that was asked for, so a cursor out of another one finds nothing. */
function startOf(cursor: string, { session }: SessionPlace): Start {
  const [, turn, shown] = /^(\d{1,15})\.(\d{1,9})$/.exec(cursor) ?? [];
  if (turn === undefined) throw new SvcError("BAD_REQUEST", "The cursor is not one that a page of messages gave.");
  return { place: { session, lastTurn: Number(turn) }, shown: Number(shown) };
}
