import type { LiveEvent } from "../../live/frames.ts";
import { Json } from "../../parts/json.tsx";
import { Name } from "../../parts/name.tsx";
import { exact } from "../../text/time.ts";
import { sentenceOf } from "./event-words.ts";
import { dates, t } from "../../texts/texts.ts";

export function EventRow({ event }: { readonly event: LiveEvent }) {
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
