import { Heading } from "../parts/heading.tsx";
import { useServices } from "../services.ts";
import { useCell } from "../state/cell.ts";
import { SHORTCUTS } from "./keys.ts";

export function Shortcuts() {
  const { singleKeys } = useServices();
  const isOn = useCell(singleKeys);
  return (
    <>
      <Heading title="Keyboard shortcuts" />
      <dl class="shortcuts">
        {SHORTCUTS.map(({ keys, does, isSingle = false }) => (
          <div key={keys} class={isSingle && !isOn ? "off" : undefined}>
            <dt>{does}</dt>
            <dd>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
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
          Single-key shortcuts
        </label>
      </p>
      <p class="hint">On a Mac, Cmd works in the place of Ctrl. Single keys do nothing while you type.</p>
    </>
  );
}
