/** One key of the config as a field: label above, help below, its error beside it. */
import type { Settings, SettingsField } from "@svc/api";
import type { ComponentChildren, InputHTMLAttributes } from "preact";
import { useId, useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { HelpText, Name, ServiceText } from "../../components/text.tsx";
import { labelOf } from "../../texts/setting-texts.ts";
import { rich, t } from "../../texts/texts.ts";
import type { SettingsEditor } from "./draft.ts";
import { type SettingValue, type Path, keyOf } from "./keys.ts";

export interface FieldProps {
  readonly settings: SettingsEditor;
  readonly state: Settings;
  readonly field: SettingsField;
  readonly path: Path;
}

export function ConfigField(props: FieldProps) {
  const { settings, state, field, path } = props;
  if (field.type === "object" && field.fields) {
    return (
      <fieldset class="setting-group">
        <legend>{labelOf(field.name)}</legend>
        <Fields {...props} fields={field.fields} />
      </fieldset>
    );
  }
  if (field.type === "record" && field.item) return <NamedTables {...props} item={field.item} />;
  if (field.type === "list" && field.item?.fields) return <ListOfTables {...props} item={field.item} />;
  const variable = state.environment[keyOf(path)];
  const isChanged = settings.draft.has(path);
  return (
    <Labelled {...props} isChanged={isChanged}>
      {(ids) =>
        variable !== undefined ? (
          <p class="setting-fixed">{rich("settings.set-by-the-environment", { variable: <code>{variable}</code> })}</p>
        ) : field.secret ? (
          <Secret {...props} ids={ids} />
        ) : (
          <Value {...props} ids={ids} />
        )
      }
    </Labelled>
  );
}

interface FieldsProps extends Omit<FieldProps, "field"> {
  readonly fields: readonly SettingsField[];
}

export const Fields = ({ fields, path, ...rest }: FieldsProps) => (
  <>
    {fields.map((field) => (
      <ConfigField key={field.name} {...rest} field={field} path={[...path, field.name]} />
    ))}
  </>
);

interface Ids {
  readonly input: string;
  readonly help: string;
}

interface LabelledProps extends FieldProps {
  readonly isChanged: boolean;
  readonly children: (ids: Ids) => ComponentChildren;
}

function Labelled({ settings, field, path, isChanged, children }: LabelledProps) {
  const ids = { input: useId(), help: useId() };
  const key = keyOf(path);
  const problems = settings.problems.filter((problem) => problem.key === key || problem.key.startsWith(`${key}[`));
  return (
    <div class={isChanged ? "setting changed" : "setting"}>
      <div>
        <label for={ids.input}>{labelOf(field.name)}</label>
        {field.required && <span class="setting-mark"> {t("settings.required")}</span>}
        {isChanged && <span class="setting-mark"> {t("settings.changed")}</span>}
      </div>
      {children(ids)}
      {problems.map(({ message, allowed, env }) => (
        <p key={message} class="setting-problem" role="alert">
          <ServiceText>{sentence(message, allowed)}</ServiceText> {env !== null && <code>{env}</code>}
        </p>
      ))}
      <p class="hint" id={ids.help}>
        <HelpText>{field.description}</HelpText> {field.restart && t("settings.in-force-after-a-restart")}
      </p>
    </div>
  );
}

export const sentence = (message: string, allowed: string | null): string => {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return allowed === null ? text : `${text} (${allowed})`;
};

interface InputProps extends FieldProps {
  readonly ids: Ids;
}

function Value({ settings, state, field, path, ids }: InputProps) {
  const value = settings.draft.value(state, path);
  const set = (next: SettingValue | undefined): void => settings.set(path, next);
  const common = { id: ids.input, "aria-describedby": ids.help };
  const standing = field.default === undefined ? "" : String(field.default);
  switch (field.type) {
    case "boolean":
      return (
        <input
          {...common}
          type="checkbox"
          checked={value === undefined ? field.default === true : value === true}
          onChange={({ currentTarget }) => set(currentTarget.checked)}
        />
      );
    case "choice": {
      const choices = field.choices ?? [];
      return (
        <select
          {...common}
          value={value === undefined ? "" : String(value)}
          onChange={({ currentTarget: { value: chosen } }) =>
            set(chosen === "" ? undefined : choices.find((choice) => String(choice) === chosen))
          }
        >
          <option value="">{standing === "" ? t("settings.not-set") : t("settings.is-default", { standing })}</option>
          {choices.map((choice) => (
            <option key={String(choice)} value={String(choice)}>
              {String(choice)}
            </option>
          ))}
        </select>
      );
    }
    case "integer":
    case "number":
      return (
        <Line
          {...common}
          inputMode="decimal"
          placeholder={standing}
          text={value === undefined ? "" : String(value)}
          take={(text) => set(text.trim() === "" ? undefined : numberOf(text))}
        />
      );
    case "list":
      return (
        <Lines
          {...common}
          rows={Math.min(8, Math.max(2, Array.isArray(value) ? value.length + 1 : 2))}
          placeholder={t("settings.one-on-each-line")}
          text={Array.isArray(value) ? value.map(String).join("\n") : ""}
          take={(text) => set(itemsOf(text))}
        />
      );
    default: {
      const text = value === undefined ? "" : String(value);
      const isLong = text.includes("\n") || field.name === "instructions";
      const change = (next: string): void => set(next === "" ? undefined : next);
      return isLong ? (
        <Lines {...common} rows={5} text={text} take={change} />
      ) : (
        <Line {...common} placeholder={standing} text={text} take={change} />
      );
    }
  }
}

interface TextProps {
  readonly id: string;
  readonly "aria-describedby"?: string;
  readonly placeholder?: string;
  readonly inputMode?: "decimal";
  readonly type?: "text" | "url" | "password";
  readonly autocomplete?: "off";
  readonly list?: string;
  readonly rows?: number;
  readonly text: string;
  readonly take: (text: string) => void;
}

export function Line({ text, take, ...rest }: TextProps) {
  // The types tell inputs apart by their kind; here it is any of three.
  const properties = { type: "text", ...rest } as InputHTMLAttributes<HTMLInputElement>;
  return <input {...properties} {...useTyped<HTMLInputElement>(text, take)} />;
}

const Lines = ({ text, take, id, rows, placeholder = "", ...rest }: TextProps) => (
  <textarea
    id={id}
    rows={rows ?? 2}
    placeholder={placeholder}
    aria-describedby={rest["aria-describedby"]}
    {...useTyped<HTMLTextAreaElement>(text, take)}
  />
);

/** Text that is no number is sent unchanged: the daemon reports the error. */
const numberOf = (text: string): number | string => (Number.isFinite(Number(text)) ? Number(text) : text);

function itemsOf(text: string): string[] | undefined {
  const items = text
    .split("\n")
    .map((item) => item.trim())
    .filter((item) => item !== "");
  return items.length === 0 ? undefined : items;
}

/** Write-only: a stored secret can be replaced or removed, never read. */
function Secret({ settings, state, field, path, ids }: InputProps) {
  const isSet = state.secrets.includes(keyOf(path));
  const [isOpen, setOpen] = useState(false);
  const typed = settings.draft.value(state, path);
  const isRemoved = settings.draft.has(path) && typed === undefined;
  const cancel = (): void => {
    settings.replace(settings.draft.forget(path));
    setOpen(false);
  };
  if (isSet && !isOpen) {
    return (
      <div class="setting-secret">
        <output id={ids.input}>{isRemoved ? t("settings.will-be-removed") : t("settings.set")}</output>
        <Button label={t("settings.replace-2", { name: labelOf(field.name) })} onPress={() => setOpen(true)}>
          {t("settings.replace")}
        </Button>
        {isRemoved ? (
          <Button onPress={cancel}>{t("common.keep")}</Button>
        ) : (
          !field.required && (
            <Button
              label={t("settings.remove", { name: labelOf(field.name) })}
              onPress={() => settings.set(path, undefined)}
            >
              {t("common.remove")}
            </Button>
          )
        )}
      </div>
    );
  }
  return (
    <div class="setting-secret">
      <Line
        id={ids.input}
        aria-describedby={ids.help}
        type="password"
        autocomplete="off"
        text={typeof typed === "string" ? typed : ""}
        placeholder={isSet ? "" : t("settings.not-set-2")}
        take={(text) =>
          text.trim() === "" ? settings.replace(settings.draft.forget(path)) : settings.set(path, text.trim())
        }
      />
      {isSet && <Button onPress={cancel}>{t("common.keep")}</Button>}
      {field.generate && <Button onPress={() => settings.set(path, newSecret())}>{t("settings.generate")}</Button>}
      {field.generate && typeof typed === "string" && (
        <p class="hint">{rich("settings.copy-it-now-it-is", { secret: <code class="command">{typed}</code> })}</p>
      )}
    </div>
  );
}

const newSecret = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) => byte.toString(16).padStart(2, "0")).join("");

interface Typed<Control extends HTMLInputElement | HTMLTextAreaElement> {
  readonly value: string;
  readonly onInput: (event: { readonly currentTarget: Control }) => void;
  readonly onChange: (event: { readonly currentTarget: Control }) => void;
  readonly onBlur: () => void;
}

/**
 * Properties of a field whose text is committed when it loses focus: a re-render meanwhile must not discard it.
 * @param value Shown while no text is being typed.
 */
function useTyped<Control extends HTMLInputElement | HTMLTextAreaElement>(
  value: string,
  take: (text: string) => void,
): Typed<Control> {
  const [typed, setTyped] = useState<string>();
  return {
    value: typed ?? value,
    onInput: ({ currentTarget }) => setTyped(currentTarget.value),
    onChange: ({ currentTarget }) => {
      setTyped(undefined);
      take(currentTarget.value);
    },
    // Typing the old value again is no change.
    onBlur: () => setTyped(undefined),
  };
}

interface ItemProps extends Omit<FieldProps, "field"> {
  readonly item: SettingsField;
  readonly field?: SettingsField;
}

/** `[agents.<name>]`, `[prices."…"]`. */
export function NamedTables({ settings, state, path, item, field }: ItemProps) {
  const [name, setName] = useState("");
  const [fresh, setFresh] = useState<readonly string[]>([]);
  const id = useId();
  const inFile = settings.draft.value(state, path);
  const known = typeof inFile === "object" && inFile !== null ? Object.keys(inFile) : [];
  const names = [...new Set([...known, ...fresh])];
  const remove = (gone: string): void => {
    setFresh(fresh.filter((other) => other !== gone));
    settings.set([...path, gone], undefined);
  };
  const add = (): void => {
    const wanted = name.trim();
    if (wanted === "") return;
    settings.replace(settings.draft.forget([...path, wanted]));
    setFresh([...new Set([...fresh, wanted])]);
    setName("");
  };
  return (
    <div class="setting-tables">
      {names.map((each) => {
        const own = [...path, each];
        const isGone = settings.draft.has(own) && settings.draft.value(state, own) === undefined;
        return (
          <details key={each} class="setting-item" open={fresh.includes(each)}>
            <summary>
              <Name>{each}</Name> {isGone && <span class="setting-mark">{t("settings.will-be-removed-2")}</span>}
            </summary>
            {!isGone && <Item settings={settings} state={state} path={own} item={item} />}
            <Button kind="danger" label={t("settings.remove", { name: each })} onPress={() => remove(each)}>
              {t("common.remove")}
            </Button>
          </details>
        );
      })}
      <div class="setting-add">
        <label for={id}>
          {field === undefined ? t("common.name") : t("settings.name-of", { field: labelOf(field.name) })}
        </label>
        <input id={id} value={name} maxLength={120} onInput={({ currentTarget }) => setName(currentTarget.value)} />
        <Button onPress={add}>{t("common.add")}</Button>
      </div>
    </div>
  );
}

function Item({ settings, state, path, item }: ItemProps) {
  if (item.fields) return <Fields settings={settings} state={state} path={path} fields={item.fields} />;
  return <ConfigField settings={settings} state={state} path={path} field={{ ...item, name: String(path.at(-1)) }} />;
}

/** `[[boards]]`, or tables in brackets. */
function ListOfTables({ settings, state, path, item, field }: ItemProps) {
  const inFile = settings.draft.value(state, path);
  const count = Array.isArray(inFile) ? inFile.length : 0;
  const indexes = [...Array.from({ length: count }, (_, index) => index), ...settings.draft.added(path, count)];
  const title = labelOf(field?.name ?? "item");
  return (
    <fieldset class="setting-group">
      <legend>{title}</legend>
      {field?.description !== undefined && (
        <p class="hint">
          <HelpText>{field.description}</HelpText>
        </p>
      )}
      {indexes.map((index) => {
        const own: Path = [...path, index];
        const isNew = index >= count;
        const isGone = settings.draft.has(own) && settings.draft.value(state, own) === undefined;
        return (
          <details key={index} class="setting-item" open={isNew}>
            <summary>
              <Name>{summaryOf(settings.draft.value(state, own), index)}</Name>{" "}
              {isGone && <span class="setting-mark">{t("settings.will-be-removed-2")}</span>}
            </summary>
            {!isGone && item.fields && <Fields settings={settings} state={state} path={own} fields={item.fields} />}
            {isGone ? (
              <Button onPress={() => settings.replace(settings.draft.forget(own))}>{t("common.keep")}</Button>
            ) : (
              <Button
                kind="danger"
                label={t("settings.remove-3", { title, n: String(index + 1) })}
                onPress={() => (isNew ? settings.replace(settings.draft.forget(own)) : settings.set(own, undefined))}
              >
                {t("common.remove")}
              </Button>
            )}
          </details>
        );
      })}
      <Button onPress={() => settings.set([...path, (indexes.at(-1) ?? -1) + 1], {})}>{t("common.add")}</Button>
    </fieldset>
  );
}

function summaryOf(value: unknown, index: number): string {
  const texts =
    typeof value === "object" && value !== null ? Object.values(value).filter((one) => typeof one === "string") : [];
  return texts.length === 0 ? t("settings.entry", { n: index + 1 }) : texts.slice(0, 3).join(" · ").slice(0, 120);
}
