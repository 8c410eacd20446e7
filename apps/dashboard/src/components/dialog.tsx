/** Dialogs that confirm an action or rename something. */
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ApiError } from "../client/api.ts";
import type { Topic } from "../client/topics.ts";
import { useServices } from "../services.ts";
import { useAction } from "../state/use-action.ts";
import { t } from "../texts/texts.ts";
import { Button } from "./button.tsx";
import { Problem } from "./shown.tsx";

interface DialogProps {
  readonly title: string;
  /** Text of the confirm button. */
  readonly action: string;
  readonly kind?: "main" | "danger";
  /** Text of the close button. */
  readonly dismiss?: string;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  readonly busy?: boolean;
  readonly error?: ApiError | undefined;
  readonly children?: ComponentChildren;
}

/** A modal dialog. The browser keeps the focus inside, and Escape closes it. */
export function Dialog({
  title,
  action,
  kind = "danger",
  dismiss = t("common.not-now"),
  onConfirm,
  onClose,
  busy = false,
  error,
  children,
}: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // Synchronously: the next key press is meant for the dialog.
  useLayoutEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={heading} onClose={onClose}>
      <h2 id={heading}>{title}</h2>
      {children}
      <Problem error={error} />
      <div class="buttons">
        <Button onPress={onClose}>{dismiss}</Button>
        <Button kind={kind} onPress={onConfirm} busy={busy}>
          {action}
        </Button>
      </div>
    </dialog>
  );
}

/** A button that asks for confirmation and shows the error of the action in the dialog. */
interface ConfirmedProps {
  readonly text: string;
  readonly label?: string;
  readonly question: string;
  readonly act: () => Promise<unknown>;
  readonly children?: ComponentChildren;
}

export function Confirmed({ text, label, question, act, children }: ConfirmedProps) {
  const [isAsking, setAsking] = useState(false);
  const action = useAction(act);
  const confirm = async (): Promise<void> => {
    if (await action.run()) setAsking(false);
  };
  const close = (): void => {
    action.clear();
    setAsking(false);
  };
  return (
    <>
      <Button kind="danger" label={label} onPress={() => setAsking(true)}>
        {text}
      </Button>
      {isAsking && (
        <Dialog
          title={question}
          action={text}
          onConfirm={() => void confirm()}
          onClose={close}
          busy={action.isRunning}
          error={action.error}
        >
          {children}
        </Dialog>
      )}
    </>
  );
}

/** A dialog with one text field: the new name. */
interface RenameDialogProps {
  readonly title: string;
  /** Takes `{"name"}` by PUT. */
  readonly path: string;
  readonly name: string;
  /** Topics of the lists that show the name. */
  readonly stale: readonly Topic[];
  readonly onClose: () => void;
}

export function RenameDialog({ title, path, name, stale, onClose }: RenameDialogProps) {
  const { api, live } = useServices();
  const [text, setText] = useState(name);
  const field = useId();
  const rename = useAction(() => api.call(path, { method: "PUT", body: { name: text } }));
  const confirm = async (): Promise<void> => {
    if (!(await rename.run())) return;
    live.markStale(stale);
    onClose();
  };
  return (
    <Dialog
      title={title}
      action={t("common.rename")}
      kind="main"
      busy={rename.isRunning}
      error={rename.error}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <label for={field}>{t("common.name")}</label>
      <input
        id={field}
        value={text}
        maxLength={64}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => event.key === "Enter" && !event.isComposing && void confirm()}
      />
    </Dialog>
  );
}
