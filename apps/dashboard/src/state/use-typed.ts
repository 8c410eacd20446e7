/** Text that is being typed: it is taken over when the field is left, and whatever is drawn anew meanwhile must not take it away. */
import { useState } from "preact/hooks";

interface Typed<Field extends HTMLInputElement | HTMLTextAreaElement> {
  readonly value: string;
  readonly onInput: (event: { readonly currentTarget: Field }) => void;
  readonly onChange: (event: { readonly currentTarget: Field }) => void;
  readonly onBlur: () => void;
}

/** Properties of the field. `value`: what it shows otherwise. */
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
