/** Live events, with a filter. */
import { useState } from "preact/hooks";
import type { LiveEvent } from "../client/live.ts";
import { Button } from "../components/button.tsx";
import { Choice, SearchField } from "../components/fields.tsx";
import { Command, Empty, Heading } from "../components/layout.tsx";
import { Name } from "../components/text.tsx";
import { Json } from "../components/values.tsx";
import { useServices } from "../services.ts";
import { useCell } from "../cell.ts";
import { exact } from "../texts/format.ts";
import { dates, rich, t, wordOf } from "../texts/texts.ts";

/** More than a reader needs; the filter finds the rest. */
const MOST_SHOWN = 200;

export function Events() {
  const { events } = useServices();
  const now = useCell(events.events);
  const [kind, setKind] = useState<Kind>("");
  const [text, setText] = useState("");
  const [paused, setPaused] = useState<readonly LiveEvent[]>();
  const shown = (paused ?? now).filter((event) => matches(event, kind, text));
  const missed = paused === undefined ? 0 : newerThan(now, paused[0]);
  return (
    <>
      <Heading title={t("events.live-events")}>
        <Button onPress={() => setPaused(paused === undefined ? now : undefined)}>
          {paused === undefined ? t("common.pause") : t("common.go-on")}
        </Button>
      </Heading>
      <div class="filters">
        <Choice label={t("common.kind")} options={KINDS} value={kind} onChoose={setKind} />
        <SearchField label={t("common.contains")} value={text} onChange={setText} />
        {paused === undefined ? null : <span role="status">{t("events.paused", { n: missed })}</span>}
      </div>
      {shown.length === 0 ? (
        <Empty
          title={now.length === 0 ? t("events.no-events-since-this-page") : t("events.no-events-match-the-filter")}
        >
          {now.length === 0 && <>{rich("events.send-a-message", { command: <Command>svc chat</Command> })}</>}
        </Empty>
      ) : (
        <ol class="events" aria-label={t("events.events-the-newest-first")}>
          {shown.slice(0, MOST_SHOWN).map((event) => (
            <EventRow key={event.id} event={event} />
          ))}
        </ol>
      )}
    </>
  );
}

/** The number of events after that one; all if it is no longer in the list. */
function newerThan(events: readonly LiveEvent[], event: LiveEvent | undefined): number {
  const at = event === undefined ? -1 : events.indexOf(event);
  return at < 0 ? events.length : at;
}

function EventRow({ event }: { readonly event: LiveEvent }) {
  const atMs = Date.parse(event.timestamp);
  return (
    <li class={`event ${event.type}`}>
      <time dateTime={event.timestamp} title={exact(atMs)}>
        {dates({ timeStyle: "medium" }).format(atMs)}
      </time>
      <code>{event.type}</code>
      <span class="event-text">
        <Name>{sentenceOf(event)}</Name>
      </span>
      <Json label={t("common.details")} value={{ id: event.id, ...event.payload }} />
    </li>
  );
}

/** One line about an event. */
const KINDS = ["", "turns", "messages", "approvals", "procedures", "channels", "hardware", "safety", "agents"] as const;

type Kind = (typeof KINDS)[number];

export function sentenceOf({ type, payload }: LiveEvent): string {
  const p = (name: string): string => wordIn(payload[name]);
  const [session, message, tool, sop] = [p("session_id"), p("message_id"), p("tool"), p("sop")];
  const isTest = payload["test"] === true;
  switch (type) {
    case "turn-start":
      return t("events.turn-start", { agent: p("agent"), session });
    case "turn-store":
      return t("events.turn-store", { session });
    case "turn-end":
      return payload["ok"] === true
        ? t("events.answered", { session, model: p("model") })
        : t("events.not-answered", { session });
    case "turn-waiting":
      return t("events.turn-waiting", {
        message: p("message"),
        n: Math.ceil(Number(payload["retry_in_ms"]) / 1000),
      });
    case "tool-call":
      return t("events.tool-call", { tool });
    case "tool-result":
      if (payload["outcome"] === "rejected") return t("events.tool-rejected", { tool });
      return payload["ok"] === true ? t("events.tool-done", { tool }) : t("events.tool-failed", { tool });
    case "message-received":
      return t("events.message-received", { message, sender: p("sender"), channel: channelOf(payload) });
    case "message-delivered":
      return t("events.message-delivered", { message, channel: channelOf(payload) });
    case "message-failed":
      return t("events.message-failed", { message, code: p("code") });
    case "channel_event":
      return [p("event"), p("title"), p("message")].filter((text) => text !== "").join(" · ");
    case "human_approval_request":
      return t("events.approval-request", { title: p("title") });
    case "human_approval_resolved":
      return t("events.approval-resolved", { outcome: wordOf(p("outcome")), by: p("by"), run: p("run_id") });
    case "sop-change":
      return t("events.sop-change");
    case "sop-run-start":
      return t(isTest ? "events.test-start" : "events.run-start", { sop, by: p("started_by") });
    case "sop-run-step":
      return t(isTest ? "events.test-step" : "events.run-step", { sop, step: p("step"), status: wordOf(p("status")) });
    case "sop-run-end":
      return t(isTest ? "events.test-end" : "events.run-end", { sop, status: wordOf(p("status")) });
    case "channel-health":
      return t("events.channel-health", { channel: p("channel"), state: wordOf(p("state")), reason: p("reason") });
    case "hardware-changed":
      return [listed("events.connected", payload["added"]), listed("events.disconnected", payload["removed"])]
        .filter(Boolean)
        .join("; ");
    case "safety-request":
      return t("events.safety-request", { by: p("by"), direction: wordOf(p("direction")), speed: p("speed") });
    case "safety-refuse":
    case "safety-stop":
      return p("message");
    case "safety-reset":
      return t("events.safety-reset", { by: p("by") });
    case "agent-changed":
      return t("events.agent-changed", { title: p("title"), status: wordOf(p("status")) });
    case "voice-state":
      return t("events.voice-state", {
        channel: p("channel"),
        state: wordOf(p("state")),
        count: p("transcriptions"),
        limit: p("limit"),
      });
    case "events-dropped":
      return t("events.dropped", { reason: p("reason") });
    case "service-draining":
      return t("events.draining");
    default:
      return "";
  }
}

function matches(event: LiveEvent, kind: Kind, text: string): boolean {
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
  if (type.startsWith("safety-")) return "safety";
  if (type.startsWith("agent-")) return "agents";
  return type.startsWith("sop-") ? "procedures" : "channels";
}

function channelOf(payload: LiveEvent["payload"]): string {
  const { channel } = (payload["conversation"] ?? {}) as { readonly channel?: unknown };
  return wordIn(channel);
}

const listed = (what: "events.connected" | "events.disconnected", aliases: unknown): string =>
  Array.isArray(aliases) && aliases.length > 0 ? t(what, { names: aliases.map(wordIn).join(", ") }) : "";

const wordIn = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" ? String(value) : "";
