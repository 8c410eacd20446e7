/** Single values: times, durations, states, raw data. */
import { useState } from "preact/hooks";
import { useServices } from "../services.ts";
import { useCell } from "../cell.ts";
import { brief, duration, exact, relative } from "../texts/format.ts";
import { t, wordOf } from "../texts/texts.ts";

/** A time relative to now. */
export function Ago({ at }: { readonly at: string }) {
  const nowMs = useCell(useServices().nowMs);
  const atMs = Date.parse(at);
  if (Number.isNaN(atMs)) return <>{t("parts.unknown")}</>;
  // `nowMs` ticks every few seconds; a new item must not seem to be in the future.
  const shownMs = Math.max(nowMs, atMs < Date.now() ? Math.min(Date.now(), atMs) : nowMs);
  return (
    <time dateTime={at} title={exact(atMs)}>
      {relative(atMs, shownMs)}
    </time>
  );
}

/** The same in short, for narrow columns. */
export function BriefAgo({ at }: { readonly at: string }) {
  const nowMs = useCell(useServices().nowMs);
  const atMs = Date.parse(at);
  if (Number.isNaN(atMs)) return null;
  return (
    <time dateTime={at} title={exact(atMs)}>
      {brief(atMs, nowMs)}
    </time>
  );
}

/** A duration; without an end, the time until now. */
export function Took({ from, to }: { readonly from: string; readonly to: string | null }) {
  const nowMs = useCell(useServices().nowMs);
  const endMs = to === null ? Math.max(nowMs, Date.parse(from)) : Date.parse(to);
  return <span class="took">{duration(endMs - Date.parse(from))}</span>;
}

/** A state as a word and a colour: never as a colour alone. */
type Tone = "good" | "bad" | "wait" | "idle" | "busy";

const TONES: Readonly<Record<string, Tone>> = {
  ok: "good",
  running: "good",
  completed: "good",
  approved: "good",
  sent: "good",
  done: "good",
  degraded: "bad",
  failed: "bad",
  dead: "bad",
  error: "bad",
  rejected: "bad",
  suspect: "bad",
  waiting: "wait",
  warning: "wait",
  waiting_approval: "wait",
  waiting_for_keys: "wait",
  pending: "wait",
  probing: "wait",
};

export function Badge({ state, busy = false }: { readonly state: string; readonly busy?: boolean }) {
  const tone = busy ? "busy" : (TONES[state] ?? "idle");
  return <span class={`badge ${tone}`}>{wordOf(state)}</span>;
}

/** Raw data in a disclosure; rendered only when opened. */
interface JsonProps {
  readonly label: string;
  readonly value: unknown;
}

export function Json({ label, value }: JsonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="json" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{label}</summary>
      {isOpen && <pre tabIndex={0}>{typeof value === "string" ? value : JSON.stringify(value, null, 2)}</pre>}
    </details>
  );
}
