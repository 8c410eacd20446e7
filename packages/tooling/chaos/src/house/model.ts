/** A model that does what it is told, from what it is shown alone: whoever takes a turn up gets the same answer. */
import type { Json } from "@svc/contract";
import { type FakeModelServer, fakeModelServer, type ModelRequest } from "@svc/testkit/fake-model/server";
import type { ModelStep } from "@svc/testkit/fake-model/step";
import { askedIn, conversationIn, labelIn } from "../plan/messages.ts";
import { fieldsOf } from "../providers/provider.ts";

export interface ModelOptions {
  readonly onAsked: () => void;
  /** Told what it should not have been shown. */
  readonly onProblem: (problem: string) => void;
  /** In the middle of the answer to the message of this label, if that takes its time. Default: none. */
  readonly pause?: Pause;
}

type Pause = (label: string) => Promise<void>;

export const startModel = ({ onAsked, onProblem, pause }: ModelOptions): Promise<FakeModelServer> =>
  fakeModelServer({
    script(request) {
      onAsked();
      const problem = problemIn(request);
      if (problem !== undefined) onProblem(problem);
      return stepFor(request, pause);
    },
  });

/** Calls of the acting tool for one message. */
export const ACTS = 2;
/** A platform takes 4 096 characters, or more. */
const LONG_SENTENCES = 80;
const STORY_SENTENCES = 12;

export const fileOf = (label: string): string => `acts/${conversationIn(label)}.txt`;

export const actOf = (label: string, number: number): string => `${label}/${number}`;

/** The answer to a message; `isUnsure`: it was told that the outcome of a call is unknown. */
export function answerTo(kind: string, label: string, isUnsure: boolean): string {
  if (kind === "act") return isUnsure ? `Nobody knows about ${label}.` : `Acted for ${label}.`;
  if (kind === "note") return `Noted ${label}.`;
  const length = kind === "story" ? STORY_SENTENCES : LONG_SENTENCES;
  const sentences = Array.from({ length }, (_, index) => `Of ${label} this is sentence ${index}.`);
  return sentences.map((sentence) => sentence.padEnd(80, "!")).join(" ");
}

function stepFor(request: ModelRequest, pause?: Pause): ModelStep {
  const { asked, results } = lastIn(request);
  if (!asked) return { status: 400, message: "this is no message of the harness" };
  const { kind, label } = asked;
  if (kind === "act" && results.length < ACTS) {
    const content = `${actOf(label, results.length + 1)}\n`;
    return { calls: [{ name: "file_write", input: { path: fileOf(label), content, mode: "append" } }] };
  }
  const isSlow = pause !== undefined && (kind === "story" || kind === "long");
  return { text: answerTo(kind, label, results.some(isUnknown)), ...(isSlow && { midway: () => pause(label) }) };
}

const isUnknown = (text: string): boolean => text.includes("interrupted, outcome unknown");

function lastIn(request: ModelRequest) {
  const messages = messagesOf(request);
  const at = messages.findLastIndex(({ role }) => role === "user");
  const results = messages.slice(at + 1).filter(({ role }) => role === "tool");
  return { asked: askedIn(messages[at]?.text ?? ""), results: results.map(({ text }) => text) };
}

/** Of a conversation every message is there once, and has been answered before the next one. */
function problemIn(request: ModelRequest): string | undefined {
  const messages = messagesOf(request);
  const asked = messages.filter(({ role }) => role === "user").map(({ text }) => labelIn(text) ?? "");
  const last = asked.at(-1) ?? "";
  if (new Set(asked).size !== asked.length) return `${last}: the model was shown a message twice`;
  if (new Set(asked.map(conversationIn)).size > 1) return `${last}: the model was shown another conversation`;
  const answered = messages.filter(({ role, calls }) => role === "assistant" && !calls);
  const isInStep = answered.every(({ text }, index) => labelIn(text) === asked[index]);
  return isInStep && answered.length === asked.length - 1 ? undefined : `${last}: the model was shown gaps`;
}

interface Shown {
  readonly role: string;
  readonly text: string;
  readonly calls: boolean;
}

const messagesOf = ({ body }: ModelRequest): Shown[] =>
  (Array.isArray(body["messages"]) ? (body["messages"] as Json[]) : []).map((message) => {
    const { role, content, tool_calls: calls } = fieldsOf(message);
    const text = typeof content === "string" ? content : JSON.stringify(content ?? "");
    return { role: String(role), text, calls: calls !== undefined };
  });
