/** The message box: text, files, voice, completion of commands. */
import type { CommandList } from "@svc/api";
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Icon } from "../../components/icon.tsx";
import { Problem } from "../../components/shown.tsx";
import { useServices } from "../../services.ts";
import { useCell } from "../../cell.ts";
import { remember, remembered } from "../../state/tab-memory.ts";
import { useAction } from "../../state/use-action.ts";
import { useList } from "../../state/use-reader.ts";
import { t } from "../../texts/texts.ts";
import { DropZone, PickedFiles, PickedList, filesIn } from "./attachments.tsx";
import { MicrophoneButton, VoiceBar, useVoice } from "./voice.tsx";

interface ChatBoxProps {
  /**
   * Resolves once the service has stored the message, or with the answer to a command. `key` makes a second try of the same one a
   * duplicate.
   */
  readonly onSend: (text: string, key: string, files: readonly string[]) => Promise<string | undefined>;
  readonly autoFocus: boolean;
  /** Key of the remembered draft. */
  readonly draft: string;
  /** A turn of the conversation runs. */
  readonly isBusy: boolean;
  /** Stops the running turn. */
  readonly onStop: () => Promise<unknown>;
  /** The text goes to people on a channel. */
  readonly isReply?: boolean;
}

/** The message box. Enter sends, Shift+Enter starts a line. The text stays until the daemon has stored it. */
export function ChatBox({ onSend, autoFocus, draft, isBusy, onStop, isReply = false }: ChatBoxProps) {
  const { api, live } = useServices();
  const state = useCell(live.state);
  const picked = useMemo(() => new PickedFiles(api, draft), [api, draft]);
  const files = useCell(picked.files);
  const [text, show] = useState(() => remembered(`draft.${draft}`) ?? "");
  // Synchronously: the page may be closed before the next render.
  const setText = (next: string): void => {
    remember(`draft.${draft}`, next);
    show(next);
  };
  const box = useRef<HTMLTextAreaElement>(null);
  const menu = useSlashMenu(text, setText);
  const id = useId();
  const [answer, setAnswer] = useState<string>();
  const tried = useRef({ text: "", key: "" });
  const stop = useAction(onStop);
  const sending = useAction(async () => {
    const { ids } = picked;
    const said = [text, ...ids].join("\n");
    if (tried.current.text !== said) tried.current = { text: said, key: newKey() };
    setAnswer(await onSend(text, tried.current.key, ids));
    tried.current = { text: "", key: "" };
    picked.clear();
    setText("");
  });
  useLayoutEffect(() => {
    if (box.current) fit(box.current);
  }, [text]);
  useEffect(() => {
    if (autoFocus) box.current?.focus();
  }, []);
  const voice = useVoice((said) => {
    setText(text.trim() === "" ? said : `${text.trimEnd()} ${said}`);
    box.current?.focus();
  });
  const isBlank = text.trim() === "" && picked.ids.length === 0;
  const isHeld = picked.isUploading || picked.hasFailed;
  const send = (): void => {
    if (!isBlank && !isHeld && !sending.isRunning) void sending.run();
  };
  // Without a connection it is sent on reconnect; the user need not press again.
  const isWanted = sending.error?.code === "UNREACHABLE";
  useEffect(() => {
    if (isWanted && state === "open") send();
  }, [state]);
  const submit = (event: Event): void => {
    event.preventDefault();
    send();
  };
  const press = (event: KeyboardEvent): void => {
    if (menu.press(event)) return event.preventDefault();
    // During composition Enter belongs to the input method.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    send();
  };
  const paste = (event: ClipboardEvent): void => {
    const pasted = filesIn(event.clipboardData);
    // Prefer text: office programs add a picture of the copied text.
    if (pasted.length === 0 || event.clipboardData?.getData("text/plain") !== "") return;
    event.preventDefault();
    picked.add(pasted);
  };
  return (
    <form class="chat-box" onSubmit={submit}>
      <Problem error={isWanted ? undefined : sending.error} what={t("sessions.not-sent")} />
      <Problem error={stop.error} what={t("sessions.not-stopped")} />
      <Problem error={voice.error} />
      {answer !== undefined && (
        <p class="prose" role="status">
          {answer}
        </p>
      )}
      <SlashList menu={menu} />
      {!isReply && <DropZone onFiles={(dropped) => picked.add(dropped)} />}
      <PickedList files={files} onRemove={(key) => picked.remove(key)} onRetry={(key) => picked.retry(key)} />
      <VoiceBar voice={voice} />
      <label for={id}>{isReply ? t("sessions.reply-as-the-agent") : t("common.message")}</label>
      <div class="chat-line">
        {!isReply && <AttachButton onFiles={(chosen) => picked.add(chosen)} />}
        <MicrophoneButton voice={voice} />
        <textarea
          ref={box}
          id={id}
          rows={1}
          value={text}
          aria-describedby={`${id}-hint`}
          {...menu.attributes}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          onKeyDown={press}
          {...(!isReply && { onPaste: paste })}
        />
        {isBusy && (
          <Button busy={stop.isRunning} onPress={() => void stop.run()}>
            {t("common.stop")}
          </Button>
        )}
        {(!isBusy || !isBlank) && (
          <button type="submit" class="button main" aria-busy={sending.isRunning || isWanted} disabled={isHeld}>
            {t("sessions.send")}
          </button>
        )}
      </div>
      <p class="hint" id={`${id}-hint`}>
        {isWanted ? t("sessions.the-message-is-sent-when") : (holdOf(picked) ?? hintOf(isReply, isBusy))}
      </p>
    </form>
  );
}

function AttachButton({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button
        type="button"
        class="icon-button"
        aria-label={t("sessions.attach-files")}
        title={t("sessions.attach-files")}
        onClick={() => input.current?.click()}
      >
        <Icon name="clip" />
      </button>
      <input
        ref={input}
        class="file-input"
        type="file"
        multiple
        hidden
        aria-label={t("sessions.files-to-attach")}
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])]);
          // The same file may be chosen again.
          currentTarget.value = "";
        }}
      />
    </>
  );
}

function holdOf({ isUploading, hasFailed }: PickedFiles): string | undefined {
  if (hasFailed) return t("sessions.remove-the-file-that-failed");
  return isUploading ? t("sessions.uploading-files-the-message-can") : undefined;
}

function hintOf(isReply: boolean, isBusy: boolean): string {
  if (isReply) return t("sessions.sent-to-the-people-in");
  if (isBusy) return t("sessions.enter-queues-the-message-behind");
  return t("sessions.enter-sends-shift-enter-starts");
}

/** Not `randomUUID`, which a page over plain HTTP lacks. */
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Fits the height to the text; the style sheet limits it. */
function fit(box: HTMLTextAreaElement): void {
  box.style.height = "auto";
  box.style.height = `${box.scrollHeight + box.offsetHeight - box.clientHeight}px`;
}

/** Command completion: a list above the message box while a command is typed. */
type Command = CommandList["commands"][number];

interface SlashMenu {
  readonly id: string;
  readonly found: readonly Command[];
  readonly chosen: number;
  readonly choose: (index: number) => void;
  /** True: the list has handled the key. */
  readonly press: (event: KeyboardEvent) => boolean;
  /** Attributes of the message box. */
  readonly attributes: {
    readonly "aria-autocomplete": "list";
    readonly "aria-controls": string;
    readonly "aria-activedescendant"?: string;
  };
}

function useSlashMenu(text: string, setText: (text: string) => void): SlashMenu {
  const { data } = useList<CommandList>("/api/commands", []);
  const id = useId();
  const [at, setAt] = useState(0);
  /** The text for which the list was dismissed. */
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

/** A text with a slash and further words is a message, not a command. */
function matching(commands: readonly Command[], text: string): readonly Command[] {
  if (!/^\/[a-z]*$/i.test(text)) return [];
  return commands.filter(({ usage }) => usage.startsWith(text.toLowerCase()));
}

function SlashList({ menu: { id, found, chosen, choose } }: { readonly menu: SlashMenu }) {
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
