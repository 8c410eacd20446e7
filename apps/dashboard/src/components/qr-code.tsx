interface Props {
  /** Rows; true for a dark module. */
  readonly modules: readonly (readonly boolean[])[];
  readonly label: string;
}

const MARGIN = 3;

/** Dark on white in both themes: not every camera reads the inverse. */
export function QrCode({ modules, label }: Props) {
  const size = modules.length + 2 * MARGIN;
  const squares = modules.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x + MARGIN} ${y + MARGIN}h1v1h-1z`] : [])),
  );
  return (
    <svg class="qr-code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <path d={squares.join("")} />
    </svg>
  );
}
