/** The steps of a procedure, as fields. */
import { useId, useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { useList } from "../../state/use-reader.ts";
import { Check, Labelled, Text } from "./form-parts.tsx";
import type { OnEdit, SopForm, StepForm } from "./shapes.ts";
import { rich, t } from "../../texts/texts.ts";

/** As they are typed. */
const ARGUMENTS = '{"path": "$.file"}';

interface ToolList {
  readonly tools: readonly { readonly name: string }[];
}

const NEW_STEP = { body: "", kind: "execute", tools: [], requires_confirmation: false } as const;

export function StepFields({ form, onEdit }: { readonly form: SopForm; readonly onEdit: OnEdit }) {
  const tools = useList<ToolList>("/api/tools", []);
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
  readonly step: StepForm;
  readonly number: number;
  readonly of: number;
  readonly file: SopForm["steps_in"];
  readonly tools: readonly string[];
  readonly onEdit: OnEdit;
}

function Step({ step, number, of, file, tools, onEdit }: StepProps) {
  const { title, body, kind, requires_confirmation: asks } = step;
  // Of the step as it is by then: another field of it may be on its way.
  const change = (more: Partial<Omit<StepForm, "tool" | "args" | "trusted_input">>): void =>
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
          label={t("procedures.wait-for-a-yes-before")}
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
      const value: unknown = text.trim() === "" ? {} : JSON.parse(text);
      if (typeof value !== "object" || value === null || Array.isArray(value)) throw new TypeError("no object");
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
