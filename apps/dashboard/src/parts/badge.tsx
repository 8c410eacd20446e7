/** A state, in a word and a colour: never in the colour alone. */
import { wordOf } from "../texts/texts.ts";

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
