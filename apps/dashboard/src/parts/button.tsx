import type { ComponentChildren } from "preact";

interface Props {
  readonly onPress: () => void;
  readonly kind?: "plain" | "main" | "danger";
  /** The last action is still running. */
  readonly busy?: boolean;
  readonly disabled?: boolean;
  /** Where the text alone does not say of what. */
  readonly label?: string | undefined;
  readonly children: ComponentChildren;
}

export function Button({ onPress, kind = "plain", busy = false, disabled = false, label, children }: Props) {
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
