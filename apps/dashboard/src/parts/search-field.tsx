import { useId } from "preact/hooks";

interface Props {
  readonly label: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
}

export function SearchField({ label, value, onChange }: Props) {
  const id = useId();
  return (
    <span class="choice">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="search"
        spellcheck={false}
        value={value}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
    </span>
  );
}
