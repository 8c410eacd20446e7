/** Asks before something is done that can't be undone. The browser keeps the focus inside, and Escape closes it. */
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import type { ApiError } from "../api/api-error.ts";
import { Button } from "./button.tsx";
import { Problem } from "./problem.tsx";
import { t } from "../texts/texts.ts";

interface Props {
  readonly title: string;
  /** What the button says that does it. */
  readonly action: string;
  readonly kind?: "main" | "danger";
  /** What the button says that closes it. */
  readonly dismiss?: string;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  readonly busy?: boolean;
  readonly error?: ApiError | undefined;
  readonly children?: ComponentChildren;
}

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
}: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // Before the next key press can come: it is meant for the dialog.
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
