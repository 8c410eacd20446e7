import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface Props {
  readonly title: string;
  /** On the same line. */
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A part of a view, under its own heading. */
export function Section({ title, aside, children }: Props) {
  const heading = useId();
  return (
    <section aria-labelledby={heading}>
      <div class="section-head">
        <h2 id={heading}>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  );
}
