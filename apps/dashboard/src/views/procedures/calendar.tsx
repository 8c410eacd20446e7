/** The next cron starts, by day. */
import type { SopCalendar } from "@svc/api";
import { useState } from "preact/hooks";
import { Choice } from "../../components/fields.tsx";
import { Empty, Heading, Section } from "../../components/layout.tsx";
import { Shown } from "../../components/shown.tsx";
import { Name } from "../../components/text.tsx";
import { hrefOf } from "../../state/route.ts";
import { useList } from "../../state/use-reader.ts";
import { clockTime, exact } from "../../texts/format.ts";
import { dates, t } from "../../texts/texts.ts";

const UTC = "UTC";
const DAYS = ["1", "7", "14", "31"] as const;

export function Calendar() {
  const [days, setDays] = useState<(typeof DAYS)[number]>("7");
  return (
    <>
      <Heading title={t("procedures.calendar")} />
      <p class="hint">{t("procedures.the-next-starts-by-cron")}</p>
      <div class="filters">
        <Choice label={t("procedures.days")} options={DAYS} value={days} onChoose={setDays} />
      </div>
      <Times days={days} />
    </>
  );
}

/** @param sop Only of this procedure. */
export function Times({ days, sop }: { readonly days: string; readonly sop?: string }) {
  const calendar = useList<SopCalendar>("/api/sop-calendar", ["procedures"], { days, sop });
  return (
    <Shown read={calendar}>
      {({ times, left }) => (
        <>
          {times.length === 0 && <Empty title={t("procedures.the-clock-starts-nothing-in", { n: Number(days) })} />}
          {daysOf(times).map(({ day, starts }) => (
            <Section key={day} title={day}>
              <ul class="calendar-day">
                {starts.map(({ at, more, sop: name, expression, timezone }) => (
                  <li key={`${at} ${name} ${expression} ${timezone}`}>
                    <time dateTime={at} title={exact(Date.parse(at))}>
                      {clockTime(at)}
                    </time>
                    {sop === undefined && (
                      <a href={hrefOf("procedures", name)}>
                        <Name>{name}</Name>
                      </a>
                    )}
                    <span class="hint">
                      <code>{expression}</code> <Name>{timezone ?? UTC}</Name>
                      {more && t("procedures.and-so-on")}
                    </span>
                  </li>
                ))}
              </ul>
            </Section>
          ))}
          {left > 0 && <p class="hint">{t("procedures.in-these-days", { n: left })}</p>}
        </>
      )}
    </Shown>
  );
}

interface Start {
  readonly at: string;
  readonly sop: string;
  readonly expression: string;
  readonly timezone: string | null;
  /** The last listed start; more follow. */
  readonly more: boolean;
}

function daysOf(times: SopCalendar["times"]): { readonly day: string; readonly starts: Start[] }[] {
  const starts = times
    .flatMap(({ at, more, ...trigger }) =>
      at.map((moment, index): Start => ({ ...trigger, at: moment, more: more && index === at.length - 1 })),
    )
    .toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at));
  const format = dates({ weekday: "long", day: "numeric", month: "long" });
  const days = new Map<string, Start[]>();
  for (const start of starts) {
    const day = format.format(Date.parse(start.at));
    days.set(day, [...(days.get(day) ?? []), start]);
  }
  return [...days].map(([day, list]) => ({ day, starts: list }));
}
