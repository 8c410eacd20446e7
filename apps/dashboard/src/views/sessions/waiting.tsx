/** A turn whose model call failed in a way that may pass: why, and how long until the next try. */
import { useState } from "preact/hooks";
import { ServiceText } from "../../parts/service-text.tsx";
import { useTick } from "../../state/use-tick.ts";
import type { Waiting } from "./live-turns.ts";
import { t } from "../../texts/texts.ts";

const TICK_MS = 250;

export function WaitingNote({ waiting }: { readonly waiting: Waiting }) {
  const { message, untilMs, attempt, attempts } = waiting;
  const [now, setNow] = useState(() => Date.now());
  useTick(TICK_MS, () => setNow(Date.now()));
  const left = Math.ceil((untilMs - now) / 1000);
  return (
    <p class="retry-note" role="status">
      <ServiceText>{message}</ServiceText> {/* Read out once, not every second. */}
      <span aria-live="off">
        {left > 0 ? t("sessions.trying-again-in-s", { n: left }) : t("sessions.trying-again")}
      </span>
      <span class="hint">{` ${t("sessions.try-of", { attempt, attempts })}`}</span>
    </p>
  );
}
