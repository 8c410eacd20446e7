/** Data as it is, folded away. */
interface Props {
  readonly label: string;
  readonly value: unknown;
  readonly open?: boolean;
}

export function Json({ label, value, open = false }: Props) {
  return (
    <details class="json" open={open}>
      <summary>{label}</summary>
      <pre tabIndex={0}>{typeof value === "string" ? value : JSON.stringify(value, null, 2)}</pre>
    </details>
  );
}
