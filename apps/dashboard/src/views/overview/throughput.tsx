/** The last hour, a column a minute: answers above the line, failures below it, and the messages that came in as dots. */
import type { Minute } from "../../api/shapes.ts";
import { Section } from "../../parts/section.tsx";
import { exact } from "../../text/time.ts";
import { number, t, wordOf } from "../../texts/texts.ts";

const WIDTH = 10;
const ABOVE = 72;
const BELOW = 24;

type Count = "received" | "answered" | "delivered" | "failed";

export function Throughput({ minutes }: { readonly minutes: readonly Minute[] }) {
  const total = (key: Count): number => minutes.reduce((sum, minute) => sum + minute[key], 0);
  const words = t("overview.minute-counts", {
    received: total("received"),
    answered: total("answered"),
    delivered: total("delivered"),
    failed: total("failed"),
  });
  const most = Math.max(1, ...minutes.map(({ received, answered, failed }) => Math.max(received, answered, failed)));
  return (
    <Section title={t("overview.the-last-hour")} aside={<Legend total={total} />}>
      <svg
        class="throughput"
        viewBox={`0 0 ${minutes.length * WIDTH} ${ABOVE + BELOW}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={t("overview.the-last-hour-2", { words })}
      >
        <line class="axis" x1="0" x2={minutes.length * WIDTH} y1={ABOVE} y2={ABOVE} />
        {minutes.map((minute, index) => (
          <Column key={minute.at} minute={minute} x={index * WIDTH} most={most} />
        ))}
      </svg>
      <p class="scale">
        <span>{t("overview.an-hour-ago")}</span>
        <span>{t("overview.at-most-a-minute", { most })}</span>
        <span>{t("overview.now")}</span>
      </p>
    </Section>
  );
}

function Column({ minute, x, most }: { readonly minute: Minute; readonly x: number; readonly most: number }) {
  const { at, received, answered, delivered, failed } = minute;
  const up = (answered / most) * (ABOVE - 4);
  const down = (failed / most) * (BELOW - 2);
  return (
    <g>
      <title>{`${exact(Date.parse(at))}: ${t("overview.minute-counts", { received, answered, delivered, failed })}`}</title>
      <rect class="hover" x={x} y="0" width={WIDTH} height={ABOVE + BELOW} />
      {up > 0 && <rect class="answered" x={x + 1.5} y={ABOVE - up} width={WIDTH - 3} height={up} />}
      {down > 0 && <rect class="failed" x={x + 1.5} y={ABOVE + 1} width={WIDTH - 3} height={down} />}
      {received > 0 && (
        <rect
          class="received"
          x={x + 1.5}
          y={ABOVE - (received / most) * (ABOVE - 4) - 1}
          width={WIDTH - 3}
          height="2"
        />
      )}
    </g>
  );
}

function Legend({ total }: { readonly total: (key: Count) => number }) {
  return (
    <ul class="legend">
      {(["received", "answered", "delivered", "failed"] as const).map((key) => (
        <li key={key} class={key}>
          {number(total(key))} {wordOf(key)}
        </li>
      ))}
    </ul>
  );
}
