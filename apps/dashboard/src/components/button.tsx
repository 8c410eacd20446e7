/** Buttons: for an action, and for copying a text. */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useServices } from "../services.ts";
import { t } from "../texts/texts.ts";

interface ButtonProps {
  readonly onPress: () => void;
  readonly kind?: "plain" | "main" | "danger";
  /** The action is still running. */
  readonly busy?: boolean;
  readonly disabled?: boolean;
  /** For screen readers, if the text alone is ambiguous. */
  readonly label?: string | undefined;
  readonly children: ComponentChildren;
}

export function Button({ onPress, kind = "plain", busy = false, disabled = false, label, children }: ButtonProps) {
  return (
    <button
      type="button"
      class={`button ${kind}`}
      aria-busy={busy}
      disabled={busy || disabled}
      aria-label={label}
      onClick={onPress}
    >
      {children}
    </button>
  );
}

const SHOWN_MS = 2_000;

/** Copies a text. Confirms in its own label for a moment, and to a screen reader. */
export function CopyButton({ text, children }: { readonly text: string; readonly children: ComponentChildren }) {
  const { announcer } = useServices();
  const [outcome, setOutcome] = useState<string>();
  useEffect(() => {
    const timer = setTimeout(() => setOutcome(undefined), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async (): Promise<void> => {
    const done = (await copied(text)) ? t("parts.copied") : t("parts.copying-failed");
    setOutcome(done);
    announcer.say(done);
  };
  return (
    <button type="button" class="button copy" onClick={() => void copy()}>
      {outcome ?? children}
    </button>
  );
}

async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedBySelection(text);
  }
}

/** A page over plain http has no clipboard API; the user can still copy the selection. */
function copiedBySelection(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.readOnly = true;
  area.className = "off-screen";
  // In a dialog everything outside is inert.
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  const before = document.activeElement;
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return done;
}
