/** Text being typed: it is committed when the field loses focus, and a re-render meanwhile must not discard it. */
import { useState } from "preact/hooks";

interface Typed<Field extends HTMLInputElement | HTMLTextAreaElement> {
  readonly value: string;
  readonly onInput: (event: { readonly currentTarget: Field }) => void;
  readonly onChange: (event: { readonly currentTarget: Field }) => void;
  readonly onBlur: () => void;
}

/** Properties of the field. `value`: shown when no text is being typed. */
export function useTyped<Field extends HTMLInputElement | HTMLTextAreaElement>(
  value: string,
  take: (text: string) => void,
): Typed<Field> {
  const [typed, setTyped] = useState<string>();
  return {
    value: typed ?? value,
    onInput: ({ currentTarget }) => setTyped(currentTarget.value),
    onChange: ({ currentTarget }) => {
      setTyped(undefined);
      take(currentTarget.value);
    },
    // One that was typed back as it was is no change.
    onBlur: () => setTyped(undefined),
  };
}
