/** An event in a line, and whether a filter takes it. */
import type { LiveEvent } from "../../live/frames.ts";

export const KINDS = ["", "turns", "messages", "approvals", "procedures", "channels", "hardware"] as const;
export type Kind = (typeof KINDS)[number];

export function sentenceOf({ type, payload }: LiveEvent): string {
  const p = (name: string): string => wordOf(payload[name]);
  switch (type) {
    case "turn-start":
      return `${p("agent")} begins to answer in ${p("session_id")}`;
    case "turn-store":
      return `a message in ${p("session_id")}`;
    case "turn-end":
      return payload["ok"] === true
        ? `answered in ${p("session_id")} by ${p("model")}`
        : `no answer in ${p("session_id")}`;
    case "turn-waiting":
      return `${p("message")} Trying again in ${Math.ceil(Number(payload["retry_in_ms"]) / 1000)} s.`;
    case "tool-call":
      return `calls ${p("tool")}`;
    case "tool-result":
      if (payload["outcome"] === "rejected") return `${p("tool")} was rejected`;
      return `${p("tool")} ${payload["ok"] === true ? "is done" : "failed"}`;
    case "message-received":
      return `${p("message_id")} from ${p("sender")} by ${placeOf(payload)}`;
    case "message-delivered":
      return `${p("message_id")} taken by ${placeOf(payload)}`;
    case "message-failed":
      return `${p("message_id")} given up: ${p("code")}`;
    case "channel_event":
      return [p("event"), p("title"), p("message")].filter((text) => text !== "").join(" · ");
    case "human_approval_request":
      return `wanted: ${p("title")}`;
    case "human_approval_resolved":
      return `${p("outcome")} by ${p("by")}: ${p("run_id")}`;
    case "sop-change":
      return "files of procedures were read anew";
    case "sop-run-start":
      return `${testOf(payload)}${p("sop")} begins, started by ${p("started_by")}`;
    case "sop-run-step":
      return `${testOf(payload)}${p("sop")}, step ${p("step")}: ${p("status")}`;
    case "sop-run-end":
      return `${testOf(payload)}${p("sop")} ${p("status")}`;
    case "channel-health":
      return `${p("channel")} is ${p("state")} ${p("reason")}`;
    case "hardware-changed":
      return [listed("connected", payload["added"]), listed("disconnected", payload["removed"])]
        .filter(Boolean)
        .join("; ");
    case "voice-state":
      return `${p("channel")} is ${p("state")}; ${p("transcriptions")} of ${p("limit")} transcriptions this hour`;
    case "events-dropped":
      return `some events are not in this list (${p("reason")})`;
    case "service-draining":
      return "the service is stopping";
    default:
      return "";
  }
}

export function matches(event: LiveEvent, kind: Kind, text: string): boolean {
  if (kind !== "" && kindOf(event.type) !== kind) return false;
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return true;
  return `${event.type} ${sentenceOf(event)} ${JSON.stringify(event.payload)}`.toLowerCase().includes(wanted);
}

function kindOf(type: string): Kind {
  if (/^(?:turn|tool|text)-/.test(type)) return "turns";
  if (type.startsWith("message-")) return "messages";
  if (type.startsWith("human_approval")) return "approvals";
  if (type.startsWith("hardware-")) return "hardware";
  return type.startsWith("sop-") ? "procedures" : "channels";
}

function placeOf(payload: LiveEvent["payload"]): string {
  const { channel } = (payload["conversation"] ?? {}) as { readonly channel?: unknown };
  return wordOf(channel);
}

const listed = (what: string, aliases: unknown): string =>
  Array.isArray(aliases) && aliases.length > 0 ? `${what} ${aliases.map(wordOf).join(", ")}` : "";

const testOf = (payload: LiveEvent["payload"]): string => (payload["test"] === true ? "test of " : "");

const wordOf = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" ? String(value) : "";
