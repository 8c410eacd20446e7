import type { LiveEvent } from "../../live/frames.ts";
import { Json } from "../../parts/json.tsx";
import { Name } from "../../parts/name.tsx";
import { exact } from "../../text/time.ts";
import { sentenceOf } from "./event-words.ts";

export function EventRow({ event }: { readonly event: LiveEvent }) {
  const atMs = Date.parse(event.timestamp);
  return (
    <li class={`event ${event.type}`}>
      <time dateTime={event.timestamp} title={exact(atMs)}>
        {new Date(atMs).toLocaleTimeString("en-GB")}
      </time>
      <code>{event.type}</code>
      <span class="event-text">
        <Name>{sentenceOf(event)}</Name>
      </span>
      <Json label="Details" value={{ id: event.id, ...event.payload }} />
    </li>
  );
}
