/** The heading of a view. It takes the focus when the view changes, so that who does not see the page knows where they are. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useServices } from "../services.ts";

interface Props {
  readonly title: string;
  /** Something else of the view has it. */
  readonly keepsFocus?: boolean;
  /** Before the title: the way back. */
  readonly start?: ComponentChildren;
  readonly children?: ComponentChildren;
}

export function Heading({ title, keepsFocus = false, start, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { route, pageTitle } = useServices();
  useEffect(() => pageTitle.view.set(title), [title]);
  useEffect(() => {
    // The first view of a page that was just opened leaves the focus where the browser has put it.
    if (route.value.isFirst || keepsFocus) return;
    heading.current?.focus();
  }, []);
  return (
    <header class="heading">
      {start}
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {children === undefined ? null : <div class="buttons">{children}</div>}
    </header>
  );
}
