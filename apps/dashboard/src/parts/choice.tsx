import { useId } from "preact/hooks";
import { plain } from "../text/words.ts";

interface Props<Option extends string> {
  readonly label: string;
  readonly options: readonly Option[];
  readonly value: Option;
  readonly onChoose: (option: Option) => void;
}

export function Choice<Option extends string>({ label, options, value, onChoose }: Props<Option>) {
  const id = useId();
  return (
    <span class="choice">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value as Option)}>
        {options.map((option) => (
          <option key={option} value={option}>
            {option === "" ? "all" : plain(option)}
          </option>
        ))}
      </select>
    </span>
  );
}
