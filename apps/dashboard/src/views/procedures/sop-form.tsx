/** A procedure as fields: description, triggers, steps. Each change is an edit of the source. */
import type { SopEdit, SopForm, SopStepForm, ToolReport } from "@svc/api";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Section } from "../../components/layout.tsx";
import { useList } from "../../state/use-reader.ts";
import { type PlainKey, isMessage, rich, t, wordOf } from "../../texts/texts.ts";

/** An edit, or a function that makes one from the form after the edits before it. */
export type FormEdit = SopEdit | ((form: SopForm) => SopEdit | undefined);
export type OnEdit = (edit: FormEdit) => void;
type Value = Extract<SopEdit, { readonly value: unknown }>["value"];

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
  supervised: "procedures.waits-for-approval-before",
  step_by_step: "procedures.waits-for-approval-before-2",
  priority_based: "procedures.waits-before-the-first-step",
  deterministic: "procedures.no-model-each-step-is",
};

function About({ sop, onEdit }: { readonly sop: SopForm["sop"]; readonly onEdit: OnEdit }) {
  /** Default values are not written. */
  const set = (key: string, value: Value, standing: Value): void =>
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
const numberOf = (text: string): number | string =>
  text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;

/** Examples of arguments. */
const ARGUMENTS = '{"path": "$.file"}';

const NEW_STEP = { body: "", kind: "execute", tools: [], requires_confirmation: false } as const;

/** The steps of a procedure as fields. */
function StepFields({ form, onEdit }: { readonly form: SopForm; readonly onEdit: OnEdit }) {
  const tools = useList<ToolReport>("/api/tools", []);
  const names = tools.data?.tools.map(({ name }) => name) ?? [];
  const { steps, steps_in: file } = form;
  const isWithoutModel = form.sop.execution_mode === "deterministic";
  const add = (): void => {
    const isInToml = file === "SOP.toml" || (isWithoutModel && steps.length === 0);
    if (isInToml)
      onEdit({ path: ["steps", steps.length], value: { title: t("procedures.new-step"), tool: "file_read" } });
    else onEdit({ step: steps.length + 1, to: { ...NEW_STEP, title: t("procedures.new-step") } });
  };
  return (
    <div class="sop-items">
      {steps.map((step, index) => (
        <Step key={index} step={step} number={index + 1} of={steps.length} file={file} tools={names} onEdit={onEdit} />
      ))}
      <div class="setting-add">
        <Button onPress={add}>{t("procedures.add-a-step")}</Button>
        <span class="hint">{rich("procedures.they-stand-in", { file: <code>{file}</code> })}</span>
      </div>
    </div>
  );
}

interface StepProps {
  readonly step: SopStepForm;
  readonly number: number;
  readonly of: number;
  readonly file: SopForm["steps_in"];
  readonly tools: readonly string[];
  readonly onEdit: OnEdit;
}

function Step({ step, number, of, file, tools, onEdit }: StepProps) {
  const { title, body, kind, requires_confirmation: asks } = step;
  // From the current step: an edit of another field may be pending.
  const change = (more: Partial<Omit<SopStepForm, "tool" | "args" | "trusted_input">>): void =>
    onEdit(({ steps }) => {
      const now = steps[number - 1];
      if (now === undefined) return undefined;
      const { tool: _, args: __, trusted_input: ___, ...rest } = now;
      return { step: number, to: { ...rest, ...more } };
    });
  const isCheckpoint = kind === "checkpoint";
  return (
    <fieldset class="setting-group">
      <legend>{t("procedures.step", { n: number })}</legend>
      <Labelled label={t("common.title")}>
        {(id) => <Text id={id} value={title} onChange={(value) => change({ title: value })} />}
      </Labelled>
      <Labelled label={file === "SOP.toml" ? t("procedures.note") : t("procedures.what-to-do")}>
        {(id) => <Text id={id} value={body} lines={3} onChange={(value) => change({ body: value })} />}
      </Labelled>
      {file === "SOP.toml" && !isCheckpoint && <ToolCall step={step} number={number} tools={tools} onEdit={onEdit} />}
      {file === "SOP.md" && !isCheckpoint && (
        <Labelled
          label={t("procedures.tools-that-it-may-use")}
          help={t("procedures.names-with-commas-between-without")}
        >
          {(id) => (
            <span class="sop-tools">
              <Text
                id={id}
                mono
                value={step.tools.join(", ")}
                onChange={(value) => change({ tools: namesIn(value) })}
              />
              <AddTool
                tools={tools.filter((tool) => !step.tools.includes(tool))}
                onAdd={(tool) => change({ tools: [...step.tools, tool] })}
                number={number}
              />
            </span>
          )}
        </Labelled>
      )}
      <div class="sop-checks">
        <Check
          label={t("procedures.wait-for-approval-before")}
          value={asks}
          onChange={(value) => change({ requires_confirmation: value })}
        />
        <Check
          label={t("procedures.checkpoint-does-nothing-but-wait")}
          value={isCheckpoint}
          onChange={(value) => change({ kind: value ? "checkpoint" : "execute" })}
        />
      </div>
      <div class="buttons">
        <Button
          label={t("procedures.move-step-up", { n: number })}
          disabled={number === 1}
          onPress={() => onEdit({ step: number, move: number - 1 })}
        >
          {t("procedures.up")}
        </Button>
        <Button
          label={t("procedures.move-step-down", { n: number })}
          disabled={number === of}
          onPress={() => onEdit({ step: number, move: number + 1 })}
        >
          {t("procedures.down")}
        </Button>
        <Button
          label={t("procedures.remove-step", { n: number })}
          disabled={of === 1}
          onPress={() => onEdit({ step: number, remove: true })}
        >
          {t("common.remove")}
        </Button>
      </div>
    </fieldset>
  );
}

const namesIn = (text: string): string[] =>
  text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");

interface AddToolProps {
  readonly tools: readonly string[];
  readonly number: number;
  readonly onAdd: (tool: string) => void;
}

function AddTool({ tools, number, onAdd }: AddToolProps) {
  if (tools.length === 0) return null;
  return (
    <select
      aria-label={t("procedures.add-a-tool-to-step", { n: number })}
      value=""
      onChange={({ currentTarget }) => {
        const { value } = currentTarget;
        currentTarget.value = "";
        if (value !== "") onAdd(value);
      }}
    >
      <option value="">{t("procedures.add")}</option>
      {tools.map((tool) => (
        <option key={tool}>{tool}</option>
      ))}
    </select>
  );
}

/** Fields of a step without a model. */
function ToolCall({ step, number, tools, onEdit }: Pick<StepProps, "step" | "number" | "tools" | "onEdit">) {
  const [fault, setFault] = useState<string>();
  const list = useId();
  const at = (key: string): readonly (string | number)[] => ["steps", number - 1, key];
  const setArgs = (text: string): void => {
    try {
      const value = (text.trim() === "" ? {} : JSON.parse(text)) as Value;
      if (typeof value !== "object" || (value as unknown) === null || Array.isArray(value))
        throw new TypeError("no object");
      setFault(undefined);
      onEdit({ path: at("args"), value });
    } catch {
      setFault(t("procedures.this-is-no-json-object", { example: ARGUMENTS }));
    }
  };
  return (
    <>
      <Labelled label={t("procedures.tool")}>
        {(id) => (
          <>
            <Text
              id={id}
              mono
              list={list}
              value={step.tool ?? ""}
              onChange={(value) => onEdit({ path: at("tool"), value: value.trim() })}
            />
            <datalist id={list}>
              {tools.map((tool) => (
                <option key={tool} value={tool} />
              ))}
            </datalist>
          </>
        )}
      </Labelled>
      <Labelled label={t("procedures.arguments-as-json")} help={t("procedures.a-text-that-is-a")}>
        {(id) => (
          <>
            <Text id={id} mono lines={3} value={JSON.stringify(step.args ?? {}, undefined, 1)} onChange={setArgs} />
            {fault === undefined ? null : (
              <p class="setting-problem" role="alert">
                {fault}
              </p>
            )}
          </>
        )}
      </Labelled>
      <Check
        label={t("procedures.trust-what-comes-in-it")}
        value={step.trusted_input}
        onChange={(value) =>
          onEdit(value ? { path: at("trusted_input"), value } : { path: at("trusted_input"), remove: true })
        }
      />
    </>
  );
}

/** The triggers of a procedure as fields. */
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

function TriggerFields({ triggers, onEdit }: { readonly triggers: SopForm["triggers"]; readonly onEdit: OnEdit }) {
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
  /** A new type needs other keys: drops the old ones and adds empty new ones. */
  const become = (next: string): void => {
    const needed = TRIGGERS[next]?.keys.filter((key) => key !== "timezone") ?? [];
    for (const key of Object.keys(trigger)) {
      if (key !== "type" && key !== "condition") onEdit({ path: ["triggers", index, key], remove: true });
    }
    onEdit({ path: ["triggers", index, "type"], value: next });
    for (const key of needed) onEdit({ path: ["triggers", index, key], value: SAMPLES[key] ?? "" });
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

/** Fields that report their text while it is typed. */
interface LabelledProps {
  readonly label: string;
  readonly help?: string | undefined;
  readonly children: (id: string) => ComponentChildren;
}

function Labelled({ label, help, children }: LabelledProps) {
  const id = useId();
  return (
    <div class="setting">
      <label for={id}>{label.charAt(0).toUpperCase() + label.slice(1)}</label>
      {children(id)}
      {help === undefined ? null : <p class="hint">{help}</p>}
    </div>
  );
}

interface CheckProps {
  readonly label: string;
  readonly value: boolean;
  readonly onChange: (value: boolean) => void;
}

/** Shows the choice at once; the answer of the daemon decides. */
function Check({ label, value, onChange }: CheckProps) {
  const [chosen, setChosen] = useState(value);
  useEffect(() => setChosen(value), [value]);
  const choose = (next: boolean): void => {
    setChosen(next);
    onChange(next);
  };
  return (
    <label class="sop-check">
      <input type="checkbox" checked={chosen} onChange={({ currentTarget }) => choose(currentTarget.checked)} /> {label}
    </label>
  );
}

const DEBOUNCE_MS = 500;

interface TextProps {
  readonly id: string;
  readonly value: string;
  readonly lines?: number;
  readonly mono?: boolean;
  readonly placeholder?: string | undefined;
  readonly list?: string;
  readonly onChange: (text: string) => void;
}

/** Reports the text after a pause in typing, at the latest when the field loses focus; updates from outside don't disturb typing. */
function Text({ id, value, lines, mono = false, placeholder, list, onChange }: TextProps) {
  const [typed, setTyped] = useState<string>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(() => () => clearTimeout(timer.current), []);
  const tell = (text: string): void => {
    clearTimeout(timer.current);
    if (text !== value) latest.current(text);
  };
  const props = {
    id,
    value: typed ?? value,
    class: mono ? "mono" : undefined,
    spellcheck: !mono,
    placeholder,
    onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) => {
      const text = currentTarget.value;
      setTyped(text);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => latest.current(text), DEBOUNCE_MS);
    },
    onBlur: () => {
      if (typed !== undefined) tell(typed);
      setTyped(undefined);
    },
  };
  return lines === undefined ? <input type="text" list={list} {...props} /> : <textarea rows={lines} {...props} />;
}
