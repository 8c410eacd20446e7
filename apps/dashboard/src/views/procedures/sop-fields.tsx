/** A procedure as fields: what it is, what starts it, its steps. Each change is an edit of the source. */
import { Section } from "../../parts/section.tsx";
import { plain } from "../../text/words.ts";
import { Check, Labelled, Text } from "./form-parts.tsx";
import type { OnEdit, SopForm } from "./shapes.ts";
import { StepFields } from "./step-fields.tsx";
import { TriggerFields } from "./trigger-fields.tsx";

export function SopFields({ form, onEdit }: { readonly form: SopForm; readonly onEdit: OnEdit }) {
  return (
    <>
      <About sop={form.sop} onEdit={onEdit} />
      <Section title="What starts it">
        <TriggerFields triggers={form.triggers} onEdit={onEdit} />
      </Section>
      <Section title="Steps">
        <StepFields form={form} onEdit={onEdit} />
      </Section>
    </>
  );
}

const MODES = ["auto", "supervised", "step_by_step", "priority_based", "deterministic"];
const MODE_HELP: Readonly<Record<string, string>> = {
  "": "As the config says (sop.default_execution_mode).",
  auto: "No gate but those of the steps.",
  supervised: "Waits for a yes before the first step.",
  step_by_step: "Waits for a yes before every step.",
  priority_based: "Waits before the first step, unless the priority is high or critical.",
  deterministic: "No model: each step is one tool call.",
};

function About({ sop, onEdit }: { readonly sop: SopForm["sop"]; readonly onEdit: OnEdit }) {
  /** What is as the default is not written. */
  const set = (key: string, value: unknown, standing: unknown): void =>
    onEdit(value === standing ? { path: ["sop", key], remove: true } : { path: ["sop", key], value });
  const mode = sop.execution_mode ?? "";
  return (
    <div class="setting-form">
      <Labelled label="What it is for">
        {(id) => <Text id={id} value={sop.description} lines={2} onChange={(value) => set("description", value, "")} />}
      </Labelled>
      <Labelled label="Mode" help={MODE_HELP[mode]}>
        {(id) => (
          <select id={id} value={mode} onChange={({ currentTarget: { value } }) => set("execution_mode", value, "")}>
            <option value="">default</option>
            {MODES.map((one) => (
              <option key={one} value={one}>
                {plain(one)}
              </option>
            ))}
          </select>
        )}
      </Labelled>
      <div class="setting">
        <Check label="Enabled" value={sop.enabled} onChange={(value) => set("enabled", value, true)} />
        <p class="hint">A disabled procedure starts only test runs.</p>
      </div>
      <details class="setting-item">
        <summary>Priority, agent, limits</summary>
        <Labelled label="Priority">
          {(id) => (
            <select
              id={id}
              value={sop.priority}
              onChange={({ currentTarget: { value } }) => set("priority", value, "normal")}
            >
              {["low", "normal", "high", "critical"].map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          )}
        </Labelled>
        <Labelled label="Agent" help="Whose model, tools and policy the steps have. Blank: the default one.">
          {(id) => <Text id={id} value={sop.agent ?? ""} onChange={(value) => set("agent", value.trim(), "")} />}
        </Labelled>
        <Labelled label="Pause after a run, in seconds">
          {(id) => (
            <Text
              id={id}
              value={String(sop.cooldown_secs)}
              onChange={(value) => set("cooldown_secs", numberOf(value), 0)}
            />
          )}
        </Labelled>
        <Labelled label="Runs at a time">
          {(id) => (
            <Text
              id={id}
              value={String(sop.max_concurrent)}
              onChange={(value) => set("max_concurrent", numberOf(value), 1)}
            />
          )}
        </Labelled>
        <Labelled label="Version">
          {(id) => <Text id={id} value={sop.version} onChange={(value) => set("version", value, "")} />}
        </Labelled>
      </details>
    </div>
  );
}

/** What is no number goes as it is: the service says what is wrong with it. */
const numberOf = (text: string): unknown => (text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text);
