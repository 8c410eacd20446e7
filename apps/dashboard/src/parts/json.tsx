/** Raw data, folded; rendered only when opened. */
import { useState } from "preact/hooks";

interface Props {
  readonly label: string;
  readonly value: unknown;
}

export function Json({ label, value }: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="json" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{label}</summary>
      {isOpen && <pre tabIndex={0}>{typeof value === "string" ? value : JSON.stringify(value, null, 2)}</pre>}
    </details>
  );
}
