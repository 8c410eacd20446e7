/** Tables that there can be several of: named ones, and those of a list. */
import { useId, useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Name } from "../../parts/name.tsx";
import { ConfigField, type FieldProps, Fields } from "./field.tsx";
import { type Field, type Path } from "./shapes.ts";
import { t } from "../../texts/texts.ts";
import { HelpText } from "../../parts/service-text.tsx";
import { labelOf } from "../../texts/setting-texts.ts";

interface ItemProps extends Omit<FieldProps, "field"> {
  readonly item: Field;
  readonly field?: Field;
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
export function ListOfTables({ settings, state, path, item, field }: ItemProps) {
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
