/** Keyboard shortcuts: their list as a view, and their handler. */
import { Heading } from "../components/layout.tsx";
import { useServices } from "../services.ts";
import { useCell } from "../cell.ts";
import { hrefOf } from "../state/route.ts";
import { isTyping } from "../state/use-window.ts";
import { type PlainKey, isMessage, t } from "../texts/texts.ts";
import { SEARCH_FIELD } from "../views/chats/chats.tsx";

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

/** The label of a key. */
function capOf(key: string): string {
  const name = `key.${key.toLowerCase()}`;
  return isMessage(name) ? t(name) : key;
}

/** Keyboard shortcuts of every view. Single letters are ignored in text fields, and can be switched off. */
interface Shortcut {
  /** As shown: "Ctrl K". */
  readonly keys: string;
  readonly does: PlainKey;
  readonly isSingle?: boolean;
}

const SHORTCUTS: readonly Shortcut[] = [
  { keys: "Ctrl K", does: "shell.open-the-command-palette" },
  { keys: "?", does: "shell.show-this-page", isSingle: true },
  { keys: "/", does: "shell.search-all-messages", isSingle: true },
  { keys: "C", does: "shell.start-a-new-chat", isSingle: true },
  { keys: "Alt ↓", does: "shell.go-to-the-next-conversation" },
  { keys: "Alt ↑", does: "shell.go-to-the-previous-conversation" },
  { keys: "Enter", does: "shell.send-the-message" },
  { keys: "Shift Enter", does: "shell.begin-a-new-line" },
  { keys: "Esc", does: "shell.close-what-is-open" },
];

interface KeyActions {
  openPalette(): void;
  /** Single-letter shortcuts are on. */
  areSingle(): boolean;
}

/** Returns a function that stops it. */
export function followKeys(window: Window, { openPalette, areSingle }: KeyActions): () => void {
  const press = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.isComposing) return;
    const { key, ctrlKey, metaKey, altKey } = event;
    const act = (run: () => void): void => {
      event.preventDefault();
      run();
    };
    const isDialogOpen = window.document.querySelector("dialog[open]") !== null;
    if ((ctrlKey || metaKey) && !altKey && key.toLowerCase() === "k") return act(openPalette);
    if (isDialogOpen) return;
    if (altKey && !ctrlKey && !metaKey && (key === "ArrowDown" || key === "ArrowUp")) {
      return act(() => step(window.document, key === "ArrowDown" ? 1 : -1));
    }
    if (ctrlKey || metaKey || altKey || !areSingle() || isTyping(event.target)) return;
    if (key === "?") act(() => (window.location.hash = hrefOf("shortcuts")));
    else if (key === "/") act(() => void focusSearch(window));
    else if (key === "c") act(() => (window.location.hash = hrefOf("chat")));
  };
  window.addEventListener("keydown", press);
  return () => window.removeEventListener("keydown", press);
}

/** Focuses the search field, which exists once the chat list is rendered. */
function focusSearch(window: Window): void {
  const field = (): HTMLElement | null => window.document.getElementById(SEARCH_FIELD);
  const there = field();
  if (there !== null) return there.focus();
  window.location.hash = hrefOf("");
  const drawn = new MutationObserver(() => {
    const found = field();
    if (found === null) return;
    drawn.disconnect();
    found.focus();
  });
  drawn.observe(window.document.body, { childList: true, subtree: true });
}

function step(document: Document, by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>(".chat-rows a.chat-row")];
  const at = links.findIndex((link) => link.getAttribute("aria-current") === "page");
  const next = links[at < 0 ? (by === 1 ? 0 : links.length - 1) : at + by];
  if (next) document.defaultView!.location.hash = next.getAttribute("href") ?? "";
}
