/** Labelled fields that filter a list: a choice and a search. */
import { useId } from "preact/hooks";
import { t, wordOf } from "../texts/texts.ts";

interface ChoiceProps<Option extends string> {
  readonly label: string;
  readonly options: readonly Option[];
  readonly value: Option;
  readonly onChoose: (option: Option) => void;
  /** Text of an option. */
  readonly textOf?: (option: Option) => string;
}

const usualText = (option: string): string => (option === "" ? t("parts.all") : wordOf(option));

export function Choice<Option extends string>({
  label,
  options,
  value,
  onChoose,
  textOf = usualText,
}: ChoiceProps<Option>) {
  const id = useId();
  return (
    <span class="choice">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value as Option)}>
        {options.map((option) => (
          <option key={option} value={option}>
            {textOf(option)}
          </option>
        ))}
      </select>
    </span>
  );
}

interface SearchFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
}

export function SearchField({ label, value, onChange }: SearchFieldProps) {
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
