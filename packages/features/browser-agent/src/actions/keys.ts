import { SvcError } from "@svc/contract";

/** A key as the program takes it. It presses names that it does not know as if they were keys: they are refused here. */
export function keyOf(key: string): string {
  const parts =
    key === "+" || key.endsWith("++") ? [...key.slice(0, -1).split("+").filter(Boolean), "+"] : key.split("+");
  const name = parts.at(-1) ?? "";
  const fits = parts.slice(0, -1).every((part) => MODIFIERS.has(part)) && ([...name].length === 1 || NAMED.test(name));
  if (fits) return key;
  throw new SvcError("BROWSER_FAILED", "There is no such key.", {
    hint: "Keys are named as in KeyboardEvent.key, e.g. Enter, ArrowDown, a; combinations as in Control+a.",
  });
}

const MODIFIERS = new Set(["Alt", "Control", "ControlOrMeta", "Meta", "Shift"]);
const NAMED =
  /^(?:Enter|Tab|Escape|Backspace|Delete|Insert|Space|Home|End|PageUp|PageDown|Arrow(?:Up|Down|Left|Right)|F(?:[1-9]|1[0-9]|2[0-4])|Alt|Control|Meta|Shift|CapsLock|ContextMenu|Pause|PrintScreen)$/;
