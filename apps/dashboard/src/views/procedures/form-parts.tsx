/** Fields that report their text while it is typed. */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";

interface LabelledProps {
  readonly label: string;
  readonly help?: string | undefined;
  readonly children: (id: string) => ComponentChildren;
}

export function Labelled({ label, help, children }: LabelledProps) {
  const id = useId();
  return (
    <div class="setting">
      <label for={id}>{label.charAt(0).toUpperCase() + label.slice(1)}</label>
      {children(id)}
      {help === undefined ? null : <p class="hint">{help}</p>}
    </div>
  );
}

interface CheckProps {
  readonly label: string;
  readonly value: boolean;
  readonly onChange: (value: boolean) => void;
}

/** It shows what was chosen at once; what comes back decides. */
export function Check({ label, value, onChange }: CheckProps) {
  const [chosen, setChosen] = useState(value);
  useEffect(() => setChosen(value), [value]);
  const choose = (next: boolean): void => {
    setChosen(next);
    onChange(next);
  };
  return (
    <label class="sop-check">
      <input type="checkbox" checked={chosen} onChange={({ currentTarget }) => choose(currentTarget.checked)} /> {label}
    </label>
  );
}

const SOON_MS = 500;

interface TextProps {
  readonly id: string;
  readonly value: string;
  readonly lines?: number;
  readonly mono?: boolean;
  readonly placeholder?: string | undefined;
  readonly list?: string;
  readonly onChange: (text: string) => void;
}

/** Reports the text after a pause in typing, at the latest when the field loses focus; updates from outside don't disturb typing. */
export function Text({ id, value, lines, mono = false, placeholder, list, onChange }: TextProps) {
  const [typed, setTyped] = useState<string>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(() => () => clearTimeout(timer.current), []);
  const tell = (text: string): void => {
    clearTimeout(timer.current);
    if (text !== value) latest.current(text);
  };
  const props = {
    id,
    value: typed ?? value,
    class: mono ? "mono" : undefined,
    spellcheck: !mono,
    placeholder,
    onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) => {
      const text = currentTarget.value;
      setTyped(text);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => latest.current(text), SOON_MS);
    },
    onBlur: () => {
      if (typed !== undefined) tell(typed);
      setTyped(undefined);
    },
  };
  return lines === undefined ? <input type="text" list={list} {...props} /> : <textarea rows={lines} {...props} />;
}
