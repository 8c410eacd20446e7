import type { Trigger } from "../../api/governed-shapes.ts";
import { Name } from "../../parts/name.tsx";
import { Ago } from "../../parts/time.tsx";

export function Triggers({ triggers }: { readonly triggers: readonly Trigger[] }) {
  return (
    <ul class="bare">
      {triggers.map((trigger, index) => (
        <li key={index}>
          <What trigger={trigger} />
          {trigger.condition !== null && (
            <>
              {" if "}
              <code>{trigger.condition}</code>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

function What({ trigger }: { readonly trigger: Trigger }) {
  switch (trigger.type) {
    case "webhook":
      return (
        <>
          requests to <code>{trigger.path}</code>
        </>
      );
    case "cron":
      return (
        <>
          <code>{trigger.expression}</code> {trigger.timezone && <Name>{trigger.timezone}</Name>}
          {trigger.next_at && (
            <span class="hint">
              {" "}
              next <Ago at={trigger.next_at} />
            </span>
          )}
        </>
      );
    case "channel_event":
      return (
        <>
          the event <code>{trigger.event}</code>
        </>
      );
    case "mqtt":
      return (
        <>
          MQTT messages on <code>{trigger.topic}</code>
        </>
      );
    case "peripheral":
      return (
        <>
          <code>{trigger.signal}</code> of the board <code>{trigger.board}</code>
        </>
      );
    default:
      return <>a person</>;
  }
}
