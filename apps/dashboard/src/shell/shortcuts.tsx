import { Heading } from "../parts/heading.tsx";
import { useServices } from "../services.ts";
import { useCell } from "../state/cell.ts";
import { SHORTCUTS } from "./keys.ts";
import { isMessage, t } from "../texts/texts.ts";

export function Shortcuts() {
  const { singleKeys } = useServices();
  const isOn = useCell(singleKeys);
  return (
    <>
      <Heading title={t("shell.keyboard-shortcuts")} />
      <dl class="shortcuts">
        {SHORTCUTS.map(({ keys, does, isSingle = false }) => (
          <div key={keys} class={isSingle && !isOn ? "off" : undefined}>
            <dt>{t(does)}</dt>
            <dd>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{capOf(key)}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      <p>
        <label class="choice">
          <input
            type="checkbox"
            checked={isOn}
            onChange={({ currentTarget }) => singleKeys.set(currentTarget.checked)}
          />
          {t("shell.single-key-shortcuts")}
        </label>
      </p>
      <p class="hint">{t("shell.on-a-mac-cmd-works")}</p>
    </>
  );
}

/** What stands on the key. */
function capOf(key: string): string {
  const name = `key.${key.toLowerCase()}`;
  return isMessage(name) ? t(name) : key;
}
