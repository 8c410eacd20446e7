/** A procedure as fields: description, triggers, steps. Each change is an edit of the source. */
import { Section } from "../../parts/section.tsx";
import { Check, Labelled, Text } from "./form-parts.tsx";
import type { OnEdit, SopForm } from "./shapes.ts";
import { StepFields } from "./step-fields.tsx";
import { TriggerFields } from "./trigger-fields.tsx";
import { type PlainKey, t, wordOf } from "../../texts/texts.ts";

export function SopFields({ form, onEdit }: { readonly form: SopForm; readonly onEdit: OnEdit }) {
  return (
    <>
      <About sop={form.sop} onEdit={onEdit} />
      <Section title={t("procedures.what-starts-it")}>
        <TriggerFields triggers={form.triggers} onEdit={onEdit} />
      </Section>
      <Section title={t("common.steps")}>
        <StepFields form={form} onEdit={onEdit} />
      </Section>
    </>
  );
}

const MODES = ["auto", "supervised", "step_by_step", "priority_based", "deterministic"];
const MODE_HELP: Readonly<Record<string, PlainKey>> = {
  "": "procedures.as-the-config-says-sop",
  auto: "procedures.no-gate-but-those-of",
  supervised: "procedures.waits-for-a-yes-before",
  step_by_step: "procedures.waits-for-a-yes-before-2",
  priority_based: "procedures.waits-before-the-first-step",
  deterministic: "procedures.no-model-each-step-is",
};

function About({ sop, onEdit }: { readonly sop: SopForm["sop"]; readonly onEdit: OnEdit }) {
  /** Default values are not written. */
  const set = (key: string, value: unknown, standing: unknown): void =>
    onEdit(value === standing ? { path: ["sop", key], remove: true } : { path: ["sop", key], value });
  const mode = sop.execution_mode ?? "";
  const help = MODE_HELP[mode];
  return (
    <div class="setting-form">
      <Labelled label={t("procedures.what-it-is-for")}>
        {(id) => <Text id={id} value={sop.description} lines={2} onChange={(value) => set("description", value, "")} />}
      </Labelled>
      <Labelled label={t("common.mode")} help={help && t(help)}>
        {(id) => (
          <select id={id} value={mode} onChange={({ currentTarget: { value } }) => set("execution_mode", value, "")}>
            <option value="">{t("procedures.default")}</option>
            {MODES.map((one) => (
              <option key={one} value={one}>
                {wordOf(one)}
              </option>
            ))}
          </select>
        )}
      </Labelled>
      <div class="setting">
        <Check label={t("procedures.enabled")} value={sop.enabled} onChange={(value) => set("enabled", value, true)} />
        <p class="hint">{t("procedures.a-disabled-procedure-starts-only")}</p>
      </div>
      <details class="setting-item">
        <summary>{t("procedures.priority-agent-limits")}</summary>
        <Labelled label={t("procedures.priority")}>
          {(id) => (
            <select
              id={id}
              value={sop.priority}
              onChange={({ currentTarget: { value } }) => set("priority", value, "normal")}
            >
              {["low", "normal", "high", "critical"].map((one) => (
                <option key={one} value={one}>
                  {wordOf(one)}
                </option>
              ))}
            </select>
          )}
        </Labelled>
        <Labelled label={t("common.agent")} help={t("procedures.whose-model-tools-and-policy")}>
          {(id) => <Text id={id} value={sop.agent ?? ""} onChange={(value) => set("agent", value.trim(), "")} />}
        </Labelled>
        <Labelled label={t("procedures.pause-after-a-run-in")}>
          {(id) => (
            <Text
              id={id}
              value={String(sop.cooldown_secs)}
              onChange={(value) => set("cooldown_secs", numberOf(value), 0)}
            />
          )}
        </Labelled>
        <Labelled label={t("procedures.runs-at-a-time")}>
          {(id) => (
            <Text
              id={id}
              value={String(sop.max_concurrent)}
              onChange={(value) => set("max_concurrent", numberOf(value), 1)}
            />
          )}
        </Labelled>
        <Labelled label={t("procedures.version")}>
          {(id) => <Text id={id} value={sop.version} onChange={(value) => set("version", value, "")} />}
        </Labelled>
      </details>
    </div>
  );
}

/** Text that is no number is sent unchanged: the daemon reports the error. */
const numberOf = (text: string): unknown => (text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text);
