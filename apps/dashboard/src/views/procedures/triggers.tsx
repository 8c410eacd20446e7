import type { Trigger } from "../../api/governed-shapes.ts";
import { Name } from "../../parts/name.tsx";
import { Ago } from "../../parts/time.tsx";
import { rich, t } from "../../texts/texts.ts";

export function Triggers({ triggers }: { readonly triggers: readonly Trigger[] }) {
  return (
    <ul class="bare">
      {triggers.map((trigger, index) => (
        <li key={index}>
          <What trigger={trigger} />
          {trigger.condition !== null && <> {rich("procedures.if", { condition: <code>{trigger.condition}</code> })}</>}
        </li>
      ))}
    </ul>
  );
}

function What({ trigger }: { readonly trigger: Trigger }) {
  switch (trigger.type) {
    case "webhook":
      return <>{rich("procedures.requests-to", { path: <code>{trigger.path}</code> })}</>;
    case "cron":
      return (
        <>
          <code>{trigger.expression}</code> {trigger.timezone && <Name>{trigger.timezone}</Name>}
          {trigger.next_at && (
            <span class="hint"> {rich("procedures.next", { when: <Ago at={trigger.next_at} /> })}</span>
          )}
        </>
      );
    case "channel_event":
      return <>{rich("procedures.the-event", { event: <code>{trigger.event}</code> })}</>;
    case "mqtt":
      return <>{rich("procedures.mqtt-messages-on", { topic: <code>{trigger.topic}</code> })}</>;
    case "peripheral":
      return (
        <>
          {rich("procedures.of-the-board", {
            signal: <code>{trigger.signal}</code>,
            board: <code>{trigger.board}</code>,
          })}
        </>
      );
    default:
      return <>{t("procedures.a-person")}</>;
  }
}
