/** What starts a procedure, as fields. */
import { Button } from "../../parts/button.tsx";
import { Labelled, Text } from "./form-parts.tsx";
import type { OnEdit, SopForm } from "./shapes.ts";
import { isMessage, type PlainKey, t } from "../../texts/texts.ts";

const TRIGGERS: Readonly<Record<string, { readonly name: PlainKey; readonly keys: readonly string[] }>> = {
  manual: { name: "procedures.a-person", keys: [] },
  cron: { name: "procedures.the-clock", keys: ["expression", "timezone"] },
  webhook: { name: "procedures.a-request", keys: ["path"] },
  channel_event: { name: "procedures.a-channel-event", keys: ["event"] },
  mqtt: { name: "procedures.an-mqtt-message", keys: ["topic"] },
  peripheral: { name: "procedures.a-board", keys: ["board", "signal"] },
};

const SAMPLES: Readonly<Record<string, string>> = {
  expression: "0 4 * * *",
  timezone: "Europe/Berlin",
  path: "/sop/name",
  event: "build",
  topic: "home/+/door",
  board: "pico0",
  signal: "button",
  condition: "$.alert.seconds >= 3",
};

export function TriggerFields({
  triggers,
  onEdit,
}: {
  readonly triggers: SopForm["triggers"];
  readonly onEdit: OnEdit;
}) {
  return (
    <div class="sop-items">
      {triggers.map((trigger, index) => (
        <Trigger key={`${index} ${trigger["type"]}`} trigger={trigger} index={index} onEdit={onEdit} />
      ))}
      <div class="setting-add">
        <Button onPress={() => onEdit({ path: ["triggers", triggers.length], value: { type: "manual" } })}>
          {t("procedures.add-a-trigger")}
        </Button>
      </div>
    </div>
  );
}

function labelOf(key: string): string {
  const name = `trigger.${key}`;
  return isMessage(name) ? t(name) : key;
}

interface TriggerProps {
  readonly trigger: SopForm["triggers"][number];
  readonly index: number;
  readonly onEdit: OnEdit;
}

function Trigger({ trigger, index, onEdit }: TriggerProps) {
  const type = trigger["type"] ?? "";
  const keys = [...(TRIGGERS[type]?.keys ?? []), ...(type === "cron" ? [] : ["condition"])];
  const set = (key: string, value: string): void =>
    onEdit(value === "" ? { path: ["triggers", index, key], remove: true } : { path: ["triggers", index, key], value });
  /** One of another type needs other keys: the rest goes, the new ones are there to be filled in. */
  const become = (next: string): void => {
    const needed = TRIGGERS[next]?.keys.filter((key) => key !== "timezone") ?? [];
    for (const key of Object.keys(trigger)) {
      if (key !== "type" && key !== "condition") onEdit({ path: ["triggers", index, key], remove: true });
    }
    onEdit({ path: ["triggers", index, "type"], value: next });
    for (const key of needed) onEdit({ path: ["triggers", index, key], value: SAMPLES[key] });
  };
  return (
    <fieldset class="setting-group">
      <legend>{t("procedures.trigger", { n: index + 1 })}</legend>
      <Labelled label={t("common.started-by")}>
        {(id) => (
          <select id={id} value={type} onChange={({ currentTarget: { value } }) => become(value)}>
            {Object.entries(TRIGGERS).map(([value, { name }]) => (
              <option key={value} value={value}>
                {t(name)}
              </option>
            ))}
          </select>
        )}
      </Labelled>
      {keys.map((key) => (
        <Labelled key={key} label={labelOf(key)}>
          {(id) => (
            <Text
              id={id}
              mono
              value={trigger[key] ?? ""}
              placeholder={SAMPLES[key]}
              onChange={(value) => set(key, value.trim())}
            />
          )}
        </Labelled>
      ))}
      <div class="buttons">
        <Button
          label={t("procedures.remove-trigger", { n: index + 1 })}
          onPress={() => onEdit({ path: ["triggers", index], remove: true })}
        >
          {t("common.remove")}
        </Button>
      </div>
    </fieldset>
  );
}
