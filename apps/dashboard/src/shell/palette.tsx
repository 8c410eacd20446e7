/** The command palette: one field that finds views, actions, conversations and messages. */
import type { SessionList } from "@svc/api";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "../components/icon.tsx";
import { useMayOperate, useServices } from "../services.ts";
import { hrefOf } from "../state/route.ts";
import { THEMES } from "../state/theme.ts";
import { useList, useRunningFeatures } from "../state/use-reader.ts";
import { language, t, wordOf } from "../texts/texts.ts";
import { titleOf } from "../views/chats/chat-name.tsx";
import { foundHref, Snippet, useSearch } from "../views/chats/search-results.tsx";
import { offeredViews, AREAS } from "./views.tsx";

interface Entry {
  readonly key: string;
  readonly icon: IconName;
  readonly text: ComponentChildren;
  readonly note?: string;
  readonly run: () => void;
}

const MOST_CHATS = 8;
const MOST_FOUND = 8;

export function Palette({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const id = useId();
  const entries = useEntries(text.trim());
  const chosen = Math.min(at, entries.length - 1);
  // Synchronously: the next key press is meant for the dialog.
  useLayoutEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  useEffect(() => {
    document.getElementById(`${id}-${chosen}`)?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const run = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    dialog.current?.close();
    entry.run();
  };
  const press = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && entries.length > 0) {
      event.preventDefault();
      setAt((chosen + step + entries.length) % entries.length);
    } else if (event.key === "Enter") {
      event.preventDefault();
      run(entries[chosen]);
    }
  };
  return (
    <dialog ref={dialog} class="palette" aria-label={t("shell.command-palette")} onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-label={t("shell.go-to-search-or-do")}
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={entries.length > 0 ? `${id}-${chosen}` : undefined}
        autocomplete="off"
        spellcheck={false}
        maxLength={200}
        placeholder={t("shell.go-to-search-or-do-2")}
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      <ul id={`${id}-list`} role="listbox" aria-label={t("shell.commands")}>
        {entries.map((entry, index) => (
          <li
            key={entry.key}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === chosen}
            onPointerMove={() => setAt(index)}
            onClick={() => run(entry)}
          >
            <Icon name={entry.icon} />
            <span class="palette-text">{entry.text}</span>
            {entry.note !== undefined && <span class="hint">{entry.note}</span>}
          </li>
        ))}
      </ul>
      {entries.length === 0 && <p class="hint">{t("shell.nothing-has-these-words")}</p>}
    </dialog>
  );
}

function useEntries(text: string): readonly Entry[] {
  const { session, theme } = useServices();
  const mayOperate = useMayOperate();
  const features = useRunningFeatures();
  const chats = useList<SessionList>("/api/sessions", [], { limit: 200 });
  const found = useSearch(text);
  const actions = useMemo<readonly (Entry & { readonly words: string })[]>(() => {
    const go = (view: string) => (): void => {
      location.hash = hrefOf(view);
    };
    const views = AREAS.flatMap((area) =>
      offeredViews(area, mayOperate, features).map(({ view, label = area.label }) => ({
        key: `view ${view}`,
        icon: area.icon,
        text: t(label),
        words: t(label),
        run: go(view),
        ...(area.label !== label && { note: t(area.label) }),
      })),
    );
    const newChat = {
      key: "new",
      icon: "plus" as const,
      text: t("common.new-chat"),
      words: t("common.new-chat"),
      run: go("chat"),
    };
    const themes = THEMES.map((name) => {
      const words = t("shell.colours-are", { name: wordOf(name) });
      return { key: words, icon: "gear" as const, text: words, words, run: () => theme.set(name) };
    });
    const out = { key: "out", icon: "out" as const, text: t("common.sign-out"), words: t("common.sign-out") };
    return [...(mayOperate ? [newChat] : []), ...views, ...themes, { ...out, run: () => void session.signOut() }];
  }, [mayOperate, features, session, theme, language()]);
  const isWanted = (words: string): boolean =>
    text
      .toLowerCase()
      .split(/\s+/)
      .every((word) => words.toLowerCase().includes(word));
  const matching = (chats.data?.sessions ?? []).filter((chat) => isWanted(titleOf(chat))).slice(0, MOST_CHATS);
  const messages = text !== "" && found.query === text ? (found.page?.results.slice(0, MOST_FOUND) ?? []) : [];
  return [
    ...actions.filter(({ words }) => isWanted(words)),
    ...matching.map((chat) => ({
      key: `chat ${chat.id}`,
      icon: "chat" as const,
      text: <bdi>{titleOf(chat)}</bdi>,
      note: t("common.conversation"),
      run: () => (location.hash = hrefOf("sessions", chat.id)),
    })),
    ...messages.map((one) => ({
      key: `found ${one.turn_id}`,
      icon: "find" as const,
      text: <Snippet parts={one.snippet} />,
      note: titleOf(one.session),
      run: () => (location.hash = foundHref(one)),
    })),
  ];
}
