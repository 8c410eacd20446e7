/** Completion of commands in the message box: a list above it while a command is typed, as the service tells which there are. */
import { useId, useState } from "preact/hooks";
import { useList } from "../../state/use-reader.ts";
import { t } from "../../texts/texts.ts";

interface Command {
  readonly usage: string;
  readonly summary: string;
}

export interface SlashMenu {
  readonly id: string;
  readonly found: readonly Command[];
  readonly chosen: number;
  readonly choose: (index: number) => void;
  /** True: the key was for the list. */
  readonly press: (event: KeyboardEvent) => boolean;
  /** Of the message box. */
  readonly attributes: {
    readonly "aria-autocomplete": "list";
    readonly "aria-controls": string;
    readonly "aria-activedescendant"?: string;
  };
}

export function useSlashMenu(text: string, setText: (text: string) => void): SlashMenu {
  const { data } = useList<{ readonly commands: readonly Command[] }>("/api/commands", []);
  const id = useId();
  const [at, setAt] = useState(0);
  /** The text for which the list was put away. */
  const [closed, setClosed] = useState<string>();
  const found = closed === text ? [] : matching(data?.commands ?? [], text);
  const chosen = Math.min(at, Math.max(0, found.length - 1));
  const choose = (index: number): void => {
    const usage = found[index]?.usage;
    if (usage === undefined) return;
    // A command with an argument waits for the user's input.
    const typed = usage.split("<", 1)[0] ?? usage;
    setText(typed);
    setClosed(typed);
    setAt(0);
  };
  const press = ({ key, shiftKey, isComposing }: KeyboardEvent): boolean => {
    if (found.length === 0 || isComposing) return false;
    if (key === "ArrowDown") setAt((chosen + 1) % found.length);
    else if (key === "ArrowUp") setAt((chosen + found.length - 1) % found.length);
    else if (key === "Escape") setClosed(text);
    // A complete command is sent.
    else if (key === "Tab" || (key === "Enter" && !shiftKey && found[chosen]?.usage !== text.trim())) choose(chosen);
    else return false;
    return true;
  };
  const isOpen = found.length > 0;
  return {
    id,
    found,
    chosen,
    choose,
    press,
    attributes: {
      "aria-autocomplete": "list",
      "aria-controls": id,
      ...(isOpen && { "aria-activedescendant": `${id}-${chosen}` }),
    },
  };
}

/** A message that begins with a slash and goes on is a message. */
function matching(commands: readonly Command[], text: string): readonly Command[] {
  if (!/^\/[a-z]*$/i.test(text)) return [];
  return commands.filter(({ usage }) => usage.startsWith(text.toLowerCase()));
}

export function SlashList({ menu: { id, found, chosen, choose } }: { readonly menu: SlashMenu }) {
  return (
    <ul class="slash-menu" id={id} role="listbox" aria-label={t("sessions.commands")} hidden={found.length === 0}>
      {found.map(({ usage, summary }, index) => (
        <li
          key={usage}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === chosen}
          onPointerDown={(event) => {
            // The box keeps the focus.
            event.preventDefault();
            choose(index);
          }}
        >
          <code>{usage}</code> <span class="hint">{summary}</span>
        </li>
      ))}
    </ul>
  );
}
