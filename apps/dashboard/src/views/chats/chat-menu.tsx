/** Actions on a conversation: rename, pin, archive, export, delete, choose the agent. */
import type { Session, StatusReport } from "@svc/api";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { path, saveFile } from "../../client/api.ts";
import { Dialog } from "../../components/dialog.tsx";
import { Icon } from "../../components/icon.tsx";
import { Problem } from "../../components/shown.tsx";
import { useServices } from "../../services.ts";
import { hrefOf } from "../../state/route.ts";
import { useAction } from "../../state/use-action.ts";
import { useList } from "../../state/use-reader.ts";
import { t } from "../../texts/texts.ts";
import { titleOf } from "./chat-name.tsx";

type Change = Partial<Pick<Session, "title" | "pinned" | "archived" | "agent" | "model">>;

function useChange(id: string) {
  const { api, live } = useServices();
  return useAction(async (change: Change) => {
    await api.call(path`/api/sessions/${id}`, { method: "PATCH", body: change });
    live.markStale(["sessions"]);
  });
}

export function ChatMenu({ chat }: { readonly chat: Session }) {
  const { api, announcer } = useServices();
  const [isOpen, setOpen] = useState(false);
  const [asked, setAsked] = useState<"rename" | "delete">();
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  const change = useChange(chat.id);
  const save = useAction(async (format: "markdown" | "json") => {
    saveFile(await api.file(path`/api/sessions/${chat.id}/export`, { format }));
  });
  useEffect(() => {
    if (!isOpen) return;
    box.current?.querySelector<HTMLElement>("[role=menuitem]")?.focus();
    const outside = ({ target }: Event): void => {
      if (!(target instanceof Node) || box.current?.contains(target) !== true) setOpen(false);
    };
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [isOpen]);
  const close = (): void => {
    setOpen(false);
    box.current?.querySelector("button")?.focus();
  };
  const press = (event: KeyboardEvent): void => {
    if (!isOpen) return;
    if (event.key === "Escape" || event.key === "Tab") {
      event.stopPropagation();
      if (event.key === "Escape") event.preventDefault();
      return close();
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const items = [...(box.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
    const at = items.indexOf(document.activeElement as HTMLElement);
    items[(at + step + items.length) % items.length]?.focus();
  };
  const pick = (act: () => unknown) => (): void => {
    close();
    act();
  };
  const set = (next: Change, said: string) => async (): Promise<void> => {
    if (await change.run(next)) announcer.say(said);
  };
  const { pinned, archived } = chat;
  return (
    <div class="menu" ref={box} onKeyDown={press}>
      <button
        type="button"
        class="icon-button"
        aria-label={t("chats.conversation-menu")}
        title={t("chats.conversation-menu")}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="more" />
      </button>
      {isOpen && (
        <div class="menu-items" role="menu" id={id} aria-label={t("common.conversation")}>
          <Item text={t("common.rename")} onPick={pick(() => setAsked("rename"))} />
          <Item
            text={pinned ? t("chats.unpin") : t("chats.pin")}
            onPick={pick(set({ pinned: !pinned }, t(pinned ? "chats.said-unpinned" : "chats.said-pinned")))}
          />
          <Item
            text={archived ? t("chats.move-to-chats") : t("common.archive")}
            onPick={pick(set({ archived: !archived }, t(archived ? "chats.said-moved" : "chats.said-archived")))}
          />
          <Item text={t("chats.export-as-markdown")} onPick={pick(() => save.run("markdown"))} />
          <Item text={t("chats.export-as-json")} onPick={pick(() => save.run("json"))} />
          <Item text={t("chats.delete")} kind="danger" onPick={pick(() => setAsked("delete"))} />
        </div>
      )}
      <Problem error={change.error ?? save.error} />
      {asked === "rename" && <Rename chat={chat} onClose={() => setAsked(undefined)} />}
      {asked === "delete" && <Delete chat={chat} onClose={() => setAsked(undefined)} />}
    </div>
  );
}

interface ItemProps {
  readonly text: string;
  readonly kind?: "danger";
  readonly onPick: () => void;
}

const Item = ({ text, kind, onPick }: ItemProps) => (
  <button type="button" role="menuitem" tabIndex={-1} class={`menu-item ${kind ?? ""}`} onClick={onPick}>
    {text}
  </button>
);

interface AskProps {
  readonly chat: Session;
  readonly onClose: () => void;
}

function Rename({ chat, onClose }: AskProps) {
  const [text, setText] = useState(titleOf(chat));
  const field = useId();
  const change = useChange(chat.id);
  const confirm = async (): Promise<void> => {
    const title = text.trim();
    if (await change.run({ title: title === "" ? null : title })) onClose();
  };
  return (
    <Dialog
      title={t("chats.rename-this-conversation")}
      action={t("common.rename")}
      kind="main"
      busy={change.isRunning}
      error={change.error}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <label for={field}>{t("common.title")}</label>
      <input
        id={field}
        value={text}
        maxLength={120}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => event.key === "Enter" && !event.isComposing && void confirm()}
      />
      <p class="hint">{t("chats.without-a-title-its-first")}</p>
    </Dialog>
  );
}

function Delete({ chat, onClose }: AskProps) {
  const { api, live } = useServices();
  const remove = useAction(() => api.call(path`/api/sessions/${chat.id}`, { method: "DELETE" }));
  const confirm = async (): Promise<void> => {
    if (!(await remove.run())) return;
    live.markStale(["sessions"]);
    location.hash = hrefOf("");
  };
  return (
    <Dialog
      title={t("chats.delete-this-conversation")}
      action={t("chats.delete")}
      busy={remove.isRunning}
      error={remove.error}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <p>{t("chats.a-running-turn-is-stopped")}</p>
    </Dialog>
  );
}

/** Chooses the agent and model of a conversation. Draws nothing if there is no choice. */
const AS_CONFIGURED = "";

export function AgentPicker({ chat }: { readonly chat: Session }) {
  const { data } = useList<StatusReport>("/api/status", []);
  const change = useChange(chat.id);
  const agents = data?.agents ?? [];
  const agent = agents.find(({ name }) => name === (chat.agent ?? "default")) ?? agents[0];
  const models = agent?.models ?? [];
  if (agents.length < 2 && models.length < 2) return null;
  return (
    <>
      {agents.length > 1 && (
        <Picker
          label={t("common.agent")}
          value={chat.agent}
          options={agents.map(({ name }) => name)}
          onPick={(name) => void change.run({ agent: name })}
        />
      )}
      {models.length > 1 && (
        <Picker
          label={t("common.model")}
          value={chat.model}
          options={models}
          onPick={(name) => void change.run({ model: name })}
        />
      )}
      <Problem error={change.error} />
    </>
  );
}

interface PickerProps {
  readonly label: string;
  readonly value: string | null;
  readonly options: readonly string[];
  readonly onPick: (value: string | null) => void;
}

const Picker = ({ label, value, options, onPick }: PickerProps) => (
  <select
    class="chip"
    aria-label={label}
    title={label}
    value={value ?? AS_CONFIGURED}
    onChange={({ currentTarget }) => onPick(currentTarget.value === AS_CONFIGURED ? null : currentTarget.value)}
  >
    <option value={AS_CONFIGURED}>{t("chats.as-configured", { label })}</option>
    {options.map((option) => (
      <option key={option} value={option}>
        {option}
      </option>
    ))}
  </select>
);
