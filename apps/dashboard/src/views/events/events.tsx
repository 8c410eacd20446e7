/** What happens, as it happens. */
import { useState } from "preact/hooks";
import type { LiveEvent } from "../../live/frames.ts";
import { Button } from "../../parts/button.tsx";
import { Choice } from "../../parts/choice.tsx";
import { Command, Empty } from "../../parts/empty.tsx";
import { Heading } from "../../parts/heading.tsx";
import { SearchField } from "../../parts/search-field.tsx";
import { useServices } from "../../services.ts";
import { useCell } from "../../state/cell.ts";
import { EventRow } from "./event-row.tsx";
import { KINDS, type Kind, matches } from "./event-words.ts";
import { rich, t } from "../../texts/texts.ts";

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

/** How many came after that one; all, when it was pushed out of the list. */
function newerThan(events: readonly LiveEvent[], event: LiveEvent | undefined): number {
  const at = event === undefined ? -1 : events.indexOf(event);
  return at < 0 ? events.length : at;
}
